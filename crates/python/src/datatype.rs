//! Committed datatypes.

use numpy::PyArrayDescr;
use pyo3::prelude::*;

use crate::dtype::Translation;
use crate::object::{HLObject, base_name};

/// A datatype that is an object of the file.
#[pyclass(frozen, extends = HLObject, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct Datatype {
    /// The object.
    pub(crate) datatype: hyperslab::NamedDatatype,
}

#[pymethods]
impl Datatype {
    #[getter]
    fn dtype(slf: &Bound<'_, Self>) -> PyResult<Py<PyArrayDescr>> {
        let state = &slf.as_super().get().state;
        state.check()?;
        let widths = state.core.store().widths();
        Ok(Translation::new(slf.py(), slf.get().datatype.datatype(), widths)?.descr)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let object = slf.as_super().get();
        if !object.state.is_open() {
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
