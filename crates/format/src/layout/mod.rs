//! Data layout message, type 8 (spec IV.A.2.i): where a dataset's elements are. Versions 1 to 3 are in [`v3`], 4 and 5
//! in [`v4`].

mod v3;
mod v4;

use crate::addr::{Addr, Extent};

/// Where a dataset's elements are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// In the message itself.
    Compact {
        /// The elements.
        data: Vec<u8>,
    },
    /// In one extent; undefined until allocated.
    Contiguous(Extent),
    /// In chunks.
    Chunked(ChunkedLayout),
    /// In other datasets. (The mapping is in the global heap: spec III.F.)
    Virtual {
        /// The global heap collection.
        heap: Addr,
        /// The object in it.
        index: u32,
    },
}

/// Chunks and how they are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkedLayout {
    /// The version of the message: 1 to 5.
    pub version: u8,
    /// The shape of a chunk in elements, without the dimension of element bytes that the file adds.
    pub chunk_shape: Vec<u64>,
    /// Bytes of one element, as the layout says.
    pub element_size: u32,
    /// Whether chunks that reach over the edge of the dataset are stored without filters (version 4 and later).
    pub unfiltered_edges: bool,
    /// The structure that finds a chunk.
    pub index: ChunkIndexInfo,
}

/// Which structure finds chunks, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkIndexInfo {
    /// Version 1 B-tree (layouts 1 to 3).
    BTree1 {
        /// Its root node; undefined until a chunk is written.
        addr: Addr,
    },
    /// One chunk in all (spec VII.A).
    Single {
        /// The chunk; undefined until written.
        addr: Addr,
        /// Its stored size and filter mask, if it is filtered.
        filtered: Option<(u64, u32)>,
    },
    /// Chunks one after another (spec VII.B).
    Implicit {
        /// The first.
        addr: Addr,
    },
    /// Fixed Array (spec VII.C).
    FixedArray {
        /// Its header; undefined until a chunk is written.
        addr: Addr,
        /// log2 of the elements in a page.
        page_bits: u8,
    },
    /// Extensible Array (spec VII.D).
    ExtensibleArray {
        /// Its header; undefined until a chunk is written.
        addr: Addr,
        /// The creation parameters, stored in the header again.
        parameters: ExtensibleArrayParameters,
    },
    /// Version 2 B-tree (spec VII.E).
    BTree2 {
        /// Its header; undefined until a chunk is written.
        addr: Addr,
        /// Bytes of a node.
        node_size: u32,
        /// Percent full at which a node splits.
        split_percent: u8,
        /// Percent full at which nodes merge.
        merge_percent: u8,
    },
}

/// The creation parameters of an Extensible Array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtensibleArrayParameters {
    /// Bits needed to store the largest number of elements.
    pub max_elements_bits: u8,
    /// Elements in the index block.
    pub index_elements: u8,
    /// The fewest pointers to data blocks in a secondary block.
    pub min_pointers: u8,
    /// The fewest elements in a data block.
    pub min_elements: u8,
    /// log2 of the elements in a page of a data block.
    pub page_bits: u8,
}
