//! The space of a file that is open for writing: the free extents, the extents allocated since the last
//! commit, and the extents that must not be reallocated yet (invariant J5 in `journal.rs`).
//!
//! A file that is opened has no free space. It grows, and space freed from then on is reused. Free extents of
//! other writers are lost until the file is repacked, as in libhdf5.

use hyperslab_format::{Addr, Extent};

use super::extents::{FreeExtents, Intervals, before, meet, split};

/// What an extent is for. Metadata are kept together, so that they do not fragment the data.
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
    /// The address after all space in use, free or quarantined.
    end: u64,
    /// The limit of addresses, which their width sets. All addresses are below it.
    limit: u64,
    /// Free for allocation.
    free: FreeExtents,
    /// Allocated since the last commit, or unnamed: no committed state refers to these extents.
    fresh: Intervals,
    /// Allocated for data that nothing in the file refers to yet.
    unnamed: Intervals,
    /// Freed, but the committed state refers to these extents.
    quarantine: Intervals,
    /// Freed; available once no read that was planned before is in progress.
    waiting: Intervals,
    /// The unused part of the last metadata block.
    block: Option<Extent>,
    /// The number of bytes allocated from metadata blocks.
    metadata: u64,
}

impl Space {
    /// Returns the space of a file that ends at `end` and has no free extents.
    pub(super) fn new(end: u64, limit: u64) -> Self {
        Self {
            end,
            limit,
            free: FreeExtents::default(),
            fresh: Intervals::default(),
            unnamed: Intervals::default(),
            quarantine: Intervals::default(),
            waiting: Intervals::default(),
            block: None,
            metadata: 0,
        }
    }

    /// Returns the address after all space that was ever allocated.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Allocates `len` bytes that no committed state refers to; `None` if addresses cannot reach that far.
    pub(super) fn allocate(&mut self, kind: SpaceKind, len: u64) -> Option<Extent> {
        let extent = match kind {
            SpaceKind::Metadata => self.allocate_metadata(len)?,
            SpaceKind::Raw => self.take(len)?,
        };
        self.fresh.insert(extent);
        Some(extent)
    }

    /// Allocates space for data, which a step will [name](Self::named). Until then a commit does not refer to
    /// it.
    pub(super) fn allocate_unnamed(&mut self, len: u64) -> Option<Extent> {
        let extent = self.allocate(SpaceKind::Raw, len)?;
        self.unnamed.insert(extent);
        Some(extent)
    }

    /// Records that something in the file now refers to this extent.
    pub(super) fn named(&mut self, extent: Extent) {
        for (part, is_unnamed) in self.unnamed.cut(extent) {
            if is_unnamed {
                self.unnamed.remove(part);
            }
        }
    }

    /// Extends an extent in place by `len` bytes; returns the added part. `None` if a committed state refers
    /// to the extent, or the space after it is in use.
    pub(super) fn extend(&mut self, extent: Extent, len: u64) -> Option<Extent> {
        let end = extent.addr.get() + extent.len;
        if !self.fresh.outside(extent).is_empty() {
            return None;
        }
        let is_before = |rest: &Extent| rest.addr.get() == end;
        let added = if self.block.as_ref().is_some_and(is_before) {
            self.reserve(len)?;
            self.take_from_block(len)?
        } else if let Some(added) = self.free.take_at(end, len) {
            added
        } else {
            let is_last = end == self.end || self.free_tail().as_ref().is_some_and(is_before);
            is_last.then(|| self.append(len)).flatten()?
        };
        self.fresh.insert(added);
        Some(added)
    }

    /// Allocates from a small hole or from the metadata block.
    fn allocate_metadata(&mut self, len: u64) -> Option<Extent> {
        if let Some(extent) = self.free.take(len, LARGEST_BLOCK.max(len.saturating_mul(2))) {
            return Some(extent);
        }
        if self.reserve(len).is_none() {
            let rest = self.block.take();
            self.block = Some(self.take(self.block_len().max(len))?);
            if let Some(rest) = rest {
                self.free.insert(rest);
            }
        }
        self.take_from_block(len)
    }

    /// Makes sure that the block has `len` bytes. A block at the end of the file grows. `None` if the block
    /// is too short.
    fn reserve(&mut self, len: u64) -> Option<()> {
        let block = self.block?;
        let missing = len.saturating_sub(block.len);
        if missing > 0 {
            let more = missing.max(self.block_len());
            let is_last = block.addr.get() + block.len == self.end;
            let added = is_last.then(|| self.append(more)).flatten()?;
            self.block = Some(Extent::new(block.addr, block.len + added.len));
        }
        Some(())
    }

    fn take_from_block(&mut self, len: u64) -> Option<Extent> {
        let (first, after) = split(self.block.take()?, len);
        self.block = after;
        self.metadata = self.metadata.saturating_add(len);
        Some(first)
    }

    /// Returns the size of a new block. The unused part of the last block is lost when the file is closed. So
    /// that a file may be opened many times for small changes, a block is at most 1/256 of the file and at
    /// most the metadata allocated before.
    fn block_len(&self) -> u64 {
        self.metadata.min(self.end / 256).clamp(SMALLEST_BLOCK, LARGEST_BLOCK)
    }

    /// Takes `len` bytes from the best-fitting free extent, or else at the end of the file.
    fn take(&mut self, len: u64) -> Option<Extent> {
        self.free.take(len, u64::MAX).or_else(|| self.append(len))
    }

    /// Takes `len` bytes at the end of the file, starting with the free space there, which is shorter than
    /// `len`.
    fn append(&mut self, len: u64) -> Option<Extent> {
        let tail = self.free_tail();
        let start = tail.map_or(self.end, |tail| tail.addr.get());
        let end = start.checked_add(len).filter(|&end| end <= self.limit)?;
        tail.inspect(|tail| self.free.remove(*tail));
        self.end = end;
        Some(Extent::new(Addr::new(start), len))
    }

    /// Returns the free extent at the end of the file.
    fn free_tail(&self) -> Option<Extent> {
        self.free.last().filter(|last| last.addr.get() + last.len == self.end)
    }

    /// Returns whether no committed state refers to the byte at `at`.
    pub(super) fn is_fresh(&self, at: Addr) -> bool {
        self.fresh.contains(at.get())
    }

    /// Frees an extent. Fresh space is available once no read is in progress; the rest is available after the
    /// commit that drops it. Space that is not in use is ignored: in a damaged file two structures may claim
    /// the same space.
    pub(super) fn release(&mut self, extent: Extent) {
        let Some(extent) = before(extent, self.end) else { return };
        for (part, is_fresh) in self.fresh.cut(extent) {
            if is_fresh {
                self.fresh.remove(part);
                self.named(part);
                self.waiting.merge(part);
                continue;
            }
            let mut parts = vec![part];
            for known in [self.free.by_address(), &self.waiting, &self.quarantine] {
                parts = parts.into_iter().flat_map(|part| known.outside(part)).collect();
            }
            parts.retain(|part| self.block.is_none_or(|block| !meet(block, *part)));
            for part in parts {
                self.quarantine.merge(part);
            }
        }
    }

    /// Returns whether freed space waits for reads to end.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Makes the space that waited for reads available again.
    pub(super) fn no_reads(&mut self) {
        for extent in std::mem::take(&mut self.waiting).iter() {
            self.free.insert(extent);
        }
    }

    /// Returns the end of the file after this state is committed. Free space at the end is cut off, except
    /// space that a read in progress may need.
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

    /// Records a commit: the committed state, which ends at `end`, refers to all space in use except unnamed
    /// space.
    pub(super) fn committed(&mut self, end: u64) {
        self.fresh = self.unnamed.clone();
        for extent in std::mem::take(&mut self.quarantine).iter() {
            self.waiting.merge(extent);
        }
        if end < self.end {
            // The space beyond was free, or its last reader is gone.
            self.block = self.block.take().and_then(|block| before(block, end));
            self.free.cut_at(end);
            self.waiting.cut_at(end);
            self.end = end;
        }
    }

    /// Returns to the committed state: extents allocated since are free, extents freed since are in use.
    /// Unnamed extents stay allocated, because their data are still being written.
    pub(super) fn roll_back(&mut self) {
        self.quarantine = Intervals::default();
        for extent in std::mem::replace(&mut self.fresh, self.unnamed.clone()).iter() {
            for part in self.unnamed.outside(extent) {
                self.waiting.merge(part);
            }
        }
    }

    /// Returns the number of free bytes, including those that wait for reads to end.
    pub(super) fn free_bytes(&self) -> u64 {
        let waiting = self.waiting.iter().chain(self.quarantine.iter()).map(|extent| extent.len).sum::<u64>();
        self.free.bytes() + waiting + self.block.map_or(0, |block| block.len)
    }
}

/// The least size of a metadata block. Blocks keep metadata together.
const SMALLEST_BLOCK: u64 = 256;
/// The largest size of a metadata block. Holes up to this size are used for metadata.
const LARGEST_BLOCK: u64 = 4096;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn extent(at: u64, len: u64) -> Extent {
        Extent::new(Addr::new(at), len)
    }

    #[test]
    fn metadata_are_allocated_together_and_data_elsewhere() {
        let mut space = Space::new(1000, u64::MAX);
        assert_eq!(space.allocate(SpaceKind::Metadata, 100), Some(extent(1000, 100)));
        assert_eq!(space.allocate(SpaceKind::Raw, 50), Some(extent(1000 + SMALLEST_BLOCK, 50)));
        assert_eq!(space.allocate(SpaceKind::Metadata, 100), Some(extent(1100, 100)));
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
    fn blocks_grow_with_the_metadata_and_the_file() {
        let block = |end, metadata: u64| {
            let mut space = Space::new(end, u64::MAX);
            for _ in 0..metadata / 100 {
                space.allocate(SpaceKind::Metadata, 100).unwrap();
            }
            space.block_len()
        };
        assert_eq!(block(1 << 30, 0), SMALLEST_BLOCK, "a file that is opened for a small change");
        assert_eq!(block(1 << 30, 1000), 1000);
        assert_eq!(block(1 << 30, 1 << 20), LARGEST_BLOCK);
        assert_eq!(block(1000, 10_000), SMALLEST_BLOCK, "a small file");
        let end = 300 << 10;
        assert!((end / 256..end / 200).contains(&block(end, 20_000)), "at most 1/256 of the file");
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
        space.release(large);
        space.no_reads();
        assert_eq!(space.allocate(SpaceKind::Metadata, 100), Some(extent(block.addr.get() + 10, 100)));
        space.release(small);
        space.no_reads();
        assert_eq!(space.allocate(SpaceKind::Metadata, 100), Some(extent(small.addr.get(), 100)));
        assert_eq!(space.allocate(SpaceKind::Raw, 100_000), Some(large));
    }

    #[test]
    fn free_space_at_the_end_is_used_when_the_file_grows() {
        let mut space = Space::new(0, u64::MAX);
        space.allocate(SpaceKind::Raw, 10).unwrap();
        let last = space.allocate(SpaceKind::Raw, 100).unwrap();
        space.release(last);
        space.no_reads();
        assert_eq!(space.allocate(SpaceKind::Raw, 300), Some(extent(10, 300)));
        assert_eq!((space.end(), space.free_bytes()), (310, 0));
    }

    #[test]
    fn a_commit_and_a_roll_back_keep_unnamed_extents() {
        let mut space = Space::new(0, u64::MAX);
        let first = space.allocate_unnamed(100).unwrap();
        let second = space.allocate_unnamed(100).unwrap();
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
        space.release(second);
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
        space.release(hole);
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
    fn fresh_space_is_reused_at_once() {
        let mut space = Space::new(0, u64::MAX);
        let first = space.allocate(SpaceKind::Raw, 10).unwrap();
        space.allocate(SpaceKind::Raw, 10).unwrap();
        space.release(first);
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
    fn space_freed_twice_is_allocated_once() {
        let mut space = Space::new(0, u64::MAX);
        let all = space.allocate(SpaceKind::Raw, 100).unwrap();
        space.allocate(SpaceKind::Raw, 10).unwrap();
        for _ in 0..3 {
            space.release(all);
            space.release(extent(50, 100_000));
            space.no_reads();
        }
        assert_eq!(space.free_bytes(), 110, "space after the end is ignored");
        let again = [100, 10].map(|len| space.allocate(SpaceKind::Raw, len).unwrap());
        assert!(!meet(again[0], again[1]));
        space.committed(110);
        for _ in 0..3 {
            space.release(all);
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
                    Step::Release(i) if i < used.len() => space.release(used.swap_remove(i)),
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
