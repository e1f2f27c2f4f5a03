//! Committed datatypes.

use hyperslab::Node;
use hyperslab_format::datatype::Datatype as StoredDatatype;
use numpy::PyArrayDescr;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::handles::identifier::ObjectID;
use crate::handles::object::HLObject;
use crate::handles::opened::Opened;
use crate::interpreter::name::base_name;
use crate::values::description::described;
use crate::values::dtype::translated;

/// A committed datatype: a datatype that is an object of the file, with a name and attributes.
///
/// `group[name] = dtype` commits a datatype. `create_dataset` takes a `Datatype` as `dtype`; the datatype is
/// then stored once and the dataset refers to it.
///
/// Args:
///     bind: The identifier of a committed datatype. Subclasses use this constructor.
///
/// Example:
///     >>> file["float"] = np.dtype("f8")
///     >>> file["float"]
///     <HDF5 named type "float" (dtype <f8)>
///     >>> file.create_dataset("x", (2,), dtype=file["float"]).dtype
///     dtype('float64')
#[pyclass(frozen, subclass, extends = HLObject, module = "hyperslab")]
pub(crate) struct Datatype {
    /// The object.
    pub(crate) datatype: Opened<hyperslab::NamedDatatype>,
    /// The identifier of a datatype that is in no file.
    pub(crate) transient: PyOnceLock<Py<PyAny>>,
}

impl Datatype {
    pub(crate) fn of(datatype: Opened<hyperslab::NamedDatatype>) -> Self {
        Self { datatype, transient: PyOnceLock::new() }
    }

    /// Returns the stored datatype.
    pub(crate) fn stored(&self, py: Python<'_>) -> PyResult<StoredDatatype> {
        match self.transient.get(py) {
            Some(id) => described(&id.bind(py).getattr("_description")?),
            None => Ok(self.datatype.datatype().clone()),
        }
    }
}

#[pymethods]
impl Datatype {
    #[new]
    #[pyo3(signature = (*_args, **_kwds), text_signature = "(bind)")]
    fn new(_args: &Bound<'_, PyTuple>, _kwds: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        PyClassInitializer::from(HLObject::unopened()).add_subclass(Self::of(Opened::not_yet()))
    }

    fn __init__(slf: &Bound<'_, Self>, bind: &Bound<'_, PyAny>) -> PyResult<()> {
        if ObjectID::is_transient_type(bind)? {
            let set = slf.get().transient.set(slf.py(), bind.clone().unbind());
            return set.map_err(|_| PyRuntimeError::new_err("the datatype is already open"));
        }
        let (state, node) = ObjectID::object(bind)?;
        let Node::Datatype(datatype) = &node else {
            return Err(PyValueError::new_err(format!("{bind} is not a TypeID")));
        };
        slf.get().datatype.set(datatype.clone())?;
        slf.as_super().get().open(state, node, false)
    }

    /// The NumPy dtype of the datatype.
    ///
    /// Raises:
    ///     TypeError: NumPy has no dtype for the datatype.
    ///
    /// Example:
    ///     >>> file["count"] = np.dtype("i4")
    ///     >>> file["count"].dtype
    ///     dtype('int32')
    #[getter]
    fn dtype(slf: &Bound<'_, Self>) -> PyResult<Py<PyArrayDescr>> {
        if let Some(id) = slf.get().transient.get(slf.py()) {
            return Ok(id.bind(slf.py()).getattr("dtype")?.extract()?);
        }
        let state = &slf.as_super().get().state;
        state.check()?;
        let widths = state.core.store().widths();
        Ok(translated(slf.py(), slf.get().datatype.datatype(), widths)?.descr)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let object = slf.as_super().get();
        if slf.get().transient.get(slf.py()).is_some() {
            let dtype = Self::dtype(slf)?;
            return Ok(format!(
                "<HDF5 named type (\"anonymous\") (dtype {})>",
                dtype.bind(slf.py()).getattr("str")?
            ));
        }
        if !object.is_open() {
            return Ok("<Closed HDF5 named type>".to_owned());
        }
        let name = match object.path(slf.py())? {
            Some(path) => format!("\"{}\"", if path == "/" { path } else { base_name(path) }),
            None => "(\"anonymous\")".to_owned(),
        };
        let dtype = Self::dtype(slf)?;
        Ok(format!("<HDF5 named type {name} (dtype {})>", dtype.bind(slf.py()).getattr("str")?))
    }
}
