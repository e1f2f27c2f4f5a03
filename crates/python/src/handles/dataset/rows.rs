//! A dataset as a sequence along its first axis.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;

use super::Dataset;
use crate::transfer::read;

#[pymethods]
impl Dataset {
    fn __reversed__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("hyperslab._views")?.getattr("reversed_rows")?.call1((slf,))
    }

    /// Returns the length of the first axis.
    ///
    /// The built-in `len` does the same within the limit of the platform.
    ///
    /// Returns:
    ///     The length in elements.
    ///
    /// Raises:
    ///     TypeError: The dataset is a scalar or empty.
    ///
    /// Example:
    ///     >>> dataset.len()
    ///     4
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
}

/// Yields `dataset[0]`, `dataset[1]` and so on along the first axis.
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
struct DatasetIterator {
    dataset: Py<Dataset>,
    len: u64,
    next: AtomicU64,
}

impl DatasetIterator {
    /// Iterates over the first axis, of length `len`.
    fn new(dataset: Py<Dataset>, len: u64) -> Self {
        Self { dataset, len, next: 0.into() }
    }
}

#[pymethods]
impl DatasetIterator {
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        if index >= self.len {
            return Ok(None);
        }
        read::item(py, self.dataset.get(), index.into_pyobject(py)?.as_any(), None).map(Some)
    }
}
