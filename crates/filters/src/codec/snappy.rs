//! Snappy, in Rust.

use std::fmt;

use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};

use super::CodecError;
use crate::filter::buffer;

/// The working memory: the encoder's tables, and room for streams that may turn out too long for their
/// destination.
pub(crate) struct Context {
    encoder: Encoder,
    room: Vec<u8>,
}

impl Default for Context {
    fn default() -> Self {
        Self { encoder: Encoder::new(), room: Vec::new() }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("snappy::Context")
    }
}

/// Decodes one Snappy stream, which begins with its decoded length.
pub(crate) fn decode(src: &[u8], dst: &mut [u8]) -> Result<usize, CodecError> {
    let len = decompress_len(src).map_err(|_| CodecError::Damaged)?;
    let dst = dst.get_mut(..len).ok_or(CodecError::TooLong)?;
    Decoder::new().decompress(src, dst).map_err(|_| CodecError::Damaged)
}

/// Returns `src` encoded as one stream, or `None` if it is too long for Snappy.
pub(crate) fn stream<'c>(src: &[u8], context: &'c mut Context) -> Option<&'c [u8]> {
    // The encoder wants room for the longest stream.
    let room = buffer(&mut context.room, max_compress_len(src.len()));
    let len = context.encoder.compress(src, room).ok()?;
    Some(&room[..len])
}

/// Encodes `src` as one stream into the front of `out`, or returns `None` if `out` is too small.
pub(crate) fn encode(src: &[u8], out: &mut [u8], context: &mut Context) -> Option<usize> {
    let stream = stream(src, context)?;
    out.get_mut(..stream.len())?.copy_from_slice(stream);
    Some(stream.len())
}
