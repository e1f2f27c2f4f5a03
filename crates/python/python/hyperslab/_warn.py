"""Warnings about keywords that change nothing."""

import warnings

_told: set[tuple[str, str]] = set()


def without_effect(call: str, key: str, why: str, depth: int = 1) -> None:
    """Warns, once in a process, that the keyword ``key`` of ``call`` has no effect.

    depth: the number of Python functions between the caller of hyperslab and this one, this one included.
    """
    if (call, key) not in _told:
        _told.add((call, key))
        warnings.warn(f"{call}: {key}= has no effect: {why}", UserWarning, stacklevel=depth + 1)
