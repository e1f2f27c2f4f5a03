//! Snappy, in Rust.

use super::CodecError;
use crate::filter::buffer;

/// The working memory: room for streams that may turn out too long for their destination.
pub(crate) type Context = Vec<u8>;

/// Decodes one Snappy stream, which begins with its decoded length.
pub(crate) fn decode(src: &[u8], dst: &mut [u8]) -> Result<usize, CodecError> {
    let len = snap::raw::decompress_len(src).map_err(|_| CodecError::Damaged)?;
    let dst = dst.get_mut(..len).ok_or(CodecError::TooLong)?;
    snap::raw::Decoder::new().decompress(src, dst).map_err(|_| CodecError::Damaged)
}

/// Encodes `src` as one stream into the front of `out`, or returns `None` if `out` is too small.
pub(crate) fn encode(src: &[u8], out: &mut [u8], room: &mut Context) -> Option<usize> {
    // The encoder wants room for the longest stream.
    let room = buffer(room, snap::raw::max_compress_len(src.len()));
    let len = snap::raw::Encoder::new().compress(src, room).ok()?;
    out.get_mut(..len)?.copy_from_slice(&room[..len]);
    Some(len)
}
