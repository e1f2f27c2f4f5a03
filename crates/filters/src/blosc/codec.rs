//! The codecs inside Blosc, by their number in the format.

use super::blosclz;
use super::chunk::Chunk;
use super::encode::Coding;
use crate::choice::BloscCodec;
use crate::codec::{Contexts, External, lz4, snappy, zlib, zstd};
use crate::error::{FilterError, Result};

/// A codec, as named by the flags of a chunk. LZ4 and LZ4HC share one format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    BloscLz,
    Lz4,
    Snappy,
    Zlib,
    Zstd,
}

impl Codec {
    /// Returns the codec of a chunk, if this build has it.
    pub(super) fn of(chunk: &Chunk<'_>) -> Result<Self> {
        let built = |codec: Self, external: External| external.check(chunk.filter).map(|()| codec);
        let other = match chunk.codec() {
            0 => return Ok(Self::BloscLz),
            1 => return built(Self::Lz4, External::Lz4),
            2 => return built(Self::Snappy, External::Snappy),
            3 => return built(Self::Zlib, External::Deflate),
            4 => return built(Self::Zstd, External::Zstd),
            6 | 7 => match chunk.other_codec {
                32 => "the codec NDLZ".to_owned(),
                33 => "the codec ZFP (fixed accuracy)".to_owned(),
                34 => "the codec ZFP (fixed precision)".to_owned(),
                35 => "the codec ZFP (fixed rate)".to_owned(),
                36 => "the codec OpenHTJ2K".to_owned(),
                37 => "the codec grok (JPEG 2000)".to_owned(),
                38 => "the codec OpenZL".to_owned(),
                other => format!("the codec with number {other}"),
            },
            other => format!("the codec with format number {other}"),
        };
        Err(FilterError::Unsupported { filter: chunk.filter, feature: other })
    }

    /// Decodes the first `need` bytes of a stream of `len` decoded bytes into `out`. `out` has at least `len`
    /// bytes, and its bytes after the first `need` are clobbered. Returns `false` if the stream is damaged.
    #[inline]
    pub(super) fn decode(
        self,
        src: &[u8],
        out: &mut [u8],
        len: usize,
        need: usize,
        contexts: &mut Contexts,
    ) -> bool {
        match self {
            Self::BloscLz => blosclz::decode(src, out, len, need),
            Self::Lz4 if need < len => lz4::decode_prefix(src, &mut out[..len], need),
            Self::Lz4 => lz4::decode(src, &mut out[..len]) == Some(len),
            Self::Snappy => snappy::decode(src, &mut out[..len]) == Ok(len),
            Self::Zlib => zlib::decompress(src, &mut out[..len], &mut contexts.zlib) == Ok(len),
            Self::Zstd => zstd::decompress(src, &mut out[..len], &mut contexts.zstd) == Ok(len),
        }
    }
}

impl BloscCodec {
    /// Returns an error for `filter` if this build does not have the codec.
    pub(super) fn check(self, filter: &'static str) -> Result<()> {
        match self {
            Self::BloscLz => Ok(()),
            Self::Lz4 | Self::Lz4Hc => External::Lz4.check(filter),
            Self::Snappy => External::Snappy.check(filter),
            Self::Zlib => External::Deflate.check(filter),
            Self::Zstd => External::Zstd.check(filter),
        }
    }

    /// Returns the number of the codec's format in the flags of a chunk.
    pub(super) fn format(self) -> u8 {
        match self {
            Self::BloscLz => 0,
            Self::Lz4 | Self::Lz4Hc => 1,
            Self::Snappy => 2,
            Self::Zlib => 3,
            Self::Zstd => 4,
        }
    }

    /// Encodes `src` into the front of `out` at a Blosc level from 1 to 9, or returns `None` if `out` is too
    /// small.
    pub(super) fn encode(self, level: u8, src: &[u8], out: &mut [u8], buffers: &mut Coding) -> Option<usize> {
        let Coding { positions, contexts } = buffers;
        let number = i32::from(level);
        match self {
            Self::BloscLz => blosclz::encode(level, src, out, positions),
            Self::Lz4 => lz4::encode(src, out, 10 - number),
            Self::Lz4Hc => lz4::encode_high(src, out, number),
            Self::Snappy => snappy::encode(src, out, &mut contexts.snappy),
            Self::Zlib => zlib::compress(src, out, number, &mut contexts.zlib),
            Self::Zstd => {
                let level = match number {
                    9.. => 22,
                    number => 2 * number - 1,
                };
                zstd::compress(src, out, level, &mut contexts.zstd)
            }
        }
    }
}
