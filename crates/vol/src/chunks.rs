//! Chunks in their stored form, made by the engine and given to the native connector.

use hyperslab::datatype::Datatype;
use hyperslab::internals::{DatasetOptions, NewStorage};
use hyperslab::storage::{FillBytes, FilterSpec};
use hyperslab::{Dataspace, Error, File, WriteOptions};

use crate::boxes::grid;
use crate::dataset::WIDTHS;
use crate::rules::{Reason, Ruled};

/// How a dataset stores its chunks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChunkForm {
    pub(crate) datatype: Datatype,
    /// The number of elements of a chunk along each dimension.
    pub(crate) chunk: Vec<u64>,
    pub(crate) filters: Vec<FilterSpec>,
    pub(crate) fill: FillBytes,
}

/// A chunk as it is stored, with all filters.
#[derive(Debug)]
pub(crate) struct StoredChunk {
    /// The position of its first element in the box.
    pub(crate) first: Vec<u64>,
    pub(crate) bytes: Vec<u8>,
}

impl ChunkForm {
    /// Returns the size of an element in bytes.
    pub(crate) fn element_size(&self) -> u64 {
        self.datatype.size(WIDTHS)
    }

    /// Returns the size of a decoded chunk in bytes.
    pub(crate) fn chunk_bytes(&self) -> Ruled<usize> {
        let bytes = self.chunk.iter().try_fold(self.element_size(), |bytes, &len| bytes.checked_mul(len));
        bytes.and_then(|bytes| usize::try_from(bytes).ok()).ok_or(Reason::Layout)
    }

    /// Returns a decoded chunk that holds the fill value.
    pub(crate) fn filled_chunk(&self) -> Ruled<Vec<u8>> {
        let mut bytes = vec![0; self.chunk_bytes()?];
        if let FillBytes::Defined(value) = &self.fill {
            bytes.chunks_exact_mut(value.len().max(1)).for_each(|element| element.copy_from_slice(value));
        }
        Ok(bytes)
    }

    /// Encodes a box of elements, which begins with the first element of a chunk, and calls `each` with
    /// its chunks. Elements of chunks beyond the box hold the fill value.
    ///
    /// `memory` is the datatype of `elements` if it is another one than in the file.
    pub(crate) fn encode(
        &self,
        shape: &[u64],
        elements: &[u8],
        memory: Option<&Datatype>,
        each: &mut dyn FnMut(StoredChunk) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let file = File::in_memory()?;
        // A chunk may be larger than the box.
        let room = shape.iter().zip(&self.chunk).map(|(&len, &chunk)| Some(len.max(chunk))).collect();
        let space = Dataspace::Simple { shape: shape.to_vec(), max_shape: Some(room) };
        let mut options = DatasetOptions::new(space, self.datatype.clone());
        options.storage = NewStorage::Chunked(self.chunk.clone());
        options.filters.clone_from(&self.filters);
        options.fill.clone_from(&self.fill);
        options.skip_fill_chunks = Some(false);
        let dataset = file.root().create_dataset("elements", &options)?;
        dataset.write_with(.., elements, &WriteOptions::default().datatype(memory.cloned()))?;
        let counts = shape.iter().zip(&self.chunk).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
        for coord in grid(counts) {
            let refused = |what| Error::unsupported(what, "IV.A.2.i");
            let record = dataset.chunk_at(&coord)?.ok_or_else(|| refused("a chunk that is not stored"))?;
            // libhdf5 does not note skipped filters of a chunk that replaces one of the same size.
            if record.mask.0 != 0 {
                return Err(refused("a chunk that a filter did not make smaller"));
            }
            let first = coord.iter().zip(&self.chunk).map(|(at, len)| at * len).collect();
            each(StoredChunk { first, bytes: dataset.read_stored_chunk(record)? })?;
        }
        Ok(())
    }
}
