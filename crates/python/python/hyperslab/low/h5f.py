"""Files by their identifiers."""

import io
import os
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from .._native import File as _File
from .._native import FileID as _FileID
from .._native import _handle_counts
from ._access import PropFAID
from ._drivers import keywords_of
from ._objects import unsupported
from ._plists import PropFCID
from .h5ac import CacheConfig
from .h5g import GroupMethods

ACC_RDONLY, ACC_RDWR, ACC_TRUNC, ACC_EXCL = 0, 1, 2, 4
ACC_SWMR_WRITE, ACC_SWMR_READ = 0x20, 0x40
CLOSE_DEFAULT, CLOSE_WEAK, CLOSE_SEMI, CLOSE_STRONG = 0, 1, 2, 3
SCOPE_LOCAL, SCOPE_GLOBAL = 0, 1
OBJ_FILE, OBJ_DATASET, OBJ_GROUP, OBJ_DATATYPE, OBJ_ATTR, OBJ_ALL, OBJ_LOCAL = 1, 2, 4, 8, 16, 31, 32
LIBVER_EARLIEST, LIBVER_V18, LIBVER_V110, LIBVER_V112, LIBVER_V114, LIBVER_V200 = 0, 1, 2, 3, 4, 5
LIBVER_LATEST = LIBVER_V200
FILE_IMAGE_OPEN_RW = 1
FSPACE_STRATEGY_FSM_AGGR, FSPACE_STRATEGY_PAGE, FSPACE_STRATEGY_AGGR, FSPACE_STRATEGY_NONE = 0, 1, 2, 3
UNLIMITED = (1 << 64) - 1

_LIBVERS = ("earliest", "v108", "v110", "v112", "v114", "v200")
_STRATEGIES = {0: "fsm", 1: "page", 2: "aggregate", 3: "none"}
_DRIVERS = {"sec2": None, "stdio": "stdio", "core": "core", "split": "split", "family": "family", "fileobj": None}


#: What `get_vfd_handle` opened.
_descriptors: "WeakKeyDictionary[_File, io.FileIO]" = WeakKeyDictionary()


class PageStats(NamedTuple):
    """Counts of the page buffer, for metadata and for raw data."""

    meta: int
    raw: int


class PageBufStats(NamedTuple):
    """What the page buffer did."""

    accesses: PageStats
    hits: PageStats
    misses: PageStats
    evictions: PageStats
    bypasses: PageStats


class FileID(GroupMethods, _FileID):
    """The identifier of a file."""

    @property
    def name(self) -> bytes:
        """The name with which the file was opened."""
        return os.fsencode(self._object.filename)

    def close(self) -> None:
        """Closes the file."""
        self._object.close()

    def _close_open_objects(self, types: int) -> None:
        """Does nothing: closing a file closes its objects."""

    def reopen(self) -> Any:
        """Returns an identifier of the same file."""
        return self._object.file.id

    def get_create_plist(self) -> PropFCID:
        """Returns the properties that the file was created with."""
        from .h5p import create_list_of

        made: PropFCID = create_list_of(self._object)
        return made

    def get_access_plist(self) -> PropFAID:
        """Returns the properties that the file was opened with."""
        keywords, made, file = self._keywords(), PropFAID(), self._object
        made._values["driver"] = file.driver
        made.set_fclose_degree(CLOSE_WEAK)
        if file.driver == "core":
            made.set_fapl_core(keywords.get("block_size") or 65536, bool(keywords.get("backing_store", True)))
        if file.driver == "family":
            made.set_fapl_family(keywords.get("memb_size") or 0)
        if file.driver == "split":
            meta, raw = keywords.get("meta_ext") or b"-m.h5", keywords.get("raw_ext") or b"-r.h5"
            made.set_fapl_split(meta, None, raw, None)
        defaults = made.get_cache()
        given = [keywords.get(name) for name in ("rdcc_nslots", "rdcc_nbytes", "rdcc_w0")]
        values = [old if new is None else new for old, new in zip(defaults[1:], given, strict=True)]
        made.set_cache(0, int(values[0]), int(values[1]), float(values[2]))
        low, high = (_LIBVERS.index(name) if name in _LIBVERS else LIBVER_LATEST for name in file.libver)
        made.set_libver_bounds(low, high)
        made.set_meta_block_size(file.meta_block_size)
        made.set_alignment(keywords.get("alignment_threshold") or 1, keywords.get("alignment_interval") or 1)
        strategy, _, _, page = self._space
        size = int(keywords.get("page_buf_size") or 0)
        if strategy == FSPACE_STRATEGY_PAGE and size:
            # libhdf5 rounds the size to whole pages.
            shares = [keywords.get(name) or 0 for name in ("min_meta_keep", "min_raw_keep")]
            made.set_page_buffer_size(max(size // page, 1) * page, *shares)
        locking = keywords.get("locking")
        if locking is not None:
            made.set_file_locking(locking is not False, locking == "best-effort")
        return made

    def get_freespace(self) -> int:
        """Returns the number of free bytes inside the file: 0, as new data take them first."""
        return 0

    def get_intent(self) -> int:
        """Returns whether the file is open for writing, and for SWMR."""
        file = self._object
        if file.mode == "r+":
            return ACC_RDWR | (ACC_SWMR_WRITE if file.swmr_mode else 0)
        return ACC_RDONLY | (ACC_SWMR_READ if file.swmr_mode else 0)

    def get_vfd_handle(self, fapl: Any = None) -> int:
        """Returns a file descriptor of the file, or 0 for a file in memory."""
        file = self._object
        if file.driver not in ("sec2", "stdio"):
            return 0
        if file not in _descriptors:
            # Closed with the last handle of the file.
            _descriptors[file] = io.FileIO(file.filename, "r")
        return _descriptors[file].fileno()

    def get_mdc_hit_rate(self) -> float:
        """Returns the hit rate of libhdf5's cache of metadata: 0, as there is no such cache."""
        return 0.0

    def get_mdc_size(self) -> "tuple[int, int, int, int]":
        """Returns the sizes of libhdf5's cache of metadata, as if it were empty."""
        config = self.get_mdc_config()
        return config.max_size, int(config.max_size * config.min_clean_fraction), 0, 0

    def reset_mdc_hit_rate_stats(self) -> None:
        """Does nothing."""

    def get_mdc_config(self) -> CacheConfig:
        """Returns a configuration of libhdf5's cache of metadata."""
        return CacheConfig()

    def set_mdc_config(self, config: CacheConfig) -> None:
        """Does nothing: `metadata_cache_bytes` of the crate sets the cache."""

    def start_swmr_write(self) -> None:
        """Lets readers follow the changes of the file (SWMR)."""
        self._object.swmr_mode = True

    def reset_page_buffering_stats(self) -> None:
        raise unsupported("FileID.reset_page_buffering_stats", "there is no page buffer")

    def get_page_buffering_stats(self) -> PageBufStats:
        raise unsupported("FileID.get_page_buffering_stats", "there is no page buffer")


def _creation(plist: "PropFCID | None") -> "dict[str, Any]":
    """Returns the keywords of `File` for the properties of a new file."""
    # Here the property list decides, not `get_config`.
    if plist is None:
        return {"track_order": False}
    keywords: dict[str, Any] = {"track_order": bool(plist.get_link_creation_order())}
    if plist.get_userblock():
        keywords["userblock_size"] = plist.get_userblock()
    if "file_space" in plist._values:
        strategy, persist, threshold = plist.get_file_space_strategy()
        keywords.update(fs_strategy=_STRATEGIES[strategy], fs_persist=persist, fs_threshold=threshold)
    if "page_size" in plist._values:
        keywords["fs_page_size"] = plist.get_file_space_page_size()
    return keywords


def _opening(plist: "PropFAID | None") -> "dict[str, Any]":
    """Returns the keywords of `File` for the properties of access."""
    if plist is None:
        return {}
    values = plist._values
    keywords: dict[str, Any] = {}
    driver = values.get("driver", "sec2")
    if driver in _DRIVERS and _DRIVERS[driver] is not None:
        keywords["driver"] = _DRIVERS[driver]
    keywords.update(keywords_of(plist))
    if "libver" in values:
        low, high = plist.get_libver_bounds()
        keywords["libver"] = (_LIBVERS[low], _LIBVERS[high])
    if "cache" in values:
        _, slots, size, preemption = plist.get_cache()
        keywords.update(rdcc_nslots=slots, rdcc_nbytes=size, rdcc_w0=preemption)
    if "locking" in values:
        use, ignore = plist.get_file_locking()
        keywords["locking"] = "best-effort" if use and ignore else use
    if "alignment" in values:
        keywords["alignment_threshold"], keywords["alignment_interval"] = plist.get_alignment()
    if "meta_block" in values:
        keywords["meta_block_size"] = plist.get_meta_block_size()
    if "page_buffer" in values:
        names = ("page_buf_size", "min_meta_keep", "min_raw_keep")
        keywords.update(zip(names, plist.get_page_buffer_size(), strict=True))
    return keywords


def _source(name: "bytes | str", plist: "PropFAID | None") -> Any:
    """Returns what `File` opens: a path, or the file object of the driver."""
    if plist is not None and plist._values.get("driver") == "fileobj":
        return plist._values["driver_values"]["fileobj"]
    return os.fsdecode(name)


def open(name: "bytes | str", flags: int = ACC_RDWR, fapl: "PropFAID | None" = None) -> Any:
    """Opens a file."""
    image = None if fapl is None else fapl._values.get("image")
    if image is not None:
        return open_file_image(image, FILE_IMAGE_OPEN_RW if flags & ACC_RDWR else 0)
    keywords = _opening(fapl)
    if flags & (ACC_SWMR_READ | ACC_SWMR_WRITE):
        keywords["swmr"] = True
    return _File(_source(name, fapl), "r+" if flags & ACC_RDWR else "r", **keywords).id


def create(
    name: "bytes | str", flags: int = ACC_TRUNC, fcpl: "PropFCID | None" = None, fapl: "PropFAID | None" = None
) -> Any:
    """Creates a file."""
    mode = "w-" if flags & ACC_EXCL else "w"
    return _File(_source(name, fapl), mode, **_opening(fapl), **_creation(fcpl)).id


def open_file_image(image: Any, flags: int = 0) -> Any:
    """Opens the bytes of a file, for writing in memory with `FILE_IMAGE_OPEN_RW`."""
    if flags & FILE_IMAGE_OPEN_RW:
        return _File.in_memory(image).id
    return _File.from_bytes(image).id


def flush(obj: Any, scope: int = SCOPE_LOCAL) -> None:
    """Writes changes to the file."""
    obj._object.file.flush()


def is_hdf5(name: "bytes | str") -> bool:
    """Returns whether a file begins like an HDF5 file."""
    from .. import is_hdf5 as check

    if not os.path.exists(name):
        raise FileNotFoundError(2, os.strerror(2), os.fsdecode(name))
    return check(name)


def mount(loc: Any, name: bytes, fid: Any) -> None:
    raise unsupported("h5f.mount", "use an external link")


def unmount(loc: Any, name: bytes) -> None:
    raise unsupported("h5f.unmount", "use an external link")


def get_name(obj: Any) -> bytes:
    """Returns the name with which the file of an object was opened."""
    return os.fsencode(obj._object.file.filename)


def get_obj_ids(where: Any = OBJ_ALL, types: int = OBJ_ALL) -> "list[Any]":
    raise unsupported("h5f.get_obj_ids", "objects are counted (get_obj_count), not listed")


def get_obj_count(where: Any = OBJ_ALL, types: int = OBJ_ALL) -> int:
    """Returns the number of handles of open files, or of one file, of these kinds."""
    counts = _handle_counts(None if isinstance(where, int) else where._object)
    kinds = (OBJ_FILE, OBJ_DATASET, OBJ_GROUP, OBJ_DATATYPE)
    return sum(count for count, kind in zip(counts, kinds, strict=True) if types & kind)
