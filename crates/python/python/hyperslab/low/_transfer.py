"""Moving elements between a selection of a dataset and a selection of an array in memory."""

from typing import Any

import numpy as np

from .._native import Dataset, _PointList
from ._types import TypeID
from .h5s import ALL, NULL, SpaceID
from .h5t import py_create


def key_of(space: SpaceID, shape: "tuple[int, ...]") -> Any:
    """Returns the argument of `dataset[...]` for the selection of a dataspace."""
    if space is ALL or shape == ():
        return ()
    if space.shape != shape:
        raise ValueError(f"the dataspace has the shape {space.shape}, the dataset {shape}")
    selection = space._selection
    key = selection.key(shape)
    if key is not None:
        return key
    return _PointList(np.ascontiguousarray(selection.coordinates(shape), dtype="u8"))


def _is_whole(space: SpaceID) -> bool:
    return space is ALL or space.get_select_type() == ALL.get_select_type()


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
    key = key_of(fspace, dataset.shape)
    if _objects(array.dtype):
        found = np.asarray(dataset[key] if key != () else dataset[...])
        _put(array, mspace, found.reshape(-1))
        return
    description = _in_memory(array.dtype, mtype, _file_type(dataset))
    raw = dataset._read_described(key, description)
    _put(array, mspace, np.frombuffer(raw, dtype=array.dtype.base))


def _put(array: Any, mspace: SpaceID, found: Any) -> None:
    """Writes elements to the selection of an array."""
    if _is_whole(mspace):
        flat = array.reshape(-1) if array.flags.c_contiguous else None
        if flat is None:
            raise TypeError("Array must be C-contiguous")
        if len(found) > len(flat):
            raise ValueError(f"the array has room for {len(flat)} elements, not for {len(found)}")
        flat[: len(found)] = found
        return
    shape = mspace.shape
    if array.size != int(np.prod(shape, dtype=object)):
        raise ValueError(f"the array has {array.size} elements, the dataspace in memory {shape}")
    coordinates = mspace._selection.coordinates(shape)
    if len(coordinates) != len(found):
        raise ValueError(f"{len(found)} elements are selected in the file, and {len(coordinates)} in memory")
    array.reshape(shape)[tuple(coordinates.T)] = found


def write(dataset: Dataset, mspace: SpaceID, fspace: SpaceID, value: Any, mtype: "TypeID | None") -> None:
    """Writes the selection `mspace` of an array to the selection `fspace` of a dataset."""
    array = np.asarray(value, order="C")
    if dataset.shape is None:
        return
    key = key_of(fspace, dataset.shape)
    selected, _ = dataset._shape_of(key)
    count = int(np.prod(selected, dtype=object))
    if _objects(array.dtype) or _objects(dataset.dtype):
        chosen = _take(array.reshape(-1), mspace, array.size, count)
        dataset[key if key != () else ...] = chosen.reshape(selected)
        return
    description = _in_memory(array.dtype, mtype, _file_type(dataset))
    size = array.dtype.itemsize if mtype is None else mtype.get_size()
    # `mtype` says what the bytes of the array are, whatever its dtype.
    cells = np.frombuffer(array.tobytes(), dtype=np.dtype((np.void, size)))
    chosen = _take(cells, mspace, len(cells), count)
    dataset._write_described(key, description, chosen.tobytes())


def _take(flat: Any, mspace: SpaceID, size: int, count: int) -> Any:
    """Returns the selected elements of an array."""
    if _is_whole(mspace):
        if size < count:
            raise ValueError(f"{count} elements are selected in the file, and the array has {size}")
        return flat[:count]
    shape = mspace.shape
    coordinates = mspace._selection.coordinates(shape)
    if len(coordinates) != count:
        raise ValueError(f"{count} elements are selected in the file, and {len(coordinates)} in memory")
    return flat[np.ravel_multi_index(tuple(coordinates.T), shape)]
