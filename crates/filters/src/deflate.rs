//! Deflate, filter 1: one zlib stream a chunk.

use crate::codec::zlib;
use crate::error::Result;
use crate::filter::{Encoded, Filter, FilterId, Scratch, expansion_bound};

/// The filter for one dataset.
#[derive(Debug)]
pub struct Deflate {
    level: i32,
}

impl Deflate {
    const NAME: &'static str = "deflate";
    const DEFAULT_LEVEL: u32 = 6;
    const MAX_LEVEL: u32 = 9;

    /// From client data: the level, which only matters for writing.
    pub fn new(client_data: &[u32]) -> Self {
        let level = client_data.first().copied().unwrap_or(Self::DEFAULT_LEVEL).min(Self::MAX_LEVEL);
        Self { level: level.cast_signed() }
    }
}

impl Filter for Deflate {
    fn id(&self) -> FilterId {
        FilterId::DEFLATE
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        zlib::decompress(src, dst, &mut scratch.codecs.zlib).map_err(|error| error.of(Self::NAME, dst.len()))
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<Encoded> {
        Ok(zlib::compress(src, dst, self.level, &mut scratch.codecs.zlib).into())
    }

    fn encode_bound(&self, len: usize) -> usize {
        zlib::compress_bound(len)
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        expansion_bound(decoded)
    }
}
