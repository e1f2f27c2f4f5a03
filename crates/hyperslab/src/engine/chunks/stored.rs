//! A stored chunk: its bytes in the file, and how to decode them.

use hyperslab_error::{Error, Result};
use hyperslab_filters::{FilterError, Scratch};
use hyperslab_format::Extent;
use hyperslab_select::first_element;
use hyperslab_store::Store;
use hyperslab_store::index::ChunkRecord;

use crate::engine::array::{ChunkedStorage, Storage, StoredArray};
use crate::engine::plan::pieces::Source;
use crate::engine::raw_data::{RAW_DATA, RawData};
use crate::engine::scratch::{WorkerScratch, sized};

/// A chunk in the file.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct StoredChunk<'a> {
    /// The chunk's position in the grid of chunks.
    pub(in crate::engine) coord: &'a [u64],
    pub(in crate::engine) record: ChunkRecord,
    pub(in crate::engine) chunked: &'a ChunkedStorage,
}

/// Reads all elements of a chunk into `chunk`, which has the size of a chunk. Missing chunks read as the fill
/// value.
pub(in crate::engine) fn load(
    store: &Store,
    array: &StoredArray,
    coord: &[u64],
    source: Source,
    chunk: &mut [u8],
    scratch: &mut WorkerScratch,
) -> Result<()> {
    match (source, &array.storage) {
        (Source::Raw(extent), _) => {
            let raw = RawData::of(store, array);
            raw.check(extent)?;
            raw.read(extent.addr, chunk)
        }
        (Source::Chunk(record), Storage::Chunked(chunked)) => {
            let stored = StoredChunk { coord, record, chunked };
            let bytes = stored.read(store, &mut scratch.stored)?;
            stored.decode(bytes, chunk, &mut scratch.filters)
        }
        (Source::Fill | Source::Compact | Source::Chunk(_), _) => {
            array.elements.fill.write(chunk);
            Ok(())
        }
    }
}

impl StoredChunk<'_> {
    /// Reads the chunk's stored bytes into `buffer`.
    pub(in crate::engine) fn read<'b>(&self, store: &Store, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        let len = store.check(self.record.extent, RAW_DATA)?;
        let bytes = sized(buffer, len)?;
        store.read_raw(self.record.extent.addr, bytes)?;
        Ok(bytes)
    }

    /// Decodes the whole chunk from its stored bytes. `chunk` has the size of a chunk.
    pub(in crate::engine) fn decode(
        &self,
        stored: &[u8],
        chunk: &mut [u8],
        filters: &mut Scratch,
    ) -> Result<()> {
        let decoded = self.chunked.codec.decode_with(stored, self.record.mask, chunk, filters);
        decoded.map_err(|cause| self.error(cause))
    }

    /// Returns a filter's error with the chunk's position in the dataset and in the file.
    pub(in crate::engine) fn error(&self, cause: FilterError) -> Error {
        let Extent { addr, len } = self.record.extent;
        let coord = first_element(self.coord, self.chunked.codec.shape()).into_vec();
        Error::Chunk { cause, coord, addr: addr.get(), len }
    }
}
