"""Filters as `create_dataset` takes them: objects like those of hdf5plugin."""

import struct
from collections.abc import Iterator, Mapping
from typing import Any

from ._native import _filter_facts, _filter_in_words

_CODECS = {"blosclz": 0, "lz4": 1, "lz4hc": 2, "zlib": 4, "zstd": 5}
_BLOSC1_CODECS = {**_CODECS, "snappy": 3}
_BLOSC_FILTERS = {"none": 0, "shuffle": 1, "bitshuffle": 2}
_BLOSC2_FILTERS = {**_BLOSC_FILTERS, "delta": 3, "truncate": 4}


def _level(level: int | None, clevel: int | None, default: int) -> int:
    """Returns the level, which is given by one of two names."""
    if level is not None and clevel is not None:
        raise TypeError("clevel must be left out if level is given: both are the same")
    found = level if clevel is None else clevel
    return default if found is None else int(found)


def _choice(what: str, name: str, choices: dict[str, int]) -> int:
    try:
        return choices[name.lower()]
    except (KeyError, AttributeError):
        raise ValueError(f"{what} must be one of {', '.join(choices)}, not {name!r}") from None


class Filter(Mapping[str, Any]):
    """A compression filter with its parameters.

    `create_dataset` takes a filter as `compression=Zstd(5)`, or as `**Zstd(5)`, like the objects of
    hdf5plugin.

    Attributes:
        filter_id: The registered number of the filter.
        filter_options: The parameters, in the order that the plugin of the filter takes.

    Example:
        >>> dict(hs.Zstd(5))
        {'compression': 32015, 'compression_opts': (5,)}
    """

    filter_id: int
    filter_options: tuple[int, ...]

    def _as_dict(self) -> dict[str, Any]:
        return {"compression": self.filter_id, "compression_opts": self.filter_options}

    def __getitem__(self, key: str) -> Any:
        return self._as_dict()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._as_dict())

    def __len__(self) -> int:
        return 2

    def __hash__(self) -> int:
        return hash((self.filter_id, self.filter_options))

    def __repr__(self) -> str:
        name = type(self).__name__
        if type(self) is Filter:
            name = f"{name} {_filter_facts(self.filter_id)[0] or self.filter_id}"
        return f"<{name} {self.filter_options}>"


class Blosc2(Filter):
    """Blosc 2, which suits most data. A small read decodes only the blocks that it needs.

    Args:
        cname: The codec: "blosclz", "lz4", "lz4hc", "zlib" or "zstd".
        level: The effort of the codec, from 0 (no compression) to 9. The default is 5.
        filter: What happens before compression: "none", "shuffle", "bitshuffle", "delta" or "truncate".
            "truncate" loses precision. The default is "shuffle".
        clevel: Another name of `level`, as in hdf5plugin.
        filters: Another name of `filter`. Names only, not the numbers of hdf5plugin.

    Raises:
        ValueError: No such codec or filter.
        TypeError: An argument is given by both of its names.

    Example:
        >>> fast = file.create_dataset("fast", (1000,), "i4", chunks=(100,), compression=hs.Blosc2("lz4"))
        >>> fast.filter_names
        ('blosc2',)
    """

    filter_id = 32026

    def __init__(
        self,
        cname: str = "blosclz",
        level: int | None = None,
        filter: str | None = None,
        *,
        clevel: int | None = None,
        filters: str | None = None,
    ) -> None:
        if filter is not None and filters is not None:
            raise TypeError("filters must be left out if filter is given: both are the same")
        before = _choice("filter", filter or filters or "shuffle", _BLOSC2_FILTERS)
        self.filter_options = (0, 0, 0, 0, _level(level, clevel, 5), before, _choice("cname", cname, _CODECS))


class Blosc(Filter):
    """Blosc 1, which more programs read than Blosc 2.

    Args:
        cname: The codec: "blosclz", "lz4", "lz4hc", "snappy", "zlib" or "zstd".
        level: The effort of the codec, from 0 (no compression) to 9. The default is 5.
        shuffle: What happens before compression: "none", "shuffle" or "bitshuffle".
        clevel: Another name of `level`, as in hdf5plugin.

    Raises:
        ValueError: No such codec or shuffle.

    Example:
        >>> hs.Blosc("zstd", level=9)
        <Blosc (0, 0, 0, 0, 9, 1, 5)>
    """

    filter_id = 32001

    def __init__(
        self, cname: str = "lz4", level: int | None = None, shuffle: str = "shuffle", *, clevel: int | None = None
    ) -> None:
        codec, before = _choice("cname", cname, _BLOSC1_CODECS), _choice("shuffle", shuffle, _BLOSC_FILTERS)
        self.filter_options = (0, 0, 0, 0, _level(level, clevel, 5), before, codec)


class LZ4(Filter):
    """LZ4, which is fast and compresses little.

    Args:
        nbytes: The size of a block in bytes. 0 makes one block of each chunk.

    Example:
        >>> file.create_dataset("fast", data=np.arange(1000), chunks=(100,), compression=hs.LZ4()).filter_ids
        (32004,)
    """

    filter_id = 32004

    def __init__(self, nbytes: int = 0) -> None:
        self.filter_options = (nbytes,)


class Zstd(Filter):
    """Zstandard, which compresses well.

    Args:
        level: The effort, up to 22. Levels below 1 are faster and compress less. The default is 3.
        clevel: Another name of `level`, as in hdf5plugin.

    Example:
        >>> file.create_dataset("small", (1000,), "i4", chunks=(100,), compression=hs.Zstd(9)).filter_ids
        (32015,)
    """

    filter_id = 32015

    def __init__(self, level: int | None = None, *, clevel: int | None = None) -> None:
        self.filter_options = (_level(level, clevel, 3),)


class Bitshuffle(Filter):
    """Bitshuffle, which stores bits of equal weight next to each other and then compresses them.

    Args:
        nelems: The number of elements in a block. 0 selects a suitable number.
        cname: The codec: "none", "lz4" or "zstd".
        level: The effort of "zstd". The default is 3.
        clevel: Another name of `level`, as in hdf5plugin.

    Raises:
        ValueError: No such codec.

    Example:
        >>> hs.Bitshuffle(cname="zstd", level=5).filter_options
        (0, 3, 5)
    """

    filter_id = 32008

    def __init__(
        self, nelems: int = 0, cname: str = "lz4", level: int | None = None, *, clevel: int | None = None
    ) -> None:
        codec, level = _choice("cname", cname, {"none": 0, "lz4": 2, "zstd": 3}), _level(level, clevel, 3)
        self.filter_options = (nelems, codec, level) if codec == 3 else (nelems, codec)


class BZip2(Filter):
    """bzip2, which compresses well and is slow.

    Args:
        blocksize: The size of a block, from 1 to 9 times 100,000 bytes.

    Raises:
        ValueError: No such size.

    Example:
        >>> hs.BZip2(blocksize=5)
        <BZip2 (5,)>
    """

    filter_id = 307

    def __init__(self, blocksize: int = 9) -> None:
        if not 1 <= blocksize <= 9:
            raise ValueError(f"blocksize must be 1 to 9, not {blocksize}")
        self.filter_options = (int(blocksize),)


class Snappy(Filter):
    """Snappy, in the layout of the registered filter (Snappy-CUDA).

    Example:
        >>> hs.Snappy()
        <Snappy ()>
    """

    filter_id = 32003
    filter_options = ()


class SZip(Filter):
    """szip, the extended Rice coder of CCSDS 121.0-B, for numbers of 1, 2, 4 or 8 bytes.

    `compression="szip"` is the same.

    Args:
        coding: "nn" codes the differences between neighbours, "ec" the elements.
        pixels_per_block: The number of elements of a block, an even number up to 32.

    Raises:
        ValueError: No such coding or number.

    Example:
        >>> counts = file.create_dataset("counts", (1000,), "i2", compression=hs.SZip("nn", 16))
        >>> counts.compression, counts.compression_opts
        ('szip', ('nn', 16))
    """

    filter_id = 4

    def __init__(self, coding: str = "nn", pixels_per_block: int = 8) -> None:
        method = _choice("coding", coding, {"ec": 4, "nn": 32})
        if pixels_per_block not in range(2, 33, 2):
            raise ValueError(f"pixels_per_block must be an even number up to 32, not {pixels_per_block!r}")
        self.filter_options = (method, int(pixels_per_block))


class NBit(Filter):
    """N-bit, which stores only the significant bits of numbers.

    It helps if the datatype has fewer significant bits than its size, and changes nothing otherwise.

    Example:
        >>> file.create_dataset("flags", (1000,), "u2", chunks=(100,), compression=hs.NBit()).filter_names
        ('nbit',)
    """

    filter_id = 5
    filter_options = ()


class Zfp(Filter):
    """ZFP, for integers and floats of 4 or 8 bytes in chunks of one to four dimensions.

    Give one of the first four arguments, or all of the others. Without arguments nearly all bits are kept.

    Args:
        rate: The number of bits of each element.
        precision: The number of bit planes that are kept.
        accuracy: The largest error.
        reversible: True keeps everything.
        minbits: The fewest bits of a block.
        maxbits: The most bits of a block.
        maxprec: The most bit planes.
        minexp: The exponent of the lowest bit plane.

    Raises:
        ValueError: Only some of the last four arguments are given.

    Example:
        >>> hs.Zfp(precision=16)
        <Zfp (2, 0, 16, 0, 0, 0)>
    """

    filter_id = 32013

    def __init__(
        self,
        rate: float | None = None,
        precision: int | None = None,
        accuracy: float | None = None,
        reversible: bool = False,
        minbits: int | None = None,
        maxbits: int | None = None,
        maxprec: int | None = None,
        minexp: int | None = None,
    ) -> None:
        expert = (minbits, maxbits, maxprec, minexp)
        if rate is not None:
            self.filter_options = (1, 0, *struct.unpack("<II", struct.pack("<d", rate)), 0, 0)
        elif precision is not None:
            self.filter_options = (2, 0, int(precision), 0, 0, 0)
        elif accuracy is not None:
            self.filter_options = (3, 0, *struct.unpack("<II", struct.pack("<d", accuracy)), 0, 0)
        elif reversible:
            self.filter_options = (5, 0, 0, 0, 0, 0)
        elif minbits is not None and maxbits is not None and maxprec is not None and minexp is not None:
            self.filter_options = (4, 0, int(minbits), int(maxbits), int(maxprec), int(minexp) & 0xFFFFFFFF)
        elif expert != (None,) * 4:
            raise ValueError("Zfp: pass all of minbits, maxbits, maxprec and minexp, or none of them")
        else:
            self.filter_options = ()


#: The words that `create_dataset(compression=...)` takes beside those of h5py.
WORDS: dict[str, Any] = {
    "bitshuffle": Bitshuffle,
    "blosc": Blosc,
    "blosc2": Blosc2,
    "bzip2": BZip2,
    "lz4": LZ4,
    "snappy": Snappy,
    "zfp": Zfp,
    "zstd": Zstd,
}


def worded(word: str, options: Any) -> Filter:
    """The filter that a word names, with the first arguments of its class as options: one or several.

    The word may have the options itself, in the notation of the command: "zstd:5".

    Raises:
        ValueError: No filter has the word, or an option is wrong.
        TypeError: The options are given in two ways.
    """
    if ":" in word:
        if options is not None:
            raise TypeError(f"compression_opts must be left out if compression is {word!r}, which has the options")
        return _made(*_filter_in_words(word))
    if word not in WORDS:
        known = ", ".join(sorted((*WORDS, "gzip", "lzf", "szip")))
        raise ValueError(
            f'Compression filter "{word}" is unavailable: compression must be one of {known}, '
            "or a filter such as hyperslab.Zstd(5)"
        )
    return WORDS[word](*(() if options is None else options if isinstance(options, tuple | list) else (options,)))


def stored(number: int, data: "list[int]") -> Filter:
    """A filter of a dataset, without the facts about chunks that are stored with its parameters."""
    if number in (Blosc.filter_id, Blosc2.filter_id):
        data = [0, 0, 0, 0, *data[4:7]]
    elif number == Bitshuffle.filter_id:
        data = data[3:]
    else:
        data = data[: _PARAMETERS.get(number)]
    return _made(number, data)


def _made(number: int, parameters: "list[int]") -> Filter:
    kind = next((kind for kind in Filter.__subclasses__() if kind.filter_id == number), Filter)
    made = kind.__new__(kind)
    made.filter_id, made.filter_options = number, tuple(parameters)
    return made


def pipeline(compression: Any) -> "tuple[Filter, ...] | None":
    """Returns filters that are given together; None if `compression` is anything else."""
    if not isinstance(compression, tuple | list) or not all(hasattr(one, "filter_id") for one in compression):
        return None
    return tuple(compression)


# Shuffle, Fletcher32, szip, N-bit, scale-offset and LZF store more than their parameters.
_PARAMETERS = {2: 0, 3: 0, SZip.filter_id: 2, NBit.filter_id: 0, 6: 2, 32000: 0}
