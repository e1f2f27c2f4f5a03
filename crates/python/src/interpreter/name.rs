//! Names of links and attributes as Python objects.

use std::convert::Infallible;

use hyperslab_format::name;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

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
