"""The index of a column, and the methods of a column for its index."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ._native import Dataset, _index_facts, _index_in_order, _index_search, _index_unusable, _rebuild_index
from ._progress import Progress
from ._records import at_path
from ._shapes import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Index:
    """The index of a column.

    Example:
        >>> readings.create_csindex("temp")
        4
        >>> index = readings.cols.temp.index
        >>> index
        <index of column 'temp': full, level 9, 4 rows, completely sorted>
    """

    def __init__(self, table: Dataset, path: str) -> None:
        self._table = table
        self._path = path

    @property
    def kind(self) -> str:
        """ "ultralight", "light", "medium" or "full".

        Example:
            >>> index.kind
            'full'
        """
        return _index_facts(self._table, self._path)[0]

    @property
    def optlevel(self) -> int:
        """The level, from 0 to 9.

        Example:
            >>> index.optlevel
            9
        """
        return _index_facts(self._table, self._path)[1]

    @property
    def is_csi(self) -> bool:
        """Whether the index is completely sorted.

        Example:
            >>> index.is_csi
            True
        """
        return _index_facts(self._table, self._path)[2]

    @property
    def nelements(self) -> int:
        """The number of rows in the index.

        Example:
            >>> index.nelements
            4
        """
        return _index_facts(self._table, self._path)[3]

    @property
    def dirty(self) -> bool:
        """Whether the index is marked as out of date.

        Example:
            >>> index.dirty
            False
        """
        return _index_facts(self._table, self._path)[4]

    @property
    def unusable(self) -> str | None:
        """The reason the index cannot be used, or None.

        The index is compared with its column the first time it is needed after the file is opened.

        Example:
            >>> index.unusable is None
            True
        """
        return _index_unusable(self._table, self._path)

    def __len__(self) -> int:
        return self.nelements

    def __getitem__(self, key: Any) -> Any:
        """Returns row numbers in the order of the values. The index must be completely sorted."""
        count = self.nelements
        if not isinstance(key, slice):
            number = int(key) + (count if key < 0 else 0)
            if not 0 <= number < count:
                raise IndexError(f"position {key} is not in the index, which has {counted(count, 'row')}")
            return int(_index_in_order(self._table, self._path, number, number + 1)[0])
        positions = range(*key.indices(count))
        if not len(positions):
            return np.zeros(0, np.uint64)
        low, high = min(positions[0], positions[-1]), max(positions[0], positions[-1])
        found = _index_in_order(self._table, self._path, low, high + 1)
        return found[:: positions.step] if positions.step > 0 else found[::-1][:: -positions.step]

    def search(self, lower: Any = None, upper: Any = None) -> "NDArray[np.uint64]":
        """Returns ranges of rows that hold all rows with lower <= value <= upper.

        The ranges of an index of kind "full" hold no other rows.

        Args:
            lower: The smallest value. None stands for no bound.
            upper: The largest value.

        Returns:
            Starts and stops, an array of shape (n, 2).

        Raises:
            TypeError: The index does not hold the values of its column.
            ValueError: A bound is no value of the column.

        Example:
            >>> index.search(289.5, 290.5)
            array([[2, 3]], dtype=uint64)
        """
        return np.stack(_index_search(self._table, self._path, self._bytes(lower), self._bytes(upper)), axis=1)

    def _bytes(self, value: Any) -> bytes | None:
        if value is None:
            return None
        dtype = at_path(self._table.dtype, self._path)
        if dtype.kind == "S":
            return value.encode() if isinstance(value, str) else bytes(value)
        made = np.array(value, dtype.newbyteorder("<"))
        if made != value and value == value and dtype.kind != "f":
            raise ValueError(f"the value must be one of the type {dtype}, not {value!r}")
        return made.tobytes()

    def __repr__(self) -> str:
        kind, level, is_sorted, count, is_dirty = _index_facts(self._table, self._path)
        marks = [", completely sorted"] * is_sorted + [", out of date"] * is_dirty
        return f"<index of column {self._path!r}: {kind}, level {level}, {counted(count, 'row')}{''.join(marks)}>"


class IndexedColumn:
    """A column with the properties and methods that PyTables gives to columns for indexes."""

    _table: Any
    _path: str

    @property
    def is_indexed(self) -> bool:
        """Whether the column has an index.

        Example:
            >>> readings.cols.temp.is_indexed
            False
        """
        return bool(self._table.is_indexed(self._path))

    @property
    def index(self) -> Index | None:
        """The index, or None.

        Example:
            >>> readings.cols.temp.index is None
            True
        """
        return Index(self._table, self._path) if self.is_indexed else None

    def create_index(
        self,
        optlevel: int = 6,
        kind: str = "medium",
        filters: Any = None,
        tmp_dir: str | None = None,
        _blocksizes: "Sequence[int] | None" = None,
        *,
        progress: Progress = None,
    ) -> int:
        """Builds the index of the column; see `Table.create_index`.

        Example:
            >>> readings.cols.temp.create_index(kind="full")
            4
        """
        table, path = self._table, self._path
        return int(table.create_index(path, optlevel, kind, filters, tmp_dir, _blocksizes, progress=progress))

    def create_csindex(
        self,
        filters: Any = None,
        tmp_dir: str | None = None,
        _blocksizes: "Sequence[int] | None" = None,
        *,
        progress: Progress = None,
    ) -> int:
        """Builds a completely sorted index of the column; see `Table.create_csindex`.

        Example:
            >>> readings.cols.temp.create_csindex()
            4
        """
        return int(self._table.create_csindex(self._path, filters, tmp_dir, _blocksizes, progress=progress))

    def remove_index(self) -> None:
        """Removes the index, if there is one.

        Example:
            >>> readings.cols.temp.remove_index()
        """
        self._table.remove_index(self._path)

    def reindex(self) -> None:
        """Builds the index anew, if there is one.

        Example:
            >>> readings.cols.temp.reindex()
        """
        if self.is_indexed:
            _rebuild_index(self._table, self._path, False)

    def reindex_dirty(self) -> None:
        """Builds the index anew if it does not hold the values of the column.

        Example:
            >>> readings.cols.temp.reindex_dirty()
        """
        if self.is_indexed:
            _rebuild_index(self._table, self._path, True)
