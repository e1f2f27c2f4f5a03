"""The base of identifiers that no file has, and the lock of h5py.

hyperslab needs no lock around its calls. `phil` exists for programs that hold it between calls of h5py.
"""

import functools
import itertools
import os
import threading
import weakref
from abc import ABCMeta
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Generic, ParamSpec, TypeVar

from .._errors import ClosedError, NameExistsError
from .._native import AttrID as _AttrID
from .._native import ObjectID as _FileObjectID

_P = ParamSpec("_P")
_T = TypeVar("_T")


class FastRLock:
    """A lock that a thread may take several times. After a fork, the child has its own."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        #: How often the thread that has the lock took it.
        self._depth = 0

    def acquire(self, blocking: bool = True) -> bool:
        taken = self._lock.acquire(blocking)
        self._depth += taken
        return taken

    def release(self) -> None:
        self._depth -= 1
        try:
            self._lock.release()
        except RuntimeError:
            self._depth += 1
            raise

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def _renew(self) -> None:
        """Gives a child process a lock of its own, which its thread has as often as before the fork."""
        depth, self._depth = self._depth - 1, 0
        self._lock = threading.RLock()
        for _ in range(depth):
            self.acquire()


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


class Shared(Generic[_T]):
    """Values that all handles of an object have in common, as long as a handle lives that was seen here."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[_T, list[weakref.ref[Any]]]] = {}

    def keep(self, handle: Any, value: _T) -> None:
        """Keeps a value for the object of a handle."""
        _, handles = self._kept.get(hash(handle), (None, []))
        self._kept[hash(handle)] = value, handles
        self._note(handle, handles)

    def get(self, handle: Any) -> "_T | None":
        """Returns the value of the object of a handle."""
        value, handles = self._kept.get(hash(handle), (None, []))
        if not any(found() == handle for found in handles):
            return None
        self._note(handle, handles)
        return value

    def _note(self, handle: Any, handles: "list[weakref.ref[Any]]") -> None:
        number = hash(handle)

        def forget(dead: "weakref.ref[Any]") -> None:
            handles.remove(dead)
            if not handles:
                self._kept.pop(number, None)

        if all(found() is not handle for found in handles):
            handles.append(weakref.ref(handle, forget))


@contextmanager
def missing_as(kind: type[Exception], what: str) -> "Iterator[None]":
    """Raises an exception of this class for an object that is missing: functions of h5py differ in it."""
    try:
        yield
    except (ClosedError, NameExistsError):
        raise
    except KeyError as error:
        raise kind(f"{what} ({error.args[0]})") from None


def check_way(group: Any, name: "str | bytes | None", plist: Any, kind: type[Exception], what: str) -> None:
    """Raises an exception if a group on the way to a new link is missing, unless `plist` makes it."""
    parent = "" if name is None else name_text(name).rstrip("/").rpartition("/")[0]
    if not parent or parent in group or (plist is not None and plist.get_create_intermediate_group()):
        return
    raise kind(f"{what} (component not found: {parent!r})")


def unsigned(value: int, type_: str) -> int:
    """Returns a number that has no sign in C."""
    if value < 0:
        raise OverflowError(f"can't convert negative value to {type_}")
    return int(value)


def name_text(name: "str | bytes") -> str:
    """Returns a name as text. h5py's low-level functions take bytes."""
    if isinstance(name, bytes):
        return name.decode("utf-8")
    if isinstance(name, str):
        return name
    raise TypeError(f"expected bytes, {type(name).__name__} found")
