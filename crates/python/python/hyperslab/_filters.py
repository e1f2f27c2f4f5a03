"""Filters as ``create_dataset`` takes them: objects like hdf5plugin's, which serve as well, and h5py's own names."""

from collections.abc import Iterator, Mapping
from typing import Any

_CODECS = {"blosclz": 0, "lz4": 1, "lz4hc": 2, "zlib": 4, "zstd": 5}
_BLOSC_FILTERS = {"none": 0, "shuffle": 1, "bitshuffle": 2}
_BLOSC2_FILTERS = {**_BLOSC_FILTERS, "delta": 3, "truncate": 4}


def _choice(what: str, name: str, choices: dict[str, int]) -> int:
    try:
        return choices[name.lower()]
    except KeyError:
        raise ValueError(f"{what} must be one of {', '.join(choices)}, not {name!r}") from None


class Filter(Mapping[str, Any]):
    """A filter with its parameters: ``compression=Zstd(5)``, or ``**Zstd(5)`` as with hdf5plugin.

    filter_id : the registered number.  filter_options : the parameters, as the filter's plugin takes them.
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
        return f"<{type(self).__name__} {self.filter_options}>"


class Blosc2(Filter):
    """Blosc 2: what most data want. Decoded block by block, so that small reads decode little.

    cname : "blosclz", "lz4", "lz4hc", "zlib" or "zstd".  level : 0 (stored) to 9.
    filter : "none", "shuffle", "bitshuffle", "delta" or "truncate" (which loses precision).
    """

    filter_id = 32026

    def __init__(self, cname: str = "blosclz", level: int = 5, filter: str = "shuffle") -> None:
        codec, before = _choice("cname", cname, _CODECS), _choice("filter", filter, _BLOSC2_FILTERS)
        self.filter_options = (0, 0, 0, 0, level, before, codec)


class Blosc(Filter):
    """Blosc 1, which more programs read.

    cname : "blosclz", "lz4", "lz4hc", "zlib" or "zstd".  level : 0 (stored) to 9.
    shuffle : "none", "shuffle" or "bitshuffle".
    """

    filter_id = 32001

    def __init__(self, cname: str = "lz4", level: int = 5, shuffle: str = "shuffle") -> None:
        codec, before = _choice("cname", cname, _CODECS), _choice("shuffle", shuffle, _BLOSC_FILTERS)
        self.filter_options = (0, 0, 0, 0, level, before, codec)


class LZ4(Filter):
    """LZ4 in blocks of ``nbytes`` (0: of a chunk)."""

    filter_id = 32004

    def __init__(self, nbytes: int = 0) -> None:
        self.filter_options = (nbytes,)


class Zstd(Filter):
    """Zstandard at a level up to 22; below 1 it is faster and larger."""

    filter_id = 32015

    def __init__(self, level: int = 3) -> None:
        self.filter_options = (level,)


class Bitshuffle(Filter):
    """Bits of elements stored together, then ``cname``: "none", "lz4" or "zstd" (at ``level``)."""

    filter_id = 32008

    def __init__(self, nelems: int = 0, cname: str = "lz4", level: int = 3) -> None:
        codec = _choice("cname", cname, {"none": 0, "lz4": 2, "zstd": 3})
        self.filter_options = (nelems, codec, level) if codec == 3 else (nelems, codec)
