//! What libhdf5 calls when a function fails: by default, a function that prints the errors.

use std::ffi::{c_uint, c_void};

use super::caller::Image;
use super::functions::Functions;
use super::types::Herr;

type Get = unsafe extern "C" fn(*mut *mut c_void, *mut *mut c_void) -> Herr;
type Set = unsafe extern "C" fn(*mut c_void, *mut c_void) -> Herr;

/// The functions for printers of the first version of errors (`H5Eset_auto1`), which are deprecated.
#[derive(Debug)]
pub(crate) struct OldPrinters {
    get: Get,
    set: Set,
}

impl OldPrinters {
    /// Finds the functions. A library may be built without them.
    pub(super) fn find(image: &Image) -> Option<Self> {
        let (get, set) = (image.symbol(c"H5Eget_auto1"), image.symbol(c"H5Eset_auto1"));
        if get.is_null() || set.is_null() {
            return None;
        }
        // SAFETY: the functions have these types in every libhdf5.
        unsafe {
            let get = std::mem::transmute::<*mut c_void, Get>(get);
            let set = std::mem::transmute::<*mut c_void, Set>(set);
            Some(Self { get, set })
        }
    }
}

/// A printer that the program has set: a function and its context.
#[derive(Debug)]
pub(super) struct Printer {
    is_old: bool,
    function: *mut c_void,
    context: *mut c_void,
}

impl Printer {
    /// Returns the printer of this thread.
    pub(super) fn of(calls: &Functions, old: Option<&OldPrinters>) -> Option<Self> {
        let mut is_new: c_uint = 1;
        let (mut function, mut context) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the places are valid; 0 (`H5E_DEFAULT`) is the stack of errors of this thread.
        let done = unsafe {
            if (calls.errors_is_new_printer)(0, &raw mut is_new) < 0 {
                return None;
            }
            match is_new {
                0 => (old?.get)(&raw mut function, &raw mut context),
                _ => (calls.errors_get_printer)(0, &raw mut function, &raw mut context),
            }
        };
        (done >= 0).then_some(Self { is_old: is_new == 0, function, context })
    }

    /// Sets the printer again.
    pub(super) fn give_back(self, calls: &Functions, old: Option<&OldPrinters>) {
        // SAFETY: the printer was that of this thread, in the same version.
        unsafe {
            match old {
                Some(old) if self.is_old => (old.set)(self.function, self.context),
                _ => (calls.errors_set_printer)(0, self.function, self.context),
            };
        }
    }
}
