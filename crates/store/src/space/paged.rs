//! Allocation in pages (file space strategy "page", spec IV.A.2.x). A page holds small metadata, small data,
//! or a part of a large extent, so that a reader with a page buffer reads whole pages of one kind. Extents
//! that are shorter than a page do not cross the border of a page. Longer ones begin at a border.

use std::collections::BTreeMap;

use hyperslab_format::{Addr, Extent};

use super::free_extents::{FreeExtents, Intervals};
use super::{End, Small};

/// The free space of a file with pages.
#[derive(Debug, Clone)]
pub(crate) struct Pages {
    page: u64,
    /// The free parts of pages of small metadata and of small data.
    small: [FreeExtents; 2],
    /// Whole pages, and the ends of the last pages of large extents.
    large: FreeExtents,
    /// The kinds of the pages of small extents, as far as they are known, by their addresses.
    kinds: BTreeMap<u64, Small>,
}

impl Pages {
    pub(crate) fn new(page: u64) -> Self {
        let small = [FreeExtents::within_pages(page), FreeExtents::within_pages(page)];
        Self { page, small, large: FreeExtents::default(), kinds: BTreeMap::new() }
    }

    pub(crate) fn allocate(&mut self, kind: Small, len: u64, end: &mut End) -> Option<Extent> {
        if len >= self.page {
            return self.allocate_large(len, end);
        }
        if let Some(extent) = self.small[kind as usize].take_aligned(len, u64::MAX, 1) {
            return Some(extent);
        }
        let page = self.allocate_large(self.page, end)?;
        let (extent, rest) = crate::space::free_extents::split(page, len);
        self.kinds.insert(page.addr.get(), kind);
        if let Some(rest) = rest {
            self.small[kind as usize].insert(rest);
        }
        Some(extent)
    }

    fn allocate_large(&mut self, len: u64, end: &mut End) -> Option<Extent> {
        if let Some(extent) = self.large.take_aligned(len, u64::MAX, self.page) {
            return Some(extent);
        }
        let tail = self.large.last().filter(|tail| tail.addr.get() + tail.len == end.at);
        let first = tail.map_or(end.at, |tail| tail.addr.get());
        let start = first.checked_next_multiple_of(self.page)?;
        let to = start.checked_add(len)?;
        let whole = to.checked_next_multiple_of(self.page).filter(|&whole| whole <= end.limit)?;
        tail.inspect(|tail| self.large.remove(*tail));
        let is_unaligned = tail.is_none() && first < start;
        for (from, to) in [(first, start), (to, whole)] {
            // The file of another writer may end inside a page, whose kind is unknown.
            if from < to && !(is_unaligned && from == first) {
                self.large.insert(Extent::new(Addr::new(from), to - from));
            }
        }
        end.at = whole;
        Some(Extent::new(Addr::new(start), len))
    }

    /// Takes `len` bytes that follow `extent`, if they are free and a small extent stays in its page.
    pub(crate) fn extend(&mut self, extent: Extent, len: u64) -> Option<Extent> {
        let at = extent.addr.get() + extent.len;
        if extent.len >= self.page {
            return self.large.take_at(at, len);
        }
        let start = extent.addr.get() / self.page * self.page;
        let kind = *self.kinds.get(&start)?;
        let is_inside = at.checked_add(len).is_some_and(|to| to < start.saturating_add(self.page));
        if is_inside { self.small[kind as usize].take_at(at, len) } else { None }
    }

    /// Records that the page of an extent has extents of this kind, if the extent is shorter than a page.
    pub(crate) fn note(&mut self, kind: Small, extent: Extent) {
        if extent.len < self.page {
            self.kinds.entry(extent.addr.get() / self.page * self.page).or_insert(kind);
        }
    }

    /// Makes an extent free that is not free yet. It may be of several pages.
    pub(crate) fn give(&mut self, extent: Extent) {
        let (mut at, end) = (extent.addr.get(), extent.addr.get() + extent.len);
        while at < end {
            let page = at / self.page * self.page;
            let next = page.saturating_add(self.page).min(end);
            let part = Extent::new(Addr::new(at), next - at);
            match self.kinds.get(&page).copied() {
                Some(kind) => self.give_small(page, kind, part),
                None => self.large.insert(part),
            }
            at = next;
        }
    }

    /// Makes a part of a page free. A page that is free as a whole is for extents of any kind.
    fn give_small(&mut self, page: u64, kind: Small, part: Extent) {
        let small = &mut self.small[kind as usize];
        small.insert(part);
        if let Some(whole) = small.take_at(page, self.page) {
            self.kinds.remove(&page);
            self.large.insert(whole);
        }
    }

    fn all(&self) -> [&Intervals; 3] {
        [self.small[0].by_address(), self.small[1].by_address(), self.large.by_address()]
    }

    /// Returns the parts of an extent that are not free.
    pub(crate) fn outside(&self, extent: Extent) -> Vec<Extent> {
        self.all()
            .iter()
            .fold(vec![extent], |parts, free| parts.into_iter().flat_map(|part| free.outside(part)).collect())
    }

    /// Returns the end of the file without the free pages there.
    pub(crate) fn end_of_used(&self, end: u64) -> u64 {
        let tail = self.large.last().filter(|tail| tail.addr.get() + tail.len == end);
        tail.map_or(end, |tail| tail.addr.get().next_multiple_of(self.page).min(end))
    }

    /// Drops the free space from `end` on.
    pub(crate) fn cut_at(&mut self, end: u64) {
        self.small.iter_mut().chain([&mut self.large]).for_each(|free| free.cut_at(end));
        self.kinds.split_off(&end);
    }

    /// Returns the number of free bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.small.iter().chain([&self.large]).map(FreeExtents::bytes).sum()
    }

    /// Returns the free extents of small metadata, of small data, and all others.
    pub(crate) fn extents(&self) -> [Vec<Extent>; 3] {
        self.all().map(|free| free.iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::space::free_extents::meet;

    const PAGE: u64 = 512;

    fn extent(at: u64, len: u64) -> Extent {
        Extent::new(Addr::new(at), len)
    }

    fn pages() -> (Pages, End) {
        (Pages::new(PAGE), End { at: 0, limit: 1 << 40 })
    }

    #[test]
    fn small_extents_of_one_kind_share_pages_and_large_ones_begin_at_a_page() {
        let (mut pages, mut end) = pages();
        assert_eq!(pages.allocate(Small::Metadata, 100, &mut end), Some(extent(0, 100)));
        assert_eq!(pages.allocate(Small::Data, 100, &mut end), Some(extent(512, 100)));
        assert_eq!(pages.allocate(Small::Metadata, 412, &mut end), Some(extent(100, 412)));
        assert_eq!(pages.allocate(Small::Metadata, 600, &mut end), Some(extent(1024, 600)));
        assert_eq!(end.at, 2048);
        assert_eq!(
            pages.allocate(Small::Data, 413, &mut end),
            Some(extent(2048, 413)),
            "not the rest of a large one"
        );
        assert_eq!(pages.allocate(Small::Data, 412, &mut end), Some(extent(612, 412)));
        assert_eq!(pages.extents(), [vec![], vec![extent(2461, 99)], vec![extent(1624, 424)]]);
    }

    #[test]
    fn a_page_that_becomes_free_is_for_any_kind() {
        let (mut pages, mut end) = pages();
        let small = pages.allocate(Small::Data, 100, &mut end).unwrap();
        pages.allocate(Small::Metadata, 100, &mut end).unwrap();
        pages.give(small);
        assert_eq!(pages.extents()[2], [extent(0, 512)]);
        assert_eq!(pages.allocate(Small::Metadata, 500, &mut end), Some(extent(0, 500)));
    }

    #[test]
    fn the_end_is_a_border_of_a_page() {
        let (mut pages, mut end) = pages();
        let large = pages.allocate(Small::Data, 700, &mut end).unwrap();
        let last = pages.allocate(Small::Data, 700, &mut end).unwrap();
        pages.give(last);
        assert_eq!(pages.end_of_used(end.at), 1024);
        pages.cut_at(1024);
        end.at = 1024;
        assert_eq!(pages.bytes(), 324);
        pages.give(large);
        assert_eq!(pages.end_of_used(end.at), 0);
    }

    #[test]
    fn a_file_that_ends_inside_a_page_goes_on_at_the_next() {
        let mut pages = Pages::new(PAGE);
        let mut end = End { at: 700, limit: 1 << 40 };
        assert_eq!(pages.allocate(Small::Data, 10, &mut end), Some(extent(1024, 10)));
        assert_eq!(pages.bytes(), 502, "nothing is known of the page that the file ends in");
    }

    #[test]
    fn a_small_extent_grows_only_inside_its_page() {
        let (mut pages, mut end) = pages();
        let small = pages.allocate(Small::Metadata, 100, &mut end).unwrap();
        assert_eq!(pages.extend(small, 400), Some(extent(100, 400)));
        assert_eq!(pages.extend(extent(0, 500), 12), None, "it would be as long as a page");
        assert_eq!(pages.extend(extent(0, 500), 11), Some(extent(500, 11)));
    }

    proptest! {
        /// Compares with a list of the extents in use.
        #[test]
        fn pages_hold_one_kind_and_no_byte_twice(steps in proptest::collection::vec((0_u8..4, 1_u64..1500, 0_usize..60), 1..150)) {
            let (mut pages, mut end) = pages();
            let mut used: Vec<(Small, Extent)> = Vec::new();
            for (step, len, which) in steps {
                if step == 3 {
                    if which < used.len() {
                        pages.give(used.swap_remove(which).1);
                    }
                    continue;
                }
                let kind = if step == 0 { Small::Metadata } else { Small::Data };
                let new = pages.allocate(kind, len, &mut end).unwrap();
                prop_assert_eq!(end.at % PAGE, 0);
                prop_assert!(new.addr.get() + new.len <= end.at);
                let pages_of = |extent: &Extent| extent.addr.get() / PAGE..=(extent.addr.get() + extent.len - 1) / PAGE;
                if len < PAGE {
                    prop_assert_eq!(pages_of(&new).count(), 1);
                } else {
                    prop_assert_eq!(new.addr.get() % PAGE, 0);
                }
                for (other_kind, other) in &used {
                    prop_assert!(!meet(new, *other));
                    let share = pages_of(&new).any(|page| pages_of(other).contains(&page));
                    let may_share = len < PAGE && other.len < PAGE && *other_kind == kind;
                    prop_assert!(!share || may_share, "{:?} and {:?}", new, other);
                }
                used.push((kind, new));
            }
            let in_use: u64 = used.iter().map(|(_, extent)| extent.len).sum();
            prop_assert_eq!(in_use + pages.bytes(), end.at);
        }
    }
}
