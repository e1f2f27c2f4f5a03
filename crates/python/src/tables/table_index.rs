//! Indexes of tables: what `hyperslab._indexes` needs of the crate for tables.

use std::ops;
use std::path::PathBuf;

use hyperslab_filters::FilterId;
use hyperslab_io::interrupt;
use hyperslab_tables::index::{self, Candidates, ColumnIndex, Filters, IndexOptions, Kind};
use numpy::{PyArray1, ToPyArray};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::filters;
use crate::handles::dataset::Dataset;
use crate::interpreter::error::OrRaise;
use crate::interpreter::progress::Progress;
use crate::opening::state::writable;

/// An array of numbers of rows.
type RowNumbers<'py> = Bound<'py, PyArray1<u64>>;

/// Calls `f` with the dataset, which must belong to an open file. `f` only reads.
fn look<T: Send>(
    dataset: &Bound<'_, Dataset>,
    f: impl Send + FnOnce(&hyperslab::Dataset) -> hyperslab_tables::Result<T>,
) -> PyResult<T> {
    let (py, dataset) = (dataset.py(), dataset.get());
    dataset.state.check()?;
    py.detach(|| dataset.core.keeping_rows(|| f(&dataset.core))).or_raise()
}

/// Calls `f`, which changes the indexes of the dataset. The file must be writable.
fn change<T: Send>(
    dataset: &Bound<'_, Dataset>,
    f: impl Send + FnOnce(&hyperslab::Dataset) -> hyperslab_tables::Result<T>,
) -> PyResult<T> {
    let (py, dataset) = (dataset.py(), dataset.get());
    writable::<PyOSError>(&dataset.state, "change an index")?;
    py.detach(|| dataset.core.changing_rows(|| f(&dataset.core))).or_raise()
}

/// Calls `f` with the index of a column. Raises `ValueError` if the column has none.
fn with_index<T: Send>(
    dataset: &Bound<'_, Dataset>,
    column: &str,
    f: impl Send + FnOnce(&ColumnIndex) -> hyperslab_tables::Result<T>,
) -> PyResult<T> {
    let found = look(dataset, |table| ColumnIndex::open(table, column)?.map(|index| f(&index)).transpose())?;
    found.ok_or_else(|| PyValueError::new_err(format!("column {column:?} has no index")))
}

const KINDS: [(&str, Kind); 4] = [
    ("ultralight", Kind::Ultralight),
    ("light", Kind::Light),
    ("medium", Kind::Medium),
    ("full", Kind::Full),
];

/// Builds the index of a column. `filters` are numbers of filters with the parameters that their plugins
/// take; `None` stands for the filters of PyTables' indexes.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)] // Python lists become vectors.
#[pyo3(name = "_create_index")]
pub(crate) fn create_index(
    dataset: &Bound<'_, Dataset>,
    column: &str,
    kind: &str,
    optlevel: u8,
    filters: Option<Vec<(u16, Vec<i64>)>>,
    tmp: Option<PathBuf>,
    sizes: Option<[u64; 4]>,
    progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let found = KINDS.iter().find(|(name, _)| *name == kind);
    let (_, kind) = found.ok_or_else(|| {
        let kinds = "'ultralight', 'light', 'medium' or 'full'";
        PyValueError::new_err(format!("kind must be {kinds}, not {kind:?}"))
    })?;
    let filters = filters.map(|list| {
        let choices = list.iter().map(|(id, options)| filters::choice(FilterId(*id), options));
        choices.collect::<PyResult<Vec<_>>>().map(Filters::New)
    });
    let filters = filters.transpose()?.unwrap_or_default();
    let options = IndexOptions { kind: *kind, optlevel, filters, tmp, sizes, ..IndexOptions::default() };
    let progress = Progress::under_locks(progress);
    let tell = |done, total| progress.tell(done, total);
    // If it ends before its end, nothing of the index is left.
    let built = change(dataset, |table| {
        interrupt::heed(|| index::build_index_telling(table, column, &options, &tell))
    });
    progress.result(built)
}

/// Removes the index of a column. Returns whether there was one.
#[pyfunction]
#[pyo3(name = "_remove_index")]
pub(crate) fn remove_index(dataset: &Bound<'_, Dataset>, column: &str) -> PyResult<bool> {
    change(dataset, |table| index::remove_index(table, column))
}

/// Builds the index of a column anew; with `only_stale`, only if it does not hold the values of the column.
/// Returns whether it was built.
#[pyfunction]
#[pyo3(name = "_rebuild_index")]
pub(crate) fn rebuild_index(dataset: &Bound<'_, Dataset>, column: &str, only_stale: bool) -> PyResult<bool> {
    change(dataset, |table| index::rebuild_index(table, column, only_stale))
}

/// Makes all indexes of a table hold its rows.
#[pyfunction]
#[pyo3(name = "_update_indexes")]
pub(crate) fn update_indexes(dataset: &Bound<'_, Dataset>) -> PyResult<()> {
    change(dataset, index::update_indexes)
}

/// Returns the paths of the columns that have an index.
#[pyfunction]
#[pyo3(name = "_indexed_columns")]
pub(crate) fn indexed_columns(dataset: &Bound<'_, Dataset>) -> PyResult<Vec<String>> {
    look(dataset, index::indexed_columns)
}

/// Returns whether the indexes of a table follow its changes.
#[pyfunction]
#[pyo3(name = "_indexes_follow")]
pub(crate) fn indexes_follow(dataset: &Bound<'_, Dataset>) -> PyResult<bool> {
    look(dataset, index::indexes_follow)
}

/// Sets whether the indexes of a table follow its changes.
#[pyfunction]
#[pyo3(name = "_set_indexes_follow")]
pub(crate) fn set_indexes_follow(dataset: &Bound<'_, Dataset>, follow: bool) -> PyResult<()> {
    let this = dataset.get();
    let table = this.table()?;
    change(dataset, |dataset| {
        index::set_indexes_follow(dataset, follow)?;
        if follow { Ok(()) } else { this.state.waiting.unfollowed(table) }
    })
}

/// Kind, level, whether all rows are in order, the number of rows, and whether the index is marked as out of
/// date.
type Facts = (&'static str, u8, bool, u64, bool);

/// Returns facts about the index of a column.
#[pyfunction]
#[pyo3(name = "_index_facts")]
pub(crate) fn index_facts(dataset: &Bound<'_, Dataset>, column: &str) -> PyResult<Facts> {
    with_index(dataset, column, |index| {
        let name = KINDS.iter().find(|(_, kind)| *kind == index.kind()).map_or("full", |(name, _)| *name);
        Ok((name, index.optlevel(), index.is_complete(), index.len(), index.is_dirty()))
    })
}

/// Returns why the index of a column cannot be used, or `None`.
#[pyfunction]
#[pyo3(name = "_index_unusable")]
pub(crate) fn index_unusable(dataset: &Bound<'_, Dataset>, column: &str) -> PyResult<Option<String>> {
    with_index(dataset, column, ColumnIndex::unusable)
}

/// Returns the numbers of rows in the order of their values, from one position to another.
#[pyfunction]
#[pyo3(name = "_index_in_order")]
pub(crate) fn index_in_order<'py>(
    dataset: &Bound<'py, Dataset>,
    column: &str,
    start: u64,
    stop: u64,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    Ok(with_index(dataset, column, |index| index.in_order(start..stop))?.to_pyarray(dataset.py()))
}

/// Returns the starts and the stops of ranges of rows that hold all rows with values from `lower` to `upper`,
/// which are bytes of values. `None` stands for no bound.
#[pyfunction]
#[pyo3(name = "_index_search", signature = (dataset, column, lower, upper))]
pub(crate) fn index_search<'py>(
    dataset: &Bound<'py, Dataset>,
    column: &str,
    lower: Option<&[u8]>,
    upper: Option<&[u8]>,
) -> PyResult<(RowNumbers<'py>, RowNumbers<'py>)> {
    let bound = |bytes| match bytes {
        Some(bytes) => ops::Bound::Included(bytes),
        None => ops::Bound::Unbounded,
    };
    let (starts, stops): (Vec<u64>, Vec<u64>) = with_index(dataset, column, |index| {
        Ok(match index.find(bound(lower), bound(upper))? {
            Candidates::Ranges(ranges) => ranges.iter().map(|range| (range.start, range.end)).unzip(),
            Candidates::Rows { rows, unknown } => {
                let tail = (unknown.start < unknown.end).then_some((unknown.start, unknown.end));
                rows.into_iter().map(|row| (row, row + 1)).chain(tail).unzip()
            }
        })
    })?;
    Ok((starts.to_pyarray(dataset.py()), stops.to_pyarray(dataset.py())))
}
