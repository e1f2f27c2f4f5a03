"""Strings of pandas as bytes of fixed length, and a sentinel in place of missing values."""

from typing import Any

import numpy as np
import pandas as pd

_Array = np.ndarray[Any, Any]


def encoded(values: _Array, encoding: str, errors: str, itemsize: int = 1) -> _Array:
    """Returns strings as bytes of one length, at least `itemsize`.

    Raises:
        UnicodeEncodeError: A string cannot be encoded.
    """
    made = [value.encode(encoding, errors) for value in values.ravel()]
    length = max(itemsize, max(map(len, made), default=1))
    return np.array(made, dtype=f"S{length}").reshape(values.shape)


def decoded(values: _Array, nan_rep: str | None, encoding: str, errors: str) -> _Array:
    """Returns bytes as strings, and NaN for those that equal `nan_rep`.

    Raises:
        UnicodeDecodeError: A value is not valid in the encoding.
    """
    found = np.empty(values.size, dtype=object)
    for index, value in enumerate(values.ravel().tolist()):
        text = value.decode(encoding, errors) if isinstance(value, bytes) else value
        found[index] = np.nan if nan_rep is not None and text == nan_rep else text
    return found.reshape(values.shape)


def sentinel(values: _Array, others: "set[str] | None" = None) -> str:
    """Returns a string for missing values that equals neither a value nor one of `others`."""
    taken = {value for value in values.ravel() if isinstance(value, str)} | (others or set())
    found = "nan"
    while found in taken:
        found = f"_{found}_"
    return found


def filled(values: _Array, missing: _Array, nan_rep: str, where: str, is_stored: bool = False) -> _Array:
    """Returns strings with `nan_rep` in place of missing values.

    Args:
        values: The strings.
        missing: Where a value is missing.
        nan_rep: The string for missing values.
        where: The name of the column, for errors.
        is_stored: Whether readers take `nan_rep` for a missing value even if none of these is missing.

    Raises:
        ValueError: A value that is not missing equals `nan_rep`.
        TypeError: A value is not a string.
    """
    present = values[~missing]
    wrong = [value for value in present if not isinstance(value, str)]
    if wrong:
        kind = pd.api.types.infer_dtype(values.ravel(), skipna=False)
        raise TypeError(
            f"Cannot serialize the column [{where}]\nbecause its data contents are not [string] "
            f"but [{kind}] object dtype"
        )
    if (is_stored or missing.any()) and (present == nan_rep).any():
        raise ValueError(
            f"Cannot store the string {nan_rep!r} in column [{where}]: it collides with the sentinel used to "
            "encode missing values on disk"
        )
    made = values.copy()
    made[missing] = nan_rep
    return made
