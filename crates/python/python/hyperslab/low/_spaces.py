"""Selections of the elements of a dataspace, as values."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Shape = tuple[int, ...]


class Selection:
    """A selection. `shape` is the extent that it selects from."""

    #: The number of the kind in libhdf5.
    kind: int

    def count(self, shape: Shape) -> int:
        """Returns the number of elements."""
        return len(self.coordinates(shape))

    def coordinates(self, shape: Shape) -> Any:
        """Returns a row of coordinates for each element, in the order of the selection."""
        raise NotImplementedError

    def blocks(self, shape: Shape) -> Any:
        """Returns the first and the last corner of each block."""
        raise NotImplementedError

    def key(self, shape: Shape) -> Any:
        """Returns the argument of `dataset[...]`, or None if the elements must be listed."""
        return None

    def moved(self, offset: Shape, shape: Shape) -> "Selection":
        """Returns the same selection elsewhere."""
        return Blocks(self.coordinates(shape) + np.array(offset, dtype="i8"))


class All(Selection):
    """All elements."""

    kind = 3

    def count(self, shape: Shape) -> int:
        return int(np.prod(shape, dtype=object))

    def coordinates(self, shape: Shape) -> Any:
        return np.indices(shape, dtype="i8").reshape(len(shape), -1).T

    def blocks(self, shape: Shape) -> Any:
        if not self.count(shape):
            return np.zeros((0, 2, len(shape)), dtype="i8")
        return np.array([[[0] * len(shape), [length - 1 for length in shape]]], dtype="i8")

    def key(self, shape: Shape) -> Any:
        return ()


class Nothing(Selection):
    """No elements."""

    kind = 0

    def coordinates(self, shape: Shape) -> Any:
        return np.zeros((0, len(shape)), dtype="i8")

    def blocks(self, shape: Shape) -> Any:
        return np.zeros((0, 2, len(shape)), dtype="i8")


@dataclass(frozen=True)
class Elements(Selection):
    """Single elements, in any order."""

    points: Any
    kind = 1

    def coordinates(self, shape: Shape) -> Any:
        return self.points

    def blocks(self, shape: Shape) -> Any:
        return np.stack([self.points, self.points], axis=1)

    def moved(self, offset: Shape, shape: Shape) -> Selection:
        return Elements(self.points + np.array(offset, dtype="i8"))


@dataclass(frozen=True)
class Regular(Selection):
    """A regular hyperslab: `count_` blocks along each axis, `stride` apart."""

    start: Shape
    stride: Shape
    count_: Shape
    block: Shape
    kind = 2

    def check(self, rank: int) -> None:
        for name, values in (("start", self.start), ("stride", self.stride), ("count", self.count_)):
            if len(values) != rank:
                raise ValueError(f"{name} needs one value for each of the {rank} axes, not {len(values)}")
        if len(self.block) != rank:
            raise ValueError(f"block needs one value for each of the {rank} axes, not {len(self.block)}")
        if min(self.start) < 0 or min(self.count_) < 0 or min(self.block) < 0 or min(self.stride) < 1:
            raise ValueError("a hyperslab has no negative values, and strides of at least 1")
        axes = zip(self.stride, self.count_, self.block, strict=True)
        if any(count > 1 and stride < block for stride, count, block in axes):
            raise ValueError("Hyperslab blocks overlap (hyperslab blocks overlap)")

    def count(self, shape: Shape) -> int:
        return int(np.prod(self.count_, dtype=object) * np.prod(self.block, dtype=object))

    def axis(self, number: int) -> Any:
        """Returns the indices along an axis."""
        starts = self.start[number] + self.stride[number] * np.arange(self.count_[number], dtype="i8")
        return (starts[:, None] + np.arange(self.block[number], dtype="i8")).ravel()

    def coordinates(self, shape: Shape) -> Any:
        axes = np.meshgrid(*(self.axis(number) for number in range(len(shape))), indexing="ij")
        return np.stack([axis.ravel() for axis in axes], axis=1)

    def blocks(self, shape: Shape) -> Any:
        if not self.count(shape):
            return np.zeros((0, 2, len(shape)), dtype="i8")
        starts, block = [], list(self.block)
        for number, (stride, count, size) in enumerate(zip(self.stride, self.count_, self.block, strict=True)):
            first = self.start[number] + stride * np.arange(count, dtype="i8")
            if stride == size:
                # Blocks that touch are one block.
                first, block[number] = first[:1], size * count
            starts.append(first)
        grid = np.stack([axis.ravel() for axis in np.meshgrid(*starts, indexing="ij")], axis=1)
        return np.stack([grid, grid + np.array(block, dtype="i8") - 1], axis=1)

    def key(self, shape: Shape) -> Any:
        from .._selections import MultiBlockSlice

        parts: list[Any] = []
        for start, stride, count, block in zip(self.start, self.stride, self.count_, self.block, strict=True):
            if count == 0 or block == 0:
                parts.append(slice(0, 0))
            elif count == 1 or stride == block:
                parts.append(slice(start, start + count * block))
            elif block == 1:
                parts.append(slice(start, start + (count - 1) * stride + 1, stride))
            else:
                parts.append(MultiBlockSlice(start=start, stride=stride, count=count, block=block))
        return tuple(parts)

    def moved(self, offset: Shape, shape: Shape) -> Selection:
        start = tuple(at + by for at, by in zip(self.start, offset, strict=True))
        return Regular(start, self.stride, self.count_, self.block)


@dataclass(frozen=True)
class Blocks(Selection):
    """Elements in row-major order that are no regular hyperslab."""

    points: Any
    kind = 2

    def coordinates(self, shape: Shape) -> Any:
        return self.points

    def blocks(self, shape: Shape) -> Any:
        if not len(self.points):
            return np.zeros((0, 2, len(shape)), dtype="i8")
        return np.array(_blocks(self.points), dtype="i8")


def _blocks(points: Any) -> "list[tuple[list[int], list[int]]]":
    """Returns the corners of blocks that hold sorted points: equal parts of adjacent rows are one block."""
    if points.shape[1] == 1:
        values = points[:, 0]
        ends = np.flatnonzero(np.diff(values) != 1)
        firsts, lasts = np.r_[0, ends + 1], np.r_[ends, len(values) - 1]
        return [([int(values[a])], [int(values[b])]) for a, b in zip(firsts, lasts, strict=True)]
    rows, begins = np.unique(points[:, 0], return_index=True)
    grouped: list[tuple[int, int, list[tuple[list[int], list[int]]]]] = []
    for row, part in zip(rows, np.split(points[:, 1:], begins[1:]), strict=True):
        inner = _blocks(part)
        if grouped and grouped[-1][1] == row - 1 and grouped[-1][2] == inner:
            grouped[-1] = (grouped[-1][0], int(row), inner)
        else:
            grouped.append((int(row), int(row), inner))
    return [([first, *low], [last, *high]) for first, last, inner in grouped for low, high in inner]


def _flat(selection: Selection, shape: Shape) -> Any:
    return np.unique(np.ravel_multi_index(tuple(selection.coordinates(shape).T), shape))


_OPERATIONS: "dict[int, Callable[[Any, Any], Any]]" = {
    1: np.union1d,
    2: np.intersect1d,
    3: np.setxor1d,
    4: np.setdiff1d,
    5: lambda mine, other: np.setdiff1d(other, mine),
}


def combine(mine: Selection, other: Selection, op: int, shape: Shape) -> Selection:
    """Returns the combination of two selections by the number of an operation of libhdf5."""
    if op == 0:
        return other
    if op not in _OPERATIONS:
        raise ValueError(f"Invalid operation on selections: {op}")
    flat = _OPERATIONS[op](_flat(mine, shape), _flat(other, shape))
    points = np.stack(np.unravel_index(flat, shape), axis=1).astype("i8")
    return regular_of(points) or Blocks(points)


def regular_of(points: Any) -> "Regular | None":
    """Returns sorted points as a regular hyperslab, if they are one."""
    axes = [np.unique(column) for column in points.T]
    if not len(points) or int(np.prod([len(axis) for axis in axes], dtype=object)) != len(points):
        return None
    parts = []
    for axis in axes:
        breaks = np.flatnonzero(np.diff(axis) != 1)
        block = int(breaks[0]) + 1 if len(breaks) else len(axis)
        if len(axis) % block:
            return None
        starts = axis[::block]
        strides = np.unique(np.diff(starts))
        if len(strides) > 1 or not np.array_equal((starts[:, None] + np.arange(block)).ravel(), axis):
            return None
        parts.append((int(axis[0]), int(strides[0]) if len(strides) else 1, len(starts), block))
    start, stride, count, block_ = zip(*parts, strict=True)
    return Regular(start, stride, count, block_)
