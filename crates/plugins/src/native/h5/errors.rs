//! Errors that a plug-in reports (H5E).

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use super::state;

/// `H5Epush2`. The text may have places for more arguments, which are not filled in: hdf5plugin's plug-ins
/// have filled them in, and others' texts say enough.
pub(super) extern "C" fn push(
    _stack: i64,
    _file: *const c_char,
    function: *const c_char,
    _line: c_uint,
    _class: i64,
    _major: i64,
    _minor: i64,
    text: *const c_char,
) -> c_int {
    report(function, text);
    0
}

/// `H5Epush1`.
pub(super) extern "C" fn push_old(
    _file: *const c_char,
    function: *const c_char,
    _line: c_uint,
    _major: i64,
    _minor: i64,
    text: *const c_char,
) -> c_int {
    report(function, text);
    0
}

/// Keeps the text, or the name of the function if there is none.
fn report(function: *const c_char, text: *const c_char) {
    let read = |text: *const c_char| {
        // SAFETY: the arguments are null or texts, by the rules of the functions.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned())
    };
    let text = read(text).filter(|text| !text.is_empty()).or_else(|| read(function));
    state::say(text.unwrap_or_default());
}

/// `H5Eget_auto2`: nothing prints errors.
pub(super) extern "C" fn automatic(_stack: i64, function: *mut *mut c_void, data: *mut *mut c_void) -> c_int {
    automatic_old(function, data)
}

/// `H5Eget_auto1`.
pub(super) extern "C" fn automatic_old(function: *mut *mut c_void, data: *mut *mut c_void) -> c_int {
    for place in [function, data] {
        // SAFETY: each place is null, or room for a pointer, by the rules of the function.
        if let Some(place) = unsafe { place.as_mut() } {
            *place = std::ptr::null_mut();
        }
    }
    0
}

/// `H5Eregister_class` and `H5Ecreate_msg`: an id.
pub(super) extern "C" fn register() -> i64 {
    state::OTHER
}
