"""Handles elsewhere: pickles, which open a file for reading again, and tokens, by which Dask names them."""

import os
import uuid
from typing import Any

from ._native import Dataset, File, HLObject


def reduce(node: HLObject) -> tuple[Any, ...]:
    """Returns what `HLObject.__reduce__` returns.

    Raises:
        TypeError: The file cannot be opened again by path, or no path leads to the object.
    """
    how = node._reopening()
    if how is None:
        raise TypeError(
            f"cannot pickle {node!r}: only a file that is open for reading, by path, can be opened again elsewhere "
            "(open it with mode 'r' while this process does not have it open for writing)"
        )
    path, keywords = how
    # The attributes of a subclass, in its `__dict__` or in slots.
    state = node.__getstate__()
    if isinstance(node, File):
        return _open_file, (type(node), path, keywords), state
    if node.name is None:
        raise TypeError(f"cannot pickle {node!r}: no path leads to the object")
    return _open_object, (type(node), path, keywords, node.name), state


def _open_file(cls: type[File], path: str, keywords: dict[str, Any]) -> File:
    made = cls.__new__(cls, path)
    # Not the __init__ of a subclass, whose arguments are its own.
    File.__init__(made, path, "r", **keywords)
    return made


def _open_object(cls: Any, path: str, keywords: dict[str, Any], name: str) -> Any:
    found = File(path, "r", **keywords)[name]
    if type(found) is cls:
        return found
    kind = type(found)
    if not issubclass(cls, kind):
        raise TypeError(f"cannot unpickle a {cls.__name__}: {name!r} in {path!r} is a {kind.__name__} now")
    made = cls.__new__(cls)
    kind.__init__(made, found.id)
    return made


def reduce_id(node: HLObject) -> tuple[Any, ...]:
    """Returns what `ObjectID.__reduce__` returns: the identifier of the unpickled object.

    Raises:
        TypeError: The object cannot be pickled.
    """
    return _id_of, (node,)


def _id_of(node: HLObject) -> Any:
    return node.id


def token(node: HLObject) -> Any:
    """Returns what Dask takes for the identity of an object: equal tokens mean equal contents.

    The time and the size of a file that is open for reading stand for its contents. Nothing does so for a
    file that can change under the handle, and for elements in other files.
    """
    how = node._reopening()
    is_elsewhere = isinstance(node, Dataset) and (node.is_virtual or node.external)
    if how is None or is_elsewhere or node.name is None:
        return uuid.uuid4().hex
    path, keywords = how
    version = file_version(path)
    return uuid.uuid4().hex if version is None else (type(node).__name__, path, version, sorted(keywords), node.name)


def file_version(path: str) -> "tuple[int, ...] | None":
    """Returns numbers that change with the contents of a file, or None for what is not one file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size
