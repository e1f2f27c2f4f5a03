//! Where a file open for writing has room: what is free, what was given out since the last commit, and what may not be given
//! out again yet (invariant J5 in `journal.rs`).
//!
//! A file that was opened has nothing free: it grows, and what is freed is used again. Free extents of other writers are
//! lost space, as they are to libhdf5, until the file is repacked.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab_format::{Addr, Extent};

/// What an extent is for. Metadata stand together, so that they do not cut the data into pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpaceKind {
    /// A structure.
    Metadata,
    /// Elements of a dataset.
    Raw,
}

/// The space of one file. Addresses are relative to the base address.
#[derive(Debug)]
pub(super) struct Space {
    /// The address after everything that is in use, free or quarantined.
    end: u64,
    /// No address may reach so far: what the width of addresses can say.
    limit: u64,
    /// Free now.
    free: FreeExtents,
    /// Given out since the last commit: no committed state reaches them.
    fresh: Intervals,
    /// Freed, but the committed state reaches them.
    quarantine: Intervals,
    /// Free as soon as no read is under way that was planned before.
    waiting: Intervals,
    /// What is left of the last block for metadata.
    block: Option<Extent>,
}

impl Space {
    /// The space of a file that ends at `end` and has nothing free.
    pub(super) fn new(end: u64, limit: u64) -> Self {
        Self {
            end,
            limit,
            free: FreeExtents::default(),
            fresh: Intervals::default(),
            quarantine: Intervals::default(),
            waiting: Intervals::default(),
            block: None,
        }
    }

    /// The address after everything that was ever given out.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// An extent of `len` bytes that no committed state reaches; `None` if addresses do not reach so far.
    pub(super) fn allocate(&mut self, kind: SpaceKind, len: u64) -> Option<Extent> {
        let extent = match kind {
            SpaceKind::Metadata if len < METADATA_BLOCK => self.allocate_metadata(len)?,
            _ => self.take(len)?,
        };
        self.fresh.insert(extent);
        Some(extent)
    }

    fn allocate_metadata(&mut self, len: u64) -> Option<Extent> {
        if let Some(extent) = self.free.take(len, len.saturating_mul(2)) {
            return Some(extent);
        }
        if self.block.is_none_or(|block| block.len < len) {
            let next = self.take(METADATA_BLOCK)?;
            let rest = self.block.replace(next);
            if let Some(rest) = rest {
                self.free.insert(rest);
            }
        }
        let (first, after) = split(self.block.take()?, len);
        self.block = after;
        Some(first)
    }

    /// The best fit among what is free, else the end of the file.
    fn take(&mut self, len: u64) -> Option<Extent> {
        if let Some(extent) = self.free.take(len, u64::MAX) {
            return Some(extent);
        }
        let end = self.end.checked_add(len).filter(|&end| end <= self.limit)?;
        let extent = Extent::new(Addr::new(self.end), len);
        self.end = end;
        Some(extent)
    }

    /// Whether no committed state reaches the byte at `at`.
    pub(super) fn is_fresh(&self, at: Addr) -> bool {
        self.fresh.contains(at.get())
    }

    /// Takes an extent back. What was fresh is free as soon as nobody reads; the rest after the commit that drops it. What is
    /// not in use, as a damaged file may say of space that two have, stays as it is.
    pub(super) fn release(&mut self, extent: Extent) {
        let Some(extent) = before(extent, self.end) else { return };
        for (part, is_fresh) in self.fresh.cut(extent) {
            if is_fresh {
                self.fresh.remove(part);
                self.waiting.merge(part);
                continue;
            }
            let mut parts = vec![part];
            for known in [&self.free.by_address, &self.waiting, &self.quarantine] {
                parts = parts.into_iter().flat_map(|part| known.outside(part)).collect();
            }
            parts.retain(|part| self.block.is_none_or(|block| !meet(block, *part)));
            for part in parts {
                self.quarantine.merge(part);
            }
        }
    }

    /// Hands out again what waited for reads to end.
    pub(super) fn no_reads(&mut self) {
        for extent in std::mem::take(&mut self.waiting).iter() {
            self.free.insert(extent);
        }
    }

    /// Where the file ends once this state is committed: what is free at the end is given back, but for what a read that is
    /// under way may need.
    pub(super) fn end_after_commit(&self, is_read: bool) -> u64 {
        let mut free = self.free.clone();
        self.block.into_iter().for_each(|extent| free.insert(extent));
        if !is_read {
            self.waiting.iter().chain(self.quarantine.iter()).for_each(|extent| free.insert(extent));
        }
        free.last()
            .filter(|last| last.addr.get() + last.len == self.end)
            .map_or(self.end, |last| last.addr.get())
    }

    /// All that is in use is reached by the committed state, which ends at `end`.
    pub(super) fn committed(&mut self, end: u64) {
        self.fresh = Intervals::default();
        for extent in std::mem::take(&mut self.quarantine).iter() {
            self.waiting.merge(extent);
        }
        if end < self.end {
            // What lies beyond was free, or its last reader is gone.
            self.block = self.block.take().and_then(|block| before(block, end));
            self.free.cut_at(end);
            self.waiting.cut_at(end);
            self.end = end;
        }
    }

    /// Back to the committed state: what was given out since is free, what was freed is in use.
    pub(super) fn roll_back(&mut self) {
        self.quarantine = Intervals::default();
        for extent in std::mem::take(&mut self.fresh).iter() {
            self.waiting.merge(extent);
        }
    }

    /// Free bytes, those that wait included.
    pub(super) fn free_bytes(&self) -> u64 {
        let waiting = self.waiting.iter().chain(self.quarantine.iter()).map(|extent| extent.len).sum::<u64>();
        self.free.bytes() + waiting + self.block.map_or(0, |block| block.len)
    }
}

/// The first `len` bytes of an extent, and the others.
fn split(extent: Extent, len: u64) -> (Extent, Option<Extent>) {
    let rest = Extent::new(Addr::new(extent.addr.get() + len), extent.len - len);
    (Extent::new(extent.addr, len), Some(rest).filter(|rest| rest.len > 0))
}

/// What of an extent lies before `end`.
fn before(extent: Extent, end: u64) -> Option<Extent> {
    let len = end.saturating_sub(extent.addr.get()).min(extent.len);
    (len > 0).then_some(Extent::new(extent.addr, len))
}

/// Whether two extents have a byte in common.
fn meet(a: Extent, b: Extent) -> bool {
    a.addr.get() < b.addr.get() + b.len && b.addr.get() < a.addr.get() + a.len
}

/// Disjoint extents that never touch: neighbours are one.
#[derive(Debug, Clone, Default)]
struct Intervals(BTreeMap<u64, u64>);

impl Intervals {
    fn insert(&mut self, extent: Extent) {
        self.merge(extent);
    }

    /// Adds an extent, which meets none; the extents that it grew together with are gone.
    fn merge(&mut self, extent: Extent) -> Extent {
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

    fn contains(&self, at: u64) -> bool {
        self.0.range(..=at).next_back().is_some_and(|(&start, &len)| at < start + len)
    }

    /// The parts of an extent that are inside and outside, in order.
    fn cut(&self, extent: Extent) -> Vec<(Extent, bool)> {
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
    fn remove(&mut self, extent: Extent) {
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
    fn outside(&self, extent: Extent) -> Vec<Extent> {
        self.cut(extent).into_iter().filter_map(|(part, is_inside)| (!is_inside).then_some(part)).collect()
    }

    /// Drops what lies at `end` and after.
    fn cut_at(&mut self, end: u64) {
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

    fn iter(&self) -> impl Iterator<Item = Extent> + '_ {
        self.0.iter().map(|(&start, &len)| Extent::new(Addr::new(start), len))
    }
}

/// Free extents, by address (neighbours grow together) and by length (the best fit).
#[derive(Debug, Clone, Default)]
struct FreeExtents {
    by_address: Intervals,
    by_length: BTreeSet<(u64, u64)>,
}

impl FreeExtents {
    fn insert(&mut self, extent: Extent) {
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
    fn take(&mut self, len: u64, most: u64) -> Option<Extent> {
        let &(found, at) = self.by_length.range((len, 0)..).next().filter(|&&(found, _)| found <= most)?;
        let extent = Extent::new(Addr::new(at), found);
        self.remove(extent);
        let (first, rest) = split(extent, len);
        if let Some(rest) = rest {
            self.insert(rest);
        }
        Some(first)
    }

    fn remove(&mut self, extent: Extent) {
        self.by_address.remove(extent);
        self.by_length.remove(&(extent.len, extent.addr.get()));
    }

    fn last(&self) -> Option<Extent> {
        self.by_address.0.last_key_value().map(|(&start, &len)| Extent::new(Addr::new(start), len))
    }

    /// Drops what lies at `end` and after.
    fn cut_at(&mut self, end: u64) {
        while let Some(last) = self.last().filter(|last| last.addr.get() + last.len > end) {
            self.remove(last);
            if let Some(kept) = before(last, end) {
                self.insert(kept);
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.by_length.iter().map(|(len, _)| len).sum()
    }
}

/// Metadata are given out of blocks of so many bytes.
const METADATA_BLOCK: u64 = 4096;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn extent(at: u64, len: u64) -> Extent {
        Extent::new(Addr::new(at), len)
    }

    #[test]
    fn metadata_stand_together_and_data_elsewhere() {
        let mut space = Space::new(1000, u64::MAX);
        assert_eq!(space.allocate(SpaceKind::Metadata, 100), Some(extent(1000, 100)));
        assert_eq!(space.allocate(SpaceKind::Raw, 50), Some(extent(1000 + METADATA_BLOCK, 50)));
        assert_eq!(space.allocate(SpaceKind::Metadata, 100), Some(extent(1100, 100)));
    }

    #[test]
    fn committed_space_is_given_out_again_after_the_commit_that_drops_it() {
        let mut space = Space::new(0, u64::MAX);
        let old = space.allocate(SpaceKind::Raw, 5000).unwrap();
        let after = space.allocate(SpaceKind::Raw, 10).unwrap();
        space.committed(space.end_after_commit(false));
        space.release(old);
        space.no_reads();
        assert_ne!(space.allocate(SpaceKind::Raw, 5000), Some(old));
        space.committed(space.end_after_commit(false));
        assert_ne!(space.allocate(SpaceKind::Raw, 4000), Some(extent(0, 4000)), "a read may be under way");
        space.no_reads();
        assert_eq!(space.allocate(SpaceKind::Raw, 5000), Some(old));
        assert!(!space.is_fresh(after.addr));
    }

    #[test]
    fn fresh_space_is_given_out_again_at_once() {
        let mut space = Space::new(0, u64::MAX);
        let first = space.allocate(SpaceKind::Raw, 10).unwrap();
        space.allocate(SpaceKind::Raw, 10).unwrap();
        space.release(first);
        space.no_reads();
        assert_eq!(space.allocate(SpaceKind::Raw, 10), Some(first));
    }

    #[test]
    fn what_is_free_at_the_end_is_given_back() {
        let mut space = Space::new(0, u64::MAX);
        let first = space.allocate(SpaceKind::Raw, 100).unwrap();
        let second = space.allocate(SpaceKind::Raw, 100).unwrap();
        space.allocate(SpaceKind::Metadata, 10).unwrap();
        assert_eq!(space.end_after_commit(false), 210, "the rest of the block for metadata");
        space.committed(210);
        space.release(first);
        space.release(second);
        space.release(extent(200, 10));
        space.no_reads();
        assert_eq!(space.end_after_commit(false), 0);
        space.committed(0);
        space.no_reads();
        assert_eq!((space.end(), space.free_bytes()), (0, 0));
    }

    #[test]
    fn space_that_is_given_back_twice_is_given_out_once() {
        let mut space = Space::new(0, u64::MAX);
        let all = space.allocate(SpaceKind::Raw, 100).unwrap();
        space.allocate(SpaceKind::Raw, 10).unwrap();
        for _ in 0..3 {
            space.release(all);
            space.release(extent(50, 100_000));
            space.no_reads();
        }
        assert_eq!(space.free_bytes(), 110, "what lies after the end is nobody's");
        let again = [100, 10].map(|len| space.allocate(SpaceKind::Raw, len).unwrap());
        assert!(!meet(again[0], again[1]));
        space.committed(110);
        for _ in 0..3 {
            space.release(all);
        }
        assert_eq!(space.free_bytes(), 100);
    }

    #[test]
    fn addresses_have_a_limit() {
        let mut space = Space::new(90, 100);
        assert_eq!(space.allocate(SpaceKind::Raw, 11), None);
        assert_eq!(space.allocate(SpaceKind::Raw, 10), Some(extent(90, 10)));
    }

    #[derive(Debug, Clone)]
    enum Step {
        Allocate(bool, u64),
        Release(usize),
        NoReads,
        Commit,
        RollBack,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (any::<bool>(), 1_u64..6000).prop_map(|(raw, len)| Step::Allocate(raw, len)),
            3 => (0_usize..50).prop_map(Step::Release),
            1 => Just(Step::NoReads),
            1 => Just(Step::Commit),
            1 => Just(Step::RollBack),
        ];
        proptest::collection::vec(step, 1..120)
    }

    proptest! {
        /// Against a list of what is in use now and what was in use at the last commit.
        #[test]
        fn no_byte_is_given_out_twice_nor_one_that_the_committed_state_reaches(steps in steps()) {
            let mut space = Space::new(64, u64::MAX);
            let (mut used, mut committed): (Vec<Extent>, Vec<Extent>) = (Vec::new(), Vec::new());
            for step in steps {
                match step {
                    Step::Allocate(raw, len) => {
                        let kind = if raw { SpaceKind::Raw } else { SpaceKind::Metadata };
                        let new = space.allocate(kind, len).unwrap();
                        for old in used.iter().chain(&committed) {
                            let apart = new.end().unwrap() <= old.addr || old.end().unwrap() <= new.addr;
                            prop_assert!(apart, "{new:?} meets {old:?}");
                        }
                        prop_assert!(space.is_fresh(new.addr) && new.end().unwrap().get() <= space.end());
                        used.push(new);
                    }
                    Step::Release(i) if i < used.len() => space.release(used.swap_remove(i)),
                    Step::Release(_) => {}
                    Step::NoReads => space.no_reads(),
                    Step::Commit => {
                        let end = space.end_after_commit(false);
                        prop_assert!(used.iter().all(|extent| extent.end().unwrap().get() <= end));
                        space.committed(end);
                        committed = used.clone();
                    }
                    Step::RollBack => {
                        space.roll_back();
                        used = committed.clone();
                    }
                }
            }
            // Nothing is lost either.
            let in_use: u64 = used.iter().map(|extent| extent.len).sum();
            prop_assert_eq!(in_use + space.free_bytes() + 64, space.end());
        }
    }
}
