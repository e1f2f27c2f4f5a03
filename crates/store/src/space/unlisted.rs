//! Free space that a file has when it is opened, and that no list names. A function of the caller finds it in
//! the committed state, when the file would otherwise grow. The function is the caller's because it knows all
//! structures, and the store knows none (decision 0039).

use std::sync::Arc;

use hyperslab_format::{Addr, Extent};
use hyperslab_io::driver::Driver;

use super::free_extents::{Intervals, before};
use super::split_space::Spaces;
use crate::Store;

/// Finds the extents that nothing in a file uses, relative to its base address. It must read the file anew,
/// and give up when it has done the work of as many structures as the number says.
pub type Finder = fn(Arc<dyn Driver>, u64) -> Found;

/// The free space of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// Nothing uses these extents, except that some may be collections of the global heap, if
    /// `may_be_collections`.
    Free {
        /// The extents, in the order of addresses.
        extents: Vec<Extent>,
        /// Whether there are elements that were not read and that may name collections.
        may_be_collections: bool,
    },
    /// The file has more structures than were to be met.
    TooMany,
    /// It is not certain what is free.
    Unknown,
}

/// When a file looks for free space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Searches {
    /// When it would grow so far that the search is worth its time.
    #[default]
    Rarely,
    /// At the first allocation, however long it takes. For tests.
    AtOnce,
    /// At the first allocation after the first commit. For tests.
    AfterCommit,
}

/// A search that is still to be done.
#[derive(Debug)]
pub(crate) struct Search {
    finder: Finder,
    when: Searches,
    /// The end of the file when it was opened.
    opened: u64,
    /// The number of bytes allocated since.
    allocated: u64,
    /// The number of allocated bytes from which on a search is worth its time.
    next: u64,
    /// All that was allocated since. It is in use, or another list has it, even if no link leads to it yet.
    own: Intervals,
    is_late: bool,
}

impl Search {
    fn new(finder: Finder, when: Searches, opened: u64) -> Self {
        Self { finder, when, opened, allocated: 0, next: 0, own: Intervals::default(), is_late: false }
    }

    /// Notes that `len` bytes are about to be allocated in a file that ends at `end`. Returns whether to
    /// search before.
    fn is_due(&mut self, len: u64, end: u64) -> bool {
        self.allocated = self.allocated.saturating_add(len);
        match self.when {
            Searches::AtOnce => true,
            Searches::AfterCommit => self.is_late,
            Searches::Rarely => {
                let step = step(self.opened);
                self.allocated >= self.next && end.saturating_add(len) / step > self.opened / step
            }
        }
    }

    /// Returns the number of unused bytes that may be read to find collections.
    fn readable_bytes(&self) -> u64 {
        match self.when {
            Searches::Rarely => self.allocated.saturating_mul(4).clamp(FEWEST_BYTES, MOST_BYTES),
            Searches::AtOnce | Searches::AfterCommit => MOST_BYTES,
        }
    }

    /// Makes the search due again when twice as much was allocated.
    fn again(mut self) -> Self {
        self.next = self.allocated.saturating_mul(2);
        self
    }

    /// Returns the number of structures that a search may meet.
    fn limit(&self) -> u64 {
        match self.when {
            Searches::Rarely => (self.allocated / BYTES_FOR_EACH).clamp(FEWEST, MOST),
            Searches::AtOnce | Searches::AfterCommit => MOST,
        }
    }

    /// Notes an extent that was allocated.
    pub(crate) fn allocated(&mut self, extent: Extent) {
        for part in self.own.outside(extent) {
            self.own.insert(part);
        }
    }

    /// Notes that changes were committed.
    pub(crate) fn committed(&mut self) {
        self.is_late = true;
    }
}

impl Store {
    /// Sets how free space is found. Without effect in a file that is not one range of bytes, or that several
    /// ranks change, because all of them must find the same; and in a file with pages, because the kinds of
    /// its pages would not be known.
    pub fn set_finder(&self, finder: Option<Finder>, when: Searches) {
        let Some(writing) = &self.writing else { return };
        if self.collective.is_none() && self.elements.is_none() && !self.has_parts() {
            let mut space = writing.space.lock();
            let opened = space.ends().first;
            let finder = finder.filter(|_| !space.has_pages());
            space.set_search(finder.map(|finder| Search::new(finder, when, opened)));
        }
    }

    /// Finds free space before `len` bytes are allocated, if it is worth its time and no commit is being
    /// written. The caller holds the lock of the space, so no commit changes the file meanwhile.
    pub(crate) fn find_space(&self, space: &mut Spaces, len: u64) {
        let end = space.ends().first;
        let Some(mut search) = space.take_search() else { return };
        if !search.is_due(len, end) || space.is_being_committed() {
            return space.set_search(Some(search));
        }
        if self.writing.as_ref().is_some_and(|writing| writing.is_swmr()) {
            return;
        }
        // If the file is being closed, the allocation fails elsewhere.
        let Ok(driver) = self.driver().map(|driver| Arc::clone(&*driver)) else { return };
        match (search.finder)(Arc::clone(&driver), search.limit()) {
            Found::Free { extents, may_be_collections } => {
                let mut free = extents.iter().flat_map(|extent| search.own.outside(*extent)).collect();
                // After a commit, the elements that named a collection may be gone while it is still known
                // here, or not be written yet.
                if may_be_collections || search.is_late {
                    let (most, all): (u64, Vec<Extent>) = (search.readable_bytes(), free);
                    let is_part = all.iter().map(|extent| extent.len).sum::<u64>() > most;
                    free = self.without_collections(&*driver, all, len, most);
                    if is_part && most < MOST_BYTES {
                        space.set_search(Some(search.again()));
                    }
                }
                space.found(&free);
            }
            Found::TooMany if search.limit() < MOST => space.set_search(Some(search.again())),
            Found::TooMany | Found::Unknown => {}
        }
    }

    /// Returns the parts of unused extents that cannot be collections of the global heap. A collection begins
    /// with a signature, and states its size (spec III.E). What looks like one is left alone. Reads at most
    /// `most` bytes: first the shortest extents that have `wanted` bytes, then the longest of the others.
    fn without_collections(
        &self,
        driver: &dyn Driver,
        mut extents: Vec<Extent>,
        wanted: u64,
        most: u64,
    ) -> Vec<Extent> {
        extents.sort_by_key(|extent| match extent.len {
            len if len >= wanted => (false, len),
            len => (true, u64::MAX - len),
        });
        let mut left = most;
        let mut free = Vec::new();
        for extent in extents {
            // No collection begins before an unused extent, so its first bytes can be told apart alone.
            let Some(extent) = before(extent, extent.addr.get().saturating_add(left)) else { break };
            left -= extent.len;
            if let Some(found) = self.collections_in(driver, extent) {
                free.extend(found.outside(extent));
            }
        }
        free
    }

    /// Returns what may be collections in an extent, or `None` if it cannot be read.
    fn collections_in(&self, driver: &dyn Driver, extent: Extent) -> Option<Intervals> {
        let size = self.widths().length.bytes();
        let header = 8 + size;
        let end = extent.addr.get() + extent.len;
        let mut found = Intervals::default();
        let mut bytes = Vec::new();
        let mut at = extent.addr.get();
        while end - at >= header as u64 {
            let part = (end - at).min(PART);
            bytes.resize(usize::try_from(part).ok()?, 0);
            driver.read_at(self.base().checked_add(at)?, &mut bytes).ok()?;
            for (start, window) in bytes.windows(header).enumerate() {
                if !window.starts_with(b"GCOL") {
                    continue;
                }
                let stated = window.iter().skip(8).rev().fold(0, |size, &byte| size << 8 | u64::from(byte));
                let start = at + start as u64;
                let taken = Extent::new(Addr::new(start), stated.clamp(header as u64, end - start));
                for part in found.outside(taken) {
                    found.insert(part);
                }
            }
            // The last bytes may begin a header.
            at += (part - header as u64) + 1;
        }
        Some(found)
    }
}

/// Returns the step of a file that ends at `end`: a search is worth its time if the file would grow across a
/// multiple of it. Files that are opened often and grow a little are thus seldom searched, without a note in
/// the file, and no more than a sixteenth of a file is unused before it is.
fn step(end: u64) -> u64 {
    (1 << end.max(1).ilog2()).max(1_u64 << 20) / 16
}

/// The number of allocated bytes for each structure that a search may meet.
const BYTES_FOR_EACH: u64 = 512;
/// The number of structures that any search may meet.
const FEWEST: u64 = 64;
/// The largest number of structures that a search meets.
const MOST: u64 = 1 << 16;
/// The number of unused bytes that any search may read to find collections.
const FEWEST_BYTES: u64 = 64 << 10;
/// The largest number of unused bytes that a search reads to find collections.
const MOST_BYTES: u64 = 256 << 20;
/// The number of bytes that are read at once.
const PART: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use crate::space::{Space, SpaceKind};

    #[test]
    fn space_that_a_read_may_need_is_not_found() {
        let mut space = Space::new(48, u64::MAX);
        let old = space.allocate(SpaceKind::Raw, 5000).unwrap();
        space.allocate(SpaceKind::Raw, 10).unwrap();
        space.committed(space.end_after_commit(false));
        // The committed state does not refer to it any more, and a read that was planned before does.
        space.release(SpaceKind::Raw, old);
        space.committed(space.end_after_commit(true));
        space.found(&[old]);
        assert_ne!(space.allocate(SpaceKind::Raw, 5000), Some(old));
        space.no_reads();
        assert_eq!(space.free_bytes(), 5000, "it is free once");
        assert_eq!(space.allocate(SpaceKind::Raw, 5000), Some(old));
    }
}
