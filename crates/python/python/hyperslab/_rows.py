"""The rows of a table, and how to read them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ._columns import Cols
from ._native import Dataset, _keeping_rows, _removals, _waiting_rows
from ._records import at_path, field, paths
from ._row import Batch, NewRow, Row, rows_of
from ._shapes import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._table import Table

#: The bytes of rows that a loop reads at a time.
_BATCH = 4 << 20


class Rows(Dataset):
    """A dataset of records with the methods of a table that read rows."""

    @property
    def nrows(self) -> int:
        """The number of rows.

        Example:
            >>> readings.nrows
            4
        """
        return self.len()

    @property
    def title(self) -> str:
        """The text that describes the table: its attribute `TITLE`.

        Example:
            >>> readings.title
            'Readings'
        """
        title = self.attrs.get("TITLE", "")
        if isinstance(title, bytes):
            return title.decode("utf-8", "surrogateescape")
        return title if isinstance(title, str) else ""

    @property
    def colnames(self) -> list[str]:
        """The names of the outermost columns.

        Example:
            >>> readings.colnames
            ['time', 'temp', 'id', 'info']
        """
        return list(self.dtype.names or ())

    @property
    def colpathnames(self) -> list[str]:
        """The paths of the columns that hold values. Nested names are joined by "/".

        Example:
            >>> readings.colpathnames
            ['time', 'temp', 'id', 'info/level']
        """
        return paths(self.dtype)

    @property
    def coldtypes(self) -> "dict[str, np.dtype[Any]]":
        """The dtype of each column that holds values, by its path.

        Example:
            >>> readings.coldtypes["info/level"]
            dtype('int16')
        """
        return {path: at_path(self.dtype, path) for path in self.colpathnames}

    @property
    def rowsize(self) -> int:
        """The bytes of a row.

        Example:
            >>> readings.rowsize
            21
        """
        return self.dtype.itemsize

    @property
    def cols(self) -> Cols:
        """The columns as attributes: `table.cols.temp[:]`.

        Example:
            >>> readings.cols.temp[0]
            np.float64(288.0)
            >>> readings.cols.info.level[:]
            array([10, 20, 30, 40], dtype=int16)
        """
        return Cols(cast("Table", self))

    @property
    def row(self) -> NewRow:
        """The row to fill and append, again and again. All handles of a table share it.

        Example:
            >>> readings.row["temp"] = 292
            >>> readings.row.append()
            >>> readings.flush()
            >>> len(readings)
            5
        """
        return _waiting_rows(self) or NewRow(cast("Table", self))

    def flush(self) -> None:
        """Writes all changes to the file, rows that were appended one by one and stale indexes among them.

        Example:
            >>> readings.append([(14400, 292, b"", (50,))])
            >>> readings.flush()
        """
        self._settle()
        super().flush()

    def _settle(self) -> None:
        """Writes the rows that were appended one by one."""
        waiting = _waiting_rows(self)
        if waiting is not None:
            waiting._write()

    def _defaults(self) -> "np.ndarray[Any, Any]":
        """One record with the values that a new row has in the columns that it leaves out."""
        found = np.zeros(1, self.dtype)
        for number, path in enumerate(paths(self.dtype)):
            try:
                value = self.attrs.get(f"FIELD_{number}_FILL")
                if value is not None:
                    field(found, path)[:] = value
            except (ValueError, TypeError, UnicodeError):
                # An attribute of another form says nothing of the column.
                continue
        return found[0]

    def read(  # type: ignore[override]
        self,
        start: Any = None,
        stop: int | None = None,
        step: int | None = None,
        field: str | None = None,
        out: "NDArray[Any] | None" = None,
        threads: int | None = None,
        *,
        sel: Any = None,
    ) -> "NDArray[Any]":
        """Reads rows, or one column of them.

        Args:
            start: The first row. It may also be a selection as for `Dataset.read`: a slice, a mask or a list.
                Then `out` and `threads` may follow it, in the place of `stop` and `step`.
            stop: The row after the last one.
            step: Take every `step`-th row; at least 1.
            field: The path of a column. None reads whole rows.
            out: The array to read into.
            threads: The number of threads for whole rows. The default is that of `set_threads`.
            sel: The selection under the name that `Dataset.read` gives it.

        Returns:
            An array of records, or the values of the column.

        Raises:
            KeyError: There is no such column.
            ValueError: `step` is less than 1, or `out` has another shape.
            TypeError: `stop` or `step` is given with a selection.

        Example:
            >>> readings.read(1, 3)["temp"]
            array([289., 290.])
            >>> readings.read(field="info/level")
            array([10, 20, 30, 40], dtype=int16)
        """
        self._settle()
        if sel is None and (start is None or isinstance(start, int | np.integer)):
            sel = self._range(None if start is None else int(start), stop, step)
        else:
            if sel is None and isinstance(stop, np.ndarray):
                # The order of the arguments of `Dataset.read`.
                for name, twice in (("out", out is not None), ("threads", step is not None and threads is not None)):
                    if twice:
                        raise TypeError(f"{name} must be given once, not by its place and by its name")
                stop, step, out, threads = None, None, stop, step if threads is None else threads
            given = {"start": None if sel is None else start, "stop": stop, "step": step}
            for name, value in given.items():
                if value is not None:
                    raise TypeError(f"{name} must be left out if a selection is given, not {value!r}")
            sel = start if sel is None else sel
        if field is None:
            read = super().read
            return _keeping_rows(self, lambda: read(sel, out, threads))
        at_path(self.dtype, field)
        found = _keeping_rows(self, lambda: self._field(field, sel))
        if out is None:
            return found
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out must be an array, not {type(out).__name__}")
        if out.shape != found.shape:
            raise ValueError(f"out must have the shape {found.shape}, not {out.shape}")
        out[...] = found
        return out

    def _field(self, path: str, sel: Any) -> "NDArray[Any]":
        """Reads the column at a path."""
        return np.ascontiguousarray(field(self.fields([path.split("/")[0]])[sel], path))

    def _records(self, sel: Any, columns: "Sequence[str] | None") -> "NDArray[Any]":
        """Reads rows, or some of their columns as records. A nested column is named by its path in them."""
        if columns is None:
            return self[sel]
        names, wanted = self.dtype.names or (), list(columns)
        try:
            kinds = [(path, self.dtype[path] if path in names else at_path(self.dtype, path)) for path in wanted]
        except KeyError as error:
            raise ValueError(error.args[0]) from None
        if all(path in names for path in wanted):
            return self.fields(wanted)[sel]
        read = self.fields(list(dict.fromkeys(path if path in names else path.split("/")[0] for path in wanted)))[sel]
        found = np.empty(read.shape, kinds)
        for path in wanted:
            found[path] = read[path] if path in names else field(read, path)
        return found

    def _range(self, start: int | None, stop: int | None, step: int | None) -> slice:
        if step is not None and step < 1:
            raise ValueError(f"step must be at least 1, not {step}")
        return slice(*slice(start, stop, step).indices(self.len()))

    def col(self, name: str) -> "NDArray[Any]":
        """Reads a column.

        Args:
            name: The path of the column.

        Returns:
            The values of all rows.

        Raises:
            KeyError: There is no such column.

        Example:
            >>> readings.col("temp")
            array([288., 289., 290., 291.])
        """
        return self.read(field=name)

    def read_coordinates(self, coords: Any, field: str | None = None) -> "NDArray[Any]":
        """Reads the rows with these numbers.

        Args:
            coords: The numbers of the rows, in any order. A row may occur several times.
            field: The path of a column. None reads whole rows.

        Raises:
            IndexError: A number is not that of a row.
            KeyError: There is no such column.

        Example:
            >>> readings.read_coordinates([3, 0])["temp"]
            array([291., 288.])
        """
        self._settle()
        return _keeping_rows(self, lambda: self._taken(self._numbers(coords), field))

    def _numbers(self, coords: Any) -> "NDArray[np.int64]":
        given = np.asarray(coords)
        if given.size == 0:
            return np.zeros(0, np.int64)
        if given.dtype.kind not in "iu":
            raise TypeError(f"row numbers must be integers, not {given.dtype}")
        at = given.astype(np.int64).ravel()
        count = self.len()
        at = np.where(at < 0, at + count, at)
        if (at < 0).any() or (at >= count).any():
            raise IndexError(
                f"row {int(at[(at < 0) | (at >= count)][0])} is not in the table, which has {counted(count, 'row')}"
            )
        return at

    def _taken(
        self, at: "NDArray[np.int64]", path: str | None, columns: "Sequence[str] | None" = None
    ) -> "NDArray[Any]":
        """Reads the rows at `at`, which may be in any order."""
        order = None
        wanted = at
        if len(at) > 1 and not (np.diff(at) > 0).all():
            wanted, order = np.unique(at, return_inverse=True)
        read = (lambda sel: self._records(sel, columns)) if path is None else (lambda sel: self._field(path, sel))
        if not len(wanted):
            found = read(slice(0, 0))
        elif (wanted[-1] - wanted[0] + 1) // len(wanted) < _DENSE:
            found = _picked(wanted, read)
        else:
            found = read(wanted)
        return found if order is None else found[order]

    def iterrows(self, start: int | None = None, stop: int | None = None, step: int | None = None) -> "Iterator[Row]":
        """Iterates over rows. The loop may change them; see `Row.update`.

        Args:
            start: The first row.
            stop: The row after the last one.
            step: Take every `step`-th row. The default is 1.

        Example:
            >>> [row["temp"] for row in readings.iterrows(step=2)]
            [np.float64(288.0), np.float64(290.0)]
        """
        self._settle()
        rows = self._range(start, stop, step)
        return rows_of(self._batches(range(rows.start, rows.stop, rows.step)))

    def itersequence(self, sequence: Any) -> "Iterator[Row]":
        """Iterates over the rows with these numbers.

        Args:
            sequence: The numbers of the rows, in any order.

        Example:
            >>> [row.nrow for row in readings.itersequence([2, 0])]
            [2, 0]
        """
        self._settle()
        return rows_of(self._batches(self._numbers(sequence)))

    def _batches(self, numbers: "NDArray[np.int64] | range", removals: int | None = None) -> "Iterator[Batch]":
        """Returns the rows that had these numbers when `removals` was counted; by default, now."""
        return self._read_batches(numbers, _removals(self) if removals is None else removals)

    def _read_batches(self, numbers: "NDArray[np.int64] | range", removals: int) -> "Iterator[Batch]":
        length = max(_BATCH // max(self.rowsize, 1), 1)

        def read(some: "NDArray[np.int64]") -> "NDArray[Any]":
            self._check_unmoved(removals)
            return self._taken(some, None)

        for first in range(0, len(numbers), length):
            part = numbers[first : first + length]
            some = np.arange(part.start, part.stop, part.step) if isinstance(part, range) else part
            yield Batch(cast("Table", self), some, _keeping_rows(self, partial(read, some)), removals)

    def _check_unmoved(self, removals: int) -> None:
        """Raises an error if rows were removed since `removals` was counted: others have their numbers."""
        if _removals(self) != removals:
            raise RuntimeError(f"rows of {self.name!r} were removed during a loop over them; start the loop again")

    def __iter__(self) -> "Iterator[Row]":
        return self.iterrows()


#: Rows are read together with those between them if at least one of this number of rows is wanted.
_DENSE = 4
#: The rows of which some are picked at a time.
_PICKED = 1 << 21


def _picked(at: "NDArray[np.int64]", read: "Callable[[slice], NDArray[Any]]") -> "NDArray[Any]":
    """Returns the rows at `at`, which ascend, by reading all rows from the first to the last one in parts."""
    first, stop = int(at[0]), int(at[-1]) + 1
    if stop - first == len(at):
        return read(slice(first, stop))
    like = read(slice(first, first))
    found = np.empty((len(at), *like.shape[1:]), like.dtype)
    for start in range(first, stop, _PICKED):
        end = min(start + _PICKED, stop)
        begin, over = np.searchsorted(at, [start, end])
        found[begin:over] = read(slice(start, end))[at[begin:over] - start]
    return found
