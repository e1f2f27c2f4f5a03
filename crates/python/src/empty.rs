//! The value of datasets and attributes with a null dataspace: a dtype without elements.

use numpy::PyArrayDescr;
use numpy::prelude::*;
use pyo3::prelude::*;

use crate::dtype::descr_of;

/// The value of a dataset or an attribute without a dataspace: a dtype without elements.
///
/// Args:
///     dtype: The dtype.
///
/// Example:
///     >>> file["nothing"] = hs.Empty("f4")
///     >>> file["nothing"][()]
///     Empty(dtype=dtype('float32'))
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct Empty {
    /// The dtype.
    ///
    /// Example:
    ///     >>> hs.Empty("f4").dtype
    ///     dtype('float32')
    #[pyo3(get)]
    dtype: Py<PyArrayDescr>,
}

impl Empty {
    /// Returns the empty value of `dtype`.
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

    /// Always None.
    ///
    /// Example:
    ///     >>> hs.Empty("f4").shape is None
    ///     True
    #[getter]
    #[allow(clippy::unused_self)] // A property of every instance.
    fn shape(&self) -> Option<usize> {
        None
    }

    /// Always None.
    ///
    /// Example:
    ///     >>> hs.Empty("f4").size is None
    ///     True
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
