"""Writing elements and attributes: values become arrays with the shape of the selection."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import (
    array_for_new_object,
    check_texts,
    is_datatype,
    item_type,
    numbers_as,
    numpy_dtype,
    vlen_array,
    without_missing,
)
from ._dtypes import check_enum_dtype, check_string_dtype, check_vlen_dtype
from ._native import Empty, RegionReference
from ._shapes import lengths

if TYPE_CHECKING:
    from ._native import AttributeManager, Dataset


def set_item(dataset: "Dataset", key: Any, value: Any) -> None:
    """Does `dataset[key] = value` by the rules of h5py."""
    parts = key if isinstance(key, tuple) else (key,)
    names = [part for part in parts if isinstance(part, str)]
    index = tuple(part for part in parts if not isinstance(part, str))
    if dataset.shape is None:
        raise TypeError("Empty datasets cannot be written")
    if names:
        _set_fields(dataset, index, names, value)
        return
    selected, shape = dataset._shape_of(index if index else None)
    array = _as_array(dataset.dtype, value)
    if array.dtype.names and dataset.dtype.names and not _covers(array.dtype, dataset.dtype):
        # Fields that the records do not have stay as they are.
        _set_fields(dataset, index, [name for name in array.dtype.names if name in dataset.dtype.names], array)
        return
    inner = () if dataset.dtype.subdtype is None else dataset.dtype.subdtype[1]
    if inner:
        if array.shape[len(array.shape) - len(inner) :] != inner:
            raise TypeError(
                "When writing to array types, last N dimensions have to match "
                f"(got {array.shape[-len(inner) :]}, but should be {inner})"
            )
    if len(index) == 1 and isinstance(index[0], RegionReference) and not inner and array.size == math.prod(selected):
        # As in h5py, only the number of elements counts.
        array = array.reshape(selected)
    dataset._write(index if index else None, _broadcast(array, selected, inner), shape)


def _covers(given: "np.dtype[Any]", wanted: "np.dtype[Any]") -> bool:
    """Returns whether records have all fields of other records, at all depths."""
    given, wanted = given.base, wanted.base
    if given.names is None or wanted.names is None:
        return True
    return all(name in given.names and _covers(given[name], wanted[name]) for name in wanted.names)


def _as_array(dtype: "np.dtype[Any]", value: Any) -> "np.ndarray[Any, Any]":
    """The values as an array that the engine converts to elements of `dtype`."""
    vlen = check_vlen_dtype(dtype)
    if vlen is not None and vlen not in (str, bytes):
        return vlen_array(value, dtype)
    if vlen is not None and isinstance(value, np.ndarray) and value.dtype.kind == "T":
        return np.ascontiguousarray(value) if value.ndim else value
    if dtype.kind == "O" or (
        dtype.kind == "V" and dtype.subdtype is None and (not isinstance(value, np.ndarray) or value.dtype.kind != "V")
    ):
        return np.asarray(value, dtype=dtype.base, order="C")
    if dtype.kind == "S" and item_type(value) is str:
        info = check_string_dtype(dtype)
        if info is not None and info.encoding == "utf-8":
            texts = np.asarray(value, order="C", dtype=object)
            return np.array([text.encode("utf-8") for text in texts.flat], dtype=dtype).reshape(texts.shape)
    kind = None if isinstance(value, np.ndarray) else dtype.base
    array = np.asarray(value, order="C", dtype=kind)
    if array.dtype.kind == "T" and dtype.kind == "S":
        encoded = [text.encode("utf-8") for text in without_missing(array).flat]
        return np.array(encoded, dtype=dtype).reshape(array.shape)
    base = dtype.base
    if array.dtype.kind in "biu" and check_enum_dtype(base) is not None:
        array = numbers_as(array, base)
    elif array.dtype.kind == "b" and base.kind in "iufc":
        array = array.astype(base)
    elif base.kind == "b" and array.dtype.kind in "iu":
        array = array.astype(base)
    elif array.dtype.kind == "S" and dtype.kind == "S" and array.dtype != dtype:
        array = array.astype(dtype)
    elif array.dtype.kind == "f" and array.dtype.itemsize > 8 and dtype.kind == "f":
        array = array.astype(dtype)
    elif array.dtype.kind == "O" and dtype.kind in "iufcS":
        check_texts(array, dtype)
        array = array.astype(dtype)
    return array


def _broadcast(array: "np.ndarray[Any, Any]", shape: "tuple[int, ...]", inner: "tuple[int, ...]") -> Any:
    """Broadcasts an array to the shape of a selection. Leading axes of length 1 may be surplus."""
    if array.shape != shape + inner:
        outer = array.shape[: len(array.shape) - len(inner)]
        try:
            while len(outer) > len(shape) and outer[0] == 1:
                outer = outer[1:]
            array = np.broadcast_to(array.reshape(outer + inner), shape + inner)
        except ValueError:
            raise TypeError(f"Can't broadcast {outer} -> {shape}") from None
    return np.ascontiguousarray(array) if array.ndim else array


def _set_fields(dataset: "Dataset", index: "tuple[Any, ...]", names: "list[str]", value: Any) -> None:
    """Changes some fields of records. The other fields are read first."""
    fields = dataset.dtype.fields
    if fields is None:
        raise TypeError("Illegal slicing argument (not a compound dataset)")
    unknown = [name for name in names if name not in fields]
    if unknown:
        listed = ", ".join(f'"{name}"' for name in unknown)
        raise ValueError(f"Illegal slicing argument (fields {listed} not in dataset type)")
    _, shape = dataset._shape_of(index if index else None)
    whole = np.asarray(dataset[index if index else ...])
    values = _values_of_fields(dataset.dtype, names, value)
    dataset._write(
        index if index else None, _merged(whole, dataset.dtype, {name: values[name] for name in names}), shape
    )


def _values_of_fields(dtype: "np.dtype[Any]", names: "list[str]", value: Any) -> Any:
    """Returns a mapping, or records, of the values of each field in `names`."""
    given = _field_names(value)
    if len(names) == 1:
        [name] = names
        # The value is records that have the field, or the values of the field, which may be records as well.
        is_record = name in given and value.dtype != dtype[name].base
        return value if is_record else {name: value}
    if not given:
        return np.asarray(value, dtype=[(name, dtype[name]) for name in names])
    missing = [repr(name) for name in names if name not in given]
    if missing:
        raise ValueError(f"the value must have the fields {', '.join(missing)}, or it must not be an array of records")
    return value


def _field_names(value: Any) -> "tuple[str, ...]":
    """Returns the names of the fields of records, or none for other values."""
    own = getattr(value, "dtype", None)
    return (own.names or ()) if isinstance(own, np.dtype) else ()


def _merged(records: Any, dtype: "np.dtype[Any]", values: "dict[str, Any]") -> "np.ndarray[Any, Any]":
    """Returns records with other values in some fields.

    Numbers keep their own dtype, and the engine converts them as it does those of a dataset without fields.
    """
    parts: dict[str, Any] = {}
    kinds = []
    for name in dtype.names or ():
        base, inner = dtype[name].subdtype or (dtype[name], ())
        part = _merged_field(records[name], dtype[name], values[name]) if name in values else records[name]
        kinds.append((name, base if part.dtype == base else part.dtype, inner))
        parts[name] = part
    kept = all(kind == (dtype[name].base) for name, kind, _ in kinds)
    made: np.ndarray[Any, Any] = np.empty(records.shape, dtype=dtype if kept else np.dtype(kinds))
    for name, part in parts.items():
        # `made[name]` is an array even of one record, and takes an object as it is.
        made[name][...] = part
    return made


def _merged_field(old: Any, dtype: "np.dtype[Any]", value: Any) -> "np.ndarray[Any, Any]":
    """Returns the new values of one field, which has the values `old`."""
    base, inner = dtype.subdtype or (dtype, ())
    array = _as_array(dtype, value)
    if array.dtype.kind == "T":
        array = without_missing(array).astype(object)
    array = _broadcast(array, old.shape[: len(old.shape) - len(inner)], inner)
    if base.names is not None and array.dtype.names is not None:
        shared = [name for name in base.names if name in array.dtype.names]
        if not shared:
            raise TypeError(f"the records must have one of the fields {', '.join(base.names)}, not {array.dtype.names}")
        return _merged(old, base, {name: array[name] for name in shared})
    are_numbers = array.dtype.kind in "iuf" and base.kind in "iuf" and check_enum_dtype(base) is None
    return array if are_numbers else array.astype(base)


def write_direct(dataset: "Dataset", source: Any, source_sel: Any = None, dest_sel: Any = None) -> None:
    """Writes a part of an array to a part of a dataset."""
    array = np.asarray(source)
    part = array if source_sel is None else array[source_sel]
    set_item(dataset, () if dest_sel is None else dest_sel, np.ascontiguousarray(part))


def set_attribute(attrs: "AttributeManager", name: Any, data: Any, shape: Any = None, dtype: Any = None) -> None:
    """Creates an attribute, or replaces an attribute of the same name."""
    if isinstance(data, Empty):
        attrs._set(name, None, data.dtype if dtype is None else dtype, None)
        return
    array = array_for_new_object(data, dtype)
    extent = array.shape if shape is None else lengths("shape", shape)
    kind = array.dtype if dtype is None else numpy_dtype(dtype)
    if kind.subdtype is not None:
        base, inner = kind.subdtype
        if extent[len(extent) - len(inner) :] != inner:
            raise ValueError(f"Array dtype shape {inner} is incompatible with data shape {extent}")
        extent = extent[: len(extent) - len(inner)]
        array = np.ascontiguousarray(np.asarray(array, dtype=base))
    else:
        if math.prod(extent) != math.prod(array.shape):
            raise ValueError("Shape of new attribute conflicts with shape of data")
        array = np.asarray(array.reshape(extent), dtype=kind, order="C")
    attrs._set(name, list(extent), dtype if is_datatype(dtype) else kind, array)


def modify_attribute(attrs: "AttributeManager", name: Any, value: Any) -> None:
    """Changes the value of an attribute, and keeps its dtype and shape. Creates a missing attribute."""
    if name not in attrs:
        attrs[name] = value
        return
    attribute = attrs.get_id(name)
    if attribute.shape is None:
        raise OSError("Empty attributes can't be modified")
    kind = None if isinstance(value, np.ndarray) else attribute.dtype
    array = np.asarray(value, order="C", dtype=kind)
    if array.shape != attribute.shape and not (array.size == 1 and math.prod(attribute.shape) == 1):
        raise TypeError("Shape of data is incompatible with existing attribute")
    set_attribute(attrs, name, array.astype(attribute.dtype).reshape(attribute.shape), attribute.shape, attribute.dtype)
