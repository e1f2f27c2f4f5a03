"""`h5py._hl.dataset`."""

from typing import Any

from ..._native import AsStrView as AsStrView
from ..._native import AsTypeView as AsTypeView
from ..._native import ChunkIterator as ChunkIterator
from ..._native import Dataset as Dataset
from ..._native import FieldsView as FieldsView
from .._selector import MultiBlockSlice as MultiBlockSlice

#: The names of h5py before 3.13.
AsStrWrapper: Any = AsStrView
AstypeWrapper: Any = AsTypeView
FieldsWrapper: Any = FieldsView

_LEGACY_GZIP_COMPRESSION_VALS = frozenset(range(10))
MPI = False
