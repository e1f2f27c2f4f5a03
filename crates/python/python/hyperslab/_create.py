"""Creating objects: the arguments of h5py become the arguments of the engine."""

import difflib
import math
import operator
import os
import time
import warnings
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import (
    array_for_new_object,
    check_texts,
    is_datatype,
    listed_texts,
    numbers_as,
    numpy_dtype,
    vlen_array,
    without_missing,
)
from ._dtypes import check_enum_dtype, check_opaque_dtype, check_string_dtype, check_vlen_dtype
from ._filters import Filter, SZip, pipeline, stored, worded
from ._native import (
    Dataset,
    Empty,
    ExternalLink,
    Group,
    HLObject,
    SoftLink,
    _auto_chunks,
    _object_facts,
    _track_order,
)
from ._native import Reference as Reference
from ._shapes import lengths
from ._warn import without_effect

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

# The size of a part of an external file that has no limit.
_UNLIMITED = 2**64 - 1
_GZIP, _SHUFFLE, _FLETCHER32, _SCALEOFFSET = 1, 2, 3, 6
#: The scale types of the scale-offset filter.
_DECIMAL, _INTEGER = 0, 2


def require_group(group: Group, name: "str | bytes") -> Any:
    """Returns the group of this name, and creates the group if the name does not exist."""
    if name not in group:
        return group.create_group(name)
    found = group[name]
    if not isinstance(found, Group):
        raise TypeError(f"Incompatible object ({type(found).__name__}) already exists")
    return found


def require_dataset(
    group: Group,
    name: "str | bytes",
    shape: "int | Sequence[int]",
    dtype: "DTypeLike",
    exact: bool = False,
    **kwds: Any,
) -> Any:
    """Returns the dataset of this name, and creates the dataset if the name does not exist."""
    cache = _check_keywords({key: value for key, value in kwds.items() if key not in _KEYWORDS})
    if name not in group:
        return group.create_dataset(name, shape=shape, dtype=dtype, **kwds)
    found = group[name]
    if not isinstance(found, Dataset):
        raise TypeError(f"Incompatible object ({type(found).__name__}) already exists")
    if kwds.get("virtual_prefix") is not None:
        found._set_virtual_prefix(os.fsdecode(kwds["virtual_prefix"]))
    wanted = lengths("shape", shape)
    if wanted != found.shape:
        same_limits = "maxshape" in kwds and lengths("maxshape", kwds["maxshape"]) == found.maxshape
        if not same_limits:
            raise TypeError(f"Shapes do not match (existing {found.shape} vs new {wanted})")
    if exact:
        if np.dtype(dtype) != found.dtype:
            raise TypeError(f"Datatypes do not exactly match (existing {found.dtype} vs new {dtype})")
    elif not np.can_cast(np.dtype(dtype), found.dtype):
        raise TypeError(f"Datatypes cannot be safely cast (existing {found.dtype} vs new {dtype})")
    prefix = kwds.get("efile_prefix")
    if prefix is not None:
        found = found._with_efile_prefix(os.fsdecode(prefix))
    if cache:
        _keep_cache(found, cache)
    return found


def create_dataset_like(group: Group, name: "str | bytes", other: Dataset, **kwds: Any) -> Any:
    """Creates a dataset with the properties of another dataset."""
    for key in ("shape", "dtype", "chunks", "compression", "compression_opts", "shuffle", "fletcher32", "fillvalue"):
        kwds.setdefault(key, getattr(other, key))
    if kwds["compression"] == "unknown":
        number, options = _compression_of(other)
        kwds["compression"] = SimpleNamespace(filter_id=number, filter_options=options)
        kwds["compression_opts"] = None
    kwds.setdefault("scaleoffset", other.scaleoffset)
    kwds.setdefault("track_order", other._track_order)
    kwds.setdefault("track_times", _object_facts(other)[4] is not None)
    if other.maxshape != other.shape:
        kwds.setdefault("maxshape", other.maxshape)
    return group.create_dataset(name, **kwds)


def _compression_of(dataset: Dataset) -> "tuple[int, list[int]]":
    """Returns the number and the parameters of a compression that h5py has no name for."""
    found = next(one for one in dataset.filters if one.filter_id not in (_SHUFFLE, _FLETCHER32, _SCALEOFFSET))
    return found.filter_id, list(found.filter_options)


def filters_of(dataset: Dataset) -> "tuple[Filter, ...]":
    """Returns the filters of a dataset; see `Dataset.filters`."""
    return tuple(map(stored, dataset.filter_ids, dataset._filter_data))


def set_item(group: Group, name: "str | bytes", value: Any) -> None:
    """Does `group[name] = value`.

    The value is an object for a hard link, a soft or external link, a dtype to commit, or the elements of a
    new dataset.
    """
    if not isinstance(name, str | bytes):
        raise TypeError(f"A name should be string or bytes, not {type(name)}")
    if isinstance(value, HLObject | SoftLink | ExternalLink):
        group._link(name, value)
    elif isinstance(value, np.dtype):
        commit(group, name, value)
    else:
        group.create_dataset(name, data=value)


def commit(group: Group, name: "str | bytes", dtype: Any) -> None:
    """Commits a datatype under a name."""
    group._commit(name, dtype)


def copy(
    group: Group,
    source: "str | bytes | HLObject",
    dest: "str | bytes | HLObject",
    name: str | None = None,
    shallow: bool = False,
    expand_soft: bool = False,
    expand_external: bool = False,
    expand_refs: bool = False,
    without_attrs: bool = False,
) -> None:
    """Copies an object: to a path in this group, or into another group."""
    try:
        node = source if isinstance(source, HLObject) else group[source]
    except KeyError as error:
        # As in h5py: with a group as the destination, the object is opened for its name.
        if isinstance(dest, Group) and name is None:
            raise
        why = str(error.args[0]).removeprefix("Unable to open object (").removesuffix(")")
        raise RuntimeError(f"Unable to copy object ({why})") from None
    if isinstance(dest, Group):
        target = dest
        if name is None:
            name = (node.name or "").rsplit("/", 1)[-1]
            if not name:
                raise RuntimeError("name must be given, because the object has no name")
        path = name
    elif isinstance(dest, HLObject):
        raise TypeError("Destination must be path or Group object")
    elif name is not None:
        raise TypeError("name must be left out if dest is a path, which already names the copy")
    else:
        target, path = group, dest
    flags = {
        "shallow": shallow,
        "expand_soft": expand_soft,
        "expand_external": expand_external,
        "expand_refs": expand_refs,
        "without_attrs": without_attrs,
    }
    target._copy(node, path, flags)


def create_dataset(
    group: Group,
    name: "str | bytes | None",
    shape: "int | Sequence[int] | None" = None,
    dtype: Any = None,
    data: Any = None,
    *,
    chunks: "bool | int | Sequence[int] | None" = None,
    compression: Any = None,
    compression_opts: Any = None,
    shuffle: bool | None = None,
    fletcher32: bool | None = None,
    scaleoffset: int | bool | None = None,
    maxshape: "int | Sequence[int | None] | None" = None,
    fillvalue: Any = None,
    fill_time: str | None = None,
    track_times: bool | None = None,
    track_order: bool | None = None,
    external: Any = None,
    efile_prefix: "str | bytes | os.PathLike[str] | None" = None,
    allow_unknown_filter: bool = False,
    compact: bool = False,
    skip_fill_chunks: bool | None = None,
    **others: Any,
) -> Any:
    """Creates a dataset; see `Group.create_dataset`."""
    cache = _check_keywords(others)
    if dtype is None and data is None and shape is not None:
        from .low.h5py_warnings import H5pyDeprecationWarning

        warnings.warn(
            "a dataset without data or dtype gets the dtype 'f4'; pass dtype=", H5pyDeprecationWarning, stacklevel=2
        )
    parts = _external(external)
    texts = _texts(data, shape, dtype)
    if texts is not None:
        shape, dtype = (len(data),), texts
    elif data is not None and not isinstance(data, Empty):
        if isinstance(data, np.ndarray) and data.dtype.kind == "T":
            data = without_missing(data)
        if isinstance(data, np.ndarray) and dtype is not None:
            check_texts(data, numpy_dtype(dtype))
        data = array_for_new_object(data, None if dtype is None else numpy_dtype(dtype))
    if shape is None:
        if data is None:
            if dtype is None:
                raise TypeError("One of data, shape or dtype must be specified")
            data = Empty(dtype)
        extent = data.shape
    else:
        extent = lengths("shape", shape)
        if texts is None and data is not None and math.prod(extent) != math.prod(data.shape):
            raise ValueError("Shape tuple is incompatible with data")
    limits = lengths("maxshape", maxshape)
    if dtype is None:
        dtype = np.dtype("f4") if data is None else data.dtype
    kind = numpy_dtype(dtype)
    together = pipeline(compression)
    if together is not None:
        others = {
            **others,
            **_pipeline(together, compression_opts, shuffle, fletcher32, scaleoffset, allow_unknown_filter),
        }
        compression = None
    number, values = _compression(compression, compression_opts)
    factor = _scale_factor(scaleoffset, kind, bool(fletcher32))
    has_filters = any((number is not None, shuffle, fletcher32, factor is not None, together))
    chunk = _chunks(chunks, extent, limits, kind, has_filters or (limits is not None and not parts))
    if compact and chunk is not None:
        raise ValueError("compact=True cannot be combined with chunks, filters or maxshape")
    filters = (
        _filters(kind, factor, shuffle, number, values, fletcher32, allow_unknown_filter) if chunk is not None else []
    )
    if others.get("_pipeline"):
        if chunk is None:
            raise ValueError("Chunked format required for given storage options")
        filters = [(*one, True)[:4] for one in others["_pipeline"]]
    if track_times not in (None, True, False):
        raise TypeError("track_times must be either True or False")
    if track_order not in (None, True, False):
        raise TypeError("track_order must be either True or False")
    if fill_time not in (None, "ifset", "alloc", "never"):
        raise ValueError(f"fill_time must be 'ifset', 'alloc' or 'never', not {fill_time!r}")
    fill = None if fillvalue is None else _fill(fillvalue, kind)
    made = group._create_dataset(
        name,
        {
            "shape": None if isinstance(data, Empty) else extent,
            "maxshape": limits,
            "dtype": dtype if is_datatype(dtype) else kind,
            "chunks": chunk,
            "compact": compact,
            "external": parts,
            "filters": filters,
            "fillvalue": fill,
            "fill_time": fill_time or "ifset",
            "allocation": others.get("_allocation"),
            "track_order": _track_order(None) if track_order is None else track_order,
            "modification": int(time.time()) if track_times else None,
            "skip_fill_chunks": skip_fill_chunks,
            "is_table": others.get("_is_table", False),
            "stored_as": others.get("_stored_as"),
            "mappings": None,
        },
    )
    if efile_prefix is not None:
        made = made._with_efile_prefix(os.fsdecode(efile_prefix))
    if cache:
        _keep_cache(made, cache)
    if others.get("virtual_prefix") is not None:
        made._set_virtual_prefix(os.fsdecode(others["virtual_prefix"]))
    if data is not None and not isinstance(data, Empty):
        try:
            # All ranks of a file have the same data here.
            made._transfer("alike")
            made[...] = data.reshape(extent) if kind.subdtype is None and texts is None else data
            made._transfer("independent")
        except BaseException:
            if name is not None:
                del group[name]
            raise
    return made


def _pipeline(
    filters: "tuple[Filter, ...]", options: Any, shuffle: Any, fletcher32: Any, scaleoffset: Any, allow_unknown: bool
) -> "dict[str, Any]":
    """Returns the filters that are given together, as the keyword of `create_dataset`."""
    given = {"compression_opts": options, "scaleoffset": scaleoffset, "shuffle": shuffle, "fletcher32": fletcher32}
    for key, value in given.items():
        if value not in (None, False):
            raise TypeError(f"{key} must be left out if compression lists all filters")
    return {"_pipeline": [(one.filter_id, None, list(one.filter_options), allow_unknown) for one in filters]}


def _texts(data: Any, shape: Any, dtype: Any) -> Any:
    """Returns the dtype of a list of strings, which is written as it is; None for any other data."""
    if dtype is not None:
        info = check_string_dtype(numpy_dtype(dtype))
        if info is None or info.length is not None:
            return None
    found = listed_texts(data)
    if found is None or (shape is not None and lengths("shape", shape) != (len(data),)):
        return None
    return found if dtype is None else dtype


_KEYWORDS = {"data", *(create_dataset.__kwdefaults__ or {})}
_NOT_SUPPORTED = {"dcpl", "dapl"}
# `create_table` gives it.
_INTERNAL = {"_allocation", "_is_table", "_pipeline", "_stored_as"}
# The folder of the sources of a virtual dataset. It is not stored.
_ACCESS = {"virtual_prefix"}
_WITHOUT_EFFECT = {"rdcc_nslots", "rdcc_nbytes", "rdcc_w0"}


def unknown_keyword(function: str, key: str, known: "Iterable[str]") -> TypeError:
    """Returns the error for a keyword that a function does not have, with the one that may be meant."""
    near = difflib.get_close_matches(key, known, 1)
    hint = f". Did you mean {near[0]!r}?" if near else ""
    return TypeError(f"{function}() got an unexpected keyword argument {key!r}{hint}")


def _check_keywords(given: "dict[str, Any]") -> "dict[str, Any]":
    """Raises an exception for unknown keywords. Returns those that set the cache of chunks in h5py."""
    cache = {}
    for key, value in given.items():
        if key not in _NOT_SUPPORTED | _WITHOUT_EFFECT | _INTERNAL | _ACCESS:
            raise unknown_keyword("create_dataset", key, [*_KEYWORDS, *_ACCESS])
        if key in _INTERNAL | _ACCESS or value is None:
            continue
        if key in _NOT_SUPPORTED:
            raise NotImplementedError(f"{key}= is not supported: property lists are libhdf5's own")
        cache[key] = value
        without_effect("create_dataset", key, "File(rdcc_nbytes=) sets the cache of the whole file", depth=3)
    return cache


def _keep_cache(dataset: Dataset, cache: "dict[str, Any]") -> None:
    """Keeps the settings of the cache of chunks, which the low-level API shows."""
    from .low.h5d import keep_access
    from .low.h5p import PropDAID

    plist = PropDAID()
    names = ("rdcc_nslots", "rdcc_nbytes", "rdcc_w0")
    defaults = plist.get_chunk_cache()
    plist.set_chunk_cache(*(cache.get(name, default) for name, default in zip(names, defaults, strict=True)))
    keep_access(dataset, plist)


def _external(given: Any) -> "list[tuple[str, int, int]]":
    """Returns the name, the offset and the size of each part of external files."""
    if given is None:
        return []
    if isinstance(given, str | bytes | os.PathLike):
        return [(os.fsdecode(given), 0, _UNLIMITED)]
    return [_external_part(part) for part in given]


def _external_part(part: Any) -> "tuple[str, int, int]":
    if not isinstance(part, tuple):
        raise TypeError(f"each part of external must be a tuple (name, offset, size), not {type(part).__name__}")
    name, offset, size = part
    return os.fsdecode(name), operator.index(offset), operator.index(size)


def _scale_factor(value: Any, dtype: "np.dtype[Any]", fletcher32: bool) -> int | None:
    """Returns the factor of the scale-offset filter, or None without the filter."""
    # 0 equals False, and means something else.
    if value is None or value is False:
        return None
    if value < 0:
        raise ValueError("scale factor must be >= 0")
    if dtype.kind == "f" and value is True:
        raise ValueError("integer scaleoffset must be provided for floating point types")
    if dtype.kind not in "fiu":
        raise TypeError("scale/offset filter only supported for integer and floating-point types")
    if fletcher32:
        raise ValueError("fletcher32 cannot be used with potentially lossy scale/offset filter")
    return 0 if value is True else int(value)


def _chunks(chunks: Any, shape: Any, limits: Any, dtype: "np.dtype[Any]", is_needed: bool) -> "list[int] | None":
    if chunks is False:
        if is_needed:
            raise ValueError("Chunked format required for given storage options")
        return None
    if shape is None and (is_needed or chunks not in (None, False)):
        raise TypeError("Empty datasets don't support chunk/filter options")
    if shape is None or shape == ():
        if is_needed or chunks not in (None, False):
            raise TypeError("Scalar datasets don't support chunk/filter options")
        return None
    if chunks is None and not is_needed:
        return None
    if chunks is None or chunks is True:
        itemsize = 16 if dtype.hasobject else dtype.itemsize
        return list(_auto_chunks(list(shape), None if limits is None else list(limits), itemsize))
    sides = lengths("chunks", chunks)
    assert sides is not None
    largest = shape if limits is None else limits
    if any(side > size for side, size in zip(sides, largest, strict=False) if size is not None):
        raise ValueError(
            f"Chunk shape must not be greater than data shape in any dimension. {sides} is not compatible with {shape}"
        )
    return list(sides)


def _filters(
    dtype: "np.dtype[Any]",
    factor: int | None,
    shuffle: bool | None,
    number: int | None,
    values: "list[int]",
    fletcher32: bool | None,
    allow_unknown: bool,
) -> "list[tuple[int, int | None, list[int], bool]]":
    """Returns the filters: the number of each, its flags, its parameters, and whether it may be unknown."""
    found: list[tuple[int, int | None, list[int], bool]] = []
    if factor is not None:
        found.append((_SCALEOFFSET, None, [_DECIMAL if dtype.kind == "f" else _INTEGER, factor], False))
    if shuffle:
        found.append((_SHUFFLE, None, [], False))
    if number is not None:
        found.append((number, None, values, allow_unknown))
    if fletcher32:
        found.append((_FLETCHER32, None, [], False))
    return found


def _compression(compression: Any, options: Any) -> "tuple[int | None, list[int]]":
    """Returns the number of a filter and its parameters."""
    if compression is None or compression is False:
        if options is not None:
            raise TypeError("No compression algorithm to apply options to")
        return None, []
    if isinstance(compression, type) and hasattr(compression, "filter_id"):
        compression = compression()
    if hasattr(compression, "filter_id"):
        return int(compression.filter_id), [int(value) for value in compression.filter_options]
    if compression is True:
        compression = "gzip"
    if isinstance(compression, int) and 0 <= compression < 10:
        if options is not None:
            raise TypeError("Conflict in compression options")
        compression, options = "gzip", compression
    if compression == "gzip":
        level = 4 if options is None else options
        if not isinstance(level, int | np.integer) or not 0 <= level <= 9:
            raise ValueError(f"GZIP setting must be an integer from 0-9, not {level!r}")
        return _GZIP, [int(level)]
    if compression == "lzf":
        if options is not None:
            raise ValueError("LZF compression filter accepts no options")
        return 32000, []
    if compression == "szip":
        message = "SZIP options must be a 2-tuple ('ec'|'nn', even integer 0-32)"
        try:
            coding, pixels = ("nn", 8) if options is None else options
        except TypeError:
            raise TypeError(message) from None
        if coding not in ("ec", "nn") or pixels not in range(2, 33, 2):
            raise ValueError(message)
        return SZip.filter_id, list(SZip(coding, pixels).filter_options)
    if isinstance(compression, str):
        filter = worded(compression, options)
        return filter.filter_id, list(filter.filter_options)
    number = int(compression)
    if not 0 <= number < 1 << 16:
        raise ValueError(f"the filter number must be from 0 to 65535, not {number}")
    return number, [int(value) for value in (() if options is None else options)]


def _fill(value: Any, dtype: "np.dtype[Any]") -> Any:
    info = check_string_dtype(dtype)
    if info is not None:
        if np.ndim(value) == 0 and isinstance(value, np.ndarray):
            value = value[()]
        if isinstance(value, str):
            value = value.encode("utf-8")
        if not isinstance(value, bytes):
            raise TypeError(f"fillvalue must be a str or bytes, not {type(value).__name__}")
        return np.asarray(value, dtype=dtype if dtype.kind in "OS" else object)
    if check_vlen_dtype(dtype) is not None:
        return vlen_array(value, dtype)
    if dtype.names is not None and not isinstance(value, tuple | list | np.void | np.ndarray):
        raise ValueError(f"fillvalue must be a tuple or a record, not {type(value).__name__}")
    if dtype.kind == "V" and not check_opaque_dtype(dtype):
        return np.ascontiguousarray(np.asarray(value, dtype=dtype))
    array = np.asarray(value)
    if array.dtype.kind in "US" and dtype.kind in "biufc":
        raise TypeError(f"No conversion path for dtype: {array.dtype!r}")
    if array.size != 1 and dtype.subdtype is None:
        raise ValueError(f"fillvalue must be one element, not {array.size}")
    if array.dtype.kind in "US":
        return np.asarray(value, dtype=dtype)
    if check_enum_dtype(dtype) is not None and array.dtype.kind in "biu":
        return np.ascontiguousarray(numbers_as(array, dtype))
    if dtype.kind in "iu" and array.dtype.kind in "iuf" and check_enum_dtype(dtype) is None:
        # As libhdf5 does it, a number beyond the range becomes the nearest limit.
        limits = np.iinfo(dtype)
        array = np.clip(array, limits.min, limits.max)
    if array.dtype != dtype and array.dtype.kind in "biufc":
        array = array.astype(dtype)
    return np.ascontiguousarray(array)
