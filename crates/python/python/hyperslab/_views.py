"""Conversions that only NumPy's Python side can do."""

from typing import Any, cast

import numpy as np


def to_string_dtype(array: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """An array of ``bytes`` as one of NumPy's variable-width strings, of the same shape."""
    text = np.array([cast(bytes, item).decode("utf-8") for item in array.flat], dtype=dtype)
    return text.reshape(array.shape)
