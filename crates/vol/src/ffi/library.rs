//! A libhdf5 that has loaded the plug-in.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_uint, c_void};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::caller::Image;
use super::functions::Functions;
use super::identifiers::{PlainFiles, Variable};
use super::printer::{OldPrinters, Printer};
use super::types::Hid;

/// The most libraries in one process.
pub(crate) const SLOTS: usize = 8;

static LIBRARIES: [OnceLock<Library>; SLOTS] = [const { OnceLock::new() }; SLOTS];

/// A libhdf5 in this process.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) slot: usize,
    pub(crate) image: Image,
    pub(crate) functions: Functions,
    /// Major, minor and release number.
    pub(crate) version: [c_uint; 3],
    default_transfer: Variable,
    plain_files: Option<PlainFiles>,
    /// The functions for printers of the first version of errors, which a library may lack.
    old_printers: Option<OldPrinters>,
    /// The connector that is in the library, which all calls are passed on to. 0: not asked yet.
    native: AtomicI64,
    /// The numbers of files that the program has refreshed.
    refreshed: Mutex<BTreeSet<u64>>,
}

impl Library {
    /// Returns the library that contains the return address `caller`. If it is new, notes it.
    ///
    /// Errors: a message for the user.
    pub(crate) fn of_caller(caller: *const c_void) -> Result<&'static Self, String> {
        let image =
            Image::of(caller).ok_or("the program that loads the plug-in is not known to the system")?;
        for (slot, library) in LIBRARIES.iter().enumerate() {
            if let Some(known) = library.get() {
                if known.image.base == image.base {
                    return Ok(known);
                }
                continue;
            }
            let functions = Functions::find(&image).map_err(|missing| {
                format!(
                    "{} is missing: it is older than 1.14, or linked statically (h5cc -shlib links with the shared one)",
                    missing.to_string_lossy()
                )
            })?;
            let version = version(&image).ok_or("its version is not known")?;
            let base = image.base;
            let made = Self {
                slot,
                functions,
                version,
                default_transfer: Variable::find(&image, c"H5P_LST_DATASET_XFER_ID_g"),
                plain_files: PlainFiles::find(&image, version[0]),
                old_printers: OldPrinters::find(&image),
                image,
                native: AtomicI64::new(0),
                refreshed: Mutex::default(),
            };
            let known = library.get_or_init(|| made);
            if known.image.base == base {
                return Ok(known);
            }
            // Another thread has noted another library meanwhile.
            return Self::of_caller(caller);
        }
        Err(format!("{SLOTS} libhdf5s use the plug-in already"))
    }

    /// Returns the library of a slot whose callbacks are called.
    pub(crate) fn of_slot(slot: usize) -> Option<&'static Self> {
        LIBRARIES[slot].get()
    }

    /// Returns the connector that is in the library.
    pub(crate) fn native(&self) -> Hid {
        let known = self.native.load(Ordering::Relaxed);
        if known > 0 {
            return known;
        }
        // SAFETY: 0 (`H5_VOL_NATIVE`) is the number of the connector that is in the library.
        let found = unsafe { (self.functions.connector_by_value)(0) };
        self.native.store(found.max(0), Ordering::Relaxed);
        found
    }

    /// Forgets what ends with the library's shutdown. A library may be opened again.
    pub(crate) fn shut_down(&self) {
        self.native.store(0, Ordering::Relaxed);
        self.refreshed.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Notes that the program refreshes objects of a file, which another program may have changed.
    pub(crate) fn note_refresh(&self, file: u64) {
        self.refreshed.lock().unwrap_or_else(PoisonError::into_inner).insert(file);
    }

    /// Returns whether the program has refreshed objects of a file.
    pub(crate) fn is_refreshed(&self, file: u64) -> bool {
        self.refreshed.lock().unwrap_or_else(PoisonError::into_inner).contains(&file)
    }

    /// Returns the property list of transfers that the library uses where the program gives none.
    pub(crate) fn default_transfer(&self) -> Hid {
        self.default_transfer.value().unwrap_or(0)
    }

    /// Returns the driver for plain files.
    pub(crate) fn plain_files(&self) -> Option<Hid> {
        self.plain_files.as_ref()?.number()
    }

    /// Calls `f` while the library prints no errors, and takes the errors of `f` off the stack of this
    /// thread. Returns `None`, without a call, if printing could not be set to what it is now afterwards.
    pub(crate) fn quietly<T>(&self, f: impl FnOnce() -> T) -> Option<T> {
        let calls = &self.functions;
        let old = self.old_printers.as_ref();
        let printer = Printer::of(calls, old)?;
        // SAFETY: 0 (`H5E_DEFAULT`) is the stack of errors of this thread. Neither function clears it.
        unsafe {
            let before = (calls.errors_count)(0);
            (calls.errors_set_printer)(0, std::ptr::null_mut(), std::ptr::null_mut());
            let result = f();
            let more = (calls.errors_count)(0).saturating_sub(before);
            if let Ok(more @ 1..) = usize::try_from(more) {
                (calls.errors_pop)(0, more);
            }
            printer.give_back(calls, old);
            Some(result)
        }
    }
}

/// Returns the version of a library: major, minor and release number, from its text "HDF5 library
/// version: 2.0.0". (The function for this forgets the errors of the thread, and libhdf5 loads plug-ins
/// after errors, too.)
fn version(image: &Image) -> Option<[c_uint; 3]> {
    let text = image.symbol(c"H5_lib_vers_info_g");
    if text.is_null() {
        return None;
    }
    // SAFETY: the variable is a text that ends in a zero.
    numbers(&unsafe { CStr::from_ptr(text.cast()) }.to_string_lossy())
}

/// Returns the three numbers of a version at the end of a text. What follows the release number does not
/// matter.
fn numbers(text: &str) -> Option<[c_uint; 3]> {
    let mut parts = text.split_whitespace().last()?.splitn(3, '.');
    let mut number = || {
        let part = parts.next()?;
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        part[..digits].parse().ok()
    };
    Some([number()?, number()?, number()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_numbers_at_the_end_of_the_text() {
        assert_eq!(numbers("HDF5 library version: 1.14.6"), Some([1, 14, 6]));
        assert_eq!(numbers("HDF5 library version: 2.1.0-3"), Some([2, 1, 0]));
        assert_eq!(numbers("HDF5"), None);
    }
}
