"""Warnings about keywords that change nothing."""

import warnings

_told: set[tuple[str, str]] = set()
_is_silent = False


def silence() -> None:
    """Switches the warnings off: a program that was written for h5py need not know of them."""
    global _is_silent
    _is_silent = True


def without_effect(call: str, key: str, why: str, depth: int = 1) -> None:
    """Warns that a keyword has no effect: once in a process for each call and keyword.

    Args:
        call: The name of the call.
        key: The keyword.
        why: The reason.
        depth: The number of Python functions between the caller of hyperslab and this function, which counts.
    """
    if not _is_silent and (call, key) not in _told:
        warnings.warn(f"{call}: {key}= has no effect: {why}", UserWarning, stacklevel=depth + 1)
        # Not before: a warning that a filter turns into an exception is raised again at the next call.
        _told.add((call, key))
