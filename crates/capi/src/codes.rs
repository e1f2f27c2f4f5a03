//! The numbers of the interface, which never change their meaning.

/// The call succeeded.
pub const HS_OK: i32 = 0;
/// An argument of the call: null, an unknown code, text that is not UTF-8, the size of a struct.
pub const HS_ERROR_ARGUMENT: i32 = 1;
/// A handle that is null, was closed, or is of another kind.
pub const HS_ERROR_HANDLE: i32 = 2;
/// The request cannot be fulfilled: a selection outside, no conversion, a file that is open for reading.
pub const HS_ERROR_REQUEST: i32 = 3;
/// There is no such file, object, link or attribute.
pub const HS_ERROR_NOT_FOUND: i32 = 4;
/// The name exists already.
pub const HS_ERROR_EXISTS: i32 = 5;
/// The file is damaged, or is not an HDF5 file.
pub const HS_ERROR_FORMAT: i32 = 6;
/// A chunk cannot be decoded or encoded, or the filters of a dataset are invalid.
pub const HS_ERROR_CHUNK: i32 = 7;
/// The medium failed.
pub const HS_ERROR_IO: i32 = 8;
/// The file is open elsewhere, in a way that excludes this opening.
pub const HS_ERROR_LOCKED: i32 = 9;
/// Valid HDF5, or a valid request, that hyperslab does not handle yet.
pub const HS_ERROR_UNSUPPORTED: i32 = 10;
/// A commit was interrupted: the file needs recovery, or has to be opened again.
pub const HS_ERROR_RECOVERY: i32 = 11;
/// A defect of hyperslab.
pub const HS_ERROR_INTERNAL: i32 = 12;

/// Opens an existing file for reading.
pub const HS_READ: i32 = 0;
/// Opens an existing file for reading and writing.
pub const HS_WRITE: i32 = 1;
/// Creates a file, in the place of an existing one.
pub const HS_CREATE: i32 = 2;
/// Creates a file. An existing one is an error.
pub const HS_CREATE_NEW: i32 = 3;
/// Opens a file for reading and writing, and creates it if it is missing.
pub const HS_APPEND: i32 = 4;

/// Type of elements in memory: the bytes of the file, in the file's datatype.
pub const HS_STORED: i32 = 0;
/// Type of elements in memory: the file's datatype, with numbers in this machine's byte order.
pub const HS_NATIVE: i32 = 1;
/// `int8_t`
pub const HS_I8: i32 = 2;
/// `int16_t`
pub const HS_I16: i32 = 3;
/// `int32_t`
pub const HS_I32: i32 = 4;
/// `int64_t`
pub const HS_I64: i32 = 5;
/// `uint8_t`
pub const HS_U8: i32 = 6;
/// `uint16_t`
pub const HS_U16: i32 = 7;
/// `uint32_t`
pub const HS_U32: i32 = 8;
/// `uint64_t`
pub const HS_U64: i32 = 9;
/// A float of 16 bits, IEEE 754.
pub const HS_F16: i32 = 10;
/// `float`
pub const HS_F32: i32 = 11;
/// `double`
pub const HS_F64: i32 = 12;
/// One byte, 0 or 1. Stored as h5py stores it: an enumeration of FALSE and TRUE.
pub const HS_BOOL: i32 = 13;
/// UTF-8 text of variable length.
pub const HS_STRING: i32 = 14;
/// The type that a datatype message describes: `type_message` of the options.
pub const HS_MESSAGE: i32 = 15;

/// Kind of an object.
pub const HS_GROUP: i32 = 0;
/// Kind of an object.
pub const HS_DATASET: i32 = 1;
/// Kind of an object: a committed datatype.
pub const HS_DATATYPE: i32 = 2;

/// Kind of a link: it names an object.
pub const HS_LINK_HARD: i32 = 0;
/// Kind of a link: it has a path in the same file.
pub const HS_LINK_SOFT: i32 = 1;
/// Kind of a link: it has a path in another file.
pub const HS_LINK_EXTERNAL: i32 = 64;

/// Space of an array: one element, no dimensions.
pub const HS_SPACE_SCALAR: i32 = 0;
/// Space of an array: one dimension or more.
pub const HS_SPACE_SIMPLE: i32 = 1;
/// Space of an array: no elements at all.
pub const HS_SPACE_NULL: i32 = 2;

/// Layout of a new dataset: contiguous, or in chunks where filters or a maximum shape need them.
pub const HS_LAYOUT_DEFAULT: i32 = 0;
/// Layout: in the header of the object.
pub const HS_LAYOUT_COMPACT: i32 = 1;
/// Layout: one range of bytes.
pub const HS_LAYOUT_CONTIGUOUS: i32 = 2;
/// Layout: in chunks.
pub const HS_LAYOUT_CHUNKED: i32 = 3;
/// Layout: in other datasets.
pub const HS_LAYOUT_VIRTUAL: i32 = 4;
/// Layout: in other files.
pub const HS_LAYOUT_EXTERNAL: i32 = 5;

/// Elements that were never written are zeros.
pub const HS_FILL_DEFAULT: i32 = 0;
/// Elements that were never written have no value.
pub const HS_FILL_UNDEFINED: i32 = 1;
/// Elements that were never written have the value of `hs_fill_value`.
pub const HS_FILL_DEFINED: i32 = 2;

/// The largest number of dimensions.
pub const HS_MAX_RANK: usize = 32;
/// The maximum length of a dimension without limit.
pub const HS_UNLIMITED: u64 = u64::MAX;
/// The address of what has none.
pub const HS_NO_ADDRESS: u64 = u64::MAX;
/// `hs_object_info.orders`: the group keeps the order in which its links are created.
pub const HS_ORDER_LINKS: u64 = 1;
/// `hs_object_info.orders`: the object keeps the order in which its attributes are created.
pub const HS_ORDER_ATTRIBUTES: u64 = 2;
/// `hs_array_info.wanted`: count the stored bytes, which looks at every chunk.
pub const HS_WANT_STORAGE: u32 = 1;
/// `hs_filter.flags`: a chunk that the filter cannot encode is stored without it.
pub const HS_FILTER_OPTIONAL: u16 = 1;
/// `hs_filter.flags`: a chunk that the filter cannot encode is an error.
pub const HS_FILTER_MANDATORY: u16 = 2;
