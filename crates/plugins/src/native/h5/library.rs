//! Functions of the library as a whole (H5, H5Z), and those that have nothing to do.

use std::ffi::{c_int, c_uint, c_void};

use hyperslab_filters::{FilterId, Registry};

use super::super::memory;
use super::state;

/// The version whose behaviour these functions have.
const VERSION: [c_uint; 3] = [1, 14, 6];
/// A filter encodes, and decodes.
const BOTH: c_uint = 3;

/// A function that has nothing to do.
pub(super) extern "C" fn succeed() -> c_int {
    0
}

/// A function of libhdf5 that is not here.
pub(super) extern "C" fn missing() -> i64 {
    state::say("it calls a function of libhdf5 that hyperslab does not offer to plug-ins".to_owned());
    -1
}

/// `H5get_libversion`.
pub(super) extern "C" fn version(major: *mut c_uint, minor: *mut c_uint, release: *mut c_uint) -> c_int {
    for (place, number) in [major, minor, release].into_iter().zip(VERSION) {
        // SAFETY: each place is null, or room for a number, by the rules of the function.
        if let Some(place) = unsafe { place.as_mut() } {
            *place = number;
        }
    }
    0
}

/// `H5is_library_threadsafe`.
pub(super) extern "C" fn is_threadsafe(place: *mut bool) -> c_int {
    // SAFETY: the place is room for a truth value, by the rules of the function.
    unsafe { place.as_mut() }.map_or(-1, |place| {
        *place = true;
        0
    })
}

/// `H5allocate_memory`.
pub(super) extern "C" fn allocate(size: usize, clear: bool) -> *mut c_void {
    if size == 0 {
        std::ptr::null_mut()
    } else if clear {
        memory::allocate_zeros(1, size)
    } else {
        memory::allocate(size)
    }
}

/// `H5free_memory`.
pub(super) extern "C" fn free(piece: *mut c_void) -> c_int {
    memory::free(piece);
    0
}

/// `H5Zfilter_avail`.
pub(super) extern "C" fn is_filter_available(id: c_int) -> c_int {
    let is_current = state::creation(|creation| c_int::from(creation.id) == id).unwrap_or(false);
    let is_own = u16::try_from(id).is_ok_and(|id| Registry::shared().contains(FilterId(id)));
    c_int::from(is_current || is_own)
}

/// `H5Zget_filter_info`.
pub(super) extern "C" fn filter_info(id: c_int, flags: *mut c_uint) -> c_int {
    if is_filter_available(id) == 0 {
        return -1;
    }
    // SAFETY: the place is null, or room for a number, by the rules of the function.
    if let Some(flags) = unsafe { flags.as_mut() } {
        *flags = BOTH;
    }
    0
}
