"""The places where libhdf5 looks for plugins. hyperslab looks for filters in those that the program adds, and
only lists those of the variable `HDF5_PLUGIN_PATH`, which may be meant for other programs."""

import os

from .._native import _search_plugins, _search_plugins_no_more

_paths = [part.encode() for part in os.environ.get("HDF5_PLUGIN_PATH", "").split(os.pathsep) if part]


def append(search_path: bytes) -> None:
    """Adds a path at the end."""
    _paths.append(search_path)
    _search_plugins(os.fsdecode(search_path), False)


def prepend(search_path: bytes) -> None:
    """Adds a path at the front."""
    _paths.insert(0, search_path)
    _search_plugins(os.fsdecode(search_path), True)


def _check(index: int) -> None:
    if not 0 <= index < len(_paths):
        raise IndexError(f"index path out of bounds for table - can't be more than {len(_paths) - 1}")


def insert(search_path: bytes, index: int) -> None:
    """Adds a path before another one."""
    if not 0 <= index <= len(_paths):
        _check(index)
    _paths.insert(index, search_path)
    _search_plugins(os.fsdecode(search_path), index == 0)


def replace(search_path: bytes, index: int) -> None:
    """Replaces a path."""
    _check(index)
    remove(index)
    insert(search_path, index)


def remove(index: int) -> None:
    """Removes a path. Filters that were loaded from there stay."""
    _check(index)
    removed = _paths.pop(index)
    if removed not in _paths:
        _search_plugins_no_more(os.fsdecode(removed))


def get(index: int) -> bytes:
    """Returns a path."""
    _check(index)
    return _paths[index]


def size() -> int:
    """Returns the number of paths."""
    return len(_paths)
