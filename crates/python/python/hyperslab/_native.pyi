"""The classes of the package. Their names and meanings are h5py's; what differs is said here.

Over 600 lines, as one stub file stands for one extension module."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import EllipsisType, TracebackType
from typing import (
    Any,
    Literal,
    Protocol,
    Self,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    final,
    overload,
    type_check_only,
)

import numpy as np
from numpy.typing import DTypeLike, NDArray
from typing_extensions import disjoint_base

from ._chunks import StoreInfo
from ._dims import DimensionManager, RegionProxy
from ._mapping import ItemsViewHDF5, KeysViewHDF5, ValuesViewHDF5
from ._transaction import Transaction

__all__ = [
    "AsStrView",
    "AsTypeView",
    "AttrID",
    "AttributeManager",
    "ChunkIterator",
    "Dataset",
    "DatasetID",
    "Datatype",
    "Empty",
    "ExternalLink",
    "FieldsView",
    "File",
    "FileID",
    "Group",
    "GroupID",
    "HLObject",
    "HardLink",
    "ObjectID",
    "ReadPlan",
    "Reference",
    "RegionReference",
    "SoftLink",
    "TypeID",
    "__version__",
    "_attach_scale",
    "_auto_chunks",
    "_axis_label",
    "_check",
    "_filter",
    "_scale_name",
    "_scales",
    "_segy_describe",
    "_segy_export",
    "_segy_extract",
    "_segy_ingest",
    "_segy_scan",
    "_set_axis_label",
    "get_threads",
    "run_cli",
    "set_threads",
]

__version__: str

_T = TypeVar("_T")
_Array: TypeAlias = NDArray[Any]
_DType: TypeAlias = np.dtype[Any]
_Name: TypeAlias = str | bytes
_Axis: TypeAlias = SupportsIndex | slice | EllipsisType | list[int] | list[bool] | range | _Array
# One index, or one for each axis. Names of fields may stand among them.
_Index: TypeAlias = _Axis | str | list[str] | tuple[_Axis | str, ...]
_Selection: TypeAlias = _Axis | tuple[_Axis, ...]
_Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...
    def seek(self, offset: int, whence: int = ..., /) -> int: ...

def set_threads(threads: int) -> None:
    """Sets how many threads a read uses, the caller's included; at least 1.

    At first as many as the environment variable HYPERSLAB_THREADS says, else as the process may use.
    ValueError: 0.
    """

def get_threads() -> int:
    """How many threads a read uses, the caller's included."""

def _filter(
    id: int, options: list[int], element_size: int, item_size: int, chunk_shape: list[int]
) -> tuple[int, int, str | None, list[int]]: ...
def _auto_chunks(shape: list[int], max_shape: list[int | None] | None, element_size: int) -> list[int]: ...
def _check(
    file: Any, data: bool
) -> list[tuple[Literal["note", "warning", "error"], str, str, str, int | None, str | None]]: ...
def _scale_name(scale: Dataset) -> bytes: ...
def _scales(dataset: Dataset, axis: int) -> list[Dataset]: ...
def _attach_scale(dataset: Dataset, axis: int, scale: Dataset, is_attached: bool) -> None: ...
def _axis_label(dataset: Dataset, axis: int) -> bytes: ...
def _set_axis_label(dataset: Dataset, axis: int, label: bytes) -> None: ...
def _segy_ingest(
    source: str | os.PathLike[str],
    to: str | os.PathLike[str],
    taking: dict[str, Any],
    storing: dict[str, Any],
    progress: Callable[[int, int], object] | None,
) -> dict[str, Any]: ...
def _segy_export(file: File, to: str | os.PathLike[str], progress: Callable[[int, int], object] | None) -> None: ...
def _segy_extract(file: File, axis: str, number: int, to: str | os.PathLike[str]) -> None: ...
def _segy_describe(file: File) -> dict[str, Any]: ...
def _segy_scan(path: str | os.PathLike[str], taking: dict[str, Any]) -> dict[str, Any]: ...
def run_cli(args: list[str]) -> int:
    """Runs the command ``hyperslab`` with these arguments, the program's name first; returns its exit code."""

@disjoint_base
class HLObject:
    """An object of a file. Two are equal if they are the same object of the same file."""

    @property
    def file(self) -> File:
        """The file that holds the object: behind an external link, the other file. OSError: it is closed."""
    @property
    def name(self) -> str | None:
        """The path by which the object was reached; None once the file is closed."""
    @property
    def parent(self) -> Group:
        """The group that holds the object. ValueError: no path leads to it."""
    @property
    def attrs(self) -> AttributeManager:
        """The attributes of the object."""
    @property
    def ref(self) -> Reference:
        """A reference to the object."""
    @property
    def id(self) -> ObjectID:
        """What h5py calls the low-level identifier."""
    def __bool__(self) -> bool:
        """Whether the file is open."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getstate__(self) -> None: ...
    def __getnewargs__(self) -> None: ...

@disjoint_base
class Group(HLObject):
    """A group: a read-only mapping from names to groups, datasets and committed datatypes."""

    def __getitem__(self, name: _Name | Reference, /) -> Any:
        """The object at a path, from here or (with a slash in front) from the root, or the one that a reference names.

        KeyError: there is none. ValueError: the reference is null. TypeError: neither a name nor a reference.
        """
    def __contains__(self, name: _Name, /) -> bool:
        """Whether there is a link at a path. Where the last one leads is not asked."""
    def __len__(self) -> int:
        """The number of members."""
    def __iter__(self) -> Iterator[str]:
        """The names of the members: in the order of creation if the group tracks it, else by name."""
    def __reversed__(self) -> Iterator[str]:
        """The names of the members from the last to the first."""
    def keys(self) -> KeysViewHDF5:
        """The names of the members."""
    def values(self) -> ValuesViewHDF5:
        """The members."""
    def items(self) -> ItemsViewHDF5:
        """Names with members."""
    def get(
        self,
        name: _Name | Reference,
        default: Any = None,
        getclass: bool = False,
        getlink: bool = False,
        *,
        elink_mode: str | None = None,
    ) -> Any:
        """The member at a path, or ``default``. Files behind external links are opened for reading (``elink_mode="r"``).

        getclass : its class instead. getlink : the link that leads to it instead, a HardLink, SoftLink or ExternalLink.
        """
    def visit(self, func: Callable[[str], _T | None]) -> _T | None:
        """Calls ``func(name)`` for every object below, each once, by name; stops when it returns something else than None.

        Soft and external links are left out.
        """
    def visititems(self, func: Callable[[str, Any], _T | None]) -> _T | None:
        """As ``visit``, with ``func(name, object)``."""
    def visit_links(self, func: Callable[[str], _T | None]) -> _T | None:
        """Calls ``func(name)`` for every link below, of any kind."""
    def visititems_links(self, func: Callable[[str, Any], _T | None]) -> _T | None:
        """As ``visit_links``, with ``func(name, link)``."""
    def __setitem__(self, name: _Name, object: Any, /) -> None:
        """Makes a hard link to an object, a soft or external link, a committed dtype, or a dataset of anything else.

        ValueError: the name exists, or the file is open for reading.
        """
    def __delitem__(self, name: _Name, /) -> None:
        """Takes a link out; an object to which no other leads is deleted. KeyError: there is none."""
    def create_group(self, name: _Name | None, track_order: bool | None = None, *, track_times: bool = False) -> Group:
        """Makes a group, and those on the way that are missing. Without a name it is gone when the file is closed, unless
        a link to it is made. ValueError: the name exists.

        track_order : whether links and attributes are listed in the order in which they are created.
        """
    def require_group(self, name: _Name) -> Group:
        """The group of this name, made if it is not there. TypeError: it is something else."""
    def create_dataset(
        self,
        name: _Name | None,
        shape: int | Sequence[int] | None = None,
        dtype: Any = None,
        data: Any = None,
        *,
        chunks: bool | int | Sequence[int] | None = None,
        compression: Any = None,
        compression_opts: Any = None,
        shuffle: bool | None = None,
        fletcher32: bool | None = None,
        scaleoffset: int | bool | None = None,
        maxshape: int | Sequence[int | None] | None = None,
        fillvalue: Any = None,
        fill_time: str | None = None,
        track_times: bool | None = None,
        track_order: bool | None = None,
        external: Any = None,
        allow_unknown_filter: bool = False,
        compact: bool = False,
        skip_fill_chunks: bool | None = None,
        **others: Any,
    ) -> Dataset:
        """Makes a dataset, and the groups on the way that are missing. Arguments mean what they mean to h5py: without a
        name it is gone when the file is closed, unless a link to it is made.

        chunks : a shape, or True for one of about 1 MiB whose sides are alike; filters and ``maxshape`` ask for chunks.
        compression : "gzip", "lzf", a level of gzip (0 to 9), or a filter: ``Blosc2``, ``Blosc``, ``Zstd``, ``LZ4``,
            ``Bitshuffle``, those of hdf5plugin, or a registered number with ``compression_opts``.
        fillvalue : what elements hold that were never written.  maxshape : how far it may grow, None without limit.
        compact : store the elements in the object's header (less than 64 KiB).
        skip_fill_chunks : see ``Dataset.skip_fill_chunks``; None for what the file was opened with.

        ValueError: the name exists; shape, chunks or filters do not fit. TypeError: no such dtype or option.
        NotImplementedError: external files, virtual datasets, szip, scale-offset.
        """
    def create_dataset_like(self, name: _Name, other: Dataset, **kwds: Any) -> Dataset:
        """Makes a dataset like another in shape, dtype, chunks, filters and fill value, unless ``kwds`` say otherwise."""
    def require_dataset(
        self, name: _Name, shape: int | Sequence[int], dtype: DTypeLike, exact: bool = False, **kwds: Any
    ) -> Dataset:
        """The dataset of this name, made if it is not there. TypeError: it has another shape or dtype, or is none.

        kwds : as for ``create_dataset``; of a dataset that is there they change nothing, and only ``maxshape`` is compared.
        """
    def copy(
        self,
        source: _Name | HLObject,
        dest: _Name | HLObject,
        name: str | None = None,
        shallow: bool = False,
        expand_soft: bool = False,
        expand_external: bool = False,
        expand_refs: bool = False,
        without_attrs: bool = False,
    ) -> None:
        """Copies an object, groups with all that is in them, within the file or into another.

        dest : a name in this group, or a group, of any file open for writing, in which the copy gets ``name`` or else its own.
        shallow : the members of a group, but not theirs.  without_attrs : no attributes.
        expand_soft, expand_external : what links lead to in place of them.  expand_refs : objects that are referred to, too.
        """
    def move(self, source: _Name, dest: _Name) -> None:
        """Gives a link another name or place; what it leads to stays. ValueError, KeyError: as for the names."""
    def pop(self, key: _Name, default: Any = ...) -> Any:
        """Takes a member out and returns it; without such a one ``default``. KeyError: there is neither."""
    def popitem(self) -> tuple[str, Any]:
        """Takes a member out and returns its name and itself. KeyError: there is none."""
    def clear(self) -> None:
        """Takes out all members."""
    def setdefault(self, key: _Name, default: Any = None) -> Any:
        """The member of this name, which is ``default`` if there was none."""
    def update(self, other: Any = (), /, **kwds: Any) -> None:
        """``self[name] = value`` for each of a mapping's, of pairs, and of the keywords."""
    def _create_dataset(self, path: str | None, request: Any) -> Dataset: ...
    def _link(self, path: str, object: Any) -> None: ...
    def _commit(self, path: str, dtype: Any) -> None: ...
    def _copy(self, source: HLObject, path: str, flags: dict[str, bool]) -> None: ...
    def _names(self) -> list[str]: ...
    def _ipython_key_completions_(self) -> list[str]: ...

@final
class File(Group):
    """An open file, which is also its root group. Leaving a ``with`` block closes it.

    name : a path; an object with ``read`` and ``seek``; or the bytes of a file, which are copied. ``bytes`` with a zero
        byte among them, or the signature in front, are taken as the latter.
    mode : "r" to read; "r+" to change what is there; "w" to replace it; "x" (or "w-") to make it, where nothing may be;
        "a" for "r+" or "x".
    driver : None, "sec2" or "stdio" work on the file; "core" works on a copy in memory, which goes back to the file when it
        is flushed unless ``backing_store=False``; "fileobj" is for an object.
    libver : the oldest HDF5 that new objects are made for, or a pair of which this is the first: "earliest", "v108",
        "v110" (new files, if not said), "v112", "v114", "v200" or "latest".
    durability : "kill" (what was flushed survives the death of the program at any instruction) or "power" (and of the
        machine; each flush waits for the disk).
    locking : True, False, or "best-effort" (where the file system has locks: if not said). The environment variable
        HDF5_USE_FILE_LOCKING has the last word.
    skip_fill_chunks : True for what ``Dataset.skip_fill_chunks`` says, in all datasets of which nothing else is said.
    userblock_size, track_order : of a new file.  rdcc_nbytes : the budget for decoded chunks, of the whole file.
    h5py's keywords about libhdf5's own caches and buffers are accepted with a warning: they have no effect.
    NotImplementedError: ``swmr=True``.

    A file that this process has open, by whatever path, is opened once more: both are the same file, which closes with the
    last of them. "r" then gives "r+" where the other can change it; OSError: "r+" of a file that is open for reading, "w"
    of one that is open at all. A process that is forked from this one can read the file, as it was at the fork and
    as long as this one does not change it, and cannot change it itself (RuntimeError). BlockingIOError: another process has
    the file locked; the message names it.

    What was changed is in the file after ``flush``, ``close``, or the end of a ``with`` block: all of it, or nothing. Elements of
    datasets without filters are an exception: they are written in place, and after a crash each may be old or new.

    FileNotFoundError, PermissionError, OSError: as the system says. FormatError: not HDF5, or damaged.
    ValueError: unknown mode or driver. TypeError: unknown keyword.
    """

    def __new__(
        cls,
        name: _Path | _Readable | bytearray | memoryview,
        mode: str = "r",
        driver: str | None = None,
        libver: str | tuple[str, str] | None = None,
        **kwds: Any,
    ) -> Self: ...
    @classmethod
    def in_memory(cls, file_image: bytes | bytearray | memoryview | None = None, **kwds: Any) -> File:
        """A file to read whose bytes are given, which are copied; without them a new one to write."""
    def close(self) -> None:
        """Gets what was changed into the file and closes it. Every object of it becomes unusable."""
    def flush(self) -> None:
        """Gets what was changed into the file, all or nothing: from here on it survives what ``durability`` says."""
    def refresh(self) -> None:
        """Looks at a file again that another program extends: all objects show what is there now.

        Open it with ``locking=False``: a lock keeps the other program out. In a file that this process can change there is
        nothing to do. OSError: another file was written in its place.
        """
    def transaction(self) -> Transaction:
        """For a ``with`` block: what is done in it is committed at its end, or taken back if an exception leaves it.

        Elements without filters are written in place: they are not taken back.
        """
    def _begin(self) -> None: ...
    def _end(self, is_kept: bool) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        *_args: type[BaseException] | BaseException | TracebackType | None,
    ) -> None: ...
    @property
    def filename(self) -> str:
        """The name under which the file was opened."""
    @property
    def mode(self) -> str:
        """ "r", or "r+" where the file can be changed."""
    @property
    def driver(self) -> str:
        """The driver: "sec2", "stdio", "core" or "fileobj"."""
    @property
    def libver(self) -> tuple[str, str]:
        """The version bounds that were asked for; they mean nothing to a reader."""
    @property
    def userblock_size(self) -> int:
        """Bytes before the file's own."""
    @property
    def meta_block_size(self) -> int:
        """libhdf5's default; it means nothing to a reader."""
    @property
    def swmr_mode(self) -> bool:
        """Always False. NotImplementedError: it is set to True."""
    @swmr_mode.setter
    def swmr_mode(self, is_on: bool, /) -> None: ...

@final
class Datatype(HLObject):
    """A datatype that is an object of the file."""

    @property
    def dtype(self) -> _DType:
        """The dtype. TypeError: NumPy has none for it."""

@final
class Dataset(HLObject):
    """A stored array. Reading any part of it gives a new NumPy array.

    The GIL is released while data are read, and chunks are decoded by several threads.
    """

    def __getitem__(self, args: _Index, /) -> Any:
        """Reads a part of the dataset.

        args : integers, slices with positive steps, an ellipsis; one list or array of rising integers, or a mask along
            one axis; or one mask of the whole shape. Names of fields pick members of a compound.
        Returns an array of the shape that NumPy's rules give (1-D for a mask of the whole shape), a NumPy scalar where
            every index is an integer, ``Empty`` for a dataset without a dataspace.

        IndexError: out of range. ValueError: too many indices, a step below 1, an unknown field.
        TypeError: any other index. FormatError: the file is damaged there.
        """
    @property
    def shape(self) -> tuple[int, ...] | None:
        """The length of each axis; () for a scalar, None for an empty dataset."""
    @property
    def dtype(self) -> _DType:
        """The dtype, marked as h5py does for strings, enumerations and references. TypeError: NumPy has none."""
    @property
    def ndim(self) -> int:
        """The number of axes."""
    @property
    def size(self) -> int | None:
        """The number of elements; None for an empty dataset."""
    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory."""
    @property
    def maxshape(self) -> tuple[int | None, ...] | None:
        """The most each axis may grow to, None meaning without limit."""
    @property
    def chunks(self) -> tuple[int, ...] | None:
        """The shape of a chunk; None if the dataset is not stored in chunks."""
    @property
    def compression(self) -> str | None:
        """ "gzip", "lzf", "szip", "unknown" for another filter, or None."""
    @property
    def compression_opts(self) -> int | tuple[str, int] | None:
        """gzip's level, szip's method and block size, or None."""
    @property
    def shuffle(self) -> bool:
        """Whether bytes are shuffled."""
    @property
    def fletcher32(self) -> bool:
        """Whether chunks carry a checksum."""
    @property
    def scaleoffset(self) -> int | None:
        """The bits or decimal places that the scale-offset filter keeps, or None."""
    @property
    def filter_ids(self) -> tuple[int, ...]:
        """The registered numbers of the filters, in the order in which a writer applies them."""
    @property
    def filter_names(self) -> tuple[str, ...]:
        """The names of the filters."""
    @property
    def skip_fill_chunks(self) -> bool:
        """Whether chunks that hold nothing but the fill value are left out when they are written; one that was stored is taken
        out. While the file is open: the file does not say it. Without effect where space is allocated early, or with
        ``fill_time="never"``, as other readers would not find the fill value."""
    @skip_fill_chunks.setter
    def skip_fill_chunks(self, skips: bool) -> None: ...
    @property
    def fillvalue(self) -> Any:
        """What elements hold that were never written."""
    @property
    def is_virtual(self) -> bool:
        """Whether the elements are those of other datasets. Reading such a dataset is not supported yet."""
    @property
    def external(self) -> list[tuple[str, int, int]] | None:
        """Name, offset and size of each external file that holds elements (2**64 - 1: as much as there is), or None."""
    @property
    def is_scale(self) -> bool:
        """Whether this is a dimension scale."""
    @property
    def dims(self) -> DimensionManager:
        """The axes: their labels, and the dimension scales attached to them."""
    @property
    def regionref(self) -> RegionProxy:
        """About references to parts of the dataset."""
    @property
    def id(self) -> DatasetID:
        """The chunks, as they are stored."""
    def len(self) -> int:
        """The length of the first axis. TypeError: a scalar."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]:
        """Yields ``dataset[0]``, ``dataset[1]`` and so on. TypeError: a scalar."""
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> _Array:
        """The whole dataset as a new array. ValueError: ``copy=False``."""
    def read_direct(
        self, dest: _Array, source_sel: _Selection | None = None, dest_sel: _Selection | None = None
    ) -> None:
        """Reads into an array of any dtype and strides, the whole or the part ``dest_sel`` of it.

        Elements are converted as HDF5 does. TypeError: the shapes do not fit, even by broadcasting.
        """
    def read(self, sel: _Selection | None = None, out: _Array | None = None, threads: int | None = None) -> _Array:
        """Reads a part of the dataset into a new array, or into ``out``; returns the array, also of one element.

        sel : as between brackets, without names of fields; all if None.
        out : an array of the result's shape, of any dtype and strides. No other thread may use it meanwhile.
        threads : how many, the caller's included; by default what ``get_threads`` says.

        TypeError: ``out`` has another shape.
        """
    def read_many(
        self, selections: Iterable[_Selection], out: list[_Array] | None = None, threads: int | None = None
    ) -> list[_Array]:
        """Reads several parts at once; a chunk that several of them touch is decoded once.

        out : one array for each selection. Returns one array for each, in their order.
        """
    def plan(self, sel: _Selection | None = None) -> ReadPlan:
        """What reading a part will do. No data are read."""
    def astype(self, dtype: DTypeLike) -> Any:
        """A view that reads as another dtype, converting as HDF5 does. TypeError: there is no conversion."""
    def asstr(self, encoding: str | None = None, errors: str = "strict") -> AsStrView:
        """A view that reads strings as ``str``. TypeError: the elements are no strings."""
    def fields(self, names: str | Iterable[str]) -> FieldsView:
        """A view that reads some members of a compound, one alone if ``names`` is a string. ValueError: no such member."""
    def iter_chunks(self, sel: slice | int | tuple[slice | int, ...] | None = None) -> ChunkIterator:
        """For each chunk that a region touches, the part of the region in it, as a tuple of slices.

        TypeError: not stored in chunks. ValueError: the region leaves the dataset, or is empty.
        """
    def refresh(self) -> None:
        """Looks at the file again, as ``File.refresh`` does: at all of it, not at this dataset alone."""
    def flush(self) -> None:
        """Gets everything that was changed into the file, as ``File.flush`` does."""
    def __setitem__(self, key: _Index, value: Any, /) -> None:
        """Writes elements, broadcast and converted as NumPy and h5py do. Whole chunks are encoded on all cores.

        TypeError: shapes or dtypes that do not fit. OSError: the file is open for reading.
        """
    def write_direct(
        self, source: Any, source_sel: _Selection | None = None, dest_sel: _Selection | None = None
    ) -> None:
        """Writes from an array: a part of it to a part of the dataset."""
    def resize(self, size: int | Sequence[int], axis: int | None = None) -> None:
        """Gives the dataset another shape, or another length along one axis; within ``maxshape``.

        TypeError: not stored in chunks. ValueError: beyond ``maxshape``, or no such axis.
        """
    def make_scale(self, name: _Name | None = None) -> None:
        """Makes the dataset a dimension scale, or gives one another name. RuntimeError: it has scales itself."""
    @property
    def _track_order(self) -> bool: ...
    def _write(self, sel: Any, array: _Array, shape: tuple[int, ...]) -> None: ...
    def _shape_of(self, sel: Any = None) -> tuple[tuple[int, ...], tuple[int, ...]]: ...

@type_check_only
class _View:
    """What the views of a dataset share."""

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of the dataset."""
    @property
    def ndim(self) -> int:
        """The number of axes."""
    @property
    def size(self) -> int | None:
        """The number of elements."""
    def __getitem__(self, args: _Index, /) -> Any: ...
    def __len__(self) -> int: ...
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> _Array: ...

@final
class AsTypeView(_View):
    """A dataset read as another dtype."""

    @property
    def dtype(self) -> _DType:
        """That dtype."""

@final
class AsStrView(_View):
    """A dataset of strings read as ``str``."""

    @property
    def encoding(self) -> str:
        """How strings are decoded."""
    @property
    def errors(self) -> str:
        """What is done with bytes that cannot be decoded, as for ``bytes.decode``."""
    @property
    def dtype(self) -> _DType:
        """The dtype of Python objects."""

@final
class FieldsView(_View):
    """Some members of a compound dataset."""

    @property
    def dtype(self) -> _DType:
        """The dtype of the member, or of the record of members."""

@final
class ChunkIterator:
    """Yields tuples of slices, one for each chunk."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[slice, ...]: ...

@final
class ReadPlan:
    """What a read will do. As text, one line for each chunk."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is read."""
    @property
    def chunks(self) -> int:
        """How many chunks (or runs of rows, if the dataset has none) will be read."""
    @property
    def bytes(self) -> int:
        """Their stored bytes."""
    @property
    def read_bytes(self) -> int:
        """Those that will be read: none of chunks in memory, of unfiltered ones what is wanted, of large Blosc chunks that
        are wanted in part at least the first."""
    @property
    def result_bytes(self) -> int:
        """Bytes of the result."""
    @property
    def threads(self) -> int:
        """How many threads will work."""
    def to_json(self) -> str:
        """All of it as JSON."""

@final
class AttributeManager:
    """The attributes of an object: a mapping from names to values."""

    def __getitem__(self, name: _Name, /) -> Any:
        """The value: a scalar or an array, ``str`` for strings of variable length, ``Empty`` without a dataspace.

        KeyError: there is none of that name.
        """
    def __contains__(self, name: _Name, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __reversed__(self) -> Iterator[str]: ...
    def keys(self) -> KeysViewHDF5:
        """The names."""
    def values(self) -> ValuesViewHDF5:
        """The values."""
    def items(self) -> ItemsViewHDF5:
        """Names with values."""
    def get(self, name: _Name, default: Any = None) -> Any:
        """The value, or ``default``."""
    def get_id(self, name: _Name) -> AttrID:
        """The attribute's shape and dtype."""
    def __setitem__(self, name: _Name, value: Any, /) -> None:
        """Makes an attribute, in place of one that has its name. OSError: the file is open for reading."""
    def __delitem__(self, name: _Name, /) -> None:
        """Takes an attribute away. KeyError: there is none."""
    def create(self, name: _Name, data: Any, shape: Any = None, dtype: Any = None) -> None:
        """Makes an attribute of this shape and dtype, in place of one that has its name."""
    def modify(self, name: _Name, value: Any) -> None:
        """Changes a value and keeps its dtype and shape; makes the attribute if it is not there."""
    def rename(self, source: _Name, dest: _Name) -> None:
        """Gives an attribute another name. KeyError: there is none. ValueError: there is one of that name."""
    def pop(self, key: _Name, default: Any = ...) -> Any:
        """Takes an attribute away and returns its value; without such a one ``default``. KeyError: there is neither."""
    def popitem(self) -> tuple[str, Any]:
        """Takes an attribute away and returns its name and value. KeyError: there is none."""
    def clear(self) -> None:
        """Takes away all attributes."""
    def setdefault(self, key: _Name, default: Any = None) -> Any:
        """The attribute of this name, which is ``default`` if there was none."""
    def update(self, other: Any = (), /, **kwds: Any) -> None:
        """``self[name] = value`` for each of a mapping's, of pairs, and of the keywords."""
    def _set(self, name: str, shape: list[int] | None, dtype: Any, data: _Array | None) -> None: ...
    def _ipython_key_completions_(self) -> list[str]: ...

@final
class AttrID:
    """What h5py calls the low-level identifier of an attribute."""

    @property
    def name(self) -> bytes:
        """Its name."""
    @property
    def shape(self) -> tuple[int, ...] | None:
        """Its shape; None without a dataspace."""
    @property
    def dtype(self) -> _DType:
        """Its dtype."""
    def get_name(self) -> bytes:
        """Its name."""
    def get_storage_size(self) -> int:
        """Its stored bytes."""

@disjoint_base
class ObjectID:
    """What h5py calls a low-level identifier. Equal for the same object of the same file."""

    @property
    def valid(self) -> bool:
        """Whether the file is open."""
    @property
    def id(self) -> int:
        """The address of the object in the file."""
    @property
    def name(self) -> bytes | None:
        """The path of the object."""
    def __bool__(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class FileID(ObjectID):
    """The identifier of a file."""

    def get_filesize(self) -> int:
        """Bytes of the file."""
    def get_file_image(self) -> bytes:
        """The bytes of the file, with everything that was changed so far."""

@final
class GroupID(ObjectID):
    """The identifier of a group."""

@final
class TypeID(ObjectID):
    """The identifier of a committed datatype."""

    @property
    def dtype(self) -> _DType:
        """The dtype."""

@final
class DatasetID(ObjectID):
    """The identifier of a dataset: its chunks, as they are stored.

    RuntimeError: a method about chunks, and the dataset is not stored in chunks.
    """

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of the dataset."""
    @property
    def dtype(self) -> _DType:
        """The dtype of the dataset."""
    @property
    def rank(self) -> int:
        """The number of axes."""
    def get_num_chunks(self) -> int:
        """How many chunks are stored."""
    def get_chunk_info(self, index: int) -> StoreInfo:
        """The stored chunk number ``index``. ValueError: there are not so many."""
    def get_chunk_info_by_coord(self, chunk_offset: tuple[int, ...]) -> StoreInfo:
        """The chunk that holds an element; all None if it is not stored. TypeError: too few or too many coordinates."""
    def chunk_iter(self, func: Callable[[StoreInfo], _T | None]) -> _T | None:
        """Calls ``func`` for every stored chunk; stops when it returns something else than None, and returns that."""
    @overload
    def read_direct_chunk(self, offsets: Iterable[int], out: None = None) -> tuple[int, bytes]: ...
    @overload
    def read_direct_chunk(self, offsets: Iterable[int], out: bytearray | memoryview | _Array) -> tuple[int, memoryview]:
        """The filter mask and the stored bytes of the chunk that begins at ``offsets``, not decoded.

        out : a writable buffer for them, at least as long; then a view of what was written is returned.
        RuntimeError: it is not stored. ValueError: ``out`` is too short. OSError: no chunk begins there.
        """
    def write_direct_chunk(self, offsets: Iterable[int], data: Any, filter_mask: int = 0) -> None:
        """Stores a chunk that is filtered already. ``filter_mask``: bit i for filter i that was left out."""
    def get_storage_size(self) -> int:
        """Stored bytes of all elements."""
    def get_offset(self) -> int | None:
        """Where in the file contiguous elements begin; None for any other layout, and before they are written."""

@disjoint_base
class Reference:
    """A reference to an object of a file. False if it refers to nothing."""

    def __new__(cls) -> Self: ...
    @property
    def typecode(self) -> Literal[0, 1]:
        """0 for a reference to an object, 1 for one to a region."""
    def __bool__(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class RegionReference(Reference):
    """A reference to a part of a dataset."""

    def __new__(cls) -> Self: ...

@final
class HardLink:
    """A link to an object of the same file."""

    def __new__(cls) -> Self: ...

@final
class SoftLink:
    """A link to a path of the same file."""

    def __new__(cls, path: str) -> Self: ...
    @property
    def path(self) -> str:
        """The path, which need not lead anywhere."""

@final
class ExternalLink:
    """A link to a path of another file."""

    def __new__(cls, filename: str | os.PathLike[str], path: str) -> Self: ...
    @property
    def filename(self) -> str:
        """The other file, as the link names it."""
    @property
    def path(self) -> str:
        """The path in it."""

@final
class Empty:
    """What a dataset or an attribute without a dataspace holds: a dtype, and nothing of it."""

    def __new__(cls, dtype: DTypeLike) -> Self: ...
    @property
    def dtype(self) -> _DType:
        """The dtype."""
    @property
    def shape(self) -> None:
        """None."""
    @property
    def size(self) -> None:
        """None."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
