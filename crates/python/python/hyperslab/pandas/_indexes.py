"""Indexes of pandas as arrays with attributes, and back: what the fixed and the table format share."""

import datetime
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ._installed import check_index, fitted_index, has_false_mark, text_dtype, word_of
from ._strings import decoded, encoded, filled, sentinel

_Array = np.ndarray[Any, Any]


@dataclass
class StoredIndex:
    """An index as pandas stores it: an array, and the facts to make the index of it again."""

    values: _Array
    """Numbers, bytes, or Python objects if `kind` is "object"."""
    kind: str
    name: Any = None
    freq: Any = None
    tz: Any = None
    nan_rep: str | None = None
    """The string in place of missing values. None if none is missing."""
    categories: pd.Index | None = None
    ordered: bool | None = None


def kind_of(dtype: "np.dtype[Any] | str") -> str:
    """Returns pandas' word for the kind of a stored dtype.

    Raises:
        ValueError: There is no such kind.
    """
    name = dtype if isinstance(dtype, str) else dtype.name
    for start, kind in _KINDS.items():
        if name.startswith(start):
            return kind
    if name.startswith(("datetime64", "timedelta")):
        return name
    raise ValueError(f"cannot interpret dtype of [{name}]")


def zone_of(tz: Any) -> Any:
    """Returns the name of a time zone, or the zone itself if it has no name: an offset from UTC."""
    return getattr(tz, "key", None) or getattr(tz, "zone", None) or tz


def store_index(
    index: pd.Index,
    encoding: str,
    errors: str,
    nan_rep: str | None = None,
    others: "set[str] | None" = None,
    *,
    is_table: bool,
) -> StoredIndex:
    """Returns an index as pandas stores it.

    Args:
        index: The index, of one level.
        encoding: The encoding of strings.
        errors: What to do with strings that cannot be encoded, as for `str.encode`.
        nan_rep: The string in place of missing values, if it is already chosen.
        others: Stored strings that the string in place of missing values must not equal.
        is_table: Whether the index becomes a field of a table, and not an array.

    Raises:
        NotImplementedError: pandas does not store indexes of this dtype.
        TypeError: The installed pandas does not read indexes of this dtype.
        ValueError: A string equals `nan_rep`, or means a missing value to the installed pandas.
    """
    check_index(index, is_table)
    index = fitted_index(index)
    dtype, name = index.dtype, index.name
    if isinstance(index, pd.CategoricalIndex):
        return StoredIndex(index.codes, "integer", name, categories=index.categories, ordered=bool(index.ordered))
    if isinstance(index, pd.DatetimeIndex):
        tz = None if index.tz is None else zone_of(index.tz)
        return StoredIndex(index.asi8, f"datetime64[{index.unit}]", name, index.freq, tz)
    if isinstance(index, pd.TimedeltaIndex):
        return StoredIndex(index.asi8, word_of(f"timedelta64[{index.unit}]"), name, index.freq)
    if isinstance(index, pd.PeriodIndex):
        return StoredIndex(index.asi8, "integer", name, index.freq)
    if isinstance(dtype, pd.api.extensions.ExtensionDtype) and not isinstance(dtype, pd.StringDtype):
        if not isinstance(dtype, pd.BooleanDtype) or index.hasnans:
            raise NotImplementedError(
                f"Cannot store an Index with dtype {dtype} in an HDF5 file. HDFStore supports NumPy dtypes, "
                "datetime64 with timezone, categorical, and string extension types."
            )
        return StoredIndex(index.to_numpy(dtype=bool), "bool", name)
    values = np.asarray(index)
    if values.dtype != object:
        return StoredIndex(values, kind_of(values.dtype), name)
    inferred = pd.api.types.infer_dtype(values, skipna=isinstance(dtype, pd.StringDtype))
    if inferred == "date":
        return StoredIndex(np.array([day.toordinal() for day in values], dtype="i4"), "date", name)
    if inferred == "string" or isinstance(dtype, pd.StringDtype):
        missing = np.asarray(index.isna())
        if has_false_mark(values[~missing]):
            if is_table:
                raise ValueError(
                    f"pandas {pd.__version__} reads the string 'nan' in the index of a table as a missing value: "
                    "make it a column (`reset_index()`)"
                )
            return StoredIndex(values, "object", name)
        if missing.any() and nan_rep is None:
            nan_rep = sentinel(values[~missing], others)
        if nan_rep is not None:
            values = filled(values, missing, nan_rep, str(name))
        return StoredIndex(encoded(values, encoding, errors), "string", name, nan_rep=nan_rep)
    if inferred in ("integer", "floating"):
        numbers = values.astype("i8" if inferred == "integer" else "f8")
        return StoredIndex(numbers, kind_of(numbers.dtype), name)
    return StoredIndex(values, "object", name)


def restore_index(stored: StoredIndex, encoding: str, errors: str, index_class: str = "") -> pd.Index:
    """Returns the index of its stored form.

    Args:
        stored: The index as pandas stores it.
        encoding: The encoding of strings.
        errors: What to do with bytes that are not valid, as for `bytes.decode`.
        index_class: "datetime" or "period" for indexes that the kind alone does not tell.

    Raises:
        ValueError: The kind is unknown, or the values do not fit.
    """
    kind, values, name = stored.kind, stored.values, stored.name
    if stored.categories is not None:
        return pd.CategoricalIndex(categorical(values, stored.categories, bool(stored.ordered)), name=name)
    if kind.startswith("datetime64") or index_class == "datetime":
        unit = kind if "[" in kind else "datetime64[ns]"
        index = pd.DatetimeIndex(_integers(values, kind).view(unit), name=name)
        index = with_freq(index, stored.freq)
        return index if stored.tz in (None, "") else index.tz_localize("UTC").tz_convert(stored.tz)
    if kind.startswith("timedelta64"):
        unit = kind if "[" in kind else "timedelta64[ns]"
        return with_freq(pd.TimedeltaIndex(_integers(values, kind).view(unit), name=name), stored.freq)
    if index_class == "period" or (kind == "integer" and stored.freq is not None):
        ordinals = np.asarray(values, dtype="i8")
        return pd.PeriodIndex.from_ordinals(ordinals, freq=stored.freq, name=name)
    if kind == "date":
        return pd.Index(np.array([date_of(day) for day in values.tolist()], dtype=object), dtype=object, name=name)
    if kind == "string":
        return pd.Index(decoded(values, stored.nan_rep, encoding, errors), dtype=text_dtype(), name=name)
    if kind == "object":
        return pd.Index(values, dtype=object, name=name)
    if kind == "bool":
        return pd.Index(values.astype(bool), name=name)
    if kind in ("integer", "float", "complex"):
        return pd.Index(values, name=name)
    raise ValueError(f"unrecognized index type {kind}")


def with_freq(index: Any, freq: Any) -> Any:
    """Returns a datetime or timedelta index with a frequency, if its values have this frequency."""
    try:
        index.freq = freq
    except ValueError:
        # A part of an index, or one that rows were removed from.
        index.freq = None
    return index


def categorical(codes: _Array, categories: Any, ordered: bool) -> pd.Categorical:
    """Returns a categorical of its codes. A category that was read as missing has no rows of its own.

    Raises:
        ValueError: A code is not that of a category.
    """
    codes = codes.ravel().astype("i8")
    categories = pd.Index([], dtype="f8") if categories is None else pd.Index(categories)
    missing = np.asarray(categories.isna())
    if missing.any():
        remap = np.append(np.where(missing, -1, np.cumsum(~missing) - 1), -1)
        codes = remap[np.clip(codes, -1, len(categories))]
        categories = categories[~missing]
    return pd.Categorical.from_codes(codes, categories=categories, ordered=ordered)


def date_of(day: int) -> datetime.date:
    """Returns the date of an ordinal, or of the seconds that old versions of pandas stored."""
    try:
        return datetime.date.fromordinal(day)
    except (ValueError, OverflowError):
        return datetime.date.fromtimestamp(day)


def _integers(values: _Array, kind: str) -> _Array:
    if values.dtype.kind not in "iu" or values.dtype.itemsize != 8:
        raise ValueError(f"an index of kind {kind} has elements of dtype {values.dtype}: not int64")
    return np.ascontiguousarray(values, dtype="i8")


# Kinds by the start of a dtype's name.
_KINDS = {
    "string": "string",
    "bytes": "string",
    "float": "float",
    "complex": "complex",
    "int": "integer",
    "uint": "integer",
    "bool": "bool",
    "category": "category",
    "period": "integer",
    "object": "object",
    "str": "str",
}
