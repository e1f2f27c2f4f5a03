"""Shapes and lengths that a caller gives, and counts that a caller reads."""

import operator
from typing import Any

import numpy as np

_MOST = 1 << 64


def length(what: str, value: Any) -> int:
    """Returns a number of elements as an `int`. `what` names the argument in errors."""
    if isinstance(value, float | np.floating) and value.is_integer():
        value = int(value)
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what}: {value!r} is not an integer") from None
    if not 0 <= number < _MOST:
        raise OverflowError(f"{what}: {number} is not a number of elements")
    return number


def lengths(what: str, value: Any) -> Any:
    """Returns a shape as a tuple. A number gives a shape of one axis. Lengths of `maxshape` may be None."""
    if value is None:
        return None
    if type(value) is tuple and all(type(n) is int and 0 <= n < _MOST for n in value):
        return value  # the usual case, which is also the fastest
    if isinstance(value, int | float | np.number) or getattr(value, "ndim", 1) == 0:
        value = (value,)
    return tuple(None if n is None and what == "maxshape" else length(what, n) for n in value)


def counted(count: int, what: str) -> str:
    """Returns a count with its noun, as errors and texts show it: "1 row", "2,000 rows"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
