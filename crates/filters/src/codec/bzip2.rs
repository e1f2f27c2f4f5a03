//! bzip2 streams through a port of the reference implementation.

use bzip2::{Action, Compress, Compression, Decompress, Status};

use super::CodecError;

/// Decodes one stream into the front of `dst` and returns the decoded length. Ignores bytes after the stream.
pub(crate) fn decompress(src: &[u8], dst: &mut [u8]) -> Result<usize, CodecError> {
    let mut stream = Decompress::new(false);
    let progress = |total: u64| usize::try_from(total).unwrap_or(usize::MAX);
    loop {
        let (read, written) = (progress(stream.total_in()), progress(stream.total_out()));
        let status = stream.decompress(&src[read..], &mut dst[written..]).map_err(|_| CodecError::Damaged)?;
        let is_stuck = progress(stream.total_in()) == read && progress(stream.total_out()) == written;
        match status {
            Status::StreamEnd => return Ok(progress(stream.total_out())),
            _ if progress(stream.total_out()) == dst.len() && is_stuck => return Err(CodecError::TooLong),
            _ if is_stuck => return Err(CodecError::Damaged),
            _ => {}
        }
    }
}

/// Encodes `src` as one stream into `dst` and returns the encoded length, or `None` if `dst` is too small.
/// `level` is the size of a block in units of 100,000 bytes, from 1 to 9.
pub(crate) fn compress(src: &[u8], dst: &mut [u8], level: u32) -> Option<usize> {
    let mut stream = Compress::new(Compression::new(level), 0);
    loop {
        let read = usize::try_from(stream.total_in()).ok()?;
        let written = usize::try_from(stream.total_out()).ok()?;
        let status = stream.compress(&src[read..], &mut dst[written..], Action::Finish).ok()?;
        let total = usize::try_from(stream.total_out()).ok()?;
        match status {
            Status::StreamEnd => return Some(total),
            _ if total == dst.len() => return None,
            _ => {}
        }
    }
}

/// Returns the most bytes that the stream of `len` bytes can have, by the manual of bzip2.
pub(crate) const fn compress_bound(len: usize) -> usize {
    len + len / 100 + 600
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_decode_and_a_buffer_one_byte_short_is_an_error() {
        let raw: Vec<u8> = (0..150_000u32).flat_map(|i| (i / 7 * i).to_le_bytes()).collect();
        for level in [1, 9] {
            let mut stored = vec![0; compress_bound(raw.len())];
            let len = compress(&raw, &mut stored, level).unwrap();
            let mut found = vec![0; raw.len() + 5];
            assert_eq!(decompress(&stored[..len], &mut found), Ok(raw.len()));
            assert_eq!(found[..raw.len()], raw);
            assert_eq!(decompress(&stored[..len], &mut found[..raw.len() - 1]), Err(CodecError::TooLong));
            assert_eq!(decompress(&stored[..len - 1], &mut found), Err(CodecError::Damaged));
            assert_eq!(compress(&raw, &mut stored[..len - 1], level), None);
        }
    }
}
