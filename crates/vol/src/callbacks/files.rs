//! The callbacks of files that do more than pass a call on: opening, closing, and operations on files by
//! name.

use std::ffi::{c_int, c_uint};

use crate::callbacks::object::Object;
use crate::ffi::library::Library;
use crate::ffi::native::NativeFile;
use crate::ffi::types::{Arguments, FAILED, Handle, Herr, Hid, Request, Text};
use crate::file::OpenFile;

/// Calls `f` with a copy of the property list for access to files, in which the connector is the native
/// one.
///
/// The errors of this thread are afterwards those of `f` if `keeps` says so of its result, and otherwise
/// those before: the functions that are called for the property list forget them.
unsafe fn with_native_access<T>(
    library: &Library,
    access: Hid,
    failed: T,
    keeps: impl FnOnce(&T) -> bool,
    f: impl FnOnce(Hid) -> T,
) -> T {
    let calls = &library.functions;
    // SAFETY: libhdf5 passes a property list of this kind. Stacks of errors are given back or closed.
    unsafe {
        let before = (calls.errors_take)();
        let list = (calls.list_copy)(access);
        let is_set = list >= 0 && (calls.list_set_connector)(list, library.native(), std::ptr::null()) >= 0;
        let result = if is_set { f(list) } else { failed };
        let after = (calls.errors_take)();
        if list >= 0 {
            (calls.list_close)(list);
        }
        let (kept, dropped) = if keeps(&result) { (after, before) } else { (before, after) };
        (calls.errors_close)(dropped);
        (calls.errors_set)(kept);
        result
    }
}

/// Returns a handle for a native file, or null for null.
fn wrap(library: &'static Library, under: Handle) -> Handle {
    if under.is_null() {
        return under;
    }
    // SAFETY: the file is open until `file_close`, which takes it out of `OpenFile`.
    Object::wrap(library, under, OpenFile::of(unsafe { NativeFile::new(library, under) }))
}

/// Returns a handle for the native file that `f` opens, given the property list for access.
///
/// # Safety
///
/// `access` is the program's property list.
unsafe fn opened<const SLOT: usize>(access: Hid, f: impl FnOnce(&Library, Hid) -> Handle) -> Handle {
    let null = std::ptr::null_mut();
    let Some(library) = Library::of_slot(SLOT) else { return null };
    let keeps = |made: &Handle| made.is_null();
    // SAFETY: the caller's promise.
    wrap(library, unsafe { with_native_access(library, access, null, keeps, |access| f(library, access)) })
}

pub(crate) unsafe extern "C" fn file_create<const SLOT: usize>(
    name: Text,
    flags: c_uint,
    creation: Hid,
    access: Hid,
    transfer: Hid,
    request: Request,
) -> Handle {
    // SAFETY: as in `pass.rs`.
    unsafe {
        opened::<SLOT>(access, |library, access| {
            (library.functions.file_create)(name, flags, creation, access, transfer, request)
        })
    }
}

pub(crate) unsafe extern "C" fn file_open<const SLOT: usize>(
    name: Text,
    flags: c_uint,
    access: Hid,
    transfer: Hid,
    request: Request,
) -> Handle {
    // SAFETY: as in `pass.rs`.
    unsafe {
        opened::<SLOT>(access, |library, access| {
            (library.functions.file_open)(name, flags, access, transfer, request)
        })
    }
}

// `H5VL_file_specific_t`
const REOPEN: c_int = 1;
const IS_ACCESSIBLE: c_int = 2;
const DELETE: c_int = 3;

pub(crate) unsafe extern "C" fn file_specific<const SLOT: usize>(
    handle: Handle,
    arguments: Arguments,
    transfer: Hid,
    request: Request,
) -> Herr {
    // SAFETY: as in `pass.rs`. The places of the words are those of `H5VL_file_specific_args_t`.
    unsafe {
        let call = |library: &Library, under: Handle, arguments: Arguments| {
            (library.functions.file_specific)(under, library.native(), arguments, transfer, request)
        };
        let kind = *arguments.cast::<c_int>();
        if kind == IS_ACCESSIBLE || kind == DELETE {
            let Some(library) = Library::of_slot(SLOT) else { return FAILED };
            // A file name, a property list, and a place for the answer.
            let given = &*arguments.cast::<NamedFile>();
            // libhdf5 asks whether a file is accessible after an open that failed, whose errors are then
            // wanted.
            let keeps = |done: &Herr| *done < 0 && kind == DELETE;
            return with_native_access(library, given.access, FAILED, keeps, |access| {
                let mut native = NamedFile { kind, access, ..*given };
                call(library, std::ptr::null_mut(), std::ptr::from_mut(&mut native).cast())
            });
        }
        let object = Object::of(handle);
        if object.settle_all().is_err() {
            return FAILED;
        }
        let done = call(object.library, object.under, arguments);
        if kind == REOPEN && done >= 0 {
            let made = (*arguments.cast::<Reopened>()).file;
            if !made.is_null() && !(*made).is_null() {
                *made = wrap(object.library, *made);
            }
        }
        done
    }
}

/// `H5VL_file_specific_args_t` of an operation on a file that is not open.
#[repr(C)]
struct NamedFile {
    kind: c_int,
    name: Text,
    access: Hid,
    answer: *mut bool,
}

/// `H5VL_file_specific_args_t` of a reopening.
#[repr(C)]
struct Reopened {
    kind: c_int,
    file: *mut Handle,
}

/// Closes a file. Objects in it may stay open.
pub(crate) unsafe extern "C" fn file_close(handle: Handle, transfer: Hid, request: Request) -> Herr {
    // SAFETY: as in `pass.rs`.
    unsafe {
        let object = Object::of(handle);
        if object.settle_all().is_err() {
            return FAILED;
        }
        let (library, under) = (object.library, object.under);
        let close = || (library.functions.file_close)(under, library.native(), transfer, request) >= 0;
        if !object.file.close(NativeFile::new(library, under), close) {
            return FAILED;
        }
        Object::free(handle);
        0
    }
}
