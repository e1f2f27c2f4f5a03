//! The callbacks that pass calls on to the native connector.

use std::ffi::{c_char, c_int, c_void};

use crate::callbacks::object::Object;
use crate::ffi::library::Library;
use crate::ffi::native::identity;
use crate::ffi::types::{
    Arguments, ConnectorClass, DATASET, DATATYPE, FAILED, GROUP, Handle, Herr, Hid, Location, Request, Text,
};
use crate::pending::Pending;
use crate::rules::Ruled;

/// Callbacks that make the same call of the native connector, if what they do first succeeds: `before` and
/// `after` are the arguments on both sides of the connector's number.
///
/// A call that refreshes or flushes an object may replace the native object and its handle, so nothing of a
/// handle is used after a call.
macro_rules! pass {
    ($first:expr => $($name:ident($($before:ident: $b:ty),*; $($after:ident: $a:ty),*);)*) => {$(
        pub(crate) unsafe extern "C" fn $name(handle: Handle, $($before: $b,)* $($after: $a),*) -> Herr {
            // SAFETY: libhdf5 calls it with our handle, and the other arguments are those of the native call.
            unsafe {
                let object = Object::of(handle);
                if object.first($first).is_err() {
                    return FAILED;
                }
                (object.library.functions.$name)(
                    object.under, $($before,)* object.library.native(), $($after),*
                )
            }
        }
    )*};
}

impl Object {
    /// Calls `f`. (A closure in a macro does not say what it takes and returns.)
    fn first(&self, f: impl FnOnce(&Self) -> Ruled<()>) -> Ruled<()> {
        f(self)
    }

    /// Notes that another program may have changed the file of this object, if the operation of these
    /// arguments is `refresh`. (An object behind a link is in another file than the one it was opened by.)
    ///
    /// # Safety
    ///
    /// The arguments begin with the number of the operation, and the object is of this kind (`H5I_type_t`).
    unsafe fn note_refresh(&self, arguments: Arguments, refresh: c_int, object: c_int) {
        // SAFETY: the caller's promise.
        unsafe {
            if kind(arguments) == refresh
                && let Some((file, _)) = identity(self.library, self.under, object)
            {
                self.library.note_refresh(file);
            }
        }
    }
}

/// Returns the number of an operation, with which its arguments begin.
///
/// # Safety
///
/// The arguments are those of an operation.
unsafe fn kind(arguments: Arguments) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *arguments.cast() }
}

/// Does the same as `pass` for callbacks that open or make an object, whose handle `$wrap` makes.
macro_rules! open {
    ($wrap:ident: $($name:ident($($before:ident: $b:ty),*; $($after:ident: $a:ty),*);)*) => {$(
        pub(crate) unsafe extern "C" fn $name(handle: Handle, $($before: $b,)* $($after: $a),*) -> Handle {
            // SAFETY: as in `pass`.
            unsafe {
                let object = Object::of(handle);
                let under = (object.library.functions.$name)(
                    object.under, $($before,)* object.library.native(), $($after),*
                );
                object.$wrap(under)
            }
        }
    )*};
}

/// Does the same for callbacks that close an object, which frees its handle.
macro_rules! close {
    ($($name:ident;)*) => {$(
        pub(crate) unsafe extern "C" fn $name(handle: Handle, transfer: Hid, request: Request) -> Herr {
            // SAFETY: as in `pass`; libhdf5 gives the handle up if the call succeeds.
            unsafe {
                let object = Object::of(handle);
                let closed = (object.library.functions.$name)(
                    object.under, object.library.native(), transfer, request
                );
                if closed >= 0 {
                    Object::free(handle);
                }
                closed
            }
        }
    )*};
}

// These have nothing to do with elements of datasets.
pass! { |_| Ok(()) =>
    attribute_read(; memory_type: Hid, into: *mut c_void, transfer: Hid, request: Request);
    attribute_write(; memory_type: Hid, from: *const c_void, transfer: Hid, request: Request);
    attribute_get(; arguments: Arguments, transfer: Hid, request: Request);
    attribute_specific(place: Location; arguments: Arguments, transfer: Hid, request: Request);
    attribute_optional(; arguments: Arguments, transfer: Hid, request: Request);
    datatype_get(; arguments: Arguments, transfer: Hid, request: Request);
    file_get(; arguments: Arguments, transfer: Hid, request: Request);
    group_get(; arguments: Arguments, transfer: Hid, request: Request);
    link_get(place: Location; arguments: Arguments, transfer: Hid, request: Request);
    link_specific(place: Location; arguments: Arguments, transfer: Hid, request: Request);
    object_get(place: Location; arguments: Arguments, transfer: Hid, request: Request);
    introspect_optional(; class: c_int, kind: c_int, flags: *mut u64);
    blob_put(; from: *const c_void, size: usize, id: *mut c_void, context: *mut c_void);
    blob_get(; id: *const c_void, into: *mut c_void, size: usize, context: *mut c_void);
    blob_specific(; id: *mut c_void, arguments: Arguments);
    blob_optional(; id: *mut c_void, arguments: Arguments);
    token_compare(; one: *const c_void, other: *const c_void, order: *mut c_int);
    token_to_text(kind: c_int; token: *const c_void, text: *mut *mut c_char);
    token_from_text(kind: c_int; text: Text, token: *mut c_void);
}

// These may see elements, or whether and where they are stored.
pass! { Object::settle_all =>
    dataset_optional(; arguments: Arguments, transfer: Hid, request: Request);
    datatype_optional(; arguments: Arguments, transfer: Hid, request: Request);
    file_optional(; arguments: Arguments, transfer: Hid, request: Request);
    group_optional(; arguments: Arguments, transfer: Hid, request: Request);
    link_optional(place: Location; arguments: Arguments, transfer: Hid, request: Request);
    object_optional(place: Location; arguments: Arguments, transfer: Hid, request: Request);
    optional(; arguments: Arguments, transfer: Hid, request: Request);
}

open! { wrap_dataset:
    dataset_create(place: Location; name: Text, link: Hid, datatype: Hid, space: Hid, creation: Hid, access: Hid,
        transfer: Hid, request: Request);
    dataset_open(place: Location; name: Text, access: Hid, transfer: Hid, request: Request);
}

open! { wrap_beside:
    attribute_create(place: Location; name: Text, datatype: Hid, space: Hid, creation: Hid, access: Hid,
        transfer: Hid, request: Request);
    attribute_open(place: Location; name: Text, access: Hid, transfer: Hid, request: Request);
    datatype_commit(place: Location; name: Text, datatype: Hid, link: Hid, creation: Hid, access: Hid,
        transfer: Hid, request: Request);
    datatype_open(place: Location; name: Text, access: Hid, transfer: Hid, request: Request);
    group_create(place: Location; name: Text, link: Hid, creation: Hid, access: Hid, transfer: Hid,
        request: Request);
    group_open(place: Location; name: Text, access: Hid, transfer: Hid, request: Request);
}

/// Opens an object of any kind, which the native connector says.
pub(crate) unsafe extern "C" fn object_open(
    handle: Handle,
    place: Location,
    kind: *mut c_int,
    transfer: Hid,
    request: Request,
) -> Handle {
    // SAFETY: as in `pass`. libhdf5 passes a place for the kind.
    unsafe {
        let object = Object::of(handle);
        let native = object.library.native();
        let under =
            (object.library.functions.object_open)(object.under, place, native, kind, transfer, request);
        let is_dataset = !under.is_null() && *kind == DATASET;
        if is_dataset { object.wrap_dataset(under) } else { object.wrap_beside(under) }
    }
}

close! {
    attribute_close;
    datatype_close;
    group_close;
}

/// Closes a dataset. Parts of chunks that were written through it are stored first; if that fails, they
/// are lost, and the next call for the file fails. (If this one failed, libhdf5 might keep the identifier of
/// the dataset, whose handle is gone.)
pub(crate) unsafe extern "C" fn dataset_close(handle: Handle, transfer: Hid, request: Request) -> Herr {
    // SAFETY: as in `close`.
    unsafe {
        let object = Object::of(handle);
        let (library, under) = (object.library, object.under);
        Pending::of(library).close(object.native_dataset());
        let closed = (library.functions.dataset_close)(under, library.native(), transfer, request);
        if closed >= 0 {
            Object::free(handle);
        }
        closed
    }
}

// Operations on datasets that depend on the chunks that are stored (`H5VL_dataset_get_t`).
const SPACE_STATUS: c_int = 3;
const STORAGE_SIZE: c_int = 4;

// Operations that refresh an object, in the `specific` operations of its kind.
const DATASET_REFRESH: c_int = 2;
const DATATYPE_REFRESH: c_int = 1;
const GROUP_REFRESH: c_int = 3;
const OBJECT_REFRESH: c_int = 5;

pass! { |object| if [SPACE_STATUS, STORAGE_SIZE].contains(&kind(arguments)) { object.settle() } else { Ok(()) } =>
    dataset_get(; arguments: Arguments, transfer: Hid, request: Request);
}

pass! { |object| { object.note_refresh(arguments, DATASET_REFRESH, DATASET); object.settle() } =>
    dataset_specific(; arguments: Arguments, transfer: Hid, request: Request);
}

pass! { |object| { object.note_refresh(arguments, DATATYPE_REFRESH, DATATYPE); object.settle_all() } =>
    datatype_specific(; arguments: Arguments, transfer: Hid, request: Request);
}

pass! { |object| { object.note_refresh(arguments, OBJECT_REFRESH, *place.cast::<c_int>()); object.settle_all() } =>
    object_specific(place: Location; arguments: Arguments, transfer: Hid, request: Request);
}

/// `H5VL_GROUP_MOUNT`
const MOUNT: c_int = 0;

pub(crate) unsafe extern "C" fn group_specific(
    handle: Handle,
    arguments: Arguments,
    transfer: Hid,
    request: Request,
) -> Herr {
    // SAFETY: as in `pass`. The arguments of a mount are a name, a file of ours, and a property list.
    unsafe {
        let object = Object::of(handle);
        let (library, under) = (object.library, object.under);
        object.note_refresh(arguments, GROUP_REFRESH, GROUP);
        if object.settle_all().is_err() {
            return FAILED;
        }
        if kind(arguments) != MOUNT {
            return (library.functions.group_specific)(under, library.native(), arguments, transfer, request);
        }
        let given = &*arguments.cast::<Mount>();
        let child = Object::under_of(given.child);
        let mut native = Mount { child, ..*given };
        let arguments = std::ptr::from_mut(&mut native).cast();
        (library.functions.group_specific)(under, library.native(), arguments, transfer, request)
    }
}

/// `H5VL_group_specific_args_t` of a mount.
#[repr(C)]
struct Mount {
    kind: c_int,
    name: Text,
    child: Handle,
    list: Hid,
}

/// `H5VL_link_create_args_t` of a hard link, whose place is a `H5VL_loc_params_t` of 40 bytes.
#[repr(C)]
struct HardLink {
    kind: c_int,
    object: Handle,
    place: [u64; 5],
}

/// `H5VL_LINK_CREATE_HARD`
const HARD: c_int = 0;

pub(crate) unsafe extern "C" fn link_create(
    arguments: Arguments,
    handle: Handle,
    place: Location,
    link: Hid,
    access: Hid,
    transfer: Hid,
    request: Request,
) -> Herr {
    // SAFETY: as in `pass`. Of the two objects, one may be null: it is then the same as the other.
    unsafe {
        let mut known = handle;
        let mut native = None;
        if kind(arguments) == HARD {
            let given = &*arguments.cast::<HardLink>();
            if known.is_null() {
                known = given.object;
            }
            native = Some(HardLink { object: Object::under_of(given.object), ..*given });
        }
        if known.is_null() {
            return FAILED;
        }
        let library = Object::of(known).library;
        let arguments = native.as_mut().map_or(arguments, |native| std::ptr::from_mut(native).cast());
        let under = Object::under_of(handle);
        (library.functions.link_create)(
            arguments,
            under,
            place,
            library.native(),
            link,
            access,
            transfer,
            request,
        )
    }
}

/// Callbacks that move or copy a link from one object to another. One of both may be null.
macro_rules! between {
    ($($name:ident;)*) => {$(
        pub(crate) unsafe extern "C" fn $name(
            source: Handle,
            source_place: Location,
            target: Handle,
            target_place: Location,
            link: Hid,
            access: Hid,
            transfer: Hid,
            request: Request,
        ) -> Herr {
            let known = if source.is_null() { target } else { source };
            if known.is_null() {
                return FAILED;
            }
            // SAFETY: as in `pass`.
            unsafe {
                let library = Object::of(known).library;
                let (source, target) = (Object::under_of(source), Object::under_of(target));
                (library.functions.$name)(
                    source, source_place, target, target_place, library.native(), link, access, transfer, request,
                )
            }
        }
    )*};
}

between! {
    link_copy;
    link_move;
}

pub(crate) unsafe extern "C" fn object_copy(
    source: Handle,
    source_place: Location,
    source_name: Text,
    target: Handle,
    target_place: Location,
    target_name: Text,
    copying: Hid,
    link: Hid,
    transfer: Hid,
    request: Request,
) -> Herr {
    // SAFETY: as in `pass`.
    unsafe {
        let library = Object::of(source).library;
        if Object::of(source).settle_all().is_err() {
            return FAILED;
        }
        let (source, target) = (Object::under_of(source), Object::under_of(target));
        (library.functions.object_copy)(
            source,
            source_place,
            source_name,
            target,
            target_place,
            target_name,
            library.native(),
            copying,
            link,
            transfer,
            request,
        )
    }
}

pub(crate) unsafe extern "C" fn introspect_class<const SLOT: usize>(
    handle: Handle,
    level: c_int,
    class: *mut *const ConnectorClass,
) -> Herr {
    /// `H5VL_GET_CONN_LVL_CURR`
    const CURRENT: c_int = 0;
    // SAFETY: as in `pass`.
    unsafe {
        if level == CURRENT {
            *class = super::class::of_slot(SLOT);
            return 0;
        }
        let object = Object::of(handle);
        (object.library.functions.introspect_class)(object.under, object.library.native(), level, class)
    }
}

pub(crate) unsafe extern "C" fn introspect_flags<const SLOT: usize>(
    _info: *const c_void,
    flags: *mut u64,
) -> Herr {
    let Some(library) = Library::of_slot(SLOT) else { return FAILED };
    // SAFETY: the native connector has no settings, and libhdf5 passes a place for the flags.
    unsafe { (library.functions.introspect_flags)(std::ptr::null(), library.native(), flags) }
}

pub(crate) unsafe extern "C" fn terminate<const SLOT: usize>() -> Herr {
    if let Some(library) = Library::of_slot(SLOT) {
        Pending::of(library).clear();
        library.shut_down();
    }
    0
}
