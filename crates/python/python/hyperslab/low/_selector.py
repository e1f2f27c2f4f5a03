"""The arguments of `dataset[...]` as selections of dataspaces."""

from typing import Any

import numpy as np

from .._selections import MultiBlockSlice as MultiBlockSlice
from ._spaces import Elements, Regular, of_axes
from .h5s import SELECT_SET, SpaceID


class Selector:
    """Makes selections of a dataspace."""

    def __init__(self, space: SpaceID) -> None:
        self.spaceobj = space

    def make_selection(self, args: "tuple[Any, ...]") -> "tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]":
        """Selects what `args` name. Returns the start, the count and the shape of the result."""
        space, shape = self.spaceobj, self.spaceobj.shape
        axes, kept = _axes(args, shape)
        counts = tuple(len(axis) for axis in axes)
        result = tuple(count for count, is_kept in zip(counts, kept, strict=True) if is_kept)
        if 0 in counts:
            space.select_none()
            return (0,) * len(shape), counts, result
        found = [_progression(axis) for axis in axes]
        if all(step is not None for step in found):
            start = tuple(int(axis[0]) for axis in axes)
            space.select_hyperslab(start, counts, tuple(step or 1 for step in found), op=SELECT_SET)
            return start, counts, result
        space._selection = of_axes(axes)
        return tuple(int(axis[0]) for axis in axes), counts, result


class Reader:
    """Reads selections of a dataset."""

    def __init__(self, dsid: Any) -> None:
        self._dataset = dsid._object

    def read(self, args: "tuple[Any, ...]") -> Any:
        return self._dataset[args]


def _progression(axis: Any) -> "int | None":
    """Returns the distance between the indices of an axis, or None if there is not one."""
    if len(axis) == 1:
        return 1
    steps = np.diff(axis)
    return int(steps[0]) if (steps == steps[0]).all() and steps[0] > 0 else None


def _axes(args: "tuple[Any, ...]", shape: "tuple[int, ...]") -> "tuple[list[Any], list[bool]]":
    """Returns the indices along each axis, and whether the result has the axis."""
    given = list(args)
    ellipses = [number for number, arg in enumerate(given) if arg is Ellipsis]
    if len(ellipses) > 1:
        raise ValueError("Only one ellipsis may be used.")
    missing = len(shape) - (len(given) - len(ellipses))
    if missing < 0:
        raise ValueError(f"{len(given)} indexing arguments for {len(shape)} dimensions")
    at = ellipses[0] if ellipses else len(given)
    given[at : at + len(ellipses)] = [slice(None)] * missing
    axes, kept, lists = [], [], 0
    for arg, length in zip(given, shape, strict=True):
        indices, is_kept = _indices(arg, length)
        if not isinstance(arg, slice | MultiBlockSlice) and is_kept:
            lists += 1
        axes.append(indices)
        kept.append(is_kept)
    if lists > 1:
        raise TypeError("Only one indexing vector or array is currently allowed for fancy indexing")
    return axes, kept


def _indices(arg: Any, length: int) -> "tuple[Any, bool]":
    if isinstance(arg, slice):
        start, stop, step = arg.indices(length)
        if step < 1:
            raise ValueError(f"Step must be >= 1 (got {step})")
        return np.arange(start, max(start, stop), step), True
    if isinstance(arg, MultiBlockSlice):
        start, stride, count, block = arg.indices(length)
        return Regular((start,), (stride,), (count,), (block,)).axis(0), True
    if isinstance(arg, int | np.integer) and not isinstance(arg, bool | np.bool_):
        index = int(arg) + length if arg < 0 else int(arg)
        if not 0 <= index < length:
            raise IndexError(f"Index ({index}) out of range for (0-{length - 1})")
        return np.array([index]), False
    array = np.asarray(arg)
    if array.ndim != 1:
        raise TypeError("Only 1D arrays allowed for fancy indexing")
    if array.dtype.kind == "b":
        if len(array) != length:
            raise TypeError("boolean index did not match indexed array")
        return np.flatnonzero(array), True
    if array.size and array.dtype.kind not in "iu":
        raise TypeError("Indexing arrays must have integer dtypes")
    array = np.where(array < 0, array + length, array).astype("i8")
    if len(array) and (array.min() < 0 or array.max() >= length):
        raise IndexError(f"Fancy indexing out of range for (0-{length - 1})")
    if (np.diff(array) <= 0).any():
        raise TypeError("Indexing elements must be in increasing order")
    return array, True


def points_of(mask: Any) -> Elements:
    """Returns the elements for which a mask is true."""
    return Elements(np.stack(np.nonzero(mask), axis=1).astype("i8"))
