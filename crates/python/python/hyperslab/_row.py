"""Rows of a table one by one: those that a loop reads, and those that a program appends."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import ClosedError
from ._native import _changing_rows, _NewRow
from ._records import plain_columns, put_value

if TYPE_CHECKING:
    from ._table import Table


class Batch:
    """Rows that were read together, of which a loop may change some."""

    __slots__ = ("changed", "columns", "numbers", "records", "removals", "table")

    def __init__(
        self, table: "Table", numbers: "np.ndarray[Any, Any]", records: "np.ndarray[Any, Any]", removals: int
    ) -> None:
        self.table = table
        self.numbers = numbers
        self.records = records
        self.removals = removals
        self.changed: set[int] = set()
        self.columns: set[str] = set()

    def write(self) -> None:
        """Writes the rows that the loop has changed."""
        if self.changed:
            at = np.array(sorted(self.changed))
            self.changed.clear()
            self.table._settle()
            _changing_rows(self.table, lambda: self._put(at))

    def _put(self, at: "np.ndarray[Any, Any]") -> None:
        self.table._check_unmoved(self.removals)
        self.table._put_rows(self.numbers[at], self.records[at], sorted(self.columns))


class Row:
    """A row that a loop over a table reads.

    `row["temp"]` is the value of a column, `row["info/name"]` that of a nested one, and `row[:]` all values.
    `row["temp"] = 290` followed by `row.update()` changes the row in the file.

    Example:
        >>> for row in readings.where("temp > 289"):
        ...     print(row.nrow, row["temp"])
        2 290.0
        3 291.0
    """

    __slots__ = ("_at", "_batch")

    def __init__(self, batch: Batch, at: int) -> None:
        self._batch = batch
        self._at = at

    @property
    def nrow(self) -> int:
        """The number of the row in its table, from 0.

        Example:
            >>> [row.nrow for row in readings.iterrows(1, 3)]
            [1, 2]
        """
        return int(self._batch.numbers[self._at])

    @property
    def table(self) -> "Table":
        """The table.

        Example:
            >>> next(readings.iterrows()).table == readings
            True
        """
        return self._batch.table

    def fetch_all_fields(self) -> Any:
        """Returns the row as a NumPy record, a copy.

        Example:
            >>> next(readings.iterrows()).fetch_all_fields()["temp"]
            np.float64(288.0)
        """
        return self._batch.records[self._at].copy()

    def update(self) -> None:
        """Writes the row with the values that it was given. The file has them at the end of the loop.

        Example:
            >>> for row in readings.where("temp > 290"):
            ...     row["temp"] = 290
            ...     row.update()
            >>> readings.col("temp").max()
            np.float64(290.0)
        """
        self._batch.changed.add(self._at)

    def __getitem__(self, key: Any) -> Any:
        record = self._batch.records[self._at]
        if isinstance(key, str):
            for name in key.split("/"):
                record = record[name]
            return record
        if isinstance(key, int | np.integer):
            return record[int(key)]
        return tuple(record)[key] if isinstance(key, slice) else tuple(record)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Gives a column a value. Raises ValueError if the column cannot hold it."""
        records = self._batch.records
        path = key if isinstance(key, str) else (records.dtype.names or ())[key]
        put_value(records[self._at : self._at + 1], path, value)
        self._batch.columns.add(path)

    def __contains__(self, value: Any) -> bool:
        return value in tuple(self._batch.records[self._at])

    def __len__(self) -> int:
        return len(self._batch.records.dtype.names or ())

    def __iter__(self) -> Iterator[Any]:
        return iter(tuple(self._batch.records[self._at]))

    def __repr__(self) -> str:
        return f"<row {self.nrow} of {self.table.name!r}: {tuple(self._batch.records[self._at])}>"


def rows_of(batches: "Iterable[Batch]") -> "Iterator[Row]":
    """Yields the rows of batches, and writes those that the loop has changed."""
    for batch in batches:
        try:
            for at in range(len(batch.records)):
                yield Row(batch, at)
        finally:
            batch.write()


class NewRow(_NewRow):
    """The row that a program fills and appends, again and again: `table.row`.

    Appended rows are collected, and written together: when there are enough of them, and at the next use of
    the table or flush of the file. A column that gets no value has its default.

    Example:
        >>> row = readings.row
        >>> for hour in range(3):
        ...     row["time"], row["temp"] = 3600 * hour, 280 + hour
        ...     row.append()
        >>> readings.flush()
        >>> len(readings)
        7
    """

    __slots__ = ("_dtype", "_name")

    #: Rows that are collected before they are written, in bytes.
    BYTES = 1 << 20

    _dtype: "np.dtype[Any]"
    _name: "str | None"

    def __new__(cls, table: "Table") -> "NewRow":
        dtype = table.dtype
        default = table._defaults().tobytes()
        capacity = max(cls.BYTES // max(dtype.itemsize, 1), 2)
        made = super().__new__(cls, table, plain_columns(dtype), default, capacity)
        made._dtype, made._name = dtype, table.name
        return made

    @property
    def nrow(self) -> int:
        """The number that the row will have.

        Example:
            >>> readings.row.nrow
            4
        """
        return self._len()

    def __getitem__(self, key: str) -> Any:
        record = np.frombuffer(self._filled(), self._dtype)[0]
        for name in key.split("/"):
            record = record[name]
        return record

    def __repr__(self) -> str:
        try:
            place = f"new row {self.nrow}"
        except ClosedError:
            place = "new row of a closed file"
        else:
            place += f" of {self._name!r}"
        return f"<{place}: {tuple(np.frombuffer(self._filled(), self._dtype)[0])}>"

    def _put(self, key: Any, value: Any) -> None:
        """Gives a column a value that NumPy converts. Raises ValueError if the column cannot hold it."""
        row = np.frombuffer(bytearray(self._filled()), self._dtype)
        put_value(row, key if isinstance(key, str) else (self._dtype.names or ())[key], value)
        self._fill(row.tobytes())
