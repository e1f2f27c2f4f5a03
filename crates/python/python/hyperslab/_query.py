"""Queries on a table: the rows for which a condition is true."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._columns import Column
from ._indexes import Indexed
from ._native import _keeping_rows, _Query, _removals
from ._records import at_path
from ._row import Row, rows_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What may be a name in a condition. The native parser decides; this finds candidates in the caller's scope.
_NAME = re.compile(r"[^\W\d]\w*")

#: The rows of the first part of a search for a few rows. Each part is twice as long as the one before.
_FIRST_STEP = 1 << 16


class Queries(Indexed):
    """A dataset of records with the methods of a table that take a condition."""

    def _query(self, condition: str, condvars: "Mapping[str, Any] | None", depth: int = 2) -> _Query:
        """Returns the query for a condition whose other names are in the scope of the caller."""
        if not isinstance(condition, str):
            raise TypeError(f"condition must be a string such as 'temp > 310', not {type(condition).__name__}")
        names = set(_NAME.findall(condition))
        known = set(self.dtype.names or ())
        given: dict[str, Any] = {}
        if condvars is not None:
            given = {name: condvars[name] for name in names if name in condvars}
        else:
            frame = sys._getframe(depth)
            for name in names - known:
                for scope in (frame.f_locals, frame.f_globals):
                    if name in scope:
                        given[name] = scope[name]
                        break
            del frame
        given = {name: value for name, value in given.items() if _is_operand(value)}
        for name, value in given.items():
            if isinstance(value, Column):
                if value.table != self:
                    raise ValueError(
                        f"{name} must be a column of this table, not of another one; read its values first"
                    )
                given[name] = [value.pathname]
            elif isinstance(value, np.ndarray):
                given[name] = value[()]
        self._settle()
        return _Query(self, condition, given)

    def _rows(self, query: _Query, rows: slice, limit: int | None = None) -> "NDArray[np.int64]":
        """Returns the numbers of the rows of a range that meet the condition."""
        stop = max(rows.stop, rows.start)
        if limit is not None and limit < 0:
            raise ValueError(f"limit must be at least 0, not {limit}")
        if rows.step == 1:
            return query.rows(rows.start, stop, limit)
        if limit is None:
            return _stepped(query.rows(rows.start, stop), rows)
        parts, first, length = [np.zeros(0, np.int64)], rows.start, _FIRST_STEP
        while first < stop and limit > 0:
            parts.append(_stepped(query.rows(first, min(stop, first + length)), rows)[:limit])
            first, length, limit = first + length, 2 * length, limit - len(parts[-1])
        return np.concatenate(parts)

    def read_where(
        self,
        condition: str,
        condvars: "Mapping[str, Any] | None" = None,
        field: str | None = None,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
        *,
        columns: "Sequence[str] | None" = None,
        limit: int | None = None,
    ) -> "NDArray[Any]":
        """Reads the rows for which a condition is true.

        Only the columns of the condition are decoded to find the rows, by several threads.

        Args:
            condition: The condition: columns and values, compared and joined by `&`, `|` and `~` with
                parentheses, as in "(temp > 310) & ((lat < 10) | (id == 'XK4'))". Nested columns are written
                "info/level" or "info.level". The functions are those of `Expr`.
            condvars: The values of names that are not columns. A value may be a column:
                `table.cols.info.level`. Without it, such names are variables of the caller.
            field: The path of a column. None reads rows.
            start: The first row to search.
            stop: The row after the last one.
            step: Take every `step`-th row. The default is 1.
            columns: The names of the columns to read, as records. Nested columns are written "info/level".
                None reads all.
            limit: Return at most this many rows.

        Returns:
            An array of records, or the values of the column, in the order of the table.

        Raises:
            ValueError: The condition has an error, or a name is unknown.
            KeyError: There is no such column.

        Example:
            >>> readings.read_where("(temp > 288) & (info.level < 40)")["temp"]
            array([289., 290.])
            >>> hot = 289
            >>> readings.read_where("temp > hot", columns=["time", "temp"])
            array([( 7200, 290.), (10800, 291.)],
                  dtype=[('time', '<i8'), ('temp', '<f8')])
        """
        if field is not None:
            at_path(self.dtype, field)
        query = self._query(condition, condvars)

        def read() -> "NDArray[Any]":
            found = self._rows(query, self._range(start, stop, step), limit)
            return self._taken(found, field, columns)

        return _keeping_rows(self, read)

    def get_where_list(
        self,
        condition: str,
        condvars: "Mapping[str, Any] | None" = None,
        sort: bool = False,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
    ) -> "NDArray[np.int64]":
        """Returns the numbers of the rows for which a condition is true, in ascending order.

        Args:
            condition: The condition; see `read_where`.
            condvars: The values of names that are not columns.
            sort: Without effect: the numbers are always sorted.
            start: The first row to search.
            stop: The row after the last one.
            step: Take every `step`-th row. The default is 1.

        Example:
            >>> readings.get_where_list("temp >= 290")
            array([2, 3])
        """
        return self._rows(self._query(condition, condvars), self._range(start, stop, step))

    def count_where(
        self,
        condition: str,
        condvars: "Mapping[str, Any] | None" = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> int:
        """Returns the number of rows for which a condition is true.

        Args:
            condition: The condition; see `read_where`.
            condvars: The values of names that are not columns.
            start: The first row to search.
            stop: The row after the last one.

        Example:
            >>> readings.count_where("temp >= 290")
            2
        """
        query, rows = self._query(condition, condvars), self._range(start, stop, None)
        return query.count(rows.start, max(rows.stop, rows.start))

    def where(
        self,
        condition: str,
        condvars: "Mapping[str, Any] | None" = None,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
    ) -> "Iterator[Row]":
        """Iterates over the rows for which a condition is true. The loop may change them; see `Row.update`.

        Args:
            condition: The condition; see `read_where`.
            condvars: The values of names that are not columns.
            start: The first row to search.
            stop: The row after the last one.
            step: Take every `step`-th row. The default is 1.

        Example:
            >>> [row["id"] for row in readings.where("temp > 289")]
            [np.bytes_(b'c'), np.bytes_(b'd')]
        """
        query, removals = self._query(condition, condvars), _removals(self)
        return rows_of(self._batches(self._rows(query, self._range(start, stop, step)), removals))

    def append_where(
        self,
        dstTable: "Queries",
        condition: str | None = None,
        condvars: "Mapping[str, Any] | None" = None,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
    ) -> int:
        """Appends the rows for which a condition is true to another table.

        Args:
            dstTable: The other table, with columns of the same names.
            condition: The condition; see `read_where`. None appends all rows of the range.
            condvars: The values of names that are not columns.
            start: The first row to search.
            stop: The row after the last one.
            step: Take every `step`-th row. The default is 1.

        Returns:
            The number of rows that were appended.

        Example:
            >>> hot = file.create_table("hot", readings.dtype)
            >>> readings.append_where(hot, "temp > 289")
            2
        """
        if condition is None:
            self._settle()
        query = None if condition is None else self._query(condition, condvars)
        rows, removals = self._range(start, stop, step), _removals(self)
        found = range(rows.start, rows.stop, rows.step) if query is None else self._rows(query, rows)
        for batch in self._batches(found, removals):
            dstTable.append(batch.records)
        return len(found)

    def explain(
        self,
        condition: str,
        condvars: "Mapping[str, Any] | None" = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> str:
        """Returns a text that says how a query finds its rows: by which indexes, and how many rows it looks
        at.

        Args:
            condition: The condition; see `read_where`.
            condvars: The values of names that are not columns.
            start: The first row to search.
            stop: The row after the last one.

        Example:
            >>> print(readings.explain("temp > 289"))
            scan of 4 rows
            columns of the condition: temp (8 of 21 bytes of a row)
        """
        query, rows = self._query(condition, condvars), self._range(start, stop, None)
        return query.explain(rows.start, max(rows.stop, rows.start))

    def will_query_use_indexing(self, condition: str, condvars: "Mapping[str, Any] | None" = None) -> frozenset[str]:
        """Returns the paths of the columns whose indexes a query uses.

        Args:
            condition: The condition; see `read_where`.
            condvars: The values of names that are not columns.

        Example:
            >>> readings.will_query_use_indexing("temp > 289")
            frozenset()
        """
        return frozenset(self._query(condition, condvars).indexes(0, self.len()))


def _stepped(found: "NDArray[np.int64]", rows: slice) -> "NDArray[np.int64]":
    """The numbers that are among every `rows.step`-th row."""
    return found[(found - rows.start) % rows.step == 0]


def _is_operand(value: Any) -> bool:
    """Whether a value of the caller's scope can be part of a condition."""
    if isinstance(value, Column | bool | int | float | complex | str | bytes | np.generic):
        return True
    return isinstance(value, np.ndarray) and value.ndim == 0
