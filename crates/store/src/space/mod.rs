//! The space of a file that is open for writing: the free extents, the extents allocated since the last
//! commit, and the extents that must not be reallocated yet (invariant J5 in `journal.rs`).
//!
//! A file that is opened has the free space that it keeps a list of ([`persisted`](persisted)), or that is found
//! when the file would grow ([`unlisted`](unlisted)). Space freed from then on is reused. Other free
//! extents are lost until the file is repacked, as in libhdf5.

pub(crate) mod address_ranges;
mod aggregator;
mod free_extents;
mod paged;
mod persisted;
pub(crate) mod raw_data_range;
mod rules;
pub(crate) mod split_space;
pub(crate) mod stated_ends;
pub(crate) mod unlisted;

use hyperslab_format::{Addr, Extent};

use aggregator::Aggregator;
use free_extents::{Intervals, before};
use paged::Pages;
pub(crate) use rules::Small;
pub use rules::{Alignment, SpaceKind, SpaceRules};

/// The end of the space in use, and the limit of addresses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) at: u64,
    pub(crate) limit: u64,
}

/// The space of one file. Addresses are relative to the base address.
#[derive(Debug)]
pub(crate) struct Space {
    /// The address after all space in use, free or quarantined.
    end: End,
    /// Free for allocation.
    free: Pool,
    /// Allocated since the last commit, or unnamed: no committed state refers to these extents.
    fresh: Intervals,
    /// Allocated for data that nothing in the file refers to yet.
    unnamed: Intervals,
    /// Freed, but the committed state refers to these extents.
    quarantine: Intervals,
    /// Freed; available once no read that was planned before is in progress.
    waiting: Intervals,
    /// The end of a new file that the medium shows as an empty one. What is before is fresh, and still must
    /// not be overwritten before the first commit ([`replaced_file`](crate::commit::replaced_file)).
    shown: u64,
}

/// Free space, and the way of allocating it.
#[derive(Debug, Clone)]
enum Pool {
    Aggregator(Aggregator),
    Pages(Pages),
}

/// The free extents of a file by what they may be used for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FreeSpace {
    /// Parts of pages of small metadata. Empty in a file without pages.
    pub metadata: Vec<Extent>,
    /// Parts of pages of small data. Empty in a file without pages.
    pub data: Vec<Extent>,
    /// All other extents.
    pub any: Vec<Extent>,
}

impl Space {
    /// Returns the space of a file that ends at `end` and has no free extents.
    pub(crate) fn new(end: u64, limit: u64) -> Self {
        Self {
            end: End { at: end, limit },
            free: Pool::Aggregator(Aggregator::default()),
            fresh: Intervals::default(),
            unnamed: Intervals::default(),
            quarantine: Intervals::default(),
            waiting: Intervals::default(),
            shown: 0,
        }
    }

    /// Sets the rules, before the first allocation. The first page of a new file has metadata only.
    pub(crate) fn set_rules(&mut self, rules: SpaceRules, is_new: bool) {
        let Some(page) = rules.page else {
            self.free = Pool::Aggregator(Aggregator::new(rules.metadata_block, rules.alignment));
            return;
        };
        let mut pages = Pages::new(page);
        if is_new {
            let used = Extent::new(Addr::new(0), self.end.at);
            pages.note(Small::Metadata, used);
            self.end.at = used.len.next_multiple_of(page);
            pages.give(Extent::new(Addr::new(used.len), self.end.at - used.len));
        }
        self.free = Pool::Pages(pages);
    }

    /// Adds extents that were free when the file was opened. They are inside the file and do not overlap.
    pub(crate) fn adopt(&mut self, free: &FreeSpace) {
        if let Pool::Pages(pages) = &mut self.free {
            for (kind, extents) in [(Small::Metadata, &free.metadata), (Small::Data, &free.data)] {
                for extent in extents {
                    pages.note(kind, *extent);
                }
            }
        }
        for extent in free.metadata.iter().chain(&free.data).chain(&free.any) {
            self.free.give(*extent);
        }
    }

    pub(crate) fn has_pages(&self) -> bool {
        matches!(self.free, Pool::Pages(_))
    }

    /// Adds extents that nothing in the committed state uses, unless they were allocated or freed since. Not
    /// for a file with pages, whose kinds would not be known.
    pub(crate) fn found(&mut self, holes: &[Extent]) {
        for hole in holes.iter().filter_map(|hole| before(*hole, self.end.at)) {
            let mut parts = self.free.outside(hole);
            for known in [&self.fresh, &self.waiting, &self.quarantine] {
                parts = parts.into_iter().flat_map(|part| known.outside(part)).collect();
            }
            for part in parts {
                self.free.give(part);
            }
        }
    }

    /// Returns all free space, as if no read were in progress and all changes were committed.
    pub(crate) fn free_space(&self) -> FreeSpace {
        let (free, end) = (self.all_free(), self.end_after_commit(false));
        let kept =
            |extents: Vec<Extent>| extents.into_iter().filter_map(|extent| before(extent, end)).collect();
        match free {
            Pool::Aggregator(blocks) => FreeSpace { any: kept(blocks.extents()), ..FreeSpace::default() },
            Pool::Pages(pages) => {
                let [metadata, data, any] = pages.extents().map(kept);
                FreeSpace { metadata, data, any }
            }
        }
    }

    /// Returns the address after all space that was ever allocated.
    pub(crate) fn end(&self) -> u64 {
        self.end.at
    }

    /// Allocates `len` bytes that no committed state refers to; `None` if addresses cannot reach that far.
    pub(crate) fn allocate(&mut self, kind: SpaceKind, len: u64) -> Option<Extent> {
        let end = &mut self.end;
        let extent = match (&mut self.free, kind) {
            (Pool::Pages(pages), kind) => pages.allocate(kind.small(), len, end)?,
            (Pool::Aggregator(blocks), SpaceKind::Raw) => blocks.allocate(len, end)?,
            (Pool::Aggregator(blocks), _) => blocks.allocate_metadata(len, end)?,
        };
        self.fresh.insert(extent);
        Some(extent)
    }

    /// Allocates space for data, which a step will [name](Self::named). Until then a commit does not refer to
    /// it.
    pub(crate) fn allocate_unnamed(&mut self, kind: SpaceKind, len: u64) -> Option<Extent> {
        let extent = self.allocate(kind, len)?;
        self.unnamed.insert(extent);
        Some(extent)
    }

    /// Records that something in the file now refers to this extent.
    pub(crate) fn named(&mut self, extent: Extent) {
        for (part, is_unnamed) in self.unnamed.cut(extent) {
            if is_unnamed {
                self.unnamed.remove(part);
            }
        }
    }

    /// Extends an extent in place by `len` bytes; returns the added part. `None` if a committed state refers
    /// to the extent, or the space after it is in use.
    pub(crate) fn extend(&mut self, extent: Extent, len: u64) -> Option<Extent> {
        if !self.fresh.outside(extent).is_empty() {
            return None;
        }
        let added = match &mut self.free {
            Pool::Aggregator(blocks) => blocks.extend(extent.addr.get() + extent.len, len, &mut self.end)?,
            Pool::Pages(pages) => pages.extend(extent, len)?,
        };
        self.fresh.insert(added);
        Some(added)
    }

    /// Records that the medium shows an empty file that ends at `end`.
    pub(crate) fn show(&mut self, end: u64) {
        self.shown = end;
    }

    /// Returns whether the byte at `at` belongs to the empty file that the medium shows.
    pub(crate) fn is_shown(&self, at: Addr) -> bool {
        at.get() < self.shown
    }

    /// Returns whether no committed state refers to the byte at `at`.
    pub(crate) fn is_fresh(&self, at: Addr) -> bool {
        self.fresh.contains(at.get())
    }

    /// Frees an extent. Fresh space is available once no read is in progress; the rest is available after the
    /// commit that drops it. Space that is not in use is ignored: in a damaged file two structures may claim
    /// the same space.
    pub(crate) fn release(&mut self, kind: SpaceKind, extent: Extent) {
        let Some(extent) = before(extent, self.end.at) else { return };
        if let Pool::Pages(pages) = &mut self.free {
            pages.note(kind.small(), extent);
        }
        for (part, is_fresh) in self.fresh.cut(extent) {
            if is_fresh {
                self.fresh.remove(part);
                self.named(part);
                let (shown, other) = split_at(part, self.shown);
                if let Some(part) = shown {
                    self.quarantine.merge(part);
                }
                if let Some(part) = other {
                    self.waiting.merge(part);
                }
                continue;
            }
            let mut parts = self.free.outside(part);
            for known in [&self.waiting, &self.quarantine] {
                parts = parts.into_iter().flat_map(|part| known.outside(part)).collect();
            }
            for part in parts {
                self.quarantine.merge(part);
            }
        }
    }

    /// Returns whether freed space waits for reads to end.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Makes the space that waited for reads available again.
    pub(crate) fn no_reads(&mut self) {
        for extent in std::mem::take(&mut self.waiting).iter() {
            self.free.give(extent);
        }
    }

    /// Returns the end of the file after this state is committed. Free space at the end is cut off, except
    /// space that a read in progress may need.
    pub(crate) fn end_after_commit(&self, is_read: bool) -> u64 {
        let free = if is_read { self.free.clone() } else { self.all_free() };
        free.end_of_used(self.end.at)
    }

    /// Returns the free space with all that waits for reads or a commit.
    fn all_free(&self) -> Pool {
        let mut free = self.free.clone();
        self.waiting.iter().chain(self.quarantine.iter()).for_each(|extent| free.give(extent));
        free
    }

    /// Records a commit: the committed state, which ends at `end`, refers to all space in use except unnamed
    /// space.
    pub(crate) fn committed(&mut self, end: u64) {
        self.fresh = self.unnamed.clone();
        self.shown = 0;
        for extent in std::mem::take(&mut self.quarantine).iter() {
            self.waiting.merge(extent);
        }
        if end < self.end.at {
            // The space beyond was free, or its last reader is gone.
            self.free.cut_at(end);
            self.waiting.cut_at(end);
            self.end.at = end;
        }
    }

    /// Returns to the committed state: extents allocated since are free, extents freed since are in use.
    /// Unnamed extents stay allocated, because their data are still being written.
    pub(crate) fn roll_back(&mut self) {
        let freed = std::mem::take(&mut self.quarantine);
        // What the medium shows is in use again.
        let shown = freed.iter().filter_map(|extent| split_at(extent, self.shown).0);
        let allocated = std::mem::replace(&mut self.fresh, self.unnamed.clone());
        let mut kept: Vec<Extent> = shown.collect();
        for extent in allocated.iter() {
            for part in self.unnamed.outside(extent) {
                let (shown, other) = split_at(part, self.shown);
                kept.extend(shown);
                if let Some(part) = other {
                    self.waiting.merge(part);
                }
            }
        }
        for part in kept {
            self.fresh.insert(part);
        }
    }

    /// Returns the number of free bytes, including those that wait for reads to end.
    pub(crate) fn free_bytes(&self) -> u64 {
        let waiting = self.waiting.iter().chain(self.quarantine.iter()).map(|extent| extent.len).sum::<u64>();
        self.free.bytes() + waiting
    }
}

/// Splits an extent at an address. Either part may be empty.
fn split_at(extent: Extent, at: u64) -> (Option<Extent>, Option<Extent>) {
    let first = before(extent, at);
    let len = first.map_or(0, |first| first.len);
    let rest = Extent::new(Addr::new(extent.addr.get() + len), extent.len - len);
    (first, (rest.len > 0).then_some(rest))
}

/// Calls a method of the pool, whatever its kind.
macro_rules! of_either {
    ($pool:expr, $free:ident => $call:expr) => {
        match $pool {
            Pool::Aggregator($free) => $call,
            Pool::Pages($free) => $call,
        }
    };
}

impl Pool {
    fn give(&mut self, extent: Extent) {
        of_either!(self, free => free.give(extent));
    }

    fn outside(&self, extent: Extent) -> Vec<Extent> {
        of_either!(self, free => free.outside(extent))
    }

    fn end_of_used(&self, end: u64) -> u64 {
        of_either!(self, free => free.end_of_used(end))
    }

    fn cut_at(&mut self, end: u64) {
        of_either!(self, free => free.cut_at(end));
    }

    fn bytes(&self) -> u64 {
        of_either!(self, free => free.bytes())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use aggregator::{LARGEST_SMALL, SMALLEST_BLOCK};
    use free_extents::meet;

    fn extent(at: u64, len: u64) -> Extent {
        Extent::new(Addr::new(at), len)
    }

    #[test]
    fn metadata_are_allocated_together_and_data_elsewhere() {
        let start = LARGEST_SMALL + 1;
        let mut space = Space::new(start, u64::MAX);
        assert_eq!(space.allocate(SpaceKind::Metadata, 100), Some(extent(start, 100)));
        assert_eq!(space.allocate(SpaceKind::Raw, 50), Some(extent(start + SMALLEST_BLOCK, 50)));
        assert_eq!(space.allocate(SpaceKind::Metadata, 100), Some(extent(start + 100, 100)));
    }

    #[test]
    fn a_small_file_has_no_hole_between_metadata_and_data() {
        let mut space = Space::new(48, u64::MAX);
        let mut at = 48;
        let kinds = [SpaceKind::Metadata, SpaceKind::Raw].into_iter().cycle();
        for (kind, len) in kinds.zip([100, 24, 50, 8000, 10]) {
            assert_eq!(space.allocate(kind, len), Some(extent(at, len)));
            at += len;
        }
        assert_eq!(space.end_after_commit(false), at);
    }

    #[test]
    fn metadata_at_the_end_of_the_file_leave_no_holes() {
        let mut space = Space::new(0, u64::MAX);
        for (at, len) in [(0, 200), (200, 100), (300, 5000), (5300, 10)] {
            assert_eq!(space.allocate(SpaceKind::Metadata, len), Some(extent(at, len)));
        }
        assert_eq!(space.end_after_commit(false), 5310);
    }

    #[test]
    fn small_holes_are_used_for_metadata_and_large_ones_for_data() {
        let mut space = Space::new(0, u64::MAX);
        let small = space.allocate(SpaceKind::Raw, 3000).unwrap();
        space.allocate(SpaceKind::Raw, 10).unwrap();
        let large = space.allocate(SpaceKind::Raw, 100_000).unwrap();
        space.allocate(SpaceKind::Raw, 10).unwrap();
        // With this block the holes are not needed.
        let block = space.allocate(SpaceKind::Metadata, 10).unwrap();
        space.release(SpaceKind::Raw, large);
        space.no_reads();
        assert_eq!(space.allocate(SpaceKind::Metadata, 100), Some(extent(block.addr.get() + 10, 100)));
        space.release(SpaceKind::Raw, small);
        space.no_reads();
        assert_eq!(space.allocate(SpaceKind::Metadata, 100), Some(extent(small.addr.get(), 100)));
        assert_eq!(space.allocate(SpaceKind::Raw, 100_000), Some(large));
    }

    #[test]
    fn free_space_at_the_end_is_used_when_the_file_grows() {
        let mut space = Space::new(0, u64::MAX);
        space.allocate(SpaceKind::Raw, 10).unwrap();
        let last = space.allocate(SpaceKind::Raw, 100).unwrap();
        space.release(SpaceKind::Raw, last);
        space.no_reads();
        assert_eq!(space.allocate(SpaceKind::Raw, 300), Some(extent(10, 300)));
        assert_eq!((space.end(), space.free_bytes()), (310, 0));
    }

    #[test]
    fn a_commit_and_a_roll_back_keep_unnamed_extents() {
        let mut space = Space::new(0, u64::MAX);
        let first = space.allocate_unnamed(SpaceKind::Raw, 100).unwrap();
        let second = space.allocate_unnamed(SpaceKind::Raw, 100).unwrap();
        space.committed(space.end());
        space.named(first);
        // The step that named the first extent is rolled back; the data of the second are still being
        // written.
        space.roll_back();
        space.no_reads();
        assert_eq!(space.free_bytes(), 100);
        assert_eq!(space.allocate(SpaceKind::Raw, 100), Some(first));
        space.named(second);
        space.committed(space.end());
        space.release(SpaceKind::Raw, second);
        assert!(!space.is_waiting(), "the committed state reaches it now");
    }

    #[test]
    fn an_extent_grows_into_the_free_space_after_it() {
        let mut space = Space::new(0, u64::MAX);
        let first = space.allocate(SpaceKind::Metadata, 100).unwrap();
        assert_eq!(space.extend(first, 50), Some(extent(100, 50)), "the block");
        assert_eq!(space.extend(extent(0, 150), 1000), Some(extent(150, 1000)), "the block, which grows");
        space.allocate(SpaceKind::Raw, 6000).unwrap();
        assert_eq!(space.extend(extent(0, 1150), 5000), None, "the block is too short, and data follow it");
        let data = space.end() - 6000;
        assert_eq!(space.extend(extent(data, 6000), 10), Some(extent(data + 6000, 10)), "the end");
        let hole = space.allocate(SpaceKind::Raw, 300).unwrap();
        space.allocate(SpaceKind::Raw, 10).unwrap();
        space.release(SpaceKind::Raw, hole);
        space.no_reads();
        assert_eq!(space.extend(extent(data, 6010), 301), None);
        assert_eq!(space.extend(extent(data, 6010), 300), Some(hole), "a hole");
        assert_eq!(space.extend(extent(data, 6310), 1), None, "it is not free");
    }

    #[test]
    fn an_extent_of_the_committed_state_is_not_extended() {
        let mut space = Space::new(0, u64::MAX);
        let old = space.allocate(SpaceKind::Metadata, 100).unwrap();
        space.committed(space.end_after_commit(false));
        assert_eq!(space.extend(old, 10), None);
    }

    #[test]
    fn committed_space_is_reused_after_the_commit_that_drops_it() {
        let mut space = Space::new(0, u64::MAX);
        let old = space.allocate(SpaceKind::Raw, 5000).unwrap();
        let after = space.allocate(SpaceKind::Raw, 10).unwrap();
        space.committed(space.end_after_commit(false));
        space.release(SpaceKind::Raw, old);
        space.no_reads();
        assert_ne!(space.allocate(SpaceKind::Raw, 5000), Some(old));
        space.committed(space.end_after_commit(false));
        assert_ne!(space.allocate(SpaceKind::Raw, 4000), Some(extent(0, 4000)), "a read may be under way");
        space.no_reads();
        assert_eq!(space.allocate(SpaceKind::Raw, 5000), Some(old));
        assert!(!space.is_fresh(after.addr));
    }

    #[test]
    fn fresh_space_is_reused_at_once() {
        let mut space = Space::new(0, u64::MAX);
        let first = space.allocate(SpaceKind::Raw, 10).unwrap();
        space.allocate(SpaceKind::Raw, 10).unwrap();
        space.release(SpaceKind::Raw, first);
        space.no_reads();
        assert_eq!(space.allocate(SpaceKind::Raw, 10), Some(first));
    }

    #[test]
    fn free_space_at_the_end_is_cut_off() {
        let mut space = Space::new(0, u64::MAX);
        let first = space.allocate(SpaceKind::Raw, 100).unwrap();
        let second = space.allocate(SpaceKind::Raw, 100).unwrap();
        space.allocate(SpaceKind::Metadata, 10).unwrap();
        assert_eq!(space.end_after_commit(false), 210, "the rest of the block for metadata");
        space.committed(210);
        space.release(SpaceKind::Raw, first);
        space.release(SpaceKind::Raw, second);
        space.release(SpaceKind::Raw, extent(200, 10));
        space.no_reads();
        assert_eq!(space.end_after_commit(false), 0);
        space.committed(0);
        space.no_reads();
        assert_eq!((space.end(), space.free_bytes()), (0, 0));
    }

    #[test]
    fn space_freed_twice_is_allocated_once() {
        let mut space = Space::new(0, u64::MAX);
        let all = space.allocate(SpaceKind::Raw, 100).unwrap();
        space.allocate(SpaceKind::Raw, 10).unwrap();
        for _ in 0..3 {
            space.release(SpaceKind::Raw, all);
            space.release(SpaceKind::Raw, extent(50, 100_000));
            space.no_reads();
        }
        assert_eq!(space.free_bytes(), 110, "space after the end is ignored");
        let again = [100, 10].map(|len| space.allocate(SpaceKind::Raw, len).unwrap());
        assert!(!meet(again[0], again[1]));
        space.committed(110);
        for _ in 0..3 {
            space.release(SpaceKind::Raw, all);
        }
        assert_eq!(space.free_bytes(), 100);
    }

    #[test]
    fn space_is_not_allocated_beyond_the_address_limit() {
        let mut space = Space::new(90, 100);
        assert_eq!(space.allocate(SpaceKind::Raw, 11), None);
        assert_eq!(space.allocate(SpaceKind::Raw, 10), Some(extent(90, 10)));
    }

    #[derive(Debug, Clone)]
    enum Step {
        Allocate(bool, u64),
        Extend(usize, u64),
        Release(usize),
        NoReads,
        Commit,
        RollBack,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (any::<bool>(), 1_u64..6000).prop_map(|(raw, len)| Step::Allocate(raw, len)),
            2 => (0_usize..20, 1_u64..3000).prop_map(|(which, len)| Step::Extend(which, len)),
            3 => (0_usize..50).prop_map(Step::Release),
            1 => Just(Step::NoReads),
            1 => Just(Step::Commit),
            1 => Just(Step::RollBack),
        ];
        proptest::collection::vec(step, 1..120)
    }

    proptest! {
        /// Compares with a list of the extents in use now and of those in use at the last commit.
        #[test]
        fn no_byte_in_use_or_committed_is_allocated(steps in steps()) {
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
                    Step::Extend(i, len) if i < used.len() => {
                        let Some(new) = space.extend(used[i], len) else { continue };
                        prop_assert_eq!((Some(new.addr), new.len), (used[i].end(), len));
                        for old in used.iter().chain(&committed) {
                            prop_assert!(!meet(new, *old), "{new:?} meets {old:?}");
                        }
                        prop_assert!(!committed.iter().any(|old| meet(used[i], *old)));
                        used[i].len += len;
                    }
                    Step::Release(i) if i < used.len() => space.release(SpaceKind::Raw, used.swap_remove(i)),
                    Step::Extend(..) | Step::Release(_) => {}
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
            // No space is lost either.
            let in_use: u64 = used.iter().map(|extent| extent.len).sum();
            prop_assert_eq!(in_use + space.free_bytes() + 64, space.end());
        }
    }
}
