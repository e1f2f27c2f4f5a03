//! The files that the engine reads, beside libhdf5 that has them open.

use std::ffi::{c_int, c_void};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};

use hyperslab::driver::Posix;
use hyperslab::internals::process::forks;

use crate::ffi::library::Library;
use crate::ffi::types::{Handle, Hid, Operation, Optional};
use crate::rules::{Reason, Ruled};

// `H5VL_file_get_t`
const GET_ACCESS: c_int = 1;
const GET_NUMBER: c_int = 3;
const GET_INTENT: c_int = 4;

// Flags of an intent.
const WRITABLE: u32 = 0x01;
const SWMR: u32 = 0x20 | 0x40;

/// `H5VL_NATIVE_FILE_GET_VFD_HANDLE`
const GET_DRIVER_HANDLE: c_int = 9;

/// A file that was opened through us, and what the engine knows of it. The engine opens it at the first read that it
/// does.
#[derive(Debug, Default)]
pub(crate) struct OpenFile(Mutex<Option<Opened>>);

/// What came of opening a file for the engine.
#[derive(Debug, Clone)]
struct Opened {
    /// The number that libhdf5 gives each file that it has open.
    number: u64,
    /// In which process: a child opens the file again.
    forks: u32,
    file: Ruled<hyperslab::File>,
}

impl OpenFile {
    /// Returns the engine's file for a native file of `library`, which is this one or one that it leads to by an
    /// external link.
    pub(crate) fn engine(&self, library: &Library, native: Handle) -> Ruled<hyperslab::File> {
        let number = number(library, native)?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = known.as_ref().filter(|opened| opened.forks == forks()) {
            if opened.number == number {
                return opened.file.clone();
            }
            // Another file: its datasets hold it as long as they are open.
            return open(library, native);
        }
        let file = open(library, native);
        *known = Some(Opened { number, forks: forks(), file: file.clone() });
        file
    }
}

fn get(library: &Library, native: Handle, mut operation: Operation) -> Ruled<Operation> {
    let arguments = operation.as_arguments();
    // SAFETY: the file is open, the operation's result is a number or a place that the caller gives.
    let done = unsafe {
        (library.functions.file_get)(native, library.native(), arguments, default_transfer(library), no_request())
    };
    if done < 0 { Err(Reason::File) } else { Ok(operation) }
}

pub(crate) fn no_request() -> *mut *mut c_void {
    std::ptr::null_mut()
}

/// Returns the property list of transfers that the library uses where the program gives none.
pub(crate) fn default_transfer(library: &Library) -> Hid {
    library.variable(c"H5P_LST_DATASET_XFER_ID_g").unwrap_or(0)
}

/// Returns the number that the library gives a native file that it has open.
pub(crate) fn number(library: &Library, native: Handle) -> Ruled<u64> {
    let mut number = 0_u64;
    get(library, native, Operation::new(GET_NUMBER).out(0, &mut number))?;
    Ok(number)
}

/// Returns the flags with which a native file is open.
fn intent(library: &Library, native: Handle) -> Ruled<u32> {
    let mut intent = 0_u32;
    get(library, native, Operation::new(GET_INTENT).out(0, &mut intent))?;
    Ok(intent)
}

/// Returns whether another program may read the file while it is written, or write it while it is read.
pub(crate) fn is_swmr(library: &Library, native: Handle) -> Ruled<bool> {
    Ok(intent(library, native)? & SWMR != 0)
}

/// Calls `f` with the property list of access to a native file, which names the driver.
fn with_access<T>(library: &Library, native: Handle, f: impl FnOnce(Hid) -> T) -> Ruled<T> {
    let access = get(library, native, Operation::new(GET_ACCESS))?.id();
    let result = f(access);
    // SAFETY: the property list was made for us.
    unsafe { (library.functions.list_close)(access) };
    Ok(result)
}

/// Returns whether a native file is opened by the driver for plain files.
pub(crate) fn is_plain(library: &Library, native: Handle) -> Ruled<bool> {
    with_access(library, native, |access| {
        // SAFETY: the property list is one of access to files.
        let driver = unsafe { (library.functions.list_driver)(access) };
        plain_files(library) == Some(driver)
    })
}

/// Opens a native file for the engine, if all that the file holds is on the disk.
fn open(library: &Library, native: Handle) -> Ruled<hyperslab::File> {
    let intent = intent(library, native)?;
    if intent & SWMR != 0 {
        return Err(Reason::Swmr);
    }
    if intent & WRITABLE != 0 {
        return Err(Reason::Writable);
    }
    if !is_plain(library, native)? {
        return Err(Reason::Driver);
    }
    // SAFETY: the property list is that of the file.
    let descriptor = with_access(library, native, |access| unsafe { descriptor(library, native, access) })??;
    // SAFETY: libhdf5 has the descriptor open during this call. The copy of it is ours.
    let copy = unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned().map_err(|_| Reason::File)?;
    let driver = Posix::new(std::fs::File::from(copy));
    hyperslab::File::options().open_on(Arc::new(driver)).map_err(|_| Reason::File)
}

/// Returns the descriptor by which the driver for plain files has a file open.
///
/// # Safety
///
/// `access` is the property list of the file.
unsafe fn descriptor(library: &Library, native: Handle, access: Hid) -> Ruled<c_int> {
    /// `H5VL_native_file_get_vfd_handle_t`
    #[repr(C)]
    struct DriverHandle {
        access: Hid,
        handle: *mut *mut c_void,
    }
    let mut found: *mut c_void = std::ptr::null_mut();
    let mut arguments = DriverHandle { access, handle: &raw mut found };
    let mut operation =
        Optional { kind: GET_DRIVER_HANDLE, arguments: std::ptr::from_mut(&mut arguments).cast() };
    // SAFETY: the operation stores the address of the driver's descriptor.
    unsafe {
        let done = (library.functions.file_optional)(
            native,
            library.native(),
            std::ptr::from_mut(&mut operation).cast(),
            default_transfer(library),
            no_request(),
        );
        if done < 0 || found.is_null() { Err(Reason::Driver) } else { Ok(*found.cast::<c_int>()) }
    }
}

/// Returns the number of the driver for plain files: a variable of libhdf5 2, and what a function of libhdf5 1.14
/// returns.
fn plain_files(library: &Library) -> Option<Hid> {
    if let Some(number) = library.variable(c"H5FD_SEC2_id_g") {
        return Some(number);
    }
    let perform = library.image.symbol(c"H5FDperform_init");
    let register = library.image.symbol(c"H5FD_sec2_init");
    if perform.is_null() || register.is_null() {
        return None;
    }
    // SAFETY: libhdf5 1.14 has this function, whose argument is a function of that name.
    let perform = unsafe {
        std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> Hid>(perform)
    };
    // SAFETY: registers the driver, or returns its number if it is registered.
    Some(unsafe { perform(register) })
}
