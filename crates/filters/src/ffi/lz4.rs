//! LZ4 blocks through the reference implementation.

use std::ffi::{c_char, c_int};

unsafe extern "C" {
    // A function of the library that `lz4-sys` links. `lz4-sys` does not declare it.
    fn LZ4_decompress_safe_partial(
        source: *const c_char,
        target: *mut c_char,
        source_len: c_int,
        target_len: c_int,
        capacity: c_int,
    ) -> c_int;
}

/// Decodes a block into the front of `out` and returns the decoded length, or `None` if the block is damaged
/// or does not fit.
pub(crate) fn decode(src: &[u8], out: &mut [u8]) -> Option<usize> {
    let (source_len, capacity) = (c_int::try_from(src.len()).ok()?, c_int::try_from(out.len()).ok()?);
    // SAFETY: the lengths are those of the slices. The slices do not overlap, because `out` is borrowed
    // exclusively. Whatever the bytes are, the function reads and writes nothing outside the slices.
    let written = unsafe {
        lz4_sys::LZ4_decompress_safe(src.as_ptr().cast(), out.as_mut_ptr().cast(), source_len, capacity)
    };
    usize::try_from(written).ok()
}

/// Decodes the first `need` bytes of a block, and clobbers the rest of `out`. Returns `false` if the block is
/// damaged or shorter.
pub(crate) fn decode_prefix(src: &[u8], out: &mut [u8], need: usize) -> bool {
    let (Ok(source_len), Ok(capacity), Ok(need)) =
        (c_int::try_from(src.len()), c_int::try_from(out.len()), c_int::try_from(need))
    else {
        return false;
    };
    // SAFETY: as in `decode`. `need` only sets where decoding stops.
    let written = unsafe {
        LZ4_decompress_safe_partial(src.as_ptr().cast(), out.as_mut_ptr().cast(), source_len, need, capacity)
    };
    written >= need
}

/// Encodes `src` into the front of `out`, or returns `None` if `out` is too small. A higher acceleration is
/// faster and compresses less.
pub(crate) fn encode(src: &[u8], out: &mut [u8], acceleration: i32) -> Option<usize> {
    let (source_len, capacity) = (c_int::try_from(src.len()).ok()?, c_int::try_from(out.len()).ok()?);
    // SAFETY: as in `decode`.
    let written = unsafe {
        lz4_sys::LZ4_compress_fast(
            src.as_ptr().cast(),
            out.as_mut_ptr().cast(),
            source_len,
            capacity,
            acceleration,
        )
    };
    usize::try_from(written).ok().filter(|&n| n > 0)
}

/// Encodes `src` into the front of `out` with the high-compression variant, or returns `None` if `out` is too
/// small.
pub(crate) fn encode_high(src: &[u8], out: &mut [u8], level: i32) -> Option<usize> {
    let (source_len, capacity) = (c_int::try_from(src.len()).ok()?, c_int::try_from(out.len()).ok()?);
    // SAFETY: as in `decode`.
    let written = unsafe {
        lz4_sys::LZ4_compress_HC(src.as_ptr().cast(), out.as_mut_ptr().cast(), source_len, capacity, level)
    };
    usize::try_from(written).ok().filter(|&n| n > 0)
}
