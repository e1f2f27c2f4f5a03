"""Selections of the elements of a dataspace, as values."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
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

    def bounds(self, shape: Shape) -> "tuple[Any, Any] | None":
        """Returns the first and the last corner of the box around the selection, or None if it is empty."""
        blocks = self.blocks(shape)
        return (blocks[:, 0].min(axis=0), blocks[:, 1].max(axis=0)) if len(blocks) else None

    def key(self, shape: Shape) -> Any:
        """Returns the argument of `dataset[...]`, or None if the elements must be listed."""
        return None

    def moved(self, offset: Shape) -> "Selection":
        """Returns the same selection elsewhere. "All" and "none" have no place."""
        return self


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
class Listed(Selection):
    """Elements that are listed, each with its coordinates."""

    points: Any

    def coordinates(self, shape: Shape) -> Any:
        return self.points

    def bounds(self, shape: Shape) -> "tuple[Any, Any] | None":
        return _around(self.points)

    def moved(self, offset: Shape) -> Selection:
        return replace(self, points=self.points + np.array(offset, dtype="i8"))


class Elements(Listed):
    """Single elements, in any order."""

    kind = 1

    def blocks(self, shape: Shape) -> Any:
        return np.stack([self.points, self.points], axis=1)


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
        axes = zip(self.start, self.stride, self.count_, strict=True)
        starts = [start + stride * np.arange(count, dtype="i8") for start, stride, count in axes]
        grid = np.stack([axis.ravel() for axis in np.meshgrid(*starts, indexing="ij")], axis=1)
        return np.stack([grid, grid + np.array(self.block, dtype="i8") - 1], axis=1)

    def bounds(self, shape: Shape) -> "tuple[Any, Any] | None":
        if not self.count(shape):
            return None
        start, stride, count, block = (np.array(values, dtype=object) for values in self._parts())
        return start, start + (count - 1) * stride + block - 1

    def _parts(self) -> "tuple[Shape, Shape, Shape, Shape]":
        return self.start, self.stride, self.count_, self.block

    def runs(self, number: int) -> Any:
        """Returns the first and the last index of each run along an axis. Blocks that touch are one run."""
        start, stride, count, block = (values[number] for values in self._parts())
        if stride == block:
            count, block = min(count, 1), count * block
        first = start + stride * np.arange(count if block else 0, dtype="i8")
        return np.stack([first, first + block - 1], axis=1)

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

    def moved(self, offset: Shape) -> Selection:
        start = tuple(at + by for at, by in zip(self.start, offset, strict=True))
        return Regular(start, self.stride, self.count_, self.block)


class Blocks(Listed):
    """Elements in row-major order that are no regular hyperslab."""

    kind = 2

    def blocks(self, shape: Shape) -> Any:
        if not len(self.points):
            return np.zeros((0, 2, len(shape)), dtype="i8")
        return np.array(_blocks(self.points), dtype="i8")


@dataclass(frozen=True)
class Cells(Selection):
    """A selection that is no regular hyperslab, as cells of a grid.

    Along each axis, `edges` cuts a part of the extent into intervals, without gaps. `mask` says which of the
    cells are selected. So the size is that of the shape of a selection, not the number of its elements.
    """

    edges: "tuple[Any, ...]"
    mask: Any
    kind = 2

    def count(self, shape: Shape) -> int:
        rest = self.mask.astype("i8")
        for edges in reversed(self.edges):
            rest = rest @ np.diff(edges)
        return int(rest)

    def coordinates(self, shape: Shape) -> Any:
        cells = np.argwhere(self.mask)
        low = np.stack([edges[cell] for edges, cell in zip(self.edges, cells.T, strict=True)], axis=1)
        lengths = np.stack([np.diff(edges)[cell] for edges, cell in zip(self.edges, cells.T, strict=True)], axis=1)
        counts = lengths.prod(axis=1)
        rest = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)
        axes: list[Any] = []
        for first, length in zip(low.T[::-1], lengths.T[::-1], strict=True):
            rest, inside = np.divmod(rest, np.repeat(length, counts))
            axes.append(np.repeat(first, counts) + inside)
        # `lexsort` sorts by its last key first.
        return np.stack(axes[::-1], axis=1)[np.lexsort(axes)]

    def blocks(self, shape: Shape) -> Any:
        corners = np.array(_blocks(np.argwhere(self.mask)), dtype="i8").reshape(-1, 2, len(shape))
        for axis, edges in enumerate(self.edges):
            corners[:, 0, axis], corners[:, 1, axis] = edges[corners[:, 0, axis]], edges[corners[:, 1, axis] + 1] - 1
        return corners

    def bounds(self, shape: Shape) -> "tuple[Any, Any] | None":
        # The outer edges are those of selected cells; see `_coarse`.
        return np.array([axis[0] for axis in self.edges]), np.array([axis[-1] - 1 for axis in self.edges])

    def moved(self, offset: Shape) -> Selection:
        return Cells(tuple(edges + by for edges, by in zip(self.edges, offset, strict=True)), self.mask)


def _around(points: Any) -> "tuple[Any, Any] | None":
    return (points.min(axis=0), points.max(axis=0)) if len(points) else None


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


SET, OR, AND, XOR, NOTB, NOTA = range(6)
_ON_POINTS: "dict[int, Callable[[Any, Any], Any]]" = {
    OR: np.union1d,
    AND: np.intersect1d,
    XOR: np.setxor1d,
    NOTB: np.setdiff1d,
    NOTA: lambda mine, other: np.setdiff1d(other, mine),
}
_ON_CELLS: "dict[int, Callable[[Any, Any], Any]]" = {
    OR: np.logical_or,
    AND: np.logical_and,
    XOR: np.logical_xor,
    NOTB: lambda mine, other: mine & ~other,
    NOTA: lambda mine, other: other & ~mine,
}
#: The number of cells up to which a grid needs no reason.
_FEW_CELLS = 1 << 22


def combine(mine: Selection, other: Selection, op: int, shape: Shape) -> Selection:
    """Returns the combination of two selections by the number of an operation of libhdf5."""
    if op == SET:
        return other
    if op not in _ON_CELLS:
        raise ValueError(f"Invalid operation on selections: {op}")
    if isinstance(mine, All) and op in (OR, AND, NOTA):
        return {OR: mine, AND: other, NOTA: Nothing()}[op]
    if isinstance(mine, Nothing):
        return other if op in (OR, XOR, NOTA) else mine
    pairs = zip(_edges(mine, shape), _edges(other, shape), strict=True)
    edges = [np.union1d(first, second) for first, second in pairs]
    if _is_grid(edges, mine.count(shape) + other.count(shape)):
        before = _mask(mine, edges, shape)
        after = _ON_CELLS[op](before, _mask(other, edges, shape))
        return mine if op == OR and np.array_equal(before, after) else _of_cells(edges, after)
    flat = _ON_POINTS[op](_flat(mine, shape), _flat(other, shape))
    return of_points(np.stack(np.unravel_index(flat, shape), axis=1).astype("i8"))


def is_same_shape(mine: Selection, my_shape: Shape, other: Selection, other_shape: Shape) -> bool:
    """Returns whether two selections have the same elements, but for their places."""
    if mine.count(my_shape) != other.count(other_shape) or len(my_shape) != len(other_shape):
        return False
    sides = [_canonical(side, shape) for side, shape in ((mine, my_shape), (other, other_shape))]
    first, second = sides
    if isinstance(first, Cells) and isinstance(second, Cells):
        axes = zip(first.edges, second.edges, strict=True)
        same = all(np.array_equal(one - one[:1], two - two[:1]) for one, two in axes)
        return same and np.array_equal(first.mask, second.mask)
    points = [side.coordinates(shape) for side, shape in zip(sides, (my_shape, other_shape), strict=True)]
    return not len(points[0]) or bool(np.array_equal(*(rows - rows.min(axis=0) for rows in points)))


def _canonical(selection: Selection, shape: Shape) -> Selection:
    """Returns the cells of a selection, which equal selections have in common, or itself for points."""
    edges = _edges(selection, shape)
    if isinstance(selection, Elements) or not _is_grid(edges, selection.count(shape)):
        return selection
    return _coarse(edges, _mask(selection, edges, shape))


def _flat(selection: Selection, shape: Shape) -> Any:
    return np.unique(np.ravel_multi_index(tuple(selection.coordinates(shape).T), shape))


def _is_grid(edges: "list[Any]", count: int) -> bool:
    """Returns whether the cells of a grid are few, or at least few for a number of elements."""
    return math.prod(max(len(axis) - 1, 0) for axis in edges) <= max(_FEW_CELLS, 4 * count)


def _runs(selection: Selection, shape: Shape, axis: int) -> Any:
    """Returns the first and the last index of each run along an axis: not for points and cells."""
    if isinstance(selection, Regular):
        return selection.runs(axis)
    length = 0 if isinstance(selection, Nothing) else shape[axis]
    return np.array([(0, length - 1)] if length else [], dtype="i8").reshape(-1, 2)


def _edges(selection: Selection, shape: Shape) -> "list[Any]":
    """Returns the indices along each axis where a selection may begin or end."""
    if isinstance(selection, Cells):
        return list(selection.edges)
    if isinstance(selection, Elements | Blocks):
        return [np.union1d(column, column + 1) for column in selection.points.T]
    runs = [_runs(selection, shape, axis) for axis in range(len(shape))]
    return [np.union1d(axis[:, 0], axis[:, 1] + 1) for axis in runs]


def _mask(selection: Selection, edges: "list[Any]", shape: Shape) -> Any:
    """Returns which cells of a grid a selection has. The grid has all edges of the selection."""
    starts = [axis[:-1] for axis in edges]
    if isinstance(selection, Elements | Blocks):
        mask = np.zeros([len(axis) for axis in starts], dtype=bool)
        columns = zip(edges, selection.points.T, strict=True)
        mask[tuple(np.searchsorted(axis, column) for axis, column in columns)] = True
        return mask
    if isinstance(selection, Cells):
        # A cell before or behind all others is the last one here: it is empty.
        padded = np.pad(selection.mask, [(0, 1)] * len(shape))
        found = [np.searchsorted(own, axis, "right") - 1 for own, axis in zip(selection.edges, starts, strict=True)]
        return padded[np.ix_(*found)]
    inside = []
    for number, axis in enumerate(starts):
        runs = _runs(selection, shape, number)
        run = np.searchsorted(runs[:, 0], axis, "right") - 1
        inside.append((run >= 0) & (axis <= runs[run, 1]) if len(runs) else np.zeros(len(axis), dtype=bool))
    return _product(inside)


def _product(axes: "list[Any]") -> Any:
    """Returns the cells that are selected along every axis."""
    return functools.reduce(np.logical_and.outer, axes)


def _coarse(edges: "list[Any]", mask: Any) -> Cells:
    """Returns cells without the edges that separate nothing."""
    kept = []
    for number, axis in enumerate(edges):
        rows = np.pad(np.moveaxis(mask, number, 0), [(1, 1)] + [(0, 0)] * (mask.ndim - 1))
        changes = np.flatnonzero((rows[1:] != rows[:-1]).any(axis=tuple(range(1, mask.ndim))))
        kept.append(axis[changes])
        mask = np.take(mask, changes[:-1], axis=number)
    return Cells(tuple(kept), mask)


def _of_cells(edges: "list[Any]", mask: Any) -> Selection:
    """Returns selected cells of a grid as a regular hyperslab, if they are one."""
    if not mask.any():
        return Nothing()
    cells = _coarse(edges, mask)
    mask, rank = cells.mask, cells.mask.ndim
    inside = [mask.any(axis=tuple(other for other in range(rank) if other != axis)) for axis in range(rank)]
    if not np.array_equal(mask, _product(inside)):
        return cells
    parts = []
    for axis, chosen in zip(cells.edges, inside, strict=True):
        starts, lengths = axis[:-1][chosen], np.diff(axis)[chosen]
        strides = np.diff(starts)
        if (lengths != lengths[0]).any() or (strides != strides[:1]).any():
            return cells
        parts.append((int(starts[0]), int(strides[0]) if len(strides) else 1, len(starts), int(lengths[0])))
    return Regular(*zip(*parts, strict=True))


def of_points(points: Any) -> Selection:
    """Returns the selection of sorted points."""
    if not len(points):
        return Nothing()
    blocks = Blocks(points)
    edges = _edges(blocks, ())
    return _of_cells(edges, _mask(blocks, edges, ())) if _is_grid(edges, len(points)) else blocks


def of_axes(axes: "list[Any]") -> Selection:
    """Returns the selection of all combinations of indices, which ascend along each axis."""
    edges = [np.union1d(axis, axis + 1) for axis in axes]
    return _of_cells(edges, _product([np.isin(edge[:-1], axis) for edge, axis in zip(edges, axes, strict=True)]))


def of_boxes(corners: Any) -> Selection:
    """Returns the selection of all elements in boxes: a first and a last corner for each."""
    corners = np.asarray(corners, dtype="i8")
    if not len(corners):
        return Nothing()
    edges = [np.union1d(low, high + 1) for low, high in np.moveaxis(corners, 2, 0).swapaxes(1, 2)]
    if not _is_grid(edges, int((corners[:, 1] - corners[:, 0] + 1).prod(axis=1).sum())):
        parts = [np.indices(last - first + 1).reshape(len(first), -1).T + first for first, last in corners]
        return of_points(np.unique(np.concatenate(parts), axis=0))
    mask = np.zeros([len(axis) - 1 for axis in edges], dtype=bool)
    lows = [np.searchsorted(axis, column) for axis, column in zip(edges, corners[:, 0].T, strict=True)]
    highs = [np.searchsorted(axis, column + 1) for axis, column in zip(edges, corners[:, 1].T, strict=True)]
    for low, high in zip(zip(*lows, strict=True), zip(*highs, strict=True), strict=True):
        mask[tuple(map(slice, low, high))] = True
    return _of_cells(edges, mask)
