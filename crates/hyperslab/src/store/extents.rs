//! Sets of disjoint extents of a file, by address and, for free space, also by length.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab_format::{Addr, Extent};

/// Disjoint extents that never touch: adjacent extents are merged.
#[derive(Debug, Clone, Default)]
pub(super) struct Intervals(BTreeMap<u64, u64>);

impl Intervals {
    pub(super) fn insert(&mut self, extent: Extent) {
        self.merge(extent);
    }

    /// Adds an extent that overlaps no interval, and merges it with its neighbours. Returns the merged
    /// extent.
    pub(super) fn merge(&mut self, extent: Extent) -> Extent {
        let (mut start, mut end) = (extent.addr.get(), extent.addr.get() + extent.len);
        if let Some((&at, &len)) = self.0.range(..start).next_back()
            && at + len == start
        {
            self.0.remove(&at);
            start = at;
        }
        if let Some(len) = self.0.remove(&end) {
            end += len;
        }
        self.0.insert(start, end - start);
        Extent::new(Addr::new(start), end - start)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, at: u64) -> bool {
        self.0.range(..=at).next_back().is_some_and(|(&start, &len)| at < start + len)
    }

    /// Cuts an extent into its parts, in order, each with whether the part is inside an interval.
    pub(super) fn cut(&self, extent: Extent) -> Vec<(Extent, bool)> {
        let (mut at, end) = (extent.addr.get(), extent.addr.get() + extent.len);
        let mut parts = Vec::new();
        while at < end {
            let inside =
                self.0.range(..=at).next_back().map(|(&start, &len)| start + len).filter(|&to| at < to);
            let to = match inside {
                Some(to) => to,
                None => self.0.range(at..).next().map_or(end, |(&start, _)| start),
            };
            let to = to.min(end);
            parts.push((Extent::new(Addr::new(at), to - at), inside.is_some()));
            at = to;
        }
        parts
    }

    /// Removes an extent that is inside one of the intervals.
    pub(super) fn remove(&mut self, extent: Extent) {
        let (from, to) = (extent.addr.get(), extent.addr.get() + extent.len);
        let Some((&start, &len)) = self.0.range(..=from).next_back() else { return };
        self.0.remove(&start);
        if start < from {
            self.0.insert(start, from - start);
        }
        if to < start + len {
            self.0.insert(to, start + len - to);
        }
    }

    /// Returns the parts of an extent that are outside all intervals.
    pub(super) fn outside(&self, extent: Extent) -> Vec<Extent> {
        self.cut(extent).into_iter().filter_map(|(part, is_inside)| (!is_inside).then_some(part)).collect()
    }

    /// Removes everything from `end` on.
    pub(super) fn cut_at(&mut self, end: u64) {
        while let Some((start, len)) = self.0.last_key_value().map(|(&start, &len)| (start, len)) {
            if start + len <= end {
                break;
            }
            self.0.remove(&start);
            if start < end {
                self.0.insert(start, end - start);
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Extent> + '_ {
        self.0.iter().map(|(&start, &len)| Extent::new(Addr::new(start), len))
    }
}

/// Free extents, by address (to merge neighbours) and by length (to find the best fit).
#[derive(Debug, Clone, Default)]
pub(super) struct FreeExtents {
    by_address: Intervals,
    by_length: BTreeSet<(u64, u64)>,
}

impl FreeExtents {
    pub(super) fn insert(&mut self, extent: Extent) {
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

    /// Takes `len` bytes from the smallest extent of at least `len` and at most `most` bytes.
    pub(super) fn take(&mut self, len: u64, most: u64) -> Option<Extent> {
        let &(found, at) = self.by_length.range((len, 0)..).next().filter(|&&(found, _)| found <= most)?;
        Some(self.cut_from(Extent::new(Addr::new(at), found), len))
    }

    /// Takes the first `len` bytes of the extent that begins at `at`.
    pub(super) fn take_at(&mut self, at: u64, len: u64) -> Option<Extent> {
        let found = self.by_address.0.get(&at).copied().filter(|&found| found >= len)?;
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
    pub(super) fn remove(&mut self, extent: Extent) {
        self.by_address.remove(extent);
        self.by_length.remove(&(extent.len, extent.addr.get()));
    }

    pub(super) fn by_address(&self) -> &Intervals {
        &self.by_address
    }

    pub(super) fn last(&self) -> Option<Extent> {
        self.by_address.0.last_key_value().map(|(&start, &len)| Extent::new(Addr::new(start), len))
    }

    /// Removes everything from `end` on.
    pub(super) fn cut_at(&mut self, end: u64) {
        while let Some(last) = self.last().filter(|last| last.addr.get() + last.len > end) {
            self.remove(last);
            if let Some(kept) = before(last, end) {
                self.insert(kept);
            }
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.by_length.iter().map(|(len, _)| len).sum()
    }
}

/// Splits an extent into its first `len` bytes and the rest.
pub(super) fn split(extent: Extent, len: u64) -> (Extent, Option<Extent>) {
    let rest = Extent::new(Addr::new(extent.addr.get() + len), extent.len - len);
    (Extent::new(extent.addr, len), Some(rest).filter(|rest| rest.len > 0))
}

/// Returns the part of an extent before `end`.
pub(super) fn before(extent: Extent, end: u64) -> Option<Extent> {
    let len = end.saturating_sub(extent.addr.get()).min(extent.len);
    (len > 0).then_some(Extent::new(extent.addr, len))
}

/// Returns whether two extents overlap.
pub(super) fn meet(a: Extent, b: Extent) -> bool {
    a.addr.get() < b.addr.get() + b.len && b.addr.get() < a.addr.get() + a.len
}
