//! Byte and bit transposes with vector instructions, chosen once at run time.
//!
//! A byte shuffle stores byte k of every element together (plane k). A bit shuffle also stores bit b of these bytes together
//! (row `8 k + b`, an eighth of a plane long). Both are written once over a trait of registers and compiled for SSE2,
//! AVX2 and NEON.

// Everything between an entry point, where the instructions are enabled, and the intrinsics must be inlined into it.
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
use transpose::Runs;
pub use widest::widest;

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stores {
    /// As usual: whoever reads them next finds them in the cache.
    #[default]
    Cached,
    /// Past the caches, in long runs: for results larger than those, of which nothing would be found there. The memory is
    /// not read before it is written, which is as much as half of the traffic.
    PastCache,
}

/// The set of vector instructions that the transposes use on this processor: "avx2", "sse2", "neon" or "scalar".
pub fn instructions() -> &'static str {
    Kernels::fastest().name
}

/// The transposes, by the kernels of one set of instructions.
impl Kernels {
    /// Byte-shuffles `src` into `dst`, which has the same length. What is left after the last whole element is copied.
    pub(crate) fn shuffle(&self, element_size: usize, src: &[u8], dst: &mut [u8]) {
        let n = whole_elements(element_size, src, dst);
        let (elements, tail) = src.split_at(n * element_size);
        let (planes, rest) = dst.split_at_mut(n * element_size);
        if n > 0 {
            // SAFETY: both are `n * element_size` bytes, and `dst` is borrowed exclusively, so they do not overlap.
            unsafe { (self.shuffle)(elements.as_ptr(), element_size, planes.as_mut_ptr(), n, n) };
        }
        rest.copy_from_slice(tail);
    }

    /// Byte-shuffles the elements of `src` to their places among `planes`, those of all elements one after the other: element 0
    /// is element `first` there. A part of an element at the end is left out.
    pub(crate) fn shuffle_part(&self, element_size: usize, src: &[u8], first: usize, planes: &mut [u8]) {
        let pitch = planes.len().checked_div(element_size).unwrap_or(0);
        let n = src.len().checked_div(element_size).unwrap_or(0);
        assert!(first <= pitch && n <= pitch - first, "the planes have a byte for each element");
        if n > 0 {
            // SAFETY: `src` has `n * element_size` bytes; `first + n <= pitch`, so that n bytes from `first` on are inside each
            // of the `element_size` planes, `pitch` bytes apart; `planes` is borrowed exclusively, so they do not overlap.
            unsafe { (self.shuffle)(src.as_ptr(), element_size, planes.as_mut_ptr().add(first), pitch, n) };
        }
    }

    /// Undoes `shuffle`.
    pub(crate) fn unshuffle(&self, element_size: usize, src: &[u8], dst: &mut [u8], stores: Stores) {
        let n = whole_elements(element_size, src, dst);
        let (planes, tail) = src.split_at(n * element_size);
        let (elements, rest) = dst.split_at_mut(n * element_size);
        if n > 0 {
            // SAFETY: both are `n * element_size` bytes, and `dst` is borrowed exclusively, so they do not overlap.
            unsafe { (self.unshuffle)(planes.as_ptr(), n, element_size, elements.as_mut_ptr(), n, stores) };
        }
        rest.copy_from_slice(tail);
    }

    /// Puts elements together, plane k holding byte k of each: into run r go those from `first + r * step` on. A run is a number
    /// of whole elements, and each plane has all that are asked for.
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
        assert!(planes.iter().all(|plane| plane.has(end)), "every plane has a byte for each element");
        // SAFETY: the planes have every element up to the last run's end, as asserted, and a comb's runs are memory of its own,
        // each of whole elements.
        unsafe { (self.unshuffle_runs)(planes, runs) };
    }

    /// The same for any number of planes at equal distances.
    pub(crate) fn unshuffle_rack(
        &self,
        rack: &Rack<'_>,
        first: usize,
        step: usize,
        into: &mut Comb<'_>,
        stores: Stores,
    ) {
        let Some((runs, end)) = runs(rack.count(), first, step, into, stores) else { return };
        assert!(rack.has(end), "every plane has a byte for each element");
        // SAFETY: as in `unshuffle_runs`.
        unsafe { (self.unshuffle_rack)(rack, runs) };
    }

    /// Bit-shuffles `src` into `dst`, which has the same length. What is left after the last eight whole elements is copied.
    pub(crate) fn bitshuffle(&self, size: usize, src: &[u8], dst: &mut [u8], scratch: &mut Vec<u8>) {
        let n = whole_elements(size, src, dst) / 8 * 8;
        let (elements, tail) = src.split_at(n * size);
        let (rows, rest) = dst.split_at_mut(n * size);
        let tile = scratch_tile(size, n, scratch);
        for from in (0..n).step_by(tile.max(1)) {
            let len = tile.min(n - from);
            // SAFETY: elements `from..from + len` exist; `scratch` has `tile * size` bytes; row `8 k + b` is `n / 8` bytes long
            // and starts at `(8 k + b) * n / 8`, so that `from / 8..(from + len) / 8` of it is inside `rows`.
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
            // SAFETY: as in `bitshuffle`, the other way round.
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

/// The runs of a comb for elements of `size` bytes, and one past the last element; `None` if there are no runs.
#[inline]
fn runs(
    size: usize,
    first: usize,
    step: usize,
    into: &mut Comb<'_>,
    stores: Stores,
) -> Option<(Runs, usize)> {
    let (bytes, count) = (into.run_len(), into.count());
    let elements = bytes.checked_div(size).unwrap_or(0);
    assert!(elements * size == bytes, "the destination of planes is whole elements");
    let last = count.checked_sub(1)?;
    let end =
        step.checked_mul(last).and_then(|at| at.checked_add(first)).and_then(|at| at.checked_add(elements));
    let runs = Runs { first, step, dst: into.first(), stride: into.stride(), count, elements, bytes, stores };
    // An end that cannot be counted is beyond every plane.
    Some((runs, end.unwrap_or(usize::MAX)))
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
    crate::filter::buffer(scratch, tile * element_size);
    tile
}

#[cfg(test)]
mod tests;
