//! The objects that libhdf5 holds for us: files, groups, datasets, attributes and datatypes.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use crate::dataset::Known;
use crate::ffi::library::Library;
use crate::ffi::native::NativeDataset;
use crate::ffi::types::{DATASET, FAILED, Handle, Herr};
use crate::file::OpenFile;
use crate::pending::Pending;
use crate::rules::Ruled;

/// An object of the native connector, and what we know of it.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) library: &'static Library,
    /// The native connector's object.
    pub(crate) under: Handle,
    /// The file through which the object was opened. An object behind an external link is in another one.
    pub(crate) file: Arc<OpenFile>,
    /// A dataset's state in the engine, and how its chunks are stored.
    pub(crate) dataset: Known,
    is_dataset: bool,
}

impl Object {
    /// Returns a handle for a native object that is no dataset, or null for null.
    pub(crate) fn wrap(library: &'static Library, under: Handle, file: Arc<OpenFile>) -> Handle {
        Self::handle(library, under, file, false)
    }

    /// Returns a handle for a native object that was found or made through `self`, and is no dataset.
    pub(crate) fn wrap_beside(&self, under: Handle) -> Handle {
        Self::wrap(self.library, under, Arc::clone(&self.file))
    }

    /// Returns a handle for a native dataset that was found or made through `self`.
    pub(crate) fn wrap_dataset(&self, under: Handle) -> Handle {
        Self::handle(self.library, under, Arc::clone(&self.file), true)
    }

    fn handle(library: &'static Library, under: Handle, file: Arc<OpenFile>, is_dataset: bool) -> Handle {
        if under.is_null() {
            return under;
        }
        let dataset = Known::default();
        Box::into_raw(Box::new(Self { library, under, file, dataset, is_dataset })).cast()
    }

    /// Returns the native dataset.
    ///
    /// # Panics
    ///
    /// If this is no dataset: libhdf5 does not look what it is given.
    pub(crate) fn native_dataset(&self) -> NativeDataset {
        assert!(self.is_dataset, "a call for elements of an object that has none");
        // SAFETY: the native object is a dataset, and open as long as its handle is.
        unsafe { NativeDataset::new(self.library, self.under) }
    }

    /// Stores the parts of chunks that are held of a dataset, and of those that it shows if it is virtual.
    pub(crate) fn settle(&self) -> Ruled<()> {
        let pending = Pending::of(self.library);
        if !pending.is_any() {
            return Ok(());
        }
        if self.dataset.is_virtual(self) {
            return pending.settle(|_| true);
        }
        let key = self.dataset.key(self)?;
        pending.settle(|held| *held == key)
    }

    /// Stores all parts of chunks that are held.
    ///
    /// Errors: parts of this object's file could not be stored. Those of other files are tried again.
    pub(crate) fn settle_all(&self) -> Ruled<()> {
        let pending = Pending::of(self.library);
        if !pending.is_any() {
            return Ok(());
        }
        let done = match self.file.number() {
            Ok(number) => pending.settle(|held| held.0 == number).and(pending.check_lost(number)),
            Err(_) => Ok(()),
        };
        _ = pending.settle_own();
        done
    }

    /// Returns the object of a handle.
    ///
    /// # Safety
    ///
    /// The handle comes from [`wrap`](Self::wrap), and is not freed while the result is used.
    pub(crate) unsafe fn of<'a>(handle: Handle) -> &'a Self {
        // SAFETY: the caller's promise.
        unsafe { &*handle.cast() }
    }

    /// Returns the native object of a handle that may be null.
    ///
    /// # Safety
    ///
    /// As [`of`](Self::of).
    pub(crate) unsafe fn under_of(handle: Handle) -> Handle {
        // SAFETY: the caller's promise.
        if handle.is_null() { handle } else { unsafe { Self::of(handle) }.under }
    }

    /// Frees a handle.
    ///
    /// # Safety
    ///
    /// The handle comes from [`wrap`](Self::wrap), and is never used again.
    pub(crate) unsafe fn free(handle: Handle) {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(handle.cast::<Self>()) });
    }
}

/// The library and file of handles for native objects that libhdf5 finds by itself.
struct ObjectContext {
    library: &'static Library,
    file: Arc<OpenFile>,
}

// The callbacks for objects that libhdf5 takes out of our handles, and puts into them.

pub(crate) unsafe extern "C" fn get_object(handle: Handle) -> Handle {
    // SAFETY: libhdf5 calls it with our handles.
    unsafe { Object::under_of(handle) }
}

pub(crate) unsafe extern "C" fn get_context(handle: Handle, context: *mut *mut c_void) -> Herr {
    if handle.is_null() || context.is_null() {
        return FAILED;
    }
    // SAFETY: libhdf5 calls it with our handle, and with a place for the context.
    unsafe {
        let object = Object::of(handle);
        let made = ObjectContext { library: object.library, file: Arc::clone(&object.file) };
        *context = Box::into_raw(Box::new(made)).cast();
    }
    0
}

pub(crate) unsafe extern "C" fn wrap_object(under: Handle, kind: c_int, context: *mut c_void) -> Handle {
    // SAFETY: libhdf5 calls it with a context that `get_context` has made.
    let context = unsafe { &*context.cast::<ObjectContext>() };
    Object::handle(context.library, under, Arc::clone(&context.file), kind == DATASET)
}

pub(crate) unsafe extern "C" fn unwrap_object(handle: Handle) -> Handle {
    // SAFETY: libhdf5 gives the handle up.
    unsafe {
        let under = Object::under_of(handle);
        if !handle.is_null() {
            Object::free(handle);
        }
        under
    }
}

pub(crate) unsafe extern "C" fn free_context(context: *mut c_void) -> Herr {
    if !context.is_null() {
        // SAFETY: libhdf5 gives the context up.
        drop(unsafe { Box::from_raw(context.cast::<ObjectContext>()) });
    }
    0
}
