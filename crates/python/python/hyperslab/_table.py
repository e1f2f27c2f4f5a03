"""Tables, as PyTables has them."""

from typing import Any

from ._arrow import Streams
from ._columns import Column
from ._native import DatasetID


class Table(Streams):
    """A table: a dataset of records with named columns, in the layout of PyTables.

    A table is made by `Group.create_table` or by PyTables, and known by its attribute `CLASS`. It is a
    `Dataset` and has the methods of PyTables' `Table` under their names.

    Args:
        bind: The identifier of a dataset of records, such as `file["x"].id`. A dataset of records that was
            not made as a table becomes one in this way, for reading as for writing.

    Example:
        >>> readings
        <HDF5 table "readings": 4 rows of time, temp, id, info>
        >>> readings.append([(14400, 292.0, b"BRN", (50,))])
        >>> readings[-1]["temp"]
        np.float64(292.0)
        >>> hs.Table(file["stations"].id).col("code")
        array([b'GVA', b'ZRH'], dtype='|S3')
    """

    def __init__(self, bind: DatasetID) -> None:
        super().__init__(bind)
        if self.dtype.names is None or self.ndim != 1:
            raise TypeError(f"{self.name!r} is not a table: it needs one dimension and named columns")

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 table>"
        name = (self.name or "").rsplit("/", 1)[-1]
        shown = f'"{name}"' if name else "(anonymous)"
        names = self.colnames
        listed = ", ".join(names) if len(names) <= 8 else f"{', '.join(names[:8])} and {len(names) - 8} more"
        count = self.len()
        return f"<HDF5 table {shown}: {count:,} {'row' if count == 1 else 'rows'} of {listed}>"

    def copy(
        self,
        newparent: Any = None,
        newname: str | None = None,
        *,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
        sortby: "str | Column | None" = None,
        checkCSI: bool = False,
        propindexes: bool = False,
        **kwds: Any,
    ) -> "Table":
        """Copies rows to a new table, with other filters or chunks if these are given.

        Args:
            newparent: The group of the copy, in any file that is open for writing. The default is the group
                of this table.
            newname: The name of the copy. The default is that of this table.
            start: The first row.
            stop: The row after the last one.
            step: The distance of rows.
            sortby: The column by whose values the rows of the copy are sorted; see `read_sorted`. Then
                `start`, `stop` and `step` are positions in this order, and a negative step sorts backwards.
            checkCSI: Whether an index of `sortby` that is not completely sorted is an error.
            propindexes: Whether the copy gets indexes of the same columns, kinds and levels.
            kwds: Keywords of `Group.create_table`: `title`, `compression`, `chunkshape`, `expectedrows`.
                Filters and chunks are those of this table unless given.

        Returns:
            The copy.

        Example:
            >>> made = readings.copy(newname="packed", compression=hs.Blosc2("lz4"))
            >>> made.filter_names, len(made)
            (('blosc2',), 4)
        """
        self._settle()
        parent = self.parent if newparent is None else newparent
        name = newname if newname is not None else (self.name or "").rsplit("/", 1)[-1]
        rows = self._range(start, stop, step) if sortby is None else slice(start, stop, step)
        order = None if sortby is None else self._ordered(sortby, checkCSI, rows)
        kwds.setdefault("title", self.title)
        kwds.setdefault("chunkshape", self.chunks)
        if "compression" not in kwds and "filters" not in kwds:
            kwds |= self._filters()
        made: Table = parent.create_table(name, self.dtype, **kwds)
        if order is not None:
            for numbers in order:
                for batch in self._batches(numbers):
                    made.append(batch.records)
        else:
            length = max((32 << 20) // max(self.rowsize, 1), 1) * rows.step
            for first in range(rows.start, rows.stop, length):
                made.append(self[first : min(first + length, rows.stop) : rows.step])
        for path, index in self.colindexes.items() if propindexes else ():
            made.create_index(path, index.optlevel, index.kind)
        return made

    def _filters(self) -> "dict[str, Any]":
        """The filters of the table as keywords of `create_table`."""
        from ._create import _compression_of

        kwds: dict[str, Any] = {"shuffle": self.shuffle, "fletcher32": self.fletcher32}
        compression = self.compression
        if compression == "unknown":
            kwds["compression"], kwds["compression_opts"] = _compression_of(self)
        elif compression is not None:
            kwds["compression"], kwds["compression_opts"] = compression, self.compression_opts
        return kwds

    def get_enum(self, colname: str) -> "dict[str, int]":
        """Returns the names and values of an enumerated column.

        Args:
            colname: The path of the column.

        Raises:
            KeyError: There is no such column.
            TypeError: The column is not enumerated.

        Example:
            >>> kind = hs.enum_dtype({"dry": 0, "wet": 1}, "u1")
            >>> file.create_table("days", [("state", kind)]).get_enum("state")
            {'dry': 0, 'wet': 1}
        """
        from ._dtypes import check_enum_dtype
        from ._records import at_path

        found = check_enum_dtype(at_path(self.dtype, colname).base)
        if found is None:
            raise TypeError(f"column {colname!r} is not enumerated")
        return {name: int(value) for name, value in found.items()}
