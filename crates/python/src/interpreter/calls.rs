//! Methods that are written in Python.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Calls `function` of the module `hyperslab.<module>` with `slf` before the other arguments.
pub(crate) fn method<'py>(
    slf: &Bound<'py, PyAny>,
    module: &str,
    function: &str,
    args: &Bound<'py, PyTuple>,
    kwds: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    let all = PyTuple::new(py, std::iter::once(slf.clone()).chain(args.iter()).collect::<Vec<_>>())?;
    py.import(format!("hyperslab.{module}"))?.getattr(function)?.call(all, kwds)
}

/// Returns a view of a mapping: an instance of the class `hyperslab._mapping.<class>`.
pub(crate) fn view<'py>(mapping: &Bound<'py, PyAny>, class: &str) -> PyResult<Bound<'py, PyAny>> {
    mapping.py().import("hyperslab._mapping")?.getattr(class)?.call1((mapping,))
}
