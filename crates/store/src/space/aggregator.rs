//! Allocation without pages: data at the best-fitting place, metadata in blocks, so that they do not fragment
//! the data.

use hyperslab_format::{Addr, Extent};

use super::free_extents::{FreeExtents, before, split};
use super::{Alignment, End};

/// The free space of a file without pages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Aggregator {
    free: FreeExtents,
    /// The unused part of the last metadata block.
    block: Option<Extent>,
    /// The number of bytes allocated from metadata blocks.
    metadata: u64,
    /// The size of metadata blocks, if the caller sets it.
    stated: Option<u64>,
    alignment: Alignment,
}

impl Aggregator {
    pub(crate) fn new(stated: Option<u64>, alignment: Alignment) -> Self {
        Self { stated, alignment, ..Self::default() }
    }

    /// Allocates from a small hole or from the metadata block.
    pub(crate) fn allocate_metadata(&mut self, len: u64, end: &mut End) -> Option<Extent> {
        let step = self.alignment.of(len);
        let largest = LARGEST_BLOCK.max(len.saturating_mul(2));
        if let Some(extent) = self.free.take_aligned(len, largest, step) {
            return Some(extent);
        }
        if step > 1 {
            return self.allocate(len, end);
        }
        if self.block.is_none_or(|block| block.len < len) {
            self.renew_block(len, end)?;
        }
        self.take_from_block(len)
    }

    /// Makes a block of `len` bytes or more, if the old one is too short: from a hole, or at the end.
    fn renew_block(&mut self, len: u64, end: &mut End) -> Option<()> {
        let wanted = self.block_len(end.at).max(len);
        let cuts_all = self.metadata >= LARGEST_CUT;
        let hole = cuts_all.then(|| self.free.take_aligned(wanted, u64::MAX, 1)).flatten();
        if hole.is_none() && self.reserve(len, end).is_some() {
            return Some(());
        }
        let rest = self.block.take();
        let most = LARGEST_CUT.max(wanted.saturating_mul(2));
        let hole = hole.or_else(|| self.free.take_aligned(wanted, most, 1));
        self.block = Some(hole.or_else(|| self.append(wanted, 1, end))?);
        if let Some(rest) = rest {
            self.free.insert(rest);
        }
        Some(())
    }

    /// Allocates from the best-fitting hole, or at the end of the file.
    pub(crate) fn allocate(&mut self, len: u64, end: &mut End) -> Option<Extent> {
        if end.at <= LARGEST_SMALL && self.stated.is_none() {
            // All metadata are near each other here, and the rest would be lost when the file is closed.
            self.block.take().into_iter().for_each(|rest| self.free.insert(rest));
        }
        self.take(len, self.alignment.of(len), end)
    }

    /// Takes `len` bytes that begin at `at`, if they are free.
    pub(crate) fn extend(&mut self, at: u64, len: u64, end: &mut End) -> Option<Extent> {
        let is_here = |rest: &Extent| rest.addr.get() == at;
        if self.block.as_ref().is_some_and(is_here) {
            self.reserve(len, end)?;
            return self.take_from_block(len);
        }
        if let Some(added) = self.free.take_at(at, len) {
            return Some(added);
        }
        let is_last = at == end.at || self.free_tail(end.at).as_ref().is_some_and(is_here);
        is_last.then(|| self.append(len, 1, end)).flatten()
    }

    /// Makes an extent free that is not free yet.
    pub(crate) fn give(&mut self, extent: Extent) {
        self.free.insert(extent);
    }

    /// Returns the parts of an extent that are not free.
    pub(crate) fn outside(&self, extent: Extent) -> Vec<Extent> {
        let mut block = crate::space::free_extents::Intervals::default();
        self.block.into_iter().for_each(|rest| block.insert(rest));
        let parts = self.free.by_address().outside(extent);
        parts.into_iter().flat_map(|part| block.outside(part)).collect()
    }

    /// Returns the end of the file without the free space there.
    pub(crate) fn end_of_used(&self, end: u64) -> u64 {
        let mut free = self.free.clone();
        self.block.into_iter().for_each(|rest| free.insert(rest));
        let tail = free.last().filter(|last| last.addr.get() + last.len == end);
        tail.map_or(end, |tail| tail.addr.get())
    }

    /// Drops the free space from `end` on.
    pub(crate) fn cut_at(&mut self, end: u64) {
        self.block = self.block.take().and_then(|rest| before(rest, end));
        self.free.cut_at(end);
    }

    /// Returns the number of free bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.free.bytes() + self.block.map_or(0, |rest| rest.len)
    }

    /// Returns all free extents.
    pub(crate) fn extents(&self) -> Vec<Extent> {
        let mut free = self.free.clone();
        self.block.into_iter().for_each(|rest| free.insert(rest));
        free.by_address().iter().collect()
    }

    /// Makes sure that the block has `len` bytes. A block at the end of the file grows. `None` if the block
    /// is too short.
    fn reserve(&mut self, len: u64, end: &mut End) -> Option<()> {
        let block = self.block?;
        let missing = len.saturating_sub(block.len);
        if missing > 0 {
            let more = missing.max(self.block_len(end.at));
            let is_last = block.addr.get() + block.len == end.at;
            let added = is_last.then(|| self.append(more, 1, end)).flatten()?;
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
    fn block_len(&self, end: u64) -> u64 {
        self.stated.unwrap_or_else(|| self.metadata.min(end / 256).clamp(SMALLEST_BLOCK, LARGEST_BLOCK))
    }

    /// Takes `len` bytes from the best-fitting free extent, or else at the end of the file.
    fn take(&mut self, len: u64, step: u64, end: &mut End) -> Option<Extent> {
        self.free.take_aligned(len, u64::MAX, step).or_else(|| self.append(len, step, end))
    }

    /// Takes `len` bytes at the end of the file, starting with the free space there, which is shorter than
    /// `len`.
    fn append(&mut self, len: u64, step: u64, end: &mut End) -> Option<Extent> {
        let tail = self.free_tail(end.at);
        let first = tail.map_or(end.at, |tail| tail.addr.get());
        let start = first.checked_next_multiple_of(step)?;
        end.at = start.checked_add(len).filter(|&to| to <= end.limit)?;
        tail.inspect(|tail| self.free.remove(*tail));
        if first < start {
            self.free.insert(Extent::new(Addr::new(first), start - first));
        }
        Some(Extent::new(Addr::new(start), len))
    }

    /// Returns the free extent at the end of the file.
    fn free_tail(&self, end: u64) -> Option<Extent> {
        self.free.last().filter(|last| last.addr.get() + last.len == end)
    }
}

/// The least size of a metadata block. Blocks keep metadata together.
pub(crate) const SMALLEST_BLOCK: u64 = 256;
/// The largest size of a metadata block. Holes up to this size are used for metadata.
const LARGEST_BLOCK: u64 = 4096;
/// The end of the largest file in which metadata are not kept apart from data.
pub(crate) const LARGEST_SMALL: u64 = 1 << 16;
/// The largest hole from which a metadata block is cut. A larger one is where data were, and may be again, of
/// the same size: without a few bytes it would be too short for them. That ends with this many bytes of
/// metadata in one opening: a file of much metadata would grow beside its free space.
const LARGEST_CUT: u64 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned() -> (Aggregator, End) {
        (Aggregator::new(None, Alignment { threshold: 100, step: 64 }), End { at: 10, limit: u64::MAX })
    }

    #[test]
    fn blocks_grow_with_the_metadata_and_the_file() {
        let block = |end, metadata: u64| Aggregator { metadata, ..Aggregator::default() }.block_len(end);
        assert_eq!(block(1 << 30, 0), SMALLEST_BLOCK, "a file that is opened for a small change");
        assert_eq!(block(1 << 30, 1000), 1000);
        assert_eq!(block(1 << 30, 1 << 20), LARGEST_BLOCK);
        assert_eq!(block(1000, 10_000), SMALLEST_BLOCK, "a small file");
        let end = 300 << 10;
        assert!((end / 256..end / 200).contains(&block(end, 20_000)), "at most 1/256 of the file");
    }

    #[test]
    fn a_large_hole_stays_whole_for_data_of_its_size() {
        let (mut blocks, mut end) = (Aggregator::default(), End { at: 3 << 20, limit: u64::MAX });
        let [small, large] =
            [(1000, 10_000), (1 << 20, 1 << 20)].map(|(at, len)| Extent::new(Addr::new(at), len));
        for hole in [small, large] {
            blocks.give(hole);
        }
        assert_eq!(blocks.allocate_metadata(5000, &mut end).map(|extent| extent.addr), Some(small.addr));
        assert_eq!(blocks.allocate_metadata(6000, &mut end).map(|extent| extent.addr.get()), Some(3 << 20));
        assert_eq!(blocks.allocate(1 << 20, &mut end), Some(large));
    }

    #[test]
    fn much_metadata_is_cut_from_a_large_hole() {
        let (mut blocks, mut end) = (Aggregator::default(), End { at: 3 << 20, limit: u64::MAX });
        blocks.give(Extent::new(Addr::new(1 << 20), 1 << 20));
        for _ in 0..300 {
            blocks.allocate_metadata(1000, &mut end).unwrap();
        }
        let grown = end.at - (3 << 20);
        assert!(grown < LARGEST_CUT + 2 * LARGEST_BLOCK, "{grown} bytes beside the hole");
    }

    #[test]
    fn extents_of_the_threshold_and_more_are_aligned_and_the_gaps_are_used() {
        let (mut blocks, mut end) = aligned();
        let at = |extent: Option<Extent>| extent.map(|extent| extent.addr.get());
        assert_eq!(at(blocks.allocate(100, &mut end)), Some(64));
        assert_eq!(at(blocks.allocate(54, &mut end)), Some(10), "the gap");
        assert_eq!(at(blocks.allocate(99, &mut end)), Some(164));
        assert_eq!(at(blocks.allocate_metadata(200, &mut end)), Some(320));
        blocks.give(Extent::new(Addr::new(64), 199));
        assert_eq!(at(blocks.allocate(100, &mut end)), Some(64));
        assert_eq!(at(blocks.allocate(100, &mut end)), Some(192), "the gap belongs to the hole");
        assert_eq!(at(blocks.allocate(20, &mut end)), Some(164));
        assert_eq!(at(blocks.allocate(100, &mut end)), Some(576));
    }

    #[test]
    fn a_block_has_the_size_that_the_caller_states() {
        let mut blocks = Aggregator::new(Some(512), Alignment::default());
        let mut end = End { at: 48, limit: u64::MAX };
        blocks.allocate_metadata(10, &mut end).unwrap();
        assert_eq!(blocks.allocate(8, &mut end).unwrap().addr.get(), 48 + 512);
    }
}
