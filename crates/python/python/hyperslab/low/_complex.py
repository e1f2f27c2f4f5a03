"""Complex numbers as records of two numbers, which every version of HDF5 reads."""

from typing import Any

import numpy as np


def complex_compat_dtype(dt: Any) -> "np.dtype[Any]":
    """Returns the record of two numbers that stores complex numbers.

    Args:
        dt: A complex dtype.

    Returns:
        A dtype with the fields `r` and `i`.

    Raises:
        TypeError: `dt` is not complex.

    Example:
        >>> hs.complex_compat_dtype("c8")
        dtype([('r', '<f4'), ('i', '<f4')])
    """
    dtype = np.dtype(dt)
    if dtype.kind != "c":
        raise TypeError(f"a complex dtype is needed, not {dtype}")
    part = np.dtype(f"{dtype.byteorder}f{dtype.itemsize // 2}")
    return np.dtype([("r", part), ("i", part)])


def check_complex_dtype(dt: "np.dtype[Any]") -> "np.dtype[Any] | None":
    """Returns the complex dtype of a dtype that stores complex numbers, or None.

    Args:
        dt: A complex dtype, or a record with the fields `r` and `i` of one floating-point type.

    Example:
        >>> hs.check_complex_dtype(hs.complex_compat_dtype(">c16"))
        dtype('>c16')
    """
    if dt.kind == "c":
        return dt
    if dt.names != ("r", "i") or dt.fields is None:
        return None
    real, imaginary = dt.fields["r"][0], dt.fields["i"][0]
    if real != imaginary or real.kind != "f" or real.itemsize not in (4, 8, 16):
        return None
    return np.dtype(f"{real.byteorder}c{2 * real.itemsize}")
