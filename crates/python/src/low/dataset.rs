//! The identifier of a dataset, with the stored chunks.

use std::ops::ControlFlow;

use hyperslab::storage::ChunkRecord;
use hyperslab_format::layout::Layout;
use hyperslab_format::message::fill::FillBytes;
use hyperslab_format::message::filters::FilterSpec;
use numpy::PyUntypedArray;
use numpy::prelude::*;
use pyo3::exceptions::{PyBufferError, PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use smallvec::SmallVec;

use super::store_info::{self, StoreInfos};
use crate::filters;
use crate::handles::classes::wrap;
use crate::handles::dataset::Dataset;
use crate::handles::identifier::ObjectID;
use crate::interpreter::error::{OrRaise, argument, exception};
use crate::opening::state::writable;
use crate::values::buffer;
use crate::values::description::describe;

/// The low-level identifier of a dataset: the chunks, as they are stored.
///
/// Methods for chunks raise RuntimeError if the dataset is not stored in chunks. Every method raises
/// `ClosedError` after the file is closed. Chunks that were changed in part and wait in memory are encoded
/// first, so all chunks with elements are shown.
///
/// Example:
///     >>> dataset.id.get_num_chunks()
///     4
///     >>> mask, stored = dataset.id.read_direct_chunk((0, 0, 0))
///     >>> dataset.id.write_direct_chunk((3, 0, 0), stored, mask)
///     >>> bool((dataset[3] == dataset[0]).all())
///     True
#[pyclass(frozen, subclass, extends = ObjectID, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct DatasetID {
    pub(super) dataset: Py<Dataset>,
}

/// The number of chunks that are passed to Python at a time.
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

    /// Returns the dataset. Chunks that were changed in part are encoded and entered in the index first.
    fn settled(&self, py: Python<'_>, what: &str) -> PyResult<&Dataset> {
        let dataset = self.chunked(what)?;
        if dataset.state.mode != "r" {
            py.detach(|| dataset.core.flush_chunks()).or_raise()?;
        }
        Ok(dataset)
    }
}

#[pymethods]
impl DatasetID {
    #[new]
    fn new(object: &Bound<'_, Dataset>) -> PyClassInitializer<Self> {
        ObjectID::base(object.as_super()).add_subclass(Self { dataset: object.clone().unbind() })
    }

    /// The shape of the dataset in elements, or None for an empty dataset.
    ///
    /// Example:
    ///     >>> dataset.id.shape
    ///     (4, 2, 3)
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.dataset.bind(py).getattr("shape")
    }

    /// The dtype of the dataset.
    ///
    /// Raises:
    ///     UnsupportedDtypeError: NumPy has no dtype for the datatype.
    ///
    /// Example:
    ///     >>> dataset.id.dtype
    ///     dtype('float32')
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.dataset.bind(py).getattr("dtype")
    }

    /// The number of axes.
    ///
    /// Example:
    ///     >>> dataset.id.rank
    ///     3
    #[getter]
    fn rank(&self) -> usize {
        self.dataset.get().core.shape().len()
    }

    /// Returns the number of stored chunks.
    ///
    /// Returns:
    ///     The number. Chunks that were never written do not count.
    ///
    /// Raises:
    ///     RuntimeError: The dataset is not stored in chunks.
    ///
    /// Example:
    ///     >>> dataset.resize(9, axis=0)
    ///     >>> dataset.id.get_num_chunks()
    ///     4
    fn get_num_chunks(&self, py: Python<'_>) -> PyResult<u64> {
        let dataset = self.settled(py, "Can't get number of chunks")?;
        py.detach(|| dataset.core.stored_chunks()).or_raise()
    }

    /// Returns the place of a stored chunk.
    ///
    /// Args:
    ///     index: The number of the chunk among the stored chunks, from 0, in the order of the index of
    ///         chunks.
    ///
    /// Returns:
    ///     The coordinates of the first element, the filter mask, the offset in the file and the size in
    ///     bytes.
    ///
    /// Raises:
    ///     ValueError: There are not more than `index` stored chunks.
    ///     RuntimeError: The dataset is not stored in chunks.
    ///
    /// Example:
    ///     >>> dataset.id.get_chunk_info(0)
    ///     StoreInfo(chunk_offset=(0, 0, 0), filter_mask=0, byte_offset=..., size=...)
    fn get_chunk_info<'py>(&self, py: Python<'py>, index: u64) -> PyResult<Bound<'py, PyTuple>> {
        let dataset = self.settled(py, "Can't get number of chunks")?;
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

    /// Returns the place of the chunk that contains an element.
    ///
    /// Args:
    ///     chunk_offset: The coordinates of the element.
    ///
    /// Returns:
    ///     The place, as `get_chunk_info` gives it. If the chunk is not stored, `chunk_offset` and
    ///     `byte_offset` are None and `size` is 0.
    ///
    /// Raises:
    ///     ValueError: The number of coordinates differs from the number of axes.
    ///     RuntimeError: The dataset is not stored in chunks.
    ///
    /// Example:
    ///     >>> dataset.id.get_chunk_info_by_coord((1, 1, 2)).chunk_offset
    ///     (1, 0, 0)
    fn get_chunk_info_by_coord<'py>(
        &self,
        py: Python<'py>,
        chunk_offset: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let dataset = self.settled(py, "Can't get chunk info by its coordinates")?;
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

    /// Calls a function with the place of each stored chunk, in the order of the index of chunks.
    ///
    /// The iteration stops at the first result of the function that is not None.
    ///
    /// Args:
    ///     func: The function. The argument is a place, as `get_chunk_info` gives it.
    ///
    /// Returns:
    ///     The result that stopped the iteration, or None.
    ///
    /// Raises:
    ///     RuntimeError: The dataset is not stored in chunks.
    ///
    /// Example:
    ///     >>> dataset.id.chunk_iter(lambda chunk: print(chunk.chunk_offset))
    ///     (0, 0, 0)
    ///     (1, 0, 0)
    ///     (2, 0, 0)
    ///     (3, 0, 0)
    fn chunk_iter<'py>(&self, py: Python<'py>, func: &Bound<'py, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let dataset = self.settled(py, "Error iterating over dataset chunks")?;
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

    /// Returns the filter mask and the stored bytes of a chunk, not decoded.
    ///
    /// Args:
    ///     offsets: The coordinates of the first element of the chunk.
    ///     out: A writable buffer for the bytes, at least as long as the stored chunk.
    ///
    /// Returns:
    ///     The filter mask (bit i is set if filter i was left out) and the bytes. With `out`, a view of the
    ///     written part of `out` replaces the bytes.
    ///
    /// Raises:
    ///     RuntimeError: The chunk is not stored, or the dataset is not stored in chunks.
    ///     TypeError: The number of coordinates differs from the number of axes.
    ///     ValueError: `out` is too short.
    ///     BufferError: `out` is read-only.
    ///     OSError: No chunk begins at `offsets`.
    ///
    /// Example:
    ///     >>> mask, stored = dataset.id.read_direct_chunk((1, 0, 0))
    ///     >>> mask, stored[:1]
    ///     (0, b'x')
    #[pyo3(signature = (offsets, out=None))]
    fn read_direct_chunk<'py>(
        &self,
        py: Python<'py>,
        offsets: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(u32, Bound<'py, PyAny>)> {
        let dataset = self.settled(py, "Can't get storage size of chunk")?;
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
        let Some((record, bytes)) = py.detach(|| dataset.core.stored_chunk_at(&coord)).or_raise()? else {
            return Err(PyRuntimeError::new_err(
                "Can't get storage size of chunk (chunk storage is not allocated)",
            ));
        };
        if offsets.iter().zip(&chunk).any(|(at, len)| at % len != 0) {
            return Err(PyOSError::new_err(
                "Can't read unprocessed chunk data (offset doesn't fall on chunks's boundary)",
            ));
        }
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

    /// Stores the bytes of a chunk as they are, without filters.
    ///
    /// The bytes are not examined. A later read raises FormatError if the filters cannot decode them.
    ///
    /// Args:
    ///     offsets: The coordinates of the first element of the chunk.
    ///     data: The filtered bytes of the chunk, as an object with a buffer.
    ///     filter_mask: A mask of filters: bit i is set if filter i was left out.
    ///
    /// Raises:
    ///     OSError: No chunk of the dataset begins at `offsets`.
    ///     RuntimeError: The dataset is not stored in chunks, or the file is open for reading.
    ///     ValueError: `data` is not as long as a chunk, and no filter was applied to it.
    ///
    /// Example:
    ///     >>> plain = np.arange(6, dtype="f4").tobytes()
    ///     >>> dataset.id.write_direct_chunk((3, 0, 0), plain, filter_mask=0b11)
    ///     >>> dataset[3]
    ///     array([[0., 1., 2.],
    ///            [3., 4., 5.]], dtype=float32)
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
        let written = py.detach(|| dataset.core.write_stored_chunk(&first, filter_mask, bytes));
        written.map_err(|error| argument::<PyOSError>(&error))
    }

    /// The datatype of the elements as `hyperslab.low.h5t` describes it.
    #[getter]
    fn _description<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        describe(py, &self.dataset.get().core.datatype())
    }

    /// The committed datatype of the elements, or None.
    #[getter]
    fn _named_type<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let dataset = slf.get().open()?;
        let Some(address) = dataset.core.committed_datatype() else { return Ok(None) };
        let node = slf.py().detach(|| dataset.core.file().object_at(address)).or_raise()?;
        wrap(slf.py(), &dataset.state, node).map(Some)
    }

    /// The layout, the times of allocation and of filling, and the fill value: None for the default, False
    /// for none, or the bytes of an element.
    #[getter]
    fn _storage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let dataset = &self.dataset.get().core;
        let layout = match dataset.layout() {
            Layout::Compact { .. } => 0,
            Layout::Contiguous(_) => 1,
            Layout::Chunked(_) => 2,
            Layout::Virtual { .. } => 3,
        };
        let fill = dataset.fill_value();
        let value = match &fill.value {
            FillBytes::Default => py.None(),
            FillBytes::Undefined => false.into_pyobject(py)?.to_owned().into_any().unbind(),
            FillBytes::Defined(bytes) => PyBytes::new(py, bytes).into_any().unbind(),
        };
        (layout, fill.allocation as u8, fill.write as u8, value).into_pyobject(py)
    }

    /// The filters: the number, the flags, the name and the client data of each.
    #[getter]
    fn _pipeline(&self) -> Vec<(u16, u16, Option<String>, Vec<u32>)> {
        let described = |filter: &FilterSpec| {
            (filter.id, filter.flags, filters::name(filter).into(), filter.client_data.clone())
        };
        self.dataset.get().core.filters().filters.iter().map(described).collect()
    }

    /// Returns the stored size of all elements.
    ///
    /// Returns:
    ///     The size in bytes: of all stored chunks, or of contiguous or compact data. The size of a virtual
    ///     dataset is 0.
    ///
    /// Example:
    ///     >>> stations.id.get_storage_size()
    ///     30
    fn get_storage_size(&self, py: Python<'_>) -> PyResult<u64> {
        let dataset = &self.open()?.core;
        match dataset.layout() {
            Layout::Virtual { .. } => Ok(0),
            Layout::Chunked(_) => {
                let dataset = &self.settled(py, "Can't get storage size")?.core;
                py.detach(|| dataset.storage_bytes()).or_raise()
            }
            _ => py.detach(|| dataset.storage_bytes()).or_raise(),
        }
    }

    /// Returns the offset of contiguous elements in the file.
    ///
    /// Returns:
    ///     The offset in bytes, or None for every other layout and before the first write.
    ///
    /// Example:
    ///     >>> offset = stations.id.get_offset()
    ///     >>> image = file.id.get_file_image()
    ///     >>> np.frombuffer(image, stations.dtype, 2, offset)["id"]
    ///     array([1, 2], dtype=int32)
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

/// Returns the `StoreInfo` of one chunk.
fn stored_info<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    coord: &[u64],
    record: ChunkRecord,
) -> PyResult<Bound<'py, PyTuple>> {
    let chunk = dataset.core.chunk_shape().unwrap_or_default();
    StoreInfos::new(py, &chunk, dataset.core.file().store().base())?.next(coord, record).cloned()
}

/// Chunks that are collected to be passed to Python.
struct Batch<'a> {
    chunk: &'a [u64],
    base: u64,
    coords: Vec<u64>,
    records: Vec<ChunkRecord>,
}

impl Batch<'_> {
    /// Calls `func` with the `StoreInfo` of each chunk, until a result is not None. Returns that result.
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
