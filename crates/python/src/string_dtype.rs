//! Arrays of NumPy's `StringDType`, filled and read through the C API of NumPy 2. Besides `buffer` and
//! `arrow/capsule`, only this file has unsafe code.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::NonNull;

use numpy::prelude::*;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyCapsule;

use crate::buffer;

/// The functions of NumPy's C API for strings, with the types of their opaque arguments.
#[derive(Clone, Copy)]
struct Api {
    load: unsafe extern "C" fn(*mut c_void, *const c_void, *mut Unpacked) -> c_int,
    pack: unsafe extern "C" fn(*mut c_void, *mut c_void, *const c_char, usize) -> c_int,
    acquire: unsafe extern "C" fn(*const c_void) -> *mut c_void,
    release: unsafe extern "C" fn(*mut c_void),
}

/// `npy_static_string`: a string in the memory of its array.
#[repr(C)]
struct Unpacked {
    size: usize,
    bytes: *const c_char,
}

/// The places of the functions in NumPy's table, which no version of NumPy changes.
const LOAD: usize = 313;
const PACK: usize = 314;
const ACQUIRE: usize = 316;
const RELEASE: usize = 318;

impl Api {
    /// Returns the functions of the NumPy that is running.
    #[expect(clippy::missing_transmute_annotations, reason = "the fields have the types of the functions")]
    fn get(py: Python<'_>) -> PyResult<Self> {
        static API: PyOnceLock<Api> = PyOnceLock::new();
        API.get_or_try_init(py, || {
            let module = py.import("numpy._core._multiarray_umath")?;
            let capsule = module.getattr("_ARRAY_API")?.cast_into::<PyCapsule>()?;
            let table: NonNull<*const c_void> = capsule.pointer_checked(None)?.cast();
            // SAFETY: the dtype exists, so this is NumPy 2, whose table has these functions at these places.
            // The table is part of a module that stays loaded.
            unsafe {
                let function = |place: usize| table.as_ptr().add(place).read();
                Ok(Self {
                    load: std::mem::transmute::<*const c_void, _>(function(LOAD)),
                    pack: std::mem::transmute::<*const c_void, _>(function(PACK)),
                    acquire: std::mem::transmute::<*const c_void, _>(function(ACQUIRE)),
                    release: std::mem::transmute::<*const c_void, _>(function(RELEASE)),
                })
            }
        })
        .copied()
    }
}

/// The strings of an array, which no other thread can use meanwhile.
struct Strings<'a, 'py> {
    api: Api,
    allocator: *mut c_void,
    /// Keeps the dtype, to which the allocator belongs.
    _descr: Bound<'py, PyArrayDescr>,
    places: buffer::Elements<'a, 'py>,
}

impl<'a, 'py> Strings<'a, 'py> {
    fn of(array: &'a Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        let descr = array.dtype();
        if descr.kind() != b'T' {
            return Err(PyTypeError::new_err("not an array of StringDType"));
        }
        let places = buffer::Elements::new(array)?;
        let api = Api::get(array.py())?;
        // SAFETY: the dtype is a `StringDType` (just checked). The call locks its allocator, which `drop`
        // unlocks.
        let allocator = unsafe { (api.acquire)(descr.as_dtype_ptr().cast()) };
        Ok(Self { api, allocator, _descr: descr, places })
    }
}

impl Drop for Strings<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: the allocator was locked by `of`, once.
        unsafe { (self.api.release)(self.allocator) }
    }
}

/// Stores a text in each element of a new C-contiguous array of `StringDType`.
pub(crate) fn fill<'t>(
    array: &Bound<'_, PyUntypedArray>,
    texts: impl Iterator<Item = &'t str>,
) -> PyResult<()> {
    let strings = Strings::of(array)?;
    for (index, text) in texts.enumerate() {
        // SAFETY: the place is an element of the array, whose allocator this thread has locked. The call
        // copies the text.
        let done = unsafe {
            (strings.api.pack)(strings.allocator, strings.places.at(index), text.as_ptr().cast(), text.len())
        };
        if done != 0 {
            return Err(PyMemoryError::new_err("no memory for a string"));
        }
    }
    Ok(())
}

/// Returns the texts of a C-contiguous array of `StringDType` one after another, and the end of each. `None`
/// if an element is missing (`StringDType(na_object=...)`).
pub(crate) fn read(array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<(Vec<u8>, Vec<usize>)>> {
    let strings = Strings::of(array)?;
    let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(array.len()));
    for index in 0..array.len() {
        let mut text = Unpacked { size: 0, bytes: std::ptr::null() };
        // SAFETY: the place is an element of the array, whose allocator this thread has locked.
        let found = unsafe { (strings.api.load)(strings.allocator, strings.places.at(index), &raw mut text) };
        if found != 0 {
            return Ok(None);
        }
        if text.size > 0 {
            // SAFETY: the text is in the memory of the array until the allocator is unlocked.
            bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(text.bytes.cast(), text.size) });
        }
        ends.push(bytes.len());
    }
    Ok(Some((bytes, ends)))
}
