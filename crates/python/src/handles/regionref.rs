//! `object.regionref`: making references to parts of datasets, and the shapes of such parts.

use hyperslab::Region;
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::selection::StoredSelection;
use hyperslab_select::Selection;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::handles::dataset::Dataset;
use crate::handles::object::HLObject;
use crate::interpreter::error::OrRaise;
use crate::selection::region::referenced;
use crate::transfer::read;
use crate::values::reference::{self, Reference, RegionReference};

/// The region references of an object: the value of `HLObject.regionref`.
///
/// `dataset.regionref[selection]` makes a reference to a part of a dataset. The methods say what an existing
/// reference refers to, and are the same for every object of a file.
///
/// Example:
///     >>> part = dataset.regionref[1:3, :, 0]
///     >>> dataset[part].shape
///     (2, 2, 1)
#[pyclass(frozen, name = "_RegionProxy", module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct RegionProxy {
    /// The object.
    object: Py<HLObject>,
}

#[pymethods]
impl HLObject {
    /// References to parts of datasets: `dataset.regionref[selection]` makes one.
    ///
    /// The methods `regionref.shape(ref)` and `regionref.selection(ref)` return the shape of the dataset of a
    /// reference, and the shape of the part.
    ///
    /// Example:
    ///     >>> part = dataset.regionref[0]
    ///     >>> dataset[part].shape, dataset.regionref.selection(part)
    ///     ((1, 2, 3), (1, 2, 3))
    #[getter]
    fn regionref(slf: &Bound<'_, Self>) -> RegionProxy {
        RegionProxy { object: slf.clone().unbind() }
    }
}

impl RegionProxy {
    /// Returns the dataset of a reference, and the part. Raises `ValueError` for a null reference.
    fn region(&self, py: Python<'_>, reference: &Reference) -> PyResult<(hyperslab::Dataset, Region)> {
        let state = &self.object.get().state;
        state.check()?;
        referenced(py, state, reference)
    }
}

#[pymethods]
impl RegionProxy {
    fn __getitem__<'py>(&self, py: Python<'py>, args: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let object = self.object.bind(py);
        let Ok(dataset) = object.cast::<Dataset>() else {
            return Err(PyTypeError::new_err("Region references can only be made to datasets"));
        };
        let dataset = dataset.get();
        dataset.state.check()?;
        let selection = if dataset.core.dataspace() == Dataspace::Null {
            Selection::None
        } else {
            read::request_of(dataset, Some(args))?.selection
        };
        let target = py.detach(|| dataset.core.region_target(&selection)).or_raise()?;
        reference::region_to(py, target)
    }

    /// Returns the shape of the dataset that a reference refers to.
    ///
    /// Args:
    ///     ref: The reference.
    ///
    /// Raises:
    ///     ValueError: The reference is null.
    ///
    /// Example:
    ///     >>> file.regionref.shape(dataset.regionref[0])
    ///     (4, 2, 3)
    #[pyo3(signature = (r#ref))]
    fn shape<'py>(&self, py: Python<'py>, r#ref: &Bound<'py, Reference>) -> PyResult<Bound<'py, PyTuple>> {
        let (dataset, _) = self.region(py, r#ref.get())?;
        PyTuple::new(py, dataset.shape())
    }

    /// Returns the shape of the part that a reference refers to.
    ///
    /// Args:
    ///     ref: The reference.
    ///
    /// Returns:
    ///     The shape, with axes of length 1 for indices that are integers. Parts that are no product of
    ///     indices along the axes are lists. None for no element of a scalar dataset.
    ///
    /// Raises:
    ///     ValueError: The reference is null.
    ///
    /// Example:
    ///     >>> file.regionref.selection(dataset.regionref[0, :, ::2])
    ///     (1, 2, 2)
    #[pyo3(signature = (r#ref))]
    fn selection<'py>(
        &self,
        py: Python<'py>,
        r#ref: &Bound<'py, RegionReference>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let (_, region) = self.region(py, r#ref.as_super().get())?;
        region.shape.map(|shape| PyTuple::new(py, shape)).transpose()
    }

    /// Returns the kind of the selection of a reference, and a row of numbers for each point, for each corner
    /// of the blocks, or for start, stride, count and block.
    #[pyo3(signature = (r#ref))]
    fn _stored(
        &self,
        py: Python<'_>,
        r#ref: &Bound<'_, RegionReference>,
    ) -> PyResult<(&'static str, Vec<Vec<u64>>)> {
        let state = &self.object.get().state;
        state.check()?;
        let reference = r#ref.as_super().get();
        let target = py.detach(|| reference.target(&state.core)).or_raise()?;
        let rows = |rank: usize, numbers: &[u64]| numbers.chunks(rank.max(1)).map(<[u64]>::to_vec).collect();
        Ok(match target.and_then(|target| target.selection) {
            None | Some(StoredSelection::All) => ("all", Vec::new()),
            Some(StoredSelection::None) => ("none", Vec::new()),
            Some(StoredSelection::Points(points)) => ("points", rows(points.rank, &points.coords)),
            Some(StoredSelection::Blocks(blocks)) => ("blocks", rows(blocks.rank, &blocks.corners)),
            Some(StoredSelection::Regular(slab)) => {
                let axes = &slab.axes;
                let start = axes.iter().map(|axis| axis.start).collect();
                let stride = axes.iter().map(|axis| axis.stride).collect();
                let count = axes.iter().map(|axis| axis.count.unwrap_or(u64::MAX)).collect();
                let block = axes.iter().map(|axis| axis.block.unwrap_or(u64::MAX)).collect();
                ("regular", vec![start, stride, count, block])
            }
        })
    }
}
