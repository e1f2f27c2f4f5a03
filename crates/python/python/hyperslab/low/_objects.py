"""The base of identifiers that no file has, and the lock of h5py.

hyperslab needs no lock around its calls. `phil` exists for programs that hold it between calls of h5py.
"""

import functools
import itertools
import os
import threading
from abc import ABCMeta
from collections.abc import Callable
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from .._native import AttrID as _AttrID
from .._native import ObjectID as _FileObjectID

_P = ParamSpec("_P")
_T = TypeVar("_T")


class FastRLock:
    """A lock that a thread may take several times. After a fork, the child has a free one."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def acquire(self, blocking: bool = True) -> bool:
        return self._lock.acquire(blocking)

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> bool:
        return self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._lock.release()

    def _renew(self) -> None:
        self._lock = threading.RLock()


phil = FastRLock()


def _before_fork() -> None:
    phil.acquire()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=phil.release, after_in_child=phil._renew)


def with_phil(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Returns a function that holds `phil` while it runs."""

    @functools.wraps(function)
    def locked(*args: _P.args, **kwds: _P.kwargs) -> _T:
        with phil:
            return function(*args, **kwds)

    return locked


def nonlocal_close() -> None:
    """Does nothing: identifiers here do not outlive their objects."""


_numbers = itertools.count(1)


def next_number() -> int:
    """Returns a number that no other identifier of this process has, beyond the addresses of files."""
    return (1 << 62) + next(_numbers)


class ObjectID(metaclass=ABCMeta):  # noqa: B024  (it is a base for `register`)
    """An identifier: a number, which is equal to itself."""

    def __init__(self, id_: int = 0) -> None:
        self.id = id_
        self.locked = False

    @property
    def valid(self) -> bool:
        return self.id > 0

    def close(self) -> None:
        self.id = 0

    def _close(self) -> None:
        self.close()

    def __bool__(self) -> bool:
        return self.valid

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectID) and self.id == other.id

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Any:
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__} object at {id(self):#x}>"


ObjectID.register(_FileObjectID)
ObjectID.register(_AttrID)


def unsupported(what: str, why: str = "it configures libhdf5, which is not here") -> NotImplementedError:
    """Returns the error of a function that has no meaning here."""
    return NotImplementedError(f"{what} is not supported: {why}")


def name_text(name: "str | bytes") -> str:
    """Returns a name as text. h5py's low-level functions take bytes."""
    if isinstance(name, bytes):
        return name.decode("utf-8")
    if isinstance(name, str):
        return name
    raise TypeError(f"expected bytes, {type(name).__name__} found")
