//! The transposes one byte at a time, for processors without vectors and for the remainders of vector loops.

use super::plane::Planes;

/// Undoes the byte shuffle of `n` elements.
///
/// # Safety
/// Each of the `size` planes has `n` bytes, and `dst` has room for `n * size` bytes. Source and destination
/// do not overlap.
#[inline(always)]
pub(super) unsafe fn unshuffle<P: Planes>(planes: P, size: usize, dst: *mut u8, n: usize) {
    for k in 0..size {
        // SAFETY: k < size and element < n, so both addresses are inside the memory of the contract.
        unsafe {
            for element in 0..n {
                *dst.add(element * size + k) = *planes.at(k, element);
            }
        }
    }
}

/// Shuffles the bytes of `n` elements into planes `stride` bytes apart.
///
/// # Safety
/// `src` has `n * size` bytes, and each of the `size` planes at `dst` has room for `n` bytes. Source and
/// destination do not overlap.
#[inline(always)]
pub(super) unsafe fn shuffle(src: *const u8, size: usize, dst: *mut u8, stride: usize, n: usize) {
    for k in 0..size {
        // SAFETY: k < size and element < n, so both addresses are inside the memory of the contract.
        unsafe {
            let plane = dst.add(k * stride);
            if size == 1 {
                src.copy_to_nonoverlapping(plane, n);
                return;
            }
            for element in 0..n {
                *plane.add(element) = *src.add(element * size + k);
            }
        }
    }
}

/// Splits bytes into rows of bits, as `transpose::split_bits` does.
///
/// # Safety
/// `src` has `n` bytes, and each of the 8 rows, `stride` bytes apart from `dst` on, has room for `n / 8`
/// bytes. Source and destination do not overlap.
#[inline(always)]
pub(super) unsafe fn split_bits(src: *const u8, n: usize, dst: *mut u8, stride: usize) {
    for byte in 0..n / 8 {
        // SAFETY: byte < n / 8.
        unsafe {
            let word = u64::from_le_bytes(src.add(8 * byte).cast::<[u8; 8]>().read());
            for (b, row) in transpose_word(word).to_le_bytes().into_iter().enumerate() {
                *dst.add(b * stride + byte) = row;
            }
        }
    }
}

/// Undoes `split_bits`.
///
/// # Safety
/// Each of the 8 rows, `stride` bytes apart from `src` on, has `n / 8` bytes, and `dst` has room for `n`
/// bytes. Source and destination do not overlap.
#[inline(always)]
pub(super) unsafe fn join_bits(src: *const u8, stride: usize, n: usize, dst: *mut u8) {
    for byte in 0..n / 8 {
        // SAFETY: byte < n / 8.
        unsafe {
            let mut rows = [0; 8];
            for (b, row) in rows.iter_mut().enumerate() {
                *row = *src.add(b * stride + byte);
            }
            let bytes = transpose_word(u64::from_le_bytes(rows)).to_le_bytes();
            dst.add(8 * byte).cast::<[u8; 8]>().write(bytes);
        }
    }
}

/// Returns the transpose of the 8 by 8 bits of a word: bit 8 i + j and bit 8 j + i are exchanged.
#[inline(always)]
fn transpose_word(mut word: u64) -> u64 {
    for (shift, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let changed = (word ^ (word >> shift)) & mask;
        word ^= changed ^ (changed << shift);
    }
    word
}
