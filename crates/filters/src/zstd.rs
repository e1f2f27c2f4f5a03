//! Zstandard, filter 32015: one frame a chunk, which need not say its content's size.

use crate::codec::zstd;
use crate::error::Result;
use crate::filter::{Encoded, Filter, FilterId, Scratch, expansion_bound};

/// The filter for one dataset.
#[derive(Debug)]
pub struct Zstd {
    level: i32,
}

impl Zstd {
    const NAME: &'static str = "zstd";
    const DEFAULT_LEVEL: i32 = 3;
    const MAX_LEVEL: i32 = 22;

    /// From client data: the level, which only matters for writing. Negative levels are stored as their two's complement.
    pub fn new(client_data: &[u32]) -> Self {
        let level = client_data.first().map_or(Self::DEFAULT_LEVEL, |level| level.cast_signed());
        Self { level: level.min(Self::MAX_LEVEL) }
    }
}

impl Filter for Zstd {
    fn id(&self) -> FilterId {
        FilterId::ZSTD
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        zstd::decompress(src, dst, &mut scratch.codecs.zstd).map_err(|error| error.of(Self::NAME, dst.len()))
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<Encoded> {
        Ok(zstd::compress(src, dst, self.level, &mut scratch.codecs.zstd).into())
    }

    fn encode_bound(&self, len: usize) -> usize {
        zstd::compress_bound(len)
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        expansion_bound(decoded)
    }
}
