"""Rows of tables as streams of Arrow, for DuckDB, polars, pyarrow, pandas and others."""

from collections.abc import Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from ._native import _keeping_rows, _Query, _Scan
from ._optional import needed_by
from ._query import Queries

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The distance of frames from a method here to its caller, for the names of a condition.
_CALLER = 2


class Query:
    """Rows of a table that are not read yet: those for which a condition is true, and some of their columns.

    A query is made by `Table.query`. Other libraries read it as a stream of Arrow record batches, each time
    from the beginning: `duckdb.sql("from q")`, `polars.DataFrame(q)`, `pyarrow.table(q)`,
    `pandas.DataFrame.from_arrow(q)`, `other_table.append(q)`. Only the columns of the condition and of the
    result are decoded, without the GIL. The file must be open while the stream is read.

    Example:
        >>> q = readings.query("temp > 289", columns=["time", "temp"])
        >>> q
        <query of "readings": time, temp where temp > 289>
        >>> import pyarrow
        >>> pyarrow.table(q)["temp"].to_pylist()
        [290.0, 291.0]
    """

    def __init__(
        self,
        table: "Streams",
        condition: str | None,
        found: "_Query | None",
        columns: "Sequence[str] | None",
        rows: "tuple[int | None, int | None, int | None]",
        limit: int | None,
        binary: bool,
        wide_halves: bool,
    ) -> None:
        self._table, self._condition, self._found = table, condition, found
        self._columns = None if columns is None else list(columns)
        self._limit = None if limit is None else index(limit)
        if self._limit is not None and self._limit < 0:
            raise ValueError(f"limit must be at least 0, not {limit}")
        self._rows, self._forms = rows, (binary, wide_halves)

    def _scan(self, batch_size: int | None = None, requested: Any = None) -> _Scan:
        self._table._settle()
        rows = self._table._range(*self._rows)
        at = (rows.start, max(rows.start, rows.stop), rows.step)
        return _Scan(self._table, self._found, self._columns, at, self._limit, batch_size, self._forms, requested)

    def _narrowed(self, columns: "list[str] | None", condition: str | None) -> "Query":
        """Returns the query with fewer columns. Rows that do not meet the condition may be left out."""
        found, limit = self._found, self._limit
        if condition is not None and self._condition is None and limit is None:
            found = self._table._query(condition, {})
        columns = self._columns if columns is None else columns
        return Query(self._table, self._condition, found, columns, self._rows, limit, *self._forms)

    def _with_wide_halves(self) -> "Query":
        columns, rows, binary = self._columns, self._rows, self._forms[0]
        return Query(self._table, self._condition, self._found, columns, rows, self._limit, binary, True)

    def __arrow_c_schema__(self) -> object:
        """Returns a capsule with the schema, by the protocol of Arrow."""
        return self._scan().schema()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Returns a capsule with a stream of the rows, by the protocol of Arrow.

        Args:
            requested_schema: A capsule with a schema. If all its texts are binary, texts are bytes.
        """
        return self._scan(requested=requested_schema).stream()

    def to_batches(self, batch_size: int | None = None) -> Any:
        """Returns the rows as record batches of pyarrow, which are read when they are needed.

        Args:
            batch_size: The largest number of rows of a batch. The default is 65,536. A batch has at most
                16 MiB, or one row.

        Returns:
            A `pyarrow.RecordBatchReader`: an iterator.

        Raises:
            ImportError: pyarrow is not installed.

        Example:
            >>> for batch in readings.query("temp > 289").to_batches():
            ...     print(batch.num_rows)
            2
        """
        return reader(self._scan(batch_size))

    def to_pyarrow_dataset(self) -> Any:
        """Returns the rows as a dataset of pyarrow, which reads the columns and rows that its user needs.

        DuckDB and polars hand the columns and the conditions of a statement on to it. `float16` becomes
        `float32`, because DuckDB has no `float16`.

        The methods of the dataset read the rows. Functions of pyarrow that read a dataset without calling its
        methods (`Table.join`, `UnionDataset`, `Scanner.from_dataset`) raise an error: give them
        `dataset.to_table()`.

        Returns:
            A `pyarrow.dataset.Dataset`.

        Raises:
            ImportError: pyarrow is not installed.

        Example:
            >>> warm = readings.query("temp > 288").to_pyarrow_dataset()
            >>> import duckdb
            >>> duckdb.sql("select max(time) from warm where temp < 291").fetchall()
            [(7200,)]
        """
        with needed_by("to_pyarrow_dataset()"):
            from ._arrow_dataset import RowsDataset
        return RowsDataset(self)

    def read(self) -> "NDArray[Any]":
        """Reads the rows as an array of records. A nested column that the query names by its path becomes a
        field of this name.

        Raises:
            ValueError: There is no such column.

        Example:
            >>> readings.query("temp > 289", columns=["temp"]).read()
            array([(290.,), (291.,)], dtype=[('temp', '<f8')])
        """
        self._table._settle()
        return _keeping_rows(self._table, self._read)

    def _read(self) -> "NDArray[Any]":
        if self._columns is None:
            return self._read_outermost(None)
        dtype = self._table.dtype
        places = {path: _place(dtype, path) for path in self._columns}
        outermost = list(dict.fromkeys(place[0] for place in places.values()))
        if not outermost:
            return np.zeros(self._count(), [])
        read = self._read_outermost(outermost)
        if outermost == self._columns:
            return read
        made = np.empty(len(read), [(path, _at(dtype, places[path])) for path in self._columns])
        for path, place in places.items():
            made[path] = _at(read, place)
        return made

    def _read_outermost(self, columns: "list[str] | None") -> "NDArray[Any]":
        """Reads the rows with these columns, which are not nested in others."""
        table, rows = self._table, self._table._range(*self._rows)
        if self._found is not None:
            found = table._rows(self._found, rows, self._limit)
            return table._taken(found, None, columns)
        if self._limit is not None:
            rows = slice(rows.start, min(rows.stop, rows.start + self._limit * rows.step), rows.step)
        return table._records(rows, columns)

    def count(self) -> int:
        """Returns the number of rows.

        Example:
            >>> readings.query("temp > 289").count()
            2
        """
        self._table._settle()
        return self._count()

    def _count(self) -> int:
        table, rows = self._table, self._table._range(*self._rows)
        if self._found is None:
            count = len(range(rows.start, rows.stop, rows.step))
        elif rows.step == 1:
            count = self._found.count(rows.start, max(rows.start, rows.stop))
        else:
            count = len(table._rows(self._found, rows))
        return count if self._limit is None else min(count, self._limit)

    def __repr__(self) -> str:
        name = (self._table.name or "").rsplit("/", 1)[-1]
        columns = "all columns" if self._columns is None else ", ".join(self._columns)
        condition = "" if self._condition is None else f" where {self._condition}"
        return f'<query of "{name}": {columns}{condition}>'


class Streams(Queries):
    """A dataset of records with the methods of a table that make streams of Arrow."""

    def query(
        self,
        condition: str | None = None,
        condvars: "Mapping[str, Any] | None" = None,
        *,
        columns: "Sequence[str] | None" = None,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
        limit: int | None = None,
        binary: bool = False,
        wide_halves: bool = False,
    ) -> Query:
        """Returns rows that are not read yet, to hand on to other libraries; see `Query`.

        Texts become `utf8` without the zeros that fill their space, enumerations dictionaries, arrays lists
        of a fixed size, nested columns structs, and complex numbers structs of `r` and `i`. The times of
        PyTables stay numbers of seconds.

        Args:
            condition: The condition; see `read_where`. None takes all rows.
            condvars: The values of names that are not columns. Without it, such names are variables of the
                caller.
            columns: The columns, in this order. A nested column may be named by its path, "info/level". None
                takes all.
            start: The first row to search.
            stop: The row after the last one.
            step: Take every `step`-th row. The default is 1.
            limit: Return at most this many rows.
            binary: Whether texts are bytes, for texts that are not UTF-8.
            wide_halves: Whether `float16` becomes `float32`, for DuckDB, which has no `float16`.

        Raises:
            ValueError: The condition has an error, a name is unknown, or `limit` is negative.

        Example:
            >>> hot = readings.query("temp > 289", columns=["time", "info/level"])
            >>> import polars
            >>> polars.DataFrame(hot)["info/level"].to_list()
            [30, 40]
        """
        found = None if condition is None else self._query(condition, condvars, _CALLER)
        return Query(self, condition, found, columns, (start, stop, step), limit, binary, wide_halves)

    def to_batches(
        self,
        condition: str | None = None,
        condvars: "Mapping[str, Any] | None" = None,
        *,
        columns: "Sequence[str] | None" = None,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
        limit: int | None = None,
        batch_size: int | None = None,
        binary: bool = False,
        wide_halves: bool = False,
    ) -> Any:
        """Returns rows as record batches of pyarrow, which are read when they are needed.

        Args:
            condition: The condition; see `read_where`. None takes all rows.
            condvars: The values of names that are not columns.
            columns: The columns; see `query`.
            start: The first row to search.
            stop: The row after the last one.
            step: Take every `step`-th row. The default is 1.
            limit: Return at most this many rows.
            batch_size: The largest number of rows of a batch. The default is 65,536.
            binary: Whether texts are bytes.
            wide_halves: Whether `float16` becomes `float32`.

        Returns:
            A `pyarrow.RecordBatchReader`: an iterator.

        Raises:
            ImportError: pyarrow is not installed.
            ValueError: The condition has an error, a column is unknown, or `limit` is negative.

        Example:
            >>> for batch in readings.to_batches("temp > 289", columns=["time"]):
            ...     print(batch["time"].to_pylist())
            [7200, 10800]
        """
        found = None if condition is None else self._query(condition, condvars, _CALLER)
        query = Query(self, condition, found, columns, (start, stop, step), limit, binary, wide_halves)
        return query.to_batches(batch_size)

    def to_pyarrow_dataset(self) -> Any:
        """Returns the table as a dataset of pyarrow; see `Query.to_pyarrow_dataset`.

        Example:
            >>> rows = readings.to_pyarrow_dataset()
            >>> import duckdb
            >>> duckdb.sql("select max(time) from rows where temp < 291").fetchall()
            [(7200,)]
        """
        return self.query().to_pyarrow_dataset()

    def __arrow_c_schema__(self) -> object:
        """Returns a capsule with the schema, by the protocol of Arrow."""
        return self.query().__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Returns a capsule with a stream of the rows, by the protocol of Arrow."""
        return self.query().__arrow_c_stream__(requested_schema)


def _at(rows: Any, place: "tuple[str, ...]") -> Any:
    """Returns the column at a place in an array of records or in its dtype."""
    for name in place:
        rows = rows[name]
    return rows


def _place(dtype: "np.dtype[Any]", path: str) -> "tuple[str, ...]":
    """Returns the names that lead to the column at a path. A name may itself contain "/"."""
    below = [(name, dtype[name]) for name in dtype.names or () if path == name or path.startswith(f"{name}/")]
    for name, kind in below:
        if path == name:
            return (name,)
        try:
            return (name, *_place(kind, path[len(name) + 1 :]))
        except ValueError:
            continue
    raise ValueError(f'column "{path}": it must be one of {", ".join(dtype.names or ())}')


def reader(scan: _Scan) -> Any:
    """Returns the record batches of a scan as a reader of pyarrow."""
    with needed_by("a reader of record batches"):
        import pyarrow
    return pyarrow.RecordBatchReader._import_from_c_capsule(scan.stream())
