//! Identifiers that a libhdf5 has for things of its own. They change when the library is shut down and used
//! again, so what is looked up once is where they are.

use std::ffi::{CStr, c_uint, c_void};
use std::sync::atomic::{AtomicI64, Ordering};

use super::caller::Image;
use super::types::Hid;

/// A variable of a library that holds an identifier.
#[derive(Debug)]
pub(crate) struct Variable {
    /// In the library, and in a program that names the variable, which has the only valid copy of it then.
    places: [Option<&'static AtomicI64>; 2],
}

impl Variable {
    /// Finds a variable by its name, which is that of a `hid_t`.
    pub(crate) fn find(image: &Image, name: &CStr) -> Self {
        let own = image.symbol(name);
        // SAFETY: the name ends in a zero.
        let program = || unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        let places = if own.is_null() { [own; 2] } else { [own, program()] };
        // SAFETY: the named variables are `hid_t`s in every image that has them, and the images stay.
        Self { places: places.map(|place| unsafe { place.cast::<AtomicI64>().as_ref() }) }
    }

    /// Returns the identifier, or `None` if there is no such variable or it is not set.
    pub(crate) fn value(&self) -> Option<Hid> {
        let values = self.places.iter().flatten().map(|place| place.load(Ordering::Relaxed));
        values.into_iter().find(|&value| value > 0)
    }
}

/// How a library says what identifies its driver for plain files (`sec2`).
#[derive(Debug)]
pub(crate) enum PlainFiles {
    /// libhdf5 2 has a variable.
    Variable(Variable),
    /// libhdf5 1.14 has a function, which registers the driver or returns its identifier.
    Register(Register),
    /// From 1.14.4 or so on, the function is called by `H5FDperform_init`, with the lock of the library.
    Perform(Perform, Register),
}

type Register = unsafe extern "C" fn() -> Hid;
type Perform = unsafe extern "C" fn(Register) -> Hid;

impl PlainFiles {
    /// Finds the way of a library of this major version.
    pub(crate) fn find(image: &Image, major: c_uint) -> Option<Self> {
        if major >= 2 {
            return Some(Self::Variable(Variable::find(image, c"H5FD_SEC2_id_g")));
        }
        let register = image.symbol(c"H5FD_sec2_init");
        if register.is_null() {
            return None;
        }
        let perform = image.symbol(c"H5FDperform_init");
        // SAFETY: libhdf5 1.14 has these functions.
        unsafe {
            let register = std::mem::transmute::<*mut c_void, Register>(register);
            Some(if perform.is_null() {
                Self::Register(register)
            } else {
                Self::Perform(std::mem::transmute::<*mut c_void, Perform>(perform), register)
            })
        }
    }

    /// Returns the identifier.
    pub(crate) fn number(&self) -> Option<Hid> {
        // SAFETY: the functions take these arguments, and the library is in use.
        unsafe {
            match self {
                Self::Variable(variable) => variable.value(),
                Self::Register(register) => Some(register()),
                Self::Perform(perform, register) => Some(perform(*register)),
            }
        }
    }
}
