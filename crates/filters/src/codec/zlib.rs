//! zlib streams (RFC 1950) through libdeflate.

use std::fmt;

use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};

use super::CodecError;

/// libdeflate's tables.
#[derive(Default)]
pub(crate) struct Context {
    decompressor: Option<Decompressor>,
    /// With the level that it was made for.
    compressor: Option<(i32, Compressor)>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("zlib::Context")
    }
}

/// Decodes one stream into the front of `dst` and returns how many bytes. What follows the stream is ignored, as zlib does.
pub(crate) fn decompress(src: &[u8], dst: &mut [u8], context: &mut Context) -> Result<usize, CodecError> {
    let decompressor = context.decompressor.get_or_insert_with(Decompressor::new);
    decompressor.zlib_decompress(src, dst).map_err(|error| match error {
        DecompressionError::BadData => CodecError::Damaged,
        DecompressionError::InsufficientSpace => CodecError::TooLong,
    })
}

/// Encodes into `dst` and returns how many bytes; none if `dst` is too small. Levels are 0 to 12; zlib's 1 to 9 mean about
/// the same.
pub(crate) fn compress(src: &[u8], dst: &mut [u8], level: i32, context: &mut Context) -> Option<usize> {
    let compressor = compressor(level, context);
    compressor.zlib_compress(src, dst).ok()
}

/// The most bytes that `len` bytes can take.
pub(crate) fn compress_bound(len: usize, level: i32, context: &mut Context) -> usize {
    compressor(level, context).zlib_compress_bound(len)
}

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
    fn streams_of_every_level_decode_and_one_byte_too_little_room_is_said_so() {
        let raw: Vec<u8> = (0..5000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        let context = &mut Context::default();
        for level in [0, 1, 6, 9, 12, 6] {
            let mut stored = vec![0; compress_bound(raw.len(), level, context)];
            let len = compress(&raw, &mut stored, level, context).unwrap();
            let mut found = vec![0; raw.len() + 5];
            assert_eq!(decompress(&stored[..len], &mut found, context), Ok(raw.len()));
            assert_eq!(found[..raw.len()], raw);
            assert_eq!(decompress(&stored, &mut found[1..raw.len()], context), Err(CodecError::TooLong));
            // libdeflate reads zeros after the end, so it may find either error.
            assert!(decompress(&stored[..len - 1], &mut found, context).is_err());
        }
    }
}
