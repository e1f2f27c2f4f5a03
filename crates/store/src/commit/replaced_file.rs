//! A new file in the place of an old one. Its first writes make the medium show an empty file, so that a
//! program that dies before the first commit leaves one (decision 0040). The old file is shown until then: at
//! no instant is there neither.
//!
//! ```text
//! 1  extend the file, if it is shorter than the empty one
//! 2  write the empty file over the beginning, inside one sector     <- old before, empty afterwards
//! 3  cut the rest of the old file, which readers ignore
//! ```
//!
//! An empty file of old structures is longer than a sector, and one with a user block is elsewhere. Then an
//! empty file of new structures does these steps first. The other one is written after its end, where readers
//! ignore it, and the sector at the beginning last: with the superblock, or without the signature.
//!
//! The blocks of the empty file are overwritten as those of a committed one are, and are otherwise fresh: all
//! blocks get the places that they would have if these were not written yet.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hyperslab_error::{Error, Result};
use hyperslab_io::driver::Driver;

use super::dirty_blocks;
use super::journal::{self, Found};
use super::recovery::{self, Action};
use super::writing::superblock_bytes;
use crate::Store;
use crate::commit::{self, Durability};

/// Returns whether a new file on this medium is shown as an empty one before its first commit: not if its
/// bytes are in several ranges, because no single write replaces them.
pub(crate) fn is_shown(driver: &dyn Driver) -> bool {
    driver.capabilities().is_lasting && driver.elements().is_none() && driver.parts().is_empty()
}

impl Store {
    /// Makes the medium show the new file, which has no objects but the root group. The superblock must be
    /// set. `small` makes an empty file inside one sector. Without effect in a file that several ranks
    /// create, and on a medium where new files are not shown.
    pub fn show_empty(&self, small: impl FnOnce() -> Result<Vec<u8>>) -> Result<()> {
        let writing = self.writing()?;
        let driver = Arc::clone(&*self.driver()?);
        if self.collective().is_some() || !is_shown(&*driver) {
            return Ok(());
        }
        let blocks = writing.dirty.read().sorted();
        let mut committed = writing.committed.lock();
        let mut space = writing.space.lock();
        let end = space.ends_after_commit(false).first;
        let superblock = superblock_bytes(self.superblock(), self.base() + end, None);
        let mut image = superblock.clone();
        for (at, bytes) in dirty_blocks::pieces(&blocks, self.widths()) {
            let at = usize::try_from(at.get()).map_err(|_| too_large())?;
            image.resize(image.len().max(at + bytes.len()), 0);
            image.get_mut(at..at + bytes.len()).ok_or_else(too_large)?.copy_from_slice(&bytes);
        }
        let new = Empty { image, end, durability: writing.options.durability };
        drop_journal(&*driver)?;
        if self.base() == 0 && new.image.len() <= SECTOR {
            new.replace(&*driver)?;
        } else {
            if len_of(&*driver)? > 0 {
                let small = small()?;
                Empty { end: small.len() as u64, image: small, durability: new.durability }
                    .replace(&*driver)?;
            }
            new.place(&*driver, self.base())?;
        }
        committed.superblock = Some(superblock);
        writing.tail_is_cut.store(true, Ordering::Release);
        committed.ends.first = end;
        space.show(end);
        drop((space, committed));
        writing.wrote(end);
        for (at, held) in blocks {
            held.block.remember(&self.cache, at, held.block.memory_bytes(self.widths()) as u64);
        }
        writing.dirty.write().clear();
        Ok(())
    }
}

/// An empty file.
struct Empty {
    /// Its first bytes. All others are zero.
    image: Vec<u8>,
    /// The address of its end, relative to its base.
    end: u64,
    durability: Durability,
}

impl Empty {
    /// Replaces what the medium has by a file inside one sector.
    fn replace(&self, driver: &dyn Driver) -> Result<()> {
        let len = len_of(driver)?;
        if len < self.end {
            commit::set_len(driver, self.end)?;
        }
        commit::write(driver, 0, &self.image)?;
        if len > self.end {
            if self.durability == Durability::Power {
                driver.flush(false).map_err(Error::io("flush", 0, 0))?;
            }
            commit::set_len(driver, self.end)?;
        }
        Ok(())
    }

    /// Writes the file at `base` to a medium that has nothing, or a file inside the first sector.
    fn place(&self, driver: &dyn Driver, base: u64) -> Result<()> {
        commit::set_len(driver, base + self.end)?;
        if base > 0 {
            commit::write(driver, base, &self.image)?;
            return commit::write(driver, 0, &[0; SECTOR]);
        }
        let (first, others) = self.image.split_at(self.image.len().min(SECTOR));
        commit::write(driver, SECTOR as u64, others)?;
        commit::write(driver, 0, first)
    }
}

fn len_of(driver: &dyn Driver) -> Result<u64> {
    driver.len().map_err(Error::io("length", 0, 0))
}

/// Finishes or undoes what the journal of the old file says. If that fails, there is no old file to keep.
fn drop_journal(driver: &dyn Driver) -> Result<()> {
    let len = len_of(driver)?;
    if len == 0 || matches!(journal::find(driver, len)?, Found::Absent) {
        return Ok(());
    }
    let is_done = recovery::inspect(driver)
        .is_ok_and(|report| report.action != Action::Refuse && recovery::act(driver, &report).is_ok());
    if is_done && matches!(journal::find(driver, len_of(driver)?)?, Found::Absent) {
        return Ok(());
    }
    commit::set_len(driver, 0)
}

fn too_large() -> Error {
    Error::unsupported("an empty file of this size", "II.A")
}

/// The number of bytes that a medium writes together, or not at all (`journal.rs`). No user block is shorter.
const SECTOR: usize = 512;

#[cfg(test)]
mod tests {
    use hyperslab_format::{Addr, Extent};

    use crate::space::{Space, SpaceKind};

    #[test]
    fn blocks_that_the_medium_shows_are_not_reused_before_the_first_commit() {
        let mut space = Space::new(48, u64::MAX);
        let [group, heap] = [100, 60].map(|len| space.allocate(SpaceKind::Metadata, len).unwrap());
        space.show(208);
        let take = |space: &mut Space| {
            space.no_reads();
            space.allocate(SpaceKind::Metadata, 60).unwrap()
        };
        space.release(SpaceKind::Metadata, heap);
        let other = take(&mut space);
        assert!(other.addr.get() >= 208, "{other:?}");
        // A roll-back returns to the empty file.
        space.roll_back();
        assert!(space.is_fresh(group.addr) && space.is_fresh(heap.addr) && !space.is_fresh(other.addr));
        assert_eq!(take(&mut space), other);
        space.release(SpaceKind::Metadata, heap);
        space.committed(space.end_after_commit(false));
        assert!(!space.is_shown(Addr::new(0)));
        assert_eq!(take(&mut space), Extent::new(heap.addr, 60));
    }
}
