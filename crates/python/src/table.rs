//! Tables: what the class `hyperslab.Table`, which is written in Python, needs of the crate for tables.

use std::num::NonZeroU64;

use hyperslab::WriteOptions;
use hyperslab_tables::Table;
use numpy::PyUntypedArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::buffer;
use crate::create::writable;
use crate::dataset::Dataset;
use crate::dtype::holds;
use crate::error::OrRaise;
use crate::state::Waiting;

/// Returns the table that a dataset is.
pub(crate) fn table(dataset: &Dataset) -> PyResult<Table> {
    dataset.state.check()?;
    Table::new(dataset.core.clone()).or_raise()
}

fn changed(dataset: &Dataset, what: &str) -> PyResult<Table> {
    writable::<pyo3::exceptions::PyOSError>(&dataset.state, what)?;
    table(dataset)
}

/// Writes the attributes of a new table. `defaults` is one record in the dtype of the table.
#[pyfunction]
#[pyo3(name = "_make_table")]
pub(crate) fn make_table(
    dataset: &Bound<'_, Dataset>,
    title: &str,
    defaults: &Bound<'_, PyUntypedArray>,
) -> PyResult<()> {
    let core = dataset.get().core.clone();
    let defaults = buffer::bytes(defaults)?;
    Table::create(core, title, Some(defaults)).or_raise().map(drop)
}

/// Appends an array of records in the dtype of the table. Returns the number of the first new row.
#[pyfunction]
#[pyo3(name = "_append_rows")]
pub(crate) fn append_rows(dataset: &Bound<'_, Dataset>, rows: &Bound<'_, PyUntypedArray>) -> PyResult<u64> {
    let (py, this) = (dataset.py(), dataset.get());
    let table = changed(this, "append rows")?;
    let translation = this.translation(py)?;
    if !holds(rows, translation.descr.bind(py)) {
        return Err(PyTypeError::new_err("the rows have another dtype than the table"));
    }
    let datatype = (!this.is_stored_as(py, translation)).then(|| translation.memory.clone());
    let (bytes, options) = (buffer::bytes(rows)?, WriteOptions::default().datatype(datatype));
    py.detach(|| table.append(bytes, &options)).or_raise().map(|new| new.start)
}

/// Removes every `step`-th row from `start` to `stop`. Returns the number of removed rows.
#[pyfunction]
#[pyo3(name = "_remove_rows")]
pub(crate) fn remove_rows(
    dataset: &Bound<'_, Dataset>,
    start: u64,
    stop: u64,
    step: NonZeroU64,
) -> PyResult<u64> {
    let table = changed(dataset.get(), "remove rows")?;
    dataset.py().detach(|| table.remove(start..stop, step)).or_raise()
}

/// Writes the number of rows to the attribute that PyTables keeps.
#[pyfunction]
#[pyo3(name = "_put_row_count")]
pub(crate) fn put_row_count(dataset: &Bound<'_, Dataset>) -> PyResult<()> {
    let table = changed(dataset.get(), "write the number of rows")?;
    dataset.py().detach(|| table.put_row_count()).or_raise()
}

/// Returns the rows of single appends that are not written yet, or `None`.
#[pyfunction]
#[pyo3(name = "_waiting_rows")]
pub(crate) fn waiting_rows(dataset: &Bound<'_, Dataset>) -> Option<Py<PyAny>> {
    let this = dataset.get();
    this.state.waiting(dataset.py(), this.core.address().get(), Waiting::Rows)
}

/// Remembers rows of single appends that are not written yet. The file calls their `_write` when it is
/// flushed or closed. `None` forgets them.
#[pyfunction]
#[pyo3(name = "_set_waiting_rows", signature = (dataset, rows))]
pub(crate) fn set_waiting_rows(dataset: &Bound<'_, Dataset>, rows: Option<Py<PyAny>>) -> PyResult<()> {
    writable::<pyo3::exceptions::PyOSError>(&dataset.get().state, "append rows")?;
    dataset.get().state.set_waiting(dataset.get().core.address().get(), Waiting::Rows, rows);
    Ok(())
}
