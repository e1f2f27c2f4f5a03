//! Free space that a file has when it is opened, and that no list names. A function of the caller finds it,
//! once, when space is first needed, in the state that was opened. The function is the caller's because it
//! knows all structures, and the store knows none (decision 0039).

use std::sync::Arc;

use hyperslab_format::Extent;

use super::Store;
use super::spaces::Spaces;
use crate::driver::Driver;

/// Returns the extents that nothing in a file uses, relative to its base address, or none if that is not
/// certain. It must read the file anew.
pub type Finder = fn(Arc<dyn Driver>) -> Vec<Extent>;

impl Store {
    /// Sets how free space is found. Without effect in a file that is not one range of bytes, or that several
    /// ranks change: all of them must find the same.
    pub fn set_finder(&self, finder: Option<Finder>) {
        let Some(writing) = &self.writing else { return };
        if self.collective.is_none() && self.elements.is_none() && !self.has_parts() {
            writing.space.lock().set_finder(finder);
        }
    }

    /// Finds free space before the first allocation. The caller holds the lock of the space, so no commit
    /// changes the file meanwhile.
    pub(super) fn find_space(&self, space: &mut Spaces) {
        let Some(finder) = space.take_finder() else { return };
        if self.writing.as_ref().is_some_and(|writing| writing.is_swmr()) {
            return;
        }
        // If the file is being closed, the allocation fails elsewhere.
        let Ok(driver) = self.driver().map(|driver| Arc::clone(&*driver)) else { return };
        space.found(&finder(driver));
    }
}
