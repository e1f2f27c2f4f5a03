"""Conversions that only the Python interface of NumPy offers, and views of datasets."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from ._native import Dataset


def to_string_dtype(array: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """Returns an array of `bytes` as strings of variable width of NumPy, with the same shape."""
    text = np.array([cast(bytes, item).decode("utf-8") for item in array.flat], dtype=dtype)
    return text.reshape(array.shape)


def reversed_rows(dataset: "Dataset") -> Iterator[Any]:
    """Returns an iterator over the first axis of a dataset, from the end."""
    return (dataset[index] for index in range(len(dataset) - 1, -1, -1))
