//! Names of objects, links and attributes, and paths, between Python and HDF5.

use std::convert::Infallible;
use std::path::PathBuf;

use hyperslab_format::name;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};

/// A name or a path on its way to Python: a `str`, or `bytes` if it is not UTF-8, as in h5py.
#[derive(Debug)]
pub(crate) struct Name<T>(pub(crate) T);

impl<'py, T: AsRef<str>> IntoPyObject<'py> for Name<T> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Infallible> {
        let bytes = name::to_bytes(self.0.as_ref());
        Ok(match std::str::from_utf8(&bytes) {
            Ok(text) => PyString::new(py, text).into_any(),
            Err(_) => PyBytes::new(py, &bytes).into_any(),
        })
    }
}

/// Returns a path for the text that describes an object: one that is not UTF-8 as Python writes bytes.
pub(crate) fn shown(py: Python<'_>, path: &str) -> PyResult<String> {
    if name::is_utf8(path) {
        return Ok(path.to_owned());
    }
    Ok(Name(path).into_pyobject(py)?.str()?.to_string())
}

/// Returns names on their way to Python.
pub(crate) fn names(names: Vec<String>) -> Vec<Name<String>> {
    names.into_iter().map(Name).collect()
}

/// Returns a name given as `str` or `bytes`, or `None` for an object of another type.
pub(crate) fn name_of(name: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if let Ok(text) = name.cast::<PyString>() {
        return Ok(Some(name::from_bytes(text.to_cow()?.as_bytes())));
    }
    if let Ok(bytes) = name.cast::<PyBytes>() {
        return Ok(Some(name::from_bytes(bytes.as_bytes())));
    }
    Ok(None)
}

/// Returns a name given as `str` or `bytes`. Raises h5py's `TypeError` for an object of another type.
pub(crate) fn name_required(name: &Bound<'_, PyAny>) -> PyResult<String> {
    name_of(name)?.ok_or_else(|| {
        PyTypeError::new_err(format!("A name should be string or bytes, not {}", name.get_type()))
    })
}

/// Returns the last component of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or("")
}

/// Returns the path without its last component.
pub(crate) fn parent_of(path: &str) -> &str {
    match path.trim_end_matches('/').rfind('/') {
        None | Some(0) => "/",
        Some(end) => &path[..end],
    }
}

/// Returns the path in a `str`, `bytes` or `os.PathLike`.
pub(crate) fn path_of(name: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    if name.is_instance_of::<PyByteArray>() || name.is_instance_of::<PyMemoryView>() {
        return Err(PyTypeError::new_err(
            "a path is a str, bytes or os.PathLike; File.from_bytes opens the bytes of a file",
        ));
    }
    if name.cast::<PyBytes>().is_ok_and(|bytes| bytes.as_bytes().contains(&0)) {
        return Err(PyValueError::new_err(
            "a path cannot contain zero bytes; File.from_bytes opens the bytes of a file",
        ));
    }
    name.py().import("os")?.call_method1("fsdecode", (name,))?.extract()
}
