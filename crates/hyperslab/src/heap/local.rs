//! Local heaps (spec III.D): the names of the links of an old group.

use std::sync::Arc;

use hyperslab_format::Addr;
use hyperslab_format::heap::local::{LocalHeapData, LocalHeapHeader};

use crate::error::{Error, Result};
use crate::store::Store;

/// A local heap, with all its names.
#[derive(Debug, Clone)]
pub struct LocalHeap {
    data: Arc<LocalHeapData>,
}

impl LocalHeap {
    /// The heap whose header is at `at`.
    pub fn open(store: &Store, at: Addr) -> Result<Self> {
        let header = store.get::<LocalHeapHeader>(at, &())?;
        // The store refuses a segment that is not in the file before it allocates.
        Ok(Self { data: store.get(header.data, &*header)? })
    }

    /// The zero-terminated bytes at `offset`.
    pub fn bytes_at(&self, offset: u64) -> Result<&[u8]> {
        self.data.bytes_at(offset).map_err(Error::from_format)
    }

    /// The zero-terminated text at `offset`.
    pub fn text_at(&self, offset: u64) -> Result<String> {
        self.data.name_at(offset).map(str::to_owned).map_err(Error::from_format)
    }
}
