//! What a read of a dataset reads from.

use hyperslab_store::Store;

use crate::engine::array::StoredArray;
use crate::engine::chunks::cache::ChunkCache;
use crate::engine::raw_data::RawData;

/// The objects that a read of a dataset needs.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// The file.
    pub store: &'a Store,
    /// The cache of the file's decoded chunks.
    pub cache: &'a ChunkCache,
    /// The dataset.
    pub array: &'a StoredArray,
}

impl<'a> Reading<'a> {
    /// Returns the medium that holds the stored bytes.
    pub(in crate::engine) fn raw(&self) -> RawData<'a> {
        RawData::of(self.store, self.array)
    }
}
