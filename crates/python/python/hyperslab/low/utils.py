"""Checks of arrays."""

from typing import Any


def check_numpy_read(arr: Any, space_id: int = -1) -> None:
    """Checks that an array can be read from: it is C-contiguous."""
    if not arr.flags.c_contiguous:
        raise TypeError("Array must be C-contiguous")


def check_numpy_write(arr: Any, space_id: int = -1) -> None:
    """Checks that an array can be written to: it is C-contiguous and writable."""
    check_numpy_read(arr)
    if not arr.flags.writeable:
        raise TypeError("Array must be C-contiguous and writable")
