//! The trait of filters, and the memory they work in.

use std::fmt;

use crate::codec::Contexts;
use crate::error::{FilterError, Result};
use crate::simd::Stores;

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

    /// Writes the encoded form of `src` into the front of `dst`, which has `encode_bound` bytes at least and is clobbered
    /// after it. An error says that the bytes or the parameters are none that the filter can take.
    fn encode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<Encoded>;

    /// The room that encoding `len` bytes needs. By default as much as any encoder of the format could use.
    fn encode_bound(&self, len: usize) -> usize {
        self.decode_bound(len)
    }

    /// If encoding only puts bytes after the end: these. The pipeline then leaves the others where they are.
    fn appended(&self, _src: &[u8]) -> Option<[u8; 4]> {
        None
    }

    /// If decoding only takes bytes off the end: how many stay. The pipeline then passes them on without a copy.
    fn kept(&self, _src: &[u8]) -> Option<Result<usize>> {
        None
    }

    /// The most bytes that the encoded form of `decoded` bytes can have (Fletcher32 adds 4). When another filter encoded that
    /// form again, this is all the room that decoding the other filter gets.
    fn decode_bound(&self, decoded: usize) -> usize {
        decoded
    }

    /// If it is a byte shuffle: the bytes of an element.
    fn as_shuffle(&self) -> Option<usize> {
        None
    }

    /// The filter as a Blosc chunk decoder, which can decode parts of a chunk.
    fn as_blosc(&self) -> Option<&crate::blosc::Blosc> {
        None
    }
}

/// Whether a filter stored the chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoded {
    /// Yes, in so many bytes.
    Stored(usize),
    /// It was not worth it: if the filter is optional, the pipeline leaves it out and says so in the chunk's mask.
    Skipped,
}

impl From<Option<usize>> for Encoded {
    /// What a codec returns: nothing if the result did not fit into its room.
    fn from(len: Option<usize>) -> Self {
        len.map_or(Self::Skipped, Self::Stored)
    }
}

/// Buffers and codec contexts that a worker keeps from chunk to chunk.
#[derive(Debug, Default)]
pub struct Scratch {
    /// What the filters of a chain hand on to each other.
    pub(crate) pipeline: [Vec<u8>; 2],
    /// What one filter needs for itself.
    pub(crate) filter: [Vec<u8>; 2],
    /// What the codecs keep.
    pub(crate) codecs: Contexts,
    /// Where LZF saw what.
    pub(crate) positions: Vec<u32>,
    /// What Blosc needs.
    pub(crate) blosc: crate::blosc::Buffers,
    /// What conversions need.
    pub(crate) room: crate::convert::Room,
    /// Elements that are handed on.
    pub(crate) handed: Vec<u8>,
    /// How the filter at work writes its result, if it can choose. Set by the pipeline.
    pub(crate) stores: Stores,
}

/// The first `len` bytes of a buffer, which grows to hold them and never shrinks.
pub(crate) fn buffer(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    &mut buffer[..len]
}

/// The first `len` bytes of `dst`, which must have them.
pub(crate) fn prefix<'d>(filter: &'static str, dst: &'d mut [u8], len: usize) -> Result<&'d mut [u8]> {
    let expected = dst.len() as u64;
    dst.get_mut(..len).ok_or(FilterError::Length { filter, expected, found: len as u64 })
}

/// Takes N bytes off the front of `src`.
pub(crate) fn take<'s, const N: usize>(filter: &'static str, src: &mut &'s [u8]) -> Result<&'s [u8; N]> {
    let damaged = FilterError::damaged(filter, "it ends early");
    let (taken, rest) = src.split_first_chunk().ok_or(damaged)?;
    *src = rest;
    Ok(taken)
}

/// Takes a block off the front of `src`, behind its stored length (4 bytes, big-endian).
pub(crate) fn take_block<'s>(filter: &'static str, src: &mut &'s [u8]) -> Result<&'s [u8]> {
    let len = u32::from_be_bytes(*take(filter, src)?) as usize;
    let damaged = FilterError::damaged(filter, "a block that ends after the chunk");
    let (block, rest) = src.split_at_checked(len).ok_or(damaged)?;
    *src = rest;
    Ok(block)
}

/// More than any codec here makes of `decoded` bytes that it cannot compress, at any block size.
pub(crate) fn expansion_bound(decoded: usize) -> usize {
    decoded.saturating_mul(2).saturating_add(4096)
}
