"""References to objects and to regions of datasets."""

from typing import Any

import numpy as np

from .._native import Dataset as _Dataset
from .._native import Datatype as _Datatype
from .._native import Reference as Reference
from .._native import RegionReference as RegionReference
from . import h5s
from ._objects import name_text
from ._spaces import of_boxes

OBJECT, DATASET_REGION = 0, 1


def create(loc: Any, name: "bytes | str", ref_type: int, space: "h5s.SpaceID | None" = None) -> Reference:
    """Creates a reference to an object, or to the selection of a dataspace."""
    text = name_text(name)
    try:
        found = loc._object if text == "." else loc._object[text]
    except KeyError as error:
        raise RuntimeError(f"Unable to create a reference ({error.args[0]})") from None
    if ref_type == OBJECT:
        reference: Reference = found.ref
        return reference
    if ref_type != DATASET_REGION:
        raise ValueError("Unknown reference typecode")
    if space is None:
        raise ValueError("Dataspace required for region reference")
    from ._transfer import key_of

    # Without the offset, as in libhdf5.
    chosen = h5s.SpaceID(space._kind, space._shape, space._most)
    chosen._selection = space._selection
    region: Reference = found.regionref[key_of(chosen, found.shape)]
    return region


def dereference(ref: Reference, id: Any) -> Any:
    """Returns the identifier of the object that a reference leads to, or None."""
    return id._object.file[ref].id if ref else None


def get_region(ref: RegionReference, id: Any) -> "h5s.SpaceID | None":
    """Returns the dataspace of a dataset with the region of a reference selected, or None."""
    if not ref:
        return None
    dataset = id._object.file[ref]
    space: h5s.SpaceID = dataset.id.get_space()
    kind, rows = dataset.regionref._stored(ref)
    if kind == "none":
        space.select_none()
    elif kind == "points":
        space.select_elements(rows)
    elif kind == "regular":
        start, stride, count, block = rows
        space.select_hyperslab(start, count, stride, block)
    elif kind == "blocks":
        space._selection = of_boxes(np.asarray(rows).reshape(-1, 2, len(space.shape)))
    return space


def get_obj_type(ref: Reference, id: Any) -> "int | None":
    """Returns the kind of the object that a reference leads to, as `h5g` numbers them, or None."""
    if not ref:
        return None
    found = id._object.file[ref]
    return 1 if isinstance(found, _Dataset) else 2 if isinstance(found, _Datatype) else 0


def get_name(ref: Reference, loc: Any) -> "bytes | None":
    """Returns the path of the object that a reference leads to, or None."""
    name = loc._object.file[ref].name if ref else None
    return None if name is None else name.encode()
