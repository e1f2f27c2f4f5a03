//! Waiting for locks of files: a thread never waits for one while it has the GIL. The thread with the lock
//! may need the GIL, if the driver of the file is a Python file object.

use std::ffi::c_int;
use std::sync::OnceLock;

use pyo3::prelude::*;

/// CPython's `int PyGILState_Check(void)`, which any thread may call at any time. It is in every CPython from
/// 3.4 on, but not in the limited API, which the headers declare and this library is linked with.
type Check = extern "C" fn() -> c_int;

static CHECK: OnceLock<Option<Check>> = OnceLock::new();

/// Gives the GIL up whenever a thread would wait for a lock of a file. The caller has the GIL.
pub(crate) fn give_up_to_wait(py: Python<'_>) {
    CHECK.get_or_init(|| find(py));
    hyperslab_store::wait_by(|wait| {
        let is_held = is_held();
        if is_held {
            Python::attach(|py| py.detach(wait));
        }
        is_held
    });
}

/// Returns whether the calling thread has the GIL. If Python does not say, it has not.
fn is_held() -> bool {
    CHECK.get().is_some_and(|check| check.is_some_and(|check| check() == 1))
}

#[cfg(unix)]
fn find(_py: Python<'_>) -> Option<Check> {
    // SAFETY: the name ends with a zero. A result that is not null is the function of that name.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"PyGILState_Check".as_ptr());
        std::mem::transmute::<*mut libc::c_void, Option<Check>>(found)
    }
}

/// Windows looks a name up in one library: that of this version of Python, which is loaded already.
#[cfg(windows)]
fn find(py: Python<'_>) -> Option<Check> {
    let version = py.version_info();
    let library = ["", "t"].iter().find_map(|threads| {
        let name = format!("python{}{}{threads}.dll", version.major, version.minor);
        libloading::os::windows::Library::open_already_loaded(name).ok()
    })?;
    // SAFETY: the function has this type, and Python's library stays loaded as long as this one.
    unsafe { library.get::<Check>(c"PyGILState_Check").ok().map(|check| *check) }
}
