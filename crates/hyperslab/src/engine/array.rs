//! The engine's description of a dataset: where its elements are and how to decode them. Built once and
//! shared by handles.

use std::sync::Arc;

use hyperslab_filters::FilterMask;
use hyperslab_format::{Addr, Extent};
use hyperslab_io::driver::Driver;
use hyperslab_select::is_cut;
use hyperslab_store::index::ChunkIndex;

use super::codec::{ChunkCodec, StoredElements};

/// A stored array.
#[derive(Debug)]
pub struct StoredArray {
    /// The address of the dataset's object header, which identifies the dataset in its file.
    pub header: Addr,
    /// The number of elements along each dimension; empty for a scalar.
    pub shape: Vec<u64>,
    /// The datatype and the fill value of the elements.
    pub elements: Arc<StoredElements>,
    /// Whether every reader treats a missing chunk as a chunk full of the [fill value](StoredElements::fill).
    pub may_skip_fill: bool,
    /// Where the elements are.
    pub storage: Storage,
}

impl StoredArray {
    /// Returns the size of all elements in bytes. Opening the dataset checked that it fits a `u64`.
    pub(super) fn len_bytes(&self) -> u64 {
        self.shape.iter().product::<u64>() * self.elements.size as u64
    }

    /// Returns the same array with its elements stored contiguously at `extent`.
    #[must_use]
    pub fn at(&self, extent: Extent) -> Self {
        Self {
            header: self.header,
            shape: self.shape.clone(),
            elements: Arc::clone(&self.elements),
            may_skip_fill: self.may_skip_fill,
            storage: Storage::Contiguous(Some(extent)),
        }
    }
}

/// Where the elements are.
#[derive(Debug)]
pub enum Storage {
    /// In the object header.
    Compact(Vec<u8>),
    /// In one extent. `None` if not allocated yet.
    Contiguous(Option<Extent>),
    /// Contiguous, from the first byte of another medium (such as an external file).
    Elsewhere(Box<dyn Driver>),
    /// In chunks.
    Chunked(Box<ChunkedStorage>),
}

/// The chunks of a dataset: how to find and how to decode them.
#[derive(Debug)]
pub struct ChunkedStorage {
    /// How they are encoded.
    pub codec: ChunkCodec,
    /// Whether chunks that cross the edge of the dataset are stored unfiltered (spec IV.A.2.i, version 4
    /// flags).
    pub unfiltered_edges: bool,
    /// Where each chunk is.
    pub index: ChunkIndex,
}

impl ChunkedStorage {
    /// Returns whether the chunk at `coord` of an array of this shape is stored without filters: all are
    /// skipped by its mask, or it crosses an edge that has none.
    pub fn is_raw(&self, coord: &[u64], mask: FilterMask, shape: &[u64]) -> bool {
        self.codec.pipeline().is_identity(mask)
            || (self.unfiltered_edges && is_cut(coord, self.codec.shape(), shape))
    }
}
