//! The space of a file: one range of addresses, or one for metadata and one for elements. Each is a
//! [`Space`] of its own.

use hyperslab_format::{Addr, Extent};

use super::unlisted::Search;
use super::{FreeSpace, Space, SpaceKind, SpaceRules};

/// The ends of the ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ends {
    /// The address after the first range, relative to the base address.
    pub(crate) first: u64,
    /// The number of bytes of the range of elements, if the file has one.
    pub(crate) elements: Option<u64>,
}

impl Ends {
    /// Returns ends that are not before those of `other`.
    pub(crate) fn max(self, other: Self) -> Self {
        Self { first: self.first.max(other.first), elements: self.elements.max(other.elements) }
    }
}

/// The space of one file.
#[derive(Debug)]
pub(crate) struct Spaces {
    first: Space,
    elements: Option<Second>,
    /// The search for space that was free when the file was opened, if it is still to be done.
    search: Option<Search>,
    /// During a commit, the address in the first range from which on other threads write nothing.
    tail: Option<u64>,
}

/// The range of elements. The addresses of its space begin at 0, so alignment counts from its start.
#[derive(Debug)]
struct Second {
    start: u64,
    space: Space,
}

/// The range that has some extent.
struct Here<'s> {
    space: &'s mut Space,
    /// The address of the first byte of the space.
    start: u64,
    /// The extent in the space.
    extent: Extent,
}

fn moved(extent: Extent, by: impl FnOnce(u64) -> u64) -> Extent {
    Extent::new(Addr::new(by(extent.addr.get())), extent.len)
}

impl Second {
    fn outer(&self, extent: Extent) -> Extent {
        moved(extent, |at| at + self.start)
    }
}

impl Spaces {
    /// Returns the space of a file that ends at `ends` and has no free extents. Each range has at most
    /// `limit` bytes. That of elements begins at `start`.
    pub(crate) fn new(ends: Ends, start: u64, limit: u64) -> Self {
        let second = |len| Second { start, space: Space::new(len, limit.min(u64::MAX - start)) };
        let elements = ends.elements.map(second);
        Self { first: Space::new(ends.first, limit), elements, search: None, tail: None }
    }

    pub(crate) fn set_rules(&mut self, rules: SpaceRules, is_new: bool) {
        self.first.set_rules(rules, is_new);
        self.elements.iter_mut().for_each(|second| second.space.set_rules(rules, is_new));
    }

    /// Adds extents of a file of one range that were free when the file was opened.
    pub(crate) fn adopt(&mut self, free: &FreeSpace) {
        self.first.adopt(free);
    }

    pub(crate) fn set_search(&mut self, search: Option<Search>) {
        self.search = search;
    }

    /// Returns whether space is allocated in pages.
    pub(crate) fn has_pages(&self) -> bool {
        self.first.has_pages()
    }

    pub(crate) fn take_search(&mut self) -> Option<Search> {
        self.search.take()
    }

    /// Notes an extent of the first range that was allocated.
    fn allocated(&mut self, extent: Extent) -> Extent {
        self.search.iter_mut().for_each(|search| search.allocated(extent));
        extent
    }

    /// See [`Space::found`].
    pub(crate) fn found(&mut self, holes: &[Extent]) {
        self.first.found(holes);
    }

    /// Returns all free space of the first range.
    pub(crate) fn free_space(&self) -> FreeSpace {
        self.first.free_space()
    }

    /// Returns the ends of all space that was ever allocated.
    pub(crate) fn ends(&self) -> Ends {
        let elements = self.elements.as_ref().map(|second| second.space.end());
        Ends { first: self.first.end(), elements }
    }

    /// Begins or ends the time in which a commit is written. During it, nothing is written from the address
    /// `tail` of the first range on.
    pub(crate) fn set_tail(&mut self, tail: Option<u64>) {
        self.tail = tail;
    }

    /// Returns whether a commit is being written.
    pub(crate) fn is_being_committed(&self) -> bool {
        self.tail.is_some()
    }

    /// Returns whether an extent may be written only after the commit that is being written.
    pub(crate) fn is_in_tail(&self, extent: Extent) -> bool {
        let is_first = self.elements.as_ref().is_none_or(|second| extent.addr.get() < second.start);
        is_first && self.tail.is_some_and(|tail| extent.addr.get() + extent.len > tail)
    }

    /// Returns the ends of the space in which threads may write at present.
    pub(crate) fn ends_of_writable(&self) -> Ends {
        let ends = self.ends();
        Ends { first: ends.first.min(self.tail.unwrap_or(u64::MAX)), ..ends }
    }

    /// See [`Space::allocate`].
    pub(crate) fn allocate(&mut self, kind: SpaceKind, len: u64) -> Option<Extent> {
        match self.second_for(kind) {
            Some(second) => second.space.allocate(SpaceKind::Raw, len).map(|extent| second.outer(extent)),
            None => self.first.allocate(kind, len).map(|extent| self.allocated(extent)),
        }
    }

    /// See [`Space::allocate_unnamed`].
    pub(crate) fn allocate_unnamed(&mut self, kind: SpaceKind, len: u64) -> Option<Extent> {
        match self.second_for(kind) {
            Some(second) => {
                second.space.allocate_unnamed(SpaceKind::Raw, len).map(|extent| second.outer(extent))
            }
            None => self.first.allocate_unnamed(kind, len).map(|extent| self.allocated(extent)),
        }
    }

    /// See [`Space::named`].
    pub(crate) fn named(&mut self, extent: Extent) {
        let Here { space, extent, .. } = self.here(extent);
        space.named(extent);
    }

    /// See [`Space::extend`].
    pub(crate) fn extend(&mut self, extent: Extent, len: u64) -> Option<Extent> {
        let Here { space, start, extent } = self.here(extent);
        let added = moved(space.extend(extent, len)?, |at| at + start);
        Some(self.allocated(added))
    }

    /// See [`Space::is_fresh`].
    pub(crate) fn is_fresh(&self, at: Addr) -> bool {
        match self.elements.as_ref().filter(|second| at.get() >= second.start) {
            Some(second) => second.space.is_fresh(Addr::new(at.get() - second.start)),
            None => self.first.is_fresh(at),
        }
    }

    /// See [`Space::show`].
    pub(crate) fn show(&mut self, end: u64) {
        self.first.show(end);
    }

    /// See [`Space::is_shown`].
    pub(crate) fn is_shown(&self, at: Addr) -> bool {
        self.first.is_shown(at)
    }

    /// See [`Space::release`].
    pub(crate) fn release(&mut self, kind: SpaceKind, extent: Extent) {
        let Here { space, extent, .. } = self.here(extent);
        space.release(kind, extent);
    }

    /// See [`Space::is_waiting`].
    pub(crate) fn is_waiting(&self) -> bool {
        self.first.is_waiting() || self.elements.as_ref().is_some_and(|second| second.space.is_waiting())
    }

    /// See [`Space::no_reads`].
    pub(crate) fn no_reads(&mut self) {
        self.first.no_reads();
        self.elements.iter_mut().for_each(|second| second.space.no_reads());
    }

    /// See [`Space::end_after_commit`].
    pub(crate) fn ends_after_commit(&self, is_read: bool) -> Ends {
        let elements = self.elements.as_ref().map(|second| second.space.end_after_commit(is_read));
        Ends { first: self.first.end_after_commit(is_read), elements }
    }

    /// See [`Space::committed`].
    pub(crate) fn committed(&mut self, ends: Ends) {
        self.search.iter_mut().for_each(Search::committed);
        self.first.committed(ends.first);
        if let (Some(second), Some(end)) = (&mut self.elements, ends.elements) {
            second.space.committed(end);
        }
    }

    /// See [`Space::roll_back`].
    pub(crate) fn roll_back(&mut self) {
        self.first.roll_back();
        self.elements.iter_mut().for_each(|second| second.space.roll_back());
    }

    /// See [`Space::free_bytes`].
    pub(crate) fn free_bytes(&self) -> u64 {
        self.first.free_bytes() + self.elements.as_ref().map_or(0, |second| second.space.free_bytes())
    }

    /// Returns the range of elements if it is for this kind. As in libhdf5, it has the global heap, too.
    fn second_for(&mut self, kind: SpaceKind) -> Option<&mut Second> {
        self.elements.as_mut().filter(|_| kind != SpaceKind::Metadata)
    }

    fn here(&mut self, extent: Extent) -> Here<'_> {
        match self.elements.as_mut().filter(|second| extent.addr.get() >= second.start) {
            Some(Second { start, space }) => {
                let start = *start;
                Here { space, start, extent: moved(extent, |at| at - start) }
            }
            None => Here { space: &mut self.first, start: 0, extent },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = (u64::MAX - 1) / 2;

    fn extent(at: u64, len: u64) -> Extent {
        Extent::new(Addr::new(at), len)
    }

    fn spaces() -> Spaces {
        Spaces::new(Ends { first: 1000, elements: Some(10) }, START, 1 << 40)
    }

    #[test]
    fn the_kind_selects_the_range_and_the_address_the_range_of_what_is_freed() {
        let mut spaces = spaces();
        assert_eq!(spaces.allocate(SpaceKind::Metadata, 100), Some(extent(1000, 100)));
        let data = spaces.allocate_unnamed(SpaceKind::Raw, 50).unwrap();
        assert_eq!(data, extent(START + 10, 50));
        assert_eq!(spaces.allocate(SpaceKind::GlobalHeap, 4), Some(extent(START + 60, 4)));
        assert!(spaces.is_fresh(data.addr) && !spaces.is_fresh(Addr::new(START + 9)));
        assert!(spaces.is_fresh(Addr::new(1000)) && !spaces.is_fresh(Addr::new(60)));
        spaces.named(data);
        spaces.roll_back();
        spaces.no_reads();
        assert_eq!(spaces.ends_after_commit(false), Ends { first: 1000, elements: Some(10) });
        assert_eq!(spaces.allocate(SpaceKind::Raw, 54), Some(extent(START + 10, 54)));
        // The kind says metadata, the address where it is.
        spaces.release(SpaceKind::Metadata, extent(START + 10, 54));
        assert!(spaces.is_waiting());
        spaces.no_reads();
        assert!(!spaces.is_waiting());
        assert_eq!(spaces.ends_after_commit(false).elements, Some(10));
        assert_eq!(spaces.free_bytes(), 54 + 256);
    }

    #[test]
    fn each_range_has_its_own_end_and_space_to_reuse() {
        let mut spaces = spaces();
        let data: Vec<_> = (0..3).map(|_| spaces.allocate(SpaceKind::Raw, 100).unwrap()).collect();
        spaces.committed(spaces.ends_after_commit(false));
        assert_eq!(spaces.ends(), Ends { first: 1000, elements: Some(310) });
        spaces.release(SpaceKind::Raw, data[1]);
        spaces.release(SpaceKind::Raw, data[2]);
        let kept = spaces.allocate(SpaceKind::Raw, 90).unwrap();
        assert_eq!(kept, extent(START + 310, 90), "the committed state refers to what was freed");
        let ends = spaces.ends_after_commit(false);
        assert_eq!(ends.elements, Some(400));
        spaces.committed(ends);
        spaces.no_reads();
        assert_eq!(spaces.allocate(SpaceKind::Raw, 200), Some(extent(START + 110, 200)));
        assert_eq!(spaces.extend(extent(START + 110, 200), 1), None);
        assert_eq!(spaces.allocate(SpaceKind::Raw, 1).map(|extent| extent.addr.get()), Some(START + 400));
        assert_eq!(spaces.extend(extent(START + 400, 1), 9), Some(extent(START + 401, 9)));
    }

    #[test]
    fn elements_are_aligned_in_their_member() {
        let mut spaces = spaces();
        let alignment = crate::Alignment { threshold: 1, step: 64 };
        spaces.set_rules(SpaceRules { alignment, ..SpaceRules::default() }, true);
        assert_eq!(spaces.allocate(SpaceKind::Raw, 8), Some(extent(START + 64, 8)));
    }

    #[test]
    fn addresses_end_before_they_overflow() {
        let mut spaces = Spaces::new(Ends { first: 0, elements: Some(0) }, START, u64::MAX);
        assert_eq!(spaces.allocate(SpaceKind::Raw, u64::MAX - START + 1), None);
        assert_eq!(spaces.allocate(SpaceKind::Raw, u64::MAX - START).unwrap().addr.get(), START);
    }

    #[test]
    fn ends_are_compared_range_by_range() {
        let ends = Ends { first: 5, elements: Some(7) };
        let more = Ends { first: 6, elements: Some(2) };
        assert_eq!(ends.max(more), Ends { first: 6, elements: Some(7) });
        let of_one = |first| Ends { first, elements: None };
        assert_eq!(of_one(3).max(of_one(2)), of_one(3));
    }
}
