//! Datasets and attributes without a dataspace: a dtype, and nothing of it.

use numpy::PyArrayDescr;
use numpy::prelude::*;
use pyo3::prelude::*;

use crate::dtype::descr_of;

/// What reading such a dataset gives: it has a dtype, but no shape and no data.
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct Empty {
    /// The dtype.
    #[pyo3(get)]
    dtype: Py<PyArrayDescr>,
}

impl Empty {
    /// Nothing of `dtype`.
    pub(crate) fn new(dtype: Py<PyArrayDescr>) -> Self {
        Self { dtype }
    }
}

#[pymethods]
impl Empty {
    #[new]
    fn make(dtype: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { dtype: descr_of(dtype)?.unbind() })
    }

    #[getter]
    #[allow(clippy::unused_self)] // A property of every instance.
    fn shape(&self) -> Option<usize> {
        None
    }

    #[getter]
    #[allow(clippy::unused_self)] // A property of every instance.
    fn size(&self) -> Option<usize> {
        None
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.dtype.bind(py).is_equiv_to(other.get().dtype.bind(py)))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Empty(dtype={})", self.dtype.bind(py).repr()?))
    }
}
