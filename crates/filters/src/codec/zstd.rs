//! Zstandard frames (RFC 8878) through the reference implementation.

use std::fmt;

use zstd_safe::{CCtx, DCtx};

use super::CodecError;

/// Zstandard's working memory.
#[derive(Default)]
pub(crate) struct Context {
    decompressor: Option<DCtx<'static>>,
    compressor: Option<CCtx<'static>>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("zstd::Context")
    }
}

/// The code `ZSTD_error_dstSize_tooSmall`, as the C library returns it.
const TOO_SMALL: usize = 70_usize.wrapping_neg();

/// Decodes the frames in `src` into the front of `dst` and returns the decoded length. A frame need not store
/// the size of its content.
pub(crate) fn decompress(src: &[u8], dst: &mut [u8], context: &mut Context) -> Result<usize, CodecError> {
    let decompressor = context.decompressor.get_or_insert_with(DCtx::create);
    decompressor.decompress(dst, src).map_err(|code| match code {
        TOO_SMALL => CodecError::TooLong,
        _ => CodecError::Damaged,
    })
}

/// Encodes `src` as one frame into `dst` and returns the encoded length, or `None` if `dst` is too small.
pub(crate) fn compress(src: &[u8], dst: &mut [u8], level: i32, context: &mut Context) -> Option<usize> {
    let compressor = context.compressor.get_or_insert_with(CCtx::create);
    compressor.compress(dst, src, level).ok()
}

/// Returns the most bytes that the frame of `len` bytes can have.
pub(crate) fn compress_bound(len: usize) -> usize {
    zstd_safe::compress_bound(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_every_level_decode_and_a_buffer_one_byte_short_is_an_error() {
        let raw: Vec<u8> = (0..5000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        let context = &mut Context::default();
        for level in [-5, 1, 3, 9, 19] {
            let mut stored = vec![0; compress_bound(raw.len())];
            let len = compress(&raw, &mut stored, level, context).unwrap();
            let mut found = vec![0; raw.len() + 5];
            assert_eq!(decompress(&stored[..len], &mut found, context), Ok(raw.len()));
            assert_eq!(found[..raw.len()], raw);
            assert_eq!(
                decompress(&stored[..len], &mut found[1..raw.len()], context),
                Err(CodecError::TooLong)
            );
            assert_eq!(decompress(&stored[..len - 1], &mut found, context), Err(CodecError::Damaged));
        }
    }

    #[test]
    fn consecutive_frames_decode_to_their_concatenated_contents() {
        let context = &mut Context::default();
        let mut stored = Vec::new();
        for part in [b"first, ".as_slice(), b"second"] {
            let mut frame = vec![0; compress_bound(part.len())];
            let len = compress(part, &mut frame, 3, context).unwrap();
            stored.extend_from_slice(&frame[..len]);
        }
        let mut found = [0; 13];
        assert_eq!(decompress(&stored, &mut found, context), Ok(13));
        assert_eq!(&found, b"first, second");
    }
}
