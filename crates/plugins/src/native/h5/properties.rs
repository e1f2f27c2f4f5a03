//! The property list of the dataset that is being created (H5P): the shape of its chunks, and the filter.

use std::ffi::{c_char, c_int, c_uint};

use super::state::{self, Creation, PROPERTIES, PROPERTY_CLASS};

/// `H5D_CHUNKED`.
const CHUNKED: c_int = 2;
/// A filter encodes, and decodes.
const BOTH: c_uint = 3;
/// The most values that a plug-in may store: a message has less than 64 KiB.
const MOST: usize = 16_000;

/// Runs `f` with the dataset, if the id is that of its property list.
fn with(list: i64, f: impl FnOnce(&mut Creation) -> c_int) -> c_int {
    // Ids had 32 bits once, and the others are not set then.
    if list & 0xffff_ffff != PROPERTIES {
        return -1;
    }
    state::creation(f).unwrap_or(-1)
}

/// `H5Pexist`: there are no properties that a program has added.
pub(super) extern "C" fn exists(_list: i64, _name: *const c_char) -> c_int {
    0
}

/// `H5Pisa_class`.
pub(super) extern "C" fn is_class(list: i64, class: i64) -> c_int {
    with(list, |_| c_int::from(class & 0xffff_ffff == PROPERTY_CLASS))
}

/// `H5Pget_layout`.
pub(super) extern "C" fn layout(list: i64) -> c_int {
    with(list, |_| CHUNKED)
}

/// `H5Pget_chunk`.
pub(super) extern "C" fn chunk(list: i64, room: c_int, dims: *mut u64) -> c_int {
    with(list, |creation| {
        let len = usize::try_from(room).unwrap_or(0).min(creation.chunk.len());
        if !dims.is_null() {
            // SAFETY: `dims` has room for `room` numbers, by the rules of the function.
            unsafe { std::slice::from_raw_parts_mut(dims, len) }.copy_from_slice(&creation.chunk[..len]);
        }
        c_int::try_from(creation.chunk.len()).unwrap_or(-1)
    })
}

/// `H5Pget_nfilters`: a plug-in is told of itself only.
pub(super) extern "C" fn filters(list: i64) -> c_int {
    with(list, |_| 1)
}

/// `H5Pget_filter2`.
pub(super) extern "C" fn filter(
    list: i64,
    index: c_uint,
    flags: *mut c_uint,
    count: *mut usize,
    values: *mut c_uint,
    name_len: usize,
    name: *mut c_char,
    config: *mut c_uint,
) -> c_int {
    with(list, |creation| {
        if index != 0 {
            return -1;
        }
        describe(creation, flags, count, values, (name_len, name), config);
        c_int::from(creation.id)
    })
}

/// `H5Pget_filter1`.
pub(super) extern "C" fn filter_old(
    list: i64,
    index: c_uint,
    flags: *mut c_uint,
    count: *mut usize,
    values: *mut c_uint,
    name_len: usize,
    name: *mut c_char,
) -> c_int {
    filter(list, index, flags, count, values, name_len, name, std::ptr::null_mut())
}

/// `H5Pget_filter_by_id2`.
pub(super) extern "C" fn filter_by_id(
    list: i64,
    id: c_int,
    flags: *mut c_uint,
    count: *mut usize,
    values: *mut c_uint,
    name_len: usize,
    name: *mut c_char,
    config: *mut c_uint,
) -> c_int {
    with(list, |creation| {
        if id != c_int::from(creation.id) {
            return -1;
        }
        describe(creation, flags, count, values, (name_len, name), config);
        0
    })
}

/// `H5Pget_filter_by_id1`.
pub(super) extern "C" fn filter_by_id_old(
    list: i64,
    id: c_int,
    flags: *mut c_uint,
    count: *mut usize,
    values: *mut c_uint,
    name_len: usize,
    name: *mut c_char,
) -> c_int {
    filter_by_id(list, id, flags, count, values, name_len, name, std::ptr::null_mut())
}

/// Writes what the plug-in asks of its filter. `count` is the room for values, and gets their number.
fn describe(
    creation: &Creation,
    flags: *mut c_uint,
    count: *mut usize,
    values: *mut c_uint,
    (name_len, name): (usize, *mut c_char),
    config: *mut c_uint,
) {
    // SAFETY: each place is null, or room for a number, by the rules of the functions.
    unsafe {
        if let Some(flags) = flags.as_mut() {
            *flags = creation.flags;
        }
        if let Some(config) = config.as_mut() {
            *config = BOTH;
        }
        if let Some(count) = count.as_mut() {
            if !values.is_null() {
                let len = (*count).min(creation.client_data.len());
                // SAFETY: `values` has room for `count` numbers, by the rules of the functions.
                std::slice::from_raw_parts_mut(values, len).copy_from_slice(&creation.client_data[..len]);
            }
            *count = creation.client_data.len();
        }
    }
    if !name.is_null() && name_len > 0 {
        let len = creation.name.len().min(name_len - 1);
        // SAFETY: `name` has room for `name_len` letters, by the rules of the functions.
        unsafe {
            std::ptr::copy_nonoverlapping(creation.name.as_ptr().cast(), name, len);
            *name.add(len) = 0;
        }
    }
}

/// `H5Pmodify_filter`, and `H5Pset_filter` for the same filter. The flags stay.
pub(super) extern "C" fn modify(
    list: i64,
    id: c_int,
    _flags: c_uint,
    count: usize,
    values: *const c_uint,
) -> c_int {
    with(list, |creation| {
        if id != c_int::from(creation.id) || count > MOST || count > 0 && values.is_null() {
            return -1;
        }
        creation.client_data.clear();
        if count > 0 {
            // SAFETY: there are `count` values, by the rules of the function.
            creation.client_data.extend_from_slice(unsafe { std::slice::from_raw_parts(values, count) });
        }
        0
    })
}
