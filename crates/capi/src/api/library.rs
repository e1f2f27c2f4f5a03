//! The library itself: its version, its last error, its threads.

use std::ffi::c_char;
use std::num::NonZeroUsize;

use crate::failure::{self, Failure, guard};

/// Returns the version of the library: "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn hs_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns the message of the last call that failed on this thread; "" if none did. It is valid until the
/// next call on this thread fails.
#[unsafe(no_mangle)]
pub extern "C" fn hs_error() -> *const c_char {
    failure::last()
}

/// Returns the number of threads that a read or write uses, the caller's included.
#[unsafe(no_mangle)]
pub extern "C" fn hs_threads() -> u32 {
    hyperslab_io::report::to_stderr();
    u32::try_from(hyperslab::threads()).unwrap_or(u32::MAX)
}

/// Sets the number of threads that a read or write uses, the caller's included. It is `HYPERSLAB_THREADS` of
/// the environment before, or the number of processors.
#[unsafe(no_mangle)]
pub extern "C" fn hs_set_threads(threads: u32) -> i32 {
    guard(|| {
        let threads = NonZeroUsize::new(threads as usize);
        hyperslab::set_threads(threads.ok_or_else(|| Failure::argument("threads", "1 or more"))?);
        Ok(())
    })
}
