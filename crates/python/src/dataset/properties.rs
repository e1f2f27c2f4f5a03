//! What a dataset says of itself.

use hyperslab::ExternalFile;
use hyperslab_filters::FilterId;
use hyperslab_format::message::fill::FillBytes;
use numpy::PyArrayDescr;
use numpy::prelude::*;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::Dataset;
use crate::buffer;
use crate::create::writable;
use crate::error::OrRaise;
use crate::filters;
use crate::objects;

#[pymethods]
impl Dataset {
    #[getter]
    pub(super) fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        if self.is_null() { Ok(None) } else { PyTuple::new(py, self.core.shape()).map(Some) }
    }

    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyArrayDescr>> {
        Ok(self.translation(py)?.descr.clone_ref(py))
    }

    #[getter]
    fn ndim(&self) -> usize {
        self.core.shape().len()
    }

    #[getter]
    fn size(&self) -> Option<u64> {
        (!self.is_null()).then(|| self.core.size())
    }

    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<u64> {
        let itemsize = self.translation(py)?.descr.bind(py).itemsize();
        Ok(if self.is_null() { 0 } else { self.core.size().saturating_mul(itemsize as u64) })
    }

    #[getter]
    fn maxshape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match (self.is_null(), self.core.max_shape()) {
            (true, _) => Ok(None),
            (false, Some(most)) => PyTuple::new(py, most).map(Some),
            (false, None) => PyTuple::new(py, self.core.shape()).map(Some),
        }
    }

    #[getter]
    fn chunks<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.core.chunk_shape().map(|chunk| PyTuple::new(py, chunk)).transpose()
    }

    #[getter]
    fn compression(&self) -> Option<&'static str> {
        filters::compression(&self.core.filters())
    }

    #[getter]
    fn compression_opts<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        filters::compression_opts(py, &self.core.filters())
    }

    #[getter]
    fn shuffle(&self) -> bool {
        filters::find(&self.core.filters(), FilterId::SHUFFLE).is_some()
    }

    #[getter]
    fn fletcher32(&self) -> bool {
        filters::find(&self.core.filters(), FilterId::FLETCHER32).is_some()
    }

    #[getter]
    fn scaleoffset(&self) -> Option<u32> {
        filters::scale_offset(&self.core.filters())
    }

    #[getter]
    fn filter_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.core.filters().filters.iter().map(|filter| filter.id))
    }

    #[getter]
    fn filter_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.core.filters().filters.iter().map(filters::name))
    }

    /// Whether attributes know in which order they are created.
    #[getter]
    fn _track_order(&self) -> bool {
        self.core.tracks_attribute_order()
    }

    #[getter]
    fn skip_fill_chunks(&self) -> PyResult<bool> {
        self.state.check()?;
        Ok(self.core.skips_fill_chunks())
    }

    #[setter]
    fn set_skip_fill_chunks(&self, skips: bool) -> PyResult<()> {
        writable::<PyValueError>(&self.state, "leave out chunks")?;
        self.core.set_skip_fill_chunks(skips);
        Ok(())
    }

    /// Never-written elements hold it: an element of the dataset's dtype.
    #[getter]
    fn fillvalue<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.state.check()?;
        let translation = self.translation(py)?;
        if translation.recipe.as_ref().is_some_and(|recipe| !recipe.is_text())
            && !matches!(self.core.fill_value().value, FillBytes::Defined(_))
        {
            // h5py leaves the places of objects empty.
            return buffer::empty(py, &[1], translation.descr.bind(py))?.get_item(0);
        }
        let stored = match &self.core.fill_value().value {
            FillBytes::Defined(value) if value.len() == self.core.element_size() => value.clone(),
            _ => vec![0; self.core.element_size()],
        };
        let widths = self.core.file().store().widths();
        let raw = objects::convert(&self.core.datatype(), &translation.memory, widths, stored)?;
        let array = if translation.recipe.is_some() {
            objects::array(py, self.core.file(), translation, &raw, &[1])?
        } else {
            let mut array = buffer::empty(py, &[1], translation.descr.bind(py))?;
            buffer::bytes_mut(&mut array)?.copy_from_slice(&raw);
            array
        };
        array.get_item(0)
    }

    #[getter]
    fn is_virtual(&self) -> bool {
        self.core.is_virtual()
    }

    #[getter]
    fn external(&self) -> PyResult<Option<Vec<(String, u64, u64)>>> {
        let files = self.core.external_files().or_raise()?;
        // Without limit: as h5py says it.
        let part = |file: ExternalFile| (file.name, file.offset, file.len.unwrap_or(u64::MAX));
        Ok((!files.is_empty()).then(|| files.into_iter().map(part).collect()))
    }

    #[getter]
    fn is_scale(&self, py: Python<'_>) -> PyResult<bool> {
        self.state.check()?;
        Ok(py.detach(|| self.core.is_scale()).unwrap_or(false))
    }

    #[getter]
    fn dims<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("hyperslab._dims")?.getattr("DimensionManager")?.call1((slf,))
    }

    #[getter]
    fn regionref<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("hyperslab._dims")?.getattr("RegionProxy")?.call1((slf,))
    }
}
