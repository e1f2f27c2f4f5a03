//! NEON registers, which every 64-bit ARM processor has.

use std::arch::aarch64::{
    uint8x16_t, vandq_u8, vcombine_u64, vcreate_u64, vdupq_n_s8, vdupq_n_u8, veorq_u8, vld1q_u8, vqtbl1q_u8,
    vreinterpretq_u8_u64, vshlq_u8, vst1q_u8, vuzp1q_u8, vuzp2q_u8, vzip1q_u8, vzip2q_u8,
};

use super::kernels::{Kernels, kernels};
use super::pick::PickStep;
use super::vector::{Lane, Vector, methods};

kernels!(NEON, "neon", uint8x16_t, uint8x16_t, Some(pick));

#[target_feature(enable = "neon")]
unsafe fn pick(
    steps: &[PickStep],
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

    methods! {
        fn splat(byte: u8) -> Self { vdupq_n_u8(byte) }
        fn load(src: *const u8) -> Self { vld1q_u8(src) }
        fn store(self, dst: *mut u8) { vst1q_u8(dst, self) }
        fn zip_low(self, other: Self) -> Self { vzip1q_u8(self, other) }
        fn zip_high(self, other: Self) -> Self { vzip2q_u8(self, other) }
        fn unzip(self, other: Self) -> (Self, Self) { (vuzp1q_u8(self, other), vuzp2q_u8(self, other)) }
        fn and(self, other: Self) -> Self { vandq_u8(self, other) }
        fn xor(self, other: Self) -> Self { veorq_u8(self, other) }
        // The amount of this shift may be generic only if it is a constant register. A negative amount shifts
        // right.
        fn shift_left<const BITS: i32>(self) -> Self { vshlq_u8(self, vdupq_n_s8(const { BITS as i8 })) }
        fn shift_right<const BITS: i32>(self) -> Self { vshlq_u8(self, vdupq_n_s8(const { -(BITS as i8) })) }
    }
}

impl Lane for uint8x16_t {
    methods! {
        fn from_words(low: u64, high: u64) -> Self {
            vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)))
        }
        fn pick(self, indices: Self) -> Self { vqtbl1q_u8(self, indices) }
    }
}
