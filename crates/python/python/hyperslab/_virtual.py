"""Virtual datasets: their layout, their sources, and what a dataset says of both."""

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ._arrays import is_datatype, numpy_dtype
from ._create import _fill
from ._native import Dataset, Group
from ._shapes import lengths

UNLIMITED = 2**64 - 1
"""The end of a slice that has no end, in a `VirtualLayout` and a `VirtualSource`."""

# Start, stride, count and block of an axis; None is a count without end.
_Axis = tuple[int, int, "int | None", "int | None"]


class Space:
    """The elements of one side of a mapping of a virtual dataset.

    The methods are those of h5py's dataspaces.

    Attributes:
        kind: "all", "none", "regular", "blocks" or "points".
        data: For "regular", start, stride, count and block of each axis, with None for no end. For "blocks",
            the first and the last coordinate of each block. For "points", the coordinates of each.

    Example:
        >>> hs.VirtualSource("a.h5", "t2m", (4, 6))[1:3, ::2].space
        Space('regular', [(1, 1, 1, 2), (0, 2, 3, 1)])
    """

    __slots__ = ("data", "kind")

    def __init__(self, kind: str, data: Any = None):
        self.kind = kind
        self.data = data

    def __repr__(self) -> str:
        return f"Space({self.kind!r})" if self.data is None else f"Space({self.kind!r}, {self.data!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and (self.kind, self.data) == (other.kind, other.data)

    def __hash__(self) -> int:
        return hash((self.kind, repr(self.data)))

    def get_select_type(self) -> int:
        """Returns the type of the selection: 0 for none, 1 for points, 2 for blocks, 3 for all."""
        return {"none": 0, "points": 1, "regular": 2, "lists": 2, "blocks": 2, "all": 3}[self.kind]

    def is_regular_hyperslab(self) -> bool:
        """Returns whether the selection has a start, stride, count and block for each axis."""
        return self.kind == "regular"

    def get_regular_hyperslab(self) -> "tuple[tuple[int, ...], ...]":
        """Returns the starts, strides, counts and blocks of the axes.

        Raises:
            TypeError: The selection is not regular.
        """
        if self.kind != "regular":
            raise TypeError("not a regular hyperslab")
        return tuple(tuple(UNLIMITED if one is None else one for one in part) for part in zip(*self.data, strict=True))


class VDSmap(NamedTuple):
    """One mapping of a virtual dataset: elements of it, and the elements of a source that they are.

    Example:
        >>> layout = hs.VirtualLayout((2, 6), "f4")
        >>> layout[0] = hs.VirtualSource("january.h5", "mean", shape=(6,))
        >>> layout.sources[0].file_name
        'january.h5'
    """

    vspace: Space
    """The elements of the virtual dataset."""
    file_name: str
    """The path of the source's file, "." for the file of the virtual dataset."""
    dset_name: str
    """The path of the source in its file."""
    src_space: Space
    """The elements of the source."""


def _lengths(what: str, shape: Any) -> "tuple[int, ...]":
    found = lengths(what, shape)
    assert found is not None
    return tuple(found)


def _select(shape: "tuple[int, ...]", key: Any) -> "tuple[Space, tuple[int, ...], int | None]":
    """Returns the selection that `key` makes of an array, its shape, and the number of elements.

    The number is None if the selection has no end.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    if sum(one is Ellipsis for one in keys) > 1:
        raise ValueError("Only one ellipsis may be used.")
    places = [number for number, one in enumerate(keys) if one is Ellipsis]
    at = places[0] if places else len(keys)
    missing = len(shape) - (len(keys) - len(places))
    if missing < 0:
        raise TypeError(f"{len(keys)} indexing arguments for {len(shape)} dimensions")
    keys[at : at + len(places)] = [slice(None)] * missing
    axes: list[Any] = []
    result: list[int] = []
    count: int | None = 1
    for axis, (one, size) in enumerate(zip(keys, shape, strict=True)):
        if isinstance(one, slice):
            endless = isinstance(one.stop, int | np.integer) and one.stop == UNLIMITED
            start, stop, step = slice(one.start, None if endless else one.stop, one.step).indices(size)
            if step < 1:
                raise ValueError(f"Step must be >= 1 (got {step})")
            number = len(range(start, stop, step))
            result.append(number)
            if endless:
                axes.append((start, step, None, 1))
                count = None
                continue
            axes.append((start, 1, 1, number) if step == 1 or number == 1 else (start, step, number, 1))
        elif isinstance(one, int | np.integer) and not isinstance(one, bool):
            index = int(one) + (size if one < 0 else 0)
            if not 0 <= index < size:
                raise IndexError(f"Index ({one}) out of range for (0-{size - 1}) on axis {axis}")
            axes.append((index, 1, 1, 1))
            number = 1
        else:
            chosen = np.asarray(one)
            if chosen.dtype.kind == "b":
                if chosen.shape != (size,):
                    raise TypeError("Boolean indexing array has incompatible shape")
                chosen = chosen.nonzero()[0]
            if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
                raise TypeError(f"Illegal index {one!r} (must be a slice, a number or a list of numbers)")
            chosen = np.where(chosen < 0, chosen + size, chosen)
            if chosen.size and (chosen.min() < 0 or chosen.max() >= size):
                raise IndexError(f"an index is out of range for axis {axis} of {size}")
            if np.any(np.diff(chosen) <= 0):
                raise TypeError("Indexing elements must be in increasing order")
            axes.append([int(index) for index in chosen])
            number = len(axes[-1])
            result.append(number)
        count = None if count is None else count * number
    if any(isinstance(axis, list) for axis in axes):
        return Space("lists", axes), tuple(result), count
    return Space("regular", axes), tuple(result), count


class VirtualSource:
    """A dataset, or a part of one, that a virtual dataset shows.

    Args:
        path_or_dataset: The path of the file, or a `Dataset`, which gives all other arguments.
        name: The path of the dataset in its file.
        shape: The shape of the dataset.
        dtype: The dtype of the dataset.
        maxshape: The largest shape, with None for no limit.

    Raises:
        TypeError: Arguments are missing, or given besides a `Dataset`.

    Example:
        >>> source = hs.VirtualSource("january.h5", "t2m", shape=(31, 6))
        >>> source[10:20, 0].shape
        (10,)
    """

    def __init__(
        self,
        path_or_dataset: "str | bytes | os.PathLike[str] | Dataset",
        name: str | None = None,
        shape: "int | Sequence[int] | None" = None,
        dtype: Any = None,
        maxshape: "int | Sequence[int | None] | None" = None,
    ):
        limits: Any = maxshape
        if isinstance(path_or_dataset, Dataset):
            given = {"name": name, "shape": shape, "dtype": dtype, "maxshape": maxshape}
            failed = {key: value for key, value in given.items() if value is not None}
            if failed:
                raise TypeError(
                    "If a Dataset is passed as the first argument then no other arguments may be passed.  "
                    f"You passed {failed}"
                )
            self.path: Any = path_or_dataset.file.filename
            self.name = path_or_dataset.name
            self.dtype: Any = path_or_dataset.dtype
            self._shape = _lengths("shape", path_or_dataset.shape)
            limits = path_or_dataset.maxshape
        else:
            if name is None:
                raise TypeError("The name parameter is required when specifying a source by path")
            if shape is None:
                raise TypeError("The shape parameter is required when specifying a source by path")
            self.path, self.name, self.dtype = path_or_dataset, name, dtype
            self._shape = _lengths("shape", shape)
        if isinstance(limits, int):
            limits = (limits,)
        self.maxshape = self._shape if limits is None else tuple(UNLIMITED if one is None else one for one in limits)
        self.space = Space("all")
        self._result: tuple[int, ...] = self._shape
        self._count: int | None = math.prod(self._shape)
        self._all_selected = True

    @property
    def shape(self) -> "tuple[int, ...]":
        """The shape of the selected part.

        Example:
            >>> hs.VirtualSource("january.h5", "t2m", shape=(31, 6))[0].shape
            (6,)
        """
        return self._result

    def __getitem__(self, key: Any) -> "VirtualSource":
        if not self._all_selected:
            raise RuntimeError("VirtualSource objects can only be sliced once.")
        part = object.__new__(VirtualSource)
        part.__dict__.update(self.__dict__)
        part.space, part._result, part._count = _select(self._shape, key)
        part._all_selected = False
        return part


class VirtualLayout:
    """The parts of which a virtual dataset is made.

    `layout[selection] = source` maps a part; `Group.create_virtual_dataset` makes the dataset.

    Args:
        shape: The shape of the dataset.
        dtype: The dtype of the dataset. Elements of other types are converted when they are read.
        maxshape: The largest shape, with None for no limit.
        filename: The path of the file that will hold the dataset. Sources in the same file are stored
            without a file name, so that the file can be renamed.

    Example:
        >>> layout = hs.VirtualLayout((2, 6), "f4")
        >>> layout[0] = hs.VirtualSource("january.h5", "mean", shape=(6,))
        >>> layout[1] = hs.VirtualSource("february.h5", "mean", shape=(6,))
        >>> len(layout.sources)
        2
    """

    def __init__(
        self,
        shape: "int | Sequence[int]",
        dtype: Any,
        maxshape: "int | Sequence[int | None] | None" = None,
        filename: "str | bytes | os.PathLike[str] | None" = None,
    ):
        self.shape = _lengths("shape", shape)
        self.dtype = dtype
        self.maxshape = lengths("maxshape", maxshape)
        self._filename = None if filename is None else os.fsdecode(filename)
        self.sources: list[VDSmap] = []

    def __setitem__(self, key: Any, source: VirtualSource) -> None:
        space, _, count = _select(self.shape, key)
        if count is not None and count != source._count:
            raise ValueError(
                "Unable to set virtual dataset mapping (source and virtual space selections have different number of "
                f"elements: {source._count} and {count})"
            )
        path = os.fsdecode(source.path)
        name = os.fsdecode(source.name or "")
        is_here = self._filename is not None and path == self._filename
        self.sources.append(VDSmap(space, "." if is_here else path, name, source.space))

    def make_dataset(self, parent: Group, name: "str | bytes | None", fillvalue: Any = None) -> Any:
        """Makes the dataset, as `Group.create_virtual_dataset` does.

        Args:
            parent: The group of the dataset.
            name: The name of the dataset.
            fillvalue: The value of elements that no source has.

        Returns:
            The low-level identifier of the dataset.

        Example:
            >>> layout = hs.VirtualLayout((6,), "f4")
            >>> layout.make_dataset(file, "nothing", fillvalue=-1).shape
            (6,)
        """
        return create_virtual_dataset(parent, name, self, fillvalue).id


def create_virtual_dataset(
    group: Group, name: "str | bytes | None", layout: VirtualLayout, fillvalue: Any = None
) -> Any:
    """Creates a virtual dataset; see `Group.create_virtual_dataset`."""
    filename = group.file.filename
    if layout._filename is not None and layout._filename != filename:
        raise Exception(f"{filename!r} != {layout._filename!r}")
    dtype = layout.dtype
    kind = numpy_dtype(dtype)
    sides = [
        (_given(one.vspace), "." if one.file_name == filename else one.file_name, one.dset_name, _given(one.src_space))
        for one in layout.sources
    ]
    return group._create_dataset(
        name,
        {
            "shape": layout.shape,
            "maxshape": layout.maxshape,
            "dtype": dtype if is_datatype(dtype) else kind,
            "chunks": None,
            "compact": False,
            "external": [],
            "allocation": None,
            "filters": [],
            "fillvalue": None if fillvalue is None else _fill(fillvalue, kind),
            "fill_time": "ifset",
            "track_order": False,
            "modification": None,
            "skip_fill_chunks": None,
            "is_table": False,
            "stored_as": None,
            "mappings": sides,
        },
    )


def _given(space: Space) -> Any:
    """Returns a selection as the native module takes it."""
    return None if space.kind == "all" else space.data


@contextmanager
def _build(group: Group, name: Any, layout: VirtualLayout, fillvalue: Any) -> Iterator[VirtualLayout]:
    yield layout
    create_virtual_dataset(group, name, layout, fillvalue)


def build_virtual_dataset(
    group: Group, name: Any, shape: Any, dtype: Any, maxshape: Any = None, fillvalue: Any = None
) -> Any:
    """Returns a context manager that yields a layout; see `Group.build_virtual_dataset`."""
    return _build(group, name, VirtualLayout(shape, dtype, maxshape, group.file.filename), fillvalue)


def virtual_sources(dataset: Dataset, missing_only: bool = False) -> "list[Any]":
    """Lists the mappings of a virtual dataset; see `Dataset.virtual_sources`."""
    if not dataset.is_virtual:
        raise RuntimeError("Not a virtual dataset")
    return [
        VDSmap(Space(*target), file, name, Space(*source))
        for target, file, name, source, is_missing in dataset._virtual_sources(missing_only)
        if is_missing or not missing_only
    ]
