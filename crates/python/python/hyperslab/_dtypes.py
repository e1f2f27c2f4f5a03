"""The dtypes that h5py marks with metadata, for what HDF5 has and NumPy lacks."""

import codecs
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ._native import Reference, RegionReference

_DType = np.dtype[Any]


class string_info(NamedTuple):
    """The encoding of a string dtype, and its length in bytes or None."""

    encoding: str
    length: int | None


def string_dtype(encoding: str = "utf-8", length: int | None = None) -> _DType:
    """The dtype of HDF5 strings: of ``length`` bytes, or of variable length.

    ValueError: the encoding is neither UTF-8 nor ASCII. TypeError: the length is no integer.
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
    """The dtype of sequences of variable length with elements of ``basetype``."""
    return np.dtype("O", metadata={"vlen": basetype})


def enum_dtype(values_dict: Mapping[str, int], basetype: DTypeLike = np.uint8) -> _DType:
    """The dtype of an enumeration: an integer dtype that knows names for values."""
    dtype: _DType = np.dtype(basetype)
    if not np.issubdtype(dtype, np.integer):
        raise TypeError("Only integer types can be used as enums")
    return np.dtype(dtype, metadata={"enum": values_dict})


def opaque_dtype(np_dtype: DTypeLike) -> _DType:
    """A dtype marked to be stored as opaque bytes."""
    dtype: _DType = np.dtype(np_dtype)
    if dtype.kind == "O" or dtype.names is not None or dtype.subdtype is not None:
        raise TypeError("Only plain dtypes without Python objects can be stored as opaque data")
    if dtype.itemsize == 0:
        raise TypeError("dtype for opaque data must have explicit size")
    return np.dtype(dtype, metadata={"h5py_opaque": True})


ref_dtype: _DType = np.dtype("O", metadata={"ref": Reference})
regionref_dtype: _DType = np.dtype("O", metadata={"ref": RegionReference})


def _marked(dtype: _DType, key: str) -> Any:
    return None if dtype.metadata is None else dtype.metadata.get(key)


def check_vlen_dtype(dt: _DType) -> Any:
    """The base type of a dtype of variable length, or None."""
    return str if dt.kind == "T" else _marked(dt, "vlen")


def check_string_dtype(dt: _DType) -> string_info | None:
    """The encoding and length of a string dtype, or None."""
    kind = check_vlen_dtype(dt)
    if kind is str or kind is bytes:
        return string_info("utf-8" if kind is str else "ascii", None)
    if dt.kind == "S":
        return string_info(_marked(dt, "h5py_encoding") or "ascii", dt.itemsize)
    return None


def check_enum_dtype(dt: _DType) -> dict[str, int] | None:
    """The names and values of an enumeration's dtype, or None."""
    values: dict[str, int] | None = _marked(dt, "enum")
    return values


def check_opaque_dtype(dt: _DType) -> bool:
    """Whether a dtype is marked to be stored as opaque bytes."""
    return bool(_marked(dt, "h5py_opaque"))


def check_ref_dtype(dt: _DType) -> type[Reference] | None:
    """The class of references that a dtype holds, or None."""
    kind: type[Reference] | None = _marked(dt, "ref")
    return kind


def special_dtype(**kwds: Any) -> _DType:
    """The dtype for one of ``vlen=base``, ``enum=(base, values)``, ``ref=class``: h5py's older way."""
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
    """What a dtype is marked with, for one of ``vlen=``, ``enum=``, ``ref=``: h5py's older way."""
    if len(kwds) != 1:
        raise TypeError("Exactly one keyword may be provided")
    name, dtype = kwds.popitem()
    if name not in ("vlen", "enum", "ref"):
        raise TypeError(f'Unknown special type "{name}"')
    return check_vlen_dtype(dtype) if name == "vlen" else _marked(dtype, name)
