//! Checks collections of the global heap (spec III.E), which only the data refer to.

use std::sync::Arc;

use hyperslab_format::heap::global::{GlobalHeapCollection, GlobalHeapId};
use hyperslab_format::{Addr, Extent};

use super::{Check, name_of};

impl Check<'_> {
    /// Returns the collection with an object of the global heap. Adds a finding and returns `None` if there
    /// is no such object.
    pub(super) fn global_object(&mut self, id: GlobalHeapId) -> Option<Arc<GlobalHeapCollection>> {
        let collection = self.collection(id.collection)?;
        if collection.object(id.index).is_some() {
            return Some(collection);
        }
        let message = format!("an element names object {}, which does not exist", id.index);
        self.wrong(name_of::<GlobalHeapCollection>(), id.collection, message);
        None
    }

    /// Returns the collection at `at`. Faults of a collection are reported once.
    fn collection(&mut self, at: Addr) -> Option<Arc<GlobalHeapCollection>> {
        if let Some((last, collection)) = &self.last_collection
            && *last == at
        {
            return Some(Arc::clone(collection));
        }
        let collection = match self.collections.get(&at) {
            Some(false) => return None,
            Some(true) => self.store.get::<GlobalHeapCollection>(at, &()).ok()?,
            None => {
                let collection = self.new_collection(at);
                self.collections.insert(at, collection.is_some());
                collection?
            }
        };
        self.last_collection = Some((at, Arc::clone(&collection)));
        Some(collection)
    }

    fn new_collection(&mut self, at: Addr) -> Option<Arc<GlobalHeapCollection>> {
        if !self.claim(name_of::<GlobalHeapCollection>(), at) {
            return None;
        }
        self.report.totals.structures += 1;
        let collection = self.store.get::<GlobalHeapCollection>(at, &());
        let collection = self.noted(collection, at)?;
        self.cover(Extent::new(at, collection.size), name_of::<GlobalHeapCollection>());
        Some(collection)
    }
}
