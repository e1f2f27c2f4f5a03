//! The identifier of an attribute.

use hyperslab::{Attribute, Dataspace};
use hyperslab_format::name::to_bytes;
use numpy::PyArrayDescr;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::handles::attrs::AttributeManager;
use crate::handles::classes::wrap;
use crate::interpreter::error::OrRaise;
use crate::transfer::attribute::elements;
use crate::values::description::describe;
use crate::values::dtype::translated;

/// The low-level identifier of an attribute, as h5py calls it: the result of `AttributeManager.get_id`.
///
/// The identifier shows the attribute as it was when the identifier was made.
///
/// Example:
///     >>> scale = dataset.attrs.get_id("scale")
///     >>> scale.name, scale.shape, scale.dtype
///     (b'scale', (), dtype('float64'))
#[pyclass(frozen, subclass, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct AttrID {
    manager: Py<AttributeManager>,
    attribute: Attribute,
}

#[pymethods]
impl AttrID {
    #[new]
    fn new(manager: &Bound<'_, AttributeManager>, name: &Bound<'_, PyAny>) -> PyResult<Self> {
        let attribute = manager.get().find(manager.py(), name)?;
        Ok(Self { manager: manager.clone().unbind(), attribute })
    }

    /// The attributes of the object that has this attribute.
    #[getter]
    fn _manager<'py>(&self, py: Python<'py>) -> Bound<'py, AttributeManager> {
        self.manager.bind(py).clone()
    }

    /// The datatype of the value as `hyperslab.low.h5t` describes it.
    #[getter]
    fn _description<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        describe(py, &self.attribute.datatype)
    }

    /// The committed datatype of the value, or None.
    #[getter]
    fn _named_type<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let AttributeManager { state, node, .. } = self.manager.get();
        state.check()?;
        let found = || match node.committed_datatype_of_attribute(&self.attribute.name)? {
            Some(address) => node.file().object_at(address).map(Some),
            None => Ok(None),
        };
        py.detach(found).or_raise()?.map(|node| wrap(py, state, node)).transpose()
    }

    /// The stored elements, with strings of variable length as bytes.
    fn _elements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        elements(py, &self.manager.get().state, &self.attribute).map(Bound::into_any)
    }

    /// The name of the attribute.
    ///
    /// Example:
    ///     >>> dataset.attrs.get_id("units").name
    ///     b'units'
    #[getter(name)]
    fn bytes_of_name<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &to_bytes(&self.attribute.name))
    }

    /// Returns the name of the attribute.
    ///
    /// Returns:
    ///     The name in UTF-8.
    ///
    /// Example:
    ///     >>> dataset.attrs.get_id("scale").get_name()
    ///     b'scale'
    fn get_name<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.bytes_of_name(py)
    }

    /// The shape of the attribute in elements: () for a scalar, None without a dataspace.
    ///
    /// Example:
    ///     >>> dataset.attrs.get_id("scale").shape
    ///     ()
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match &self.attribute.dataspace {
            Dataspace::Null => Ok(None),
            dataspace => PyTuple::new(py, dataspace.shape()).map(Some),
        }
    }

    /// The dtype of the attribute.
    ///
    /// Raises:
    ///     UnsupportedDtypeError: NumPy has no dtype for the datatype.
    ///
    /// Example:
    ///     >>> dataset.attrs.get_id("scale").dtype
    ///     dtype('float64')
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyArrayDescr>> {
        Ok(translated(py, &self.attribute.datatype, self.manager.get().state.core.store().widths())?.descr)
    }

    /// Returns the stored size of the attribute.
    ///
    /// Returns:
    ///     The size in bytes. The characters of strings of variable length are stored elsewhere and do not
    ///     count.
    ///
    /// Example:
    ///     >>> dataset.attrs.get_id("scale").get_storage_size()
    ///     8
    fn get_storage_size(&self) -> usize {
        self.attribute.data.len()
    }
}
