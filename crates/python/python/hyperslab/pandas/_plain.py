"""Records as frames: nested columns and arrays in columns become columns of their own."""

from typing import Any

import numpy as np
import pandas as pd

from .._dtypes import check_enum_dtype
from ._installed import text_dtype
from ._strings import decoded

_Array = np.ndarray[Any, Any]


def plain_columns(dtype: "np.dtype[Any]", path: str = "") -> "dict[str, str]":
    """Returns the columns that a frame of such records has, and for each the outermost field that holds it.

    The columns of a nested field, and the elements of an array in a field, are named by their paths: "a/b",
    "a/0".

    Raises:
        TypeError: A field holds Python objects.
    """
    found: dict[str, str] = {}
    for name in dtype.names or ():
        field, full = dtype[name], f"{path}{name}"
        base, shape = field.subdtype or (field, ())
        for place in np.ndindex(*shape) if shape else [()]:
            label = "/".join([full, *map(str, place)])
            inner = plain_columns(base, f"{label}/") if base.names is not None else [label]
            found |= dict.fromkeys(inner, name if not path else path.split("/")[0])
        if base.kind == "O":
            raise TypeError(f"field {full!r} holds Python objects, which a column of a frame cannot")
    return found


def plain_frame(records: _Array, columns: "list[str]", index: pd.Index) -> pd.DataFrame:
    """Returns columns of records as a frame.

    Args:
        records: The records, one for each row.
        columns: The names of columns, those of `plain_columns`.
        index: The index of the frame.
    """
    return pd.DataFrame({column: _values(records, column) for column in columns}, index=index)


def _values(records: _Array, column: str) -> Any:
    values = records
    rest = column
    while rest:
        if values.dtype.names is not None:
            # Names may have a slash, so the longest that fits is taken.
            name = max((name for name in values.dtype.names if rest == name or rest.startswith(f"{name}/")), key=len)
            values, rest = values[name], rest[len(name) + 1 :]
        else:
            place, _, rest = rest.partition("/")
            values = values[:, int(place)]
    if values.dtype.kind == "S":
        return pd.array(decoded(values, None, "utf-8", "replace"), dtype=text_dtype())
    names = check_enum_dtype(values.dtype)
    if names is not None:
        return pd.Categorical(_named(values, names), categories=list(names))
    return np.ascontiguousarray(values)


def _named(values: _Array, names: "dict[str, int]") -> "list[str | None]":
    labels = {value: name for name, value in names.items()}
    return [labels.get(value) for value in values.tolist()]
