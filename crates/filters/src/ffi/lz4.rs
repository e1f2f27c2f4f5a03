//! LZ4 blocks by the reference implementation.

use std::ffi::{c_char, c_int};

unsafe extern "C" {
    // Part of the library that `lz4-sys` links, which does not declare it.
    fn LZ4_decompress_safe_partial(
        source: *const c_char,
        target: *mut c_char,
        source_len: c_int,
        target_len: c_int,
        capacity: c_int,
    ) -> c_int;
}

/// Decodes a block into the front of `out`; how many bytes, or `None` if it is damaged or does not fit.
pub(crate) fn decode(src: &[u8], out: &mut [u8]) -> Option<usize> {
    let (source_len, capacity) = (c_int::try_from(src.len()).ok()?, c_int::try_from(out.len()).ok()?);
    // SAFETY: the lengths are those of the slices, which do not overlap because `out` is borrowed exclusively; the
    // function reads and writes nothing outside them, whatever the bytes are.
    let written = unsafe {
        lz4_sys::LZ4_decompress_safe(src.as_ptr().cast(), out.as_mut_ptr().cast(), source_len, capacity)
    };
    usize::try_from(written).ok()
}

/// Decodes the first `need` bytes of a block, and clobbers the rest of `out`; false if it is damaged or shorter.
pub(crate) fn decode_prefix(src: &[u8], out: &mut [u8], need: usize) -> bool {
    let (Ok(source_len), Ok(capacity), Ok(need)) =
        (c_int::try_from(src.len()), c_int::try_from(out.len()), c_int::try_from(need))
    else {
        return false;
    };
    // SAFETY: as in `decode`; `need` only says when to stop.
    let written = unsafe {
        LZ4_decompress_safe_partial(src.as_ptr().cast(), out.as_mut_ptr().cast(), source_len, need, capacity)
    };
    written >= need
}

/// Encodes `src` into the front of `out`; `None` if it does not fit. A higher acceleration is faster and larger.
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

/// Encodes `src` into the front of `out` with the high-compression variant; `None` if it does not fit.
pub(crate) fn encode_high(src: &[u8], out: &mut [u8], level: i32) -> Option<usize> {
    let (source_len, capacity) = (c_int::try_from(src.len()).ok()?, c_int::try_from(out.len()).ok()?);
    // SAFETY: as in `decode`.
    let written = unsafe {
        lz4_sys::LZ4_compress_HC(src.as_ptr().cast(), out.as_mut_ptr().cast(), source_len, capacity, level)
    };
    usize::try_from(written).ok().filter(|&n| n > 0)
}
