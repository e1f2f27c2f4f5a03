"""Appending, changing and removing the rows of a table."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrow_rows import is_stream
from ._native import (
    _append_bytes,
    _append_rows,
    _ArrowRows,
    _changing_rows,
    _remove_rows,
    _row_count_changed,
    _rows_changed,
)
from ._records import (
    at_path,
    check_names,
    column_to_put,
    field,
    fitted,
    one_for_each_row,
    plain_rows,
    records,
    records_to_put,
)
from ._rows import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Changes(Rows):
    """A dataset of records with the methods of a table that change rows."""

    def _changed(self, paths: "Sequence[str] | None" = None) -> None:
        """Is called after values of these columns were changed or rows removed. None stands for all
        columns.
        """
        _rows_changed(self, None if paths is None else list(paths))

    def _change(self, change: "Callable[[], object]") -> None:
        """Calls `change`, which changes any rows, while no other thread uses them."""

        def alone() -> None:
            change()
            self._changed()

        _changing_rows(self, alone)

    def append(self, rows: Any) -> None:
        """Appends rows.

        Appends of several threads take turns. If one fails, the table has none of its rows.

        Args:
            rows: An array of records, a dict of columns, a DataFrame, a list of columns (arrays), a list of
                tuples or a two-dimensional array, whose rows are rows. Anything with a stream of Arrow:
                tables of pyarrow, polars and DuckDB. Columns that are left out get their defaults.

        Raises:
            ValueError: A column is unknown, or cannot hold a value. Values of a masked array are masked.
            TypeError: The rows have another form.
            OSError: The file is open for reading.

        Example:
            >>> readings.append([(14400, 292.5, b"ZRH", (50,)), (18000, 293.5, b"GVA", (60,))])
            >>> readings.append({"time": [21600], "temp": [294.5]})
            >>> readings[-2:]["temp"]
            array([293.5, 294.5])
        """
        if type(rows) is list and rows and (packed := plain_rows(self.dtype).packed(rows)) is not None:
            self._settle()
            _append_bytes(self, packed)
            return
        if is_stream(rows):
            self._append_stream(_ArrowRows(rows))
            return
        made = self._made(rows)
        self._settle()
        self._append(made)

    def _append_stream(self, rows: _ArrowRows) -> None:
        """Appends the rows of a stream, or none of them."""
        self._settle()
        try:
            rows.append_to(self, np.array([self._defaults()], self.dtype))
        except BaseException:
            rows.take_back(self)
            raise

    def _append(self, made: "NDArray[Any]") -> None:
        """Appends records of the dtype of the table."""
        _append_rows(self, made)

    def _made(self, rows: Any) -> "NDArray[Any]":
        """Returns rows that a caller gives as records."""
        return records(rows, self.dtype, self._defaults)

    def modify_rows(
        self, start: int | None = None, stop: int | None = None, step: int | None = None, rows: Any = None
    ) -> int:
        """Replaces a range of rows.

        Args:
            start: The first row.
            stop: The row after the last one. The default is as many rows as are given.
            step: Take every `step`-th row. The default is 1.
            rows: The new rows, in any form that `append` takes.

        Returns:
            The number of rows that were replaced.

        Raises:
            IndexError: The range exceeds the table.
            ValueError: The number of rows is not that of the range.

        Example:
            >>> readings.modify_rows(0, rows=[(0, 280.0, b"new", (1,))])
            1
        """
        if rows is None:
            return 0
        self._settle()
        made = self._made(rows)

        def change() -> int:
            self._put(self._place(start, stop, step, len(made)), made)
            self._changed()
            return len(made)

        return _changing_rows(self, change)

    def _place(self, start: int | None, stop: int | None, step: int | None, count: int) -> slice:
        start, step = start or 0, step or 1
        if start < 0 or step < 1:
            raise ValueError(f"start must be >= 0 and step >= 1, not {start} and {step}")
        if stop is None:
            stop = start + (count - 1) * step + 1 if count else start
        if stop > self.len():
            raise IndexError(f"rows {start} to {stop} must be within the table, which has {self.len()} rows")
        if len(range(start, stop, step)) != count:
            raise ValueError(
                f"start, stop and step select {len(range(start, stop, step))} rows, and {count} were given"
            )
        return slice(start, stop, step)

    def _put(self, place: Any, made: "NDArray[Any]") -> None:
        super().__setitem__(place, made)

    def __setitem__(self, key: Any, value: Any, /) -> None:
        """Writes rows or columns, as for every dataset.

        Raises:
            ValueError: A column is unknown, or cannot hold a value.
            TypeError: The value is no rows.
        """
        self._settle()
        dtype, put = self.dtype, super().__setitem__
        parts = key if isinstance(key, tuple) else (key,)
        names = [part for part in parts if isinstance(part, str)]
        check_names(names, dtype)
        if not names:
            made = records_to_put(value, dtype, self._defaults)
            self._change(lambda: put(key, made))
            return
        rows = tuple(part for part in parts if not isinstance(part, str))
        changes = [((name, *rows), column_to_put(name, value, dtype)) for name in names]

        def change() -> None:
            for place, column in changes:
                put(place, column)

        self._change(change)

    def write_direct(self, source: Any, source_sel: Any = None, dest_sel: Any = None) -> None:
        """Writes an array, or a part of an array, to a selection of rows; see `Dataset.write_direct`.

        Example:
            >>> rows = readings[:1]
            >>> rows["temp"] = 270
            >>> readings.write_direct(rows, None, np.s_[3:4])
            >>> readings.col("temp")[3]
            np.float64(270.0)
        """
        self._settle()
        write = super().write_direct
        made = records_to_put(source, self.dtype, self._defaults)
        self._change(lambda: write(made, source_sel, dest_sel))

    def resize(self, size: Any, axis: int | None = None) -> None:
        """Changes the number of rows. New rows are zero, or hold the fill value; see `Dataset.resize`.

        Example:
            >>> readings.resize((6,))
            >>> len(readings)
            6
        """
        self._settle()
        resize = super().resize
        self._change(lambda: resize(size, axis))
        _row_count_changed(self)

    def modify_column(
        self,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
        column: Any = None,
        colname: str | None = None,
    ) -> int:
        """Replaces the values of a column in a range of rows.

        Args:
            start: The first row.
            stop: The row after the last one. The default is as many rows as there are values.
            step: Take every `step`-th row. The default is 1.
            column: The values.
            colname: The path of the column.

        Returns:
            The number of values that were replaced.

        Raises:
            KeyError: There is no such column.
            IndexError: The range exceeds the table.
            ValueError: The number of values is not that of the range, or the column cannot hold a value.

        Example:
            >>> readings.modify_column(1, 3, column=[280.5, 281.5], colname="temp")
            2
            >>> readings.col("temp")
            array([288. , 280.5, 281.5, 291. ])
        """
        if colname is None:
            raise TypeError("colname must be the path of a column, not None")
        if column is None:
            return 0
        return self.modify_columns(start, stop, step, [column], [colname])

    def modify_columns(
        self,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
        columns: Any = None,
        names: "Sequence[str] | None" = None,
    ) -> int:
        """Replaces the values of several columns in a range of rows.

        Args:
            start: The first row.
            stop: The row after the last one. The default is as many rows as there are values.
            step: Take every `step`-th row. The default is 1.
            columns: The values: an array of records, or a list with the values of each column.
            names: The paths of the columns.

        Returns:
            The number of rows that were changed.

        Raises:
            KeyError: There is no such column.
            IndexError: The range exceeds the table.
            ValueError: The number of values is not that of the range, the number of columns not that of the
                names, or a column cannot hold a value.

        Example:
            >>> readings.modify_columns(0, columns=[[7], [270.0]], names=["time", "temp"])
            1
        """
        if isinstance(names, str) or names is None:
            raise TypeError(f"names must be a list of paths of columns, not {type(names).__name__}")
        if columns is None:
            return 0
        self._settle()
        is_array = isinstance(columns, np.ndarray) and columns.dtype.names is not None
        given = [columns[name] for name in columns.dtype.names] if is_array else list(columns)
        if len(given) != len(names):
            raise ValueError(f"columns must have one item for each of the names {', '.join(names)}, not {len(given)}")
        values = []
        for name, one in zip(names, given, strict=True):
            dtype = at_path(self.dtype, name)
            values.append(one_for_each_row(name, np.atleast_1d(fitted(name, one, dtype)), dtype))
        count = len(values[0]) if values else 0
        if any(len(one) != count for one in values):
            raise ValueError("all columns must have the same length")

        def change() -> int:
            place = self._place(start, stop, step, count)
            found = self[place]
            for name, one in zip(names, values, strict=True):
                field(found, name)[...] = one
            self._put(place, found)
            self._changed(names)
            return count

        return _changing_rows(self, change)

    def _set_column(self, rows: Any, values: Any, path: str) -> None:
        """Does `table.cols.path[rows] = values`."""
        self._settle()
        given = fitted(path, values, at_path(self.dtype, path))

        def change() -> None:
            found = np.array(self[rows])
            field(found, path)[...] = given
            self._put(rows, found)
            self._changed([path])

        _changing_rows(self, change)

    def modify_coordinates(self, coords: Any, rows: Any) -> int:
        """Replaces the rows with these numbers.

        Args:
            coords: The numbers of the rows, in any order.
            rows: The new rows, in any form that `append` takes.

        Returns:
            The number of rows that were replaced.

        Raises:
            IndexError: A number is not that of a row.
            ValueError: There are more or fewer rows than numbers.

        Example:
            >>> rows = readings.read_coordinates([3, 0])
            >>> rows["temp"] += 1
            >>> readings.modify_coordinates([3, 0], rows)
            2
        """
        self._settle()
        made = self._made(rows)
        return _changing_rows(self, lambda: self._put_rows(self._numbers(coords), made))

    def _put_rows(self, at: "NDArray[np.int64]", made: "NDArray[Any]", paths: "Sequence[str] | None" = None) -> int:
        """Replaces the rows at `at`, which differ in these columns. None stands for all columns."""
        if len(at) != len(made):
            raise ValueError(f"rows must have one row for each of the {len(at)} row numbers, not {len(made)}")
        # Of a number that occurs twice, the last row stays, as in a loop.
        last = len(at) - 1 - np.unique(at[::-1], return_index=True)[1]
        order = last[np.argsort(at[last])]
        if len(order):
            self._put(at[order], made[order])
        self._changed(paths)
        return len(made)

    def remove_rows(self, start: int | None = None, stop: int | None = None, step: int | None = None) -> int:
        """Removes rows: the rows after them move up.

        Args:
            start: The first row. A negative number counts from the end.
            stop: The row after the last one. The default is the end of the table.
            step: Take every `step`-th row. The default is 1.

        Returns:
            The number of removed rows.

        Example:
            >>> readings.remove_rows(1, 3)
            2
            >>> readings.col("temp")
            array([288., 291.])
        """
        self._settle()

        def remove() -> int:
            rows = self._range(start, stop, step)
            removed = _remove_rows(self, rows.start, max(rows.stop, rows.start), rows.step)
            self._changed()
            return removed

        return _changing_rows(self, remove)

    def remove_row(self, n: int) -> None:
        """Removes one row.

        Args:
            n: The number of the row. A negative number counts from the end.

        Raises:
            IndexError: There is no such row.

        Example:
            >>> readings.remove_row(0)
            >>> readings.col("temp")
            array([289., 290., 291.])
        """
        number = int(self._numbers([n])[0])
        self.remove_rows(number, number + 1)

    def truncate(self, size: int) -> None:
        """Makes the table shorter, or longer with rows of zeros.

        Args:
            size: The number of rows.

        Example:
            >>> readings.truncate(2)
            >>> len(readings)
            2
        """
        self.resize((size,))
