"""Property lists of creation: of objects, groups, files, datasets and links."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._objects import ObjectID, next_number, unsigned

CRT_ORDER_TRACKED, CRT_ORDER_INDEXED = 1, 2


class PropID(ObjectID):
    """A property list, or a class of property lists."""

    def __init__(self, **values: Any) -> None:
        super().__init__(next_number())
        self._values = values

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()  # type: ignore[attr-defined]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.id)

    def _key(self) -> Any:
        given = {name: value for name, value in self._values.items() if not (isinstance(value, dict) and not value)}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in given.items()}

    def equal(self, plist: "PropID") -> bool:
        return self == plist


class PropClassID(PropID):
    """A class of property lists."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name)


class PropInstanceID(PropID):
    """A property list."""

    #: The class of the list, which `h5p` sets.
    _property_class: "PropClassID | None" = None

    def copy(self) -> Any:
        other = type(self)()
        other._values = copy.deepcopy(self._values)
        return other

    def get_class(self) -> "PropClassID | None":
        return self._property_class

    def _get(self, name: str, default: Any) -> Any:
        return self._values.get(name, default)


class PropCreateID(PropInstanceID):
    """Properties of something new."""


class PropLCID(PropCreateID):
    """Properties of new links."""

    def set_char_encoding(self, encoding: int) -> None:
        if encoding not in (0, 1):
            raise ValueError(f"Unknown character encoding {encoding}")
        self._values["char_encoding"] = encoding

    def get_char_encoding(self) -> int:
        return int(self._get("char_encoding", 0))

    def set_create_intermediate_group(self, create: bool) -> None:
        self._values["intermediate"] = bool(create)

    def get_create_intermediate_group(self) -> bool:
        return bool(self._get("intermediate", False))


class PropOCID(PropCreateID):
    """Properties of new objects."""

    def set_attr_creation_order(self, flags: int) -> None:
        if flags == CRT_ORDER_INDEXED:
            raise ValueError("Tracking creation order is required for index (tracking is required for index)")
        self._values["attribute_order"] = flags

    def get_attr_creation_order(self) -> int:
        return int(self._get("attribute_order", 0))

    def set_attr_phase_change(self, max_compact: int = 8, min_dense: int = 6) -> None:
        if not (0 <= max_compact < 65536 and 0 <= min_dense < 65536):
            raise ValueError("Max compact and min dense values must be < 65536")
        if max_compact < min_dense:
            raise ValueError("Max compact value must be >= min dense value")
        self._values["phase_change"] = (max_compact, min_dense)

    def get_attr_phase_change(self) -> "tuple[int, int]":
        change: tuple[int, int] = self._get("phase_change", (8, 6))
        return change

    def set_obj_track_times(self, track_times: bool) -> None:
        self._values["track_times"] = bool(track_times)

    def get_obj_track_times(self) -> bool:
        return bool(self._get("track_times", True))


class PropTCID(PropOCID):
    """Properties of new committed datatypes."""


class PropGCID(PropOCID):
    """Properties of new groups."""

    def set_link_creation_order(self, flags: int) -> None:
        if flags == CRT_ORDER_INDEXED:
            raise ValueError("Tracking creation order is required for index (tracking is required for index)")
        self._values["link_order"] = flags

    def get_link_creation_order(self) -> int:
        return int(self._get("link_order", 0))


class PropFCID(PropGCID):
    """Properties of new files."""

    def get_version(self) -> "tuple[int, int, int, int]":
        version: tuple[int, int, int, int] = self._get("version", (0, 0, 0, 0))
        return version

    def set_userblock(self, size: int) -> None:
        if size and (size < 512 or size & (size - 1)):
            raise ValueError("User block size must be 0, or a power of two of at least 512")
        self._values["userblock"] = size

    def get_userblock(self) -> int:
        return int(self._get("userblock", 0))

    def set_sizes(self, addr: int, size: int) -> None:
        if (addr or 8, size or 8) != (8, 8):
            raise NotImplementedError("set_sizes is not supported: new files have 8-byte addresses and lengths")

    def get_sizes(self) -> "tuple[int, int]":
        sizes: tuple[int, int] = self._get("sizes", (8, 8))
        return sizes

    def set_file_space_strategy(self, strategy: int, persist: bool, threshold: int) -> None:
        self._values["file_space"] = (strategy, bool(persist), threshold)

    def get_file_space_strategy(self) -> "tuple[int, bool, int]":
        strategy: tuple[int, bool, int] = self._get("file_space", (0, False, 1))
        return strategy

    def set_file_space_page_size(self, fsp_size: int) -> None:
        self._values["page_size"] = fsp_size

    def get_file_space_page_size(self) -> int:
        return int(self._get("page_size", 4096))


#: The options of szip, and the limit of `H5Z_set_local_szip`.
_SZIP_ALLOW_K13, _SZIP_CHIP, _SZIP_LSB, _SZIP_MSB, _SZIP_RAW = 1, 2, 8, 16, 128
_SZIP_MOST_PIXELS = 32

#: The layouts of `h5d`.
_COMPACT, _CONTIGUOUS, _CHUNKED, _VIRTUAL = 0, 1, 2, 3


class PropDCID(PropOCID):
    """Properties of new datasets."""

    # Layout

    def set_layout(self, layout_code: int) -> None:
        if layout_code not in (_COMPACT, _CONTIGUOUS, _CHUNKED, _VIRTUAL):
            raise ValueError(f"Unknown layout {layout_code}")
        self._values["layout"] = layout_code

    def get_layout(self) -> int:
        return int(self._get("layout", _CONTIGUOUS))

    def set_chunk(self, chunksize: Sequence[int]) -> None:
        chunk = tuple(int(side) for side in chunksize)
        if not chunk or min(chunk) < 1:
            raise ValueError("All chunk dimensions must be positive (all chunk dimensions must be positive)")
        self._values.update(layout=_CHUNKED, chunk=chunk)

    def get_chunk(self) -> "tuple[int, ...]":
        if self.get_layout() != _CHUNKED:
            raise ValueError("Not a chunked storage layout (not a chunked storage layout)")
        chunk: tuple[int, ...] = self._get("chunk", ())
        return chunk

    # Fill value

    def set_fill_value(self, value: Any) -> None:
        """Sets the fill value: an array of one element."""
        self._values["fill"] = np.array(value)

    def get_fill_value(self, value: Any) -> None:
        """Copies the fill value to an array of one element. The default is zero."""
        fill = self._get("fill", None)
        value[...] = np.zeros((), value.dtype) if fill is None or fill is False else fill

    def fill_value_defined(self) -> int:
        """Returns 0 if the fill value is undefined, 1 for the default, 2 for a value that was set."""
        fill = self._get("fill", None)
        return 1 if fill is None else 0 if fill is False else 2

    def set_fill_time(self, fill_time: int) -> None:
        if fill_time not in (0, 1, 2):
            raise ValueError(f"Unknown fill time {fill_time}")
        self._values["fill_time"] = fill_time

    def get_fill_time(self) -> int:
        return int(self._get("fill_time", 2))

    def set_alloc_time(self, alloc_time: int) -> None:
        if alloc_time not in (0, 1, 2, 3):
            raise ValueError(f"Unknown allocation time {alloc_time}")
        self._values["alloc_time"] = alloc_time

    def get_alloc_time(self) -> int:
        default = {_COMPACT: 1, _CONTIGUOUS: 2, _CHUNKED: 3, _VIRTUAL: 3}[self.get_layout()]
        return int(self._get("alloc_time", 0)) or default

    # Filters

    def _filters(self) -> "list[tuple[int, int, tuple[int, ...], bytes]]":
        filters: list[tuple[int, int, tuple[int, ...], bytes]] = self._values.setdefault("filters", [])
        return filters

    def set_filter(self, filter_code: int, flags: int = 0, values: "Sequence[int] | None" = None) -> None:
        """Adds a filter at the end of the pipeline."""
        from ..filters import registered_name

        if not 0 <= filter_code < 1 << 16:
            raise ValueError("Invalid filter identifier (invalid filter identifier)")
        name = registered_name(filter_code).encode()
        self._filters().append((filter_code, flags, tuple(int(value) for value in values or ()), name))

    def all_filters_avail(self) -> bool:
        from .h5z import filter_avail

        return all(filter_avail(code) for code, *_ in self._filters())

    def get_nfilters(self) -> int:
        return len(self._filters())

    def get_filter(self, filter_idx: int) -> "tuple[int, int, tuple[int, ...], bytes]":
        """Returns the number, the flags, the values and the name of a filter."""
        if filter_idx < 0:
            raise ValueError("Filter index must be a non-negative integer")
        try:
            return self._filters()[filter_idx]
        except IndexError:
            raise ValueError("Filter index is out of range (filter number is invalid)") from None

    def get_filter_by_id(self, filter_code: int) -> "tuple[int, tuple[int, ...], bytes] | None":
        for code, flags, values, name in self._filters():
            if code == filter_code:
                return flags, values, name
        return None

    def _has_filter(self, filter_code: int) -> bool:
        return self.get_filter_by_id(filter_code) is not None

    def remove_filter(self, filter_class: int) -> None:
        kept = [item for item in self._filters() if filter_class not in (0, item[0])]
        if filter_class != 0 and len(kept) == len(self._filters()):
            raise RuntimeError("Can't delete filter (can't find filter)")
        self._values["filters"] = kept

    def set_deflate(self, level: int = 5) -> None:
        if not 0 <= level <= 9:
            raise ValueError("Invalid deflate level (invalid deflate level)")
        self.set_filter(1, 1, (level,))

    def set_shuffle(self) -> None:
        self.set_filter(2, 1)

    def set_fletcher32(self) -> None:
        self.set_filter(3, 0)

    def set_szip(self, options: int, pixels_per_block: int) -> None:
        pixels = unsigned(pixels_per_block, "unsigned int")
        if pixels % 2:
            raise ValueError("Pixels_per_block is not even (pixels_per_block is not even)")
        if pixels > _SZIP_MOST_PIXELS:
            raise ValueError("Pixels_per_block is too large (pixels_per_block is too large)")
        # libhdf5 chooses some of the options itself.
        kept = options & ~(_SZIP_CHIP | _SZIP_LSB | _SZIP_MSB)
        self.set_filter(4, 1, (kept | _SZIP_ALLOW_K13 | _SZIP_RAW, pixels))

    def set_scaleoffset(self, scale_type: int, scale_factor: int) -> None:
        if scale_factor < 0:
            raise ValueError("Scale factor must be >= 0 (scale factor must be >= 0)")
        if scale_type not in (0, 1, 2):
            raise ValueError("Invalid scale type (invalid scale type)")
        self.set_filter(6, 1, (scale_type, scale_factor))

    # External data

    def set_external(self, name: "bytes | str", offset: int, size: int) -> None:
        self._values.setdefault("external", []).append((name, offset, size))

    def get_external_count(self) -> int:
        return len(self._get("external", ()))

    def get_external(self, idx: int = 0) -> Any:
        try:
            return self._get("external", ())[idx]
        except IndexError:
            raise ValueError("External file index is out of range (external file index is out of range)") from None

    # Virtual datasets

    def _virtual(self) -> "list[tuple[Any, bytes, bytes, Any]]":
        if self.get_layout() != _VIRTUAL:
            raise ValueError("Not a virtual storage layout (not a virtual storage layout)")
        mappings: list[tuple[Any, bytes, bytes, Any]] = self._get("virtual", [])
        return mappings

    def set_virtual(self, vspace: Any, src_file: bytes, src_dset: bytes, src_space: Any) -> None:
        """Maps a selection of the dataset to a selection of a source."""
        from ._mappings import mapped

        mapped(vspace, src_file, src_dset, src_space)
        self._values["layout"] = _VIRTUAL
        self._values.setdefault("virtual", []).append((vspace.copy(), src_file, src_dset, src_space.copy()))

    def get_virtual_count(self) -> int:
        return len(self._virtual())

    def get_virtual_vspace(self, index: int = 0) -> Any:
        return self._virtual()[index][0]

    def get_virtual_filename(self, index: int = 0) -> str:
        return self._virtual()[index][1].decode()

    def get_virtual_dsetname(self, index: int = 0) -> str:
        return self._virtual()[index][2].decode()

    def get_virtual_srcspace(self, index: int = 0) -> Any:
        return self._virtual()[index][3]
