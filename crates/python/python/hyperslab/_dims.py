"""Dimension scales: datasets with the coordinates along an axis of another dataset; and the labels of axes.

The crate `hyperslab` reads and writes the attributes behind scales (`object/dataset/scales.rs`).
"""

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ._native import _attach_scale, _axis_label, _scale_name, _scales, _set_axis_label

if TYPE_CHECKING:
    from ._native import Dataset


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


class Dimension:
    """One axis of a dataset: its label, and a mapping from names to the scales attached to the axis.

    `dimension[0]` and `dimension["time"]` return a scale by position or by name.

    Example:
        >>> file["time"] = [0.0, 6.0, 12.0, 18.0]
        >>> file["time"].make_scale("time")
        >>> dataset.dims[0].attach_scale(file["time"])
        >>> dataset.dims[0]["time"][:]
        array([ 0.,  6., 12., 18.])
    """

    def __init__(self, dataset: "Dataset", axis: int) -> None:
        self._dataset = dataset
        self._axis = axis

    @property
    def label(self) -> str:
        """The label of the axis. It is empty if the axis has none.

        Example:
            >>> dataset.dims[0].label = "time"
            >>> dataset.dims[0].label
            'time'
        """
        return _text(_axis_label(self._dataset, self._axis))

    @label.setter
    def label(self, value: "str | bytes") -> None:
        label = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
        _set_axis_label(self._dataset, self._axis, label)

    def attach_scale(self, dset: "Dataset") -> None:
        """Attaches a scale at the end of the list of the axis. A plain dataset becomes a scale.

        Args:
            dset: The dataset with the coordinates.

        Raises:
            RuntimeError: This dataset is a scale itself, or `dset` has scales.

        Example:
            >>> file["lat"] = [46.0, 47.0]
            >>> dataset.dims[1].attach_scale(file["lat"])
            >>> len(dataset.dims[1])
            1
        """
        _attach_scale(self._dataset, self._axis, dset, True)

    def detach_scale(self, dset: "Dataset") -> None:
        """Detaches a scale from the axis.

        Args:
            dset: The scale.

        Raises:
            RuntimeError: The scale is not attached to this axis.

        Example:
            >>> file["lat"] = [46.0, 47.0]
            >>> dataset.dims[1].attach_scale(file["lat"])
            >>> dataset.dims[1].detach_scale(file["lat"])
            >>> len(dataset.dims[1])
            0
        """
        _attach_scale(self._dataset, self._axis, dset, False)

    def values(self) -> "list[Dataset]":
        """Returns the scales, in the order in which they were attached.

        Example:
            >>> dataset.dims[0].values()
            []
        """
        return _scales(self._dataset, self._axis)

    def items(self) -> "list[tuple[str, Dataset]]":
        """Returns pairs of the name and the scale, in the order in which they were attached.

        Example:
            >>> dataset.dims[0].items()
            []
        """
        return [(_text(_scale_name(scale)), scale) for scale in self.values()]

    def keys(self) -> list[str]:
        """Returns the names of the scales, in the order in which they were attached.

        Example:
            >>> file["time"] = [0.0, 6.0, 12.0, 18.0]
            >>> file["time"].make_scale("hours")
            >>> dataset.dims[0].attach_scale(file["time"])
            >>> dataset.dims[0].keys()
            ['hours']
        """
        return [name for name, _ in self.items()]

    def __getitem__(self, item: int | str) -> "Dataset":
        """Returns the scale at a position, or with a name.

        Raises:
            RuntimeError: The axis has no scales.
            IndexError, KeyError: No scale is at this position, or has this name.
        """
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
    """The axes of a dataset, as `Dataset.dims`: a sequence of `Dimension`.

    Example:
        >>> len(dataset.dims)
        3
        >>> [axis.label for axis in dataset.dims]
        ['', '', '']
    """

    def __init__(self, dataset: "Dataset") -> None:
        self._dataset = dataset

    def __getitem__(self, index: int) -> Dimension:
        """Returns an axis by its number, or raises `IndexError`."""
        if not 0 <= index < len(self):
            raise IndexError("Index out of range")
        return Dimension(self._dataset, index)

    def create_scale(self, dset: "Dataset", name: "str | bytes" = "") -> None:
        """Makes a dataset a dimension scale. h5py has replaced this method with `Dataset.make_scale`.

        Args:
            dset: The dataset with the coordinates.
            name: The name of the scale.

        Example:
            >>> file["time"] = [0.0, 6.0, 12.0, 18.0]
            >>> file["time"].make_scale("time")  # in place of dataset.dims.create_scale(file["time"], "time")
        """
        from .low.h5py_warnings import H5pyDeprecationWarning

        warnings.warn("dims.create_scale: use make_scale of the dataset", H5pyDeprecationWarning, stacklevel=2)
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
