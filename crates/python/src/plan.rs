//! What a read will do, for people who want to know before.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A plan. Documented in `_native.pyi`.
#[pyclass(frozen, module = "hyperslab")]
#[derive(Debug)]
pub(crate) struct ReadPlan {
    /// The engine's plan.
    pub(crate) plan: hyperslab::ReadPlan,
}

#[pymethods]
impl ReadPlan {
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.plan.shape)
    }

    #[getter]
    fn chunks(&self) -> usize {
        self.plan.tasks.len()
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.plan.stored_bytes
    }

    #[getter]
    fn read_bytes(&self) -> u64 {
        self.plan.read_bytes
    }

    #[getter]
    fn result_bytes(&self) -> u64 {
        self.plan.result_bytes
    }

    #[getter]
    fn threads(&self) -> usize {
        self.plan.threads
    }

    fn to_json(&self) -> String {
        self.plan.to_json()
    }

    fn __str__(&self) -> String {
        self.plan.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<ReadPlan: {} chunks, {} stored bytes>", self.plan.tasks.len(), self.plan.stored_bytes)
    }
}
