//! The end of the file while a commit is written. Other threads go on: they allocate space for new data, and
//! write there. Three rules keep them and the commit apart.
//!
//! - The journal has to be the last bytes of the file, so nothing is written after its first byte, at the
//!   *tail*. A thread that gets space there waits for the end of the commit before it writes. While threads
//!   write data, and if a gap costs the medium nothing, the tail is some way after the end of the file, and
//!   they have room before it.
//! - The length of the medium changes only under the lock of the space, and never cuts off space in which
//!   another thread may write. While the journal is there, the medium does not end before the tail, so no
//!   thread has a reason to extend it.
//! - What is allocated meanwhile belongs to no state, old or new. The superblock states the end that the new
//!   state had when the commit began. What the commit frees is available after it.

use std::sync::Arc;

use hyperslab_error::{Error, Result};
use hyperslab_format::Width;
use hyperslab_io::driver::Driver;

use super::writing::{Committed, Writing, superblock_bytes};
use crate::Store;
use crate::commit::{self, Durability};
use crate::space::raw_data_range;
use crate::space::split_space::{Ends, Spaces};

/// The end of the file as one commit leaves it. While the value lives, other threads write only before the
/// tail, and the file is not searched for free space.
#[derive(Debug)]
pub(crate) struct Tail<'w> {
    writing: &'w Writing,
    is_read: bool,
    /// The ends of the new state.
    pub(crate) ends: Ends,
    /// The superblock of the new state.
    pub(crate) superblock: Vec<u8>,
    /// Whether the new state is that in the file.
    pub(crate) is_unchanged: bool,
    at: u64,
}

impl<'w> Tail<'w> {
    /// Settles the ends of the new state, which may have `stated` them already, and makes the medium long
    /// enough. `is_read`: whether a read may still use what is freed. `overwrites`: whether
    /// blocks of the old state change.
    pub(crate) fn reserve(
        writing: &'w Writing,
        store: &Store,
        committed: &Committed,
        is_read: bool,
        stated: Option<Ends>,
        overwrites: bool,
    ) -> Result<Self> {
        let driver = Arc::clone(&*store.driver()?);
        let mut space = writing.space.lock();
        let ends = space.ends_after_commit(is_read);
        let ends = stated.map_or(ends, |stated| Ends { elements: stated.elements, ..stated.max(ends) });
        if let Some(len) = ends.elements
            && raw_data_range::extend(&*driver, len)?
        {
            writing.wrote_elements();
        }
        let superblock = superblock_bytes(store.superblock(), store.base() + ends.first, None);
        let is_ordered = writing.is_swmr();
        let is_unchanged = !is_ordered && !overwrites && committed.superblock.as_ref() == Some(&superblock);
        let at = if is_unchanged || is_ordered {
            u64::MAX
        } else {
            let end = ends.first.max(committed.ends.first);
            // Several ranks change no length here: the first one does so when it commits for all.
            if store.collective().is_none() { place(writing, store, &*driver, end)? } else { end }
        };
        if is_ordered {
            extend(&*driver, store.base() + ends.first)?;
        }
        space.set_tail(Some(at));
        Ok(Self { writing, is_read, ends, superblock, is_unchanged, at })
    }

    /// Returns the offset of the tail.
    pub(crate) fn offset(&self, store: &Store) -> u64 {
        store.base().saturating_add(self.at)
    }

    /// Returns the ends of the file with what was allocated since the commit began.
    fn present_ends(&self, space: &Spaces) -> Ends {
        space.ends_after_commit(self.is_read).max(self.ends)
    }

    /// Cuts the first range off after the new state and the space that other threads may have written. Space
    /// from the tail on is not written yet.
    pub(crate) fn cut(&self, store: &Store, driver: &dyn Driver) {
        let space = self.writing.space.lock();
        let end = self.present_ends(&space).first.min(self.at);
        // If this fails, the file keeps a tail that readers ignore.
        let _ = commit::cut(driver, store.base() + end);
    }

    /// Does the same with the range of elements, if there is one.
    pub(crate) fn cut_elements(&self, driver: &dyn Driver) {
        let space = self.writing.space.lock();
        if let Some(len) = self.present_ends(&space).elements {
            // If this fails, the member keeps a tail that readers ignore.
            let _ = raw_data_range::cut(driver, len);
        }
    }

    /// Records that the new state is in the file.
    pub(crate) fn settle(self, store: &Store) {
        let mut space = self.writing.space.lock();
        let ends = self.present_ends(&space);
        space.committed(ends);
        if self.is_unchanged {
            return;
        }
        store.set_len(ends.first);
        self.writing.settle_written(self.ends.first, ends.first);
        if let (Some(range), Some(stated), Some(len)) = (&store.elements, self.ends.elements, ends.elements) {
            range.settle(stated, len);
        }
    }
}

impl Drop for Tail<'_> {
    fn drop(&mut self) {
        self.writing.space.lock().set_tail(None);
    }
}

/// Returns the address of the tail of a file that has nothing from the address `end` on, and makes the medium
/// end there. The caller holds the lock of the space.
fn place(writing: &Writing, store: &Store, driver: &dyn Driver, end: u64) -> Result<u64> {
    let offset = store.base() + end;
    // A journal that could not be cut off must not become the end of the file again.
    commit::cut(driver, offset)?;
    let room = room(writing, store, driver, end);
    // The medium may be unable to have a file of this length.
    if room > 0 && commit::set_len(driver, offset + room).is_ok() {
        return Ok(end + room);
    }
    extend(driver, offset)?;
    Ok(end)
}

/// Makes the medium have at least `len` bytes.
fn extend(driver: &dyn Driver, len: u64) -> Result<()> {
    let is_short = driver.len().map_err(Error::io("length", 0, 0))? < len;
    if is_short { commit::set_len(driver, len) } else { Ok(()) }
}

/// Returns the number of bytes between the end of the file and the tail: room for the data that other threads
/// write while the commit waits for the medium.
fn room(writing: &Writing, store: &Store, driver: &dyn Driver, end: u64) -> u64 {
    let waits = writing.options.durability == Durability::Power;
    // Wider addresses are not written, and with shorter ones the guard leaves no room (`guard::bits`).
    let is_free = driver.capabilities().is_sparse && store.widths().offset == Width::Eight;
    // A thread that is not writing data yet needs the lock of the metadata first, as the commit does.
    let is_used = writing.data.untimely().is_locked();
    if waits && is_free && is_used { (end / 4).clamp(LEAST_ROOM, MOST_ROOM) } else { 0 }
}

/// The smallest room: some chunks of a new file.
const LEAST_ROOM: u64 = 4 << 20;
/// The largest room: as much as a fast disk writes during a few flushes.
const MOST_ROOM: u64 = 64 << 20;
