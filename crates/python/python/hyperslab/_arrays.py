"""Values as arrays that the engine accepts."""

from typing import Any, cast

import numpy as np

from ._dtypes import (
    check_enum_dtype,
    check_ref_dtype,
    check_string_dtype,
    check_vlen_dtype,
    ref_dtype,
    regionref_dtype,
    string_dtype,
)
from ._native import Datatype, Reference, RegionReference, _converted, _item_type


def item_type(value: Any) -> Any:
    """Returns the common type of all items of nested lists, or None."""
    if isinstance(value, list | tuple):
        return _item_type(value, item_type)[0]
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "O" or value.dtype.metadata is not None:
            return None
        kinds = {type(item) for item in value.flat}
        return kinds.pop() if len(kinds) == 1 else None
    return type(value)


def item_types(array: "np.ndarray[Any, Any]") -> "set[type]":
    """Returns the types of the items of an array of Python objects."""
    return {type(item) for item in array.flat}


def listed_texts(value: Any) -> "np.dtype[Any] | None":
    """Returns the dtype of a list or a tuple of strings; None for anything else."""
    if type(value) not in (list, tuple):
        return None
    kind, is_flat = _item_type(value, type)
    if not is_flat or kind not in (str, bytes):
        return None
    return string_dtype("ascii" if kind is bytes else "utf-8")


def guess_dtype(value: Any) -> "np.dtype[Any] | None":
    """Returns the dtype of references and strings, and of lists and arrays of them; None for anything else.

    NumPy has no dtype for these values.
    """
    kinds = {RegionReference: regionref_dtype, Reference: ref_dtype, bytes: string_dtype("ascii"), str: string_dtype()}
    found = item_type(value)
    return kinds.get(found) if isinstance(found, type) else None


def is_datatype(given: Any) -> bool:
    """Returns whether a value is a datatype of HDF5: a committed one, or a low-level identifier."""
    return isinstance(given, Datatype) or (hasattr(given, "_description") and not isinstance(given, type))


def numpy_dtype(given: Any) -> "np.dtype[Any]":
    """Returns the dtype of elements: of a datatype of HDF5, or of what NumPy takes for a dtype."""
    return cast("np.dtype[Any]", given.dtype if is_datatype(given) else np.dtype(given))


def array_for_new_object(data: Any, dtype: Any) -> Any:
    """Returns the array of elements for a new dataset or attribute."""
    own = getattr(data, "dtype", None)
    if own is not None and not isinstance(own, np.dtype):
        # A dtype of pandas, for example: only the object itself can make an array of NumPy.
        wanted = None if dtype is None or check_string_dtype(numpy_dtype(dtype)) else numpy_dtype(dtype).base
        data = np.asarray(data, order="C", dtype=wanted)
        if dtype is None:
            return data
        own = data.dtype
    if dtype is not None:
        kind: Any = numpy_dtype(dtype)
        if check_enum_dtype(kind) is not None and own is not None and own.kind in "iu":
            # Numbers are the values of the enumeration.
            return numbers_as(np.asarray(data, order="C"), kind)
        if own is not None and check_string_dtype(kind) is None and kind.subdtype is None:
            kind = own if own.kind != "O" else kind
    elif own is not None and own.kind != "O":
        kind = own
    else:
        kind = guess_dtype(data) or own
    if kind is not None and kind.subdtype is not None:
        base, inner = kind.subdtype
        array = np.asarray(data, order="C", dtype=base)
        return array
    if kind is not None and check_vlen_dtype(kind) not in (None, str, bytes):
        return vlen_array(data, kind)
    if own is not None and own.kind == "T" and kind.kind == "O":
        return np.asarray(data, order="C")
    array = np.asarray(data, order="C", dtype=None if kind is getattr(data, "dtype", None) else kind)
    if array.dtype.kind == "U":
        raise TypeError(f"No conversion path for dtype: {array.dtype!r}")
    if kind is not None and (check_ref_dtype(kind) or check_vlen_dtype(kind)) and array.dtype.metadata is None:
        array = array.astype(kind)
    return array


def numbers_as(array: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """Returns numbers as elements of another dtype.

    As in libhdf5, the nearest value stands for a value that the dtype does not have.
    """
    if array.dtype.kind not in "iuf" or dtype.kind not in "iuf":
        return array.astype(dtype)
    return _converted(np.asarray(array, order="C"), dtype)


def without_missing(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Returns texts of NumPy's `StringDType`. Missing ones become empty, as h5py stores them."""
    missing = getattr(array.dtype, "na_object", "")
    if isinstance(missing, str):
        return array
    is_text = [isinstance(text, str) for text in array.astype(object).flat]
    return np.where(np.reshape(is_text, array.shape), array, "").astype(np.dtypes.StringDType())


def check_texts(array: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]") -> None:
    """Raises TypeError if `dtype` holds strings of fixed length and the elements are not strings."""
    if dtype.kind != "S" or array.dtype.kind in "SUT":
        return
    wrong = [item for item in array.flat if not isinstance(item, str | bytes)]
    if wrong:
        found = f"{wrong[0]!r} is a {type(wrong[0]).__name__}"
        raise TypeError(f"Can't implicitly convert non-string objects to strings: {found}, convert it first")


def by_names(array: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """Returns the elements with another dtype. Members of records are matched by name.

    Raises:
        TypeError: The elements are of another kind.
    """
    base, inner = dtype.subdtype or (dtype, ())
    if array.dtype == base:
        return array
    if base.names is None or array.dtype.names is None:
        if base.names is not None or array.dtype.names is not None or array.dtype.kind == "O" != base.kind:
            raise TypeError(f"No conversion path for dtype: {array.dtype!r}")
        return numbers_as(array, base)
    made = np.zeros(array.shape, dtype=base)
    for name in base.names:
        if name in array.dtype.names:
            made[name] = by_names(array[name], base[name])
        elif check_string_dtype(base[name].base) is not None:
            made[name] = b""
    return made


def _levels(dtype: Any) -> int:
    """Returns how deep sequences are nested in elements of a dtype. A string is no sequence."""
    base = None if dtype in (str, bytes) else check_vlen_dtype(np.dtype(dtype))
    return 0 if base is None or base in (str, bytes) else 1 + _levels(base)


def _depth(value: Any) -> int:
    """Returns how deep sequences are nested in a value, by its first item."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return value.ndim
    if not isinstance(value, np.ndarray | list | tuple):
        return 0
    items = value.flat if isinstance(value, np.ndarray) else value
    return 1 + next((_depth(item) for item in items if item is not None), 0)


def vlen_array(data: Any, dtype: "np.dtype[Any]") -> Any:
    """Returns an array of Python objects, each of which is an array.

    A flat list becomes one object; nested lists become one object for each innermost list.
    """
    base = np.dtype(check_vlen_dtype(dtype))
    if isinstance(data, np.ndarray) and data.dtype.kind == "O":
        is_one = data.ndim == 1 and (_depth(data) == _levels(dtype) or (data.size == 0 and base.kind == "O"))
        if not is_one:
            return data.astype(dtype) if data.dtype != dtype else data
        # A sequence of strings or references, for example, is one object.
        array = np.empty((), dtype=dtype)
        array[()] = np.asarray(data, dtype=base)
        return array
    try:
        whole = np.asarray(data, dtype=base)
    except (TypeError, ValueError):
        rows = list(data)
        array = np.empty(len(rows), dtype=dtype)
        for index, row in enumerate(rows):
            array[index] = np.asarray(row, dtype=base)
        return array
    if whole.ndim < 2:
        array = np.empty((), dtype=dtype)
        array[()] = np.atleast_1d(whole)
        return array
    array = np.empty(whole.shape[:-1], dtype=dtype)
    for place in np.ndindex(*whole.shape[:-1]):
        array[place] = whole[place]
    return array
