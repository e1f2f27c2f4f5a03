//! Writing elements, and changing the shape of a dataset.

use numpy::PyUntypedArray;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::Dataset;
use crate::create::writable;
use crate::error::{OrRaise, in_one_shape};
use crate::object::name_required;
use crate::scales;
use crate::write;

#[pymethods]
impl Dataset {
    fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        self.state.check()?;
        py.detach(|| self.core.refresh()).or_raise()
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.state.flush(py)
    }

    /// Writes an array of the shape of the selection of a dataset of this shape.
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

    #[pyo3(signature = (size, axis=None))]
    fn resize(&self, py: Python<'_>, size: &Bound<'_, PyAny>, axis: Option<usize>) -> PyResult<()> {
        if self.core.chunk_shape().is_none() {
            return Err(PyTypeError::new_err("Only chunked datasets can be resized"));
        }
        writable::<PyRuntimeError>(&self.state, "resize the dataset")?;
        let Some(axis) = axis else {
            let shape: Vec<u64> = size.extract().or_else(|_| size.extract().map(|size| vec![size]))?;
            return py.detach(|| self.core.resize(&shape)).or_raise();
        };
        let rank = self.core.shape().len();
        if axis >= rank {
            return Err(PyValueError::new_err(format!("Invalid axis (0 to {} allowed)", rank - 1)));
        }
        let single = |_| PyTypeError::new_err("Argument must be a single int if axis is specified");
        let size: u64 = size.extract().map_err(single)?;
        py.detach(|| self.core.resize_axis(axis, size)).or_raise()
    }

    #[pyo3(signature = (name=None))]
    fn make_scale(slf: &Bound<'_, Self>, name: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let name = name.map(name_required).transpose()?.unwrap_or_default();
        scales::make_scale(slf, &name)
    }
}
