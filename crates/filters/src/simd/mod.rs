//! Byte and bit transposes with vector instructions, which are chosen once at run time.
//!
//! A byte shuffle stores byte k of every element together (plane k). A bit shuffle also stores bit b of these
//! bytes together (row `8 k + b`, which has an eighth of a plane's length). Both are written once over a
//! trait of registers and compiled for SSE2, AVX2 and NEON.

// The instructions are enabled at the entry points, so everything between an entry point and the intrinsics
// must be inlined into it.
#![allow(clippy::inline_always)]

pub(crate) mod comb;
pub(crate) mod copy;
mod kernels;
#[cfg(target_arch = "aarch64")]
mod neon;
pub(crate) mod pick;
mod plane;
mod scalar;
mod transpose;
mod vector;
mod widest;
#[cfg(target_arch = "x86_64")]
mod x86;

use comb::Comb;
pub(crate) use kernels::Kernels;
pub(crate) use pick::Picks;
pub(crate) use plane::{Plane, Rack};
use transpose::ElementRuns;
pub use widest::widest;

/// How results are written to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stores {
    /// With ordinary stores, so that the next reader finds the results in the cache.
    #[default]
    Cached,
    /// Past the caches, in long runs. This is for results larger than the caches, which would be evicted
    /// before anything reads them. The memory is not read before it is written, which saves up to half of the
    /// traffic.
    PastCache,
}

/// Returns the name of the vector instructions that the transposes use on this processor: "avx2", "sse2",
/// "neon" or "scalar".
pub fn instructions() -> &'static str {
    Kernels::fastest().name
}

/// The transposes, through the kernels of one set of instructions.
impl Kernels {
    /// Byte-shuffles `src` into `dst`, which has the same length. Copies the bytes after the last whole
    /// element.
    pub(crate) fn shuffle(&self, element_size: usize, src: &[u8], dst: &mut [u8]) {
        let n = whole_elements(element_size, src, dst);
        let (elements, tail) = src.split_at(n * element_size);
        let (planes, rest) = dst.split_at_mut(n * element_size);
        if n > 0 {
            // SAFETY: both slices have `n * element_size` bytes. They do not overlap, because `dst` is
            // borrowed exclusively.
            unsafe { (self.shuffle)(elements.as_ptr(), element_size, planes.as_mut_ptr(), n, n) };
        }
        rest.copy_from_slice(tail);
    }

    /// Byte-shuffles the elements of `src` into `planes`, as part of a larger shuffle. `planes` holds the
    /// planes of all elements one after the other, and element 0 of `src` is element `first` of them. Ignores
    /// an incomplete element at the end.
    pub(crate) fn shuffle_part(&self, element_size: usize, src: &[u8], first: usize, planes: &mut [u8]) {
        let pitch = planes.len().checked_div(element_size).unwrap_or(0);
        let n = src.len().checked_div(element_size).unwrap_or(0);
        assert!(first <= pitch && n <= pitch - first, "a plane is shorter than its elements");
        if n > 0 {
            // SAFETY: `src` has `n * element_size` bytes. `first + n <= pitch`, so the n bytes at `first` are
            // inside each of the `element_size` planes, which are `pitch` bytes apart. The slices do not
            // overlap, because `planes` is borrowed exclusively.
            unsafe { (self.shuffle)(src.as_ptr(), element_size, planes.as_mut_ptr().add(first), pitch, n) };
        }
    }

    /// Undoes `shuffle`.
    pub(crate) fn unshuffle(&self, element_size: usize, src: &[u8], dst: &mut [u8], stores: Stores) {
        let n = whole_elements(element_size, src, dst);
        let (planes, tail) = src.split_at(n * element_size);
        let (elements, rest) = dst.split_at_mut(n * element_size);
        if n > 0 {
            // SAFETY: both slices have `n * element_size` bytes. They do not overlap, because `dst` is
            // borrowed exclusively.
            unsafe { (self.unshuffle)(planes.as_ptr(), n, element_size, elements.as_mut_ptr(), n, stores) };
        }
        rest.copy_from_slice(tail);
    }

    /// Assembles elements from planes; plane k holds byte k of each element. Run r gets the elements that
    /// start at `first + r * step`. A run is a whole number of elements, and each plane must have all of the
    /// requested elements.
    #[inline]
    pub(crate) fn unshuffle_runs(
        &self,
        planes: &[Plane<'_>],
        first: usize,
        step: usize,
        into: &mut Comb<'_>,
        stores: Stores,
    ) {
        if let [plane] = planes {
            for index in 0..into.count() {
                plane.copy(first + index * step, into.run(index));
            }
            return;
        }
        let Some((runs, end)) = runs(planes.len(), first, step, into, stores) else { return };
        assert!(planes.iter().all(|plane| plane.has(end)), "a plane is shorter than its elements");
        // SAFETY: the planes have every element up to the end of the last run, as asserted. A comb's runs are
        // memory that nothing else accesses, and each run is whole elements.
        unsafe { (self.unshuffle_runs)(planes, runs) };
    }

    /// As `unshuffle_runs`, for any number of planes at equal distances.
    pub(crate) fn unshuffle_rack(
        &self,
        rack: &Rack<'_>,
        first: usize,
        step: usize,
        into: &mut Comb<'_>,
        stores: Stores,
    ) {
        let Some((runs, end)) = runs(rack.count(), first, step, into, stores) else { return };
        assert!(rack.has(end), "a plane is shorter than its elements");
        // SAFETY: as in `unshuffle_runs`.
        unsafe { (self.unshuffle_rack)(rack, runs) };
    }

    /// Bit-shuffles `src` into `dst`, which has the same length. Copies the bytes after the last group of
    /// eight whole elements.
    pub(crate) fn bitshuffle(&self, size: usize, src: &[u8], dst: &mut [u8], scratch: &mut Vec<u8>) {
        let n = whole_elements(size, src, dst) / 8 * 8;
        let (elements, tail) = src.split_at(n * size);
        let (rows, rest) = dst.split_at_mut(n * size);
        let tile = scratch_tile(size, n, scratch);
        for from in (0..n).step_by(tile.max(1)) {
            let len = tile.min(n - from);
            // SAFETY: elements `from..from + len` exist, and `scratch` has `tile * size` bytes. Row `8 k + b`
            // is `n / 8` bytes long and starts at `(8 k + b) * n / 8`, so its bytes `from / 8..(from + len) /
            // 8` are inside `rows`.
            unsafe {
                (self.shuffle)(elements.as_ptr().add(from * size), size, scratch.as_mut_ptr(), len, len);
                for k in 0..size {
                    let rows = rows.as_mut_ptr().add(k * n + from / 8);
                    (self.split_bits)(scratch.as_ptr().add(k * len), len, rows, n / 8);
                }
            }
        }
        rest.copy_from_slice(tail);
    }

    /// Undoes `bitshuffle`.
    pub(crate) fn bitunshuffle(&self, size: usize, src: &[u8], dst: &mut [u8], scratch: &mut Vec<u8>) {
        let n = whole_elements(size, src, dst) / 8 * 8;
        let (rows, tail) = src.split_at(n * size);
        let (elements, rest) = dst.split_at_mut(n * size);
        let tile = scratch_tile(size, n, scratch);
        for from in (0..n).step_by(tile.max(1)) {
            let len = tile.min(n - from);
            // SAFETY: as in `bitshuffle`, with source and destination exchanged.
            unsafe {
                for k in 0..size {
                    let rows = rows.as_ptr().add(k * n + from / 8);
                    (self.join_bits)(rows, n / 8, len, scratch.as_mut_ptr().add(k * len));
                }
                let elements = elements.as_mut_ptr().add(from * size);
                (self.unshuffle)(scratch.as_ptr(), len, size, elements, len, Stores::Cached);
            }
        }
        rest.copy_from_slice(tail);
    }
}

/// Returns the runs of a comb for elements of `size` bytes, and one past the last element; `None` if there
/// are no runs.
#[inline]
fn runs(
    size: usize,
    first: usize,
    step: usize,
    into: &mut Comb<'_>,
    stores: Stores,
) -> Option<(ElementRuns, usize)> {
    let (bytes, count) = (into.run_len(), into.count());
    let elements = bytes.checked_div(size).unwrap_or(0);
    assert!(elements * size == bytes, "the destination of planes is not a whole number of elements");
    let last = count.checked_sub(1)?;
    let end =
        step.checked_mul(last).and_then(|at| at.checked_add(first)).and_then(|at| at.checked_add(elements));
    let runs =
        ElementRuns { first, step, dst: into.first(), stride: into.stride(), count, elements, bytes, stores };
    // An end that overflows is beyond every plane.
    Some((runs, end.unwrap_or(usize::MAX)))
}

/// Returns the number of whole elements, after checking the lengths that every transpose relies on.
fn whole_elements(element_size: usize, src: &[u8], dst: &[u8]) -> usize {
    assert!(src.len() == dst.len(), "source and destination of a transpose differ in length");
    src.len().checked_div(element_size).unwrap_or(0)
}

/// Returns how many of `n` elements are bit-shuffled at a time, so that they stay in the first-level cache
/// between the two passes. Grows `scratch` to hold them.
fn scratch_tile(element_size: usize, n: usize, scratch: &mut Vec<u8>) -> usize {
    const CACHED: usize = 16 << 10;
    /// The elements of one step of the widest bit transpose.
    const STEP: usize = 256;
    let tile = (CACHED / element_size.max(1) / STEP * STEP).max(STEP).min(n);
    crate::filter::buffer(scratch, tile * element_size);
    tile
}

#[cfg(test)]
mod tests;
