//! Writing the elements of a dataset, and resizing it.

use std::sync::PoisonError;

use hyperslab::Transfer;
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::Dataset;
use crate::handles::scales;
use crate::interpreter::error::{OrRaise, in_one_shape};
use crate::interpreter::name::name_required;
use crate::opening::state::writable;
use crate::transfer::write;

/// Returns the lengths that Python accepts for a shape, as a tuple.
fn lengths<'py>(size: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    size.py().import("hyperslab._shapes")?.getattr("lengths")?.call1(("size", size))
}

#[pymethods]
impl Dataset {
    fn __setitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        write::set_item(slf, key, value)
    }

    /// Picks up changes that another program has made to the file.
    ///
    /// All objects then show the current state. As `File.refresh` does, it refreshes the whole file, not only
    /// this dataset. In a file that is open for writing there is nothing to do.
    ///
    /// Raises:
    ///     OSError: Another file was written in place of the file.
    ///
    /// Example:
    ///     >>> with hs.File("climate.h5", locking=False) as watched:
    ///     ...     series = watched["surface/t2m"]
    ///     ...     series.refresh()
    ///     ...     series.shape
    ///     (4, 2, 3)
    fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        self.state.check()?;
        py.detach(|| self.core.refresh()).or_raise()
    }

    /// Writes all changes to the file, as `File.flush` does.
    ///
    /// The changes of the whole file are written, not only those of this dataset.
    ///
    /// Example:
    ///     >>> dataset[0] = 1
    ///     >>> dataset.flush()
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.state.flush(py)
    }

    /// A context manager that makes writes collective, in a file with the driver "mpio".
    ///
    /// All ranks write in the block, each its own selection. Chunks need collective writes; a dataset without
    /// chunks may also be written by any rank alone. In other files the block has no effect.
    ///
    /// Example:
    ///     >>> with dataset.collective:
    ///     ...     dataset[0] = [7, 8, 9]
    #[getter]
    fn collective<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("hyperslab._collective")?.getattr("CollectiveContext")?.call1((slf,))
    }

    /// Sets which ranks make the writes: "alike", "independent" or "collective". Returns which did before.
    #[pyo3(name = "_transfer")]
    fn set_transfer(&self, transfer: &str) -> PyResult<&'static str> {
        let named = [
            ("alike", Transfer::Alike),
            ("independent", Transfer::Independent),
            ("collective", Transfer::Collective),
        ];
        let (_, new) = named
            .into_iter()
            .find(|(name, _)| *name == transfer)
            .ok_or_else(|| PyValueError::new_err(format!("unknown transfer {transfer:?}")))?;
        let mut held = self.transfer.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *held, new);
        Ok(named.into_iter().find(|(_, kind)| *kind == before).map_or("independent", |(name, _)| name))
    }

    /// Writes an array to a selection of the dataset. `shape` is the shape of the dataset for which the
    /// caller made the array.
    #[expect(clippy::needless_pass_by_value, reason = "a list of Python becomes a vector")]
    #[pyo3(name = "_write")]
    fn write_array(
        &self,
        sel: Option<&Bound<'_, PyAny>>,
        array: &Bound<'_, PyUntypedArray>,
        shape: Vec<u64>,
    ) -> PyResult<()> {
        write::write_array(self, sel, array, &shape)
    }

    /// Writes an array, or a part of an array, to a selection of the dataset.
    ///
    /// Args:
    ///     source: The array. The values are broadcast and converted as for `dataset[dest_sel] = source`.
    ///     source_sel: The part of `source`, an index of NumPy. None takes the whole array.
    ///     dest_sel: The selection of the dataset, as between brackets. None selects all elements.
    ///
    /// Raises:
    ///     TypeError: The shape or the dtype does not fit.
    ///     OSError: The file is open for reading.
    ///
    /// Example:
    ///     >>> dataset.write_direct(np.arange(6.0), np.s_[3:], (1, 0))
    ///     >>> dataset[1, 0]
    ///     array([3., 4., 5.], dtype=float32)
    #[pyo3(signature = (source, source_sel=None, dest_sel=None))]
    fn write_direct<'py>(
        slf: &Bound<'py, Self>,
        source: &Bound<'py, PyAny>,
        source_sel: Option<&Bound<'py, PyAny>>,
        dest_sel: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let write = slf.py().import("hyperslab._write")?.getattr("write_direct")?;
        in_one_shape(slf.py(), || write.call1((slf, source, source_sel, dest_sel)).map(drop))
    }

    /// Changes the shape, or the length of one axis, within `maxshape`.
    ///
    /// Elements keep their coordinates. New elements hold the fill value, and elements outside the new shape
    /// are lost.
    ///
    /// Args:
    ///     size: The new shape in elements, or with `axis` the new length of the axis.
    ///     axis: The number of the axis, from 0.
    ///
    /// Raises:
    ///     TypeError: The dataset is not stored in chunks, `size` has another number of axes, or it is not an
    ///         integer although `axis` is given.
    ///     ValueError: There is no such axis.
    ///     OverflowError: A length is negative.
    ///     RuntimeError: The shape exceeds `maxshape`, or the file is open for reading.
    ///
    /// Example:
    ///     >>> dataset.resize(5, axis=0)
    ///     >>> dataset.shape
    ///     (5, 2, 3)
    ///     >>> dataset.resize((2, 2, 3))
    #[pyo3(signature = (size, axis=None))]
    pub(super) fn resize(&self, py: Python<'_>, size: &Bound<'_, PyAny>, axis: Option<i64>) -> PyResult<()> {
        self.state.check()?;
        if self.core.chunk_shape().is_none() {
            return Err(PyTypeError::new_err("Only chunked datasets can be resized"));
        }
        writable::<PyRuntimeError>(&self.state, "resize the dataset")?;
        let Some(axis) = axis else {
            // The slow way accepts more, and has the errors.
            let shape: Vec<u64> = match size.extract() {
                Ok(shape) => shape,
                Err(_) => lengths(size)?.extract()?,
            };
            let rank = self.core.shape().len();
            if shape.len() != rank {
                let message = format!("New shape length ({}) must match dataset rank ({rank})", shape.len());
                return Err(PyTypeError::new_err(message));
            }
            return py.detach(|| self.core.resize(&shape)).or_raise();
        };
        let rank = self.core.shape().len();
        let axis = usize::try_from(axis).ok().filter(|&axis| axis < rank).ok_or_else(|| {
            PyValueError::new_err(format!("Invalid axis (0 to {} allowed)", rank.saturating_sub(1)))
        })?;
        let single = |_| PyTypeError::new_err("Argument must be a single int if axis is specified");
        let size = match size.extract::<u64>() {
            Ok(size) => size,
            Err(_) => lengths(size)?.extract::<[u64; 1]>().map_err(single)?[0],
        };
        py.detach(|| self.core.resize_axis(axis, size)).or_raise()
    }

    /// Makes the dataset a dimension scale, or gives a dimension scale another name.
    ///
    /// Args:
    ///     name: The name of the scale. The default is an empty name.
    ///
    /// Raises:
    ///     RuntimeError: Scales are attached to the dataset, or the file is open for reading.
    ///
    /// Example:
    ///     >>> file["time"] = np.arange(4)
    ///     >>> file["time"].make_scale("hours")
    ///     >>> dataset.dims[0].attach_scale(file["time"])
    ///     >>> dataset.dims[0]["hours"][:]
    ///     array([0, 1, 2, 3])
    #[pyo3(signature = (name=None))]
    fn make_scale(slf: &Bound<'_, Self>, name: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let name = name.map(name_required).transpose()?.unwrap_or_default();
        scales::make_scale(slf, &name)
    }
}
