"""Facts about identifiers."""

from typing import Any

from .._native import AttrID, DatasetID, FileID, GroupID
from ._plists import PropClassID, PropInstanceID
from ._types import TypeID
from .h5s import SpaceID

BADID, FILE, GROUP, DATATYPE, DATASPACE, DATASET, ATTR, GENPROP_CLS, GENPROP_LST = -1, 1, 2, 3, 4, 5, 7, 10, 11
INVALID_HID = -1

_KINDS: tuple[tuple[Any, int], ...] = (
    (FileID, FILE),
    (GroupID, GROUP),
    (TypeID, DATATYPE),
    (SpaceID, DATASPACE),
    (DatasetID, DATASET),
    (AttrID, ATTR),
    (PropClassID, GENPROP_CLS),
    (PropInstanceID, GENPROP_LST),
)


def get_type(obj: Any) -> int:
    """Returns the kind of an identifier."""
    return next((kind for class_, kind in _KINDS if isinstance(obj, class_)), BADID)


def get_name(obj: Any) -> "bytes | None":
    """Returns the path of an object, or None."""
    owner = getattr(obj, "_object", None)
    name = None if owner is None else owner.name
    return None if name is None else name.encode()


def get_file_id(obj: Any) -> Any:
    """Returns the identifier of the file of an object."""
    owner = obj._manager._id._object if isinstance(obj, AttrID) else obj._object
    return owner.file.id


def get_ref(obj: Any) -> int:
    """Returns the number of references to an identifier: 1 while it is valid."""
    return int(bool(obj))


def inc_ref(obj: Any) -> None:
    """Does nothing: Python counts references."""


def dec_ref(obj: Any) -> None:
    """Does nothing: Python counts references."""


def wrap_identifier(id_: int) -> Any:
    raise ValueError(f"{id_} is not an identifier of libhdf5: there is no libhdf5 in this process's h5py")
