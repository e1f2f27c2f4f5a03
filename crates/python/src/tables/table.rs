//! Tables: what the class `hyperslab.Table`, which is written in Python, needs of the crate for tables.

use std::num::NonZeroU64;

use hyperslab::WriteOptions;
use hyperslab_tables::Table;
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::handles::dataset::Dataset;
use crate::handles::object::HLObject;
use crate::interpreter::error::OrRaise;
use crate::interpreter::signals;
use crate::opening::state::writable;
use crate::values::buffer;
use crate::values::dtype::holds;

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
    let translation = dataset.get().translation(dataset.py())?;
    if !holds(rows, translation.descr.bind(dataset.py())) {
        return Err(PyTypeError::new_err("the rows have another dtype than the table"));
    }
    append_bytes(dataset, buffer::bytes(rows)?)
}

/// Appends the bytes of records in the dtype of the table. Returns the number of the first new row.
#[pyfunction]
#[pyo3(name = "_append_bytes")]
pub(crate) fn append_bytes(dataset: &Bound<'_, Dataset>, rows: &[u8]) -> PyResult<u64> {
    let (py, this) = (dataset.py(), dataset.get());
    let table = changed(this, "append rows")?;
    let translation = this.translation(py)?;
    let datatype = (!this.is_stored_as(py, translation)).then(|| translation.memory.clone());
    let options = WriteOptions::default().datatype(datatype);
    signals::detach(py, || this.state.waiting.append(table, rows, &options)).or_raise()
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
    row_count_changed(dataset)?;
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

/// Has the attribute with the number of rows written when the file is flushed or closed.
#[pyfunction]
#[pyo3(name = "_row_count_changed")]
pub(crate) fn row_count_changed(dataset: &Bound<'_, Dataset>) -> PyResult<()> {
    let this = dataset.get();
    this.state.waiting.count(this.table()?);
    Ok(())
}

/// Marks the indexes of columns, or all indexes, as out of date. They are built again when the file is
/// flushed or closed, if they follow changes.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python lists become vectors.
#[pyo3(name = "_rows_changed", signature = (dataset, columns))]
pub(crate) fn rows_changed(dataset: &Bound<'_, Dataset>, columns: Option<Vec<String>>) -> PyResult<()> {
    let this = dataset.get();
    let table = changed(this, "change an index")?;
    let change = || table.dataset().changing_rows(|| this.state.waiting.changed(table, columns.as_deref()));
    dataset.py().detach(change).or_raise()
}

/// Returns the rows of single appends that are not written yet, or `None`.
#[pyfunction]
#[pyo3(name = "_waiting_rows")]
pub(crate) fn waiting_rows(dataset: &Bound<'_, Dataset>) -> Option<Py<PyAny>> {
    let this = dataset.get();
    let rows = this.state.waiting.rows(dataset.py(), this.core.address().get())?;
    Some(rows.object(dataset.py()))
}
