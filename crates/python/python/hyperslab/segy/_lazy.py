"""Datasets as xarray's lazy arrays. Imports xarray: only for who asks for it."""

from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from .._native import Dataset


class Lazy(BackendArray):
    """An array that reads what is asked of it, by all threads."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self.shape = dataset.shape or ()
        self.dtype = np.dtype(dataset.dtype)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        # Of lists, a read takes one; xarray makes it rise.
        support = indexing.IndexingSupport.OUTER_1VECTOR
        return indexing.explicit_indexing_adapter(key, self.shape, support, self._dataset.read)


def lazy(dataset: Dataset) -> Any:
    """A dataset as data of an ``xarray.Variable``."""
    return indexing.LazilyIndexedArray(Lazy(dataset))
