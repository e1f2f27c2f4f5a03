"""Identifiers of datatypes: a class for each class of datatypes, over the descriptions of the native part.

A description is a tuple (see `crates/python/src/values/description.rs`). An identifier holds one; methods
that change a datatype replace it. A committed datatype also holds the native identifier of its object.
"""

from typing import Any

import numpy as np

from .._create import commit
from .._native import (
    Datatype,
    _decode_datatype,
    _describe_dtype,
    _described_dtype,
    _described_size,
    _encode_datatype,
)
from .._native import TypeID as _CommittedID
from ._objects import ObjectID, check_way, name_text, next_number, unsigned

NO_CLASS, INTEGER, FLOAT, TIME, STRING, BITFIELD, OPAQUE, COMPOUND = -1, 0, 1, 2, 3, 4, 5, 6
REFERENCE, ENUM, VLEN, ARRAY, COMPLEX = 7, 8, 9, 10, 11
ORDER_LE, ORDER_BE, ORDER_VAX, ORDER_NONE = 0, 1, 2, 4
SGN_NONE, SGN_2 = 0, 1
PAD_ZERO, PAD_ONE, PAD_BACKGROUND = 0, 1, 2
VARIABLE = (1 << 64) - 1

Description = tuple[Any, ...]

#: What libhdf5 puts before a datatype message: the type of the message, and the version of the encoding.
_ENCODED = bytes([3, 0])


def _unordered(description: Any) -> Any:
    """The description with members in the order of their names, as `H5Tequal` compares them."""
    if not isinstance(description, tuple):
        return description
    parts = tuple(map(_unordered, description))
    return (*parts[:-1], tuple(sorted(parts[-1]))) if parts[:1] in (("enum",), ("compound",)) else parts


class TypeID(ObjectID):
    """A datatype."""

    _class = NO_CLASS

    def __init__(self, description: Description, committed: "_CommittedID | None" = None) -> None:
        super().__init__(next_number() if committed is None else committed.id)
        self._description = description
        self._committed = committed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeID) and _unordered(self._description) == _unordered(other._description)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(_unordered(self._description))

    def __reduce__(self) -> Any:
        return decode, (self.encode(),)

    def __copy__(self) -> Any:
        return self.copy()

    @property
    def valid(self) -> bool:
        return self.id != 0 if self._committed is None else self._committed.valid

    @property
    def name(self) -> "bytes | None":
        return None if self._committed is None else self._committed.name

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The NumPy dtype of elements of the datatype."""
        return _described_dtype(self._description)

    def py_dtype(self) -> "np.dtype[Any]":
        return self.dtype

    @property
    def _object(self) -> Any:
        if self._committed is None:
            raise ValueError("the datatype is not committed: no object has it")
        return self._committed._object

    def close(self) -> None:
        if self._committed is not None:
            self._committed.close()
        self.id = 0

    def commit(self, group: Any, name: "bytes | str", lcpl: Any = None) -> None:
        """Commits the datatype under a name: it becomes an object of the file."""
        if self._committed is not None:
            raise TypeError("Can't commit datatype (datatype is already committed)")
        parent = group._object
        check_way(parent, name, lcpl, KeyError, "Unable to commit datatype synchronously")
        commit(parent, name_text(name), self)
        self._committed = _CommittedID(parent[name_text(name)])
        self.id = self._committed.id

    def committed(self) -> bool:
        return self._committed is not None

    def get_create_plist(self) -> Any:
        from .h5p import create_list_of

        return create_list_of(self._object)

    def copy(self) -> Any:
        """Returns a copy that can be changed and is not committed."""
        return typewrap(self._description)

    def equal(self, typeid: "TypeID") -> bool:
        return self == typeid

    def lock(self) -> None:
        """Forbids changes."""
        self.locked = True

    def get_class(self) -> int:
        return self._class

    def get_size(self) -> int:
        """Returns the size of an element in bytes."""
        return int(_described_size(self._description))

    def set_size(self, size: int) -> None:
        if size < 1:
            raise ValueError("Size must be positive (size must be positive)")
        self._change(1, size)

    def get_super(self) -> Any:
        raise TypeError("Not an array, enum, vlen or complex datatype: it has no base")

    def detect_class(self, tclass: int) -> bool:
        """Returns whether the datatype is of a class, or has a part of it."""
        if not NO_CLASS < tclass <= COMPLEX:
            raise ValueError("Not a datatype class (not a datatype class)")
        return self._has(tclass)

    def encode(self) -> bytes:
        """Returns the bytes of the datatype message, after libhdf5's that say what is encoded."""
        return _ENCODED + _encode_datatype(self._description)

    def _has(self, tclass: int) -> bool:
        return self._class == tclass or any(typewrap(inner)._has(tclass) for inner in self._inner())

    def _inner(self) -> "tuple[Description, ...]":
        """Returns the descriptions of the members, or that of the base."""
        return ()

    def _change(self, index: int, value: Any) -> None:
        if self.locked or self._committed is not None:
            raise TypeError("Can't change datatype (datatype is read-only)")
        changed = list(self._description)
        changed[index] = value
        self._description = tuple(changed)


class TypeAtomicID(TypeID):
    """A number."""

    #: The places of the significant bits and of the padding in the description.
    _bits = 6

    def get_order(self) -> int:
        return int(self._description[2])

    def set_order(self, order: int) -> None:
        self._change(2, order)

    def get_precision(self) -> int:
        return int(self._description[self._bits][1])

    def set_precision(self, precision: int) -> None:
        self._change(self._bits, (self.get_offset(), precision))

    def get_offset(self) -> int:
        return int(self._description[self._bits][0])

    def set_offset(self, offset: int) -> None:
        self._change(self._bits, (offset, self.get_precision()))

    def get_pad(self) -> "tuple[int, int]":
        return int(self._description[4]), int(self._description[5])

    def set_pad(self, lsb: int, msb: int) -> None:
        self._change(4, bool(lsb))
        self._change(5, bool(msb))


class TypeIntegerID(TypeAtomicID):
    """An integer."""

    _class = INTEGER

    def set_size(self, size: int) -> None:
        super().set_size(size)
        precision = min(self.get_precision(), 8 * size)
        self._change(6, (min(self.get_offset(), 8 * size - precision), precision))

    def set_precision(self, precision: int) -> None:
        if precision < 1:
            raise ValueError("Precision must be positive (precision must be positive)")
        size = max(self.get_size(), -(-precision // 8))
        self._change(1, size)
        self._change(6, (min(self.get_offset(), 8 * size - precision), precision))

    def get_sign(self) -> int:
        return SGN_2 if self._description[3] else SGN_NONE

    def set_sign(self, sign: int) -> None:
        self._change(3, bool(sign))


class TypeFloatID(TypeAtomicID):
    """A floating-point number."""

    _class = FLOAT
    _bits = 5

    def set_size(self, size: int) -> None:
        if 0 < size < -(-self.get_precision() // 8):
            raise TypeError("Unable to set size for datatype (adjust sign, mantissa, and exponent fields first)")
        super().set_size(size)
        self._change(5, (min(self.get_offset(), 8 * size - self.get_precision()), self.get_precision()))

    def get_pad(self) -> "tuple[int, int]":
        low, high, _ = self._description[3]
        return int(low), int(high)

    def set_pad(self, lsb: int, msb: int) -> None:
        self._change(3, (bool(lsb), bool(msb), self._description[3][2]))

    def get_fields(self) -> "tuple[int, int, int, int, int]":
        """Returns the place of the sign, and the places and sizes of the exponent and the mantissa."""
        fields: tuple[int, int, int, int, int] = self._description[6]
        return fields

    def set_fields(self, spos: int, epos: int, esize: int, mpos: int, msize: int) -> None:
        self._change(6, (spos, epos, esize, mpos, msize))
        self._change(5, (self.get_offset(), max(spos + 1, epos + esize, mpos + msize)))

    def get_ebias(self) -> int:
        return int(self._description[7])

    def set_ebias(self, ebias: int) -> None:
        self._change(7, ebias)

    def get_norm(self) -> int:
        return int(self._description[4])

    def set_norm(self, norm: int) -> None:
        self._change(4, norm)

    def get_inpad(self) -> int:
        return int(self._description[3][2])

    def set_inpad(self, pad_code: int) -> None:
        self._change(3, (*self._description[3][:2], bool(pad_code)))


class TypeTimeID(TypeID):
    """A time."""

    _class = TIME


class TypeStringID(TypeID):
    """A string, of fixed or of variable length."""

    _class = STRING

    def is_variable_str(self) -> bool:
        return bool(self._description[0] == "vlen string")

    def get_size(self) -> int:
        # libhdf5 says the size of a pointer for strings of variable length.
        return 8 if self.is_variable_str() else super().get_size()

    def set_size(self, size: int) -> None:
        padding, cset = self._description[-2:]
        if self.locked or self._committed is not None:
            raise TypeError("Can't change datatype (datatype is read-only)")
        if size < 1:
            raise ValueError("Size must be positive (size must be positive)")
        variable = size == VARIABLE
        self._description = ("vlen string", padding, cset) if variable else ("string", size, padding, cset)

    def get_cset(self) -> int:
        return int(self._description[-1])

    def set_cset(self, cset: int) -> None:
        self._change(len(self._description) - 1, bool(cset))

    def get_strpad(self) -> int:
        return int(self._description[-2])

    def set_strpad(self, pad: int) -> None:
        self._change(len(self._description) - 2, pad)


class TypeBitfieldID(TypeID):
    """Bits."""

    _class = BITFIELD

    def get_order(self) -> int:
        return int(self._description[2])


class TypeOpaqueID(TypeID):
    """Bytes with a tag that says what they are."""

    _class = OPAQUE

    def set_tag(self, tag: "bytes | str") -> None:
        self._change(2, name_text(tag))

    def get_tag(self) -> bytes:
        return str(self._description[2]).encode()


class TypeReferenceID(TypeID):
    """A reference to an object or a region."""

    _class = REFERENCE


class TypeDerivedID(TypeID):
    """Several elements of another datatype."""

    def get_super(self) -> Any:
        return typewrap(self._description[1])

    def _inner(self) -> "tuple[Description, ...]":
        return (self._description[1],)


class TypeVlenID(TypeDerivedID):
    """A sequence of variable length."""

    _class = VLEN

    def get_size(self) -> int:
        return 16


class TypeArrayID(TypeDerivedID):
    """An array of a fixed shape."""

    _class = ARRAY

    def get_array_ndims(self) -> int:
        return len(self._description[2])

    def get_array_dims(self) -> "tuple[int, ...]":
        return tuple(self._description[2])


class TypeComplexID(TypeAtomicID):
    """A complex number of HDF5 2.0."""

    _class = COMPLEX

    def get_super(self) -> Any:
        return typewrap(self._description[1])

    def _inner(self) -> "tuple[Description, ...]":
        return (self._description[1],)

    def get_order(self) -> int:
        return int(self.get_super().get_order())

    def set_size(self, size: int) -> None:
        base = self.get_super()
        base.set_size(size // 2)
        self._change(1, base._description)


class TypeCompositeID(TypeID):
    """A datatype with members."""

    def _members(self) -> "tuple[Any, ...]":
        return tuple(self._description[2])

    def get_nmembers(self) -> int:
        return len(self._members())

    def get_member_name(self, member: int) -> bytes:
        if member < 0:
            raise ValueError("Member index must be non-negative.")
        return str(self._member(member)[0]).encode()

    def get_member_index(self, name: "bytes | str") -> int:
        names = [member[0] for member in self._members()]
        try:
            return names.index(name_text(name))
        except ValueError:
            raise ValueError(f"Unable to get member index (no member {name_text(name)!r})") from None

    def _member(self, index: int) -> Any:
        try:
            return self._members()[index]
        except IndexError:
            raise ValueError(f"Unable to get member {index} (there are {self.get_nmembers()})") from None


class TypeCompoundID(TypeCompositeID):
    """A record of named members."""

    _class = COMPOUND

    def get_member_class(self, member: int) -> int:
        return int(self.get_member_type(member).get_class())

    def get_member_offset(self, member: int) -> int:
        return int(self._member(member)[1])

    def get_member_type(self, member: int) -> Any:
        if member < 0:
            raise ValueError("Member index must be non-negative.")
        return typewrap(self._member(member)[2])

    def insert(self, name: "bytes | str", offset: int, field: TypeID) -> None:
        """Adds a member at an offset in bytes."""
        if field is self:
            raise ValueError("Can't insert compound datatype within itself")
        start, text = unsigned(offset, "size_t"), name_text(name)
        end = start + field.get_size()
        if any(text == member for member, _, _ in self._members()):
            raise ValueError("Unable to insert member (member name is not unique)")
        if any(start < at + typewrap(kind).get_size() and at < end for _, at, kind in self._members()):
            raise ValueError("Unable to insert member (member overlaps with another member)")
        if end > self.get_size():
            raise ValueError("Unable to insert member (member extends past end of compound type)")
        self._change(2, (*self._members(), (text, start, field._description)))

    def _inner(self) -> "tuple[Description, ...]":
        return tuple(member[2] for member in self._members())

    def _has(self, tclass: int) -> bool:
        # libhdf5 takes a string of variable length that is a member for a sequence, too.
        is_sequence = tclass == VLEN and any(kind[0] == "vlen string" for kind in self._inner())
        return is_sequence or super()._has(tclass)

    def pack(self) -> None:
        """Removes the space between members."""
        end, packed = 0, []
        for name, _, description in self._members():
            packed.append((name, end, description))
            end += int(_described_size(description))
        self._change(2, tuple(packed))
        self._change(1, end)


class TypeEnumID(TypeCompositeID):
    """Named values of an integer type."""

    _class = ENUM

    def get_super(self) -> Any:
        return typewrap(self._description[1])

    def _inner(self) -> "tuple[Description, ...]":
        return (self._description[1],)

    def get_size(self) -> int:
        return int(self.get_super().get_size())

    def get_order(self) -> int:
        return int(self.get_super().get_order())

    def _order(self) -> Any:
        return "big" if self.get_super().get_order() == ORDER_BE else "little"

    def enum_insert(self, name: "bytes | str", value: int) -> None:
        """Adds a name for a value."""
        base = self.get_super()
        stored = int(value).to_bytes(base.get_size(), self._order(), signed=base.get_sign() == SGN_2)
        text = name_text(name)
        for known, taken in self._members():
            if known == text or taken == stored:
                what = "name" if known == text else "value"
                raise TypeError(f"Unable to insert new enumeration member ({what} redefinition)")
        self._change(2, (*self._members(), (text, stored)))

    def get_member_value(self, idx: int) -> int:
        base = self.get_super()
        return int.from_bytes(self._member(idx)[1], self._order(), signed=base.get_sign() == SGN_2)

    def enum_nameof(self, value: int) -> bytes:
        for index in range(self.get_nmembers()):
            if self.get_member_value(index) == value:
                return self.get_member_name(index)
        raise ValueError(f"Can't get name of value (no member has the value {value})")

    def enum_valueof(self, name: "bytes | str") -> int:
        return self.get_member_value(self.get_member_index(name))


_CLASSES: "dict[str, type[TypeID]]" = {
    "integer": TypeIntegerID,
    "float": TypeFloatID,
    "time": TypeTimeID,
    "string": TypeStringID,
    "vlen string": TypeStringID,
    "bitfield": TypeBitfieldID,
    "opaque": TypeOpaqueID,
    "compound": TypeCompoundID,
    "reference": TypeReferenceID,
    "enum": TypeEnumID,
    "vlen": TypeVlenID,
    "array": TypeArrayID,
    "complex": TypeComplexID,
}


def typewrap(description: Description, committed: "_CommittedID | None" = None) -> Any:
    """Returns the identifier of a described datatype."""
    return _CLASSES[description[0]](description, committed)


def type_of(datatype: Datatype) -> Any:
    """Returns the identifier of a committed datatype."""
    committed = _CommittedID(datatype)
    return typewrap(committed._description, committed)


def of_dtype(dtype: Any) -> Any:
    """Returns the identifier of the datatype that a new dataset of this dtype gets."""
    return typewrap(_describe_dtype(dtype))


def decode(buf: bytes) -> Any:
    """Returns the datatype of the bytes of a message, with or without those that `encode` puts before it."""
    # A message begins with its version, 1 or more, and its class: never with these bytes.
    return typewrap(_decode_datatype(buf.removeprefix(_ENCODED)))
