//! The codecs inside Blosc, by their number in the format.

use std::fmt;

use super::blosclz;
use super::chunk::Chunk;
use crate::error::{FilterError, Result};
use crate::ffi::lz4;

/// A codec as the flags of a chunk name it. LZ4 and LZ4HC have one format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    BloscLz,
    Lz4,
    Zlib,
    Zstd,
}

/// Decoder states that are kept from chunk to chunk.
#[derive(Default)]
pub(super) struct Contexts {
    zlib: Option<libdeflater::Decompressor>,
    zstd: Option<zstd_safe::DCtx<'static>>,
}

impl fmt::Debug for Contexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contexts")
            .field("zlib", &self.zlib.is_some())
            .field("zstd", &self.zstd.is_some())
            .finish()
    }
}

impl Codec {
    /// The codec of a chunk.
    pub(super) fn of(chunk: &Chunk<'_>) -> Result<Self> {
        let other = match chunk.codec() {
            0 => return Ok(Self::BloscLz),
            1 => return Ok(Self::Lz4),
            3 => return Ok(Self::Zlib),
            4 => return Ok(Self::Zstd),
            2 => "the codec Snappy".to_owned(),
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

    /// Decodes the first `need` bytes of a stream of `len` into `out`, which is at least `len` bytes long and clobbered
    /// after them. False if the stream is damaged.
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
            Self::Zlib => {
                let decoder = contexts.zlib.get_or_insert_with(libdeflater::Decompressor::new);
                decoder.zlib_decompress(src, &mut out[..len]) == Ok(len)
            }
            Self::Zstd => {
                let decoder = contexts.zstd.get_or_insert_with(zstd_safe::DCtx::create);
                decoder.decompress(&mut out[..len], src) == Ok(len)
            }
        }
    }
}
