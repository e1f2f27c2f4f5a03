"""Attributes by their identifiers."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .._errors import NameExistsError
from .._native import AttrID as _AttrID
from . import h5, h5s
from ._objects import name_text, next_number
from ._transfer import _in_memory, _objects
from ._types import TypeID, type_of, typewrap

_T = TypeVar("_T")


class AttrID(_AttrID):
    """The identifier of an attribute."""

    @property
    def id(self) -> int:
        """A number for this object."""
        if not hasattr(self, "_number"):
            self._number = next_number()
        return self._number

    @property
    def valid(self) -> bool:
        return bool(self._manager._id)

    def __bool__(self) -> bool:
        return self.valid

    def close(self) -> None:
        """Does nothing: the identifier holds no resources."""

    def get_type(self) -> Any:
        """Returns the datatype: the committed one, if the attribute uses one."""
        named = self._named_type
        return typewrap(self._description) if named is None else type_of(named)

    def get_space(self) -> h5s.SpaceID:
        """Returns the dataspace."""
        if self.shape is None:
            return h5s.create(h5s.NULL)
        return h5s.create_simple(self.shape) if self.shape else h5s.create(h5s.SCALAR)

    def read(self, arr: Any, mtype: "TypeID | None" = None) -> None:
        """Reads the value to an array."""
        if self.shape is None:
            return
        elements = self._elements()
        arr[...] = np.asarray(elements).astype(arr.dtype.base, copy=False).reshape(arr.shape)

    def write(self, arr: Any, mtype: "TypeID | None" = None) -> None:
        """Writes the value from an array."""
        array, stored = np.asarray(arr, order="C"), self.get_type()
        shape = None if self.shape is None else list(self.shape)
        if _objects(array.dtype) or _objects(self.dtype):
            self._manager._set(self.name, shape, stored, np.asarray(array, dtype=self.dtype).reshape(self.shape or ()))
            return
        description = _in_memory(array.dtype, mtype, stored)
        size = array.dtype.itemsize if mtype is None else mtype.get_size()
        count = int(np.prod(self.shape or (), dtype=object))
        raw = array.tobytes()[: count * size]
        self._manager._set_described(self.name, shape, stored, (description, raw))


class AttrInfo:
    """Facts about an attribute."""

    def __init__(self, name: bytes, corder: int, corder_valid: bool, data_size: int) -> None:
        self.corder = corder
        self.corder_valid = corder_valid
        self.cset = 0 if name.isascii() else 1
        self.data_size = data_size

    def _hash(self) -> int:
        return hash((self.corder_valid, self.corder, self.cset, self.data_size))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AttrInfo) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return self._hash()


def _attributes(loc: Any, obj_name: "bytes | str" = b".") -> Any:
    owner = loc._object
    text = name_text(obj_name)
    return (owner if text == "." else owner[text]).attrs


def _in_order(attributes: Any, index_type: int, order: int) -> "list[str]":
    """Returns the names: by name or as they were created, and in which direction."""
    names = sorted(attributes) if index_type == h5.INDEX_NAME else list(attributes)
    return names[::-1] if order == h5.ITER_DEC else names


def _of_one(function: "Callable[[Any, str], _T]") -> "Callable[..., _T]":
    """Gives a function of attributes and a name the arguments of h5py: an object, a name or a number."""

    def call(
        loc: Any,
        name: "bytes | str | None" = None,
        index: "int | None" = None,
        *,
        obj_name: bytes = b".",
        lapl: Any = None,
        index_type: int = h5.INDEX_NAME,
        order: int = h5.ITER_INC,
    ) -> _T:
        if name is not None and index is not None:
            raise TypeError("Only one of name or index may be specified.")
        attributes = _attributes(loc, obj_name)
        if name is not None:
            return function(attributes, name_text(name))
        if index is None:
            raise TypeError("Either name or index must be specified.")
        try:
            text = _in_order(attributes, index_type, order)[index]
        except IndexError:
            raise ValueError(f"Unable to open attribute (there is no attribute {index})") from None
        return function(attributes, text)

    call.__name__, call.__qualname__, call.__doc__ = function.__name__, function.__qualname__, function.__doc__
    return call


def create(
    loc: Any, name: "bytes | str", tid: TypeID, space: h5s.SpaceID, *, obj_name: bytes = b".", lapl: Any = None
) -> AttrID:
    """Creates an attribute, with zeros for its value."""
    attributes, text = _attributes(loc, obj_name), name_text(name)
    if text in attributes:
        raise NameExistsError(f"Unable to create attribute (attribute already exists: {text!r})")
    if space.get_simple_extent_type() == h5s.NULL:
        attributes._set(text, None, tid, None)
    elif _objects(tid.dtype):
        attributes._set(text, list(space.shape), tid, _empty(space.shape, tid.dtype))
    else:
        zeros = bytes(tid.get_size() * space.get_simple_extent_npoints())
        attributes._set_described(text, list(space.shape), tid, (tid._description, zeros))
    return AttrID(attributes, text)


def _empty(shape: "tuple[int, ...]", dtype: "np.dtype[Any]") -> Any:
    from .._dtypes import check_string_dtype, check_vlen_dtype

    array = np.zeros(shape, dtype=dtype)
    if check_string_dtype(dtype) is not None:
        array[...] = b""
    elif check_vlen_dtype(dtype) is not None:
        for index in np.ndindex(shape):
            array[index] = np.zeros(0, dtype=check_vlen_dtype(dtype))
    return array


@_of_one
def open(attributes: Any, name: str) -> AttrID:
    """Opens an attribute by name or by number."""
    return AttrID(attributes, name)


def exists(loc: Any, name: "bytes | str", *, obj_name: bytes = b".", lapl: Any = None) -> bool:
    """Returns whether there is an attribute of this name."""
    return name_text(name) in _attributes(loc, obj_name)


def rename(loc: Any, name: "bytes | str", new_name: "bytes | str", *, obj_name: bytes = b".", lapl: Any = None) -> None:
    """Renames an attribute."""
    try:
        _attributes(loc, obj_name).rename(name_text(name), name_text(new_name))
    except KeyError as error:
        raise RuntimeError(f"Unable to rename attribute ({error.args[0]})") from None


@_of_one
def delete(attributes: Any, name: str) -> None:
    """Deletes an attribute."""
    del attributes[name]


def get_num_attrs(loc: Any) -> int:
    """Returns the number of attributes of an object."""
    return len(_attributes(loc))


@_of_one
def get_info(attributes: Any, name: str) -> AttrInfo:
    """Returns facts about an attribute."""
    found = AttrID(attributes, name)
    is_tracked = bool(attributes._id.get_create_plist().get_attr_creation_order())
    place = list(attributes).index(name) if is_tracked else 0
    return AttrInfo(found.name, place, is_tracked, found.get_storage_size())


def iterate(
    loc: Any,
    func: "Callable[..., _T | None]",
    index: int = 0,
    *,
    index_type: int = 0,
    order: int = 0,
    info: bool = False,
) -> "_T | None":
    """Calls a function with the name of each attribute, until it returns something."""
    for name in _in_order(_attributes(loc), index_type, order)[index:]:
        encoded = name.encode()
        result = func(encoded, get_info(loc, encoded)) if info else func(encoded)
        if result is not None:
            return result
    return None
