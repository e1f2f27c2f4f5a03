"""Datatypes: constants, constructors, and the dtypes that stand for what NumPy does not have."""

from typing import Any

import numpy as np

from .._dtypes import check_dtype as check_dtype
from .._dtypes import check_enum_dtype as check_enum_dtype
from .._dtypes import check_opaque_dtype as check_opaque_dtype
from .._dtypes import check_ref_dtype as check_ref_dtype
from .._dtypes import check_string_dtype as check_string_dtype
from .._dtypes import check_vlen_dtype as check_vlen_dtype
from .._dtypes import enum_dtype as enum_dtype
from .._dtypes import opaque_dtype as opaque_dtype
from .._dtypes import ref_dtype as ref_dtype
from .._dtypes import regionref_dtype as regionref_dtype
from .._dtypes import special_dtype as special_dtype
from .._dtypes import string_dtype as string_dtype
from .._dtypes import string_info as string_info
from .._dtypes import vlen_dtype as vlen_dtype
from .._native import Datatype as _Datatype
from ._complex import check_complex_dtype as check_complex_dtype
from ._complex import complex_compat_dtype as complex_compat_dtype
from ._objects import name_text, unsupported
from ._types import ARRAY as ARRAY
from ._types import BITFIELD as BITFIELD
from ._types import COMPLEX as COMPLEX
from ._types import COMPOUND as COMPOUND
from ._types import ENUM as ENUM
from ._types import FLOAT as FLOAT
from ._types import INTEGER as INTEGER
from ._types import NO_CLASS as NO_CLASS
from ._types import OPAQUE as OPAQUE
from ._types import ORDER_BE as ORDER_BE
from ._types import ORDER_LE as ORDER_LE
from ._types import ORDER_NONE as ORDER_NONE
from ._types import ORDER_VAX as ORDER_VAX
from ._types import PAD_BACKGROUND as PAD_BACKGROUND
from ._types import PAD_ONE as PAD_ONE
from ._types import PAD_ZERO as PAD_ZERO
from ._types import REFERENCE as REFERENCE
from ._types import SGN_2 as SGN_2
from ._types import SGN_NONE as SGN_NONE
from ._types import STRING as STRING
from ._types import TIME as TIME
from ._types import VARIABLE as VARIABLE
from ._types import VLEN as VLEN
from ._types import TypeArrayID as TypeArrayID
from ._types import TypeAtomicID as TypeAtomicID
from ._types import TypeBitfieldID as TypeBitfieldID
from ._types import TypeComplexID as TypeComplexID
from ._types import TypeCompositeID as TypeCompositeID
from ._types import TypeCompoundID as TypeCompoundID
from ._types import TypeEnumID as TypeEnumID
from ._types import TypeFloatID as TypeFloatID
from ._types import TypeID as TypeID
from ._types import TypeIntegerID as TypeIntegerID
from ._types import TypeOpaqueID as TypeOpaqueID
from ._types import TypeReferenceID as TypeReferenceID
from ._types import TypeStringID as TypeStringID
from ._types import TypeTimeID as TypeTimeID
from ._types import TypeVlenID as TypeVlenID
from ._types import decode as decode
from ._types import of_dtype
from ._types import type_of as type_of
from ._types import typewrap as typewrap

ORDER_NATIVE = ORDER_LE if np.little_endian else ORDER_BE
CSET_ASCII, CSET_UTF8 = 0, 1
STR_NULLTERM, STR_NULLPAD, STR_SPACEPAD = 0, 1, 2
NORM_IMPLIED, NORM_MSBSET, NORM_NONE = 0, 1, 2
DIR_DEFAULT, DIR_ASCEND, DIR_DESCEND = 0, 1, 2
BKG_NO, BKG_TEMP, BKG_YES = 0, 1, 2


def _locked(type_id: Any) -> Any:
    type_id.lock()
    return type_id


def _number(dtype: str) -> Any:
    return _locked(of_dtype(np.dtype(dtype)))


def _bits(size: int, order: int) -> Any:
    return _locked(typewrap(("bitfield", size, order, False, False, (0, 8 * size))))


def _time(size: int, order: int) -> Any:
    return _locked(typewrap(("time", size, order, 8 * size)))


def _complex(base: Any) -> Any:
    return _locked(typewrap(("complex", base._description)))


STD_I8LE, STD_I16LE, STD_I32LE, STD_I64LE = (_number(f"<i{size}") for size in (1, 2, 4, 8))
STD_I8BE, STD_I16BE, STD_I32BE, STD_I64BE = (_number(f">i{size}") for size in (1, 2, 4, 8))
STD_U8LE, STD_U16LE, STD_U32LE, STD_U64LE = (_number(f"<u{size}") for size in (1, 2, 4, 8))
STD_U8BE, STD_U16BE, STD_U32BE, STD_U64BE = (_number(f">u{size}") for size in (1, 2, 4, 8))
NATIVE_INT8, NATIVE_INT16, NATIVE_INT32, NATIVE_INT64 = (_number(f"=i{size}") for size in (1, 2, 4, 8))
NATIVE_UINT8, NATIVE_UINT16, NATIVE_UINT32, NATIVE_UINT64 = (_number(f"=u{size}") for size in (1, 2, 4, 8))
IEEE_F16LE, IEEE_F32LE, IEEE_F64LE = (_number(f"<f{size}") for size in (2, 4, 8))
IEEE_F16BE, IEEE_F32BE, IEEE_F64BE = (_number(f">f{size}") for size in (2, 4, 8))
NATIVE_FLOAT16, NATIVE_FLOAT, NATIVE_DOUBLE = (_number(f"=f{size}") for size in (2, 4, 8))
_QUAD = ((False, False, False), 0, (0, 128), (127, 112, 15, 0, 112), 16383)
IEEE_F128LE = _locked(typewrap(("float", 16, ORDER_LE, *_QUAD)))
IEEE_F128BE = _locked(typewrap(("float", 16, ORDER_BE, *_QUAD)))
try:
    NATIVE_LDOUBLE = _number("longdouble")
except TypeError:
    NATIVE_LDOUBLE = NATIVE_DOUBLE
LDOUBLE_LE = NATIVE_LDOUBLE.copy()
LDOUBLE_LE.set_order(ORDER_LE)
LDOUBLE_BE = NATIVE_LDOUBLE.copy()
LDOUBLE_BE.set_order(ORDER_BE)
STD_B8LE, STD_B16LE, STD_B32LE, STD_B64LE = (_bits(size, ORDER_LE) for size in (1, 2, 4, 8))
STD_B8BE, STD_B16BE, STD_B32BE, STD_B64BE = (_bits(size, ORDER_BE) for size in (1, 2, 4, 8))
NATIVE_B8, NATIVE_B16, NATIVE_B32, NATIVE_B64 = (_bits(size, ORDER_NATIVE) for size in (1, 2, 4, 8))
UNIX_D32LE, UNIX_D64LE = (_time(size, ORDER_LE) for size in (4, 8))
UNIX_D32BE, UNIX_D64BE = (_time(size, ORDER_BE) for size in (4, 8))
COMPLEX_IEEE_F16LE, COMPLEX_IEEE_F16BE = _complex(IEEE_F16LE), _complex(IEEE_F16BE)
COMPLEX_IEEE_F32LE, COMPLEX_IEEE_F32BE = _complex(IEEE_F32LE), _complex(IEEE_F32BE)
COMPLEX_IEEE_F64LE, COMPLEX_IEEE_F64BE = _complex(IEEE_F64LE), _complex(IEEE_F64BE)
NATIVE_FLOAT_COMPLEX, NATIVE_DOUBLE_COMPLEX = _complex(NATIVE_FLOAT), _complex(NATIVE_DOUBLE)
NATIVE_LDOUBLE_COMPLEX = _complex(NATIVE_LDOUBLE)
STD_REF_OBJ = _locked(typewrap(("reference", 8, 0)))
STD_REF_DSETREG = _locked(typewrap(("reference", 12, 1)))
C_S1 = _locked(typewrap(("string", 1, STR_NULLTERM, False)))
FORTRAN_S1 = _locked(typewrap(("string", 1, STR_SPACEPAD, False)))
PYTHON_OBJECT = _locked(typewrap(("opaque", 8, "PYTHON:OBJECT")))
NUMPY_VLEN_STRING = _locked(typewrap(("opaque", 16, "NUMPY:VLEN_STRING")))


def create(classtype: int, size: int) -> Any:
    """Creates a compound, an opaque datatype or a string of this size in bytes."""
    if classtype == COMPOUND:
        return typewrap(("compound", size, ()))
    if classtype == OPAQUE:
        return typewrap(("opaque", size, ""))
    if classtype == STRING:
        made = C_S1.copy()
        made.set_size(size)
        return made
    raise ValueError("Class must be COMPOUND, OPAQUE or STRING")


def open(group: Any, name: "bytes | str", tapl: Any = None) -> Any:
    """Opens a committed datatype."""
    found = group._object[name_text(name)]
    if not isinstance(found, _Datatype):
        raise KeyError(f"Unable to open named datatype synchronously (not a named datatype: {name_text(name)!r})")
    return found.id


def enum_create(base: TypeID) -> TypeEnumID:
    """Creates an enumeration without members."""
    return TypeEnumID(("enum", base._description, ()))


def vlen_create(base: TypeID) -> TypeVlenID:
    """Creates the datatype of sequences."""
    return TypeVlenID(("vlen", base._description))


def array_create(base: TypeID, dims_tpl: "tuple[int, ...]") -> TypeArrayID:
    """Creates the datatype of arrays of a shape."""
    return TypeArrayID(("array", base._description, tuple(int(length) for length in dims_tpl)))


def py_create(dtype_in: Any, logical: bool = False, aligned: bool = False) -> Any:
    """Returns the datatype of a dtype: as it is stored (`logical`), or as it is in memory.

    In memory, what has no NumPy dtype of its own is a pointer to a Python object.
    """
    if isinstance(dtype_in, TypeID):
        return dtype_in.copy()
    dtype = np.dtype(dtype_in)
    if dtype.kind == "O" and not dtype.metadata and logical:
        raise TypeError(f"Object dtype {dtype!r} has no native HDF5 equivalent")
    if logical:
        if aligned or (dtype.isalignedstruct and dtype.hasobject):
            raise TypeError("Cannot create HDF5 compound type with aligned logical members of other sizes")
        return of_dtype(dtype)
    return typewrap(_memory(dtype))


def _memory(dtype: "np.dtype[Any]") -> "tuple[Any, ...]":
    """Returns the description of elements in memory."""
    if dtype.kind in "iu":
        # Without the names of an enumeration.
        return tuple(of_dtype(np.dtype(dtype.str))._description)
    if not dtype.hasobject and dtype.kind not in "TV":
        return tuple(of_dtype(dtype)._description)
    if dtype.kind == "T":
        return tuple(NUMPY_VLEN_STRING._description)
    if dtype.subdtype is not None:
        return ("array", _memory(dtype.subdtype[0]), dtype.subdtype[1])
    if dtype.names is not None and dtype.fields is not None:
        members = tuple((name, dtype.fields[name][1], _memory(dtype.fields[name][0])) for name in dtype.names)
        return ("compound", dtype.itemsize, members)
    if not dtype.hasobject:
        return tuple(of_dtype(dtype)._description)
    return tuple(PYTHON_OBJECT._description)


def convert(src: TypeID, dst: TypeID, n: int, buf: Any, bkg: Any = None, dxpl: Any = None) -> None:
    raise unsupported("h5t.convert", "arrays are converted by NumPy: array.astype(dst.dtype)")


def find(src: TypeID, dst: TypeID) -> None:
    raise unsupported("h5t.find", "conversions are not listed; datasets convert what can be converted")
