//! Iterating over the chunks of a dataset.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PySlice, PyTuple};

/// An iterator over the chunks of a region: the result of `Dataset.iter_chunks`.
///
/// For each chunk, the iterator yields the part of the region in the chunk as a tuple of slices.
///
/// Example:
///     >>> for part in dataset.iter_chunks(np.s_[2:, 0, :]):
///     ...     print(part[0], dataset[part].max())
///     slice(2, 3, 1) 14.0
///     slice(3, 4, 1) 20.0
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct ChunkIterator {
    chunk: Vec<u64>,
    /// The start and the stop of the region along each axis.
    region: Vec<(u64, u64)>,
    /// The number of the next chunk, counted over the chunks that the region touches.
    next: AtomicU64,
}

impl ChunkIterator {
    /// Iterates over the chunks that `sel` (slices and integers) touches, or over all chunks without `sel`.
    pub(crate) fn new(shape: &[u64], chunk: &[u64], sel: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let region = match sel {
            None => shape.iter().map(|&len| (0, len)).collect(),
            Some(sel) => region(shape, sel)?,
        };
        let outside = region.iter().zip(shape).any(|(&(start, stop), &len)| stop > len || stop <= start);
        if outside {
            return Err(self::outside());
        }
        Ok(Self { chunk: chunk.to_vec(), region, next: 0.into() })
    }
}

fn outside() -> PyErr {
    PyValueError::new_err("Invalid selection - selection region must be within dataset space")
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
    let bound = |value: Bound<'_, PyAny>, default: u64| -> PyResult<u64> {
        // As in h5py, a bound of 0 means the default, even as the stop of the region.
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
        let mut rest = self.next.fetch_add(1, Ordering::Relaxed);
        let mut parts = Vec::with_capacity(self.chunk.len());
        for (&len, &(start, stop)) in self.chunk.iter().zip(&self.region).rev() {
            let (first, end) = (start / len, stop.div_ceil(len));
            let index = first + rest % (end - first);
            rest /= end - first;
            parts.push(slice(py, start.max(index * len), stop.min((index + 1) * len))?);
        }
        parts.reverse();
        if rest > 0 { Ok(None) } else { PyTuple::new(py, parts).map(Some) }
    }
}

fn slice(py: Python<'_>, start: u64, stop: u64) -> PyResult<Bound<'_, PySlice>> {
    Ok(PySlice::new(py, isize::try_from(start)?, isize::try_from(stop)?, 1))
}
