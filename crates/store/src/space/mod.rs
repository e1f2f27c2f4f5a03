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
mod tests;
