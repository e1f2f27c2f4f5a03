//! Access to NumPy's memory and C API. This file, `string_dtype.rs` and `arrow/capsule.rs` have the unsafe
//! code of the package.

use std::ffi::{CStr, c_int, c_void};
use std::mem::size_of;
use std::slice;

use hyperslab::{Destination, InPlace};
use numpy::npyffi::flags::NPY_ARRAY_WRITEABLE;
use numpy::npyffi::{
    _PyArray_GET_ITEM_DATA, NpyTypes, PY_ARRAY_API, PyArrayObject_fields, get_type_object, npy_intp,
};
use numpy::prelude::*;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use smallvec::SmallVec;

use crate::interpreter::error::OrRaise;

/// Returns a new C-contiguous array of the shape `shape` and the dtype `descr`.
///
/// The elements have arbitrary values. Elements that are Python objects are `NULL`, which reads as `None`. A
/// subarray dtype adds its dimensions to the shape, as in NumPy.
pub(crate) fn empty<'py>(
    py: Python<'py>,
    shape: &[usize],
    descr: &Bound<'py, PyArrayDescr>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let mut dims: SmallVec<[npy_intp; 8]> = SmallVec::new();
    for &len in shape {
        dims.push(npy_intp::try_from(len).map_err(|_| PyValueError::new_err("array is too big"))?);
    }
    let rank = c_int::try_from(dims.len()).map_err(|_| PyValueError::new_err("too many dimensions"))?;
    // SAFETY: the call takes over the reference to the descriptor from `into_dtype_ptr`, and reads `rank`
    // lengths from `dims`. It returns a new reference or NULL with an exception set, which
    // `from_owned_ptr_or_err` handles.
    unsafe {
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            get_type_object(py, NpyTypes::PyArray_Type),
            descr.clone().into_dtype_ptr(),
            rank,
            dims.as_mut_ptr(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            0,
            std::ptr::null_mut(),
        );
        Ok(Bound::from_owned_ptr_or_err(py, array)?.cast_into_unchecked())
    }
}

/// Returns the NumPy scalar for one element of the dtype `descr`, which must not contain Python objects.
pub(crate) fn scalar<'py>(
    descr: &Bound<'py, PyArrayDescr>,
    element: &mut [u8],
) -> PyResult<Bound<'py, PyAny>> {
    let py = descr.py();
    if element.len() != descr.itemsize() || descr.has_object() {
        return Err(PyTypeError::new_err("not an element of this dtype"));
    }
    // SAFETY: `element` is one element of `descr` (just checked), which the call copies. It borrows the
    // descriptor and returns a new reference or NULL with an exception set.
    unsafe {
        let data = element.as_mut_ptr().cast::<c_void>();
        let scalar = PY_ARRAY_API.PyArray_Scalar(py, data, descr.as_dtype_ptr(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(py, scalar)
    }
}

/// Returns the bytes of a C-contiguous array, for writing.
///
/// The array must be new, or an array that the caller may write to. A program that passes an array as `out`
/// must not use the array until the call returns, as with every NumPy function that releases the GIL.
pub(crate) fn bytes_mut<'a>(array: &'a mut Bound<'_, PyUntypedArray>) -> PyResult<&'a mut [u8]> {
    writable(array)?;
    if !array.is_c_contiguous() || array.dtype().has_object() {
        return Err(PyTypeError::new_err("the array must be C-contiguous, without Python objects"));
    }
    let len = array.len() * array.dtype().itemsize();
    if len == 0 {
        return Ok(&mut []);
    }
    // SAFETY: a contiguous array of `len` bytes keeps its memory while `array` is borrowed. The array is
    // writable (just checked) and has no Python objects, so any bytes are valid. By the contract above, no
    // other code uses it.
    unsafe { Ok(slice::from_raw_parts_mut((*fields(array)).data.cast(), len)) }
}

/// Returns the bytes of a C-contiguous array, for reading.
///
/// The contract is that of NumPy: a program that passes an array to a function that releases the GIL must not
/// change the array during the call.
pub(crate) fn bytes<'a>(array: &'a Bound<'_, PyUntypedArray>) -> PyResult<&'a [u8]> {
    if !array.is_c_contiguous() || array.dtype().has_object() {
        return Err(PyTypeError::new_err("the array must be C-contiguous, without Python objects"));
    }
    let len = array.len() * array.dtype().itemsize();
    if len == 0 {
        return Ok(&[]);
    }
    // SAFETY: a contiguous array of `len` bytes keeps its memory while `array` is borrowed. It has no Python
    // objects, so any bytes are valid. By the contract above, no other code writes to it.
    unsafe { Ok(slice::from_raw_parts((*fields(array)).data.cast::<u8>(), len)) }
}

/// Returns the memory of an array, contiguous or strided, as a destination for elements of the shape `shape`.
///
/// `shape` is the shape of the array, with axes of length one added or removed. Returns `None` if the engine
/// cannot write to the array, for example because an axis has a negative stride.
///
/// The contract is that of [`bytes_mut`].
pub(crate) fn destination<'a>(
    array: &'a mut Bound<'_, PyUntypedArray>,
    shape: &[u64],
    element_size: usize,
) -> PyResult<Option<Destination<'a>>> {
    if array.is_c_contiguous() {
        return Ok(Some(Destination::contiguous(bytes_mut(array)?)));
    }
    writable(array)?;
    if array.dtype().has_object() {
        return Err(PyTypeError::new_err(
            "the array must be C-contiguous, since its elements are Python objects",
        ));
    }
    let itemsize = array.dtype().itemsize();
    let mut own: SmallVec<[(usize, usize); 8]> = SmallVec::new();
    let mut span = itemsize;
    for (&len, &stride) in array.shape().iter().zip(array.strides()) {
        let Ok(stride) = usize::try_from(stride) else { return Ok(None) };
        if len != 1 {
            own.push((len, stride));
            span += stride * len.saturating_sub(1);
        }
    }
    if array.is_empty() {
        return Ok(Some(Destination::contiguous(&mut [])));
    }
    let mut strides: SmallVec<[usize; 8]> = SmallVec::new();
    let mut left = own.iter();
    for &len in shape {
        strides.push(if len == 1 { itemsize } else { left.next().map_or(0, |(_, stride)| *stride) });
    }
    // The dimensions of a subarray dtype are axes of the array, but parts of an element in the file.
    let inner: usize = left.clone().map(|(len, _)| len).product();
    let mut pitch = itemsize;
    for &(len, stride) in left.rev() {
        if stride != pitch {
            return Ok(None);
        }
        pitch *= len;
    }
    if inner * itemsize != element_size {
        return Ok(None);
    }
    // SAFETY: no stride is negative, so all elements are in the `span` bytes that begin at the first element.
    // The array (or its base) keeps these bytes while `array` is borrowed. The array is writable (just
    // checked) and has no Python objects. By the contract of `bytes_mut`, no other code uses its elements.
    // What is between them may be another array's, which another thread fills.
    let destination = unsafe {
        let base = (*fields(array)).data.cast();
        Destination::from_raw(base, span, shape, &strides, element_size)
    };
    destination.or_raise().map(Some)
}

/// Returns whether any two of these contiguous arrays share memory.
pub(crate) fn overlap(arrays: &[Bound<'_, PyUntypedArray>]) -> bool {
    let span = |array: &Bound<'_, PyUntypedArray>| {
        // SAFETY: the fields are valid while `array` is alive. The address is only compared.
        let begin = unsafe { (*fields(array)).data } as usize;
        (begin, begin + array.len() * array.dtype().itemsize())
    };
    let mut spans: Vec<_> = arrays.iter().map(span).filter(|(begin, end)| begin < end).collect();
    spans.sort_unstable();
    spans.iter().zip(spans.iter().skip(1)).any(|((_, end), (begin, _))| begin < end)
}

/// Returns NumPy's fields of an array. The pointer is valid while the array is alive.
fn fields(array: &Bound<'_, PyUntypedArray>) -> *const PyArrayObject_fields {
    // SAFETY: `as_array_ptr` points to an array object. The call only computes the address of its fields.
    unsafe { _PyArray_GET_ITEM_DATA(array.as_array_ptr().cast_const()) }
}

fn writable(array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    // SAFETY: the fields are valid while `array` is alive.
    let flags = unsafe { (*fields(array)).flags };
    if flags & NPY_ARRAY_WRITEABLE == 0 {
        return Err(PyTypeError::new_err("the array must be writable, not read-only"));
    }
    Ok(())
}

/// The addresses of the elements of a C-contiguous array.
pub(crate) struct ElementAddresses<'a, 'py> {
    array: &'a Bound<'py, PyUntypedArray>,
    itemsize: usize,
}

impl<'a, 'py> ElementAddresses<'a, 'py> {
    /// Returns the elements of an array.
    pub(crate) fn new(array: &'a Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        if !array.is_c_contiguous() {
            return Err(PyTypeError::new_err("the array must be C-contiguous, without Python objects"));
        }
        Ok(Self { array, itemsize: array.dtype().itemsize() })
    }

    /// Returns the address of element `index`, which is valid while the array is alive.
    pub(crate) fn at(&self, index: usize) -> *mut c_void {
        assert!(index < self.array.len());
        // SAFETY: the element is inside the array (just asserted).
        unsafe { (*fields(self.array)).data.add(index * self.itemsize).cast() }
    }
}

/// The elements of a C-contiguous array, which may contain references to Python objects.
pub(crate) struct Places<'a, 'py> {
    array: &'a Bound<'py, PyUntypedArray>,
    len: usize,
}

impl<'a, 'py> Places<'a, 'py> {
    /// Returns the elements of an array. `put` and `fill` are only for a new array from [`empty`] that no
    /// other code refers to.
    pub(crate) fn new(array: &'a Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        if !array.is_c_contiguous() {
            return Err(PyTypeError::new_err("the array must be C-contiguous, without Python objects"));
        }
        Ok(Self { array, len: array.len() * array.dtype().itemsize() })
    }

    /// Returns the address of the `len` bytes at `offset` in the array.
    fn at(&self, offset: usize, len: usize) -> *mut u8 {
        assert!(offset <= self.len && len <= self.len - offset);
        // SAFETY: the bytes are inside the array (just asserted), which keeps them while it is borrowed.
        unsafe { (*fields(self.array)).data.add(offset).cast() }
    }

    /// Returns the address of the object reference at `offset`, where the dtype must have an object. The
    /// address may be unaligned.
    fn object(&self, offset: usize) -> *mut *mut ffi::PyObject {
        self.at(offset, size_of::<*mut ffi::PyObject>()).cast()
    }

    /// Stores a reference to `object` at `offset`, where the dtype must have an object.
    pub(crate) fn put(&mut self, offset: usize, object: Bound<'py, PyAny>) {
        let place = self.object(offset);
        // SAFETY: the place is inside the array. By the contract, it has NULL or a reference that the array
        // owns. The new reference replaces the old one, which is then released.
        unsafe {
            let before = place.read_unaligned();
            place.write_unaligned(object.into_ptr());
            ffi::Py_XDECREF(before);
        }
    }

    /// Returns the object at `offset`, where the dtype must have an object, or `None` for a `NULL` reference.
    pub(crate) fn get(&self, offset: usize) -> Option<Bound<'py, PyAny>> {
        // SAFETY: the place is inside the array. By the contract, it has NULL or a reference that the array
        // owns. The call makes a new reference.
        unsafe { Bound::from_borrowed_ptr_or_opt(self.array.py(), self.object(offset).read_unaligned()) }
    }

    /// Whether there is an object at `offset`, where the dtype must have one.
    pub(crate) fn has(&self, offset: usize) -> bool {
        // SAFETY: the place is inside the array. The reference is not followed.
        unsafe { !self.object(offset).read_unaligned().is_null() }
    }

    /// Copies `bytes` to `offset`. The bytes must not contain objects.
    pub(crate) fn fill(&mut self, offset: usize, bytes: &[u8]) {
        // SAFETY: the bytes are inside the array, which is new: no other code refers to its memory.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at(offset, bytes.len()), bytes.len()) }
    }

    /// Copies the bytes at `offset` to `bytes`. The bytes must not contain objects.
    pub(crate) fn copy(&self, offset: usize, bytes: &mut [u8]) {
        // SAFETY: the source is inside the array. `bytes` is borrowed mutably, so it is outside the array.
        unsafe {
            std::ptr::copy_nonoverlapping(self.at(offset, bytes.len()), bytes.as_mut_ptr(), bytes.len());
        }
    }
}

/// Returns an instance of `class`, a named tuple of `N` fields. The constructor, which takes ten times as
/// long, is not called.
pub(crate) fn named_tuple<'py, const N: usize>(
    class: &Bound<'py, PyType>,
    values: [Bound<'py, PyAny>; N],
) -> PyResult<Bound<'py, PyTuple>> {
    let py = class.py();
    let len = ffi::Py_ssize_t::try_from(N)?;
    assert!(class.is_subclass_of::<PyTuple>()?);
    // SAFETY: `class` is a subclass of tuple (just asserted). The call allocates an instance with `N` empty
    // places, as `tuple.__new__` does. No other code refers to the instance, so each place may be set.
    unsafe {
        let tuple = Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(class.as_type_ptr(), len))?;
        for (place, value) in (0..).zip(values) {
            ffi::PyTuple_SetItem(tuple.as_ptr(), place, value.into_ptr());
        }
        Ok(tuple.cast_into_unchecked())
    }
}

/// Returns the text that bytes are in UTF-8. `errors` says what to do with others, as for `bytes.decode`.
pub(crate) fn text<'py>(py: Python<'py>, bytes: &[u8], errors: &CStr) -> PyResult<Bound<'py, PyAny>> {
    let len = ffi::Py_ssize_t::try_from(bytes.len())?;
    // SAFETY: the call reads `len` bytes. It returns a new reference or NULL with an exception set.
    unsafe {
        let text = ffi::PyUnicode_DecodeUTF8(bytes.as_ptr().cast(), len, errors.as_ptr());
        Bound::from_owned_ptr_or_err(py, text)
    }
}

/// Returns whether the reference of the caller is the only one to an object.
pub(crate) fn is_unshared(object: &Bound<'_, PyTuple>) -> bool {
    // SAFETY: the object is alive. Its reference count is read under the GIL.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) == 1 }
}

/// Sets an element of a tuple that has no other references.
pub(crate) fn put(tuple: &Bound<'_, PyTuple>, index: usize, value: Bound<'_, PyAny>) -> PyResult<()> {
    let index = ffi::Py_ssize_t::try_from(index)?;
    // SAFETY: the call takes the reference to `value`. It raises if the tuple has other references, or no
    // such index.
    let status = unsafe { ffi::PyTuple_SetItem(tuple.as_ptr(), index, value.into_ptr()) };
    if status == 0 { Ok(()) } else { Err(PyErr::fetch(tuple.py())) }
}

/// Returns `function(argument)`. Creates no tuple of arguments if the function does not need one.
pub(crate) fn call<'py>(
    function: &Bound<'py, PyAny>,
    argument: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the call borrows both objects, and NULL ends its arguments as required. It returns a new
    // reference or NULL with an exception set.
    unsafe {
        let none: *mut ffi::PyObject = std::ptr::null_mut();
        let result = ffi::PyObject_CallFunctionObjArgs(function.as_ptr(), argument.as_ptr(), none);
        Bound::from_owned_ptr_or_err(function.py(), result)
    }
}

/// The elements of a dataset where they are, as a buffer of Python. Arrays over it keep it alive.
#[pyclass(frozen, module = "hyperslab._native")]
#[derive(Debug)]
pub(crate) struct Pages(pub(crate) InPlace);

#[pymethods]
impl Pages {
    #[expect(clippy::needless_pass_by_value, reason = "the signature of Python's buffer protocol")]
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, buffer: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let bytes = slf.get().0.bytes().or_raise()?;
        let len = ffi::Py_ssize_t::try_from(bytes.len())?;
        let start = bytes.as_ptr().cast_mut().cast::<c_void>();
        // SAFETY: Python gives a valid description, or NULL, which the call refuses. The call takes a
        // reference to the owner, which keeps the bytes in place. It marks them as not writable, and raises
        // if the flags ask to write.
        let status = unsafe { ffi::PyBuffer_FillInfo(buffer, slf.as_ptr(), start, len, 1, flags) };
        if status == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}
