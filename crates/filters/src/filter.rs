//! The trait of filters, and the memory they work in.

use std::fmt;

use crate::error::Result;

/// A filter's number in the HDF Group's registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FilterId(pub u16);

impl FilterId {
    /// zlib, as `H5Z_FILTER_DEFLATE`.
    pub const DEFLATE: Self = Self(1);
    /// Byte shuffle.
    pub const SHUFFLE: Self = Self(2);
    /// Fletcher's checksum.
    pub const FLETCHER32: Self = Self(3);
    /// h5py's LZF.
    pub const LZF: Self = Self(32000);
    /// Blosc 1.
    pub const BLOSC: Self = Self(32001);
    /// LZ4.
    pub const LZ4: Self = Self(32004);
    /// Bitshuffle, alone or with LZ4 or Zstandard.
    pub const BITSHUFFLE: Self = Self(32008);
    /// Zstandard.
    pub const ZSTD: Self = Self(32015);
    /// Blosc 2.
    pub const BLOSC2: Self = Self(32026);
}

impl fmt::Display for FilterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One filter, prepared for one dataset: its parameters are checked already.
pub trait Filter: fmt::Debug + Send + Sync {
    /// Its registered number.
    fn id(&self) -> FilterId;

    /// Undoes `encode`: writes into the front of `dst` and returns how many bytes. `dst` is as long as the decoded
    /// bytes may be; a chunk that needs more is an error. Never allocates beyond `scratch`.
    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize>;

    /// Appends the encoded form of `src` to `dst`.
    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<Encoded>;

    /// The most bytes that `decode_into` can need for `decoded` useful bytes (Fletcher32 adds 4 before it removes them).
    fn decode_bound(&self, decoded: usize) -> usize {
        decoded
    }

    /// The filter as a Blosc chunk decoder, which can decode parts of a chunk.
    fn as_blosc(&self) -> Option<&crate::blosc::Blosc> {
        None
    }
}

/// Whether a filter stored the chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoded {
    /// Yes.
    Stored,
    /// It was not worth it (or the filter failed): the pipeline leaves this filter out and says so in the chunk's mask.
    Skipped,
}

/// Buffers and codec contexts that a worker keeps from chunk to chunk.
#[derive(Debug, Default)]
pub struct Scratch {
    /// What the filters of a chain hand on to each other.
    pub(crate) pipeline: [Vec<u8>; 2],
    /// What one filter needs for itself.
    pub(crate) filter: [Vec<u8>; 2],
}
