"""Dimension scales: datasets that give the coordinates along an axis of another, and the labels of axes.

They are a convention about attributes: ``DIMENSION_LABELS`` and ``DIMENSION_LIST`` of a dataset; ``CLASS``, ``NAME`` and
``REFERENCE_LIST`` of a scale, which says where it is attached.
"""

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._dtypes import ref_dtype, string_dtype, vlen_dtype

if TYPE_CHECKING:
    from ._native import Dataset, Reference, RegionReference

_CLASS, _NAME, _LABELS, _SCALES, _USERS = "CLASS", "NAME", "DIMENSION_LABELS", "DIMENSION_LIST", "REFERENCE_LIST"
# As libhdf5 stores it: the record ends with the bytes that fill it up.
_USER = np.dtype({"names": ["dataset", "dimension"], "formats": [ref_dtype, "<u4"], "offsets": [0, 8], "itemsize": 16})


def _text(value: Any) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def _bytes(value: "str | bytes") -> bytes:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def make_scale(dataset: "Dataset", name: "str | bytes | None" = None) -> None:
    """Makes the dataset a scale, or gives one another name. RuntimeError: it has scales itself."""
    if _SCALES in dataset.attrs:
        raise RuntimeError("Unable to make the dataset a dimension scale (it has scales itself)")
    dataset.attrs._set_text(_CLASS, "DIMENSION_SCALE")
    dataset.attrs._set_text(_NAME, _text(name or ""))


def _lists(dataset: "Dataset") -> "list[list[Reference]]":
    """The references to the scales of each axis."""
    stored = dataset.attrs.get(_SCALES)
    return [[] for _ in range(dataset.ndim)] if stored is None else [list(scales) for scales in stored]


def _set_lists(dataset: "Dataset", lists: "list[list[Reference]]") -> None:
    if not any(lists):
        if _SCALES in dataset.attrs:
            del dataset.attrs[_SCALES]
        return
    rows = np.empty(len(lists), dtype=vlen_dtype(ref_dtype))
    for axis, scales in enumerate(lists):
        rows[axis] = np.array(scales, dtype=ref_dtype)
    dataset.attrs._set(_SCALES, [len(lists)], rows.dtype, rows)


def _set_users(scale: "Dataset", users: "list[tuple[Reference, int]]") -> None:
    if users:
        scale.attrs._set(_USERS, [len(users)], _USER, np.array(users, dtype=_USER))
    elif _USERS in scale.attrs:
        del scale.attrs[_USERS]


def _users(scale: "Dataset") -> "list[tuple[Reference, int]]":
    stored = scale.attrs.get(_USERS)
    return [] if stored is None else [(user["dataset"], int(user["dimension"])) for user in stored]


class Dimension:
    """One axis of a dataset: its label, and a mapping from names to the scales attached to it."""

    def __init__(self, dataset: "Dataset", axis: int) -> None:
        self._dataset = dataset
        self._axis = axis

    @property
    def label(self) -> str:
        """The label; empty if there is none."""
        labels = self._dataset.attrs.get(_LABELS)
        return "" if labels is None else _text(labels[self._axis])

    @label.setter
    def label(self, value: "str | bytes") -> None:
        rank = self._dataset.ndim
        labels = np.empty(rank, dtype=string_dtype("ascii"))
        if _LABELS in self._dataset.attrs:
            # Those that were never set are no strings.
            labels[:] = [_bytes(label) or None for label in self._dataset.attrs[_LABELS]]
        labels[self._axis] = _bytes(value)
        self._dataset.attrs._set(_LABELS, [rank], labels.dtype, labels)

    def attach_scale(self, dset: "Dataset") -> None:
        """Attaches a scale at the end of the axis' list, and makes it one if it is none.

        RuntimeError: the dataset is a scale itself, or the scale has scales.
        """
        dataset = self._dataset
        if dataset.is_scale:
            raise RuntimeError("Unable to attach the scale (the dataset is a scale itself)")
        if dataset == dset or _SCALES in dset.attrs:
            raise RuntimeError("Unable to attach the scale (it has scales itself)")
        if not dset.is_scale:
            dset.attrs._set_text(_CLASS, "DIMENSION_SCALE")
        lists = _lists(dataset)
        if dset.ref not in lists[self._axis]:
            lists[self._axis].append(dset.ref)
            _set_lists(dataset, lists)
            _set_users(dset, [*_users(dset), (dataset.ref, self._axis)])

    def detach_scale(self, dset: "Dataset") -> None:
        """Detaches a scale. RuntimeError: it is not attached to this axis."""
        dataset = self._dataset
        lists = _lists(dataset)
        if dset.ref not in lists[self._axis]:
            raise RuntimeError("Unable to detach the scale (it is not attached)")
        lists[self._axis].remove(dset.ref)
        _set_lists(dataset, lists)
        _set_users(dset, [user for user in _users(dset) if user != (dataset.ref, self._axis)])

    def values(self) -> "list[Dataset]":
        """The scales, in the order in which they were attached."""
        file = self._dataset.file
        return [file[reference] for reference in _lists(self._dataset)[self._axis]]

    def items(self) -> "list[tuple[str, Dataset]]":
        """Names with scales."""
        return [(_text(scale.attrs.get(_NAME, "")), scale) for scale in self.values()]

    def keys(self) -> list[str]:
        """The names of the scales."""
        return [name for name, _ in self.items()]

    def __getitem__(self, item: int | str) -> "Dataset":
        """The scale at a position, or of a name. RuntimeError: there are none at all. IndexError, KeyError: not such a one."""
        if isinstance(item, int):
            scales = self.values()
            if not scales:
                raise RuntimeError("No scale is attached to this axis")
            return scales[item]
        for name, scale in self.items():
            if name == item:
                return scale
        raise KeyError(item)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dimension) and (self._dataset, self._axis) == (other._dataset, other._axis)

    def __hash__(self) -> int:
        return hash((self._dataset, self._axis))

    def __repr__(self) -> str:
        if not self._dataset:
            return "<Dimension of closed HDF5 dataset>"
        return f'<"{self.label}" dimension {self._axis} of HDF5 dataset at {id(self._dataset)}>'


class DimensionManager:
    """The axes of a dataset."""

    def __init__(self, dataset: "Dataset") -> None:
        self._dataset = dataset

    def __getitem__(self, index: int) -> Dimension:
        """The axis number ``index``. IndexError: there are not so many."""
        if not 0 <= index < len(self):
            raise IndexError("Index out of range")
        return Dimension(self._dataset, index)

    def create_scale(self, dset: "Dataset", name: "str | bytes" = "") -> None:
        """What ``dset.make_scale(name)`` does."""
        warnings.warn("dims.create_scale: use make_scale of the dataset", DeprecationWarning, stacklevel=2)
        make_scale(dset, name)

    def __len__(self) -> int:
        return self._dataset.ndim

    def __iter__(self) -> Iterator[Dimension]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"<Dimensions of HDF5 object at {id(self._dataset)}>"
            if self._dataset
            else "<Dimensions of closed HDF5 dataset>"
        )


class RegionProxy:
    """What a dataset says of references to regions. Making them, and the regions themselves, are not supported yet."""

    def __init__(self, dataset: "Dataset") -> None:
        self._dataset = dataset

    def shape(self, ref: "RegionReference") -> tuple[int, ...] | None:
        """The shape of the dataset that a reference is about."""
        shape: tuple[int, ...] | None = self._dataset.file[ref].shape
        return shape
