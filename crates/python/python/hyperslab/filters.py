"""The filters of chunks by the names of h5py: which there are, and their numbers."""

from typing import Any

from ._native import _auto_chunks, _filter_facts
from .low import h5z as h5z

DEFAULT_GZIP = 4
DEFAULT_SZIP = ("nn", 8)

_NUMBERS = {"gzip": 1, "lzf": 32000, "shuffle": 2, "fletcher32": 3, "szip": 4, "scaleoffset": 6}


def registered_name(number: int) -> str:
    """Returns the registered name of a filter, or an empty text.

    Args:
        number: The number of the filter.

    Example:
        >>> hs.filters.registered_name(1)
        'deflate'
    """
    return _filter_facts(number)[0] if 0 < number < 1 << 16 else ""


def is_known(number: int) -> bool:
    """Returns whether the package reads and writes chunks with a filter.

    Args:
        number: The number of the filter.

    Example:
        >>> hs.filters.is_known(32015), hs.filters.is_known(399)
        (True, False)
    """
    return 0 < number < 1 << 16 and _filter_facts(number)[1]


#: The filters that can be read, and those that can be written, by the names that `create_dataset` takes.
decode = tuple(name for name, number in _NUMBERS.items() if is_known(number))
encode = decode


class FilterRefBase:
    """A compression with its options, which `create_dataset(compression=...)` takes.

    `**filter` gives the two keywords `compression` and `compression_opts`.
    """

    filter_id: "int | None" = None
    filter_options: "tuple[Any, ...]" = ()

    @property
    def _kwargs(self) -> "dict[str, Any]":
        return {"compression": self.filter_id, "compression_opts": self.filter_options}

    def keys(self) -> Any:
        return self._kwargs.keys()

    def __iter__(self) -> Any:
        return iter(self._kwargs)

    def __len__(self) -> int:
        return len(self._kwargs)

    def __getitem__(self, key: str) -> Any:
        return self._kwargs[key]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FilterRefBase) and self._kwargs == other._kwargs

    def __hash__(self) -> int:
        return hash((self.filter_id, self.filter_options))


class Gzip(FilterRefBase):
    """The compression "gzip".

    Args:
        level: The effort, from 0 to 9.

    Example:
        >>> dict(**hs.filters.Gzip(level=8))
        {'compression': 1, 'compression_opts': (8,)}
    """

    filter_id = 1

    def __init__(self, level: int = DEFAULT_GZIP) -> None:
        self.filter_options = (level,)


def guess_chunk(shape: Any, maxshape: Any, typesize: int) -> "tuple[int, ...]":
    """Returns the shape of chunks that `chunks=True` takes.

    Args:
        shape: The shape of the dataset.
        maxshape: The largest shape. None for an axis without a limit.
        typesize: The size of an element in bytes.

    Example:
        >>> hs.filters.guess_chunk((1000, 1000), None, 8)
        (63, 125)
    """
    return tuple(_auto_chunks(list(shape), None if maxshape is None else list(maxshape), typesize))
