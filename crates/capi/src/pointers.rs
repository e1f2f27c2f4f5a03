//! The pointers of callers. This is the one place that dereferences them.
//!
//! A function here is unsafe because a pointer from C cannot be checked. Its caller, a function of the
//! interface, hands the promise on: each pointer is null, or leads to memory as large as the interface says,
//! which no other thread changes during the call. Null, alignment and sizes of structs are checked.

use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::slice;

use crate::failure::Failure;
use crate::structs::{
    hs_array_info, hs_chunk_info, hs_dataset_options, hs_io_options, hs_items, hs_link_info, hs_object_info,
    hs_open_options, hs_selection,
};

/// A struct of the interface that begins with its size.
///
/// # Safety
///
/// The struct is `repr(C)`, its first field is the `usize` of its size, and zeros are a value of each of its
/// fields.
pub(crate) unsafe trait KnowsSize: Copy {}

// SAFETY: the fields are integers, pointers and arrays of integers, after a `size`.
unsafe impl KnowsSize for hs_selection {}
// SAFETY: as for `hs_selection`.
unsafe impl KnowsSize for hs_open_options {}
// SAFETY: as for `hs_selection`.
unsafe impl KnowsSize for hs_io_options {}
// SAFETY: as for `hs_selection`.
unsafe impl KnowsSize for hs_dataset_options {}
// SAFETY: as for `hs_selection`.
unsafe impl KnowsSize for hs_object_info {}
// SAFETY: as for `hs_selection`.
unsafe impl KnowsSize for hs_link_info {}
// SAFETY: as for `hs_selection`.
unsafe impl KnowsSize for hs_array_info {}
// SAFETY: as for `hs_selection`.
unsafe impl KnowsSize for hs_chunk_info {}

/// No struct of any version is larger. A larger size is no size, but memory that was not set.
const LARGEST: usize = 4096;

#[cold]
fn null(what: &str) -> Failure {
    Failure::argument(what, "the pointer is null")
}

#[cold]
fn not_aligned(what: &str) -> Failure {
    Failure::argument(what, "the pointer is not aligned to the size of its elements")
}

#[inline]
fn check<T>(what: &str, pointer: *const T) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(null(what));
    }
    if pointer.is_aligned() { Ok(()) } else { Err(not_aligned(what)) }
}

/// Returns the text at `pointer`, or `None` if it is null.
pub(crate) unsafe fn optional_text<'a>(
    what: &str,
    pointer: *const c_char,
) -> Result<Option<&'a str>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's text ends with a zero byte, and stays as it is during the call.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map(Some).map_err(|_| Failure::argument(what, "the text is not UTF-8"))
}

/// Returns the text at `pointer`.
pub(crate) unsafe fn text<'a>(what: &str, pointer: *const c_char) -> Result<&'a str, Failure> {
    // SAFETY: as the caller promises.
    unsafe { optional_text(what, pointer) }?.ok_or_else(|| null(what))
}

/// Returns `len` elements from `pointer` on, which may be null if there are none.
#[inline]
pub(crate) unsafe fn array<'a, T: Copy>(
    what: &str,
    pointer: *const T,
    len: usize,
) -> Result<&'a [T], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    check(what, pointer)?;
    check_len::<T>(what, len)?;
    // SAFETY: the caller has `len` elements there, and no other thread changes them.
    Ok(unsafe { slice::from_raw_parts(pointer, len) })
}

/// Returns `count` parts of memory: `lengths[i]` bytes at `pointers[i]`, or the text there without `lengths`.
pub(crate) unsafe fn parts<'a>(
    what: &str,
    pointers: *const *const c_void,
    lengths: *const u64,
    count: usize,
) -> Result<Vec<&'a [u8]>, Failure> {
    // SAFETY: the caller has `count` pointers, and as many lengths.
    let pointers = unsafe { array(what, pointers, count) }?;
    if lengths.is_null() {
        // SAFETY: each pointer is that of a text.
        let texts = pointers.iter().map(|&pointer| unsafe { text(what, pointer.cast()) }.map(str::as_bytes));
        return texts.collect();
    }
    // SAFETY: as above.
    let lengths = unsafe { array("lengths", lengths, count) }?;
    let part = |(&pointer, &len): (&*const c_void, &u64)| {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        // SAFETY: each pointer is that of as many bytes.
        unsafe { array(what, pointer.cast::<u8>(), len) }
    };
    pointers.iter().zip(lengths).map(part).collect()
}

/// Returns the `len` bytes from `pointer` on, to be written.
#[inline]
pub(crate) unsafe fn room<'a>(what: &str, pointer: *mut u8, len: usize) -> Result<&'a mut [u8], Failure> {
    if len == 0 {
        return Ok(&mut []);
    }
    let pointer = place(what, pointer, len)?;
    // SAFETY: the caller has `len` bytes there that no other thread uses. They may be memory that was never
    // written; they are only written here, too.
    Ok(unsafe { slice::from_raw_parts_mut(pointer, len) })
}

/// Returns where `len` bytes are to be written, without a reference to them.
#[inline]
pub(crate) fn place(what: &str, pointer: *mut u8, len: usize) -> Result<*mut u8, Failure> {
    if len != 0 {
        check(what, pointer)?;
        check_len::<u8>(what, len)?;
    }
    Ok(pointer)
}

#[inline]
fn check_len<T>(what: &str, len: usize) -> Result<(), Failure> {
    let bytes = len.checked_mul(size_of::<T>()).filter(|&bytes| isize::try_from(bytes).is_ok());
    if bytes.is_some() { Ok(()) } else { Err(too_large(what)) }
}

#[cold]
fn too_large(what: &str) -> Failure {
    Failure::argument(what, "it is larger than memory can be")
}

/// Returns the place for a result.
unsafe fn out<'a, T>(what: &str, pointer: *mut T) -> Result<&'a mut MaybeUninit<T>, Failure> {
    check(what, pointer)?;
    // SAFETY: the caller has room for a `T` there, which no other thread uses.
    Ok(unsafe { &mut *pointer.cast::<MaybeUninit<T>>() })
}

/// Returns the place for a handle, which is null until it is written.
pub(crate) unsafe fn handle<'a, T>(what: &str, pointer: *mut *mut T) -> Result<&'a mut *mut T, Failure> {
    // SAFETY: as the caller promises.
    Ok(unsafe { out(what, pointer) }?.write(std::ptr::null_mut()))
}

/// Returns the place for items, which are none until they are written.
pub(crate) unsafe fn items<'a>(
    what: &str,
    pointer: *mut hs_items,
) -> Result<&'a mut MaybeUninit<hs_items>, Failure> {
    // SAFETY: as the caller promises.
    let place = unsafe { out(what, pointer) }?;
    place.write(hs_items::NONE);
    Ok(place)
}

/// Returns the items at `pointer`, and their place.
pub(crate) unsafe fn given_items<'a>(pointer: *mut hs_items) -> Result<&'a mut hs_items, Failure> {
    check("items", pointer)?;
    // SAFETY: a call wrote the items there, or the caller set them to zeros.
    Ok(unsafe { &mut *pointer })
}

/// Reads the size that a struct begins with.
#[inline]
unsafe fn size_at<T: KnowsSize>(what: &str, pointer: *const T) -> Result<usize, Failure> {
    check(what, pointer)?;
    // SAFETY: the struct begins with its size.
    let size = unsafe { pointer.cast::<usize>().read() };
    let is_size = (size_of::<usize>()..=LARGEST).contains(&size);
    if is_size { Ok(size) } else { Err(no_size(what, size, size_of::<T>())) }
}

#[cold]
fn no_size(what: &str, size: usize, expected: usize) -> Failure {
    let why = format!("its field `size` is {size}: set it to the sizeof of the struct, {expected}");
    Failure::argument(what, why)
}

/// Returns the struct at `pointer`. Fields that an older caller does not have are zeros.
///
/// Errors: a newer caller has set a field that this version does not know.
#[inline]
pub(crate) unsafe fn given<T: KnowsSize>(what: &str, pointer: *const T) -> Result<T, Failure> {
    // SAFETY: as the caller promises.
    let size = unsafe { size_at(what, pointer) }?;
    if size == size_of::<T>() {
        // SAFETY: the struct has all bytes of this version.
        return Ok(unsafe { pointer.read() });
    }
    // SAFETY: as the caller promises, with this size.
    unsafe { of_other_version(what, pointer, size) }
}

/// Returns the struct at `pointer`, which has `size` bytes.
#[cold]
unsafe fn of_other_version<T: KnowsSize>(what: &str, pointer: *const T, size: usize) -> Result<T, Failure> {
    let known = size.min(size_of::<T>());
    // SAFETY: the struct has `size` bytes.
    let unknown = unsafe { slice::from_raw_parts(pointer.cast::<u8>().add(known), size - known) };
    if unknown.iter().any(|&byte| byte != 0) {
        let why = "it has fields that this version of hyperslab does not know: set them to zero, or update";
        return Err(Failure::argument(what, why));
    }
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY: `known` bytes are in both. Where they end, zeros are a value of each field.
    Ok(unsafe {
        pointer.cast::<u8>().copy_to_nonoverlapping(copy.as_mut_ptr().cast(), known);
        copy.assume_init()
    })
}

/// Returns the struct at `pointer`, or `None` if it is null.
#[inline]
pub(crate) unsafe fn optional<T: KnowsSize>(what: &str, pointer: *const T) -> Result<Option<T>, Failure> {
    // SAFETY: as the caller promises.
    if pointer.is_null() { Ok(None) } else { unsafe { given(what, pointer) }.map(Some) }
}

/// The place for a struct that the library fills, and as much of it as the caller knows.
#[derive(Debug)]
pub(crate) struct Filled<T> {
    place: *mut T,
    size: usize,
}

/// Returns the place for a struct, and the struct with what the caller has set.
pub(crate) unsafe fn filled<T: KnowsSize>(what: &str, pointer: *mut T) -> Result<(Filled<T>, T), Failure> {
    // SAFETY: as the caller promises.
    let (size, value) = unsafe { (size_at(what, pointer)?, given(what, pointer)?) };
    Ok((Filled { place: pointer, size }, value))
}

impl<T: KnowsSize> Filled<T> {
    /// Writes the struct, but for its size.
    pub(crate) fn put(self, value: &T) {
        let (from, to) = (std::ptr::from_ref(value).cast::<u8>(), self.place.cast::<u8>());
        let skip = size_of::<usize>();
        // SAFETY: the caller of the interface has `size` bytes there until the call returns, and the struct
        // of this version has as many as are copied.
        unsafe { from.add(skip).copy_to_nonoverlapping(to.add(skip), self.size.min(size_of::<T>()) - skip) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(size: usize) -> hs_selection {
        let none = std::ptr::null();
        hs_selection { size, rank: 3, start: none, stride: none, count: none, block: none }
    }

    #[repr(C)]
    struct Newer {
        known: hs_selection,
        more: u64,
    }

    #[test]
    fn an_older_struct_has_zeros_for_what_it_lacks() {
        let one = 1_u64;
        let older = hs_selection { block: &raw const one, ..selection(size_of::<hs_selection>() - 8) };
        // SAFETY: a struct with fewer bytes than it has.
        let found = unsafe { given("selection", &raw const older) }.unwrap();
        assert_eq!((found.rank, found.block.is_null()), (3, true));
    }

    #[test]
    fn a_newer_struct_is_known_unless_it_says_more() {
        let mut newer = Newer { known: selection(size_of::<Newer>()), more: 0 };
        // SAFETY: a struct with as many bytes as it says.
        assert!(unsafe { given("selection", (&raw const newer).cast::<hs_selection>()) }.is_ok());
        newer.more = 1;
        // SAFETY: as above.
        assert!(unsafe { given("selection", (&raw const newer).cast::<hs_selection>()) }.is_err());
    }

    #[test]
    fn a_size_that_is_none_is_refused_before_anything_is_read() {
        for size in [0, 7, LARGEST + 1, usize::MAX] {
            let wrong = selection(size);
            // SAFETY: only the size is read.
            assert!(unsafe { given("selection", &raw const wrong) }.is_err(), "{size}");
        }
    }

    #[test]
    fn a_result_stays_within_the_struct_of_an_older_caller() {
        let mut older = hs_chunk_info { size: 16, is_stored: 0, mask: 0, address: 5, bytes: 5 };
        let whole = hs_chunk_info { size: 99, is_stored: 1, mask: 2, address: 3, bytes: 4 };
        // SAFETY: a struct with fewer bytes than it has.
        unsafe { filled("info", &raw mut older) }.unwrap().0.put(&whole);
        assert_eq!((older.size, older.is_stored, older.mask), (16, 1, 2));
        assert_eq!((older.address, older.bytes), (5, 5));
    }

    #[test]
    fn pointers_are_aligned() {
        let numbers = [0_u64; 3];
        let odd = std::ptr::without_provenance::<u64>(numbers.as_ptr().addr() + 1);
        // SAFETY: the pointers are refused.
        let refused =
            unsafe { [array("shape", odd, 1).is_err(), array("shape", std::ptr::null::<u64>(), 1).is_err()] };
        assert_eq!(refused, [true, true]);
    }
}
