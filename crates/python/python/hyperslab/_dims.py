"""Dimension scales: datasets that give the coordinates along an axis of another, and the labels of axes.

They are a convention about attributes: ``DIMENSION_LABELS`` and ``DIMENSION_LIST`` of a dataset, ``NAME`` of a scale.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import Dataset, RegionReference


def _text(value: Any) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


class Dimension:
    """One axis of a dataset: its label, and a read-only mapping from names to the scales attached to it."""

    def __init__(self, dataset: "Dataset", axis: int) -> None:
        self._dataset = dataset
        self._axis = axis

    @property
    def label(self) -> str:
        """The label; empty if there is none."""
        labels = self._dataset.attrs.get("DIMENSION_LABELS")
        return "" if labels is None else _text(labels[self._axis])

    def values(self) -> "list[Dataset]":
        """The scales, in the order in which they were attached."""
        attached = self._dataset.attrs.get("DIMENSION_LIST")
        if attached is None:
            return []
        file = self._dataset.file
        return [file[reference] for reference in attached[self._axis]]

    def items(self) -> "list[tuple[str, Dataset]]":
        """Names with scales."""
        return [(_text(scale.attrs.get("NAME", "")), scale) for scale in self.values()]

    def keys(self) -> list[str]:
        """The names of the scales."""
        return [name for name, _ in self.items()]

    def __getitem__(self, item: int | str) -> "Dataset":
        """The scale at a position, or of a name. IndexError, KeyError: there is none."""
        if isinstance(item, int):
            return self.values()[item]
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
