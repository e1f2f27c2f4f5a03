//! How hdf5plugin's libraries find libhdf5: by `dlopen` of a library that the caller names, and `dlsym`.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::SELF;

/// The handle of our functions, which is the address of something of ours.
fn handle() -> *mut c_void {
    static PLACE: u8 = 0;
    (&raw const PLACE).cast_mut().cast()
}

/// `dlopen`.
pub(super) extern "C" fn open(name: *const c_char, flags: c_int) -> *mut c_void {
    // SAFETY: the name is null or a text, by the rules of `dlopen`.
    if !name.is_null() && unsafe { CStr::from_ptr(name) } == SELF {
        return handle();
    }
    // SAFETY: the plug-in's call, as it made it.
    unsafe { libc::dlopen(name, flags) }
}

/// `dlsym`.
pub(super) extern "C" fn symbol(library: *mut c_void, name: *const c_char) -> *mut c_void {
    if library == handle() {
        if name.is_null() {
            return std::ptr::null_mut();
        }
        // SAFETY: the name is a text, by the rules of `dlsym`.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        let address = super::address(&name).and_then(|address| usize::try_from(address).ok());
        return std::ptr::with_exposed_provenance_mut(address.unwrap_or(0));
    }
    // SAFETY: the plug-in's call, as it made it.
    unsafe { libc::dlsym(library, name) }
}

/// `dlclose`.
pub(super) extern "C" fn close(library: *mut c_void) -> c_int {
    if library == handle() {
        return 0;
    }
    // SAFETY: the plug-in's call, as it made it.
    unsafe { libc::dlclose(library) }
}
