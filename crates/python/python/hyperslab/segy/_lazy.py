"""Datasets as lazy arrays of xarray. Only callers that need xarray import this module."""

from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from .._native import Dataset


class Lazy(BackendArray):
    """An array that reads on access, with several threads."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self.shape = dataset.shape or ()
        self.dtype = np.dtype(dataset.dtype)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        # Of lists, a read takes one; xarray makes it rise.
        support = indexing.IndexingSupport.OUTER_1VECTOR
        return indexing.explicit_indexing_adapter(key, self.shape, support, self._dataset.read)


def lazy(dataset: Dataset) -> Any:
    """Returns a dataset as the data of an `xarray.Variable`."""
    return indexing.LazilyIndexedArray(Lazy(dataset))
