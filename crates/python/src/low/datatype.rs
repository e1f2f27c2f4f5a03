//! The identifier of a committed datatype.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::handles::datatype::Datatype;
use crate::handles::identifier::ObjectID;
use crate::values::description::describe;

/// The low-level identifier of a committed datatype.
///
/// Example:
///     >>> file["count"] = np.dtype("i4")
///     >>> file["count"].id.name
///     b'/count'
#[pyclass(frozen, subclass, extends = ObjectID, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct TypeID {
    datatype: Py<Datatype>,
}

#[pymethods]
impl TypeID {
    #[new]
    fn new(object: &Bound<'_, Datatype>) -> PyClassInitializer<Self> {
        ObjectID::base(object.as_super()).add_subclass(Self { datatype: object.clone().unbind() })
    }

    /// The NumPy dtype of the datatype.
    ///
    /// Raises:
    ///     TypeError: NumPy has no dtype for the datatype.
    ///
    /// Example:
    ///     >>> file["count"] = np.dtype("i4")
    ///     >>> file["count"].id.dtype
    ///     dtype('int32')
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.datatype.bind(py).getattr("dtype")
    }

    /// The datatype as `hyperslab.low.h5t` describes it.
    #[getter]
    fn _description<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        describe(py, self.datatype.get().datatype.datatype())
    }
}
