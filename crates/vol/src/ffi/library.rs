//! A libhdf5 that has loaded the plug-in, and its functions.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::caller::Image;
use super::identifiers::{PlainFiles, Variable};
use super::printer::{OldPrinters, Printer};
use super::types::{Arguments, ConnectorClass, Handle, Herr, Hid, Location, Request, Text};
use crate::pending::Pending;

/// The most libraries in one process.
pub(crate) const SLOTS: usize = 8;

static LIBRARIES: [OnceLock<Library>; SLOTS] = [const { OnceLock::new() }; SLOTS];

/// Declares the functions that the plug-in uses, and finds them by their names.
macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($argument:ty),* $(,)?) -> $result:ty;)*) => {
        /// Functions of one libhdf5.
        #[derive(Debug)]
        pub(crate) struct Functions {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            /// Finds the functions, or returns the name of one that is missing.
            fn find(image: &Image) -> Result<Self, &'static CStr> {
                Ok(Self {
                    $($field: {
                        let found = image.symbol($symbol);
                        if found.is_null() {
                            return Err($symbol);
                        }
                        // SAFETY: the function has this type in every libhdf5 whose connectors have a
                        // class of version 3 (`H5VLconnector_passthru.h` and the other public headers).
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($argument),*) -> $result,
                            >(found)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    attribute_create = c"H5VLattr_create": fn(Handle, Location, Hid, Text, Hid, Hid, Hid, Hid, Hid, Request) -> Handle;
    attribute_open = c"H5VLattr_open": fn(Handle, Location, Hid, Text, Hid, Hid, Request) -> Handle;
    attribute_read = c"H5VLattr_read": fn(Handle, Hid, Hid, *mut c_void, Hid, Request) -> Herr;
    attribute_write = c"H5VLattr_write": fn(Handle, Hid, Hid, *const c_void, Hid, Request) -> Herr;
    attribute_get = c"H5VLattr_get": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    attribute_specific = c"H5VLattr_specific": fn(Handle, Location, Hid, Arguments, Hid, Request) -> Herr;
    attribute_optional = c"H5VLattr_optional": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    attribute_close = c"H5VLattr_close": fn(Handle, Hid, Hid, Request) -> Herr;

    dataset_create = c"H5VLdataset_create":
        fn(Handle, Location, Hid, Text, Hid, Hid, Hid, Hid, Hid, Hid, Request) -> Handle;
    dataset_open = c"H5VLdataset_open": fn(Handle, Location, Hid, Text, Hid, Hid, Request) -> Handle;
    dataset_read = c"H5VLdataset_read":
        fn(usize, *const Handle, Hid, *const Hid, *const Hid, *const Hid, Hid, *const *mut c_void, Request) -> Herr;
    dataset_write = c"H5VLdataset_write":
        fn(usize, *const Handle, Hid, *const Hid, *const Hid, *const Hid, Hid, *const *mut c_void, Request) -> Herr;
    dataset_get = c"H5VLdataset_get": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    dataset_specific = c"H5VLdataset_specific": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    dataset_optional = c"H5VLdataset_optional": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    dataset_close = c"H5VLdataset_close": fn(Handle, Hid, Hid, Request) -> Herr;

    datatype_commit = c"H5VLdatatype_commit":
        fn(Handle, Location, Hid, Text, Hid, Hid, Hid, Hid, Hid, Request) -> Handle;
    datatype_open = c"H5VLdatatype_open": fn(Handle, Location, Hid, Text, Hid, Hid, Request) -> Handle;
    datatype_get = c"H5VLdatatype_get": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    datatype_specific = c"H5VLdatatype_specific": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    datatype_optional = c"H5VLdatatype_optional": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    datatype_close = c"H5VLdatatype_close": fn(Handle, Hid, Hid, Request) -> Herr;

    file_create = c"H5VLfile_create": fn(Text, c_uint, Hid, Hid, Hid, Request) -> Handle;
    file_open = c"H5VLfile_open": fn(Text, c_uint, Hid, Hid, Request) -> Handle;
    file_get = c"H5VLfile_get": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    file_specific = c"H5VLfile_specific": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    file_optional = c"H5VLfile_optional": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    file_close = c"H5VLfile_close": fn(Handle, Hid, Hid, Request) -> Herr;

    group_create = c"H5VLgroup_create": fn(Handle, Location, Hid, Text, Hid, Hid, Hid, Hid, Request) -> Handle;
    group_open = c"H5VLgroup_open": fn(Handle, Location, Hid, Text, Hid, Hid, Request) -> Handle;
    group_get = c"H5VLgroup_get": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    group_specific = c"H5VLgroup_specific": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    group_optional = c"H5VLgroup_optional": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    group_close = c"H5VLgroup_close": fn(Handle, Hid, Hid, Request) -> Herr;

    link_create = c"H5VLlink_create": fn(Arguments, Handle, Location, Hid, Hid, Hid, Hid, Request) -> Herr;
    link_copy = c"H5VLlink_copy": fn(Handle, Location, Handle, Location, Hid, Hid, Hid, Hid, Request) -> Herr;
    link_move = c"H5VLlink_move": fn(Handle, Location, Handle, Location, Hid, Hid, Hid, Hid, Request) -> Herr;
    link_get = c"H5VLlink_get": fn(Handle, Location, Hid, Arguments, Hid, Request) -> Herr;
    link_specific = c"H5VLlink_specific": fn(Handle, Location, Hid, Arguments, Hid, Request) -> Herr;
    link_optional = c"H5VLlink_optional": fn(Handle, Location, Hid, Arguments, Hid, Request) -> Herr;

    object_open = c"H5VLobject_open": fn(Handle, Location, Hid, *mut c_int, Hid, Request) -> Handle;
    object_copy = c"H5VLobject_copy":
        fn(Handle, Location, Text, Handle, Location, Text, Hid, Hid, Hid, Hid, Request) -> Herr;
    object_get = c"H5VLobject_get": fn(Handle, Location, Hid, Arguments, Hid, Request) -> Herr;
    object_specific = c"H5VLobject_specific": fn(Handle, Location, Hid, Arguments, Hid, Request) -> Herr;
    object_optional = c"H5VLobject_optional": fn(Handle, Location, Hid, Arguments, Hid, Request) -> Herr;

    introspect_class = c"H5VLintrospect_get_conn_cls": fn(Handle, Hid, c_int, *mut *const ConnectorClass) -> Herr;
    introspect_flags = c"H5VLintrospect_get_cap_flags": fn(*const c_void, Hid, *mut u64) -> Herr;
    introspect_optional = c"H5VLintrospect_opt_query": fn(Handle, Hid, c_int, c_int, *mut u64) -> Herr;

    blob_put = c"H5VLblob_put": fn(Handle, Hid, *const c_void, usize, *mut c_void, *mut c_void) -> Herr;
    blob_get = c"H5VLblob_get": fn(Handle, Hid, *const c_void, *mut c_void, usize, *mut c_void) -> Herr;
    blob_specific = c"H5VLblob_specific": fn(Handle, Hid, *mut c_void, Arguments) -> Herr;
    blob_optional = c"H5VLblob_optional": fn(Handle, Hid, *mut c_void, Arguments) -> Herr;

    token_compare = c"H5VLtoken_cmp": fn(Handle, Hid, *const c_void, *const c_void, *mut c_int) -> Herr;
    token_to_text = c"H5VLtoken_to_str": fn(Handle, c_int, Hid, *const c_void, *mut *mut c_char) -> Herr;
    token_from_text = c"H5VLtoken_from_str": fn(Handle, c_int, Hid, Text, *mut c_void) -> Herr;

    optional = c"H5VLoptional": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;

    connector_by_value = c"H5VLget_connector_id_by_value": fn(c_int) -> Hid;

    list_copy = c"H5Pcopy": fn(Hid) -> Hid;
    list_close = c"H5Pclose": fn(Hid) -> Herr;
    list_get = c"H5Pget": fn(Hid, Text, *mut c_void) -> Herr;
    list_set_connector = c"H5Pset_vol": fn(Hid, Hid, *const c_void) -> Herr;
    list_driver = c"H5Pget_driver": fn(Hid) -> Hid;
    list_close_degree = c"H5Pget_fclose_degree": fn(Hid, *mut c_int) -> Herr;
    transform = c"H5Pget_data_transform": fn(Hid, *mut c_char, usize) -> isize;
    conversion_callback = c"H5Pget_type_conv_cb": fn(Hid, *mut *mut c_void, *mut *mut c_void) -> Herr;
    checks_errors = c"H5Pget_edc_check": fn(Hid) -> c_int;

    layout = c"H5Pget_layout": fn(Hid) -> c_int;
    chunk = c"H5Pget_chunk": fn(Hid, c_int, *mut u64) -> c_int;
    chunk_options = c"H5Pget_chunk_opts": fn(Hid, *mut c_uint) -> Herr;
    filter_count = c"H5Pget_nfilters": fn(Hid) -> c_int;
    filter = c"H5Pget_filter2":
        fn(Hid, c_uint, *mut c_uint, *mut usize, *mut c_uint, usize, *mut c_char, *mut c_uint) -> c_int;
    filter_available = c"H5Zfilter_avail": fn(c_int) -> c_int;
    fill_status = c"H5Pfill_value_defined": fn(Hid, *mut c_int) -> Herr;
    fill_value = c"H5Pget_fill_value": fn(Hid, Hid, *mut c_void) -> Herr;

    space_extent = c"H5Sget_simple_extent_dims": fn(Hid, *mut u64, *mut u64) -> c_int;
    space_kind = c"H5Sget_simple_extent_type": fn(Hid) -> c_int;
    space_selection = c"H5Sget_select_type": fn(Hid) -> c_int;
    space_count = c"H5Sget_select_npoints": fn(Hid) -> i64;
    space_is_regular = c"H5Sis_regular_hyperslab": fn(Hid) -> c_int;
    space_hyperslab = c"H5Sget_regular_hyperslab": fn(Hid, *mut u64, *mut u64, *mut u64, *mut u64) -> Herr;
    space_bounds = c"H5Sget_select_bounds": fn(Hid, *mut u64, *mut u64) -> Herr;
    space_create = c"H5Screate_simple": fn(c_int, *const u64, *const u64) -> Hid;
    space_select = c"H5Sselect_hyperslab":
        fn(Hid, c_int, *const u64, *const u64, *const u64, *const u64) -> Herr;
    space_close = c"H5Sclose": fn(Hid) -> Herr;

    type_encode = c"H5Tencode": fn(Hid, *mut c_void, *mut usize) -> Herr;
    type_find = c"H5Tfind": fn(Hid, Hid, *mut *mut c_void) -> *const c_void;
    type_size = c"H5Tget_size": fn(Hid) -> usize;
    type_close = c"H5Tclose": fn(Hid) -> Herr;

    errors_take = c"H5Eget_current_stack": fn() -> Hid;
    errors_set = c"H5Eset_current_stack": fn(Hid) -> Herr;
    errors_close = c"H5Eclose_stack": fn(Hid) -> Herr;
    errors_count = c"H5Eget_num": fn(Hid) -> isize;
    errors_pop = c"H5Epop": fn(Hid, usize) -> Herr;
    errors_is_new_printer = c"H5Eauto_is_v2": fn(Hid, *mut c_uint) -> Herr;
    errors_get_printer = c"H5Eget_auto2": fn(Hid, *mut *mut c_void, *mut *mut c_void) -> Herr;
    errors_set_printer = c"H5Eset_auto2": fn(Hid, *mut c_void, *mut c_void) -> Herr;
}

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
    pub(super) old_printers: Option<OldPrinters>,
    /// The connector that is in the library, which all calls are passed on to. 0: not asked yet.
    native: AtomicI64,
    /// The parts of chunks that are held.
    pub(crate) pending: Pending,
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
                pending: Pending::default(),
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
        self.pending.clear();
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
        let printer = Printer::of(self)?;
        // SAFETY: 0 (`H5E_DEFAULT`) is the stack of errors of this thread. Neither function clears it.
        unsafe {
            let before = (calls.errors_count)(0);
            (calls.errors_set_printer)(0, std::ptr::null_mut(), std::ptr::null_mut());
            let result = f();
            let more = (calls.errors_count)(0).saturating_sub(before);
            if let Ok(more @ 1..) = usize::try_from(more) {
                (calls.errors_pop)(0, more);
            }
            printer.give_back(self);
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
