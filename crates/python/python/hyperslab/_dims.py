"""Dimension scales: datasets that give the coordinates along an axis of another, and the labels of axes.

What they are in the file is the crate's business (`object/dataset/scales.rs`).
"""

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ._native import _attach_scale, _axis_label, _scale_name, _scales, _set_axis_label

if TYPE_CHECKING:
    from ._native import Dataset, RegionReference


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


class Dimension:
    """One axis of a dataset: its label, and a mapping from names to the scales attached to it."""

    def __init__(self, dataset: "Dataset", axis: int) -> None:
        self._dataset = dataset
        self._axis = axis

    @property
    def label(self) -> str:
        """The label; empty if there is none."""
        return _text(_axis_label(self._dataset, self._axis))

    @label.setter
    def label(self, value: "str | bytes") -> None:
        label = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
        _set_axis_label(self._dataset, self._axis, label)

    def attach_scale(self, dset: "Dataset") -> None:
        """Attaches a scale at the end of the axis' list, and makes it one if it is none.

        RuntimeError: the dataset is a scale itself, or the scale has scales.
        """
        _attach_scale(self._dataset, self._axis, dset, True)

    def detach_scale(self, dset: "Dataset") -> None:
        """Detaches a scale. RuntimeError: it is not attached to this axis."""
        _attach_scale(self._dataset, self._axis, dset, False)

    def values(self) -> "list[Dataset]":
        """The scales, in the order in which they were attached."""
        return _scales(self._dataset, self._axis)

    def items(self) -> "list[tuple[str, Dataset]]":
        """Names with scales."""
        return [(_text(_scale_name(scale)), scale) for scale in self.values()]

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
        dset.make_scale(name)

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
