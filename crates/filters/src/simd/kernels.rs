//! The table of transposes for one set of instructions, and the choice of a table.

use std::sync::OnceLock;

use super::Stores;
use super::pick;
use super::plane::{From, Plane, Rack, Strided};
use super::scalar;
use super::transpose::ElementRuns;

/// The transposes compiled for one set of instructions.
///
/// Calling one of these functions is sound on a processor that has the instructions (`available` checks
/// this), under the contract of the function of the same name in `transpose`.
#[derive(Debug)]
pub(crate) struct Kernels {
    /// The name of the set of instructions.
    pub(super) name: &'static str,
    /// Arguments: planes, distance of planes, element size, destination, number of elements, how to store
    /// them.
    pub(super) unshuffle: unsafe fn(*const u8, usize, usize, *mut u8, usize, Stores),
    /// Arguments: planes, runs.
    pub(super) unshuffle_runs: unsafe fn(&[Plane<'_>], ElementRuns),
    /// Arguments: planes at equal distances in any order, runs.
    pub(super) unshuffle_rack: unsafe fn(&Rack<'_>, ElementRuns),
    /// Arguments: elements, element size, planes, distance of planes, number of elements.
    pub(super) shuffle: unsafe fn(*const u8, usize, *mut u8, usize, usize),
    /// Arguments: bytes, number of bytes, rows, distance of rows.
    pub(super) split_bits: unsafe fn(*const u8, usize, *mut u8, usize),
    /// Arguments: rows, distance of rows, number of bytes, bytes.
    pub(super) join_bits: unsafe fn(*const u8, usize, usize, *mut u8),
    /// The function `pick::pick`, if the processor has an instruction for it.
    pub(super) pick: Option<pick::Kernel>,
}

impl Kernels {
    /// Returns the fastest table that this processor supports, which is detected once.
    #[inline]
    pub(crate) fn fastest() -> &'static Self {
        static FASTEST: OnceLock<&'static Kernels> = OnceLock::new();
        FASTEST.get_or_init(|| Self::available().next().unwrap_or(&SCALAR))
    }

    /// Returns all tables that this processor supports, the fastest first.
    pub(super) fn available() -> impl Iterator<Item = &'static Self> {
        #[cfg(target_arch = "x86_64")]
        let vectors = [
            is_x86_feature_detected!("avx2").then_some(&super::x86::AVX2),
            is_x86_feature_detected!("sse2").then_some(&super::x86::SSE2),
        ];
        #[cfg(target_arch = "aarch64")]
        let vectors = [std::arch::is_aarch64_feature_detected!("neon").then_some(&super::neon::NEON)];
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let vectors = [None::<&'static Self>];
        vectors.into_iter().flatten().chain([&SCALAR])
    }
}

/// The table for any processor.
static SCALAR: Kernels = {
    unsafe fn unshuffle(src: *const u8, stride: usize, size: usize, dst: *mut u8, n: usize, _: Stores) {
        // SAFETY: the same contract.
        unsafe { scalar::unshuffle(Strided { first: src, stride }, size, dst, n) }
    }
    unsafe fn unshuffle_runs(planes: &[Plane<'_>], mut runs: ElementRuns) {
        while let Some((first, dst)) = runs.next() {
            // SAFETY: the same contract.
            unsafe { scalar::unshuffle(From { planes, first }, planes.len(), dst, runs.elements) }
        }
    }
    unsafe fn unshuffle_rack(rack: &Rack<'_>, mut runs: ElementRuns) {
        while let Some((first, dst)) = runs.next() {
            // SAFETY: the same contract.
            unsafe { scalar::unshuffle(From { planes: rack, first }, rack.count(), dst, runs.elements) }
        }
    }
    Kernels {
        name: "scalar",
        unshuffle,
        unshuffle_runs,
        unshuffle_rack,
        shuffle: scalar::shuffle,
        split_bits: scalar::split_bits,
        join_bits: scalar::join_bits,
        pick: None,
    }
};

/// Compiles the functions of `transpose` for one set of instructions. The arguments are its widest register,
/// its lane, and its function `pick`.
macro_rules! kernels {
    ($name:ident, $feature:literal, $vector:ty, $lane:ty, $pick:expr) => {
        /// The transposes for one set of instructions.
        pub(super) static $name: Kernels = {
            use super::Stores;
            use super::plane::{Plane, Rack, Strided};
            use super::transpose::{self, ElementRuns};

            #[target_feature(enable = $feature)]
            unsafe fn unshuffle(
                src: *const u8,
                stride: usize,
                size: usize,
                dst: *mut u8,
                n: usize,
                stores: Stores,
            ) {
                let planes = Strided { first: src, stride };
                // SAFETY: the same contract, and the instructions are enabled here.
                unsafe { transpose::unshuffle::<$vector, $lane, _>(planes, size, dst, n, stores) }
            }
            #[target_feature(enable = $feature)]
            unsafe fn unshuffle_runs(planes: &[Plane<'_>], runs: ElementRuns) {
                // SAFETY: the same contract, and the instructions are enabled here.
                unsafe { transpose::unshuffle_runs::<$vector, $lane>(planes, runs) }
            }
            #[target_feature(enable = $feature)]
            unsafe fn unshuffle_rack(rack: &Rack<'_>, runs: ElementRuns) {
                // SAFETY: the same contract, and the instructions are enabled here.
                unsafe { transpose::unshuffle_rack::<$vector, $lane>(rack, runs) }
            }
            #[target_feature(enable = $feature)]
            unsafe fn shuffle(src: *const u8, size: usize, dst: *mut u8, stride: usize, n: usize) {
                // SAFETY: the same contract, and the instructions are enabled here.
                unsafe { transpose::shuffle::<$vector, $lane>(src, size, dst, stride, n) }
            }
            #[target_feature(enable = $feature)]
            unsafe fn split_bits(src: *const u8, n: usize, dst: *mut u8, stride: usize) {
                // SAFETY: the same contract, and the instructions are enabled here.
                unsafe { transpose::split_bits::<$vector>(src, n, dst, stride) }
            }
            #[target_feature(enable = $feature)]
            unsafe fn join_bits(src: *const u8, stride: usize, n: usize, dst: *mut u8) {
                // SAFETY: the same contract, and the instructions are enabled here.
                unsafe { transpose::join_bits::<$vector>(src, stride, n, dst) }
            }
            Kernels {
                name: $feature,
                unshuffle,
                unshuffle_runs,
                unshuffle_rack,
                shuffle,
                split_bits,
                join_bits,
                pick: $pick,
            }
        };
    };
}
pub(super) use kernels;
