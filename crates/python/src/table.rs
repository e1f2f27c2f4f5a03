//! Tables: what the class `hyperslab.Table`, which is written in Python, needs of the crate for tables.

use std::num::NonZeroU64;

use hyperslab::WriteOptions;
use hyperslab_tables::Table;
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::buffer;
use crate::create::writable;
use crate::dataset::Dataset;
use crate::dtype::holds;
use crate::error::OrRaise;
use crate::object::HLObject;
use crate::state::Waiting;

/// Returns the table that a dataset is, if its file is open for writing.
pub(crate) fn changed<'d>(dataset: &'d Dataset, what: &str) -> PyResult<&'d Table> {
    writable::<pyo3::exceptions::PyOSError>(&dataset.state, what)?;
    dataset.table()
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
    let new = py.detach(|| table.append(bytes, &options)).or_raise()?;
    row_count_changed(dataset);
    Ok(new.start)
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
    let removed = dataset.py().detach(|| table.remove(start..stop, step)).or_raise()?;
    row_count_changed(dataset);
    Ok(removed)
}

/// Calls a function while no other thread changes the rows of the table. The function must not change them.
#[pyfunction]
#[pyo3(name = "_keeping_rows")]
pub(crate) fn keeping_rows(dataset: &Bound<'_, Dataset>, call: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let (core, call) = (&dataset.get().core, call.as_unbound());
    dataset.py().detach(|| core.keeping_rows(|| Python::attach(|py| call.call0(py))))
}

/// Calls a function while no other thread reads or changes the rows of the table by its methods.
#[pyfunction]
#[pyo3(name = "_changing_rows")]
pub(crate) fn changing_rows(dataset: &Bound<'_, Dataset>, call: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let (core, call) = (&dataset.get().core, call.as_unbound());
    dataset.py().detach(|| core.changing_rows(|| Python::attach(|py| call.call0(py))))
}

/// Returns how often rows were removed from the table.
#[pyfunction]
#[pyo3(name = "_removals")]
pub(crate) fn removals(dataset: &Bound<'_, Dataset>) -> u64 {
    dataset.get().core.removals()
}

/// Writes the attributes of the root group by which PyTables knows its files, if they are missing.
#[pyfunction]
#[pyo3(name = "_mark_file")]
pub(crate) fn mark_file(object: &Bound<'_, HLObject>) -> PyResult<()> {
    let this = object.get();
    writable::<PyValueError>(&this.state, "write an attribute")?;
    object.py().detach(|| hyperslab_tables::mark_file(this.node.file())).or_raise()
}

/// Writes the number of rows to the attribute that PyTables keeps, if the table has it.
pub(crate) fn put_row_count(dataset: &Dataset) -> PyResult<()> {
    dataset.table()?.put_row_count().or_raise()
}

/// Has the attribute with the number of rows written when the file is flushed or closed.
#[pyfunction]
#[pyo3(name = "_row_count_changed")]
pub(crate) fn row_count_changed(dataset: &Bound<'_, Dataset>) {
    let (state, address) = (&dataset.get().state, dataset.get().core.address().get());
    if !state.is_waiting(address, Waiting::Count) {
        state.set_waiting(address, Waiting::Count, Some(dataset.clone().into_any().unbind()));
    }
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
