//! Creating tables.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::Group;
use crate::interpreter::calls;
use crate::opening::state::writable;

#[pymethods]
impl Group {
    /// Creates a table, and the missing groups on the way. PyTables opens it as a `Table`.
    ///
    /// Args:
    ///     name: The path of the table.
    ///     dtype: The columns: a structured dtype or its list of fields, a dict of dtypes, or a description
    ///         of PyTables. The default are the columns of `obj`, which must have names.
    ///     title: A text that describes the table.
    ///     filters: Filters of PyTables (an object with `complevel`, `complib` and `shuffle`), instead of
    ///         `compression`.
    ///     expectedrows: The number of rows that the table will have, about. It decides the length of chunks.
    ///     chunkshape: The number of rows of a chunk, instead of a length by `expectedrows`.
    ///     obj: The first rows, in any form that `Table.append` takes. Without `dtype`, records, a dict of
    ///         columns, a DataFrame or a stream of Arrow.
    ///     kwds: Keywords of `create_dataset`: `compression` (`hs.Blosc2("lz4")` makes queries fast),
    ///         `compression_opts`, `shuffle`, `fletcher32`, `track_times`, `track_order`.
    ///
    /// Returns:
    ///     The table.
    ///
    /// Raises:
    ///     ValueError: The name exists, the file is open for reading, an option does not fit, or a column has
    ///         a name that PyTables does not take: empty, "." or with a "/".
    ///     TypeError: The dtype has no columns, or a table has no values of the type of a column.
    ///
    /// Example:
    ///     >>> columns = [("time", "i8"), ("temp", "f4"), ("id", "S12")]
    ///     >>> made = file.create_table("made", columns, expectedrows=10**6, compression=hs.Blosc2("lz4"))
    ///     >>> made.append([(0, 288.5, b"XK4")])
    ///     >>> made
    ///     <HDF5 table "made": 1 row of time, temp, id>
    #[pyo3(
        signature = (*args, **kwds),
        text_signature = "($self, name, dtype=None, title=\"\", filters=None, expectedrows=10000, \
                          chunkshape=None, obj=None, **kwds)"
    )]
    fn create_table<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwds: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        writable::<PyValueError>(&slf.as_super().get().state, "create a table")?;
        calls::method(slf.as_any(), "_create_table", "create_table", args, kwds)
    }
}
