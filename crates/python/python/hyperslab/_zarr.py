"""The metadata of Zarr's version 3 for references, by the package zarr."""

import json
import struct
from base64 import standard_b64encode
from typing import Any

import numpy as np
from zarr.core.metadata.v3 import ArrayV3Metadata
from zarr.dtype import VariableLengthUTF8, parse_dtype

from ._references import Columns


def metadata(array: Columns) -> ArrayV3Metadata:
    """Returns the metadata of an array."""
    found = json.loads(array.metadata)
    attributes = json.loads(array.attributes)
    names = attributes.pop("_ARRAY_DIMENSIONS")
    codecs = [{"name": f"numcodecs.{codec.pop('id')}", "configuration": codec} for codec in found["filters"] or []]
    if found["dtype"] == "|O":
        dtype: Any = VariableLengthUTF8()
        codecs = [{"name": "vlen-utf8"}]
        fill: Any = ""
    else:
        native = np.dtype(_native(found["dtype"]))
        dtype = parse_dtype(native, zarr_format=3)
        order = "big" if native.byteorder == ">" else "little"
        codecs.insert(0, {"name": "bytes", "configuration": {"endian": order}})
        fill = found["fill_value"]
        stored = parse_dtype(native, zarr_format=2)
        fill = dtype.default_scalar() if fill is None else stored.from_json_scalar(fill, zarr_format=2)
        if "_FillValue" in attributes:
            attributes["_FillValue"] = _mark(attributes["_FillValue"], native)
    return ArrayV3Metadata(
        shape=found["shape"],
        data_type=dtype,
        chunk_grid={"name": "regular", "configuration": {"chunk_shape": found["chunks"]}},
        chunk_key_encoding={"name": "default", "configuration": {"separator": "/"}},
        fill_value=fill,
        codecs=codecs,
        attributes=attributes,
        dimension_names=names,
    )


def grid(array: ArrayV3Metadata) -> "tuple[int, ...]":
    """Returns the number of chunks along each axis."""
    return tuple(-(-length // chunk) for length, chunk in zip(array.shape, array.chunks, strict=True))


def _native(dtype: Any) -> Any:
    """Returns what NumPy takes for a dtype of JSON."""
    return [(name, _native(part)) for name, part in dtype] if isinstance(dtype, list) else dtype


def _mark(value: Any, dtype: "np.dtype[Any]") -> Any:
    """Returns the attribute `_FillValue` as xarray encodes it in Zarr's version 3."""
    if dtype.kind == "f" and isinstance(value, (int, float)):
        return standard_b64encode(struct.pack("<d", float(value))).decode()
    return value
