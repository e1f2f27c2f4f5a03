//! Attributes, as a mapping from names to values.

use std::sync::Arc;

use hyperslab::{Attribute, Node, RequestError};
use hyperslab_format::datatype::Datatype;
use hyperslab_format::message::dataspace::Dataspace;
use numpy::prelude::*;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::exceptions::{PyKeyError, PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyTuple};

use crate::buffer::{self, Places};
use crate::calls;
use crate::create::{dataspace, datatype, writable};
use crate::dtype::{Translation, holds};
use crate::empty::Empty;
use crate::error::{OrRaise, exception};
use crate::memory::datatype_of;
use crate::object::name_required;
use crate::objects;
use crate::objects_write;
use crate::plain::{self, Number};
use crate::state::FileState;

/// The attributes of one object.
#[pyclass(frozen, mapping, weakref, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct AttributeManager {
    /// The file.
    pub(crate) state: Arc<FileState>,
    /// The object.
    pub(crate) node: Node,
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

    /// Sets an attribute to a number or an array of numbers; false for everything else.
    fn set_plain(&self, py: Python<'_>, name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(name) = name.extract::<&str>() else { return Ok(false) };
        let (dataspace, datatype, data) = if let Some(number) = Number::of(value) {
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
        py.detach(|| self.node.put_attribute(&attribute)).or_raise()?;
        Ok(true)
    }

    fn find(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<Attribute> {
        let name = name_required(name)?;
        self.state.check()?;
        found(&name, py.detach(|| self.node.attribute(&name)))
    }

    fn list(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.state.check()?;
        py.detach(|| self.node.attribute_names()).or_raise()
    }
}

#[pymethods]
impl AttributeManager {
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

    fn keys<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        calls::view(slf.as_any(), "KeysViewHDF5")
    }

    fn values<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        calls::view(slf.as_any(), "ValuesViewHDF5")
    }

    fn items<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        calls::view(slf.as_any(), "ItemsViewHDF5")
    }

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

    fn get_id(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<AttrID> {
        Ok(AttrID { state: Arc::clone(&self.state), attribute: self.find(py, name)? })
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

    fn modify(slf: &Bound<'_, Self>, name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        Self::by_python(slf, "modify_attribute", (slf, name, value))
    }

    /// Gives an attribute another name.
    fn rename(&self, py: Python<'_>, source: &Bound<'_, PyAny>, dest: &Bound<'_, PyAny>) -> PyResult<()> {
        writable::<PyOSError>(&self.state, "rename an attribute")?;
        let (source, dest) = (name_required(source)?, name_required(dest)?);
        found(&source, py.detach(|| self.node.rename_attribute(&source, &dest)))
    }

    /// Makes an attribute of the elements of `data`, an array of `dtype`'s elements; None for one without elements.
    fn _set(
        &self,
        py: Python<'_>,
        name: &str,
        shape: Option<Vec<u64>>,
        dtype: &Bound<'_, PyAny>,
        data: Option<&Bound<'_, PyUntypedArray>>,
    ) -> PyResult<()> {
        let core = &self.state.core;
        let (datatype, committed) = datatype(dtype, &self.state)?;
        let dataspace = dataspace(shape, None);
        let data = match data {
            None => Vec::new(),
            Some(array) => {
                let translation = Translation::new(py, &datatype, core.store().widths())?;
                if translation.recipe.is_some() {
                    objects_write::elements(core, &translation, array)?
                } else {
                    let given = memory_datatype(array, &datatype, &translation)?;
                    let bytes = buffer::bytes(array)?;
                    objects::convert(&given, &datatype, core.store().widths(), bytes)?
                }
            }
        };
        let attribute = Attribute { name: name.to_owned(), datatype, dataspace, data };
        py.detach(|| self.node.put_attribute_of(&attribute, committed.as_ref())).or_raise()
    }

    #[pyo3(signature = (*args, **kwds), text_signature = "($self, key, default=...)")]
    fn pop<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        calls::method(slf.as_any(), "_mapping", "pop", args, kwds)
    }

    fn popitem<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        calls::method(slf.as_any(), "_mapping", "popitem", &PyTuple::empty(slf.py()), None)
    }

    fn clear(slf: &Bound<'_, Self>) -> PyResult<()> {
        calls::method(slf.as_any(), "_mapping", "clear", &PyTuple::empty(slf.py()), None).map(drop)
    }

    #[pyo3(signature = (*args, **kwds), text_signature = "($self, key, default=None)")]
    fn setdefault<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        calls::method(slf.as_any(), "_mapping", "setdefault", args, kwds)
    }

    #[pyo3(signature = (*args, **kwds), text_signature = "($self, other=(), /, **kwds)")]
    fn update(
        slf: &Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        kwds: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        calls::method(slf.as_any(), "_mapping", "update", args, kwds).map(drop)
    }

    fn _ipython_key_completions_(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.list(py)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        if slf.get().state.is_open() {
            format!("<Attributes of HDF5 object at {}>", slf.as_ptr() as usize)
        } else {
            "<Attributes of closed HDF5 object>".to_owned()
        }
    }
}

/// What h5py calls the low-level identifier of an attribute.
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct AttrID {
    state: Arc<FileState>,
    attribute: Attribute,
}

#[pymethods]
impl AttrID {
    #[getter(name)]
    fn bytes_of_name<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.attribute.name.as_bytes())
    }

    fn get_name<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.bytes_of_name(py)
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match &self.attribute.dataspace {
            Dataspace::Null => Ok(None),
            dataspace => PyTuple::new(py, dataspace.shape()).map(Some),
        }
    }

    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyArrayDescr>> {
        Ok(Translation::new(py, &self.attribute.datatype, self.state.core.store().widths())?.descr)
    }

    fn get_storage_size(&self) -> usize {
        self.attribute.data.len()
    }
}

/// The datatype whose elements an array's are.
fn memory_datatype(
    array: &Bound<'_, PyUntypedArray>,
    stored: &Datatype,
    translation: &Translation,
) -> PyResult<Datatype> {
    if holds(array, translation.descr.bind(array.py())) {
        return Ok(translation.memory.clone());
    }
    let given = datatype_of(&array.dtype());
    given.ok_or_else(|| PyTypeError::new_err(format!("no conversion from {} to {stored:?}", array.dtype())))
}

/// The value of an attribute: what h5py makes of it.
fn value<'py>(py: Python<'py>, state: &FileState, attribute: &Attribute) -> PyResult<Bound<'py, PyAny>> {
    let Attribute { datatype, dataspace, data, .. } = attribute;
    let widths = state.core.store().widths();
    let translation = Translation::new(py, datatype, widths)?;
    if *dataspace == Dataspace::Null {
        return Ok(Bound::new(py, Empty::new(translation.descr))?.into_any());
    }
    let shape: Vec<usize> =
        dataspace.shape().iter().map(|&len| usize::try_from(len)).collect::<Result<_, _>>()?;
    let raw = objects::convert(datatype, &translation.memory, widths, data.clone())?;
    let mut array = objects::array(py, &state.core, &translation, &raw, &shape)?;
    if matches!(innermost(datatype), Datatype::VariableText(_)) {
        array = as_text(&array)?;
    }
    if array.ndim() == 0 { array.get_item(PyTuple::empty(py)) } else { Ok(array.into_any()) }
}

/// The datatype of the elements of the array that an attribute becomes.
fn innermost(datatype: &Datatype) -> &Datatype {
    match datatype {
        Datatype::Array(array) => innermost(&array.base),
        other => other,
    }
}

/// An array of `bytes` as an array of `str` of the same dtype.
fn as_text<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = array.py();
    let text = buffer::empty(py, array.shape(), &array.dtype())?;
    let mut slots = Places::new(&text)?;
    let itemsize = array.dtype().itemsize();
    for (index, bytes) in array.getattr("flat")?.try_iter()?.enumerate() {
        slots.put(index * itemsize, bytes?.call_method1("decode", ("utf-8", "surrogateescape"))?);
    }
    Ok(text)
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
