//! The plan of a read, which describes the read before it happens.

use hyperslab::internals::counted;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The plan of a read: the result of `Dataset.plan`.
///
/// `str(plan)` is a summary, and one line for each of the first 20 chunks: the first element, the route, the
/// number of elements, and the stored bytes with the address in the file.
///
/// Example:
///     >>> print(stations.plan())
///     result     [2], 30 bytes
///     pieces     1 of [2], 30 bytes stored, 30 to read
///     threads    1
///     route      1 direct
///       [0]: direct, 2 elements, 30 bytes at ...
///     <BLANKLINE>
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct ReadPlan {
    /// The engine's plan.
    pub(crate) plan: hyperslab::ReadPlan,
}

#[pymethods]
impl ReadPlan {
    /// The shape of the result in elements.
    ///
    /// Example:
    ///     >>> dataset.plan((0, slice(None), slice(0, 2))).shape
    ///     (1, 2, 2)
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.plan.shape)
    }

    /// The number of chunks to read, or of runs of rows if the dataset is not stored in chunks.
    ///
    /// Example:
    ///     >>> dataset.plan(slice(0, 2)).chunks
    ///     2
    #[getter]
    fn chunks(&self) -> usize {
        self.plan.tasks.len()
    }

    /// The stored size in bytes of all chunks that the selection touches.
    ///
    /// Example:
    ///     >>> dataset.plan().bytes == dataset.id.get_storage_size()
    ///     True
    #[getter]
    fn bytes(&self) -> u64 {
        self.plan.stored_bytes
    }

    /// The number of bytes to read from the file.
    ///
    /// Nothing is read of chunks in memory. Of chunks without filters, the selected bytes are read. Of large
    /// Blosc chunks that are selected in part, at least the front is read, and only the front counts. Gaps
    /// between neighbours that are read together do not count.
    ///
    /// Example:
    ///     >>> plan = stations.plan(0)
    ///     >>> plan.read_bytes, plan.bytes
    ///     (15, 30)
    #[getter]
    fn read_bytes(&self) -> u64 {
        self.plan.read_bytes
    }

    /// The size of the result in bytes, in the dtype of the dataset.
    ///
    /// Example:
    ///     >>> dataset.plan(0).result_bytes
    ///     24
    #[getter]
    fn result_bytes(&self) -> u64 {
        self.plan.result_bytes
    }

    /// The number of threads, including the caller.
    ///
    /// Example:
    ///     >>> dataset.plan(0).threads
    ///     1
    #[getter]
    fn threads(&self) -> usize {
        self.plan.threads
    }

    /// Returns the whole plan, with every chunk, as JSON.
    ///
    /// Returns:
    ///     A JSON object with the keys "shape", "piece_shape" (in elements), "result_bytes", "stored_bytes",
    ///     "read_bytes", "threads" and "tasks". Each task has the keys "first", "route", "elements",
    ///     "address", "bytes", "requests" and "read_bytes".
    ///
    /// Example:
    ///     >>> import json
    ///     >>> plan = json.loads(dataset.plan().to_json())
    ///     >>> [task["first"] for task in plan["tasks"]]
    ///     [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]]
    fn to_json(&self) -> String {
        self.plan.to_json()
    }

    fn __str__(&self) -> String {
        self.plan.to_string()
    }

    fn __repr__(&self) -> String {
        let chunks = counted(self.plan.tasks.len() as u64, "chunk");
        format!("<ReadPlan: {chunks}, {}>", counted(self.plan.stored_bytes, "stored byte"))
    }
}
