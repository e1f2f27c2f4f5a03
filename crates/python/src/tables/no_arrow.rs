//! Arrow in a build without it: the classes are there, and making one says how to get them.

use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// A scan, which this build cannot make.
#[pyclass(frozen, module = "hyperslab", name = "_Scan")]
pub(crate) struct PyScan;

#[pymethods]
impl PyScan {
    #[new]
    #[pyo3(signature = (*_args, **_options))]
    fn new(_args: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Err(absent())
    }
}

/// Rows from Arrow, which this build cannot take.
#[pyclass(frozen, module = "hyperslab", name = "_ArrowRows")]
pub(crate) struct ArrowRows;

#[pymethods]
impl ArrowRows {
    #[new]
    fn new(_rows: &Bound<'_, PyAny>) -> PyResult<Self> {
        Err(absent())
    }
}

fn absent() -> PyErr {
    PyNotImplementedError::new_err(hyperslab::internals::absent("does not have Arrow", "arrow"))
}
