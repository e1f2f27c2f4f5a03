//! Plain loops, compiled for more vector instructions than every processor of the kind has.

/// Runs `f`; where the compiler inlines it, with the widest vector instructions that the processor has. For short loops over
/// numbers that it vectorises by itself.
#[inline]
pub fn widest<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { avx2(f) };
    }
    f()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<R>(f: impl FnOnce() -> R) -> R {
    f()
}
