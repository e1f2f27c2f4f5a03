//! Filters that encode a chunk as one stream: Deflate, filter 1 (zlib), bzip2, filter 307, and Zstandard,
//! filter 32015 (whose frame need not store the size of its content).

use crate::codec::{External, bzip2, zlib, zstd};
use crate::error::Result;
use crate::filter::{Encoded, Filter, FilterId, Scratch, expansion_bound};

/// The filter for one dataset, with its level. The level matters only for writing.
#[derive(Debug)]
pub enum Stream {
    /// zlib at a level from 0 to 9.
    Deflate(i32),
    /// Zstandard at a level of at most 22.
    Zstd(i32),
    /// bzip2 with blocks of 1 to 9 times 100,000 bytes.
    Bzip2(u32),
}

impl Stream {
    /// Creates Deflate from its client data: the level.
    pub fn deflate(client_data: &[u32]) -> Self {
        const DEFAULT_LEVEL: u32 = 6;
        const MAX_LEVEL: u32 = 9;
        let level = client_data.first().copied().unwrap_or(DEFAULT_LEVEL).min(MAX_LEVEL);
        Self::Deflate(level.cast_signed())
    }

    /// Creates Zstandard from its client data: the level. Negative levels are stored as two's complement.
    pub fn zstd(client_data: &[u32]) -> Self {
        const DEFAULT_LEVEL: i32 = 3;
        const MAX_LEVEL: i32 = 22;
        Self::Zstd(client_data.first().map_or(DEFAULT_LEVEL, |level| level.cast_signed()).min(MAX_LEVEL))
    }

    /// Creates bzip2 from its client data: the size of a block in units of 100,000 bytes.
    pub fn bzip2(client_data: &[u32]) -> Self {
        const LARGEST_BLOCK: u32 = 9;
        Self::Bzip2(client_data.first().copied().unwrap_or(LARGEST_BLOCK).clamp(1, LARGEST_BLOCK))
    }

    /// Returns the filter's name, or an error if its codec is not built.
    fn name(&self) -> Result<&'static str> {
        let (name, codec) = match self {
            Self::Deflate(_) => ("deflate", External::Deflate),
            Self::Zstd(_) => ("zstd", External::Zstd),
            Self::Bzip2(_) => ("bzip2", External::Bzip2),
        };
        codec.check(name).map(|()| name)
    }
}

impl Filter for Stream {
    fn id(&self) -> FilterId {
        match self {
            Self::Deflate(_) => FilterId::DEFLATE,
            Self::Zstd(_) => FilterId::ZSTD,
            Self::Bzip2(_) => FilterId::BZIP2,
        }
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        let name = self.name()?;
        let decoded = match self {
            Self::Deflate(_) => zlib::decompress(src, dst, &mut scratch.codecs.zlib),
            Self::Zstd(_) => zstd::decompress(src, dst, &mut scratch.codecs.zstd),
            Self::Bzip2(_) => bzip2::decompress(src, dst),
        };
        decoded.map_err(|error| error.of(name, dst.len()))
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<Encoded> {
        self.name()?;
        Ok(match *self {
            Self::Deflate(level) => zlib::compress(src, dst, level, &mut scratch.codecs.zlib).into(),
            Self::Zstd(level) => zstd::compress(src, dst, level, &mut scratch.codecs.zstd).into(),
            Self::Bzip2(level) => bzip2::compress(src, dst, level).into(),
        })
    }

    fn encode_bound(&self, len: usize) -> usize {
        match self {
            Self::Deflate(_) => zlib::compress_bound(len),
            Self::Zstd(_) => zstd::compress_bound(len),
            Self::Bzip2(_) => bzip2::compress_bound(len),
        }
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        expansion_bound(decoded)
    }
}
