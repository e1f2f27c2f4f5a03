//! Free space that a file keeps while it is closed. The file names it until the first commit after opening,
//! which takes the names away (`object/file/space.rs`). So there is no commit before there is another change.

use std::sync::atomic::Ordering;

use hyperslab_error::Result;

use super::{FreeSpace, SpaceRules};
use crate::Store;
use crate::commit::writing::Writing;

impl Store {
    /// Sets the rules by which space is allocated, before the first allocation. `is_new`: whether the file is
    /// a new one, which has only a superblock.
    pub fn set_space_rules(&mut self, rules: SpaceRules, is_new: bool) {
        if let Some(writing) = &self.writing {
            let mut space = writing.space.lock();
            space.set_rules(rules, is_new);
            self.note_ends(&space);
        }
    }

    /// Adds extents that the file kept as free, inside the file and without overlaps. What was changed since
    /// the file was opened stops naming them: it is committed with the next change.
    pub fn adopt(&self, free: &FreeSpace) -> Result<()> {
        let writing = self.writing()?;
        let _guard = writing.lock.change();
        writing.space.lock().adopt(free);
        writing.untouched.store(self.generation(), Ordering::Release);
        Ok(())
    }

    /// Returns whether the file names its free space still, because nothing was changed.
    pub fn is_untouched(&self) -> bool {
        self.writing.as_deref().is_none_or(|writing| writing.is_untouched(self))
    }

    /// Returns all free space, as if no read were in progress and all changes were committed.
    pub fn free_space(&self) -> FreeSpace {
        self.writing.as_deref().map_or_else(FreeSpace::default, |writing| writing.space.lock().free_space())
    }

    /// Returns the end of the file that the next commit states, relative to the base address.
    pub fn end_after_commit(&self) -> u64 {
        self.writing
            .as_deref()
            .map_or_else(|| self.len_bytes(), |writing| writing.space.lock().ends_after_commit(false).first)
    }
}

impl Writing {
    pub(crate) fn is_untouched(&self, store: &Store) -> bool {
        self.untouched.load(Ordering::Acquire) == store.generation()
    }

    /// Makes the next commit take the names of free space away, although there may be no other change.
    pub(crate) fn touch(&self) {
        self.untouched.store(u64::MAX, Ordering::Release);
    }
}
