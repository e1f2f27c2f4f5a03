"""`h5py._hl.base`."""

import math
from collections.abc import Iterable
from typing import Any

from ... import is_hdf5 as is_hdf5
from ..._arrays import array_for_new_object as array_for_new_object
from ..._arrays import item_type as find_item_type
from ..._mapping import ItemsViewHDF5 as ItemsViewHDF5
from ..._mapping import KeysViewHDF5 as KeysViewHDF5
from ..._mapping import ValuesViewHDF5 as ValuesViewHDF5
from ..._native import Empty as Empty
from ..._native import HLObject as HLObject
from .. import h5p, h5s
from .._objects import phil as phil
from .._objects import with_phil as with_phil

__all__ = ["find_item_type"]

dlapl, dlcpl = h5p.create(h5p.LINK_ACCESS), h5p.create(h5p.LINK_CREATE)
dlcpl.set_create_intermediate_group(True)


def default_lapl() -> Any:
    """Returns a property list of access to links."""
    return h5p.create(h5p.LINK_ACCESS)


def default_lcpl() -> Any:
    """Returns a property list of links that makes missing groups."""
    plist = h5p.create(h5p.LINK_CREATE)
    plist.set_create_intermediate_group(True)
    return plist


def is_empty_dataspace(obj: Any) -> bool:
    """Returns whether a dataset or an attribute has no elements."""
    return bool(obj.get_space().get_simple_extent_type() == h5s.NULL)


def product(nums: Iterable[int]) -> int:
    """Returns the product of numbers."""
    return math.prod(nums)
