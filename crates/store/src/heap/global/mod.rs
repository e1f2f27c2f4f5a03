//! The global heap (spec III.E): variable-length sequences and strings, and region references. Collections
//! are cached whole.

mod collections;
mod edit;
mod filling;

use std::sync::Arc;

use hyperslab_error::{Error, Result, misfit};
use hyperslab_format::Addr;
use hyperslab_format::heap::global::{GlobalHeapCollection, GlobalHeapId, VariableElement};

use crate::Store;

pub use collections::{Collections, Objects, missing};
pub use edit::{GlobalHeapEdit, HeapRoom};
pub use filling::{Filling, Fillings, fillings};

/// Reads the global heap of a file. It keeps the collection that it used last, because neighbouring objects
/// are stored together.
#[derive(Debug, Clone)]
pub struct GlobalHeap<'s> {
    store: &'s Store,
    last: Option<(Addr, Arc<GlobalHeapCollection>)>,
}

impl<'s> GlobalHeap<'s> {
    /// Returns a reader of the global heap of the file in `store`.
    pub fn new(store: &'s Store) -> Self {
        Self { store, last: None }
    }

    /// Returns the bytes of an object.
    pub fn object(&mut self, id: GlobalHeapId) -> Result<&[u8]> {
        self.last.take_if(|(at, _)| *at != id.collection);
        let (_, collection) = match &mut self.last {
            Some(last) => last,
            none => none.insert((id.collection, self.store.get(id.collection, &())?)),
        };
        collection.object(id.index).ok_or_else(|| unused(id))
    }

    /// Returns the elements of a sequence, of `element_size` bytes each, or the bytes of a string, whose
    /// elements are bytes.
    pub fn elements(&mut self, element: VariableElement, element_size: usize) -> Result<&[u8]> {
        let VariableElement { count, id } = element;
        if count == 0 || id.is_null() {
            return Ok(&[]);
        }
        let needed = u64::from(count) * element_size as u64;
        let object = self.object(id)?;
        let elements = usize::try_from(needed).ok().and_then(|needed| object.get(..needed));
        elements.ok_or_else(|| missing(element, needed, Some(object.len() as u64)))
    }
}

fn unused(id: GlobalHeapId) -> Error {
    misfit::<GlobalHeapCollection>(id.collection, "heap object index", id.index, "one in use")
}
