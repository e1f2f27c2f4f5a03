//! The files that the engine reads, beside libhdf5 that has them open.

use std::ffi::{c_int, c_void};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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

/// A file that was opened through us, and what the engine knows of it. The engine opens it at the first
/// read that it does.
#[derive(Debug)]
pub(crate) struct OpenFile {
    /// The native file, until the program closes it. (Asking an object for its file would keep the file
    /// open.)
    native: AtomicPtr<c_void>,
    number: OnceLock<u64>,
    /// The number of handles of datasets in the file.
    pub(crate) datasets: AtomicUsize,
    opened: Mutex<Option<Opened>>,
    /// What [`check_writable`](Self::check_writable) found when the program closed the file.
    at_close: OnceLock<Ruled<()>>,
}

/// What came of opening a file for the engine.
#[derive(Debug, Clone)]
struct Opened {
    /// In which process: a child opens the file again.
    forks: u32,
    file: Ruled<hyperslab::File>,
}

impl OpenFile {
    pub(crate) fn of(native: Handle) -> Arc<Self> {
        let native = AtomicPtr::new(native);
        Arc::new(Self {
            native,
            number: OnceLock::new(),
            datasets: AtomicUsize::new(0),
            opened: Mutex::default(),
            at_close: OnceLock::new(),
        })
    }

    /// Notes that the program closes the file. If datasets in it stay open, first finds out all that
    /// their reads and writes ask of the native file.
    pub(crate) fn close(&self, library: &Library) {
        if self.datasets.load(Ordering::Relaxed) > 0 && self.number(library).is_ok() {
            self.at_close.get_or_init(|| self.check_writable(library));
            _ = self.engine(library);
        }
        self.native.store(std::ptr::null_mut(), Ordering::Release);
    }

    /// Returns the number that the library gives the file as long as it is open.
    pub(crate) fn number(&self, library: &Library) -> Ruled<u64> {
        if let Some(number) = self.number.get() {
            return Ok(*number);
        }
        let mut number = 0_u64;
        get(library, self.native()?, Operation::new(GET_NUMBER).out(0, &mut number))?;
        Ok(*self.number.get_or_init(|| number))
    }

    /// Returns the native file.
    ///
    /// Errors: the program has closed it.
    fn native(&self) -> Ruled<Handle> {
        let native = self.native.load(Ordering::Acquire);
        if native.is_null() { Err(Reason::File) } else { Ok(native) }
    }

    /// Checks that an object is in this file, and not in one that it leads to (by an external link, or
    /// mounted).
    pub(crate) fn check_has(&self, library: &Library, number: u64) -> Ruled<()> {
        if self.number(library)? == number { Ok(()) } else { Err(Reason::OtherFile) }
    }

    /// Returns the engine's file.
    pub(crate) fn engine(&self, library: &Library) -> Ruled<hyperslab::File> {
        let mut known = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = known.as_ref().filter(|opened| opened.forks == forks()) {
            return opened.file.clone();
        }
        let file = self.native().and_then(|native| open(library, native));
        *known = Some(Opened { forks: forks(), file: file.clone() });
        file
    }

    /// Checks that the engine may write chunks of the file: it is a plain file, open for writing, that
    /// no other program reads meanwhile.
    pub(crate) fn check_writable(&self, library: &Library) -> Ruled<()> {
        if let Some(found) = self.at_close.get() {
            return *found;
        }
        let native = self.native()?;
        let intent = intent(library, native)?;
        if intent & WRITABLE == 0 {
            return Err(Reason::File);
        }
        if intent & SWMR != 0 {
            return Err(Reason::Swmr);
        }
        if is_plain(library, native)? { Ok(()) } else { Err(Reason::Driver) }
    }
}

fn get(library: &Library, native: Handle, mut operation: Operation) -> Ruled<Operation> {
    let arguments = operation.as_arguments();
    // SAFETY: the file is open, the operation's result is a number or a place that the caller gives.
    let done = unsafe {
        (library.functions.file_get)(
            native,
            library.native(),
            arguments,
            library.default_transfer(),
            no_request(),
        )
    };
    if done < 0 { Err(Reason::File) } else { Ok(operation) }
}

pub(crate) fn no_request() -> *mut *mut c_void {
    std::ptr::null_mut()
}

/// Returns the flags with which a native file is open.
fn intent(library: &Library, native: Handle) -> Ruled<u32> {
    let mut intent = 0_u32;
    get(library, native, Operation::new(GET_INTENT).out(0, &mut intent))?;
    Ok(intent)
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
fn is_plain(library: &Library, native: Handle) -> Ruled<bool> {
    with_access(library, native, |access| {
        // SAFETY: the property list is one of access to files.
        let driver = unsafe { (library.functions.list_driver)(access) };
        library.plain_files() == Some(driver)
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
    let copy =
        unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned().map_err(|_| Reason::File)?;
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
            library.default_transfer(),
            no_request(),
        );
        if done < 0 || found.is_null() { Err(Reason::Driver) } else { Ok(*found.cast::<c_int>()) }
    }
}
