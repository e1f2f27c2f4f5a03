//! The part of a dataset that a region reference selects.

use std::sync::Arc;

use hyperslab::{Node, Region};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::handles::dataset::Dataset;
use crate::interpreter::error::OrRaise;
use crate::opening::state::FileState;
use crate::selection::index::{Request, ResultShape};
use crate::values::reference::{Reference, RegionReference};

/// Returns the dataset that a reference refers to, and the part of it. Raises `ValueError` for a null
/// reference.
pub(crate) fn referenced(
    py: Python<'_>,
    state: &Arc<FileState>,
    reference: &Reference,
) -> PyResult<(hyperslab::Dataset, Region)> {
    let found = py.detach(|| {
        let Some(target) = reference.target(&state.core)? else { return Ok(None) };
        let Node::Dataset(dataset) = state.core.referenced(&target)? else { return Ok(None) };
        let region = dataset.region(&target)?;
        Ok::<_, hyperslab::Error>(Some((dataset, region)))
    });
    found.or_raise()?.ok_or_else(|| PyValueError::new_err("Invalid HDF5 region reference"))
}

fn is_same(target: &hyperslab::Dataset, dataset: &Dataset) -> bool {
    target.address() == dataset.core.address() && target.file().is_same(dataset.core.file())
}

/// Whether a reference is to a part of `dataset`.
pub(crate) fn is_within(
    py: Python<'_>,
    dataset: &Dataset,
    reference: &Bound<'_, RegionReference>,
) -> PyResult<bool> {
    let (target, _) = referenced(py, &dataset.state, reference.as_super().get())?;
    Ok(is_same(&target, dataset))
}

/// Returns the request for the part of `dataset` that a reference selects, or `None` for no element of a
/// scalar. Raises `ValueError` if the reference is to another dataset.
pub(crate) fn request(
    py: Python<'_>,
    dataset: &Dataset,
    reference: &Bound<'_, RegionReference>,
) -> PyResult<Option<Request>> {
    let (target, region) = referenced(py, &dataset.state, reference.as_super().get())?;
    if !is_same(&target, dataset) {
        return Err(PyValueError::new_err("Region reference must point to this dataset"));
    }
    let extent = dataset.core.shape();
    let Some(shape) = region.shape else { return Ok(None) };
    let shape: ResultShape = shape.iter().map(|&len| usize::try_from(len)).collect::<Result<_, _>>()?;
    Ok(Some(Request { extent: extent.into(), selection: region.selection, shape }))
}
