//! What h5py calls low-level identifiers: here, views of an object with what programs ask of them.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab::{ChunkRecord, Node};
use hyperslab_format::layout::Layout;
use numpy::PyUntypedArray;
use numpy::prelude::*;
use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use smallvec::SmallVec;

use crate::buffer;
use crate::create::writable;
use crate::dataset::Dataset;
use crate::datatype::Datatype;
use crate::error::{OrRaise, exception};
use crate::file::File;
use crate::group::Group;
use crate::object::{HLObject, hash_of};
use crate::state::FileState;
use crate::store_info::{self, StoreInfos};

/// The identifier of any object.
#[pyclass(frozen, subclass, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct ObjectID {
    state: Arc<FileState>,
    identity: ((u64, u64), u64),
    node: Node,
}

/// The identifier of a file.
#[pyclass(frozen, extends = ObjectID, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct FileID;

/// The identifier of a group.
#[pyclass(frozen, extends = ObjectID, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct GroupID;

/// The identifier of a committed datatype.
#[pyclass(frozen, extends = ObjectID, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct TypeID {
    datatype: Py<Datatype>,
}

/// The identifier of a dataset: its chunks, as they are stored.
#[pyclass(frozen, extends = ObjectID, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct DatasetID {
    dataset: Py<Dataset>,
}

impl ObjectID {
    /// The identifier of an object.
    pub(crate) fn of<'py>(object: &Bound<'py, HLObject>) -> PyResult<Bound<'py, PyAny>> {
        let py = object.py();
        let this = object.get();
        let base = PyClassInitializer::from(Self {
            state: Arc::clone(&this.state),
            identity: this.identity(),
            node: this.node.clone(),
        });
        Ok(if let Ok(dataset) = object.cast::<Dataset>() {
            Bound::new(py, base.add_subclass(DatasetID { dataset: dataset.clone().unbind() }))?.into_any()
        } else if object.cast::<File>().is_ok() {
            Bound::new(py, base.add_subclass(FileID))?.into_any()
        } else if object.cast::<Group>().is_ok() {
            Bound::new(py, base.add_subclass(GroupID))?.into_any()
        } else {
            let datatype = object.cast::<Datatype>()?.clone().unbind();
            Bound::new(py, base.add_subclass(TypeID { datatype }))?.into_any()
        })
    }
}

impl ObjectID {
    /// Returns the object of an identifier, for a constructor, or raises `ValueError` for anything else.
    pub(crate) fn object(bind: &Bound<'_, PyAny>) -> PyResult<(Arc<FileState>, Node)> {
        let not_id =
            |_| PyValueError::new_err(format!("{bind} is not an identifier: give the `id` of an object"));
        let id = bind.cast::<Self>().map_err(not_id)?.get();
        id.state.check()?;
        Ok((Arc::clone(&id.state), id.node.clone()))
    }
}

#[pymethods]
impl ObjectID {
    #[getter]
    fn valid(&self) -> bool {
        self.state.is_open()
    }

    #[getter]
    fn id(&self) -> u64 {
        self.identity.1
    }

    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let path = self.node.path();
        (!path.is_empty()).then(|| PyBytes::new(py, path.as_bytes()))
    }

    fn __bool__(&self) -> bool {
        self.state.is_open()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().identity == self.identity)
    }

    fn __hash__(&self) -> u64 {
        hash_of(self.identity)
    }
}

#[pymethods]
impl FileID {
    fn get_filesize(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let state = &slf.as_super().get().state;
        state.check()?;
        Ok(state.core.store().len_bytes())
    }

    /// The bytes of the file, with everything that was changed so far.
    fn get_file_image<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let (py, state) = (slf.py(), &slf.as_super().get().state);
        state.flush(py)?;
        let image = py.detach(|| {
            let driver = state.core.store().driver()?;
            let failed = |error| hyperslab::Error::io("read", 0, 0)(error);
            let len = driver.len().map_err(failed)?;
            let mut image = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
            driver.read_at(0, &mut image).map_err(failed)?;
            Ok::<_, hyperslab::Error>(image)
        });
        let image: Vec<u8> = image.or_raise()?;
        Ok(PyBytes::new(py, &image))
    }
}

/// How many chunks are handed to Python at a time.
const BATCH: usize = 4096;

impl DatasetID {
    fn open(&self) -> PyResult<&Dataset> {
        let dataset = self.dataset.get();
        dataset.state.check()?;
        Ok(dataset)
    }

    fn chunked(&self, what: &str) -> PyResult<&Dataset> {
        let dataset = self.open()?;
        if dataset.core.chunk_shape().is_none() {
            return Err(PyRuntimeError::new_err(format!("{what} (not a chunked dataset)")));
        }
        Ok(dataset)
    }
}

#[pymethods]
impl DatasetID {
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.dataset.bind(py).getattr("shape")
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.dataset.bind(py).getattr("dtype")
    }

    #[getter]
    fn rank(&self) -> usize {
        self.dataset.get().core.shape().len()
    }

    fn get_num_chunks(&self, py: Python<'_>) -> PyResult<u64> {
        let dataset = self.chunked("Can't get number of chunks")?;
        py.detach(|| dataset.core.stored_chunks()).or_raise()
    }

    fn get_chunk_info<'py>(&self, py: Python<'py>, index: u64) -> PyResult<Bound<'py, PyTuple>> {
        let dataset = self.chunked("Can't get number of chunks")?;
        let mut left = index;
        let mut found: Option<(SmallVec<[u64; 4]>, ChunkRecord)> = None;
        let mut visitor = |coord: &[u64], record: ChunkRecord| {
            if left == 0 {
                found = Some((coord.into(), record));
                return ControlFlow::Break(());
            }
            left -= 1;
            ControlFlow::Continue(())
        };
        py.detach(|| dataset.core.visit_chunks(&mut visitor)).or_raise()?;
        let (coord, record) = found.ok_or_else(|| {
            PyValueError::new_err("Chunk index is out of range (chunk index is out of range)")
        })?;
        stored_info(py, dataset, &coord, record)
    }

    fn get_chunk_info_by_coord<'py>(
        &self,
        py: Python<'py>,
        chunk_offset: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let dataset = self.chunked("Can't get chunk info by its coordinates")?;
        let chunk = dataset.core.chunk_shape().unwrap_or_default();
        if chunk_offset.len() != chunk.len() {
            return Err(PyValueError::new_err("Tuple length incompatible with array"));
        }
        let coord = chunk_offset.iter().zip(&chunk).map(|(at, len)| Ok(at.extract::<u64>()? / len));
        let coord = coord.collect::<PyResult<SmallVec<[u64; 4]>>>()?;
        match py.detach(|| dataset.core.chunk_at(&coord)).or_raise()? {
            Some(record) => stored_info(py, dataset, &coord, record),
            None => store_info::not_stored(py),
        }
    }

    fn chunk_iter<'py>(&self, py: Python<'py>, func: &Bound<'py, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let dataset = self.chunked("Error iterating over dataset chunks")?;
        let mut batch = Batch {
            chunk: &dataset.core.chunk_shape().unwrap_or_default(),
            base: dataset.core.file().store().base(),
            coords: Vec::new(),
            records: Vec::new(),
        };
        let func = func.clone().unbind();
        let mut result: PyResult<Option<Py<PyAny>>> = Ok(None);
        let walked = py.detach(|| {
            let visited = dataset.core.visit_chunks(&mut |coord, record| {
                batch.coords.extend_from_slice(coord);
                batch.records.push(record);
                if batch.records.len() < BATCH {
                    return ControlFlow::Continue(());
                }
                result = Python::attach(|py| batch.call(py, func.bind(py)));
                if matches!(result, Ok(None)) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            visited.map_err(|error| exception(&error))
        });
        walked?;
        if let Ok(None) = result {
            result = batch.call(py, func.bind(py));
        }
        result
    }

    #[pyo3(signature = (offsets, out=None))]
    fn read_direct_chunk<'py>(
        &self,
        py: Python<'py>,
        offsets: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(u32, Bound<'py, PyAny>)> {
        let dataset = self.chunked("Can't get storage size of chunk")?;
        let offsets: SmallVec<[u64; 4]> =
            offsets.try_iter()?.map(|at| at?.extract::<u64>()).collect::<PyResult<_>>()?;
        let chunk = dataset.core.chunk_shape().unwrap_or_default();
        if offsets.len() != chunk.len() {
            return Err(PyTypeError::new_err(format!(
                "offsets length ({}) must match dataset rank ({})",
                offsets.len(),
                chunk.len()
            )));
        }
        let coord: SmallVec<[u64; 4]> = offsets.iter().zip(&chunk).map(|(at, len)| at / len).collect();
        let Some(record) = py.detach(|| dataset.core.chunk_at(&coord)).or_raise()? else {
            return Err(PyRuntimeError::new_err(
                "Can't get storage size of chunk (chunk storage is not allocated)",
            ));
        };
        if offsets.iter().zip(&chunk).any(|(at, len)| at % len != 0) {
            return Err(pyo3::exceptions::PyOSError::new_err(
                "Can't read unprocessed chunk data (offset doesn't fall on chunks's boundary)",
            ));
        }
        let bytes = py.detach(|| dataset.core.read_stored_chunk(record)).or_raise()?;
        let mask = record.mask.0;
        let Some(out) = out else { return Ok((mask, PyBytes::new(py, &bytes).into_any())) };
        let mut cells =
            py.import("numpy")?.call_method1("frombuffer", (out, "u1"))?.cast_into::<PyUntypedArray>()?;
        if !cells.getattr("flags")?.getattr("writeable")?.is_truthy()? {
            return Err(PyBufferError::new_err("the out buffer is read-only"));
        }
        if cells.len() < bytes.len() {
            return Err(PyValueError::new_err(format!(
                "out buffer is only {} bytes, {} bytes required",
                cells.len(),
                bytes.len()
            )));
        }
        buffer::bytes_mut(&mut cells)?[..bytes.len()].copy_from_slice(&bytes);
        let view = py.import("builtins")?.getattr("memoryview")?.call1((cells,))?;
        let slice = pyo3::types::PySlice::new(py, 0, isize::try_from(bytes.len())?, 1);
        Ok((mask, view.get_item(slice)?))
    }

    #[pyo3(signature = (offsets, data, filter_mask=0))]
    fn write_direct_chunk(
        &self,
        py: Python<'_>,
        offsets: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        filter_mask: u32,
    ) -> PyResult<()> {
        let dataset = self.chunked("Can't write unprocessed chunk data")?;
        writable::<PyRuntimeError>(&dataset.state, "write unprocessed chunk data")?;
        let first: Vec<u64> = offsets.try_iter()?.map(|at| at?.extract::<u64>()).collect::<PyResult<_>>()?;
        let bytes = py.get_type::<PyBytes>().call1((data,))?;
        let bytes = bytes.cast::<PyBytes>()?.as_bytes();
        py.detach(|| dataset.core.write_stored_chunk(&first, filter_mask, bytes)).or_raise()
    }

    fn get_storage_size(&self, py: Python<'_>) -> PyResult<u64> {
        let dataset = &self.open()?.core;
        match dataset.layout() {
            Layout::Virtual { .. } => Ok(0),
            _ => py.detach(|| dataset.storage_bytes()).or_raise(),
        }
    }

    fn get_offset(&self) -> PyResult<Option<u64>> {
        let dataset = &self.open()?.core;
        Ok(match dataset.layout() {
            Layout::Contiguous(extent) => {
                extent.addr.defined().map(|addr| addr.get() + dataset.file().store().base())
            }
            _ => None,
        })
    }
}

/// What is said of one chunk.
fn stored_info<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    coord: &[u64],
    record: ChunkRecord,
) -> PyResult<Bound<'py, PyTuple>> {
    let chunk = dataset.core.chunk_shape().unwrap_or_default();
    StoreInfos::new(py, &chunk, dataset.core.file().store().base())?.next(coord, record).cloned()
}

#[pymethods]
impl TypeID {
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.datatype.bind(py).getattr("dtype")
    }
}

/// Chunks on their way to Python.
struct Batch<'a> {
    chunk: &'a [u64],
    base: u64,
    coords: Vec<u64>,
    records: Vec<ChunkRecord>,
}

impl Batch<'_> {
    /// Calls `func` with each, until it returns something.
    fn call(&mut self, py: Python<'_>, func: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let mut infos = StoreInfos::new(py, self.chunk, self.base)?;
        for (coord, record) in self.coords.chunks_exact(self.chunk.len().max(1)).zip(&self.records) {
            let result = buffer::call(func, infos.next(coord, *record)?)?;
            if !result.is_none() {
                return Ok(Some(result.unbind()));
            }
        }
        self.coords.clear();
        self.records.clear();
        Ok(None)
    }
}
