//! The structs of the interface. New fields go to the end of a struct that begins with its size: callers that
//! were compiled before have a smaller one (`pointers.rs`).

use std::ffi::{c_char, c_void};

use crate::codes::HS_MAX_RANK;

/// An open file. A handle is a number and no memory: it is never dereferenced, and a handle that was closed
/// is an error.
#[derive(Debug)]
pub struct hs_file {
    _private: (),
}

/// An open dataset. A handle is a number and no memory, as that of a file.
#[derive(Debug)]
pub struct hs_dataset {
    _private: (),
}

/// The memory of items. A handle is a number and no memory, as that of a file.
#[derive(Debug)]
pub struct hs_memory {
    _private: (),
}

/// Items that the library hands out, until `hs_free`: texts, or data of other kinds.
///
/// Item `i` is the `lengths[i]` bytes from `bytes + offsets[i]` on. A text is followed by a zero byte, which
/// is not counted. Items of other kinds begin at multiples of 8 of `bytes`, which is aligned to 8.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hs_items {
    /// The number of items.
    pub count: usize,
    /// Where each item begins.
    pub offsets: *const u64,
    /// The number of bytes of each item.
    pub lengths: *const u64,
    /// The bytes of all items.
    pub bytes: *const u8,
    /// What `hs_free` releases.
    pub owner: *mut hs_memory,
}

/// A selection: along each dimension `count` blocks of `block` elements, `stride` apart, from `start` on.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hs_selection {
    /// `sizeof(hs_selection)`
    pub size: usize,
    /// The number of dimensions of the dataset.
    pub rank: u32,
    /// The first element along each dimension.
    pub start: *const u64,
    /// From one block to the next. NULL: 1 along each dimension.
    pub stride: *const u64,
    /// The number of blocks along each dimension.
    pub count: *const u64,
    /// The elements of a block. NULL: 1 along each dimension.
    pub block: *const u64,
}

/// How a file is opened. Zeros are the defaults.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hs_open_options {
    /// `sizeof(hs_open_options)`
    pub size: usize,
    /// The budget for decoded metadata. 0: 32 MiB.
    pub metadata_cache_bytes: u64,
    /// The budget for decoded chunks. 0: 64 MiB.
    pub chunk_cache_bytes: u64,
    /// The folder outside which no other file is followed (external links and data). NULL: anywhere.
    pub confined_to: *const c_char,
    /// The oldest libhdf5 that has to read a new file, by h5py's names: "earliest", "v108", "v110", "v112",
    /// "v114", "v200", "latest". NULL: as the file is, or "v110".
    pub version: *const c_char,
    /// The bytes before the HDF5 part of a new file: 0, or a power of two from 512 on.
    pub user_block: u64,
    /// 1: the file is not locked.
    pub no_locking: u32,
    /// 1: the root group of a new file keeps the order in which its links are created.
    pub track_order: u32,
    /// 1: the file is mapped into memory, for reading only. By setting this you promise that no program
    /// changes the file, or cuts it, while it is open, nor the files that it names in external links and
    /// virtual datasets, which are mapped too. If one does, the behaviour is undefined: elements may be
    /// wrong, and the system ends this program when it uses bytes that were cut (SIGBUS). A program may
    /// append to the file.
    pub mapped: u32,
    /// 0. No room is left at the end of a struct, whose bytes a program need not have set.
    pub reserved: u32,
}

/// How elements are read or written. Zeros are the defaults.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hs_io_options {
    /// `sizeof(hs_io_options)`
    pub size: usize,
    /// The bytes of the caller's memory. A call that would go beyond them fails. 0 without `checked`: the
    /// memory is as large as the call needs.
    pub buffer_size: usize,
    /// For `HS_MESSAGE`: a datatype message of the file format (section IV.A.2.d).
    pub type_message: *const c_void,
    /// The bytes of `type_message`.
    pub type_message_size: usize,
    /// For `hs_read`: the bytes from one element to the next along each dimension of the result. NULL: the
    /// result has no gaps.
    pub strides: *const u64,
    /// The number of threads. 0: that of `hs_set_threads`.
    pub threads: u32,
    /// 1: `buffer_size` counts also if it is 0.
    pub checked: u32,
}

/// A filter of a new dataset.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hs_filter {
    /// The registered number: 1 deflate, 2 shuffle, 32015 Zstandard, and others.
    pub id: u16,
    /// 0: the usual flags of the filter. `HS_FILTER_OPTIONAL`: a chunk that cannot be encoded is stored
    /// without the filter. `HS_FILTER_MANDATORY`: it is an error.
    pub flags: u16,
    /// The number of `values`.
    pub value_count: u32,
    /// The parameters, as `H5Pset_filter` takes them ("client data").
    pub values: *const u32,
}

/// A new dataset. Zeros are the defaults.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hs_dataset_options {
    /// `sizeof(hs_dataset_options)`
    pub size: usize,
    /// The type of elements: `HS_I8` to `HS_STRING`, or `HS_MESSAGE`.
    pub r#type: i32,
    /// The number of dimensions. 0: one element.
    pub rank: u32,
    /// For `HS_MESSAGE`: a datatype message of the file format (section IV.A.2.d).
    pub type_message: *const c_void,
    /// The bytes of `type_message`.
    pub type_message_size: usize,
    /// The length of each dimension.
    pub shape: *const u64,
    /// The maximum length of each dimension, or `HS_UNLIMITED`. NULL: `shape`.
    pub max_shape: *const u64,
    /// The shape of chunks. NULL: chosen, where chunks are needed.
    pub chunk: *const u64,
    /// The filters, in the order in which they encode.
    pub filters: *const hs_filter,
    /// The number of `filters`.
    pub filter_count: usize,
    /// The value of elements that are not written: one element of `type`. NULL: zeros.
    pub fill_value: *const c_void,
    /// `HS_LAYOUT_DEFAULT`, `HS_LAYOUT_COMPACT`, `HS_LAYOUT_CONTIGUOUS` or `HS_LAYOUT_CHUNKED`.
    pub layout: i32,
    /// 1: the dataset keeps the order in which its attributes are created.
    pub track_order: u32,
    /// Further filters in words, separated by spaces, such as `shuffle zstd:5`: those that
    /// `hyperslab repack --help` lists. NULL: none.
    pub filter_words: *const c_char,
}

/// An object.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hs_object_info {
    /// `sizeof(hs_object_info)`
    pub size: usize,
    /// `HS_GROUP`, `HS_DATASET` or `HS_DATATYPE`.
    pub kind: i32,
    /// The number of hard links to the object.
    pub hard_links: u32,
    /// The address of the object's header, which identifies it within its file.
    pub address: u64,
    /// The number of links in a group.
    pub links: u64,
    /// The number of attributes.
    pub attributes: u64,
    /// `HS_ORDER_LINKS` if the group keeps the order in which links are created, `HS_ORDER_ATTRIBUTES` if the
    /// object keeps that of attributes; both added, or 0.
    pub orders: u64,
}

/// A link.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hs_link_info {
    /// `sizeof(hs_link_info)`
    pub size: usize,
    /// `HS_LINK_HARD`, `HS_LINK_SOFT`, `HS_LINK_EXTERNAL`, or the number of another kind.
    pub kind: i32,
    /// 1: the group keeps the order in which links are created, and `order` has it.
    pub has_order: i32,
    /// The position in the order of creation.
    pub order: u64,
    /// The address of the object of a hard link, else `HS_NO_ADDRESS`.
    pub address: u64,
}

/// The array of a dataset or an attribute.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hs_array_info {
    /// `sizeof(hs_array_info)`
    pub size: usize,
    /// Given by the caller: 0, or `HS_WANT_STORAGE`.
    pub wanted: u32,
    /// The number of dimensions.
    pub rank: u32,
    /// `HS_SPACE_SCALAR`, `HS_SPACE_SIMPLE` or `HS_SPACE_NULL`.
    pub space: i32,
    /// The code of the type that has the same values, whatever the byte order of the file; `HS_STORED` if
    /// there is none.
    pub r#type: i32,
    /// The class of the datatype in the file format: 0 integers, 1 floats, 3 strings of fixed length, 6
    /// compounds, 9 strings and sequences of variable length, and others (section IV.A.2.d).
    pub type_class: i32,
    /// `HS_LAYOUT_...`; of an attribute `HS_LAYOUT_COMPACT`.
    pub layout: i32,
    /// `HS_FILL_...`; of an attribute `HS_FILL_UNDEFINED`.
    pub fill: i32,
    /// The number of filters.
    pub filter_count: u32,
    /// The bytes of an element in the file.
    pub element_size: u64,
    /// The number of elements.
    pub elements: u64,
    /// The address of the header of the object.
    pub address: u64,
    /// With `HS_WANT_STORAGE`: the bytes that the elements have in the file.
    pub storage_bytes: u64,
    /// The length of each dimension.
    pub shape: [u64; HS_MAX_RANK],
    /// The maximum length of each dimension, or `HS_UNLIMITED`.
    pub max_shape: [u64; HS_MAX_RANK],
    /// The shape of a chunk, of a dataset in chunks.
    pub chunk: [u64; HS_MAX_RANK],
}

/// A stored chunk.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hs_chunk_info {
    /// `sizeof(hs_chunk_info)`
    pub size: usize,
    /// 0: the chunk was never written.
    pub is_stored: u32,
    /// Bit `i`: filter `i` was not applied.
    pub mask: u32,
    /// The address of its bytes.
    pub address: u64,
    /// The number of its bytes.
    pub bytes: u64,
}
