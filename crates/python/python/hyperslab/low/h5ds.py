"""Dimension scales by identifiers."""

from collections.abc import Callable
from typing import Any, TypeVar

from ._objects import unsigned

_T = TypeVar("_T")


def _axis(dset: Any, number: int) -> Any:
    """Returns an axis of a dataset by its number."""
    dimensions = dset._object.dims
    if unsigned(number, "unsigned int") >= len(dimensions):
        raise RuntimeError(f"Unspecified error in H5DS (the dataset has no axis {number})")
    return dimensions[number]


def set_scale(dset: Any, dimname: bytes = b"") -> None:
    """Makes a dataset a scale."""
    dset._object.make_scale(dimname)


def is_scale(dset: Any) -> bool:
    """Returns whether a dataset is a scale."""
    return bool(dset._object.is_scale)


def attach_scale(dset: Any, dscale: Any, idx: int) -> None:
    """Attaches a scale to an axis."""
    _axis(dset, idx).attach_scale(dscale._object)


def detach_scale(dset: Any, dscale: Any, idx: int) -> None:
    """Detaches a scale from an axis."""
    _axis(dset, idx).detach_scale(dscale._object)


def is_attached(dset: Any, dscale: Any, idx: int) -> bool:
    """Returns whether a scale is attached to an axis."""
    return dscale._object in _axis(dset, idx).values()


def get_num_scales(dset: Any, dim: int) -> int:
    """Returns the number of scales of an axis."""
    return len(_axis(dset, dim))


def set_label(dset: Any, idx: int, label: bytes) -> None:
    """Sets the label of an axis."""
    _axis(dset, idx).label = label


def get_label(dset: Any, idx: int) -> bytes:
    """Returns the label of an axis."""
    return str(_axis(dset, idx).label).encode("utf-8", "surrogateescape")


def get_scale_name(dscale: Any) -> bytes:
    """Returns the name of a scale."""
    from .._native import _scale_name

    if not dscale._object.is_scale:
        raise RuntimeError("Can't get scale name (not a dimension scale)")
    return _scale_name(dscale._object)


def iterate(loc: Any, dim: int, func: "Callable[[Any], _T | None]", startidx: int = 0) -> "_T | None":
    """Calls a function with the identifier of each scale of an axis, until it returns something."""
    scales = _axis(loc, dim).values()
    if startidx > len(scales):
        raise RuntimeError(f"Unspecified error in H5DSiterate_scales (the axis has no scale {startidx})")
    for scale in scales[startidx:]:
        result = func(scale.id)
        if result is not None:
            return result
    return None
