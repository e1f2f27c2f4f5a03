"""Moving elements between a selection of a dataset and a selection of an array in memory."""

import math
from typing import Any

import numpy as np

from .._native import Dataset, _PointList
from ._types import TypeID
from .h5s import ALL, NULL, SEL_ALL, SpaceID
from .h5t import py_create


def key_of(space: SpaceID, shape: "tuple[int, ...]") -> Any:
    """Returns the argument of `dataset[...]` for the selection of a dataspace."""
    if space is ALL or shape == ():
        return ()
    if space.shape != shape:
        raise ValueError(f"the dataspace has the shape {space.shape}, the dataset {shape}")
    if not space.select_valid():
        raise OSError(f"the selection is not inside the dataspace {shape} (selection + offset not within extent)")
    selection = space._moved
    key = selection.key(shape)
    if key is not None:
        return key
    return _PointList(np.ascontiguousarray(selection.coordinates(shape), dtype="u8"))


def _places(mspace: SpaceID, fspace: SpaceID, count: int, size: int) -> Any:
    """Returns the places of `count` elements in an array of `size`: a slice, or the flat indices.

    `ALL` in memory is the dataspace of the file with its selection, as in HDF5.
    """
    memory = fspace if mspace is ALL else mspace
    chosen = count if memory is ALL else memory.get_select_npoints()
    if chosen != count:
        raise OSError(f"{count} elements are selected in the file, and {chosen} in memory")
    if memory is ALL or memory.get_select_type() == SEL_ALL:
        places: Any = slice(0, count)
        end = count
    elif not memory.select_valid():
        raise OSError(f"the selection is not inside the dataspace in memory {memory.shape}")
    else:
        places = np.ravel_multi_index(tuple(memory._moved.coordinates(memory.shape).T), memory.shape)
        end = int(places.max(initial=-1)) + 1
    if end > size:
        raise ValueError(f"the elements in memory end at {end}, and the array has {size}")
    return places


def _objects(dtype: "np.dtype[Any]") -> bool:
    return dtype.hasobject or dtype.kind == "T"


def _file_type(dataset: Dataset) -> TypeID:
    found: TypeID = dataset.id.get_type()  # type: ignore[attr-defined]
    return found


def _in_memory(dtype: "np.dtype[Any]", mtype: "TypeID | None", stored: TypeID) -> "tuple[Any, ...]":
    """Returns the description of the elements of an array."""
    if mtype is not None:
        return mtype._description
    described: tuple[Any, ...] = py_create(dtype)._description
    if dtype.kind == "b" or (dtype.kind in "iu" and stored._description[0] in ("enum", "bitfield")):
        # Numbers are taken as the values of an enumeration, and as bits.
        return stored._description if dtype.itemsize == stored.get_size() else described
    if dtype.kind == "c" and stored._description[0] == "complex":
        return ("complex", described[2][0][2])
    return described


def read(dataset: Dataset, mspace: SpaceID, fspace: SpaceID, array: Any, mtype: "TypeID | None") -> None:
    """Reads the selection `fspace` of a dataset to the selection `mspace` of an array."""
    if not isinstance(array, np.ndarray):
        raise TypeError("the destination is not a NumPy array")
    if not array.flags.writeable:
        raise TypeError("Array must be writable")
    if dataset.shape is None or mspace.get_simple_extent_type() == NULL:
        return
    if not array.flags.c_contiguous:
        raise TypeError("Array must be C-contiguous")
    key = key_of(fspace, dataset.shape)
    count = _count(dataset, key)
    flat: Any = array.reshape(-1)
    found: Any
    if _objects(array.dtype):
        found = np.asarray(dataset[key] if key != () else dataset[...]).reshape(-1)
        flat[_places(mspace, fspace, count, len(flat))] = found
        return
    description = _in_memory(array.dtype, mtype, _file_type(dataset))
    found = np.frombuffer(dataset._read_described(key, description), dtype=array.dtype.base)
    if count and len(found) != count:
        # Elements of an array datatype are rows.
        flat, found = flat.reshape(-1, len(found) // count), found.reshape(count, -1)
    flat[_places(mspace, fspace, count, len(flat))] = found


def _count(dataset: Dataset, key: Any) -> int:
    """Returns the number of elements that are selected in the file."""
    selected, _ = dataset._shape_of(key)
    return math.prod(selected)


def write(dataset: Dataset, mspace: SpaceID, fspace: SpaceID, value: Any, mtype: "TypeID | None") -> None:
    """Writes the selection `mspace` of an array to the selection `fspace` of a dataset."""
    array = np.asarray(value, order="C")
    if dataset.shape is None:
        return
    key = key_of(fspace, dataset.shape)
    count = _count(dataset, key)
    if _objects(array.dtype) or _objects(dataset.dtype):
        chosen = array.reshape(-1)[_places(mspace, fspace, count, array.size)]
        dataset[key if key != () else ...] = chosen.reshape(dataset._shape_of(key)[0])
        return
    description = _in_memory(array.dtype, mtype, _file_type(dataset))
    size = array.dtype.itemsize if mtype is None else mtype.get_size()
    # `mtype` says what the bytes of the array are, whatever its dtype.
    cells = np.frombuffer(array.tobytes(), dtype=np.dtype((np.void, size)))
    chosen = cells[_places(mspace, fspace, count, len(cells))]
    dataset._write_described(key, description, chosen.tobytes())
