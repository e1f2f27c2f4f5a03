"""The columns of a table as objects: ``table.cols.temp``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._index import IndexedColumn
from ._records import at_path

if TYPE_CHECKING:
    from ._table import Table


class Cols:
    """The columns of a table, or those of a nested column: attributes with the names of the columns.

    `cols[rows]` reads rows of all columns, and `cols[rows] = values` writes them.

    Example:
        >>> readings.cols.temp[:2]
        array([288., 289.])
        >>> len(readings.cols)
        4
    """

    def __init__(self, table: "Table", path: str = "") -> None:
        self._table = table
        self._path = path

    @property
    def _dtype(self) -> "np.dtype[Any]":
        dtype = self._table.dtype
        return at_path(dtype, self._path) if self._path else dtype

    def _f_col(self, path: str) -> "Column | Cols":
        full = f"{self._path}/{path}" if self._path else path
        dtype = at_path(self._table.dtype, full)
        return Column(self._table, full) if dtype.names is None else Cols(self._table, full)

    def __getattr__(self, name: str) -> "Column | Cols":
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._f_col(name)
        except KeyError as unknown:
            raise AttributeError(unknown.args[0]) from None

    def __dir__(self) -> list[str]:
        return list(self._dtype.names or ())

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> "Iterator[Column | Cols]":
        return (self._f_col(name) for name in self._dtype.names or ())

    def __getitem__(self, rows: Any) -> Any:
        found = self._table[rows]
        for name in self._path.split("/") if self._path else ():
            found = found[name]
        return found

    def __setitem__(self, rows: Any, values: Any) -> None:
        if self._path:
            Column(self._table, self._path)[rows] = values
        else:
            self._table[rows] = values

    def __repr__(self) -> str:
        names = ", ".join(self._dtype.names or ())
        return f"<columns of {self._table.name!r}: {names}>"


class Column(IndexedColumn):
    """A column of a table.

    `column[rows]` reads values, and `column[rows] = values` writes them.

    Example:
        >>> temp = readings.cols.temp
        >>> temp[1]
        np.float64(289.0)
        >>> temp[:2] = [290, 291]
        >>> readings.col("temp")[:3]
        array([290., 291., 290.])
    """

    def __init__(self, table: "Table", path: str) -> None:
        self._table = table
        self._path = path

    @property
    def table(self) -> "Table":
        """The table.

        Example:
            >>> readings.cols.temp.table == readings
            True
        """
        return self._table

    @property
    def pathname(self) -> str:
        """The names from the outermost column to this one, joined by "/".

        Example:
            >>> readings.cols.temp.pathname
            'temp'
        """
        return self._path

    @property
    def name(self) -> str:
        """The name of the column.

        Example:
            >>> readings.cols.temp.name
            'temp'
        """
        return self._path.rsplit("/", 1)[-1]

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The dtype of a value.

        Example:
            >>> readings.cols.temp.dtype
            dtype('float64')
        """
        return at_path(self._table.dtype, self._path)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, and the shape of a value if it is an array.

        Example:
            >>> readings.cols.temp.shape
            (4,)
        """
        return (len(self._table), *self.dtype.shape)

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, rows: Any) -> Any:
        found = self._table.fields([self._path.split("/")[0]])[rows]
        for name in self._path.split("/"):
            found = found[name]
        return np.ascontiguousarray(found) if isinstance(found, np.ndarray) and found.ndim else found

    def __setitem__(self, rows: Any, values: Any) -> None:
        self._table._set_column(rows, values, self._path)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> "np.ndarray[Any, Any]":
        if copy is False:
            raise ValueError("a column is read from the file, which makes a copy")
        return np.asarray(self[:], dtype=dtype)

    def __iter__(self) -> Iterator[Any]:
        return (row[self._path] for row in self._table.iterrows())

    def __repr__(self) -> str:
        return f"<column {self._path!r} of {self._table.name!r}: shape {self.shape}, type {self.dtype.base.str!r}>"
