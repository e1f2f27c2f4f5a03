//! The value of datasets and attributes with a null dataspace: a dtype without elements.

use numpy::PyArrayDescr;
use numpy::prelude::*;
use pyo3::prelude::*;

use crate::values::dtype::descr_of;

/// The value of a dataset or attribute that has a dtype and no elements (a null dataspace).
///
/// `group[name] = Empty(dtype)` makes such a dataset. Reading it returns an `Empty`. Two are equal if their
/// dtypes are equal. An `Empty` has no hash.
///
/// Args:
///     dtype: The dtype.
///
/// Raises:
///     TypeError: NumPy does not know the dtype.
///
/// Example:
///     >>> file["nothing"] = hs.Empty("f4")
///     >>> file["nothing"][()]
///     Empty(dtype=dtype('float32'))
///     >>> file["nothing"][()] == hs.Empty("f4")
///     True
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct Empty {
    /// The dtype that the elements would have.
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

    /// None: an `Empty` has no shape.
    ///
    /// Example:
    ///     >>> hs.Empty("f4").shape is None
    ///     True
    #[getter]
    #[allow(clippy::unused_self)] // A property of every instance.
    fn shape(&self) -> Option<usize> {
        None
    }

    /// None: an `Empty` has no elements.
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

    /// Returns the arguments that pickling passes to the constructor.
    fn __getnewargs__(&self, py: Python<'_>) -> (Py<PyArrayDescr>,) {
        (self.dtype.clone_ref(py),)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Empty(dtype={})", self.dtype.bind(py).repr()?))
    }
}
