//! Decoded elements, from which runs are copied to their destinations.

use crate::simd::comb::Comb;

/// Decoded elements that can be copied out by their byte offset.
pub(crate) trait DecodedSource {
    /// Fills `into` with the elements that start at byte `at`.
    fn copy(&self, at: usize, into: &mut [u8]);

    /// Fills each run with elements: the first run with those that start at byte `at`, and each next run with
    /// those `step` bytes further.
    #[inline]
    fn copy_comb(&self, mut at: usize, step: usize, into: &mut Comb<'_>) {
        into.each(|run| {
            self.copy(at, run);
            at += step;
        });
    }

    /// Returns the `len` bytes that start at `at`, if they are contiguous in memory.
    #[inline]
    fn rows(&self, _at: usize, _len: usize) -> Option<&[u8]> {
        None
    }

    /// Returns whether all elements are equal that start at multiples of `size` bytes.
    #[inline]
    fn repeats(&self, _size: usize) -> bool {
        false
    }

    /// Returns whether many runs in one call are much cheaper than one run at a time.
    #[inline]
    fn takes_combs(&self) -> bool {
        false
    }
}

/// Elements in memory, in row-major order.
pub(crate) struct Rows<'a>(pub(crate) &'a [u8]);

impl DecodedSource for Rows<'_> {
    #[inline]
    fn copy(&self, at: usize, into: &mut [u8]) {
        into.copy_from_slice(&self.0[at..at + into.len()]);
    }

    #[inline]
    fn rows(&self, at: usize, len: usize) -> Option<&[u8]> {
        Some(&self.0[at..at + len])
    }
}
