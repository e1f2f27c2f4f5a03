//! SSE2 and AVX2 registers.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_and_si128, _mm_loadu_si128, _mm_packus_epi16, _mm_set_epi64x, _mm_set1_epi8,
    _mm_set1_epi16, _mm_sfence, _mm_shuffle_epi8, _mm_slli_epi16, _mm_srli_epi16, _mm_storeu_si128,
    _mm_stream_si128, _mm_unpackhi_epi8, _mm_unpacklo_epi8, _mm_xor_si128, _mm256_and_si256,
    _mm256_castsi128_si256, _mm256_inserti128_si256, _mm256_loadu_si256, _mm256_packus_epi16,
    _mm256_permute2x128_si256, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_slli_epi16, _mm256_srli_epi16,
    _mm256_storeu_si256, _mm256_stream_si256, _mm256_unpackhi_epi8, _mm256_unpacklo_epi8, _mm256_xor_si256,
};

use super::kernels::{Kernels, kernels};
use super::pick::PickStep;
use super::vector::{Lane, Vector, methods};

kernels!(SSE2, "sse2", __m128i, __m128i, None);
kernels!(AVX2, "avx2", __m256i, __m128i, Some(pick));

#[target_feature(enable = "avx2")]
unsafe fn pick(
    steps: &[PickStep],
    src: *const u8,
    src_pitch: usize,
    dst: *mut u8,
    dst_pitch: usize,
    groups: usize,
) {
    // SAFETY: the same contract, and the instructions are enabled here.
    unsafe { super::pick::pick::<__m128i>(steps, src, src_pitch, dst, dst_pitch, groups) }
}

impl Vector for __m128i {
    const BYTES: usize = 16;
    const UNZIPS: bool = false;

    methods! {
        fn splat(byte: u8) -> Self { _mm_set1_epi8(byte.cast_signed()) }
        fn load(src: *const u8) -> Self { _mm_loadu_si128(src.cast()) }
        fn store(self, dst: *mut u8) { _mm_storeu_si128(dst.cast(), self) }
        fn stream_lanes(pair: [Self; 2], first: *mut u8, _second: *mut u8) {
            _mm_stream_si128(first.cast(), pair[0]);
            _mm_stream_si128(first.add(16).cast(), pair[1]);
        }
        fn fence() { _mm_sfence() }
        fn zip_low(self, other: Self) -> Self { _mm_unpacklo_epi8(self, other) }
        fn zip_high(self, other: Self) -> Self { _mm_unpackhi_epi8(self, other) }
        fn unzip(self, other: Self) -> (Self, Self) {
            let mask = _mm_set1_epi16(0xff);
            let even = _mm_packus_epi16(_mm_and_si128(self, mask), _mm_and_si128(other, mask));
            let odd = _mm_packus_epi16(_mm_srli_epi16::<8>(self), _mm_srli_epi16::<8>(other));
            (even, odd)
        }
        fn and(self, other: Self) -> Self { _mm_and_si128(self, other) }
        fn xor(self, other: Self) -> Self { _mm_xor_si128(self, other) }
        fn shift_left<const BITS: i32>(self) -> Self { _mm_slli_epi16::<BITS>(self) }
        fn shift_right<const BITS: i32>(self) -> Self { _mm_srli_epi16::<BITS>(self) }
    }
}

impl Lane for __m128i {
    methods! {
        fn from_words(low: u64, high: u64) -> Self { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) }
        fn pick(self, indices: Self) -> Self { _mm_shuffle_epi8(self, indices) }
    }
}

impl Vector for __m256i {
    const BYTES: usize = 32;
    const UNZIPS: bool = false;

    methods! {
        fn splat(byte: u8) -> Self { _mm256_set1_epi8(byte.cast_signed()) }
        fn load(src: *const u8) -> Self { _mm256_loadu_si256(src.cast()) }
        fn store(self, dst: *mut u8) { _mm256_storeu_si256(dst.cast(), self) }
        fn load_lanes(first: *const u8, second: *const u8) -> Self {
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(__m128i::load(first)), __m128i::load(second))
        }
        fn store_lanes(pair: [Self; 2], first: *mut u8, second: *mut u8) {
            _mm256_permute2x128_si256::<0x20>(pair[0], pair[1]).store(first);
            _mm256_permute2x128_si256::<0x31>(pair[0], pair[1]).store(second);
        }
        fn stream_lanes(pair: [Self; 2], first: *mut u8, second: *mut u8) {
            _mm256_stream_si256(first.cast(), _mm256_permute2x128_si256::<0x20>(pair[0], pair[1]));
            _mm256_stream_si256(second.cast(), _mm256_permute2x128_si256::<0x31>(pair[0], pair[1]));
        }
        fn fence() { _mm_sfence() }
        fn zip_low(self, other: Self) -> Self { _mm256_unpacklo_epi8(self, other) }
        fn zip_high(self, other: Self) -> Self { _mm256_unpackhi_epi8(self, other) }
        fn unzip(self, other: Self) -> (Self, Self) {
            let mask = _mm256_set1_epi16(0xff);
            let even = _mm256_packus_epi16(_mm256_and_si256(self, mask), _mm256_and_si256(other, mask));
            let odd = _mm256_packus_epi16(_mm256_srli_epi16::<8>(self), _mm256_srli_epi16::<8>(other));
            (even, odd)
        }
        fn and(self, other: Self) -> Self { _mm256_and_si256(self, other) }
        fn xor(self, other: Self) -> Self { _mm256_xor_si256(self, other) }
        fn shift_left<const BITS: i32>(self) -> Self { _mm256_slli_epi16::<BITS>(self) }
        fn shift_right<const BITS: i32>(self) -> Self { _mm256_srli_epi16::<BITS>(self) }
    }
}
