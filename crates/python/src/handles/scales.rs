//! Dimension scales and axis labels for `hyperslab._dims`. As in h5py, invalid arguments raise
//! `RuntimeError`.

use hyperslab::Node;
use parking_lot::Mutex;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::handles::classes::wrap;
use crate::handles::dataset::Dataset;
use crate::handles::group::Group;
use crate::interpreter::error::{OrRaise, argument};
use crate::opening::state::writable;

/// Calls `f` with the dataset, which must belong to an open file. `f` only reads.
fn look<T: Send>(
    dataset: &Bound<'_, Dataset>,
    f: impl Send + FnOnce(&hyperslab::Dataset) -> hyperslab::Result<T>,
) -> PyResult<T> {
    let (py, dataset) = (dataset.py(), dataset.get());
    dataset.state.check()?;
    py.detach(|| f(&dataset.core)).map_err(|error| argument::<PyRuntimeError>(&error))
}

/// Calls `f`, which changes the dataset. The file must be writable; `what` names the change in the error.
fn change(
    dataset: &Bound<'_, Dataset>,
    what: &str,
    f: impl Send + FnOnce(&hyperslab::Dataset) -> hyperslab::Result<()>,
) -> PyResult<()> {
    writable::<PyRuntimeError>(&dataset.get().state, what)?;
    look(dataset, f)
}

/// Makes a dataset a dimension scale called `name`.
pub(crate) fn make_scale(dataset: &Bound<'_, Dataset>, name: &str) -> PyResult<()> {
    change(dataset, "make a dimension scale", |dataset| dataset.make_scale(name))
}

/// Returns the name of a dimension scale.
#[pyfunction]
#[pyo3(name = "_scale_name")]
pub(crate) fn scale_name<'py>(scale: &Bound<'py, Dataset>) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(scale.py(), &look(scale, hyperslab::Dataset::scale_name)?))
}

/// Returns the dimension scales of an axis.
#[pyfunction]
#[pyo3(name = "_scales")]
pub(crate) fn scales<'py>(dataset: &Bound<'py, Dataset>, axis: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let scales = look(dataset, |dataset| dataset.scales(axis))?;
    let state = &dataset.get().state;
    scales.into_iter().map(|scale| wrap(dataset.py(), state, Node::Dataset(scale))).collect()
}

/// Attaches a dimension scale to an axis, or detaches it if `is_attached` is false.
#[pyfunction]
#[pyo3(name = "_attach_scale")]
pub(crate) fn attach_scale(
    dataset: &Bound<'_, Dataset>,
    axis: usize,
    scale: &Bound<'_, Dataset>,
    is_attached: bool,
) -> PyResult<()> {
    let scale = &scale.get().core;
    let set = if is_attached { hyperslab::Dataset::attach_scale } else { hyperslab::Dataset::detach_scale };
    change(dataset, "change dimension scales", |dataset| set(dataset, axis, scale))
}

/// Returns the label of an axis.
#[pyfunction]
#[pyo3(name = "_axis_label")]
pub(crate) fn axis_label<'py>(dataset: &Bound<'py, Dataset>, axis: usize) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(dataset.py(), &look(dataset, |dataset| dataset.axis_label(axis))?))
}

/// Sets the label of an axis.
#[pyfunction]
#[pyo3(name = "_set_axis_label")]
pub(crate) fn set_axis_label(dataset: &Bound<'_, Dataset>, axis: usize, label: &[u8]) -> PyResult<()> {
    change(dataset, "label an axis", |dataset| dataset.set_axis_label(axis, label))
}

/// The names of the axes of all datasets of a file, by the rules of netCDF.
#[pyclass(frozen, module = "hyperslab", name = "_AxisNames")]
#[derive(Debug)]
pub(crate) struct AxisNames(Mutex<hyperslab::AxisNames>);

#[pymethods]
impl AxisNames {
    #[new]
    fn new(file: &Bound<'_, Group>) -> PyResult<Self> {
        let group = hyperslab::Group::clone(&file.get().group);
        let names = file.py().detach(|| hyperslab::AxisNames::below(&group.file().root()));
        names.or_raise().map(Mutex::new).map(Self)
    }

    /// Returns the names of the axes of the dataset `name` of a group, or None if there was none.
    fn of(&self, group: &Bound<'_, Group>, name: &str) -> Option<Vec<String>> {
        self.0.lock().of(&group.get().group, name, &[])
    }
}
