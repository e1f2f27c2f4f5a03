"""Creating tables: the arguments of PyTables become the arguments of a dataset."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ._arrow_rows import is_stream
from ._create import _KEYWORDS, _NOT_SUPPORTED, _WITHOUT_EFFECT, unknown_keyword
from ._dtypes import opaque_dtype
from ._filters import Blosc, Blosc2
from ._native import Group, _ArrowRows, _make_table
from ._records import columns_of, fields_of, records

#: The length of a chunk in bytes, for tables that are expected to have fewer bytes than the key.
_CHUNK_BYTES = (
    (1 << 20, 16 << 10),
    (16 << 20, 64 << 10),
    (256 << 20, 256 << 10),
    (1 << 30, 1 << 20),
    (1 << 40, 2 << 20),
)
_LONGEST_CHUNK = 4 << 20
#: Keywords of `create_dataset` whose values a table has of its own.
_NOT_FOR_TABLES = {"shape", "data", "maxshape", "chunks", "fillvalue", "compact", "external"}


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
    stored_as = kwds.pop("_stored_as", None)
    check_keywords("create_table", kwds)
    stream = _ArrowRows(obj) if is_stream(obj) else None
    if dtype is None:
        if obj is None:
            raise TypeError("create_table() needs the columns: give dtype, or rows as obj")
        dtype = stream.described() if stream is not None else _dtype_of(obj)
    kind, defaults = described(dtype)
    if kind.names is None:
        raise TypeError(f"a table needs a dtype with named columns, not {kind}")
    if not kind.names:
        raise TypeError("a table needs at least one column")
    first = None if obj is None or stream is not None else records(obj, kind, lambda: defaults)
    if filters is not None:
        if kwds.get("compression") is not None:
            raise ValueError("give filters= or compression=, not both")
        kwds |= _keywords(filters)
    rows = _chunk_rows(kind.itemsize, expectedrows) if chunkshape is None else int(np.ravel(chunkshape)[0])
    kwds |= {"_is_table": True, "_stored_as": stored_as}
    made = group.create_dataset(name, (0,), kind, maxshape=(None,), chunks=(rows,), **kwds)
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


def check_keywords(function: str, given: "Iterable[str]", others: "Iterable[str]" = ()) -> None:
    """Raises TypeError for a keyword that neither `function` takes nor `create_dataset` takes for a table."""
    known = {*(_KEYWORDS | _NOT_SUPPORTED | _WITHOUT_EFFECT) - _NOT_FOR_TABLES, *others}
    for key in given:
        if key not in known:
            raise unknown_keyword(function, key, known - _WITHOUT_EFFECT - _NOT_SUPPORTED)


def _dtype_of(obj: Any) -> Any:
    """Returns the dtype of rows that name their columns, or its list of fields.

    Raises:
        TypeError: The rows do not tell the columns and their types.
    """
    columns = columns_of(obj)
    if columns is not None:
        return fields_of(columns)
    dtype = getattr(obj, "dtype", None)
    if dtype is None or getattr(dtype, "names", None) is None:
        raise TypeError(
            f"create_table() without dtype needs rows with the names of the columns, not {type(obj).__name__}: "
            "give dtype, or an array of records, a dict of columns or a DataFrame"
        )
    if any(dtype[name].base.kind in "OU" for name in dtype.names):
        return fields_of({name: obj[name] for name in dtype.names})
    return dtype


def _check_name(name: Any) -> None:
    """Raises ValueError for the name of a column that PyTables does not take."""
    if name in ("", ".") or (isinstance(name, str) and "/" in name):
        raise ValueError(f'a column cannot have the name {name!r}: names are not empty or ".", and have no "/"')


def _check_fields(fields: "list[Any]") -> None:
    """Checks the names in a list of fields, before NumPy gives names to fields without one."""
    for field in fields:
        if isinstance(field, tuple) and field:
            _check_name(field[0])
            if len(field) > 1 and isinstance(field[1], list):
                _check_fields(field[1])


def _stored(dtype: "np.dtype[Any]", path: str = "") -> "np.dtype[Any]":
    """Returns the dtype of columns as a table stores them. NumPy's times become opaque bytes.

    Raises:
        ValueError: A column has a name that PyTables does not take.
        TypeError: HDF5 has no values of this type and a fixed size.
    """
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        stored = _stored(base, path)
        return dtype if stored is base else np.dtype((stored, shape))
    if dtype.names is not None:
        fields: Any = dtype.fields
        for name in dtype.names:
            _check_name(name)
        given = [fields[name][0] for name in dtype.names]
        formats = [
            _stored(kind, f"{path}/{name}" if path else name) for name, kind in zip(dtype.names, given, strict=True)
        ]
        if all(one is other for one, other in zip(formats, given, strict=True)):
            return dtype
        offsets = [fields[name][1] for name in dtype.names]
        return np.dtype({"names": dtype.names, "formats": formats, "offsets": offsets, "itemsize": dtype.itemsize})
    if not path:
        return dtype
    if dtype.kind == "U":
        raise TypeError(f"column {path!r} of {dtype}: texts are bytes in UTF-8: give their length, such as 'S20'")
    if dtype.hasobject:
        raise TypeError(f"column {path!r} of {dtype}: a column has a fixed size: give a type such as 'S20' for texts")
    if dtype.itemsize == 0:
        raise TypeError(f"column {path!r} of {dtype}: give a length, such as 'S20'")
    if dtype.kind not in "mM":
        return dtype
    if np.datetime_data(dtype)[0] == "generic":
        raise TypeError(f"column {path!r} of {dtype}: give a unit, such as '{dtype.kind}8[us]'")
    return opaque_dtype(dtype)


def described(dtype: Any) -> "tuple[np.dtype[Any], np.ndarray[Any, Any]]":
    """Returns the dtype of a description, and one record of defaults."""
    dtype = _columns(dtype)
    if not isinstance(dtype, Mapping):
        if isinstance(dtype, list):
            _check_fields(dtype)
        kind = _stored(np.dtype(dtype))
        return kind, np.zeros(1, kind)
    fields = []
    values = {}
    for name, column in sorted(dtype.items(), key=lambda item: _position(item[1])):
        if name == "_v_pos":  # the position of a nested description
            continue
        _check_name(name)
        if isinstance(_columns(column), Mapping):
            inner, default = described(column)
            fields.append((name, inner))
            values[name] = default[0]
            continue
        kind = np.dtype(getattr(column, "dtype", column))
        fields.append((name, kind))
        values[name] = getattr(column, "dflt", None)
    kind = _stored(np.dtype(fields))
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
    columns = _columns(column)
    position = columns.get("_v_pos") if isinstance(columns, Mapping) else getattr(column, "_v_pos", None)
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
