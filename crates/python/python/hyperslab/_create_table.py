"""Creating tables: the arguments of PyTables become the arguments of a dataset."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrow_rows import is_stream
from ._filters import Blosc, Blosc2
from ._native import Group, _ArrowRows, _make_table
from ._records import columns_dtype, records

#: The length of a chunk in bytes, for tables that are expected to have fewer bytes than the key.
_CHUNK_BYTES = (
    (1 << 20, 16 << 10),
    (16 << 20, 64 << 10),
    (256 << 20, 256 << 10),
    (1 << 30, 1 << 20),
    (1 << 40, 2 << 20),
)
_LONGEST_CHUNK = 4 << 20


def create_table(
    group: Group,
    name: "str | bytes",
    dtype: Any = None,
    title: str = "",
    filters: Any = None,
    expectedrows: int = 10000,
    chunkshape: "int | tuple[int] | None" = None,
    obj: Any = None,
    **kwds: Any,
) -> Any:
    """Creates a table; see `Group.create_table`."""
    stream = _ArrowRows(obj) if is_stream(obj) and dtype is not None else None
    if dtype is None:
        if obj is None:
            raise TypeError("create_table() needs the columns: give dtype, or rows as obj")
        if is_stream(obj):
            stream = _ArrowRows(obj)
            dtype = np.dtype(stream.described())
        elif isinstance(obj, Mapping):
            dtype = columns_dtype(obj)
        else:
            dtype = getattr(obj, "dtype", None)
        if dtype is None:
            raise TypeError("create_table() without dtype needs obj to be an array of records, or columns")
    kind, defaults = described(dtype)
    if kind.names is None:
        raise TypeError(f"a table needs a dtype with named columns, not {kind}")
    if not kind.names or kind.hasobject:
        raise TypeError(f"the columns of a table have a fixed size, and there is at least one: not {kind}")
    first = None if obj is None or stream is not None else records(obj, kind, lambda: defaults)
    if filters is not None:
        if kwds.get("compression") is not None:
            raise ValueError("give filters= or compression=, not both")
        kwds |= _keywords(filters)
    for key in ("shape", "data", "maxshape", "chunks", "fillvalue", "compact", "external"):
        if key in kwds:
            raise TypeError(f"create_table() got an unexpected keyword argument {key!r}")
    rows = _chunk_rows(kind.itemsize, expectedrows) if chunkshape is None else int(np.ravel(chunkshape)[0])
    made = group.create_dataset(name, (0,), kind, maxshape=(None,), chunks=(rows,), **kwds, _is_table=True)
    try:
        _make_table(made, title, defaults)
        table = group[name]
        if stream is not None:
            table._append_stream(stream)
        elif first is not None:
            table.append(first)
    except BaseException:
        del group[name]
        raise
    return table


def described(dtype: Any) -> "tuple[np.dtype[Any], np.ndarray[Any, Any]]":
    """Returns the dtype of a description, and one record of defaults."""
    dtype = _columns(dtype)
    if not isinstance(dtype, Mapping):
        kind = np.dtype(dtype)
        return kind, np.zeros(1, kind)
    fields = []
    values = {}
    for name, column in sorted(dtype.items(), key=lambda item: _position(item[1])):
        if isinstance(_columns(column), Mapping):
            inner, default = described(column)
            fields.append((name, inner))
            values[name] = default[0]
            continue
        kind = np.dtype(getattr(column, "dtype", column))
        fields.append((name, kind))
        values[name] = getattr(column, "dflt", None)
    kind = np.dtype(fields)
    defaults = np.zeros(1, kind)
    for name, value in values.items():
        if value is not None:
            defaults[name] = value
    return kind, defaults


def _columns(description: Any) -> Any:
    """The columns by their names, if these are a description of PyTables; else the argument."""
    for name in ("columns", "_v_colobjects"):
        columns = getattr(description, name, None)
        if isinstance(columns, Mapping):
            return columns
    return description


def _position(column: Any) -> int:
    """The position that a description of PyTables gives to a column."""
    position = getattr(column, "_v_pos", None)
    return 1 << 30 if position is None else position


def _keywords(filters: Any) -> "dict[str, Any]":
    """The keywords of `create_dataset` for filters of PyTables."""
    if hasattr(filters, "filter_id"):
        return {"compression": filters}
    try:
        level, library = int(filters.complevel), str(filters.complib)
    except AttributeError:
        raise TypeError(f"filters= takes filters of PyTables or of hyperslab, not {type(filters).__name__}") from None
    shuffle = bool(getattr(filters, "shuffle", True))
    kwds: dict[str, Any] = {"fletcher32": bool(getattr(filters, "fletcher32", False))}
    if not level:
        return kwds
    family, _, codec = library.partition(":")
    if family in ("blosc", "blosc2"):
        arrange = "bitshuffle" if getattr(filters, "bitshuffle", False) else "shuffle" if shuffle else "none"
        made = (Blosc2 if family == "blosc2" else Blosc)(codec or "blosclz", level, arrange)
        return kwds | {"compression": made}
    if library == "zlib":
        return kwds | {"compression": "gzip", "compression_opts": level, "shuffle": shuffle}
    raise ValueError(f"complib {library!r} is not supported: use 'blosc2:lz4', 'blosc:lz4' or 'zlib'")


def _chunk_rows(row: int, expected: int) -> int:
    """The number of rows of a chunk, for a number of rows that a table is expected to have."""
    size = next((chunk for limit, chunk in _CHUNK_BYTES if row * expected < limit), _LONGEST_CHUNK)
    return max(size // max(row, 1), 1)
