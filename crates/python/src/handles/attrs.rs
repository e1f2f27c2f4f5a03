//! Attributes, as a mapping from names to values.

use std::sync::Arc;

use hyperslab::{Attribute, Node, RequestError};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::name::is_utf8;
use numpy::PyUntypedArray;
use numpy::prelude::*;
use pyo3::exceptions::{PyKeyError, PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyTuple};

use crate::handles::classes::identifier;
use crate::handles::create::{dataspace, datatype};
use crate::handles::file::File;
use crate::handles::object::HLObject;
use crate::interpreter::calls;
use crate::interpreter::error::{OrRaise, exception};
use crate::interpreter::name::{self, Name, name_required};
use crate::opening::state::{FileState, writable};
use crate::transfer::attribute::{memory_datatype, value};
use crate::values::buffer;
use crate::values::description::described;
use crate::values::dtype::translated;
use crate::values::objects;
use crate::values::objects_write;
use crate::values::plain::{self, PlainNumber};

/// The attributes of an object: a mutable mapping from names to values.
///
/// Reading gives a NumPy scalar or array, `str` for strings of variable length, `np.bytes_` for strings of
/// fixed length, and `Empty` for an attribute without a dataspace. Names are listed in the order of creation
/// if the object tracks the order, otherwise by name. After the file is closed, reading and changing
/// attributes raises `ClosedError`. `ClosedError` is also a KeyError, so `get` and `pop` then return the
/// default. Two mappings are equal if they have equal names and values.
///
/// Args:
///     parent: The object that has the attributes. `parent.attrs` is the same mapping.
///
/// Example:
///     >>> dataset.attrs["units"]
///     'K'
///     >>> dataset.attrs["limits"] = np.array([180, 330], dtype="i2")
///     >>> dict(dataset.attrs)
///     {'limits': array([180, 330], dtype=int16), 'scale': np.float64(1.5), 'units': 'K'}
///     >>> "scale" in dataset.attrs, len(dataset.attrs)
///     (True, 3)
///     >>> del dataset.attrs["scale"]
#[pyclass(frozen, mapping, weakref, dict, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct AttributeManager {
    /// The file.
    pub(crate) state: Arc<FileState>,
    /// The object.
    pub(crate) node: Node,
    pub(crate) object: Py<HLObject>,
}

impl AttributeManager {
    fn by_python<'py>(
        slf: &Bound<'py, Self>,
        function: &str,
        args: impl pyo3::call::PyCallArgs<'py>,
    ) -> PyResult<()> {
        writable::<PyOSError>(&slf.get().state, "write an attribute")?;
        slf.py().import("hyperslab._write")?.getattr(function)?.call1(args).map(drop)
    }

    /// Sets an attribute to a number or an array of numbers. For any other value, only returns false.
    fn set_plain(&self, py: Python<'_>, name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(name) = name.extract::<&str>() else { return Ok(false) };
        if !is_utf8(name) {
            return Ok(false);
        }
        let (dataspace, datatype, data) = if let Some(number) = PlainNumber::of(value) {
            let (datatype, data) = number.as_new_element();
            (Dataspace::Scalar, datatype, data)
        } else if let Some((array, datatype)) = plain::new_array(value)? {
            let shape = array.shape().iter().map(|&len| len as u64).collect();
            (dataspace(Some(shape), None), datatype, buffer::bytes(array)?.to_vec())
        } else {
            return Ok(false);
        };
        writable::<PyOSError>(&self.state, "write an attribute")?;
        let attribute = Attribute { name: name.to_owned(), datatype, dataspace, data };
        self.put(py, &attribute, None)?;
        Ok(true)
    }

    /// Creates or replaces an attribute. Its datatype may be a committed one.
    fn put(
        &self,
        py: Python<'_>,
        attribute: &Attribute,
        committed: Option<&hyperslab::NamedDatatype>,
    ) -> PyResult<()> {
        let put = || self.node.put_attribute_of(attribute, committed);
        py.detach(put).or_raise()
    }

    pub(crate) fn find(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<Attribute> {
        let name = name_required(name)?;
        self.state.check()?;
        found(&name, py.detach(|| self.node.attribute(&name)))
    }

    fn list(&self, py: Python<'_>) -> PyResult<Vec<Name<String>>> {
        self.state.check()?;
        py.detach(|| self.node.attribute_names()).or_raise().map(name::names)
    }
}

#[pymethods]
impl HLObject {
    /// The attributes of the object, a mapping from names to values.
    ///
    /// Example:
    ///     >>> dataset.attrs["units"]
    ///     'K'
    ///     >>> file.attrs["title"] = "Stations"
    ///     >>> list(file.attrs)
    ///     ['title']
    #[getter]
    fn attrs(slf: &Bound<'_, Self>) -> PyResult<AttributeManager> {
        let this = slf.get();
        if slf.is_instance_of::<File>() {
            this.state.check()?;
        }
        let object = slf.clone().unbind();
        Ok(AttributeManager { state: Arc::clone(&this.state), node: this.node.clone(), object })
    }
}

#[pymethods]
impl AttributeManager {
    #[new]
    fn new(parent: &Bound<'_, HLObject>) -> PyResult<Self> {
        HLObject::attrs(parent)
    }

    fn __eq__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        calls::method(slf.as_any(), "_mapping", "equal", &PyTuple::new(slf.py(), [other])?, None)
    }

    /// The low-level identifier of the object that has the attributes.
    #[getter]
    fn _id<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        identifier(self.object.bind(py))
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let attribute = self.find(py, name)?;
        value(py, &self.state, &attribute)
    }

    fn __contains__(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let name = name_required(name)?;
        self.state.check()?;
        match py.detach(|| self.node.attribute(&name)) {
            Ok(_) => Ok(true),
            Err(error) if is_missing(&error) => Ok(false),
            Err(error) => Err(exception(&error)),
        }
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.list(py)?.len())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.list(py)?)?.try_iter()
    }

    fn __reversed__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.list(py)?.into_iter().rev())?.try_iter()
    }

    /// Returns a view of the names.
    ///
    /// Example:
    ///     >>> list(dataset.attrs.keys())
    ///     ['scale', 'units']
    fn keys<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        calls::view(slf.as_any(), "KeysViewHDF5")
    }

    /// Returns a view of the values.
    ///
    /// Example:
    ///     >>> list(dataset.attrs.values())
    ///     [np.float64(1.5), 'K']
    fn values<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        calls::view(slf.as_any(), "ValuesViewHDF5")
    }

    /// Returns a view of the pairs of names and values.
    ///
    /// Example:
    ///     >>> for name, value in dataset.attrs.items():
    ///     ...     print(name, value)
    ///     scale 1.5
    ///     units K
    fn items<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        calls::view(slf.as_any(), "ItemsViewHDF5")
    }

    /// Returns the value of an attribute, or a default if there is no such attribute.
    ///
    /// Args:
    ///     name: The name.
    ///     default: The result if there is no attribute of this name.
    ///
    /// Returns:
    ///     The value, as `attrs[name]` gives it, or `default`.
    ///
    /// Example:
    ///     >>> dataset.attrs.get("units")
    ///     'K'
    ///     >>> dataset.attrs.get("offset", 0)
    ///     0
    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.__getitem__(py, name) {
            Err(error) if error.is_instance_of::<PyKeyError>(py) => Ok(default),
            found => found.map(Some),
        }
    }

    /// Returns the low-level identifier of an attribute: shape and dtype without the value.
    ///
    /// Args:
    ///     name: The name.
    ///
    /// Returns:
    ///     The identifier.
    ///
    /// Raises:
    ///     KeyError: There is no attribute of this name.
    ///
    /// Example:
    ///     >>> dataset.attrs.get_id("scale").dtype
    ///     dtype('float64')
    fn get_id<'py>(slf: &Bound<'py, Self>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("hyperslab.low.h5a")?.getattr("AttrID")?.call1((slf, name))
    }

    fn __setitem__(slf: &Bound<'_, Self>, name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if slf.get().set_plain(slf.py(), name, value)? {
            return Ok(());
        }
        Self::by_python(slf, "set_attribute", (slf, name, value))
    }

    fn __delitem__(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<()> {
        writable::<PyKeyError>(&self.state, "delete an attribute")?;
        let name = name_required(name)?;
        found(&name, py.detach(|| self.node.remove_attribute(&name)))
    }

    /// Creates an attribute of a given shape and dtype. An attribute of the same name is replaced.
    ///
    /// Args:
    ///     name: The name.
    ///     data: The value: a scalar, an array, or `Empty`.
    ///     shape: The shape in elements. The default is the shape of `data`.
    ///     dtype: The dtype, or a committed `Datatype`. The default is the dtype of `data`.
    ///
    /// Raises:
    ///     ValueError: `shape` has another number of elements than `data`.
    ///     TypeError: The dtype has no equivalent in HDF5.
    ///     OSError: The file is open for reading.
    ///
    /// Example:
    ///     >>> dataset.attrs.create("grid", [1, 2, 3, 4], shape=(2, 2), dtype="i2")
    ///     >>> dataset.attrs["grid"]
    ///     array([[1, 2],
    ///            [3, 4]], dtype=int16)
    #[pyo3(signature = (name, data, shape=None, dtype=None))]
    fn create(
        slf: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        shape: Option<&Bound<'_, PyAny>>,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        Self::by_python(slf, "set_attribute", (slf, name, data, shape, dtype))
    }

    /// Changes the value of an attribute and keeps the shape and the dtype.
    ///
    /// An attribute that does not exist is created, as `attrs[name] = value` creates it.
    ///
    /// Args:
    ///     name: The name.
    ///     value: The new value. The value is converted to the dtype of the attribute.
    ///
    /// Raises:
    ///     TypeError: The value has another shape than the attribute.
    ///     ValueError: The value cannot be converted.
    ///     OSError: The attribute is empty, or the file is open for reading.
    ///
    /// Example:
    ///     >>> dataset.attrs.modify("scale", 2)
    ///     >>> dataset.attrs["scale"]
    ///     np.float64(2.0)
    fn modify(slf: &Bound<'_, Self>, name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        Self::by_python(slf, "modify_attribute", (slf, name, value))
    }

    /// Renames an attribute.
    ///
    /// Args:
    ///     source: The present name.
    ///     dest: The new name.
    ///
    /// Raises:
    ///     KeyError: There is no attribute of the name `source`.
    ///     ValueError: There is an attribute of the name `dest`.
    ///     OSError: The file is open for reading.
    ///
    /// Example:
    ///     >>> dataset.attrs.rename("scale", "factor")
    ///     >>> list(dataset.attrs)
    ///     ['factor', 'units']
    fn rename(&self, py: Python<'_>, source: &Bound<'_, PyAny>, dest: &Bound<'_, PyAny>) -> PyResult<()> {
        writable::<PyOSError>(&self.state, "rename an attribute")?;
        let (source, dest) = (name_required(source)?, name_required(dest)?);
        found(&source, py.detach(|| self.node.rename_attribute(&source, &dest)))
    }

    /// Writes an attribute with the elements of `data`, an array of the dtype `dtype`. `data` is None for an
    /// attribute without elements.
    fn _set(
        &self,
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        shape: Option<Vec<u64>>,
        dtype: &Bound<'_, PyAny>,
        data: Option<&Bound<'_, PyUntypedArray>>,
    ) -> PyResult<()> {
        let core = &self.state.core;
        let (datatype, committed) = datatype(dtype, &self.state)?;
        let dataspace = dataspace(shape, None);
        let _storing = core.storing();
        let data = match data {
            None => Vec::new(),
            Some(array) => {
                let translation = translated(py, &datatype, core.store().widths())?;
                if translation.recipe.is_some() {
                    objects_write::elements(core, &translation, array)?
                } else {
                    let given = memory_datatype(array, &datatype, &translation)?;
                    let bytes = buffer::bytes(array)?;
                    objects::convert(&given, &datatype, core.store().widths(), bytes)?
                }
            }
        };
        let attribute = Attribute { name: name_required(name)?, datatype, dataspace, data };
        self.put(py, &attribute, committed.as_ref())
    }

    /// Creates or replaces an attribute of which the elements are given as bytes of a described datatype.
    fn _set_described(
        &self,
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        shape: Option<Vec<u64>>,
        dtype: &Bound<'_, PyAny>,
        elements: (Bound<'_, PyAny>, Vec<u8>),
    ) -> PyResult<()> {
        writable::<PyOSError>(&self.state, "write an attribute")?;
        let (datatype, committed) = datatype(dtype, &self.state)?;
        let (given, bytes) = (described(&elements.0)?, elements.1);
        let widths = self.state.core.store().widths();
        let dataspace = dataspace(shape, None);
        let len = dataspace.elements().unwrap_or(0).saturating_mul(given.size(widths));
        if len != bytes.len() as u64 || datatype.has_variable_parts() {
            return Err(PyTypeError::new_err("the bytes are not the elements of the attribute"));
        }
        let data = objects::convert(&given, &datatype, widths, bytes)?;
        let attribute = Attribute { name: name_required(name)?, datatype, dataspace, data };
        self.put(py, &attribute, committed.as_ref())
    }

    /// Deletes an attribute and returns the value.
    ///
    /// Args:
    ///     key: The name.
    ///     default: The result if there is no attribute of this name.
    ///
    /// Returns:
    ///     The value, or `default`.
    ///
    /// Raises:
    ///     KeyError: There is no attribute of this name and no `default`, or the file is open for reading.
    ///
    /// Example:
    ///     >>> dataset.attrs.pop("units")
    ///     'K'
    ///     >>> dataset.attrs.pop("units", "none")
    ///     'none'
    #[pyo3(signature = (*args, **kwds), text_signature = "($self, key, default=...)")]
    fn pop<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        calls::method(slf.as_any(), "_mapping", "pop", args, kwds)
    }

    /// Deletes the first attribute and returns the name and the value.
    ///
    /// Returns:
    ///     The name and the value.
    ///
    /// Raises:
    ///     KeyError: There are no attributes, or the file is open for reading.
    ///
    /// Example:
    ///     >>> dataset.attrs.popitem()
    ///     ('scale', np.float64(1.5))
    fn popitem<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        calls::method(slf.as_any(), "_mapping", "popitem", &PyTuple::empty(slf.py()), None)
    }

    /// Deletes all attributes.
    ///
    /// Example:
    ///     >>> dataset.attrs.clear()
    ///     >>> len(dataset.attrs)
    ///     0
    fn clear(slf: &Bound<'_, Self>) -> PyResult<()> {
        calls::method(slf.as_any(), "_mapping", "clear", &PyTuple::empty(slf.py()), None).map(drop)
    }

    /// Returns the value of an attribute. An attribute that does not exist is created first.
    ///
    /// Args:
    ///     key: The name.
    ///     default: The value of a new attribute.
    ///
    /// Returns:
    ///     The value of the attribute, or `default` if the attribute is new.
    ///
    /// Raises:
    ///     TypeError: The attribute is new, and `default` has no equivalent in HDF5, such as None.
    ///     OSError: The attribute is new, and the file is open for reading.
    ///
    /// Example:
    ///     >>> dataset.attrs.setdefault("units", "degC")
    ///     'K'
    ///     >>> dataset.attrs.setdefault("offset", 0)
    ///     0
    #[pyo3(signature = (*args, **kwds), text_signature = "($self, key, default=None)")]
    fn setdefault<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        calls::method(slf.as_any(), "_mapping", "setdefault", args, kwds)
    }

    /// Sets several attributes: `attrs[name] = value` for each name.
    ///
    /// Args:
    ///     other: A mapping from names to values, or pairs of names and values.
    ///     kwds: More names with values.
    ///
    /// Raises:
    ///     TypeError: A value has no equivalent in HDF5.
    ///     OSError: The file is open for reading.
    ///
    /// Example:
    ///     >>> dataset.attrs.update({"units": "degC"}, offset=273)
    ///     >>> dataset.attrs["units"], dataset.attrs["offset"]
    ///     ('degC', np.int64(273))
    #[pyo3(signature = (*args, **kwds), text_signature = "($self, other=(), /, **kwds)")]
    fn update(
        slf: &Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        kwds: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        calls::method(slf.as_any(), "_mapping", "update", args, kwds).map(drop)
    }

    /// Returns the names of at most `most` attributes, and the number of all.
    #[pyo3(name = "_some_names")]
    fn some_names(&self, py: Python<'_>, most: usize) -> PyResult<(Vec<Name<String>>, u64)> {
        self.state.check()?;
        let (some, count) = py.detach(|| self.node.some_attribute_names(most)).or_raise()?;
        Ok((name::names(some), count))
    }

    fn _ipython_key_completions_(&self, py: Python<'_>) -> PyResult<Vec<Name<String>>> {
        self.list(py)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let function = slf.py().import("hyperslab._html")?.getattr("of_attributes")?;
        function.call1((slf, &slf.get().object))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        if slf.get().object.get().is_open() {
            format!("<Attributes of HDF5 object at {}>", slf.as_ptr() as usize)
        } else {
            "<Attributes of closed HDF5 object>".to_owned()
        }
    }
}

fn is_missing(error: &hyperslab::Error) -> bool {
    matches!(error.root(), hyperslab::Error::Request(RequestError::NoSuchAttribute { .. }))
}

fn found<T>(name: &str, result: hyperslab::Result<T>) -> PyResult<T> {
    result.map_err(|error| {
        if is_missing(&error) {
            PyKeyError::new_err(format!("Unable to open attribute (can't locate attribute: '{name}')"))
        } else {
            exception(&error)
        }
    })
}
