//! Iterating over a dataset: by chunks, and along its first axis.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PySlice, PyTuple};
use std::sync::Mutex;

use crate::dataset::Dataset;

/// Yields, for each chunk that a region touches, the part of the region in it: a tuple of slices.
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct ChunkIterator {
    chunk: Vec<u64>,
    /// Where the region begins and ends along each axis.
    region: Vec<(u64, u64)>,
    /// The next chunk, counted in chunks; `None` at the end.
    next: Mutex<Option<Vec<u64>>>,
}

impl ChunkIterator {
    /// Over the chunks that `sel`, slices and integers, touches; over all without it.
    pub(crate) fn new(shape: &[u64], chunk: &[u64], sel: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let region = match sel {
            None => shape.iter().map(|&len| (0, len)).collect(),
            Some(sel) => region(shape, sel)?,
        };
        let outside = region.iter().zip(shape).any(|(&(start, stop), &len)| stop > len || stop <= start);
        if outside {
            return Err(PyValueError::new_err(
                "Invalid selection - selection region must be within dataset space",
            ));
        }
        let first = region.iter().zip(chunk).map(|(&(start, _), &len)| start / len).collect();
        Ok(Self { chunk: chunk.to_vec(), region, next: Mutex::new(Some(first)) })
    }
}

fn region(shape: &[u64], sel: &Bound<'_, PyAny>) -> PyResult<Vec<(u64, u64)>> {
    let parts: Vec<Bound<'_, PyAny>> = if sel.cast::<PySlice>().is_ok() || sel.cast::<PyInt>().is_ok() {
        vec![sel.clone()]
    } else {
        sel.extract()?
    };
    if parts.len() != shape.len() {
        return Err(PyValueError::new_err(
            "Invalid selection - selection region must have same rank as dataset",
        ));
    }
    let outside =
        || PyValueError::new_err("Invalid selection - selection region must be within dataset space");
    let bound = |value: Bound<'_, PyAny>, default: u64| -> PyResult<u64> {
        // As in h5py, 0 says nothing: not even that the region is empty.
        match value.extract::<Option<i64>>()? {
            None | Some(0) => Ok(default),
            Some(value) => u64::try_from(value).map_err(|_| outside()),
        }
    };
    parts
        .iter()
        .zip(shape)
        .map(|(part, &len)| {
            if let Ok(slice) = part.cast::<PySlice>() {
                Ok((bound(slice.getattr("start")?, 0)?, bound(slice.getattr("stop")?, len)?))
            } else if part.cast::<PyInt>().is_ok() {
                let start = u64::try_from(part.extract::<i64>()?).map_err(|_| outside())?;
                Ok((start, start + 1))
            } else {
                Err(PyTypeError::new_err(format!("{part}: Selection object must be a slice or integer")))
            }
        })
        .collect()
}

#[pymethods]
impl ChunkIterator {
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        // Held for a few instructions, without Python code in between: waiting for it cannot deadlock.
        let mut next = self.next.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(coord) = next.as_mut() else { return Ok(None) };
        let mut parts = Vec::with_capacity(coord.len());
        for ((&index, &len), &(start, stop)) in coord.iter().zip(&self.chunk).zip(&self.region) {
            parts.push((start.max(index * len), stop.min((index + 1) * len)));
        }
        let mut axis = coord.len();
        let more = loop {
            let Some(at) = axis.checked_sub(1) else { break false };
            axis = at;
            coord[axis] += 1;
            if coord[axis] * self.chunk[axis] < self.region[axis].1 {
                break true;
            }
            coord[axis] = self.region[axis].0 / self.chunk[axis];
        };
        if !more {
            *next = None;
        }
        drop(next);
        let slices =
            parts.into_iter().map(|(start, stop)| slice(py, start, stop)).collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, slices).map(Some)
    }
}

fn slice(py: Python<'_>, start: u64, stop: u64) -> PyResult<Bound<'_, PySlice>> {
    Ok(PySlice::new(py, isize::try_from(start)?, isize::try_from(stop)?, 1))
}

/// Yields `dataset[0]`, `dataset[1]` and so on.
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct DatasetIterator {
    dataset: Py<Dataset>,
    len: u64,
    next: std::sync::atomic::AtomicU64,
}

impl DatasetIterator {
    /// Over the first axis, of length `len`.
    pub(crate) fn new(dataset: Py<Dataset>, len: u64) -> Self {
        Self { dataset, len, next: 0.into() }
    }
}

#[pymethods]
impl DatasetIterator {
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let index = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if index >= self.len {
            return Ok(None);
        }
        self.dataset.get().item(py, index.into_pyobject(py)?.as_any()).map(Some)
    }
}
