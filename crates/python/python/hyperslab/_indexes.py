"""Indexes of the columns of a table, as PyTables has them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._changes import Changes
from ._columns import Column
from ._index import Index
from ._native import (
    _create_index,
    _indexed_columns,
    _indexes_follow,
    _keeping_rows,
    _rebuild_index,
    _removals,
    _remove_index,
    _set_indexes_follow,
    _update_indexes,
)
from ._progress import Progress, reported
from ._records import at_path
from ._row import Row, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: The positions of an index that a loop over sorted rows reads at a time.
_PLACES = 1 << 20
_DEFLATE, _SHUFFLE, _FLETCHER32 = 1, 2, 3


class Indexed(Changes):
    """A dataset of records with the methods of a table for indexes.

    Indexes have PyTables' layout: each program uses those of the other one. They follow all changes that are
    made through a table. Changes by other programs are noticed: an index answers only after it was compared
    with its column, once in each opening of a file (decision 0015).
    """

    def create_index(
        self,
        column: str,
        optlevel: int = 6,
        kind: str = "medium",
        filters: Any = None,
        tmp_dir: str | None = None,
        _blocksizes: "Sequence[int] | None" = None,
        *,
        progress: Progress = None,
    ) -> int:
        """Builds the index of a column.

        An index of kind "full" names the rows of a value. The other kinds are smaller and name ranges of
        rows.

        Args:
            column: The path of the column.
            optlevel: How much PyTables would sort the values, from 0 to 9. It decides the sizes of the parts
                of the index; the values are always sorted as much as the kind allows.
            kind: "ultralight", "light", "medium" or "full".
            filters: The filters of the index, of PyTables or of hyperslab. By default zlib at level 1.
            tmp_dir: The directory for temporary files, which indexes of more than 30 million rows need.
            progress: True shows a bar: of tqdm if that is installed, else a line on standard error. A
                function is called with the number of rows that are read and written, and twice the number of
                all rows. It must not use the file, which waits for it. An exception of the function ends the
                work, and is raised; then there is no index.

        Returns:
            The number of rows in the index.

        Raises:
            ValueError: The column has an index, or an argument is wrong.
            KeyError: There is no such column.
            TypeError: The values of the column cannot be indexed.
            OSError: The file is open for reading.

        Example:
            >>> readings.create_index("temp")
            4
            >>> readings.indexedcolpathnames
            ['temp']
        """
        self._settle()
        path = self._indexable(column)
        sizes = None if _blocksizes is None else [int(size) for size in _blocksizes]
        with reported(progress, f"index of {path}", "rows") as tell:
            _create_index(self, path, kind, int(optlevel), _listed(filters), tmp_dir, sizes, tell)
        return self.len()

    def create_csindex(
        self,
        column: str,
        filters: Any = None,
        tmp_dir: str | None = None,
        _blocksizes: "Sequence[int] | None" = None,
        *,
        progress: Progress = None,
    ) -> int:
        """Builds a completely sorted index of a column: kind "full", level 9. `read_sorted` needs one.

        Args:
            column: The path of the column.
            filters: The filters of the index, of PyTables or of hyperslab. By default zlib at level 1.
            tmp_dir: The directory for temporary files, which indexes of more than 30 million rows need.
            progress: True shows a bar: of tqdm if that is installed, else a line on standard error. A
                function is called with the number of rows that are read and written, and twice the number of
                all rows. It must not use the file, which waits for it. An exception of the function ends the
                work, and is raised; then there is no index.

        Returns:
            The number of rows in the index.

        Example:
            >>> readings.create_csindex("time")
            4
            >>> readings.cols.time.index.is_csi
            True
        """
        return self.create_index(column, 9, "full", filters, tmp_dir, _blocksizes, progress=progress)

    def remove_index(self, column: str) -> None:
        """Removes the index of a column, if it has one.

        Args:
            column: The path of the column.

        Raises:
            KeyError: There is no such column.

        Example:
            >>> readings.create_index("temp")
            4
            >>> readings.remove_index("temp")
            >>> readings.is_indexed("temp")
            False
        """
        _remove_index(self, self._path_of(column))

    def is_indexed(self, column: str) -> bool:
        """Returns whether a column has an index.

        Args:
            column: The path of the column.

        Raises:
            KeyError: There is no such column.

        Example:
            >>> readings.is_indexed("temp")
            False
        """
        return self._path_of(column) in self.indexedcolpathnames

    def reindex(self) -> None:
        """Builds all indexes anew, with their kinds and levels.

        Example:
            >>> readings.reindex()
        """
        self._settle()
        for path in self.indexedcolpathnames:
            _rebuild_index(self, path, False)

    def reindex_dirty(self) -> None:
        """Builds those indexes anew that do not hold the values of their columns.

        Example:
            >>> readings.reindex_dirty()
        """
        self._settle()
        for path in self.indexedcolpathnames:
            _rebuild_index(self, path, True)

    def flush_rows_to_index(self) -> int:
        """Brings the indexes up to date. This also happens when the file is flushed or closed.

        Returns:
            The number of rows in each index.

        Example:
            >>> readings.flush_rows_to_index()
            4
        """
        self._settle()
        if self.indexed:
            _update_indexes(self)
        return self.len()

    @property
    def indexedcolpathnames(self) -> list[str]:
        """The paths of the columns that have an index, in the order of the columns.

        Example:
            >>> readings.indexedcolpathnames
            []
        """
        found = set(_indexed_columns(self))
        return [path for path in self.colpathnames if path in found]

    @property
    def indexed(self) -> bool:
        """Whether a column has an index.

        Example:
            >>> readings.indexed
            False
        """
        return bool(_indexed_columns(self))

    @property
    def autoindex(self) -> bool:
        """Whether the indexes follow changes of the table. Without it, changed indexes are marked as out of
        date.

        Example:
            >>> readings.autoindex
            True
        """
        return _indexes_follow(self)

    @autoindex.setter
    def autoindex(self, auto: bool) -> None:
        _set_indexes_follow(self, bool(auto))

    @property
    def colindexes(self) -> "dict[str, Index]":
        """The indexes by the paths of their columns.

        Example:
            >>> readings.colindexes
            {}
        """
        return {path: Index(self, path) for path in self.indexedcolpathnames}

    def read_sorted(
        self,
        sortby: "str | Column",
        checkCSI: bool = False,
        field: str | None = None,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
    ) -> "NDArray[Any]":
        """Reads rows in the order of the values of a column, which has an index of kind "full".

        Rows with equal values are in the order of the table, if hyperslab has built the index. NaN comes
        last.

        Args:
            sortby: The column, or its path.
            checkCSI: Whether an index that is not completely sorted is an error. Without it, the column is
                sorted in memory if its index is not completely sorted or out of date.
            field: The path of the column to read. None reads whole rows.
            start: The first position in this order.
            stop: The position after the last one.
            step: The distance of positions. A negative step reads backwards.

        Returns:
            An array of records, or the values of the column.

        Raises:
            ValueError: The column has no index of kind "full", or `checkCSI` is True and the index is not
                completely sorted.
            KeyError: There is no such column.

        Example:
            >>> readings.create_csindex("temp")
            4
            >>> readings.read_sorted("temp", field="temp", stop=2)
            array([288., 289.])
            >>> readings.read_sorted("temp", field="temp", step=-1)
            array([291., 290., 289., 288.])
        """
        if field is not None:
            at_path(self.dtype, field)
        ordered = self._ordered(sortby, checkCSI, slice(start, stop, step))

        def read() -> "NDArray[Any]":
            found = list(ordered)
            return self._taken(np.concatenate(found) if found else np.zeros(0, np.int64), field)

        return _keeping_rows(self, read)

    def itersorted(
        self,
        sortby: "str | Column",
        checkCSI: bool = False,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
    ) -> "Iterator[Row]":
        """Iterates over rows in the order of the values of a column, which has an index of kind "full".

        Args:
            sortby: The column, or its path.
            checkCSI: Whether an index that is not completely sorted is an error.
            start: The first position in this order.
            stop: The position after the last one.
            step: The distance of positions. A negative step iterates backwards.

        Raises:
            ValueError: As for `read_sorted`.

        Example:
            >>> readings.create_csindex("temp")
            4
            >>> [row["time"] for row in readings.itersorted("temp", step=-2)]
            [np.int64(10800), np.int64(3600)]
        """
        removals, parts = _removals(self), self._ordered(sortby, checkCSI, slice(start, stop, step))
        return rows_of(batch for numbers in parts for batch in self._batches(numbers, removals))

    def _ordered(self, sortby: "str | Column", checkCSI: bool, positions: slice) -> "Iterator[NDArray[np.int64]]":
        """Returns the numbers of rows at positions of the order of a column, in parts."""
        if not isinstance(sortby, str | Column):
            raise TypeError(f"sortby must be a column or its path, not {type(sortby).__name__}")
        path = self._path_of(sortby if isinstance(sortby, str) else sortby.pathname)
        index = self.colindexes.get(path)
        if index is None or index.kind != "full":
            raise ValueError(
                f"sortby must be a column with an index of kind 'full', not {path!r}; create one with create_csindex"
            )
        if checkCSI and not index.is_csi:
            raise ValueError(
                f"the index of column {path!r} must be completely sorted; remove it and use create_csindex"
            )
        self._settle()
        places = range(*positions.indices(self.len()))
        return self._at(index, path, places)

    def _at(self, index: Index, path: str, places: range) -> "Iterator[NDArray[np.int64]]":
        if index.is_csi and index.nelements == self.len() and index.unusable is None:
            for first in range(0, len(places), _PLACES):
                some = places[first : first + _PLACES]
                stop = some[-1] + (1 if some.step > 0 else -1)
                yield index[some[0] : (stop if stop >= 0 else None) : some.step].astype(np.int64)
            return
        order = np.argsort(self._field(path, slice(None)), kind="stable")
        yield order[places.start : (places.stop if places.stop >= 0 else None) : places.step]

    def _path_of(self, column: str) -> str:
        path = column.replace(".", "/") if column not in (self.dtype.names or ()) else column
        at_path(self.dtype, path)
        return path

    def _indexable(self, column: str) -> str:
        path = self._path_of(column)
        dtype = at_path(self.dtype, path)
        if dtype.kind == "c":
            raise TypeError(f"column {path!r} must not be complex to be indexed")
        if dtype.subdtype is not None or dtype.names is not None:
            raise TypeError(
                f"column {path!r} must not be multidimensional or nested to be indexed; its type is {dtype}"
            )
        return path


def _listed(filters: Any) -> "list[tuple[int, list[int]]] | None":
    """The numbers and parameters of filters, first to last."""
    if filters is None:
        return None
    from ._create_table import _keywords

    kwds = _keywords(filters)
    found: list[tuple[int, list[int]]] = []
    if kwds.get("shuffle"):
        found.append((_SHUFFLE, []))
    compression = kwds.get("compression")
    if compression == "gzip":
        found.append((_DEFLATE, [int(kwds["compression_opts"])]))
    elif compression is not None:
        found.append((compression.filter_id, [int(option) for option in compression.filter_options]))
    if kwds.get("fletcher32"):
        found.append((_FLETCHER32, []))
    return found
