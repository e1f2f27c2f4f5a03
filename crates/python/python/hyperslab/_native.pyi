"""The classes of the package. Their names and meanings are h5py's; what differs is said here.

Over 600 lines, as one stub file stands for one extension module."""

import os
from collections.abc import Callable, Iterable, Iterator
from types import EllipsisType, TracebackType
from typing import (
    Any,
    Literal,
    NoReturn,
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
    def get(self, name: _Name | Reference, default: Any = None, getclass: bool = False, getlink: bool = False) -> Any:
        """The member at a path, or ``default``.

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
    def __setitem__(self, _name: Any, _object: Any, /) -> NoReturn:
        """ValueError: files are opened for reading."""
    def __delitem__(self, _name: Any, /) -> NoReturn:
        """KeyError: files are opened for reading."""
    def create_group(self, *_args: Any, **_kwds: Any) -> NoReturn:
        """ValueError: files are opened for reading."""
    def create_dataset(self, *_args: Any, **_kwds: Any) -> NoReturn:
        """ValueError: files are opened for reading."""
    def move(self, *_args: Any, **_kwds: Any) -> NoReturn:
        """ValueError: files are opened for reading."""
    def _names(self) -> list[str]: ...
    def _ipython_key_completions_(self) -> list[str]: ...

@final
class File(Group):
    """An open file, which is also its root group. Leaving a ``with`` block closes it.

    name : a path; an object with ``read`` and ``seek``; or the bytes of a file, which are copied. ``bytes`` with a zero
        byte among them, or the signature in front, are taken as the latter.
    mode : only "r"; another of h5py's raises NotImplementedError.
    driver : None, "sec2" or "stdio" read from the file; "core" reads it into memory first; "fileobj" is for an object.
    libver, kwds : accepted as h5py does. ``rdcc_nbytes`` is the budget for decoded chunks, of the whole file.

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
    def in_memory(cls, file_image: bytes | bytearray | memoryview, **kwds: Any) -> File:
        """A file whose bytes are given. They are copied."""
    def close(self) -> None:
        """Closes the file. Every object of it becomes unusable."""
    def flush(self) -> None:
        """Does nothing: the file is open for reading."""
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
        """Always "r"."""
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
        """Always False."""

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
    def fillvalue(self) -> Any:
        """What elements hold that were never written."""
    @property
    def is_virtual(self) -> bool:
        """Whether the elements are those of other datasets. Reading such a dataset is not supported yet."""
    @property
    def external(self) -> list[tuple[str, int, int]] | None:
        """Name, offset and size of each external file that holds elements, or None."""
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
        """Does nothing: what was read of the file is kept."""
    def flush(self) -> None:
        """Does nothing: nothing waits to be written."""
    def __setitem__(self, _args: Any, _value: Any, /) -> NoReturn:
        """OSError: files are opened for reading."""
    def write_direct(self, *_args: Any, **_kwds: Any) -> NoReturn:
        """OSError: files are opened for reading."""
    def resize(self, *_args: Any, **_kwds: Any) -> NoReturn:
        """RuntimeError: files are opened for reading. TypeError: not stored in chunks."""
    def make_scale(self, *_args: Any, **_kwds: Any) -> NoReturn:
        """RuntimeError: files are opened for reading."""

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
        """Their stored bytes. Of unfiltered and of Blosc chunks, less may be read."""
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
    """The attributes of an object: a read-only mapping from names to values."""

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
    def __setitem__(self, _name: Any, _value: Any, /) -> NoReturn:
        """OSError: files are opened for reading."""
    def __delitem__(self, _name: Any, /) -> NoReturn:
        """KeyError: files are opened for reading."""
    def create(self, *_args: Any, **_kwds: Any) -> NoReturn:
        """OSError: files are opened for reading."""
    def modify(self, *_args: Any, **_kwds: Any) -> NoReturn:
        """OSError: files are opened for reading."""
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
