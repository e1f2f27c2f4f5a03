//! Sets of extents of a file: disjoint, by address, and where asked for by length.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab_format::{Addr, Extent};

/// Disjoint extents that never touch: neighbours are one.
#[derive(Debug, Clone, Default)]
pub(super) struct Intervals(BTreeMap<u64, u64>);

impl Intervals {
    pub(super) fn insert(&mut self, extent: Extent) {
        self.merge(extent);
    }

    /// Adds an extent, which meets none; the extents that it grew together with are gone.
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

    /// The parts of an extent that are inside and outside, in order.
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

    /// Takes out an extent that lies inside one of the intervals.
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

    /// The parts of an extent that are in none.
    pub(super) fn outside(&self, extent: Extent) -> Vec<Extent> {
        self.cut(extent).into_iter().filter_map(|(part, is_inside)| (!is_inside).then_some(part)).collect()
    }

    /// Drops what lies at `end` and after.
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

/// Free extents, by address (neighbours grow together) and by length (the best fit).
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

    /// The smallest extent of at least `len` bytes, and at most `most`, cut to `len`.
    pub(super) fn take(&mut self, len: u64, most: u64) -> Option<Extent> {
        let &(found, at) = self.by_length.range((len, 0)..).next().filter(|&&(found, _)| found <= most)?;
        Some(self.cut_from(Extent::new(Addr::new(at), found), len))
    }

    /// The first `len` bytes of the extent that begins at `at`.
    pub(super) fn take_at(&mut self, at: u64, len: u64) -> Option<Extent> {
        let found = self.by_address.0.get(&at).copied().filter(|&found| found >= len)?;
        Some(self.cut_from(Extent::new(Addr::new(at), found), len))
    }

    /// Takes the first `len` bytes of an extent that is one of them as it is.
    fn cut_from(&mut self, extent: Extent, len: u64) -> Extent {
        self.remove(extent);
        let (first, rest) = split(extent, len);
        if let Some(rest) = rest {
            self.insert(rest);
        }
        first
    }

    /// Takes out an extent that is one of them as it is.
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

    /// Drops what lies at `end` and after.
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

/// The first `len` bytes of an extent, and the others.
pub(super) fn split(extent: Extent, len: u64) -> (Extent, Option<Extent>) {
    let rest = Extent::new(Addr::new(extent.addr.get() + len), extent.len - len);
    (Extent::new(extent.addr, len), Some(rest).filter(|rest| rest.len > 0))
}

/// What of an extent lies before `end`.
pub(super) fn before(extent: Extent, end: u64) -> Option<Extent> {
    let len = end.saturating_sub(extent.addr.get()).min(extent.len);
    (len > 0).then_some(Extent::new(extent.addr, len))
}

/// Whether two extents have a byte in common.
pub(super) fn meet(a: Extent, b: Extent) -> bool {
    a.addr.get() < b.addr.get() + b.len && b.addr.get() < a.addr.get() + a.len
}
