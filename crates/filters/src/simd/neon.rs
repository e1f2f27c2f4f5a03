//! NEON registers, which every 64-bit ARM processor has.

use std::arch::aarch64::{
    uint8x16_t, vandq_u8, vcombine_u64, vcreate_u64, vdupq_n_s8, vdupq_n_u8, veorq_u8, vld1q_u8, vqtbl1q_u8,
    vreinterpretq_u8_u64, vshlq_u8, vst1q_u8, vuzp1q_u8, vuzp2q_u8, vzip1q_u8, vzip2q_u8,
};

use super::kernels::{Kernels, kernels};
use super::pick::Step;
use super::vector::{Lane, Vector};

kernels!(NEON, "neon", uint8x16_t, uint8x16_t, Some(pick));

#[target_feature(enable = "neon")]
unsafe fn pick(
    steps: &[Step],
    src: *const u8,
    src_pitch: usize,
    dst: *mut u8,
    dst_pitch: usize,
    groups: usize,
) {
    // SAFETY: the same contract, and the instructions are enabled here.
    unsafe { super::pick::pick::<uint8x16_t>(steps, src, src_pitch, dst, dst_pitch, groups) }
}

impl Vector for uint8x16_t {
    const BYTES: usize = 16;
    const UNZIPS: bool = true;

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: the caller has NEON.
        unsafe { vdupq_n_u8(byte) }
    }

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: the caller has NEON and 16 bytes at `src`.
        unsafe { vld1q_u8(src) }
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: the caller has NEON and room for 16 bytes at `dst`.
        unsafe { vst1q_u8(dst, self) }
    }

    #[inline(always)]
    unsafe fn load_lanes(first: *const u8, _second: *const u8) -> Self {
        // SAFETY: the same contract.
        unsafe { Self::load(first) }
    }

    #[inline(always)]
    unsafe fn store_lanes(pair: [Self; 2], first: *mut u8, _second: *mut u8) {
        // SAFETY: the caller has room for 32 bytes at `first`.
        unsafe {
            pair[0].store(first);
            pair[1].store(first.add(16));
        }
    }

    #[inline(always)]
    unsafe fn zip_low(self, other: Self) -> Self {
        // SAFETY: the caller has NEON.
        unsafe { vzip1q_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn zip_high(self, other: Self) -> Self {
        // SAFETY: the caller has NEON.
        unsafe { vzip2q_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn unzip(self, other: Self) -> (Self, Self) {
        // SAFETY: the caller has NEON.
        unsafe { (vuzp1q_u8(self, other), vuzp2q_u8(self, other)) }
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: the caller has NEON.
        unsafe { vandq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        // SAFETY: the caller has NEON.
        unsafe { veorq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn shift_left<const BITS: i32>(self) -> Self {
        // SAFETY: the caller has NEON. A shift by a constant register is the one form whose amount may be generic.
        unsafe { vshlq_u8(self, vdupq_n_s8(const { BITS as i8 })) }
    }

    #[inline(always)]
    unsafe fn shift_right<const BITS: i32>(self) -> Self {
        // SAFETY: the caller has NEON; a negative amount shifts right.
        unsafe { vshlq_u8(self, vdupq_n_s8(const { -(BITS as i8) })) }
    }
}

impl Lane for uint8x16_t {
    #[inline(always)]
    unsafe fn from_words(low: u64, high: u64) -> Self {
        // SAFETY: the caller has NEON.
        unsafe { vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high))) }
    }

    #[inline(always)]
    unsafe fn pick(self, indices: Self) -> Self {
        // SAFETY: the caller has NEON.
        unsafe { vqtbl1q_u8(self, indices) }
    }
}
