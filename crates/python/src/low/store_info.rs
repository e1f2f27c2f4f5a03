//! Information about stored chunks: the named tuple `StoreInfo`, created fast enough for millions of chunks.

use hyperslab::storage::ChunkRecord;
use hyperslab_select::first_along;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use smallvec::SmallVec;

use crate::values::buffer;

/// Creates the `StoreInfo` of one chunk after another.
///
/// Like Python's `zip`, reuses the last returned tuple if the caller has kept no reference to it.
pub(crate) struct StoreInfos<'a, 'py> {
    class: &'a Bound<'py, PyType>,
    chunk: &'a [u64],
    base: u64,
    recycles: bool,
    last: Option<Described<'py>>,
}

/// A tuple, and the values that it was made from.
struct Described<'py> {
    info: Bound<'py, PyTuple>,
    coord: SmallVec<[u64; 4]>,
    record: ChunkRecord,
}

impl<'a, 'py> StoreInfos<'a, 'py> {
    /// Describes chunks of the shape `chunk` in a file whose addresses are relative to `base`.
    pub(crate) fn new(py: Python<'py>, chunk: &'a [u64], base: u64) -> PyResult<Self>
    where
        'py: 'a,
    {
        // Since Python 3.14, a tuple caches its hash, so a changed tuple would have a wrong hash.
        let recycles = py.version_info() < (3, 14);
        Ok(Self { class: class(py)?, chunk, base, recycles, last: None })
    }

    /// Returns the information about the chunk at `coord`, in units of chunks.
    pub(crate) fn next(&mut self, coord: &[u64], record: ChunkRecord) -> PyResult<&Bound<'py, PyTuple>> {
        let last = match self.last.take() {
            Some(mut last) if self.recycles && buffer::is_unshared(&last.info) => {
                last.become_of(self.chunk, self.base, coord, record)?;
                last
            }
            _ => Described { info: self.make(coord, record)?, coord: SmallVec::from_slice(coord), record },
        };
        Ok(&self.last.insert(last).info)
    }

    fn make(&self, coord: &[u64], record: ChunkRecord) -> PyResult<Bound<'py, PyTuple>> {
        let py = self.class.py();
        let values = [
            first_element(py, coord, self.chunk)?.into_any(),
            record.mask.0.into_bound_py_any(py)?,
            (record.extent.addr.get() + self.base).into_bound_py_any(py)?,
            record.extent.len.into_bound_py_any(py)?,
        ];
        buffer::named_tuple(self.class, values)
    }
}

impl Described<'_> {
    /// Changes the tuple to describe another chunk.
    fn become_of(&mut self, chunk: &[u64], base: u64, coord: &[u64], record: ChunkRecord) -> PyResult<()> {
        let py = self.info.py();
        let first = self.info.get_borrowed_item(0)?;
        match first.cast::<PyTuple>() {
            Ok(first) if buffer::is_unshared(&first) => {
                for (axis, (&old, (&new, &len))) in self.coord.iter().zip(coord.iter().zip(chunk)).enumerate()
                {
                    if old != new {
                        buffer::put(&first, axis, first_along(new, len).into_bound_py_any(py)?)?;
                    }
                }
            }
            _ => buffer::put(&self.info, 0, first_element(py, coord, chunk)?.into_any())?,
        }
        if record.mask != self.record.mask {
            buffer::put(&self.info, 1, record.mask.0.into_bound_py_any(py)?)?;
        }
        buffer::put(&self.info, 2, (record.extent.addr.get() + base).into_bound_py_any(py)?)?;
        if record.extent.len != self.record.extent.len {
            buffer::put(&self.info, 3, record.extent.len.into_bound_py_any(py)?)?;
        }
        self.coord.copy_from_slice(coord);
        self.record = record;
        Ok(())
    }
}

/// Returns the information about a chunk that is not stored.
pub(crate) fn not_stored(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    let none = || py.None().into_bound(py);
    buffer::named_tuple(class(py)?, [none(), 0.into_bound_py_any(py)?, none(), 0.into_bound_py_any(py)?])
}

/// Returns the class `StoreInfo`.
fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "hyperslab._chunks", "StoreInfo")
}

/// Returns the coordinates of the first element of the chunk at `coord`, in units of chunks.
fn first_element<'py>(py: Python<'py>, coord: &[u64], chunk: &[u64]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, coord.iter().zip(chunk).map(|(&at, &len)| first_along(at, len)))
}
