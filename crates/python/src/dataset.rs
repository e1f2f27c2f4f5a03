//! Datasets: what h5py says of them, and their elements. Documented in `_native.pyi`; this file only translates.

use std::num::NonZeroUsize;
use std::sync::Arc;

use hyperslab::Destination;
use hyperslab::ExternalFile;
use hyperslab_filters::FilterId;
use hyperslab_format::datatype::{Charset, Datatype};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::fill::FillBytes;
use numpy::prelude::*;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple};

use crate::buffer;
use crate::chunks::{ChunkIterator, DatasetIterator};
use crate::create::writable;
use crate::dtype::{Translation, descr_of};
use crate::error::{OrRaise, in_one_shape};
use crate::filters;
use crate::object::{HLObject, base_name, name_required};
use crate::objects;
use crate::plan::ReadPlan;
use crate::read::{self, FieldTranslation};
use crate::scales;
use crate::selection::{Index, Request};
use crate::state::FileState;
use crate::views::{AsStrView, AsTypeView, FieldsView};
use crate::write;

/// A stored array.
#[pyclass(frozen, extends = HLObject, module = "hyperslab")]
pub(crate) struct Dataset {
    /// The file.
    pub(crate) state: Arc<FileState>,
    /// The dataset.
    pub(crate) core: hyperslab::Dataset,
    translation: PyOnceLock<Translation>,
    /// Whether the elements of the file are NumPy's already.
    as_stored: PyOnceLock<bool>,
}

impl Dataset {
    /// The Python half of a dataset.
    pub(crate) fn new(state: Arc<FileState>, core: hyperslab::Dataset) -> Self {
        Self { state, core, translation: PyOnceLock::new(), as_stored: PyOnceLock::new() }
    }

    /// The dataset's dtype, and how its elements get there; made once.
    pub(crate) fn translation(&self, py: Python<'_>) -> PyResult<&Translation> {
        self.translation.get_or_try_init(py, || {
            Translation::new(py, &self.core.datatype(), self.core.file().store().widths())
        })
    }

    /// Whether a translation takes elements as the file has them.
    pub(crate) fn is_stored_as(&self, py: Python<'_>, translation: &Translation) -> bool {
        let compare = || translation.memory == *self.core.datatype();
        match self.translation.get(py) {
            Some(own) if std::ptr::eq(own, translation) => *self.as_stored.get_or_init(py, compare),
            _ => compare(),
        }
    }

    fn is_null(&self) -> bool {
        self.core.dataspace() == Dataspace::Null
    }

    /// The encoding of the strings that the elements are, if they are.
    fn string_encoding(&self) -> Option<&'static str> {
        let charset = match &*self.core.datatype() {
            Datatype::Text(text) => text.charset,
            Datatype::VariableText(text) => text.charset,
            _ => return None,
        };
        Some(if charset == Charset::Utf8 { "utf-8" } else { "ascii" })
    }

    /// The length of the first axis.
    pub(crate) fn first_axis(&self, otherwise: &'static str) -> PyResult<u64> {
        if self.is_null() {
            return Err(PyTypeError::new_err("object of type 'NoneType' has no len()"));
        }
        self.core.shape().first().copied().ok_or_else(|| PyTypeError::new_err(otherwise))
    }
}

#[pymethods]
impl Dataset {
    fn __getitem__<'py>(slf: &Bound<'py, Self>, args: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        read::item(slf.py(), slf.get(), args, None)
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
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

    fn len(&self) -> PyResult<u64> {
        self.first_axis("Attempt to take len() of scalar dataset")
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(usize::try_from(self.len()?)?)
    }

    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<DatasetIterator> {
        let len = slf.get().first_axis("Can't iterate over a scalar dataset")?;
        Ok(DatasetIterator::new(slf.clone().unbind(), len))
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        if copy == Some(false) {
            return Err(PyValueError::new_err(
                "Dataset.__array__ received copy=False but memory allocation cannot be avoided on read",
            ));
        }
        let dtype = dtype.map(descr_of).transpose()?;
        in_one_shape(py, || {
            let request = read::request_of(self, None)?;
            match &dtype {
                None => read::array(py, self, self.translation(py)?, &request, None),
                Some(dtype) => read::cast(py, self, &request, dtype),
            }
        })
    }

    #[pyo3(signature = (dest, source_sel=None, dest_sel=None))]
    fn read_direct<'py>(
        &self,
        py: Python<'py>,
        dest: &Bound<'py, PyUntypedArray>,
        source_sel: Option<&Bound<'py, PyAny>>,
        dest_sel: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        in_one_shape(py, || {
            let request = read::request_of(self, source_sel)?;
            let Some(dest_sel) = dest_sel else {
                return self.read_or_broadcast(py, &request, dest);
            };
            let place = dest.get_item(dest_sel)?;
            match place.cast::<PyUntypedArray>() {
                // Slices give a view of the destination; lists and masks a copy, and integers alone an element.
                Ok(view) if !view.getattr("base")?.is_none() => self.read_or_broadcast(py, &request, view),
                _ => {
                    let whole = read::array(py, self, self.translation(py)?, &request, None)?;
                    dest.set_item(dest_sel, whole)
                }
            }
        })
    }

    #[pyo3(signature = (sel=None, out=None, threads=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        sel: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyUntypedArray>>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        in_one_shape(py, || {
            let request = read::request_of(self, sel)?;
            match out {
                None => read::array(py, self, self.translation(py)?, &request, threads),
                Some(out) => read::into(py, self, &request, out, threads).map(|()| out.clone()),
            }
        })
    }

    #[pyo3(signature = (selections, out=None, threads=None))]
    fn read_many<'py>(
        &self,
        py: Python<'py>,
        selections: &Bound<'py, PyAny>,
        out: Option<Vec<Bound<'py, PyUntypedArray>>>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Vec<Bound<'py, PyUntypedArray>>> {
        let selections = selections.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        in_one_shape(py, move || self.read_all(py, &selections, out.as_deref(), threads))
    }

    #[pyo3(signature = (sel=None))]
    fn plan(&self, py: Python<'_>, sel: Option<&Bound<'_, PyAny>>) -> PyResult<ReadPlan> {
        let request = read::request_of(self, sel)?;
        let plan = py.detach(|| self.core.plan(&request.selection)).or_raise()?;
        Ok(ReadPlan { plan })
    }

    fn astype<'py>(slf: &Bound<'py, Self>, dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let dtype = descr_of(dtype)?;
        let this = slf.get();
        if dtype.is_equiv_to(this.translation(py)?.descr.bind(py)) {
            return Ok(slf.clone().into_any());
        }
        if dtype.kind() == b'T' && this.string_encoding().is_none() {
            return Err(PyTypeError::new_err(format!(
                "dset.astype({dtype}) can only be used on datasets with an HDF5 string datatype"
            )));
        }
        Ok(Bound::new(py, AsTypeView { dataset: slf.clone().unbind(), dtype: dtype.unbind() })?.into_any())
    }

    #[pyo3(signature = (encoding=None, errors="strict"))]
    fn asstr(slf: &Bound<'_, Self>, encoding: Option<String>, errors: &str) -> PyResult<AsStrView> {
        let own = slf.get().string_encoding().ok_or_else(|| {
            PyTypeError::new_err("dset.asstr() can only be used on datasets with an HDF5 string datatype")
        })?;
        let encoding = encoding.unwrap_or_else(|| own.to_owned());
        Ok(AsStrView { dataset: slf.clone().unbind(), encoding, errors: errors.to_owned() })
    }

    fn fields(slf: &Bound<'_, Self>, names: &Bound<'_, PyAny>) -> PyResult<FieldsView> {
        let single = names.cast::<PyString>().is_ok();
        let names = if single {
            vec![names.extract()?]
        } else {
            names.try_iter()?.map(|name| name?.extract()).collect::<PyResult<_>>()?
        };
        let translation = FieldTranslation::new(slf.py(), slf.get(), &names, single)?;
        Ok(FieldsView { dataset: slf.clone().unbind(), translation })
    }

    #[pyo3(signature = (sel=None))]
    fn iter_chunks(&self, sel: Option<&Bound<'_, PyAny>>) -> PyResult<ChunkIterator> {
        let chunk =
            self.core.chunk_shape().ok_or_else(|| PyTypeError::new_err("Chunked dataset required"))?;
        ChunkIterator::new(&self.core.shape(), &chunk, sel)
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

    fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        self.state.check()?;
        py.detach(|| self.core.refresh()).or_raise()
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.state.flush(py)
    }

    fn __setitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        write::set_item(slf, key, value)
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

    /// The shape of a selection, and that of the dataset.
    #[pyo3(name = "_shape_of", signature = (sel=None))]
    fn shape_of<'py>(
        &self,
        py: Python<'py>,
        sel: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)> {
        let request = read::request_of(self, sel)?;
        Ok((PyTuple::new(py, &request.shape)?, PyTuple::new(py, &request.extent)?))
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

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let py = slf.py();
        let this = slf.get();
        if !this.state.is_open() {
            return Ok("<Closed HDF5 dataset>".to_owned());
        }
        let name = match slf.as_super().get().path(py)? {
            Some(path) => format!("\"{}\"", base_name(path)),
            None => "(anonymous)".to_owned(),
        };
        let shape = this
            .shape(py)?
            .map_or_else(|| Ok("None".to_owned()), |shape| Ok::<_, PyErr>(shape.repr()?.to_string()))?;
        let dtype = this.translation(py)?.descr.bind(py).getattr("str")?;
        Ok(format!("<HDF5 dataset {name}: shape {shape}, type \"{dtype}\">"))
    }
}

impl Dataset {
    /// Reads several selections, each into an array of `out` or a new one.
    fn read_all<'py>(
        &self,
        py: Python<'py>,
        selections: &[Bound<'py, PyAny>],
        out: Option<&[Bound<'py, PyUntypedArray>]>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Vec<Bound<'py, PyUntypedArray>>> {
        let requests =
            selections.iter().map(|sel| read::request_of(self, Some(sel))).collect::<PyResult<Vec<_>>>()?;
        if out.is_some_and(|out| out.len() != requests.len()) {
            return Err(PyValueError::new_err("read_many needs as many arrays in `out` as selections"));
        }
        let translation = self.translation(py)?;
        let Some(extent) = requests.first().map(|first| &first.extent) else { return Ok(Vec::new()) };
        let direct = translation.recipe.is_none()
            && requests.iter().all(|request| request.extent == *extent)
            && out.into_iter().flatten().zip(&requests).all(|(array, request)| {
                array.shape() == &request.shape[..]
                    && array.is_c_contiguous()
                    && array.dtype().is_equiv_to(translation.descr.bind(py))
            });
        if !direct {
            let mut arrays = out.into_iter().flatten();
            return requests
                .iter()
                .map(|request| match arrays.next() {
                    None => read::array(py, self, translation, request, threads),
                    Some(array) => read::into(py, self, request, array, threads).map(|()| array.clone()),
                })
                .collect();
        }
        let make = |request: &Request| buffer::empty(py, &request.shape, translation.descr.bind(py));
        let mut arrays = match out {
            Some(arrays) => arrays.to_vec(),
            None => requests.iter().map(make).collect::<PyResult<_>>()?,
        };
        if buffer::overlap(&arrays) {
            return Err(PyValueError::new_err("the arrays in `out` overlap"));
        }
        let options = read::options(py, self, translation, threads);
        let mut destinations = arrays
            .iter_mut()
            .map(|array| Ok(Destination::contiguous(buffer::bytes_mut(array)?)))
            .collect::<PyResult<Vec<_>>>()?;
        let mut reads: Vec<_> =
            requests.iter().map(|request| &request.selection).zip(&mut destinations).collect();
        py.detach(|| self.core.read_many_shaped(extent, &mut reads, &options)).or_raise()?;
        drop(destinations);
        Ok(arrays)
    }

    fn read_or_broadcast<'py>(
        &self,
        py: Python<'py>,
        request: &Request,
        dest: &Bound<'py, PyUntypedArray>,
    ) -> PyResult<()> {
        if dest.shape() == &request.shape[..] || self.translation(py)?.descr.bind(py).has_subarray() {
            return read::into(py, self, request, dest, None);
        }
        let whole = read::array(py, self, self.translation(py)?, request, None)?;
        let place = dest.get_item(py.Ellipsis())?;
        place.set_item(py.Ellipsis(), &whole).map_err(|error| {
            if !error.is_instance_of::<PyValueError>(py) {
                return error;
            }
            let shapes = PyTuple::new(py, &request.shape)
                .and_then(|from| Ok((from.repr()?, PyTuple::new(py, dest.shape())?.repr()?)));
            shapes.map_or_else(
                |other| other,
                |(from, to)| PyTypeError::new_err(format!("Can't broadcast {from} -> {to}")),
            )
        })
    }

    /// `dataset[key]`, for the views of it.
    pub(crate) fn item<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        read::item(py, self, key, None)
    }

    /// The parts of an index expression that is to hold no names of fields.
    pub(crate) fn index<'py>(key: &Bound<'py, PyAny>) -> PyResult<Index<'py>> {
        let index = Index::split(key)?;
        if index.fields.is_empty() {
            Ok(index)
        } else {
            Err(PyValueError::new_err("Field names only allowed for compound types"))
        }
    }
}
