//! Byte and bit transposes over any `Vector`.
//!
//! A perfect shuffle (zip) of N registers rotates the index of every byte by one bit. With N = 2^p planes of
//! 16 elements, p rounds turn planes into elements, and 4 further rounds turn elements into planes.

use super::plane::{From, Picked, Plane, PlaneOrder, Planes, Rack, Strided};
use super::vector::{Lane, Vector};
use super::{Stores, scalar};

/// Runs of elements, at equal distances in the planes and in the destination.
#[derive(Debug, Clone, Copy)]
pub(super) struct ElementRuns {
    /// The first element of the first run.
    pub(super) first: usize,
    /// The elements from the start of one run to the start of the next.
    pub(super) step: usize,
    /// The destination of the first run.
    pub(super) dst: *mut u8,
    /// The bytes from the start of one run to the start of the next.
    pub(super) stride: isize,
    pub(super) count: usize,
    /// The elements of each run.
    pub(super) elements: usize,
    /// The bytes of each run.
    pub(super) bytes: usize,
    pub(super) stores: Stores,
}

impl ElementRuns {
    /// Returns the first element and the destination of the next run. (This is not a closure, because a
    /// closure is compiled without the instructions of its caller unless it is small enough to be inlined.)
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<(usize, *mut u8)> {
        /// The distance in runs from the current run to the prefetched one. The processor does not predict
        /// the gaps between runs.
        const AHEAD: usize = 4;
        self.count = self.count.checked_sub(1)?;
        let run = (self.first, self.dst);
        if self.count >= AHEAD {
            prefetch(self.dst.wrapping_offset(self.stride.wrapping_mul(AHEAD.cast_signed())), self.bytes);
        }
        self.first = self.first.wrapping_add(self.step);
        self.dst = self.dst.wrapping_offset(self.stride);
        Some(run)
    }
}

/// Tells the processor that `len` bytes are about to be written.
#[inline(always)]
fn prefetch(dst: *mut u8, len: usize) {
    /// The most bytes to prefetch. For a long run, its start suffices.
    const MOST: usize = 512;
    #[cfg(target_arch = "x86_64")]
    for at in (0..len.min(MOST)).step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint, and no address makes it fail.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(dst.wrapping_add(at).cast_const().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (dst, len, LINE, MOST);
}

/// The bytes of a cache line.
const LINE: usize = 64;
/// The shortest run that is streamed, in bytes. Streaming a shorter run does not pay, because its first and
/// last lines are written in parts.
const STREAMED_FROM: usize = 4 << 10;

/// Undoes the byte shuffle of every run.
///
/// # Safety
/// Each plane has the elements of all runs, and every run has room for its elements. Source and destination
/// do not overlap. The processor has the instructions of `V` and `L`.
#[inline(always)]
pub(super) unsafe fn unshuffle_runs<V: Vector, L: Lane>(planes: &[Plane<'_>], mut runs: ElementRuns) {
    // SAFETY: the same contract, for each run. The fixed sizes are the number of planes.
    unsafe {
        match *planes {
            [a, b] => unshuffle_fixed_runs::<V, L, 2>([a, b], runs),
            [a, b, c, d] => unshuffle_fixed_runs::<V, L, 4>([a, b, c, d], runs),
            [a, b, c, d, e, f, g, h] => unshuffle_fixed_runs::<V, L, 8>([a, b, c, d, e, f, g, h], runs),
            _ => {
                while let Some((first, dst)) = runs.next() {
                    let from = From { planes, first };
                    unshuffle::<V, L, _>(from, planes.len(), dst, runs.elements, runs.stores);
                }
            }
        }
    }
}

/// `unshuffle_runs` for N = 2, 4 or 8 planes.
#[inline(always)]
unsafe fn unshuffle_fixed_runs<V: Vector, L: Lane, const N: usize>(
    planes: [Plane<'_>; N],
    mut runs: ElementRuns,
) {
    let n = runs.elements;
    if n == 1 {
        // SAFETY: the same contract.
        unsafe { return single::<N>(planes, runs) };
    }
    // The choice between the two loops is made once for all runs.
    if runs.stores == Stores::PastCache && n * N >= STREAMED_FROM {
        while let Some((first, dst)) = runs.next() {
            // SAFETY: the same contract.
            unsafe { unshuffle_fixed::<V, L, _, N>(From { planes, first }, dst, n, Stores::PastCache) }
        }
        return;
    }
    while let Some((first, dst)) = runs.next() {
        // SAFETY: the same contract.
        unsafe { unshuffle_fixed::<V, L, _, N>(From { planes, first }, dst, n, Stores::Cached) }
    }
}

/// `unshuffle_fixed_runs` for runs of one element, which needs only moves.
#[inline(always)]
unsafe fn single<const N: usize>(planes: [Plane<'_>; N], runs: ElementRuns) {
    let (mut at, mut dst) = (runs.first, runs.dst);
    for _ in 0..runs.count {
        let mut element = [0; N];
        // SAFETY: the same contract.
        unsafe {
            for (byte, plane) in element.iter_mut().zip(&planes) {
                *byte = *plane.from(at);
            }
            dst.cast::<[u8; N]>().write_unaligned(element);
        }
        at = at.wrapping_add(runs.step);
        dst = dst.wrapping_offset(runs.stride);
    }
}

/// Undoes the byte shuffle of every run, for elements of any size.
///
/// # Safety
/// The rack has the elements of all runs, and every run has room for its elements. Source and destination do
/// not overlap. The processor has the instructions of `V` and `L`.
#[inline(always)]
pub(super) unsafe fn unshuffle_rack<V: Vector, L: Lane>(rack: &Rack<'_>, mut runs: ElementRuns) {
    let (first, stride, order) = rack.parts();
    let all = Strided { first, stride };
    while let Some((first, dst)) = runs.next() {
        // SAFETY: the same contract, for each run. Groups of 16 planes are only taken from 16 or more planes.
        unsafe {
            match order {
                _ if rack.count() < 16 => {
                    scalar::unshuffle(From { planes: rack, first }, rack.count(), dst, runs.elements);
                }
                PlaneOrder::First(size) => {
                    unshuffle_any::<V, L, _, 16>(From { planes: all, first }, size, dst, runs.elements);
                }
                PlaneOrder::Given(order) => {
                    let planes = Picked { all, order };
                    unshuffle_any::<V, L, _, 16>(From { planes, first }, order.len(), dst, runs.elements);
                }
            }
        }
    }
}

/// Undoes the byte shuffle of `n` elements of `size` bytes.
///
/// # Safety
/// Each of the `size` planes has `n` bytes, and `dst` has room for `n * size` bytes. Source and destination
/// do not overlap. The processor has the instructions of `V` and `L`.
#[inline(always)]
pub(super) unsafe fn unshuffle<V: Vector, L: Lane, P: Planes>(
    planes: P,
    size: usize,
    dst: *mut u8,
    n: usize,
    stores: Stores,
) {
    // SAFETY: the same contract.
    unsafe {
        match size {
            2 => unshuffle_fixed::<V, L, P, 2>(planes, dst, n, stores),
            4 => unshuffle_fixed::<V, L, P, 4>(planes, dst, n, stores),
            8 => unshuffle_fixed::<V, L, P, 8>(planes, dst, n, stores),
            16 => unshuffle_fixed::<V, L, P, 16>(planes, dst, n, stores),
            0 | 1 => scalar::unshuffle(planes, size, dst, n),
            3 => unshuffle_any::<V, L, P, 2>(planes, size, dst, n),
            5..=7 => unshuffle_any::<V, L, P, 4>(planes, size, dst, n),
            9..=15 => unshuffle_any::<V, L, P, 8>(planes, size, dst, n),
            _ => unshuffle_any::<V, L, P, 16>(planes, size, dst, n),
        }
    }
}

/// Shuffles the bytes of `n` elements of `size` bytes into planes `stride` bytes apart.
///
/// # Safety
/// `src` has `n * size` bytes, and each of the `size` planes at `dst` has room for `n` bytes. Source and
/// destination do not overlap. The processor has the instructions of `V` and `L`.
#[inline(always)]
pub(super) unsafe fn shuffle<V: Vector, L: Lane>(
    src: *const u8,
    size: usize,
    dst: *mut u8,
    stride: usize,
    n: usize,
) {
    // SAFETY: the same contract.
    unsafe {
        match size {
            2 => shuffle_fixed::<V, L, 2>(src, dst, stride, n),
            4 => shuffle_fixed::<V, L, 4>(src, dst, stride, n),
            8 => shuffle_fixed::<V, L, 8>(src, dst, stride, n),
            16 => shuffle_fixed::<V, L, 16>(src, dst, stride, n),
            0 | 1 => scalar::shuffle(src, size, dst, stride, n),
            3 => shuffle_groups::<L, 2>(src, size, dst, stride, n),
            5..=7 => shuffle_groups::<L, 4>(src, size, dst, stride, n),
            9..=15 => shuffle_groups::<L, 8>(src, size, dst, stride, n),
            _ => shuffle_groups::<L, 16>(src, size, dst, stride, n),
        }
    }
}

/// `unshuffle` for N = 2, 4, 8 or 16 bytes.
#[inline(always)]
unsafe fn unshuffle_fixed<V: Vector, L: Lane, P: Planes, const N: usize>(
    planes: P,
    dst: *mut u8,
    n: usize,
    stores: Stores,
) {
    // SAFETY: as in `unshuffle`. Every block is within the n elements, and streamed blocks start at a cache
    // line.
    unsafe {
        let mut at = 0;
        if stores == Stores::PastCache && n * N >= STREAMED_FROM && dst.align_offset(LINE).is_multiple_of(N) {
            // Ordinary stores up to the first whole line. Elements that are written twice get the same bytes.
            let head = dst.align_offset(LINE) / N;
            while at < head {
                unshuffle_block::<V, P, N, false>(planes, dst, at);
                at += V::BYTES;
            }
            at = head;
            while at + V::BYTES <= n {
                unshuffle_block::<V, P, N, true>(planes, dst, at);
                at += V::BYTES;
            }
            V::fence();
        }
        while at + V::BYTES <= n {
            unshuffle_block::<V, P, N, false>(planes, dst, at);
            at += V::BYTES;
        }
        // A block that ends with the last element covers the rest. Elements that are written twice get the
        // same bytes.
        if at == n {
        } else if n >= V::BYTES {
            unshuffle_block::<V, P, N, false>(planes, dst, n - V::BYTES);
        } else if n >= 16 {
            unshuffle_block::<L, P, N, false>(planes, dst, 0);
            unshuffle_block::<L, P, N, false>(planes, dst, n - 16);
        } else {
            scalar::unshuffle(planes, N, dst, n);
        }
    }
}

#[inline(always)]
unsafe fn unshuffle_block<V: Vector, P: Planes, const N: usize, const STREAM: bool>(
    planes: P,
    dst: *mut u8,
    at: usize,
) {
    // SAFETY: as in `unshuffle`. Elements `at..at + V::BYTES` exist, and start at a multiple of a cache line
    // if they are streamed.
    unsafe {
        let mut v = [V::splat(0); N];
        for (k, v) in v.iter_mut().enumerate() {
            *v = V::load(planes.at(k, at));
        }
        let v = interleave(v);
        let dst = dst.add(at * N);
        for k in 0..N / 2 {
            let (pair, first, second) =
                ([v[2 * k], v[2 * k + 1]], dst.add(32 * k), dst.wrapping_add(16 * N + 32 * k));
            if STREAM { V::stream_lanes(pair, first, second) } else { V::store_lanes(pair, first, second) }
        }
    }
}

/// `shuffle` for N = 2, 4, 8 or 16 bytes.
#[inline(always)]
unsafe fn shuffle_fixed<V: Vector, L: Lane, const N: usize>(
    src: *const u8,
    dst: *mut u8,
    stride: usize,
    n: usize,
) {
    // SAFETY: as in `shuffle`. Every block is within the n elements.
    unsafe {
        let mut at = 0;
        while at + V::BYTES <= n {
            shuffle_block::<V, N>(src, dst, stride, at);
            at += V::BYTES;
        }
        if at == n {
        } else if n >= V::BYTES {
            shuffle_block::<V, N>(src, dst, stride, n - V::BYTES);
        } else if n >= 16 {
            shuffle_block::<L, N>(src, dst, stride, 0);
            shuffle_block::<L, N>(src, dst, stride, n - 16);
        } else {
            scalar::shuffle(src, N, dst, stride, n);
        }
    }
}

#[inline(always)]
unsafe fn shuffle_block<V: Vector, const N: usize>(src: *const u8, dst: *mut u8, stride: usize, at: usize) {
    // SAFETY: as in `shuffle`. Elements `at..at + V::BYTES` exist.
    unsafe {
        let v = deinterleave(load_elements::<V, N>(src.add(at * N)));
        for (k, v) in v.into_iter().enumerate() {
            v.store(dst.add(k * stride + at));
        }
    }
}

/// Calls `unshuffle_groups` with the widest register that the elements fill.
#[inline(always)]
unsafe fn unshuffle_any<V: Vector, L: Lane, P: Planes, const W: usize>(
    planes: P,
    size: usize,
    dst: *mut u8,
    n: usize,
) {
    // SAFETY: as in `unshuffle`.
    unsafe {
        if n >= V::BYTES {
            unshuffle_groups::<V, P, W>(planes, size, dst, n);
        } else if n >= 16 {
            unshuffle_groups::<L, P, W>(planes, size, dst, n);
        } else {
            scalar::unshuffle(planes, size, dst, n);
        }
    }
}

/// Undoes the shuffle of elements whose size is large or not a power of two, in groups of W planes. The last
/// group overlaps its neighbour.
#[inline(always)]
unsafe fn unshuffle_groups<V: Vector, P: Planes, const W: usize>(
    planes: P,
    size: usize,
    dst: *mut u8,
    n: usize,
) {
    // SAFETY: as in `unshuffle`. W <= size, so a group that ends with the last plane exists.
    unsafe {
        let mut next = 0;
        while next < n {
            let at = next.min(n - V::BYTES);
            let mut next_plane = 0;
            while next_plane < size {
                let plane = next_plane.min(size - W);
                let mut v = [V::splat(0); W];
                for (k, v) in v.iter_mut().enumerate() {
                    *v = V::load(planes.at(plane + k, at));
                }
                let v = interleave(v);
                let mut elements = [[0u8; 32]; W];
                let lanes = elements.as_mut_ptr().cast::<u8>();
                for k in 0..W / 2 {
                    V::store_lanes([v[2 * k], v[2 * k + 1]], lanes.add(32 * k), lanes.add(16 * W + 32 * k));
                }
                let elements = elements.as_ptr().cast::<[u8; W]>();
                let dst = dst.add(at * size + plane);
                for element in 0..V::BYTES {
                    let bytes = elements.add(element).read();
                    dst.add(element * size).cast::<[u8; W]>().write_unaligned(bytes);
                }
                next_plane += W;
            }
            next += V::BYTES;
        }
    }
}

/// Shuffles in groups of W bytes, the inverse of `unshuffle_groups`.
#[inline(always)]
unsafe fn shuffle_groups<L: Lane, const W: usize>(
    src: *const u8,
    size: usize,
    dst: *mut u8,
    stride: usize,
    n: usize,
) {
    // SAFETY: as in `shuffle`. W <= size, so a group that ends with the last byte of an element exists.
    unsafe {
        if n < 16 {
            return scalar::shuffle(src, size, dst, stride, n);
        }
        let mut next = 0;
        while next < n {
            let at = next.min(n - 16);
            let mut next_plane = 0;
            while next_plane < size {
                let plane = next_plane.min(size - W);
                let v = deinterleave(gather::<L, W>(src.add(at * size + plane), size));
                for (k, v) in v.into_iter().enumerate() {
                    v.store(dst.add((plane + k) * stride + at));
                }
                next_plane += W;
            }
            next += 16;
        }
    }
}

/// Loads the W bytes at each of 16 places, `size` bytes apart, without gaps.
#[inline(always)]
unsafe fn gather<L: Lane, const W: usize>(src: *const u8, size: usize) -> [L; W] {
    // SAFETY: the caller guarantees that each of the 16 elements has W bytes here.
    unsafe {
        let mut v = [L::splat(0); W];
        for (k, v) in v.iter_mut().enumerate() {
            let src = src.add(k * 16 / W * size);
            *v = if W == 16 {
                L::load(src)
            } else {
                let high = src.add(8 / W * size);
                L::from_words(gather_word::<W>(src, size), gather_word::<W>(high, size))
            };
        }
        v
    }
}

/// Loads 8 bytes: W bytes at each of 8 / W places.
#[inline(always)]
unsafe fn gather_word<const W: usize>(src: *const u8, size: usize) -> u64 {
    // SAFETY: as in `gather`.
    unsafe {
        match W {
            8 => u64::from_le(src.cast::<u64>().read_unaligned()),
            4 => {
                let part =
                    |k: usize| u64::from(u32::from_le(src.add(k * size).cast::<u32>().read_unaligned()));
                part(0) | part(1) << 32
            }
            _ => {
                let part =
                    |k: usize| u64::from(u16::from_le(src.add(k * size).cast::<u16>().read_unaligned()));
                part(0) | part(1) << 16 | part(2) << 32 | part(3) << 48
            }
        }
    }
}

/// Splits `n` bytes, a multiple of 8, into rows of bits: bit b of byte i becomes bit `i % 8` of byte `i / 8`
/// of row b.
///
/// # Safety
/// `src` has `n` bytes, and each of the 8 rows, `stride` bytes apart from `dst` on, has room for `n / 8`
/// bytes. Source and destination do not overlap. The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn split_bits<V: Vector>(src: *const u8, n: usize, dst: *mut u8, stride: usize) {
    // SAFETY: the same contract. Every block is within the n bytes.
    unsafe {
        let block = 8 * V::BYTES;
        let mut at = 0;
        while at + block <= n {
            let v = transpose_bits(deinterleave(load_elements::<V, 8>(src.add(at))));
            for (b, v) in v.into_iter().enumerate() {
                v.store(dst.add(b * stride + at / 8));
            }
            at += block;
        }
        scalar::split_bits(src.add(at), n - at, dst.add(at / 8), stride);
    }
}

/// Undoes `split_bits`.
///
/// # Safety
/// Each of the 8 rows, `stride` bytes apart from `src` on, has `n / 8` bytes, and `dst` has room for `n`
/// bytes. Source and destination do not overlap. The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn join_bits<V: Vector>(src: *const u8, stride: usize, n: usize, dst: *mut u8) {
    // SAFETY: the same contract. Every block is within the n bytes.
    unsafe {
        let block = 8 * V::BYTES;
        let mut at = 0;
        while at + block <= n {
            let mut v = [V::splat(0); 8];
            for (b, v) in v.iter_mut().enumerate() {
                *v = V::load(src.add(b * stride + at / 8));
            }
            let v = interleave(transpose_bits(v));
            let dst = dst.add(at);
            for k in 0..4 {
                V::store_lanes([v[2 * k], v[2 * k + 1]], dst.add(32 * k), dst.wrapping_add(128 + 32 * k));
            }
            at += block;
        }
        scalar::join_bits(src.add(at / 8), stride, n - at, dst.add(at));
    }
}

/// Loads `V::BYTES` elements of N bytes. The first 16 elements go to the first lanes.
#[inline(always)]
unsafe fn load_elements<V: Vector, const N: usize>(src: *const u8) -> [V; N] {
    // SAFETY: the caller guarantees that the elements exist.
    unsafe {
        let mut v = [V::splat(0); N];
        for (k, v) in v.iter_mut().enumerate() {
            *v = V::load_lanes(src.add(16 * k), src.wrapping_add(16 * N + 16 * k));
        }
        v
    }
}

/// Turns planes into elements, in each lane.
#[inline(always)]
unsafe fn interleave<V: Vector, const N: usize>(mut v: [V; N]) -> [V; N] {
    for _ in 0..N.trailing_zeros() {
        // SAFETY: the caller has the instructions.
        v = unsafe { perfect_shuffle(v) };
    }
    v
}

/// Turns elements into planes, in each lane.
#[inline(always)]
unsafe fn deinterleave<V: Vector, const N: usize>(mut v: [V; N]) -> [V; N] {
    // SAFETY: the caller has the instructions.
    unsafe {
        if V::UNZIPS || N == 2 {
            for _ in 0..N.trailing_zeros() {
                let mut next = v;
                for k in 0..N / 2 {
                    (next[k], next[k + N / 2]) = v[2 * k].unzip(v[2 * k + 1]);
                }
                v = next;
            }
        } else {
            for _ in 0..4 {
                v = perfect_shuffle(v);
            }
        }
    }
    v
}

#[inline(always)]
unsafe fn perfect_shuffle<V: Vector, const N: usize>(v: [V; N]) -> [V; N] {
    let mut next = v;
    for k in 0..N / 2 {
        // SAFETY: the caller has the instructions.
        unsafe {
            next[2 * k] = v[k].zip_low(v[k + N / 2]);
            next[2 * k + 1] = v[k].zip_high(v[k + N / 2]);
        }
    }
    next
}

/// Exchanges bit b of register r with bit r of register b, in every byte. The function is its own inverse.
#[inline(always)]
unsafe fn transpose_bits<V: Vector>(mut v: [V; 8]) -> [V; 8] {
    // SAFETY: the caller has the instructions.
    unsafe {
        swap_bits::<V, 4>(&mut v, V::splat(0x0f));
        swap_bits::<V, 2>(&mut v, V::splat(0x33));
        swap_bits::<V, 1>(&mut v, V::splat(0x55));
    }
    v
}

/// Performs one round: swaps the bits for which exactly one of bit number and register number has DISTANCE
/// set.
#[inline(always)]
unsafe fn swap_bits<V: Vector, const DISTANCE: i32>(v: &mut [V; 8], mask: V) {
    let distance = DISTANCE.unsigned_abs() as usize;
    for low in (0..8).filter(|k| k & distance == 0) {
        let (a, b) = (v[low], v[low + distance]);
        // SAFETY: the caller has the instructions.
        unsafe {
            let changed = a.shift_right::<DISTANCE>().xor(b).and(mask);
            v[low] = a.xor(changed.shift_left::<DISTANCE>());
            v[low + distance] = b.xor(changed);
        }
    }
}
