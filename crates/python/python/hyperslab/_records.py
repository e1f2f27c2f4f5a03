"""Rows for a table, given in any of the forms that programs have them in, as an array of records."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ._native import _PlainRows


def plain_columns(dtype: "np.dtype[Any]") -> "list[tuple[str, int, str]]":
    """Returns the name, the first byte and the type of each column of a row. The type is empty if only NumPy
    converts values of the column.
    """
    fields: Mapping[str, Any] = dtype.fields or {}
    found = []
    for name in dtype.names or ():
        kind, at = fields[name][:2]
        found.append((name, at, kind.str if kind.names is None and kind.subdtype is None else ""))
    return found


@lru_cache(maxsize=16)
def _plain_rows(dtype: "np.dtype[Any]") -> _PlainRows:
    return _PlainRows(plain_columns(dtype), dtype.itemsize)


def records(rows: Any, dtype: "np.dtype[Any]", defaults: "Callable[[], Any]") -> "np.ndarray[Any, Any]":
    """Returns the rows as a contiguous array of records with the dtype of a table.

    Args:
        rows: An array of records, a mapping of names to columns, an object with named columns such as a
            DataFrame, a list of columns (arrays, one for each column), a list of rows, or one row.
        dtype: The dtype of the table.
        defaults: Returns one record with the values of columns that the rows leave out.

    Raises:
        ValueError: The rows have a column that the table has not, columns of different lengths, or a value
            that a column cannot hold.
        TypeError: The rows have another form.
    """
    if type(rows) is list and rows and (packed := _plain_rows(dtype).packed(rows)) is not None:
        return np.frombuffer(packed, dtype)
    if isinstance(rows, np.void | np.ndarray) and rows.dtype.names is not None:
        return _of_array(np.atleast_1d(rows), dtype, defaults)
    if isinstance(rows, Mapping):
        return _of_columns(rows, dtype, defaults)
    names = getattr(rows, "column_names", None) or getattr(rows, "columns", None)
    if names is not None and hasattr(rows, "__getitem__"):
        return _of_columns({str(name): rows[name] for name in names}, dtype, defaults)
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        rows = list(rows)
    if isinstance(rows, tuple) and dtype.names is not None and not _is_rows(rows):
        rows = [rows]
    if not isinstance(rows, list | tuple):
        try:
            rows = list(rows)
        except TypeError:
            raise TypeError(
                f"{type(rows).__name__} is no rows: give an array of records, a dict of columns or a list of tuples"
            ) from None
    names = dtype.names or ()
    if (
        rows
        and len(rows) == len(names)
        and all(isinstance(row, np.ndarray) and row.dtype.names is None for row in rows)
    ):
        return _of_columns(dict(zip(names, rows, strict=True)), dtype, defaults)
    return _of_rows(rows, dtype)


def _is_rows(rows: "tuple[Any, ...]") -> bool:
    """Whether a tuple holds rows: each is itself a tuple, a list or a record."""
    return bool(rows) and all(isinstance(row, tuple | list | np.void | np.ndarray) for row in rows)


def _of_rows(rows: Any, dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    if rows and isinstance(rows[0], np.void):
        return _of_array(np.array(rows), dtype, None)
    names = dtype.names or ()
    for number, row in enumerate(rows):
        if len(row) != len(names):
            raise ValueError(f"row {number} has {len(row)} values: the table has {len(names)} columns")
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return _of_columns(dict(zip(names, map(list, columns), strict=True)), dtype, None)


def _of_array(rows: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]", defaults: Any) -> "np.ndarray[Any, Any]":
    if rows.dtype == dtype:
        return np.ascontiguousarray(rows).ravel()
    if defaults is None and rows.dtype.names != dtype.names:
        raise ValueError(f"the rows have the columns {rows.dtype.names}, the table has {dtype.names}")
    return _of_columns({name: rows[name] for name in rows.dtype.names or ()}, dtype, defaults)


def _of_columns(columns: "Mapping[str, Any]", dtype: "np.dtype[Any]", defaults: Any) -> "np.ndarray[Any, Any]":
    names = dtype.names or ()
    unknown = [name for name in columns if name not in names]
    if unknown:
        raise ValueError(f"the table has no column {unknown[0]!r}: it has {', '.join(names)}")
    missing = [name for name in names if name not in columns]
    found = {name: fitted(name, column, dtype[name]) for name, column in columns.items()}
    lengths = {name: len(column) for name, column in found.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the columns have different lengths: {lengths}")
    made = np.zeros(next(iter(lengths.values()), 0), dtype)
    for name, column in found.items():
        made[name] = column
    for name in missing:
        if defaults is not None:
            made[name] = defaults()[name]
    return made


def columns_dtype(columns: "Mapping[str, Any]") -> "np.dtype[Any]":
    """Returns the dtype of records that hold these columns. Texts have the length of the longest one."""
    kinds = []
    for name, column in columns.items():
        given = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
        if given.ndim == 0:
            raise ValueError(f"column {name!r} is a single value: give one for each row")
        if given.dtype.kind in "OUT":
            given = _of_objects(name, given, np.dtype("S"))
        kinds.append((str(name), given.dtype, given.shape[1:]))
    return np.dtype(kinds)


def fitted(name: str, column: Any, dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """Returns the values of a column in its dtype.

    Raises:
        ValueError: The column cannot hold a value: it is too large, too long, or has a fraction.
    """
    base = dtype.base if dtype.subdtype is not None else dtype
    if base.names is not None:
        if isinstance(column, list | tuple):
            return _of_rows(list(column), base)
        given = np.asarray(column)
        if given.dtype.names is None:
            raise ValueError(f"column {name!r} has nested columns: its values are records")
        return _of_array(given, base, None)
    if hasattr(column, "to_numpy") and not isinstance(column, np.ndarray):
        column = column.to_numpy()
    given = np.asarray(column)
    if given.dtype == object and base.kind != "O":
        given = _of_objects(name, given, base)
    if given.dtype.kind == "U" and base.kind == "S":
        given = np.char.encode(given, "utf-8")
    if given.dtype.kind == "T" and base.kind == "S":
        given = np.char.encode(given.astype(str), "utf-8")
    if given.dtype != base and not np.can_cast(given.dtype, base, "safe"):
        given = _checked(name, given, base)
    return given.astype(base, copy=False)


def _of_objects(name: str, column: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    try:
        if dtype.kind == "S":
            texts = [one.encode() if isinstance(one, str) else bytes(one) for one in column.ravel()]
            return np.array(texts or [b""], dtype="S")[: len(texts)].reshape(column.shape)
        return np.array(column.tolist())
    except (TypeError, ValueError, OverflowError) as cause:
        raise ValueError(f"column {name!r} of {dtype} cannot hold these values: {cause}") from None


def _checked(name: str, given: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """Casts values that the dtype may not hold, and compares."""
    is_wrong = None
    if given.size == 0:
        pass
    elif dtype.kind == "S" and given.dtype.kind == "S":
        is_wrong = np.char.str_len(given) > dtype.itemsize
    elif dtype.kind in "fc" and given.dtype.kind in "biuf":
        pass
    elif dtype.kind == "c" and given.dtype.kind == "c":
        pass
    elif dtype.kind in "biu" and given.dtype.kind in "biuf":
        with np.errstate(invalid="ignore"):
            cast = given.astype(dtype)
            is_wrong = cast != given
            if dtype.kind in "iu" and given.dtype.kind in "iu":
                is_wrong |= (cast < 0) != (given < 0)
    elif given.dtype.kind in "mM" and dtype.kind in "iu":
        pass
    else:
        raise ValueError(f"column {name!r} of {dtype} cannot hold values of {given.dtype}")
    if is_wrong is not None and is_wrong.any():
        where = int(np.flatnonzero(is_wrong.ravel())[0])
        raise ValueError(f"column {name!r} of {dtype} cannot hold {given.ravel()[where]!r} of row {where}")
    return given


def field(array: "np.ndarray[Any, Any]", path: str) -> "np.ndarray[Any, Any]":
    """Returns the column at a path of an array of records, as a view."""
    for name in path.split("/"):
        array = array[name]
    return array


def at_path(dtype: "np.dtype[Any]", path: str) -> "np.dtype[Any]":
    """Returns the dtype of the column at a path. Raises KeyError if there is none."""
    for name in path.split("/"):
        if dtype.names is None or name not in dtype.names:
            raise KeyError(f"the table has no column {path!r}")
        dtype = dtype[name]
    return dtype
