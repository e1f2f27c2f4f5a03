//! The memory and the C interface of NumPy: the only file of the package with unsafe code.

use std::ffi::{c_int, c_void};
use std::mem::size_of;
use std::slice;

use hyperslab::Destination;
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

use crate::error::OrRaise;

/// Returns a new row-major array of `shape` and `descr`. Its elements hold arbitrary bytes, or `NULL` (which
/// reads as `None`) for Python objects. A subarray dtype adds its dimensions to the shape, as in NumPy.
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
    // SAFETY: the call takes the reference to the descriptor that `into_dtype_ptr` gives away, reads `rank`
    // lengths from `dims`, and returns a new reference or NULL with an exception set, which
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

/// Returns the NumPy scalar of one element of `descr`, which holds no Python objects.
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

/// Returns the bytes of a row-major array without gaps.
///
/// The array must be new, or passed by the caller to be written. A caller that passes an array as `out` must
/// not use it until the call returns, as with every NumPy function that releases the GIL.
pub(crate) fn bytes_mut<'a>(array: &'a mut Bound<'_, PyUntypedArray>) -> PyResult<&'a mut [u8]> {
    writable(array)?;
    if !array.is_c_contiguous() || array.dtype().has_object() {
        return Err(PyTypeError::new_err("Array must be C-contiguous and writable"));
    }
    let len = array.len() * array.dtype().itemsize();
    if len == 0 {
        return Ok(&mut []);
    }
    // SAFETY: a contiguous array of `len` bytes keeps its memory while `array` is borrowed; it is writable
    // (just checked), holds no Python objects, so any bytes are valid, and by the contract above no other
    // code uses it.
    unsafe { Ok(slice::from_raw_parts_mut((*fields(array)).data.cast(), len)) }
}

/// Returns the bytes of a row-major array without gaps, for reading.
///
/// The contract is that of NumPy: a caller that passes an array to a function that releases the GIL does not
/// change it meanwhile.
pub(crate) fn bytes<'a>(array: &'a Bound<'_, PyUntypedArray>) -> PyResult<&'a [u8]> {
    if !array.is_c_contiguous() || array.dtype().has_object() {
        return Err(PyTypeError::new_err("Array must be C-contiguous"));
    }
    let len = array.len() * array.dtype().itemsize();
    if len == 0 {
        return Ok(&[]);
    }
    // SAFETY: a contiguous array of `len` bytes keeps its memory while `array` is borrowed, and holds no
    // Python objects, so any bytes are valid; by the contract above no other code writes to it.
    unsafe { Ok(slice::from_raw_parts((*fields(array)).data.cast::<u8>(), len)) }
}

/// Returns the memory of an array, contiguous or strided, as a destination for elements of the shape `shape`.
/// This is the shape of the array, up to axes of length one. Returns `None` if an axis runs backward: the
/// engine cannot write there.
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
        return Err(PyTypeError::new_err("an array of Python objects is not a destination"));
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
    // A subarray dtype has become axes of the array; the elements of the file include them.
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
    // SAFETY: all strides are positive, so the elements lie in the `span` bytes from the first one on, which
    // the array (or its base) keeps while `array` is borrowed; it is writable (just checked), holds no Python
    // objects, and by the contract of `bytes_mut` no other code uses it. Gaps between elements are other
    // elements of the same memory.
    let bytes = unsafe { slice::from_raw_parts_mut((*fields(array)).data.cast(), span) };
    Destination::strided(bytes, shape, &strides, element_size).or_raise().map(Some)
}

/// Returns whether any two of these contiguous arrays share memory.
pub(crate) fn overlap(arrays: &[Bound<'_, PyUntypedArray>]) -> bool {
    let span = |array: &Bound<'_, PyUntypedArray>| {
        // SAFETY: the fields live while `array` does; the address is only compared.
        let begin = unsafe { (*fields(array)).data } as usize;
        (begin, begin + array.len() * array.dtype().itemsize())
    };
    let mut spans: Vec<_> = arrays.iter().map(span).filter(|(begin, end)| begin < end).collect();
    spans.sort_unstable();
    spans.iter().zip(spans.iter().skip(1)).any(|((_, end), (begin, _))| begin < end)
}

/// Returns NumPy's own description of an array, which lives as long as the array.
fn fields(array: &Bound<'_, PyUntypedArray>) -> *const PyArrayObject_fields {
    // SAFETY: `as_array_ptr` points to an array object; only the address of its fields is computed.
    unsafe { _PyArray_GET_ITEM_DATA(array.as_array_ptr().cast_const()) }
}

fn writable(array: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    // SAFETY: the fields live while `array` does.
    let flags = unsafe { (*fields(array)).flags };
    if flags & NPY_ARRAY_WRITEABLE == 0 {
        return Err(PyTypeError::new_err("Array must be C-contiguous and writable"));
    }
    Ok(())
}

/// The elements of a row-major array without gaps. Some of their bytes are places of Python objects.
pub(crate) struct Places<'a, 'py> {
    array: &'a Bound<'py, PyUntypedArray>,
    len: usize,
}

impl<'a, 'py> Places<'a, 'py> {
    /// Returns the elements of an array. Methods that write need a new array of [`empty`], which no other
    /// code refers to.
    pub(crate) fn new(array: &'a Bound<'py, PyUntypedArray>) -> PyResult<Self> {
        if !array.is_c_contiguous() {
            return Err(PyTypeError::new_err("Array must be C-contiguous"));
        }
        Ok(Self { array, len: array.len() * array.dtype().itemsize() })
    }

    /// Returns the address of `len` bytes at `offset`.
    fn at(&self, offset: usize, len: usize) -> *mut u8 {
        assert!(offset <= self.len && len <= self.len - offset);
        // SAFETY: the bytes lie inside the array (just asserted), which keeps them while it is borrowed.
        unsafe { (*fields(self.array)).data.add(offset).cast() }
    }

    /// Returns the address of an object at `offset`. The dtype must have an object there. The address may be
    /// unaligned.
    fn object(&self, offset: usize) -> *mut *mut ffi::PyObject {
        self.at(offset, size_of::<*mut ffi::PyObject>()).cast()
    }

    /// Stores `object` at `offset`. The dtype must have a place for an object there.
    pub(crate) fn put(&mut self, offset: usize, object: Bound<'py, PyAny>) {
        let place = self.object(offset);
        // SAFETY: by the contract the place, which lies inside the array, is one of an object: NULL or a
        // reference that the array owns, which is replaced and given up.
        unsafe {
            let before = place.read_unaligned();
            place.write_unaligned(object.into_ptr());
            ffi::Py_XDECREF(before);
        }
    }

    /// Returns the object at `offset`, or `None` if its place is empty. The dtype must have an object there.
    pub(crate) fn get(&self, offset: usize) -> Option<Bound<'py, PyAny>> {
        // SAFETY: by the contract the place, which lies inside the array, is one of an object: NULL or a
        // reference that the array owns, of which a new one is made.
        unsafe { Bound::from_borrowed_ptr_or_opt(self.array.py(), self.object(offset).read_unaligned()) }
    }

    /// Copies bytes that hold no objects to `offset`.
    pub(crate) fn fill(&mut self, offset: usize, bytes: &[u8]) {
        // SAFETY: the bytes lie inside the array, which is new: no other code refers to its memory.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at(offset, bytes.len()), bytes.len()) }
    }

    /// Copies bytes that hold no objects from `offset`.
    pub(crate) fn copy(&self, offset: usize, bytes: &mut [u8]) {
        // SAFETY: the bytes lie inside the array, and `bytes` is not part of it: it is borrowed to be
        // changed.
        unsafe {
            std::ptr::copy_nonoverlapping(self.at(offset, bytes.len()), bytes.as_mut_ptr(), bytes.len());
        }
    }
}

/// Returns an instance of `class`, a named tuple of `N` fields, without calling its constructor. This is ten
/// times as fast.
pub(crate) fn named_tuple<'py, const N: usize>(
    class: &Bound<'py, PyType>,
    values: [Bound<'py, PyAny>; N],
) -> PyResult<Bound<'py, PyTuple>> {
    let py = class.py();
    let len = ffi::Py_ssize_t::try_from(N)?;
    assert!(class.is_subclass_of::<PyTuple>()?);
    // SAFETY: `class` is a tuple by inheritance (just asserted). An instance is allocated as `tuple.__new__`
    // does it, with `N` empty places, and no other code has seen it, so that each place may be given a
    // reference.
    unsafe {
        let tuple = Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(class.as_type_ptr(), len))?;
        for (place, value) in (0..).zip(values) {
            ffi::PyTuple_SetItem(tuple.as_ptr(), place, value.into_ptr());
        }
        Ok(tuple.cast_into_unchecked())
    }
}

/// Returns whether the reference of the caller is the only one to an object.
pub(crate) fn is_unshared(object: &Bound<'_, PyTuple>) -> bool {
    // SAFETY: the object is alive; its count of references is read under the GIL.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) == 1 }
}

/// Stores `value` in a tuple that no other code refers to.
pub(crate) fn put(tuple: &Bound<'_, PyTuple>, index: usize, value: Bound<'_, PyAny>) -> PyResult<()> {
    let index = ffi::Py_ssize_t::try_from(index)?;
    // SAFETY: the call takes the reference to `value`. It raises if the tuple has other references, or no
    // such index.
    let status = unsafe { ffi::PyTuple_SetItem(tuple.as_ptr(), index, value.into_ptr()) };
    if status == 0 { Ok(()) } else { Err(PyErr::fetch(tuple.py())) }
}

/// Calls `function(argument)`, without a tuple of arguments if the function allows it.
pub(crate) fn call<'py>(
    function: &Bound<'py, PyAny>,
    argument: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: borrows both objects, ended by NULL as the call demands, and returns a new reference or NULL
    // with an exception set.
    unsafe {
        let none: *mut ffi::PyObject = std::ptr::null_mut();
        let result = ffi::PyObject_CallFunctionObjArgs(function.as_ptr(), argument.as_ptr(), none);
        Bound::from_owned_ptr_or_err(function.py(), result)
    }
}
