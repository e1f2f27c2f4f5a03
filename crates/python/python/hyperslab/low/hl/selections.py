"""`h5py._hl.selections`: the arguments of `dataset[...]` as objects."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._native import Dataset, RegionReference
from .. import h5r, h5s
from .._selector import Selector, points_of
from .._transfer import key_of


def select(shape: "int | tuple[int, ...]", args: Any, dataset: "Dataset | None" = None) -> "Selection":
    """Returns the selection that `args` name in an array of a shape."""
    arguments = args if isinstance(args, tuple) else (args,)
    extent = (shape,) if isinstance(shape, int) else tuple(shape)
    if len(arguments) == 1:
        found = _whole(extent, arguments[0], dataset)
        if found is not None:
            return found
    if any(isinstance(arg, str | bytes) for arg in arguments):
        raise TypeError("Selection can't process names of fields")
    space = h5s.create_simple(extent)
    start, count, result = Selector(space).make_selection(arguments)
    is_fancy = any(not isinstance(arg, slice | int | np.integer) and hasattr(arg, "__len__") for arg in arguments)
    kind = FancySelection if is_fancy else SimpleSelection
    return kind(extent, space, count, result, start)


def _whole(shape: "tuple[int, ...]", arg: Any, dataset: "Dataset | None") -> "Selection | None":
    """Returns the selection of an argument that stands for all axes, or None."""
    if isinstance(arg, Selection):
        if arg.shape != shape:
            raise TypeError("Mismatched selection shape")
        return arg
    if isinstance(arg, np.ndarray) and arg.dtype.kind == "b" and arg.shape == shape:
        return PointSelection(shape, arg)
    if isinstance(arg, RegionReference):
        if dataset is None:
            raise TypeError("Cannot apply a region reference without a dataset")
        space = h5r.get_region(arg, dataset.id)
        if space is None or space.shape != shape:
            raise TypeError("Reference shape does not match dataset shape")
        return Selection(shape, space, guess_shape(space))
    return None


def guess_shape(sid: h5s.SpaceID) -> "tuple[int, ...]":
    """Returns the shape of the result of a selection: its box if it is regular, else one axis."""
    if sid.get_select_type() == h5s.SEL_ALL:
        return sid.shape
    if sid.get_select_type() == h5s.SEL_HYPERSLABS and sid.is_regular_hyperslab():
        _, _, count, block = sid.get_regular_hyperslab()
        return tuple(number * length for number, length in zip(count, block, strict=True))
    return (sid.get_select_npoints(),)


class Selection:
    """A selection of a dataset: its dataspace, and the shape of the result."""

    def __init__(self, shape: "tuple[int, ...]", spaceid: "h5s.SpaceID | None" = None, mshape: Any = None) -> None:
        self._id = h5s.create_simple(shape) if spaceid is None else spaceid
        self._shape = tuple(shape)
        self._mshape = self._shape if mshape is None else tuple(mshape)

    @property
    def id(self) -> h5s.SpaceID:
        """The dataspace."""
        return self._id

    @property
    def shape(self) -> "tuple[int, ...]":
        """The shape of the dataset."""
        return self._shape

    @property
    def nselect(self) -> int:
        """The number of selected elements."""
        return self._id.get_select_npoints()

    @property
    def mshape(self) -> "tuple[int, ...]":
        """The number of selected elements along each axis."""
        return self._mshape

    @property
    def array_shape(self) -> "tuple[int, ...]":
        """The shape of the result."""
        return self._mshape

    def _key_and_shape(self, shape: "tuple[int, ...]") -> "tuple[Any, tuple[int, ...]]":
        """Returns the argument of `dataset[...]` for a dataset of a shape, and the shape of the result."""
        if self._shape != shape:
            raise TypeError("Mismatched selection shape")
        return key_of(self._id, shape), self.array_shape

    def expand_shape(self, source_shape: "tuple[int, ...]") -> "tuple[int, ...]":
        """Returns the shape of an array that is written to the selection, with the axes that it lacks."""
        if int(np.prod(source_shape, dtype=object)) != self.nselect:
            raise TypeError(f"Broadcasting is not supported for this selection: {source_shape} -> {self.mshape}")
        return self.mshape

    def broadcast(self, source_shape: "tuple[int, ...]") -> "Iterator[h5s.SpaceID]":
        """Returns the dataspaces to which an array of a shape is written in turn."""
        self.expand_shape(source_shape)
        yield self._id

    def __getitem__(self, args: Any) -> "Selection":
        raise NotImplementedError("This class does not support indexing")


class PointSelection(Selection):
    """Single elements."""

    def __init__(self, shape: "tuple[int, ...]", mask: Any) -> None:
        space = h5s.create_simple(shape)
        space._selection = points_of(mask)
        super().__init__(shape, space, (space.get_select_npoints(),))


class SimpleSelection(Selection):
    """A hyperslab."""

    def __init__(
        self,
        shape: "tuple[int, ...]",
        spaceid: "h5s.SpaceID | None" = None,
        mshape: Any = None,
        array_shape: Any = None,
        start: "tuple[int, ...]" = (),
    ) -> None:
        super().__init__(shape, spaceid, mshape)
        self._array_shape = self._mshape if array_shape is None else tuple(array_shape)
        self._start = start or (0,) * len(shape)

    @property
    def array_shape(self) -> "tuple[int, ...]":
        return self._array_shape


class FancySelection(SimpleSelection):
    """A list of indices along an axis."""
