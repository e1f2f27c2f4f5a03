//! Writing a selection of a dataset from a NumPy array.

use std::num::NonZeroUsize;

use hyperslab::engine::WriteOptions;
use hyperslab_format::datatype::{Array, Datatype as StoredDatatype};
use numpy::PyUntypedArray;
use numpy::prelude::*;
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;

use crate::buffer;
use crate::create::writable;
use crate::dataset::Dataset;
use crate::error::OrRaise;
use crate::objects_write;
use crate::plain::{self, Number};
use crate::read;
use crate::selection::Request;

/// `dataset[key] = value`: numbers and arrays of them at once, everything else by way of `hyperslab._write`.
pub(crate) fn set_item(
    slf: &Bound<'_, Dataset>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let (py, dataset) = (slf.py(), slf.get());
    writable::<PyOSError>(&dataset.state, "write data")?;
    if let Some(number) = Number::of(value)
        && let Some(number) = number.for_element_of(&dataset.core.datatype())
        && let Some(request) = Request::plain(key, &dataset.core.shape())?
        && request.shape.iter().product::<usize>() == 1
    {
        let (memory, element) = number.as_new_element();
        let is_stored = memory == *dataset.core.datatype();
        let options = WriteOptions { datatype: (!is_stored).then_some(memory), ..WriteOptions::default() };
        return py.detach(|| dataset.core.write_with(&request.selection, &element, &options)).or_raise();
    }
    if let Some(array) = plain::array(value)
        && dataset.translation(py)?.recipe.is_none()
        && let Some(request) = Request::plain(key, &dataset.core.shape())?
        && array.shape() == &request.shape[..]
        && let Some(memory) = memory(dataset, array)?
    {
        return write(dataset, &request, array, memory, None);
    }
    py.import("hyperslab._write")?.getattr("set_item")?.call1((slf, key, value)).map(drop)
}

/// Writes an array of the shape of the selection, and of a dtype that the engine or `objects_write` knows.
pub(crate) fn write_array(
    dataset: &Dataset,
    key: Option<&Bound<'_, PyAny>>,
    array: &Bound<'_, PyUntypedArray>,
    threads: Option<NonZeroUsize>,
) -> PyResult<()> {
    writable::<PyOSError>(&dataset.state, "write data")?;
    let request = read::request_of(dataset, key)?;
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
        let bytes = objects_write::elements(&dataset.state.core, translation, array)?;
        let options = WriteOptions { threads, datatype: Some(translation.memory.clone()), by_chunks: false };
        return py.detach(|| replace(dataset, &request, &bytes, &options)).or_raise();
    }
    let memory = memory(dataset, array)?
        .ok_or_else(|| PyTypeError::new_err(format!("No conversion path for dtype: {}", array.dtype())))?;
    write(dataset, &request, array, memory, threads)
}

/// Writes elements with ids of the heap; what is of variable length and was there before is taken out of the file.
fn replace(
    dataset: &Dataset,
    request: &Request,
    bytes: &[u8],
    options: &WriteOptions,
) -> hyperslab::Result<()> {
    let core = &dataset.core;
    let is_variable =
        matches!(&*core.datatype(), StoredDatatype::VariableText(_) | StoredDatatype::Sequence(_));
    let mut old = Vec::new();
    if is_variable {
        old = vec![
            0;
            usize::try_from(request.selection.count(&core.shape())?).unwrap_or(0) * core.element_size()
        ];
        core.read_into(&request.selection, &mut old)?;
    }
    core.write_with(&request.selection, bytes, options)?;
    core.file().remove_vlen(&core.file().vlen_ids(&old)?)
}

fn write(
    dataset: &Dataset,
    request: &Request,
    array: &Bound<'_, PyUntypedArray>,
    memory: StoredDatatype,
    threads: Option<NonZeroUsize>,
) -> PyResult<()> {
    let bytes = buffer::bytes(array)?;
    let is_stored = memory == *dataset.core.datatype();
    let options = WriteOptions { threads, datatype: (!is_stored).then_some(memory), by_chunks: false };
    array.py().detach(|| dataset.core.write_with(&request.selection, bytes, &options)).or_raise()
}

/// The datatype whose elements the array's are, if the engine knows one.
fn memory(dataset: &Dataset, array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<StoredDatatype>> {
    let py = array.py();
    let translation = dataset.translation(py)?;
    let descr = translation.descr.bind(py);
    if array.dtype().is_equiv_to(descr) || (descr.has_subarray() && array.dtype().is_equiv_to(&descr.base()))
    {
        return Ok(Some(translation.memory.clone()));
    }
    let given = read::memory_for(dataset, &array.dtype());
    if !descr.has_subarray() {
        return Ok(given);
    }
    let shape = descr.shape().into_iter().map(u32::try_from).collect::<Result<_, _>>()?;
    Ok(given.map(|base| StoredDatatype::Array(Array { base: Box::new(base), shape })))
}
