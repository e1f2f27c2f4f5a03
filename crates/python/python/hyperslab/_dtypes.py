"""The dtypes that h5py marks with metadata, for datatypes that HDF5 has and NumPy lacks."""

import codecs
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ._native import Reference, RegionReference

_DType = np.dtype[Any]


class string_info(NamedTuple):
    """The encoding of a string dtype, and its length in bytes.

    The length is None for strings of variable length.

    Example:
        >>> hs.check_string_dtype(np.dtype("S3"))
        string_info(encoding='ascii', length=3)
    """

    encoding: str
    length: int | None


def string_dtype(encoding: str = "utf-8", length: int | None = None) -> _DType:
    """Returns the dtype of HDF5 strings.

    Args:
        encoding: "utf-8" or "ascii".
        length: The length in bytes. None returns the dtype of strings of variable length.

    Raises:
        ValueError: The encoding is neither UTF-8 nor ASCII.
        TypeError: The length is not an integer.

    Example:
        >>> file.create_dataset("cities", data=["Bern", "Genève"], dtype=hs.string_dtype()).asstr()[1]
        'Genève'
        >>> hs.string_dtype("ascii", 8)
        dtype('S8')
    """
    try:
        encoding = codecs.lookup(encoding).name
    except LookupError:
        pass
    if encoding not in ("ascii", "utf-8"):
        raise ValueError(f"Invalid encoding ({encoding!r}); 'utf-8' or 'ascii' allowed")
    if isinstance(length, int):
        return np.dtype(f"|S{length}", metadata={"h5py_encoding": encoding})
    if length is not None:
        raise TypeError(f"length must be integer or None (got {length!r})")
    return np.dtype("O", metadata={"vlen": str if encoding == "utf-8" else bytes})


def vlen_dtype(basetype: DTypeLike) -> _DType:
    """Returns the dtype of sequences of variable length.

    Args:
        basetype: The dtype of the elements of a sequence.

    Example:
        >>> ragged = file.create_dataset("ragged", shape=(2,), dtype=hs.vlen_dtype("i4"))
        >>> ragged[0] = [1, 2, 3]
        >>> ragged[0]
        array([1, 2, 3], dtype=int32)
    """
    return np.dtype("O", metadata={"vlen": basetype})


def enum_dtype(values_dict: Mapping[str, int], basetype: DTypeLike = np.uint8) -> _DType:
    """Returns the dtype of an enumeration: an integer dtype with names for its values.

    Args:
        values_dict: The value of each name.
        basetype: The integer dtype.

    Raises:
        TypeError: The base type is not an integer dtype.

    Example:
        >>> colour = hs.enum_dtype({"red": 0, "green": 1}, "u1")
        >>> hs.check_enum_dtype(file.create_dataset("c", data=[1, 0], dtype=colour).dtype)
        {'red': 0, 'green': 1}
    """
    dtype: _DType = np.dtype(basetype)
    if not np.issubdtype(dtype, np.integer):
        raise TypeError("Only integer types can be used as enums")
    return np.dtype(dtype, metadata={"enum": values_dict})


def opaque_dtype(np_dtype: DTypeLike) -> _DType:
    """Returns a dtype whose elements are stored as opaque bytes.

    Args:
        np_dtype: The dtype: plain, without Python objects, fields or subarrays.

    Raises:
        TypeError: The dtype cannot be stored as opaque bytes.

    Example:
        >>> dates = np.array(["2024-01-01", "2024-01-02"], dtype="M8[D]")
        >>> file["dates"] = dates.astype(hs.opaque_dtype(dates.dtype))
        >>> file["dates"][1]
        np.datetime64('2024-01-02')
    """
    dtype: _DType = np.dtype(np_dtype)
    if dtype.kind == "O" or dtype.names is not None or dtype.subdtype is not None:
        raise TypeError("Only plain dtypes without Python objects can be stored as opaque data")
    if dtype.itemsize == 0:
        raise TypeError("dtype for opaque data must have explicit size")
    return np.dtype(dtype, metadata={"h5py_opaque": True})


ref_dtype: _DType = np.dtype("O", metadata={"ref": Reference})
regionref_dtype: _DType = np.dtype("O", metadata={"ref": RegionReference})


def _marked(dtype: _DType, key: str) -> Any:
    # Programs ask about other things, too, such as the class str.
    metadata = getattr(dtype, "metadata", None)
    return None if metadata is None else metadata.get(key)


def check_vlen_dtype(dt: _DType) -> Any:
    """Returns the base type of a dtype of variable length, or None for any other dtype.

    Example:
        >>> hs.check_vlen_dtype(hs.vlen_dtype("i4"))
        'i4'
        >>> hs.check_vlen_dtype(names.dtype)
        <class 'str'>
    """
    return str if dt.kind == "T" else _marked(dt, "vlen")


def check_string_dtype(dt: _DType) -> string_info | None:
    """Returns the encoding and the length of a string dtype, or None for any other dtype.

    Example:
        >>> hs.check_string_dtype(names.dtype)
        string_info(encoding='utf-8', length=None)
    """
    kind = check_vlen_dtype(dt)
    if kind is str or kind is bytes:
        return string_info("utf-8" if kind is str else "ascii", None)
    if dt.kind == "S":
        return string_info(_marked(dt, "h5py_encoding") or "ascii", dt.itemsize)
    return None


def check_enum_dtype(dt: _DType) -> dict[str, int] | None:
    """Returns the names and values of an enumeration, or None for any other dtype.

    Example:
        >>> hs.check_enum_dtype(hs.enum_dtype({"off": 0, "on": 1}))
        {'off': 0, 'on': 1}
    """
    values: dict[str, int] | None = _marked(dt, "enum")
    return values


def check_opaque_dtype(dt: _DType) -> bool:
    """Returns whether the elements of a dtype are stored as opaque bytes.

    Example:
        >>> hs.check_opaque_dtype(hs.opaque_dtype("M8[s]"))
        True
    """
    return bool(_marked(dt, "h5py_opaque"))


def check_ref_dtype(dt: _DType) -> type[Reference] | None:
    """Returns the class of the references that a dtype holds, or None for any other dtype.

    Example:
        >>> hs.check_ref_dtype(hs.ref_dtype)
        <class 'hyperslab.Reference'>
    """
    kind: type[Reference] | None = _marked(dt, "ref")
    return kind


def special_dtype(**kwds: Any) -> _DType:
    """Returns the dtype for one keyword. This is the older interface of h5py.

    Args:
        kwds: One of `vlen=base`, `enum=(base, values)` and `ref=class`.

    Raises:
        TypeError: Another keyword, or more than one.

    Example:
        >>> hs.special_dtype(vlen=str) == hs.string_dtype()
        True
    """
    if len(kwds) != 1:
        raise TypeError("Exactly one keyword may be provided")
    name, value = kwds.popitem()
    if name == "vlen":
        return vlen_dtype(value)
    if name == "enum":
        basetype, values = value
        return enum_dtype(values, basetype)
    if name == "ref":
        if value not in (Reference, RegionReference):
            raise ValueError("Ref class must be Reference or RegionReference")
        return ref_dtype if value is Reference else regionref_dtype
    raise TypeError(f'Unknown special type "{name}"')


def check_dtype(**kwds: _DType) -> Any:
    """Returns the mark of a dtype for one keyword. This is the older interface of h5py.

    Args:
        kwds: One of `vlen=dtype`, `enum=dtype` and `ref=dtype`.

    Raises:
        TypeError: Another keyword, or more than one.

    Example:
        >>> hs.check_dtype(vlen=hs.string_dtype())
        <class 'str'>
    """
    if len(kwds) != 1:
        raise TypeError("Exactly one keyword may be provided")
    name, dtype = kwds.popitem()
    if name not in ("vlen", "enum", "ref"):
        raise TypeError(f'Unknown special type "{name}"')
    return check_vlen_dtype(dtype) if name == "vlen" else _marked(dtype, name)
