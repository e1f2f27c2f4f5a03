//! Queries on tables.

use std::sync::Arc;

use hyperslab_tables::{Query, Variable};
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::handles::dataset::Dataset;
use crate::interpreter::error::OrRaise;
use crate::interpreter::signals;
use crate::tables::operand;

/// A condition over the columns of a table, for the methods of `Table` that take one.
#[pyclass(frozen, module = "hyperslab", name = "_Query")]
pub(crate) struct PyQuery {
    dataset: Py<Dataset>,
    pub(crate) query: Arc<Query>,
}

#[pymethods]
impl PyQuery {
    /// Makes a query. The values of `variables` are scalars, or paths of columns in lists of one string.
    #[new]
    fn new(dataset: &Bound<'_, Dataset>, condition: &str, variables: &Bound<'_, PyDict>) -> PyResult<Self> {
        let table = dataset.get().table()?;
        let mut given = Vec::new();
        for (name, value) in variables {
            let name: String = name.cast::<PyString>()?.to_cow()?.into_owned();
            let variable = match value.extract::<[String; 1]>() {
                Ok([path]) if !value.is_instance_of::<PyString>() => Variable::Column(path),
                _ => Variable::Scalar(operand::scalar(&name, &value)?),
            };
            given.push((name, variable));
        }
        let query = Query::new(table, condition, &given).or_raise()?.into();
        Ok(Self { dataset: dataset.clone().unbind(), query })
    }

    /// Returns the numbers of the rows from `start` to `stop` that meet the condition, or the first `limit`.
    #[pyo3(signature = (start, stop, limit=None))]
    fn rows<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        stop: u64,
        limit: Option<u64>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.dataset.get().state.check()?;
        let rows = signals::detach(py, || self.query.rows(start..stop, limit)).or_raise()?;
        let numbers: Result<Vec<i64>, _> = rows.into_iter().map(i64::try_from).collect();
        Ok(PyArray1::from_vec(py, numbers.map_err(|_| PyTypeError::new_err("too many rows for NumPy"))?))
    }

    /// Returns the number of rows from `start` to `stop` that meet the condition.
    fn count(&self, py: Python<'_>, start: u64, stop: u64) -> PyResult<u64> {
        self.dataset.get().state.check()?;
        signals::detach(py, || self.query.count(start..stop)).or_raise()
    }

    /// Returns a text that says how the rows from `start` to `stop` are found.
    fn explain(&self, py: Python<'_>, start: u64, stop: u64) -> PyResult<String> {
        self.dataset.get().state.check()?;
        py.detach(|| self.query.explain(start..stop)).or_raise()
    }

    /// Returns the paths of the columns whose indexes find the rows from `start` to `stop`.
    fn indexes(&self, py: Python<'_>, start: u64, stop: u64) -> PyResult<Vec<String>> {
        self.dataset.get().state.check()?;
        py.detach(|| self.query.indexes(start..stop)).or_raise()
    }
}
