//! The `Filter` trait, and the memory that filters work in.

use std::fmt;

use crate::codec::Contexts;
use crate::error::{FilterError, Result};
use crate::simd::Stores;

/// A filter's number in the HDF Group's registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FilterId(pub u16);

impl FilterId {
    /// zlib, as in `H5Z_FILTER_DEFLATE`.
    pub const DEFLATE: Self = Self(1);
    /// Byte shuffle.
    pub const SHUFFLE: Self = Self(2);
    /// The Fletcher32 checksum.
    pub const FLETCHER32: Self = Self(3);
    /// szip.
    pub const SZIP: Self = Self(4);
    /// N-bit.
    pub const NBIT: Self = Self(5);
    /// Scale-offset.
    pub const SCALE_OFFSET: Self = Self(6);
    /// bzip2.
    pub const BZIP2: Self = Self(307);
    /// h5py's LZF.
    pub const LZF: Self = Self(32000);
    /// Blosc 1.
    pub const BLOSC: Self = Self(32001);
    /// Snappy.
    pub const SNAPPY: Self = Self(32003);
    /// LZ4.
    pub const LZ4: Self = Self(32004);
    /// Bitshuffle: plain, or with LZ4 or Zstandard.
    pub const BITSHUFFLE: Self = Self(32008);
    /// ZFP.
    pub const ZFP: Self = Self(32013);
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

/// A filter prepared for one dataset, with its parameters already checked.
pub trait Filter: fmt::Debug + Send + Sync {
    /// Returns the filter's registered number.
    fn id(&self) -> FilterId;

    /// Decodes `src` into the front of `dst` and returns the decoded length in bytes. `dst` has the greatest
    /// length that the decoded bytes may have; a longer chunk is an error. Allocates nothing but what
    /// `scratch` keeps.
    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize>;

    /// Encodes `src` into the front of `dst`. `dst` has at least `encode_bound` bytes, and the bytes after
    /// the encoded form are clobbered. Returns an error if the filter cannot take the bytes or the
    /// parameters.
    fn encode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<Encoded>;

    /// Returns the length of the buffer that encoding `len` bytes needs. The default is the most that any
    /// encoder of the format could use.
    fn encode_bound(&self, len: usize) -> usize {
        self.decode_bound(len)
    }

    /// Returns the bytes to append, if encoding only appends bytes. The pipeline then leaves the other bytes
    /// in place.
    fn appended(&self, _src: &[u8]) -> Option<[u8; 4]> {
        None
    }

    /// Returns how many bytes remain, if decoding only drops bytes from the end. The pipeline then passes the
    /// rest on without a copy.
    fn kept(&self, _src: &[u8]) -> Option<Result<usize>> {
        None
    }

    /// Returns the most bytes that the encoded form of `decoded` bytes can have (Fletcher32 adds 4). If
    /// another filter has encoded that form again, decoding that other filter gets a buffer of this length
    /// and no more.
    fn decode_bound(&self, decoded: usize) -> usize {
        decoded
    }

    /// Returns the bytes of an element, if the filter is a byte shuffle.
    fn as_shuffle(&self) -> Option<usize> {
        None
    }

    /// Returns the filter as a Blosc chunk decoder, which can decode parts of a chunk.
    fn as_blosc(&self) -> Option<&crate::blosc::Blosc> {
        None
    }
}

/// Whether a filter has encoded the chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoded {
    /// The chunk is encoded in this many bytes.
    Stored(usize),
    /// Encoding did not pay. If the filter is optional, the pipeline leaves it out and records this in the
    /// chunk's filter mask.
    Skipped,
}

impl From<Option<usize>> for Encoded {
    /// Converts the return value of a codec: `None` if the result did not fit into its buffer.
    fn from(len: Option<usize>) -> Self {
        len.map_or(Self::Skipped, Self::Stored)
    }
}

/// The buffers and codec contexts that a worker keeps from chunk to chunk.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The bytes that one filter of a chain passes to the next.
    pub(crate) pipeline: [Vec<u8>; 2],
    /// The working memory of one filter.
    pub(crate) filter: [Vec<u8>; 2],
    /// The contexts of the codecs.
    pub(crate) codecs: Contexts,
    /// LZF's table of positions in its input; the samples of szip.
    pub(crate) positions: Vec<u32>,
    /// The streams of ZFP, and elements at addresses that it can use.
    pub(crate) words: [Vec<u64>; 2],
    /// The buffers of Blosc.
    pub(crate) blosc: crate::blosc::Buffers,
    /// The buffers of conversions.
    pub(crate) room: crate::convert::Room,
    /// Elements that are passed to a function.
    pub(crate) handed: Vec<u8>,
    /// A note to store with the next chunk that Blosc 2 encodes; see [`Note`](crate::blosc::Note).
    pub note: Option<Vec<u8>>,
    /// How the current filter writes its result, if it has a choice. The pipeline sets this.
    pub(crate) stores: Stores,
}

/// Returns the first `len` bytes of `buffer`, which grows to hold them and never shrinks.
pub(crate) fn buffer(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    &mut buffer[..len]
}

/// Returns the first `len` bytes of `dst`, or an error if `dst` is shorter.
pub(crate) fn prefix<'d>(filter: &'static str, dst: &'d mut [u8], len: usize) -> Result<&'d mut [u8]> {
    let expected = dst.len() as u64;
    dst.get_mut(..len).ok_or(FilterError::Length { filter, expected, found: len as u64 })
}

/// Takes N bytes off the front of `src`.
pub(crate) fn take<'s, const N: usize>(filter: &'static str, src: &mut &'s [u8]) -> Result<&'s [u8; N]> {
    let damaged = FilterError::damaged(filter, "data ends early");
    let (taken, rest) = src.split_first_chunk().ok_or(damaged)?;
    *src = rest;
    Ok(taken)
}

/// Takes a block off the front of `src`. The stored length of the block precedes it (4 bytes, big-endian).
pub(crate) fn take_block<'s>(filter: &'static str, src: &mut &'s [u8]) -> Result<&'s [u8]> {
    let len = u32::from_be_bytes(*take(filter, src)?) as usize;
    let damaged = FilterError::damaged(filter, "a block extends past the end of the chunk");
    let (block, rest) = src.split_at_checked(len).ok_or(damaged)?;
    *src = rest;
    Ok(block)
}

/// Returns a length that no codec here exceeds for `decoded` bytes that it cannot compress, at any block
/// size.
pub(crate) fn expansion_bound(decoded: usize) -> usize {
    decoded.saturating_mul(2).saturating_add(4096)
}
