"""The mappings of a virtual dataset: as dataspaces, and as the package keeps them."""

from typing import Any

import numpy as np

from .._virtual import UNLIMITED, Space, VDSmap, virtual_sources
from ._objects import unsupported
from ._spaces import All, Elements, Nothing, Regular, of_boxes
from .h5s import SIMPLE, SpaceID


def kept(space: SpaceID) -> Space:
    """Returns the selection of a dataspace as a virtual dataset keeps it.

    Raises:
        ValueError: The selection lists single elements, which libhdf5 refuses, too.
        NotImplementedError: The selection is neither regular nor a product of indices.
    """
    selection = space._moved
    if isinstance(selection, All):
        return Space("all")
    if isinstance(selection, Nothing):
        return Space("regular", [(0, 1, 0, 0)] * len(space._shape))
    if isinstance(selection, Elements):
        raise ValueError("Point selections not currently supported with virtual datasets")
    if isinstance(selection, Regular):
        axes = zip(selection.start, selection.stride, selection.count_, selection.block, strict=True)
        return Space("regular", [tuple(None if one == UNLIMITED else one for one in axis) for axis in axes])
    indices = [np.unique(column).tolist() for column in selection.coordinates(space._shape).T]
    if np.prod([len(axis) for axis in indices], dtype=object) != selection.count(space._shape):
        raise unsupported("a mapping of blocks that are no grid", "map each block by itself")
    return Space("lists", indices)


def shown(space: Space, shape: "tuple[int, ...] | None") -> SpaceID:
    """Returns a dataspace with a selection that a virtual dataset keeps.

    A file does not store the extents of sources. Without `shape`, the extent ends where the selection ends.
    """
    if shape is None:
        shape = _extent(space)
    made = SpaceID(SIMPLE, shape)
    if space.kind == "none":
        made._selection = Nothing()
    elif space.kind == "regular":
        axes = [tuple(UNLIMITED if one is None else one for one in axis) for axis in space.data]
        made._selection = Regular(*zip(*axes, strict=True))
    elif space.kind == "points":
        made._selection = Elements(np.asarray(space.data, dtype="i8"))
    elif space.kind == "blocks":
        made._selection = of_boxes(space.data)
    return made


def _extent(space: Space) -> "tuple[int, ...]":
    if space.kind == "regular":
        ends = []
        for start, stride, count, block in space.data:
            is_endless = count is None or block is None
            ends.append(start + 1 if is_endless else start + max(count - 1, 0) * stride + block)
        return tuple(ends)
    if space.kind in ("blocks", "points") and len(space.data):
        corners = np.asarray(space.data, dtype="i8").reshape(-1, np.shape(space.data)[-1])
        return tuple(int(last) + 1 for last in corners.max(axis=0))
    return ()


def mapped(vspace: SpaceID, file_name: bytes, dset_name: bytes, src_space: SpaceID) -> VDSmap:
    """Returns a mapping.

    Raises:
        ValueError: The selections have different numbers of elements.
    """
    sides = kept(vspace), kept(src_space)
    counts = [_count(side, space) for side, space in zip(sides, (vspace, src_space), strict=True)]
    if None not in counts and counts[0] != counts[1]:
        raise ValueError(
            "Unable to set virtual dataset mapping (source and virtual space selections have different number of "
            f"elements: {counts[1]} and {counts[0]})"
        )
    return VDSmap(sides[0], file_name.decode(), dset_name.decode(), sides[1])


def _count(side: Space, space: SpaceID) -> "int | None":
    is_endless = side.kind == "regular" and any(None in axis for axis in side.data)
    return None if is_endless else space.get_select_npoints()


def mappings_of(dataset: Any) -> "list[tuple[SpaceID, bytes, bytes, SpaceID]]":
    """Returns the mappings of a virtual dataset as `set_virtual` takes them."""
    found = []
    for one in virtual_sources(dataset):
        target = shown(one.vspace, dataset.shape)
        same = target._shape if one.src_space.kind == "all" else None
        found.append((target, one.file_name.encode(), one.dset_name.encode(), shown(one.src_space, same)))
    return found
