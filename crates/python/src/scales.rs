//! Dimension scales and labels of axes, for `hyperslab._dims`. Errors are the `RuntimeError` that h5py raises.

use hyperslab::{Error, Node, RequestError};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::create::writable;
use crate::dataset::Dataset;
use crate::error::exception;
use crate::object::wrap;

fn raised<T>(result: hyperslab::Result<T>) -> PyResult<T> {
    result.map_err(|error| match error.root() {
        Error::Request(RequestError::Argument { .. }) => PyRuntimeError::new_err(error.to_string()),
        _ => exception(&error),
    })
}

/// Makes a dataset a scale.
pub(crate) fn make_scale(py: Python<'_>, dataset: &Bound<'_, Dataset>, name: &str) -> PyResult<()> {
    let dataset = dataset.get();
    writable::<PyRuntimeError>(&dataset.state, "make a dimension scale")?;
    raised(py.detach(|| dataset.core.make_scale(name)))
}

/// The name of a scale.
#[pyfunction]
#[pyo3(name = "_scale_name")]
pub(crate) fn scale_name<'py>(py: Python<'py>, scale: &Bound<'py, Dataset>) -> PyResult<Bound<'py, PyBytes>> {
    let scale = scale.get();
    scale.state.check()?;
    Ok(PyBytes::new(py, &raised(py.detach(|| scale.core.scale_name()))?))
}

/// The scales of an axis.
#[pyfunction]
#[pyo3(name = "_scales")]
pub(crate) fn scales<'py>(
    py: Python<'py>,
    dataset: &Bound<'py, Dataset>,
    axis: usize,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let dataset = dataset.get();
    dataset.state.check()?;
    let scales = raised(py.detach(|| dataset.core.scales(axis)))?;
    scales.into_iter().map(|scale| wrap(py, &dataset.state, Node::Dataset(scale))).collect()
}

/// Attaches a scale to an axis, or detaches it.
#[pyfunction]
#[pyo3(name = "_attach_scale")]
pub(crate) fn attach_scale(
    py: Python<'_>,
    dataset: &Bound<'_, Dataset>,
    axis: usize,
    scale: &Bound<'_, Dataset>,
    is_attached: bool,
) -> PyResult<()> {
    let (dataset, scale) = (dataset.get(), scale.get());
    writable::<PyRuntimeError>(&dataset.state, "change dimension scales")?;
    raised(py.detach(|| {
        if is_attached {
            dataset.core.attach_scale(axis, &scale.core)
        } else {
            dataset.core.detach_scale(axis, &scale.core)
        }
    }))
}

/// The label of an axis.
#[pyfunction]
#[pyo3(name = "_axis_label")]
pub(crate) fn axis_label<'py>(
    py: Python<'py>,
    dataset: &Bound<'py, Dataset>,
    axis: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let dataset = dataset.get();
    dataset.state.check()?;
    Ok(PyBytes::new(py, &raised(py.detach(|| dataset.core.axis_label(axis)))?))
}

/// Labels an axis.
#[pyfunction]
#[pyo3(name = "_set_axis_label")]
pub(crate) fn set_axis_label(
    py: Python<'_>,
    dataset: &Bound<'_, Dataset>,
    axis: usize,
    label: &[u8],
) -> PyResult<()> {
    let dataset = dataset.get();
    writable::<PyRuntimeError>(&dataset.state, "label an axis")?;
    raised(py.detach(|| dataset.core.set_axis_label(axis, label)))
}
