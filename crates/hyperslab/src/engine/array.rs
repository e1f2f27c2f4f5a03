//! What the engine knows of a dataset: where its elements are and how to decode them. Built once, shared by handles.

use std::sync::Arc;

use hyperslab_filters::Pipeline;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::{Addr, Extent};

use super::fill::Fill;
use crate::driver::Driver;
use crate::index::ChunkIndex;

/// A stored array.
#[derive(Debug)]
pub struct StoredArray {
    /// The address of the dataset's object header: which dataset of the file this is.
    pub header: Addr,
    /// Elements along each dimension; empty for a scalar.
    pub shape: Vec<u64>,
    /// The datatype of the elements in the file.
    pub datatype: Arc<Datatype>,
    /// Bytes of one element in the file.
    pub element_size: usize,
    /// What elements hold that were never written.
    pub fill: Fill,
    /// Whether every reader takes a chunk that is not there for one that holds [`fill`](Self::fill).
    pub may_skip_fill: bool,
    /// Where the elements are.
    pub storage: Storage,
}

impl StoredArray {
    /// Bytes of all elements: checked when the dataset was opened.
    pub(super) fn len_bytes(&self) -> u64 {
        self.shape.iter().product::<u64>() * self.element_size as u64
    }

    /// The same array with its elements one after another at `extent`.
    #[must_use]
    pub fn at(&self, extent: Extent) -> Self {
        Self {
            header: self.header,
            shape: self.shape.clone(),
            datatype: Arc::clone(&self.datatype),
            element_size: self.element_size,
            fill: self.fill.clone(),
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
    /// In one extent, or nowhere yet.
    Contiguous(Option<Extent>),
    /// One after another from the first byte of another medium on.
    Elsewhere(Box<dyn Driver>),
    /// In chunks.
    Chunked(Box<ChunkedStorage>),
}

/// Chunks, how they are found and how they are decoded.
#[derive(Debug)]
pub struct ChunkedStorage {
    /// Elements of a chunk along each dimension.
    pub chunk_shape: Vec<u64>,
    /// The filters, prepared.
    pub pipeline: Arc<Pipeline>,
    /// Whether chunks that reach over the edge of the dataset are stored unfiltered (spec IV.A.2.i, version 4 flags).
    pub unfiltered_edges: bool,
    /// Where each chunk is.
    pub index: ChunkIndex,
}
