//! Plain loops compiled for wider vector instructions than every processor of the architecture has.

/// Runs `f`, with the widest vector instructions of the processor if the compiler inlines it. Use this for
/// short loops over numbers that the compiler vectorises.
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
