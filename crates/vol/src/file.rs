//! The files that the engine reads, beside libhdf5 that has them open.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hyperslab::driver::Posix;
use hyperslab_io::process::forks;

use crate::ffi::native::NativeFile;
use crate::rules::{Reason, Ruled};

// Flags of an intent.
const WRITABLE: u32 = 0x01;
const SWMR: u32 = 0x20 | 0x40;

/// A file that was opened through us, and what the engine knows of it. The engine opens it at the first
/// read that it does, or when the program closes it while objects in it stay open.
#[derive(Debug)]
pub(crate) struct OpenFile {
    /// The native file, until the program closes it. (Asking an object for its file would keep the file
    /// open.)
    native: Mutex<Option<NativeFile>>,
    number: OnceLock<u64>,
    opened: Mutex<Option<Opened>>,
    /// Whether the engine may write, as it was found when the program closed the file.
    at_close: Mutex<Ruled<()>>,
}

/// What came of opening a file for the engine.
#[derive(Debug, Clone)]
struct Opened {
    /// In which process: a child opens the file again.
    forks: u32,
    file: Ruled<hyperslab::File>,
}

impl OpenFile {
    pub(crate) fn of(native: NativeFile) -> Arc<Self> {
        Arc::new(Self {
            native: Mutex::new(Some(native)),
            number: OnceLock::new(),
            opened: Mutex::default(),
            at_close: Mutex::new(Err(Reason::File)),
        })
    }

    /// Closes a native file by `close`, and returns whether that succeeded. If it is this one, and objects in
    /// it stay open, first finds out what they ask of the file later, and datasets that are opened through
    /// them. (A program that asks an object behind an external link for its file gets another native file.)
    pub(crate) fn close(&self, native: NativeFile, close: impl FnOnce() -> bool) -> bool {
        if self.native() != Ok(native) {
            return close();
        }
        // Handles behind links to other files keep this one too, and ask nothing of it.
        if native.leaves_objects() && self.number().is_ok() {
            *self.at_close.lock().unwrap_or_else(PoisonError::into_inner) = may_write(native);
            // libhdf5 cannot be unwound.
            _ = catch_unwind(AssertUnwindSafe(|| self.engine()));
        } else {
            *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        // After a close that failed, the native file may be there or not.
        *self.native.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let is_closed = close();
        if !is_closed {
            *self.at_close.lock().unwrap_or_else(PoisonError::into_inner) = Err(Reason::File);
        }
        is_closed
    }

    /// Returns the number that the library gives the file as long as it is open.
    pub(crate) fn number(&self) -> Ruled<u64> {
        if let Some(number) = self.number.get() {
            return Ok(*number);
        }
        let number = self.native()?.number().ok_or(Reason::File)?;
        Ok(*self.number.get_or_init(|| number))
    }

    /// Returns the native file.
    ///
    /// Errors: the program has closed it.
    fn native(&self) -> Ruled<NativeFile> {
        self.native.lock().unwrap_or_else(PoisonError::into_inner).ok_or(Reason::File)
    }

    /// Checks that an object is in this file, and not in one that it leads to (by an external link, or
    /// mounted).
    pub(crate) fn check_has(&self, number: u64) -> Ruled<()> {
        if self.number()? == number { Ok(()) } else { Err(Reason::OtherFile) }
    }

    /// Returns the engine's file.
    pub(crate) fn engine(&self) -> Ruled<hyperslab::File> {
        let mut known = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = known.as_ref().filter(|opened| opened.forks == forks()) {
            return opened.file.clone();
        }
        let file = self.native().and_then(open);
        *known = Some(Opened { forks: forks(), file: file.clone() });
        file
    }

    /// Checks that the engine may write chunks of the file.
    pub(crate) fn check_writable(&self) -> Ruled<()> {
        match self.native() {
            Ok(native) => may_write(native),
            Err(_) => *self.at_close.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// Checks that the engine may write chunks of a file: it is a plain file, open for writing, that no other
/// program reads meanwhile.
fn may_write(native: NativeFile) -> Ruled<()> {
    if !is_writable(native)? {
        return Err(Reason::File);
    }
    if native.is_plain().ok_or(Reason::File)? { Ok(()) } else { Err(Reason::Driver) }
}

/// Returns whether a native file is open for writing.
///
/// Errors: another program writes or reads it meanwhile.
fn is_writable(native: NativeFile) -> Ruled<bool> {
    let intent = native.intent().ok_or(Reason::File)?;
    if intent & SWMR == 0 { Ok(intent & WRITABLE != 0) } else { Err(Reason::Swmr) }
}

/// Opens a native file for the engine, if all that the file holds is on the disk.
fn open(native: NativeFile) -> Ruled<hyperslab::File> {
    if is_writable(native)? {
        return Err(Reason::Writable);
    }
    if !native.is_plain().ok_or(Reason::File)? {
        return Err(Reason::Driver);
    }
    let descriptor = native.descriptor().ok_or(Reason::File)?;
    let driver = Posix::new(std::fs::File::from(descriptor));
    hyperslab::File::options().open_on(Arc::new(driver)).map_err(|_| Reason::File)
}
