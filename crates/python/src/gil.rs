//! Waiting for locks of files: a thread never waits for one while it has the GIL. The thread with the lock
//! may need the GIL, if the driver of the file is a Python file object.

use std::ffi::c_int;
use std::sync::OnceLock;

use pyo3::prelude::*;

/// Gives the GIL up whenever a thread would wait for a lock of a file.
pub(crate) fn give_up_to_wait() {
    hyperslab::internals::store::wait_by(|wait| {
        let is_held = is_held();
        if is_held {
            Python::attach(|py| py.detach(wait));
        }
        is_held
    });
}

/// Returns whether the calling thread has the GIL. If Python does not say, it has not.
fn is_held() -> bool {
    static CHECK: OnceLock<Option<extern "C" fn() -> c_int>> = OnceLock::new();
    let check = CHECK.get_or_init(|| {
        // The function is in every CPython from 3.4 on, but not in the limited API that the headers declare.
        // SAFETY: the name ends with a zero. A result that is not null is CPython's function of that name,
        // `int PyGILState_Check(void)`, which any thread may call at any time.
        unsafe {
            let found = libc::dlsym(libc::RTLD_DEFAULT, c"PyGILState_Check".as_ptr());
            std::mem::transmute::<*mut libc::c_void, Option<extern "C" fn() -> c_int>>(found)
        }
    });
    check.is_some_and(|check| check() == 1)
}
