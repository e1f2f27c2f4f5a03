"""Datasets by their identifiers."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _create
from .._chunks import StoreInfo as StoreInfo
from .._native import Dataset as _Dataset
from .._native import DatasetID as _DatasetID
from .._virtual import VirtualLayout, create_virtual_dataset
from . import _transfer, h5s
from ._access import PropDAID
from ._mappings import mapped
from ._objects import Shared, check_way, name_text
from ._plists import PropDCID
from ._types import TypeID, type_of, typewrap

COMPACT, CONTIGUOUS, CHUNKED, VIRTUAL = 0, 1, 2, 3
ALLOC_TIME_DEFAULT, ALLOC_TIME_EARLY, ALLOC_TIME_LATE, ALLOC_TIME_INCR = 0, 1, 2, 3
FILL_TIME_ALLOC, FILL_TIME_NEVER, FILL_TIME_IFSET = 0, 1, 2
FILL_VALUE_UNDEFINED, FILL_VALUE_DEFAULT, FILL_VALUE_USER_DEFINED = 0, 1, 2
SPACE_STATUS_NOT_ALLOCATED, SPACE_STATUS_PART_ALLOCATED, SPACE_STATUS_ALLOCATED = 0, 1, 2
VDS_FIRST_MISSING, VDS_LAST_AVAILABLE = 0, 1

#: The property lists with which datasets were opened.
_access: "Shared[PropDAID]" = Shared()


def keep_access(dataset: Any, plist: PropDAID) -> None:
    """Keeps the property list with which a dataset was opened."""
    _access.keep(dataset, plist)
    prefix = plist.get_virtual_prefix()
    if prefix:
        dataset._set_virtual_prefix(os.fsdecode(prefix))


class DatasetID(_DatasetID):
    """The identifier of a dataset."""

    def get_space(self) -> h5s.SpaceID:
        """Returns the dataspace, with everything selected."""
        if self.shape is None:
            return h5s.create(h5s.NULL)
        if self.shape == ():
            return h5s.create(h5s.SCALAR)
        return h5s.create_simple(self.shape, self._object.maxshape)

    def get_space_status(self) -> int:
        """Returns whether space for the elements is allocated."""
        if self.get_storage_size() == 0 and self.get_create_plist().get_layout() != COMPACT:
            return SPACE_STATUS_NOT_ALLOCATED
        chunks = self._object.chunks
        if chunks is None or not self.shape:
            return SPACE_STATUS_ALLOCATED
        grid = [-(-length // side) for length, side in zip(self.shape, chunks, strict=True)]
        is_whole = self.get_num_chunks() >= int(np.prod(grid, dtype=object))
        return SPACE_STATUS_ALLOCATED if is_whole else SPACE_STATUS_PART_ALLOCATED

    def get_type(self) -> Any:
        """Returns the datatype: the committed one, if the dataset uses one."""
        named = self._named_type
        return typewrap(self._description) if named is None else type_of(named)

    def get_create_plist(self) -> PropDCID:
        """Returns the properties that the dataset was created with."""
        from .h5p import create_list_of

        made: PropDCID = create_list_of(self._object)
        return made

    def get_access_plist(self) -> PropDAID:
        """Returns the properties that the dataset was opened with."""
        kept = _access.get(self._object)
        if kept is not None:
            made: PropDAID = kept.copy()
        else:
            made = PropDAID()
            made.set_chunk_cache(*self._object.file.id.get_access_plist().get_cache()[1:])
        for name in ("efile_prefix", "virtual_prefix"):
            prefix = getattr(self._object, f"_{name}", None)
            if prefix is not None:
                made._values[name] = os.fsencode(prefix)
        return made

    def read(self, mspace: h5s.SpaceID, fspace: h5s.SpaceID, arr_obj: Any, mtype: Any = None, dxpl: Any = None) -> None:
        """Reads the selection `fspace` to the selection `mspace` of an array."""
        _transfer.read(self._object, mspace, fspace, arr_obj, mtype)

    def write(
        self, mspace: h5s.SpaceID, fspace: h5s.SpaceID, arr_obj: Any, mtype: Any = None, dxpl: Any = None
    ) -> None:
        """Writes the selection `mspace` of an array to the selection `fspace`."""
        _transfer.write(self._object, mspace, fspace, arr_obj, mtype)

    def extend(self, shape: Sequence[int]) -> None:
        """Makes the dataset at least this large along each axis."""
        old = self.shape or ()
        self.set_extent([max(a, b) for a, b in zip(old, shape, strict=True)])

    def set_extent(self, shape: Sequence[int]) -> None:
        """Resizes the dataset."""
        self._object.resize(tuple(shape))

    def flush(self) -> None:
        """Writes changes to the file."""
        self._object.flush()

    def refresh(self) -> None:
        """Reads the metadata again."""
        self._object.refresh()

    def get_chunk_info(self, index: int, space: Any = None) -> StoreInfo:
        """Returns the place of a stored chunk. The selection of `space` is not looked at."""
        return super().get_chunk_info(index)

    def get_num_chunks(self, space: Any = None) -> int:
        """Returns the number of stored chunks. The selection of `space` is not looked at."""
        return super().get_num_chunks()


def open(loc: Any, name: "bytes | str", dapl: "PropDAID | None" = None) -> Any:
    """Opens a dataset."""
    try:
        found = loc._object[name_text(name)]
    except KeyError as error:
        raise KeyError(f"Unable to synchronously open object ({error.args[0]})") from None
    if not isinstance(found, _Dataset):
        raise KeyError(f"Unable to open dataset (not a dataset: {name_text(name)!r})")
    if dapl is not None:
        keep_access(found, dapl.copy())
    return found.id


_FILL_TIMES = {FILL_TIME_ALLOC: "alloc", FILL_TIME_NEVER: "never", FILL_TIME_IFSET: "ifset"}


def create(
    loc: Any,
    name: "bytes | str | None",
    tid: TypeID,
    space: h5s.SpaceID,
    dcpl: "PropDCID | None" = None,
    lcpl: Any = None,
    dapl: "PropDAID | None" = None,
    gcpl: Any = None,
) -> Any:
    """Creates a dataset, without a link if `name` is None."""
    plist = PropDCID() if dcpl is None else dcpl
    layout = plist.get_layout()
    failed = "Unable to synchronously create dataset"
    check_way(loc._object, name, lcpl, ValueError, failed)
    if space._most != space._shape and layout == CONTIGUOUS and not plist.get_external_count():
        raise ValueError(f"{failed} (extendible contiguous non-external dataset not allowed)")
    if layout == VIRTUAL:
        return _create_virtual(loc, name, tid, space, plist, dapl)
    is_null = space.get_simple_extent_type() == h5s.NULL
    fill = plist._values.get("fill")
    made = _create.create_dataset(
        loc._object,
        None if name is None else name_text(name),
        None if is_null else space.shape,
        tid,
        maxshape=None if is_null or space._most == space._shape else space._most,
        chunks=plist.get_chunk() if layout == CHUNKED else None,
        compact=layout == COMPACT,
        fillvalue=None if fill is None or fill is False else fill,
        fill_time=_FILL_TIMES[plist.get_fill_time()],
        track_order=bool(plist.get_attr_creation_order()),
        track_times=plist.get_obj_track_times(),
        external=plist._values.get("external"),
        _pipeline=[(code, flags, list(values)) for code, flags, values, _ in plist._filters()],
        _allocation=plist._values.get("alloc_time"),
    )
    if dapl is not None:
        keep_access(made, dapl.copy())
    return made.id


def _create_virtual(
    loc: Any, name: "bytes | str | None", tid: TypeID, space: h5s.SpaceID, plist: PropDCID, dapl: "PropDAID | None"
) -> Any:
    layout = VirtualLayout(space.shape, tid, space._most)
    layout.sources = [mapped(*mapping) for mapping in plist._virtual()]
    fill = plist._values.get("fill")
    made = create_virtual_dataset(
        loc._object, None if name is None else name_text(name), layout, None if fill is False else fill
    )
    if dapl is not None:
        keep_access(made, dapl.copy())
    return made.id
