"""Tables, as PyTables has them."""

import re
from typing import Any

import numpy as np

from ._arrow import Streams
from ._columns import Column
from ._create_table import check_keywords
from ._dtypes import check_ref_dtype, check_vlen_dtype
from ._native import DatasetID
from ._shapes import counted

#: Attributes that every copy gets: the defaults of columns, and the kind of array that PyTables returns.
_OF_EVERY_COPY = re.compile(r"FIELD_\d+_FILL|FLAVOR")
#: Attributes that describe one table, and those that refer to objects of its file.
_OF_THE_TABLE = re.compile(r"CLASS|VERSION|TITLE|NROWS|FIELD_\d+_(FILL|NAME)|DIMENSION_LIST|REFERENCE_LIST")


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
        return f"<HDF5 table {shown}: {counted(count, 'row')} of {listed}>"

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
        copyuserattrs: bool = True,
        **kwds: Any,
    ) -> "Table":
        """Copies rows to a new table, with other filters or chunks if these are given. The columns keep their
        defaults. If the copy fails, no part of it is left.

        Args:
            newparent: The group of the copy, in any file that is open for writing. The default is the group
                of this table.
            newname: The name of the copy. The default is that of this table.
            start: The first row.
            stop: The row after the last one.
            step: Take every `step`-th row. The default is 1.
            sortby: The column by whose values the rows of the copy are sorted; see `read_sorted`. Then
                `start`, `stop` and `step` are positions in this order, and a negative step sorts backwards.
            checkCSI: Whether an index of `sortby` that is not completely sorted is an error.
            propindexes: Whether the copy gets indexes of the same columns, kinds and levels.
            copyuserattrs: Whether the copy gets the attributes that users have given to this table. Those
                that refer to objects of the file are not copied to another file.
            kwds: Keywords of `Group.create_table`: `title`, `compression`, `chunkshape`, `expectedrows`.
                Filters and chunks are those of this table unless given.

        Returns:
            The copy.

        Raises:
            ValueError: The name exists, or the file is open for reading.
            TypeError: An attribute cannot be copied.

        Example:
            >>> made = readings.copy(newname="packed", compression=hs.Blosc2("lz4"))
            >>> made.filter_names, len(made)
            (('blosc2',), 4)
        """
        check_keywords("copy", kwds, ("title", "filters", "expectedrows", "chunkshape"))
        self._settle()
        parent = self.parent if newparent is None else newparent
        name = newname if newname is not None else (self.name or "").rsplit("/", 1)[-1]
        rows = self._range(start, stop, step) if sortby is None else slice(start, stop, step)
        order = None if sortby is None else self._ordered(sortby, checkCSI, rows)
        kwds.setdefault("title", self.title)
        kwds.setdefault("chunkshape", self.chunks)
        if "compression" not in kwds and "filters" not in kwds:
            kwds |= self._filters()
        # The datatype says which columns are times, which a dtype does not.
        made: Table = parent.create_table(name, self.dtype, **kwds, _stored_as=self)
        try:
            self._copy_attributes(made, copyuserattrs)
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
        except BaseException:
            del parent[name]
            raise
        return made

    def _copy_attributes(self, made: "Table", with_those_of_users: bool) -> None:
        """Gives a copy the defaults of the columns, and the attributes of users. References of another file
        would refer to any object there: they are left out.
        """
        is_other = made.file != self.file
        for name in self.attrs:
            if not (_OF_EVERY_COPY.fullmatch(name) or (with_those_of_users and not _OF_THE_TABLE.fullmatch(name))):
                continue
            try:
                stored = self.attrs.get_id(name)
                if is_other and _refers(stored.dtype):
                    continue
                shape = None if stored.shape is None else (*stored.shape, *stored.dtype.shape)
                made.attrs.create(name, self.attrs[name], shape, stored.dtype)
            except (TypeError, ValueError) as cause:
                raise TypeError(
                    f"attribute {name!r} of {self.name!r} cannot be copied: {cause}; copyuserattrs=False leaves it out"
                ) from cause

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


def _refers(dtype: "np.dtype[Any]") -> bool:
    """Whether elements of a dtype refer to objects of a file."""
    base = dtype.base
    inner = check_vlen_dtype(base)
    if isinstance(inner, np.dtype):
        return _refers(inner)
    return check_ref_dtype(base) is not None or any(_refers(base[name]) for name in base.names or ())
