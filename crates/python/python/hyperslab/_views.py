"""Conversions that only the Python interface of NumPy offers."""

from typing import Any, cast

import numpy as np


def to_string_dtype(array: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """Returns an array of `bytes` as strings of variable width of NumPy, with the same shape."""
    text = np.array([cast(bytes, item).decode("utf-8") for item in array.flat], dtype=dtype)
    return text.reshape(array.shape)
