//! The elements of an attribute as a value of NumPy, as h5py returns it.

use hyperslab::Attribute;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::message::dataspace::Dataspace;
use numpy::PyUntypedArray;
use numpy::prelude::*;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::opening::state::FileState;
use crate::values::buffer::{self, Places};
use crate::values::dtype::{holds, translated};
use crate::values::empty::Empty;
use crate::values::memory::datatype_of;
use crate::values::objects;
use crate::values::translation::Translation;

/// Returns the value of an attribute, as h5py returns it.
pub(crate) fn value<'py>(
    py: Python<'py>,
    state: &FileState,
    attribute: &Attribute,
) -> PyResult<Bound<'py, PyAny>> {
    if attribute.dataspace == Dataspace::Null {
        let widths = state.core.store().widths();
        let translation = translated(py, &attribute.datatype, widths)?;
        return Ok(Bound::new(py, Empty::new(translation.descr))?.into_any());
    }
    let mut array = elements(py, state, attribute)?;
    if matches!(innermost(&attribute.datatype), Datatype::VariableText(_)) {
        array = as_text(&array)?;
    }
    if array.ndim() == 0 { array.get_item(PyTuple::empty(py)) } else { Ok(array.into_any()) }
}

/// Returns the elements of an attribute as an array, strings of variable length as bytes.
pub(crate) fn elements<'py>(
    py: Python<'py>,
    state: &FileState,
    attribute: &Attribute,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let Attribute { datatype, dataspace, data, .. } = attribute;
    let widths = state.core.store().widths();
    let translation = translated(py, datatype, widths)?;
    let shape: Vec<usize> =
        dataspace.shape().iter().map(|&len| usize::try_from(len)).collect::<Result<_, _>>()?;
    let raw = objects::convert(datatype, &translation.memory, widths, data.clone())?;
    objects::array(py, &state.core, &translation, &raw, &shape)
}

/// Returns the datatype of the elements of an attribute's array: the innermost base of array datatypes.
fn innermost(datatype: &Datatype) -> &Datatype {
    match datatype {
        Datatype::Array(array) => innermost(&array.base),
        other => other,
    }
}

/// Decodes an array of `bytes` to an array of `str` of the same dtype.
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

/// Returns the datatype of the elements of an array.
pub(crate) fn memory_datatype(
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
