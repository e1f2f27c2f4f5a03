//! zlib streams (RFC 1950) through libdeflate.

use std::fmt;

use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};

use super::CodecError;

/// libdeflate's tables.
#[derive(Default)]
pub(crate) struct Context {
    decompressor: Option<Decompressor>,
    /// The compressor, with the level that it was made for.
    compressor: Option<(i32, Compressor)>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("zlib::Context")
    }
}

/// Decodes one stream into the front of `dst` and returns the decoded length. Ignores bytes after the stream,
/// as zlib does.
pub(crate) fn decompress(src: &[u8], dst: &mut [u8], context: &mut Context) -> Result<usize, CodecError> {
    let decompressor = context.decompressor.get_or_insert_with(Decompressor::new);
    decompressor.zlib_decompress(src, dst).map_err(|error| match error {
        DecompressionError::BadData => CodecError::Damaged,
        DecompressionError::InsufficientSpace => CodecError::TooLong,
    })
}

/// Encodes `src` into `dst` and returns the encoded length, or `None` if `dst` is too small. Levels are those
/// of zlib, 0 to 9; any other level is replaced by the nearest.
pub(crate) fn compress(src: &[u8], dst: &mut [u8], level: i32, context: &mut Context) -> Option<usize> {
    let level = usize::try_from(level).unwrap_or(0).min(LEVELS.len() - 1);
    compressor(LEVELS[level], context).zlib_compress(src, dst).ok()
}

/// Returns the most bytes that the stream of `len` bytes can have. libdeflate cuts incompressible data into
/// blocks of 5,000 bytes or more, and each block costs 5 bytes.
pub(crate) const fn compress_bound(len: usize) -> usize {
    len + len / 1000 + 64
}

/// libdeflate's level for each level of zlib: the fastest level whose streams were as short, measured on
/// shuffled floating-point fields. Results for other data vary. Streams are up to a tenth longer for shuffled
/// 16-bit walks at level 1, and for sparse bytes at level 6.
const LEVELS: [i32; 10] = [0, 1, 1, 1, 3, 5, 6, 7, 8, 9];

fn compressor(level: i32, context: &mut Context) -> &mut Compressor {
    let usable = context.compressor.take_if(|(made_for, _)| *made_for == level);
    let (_, compressor) = context.compressor.insert(usable.unwrap_or_else(|| {
        let level_or_default = CompressionLvl::new(level).unwrap_or_default();
        (level, Compressor::new(level_or_default))
    }));
    compressor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_of_any_length_stays_within_the_bound_at_every_level() {
        let noise: Vec<u8> =
            (0..40_000u32).map(|i| (i.wrapping_mul(i | 1).wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let context = &mut Context::default();
        for level in 0..=9 {
            for len in [0, 1, 4999, 5000, 5001, 39_999, 40_000] {
                let mut stored = vec![0; compress_bound(len)];
                assert!(compress(&noise[..len], &mut stored, level, context).is_some(), "{len} at {level}");
            }
        }
    }

    #[test]
    fn streams_of_every_level_decode_and_a_buffer_one_byte_short_is_an_error() {
        let raw: Vec<u8> = (0..5000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        let context = &mut Context::default();
        for level in [0, 1, 6, 9, 12, -1, 6] {
            let mut stored = vec![0; compress_bound(raw.len())];
            let len = compress(&raw, &mut stored, level, context).unwrap();
            let mut found = vec![0; raw.len() + 5];
            assert_eq!(decompress(&stored[..len], &mut found, context), Ok(raw.len()));
            assert_eq!(found[..raw.len()], raw);
            assert_eq!(decompress(&stored, &mut found[1..raw.len()], context), Err(CodecError::TooLong));
            // libdeflate reads zeros after the end of its input, so either error may occur.
            assert!(decompress(&stored[..len - 1], &mut found, context).is_err());
        }
    }
}
