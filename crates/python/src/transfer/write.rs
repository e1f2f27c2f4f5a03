//! Writing a selection of a dataset from a NumPy array.

use hyperslab::{RequestError, Transfer, WriteOptions};
use hyperslab_format::datatype::{Array, Datatype as StoredDatatype};
use numpy::PyUntypedArray;
use numpy::prelude::*;
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyEllipsis;

use crate::handles::dataset::Dataset;
use crate::interpreter::error::{OrRaise, in_one_shape};
use crate::interpreter::signals;
use crate::opening::state::writable;
use crate::selection::index::Request;
use crate::selection::region;
use crate::transfer::read;
use crate::values::buffer;
use crate::values::dtype::holds;
use crate::values::objects_write;
use crate::values::plain::{self, PlainNumber};
use crate::values::reference::RegionReference;
use crate::values::texts::Listed;
use crate::values::translation::Recipe;

/// Performs `dataset[key] = value`: directly for numbers and arrays of numbers, else in `hyperslab._write`.
pub(crate) fn set_item(
    slf: &Bound<'_, Dataset>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    writable::<PyOSError>(&slf.get().state, "write data")?;
    in_one_shape(slf.py(), || set_item_of(slf, key, value))
}

fn set_item_of(slf: &Bound<'_, Dataset>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let (py, dataset) = (slf.py(), slf.get());
    if let Ok(reference) = key.cast::<RegionReference>()
        && !region::is_within(py, dataset, reference)?
    {
        return Err(PyTypeError::new_err("Region reference must point to this dataset"));
    }
    if let Some(number) = PlainNumber::of(value)
        && let Some(number) = number.for_element_of(&dataset.core.datatype())
        && let Some(request) = Request::plain(key, &dataset.core.shape())?
        && request.shape.iter().all(|&len| len == 1)
    {
        let (memory, element) = number.as_new_element();
        return write(py, dataset, &request, &element, memory);
    }
    if let Some(array) = plain::array(value)
        && takes_numbers(dataset, array)?
        && let Some(request) = Request::plain(key, &dataset.core.shape())?
        && array.shape() == &request.shape[..]
        && let Some(memory) = memory(dataset, array)?
    {
        return write(py, dataset, &request, buffer::bytes(array)?, memory);
    }
    if let Some(list) = Listed::of(value)
        && write_listed(dataset, key, &list, py)?
    {
        return Ok(());
    }
    py.import("hyperslab._write")?.getattr("set_item")?.call1((slf, key, value)).map(drop)
}

/// Writes a list of strings to as many elements along one axis, without an array between. Returns whether the
/// key, the list and the dataset are of this kind.
fn write_listed(
    dataset: &Dataset,
    key: &Bound<'_, PyAny>,
    list: &Listed<'_, '_>,
    py: Python<'_>,
) -> PyResult<bool> {
    let translation = dataset.translation(py)?;
    if !matches!(translation.recipe, Some(Recipe::Text(_))) {
        return Ok(false);
    }
    let request = match Request::plain(key, &dataset.core.shape())? {
        Some(request) => request,
        None if key.is(PyEllipsis::get(py)) => read::request_of(dataset, None)?,
        None => return Ok(false),
    };
    if request.shape[..] != [list.len()] {
        return Ok(false);
    }
    refuse_ranks(dataset)?;
    let _storing = dataset.core.file().storing();
    let Some(bytes) = objects_write::listed(&dataset.state.core, translation, list, py)? else {
        return Ok(false);
    };
    write(py, dataset, &request, &bytes, translation.memory.clone())?;
    Ok(true)
}

/// Raises `OSError` if ranks write data of variable length, and not all the same.
fn refuse_ranks(dataset: &Dataset) -> PyResult<()> {
    if dataset.state.has_ranks() && dataset.transfer() != Transfer::Alike {
        return Err(PyOSError::new_err(
            "ranks write strings and sequences of variable length only when they create the dataset, all with \
             the same data",
        ));
    }
    Ok(())
}

/// Whether the engine converts an array of numbers to the elements of a dataset. Booleans, enumerations and
/// records have rules of their own in `hyperslab._write`, unless the array has their dtype.
fn takes_numbers(dataset: &Dataset, array: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
    let translation = dataset.translation(array.py())?;
    let are_numbers =
        matches!(&*dataset.core.datatype(), StoredDatatype::Integer(_) | StoredDatatype::Float(_));
    Ok(translation.recipe.is_none() && (are_numbers || holds(array, translation.descr.bind(array.py()))))
}

/// Writes `array` to the selection `key` of a dataset of the shape `extent`.
///
/// The array has the shape of the selection, and a dtype that the engine or `objects_write` supports.
pub(crate) fn write_array(
    dataset: &Dataset,
    key: Option<&Bound<'_, PyAny>>,
    array: &Bound<'_, PyUntypedArray>,
    extent: &[u64],
) -> PyResult<()> {
    writable::<PyOSError>(&dataset.state, "write data")?;
    let request = read::request_of(dataset, key)?;
    if request.extent[..] != *extent {
        return Err(hyperslab::Error::from(RequestError::Reshaped)).or_raise();
    }
    let py = array.py();
    let translation = dataset.translation(py)?;
    let inner = translation.descr.bind(py).shape();
    let expected = request.shape.iter().chain(&inner);
    if !array.shape().iter().eq(expected) {
        return Err(PyTypeError::new_err(format!(
            "Can't broadcast {:?} -> {:?}",
            array.shape(),
            &request.shape[..]
        )));
    }
    if translation.recipe.is_some() {
        refuse_ranks(dataset)?;
        let _storing = dataset.core.file().storing();
        let bytes = objects_write::elements(&dataset.state.core, translation, array)?;
        return write(py, dataset, &request, &bytes, translation.memory.clone());
    }
    let memory = memory(dataset, array)?
        .ok_or_else(|| PyTypeError::new_err(format!("No conversion path for dtype: {}", array.dtype())))?;
    write(py, dataset, &request, buffer::bytes(array)?, memory)
}

/// Writes elements of the datatype `memory`.
fn write(
    py: Python<'_>,
    dataset: &Dataset,
    request: &Request,
    bytes: &[u8],
    memory: StoredDatatype,
) -> PyResult<()> {
    let is_stored = memory == *dataset.core.datatype();
    let options =
        WriteOptions::default().datatype((!is_stored).then_some(memory)).transfer(dataset.transfer());
    let Request { extent, selection, .. } = request;
    signals::detach(py, || dataset.core.write_shaped(extent, selection, bytes, &options)).or_raise()
}

/// Returns the datatype of the elements of the array, or `None` if the engine does not know it.
fn memory(dataset: &Dataset, array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<StoredDatatype>> {
    let py = array.py();
    let translation = dataset.translation(py)?;
    let descr = translation.descr.bind(py);
    if holds(array, descr) {
        return Ok(Some(translation.memory.clone()));
    }
    let given = read::memory_for(dataset, &array.dtype());
    if !descr.has_subarray() {
        return Ok(given);
    }
    let shape = descr.shape().into_iter().map(u32::try_from).collect::<Result<_, _>>()?;
    Ok(given.map(|base| StoredDatatype::Array(Array { base: Box::new(base), shape })))
}
