"""`read_hdf` and `to_hdf`: files, keys and formats."""

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import pandas as pd

from .._filters import Blosc, Blosc2
from .._native import Dataset, File, Group, _mark_file
from .._pytables import mark_group
from ._attributes import attribute
from ._fixed import FixedReader, FixedWriter
from ._table_writer import TableWriter
from ._tables import TableReader


def read_hdf(
    path_or_file: "str | os.PathLike[str] | File",
    key: str | None = None,
    where: Any = None,
    columns: "list[Any] | None" = None,
    start: int | None = None,
    stop: int | None = None,
) -> "pd.DataFrame | pd.Series":
    """Reads a frame or a series that pandas or `to_hdf` stored, or any table of PyTables.

    Args:
        path_or_file: The path of the file, or the open file.
        key: The path of the object in the file. It may be omitted if the file has one object.
        where: The rows to read of an object in the format "table": a condition such as
            `"index > 5 & A == 'x'"`, a list of conditions that all hold, row numbers, or a mask of rows. A
            condition compares the index and data columns with constants, lists and names of the caller. The
            term `columns=['A', 'B']` selects columns.
        columns: The labels of the columns to read, of an object in the format "table".
        start: The first row to consider.
        stop: The row after the last one to consider.

    Returns:
        The frame or series, as pandas would return it.

    Raises:
        KeyError: The file has no object at `key`.
        ValueError: `key` is omitted and there are several objects, the condition is not valid, or the object
            is damaged or holds pickled objects that are not plain values.
        TypeError: `where` or `columns` is given for an object in the format "fixed", or the object at `key`
            is not one of pandas.

    Example:
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"temp": [280.5, 311.0, 315.5], "id": ["a", "b", "a"]})
        >>> hs.pandas.to_hdf(frame, "store.h5", "readings", format="table", data_columns=True)
        >>> hs.pandas.read_hdf("store.h5", "readings", where="temp > 310 & id == 'a'")
            temp id
        2  315.5  a
    """
    caller = sys._getframe(1)
    scope = {} if where is None else {**caller.f_globals, **caller.f_locals}
    with _opened(path_or_file, "r") as file:
        group = file[_only_key(file) if key is None else key]
        return read_group(group, where, columns, slice(start, stop), scope)


def read_group(
    group: Any, where: Any, columns: "list[Any] | None", rows: slice, scope: Mapping[str, Any]
) -> "pd.DataFrame | pd.Series":
    """Reads the object at a group, or a table. `scope` has the names that a condition may use."""
    kind = _kind(group)
    if "table" not in kind:
        for name, given in (("column", columns), ("where", where)):
            if given is not None:
                raise TypeError(
                    f"cannot pass a {name} specification when reading a Fixed format store. this store must be "
                    "selected in its entirety"
                )
        fixed = FixedReader(group, rows)
        return fixed.series() if kind == "series" else fixed.frame()
    reader = TableReader(group)
    read = reader.series if kind == "series_table" else reader.frame
    return read(rows, where, columns, scope)


def to_hdf(
    value: "pd.DataFrame | pd.Series",
    path_or_file: "str | os.PathLike[str] | File",
    key: str,
    format: Literal["fixed", "table"] | None = None,
    mode: Literal["a", "w", "r+"] = "a",
    append: bool = False,
    *,
    complevel: int | None = None,
    complib: str | None = None,
    compression: Any = None,
    data_columns: "Literal[True] | list[str] | None" = None,
    index: bool = True,
    min_itemsize: "int | dict[str, int] | None" = None,
    nan_rep: str | None = None,
    errors: str = "strict",
    encoding: str = "UTF-8",
) -> None:
    """Stores a frame or a series so that pandas reads an equal one. An object at the same key is replaced.

    Args:
        value: The frame or series.
        path_or_file: The path of the file, or the open file.
        key: The path of the object in the file.
        format: "fixed" stores arrays, which are read whole. "table" stores records, to which rows can be
            appended, and of which `where` selects rows. The default is "table" with `append`, else "fixed".
        mode: How to open the file: "a" creates a missing file, "w" replaces the file, "r+" needs the file.
        append: True adds rows to the stored object, in the format "table".
        complevel: The level of compression, 0 to 9. 0 and None: no compression.
        complib: The compression: "zlib", "blosc", "blosc2", or one of these with a codec, such as
            "blosc:zstd". The default is "zlib".
        compression: A filter as for `Group.create_dataset`, in place of `complevel` and `complib`.
        data_columns: Labels of columns that `where` may name, or True for all.
        index: As in pandas. Column indexes are not written, so it has no effect on the file.
        min_itemsize: The least bytes to reserve for strings: of all string columns, or by name.
        nan_rep: The string to store in place of missing strings. The default is one that no value equals.
        errors: What to do with strings that cannot be encoded, as for `str.encode`.
        encoding: The encoding of strings.

    Raises:
        NotImplementedError: pandas does not store columns of this dtype either.
        TypeError: A column holds objects that the format cannot store, or differs from the stored one.
        ValueError: The arguments contradict, or rows to append differ from the stored ones.

    Example:
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"temp": [280.5, 311.0]}, index=pd.date_range("2024-01-01", periods=2))
        >>> hs.pandas.to_hdf(frame, "store.h5", "hot", compression=hs.Blosc2("zstd"))
        >>> hs.pandas.read_hdf("store.h5", "hot").equals(frame)
        True
    """
    if not isinstance(value, pd.DataFrame | pd.Series):
        raise TypeError(f"value must be a Series or a DataFrame, not {type(value).__name__}")
    if format not in (None, "fixed", "f", "table", "t"):
        raise TypeError(f"invalid HDFStore format specified [{format}]")
    if mode not in ("a", "w", "r+"):
        raise ValueError(f"mode {mode!r} is not 'a', 'w' or 'r+'")
    is_table = append if format is None else format in ("table", "t")
    if append and not is_table:
        raise ValueError(f"Can only append to Tables; the write for key {key!r} uses the 'fixed' format")
    if is_table and value.empty:
        warnings.warn(
            "an empty DataFrame or Series has no rows to write with format='table': nothing is stored",
            stacklevel=2,
        )
        return
    filters = _filters(complevel, complib, compression)
    with _opened(path_or_file, mode) as file:
        if append and key in file and not _is_free(file[key]):
            stored = file[key]
            if "table" not in _kind(stored):
                raise ValueError(f"Can only append to Tables; the object at {key!r} has the 'fixed' format")
            TableWriter(stored, data_columns=data_columns, min_itemsize=min_itemsize).append(value)
            return
        group = _empty_group(file, key)
        try:
            if is_table:
                TableWriter(group, encoding, errors, filters, nan_rep, min_itemsize, data_columns).write(value)
            elif isinstance(value, pd.Series):
                FixedWriter(group, encoding, errors, filters).series(value)
            else:
                FixedWriter(group, encoding, errors, filters).frame(value)
        except BaseException:
            # A part of an object would be read as a damaged one.
            _remove(group)
            raise


@contextmanager
def _opened(path_or_file: "str | os.PathLike[str] | File", mode: str) -> "Iterator[File]":
    if isinstance(path_or_file, File):
        yield path_or_file
        return
    with File(path_or_file, mode) as file:
        yield file


def _kind(group: Any) -> str:
    """Returns pandas' word for the object: "frame", "series", "frame_table" or "series_table"."""
    if isinstance(group, Dataset) and group.dtype.names is not None:
        return "frame_table"
    kind = attribute(group, "pandas_type") if isinstance(group, Group) else None
    if kind is None and isinstance(group, Group) and isinstance(group.get("table"), Dataset):
        return "frame_table"
    if kind not in ("frame", "series", "frame_table", "series_table"):
        raise TypeError(f"{group.name} is not a frame or a series of pandas (pandas_type is {kind!r})")
    return str(kind)


def _only_key(file: File) -> str:
    """Returns the path of the one object in the file.

    Raises:
        ValueError: There is no object, or there are several.
    """
    found: list[str] = []

    def note(name: str, node: Any) -> None:
        is_part = any(name.startswith(f"{known}/") for known in found)
        is_object = isinstance(node, Group) and "pandas_type" in node.attrs
        is_table = isinstance(node, Dataset) and node.dtype.names is not None
        if not is_part and (is_object or is_table):
            found.append(name)

    file.visititems(note)
    if not found:
        raise ValueError(
            "Dataset(s) incompatible with Pandas data types, not table, or no datasets found in HDF5 file."
        )
    if len(found) > 1:
        raise ValueError(f"key must be provided when HDF5 file contains multiple datasets: {', '.join(found[:5])}")
    return found[0]


def _is_free(node: Any) -> bool:
    """Whether nothing is stored at a group, only below it."""
    return isinstance(node, Group) and "pandas_type" not in node.attrs and "table" not in node


def _empty_group(file: File, key: str) -> Group:
    """Returns a group without an object at `key`. Objects below the key stay."""
    _mark_file(file)
    path = [part for part in key.split("/") if part]
    if not path:
        raise ValueError("key is the path of an object, not of the root group")
    group: Group = file
    for part in path[:-1]:
        if part not in group:
            mark_group(group.create_group(part))
        group = group[part]
        if not isinstance(group, Group):
            raise ValueError(f"{group.name} is not a group, so nothing can be stored below it")
    name = path[-1]
    if name in group:
        _remove(group[name])
    made = group.require_group(name)
    mark_group(made)
    return made


def _remove(node: Any) -> None:
    """Removes an object. Objects below it stay, and so does then the empty group."""
    members = list(node.values()) if isinstance(node, Group) else []
    kept = [one for one in members if isinstance(one, Group) and not _is_part(one)]
    if not kept:
        del node.file[node.name]
        return
    for one in members:
        # The index of a table goes with it.
        if one not in kept and (one.name or "") in node.file:
            del node.file[one.name or ""]
    node.attrs.clear()


def _is_part(group: Group) -> bool:
    """Whether a group below an object belongs to the object: its categories, or an index of PyTables."""
    name = (group.name or "").rsplit("/", 1)[-1]
    return name == "meta" or name.startswith("_i_")


def _filters(complevel: int | None, complib: str | None, compression: Any) -> "dict[str, Any]":
    """Returns the filters as keywords of `Group.create_dataset`."""
    if compression is not None:
        if complevel is not None or complib is not None:
            raise ValueError("give compression, or complevel and complib")
        return {"compression": compression}
    if not complevel:
        if complib is not None and complevel is None:
            warnings.warn(f"complib={complib!r} has no effect without complevel", stacklevel=3)
        return {}
    library, _, codec = (complib or "zlib").partition(":")
    if library == "zlib" and not codec:
        return {"compression": "gzip", "compression_opts": complevel, "shuffle": True}
    if library == "blosc":
        return {"compression": Blosc(codec or "blosclz", complevel)}
    if library == "blosc2":
        return {"compression": Blosc2(codec or "blosclz", complevel)}
    raise ValueError(f"complib only supports zlib, blosc and blosc2 compression, not {complib!r}")
