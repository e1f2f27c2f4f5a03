//! The functions of the C API by number, with 64-bit integers as arguments.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "Java has no unsigned types: numbers and addresses travel as the bits of a `long`"
)]

use std::ptr;

use hyperslab_c::api::attributes::{
    hs_attribute_delete, hs_attribute_info, hs_attribute_names, hs_attribute_read, hs_attribute_write,
};
use hyperslab_c::api::chunks::hs_chunk_read;
use hyperslab_c::api::datasets::{
    hs_dataset_close, hs_dataset_create, hs_dataset_info, hs_dataset_open, hs_fill_value, hs_filters,
    hs_resize, hs_type,
};
use hyperslab_c::api::elements::{hs_read, hs_write};
use hyperslab_c::api::files::{hs_close, hs_flush, hs_open, hs_open_bytes, hs_open_with};
use hyperslab_c::api::library::{hs_error, hs_set_threads, hs_threads, hs_version};
use hyperslab_c::api::memory::{hs_free, hs_resolve};
use hyperslab_c::api::objects::{
    hs_delete, hs_group_create, hs_link, hs_link_create, hs_names, hs_object, hs_path_at, hs_type_at,
};

/// Calls function `function` (`Function.java` has the same numbers) and returns its result: a code, a pointer
/// or a number. An unknown function gives -1.
///
/// # Safety
///
/// The arguments are those of the function, whose pointers are valid for what the C API does with them.
pub(crate) unsafe fn call(function: i32, arguments: [i64; 9]) -> i64 {
    let [a, b, c, d, e, f, g, h, _] = arguments;
    // SAFETY: as the caller says.
    let code = unsafe {
        match function {
            0 => return number(hs_version().cast_mut()),
            1 => return number(hs_error().cast_mut()),
            2 => return i64::from(hs_threads()),
            3 => hs_set_threads(a as u32),
            4 => hs_open(pointer(a), b as i32, pointer(c)),
            5 => hs_open_bytes(pointer(a), b as usize, pointer(c)),
            6 => hs_flush(pointer(a)),
            7 => hs_close(pointer(a)),
            8 => hs_names(pointer(a), pointer(b), pointer(c)),
            9 => hs_object(pointer(a), pointer(b), pointer(c)),
            10 => hs_link(pointer(a), pointer(b), pointer(c), pointer(d)),
            11 => hs_path_at(pointer(a), b as u64, pointer(c)),
            12 => hs_group_create(pointer(a), pointer(b)),
            13 => hs_link_create(pointer(a), pointer(b), c as i32, pointer(d), pointer(e)),
            14 => hs_delete(pointer(a), pointer(b)),
            15 => hs_type_at(pointer(a), pointer(b), pointer(c), pointer(d)),
            16 => hs_attribute_names(pointer(a), pointer(b), pointer(c)),
            17 => hs_attribute_info(pointer(a), pointer(b), pointer(c), pointer(d)),
            18 => hs_attribute_read(pointer(a), pointer(b), pointer(c), d as i32, pointer(e), pointer(f)),
            19 => hs_attribute_write(
                pointer(a),
                pointer(b),
                pointer(c),
                d as i32,
                e as u32,
                pointer(f),
                pointer(g),
                pointer(h),
            ),
            20 => hs_attribute_delete(pointer(a), pointer(b), pointer(c)),
            21 => hs_dataset_open(pointer(a), pointer(b), pointer(c)),
            22 => hs_dataset_create(pointer(a), pointer(b), pointer(c), pointer(d)),
            23 => hs_dataset_close(pointer(a)),
            24 => hs_dataset_info(pointer(a), pointer(b)),
            25 => hs_type(pointer(a), pointer(b)),
            26 => hs_filters(pointer(a), pointer(b)),
            27 => hs_fill_value(pointer(a), b as i32, pointer(c), pointer(d)),
            28 => hs_read(pointer(a), pointer(b), c as i32, pointer(d), pointer(e)),
            29 => hs_write(pointer(a), pointer(b), c as i32, pointer(d), pointer(e)),
            30 => hs_resize(pointer(a), b as u32, pointer(c)),
            31 => hs_chunk_read(pointer(a), b as u32, pointer(c), pointer(d), pointer(e)),
            32 => {
                hs_resolve(pointer(a), pointer(b), c as usize, d as usize, e as usize, f as usize, pointer(g))
            }
            33 => hs_free(pointer(a)),
            34 => hs_open_with(pointer(a), b as i32, pointer(c), pointer(d)),
            _ => return -1,
        }
    };
    i64::from(code)
}

/// Returns the pointer with an address: of memory that Java or this library has shown the other, or a handle.
pub(crate) fn pointer<T>(address: i64) -> *mut T {
    ptr::with_exposed_provenance_mut(address as usize)
}

/// Returns the address of a pointer.
pub(crate) fn number<T>(pointer: *mut T) -> i64 {
    pointer.expose_provenance() as i64
}
