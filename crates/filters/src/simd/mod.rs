//! Byte and bit transposes with vector instructions, chosen once at run time.
//!
//! A byte shuffle stores byte k of every element together (plane k). A bit shuffle also stores bit b of these bytes together
//! (row `8 k + b`, an eighth of a plane long). Both are written once over a trait of registers and compiled for SSE2,
//! AVX2 and NEON.

// Everything between an entry point, where the instructions are enabled, and the intrinsics must be inlined into it.
#![allow(clippy::inline_always)]

pub(crate) mod copy;
mod kernels;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
mod transpose;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

use kernels::Kernels;

/// The set of vector instructions that the transposes use on this processor: "avx2", "sse2", "neon" or "scalar".
pub fn instructions() -> &'static str {
    Kernels::fastest().name
}

/// Byte-shuffles `src` into `dst`, which has the same length. What is left after the last whole element is copied.
pub(crate) fn shuffle(element_size: usize, src: &[u8], dst: &mut [u8]) {
    shuffle_with(Kernels::fastest(), element_size, src, dst);
}

/// Undoes `shuffle`.
pub(crate) fn unshuffle(element_size: usize, src: &[u8], dst: &mut [u8]) {
    unshuffle_with(Kernels::fastest(), element_size, src, dst);
}

/// Puts elements together: plane k holds byte k of each. `dst` is a number of whole elements, and each plane has at least
/// that many bytes.
#[inline]
pub(crate) fn unshuffle_planes(planes: &[&[u8]], dst: &mut [u8]) {
    unshuffle_planes_with(Kernels::fastest(), planes, dst);
}

/// Bit-shuffles `src` into `dst`, which has the same length. What is left after the last eight whole elements is copied.
pub(crate) fn bitshuffle(element_size: usize, src: &[u8], dst: &mut [u8], scratch: &mut Vec<u8>) {
    bitshuffle_with(Kernels::fastest(), element_size, src, dst, scratch);
}

/// Undoes `bitshuffle`.
pub(crate) fn bitunshuffle(element_size: usize, src: &[u8], dst: &mut [u8], scratch: &mut Vec<u8>) {
    bitunshuffle_with(Kernels::fastest(), element_size, src, dst, scratch);
}

fn shuffle_with(kernels: &Kernels, element_size: usize, src: &[u8], dst: &mut [u8]) {
    let n = whole_elements(element_size, src, dst);
    let (elements, tail) = src.split_at(n * element_size);
    let (planes, rest) = dst.split_at_mut(n * element_size);
    if n > 0 {
        // SAFETY: both are `n * element_size` bytes, and `dst` is borrowed exclusively, so they do not overlap.
        unsafe { (kernels.shuffle)(elements.as_ptr(), element_size, planes.as_mut_ptr(), n, n) };
    }
    rest.copy_from_slice(tail);
}

fn unshuffle_with(kernels: &Kernels, element_size: usize, src: &[u8], dst: &mut [u8]) {
    let n = whole_elements(element_size, src, dst);
    let (planes, tail) = src.split_at(n * element_size);
    let (elements, rest) = dst.split_at_mut(n * element_size);
    if n > 0 {
        // SAFETY: both are `n * element_size` bytes, and `dst` is borrowed exclusively, so they do not overlap.
        unsafe { (kernels.unshuffle)(planes.as_ptr(), n, element_size, elements.as_mut_ptr(), n) };
    }
    rest.copy_from_slice(tail);
}

#[inline]
fn unshuffle_planes_with(kernels: &Kernels, planes: &[&[u8]], dst: &mut [u8]) {
    // The usual sizes are spelled out, because a division costs as much as the transpose of a short run.
    let n = match planes.len() {
        0 => 0,
        1 => dst.len(),
        2 => dst.len() / 2,
        4 => dst.len() / 4,
        8 => dst.len() / 8,
        size => dst.len() / size,
    };
    assert!(n * planes.len() == dst.len(), "the destination of planes is whole elements");
    assert!(planes.iter().all(|plane| plane.len() >= n), "every plane has a byte for each element");
    // SAFETY: each plane has n bytes and `dst` n elements, as asserted; `dst` is borrowed exclusively.
    unsafe { (kernels.unshuffle_planes)(planes, dst.as_mut_ptr(), n) };
}

fn bitshuffle_with(kernels: &Kernels, size: usize, src: &[u8], dst: &mut [u8], scratch: &mut Vec<u8>) {
    let n = whole_elements(size, src, dst) / 8 * 8;
    let (elements, tail) = src.split_at(n * size);
    let (rows, rest) = dst.split_at_mut(n * size);
    let tile = scratch_tile(size, n, scratch);
    for from in (0..n).step_by(tile.max(1)) {
        let len = tile.min(n - from);
        // SAFETY: elements `from..from + len` exist; `scratch` has `tile * size` bytes; row `8 k + b` is `n / 8` bytes long
        // and starts at `(8 k + b) * n / 8`, so that `from / 8..(from + len) / 8` of it is inside `rows`.
        unsafe {
            (kernels.shuffle)(elements.as_ptr().add(from * size), size, scratch.as_mut_ptr(), len, len);
            for k in 0..size {
                let rows = rows.as_mut_ptr().add(k * n + from / 8);
                (kernels.split_bits)(scratch.as_ptr().add(k * len), len, rows, n / 8);
            }
        }
    }
    rest.copy_from_slice(tail);
}

fn bitunshuffle_with(kernels: &Kernels, size: usize, src: &[u8], dst: &mut [u8], scratch: &mut Vec<u8>) {
    let n = whole_elements(size, src, dst) / 8 * 8;
    let (rows, tail) = src.split_at(n * size);
    let (elements, rest) = dst.split_at_mut(n * size);
    let tile = scratch_tile(size, n, scratch);
    for from in (0..n).step_by(tile.max(1)) {
        let len = tile.min(n - from);
        // SAFETY: as in `bitshuffle_with`, the other way round.
        unsafe {
            for k in 0..size {
                let rows = rows.as_ptr().add(k * n + from / 8);
                (kernels.join_bits)(rows, n / 8, len, scratch.as_mut_ptr().add(k * len));
            }
            (kernels.unshuffle)(scratch.as_ptr(), len, size, elements.as_mut_ptr().add(from * size), len);
        }
    }
    rest.copy_from_slice(tail);
}

/// The number of whole elements, after checking the lengths that every transpose relies on.
fn whole_elements(element_size: usize, src: &[u8], dst: &[u8]) -> usize {
    assert!(src.len() == dst.len(), "a transpose keeps the length");
    src.len().checked_div(element_size).unwrap_or(0)
}

/// How many of `n` elements are bit-shuffled at a time, so that they stay in the first-level cache between the passes; grows
/// `scratch` for them.
fn scratch_tile(element_size: usize, n: usize, scratch: &mut Vec<u8>) -> usize {
    const CACHED: usize = 16 << 10;
    /// Elements in one step of the widest bit transpose.
    const STEP: usize = 256;
    let tile = (CACHED / element_size.max(1) / STEP * STEP).max(STEP).min(n);
    if scratch.len() < tile * element_size {
        scratch.resize(tile * element_size, 0);
    }
    tile
}

#[cfg(test)]
mod tests;
