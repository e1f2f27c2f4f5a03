"""How the variables of xarray are stored (their encoding), in the words of netCDF4's `createVariable`."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _netcdf
from ._dtypes import check_enum_dtype
from ._filters import LZ4, Bitshuffle, Blosc, Blosc2, BZip2, NBit, SZip, Zfp, Zstd, worded

if TYPE_CHECKING:
    from ._native import Dataset

#: The codecs of Blosc by their names in netCDF4.
_BLOSC = {
    "blosc_lz": "blosclz",
    "blosc_lz4": "lz4",
    "blosc_lz4hc": "lz4hc",
    "blosc_zlib": "zlib",
    "blosc_zstd": "zstd",
}
_BLOSC_NUMBERS = {0: "blosc_lz", 1: "blosc_lz4", 2: "blosc_lz4hc", 4: "blosc_zlib", 5: "blosc_zstd"}
_BLOSC_SHUFFLES = ("none", "shuffle", "bitshuffle")
#: netCDF4 also says by these which compression a variable has.
_FLAGS = ("zlib", "szip", "bzip2", "blosc", "zstd")
_WORDS = ("zlib", "gzip", "zstd", "bzip2", "szip", "lzf", "lz4", *_BLOSC)
_DEFLATE, _SHUFFLE, _FLETCHER32, _SCALEOFFSET, _LZF = 1, 2, 3, 6, 32000
#: Filters that come with a shuffle of their own, or that need the elements as they are.
_UNSHUFFLED = tuple(kind.filter_id for kind in (Blosc, Blosc2, Bitshuffle, SZip, NBit, Zfp)) + (_SCALEOFFSET,)
#: The encodings that can be given.
VALID = (
    *_FLAGS,
    "_FillValue",
    "blosc_shuffle",
    "chunksizes",
    "complevel",
    "compression",
    "compression_opts",
    "contiguous",
    "dtype",
    "endian",
    "filters",
    "fletcher32",
    "shuffle",
    "szip_coding",
    "szip_pixels_per_block",
)
_ORDERS: dict[Any, Literal["<", ">", "="]] = {"little": "<", "big": ">", "native": "="}


# Reading


def found(dataset: "Dataset", dimensions: "tuple[str, ...]") -> "dict[str, Any]":
    """Returns the encoding of a dataset, whose dimensions have these names."""
    chunks = dataset.chunks
    encoding: dict[str, Any] = {
        "contiguous": chunks is None,
        "chunksizes": chunks,
        "shuffle": dataset.shuffle,
        "fletcher32": dataset.fletcher32,
    }
    if chunks is not None:
        encoding["preferred_chunks"] = dict(zip(dimensions, chunks, strict=True))
    encoding.update(_found_compression(dataset))
    members = check_enum_dtype(dataset.dtype)
    name = None if members is None else _netcdf.enum_name(dataset)
    if name is not None:
        encoding["dtype"] = np.dtype(dataset.dtype, metadata={"enum": members, "enum_name": name})
    else:
        encoding["dtype"] = str if _netcdf.is_text(dataset.dtype) else dataset.dtype
    return encoding


def _found_compression(dataset: "Dataset") -> "dict[str, Any]":
    """Returns the compression in the words that most engines know, or all filters if there are none."""
    filters = dataset.filters
    others = [one for one in filters if one.filter_id not in (_SHUFFLE, _FLETCHER32)]
    if not others:
        return {}
    number, options = others[0].filter_id, others[0].filter_options
    if len(others) == 1:
        if number == _DEFLATE:
            return {"zlib": True, "complevel": options[0]}
        if number in (SZip.filter_id, _LZF):
            return {"compression": dataset.compression, "compression_opts": dataset.compression_opts}
        if number in (Zstd.filter_id, BZip2.filter_id) and len(options) == 1:
            return {"compression": "zstd" if number == Zstd.filter_id else "bzip2", "complevel": options[0]}
        if number == Blosc.filter_id and len(options) == 7 and options[5] < 3 and options[6] in _BLOSC_NUMBERS:
            word = _BLOSC_NUMBERS[options[6]]
            return {"compression": word, "complevel": options[4], "blosc_shuffle": options[5]}
    return {"filters": filters}


# Writing


def wanted(variable: Any, is_given: bool, unlimited: "set[str]") -> "dict[str, Any]":
    """Returns the encoding of a variable without what it has from the file that it was read from.

    Args:
        variable: The variable.
        is_given: Whether the caller gave the encoding. If not, what does not fit is left out.
        unlimited: The names of the dimensions that can grow.
    """
    encoding = {key: value for key, value in variable.encoding.items() if key not in ("source", "original_shape")}
    if is_given:
        unknown = [key for key in encoding if key not in VALID]
        if unknown:
            raise ValueError(
                f"the keys of encoding must be among {', '.join(VALID)}, not {', '.join(map(repr, unknown))}"
            )
        if isinstance(encoding.get("compression"), tuple | list):
            others = [key for key in ("complevel", "compression_opts", "shuffle", "fletcher32") if encoding.get(key)]
            if others:
                raise ValueError(f"{others[0]} must be left out if compression lists all filters")
        return encoding
    encoding = {key: value for key, value in encoding.items() if key in VALID}
    chunks = encoding.get("chunksizes")
    if chunks is not None:
        lengths = zip(chunks, variable.shape, variable.dims, strict=False)
        is_large = any(chunk > length and dim not in unlimited for chunk, length, dim in lengths)
        shape = variable.encoding.get("original_shape", variable.shape)
        if is_large or tuple(shape) != variable.shape or len(chunks) != len(variable.shape):
            del encoding["chunksizes"]
    encoding.pop("contiguous", None)
    return encoding


def in_order(dtype: "np.dtype[Any]", encoding: "dict[str, Any]") -> "np.dtype[Any]":
    """Returns the dtype in the byte order of an encoding."""
    endian = encoding.get("endian")
    if endian is None:
        return dtype
    if endian not in _ORDERS:
        raise ValueError(f"endian must be one of {', '.join(_ORDERS)}, not {endian!r}")
    return dtype.newbyteorder(_ORDERS[endian])


def storage(encoding: "dict[str, Any]", variable: Any, unlimited: "list[bool]", dtype: Any) -> "dict[str, Any]":
    """Returns the keywords of `create_dataset` for an encoding."""
    keywords = _filters(encoding)
    chunks = encoding.get("chunksizes")
    has_filters = any(value not in (None, False) for key, value in keywords.items() if key != "compression_opts")
    if encoding.get("contiguous") and (chunks is not None or has_filters or any(unlimited)):
        raise ValueError("contiguous must be False with chunks, filters or dimensions that can grow, not True")
    if not variable.shape:
        return {}
    if any(unlimited):
        limits = zip(variable.shape, unlimited, strict=True)
        keywords["maxshape"] = tuple(None if grows else length for length, grows in limits)
    if chunks is None and (has_filters or any(unlimited)):
        itemsize = 16 if getattr(dtype, "dtype", dtype).hasobject else getattr(dtype, "dtype", dtype).itemsize
        chunks = _netcdf.default_chunks(variable.shape, tuple(unlimited), itemsize)
    if chunks is not None and 0 in variable.shape and not any(unlimited):
        return {}
    if chunks is not None:
        keywords["chunks"] = tuple(chunks)
    return keywords


def _filters(encoding: "dict[str, Any]") -> "dict[str, Any]":
    """Returns the keywords of `create_dataset` about filters."""
    compression, options = _compression(encoding)
    if compression is None and encoding.get("filters"):
        return {"compression": tuple(encoding["filters"])}
    if isinstance(compression, tuple | list):
        return {"compression": tuple(compression)}
    number = getattr(compression, "filter_id", compression)
    is_shuffled = encoding.get("shuffle", compression is not None and number not in (*_UNSHUFFLED, "szip"))
    return {
        "compression": compression,
        "compression_opts": options,
        "shuffle": bool(is_shuffled),
        "fletcher32": bool(encoding.get("fletcher32", False)),
    }


def _compression(encoding: "dict[str, Any]") -> "tuple[Any, Any]":
    """Returns the compression and its options as `create_dataset` takes them."""
    word, options, level = (encoding.get(key) for key in ("compression", "compression_opts", "complevel"))
    flags = [flag for flag in _FLAGS if encoding.get(flag)]
    if word is None or word == "unknown":  # as h5netcdf calls all that h5py has no name for
        word = flags[-1] if flags else None
    facts = encoding.get(word) if isinstance(word, str) else None
    facts = facts if isinstance(facts, dict) else {}
    if isinstance(word, str) and ":" in word:
        return worded(word, level if options is None else options), None
    if not isinstance(word, str):
        return word, options
    # h5netcdf shows other options in the place of the level.
    if level is not None and not isinstance(level, int | np.integer) and word not in ("szip", "lzf", "lz4"):
        raise TypeError(f"complevel must be an integer, not {level!r}")
    level = next((int(number) for number in (level, options) if isinstance(number, int | np.integer)), None)
    if word == "blosc":
        word = facts.get("compressor", "blosc_lz4")
    if word in ("zlib", "gzip"):
        return "gzip", 4 if level is None else level
    if word == "zstd":
        return Zstd(level), None
    if word == "bzip2":
        return BZip2(9 if level is None else level), None
    if word in _BLOSC:
        before: Any = encoding.get("blosc_shuffle", facts.get("shuffle", 1))
        if before not in range(3):
            raise ValueError(f"blosc_shuffle must be 0, 1 or 2, not {before!r}")
        return Blosc(_BLOSC[word], 4 if level is None else level, _BLOSC_SHUFFLES[before]), None
    if word == "szip":
        coding, pixels = options if isinstance(options, tuple | list) else ("nn", 8)
        coding = encoding.get("szip_coding", facts.get("coding", coding))
        return "szip", (coding, encoding.get("szip_pixels_per_block", facts.get("pixels_per_block", pixels)))
    if word == "lz4":
        return LZ4(), None
    if word == "lzf":
        return "lzf", None
    raise ValueError(f"compression must be one of {', '.join(_WORDS)}, a Filter or a list of them, not {word!r}")
