//! The types of libhdf5's interface for connectors (`H5VLconnector.h`, version 3 of `H5VL_class_t`, which
//! libhdf5 1.14 and 2.x share).
//!
//! Arguments that the plug-in passes on without a look are untyped pointers.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// `hid_t`: identifies an object of the library.
pub(crate) type Hid = i64;
/// `herr_t`: negative after a failure.
pub(crate) type Herr = c_int;
/// An object of a connector: [`Object`](crate::callbacks::object::Object) where it is ours.
pub(crate) type Handle = *mut c_void;
/// `H5VL_loc_params_t *`: where an object is, relative to another one.
pub(crate) type Location = *const c_void;
/// The arguments of an operation: a number, and a union.
pub(crate) type Arguments = *mut c_void;
/// Where an asynchronous operation is returned. The native connector has none.
pub(crate) type Request = *mut *mut c_void;
/// `const char *`
pub(crate) type Text = *const c_char;

/// A value that the caller wants to be negative for a failure.
pub(crate) const FAILED: Herr = -1;

/// The arguments of a `get`, `specific` or `optional` operation whose union has only words: pointers,
/// identifiers and numbers.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) kind: c_int,
    pub(crate) words: [u64; 16],
}

impl Operation {
    pub(crate) fn new(kind: c_int) -> Self {
        Self { kind, words: [0; 16] }
    }

    /// Sets a word to the address of a place for a result.
    pub(crate) fn out<T>(mut self, word: usize, place: &mut T) -> Self {
        self.words[word] = std::ptr::from_mut(place).expose_provenance() as u64;
        self
    }

    pub(crate) fn word(mut self, word: usize, value: u64) -> Self {
        self.words[word] = value;
        self
    }

    pub(crate) fn as_arguments(&mut self) -> Arguments {
        std::ptr::from_mut(self).cast()
    }

    /// Returns the first word as an identifier that the operation has stored there.
    pub(crate) fn id(&self) -> Hid {
        self.words[0].cast_signed()
    }
}

/// `H5VL_optional_args_t`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Optional {
    pub(crate) kind: c_int,
    pub(crate) arguments: *mut c_void,
}

/// `H5VL_loc_params_t` of an object itself.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ItsOwnLocation {
    kind_of_object: c_int,
    by_self: c_int,
    unused: [u64; 8],
}

impl ItsOwnLocation {
    /// `kind_of_object` is a `H5I_type_t`.
    pub(crate) const fn new(kind_of_object: c_int) -> Self {
        Self { kind_of_object, by_self: 0, unused: [0; 8] }
    }

    pub(crate) fn as_location(&self) -> Location {
        std::ptr::from_ref(self).cast()
    }
}

/// The most dimensions (`H5S_MAX_RANK`).
pub(crate) const MAX_RANK: usize = 32;

/// `H5I_GROUP`
pub(crate) const GROUP: c_int = 2;
/// `H5I_DATATYPE`
pub(crate) const DATATYPE: c_int = 3;
/// `H5I_DATASET`
pub(crate) const DATASET: c_int = 5;

/// `H5VLdataset_read` and `H5VLdataset_write`: datasets, their connector, datatypes and selections in memory,
/// selections in the file, property list, memory.
pub(crate) type MoveElements = unsafe extern "C" fn(
    usize,
    *const Handle,
    Hid,
    *const Hid,
    *const Hid,
    *const Hid,
    Hid,
    *const *mut c_void,
    Request,
) -> Herr;

/// `H5VL_info_class_t`: a connector without settings has none of these.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct InfoClass {
    pub(crate) size: usize,
    pub(crate) functions: [Option<unsafe extern "C" fn()>; 5],
}

type Get = unsafe extern "C" fn(Handle, Arguments, Hid, Request) -> Herr;
type GetAt = unsafe extern "C" fn(Handle, Location, Arguments, Hid, Request) -> Herr;
type Close = unsafe extern "C" fn(Handle, Hid, Request) -> Herr;
type Open = unsafe extern "C" fn(Handle, Location, Text, Hid, Hid, Request) -> Handle;

/// `H5VL_wrap_class_t`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct WrapClass {
    pub(crate) get_object: unsafe extern "C" fn(Handle) -> Handle,
    pub(crate) get_context: unsafe extern "C" fn(Handle, *mut *mut c_void) -> Herr,
    pub(crate) wrap: unsafe extern "C" fn(Handle, c_int, *mut c_void) -> Handle,
    pub(crate) unwrap: unsafe extern "C" fn(Handle) -> Handle,
    pub(crate) free_context: unsafe extern "C" fn(*mut c_void) -> Herr,
}

/// `H5VL_attr_class_t`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct AttributeClass {
    pub(crate) create:
        unsafe extern "C" fn(Handle, Location, Text, Hid, Hid, Hid, Hid, Hid, Request) -> Handle,
    pub(crate) open: Open,
    pub(crate) read: unsafe extern "C" fn(Handle, Hid, *mut c_void, Hid, Request) -> Herr,
    pub(crate) write: unsafe extern "C" fn(Handle, Hid, *const c_void, Hid, Request) -> Herr,
    pub(crate) get: Get,
    pub(crate) specific: GetAt,
    pub(crate) optional: Get,
    pub(crate) close: Close,
}

/// `H5VL_dataset_class_t`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct DatasetClass {
    pub(crate) create:
        unsafe extern "C" fn(Handle, Location, Text, Hid, Hid, Hid, Hid, Hid, Hid, Request) -> Handle,
    pub(crate) open: Open,
    pub(crate) read: unsafe extern "C" fn(
        usize,
        *const Handle,
        *const Hid,
        *const Hid,
        *const Hid,
        Hid,
        *const *mut c_void,
        Request,
    ) -> Herr,
    pub(crate) write: unsafe extern "C" fn(
        usize,
        *const Handle,
        *const Hid,
        *const Hid,
        *const Hid,
        Hid,
        *const *const c_void,
        Request,
    ) -> Herr,
    pub(crate) get: Get,
    pub(crate) specific: Get,
    pub(crate) optional: Get,
    pub(crate) close: Close,
}

/// `H5VL_datatype_class_t`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct DatatypeClass {
    pub(crate) commit:
        unsafe extern "C" fn(Handle, Location, Text, Hid, Hid, Hid, Hid, Hid, Request) -> Handle,
    pub(crate) open: Open,
    pub(crate) get: Get,
    pub(crate) specific: Get,
    pub(crate) optional: Get,
    pub(crate) close: Close,
}

/// `H5VL_file_class_t`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct FileClass {
    pub(crate) create: unsafe extern "C" fn(Text, c_uint, Hid, Hid, Hid, Request) -> Handle,
    pub(crate) open: unsafe extern "C" fn(Text, c_uint, Hid, Hid, Request) -> Handle,
    pub(crate) get: Get,
    pub(crate) specific: Get,
    pub(crate) optional: Get,
    pub(crate) close: Close,
}

/// `H5VL_group_class_t`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct GroupClass {
    pub(crate) create: unsafe extern "C" fn(Handle, Location, Text, Hid, Hid, Hid, Hid, Request) -> Handle,
    pub(crate) open: Open,
    pub(crate) get: Get,
    pub(crate) specific: Get,
    pub(crate) optional: Get,
    pub(crate) close: Close,
}

/// `H5VL_link_class_t`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct LinkClass {
    pub(crate) create: unsafe extern "C" fn(Arguments, Handle, Location, Hid, Hid, Hid, Request) -> Herr,
    pub(crate) copy: unsafe extern "C" fn(Handle, Location, Handle, Location, Hid, Hid, Hid, Request) -> Herr,
    pub(crate) move_:
        unsafe extern "C" fn(Handle, Location, Handle, Location, Hid, Hid, Hid, Request) -> Herr,
    pub(crate) get: GetAt,
    pub(crate) specific: GetAt,
    pub(crate) optional: GetAt,
}

/// `H5VL_object_class_t`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ObjectClass {
    pub(crate) open: unsafe extern "C" fn(Handle, Location, *mut c_int, Hid, Request) -> Handle,
    pub(crate) copy:
        unsafe extern "C" fn(Handle, Location, Text, Handle, Location, Text, Hid, Hid, Hid, Request) -> Herr,
    pub(crate) get: GetAt,
    pub(crate) specific: GetAt,
    pub(crate) optional: GetAt,
}

/// `H5VL_introspect_class_t`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct IntrospectClass {
    pub(crate) get_class: unsafe extern "C" fn(Handle, c_int, *mut *const ConnectorClass) -> Herr,
    pub(crate) get_flags: unsafe extern "C" fn(*const c_void, *mut u64) -> Herr,
    pub(crate) has_optional: unsafe extern "C" fn(Handle, c_int, c_int, *mut u64) -> Herr,
}

/// `H5VL_blob_class_t`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct BlobClass {
    pub(crate) put: unsafe extern "C" fn(Handle, *const c_void, usize, *mut c_void, *mut c_void) -> Herr,
    pub(crate) get: unsafe extern "C" fn(Handle, *const c_void, *mut c_void, usize, *mut c_void) -> Herr,
    pub(crate) specific: unsafe extern "C" fn(Handle, *mut c_void, Arguments) -> Herr,
    pub(crate) optional: unsafe extern "C" fn(Handle, *mut c_void, Arguments) -> Herr,
}

/// `H5VL_token_class_t`
#[repr(C)]
#[derive(Debug)]
pub(crate) struct TokenClass {
    pub(crate) compare: unsafe extern "C" fn(Handle, *const c_void, *const c_void, *mut c_int) -> Herr,
    pub(crate) to_text: unsafe extern "C" fn(Handle, c_int, *const c_void, *mut *mut c_char) -> Herr,
    pub(crate) from_text: unsafe extern "C" fn(Handle, c_int, Text, *mut c_void) -> Herr,
}

/// `H5VL_class_t`: what libhdf5 knows of a connector.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ConnectorClass {
    pub(crate) version: c_uint,
    pub(crate) value: c_int,
    pub(crate) name: Text,
    pub(crate) connector_version: c_uint,
    pub(crate) flags: u64,
    pub(crate) initialize: Option<unsafe extern "C" fn(Hid) -> Herr>,
    pub(crate) terminate: Option<unsafe extern "C" fn() -> Herr>,
    pub(crate) info: InfoClass,
    pub(crate) wrap: WrapClass,
    pub(crate) attribute: AttributeClass,
    pub(crate) dataset: DatasetClass,
    pub(crate) datatype: DatatypeClass,
    pub(crate) file: FileClass,
    pub(crate) group: GroupClass,
    pub(crate) link: LinkClass,
    pub(crate) object: ObjectClass,
    pub(crate) introspect: IntrospectClass,
    /// `H5VL_request_class_t`: the native connector has no asynchronous operations.
    pub(crate) request: [Option<unsafe extern "C" fn()>; 6],
    pub(crate) blob: BlobClass,
    pub(crate) token: TokenClass,
    pub(crate) optional: Get,
}

// SAFETY: a class is never changed, and its name is a constant.
unsafe impl Sync for ConnectorClass {}
