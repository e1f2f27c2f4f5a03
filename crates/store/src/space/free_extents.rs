//! Sets of disjoint extents of a file, by address and, for free space, also by length.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab_format::{Addr, Extent};

/// Disjoint extents that never touch: adjacent extents are merged, except across the borders of pages.
#[derive(Debug, Clone)]
pub(crate) struct Intervals {
    lens: BTreeMap<u64, u64>,
    page: u64,
}

impl Default for Intervals {
    fn default() -> Self {
        Self::within_pages(u64::MAX)
    }
}

impl Intervals {
    /// Returns an empty set. Extents that end at a multiple of `page` are not merged with the next.
    pub(crate) fn within_pages(page: u64) -> Self {
        Self { lens: BTreeMap::new(), page }
    }

    pub(crate) fn insert(&mut self, extent: Extent) {
        self.merge(extent);
    }

    /// Adds an extent that overlaps no interval, and merges it with its neighbours. Returns the merged
    /// extent.
    pub(crate) fn merge(&mut self, extent: Extent) -> Extent {
        if extent.len == 0 {
            return extent;
        }
        let (mut start, mut end) = (extent.addr.get(), extent.addr.get() + extent.len);
        if !start.is_multiple_of(self.page)
            && let Some((&at, &len)) = self.lens.range(..start).next_back()
            && at + len == start
        {
            self.lens.remove(&at);
            start = at;
        }
        if !end.is_multiple_of(self.page)
            && let Some(len) = self.lens.remove(&end)
        {
            end += len;
        }
        self.lens.insert(start, end - start);
        Extent::new(Addr::new(start), end - start)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lens.is_empty()
    }

    pub(crate) fn contains(&self, at: u64) -> bool {
        self.lens.range(..=at).next_back().is_some_and(|(&start, &len)| at < start + len)
    }

    /// Cuts an extent into its parts, in order, each with whether the part is inside an interval.
    pub(crate) fn cut(&self, extent: Extent) -> Vec<(Extent, bool)> {
        let (mut at, end) = (extent.addr.get(), extent.addr.get() + extent.len);
        let mut parts = Vec::new();
        while at < end {
            let inside =
                self.lens.range(..=at).next_back().map(|(&start, &len)| start + len).filter(|&to| at < to);
            let to = match inside {
                Some(to) => to,
                None => self.lens.range(at..).next().map_or(end, |(&start, _)| start),
            };
            let to = to.min(end);
            parts.push((Extent::new(Addr::new(at), to - at), inside.is_some()));
            at = to;
        }
        parts
    }

    /// Removes an extent that is inside one of the intervals.
    pub(crate) fn remove(&mut self, extent: Extent) {
        let (from, to) = (extent.addr.get(), extent.addr.get() + extent.len);
        let Some((&start, &len)) = self.lens.range(..=from).next_back() else { return };
        self.lens.remove(&start);
        if start < from {
            self.lens.insert(start, from - start);
        }
        if to < start + len {
            self.lens.insert(to, start + len - to);
        }
    }

    /// Returns the parts of an extent that are outside all intervals.
    pub(crate) fn outside(&self, extent: Extent) -> Vec<Extent> {
        self.cut(extent).into_iter().filter_map(|(part, is_inside)| (!is_inside).then_some(part)).collect()
    }

    /// Removes everything from `end` on.
    pub(crate) fn cut_at(&mut self, end: u64) {
        while let Some((start, len)) = self.lens.last_key_value().map(|(&start, &len)| (start, len)) {
            if start + len <= end {
                break;
            }
            self.lens.remove(&start);
            if start < end {
                self.lens.insert(start, end - start);
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Extent> + '_ {
        self.lens.iter().map(|(&start, &len)| Extent::new(Addr::new(start), len))
    }
}

/// Free extents, by address (to merge neighbours) and by length (to find the best fit).
#[derive(Debug, Clone, Default)]
pub(crate) struct FreeExtents {
    by_address: Intervals,
    by_length: BTreeSet<(u64, u64)>,
}

impl FreeExtents {
    /// Returns an empty set of extents that do not cross the borders of pages.
    pub(crate) fn within_pages(page: u64) -> Self {
        Self { by_address: Intervals::within_pages(page), ..Self::default() }
    }

    /// Takes `len` bytes that begin at a multiple of `step`, from the smallest extent of at most `most` bytes
    /// that has them.
    pub(crate) fn take_aligned(&mut self, len: u64, most: u64, step: u64) -> Option<Extent> {
        let fits = |&(found, at): &(u64, u64)| {
            at.checked_next_multiple_of(step).is_some_and(|from| from - at <= found - len)
        };
        let (found, at) =
            self.by_length.range((len, 0)..).take_while(|(found, _)| *found <= most).copied().find(fits)?;
        let from = at.next_multiple_of(step);
        self.remove(Extent::new(Addr::new(at), found));
        for (start, end) in [(at, from), (from + len, at + found)] {
            if start < end {
                self.insert(Extent::new(Addr::new(start), end - start));
            }
        }
        Some(Extent::new(Addr::new(from), len))
    }

    pub(crate) fn insert(&mut self, extent: Extent) {
        if extent.len == 0 {
            return;
        }
        let merged = self.by_address.merge(extent);
        let (start, end) = (merged.addr.get(), merged.addr.get() + merged.len);
        if start < extent.addr.get() {
            self.by_length.remove(&(extent.addr.get() - start, start));
        }
        let after = extent.addr.get() + extent.len;
        if after < end {
            self.by_length.remove(&(end - after, after));
        }
        self.by_length.insert((merged.len, start));
    }

    /// Takes the first `len` bytes of the extent that begins at `at`.
    pub(crate) fn take_at(&mut self, at: u64, len: u64) -> Option<Extent> {
        let found = self.by_address.lens.get(&at).copied().filter(|&found| found >= len)?;
        Some(self.cut_from(Extent::new(Addr::new(at), found), len))
    }

    /// Takes the first `len` bytes of `extent`, which is one of the free extents.
    fn cut_from(&mut self, extent: Extent, len: u64) -> Extent {
        self.remove(extent);
        let (first, rest) = split(extent, len);
        if let Some(rest) = rest {
            self.insert(rest);
        }
        first
    }

    /// Removes `extent`, which is one of the free extents.
    pub(crate) fn remove(&mut self, extent: Extent) {
        self.by_address.remove(extent);
        self.by_length.remove(&(extent.len, extent.addr.get()));
    }

    pub(crate) fn by_address(&self) -> &Intervals {
        &self.by_address
    }

    pub(crate) fn last(&self) -> Option<Extent> {
        self.by_address.lens.last_key_value().map(|(&start, &len)| Extent::new(Addr::new(start), len))
    }

    /// Removes everything from `end` on.
    pub(crate) fn cut_at(&mut self, end: u64) {
        while let Some(last) = self.last().filter(|last| last.addr.get() + last.len > end) {
            self.remove(last);
            if let Some(kept) = before(last, end) {
                self.insert(kept);
            }
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.by_length.iter().map(|(len, _)| len).sum()
    }
}

/// Splits an extent into its first `len` bytes and the rest.
pub(crate) fn split(extent: Extent, len: u64) -> (Extent, Option<Extent>) {
    let rest = Extent::new(Addr::new(extent.addr.get() + len), extent.len - len);
    (Extent::new(extent.addr, len), Some(rest).filter(|rest| rest.len > 0))
}

/// Returns the part of an extent before `end`.
pub(crate) fn before(extent: Extent, end: u64) -> Option<Extent> {
    let len = end.saturating_sub(extent.addr.get()).min(extent.len);
    (len > 0).then_some(Extent::new(extent.addr, len))
}

/// Returns whether two extents overlap.
#[cfg(test)]
pub(crate) fn meet(a: Extent, b: Extent) -> bool {
    a.addr.get() < b.addr.get() + b.len && b.addr.get() < a.addr.get() + a.len
}
