"""Dataspaces: extents, and selections of their elements."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ._objects import ObjectID, next_number, unsigned, unsupported
from ._spaces import All, Elements, Nothing, Regular, Selection, combine, is_same_shape

NO_CLASS, SCALAR, SIMPLE, NULL = -1, 0, 1, 2
SELECT_NOOP, SELECT_SET, SELECT_OR, SELECT_AND, SELECT_XOR = -1, 0, 1, 2, 3
SELECT_NOTB, SELECT_NOTA, SELECT_APPEND, SELECT_PREPEND, SELECT_INVALID = 4, 5, 6, 7, 8
SEL_ERROR, SEL_NONE, SEL_POINTS, SEL_HYPERSLABS, SEL_ALL = -1, 0, 1, 2, 3
UNLIMITED = (1 << 64) - 1
_MOST_AXES = 32


class SpaceID(ObjectID):
    """A dataspace: the shape of an array, and a selection of its elements."""

    def __init__(self, kind: int, shape: Sequence[int] = (), most: "Sequence[int | None] | None" = None) -> None:
        super().__init__(next_number())
        self._kind = kind
        self._shape = tuple(int(length) for length in shape)
        self._most = self._shape if most is None else tuple(None if m in (None, UNLIMITED) else int(m) for m in most)
        self._selection: Selection = All()
        #: Where the selection is moved to when it is used. It stays if another selection is made.
        self._offset: tuple[int, ...] = ()

    @property
    def shape(self) -> "tuple[int, ...]":
        return self.get_simple_extent_dims()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.id)

    def copy(self) -> "SpaceID":
        other = SpaceID(self._kind, self._shape, self._most)
        other.select_copy(self)
        return other

    def encode(self) -> bytes:
        raise unsupported("SpaceID.encode", "the encoding is libhdf5's own; copy the dataspace, or keep its shape")

    def is_simple(self) -> bool:
        return True

    def get_simple_extent_ndims(self) -> int:
        return len(self._shape)

    def get_simple_extent_dims(self, maxdims: bool = False) -> Any:
        """Returns the shape, or the largest shape with `UNLIMITED` for axes without a limit."""
        if self._kind == NULL:
            return None
        return tuple(UNLIMITED if most is None else most for most in self._most) if maxdims else self._shape

    def get_simple_extent_npoints(self) -> int:
        return 0 if self._kind == NULL else int(np.prod(self._shape, dtype=object))

    def get_simple_extent_type(self) -> int:
        return self._kind

    def extent_copy(self, source: "SpaceID") -> None:
        self._set_extent(source)

    def set_extent_simple(self, dims: Sequence[int], max_dims: "Sequence[int | None] | None" = None) -> None:
        self._set_extent(create_simple(dims, max_dims))
        self._offset = ()

    def set_extent_none(self) -> None:
        self._set_extent(SpaceID(NULL))
        self._selection, self._offset = All(), ()

    def _set_extent(self, source: "SpaceID") -> None:
        if len(source._shape) != len(self._shape):
            self._selection = All()
            self._offset = ()
        self._kind, self._shape, self._most = source._kind, source._shape, source._most

    def offset_simple(self, offset: "Sequence[int] | None" = None) -> None:
        """Says how far the selection is moved where it is used. `None` moves it back."""
        if self._kind == NULL:
            raise ValueError("a dataspace without elements has no offset")
        rank = len(self._shape)
        if offset is not None and len(offset) != rank:
            raise ValueError(f"offset must be a tuple or None of size {rank}.")
        if rank == 0:
            raise NotImplementedError("Can't set offset on scalar or null dataspace")
        self._offset = tuple(unsigned(by, "hsize_t") for by in offset or ())

    @property
    def _moved(self) -> Selection:
        """The selection in its place."""
        return self._selection.moved(self._offset) if any(self._offset) else self._selection

    # Selections

    def get_select_type(self) -> int:
        return self._selection.kind

    def get_select_npoints(self) -> int:
        return 0 if self._kind == NULL else self._selection.count(self._shape)

    def get_select_bounds(self) -> "tuple[tuple[int, ...], tuple[int, ...]] | None":
        """Returns the first and the last corner of the smallest box around the selection, if it has one."""
        bounds = self._moved.bounds(self._shape)
        if bounds is None:
            return None
        low, high = bounds
        return tuple(map(int, low)), tuple(map(int, high))

    def select_all(self) -> None:
        self._selection = All()

    def select_none(self) -> None:
        self._selection = Nothing()

    def select_copy(self, space: "SpaceID") -> None:
        self._selection, self._offset = space._selection, space._offset

    def select_valid(self) -> bool:
        """Returns whether all selected elements are inside the extent."""
        bounds = self._moved.bounds(self._shape)
        return bounds is None or all(last < length for last, length in zip(bounds[1], self._shape, strict=True))

    def select_shape_same(self, space2: "SpaceID") -> bool:
        """Returns whether the other selection has the same elements, but for its place."""
        return is_same_shape(self._selection, self._shape, space2._selection, space2._shape)

    def get_select_elem_npoints(self) -> int:
        if not isinstance(self._selection, Elements):
            raise ValueError("Not an element selection (not an element selection)")
        return len(self._selection.points)

    def get_select_elem_pointlist(self) -> Any:
        if not isinstance(self._selection, Elements):
            raise ValueError("Not an element selection (not an element selection)")
        return self._selection.points.astype("u8")

    def select_elements(self, coords: Any, op: int = SELECT_SET) -> None:
        """Selects single elements: a row of coordinates for each."""
        points = np.asarray(coords, dtype="i8")
        if points.ndim != 2 or points.shape[1] != len(self._shape):
            raise ValueError("Array of points must be 2-D, with one column for each axis of the dataspace")
        if len(points) and ((points < 0).any() or (points >= np.array(self._shape)).any()):
            raise ValueError("Point is outside the extent of the dataspace")
        if op in (SELECT_APPEND, SELECT_PREPEND) and isinstance(self._selection, Elements):
            parts = (self._selection.points, points)
            points = np.concatenate(parts if op == SELECT_APPEND else parts[::-1])
        elif op != SELECT_SET:
            raise ValueError("Elements are set, appended or prepended to other elements")
        self._selection = Elements(points)

    def get_select_hyper_nblocks(self) -> int:
        return len(self.get_select_hyper_blocklist())

    def get_select_hyper_blocklist(self) -> Any:
        """Returns the first and the last corner of every block."""
        self._check_hyperslab()
        return self._selection.blocks(self._shape).astype("u8")

    def _check_hyperslab(self) -> None:
        if self._selection.kind != SEL_HYPERSLABS:
            raise ValueError("Not a hyperslab selection (not a hyperslab selection)")

    def is_regular_hyperslab(self) -> bool:
        self._check_hyperslab()
        return isinstance(self._selection, Regular)

    def get_regular_hyperslab(self) -> "tuple[tuple[int, ...], ...]":
        """Returns the start, the stride, the count and the block of a regular hyperslab."""
        if not isinstance(self._selection, Regular):
            raise ValueError("Not a regular hyperslab selection")
        selection = self._selection
        return selection.start, selection.stride, selection.count_, selection.block

    def select_hyperslab(
        self,
        start: Iterable[int],
        count: Iterable[int],
        stride: "Iterable[int] | None" = None,
        block: "Iterable[int] | None" = None,
        op: int = SELECT_SET,
    ) -> None:
        """Selects `count` blocks of the size `block` along each axis, `stride` apart from `start` on."""
        rank = len(self._shape)
        if rank == 0:
            raise ValueError("Hyperslabs need a dataspace with axes")
        ones = (1,) * rank
        regular = Regular(
            tuple(map(int, start)),
            ones if stride is None else tuple(map(int, stride)),
            tuple(map(int, count)),
            ones if block is None else tuple(map(int, block)),
        )
        regular.check(rank)
        self._selection = combine(self._selection, regular, op, self._shape)

    def combine_select(self, space2: "SpaceID", op: int) -> "SpaceID":
        """Returns a new dataspace with the combined selections."""
        other = self.copy()
        other.modify_select(space2, op)
        return other

    def modify_select(self, space2: "SpaceID", op: int) -> None:
        """Combines the selection with that of another dataspace."""
        self._selection = combine(self._selection, space2._selection, op, self._shape)


#: The whole of a dataset or of an array, as an argument of `read` and `write`.
ALL = SpaceID(SIMPLE)


def create(class_code: int) -> SpaceID:
    """Creates a dataspace: `SCALAR`, `SIMPLE` (of unknown extent) or `NULL`."""
    if class_code not in (SCALAR, SIMPLE, NULL):
        raise ValueError(f"Invalid dataspace class: {class_code}")
    return SpaceID(class_code)


def create_simple(dims_tpl: Sequence[int], max_dims_tpl: "Sequence[int | None] | None" = None) -> SpaceID:
    """Creates a dataspace of this shape, and of this largest shape."""
    if max_dims_tpl is not None and len(max_dims_tpl) != len(dims_tpl):
        raise ValueError("Maximum dimensions must have the same rank as the dimensions")
    if len(dims_tpl) > _MOST_AXES:
        raise ValueError("Dimensionality is too large (dimensionality is too large)")
    shape = [unsigned(length, "hsize_t") for length in dims_tpl]
    most = shape if max_dims_tpl is None else [UNLIMITED if m is None else unsigned(m, "hsize_t") for m in max_dims_tpl]
    if any(length > limit for length, limit in zip(shape, most, strict=True)):
        raise ValueError("Maxdims is smaller than dims (maxdims is smaller than dims)")
    return SpaceID(SIMPLE, shape, most)


def decode(buf: bytes) -> SpaceID:
    raise unsupported("h5s.decode", "the encoding is libhdf5's own; create the dataspace from a shape")
