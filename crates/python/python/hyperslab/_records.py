"""Rows for a table, given in any of the forms that programs have them in, as an array of records."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ._native import _PlainRows

#: The types of what stands for a missing value.
_MISSING = {"NAType", "NaTType", "NoneType", "float"}


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


def _rows_of_columns(dtype: "np.dtype[Any]") -> _PlainRows:
    return _PlainRows(plain_columns(dtype), dtype.itemsize)


def _rows_of_one_column(dtype: "np.dtype[Any]") -> _PlainRows:
    return _PlainRows([("", 0, dtype.str)], dtype.itemsize)


#: Returns the form of rows whose columns all take plain values.
plain_rows = lru_cache(maxsize=16)(_rows_of_columns)
_plain_values = lru_cache(maxsize=256)(_rows_of_one_column)


def records(rows: Any, dtype: "np.dtype[Any]", defaults: "Callable[[], Any]") -> "np.ndarray[Any, Any]":
    """Returns the rows as a contiguous array of records with the dtype of a table.

    Args:
        rows: An array of records, a mapping of names to columns, an object with named columns such as a
            DataFrame, a list of columns (arrays, one for each column), a list of rows, an array with a row in
            each row, or one row.
        dtype: The dtype of the table.
        defaults: Returns one record with the values of columns that the rows leave out.

    Raises:
        ValueError: The rows have a column that the table has not, columns of different lengths, or a value
            that a column cannot hold.
        TypeError: The rows have another form.
    """
    if type(rows) is list and rows and (packed := plain_rows(dtype).packed(rows)) is not None:
        return np.frombuffer(packed, dtype)
    if isinstance(rows, np.void | np.ndarray):
        _check_unmasked("the rows have", rows)
        if rows.dtype.names is not None:
            return _of_array(np.atleast_1d(rows), dtype, defaults)
    columns = columns_of(rows)
    if columns is not None:
        return _of_columns(columns, dtype, defaults)
    names = dtype.names or ()
    if isinstance(rows, np.ndarray) and rows.ndim > 1:
        if rows.shape[1] != len(names):
            raise ValueError(f"rows must have {len(names)} columns, as the table has, not {rows.shape[1]}")
        return _of_columns({name: rows[:, number] for number, name in enumerate(names)}, dtype, None)
    if isinstance(rows, tuple) and dtype.names is not None and not _is_rows(rows):
        rows = [rows]
    if not isinstance(rows, list | tuple):
        try:
            rows = list(rows)
        except TypeError:
            raise TypeError(
                f"rows must be an array of records, a dict of columns or a list of tuples, not {type(rows).__name__}"
            ) from None
    if (
        rows
        and len(rows) == len(names)
        and all(isinstance(row, np.ndarray) and row.dtype.names is None for row in rows)
    ):
        return _of_columns(dict(zip(names, rows, strict=True)), dtype, defaults)
    return _of_rows(rows, dtype)


def records_to_put(value: Any, dtype: "np.dtype[Any]", defaults: "Callable[[], Any]") -> "np.ndarray[Any, Any]":
    """Returns rows for a selection of a table, which may have the shape of one row. Records that lack columns
    stay records of their own columns: the others are not changed in the table.

    Raises:
        ValueError: A column is unknown, or cannot hold a value.
        TypeError: The value is no rows.
    """
    if not isinstance(value, np.void | np.ndarray) or value.dtype.names is None:
        return records(value, dtype, defaults)
    _check_unmasked("the rows have", value)
    given = np.asarray(value)
    if given.dtype == dtype:
        return given
    check_names(given.dtype.names or (), dtype)
    made = np.empty(given.shape, [(name, dtype[name]) for name in given.dtype.names or ()])
    for name in made.dtype.names or ():
        made[name] = fitted(name, given[name], dtype[name])
    return made


def column_to_put(name: str, value: Any, dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """Returns values for one column of a selection of a table. Records give the column of the same name.

    Raises:
        ValueError: The column cannot hold a value.
    """
    fields = getattr(getattr(value, "dtype", None), "names", None) or ()
    column = fitted(name, value[name] if name in fields else value, dtype[name])
    if column.dtype.names is None:
        return column
    # The values of a nested column are records themselves, whose names are not those of the table.
    made = np.empty(column.shape, [(name, column.dtype)])
    made[name] = column
    return made


def columns_of(rows: Any) -> "Mapping[str, Any] | None":
    """Returns the columns of a mapping or of an object with named columns, such as a DataFrame. None if the
    rows are neither.

    Raises:
        ValueError: Two columns have the same name.
    """
    if isinstance(rows, Mapping):
        return rows
    names = getattr(rows, "column_names", None)
    names = getattr(rows, "columns", None) if names is None else names
    if names is None or not hasattr(rows, "__getitem__"):
        return None
    columns = {str(name): name for name in names}
    if len(columns) < len(names):
        raise ValueError(f"the columns of rows must have different names, not {', '.join(map(str, names))}")
    return {text: rows[name] for text, name in columns.items()}


def _is_rows(rows: "tuple[Any, ...]") -> bool:
    """Whether a tuple holds rows: each is itself a tuple, a list or a record."""
    return bool(rows) and all(isinstance(row, tuple | list | np.void | np.ndarray) for row in rows)


def _of_rows(rows: Any, dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    if rows and isinstance(rows[0], np.void):
        return _of_array(np.array(rows), dtype, None)
    names = dtype.names or ()
    for number, row in enumerate(rows):
        if not hasattr(row, "__len__") or isinstance(row, str | bytes | Mapping):
            raise TypeError(f"row {number} must be a tuple with one value for each column, not {type(row).__name__}")
        if len(row) != len(names):
            raise ValueError(f"row {number} must have {len(names)} values, one for each column, not {len(row)}")
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return _of_columns(dict(zip(names, map(list, columns), strict=True)), dtype, None, is_of_rows=True)


def _of_array(rows: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]", defaults: Any) -> "np.ndarray[Any, Any]":
    rows = rows.ravel()
    if rows.dtype == dtype:
        return np.ascontiguousarray(rows)
    if defaults is None and rows.dtype.names != dtype.names:
        raise ValueError(f"rows must have the columns {dtype.names}, not {rows.dtype.names}")
    return _of_columns({name: rows[name] for name in rows.dtype.names or ()}, dtype, defaults)


def _of_columns(
    columns: "Mapping[str, Any]", dtype: "np.dtype[Any]", defaults: Any, *, is_of_rows: bool = False
) -> "np.ndarray[Any, Any]":
    check_names(columns, dtype)
    found = {}
    for name, column in columns.items():
        values = fitted(name, column, dtype[name])
        found[name] = one_for_each_row(name, _spread(values, dtype[name]) if is_of_rows else values, dtype[name])
    lengths = {name: len(column) for name, column in found.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"all columns must have the same length, not {lengths}")
    made = np.zeros(next(iter(lengths.values()), 0), dtype)
    for name, column in found.items():
        made[name] = column
    missing = [name for name in dtype.names or () if name not in columns]
    if missing and defaults is not None:
        default = defaults()
        for name in missing:
            made[name] = default[name]
    return made


def check_names(names: "Iterable[str]", dtype: "np.dtype[Any]") -> None:
    """Raises ValueError if a table of a dtype lacks one of the columns."""
    known: Mapping[str, Any] = dtype.fields or {}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"the table has no column {unknown[0]!r}; its columns are {', '.join(known)}")


def one_for_each_row(name: str, values: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """Returns the values of a column if they have the shape of one value of `dtype` for each row.

    Raises:
        ValueError: They have another shape.
    """
    if values.ndim == 0:
        raise ValueError(f"column {name!r} must have one value for each row, not a single value")
    if values.shape[1:] == dtype.shape:
        return values
    if values.size == 0 and len(values) == 0:
        # An empty list does not tell the shape of its values.
        return np.zeros((0, *dtype.shape), values.dtype)
    raise ValueError(f"each value of column {name!r} must have the shape {dtype.shape}, not {values.shape[1:]}")


def _spread(values: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """Broadcasts the value of each row to the shape of a value of the column, if it can be."""
    if values.ndim == 0 or len(values) == 0 or values.ndim > 1 + len(dtype.shape):
        return values
    inner = (1,) * (1 + len(dtype.shape) - values.ndim) + values.shape[1:]
    if any(have not in (1, want) for have, want in zip(inner, dtype.shape, strict=True)):
        return values
    return np.broadcast_to(values.reshape(len(values), *inner), (len(values), *dtype.shape))


def put_value(record: "np.ndarray[Any, Any]", path: str, value: Any) -> None:
    """Puts a value into the column at a path of an array of one record.

    Raises:
        ValueError: There is no such column, or it cannot hold the value.
    """
    column = field(record, path)
    packed = _plain_values(column.dtype).packed([(value,)])
    column[0] = (fitted(path, [value], column.dtype) if packed is None else np.frombuffer(packed, column.dtype))[0]


def fields_of(columns: "Mapping[str, Any]") -> "list[Any]":
    """Returns the fields of records that hold these columns. Texts have the length of the longest one.

    Raises:
        ValueError: A column is a single value.
        TypeError: Only the caller can tell the type of a column.
    """
    fields = []
    for name, column in columns.items():
        given = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
        if given.ndim == 0:
            raise ValueError(f"column {name!r} must have one value for each row, not a single value")
        if given.dtype.kind == "U" and isinstance(column, list | tuple):
            # NumPy makes strings of numbers beside strings: NaN would be "nan".
            given = np.array(column, dtype=object)
        if given.dtype.kind == "O":
            given = _of_one_type(name, given)
        if given.dtype.kind in "UT":
            given = _of_objects(name, given, np.dtype("S"))
        fields.append((str(name), given.dtype, given.shape[1:]))
    return fields


def _of_one_type(name: str, given: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Returns Python objects as elements of the dtype that NumPy has for them. Texts become bytes."""
    types = {type(one.item() if isinstance(one, np.generic) else one) for one in given.flat}
    if types and types <= {str, bytes}:
        return _of_objects(name, given, np.dtype("S"))
    made = np.array(given.tolist()) if types in ({bool}, {int}, {float}, {complex}) else given
    if made.dtype.kind == "O":
        found = f"values of {' and '.join(sorted(kind.__name__ for kind in types))}" if types else "no values"
        others = {kind.__name__ for kind in types - {str, bytes}}
        numbers = (one for one in given.flat if isinstance(one, float))
        if {str, bytes} & types and others <= _MISSING and all(one != one for one in numbers):
            raise TypeError(
                f"column {name!r} must not have missing values ({', '.join(sorted(others))}) among its strings, as a "
                "table has none; replace them, for example with ''"
            )
        raise TypeError(
            f"cannot choose a type for column {name!r}, which has {found}; pass dtype=, and replace missing values"
        )
    return made


def fitted(name: str, column: Any, dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """Returns the values of a column in its dtype.

    Raises:
        ValueError: The column cannot hold a value: it is masked, too large, too long, or has a fraction.
    """
    base = dtype.base if dtype.subdtype is not None else dtype
    _check_unmasked(f"column {name!r} has", column)
    if base.names is not None:
        if isinstance(column, list | tuple):
            return _of_rows([column] if isinstance(column, tuple) and not _is_rows(column) else list(column), base)
        given = np.asarray(column)
        if given.dtype.names is None:
            raise ValueError(f"column {name!r} must be given as records, because it has nested columns")
        return _of_array(given, base, None).reshape(given.shape)
    if hasattr(column, "to_numpy") and not isinstance(column, np.ndarray):
        column = column.to_numpy()
    if base.kind == "S" and isinstance(column, list | tuple):
        column = [one.encode() if isinstance(one, str) else one for one in column]
    try:
        given = np.asarray(column)
    except ValueError as cause:
        raise ValueError(f"column {name!r} of {dtype}: {cause}") from None
    if base.kind in "iu" and given.dtype.kind == "f" and not isinstance(column, np.ndarray):
        # NumPy makes floats of a list with large integers and others, and large floats lose digits.
        if not (np.abs(given) < 1 << 53).all():
            given = np.asarray(column, dtype=object)
    if given.dtype == object and base.kind != "O":
        given = _of_objects(name, given, base)
    if given.dtype.kind == "U" and base.kind == "S":
        given = np.char.encode(given, "utf-8")
    if given.dtype.kind == "T" and base.kind == "S":
        given = np.char.encode(given.astype(str), "utf-8")
    if given.dtype != base and (base.kind in "mM" or not np.can_cast(given.dtype, base, "safe")):
        given = _checked(name, given, base)
    return given.astype(base, copy=False)


def _check_unmasked(what: str, values: Any) -> None:
    for part in values if isinstance(values, list | tuple) else (values,):
        if isinstance(part, np.ma.MaskedArray):
            # The mask of records is one of records.
            mask = np.ascontiguousarray(np.ma.getmaskarray(part))
            if mask.view(np.bool_).any():
                raise ValueError(f"{what} masked values: replace them first, with filled() of the masked array")


def _of_objects(name: str, column: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    try:
        if dtype.kind == "S":
            texts = [_encoded(one) for one in column.ravel()]
            return np.array(texts or [b""], dtype="S")[: len(texts)].reshape(column.shape)
        if dtype.kind not in "iu":
            return np.array(column.tolist())
        made = column.astype(dtype)
        for found, one in zip(made.ravel().tolist(), column.ravel(), strict=True):
            if found != one:
                raise ValueError(f"{one!r} must be an integer within the range of the type")
        return made
    except (TypeError, ValueError, OverflowError) as cause:
        raise ValueError(f"column {name!r} of {dtype} cannot hold these values: {cause}") from None


def _encoded(text: Any) -> bytes:
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, bytes | bytearray | memoryview):
        return bytes(text)
    raise TypeError(f"each value must be str or bytes, not {text!r}")


def _checked(name: str, given: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """Casts values that the dtype may not hold, and compares."""
    if given.size == 0:
        return np.zeros(given.shape, dtype)
    if given.dtype.kind in "mM" and dtype.kind in "iu":
        given = given.astype(np.int64)
    kind, of = dtype.kind, given.dtype.kind
    if kind == of == "S":
        cast = given
        is_wrong = np.char.str_len(given) > dtype.itemsize
    elif kind in "biu" and of in "biu":
        cast = given.astype(dtype)
        is_wrong = cast != given
        if kind != of:
            is_wrong |= (cast < 0) != (given < 0)
    elif kind in "biu" and of == "f":
        with np.errstate(invalid="ignore"):
            cast = given.astype(dtype)
        is_wrong = cast != given
    elif kind in "fc" and of in "biuf" or kind == of == "c":
        with np.errstate(over="ignore"):
            cast = given.astype(dtype)
        is_wrong = np.isinf(cast.real) & np.isfinite(given.real)
        if kind == "c":
            is_wrong |= np.isinf(cast.imag) & np.isfinite(given.imag)
    elif kind in "mM" and kind == of:
        cast = given.astype(dtype)
        is_wrong = (cast.astype(given.dtype) != given) & ~np.isnat(given)
    else:
        raise ValueError(f"column {name!r} of {dtype} cannot hold values of {given.dtype}")
    if is_wrong.any():
        at = np.argwhere(is_wrong)[0]
        place = f" of row {at[0]}" if len(at) and len(given) > 1 else ""
        raise ValueError(f"column {name!r} of {dtype} cannot hold {given[tuple(at)].item()!r}{place}")
    return cast


def field(array: "np.ndarray[Any, Any]", path: str) -> "np.ndarray[Any, Any]":
    """Returns the column at a path of an array of records, as a view."""
    for name in path.split("/"):
        array = array[name]
    return array


def paths(dtype: "np.dtype[Any]") -> list[str]:
    """The paths of the columns that hold values: those of the outermost level first, as PyTables numbers
    them.
    """
    found, levels = [], [("", dtype)]
    while levels:
        prefix, level = levels.pop(0)
        for name in level.names or ():
            if level[name].names is None:
                found.append(prefix + name)
            else:
                levels.append((f"{prefix}{name}/", level[name]))
    return found


def at_path(dtype: "np.dtype[Any]", path: str) -> "np.dtype[Any]":
    """Returns the dtype of the column at a path. Raises KeyError if there is none."""
    found = dtype
    for name in path.split("/"):
        if found.names is None or name not in found.names:
            raise KeyError(f"the table has no column {path!r}; its columns are {', '.join(paths(dtype))}")
        found = found[name]
    return found
