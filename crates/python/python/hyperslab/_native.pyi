"""The native classes of the package. Names and meanings are those of h5py, unless a docstring says otherwise.

`scripts/stub_docs.py` copies the docstrings from the built package. Over 600 lines, because one stub file
describes one extension module.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from types import EllipsisType, TracebackType
from typing import (
    Any,
    ClassVar,
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
from ._collective import CollectiveContext
from ._dims import DimensionManager
from ._filters import Filter
from ._mapping import ItemsViewHDF5, KeysViewHDF5, ValuesViewHDF5
from ._pytables import EArray, VLArray
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
    "_ArrowRows",
    "_AxisNames",
    "_Calculation",
    "_NewRow",
    "_PlainRows",
    "_PointList",
    "_Query",
    "_RegionProxy",
    "_Scan",
    "_append_bytes",
    "_append_rows",
    "_attach_scale",
    "_auto_chunks",
    "_axis_label",
    "_check",
    "_changing_rows",
    "_check_operand",
    "_create_index",
    "_index_facts",
    "_index_in_order",
    "_index_search",
    "_index_unusable",
    "_indexed_columns",
    "_indexes_follow",
    "_keeping_rows",
    "_make_table",
    "_names_of",
    "_mark_file",
    "_rebuild_index",
    "_reference_arrays",
    "_references",
    "_removals",
    "_remove_index",
    "_remove_rows",
    "_row_count_changed",
    "_rows_changed",
    "_scale_name",
    "_scales",
    "_search_plugins",
    "_search_plugins_no_more",
    "_segy_describe",
    "_segy_export",
    "_segy_extract",
    "_segy_ingest",
    "_segy_scan",
    "_set_axis_label",
    "_set_indexes_follow",
    "_update_indexes",
    "_waiting_rows",
    "disable_plugins",
    "get_threads",
    "load_plugins",
    "register_filter",
    "run_cli",
    "set_threads",
    "unregister_filter",
    "_decode_datatype",
    "_describe_dtype",
    "_described_dtype",
    "_described_size",
    "_encode_datatype",
    "_filter_facts",
    "_filter_in_words",
    "_handle_counts",
    "_converted",
    "_item_type",
    "_link_facts",
    "_object_facts",
    "_order_facts",
    "_stand_in",
    "_track_order",
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
    """Sets the number of threads of each read and write, including the caller.

    Reads that have started keep their number. The argument `threads` of a read replaces the number for that
    read. At first, the number is the value of the environment variable HYPERSLAB_THREADS. Without the
    variable, the number is the number of processors that the process may use.

    The process starts at most 256 threads besides that of the caller. With a larger number, the parts of the
    work take turns on them.

    Args:
        threads: The number of threads, at least 1. 1 leaves all work to the caller.

    Raises:
        TypeError: `threads` is not an integer.
        ValueError: `threads` is less than 1.

    Example:
        >>> hs.set_threads(4)
        >>> hs.get_threads()
        4
    """

def get_threads() -> int:
    """Returns the number of threads of each read and write, including the caller.

    Returns:
        The number of threads. It is the value of the last `set_threads`, or else the default at the start of
        the process (see `set_threads`).

    Example:
        >>> hs.set_threads(2)
        >>> hs.get_threads()
        2
    """

def _decode_datatype(bytes: bytes) -> tuple[Any, ...]: ...
def _describe_dtype(dtype: DTypeLike) -> tuple[Any, ...]: ...
def _described_dtype(description: tuple[Any, ...]) -> _DType: ...
def _described_size(description: tuple[Any, ...]) -> int: ...
def _encode_datatype(description: tuple[Any, ...]) -> bytes: ...
def _handle_counts(object: HLObject | None = None) -> list[int]: ...
def _link_facts(group: Group, name: str) -> tuple[int, int | None, bool, Any]: ...
def _object_facts(
    object: HLObject,
) -> tuple[int, int, int, tuple[int, int, int], int | None, str | None, int]: ...
def _order_facts(object: HLObject) -> tuple[bool, bool, tuple[int, int], bool]: ...
def _stand_in() -> None: ...
def _track_order(is_on: bool | None) -> bool: ...
def _filter_facts(id: int) -> tuple[str, bool, bool]: ...
def _filter_in_words(words: str) -> tuple[int, list[int]]: ...
def register_filter(
    id: int,
    decode: Callable[[bytes, tuple[int, ...], int], Any],
    encode: Callable[[bytes, tuple[int, ...]], Any] | None = None,
) -> None:
    """Registers functions that decode and encode the chunks of a filter that the package does not have.

    All files find them from then on. They are called in any thread, with the interpreter's lock, so they run
    one at a time. An exception that they raise is raised by the read or write.

    Args:
        id: The registered number of the filter, from 256 to 65535.
        decode: A function that gets the stored bytes, the client data of the filter as a tuple of
            integers, and the number of bytes of a chunk. It returns the decoded bytes, as any object with
            the buffer protocol.
        encode: A function that gets the bytes of a chunk and the client data. It returns the bytes to
            store, or None to store the chunk without the filter. Without this function, chunks can only
            be read.

    Raises:
        ValueError: The package has a filter of this number, or the number is out of range.
        TypeError: An argument cannot be called.

    Example:
        >>> hs.register_filter(400, lambda data, options, size: data[::-1], lambda data, options: data[::-1])
        >>> file.create_dataset("turned", data=np.arange(9), chunks=(3,), compression=400).filter_ids
        (400,)
        >>> hs.unregister_filter(400)
    """

def unregister_filter(id: int) -> None:
    """Forgets the functions of a filter that `register_filter` has registered.

    Args:
        id: The number of the filter.

    Raises:
        KeyError: No functions have this number.

    Example:
        >>> hs.register_filter(400, lambda data, options, size: data)
        >>> hs.unregister_filter(400)
    """

def _search_plugins(folder: str | os.PathLike[str], first: bool) -> None: ...
def _search_plugins_no_more(folder: str | os.PathLike[str]) -> None: ...
def load_plugins(path: str | os.PathLike[str] | None = None) -> dict[int, str]:
    """Loads compiled filter plug-ins of HDF5, so that their filters read and write in all files.

    A plug-in is a shared library that exports `H5PLget_plugin_info`. Its code runs in this process, so load
    only what you trust. After `import hdf5plugin`, the filters of that package are found without this
    function. Filters that hyperslab has itself are not replaced. Linux only.

    Args:
        path: A library, or a folder of libraries. Without it, the plug-ins of the installed package
            hdf5plugin are loaded, without importing the package.

    Returns:
        The number and the name of each filter that was loaded.

    Raises:
        OSError: The file is no plug-in, the folder cannot be read, or plug-ins are switched off.
        ImportError: `path` is left out, and hdf5plugin is not installed.

    Example:
        >>> hs.load_plugins()[32017][:13]  # doctest: +SKIP
        'SZ compressor'
    """

def disable_plugins() -> None:
    """Loads no compiled plug-ins from now on. Filters that are loaded stay.

    The environment variable `HDF5_PLUGIN_PRELOAD` with the value `::` does the same for a whole process.

    Example:
        >>> hs.disable_plugins()  # doctest: +SKIP
    """

def _auto_chunks(shape: list[int], max_shape: list[int | None] | None, element_size: int) -> list[int]: ...
def _check(
    file: Any, data: bool, progress: Callable[[int, int], object] | None
) -> list[tuple[Literal["note", "warning", "error"], str, str, str, int | None, str | None]]: ...
def _create_index(
    dataset: Dataset,
    column: str,
    kind: str,
    optlevel: int,
    filters: list[tuple[int, list[int]]] | None,
    tmp: str | os.PathLike[str] | None,
    sizes: list[int] | None,
    progress: Callable[[int, int], object] | None,
) -> None: ...
def _remove_index(dataset: Dataset, column: str) -> bool: ...
def _rebuild_index(dataset: Dataset, column: str, only_stale: bool) -> bool: ...
def _update_indexes(dataset: Dataset) -> None: ...
def _indexed_columns(dataset: Dataset) -> list[str]: ...
def _indexes_follow(dataset: Dataset) -> bool: ...
def _set_indexes_follow(dataset: Dataset, follow: bool) -> None: ...
def _index_facts(dataset: Dataset, column: str) -> tuple[str, int, bool, int, bool]: ...
def _index_unusable(dataset: Dataset, column: str) -> str | None: ...
def _index_in_order(dataset: Dataset, column: str, start: int, stop: int) -> NDArray[np.uint64]: ...
def _index_search(
    dataset: Dataset, column: str, lower: bytes | None, upper: bytes | None
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]: ...
def _references(
    group: Group,
    url: str | None,
    inline: int,
    embed: int,
    split: int,
    imagecodecs: bool,
    progress: Callable[[int, int], object] | None,
) -> tuple[dict[str, str | list[str | int]], list[tuple[str, str]]]: ...
def _reference_arrays(
    group: Group, url: str | None, embed: int, split: int, imagecodecs: bool
) -> tuple[
    list[tuple[str, str]],
    list[tuple[str, str, str, list[NDArray[np.uint64]], list[str], list[tuple[int, bytes]]]],
    list[tuple[str, str]],
]: ...
def _converted(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]: ...
def _item_type(value: Any, other: Callable[[Any], Any]) -> tuple[Any, bool]: ...

@final
class _AxisNames:
    def __new__(cls, file: Group) -> Self: ...
    def of(self, group: Group, name: str) -> list[str] | None: ...

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
def _segy_extract(file: File, axis: str, number: SupportsIndex | float, to: str | os.PathLike[str]) -> None: ...
def _segy_describe(file: File) -> dict[str, Any]: ...
def _segy_scan(path: str | os.PathLike[str], taking: dict[str, Any]) -> dict[str, Any]: ...
def _make_table(dataset: Dataset, title: str, defaults: _Array) -> None: ...
def _append_bytes(dataset: Dataset, rows: bytes) -> int: ...
def _append_rows(dataset: Dataset, rows: _Array) -> int: ...
def _keeping_rows(dataset: Dataset, call: Callable[[], _T]) -> _T: ...
def _changing_rows(dataset: Dataset, call: Callable[[], _T]) -> _T: ...
def _removals(dataset: Dataset) -> int: ...
def _remove_rows(dataset: Dataset, start: int, stop: int, step: int) -> int: ...
def _mark_file(object: HLObject) -> None: ...
def _row_count_changed(dataset: Dataset) -> None: ...
def _rows_changed(dataset: Dataset, columns: list[str] | None) -> None: ...
def _waiting_rows(dataset: Dataset) -> Any: ...

@final
class _Calculation:
    def __new__(cls, text: str, operands: dict[str, Any], rows: tuple[int, int, int] | None = None) -> Self: ...
    def outline(self) -> tuple[tuple[int, ...], str]: ...
    def run_into(self, out: np.ndarray[Any, Any]) -> None: ...
    def run_to(self, out: Dataset, rows: tuple[int, int, int] | None = None) -> None: ...

def _names_of(text: str) -> list[str]: ...
def _check_operand(dtype: _DType) -> None: ...

@final
class _Query:
    def __new__(cls, dataset: Dataset, condition: str, variables: dict[str, Any]) -> Self: ...
    def rows(self, start: int, stop: int, limit: int | None = None) -> np.ndarray[Any, np.dtype[np.int64]]: ...
    def count(self, start: int, stop: int) -> int: ...
    def explain(self, start: int, stop: int) -> str: ...
    def indexes(self, start: int, stop: int) -> list[str]: ...

@final
class _RegionProxy:
    def __getitem__(self, key: Any, /) -> RegionReference: ...
    def shape(self, ref: Reference) -> tuple[int, ...]: ...
    def selection(self, ref: RegionReference) -> tuple[int, ...] | None: ...
    def _stored(self, ref: RegionReference) -> tuple[str, list[list[int]]]: ...

@final
class _PointList:
    def __new__(cls, coordinates: NDArray[np.uint64]) -> Self: ...

@final
class _PlainRows:
    def __new__(cls, columns: list[tuple[str, int, str]], size: int) -> Self: ...
    def packed(self, rows: list[Any]) -> bytes | None: ...

@final
class _Scan:
    def __new__(
        cls,
        dataset: Dataset,
        query: _Query | None,
        columns: list[str] | None,
        rows: tuple[int, int, int],
        limit: int | None,
        batch_rows: int | None,
        forms: tuple[bool, bool],
        requested: Any,
    ) -> Self: ...
    def stream(self) -> Any: ...
    def schema(self) -> Any: ...

@final
class _ArrowRows:
    def __new__(cls, source: Any) -> Self: ...
    def described(self) -> list[Any]: ...
    def append_to(self, dataset: Dataset, defaults: _Array) -> int: ...
    def take_back(self, dataset: Dataset) -> None: ...

@disjoint_base
class _NewRow:
    def __new__(cls, dataset: Dataset, columns: list[tuple[str, int, str]], default: bytes, capacity: int) -> Self: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def append(self) -> None:
        """Appends the row, and starts the next one.

        Example:
            >>> readings.row["temp"] = 292
            >>> readings.row.append()
            >>> readings.read()["temp"][-1]
            np.float64(292.0)
        """
    def _write(self) -> None: ...
    def _len(self) -> int: ...
    def _filled(self) -> bytes: ...
    def _fill(self, bytes: bytes) -> None: ...

def run_cli(args: list[str]) -> int:
    """Runs the command `hyperslab` in this process and returns its exit code.

    The command writes to the standard output and the standard error of the process, not to `sys.stdout` and
    `sys.stderr`. The GIL is released. An interrupt (Ctrl-C) does not stop the command, unless its signal has
    the default action of the system, `signal.SIG_DFL`: then it ends the process, and incomplete files are
    removed.

    Args:
        args: The arguments of the command. The first is the name of the program.

    Returns:
        The exit code: 0 for success, 1 for a failure on the file, 2 for wrong usage.

    Example:
        >>> from hyperslab._native import run_cli
        >>> run_cli(["hyperslab", "diff", "climate.h5", "climate.h5"])
        0
    """

@disjoint_base
class HLObject:
    """An object of a file: a group, a dataset, a committed datatype or the file itself.

    Objects are obtained from a file. Two objects are equal if they are the same object of
    the same file, whatever path led to them, and equal objects have equal hashes. The truth value of an
    object is True while the file is open.

    After the file is closed, `name` is None. Facts that the object has in memory remain: its hash, `id`, and
    the `shape`, `dtype` and storage of a dataset. Every other use of the object raises `ClosedError`. That is
    also a KeyError, so `get` and `pop` of a mapping return a default that is given. The use of an object that
    was deleted raises KeyError.

    Programs may set attributes of their own on an object.

    A handle of a file that was opened for reading by path can be pickled: the process that unpickles the
    handle opens the file again. Any other handle raises TypeError.

    Example:
        >>> file["stations"] == stations
        True
        >>> dataset.parent == group
        True
        >>> bool(dataset)
        True
    """

    @property
    def file(self) -> File:
        """The file that holds the object. For an object behind an external link, it is the other file.

        Every access gives a new `File` for the same opening of the file. `close` of one closes all.

        Example:
            >>> dataset.file == file
            True
            >>> dataset.file.mode
            'r+'
        """
    @property
    def name(self) -> str | None:
        """The path by which the object was reached.

        For an object reached by a reference, it is the first path that leads to the object. It is None if no
        path leads to the object, and after the object was deleted or the file is closed.

        Example:
            >>> dataset.name
            '/surface/t2m'
            >>> file.create_group(None).name is None
            True
        """
    @property
    def parent(self) -> Group:
        """The group that holds the object: the group at `name` without its last part.

        The parent of the root group is the root group.

        Raises:
            ValueError: No path leads to the object.
            KeyError: The group no longer exists.

        Example:
            >>> dataset.parent
            <HDF5 group "/surface" (1 members)>
        """
    @property
    def attrs(self) -> AttributeManager:
        """The attributes of the object, a mapping from names to values.

        Example:
            >>> dataset.attrs["units"]
            'K'
            >>> file.attrs["title"] = "Stations"
            >>> list(file.attrs)
            ['title']
        """
    @property
    def ref(self) -> Reference:
        """A reference to the object. `file[reference]` gives the object again.

        References can be stored in datasets and attributes, with the dtype `ref_dtype`.

        Example:
            >>> reference = dataset.ref
            >>> file[reference].name
            '/surface/t2m'
        """
    @property
    def regionref(self) -> _RegionProxy:
        """References to parts of datasets: `dataset.regionref[selection]` makes one.

        The methods `regionref.shape(ref)` and `regionref.selection(ref)` return the shape of the dataset of a
        reference, and the shape of the part.

        Example:
            >>> part = dataset.regionref[0]
            >>> dataset[part].shape, dataset.regionref.selection(part)
            ((1, 2, 3), (1, 2, 3))
        """
    @property
    def id(self) -> Any:
        """The low-level identifier of the object, as h5py calls it.

        It can be obtained after the file is closed. It is a `FileID`, `GroupID`, `DatasetID` or `TypeID`.

        Example:
            >>> dataset.id.get_num_chunks()
            4
            >>> group.id.name
            b'/surface'
        """
    @property
    def _id(self) -> Any: ...
    def __bool__(self) -> bool:
        """Returns True if the object is open."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def _repr_html_(self) -> str: ...
    def _reopening(self) -> tuple[str, dict[str, Any]] | None: ...
    def __dask_tokenize__(self) -> Any: ...

@disjoint_base
class Group(HLObject):
    """A group: a mutable mapping from names to groups, datasets and committed datatypes.

    Groups are obtained from a file or made by `create_group`. A name is a path: parts are separated by
    slashes. A path with a slash in front begins at the root group, any other path at this group. Iteration
    gives the names of the members: in the order of creation if the group tracks it, else sorted by name.

    `group[name]` returns an object. `group[reference]` returns the object of a reference.
    `group[name] = value` makes a hard link to an object, a soft or external link, a committed datatype from a
    dtype, or a dataset of any other value. `del group[name]` removes a link. `name in group` is True if there
    is a link, even if the link leads to nothing. It is False after the file is closed.

    Changes of a file that is open for reading raise ValueError (KeyError for `del`).

    Args:
        bind: The identifier of a group, such as `file["surface"].id`. Subclasses use this constructor.

    Example:
        >>> list(file)
        ['names', 'stations', 'surface']
        >>> file["surface/t2m"].shape
        (4, 2, 3)
        >>> file["surface/levels"] = [1000, 850, 500]
        >>> "levels" in group
        True
        >>> del group["levels"]
        >>> len(group)
        1
    """

    def __new__(cls, *_args: Any, **_kwds: Any) -> Self: ...
    def __init__(self, bind: GroupID) -> None: ...
    def __getitem__(self, name: _Name | Reference, /) -> Any:
        """Returns the object at a path, or the object that a reference leads to.

        Args:
            name: A path from this group or (with a slash in front) from the root group, or a reference.

        Returns:
            The group, dataset or committed datatype.

        Raises:
            KeyError: No object is at the path.
            ValueError: The reference is null.
            TypeError: `name` is neither a name nor a reference.
        """
    def __contains__(self, name: _Name, /) -> bool:
        """Returns True if there is a link at the path, wherever the last link leads.

        Raises:
            TypeError: `name` is not a name.
        """
    def __len__(self) -> int:
        """Returns the number of members."""
    def __iter__(self) -> Iterator[str]:
        """Yields the names of the members: in the order of creation if the group tracks it, else by name."""
    def __reversed__(self) -> Iterator[str]:
        """Yields the names of the members from the last to the first."""
    def keys(self) -> KeysViewHDF5:
        """Returns a view of the names of the members, like `dict.keys`.

        Example:
            >>> file.keys()
            <KeysViewHDF5 ['names', 'stations', 'surface']>
        """
    def values(self) -> ValuesViewHDF5:
        """Returns a view of the members, like `dict.values`.

        A link that leads to nothing gives None.

        Example:
            >>> list(group.values())
            [<HDF5 dataset "t2m": shape (4, 2, 3), type "<f4">]
        """
    def items(self) -> ItemsViewHDF5:
        """Returns a view of pairs of name and member, like `dict.items`.

        A link that leads to nothing gives None as its member.

        Example:
            >>> for name, member in file.items():
            ...     print(name, type(member).__name__)
            names Dataset
            stations Dataset
            surface Group
        """
    def get(
        self,
        name: _Name | Reference,
        default: Any = None,
        getclass: bool = False,
        getlink: bool = False,
        elink_mode: str | None = None,
        elink_locking: bool | str | None = None,
        elink_swmr: bool | None = None,
    ) -> Any:
        """Returns the member at a path, its class or its link, or a default.

        Files behind external links are opened like this file.

        Args:
            name: A path, or a reference if both `getclass` and `getlink` are False.
            default: The result if there is no such member.
            getclass: True returns the class of the member. With `getlink`, the class of the link.
            getlink: True returns the link at the path: a HardLink, SoftLink or ExternalLink.
            elink_mode: The mode in which files behind external links are opened: "r", "r+", or None for the
                mode of this file. With None, a file that cannot be opened for writing is opened for reading.
            elink_locking: The locking of these files: True, False, "best-effort", or None for that of this
                file.
            elink_swmr: Whether these files, opened for reading, may be written by other programs meanwhile.
                None stands for the setting of this file.

        Returns:
            The member, its class, the link, or `default`.

        Raises:
            ValueError: The reference is null; `elink_mode` is "r+" and this file is open for reading; or the
                mode is another than that of this file, which others may read while it is written.
            RuntimeError: With `getclass`, the link at the path leads to nothing; or `elink_mode` is no mode.
            TypeError: `name` is neither a name nor a reference, or a reference with `getclass` or `getlink`.

        Example:
            >>> file.get("surface", getclass=True)
            <class 'hyperslab.Group'>
            >>> file["latest"] = hs.SoftLink("/surface/t2m")
            >>> file.get("latest", getlink=True)
            <SoftLink to "/surface/t2m">
            >>> file.get("humidity", "missing")
            'missing'
        """
    def visit(self, func: Callable[[str], _T | None]) -> _T | None:
        """Calls a function with the path of every object below this group.

        Each object is visited once, a group before its members, members sorted by name. Soft and external
        links are not followed.

        Args:
            func: The function. It receives the path, relative to this group. A result other than None ends
                the visit.

        Returns:
            The result that ended the visit, or None.

        Example:
            >>> file.visit(print)
            names
            stations
            surface
            surface/t2m
            >>> file.visit(lambda path: path if path.endswith("t2m") else None)
            'surface/t2m'
        """
    def visititems(self, func: Callable[[str, Any], _T | None]) -> _T | None:
        """Calls a function with the path and the object of every object below this group.

        The order and the objects are those of `visit`.

        Args:
            func: The function. It receives the path, relative to this group, and the object. A result other
                than None ends the visit.

        Returns:
            The result that ended the visit, or None.

        Example:
            >>> file.visititems(lambda path, object: print(path, type(object).__name__))
            names Dataset
            stations Dataset
            surface Group
            surface/t2m Dataset
        """
    def visit_links(self, func: Callable[[str], _T | None]) -> _T | None:
        """Calls a function with the path of every link below this group, of any kind.

        Groups are entered through hard links only, each group once. Links are sorted by name within a group.

        Args:
            func: The function. It receives the path, relative to this group. A result other than None ends
                the visit.

        Returns:
            The result that ended the visit, or None.

        Example:
            >>> file["latest"] = hs.SoftLink("/surface/t2m")
            >>> file.visit_links(print)
            latest
            names
            stations
            surface
            surface/t2m
        """
    def visititems_links(self, func: Callable[[str, Any], _T | None]) -> _T | None:
        """Calls a function with the path and the link of every link below this group.

        The order and the links are those of `visit_links`.

        Args:
            func: The function. It receives the path, relative to this group, and the link: a HardLink,
                SoftLink or ExternalLink. A result other than None ends the visit.

        Returns:
            The result that ended the visit, or None.

        Raises:
            TypeError: A link is user-defined.

        Example:
            >>> file["latest"] = hs.SoftLink("/surface/t2m")
            >>> file.visititems_links(lambda path, link: print(path, type(link).__name__))
            latest SoftLink
            names HardLink
            stations HardLink
            surface HardLink
            surface/t2m HardLink
        """
    def __setitem__(self, name: _Name, object: Any, /) -> None:
        """Makes a link or an object at a path, with the missing groups on the way.

        An object of the same file gets a hard link. A SoftLink or ExternalLink is stored. A dtype becomes a
        committed datatype. Any other value becomes a dataset, as by `create_dataset(name, data=value)`.

        Raises:
            ValueError: The name exists, the object is in another file, or the file is open for reading.
            TypeError: The value has no dtype that HDF5 can store.
        """
    def __delitem__(self, name: _Name, /) -> None:
        """Removes the link at a path. An object that no other link leads to is deleted.

        Raises:
            KeyError: There is no such link, or the file is open for reading.
        """
    def create_group(self, name: _Name | None, track_order: bool | None = None, *, track_times: bool = False) -> Group:
        """Creates a group, and the missing groups on the way.

        Args:
            name: The path of the group. Without a name (None), the group is deleted when the file is closed,
                unless a link to it is made.
            track_order: True stores the order of creation of members and attributes, and lists both in this
                order.
            track_times: Only False is supported.

        Returns:
            The group.

        Raises:
            ValueError: The name exists, or the file is open for reading.
            TypeError: `name` is not a name, or a part of the path is not a group.
            NotImplementedError: `track_times` is True.

        Example:
            >>> runs = file.create_group("model/runs", track_order=True)
            >>> runs["second"], runs["first"] = 2, 1
            >>> list(runs)
            ['second', 'first']
        """
    def require_group(self, name: _Name) -> Group:
        """Returns the group at a path, and creates it if it does not exist.

        Args:
            name: The path of the group.

        Returns:
            The group.

        Raises:
            TypeError: The object at the path is not a group.
            ValueError: The group does not exist, and the file is open for reading.

        Example:
            >>> file.require_group("surface") == group
            True
            >>> file.require_group("upper")
            <HDF5 group "/upper" (0 members)>
        """
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
        efile_prefix: str | bytes | os.PathLike[str] | None = None,
        allow_unknown_filter: bool = False,
        compact: bool = False,
        skip_fill_chunks: bool | None = None,
        **others: Any,
    ) -> Dataset:
        """Creates a dataset, and the missing groups on the way.

        Arguments mean what they mean in h5py. If the data cannot be written, the dataset is removed again.

        Args:
            name: The path of the dataset. Without a name (None), the dataset is deleted when the file is
                closed, unless a link to it is made.
            shape: The length of each axis, in elements. The default is the shape of `data`. Without `shape`
                and `data`, the dataset has no elements and its value is `Empty`.
            dtype: The dtype of the elements, or a committed datatype. The default is the dtype of `data`.
                Without `data` the dtype is "f4" (DeprecationWarning).
            data: The elements to write. The number of elements must match `shape`.
            chunks: The shape of a chunk in elements, or True for a shape of about 1 MiB with similar sides,
                or False for no chunks. With None, filters and `maxshape` choose as True does.
            compression: "gzip", "lzf", "szip", a level of gzip (0 to 9), True for gzip, a filter (`Blosc2`,
                `Blosc`, `Zstd`, `LZ4`, `Bitshuffle`, `Zfp`, `SZip`, `NBit`, `BZip2`, `Snappy`, or one of
                hdf5plugin) or its name, such as "zstd", or a registered number of a filter. A list or
                tuple of filters, such as `Dataset.filters` of another dataset, names all filters in order.
                False and None: no filter.
            compression_opts: The level of gzip (0 to 9, the default is 4), the method and the elements of a
                block of szip (by default `("nn", 8)`), the arguments of a filter given by its name, or the
                parameters of a filter given by its number.
            shuffle: True adds the shuffle filter.
            fletcher32: True adds a checksum to each chunk.
            scaleoffset: Stores differences from the smallest element of a chunk in few bits. For integers,
                the number of bits (0 and True: as many as needed; fewer lose values). For floats, the number
                of digits after the decimal point that are kept.
            maxshape: The largest length of each axis, None for no limit. `Dataset.resize` grows the dataset
                up to it.
            fillvalue: The value of elements that were never written, one element of the dtype. The default is
                0.
            fill_time: The stored rule for writing the fill value to new space: "ifset" (if a fill value is
                set; the default), "alloc" (always) or "never".
            track_times: True stores the current time as the time of the last modification.
            track_order: True lists the attributes in the order of creation.
            external: The external files that hold the elements: one name, or tuples of a name, the offset of
                the first byte and the size in bytes (2**64-1 for no limit). Such a dataset is contiguous, and
                can grow along its first axis. Files that do not exist are created.
            efile_prefix: The folder of external files with relative names. `${ORIGIN}` in it is the folder of
                this file. The environment variable HDF5_EXTFILE_PREFIX takes precedence. Without a folder,
                names are relative to the current folder; for reading also to the folder of this file.
            allow_unknown_filter: True accepts the number of a filter that the package does not have. Chunks
                are then stored without the filter.
            compact: True stores the elements in the header of the object: less than 64 KiB, no chunks.
            skip_fill_chunks: The initial `Dataset.skip_fill_chunks`. The default is the value given to
                `File`.
            others: The keywords `rdcc_nbytes`, `rdcc_nslots` and `rdcc_w0` of h5py have no effect
                (UserWarning).

        Returns:
            The dataset.

        Raises:
            ValueError: The name exists, the file is open for reading, or shape, chunks or filters do not fit.
            TypeError: The dtype or the option is unknown, or a scalar or empty dataset has chunks or filters.
            NotImplementedError: Property lists (`dcpl`, `dapl`).

        Example:
            >>> file.create_dataset("wind", (100, 50), "f4", chunks=(10, 50), compression="gzip")
            <HDF5 dataset "wind": shape (100, 50), type "<f4">
            >>> file.create_dataset("surface/levels", data=np.array([1000, 850, 500], "i4"))[:]
            array([1000,  850,  500], dtype=int32)
            >>> file.create_dataset("log", (0,), "f8", maxshape=(None,)).maxshape
            (None,)
        """
    def create_table(
        self,
        name: _Name,
        dtype: Any = None,
        title: str = "",
        filters: Any = None,
        expectedrows: int = 10000,
        chunkshape: int | tuple[int] | None = None,
        obj: Any = None,
        **kwds: Any,
    ) -> Any:
        """Creates a table, and the missing groups on the way. PyTables opens it as a `Table`.

        Args:
            name: The path of the table.
            dtype: The columns: a structured dtype or its list of fields, a dict of dtypes, or a description
                of PyTables. The default are the columns of `obj`, which must have names.
            title: A text that describes the table.
            filters: Filters of PyTables (an object with `complevel`, `complib` and `shuffle`), instead of
                `compression`.
            expectedrows: The number of rows that the table will have, about. It decides the length of chunks.
            chunkshape: The number of rows of a chunk, instead of a length by `expectedrows`.
            obj: The first rows, in any form that `Table.append` takes. Without `dtype`, records, a dict of
                columns, a DataFrame or a stream of Arrow.
            kwds: Keywords of `create_dataset`: `compression` (`hs.Blosc2("lz4")` makes queries fast),
                `compression_opts`, `shuffle`, `fletcher32`, `track_times`, `track_order`.

        Returns:
            The table.

        Raises:
            ValueError: The name exists, the file is open for reading, an option does not fit, or a column has
                a name that PyTables does not take: empty, "." or with a "/".
            TypeError: The dtype has no columns, or a table has no values of the type of a column.

        Example:
            >>> columns = [("time", "i8"), ("temp", "f4"), ("id", "S12")]
            >>> made = file.create_table("made", columns, expectedrows=10**6, compression=hs.Blosc2("lz4"))
            >>> made.append([(0, 288.5, b"XK4")])
            >>> made
            <HDF5 table "made": 1 row of time, temp, id>
        """
    def create_dataset_like(self, name: _Name | None, other: Dataset, **kwds: Any) -> Dataset:
        """Creates a dataset with the properties of another, without its data and attributes.

        Shape, maxshape, dtype, chunks, filters, fill value and the order of attributes are those of the other
        dataset. `skip_fill_chunks` is not taken over.

        Args:
            name: The path of the new dataset.
            other: The other dataset. It may be in another file.
            kwds: Keywords of `create_dataset` that replace the properties of `other`.

        Returns:
            The dataset.

        Raises:
            ValueError: As for `create_dataset`.
            TypeError: As for `create_dataset`.

        Example:
            >>> file.create_dataset_like("surface/d2m", dataset, dtype="f8")
            <HDF5 dataset "d2m": shape (4, 2, 3), type "<f8">
            >>> file["surface/d2m"].compression
            'gzip'
        """
    def require_dataset(
        self, name: _Name, shape: int | Sequence[int], dtype: DTypeLike, exact: bool = False, **kwds: Any
    ) -> Dataset:
        """Returns the dataset at a path, and creates it if it does not exist.

        Args:
            name: The path of the dataset.
            shape: The shape. An existing dataset has this shape, or `maxshape` is given and equal to its own.
            dtype: The dtype. An existing dataset has this dtype, or one that the dtype can be cast to safely.
            exact: True requires the same dtype.
            kwds: Keywords of `create_dataset`. For an existing dataset only `maxshape` is compared, and
                `efile_prefix` is used.

        Returns:
            The dataset.

        Raises:
            TypeError: The object at the path is not a dataset, or has another shape or dtype.
            ValueError: The dataset does not exist, and the file is open for reading.

        Example:
            >>> file.require_dataset("surface/t2m", (4, 2, 3), "f4") == dataset
            True
            >>> file.require_dataset("surface/d2m", (4, 2, 3), "f4", compression="gzip")
            <HDF5 dataset "d2m": shape (4, 2, 3), type "<f4">
        """
    def create_array(self, name: _Name, obj: Any, title: str = "", dtype: DTypeLike | None = None) -> Dataset:
        """Creates a dataset that PyTables opens as its `Array`: contiguous, of a fixed shape.

        Args:
            name: The path of the dataset. Missing groups on the way are created.
            obj: The elements: an array, a scalar, or anything that `numpy.asarray` accepts.
            title: A description, stored in the attribute `TITLE`.
            dtype: The dtype of the elements. The default is the dtype of `obj`. Booleans are stored as
                PyTables stores them, as bitfields.

        Returns:
            The dataset.

        Raises:
            ValueError: The name exists, or the file is open for reading.
            TypeError: PyTables has no equivalent of the dtype, such as Python objects or Unicode strings.

        Example:
            >>> file.create_array("levels", [1000, 850, 500], "pressure levels in hPa")
            <HDF5 dataset "levels": shape (3,), type "<i8">
            >>> file["levels"].attrs["CLASS"]
            np.bytes_(b'ARRAY')
        """
    def create_carray(
        self,
        name: _Name,
        dtype: DTypeLike | None = None,
        shape: int | Sequence[int] | None = None,
        title: str = "",
        *,
        obj: Any = None,
        chunkshape: int | Sequence[int] | None = None,
        **kwds: Any,
    ) -> Dataset:
        """Creates a dataset that PyTables opens as its `CArray`: in chunks, of a fixed shape.

        Args:
            name: The path of the dataset. Missing groups on the way are created.
            dtype: The dtype of the elements. The default is the dtype of `obj`.
            shape: The length of each axis, in elements. The default is the shape of `obj`.
            title: A description, stored in the attribute `TITLE`.
            obj: The elements to write. Without it, every element is the fill value.
            chunkshape: The shape of a chunk in elements. The default is a shape of about 1 MiB.
            kwds: Filters and the fill value, as in `create_dataset`: `compression`, `compression_opts`,
                `shuffle`, `fletcher32`, `fillvalue`.

        Returns:
            The dataset.

        Raises:
            ValueError: The name exists, the file is open for reading, or `obj` does not have the shape.
            TypeError: Neither a dtype and a shape nor `obj` is given, or PyTables has no equivalent of the
                dtype.

        Example:
            >>> file.create_carray("mask", "f4", (100, 50), chunkshape=(10, 50), compression=hs.Blosc2())
            <HDF5 dataset "mask": shape (100, 50), type "<f4">
        """
    def create_earray(
        self,
        name: _Name,
        dtype: DTypeLike | None = None,
        shape: int | Sequence[int] | None = None,
        title: str = "",
        *,
        obj: Any = None,
        expectedrows: int = 1000,
        chunkshape: int | Sequence[int] | None = None,
        **kwds: Any,
    ) -> EArray:
        """Creates a dataset that PyTables opens as its `EArray`: one axis can be extended.

        Args:
            name: The path of the dataset. Missing groups on the way are created.
            dtype: The dtype of the elements. The default is the dtype of `obj`.
            shape: The length of each axis, in elements. Exactly one is 0: rows are appended along this axis.
                The default is the shape of `obj` with 0 as the first length.
            title: A description, stored in the attribute `TITLE`.
            obj: The first rows.
            expectedrows: The expected number of rows, which selects the chunk shape.
            chunkshape: The shape of a chunk in elements.
            kwds: Filters and the fill value, as in `create_dataset`: `compression`, `compression_opts`,
                `shuffle`, `fletcher32`, `fillvalue`.

        Returns:
            An `EArray`, which is a `Dataset` with `append`.

        Raises:
            ValueError: The name exists, the file is open for reading, not exactly one length is 0, or `obj`
                does not fit the shape.
            TypeError: Neither a dtype and a shape nor `obj` is given, or PyTables has no equivalent of the
                dtype.

        Example:
            >>> pairs = file.create_earray("pairs", "f8", (0, 2), expectedrows=10**6)
            >>> pairs.append([[1, 2], [3, 4]])
            >>> pairs.shape
            (2, 2)
        """
    def create_vlarray(
        self,
        name: _Name,
        dtype: DTypeLike,
        title: str = "",
        *,
        obj: Any = None,
        chunkshape: int | Sequence[int] | None = None,
        **kwds: Any,
    ) -> VLArray:
        """Creates a dataset that PyTables opens as its `VLArray`: rows of variable length.

        Args:
            name: The path of the dataset. Missing groups on the way are created.
            dtype: The dtype of the elements of a row, which may have a shape, such as `("f4", (3,))`. The
                pseudo atoms of PyTables are "vlstring" (a row is bytes), "vlunicode" (a row is a str) and
                "object" (a row is the bytes of a pickle).
            title: A description, stored in the attribute `TITLE`.
            obj: The first row.
            chunkshape: The number of rows in a chunk.
            kwds: Filters, as in `create_dataset`. They see the places of rows, not the elements.

        Returns:
            A `VLArray`, which is a `Dataset` with `append`.

        Raises:
            ValueError: The name exists, or the file is open for reading.
            TypeError: PyTables has no equivalent of the dtype, or `obj` is not a row of it.

        Example:
            >>> names = file.create_vlarray("towns", "vlunicode")
            >>> names.append("Zürich")
            >>> list(names)
            ['Zürich']
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
        """Copies an object within the file or into another file.

        A group is copied with all its members, and a table with its indexes.

        The source may be in a file that is open for reading.

        Args:
            source: The object, or its path in this group.
            dest: The path of the copy in this group, or a group of any file that is open for writing. In a
                group, the copy gets the name `name`, or else its own name.
            name: The name of the copy in `dest`, if `dest` is a group.
            shallow: True copies the members of a group, but not the members of those.
            expand_soft: True copies the objects that soft links lead to, in place of the links.
            expand_external: True copies the objects that external links lead to, in place of the links.
            expand_refs: True copies the objects that references lead to, too. Without it, references are null
                in a copy in another file.
            without_attrs: True copies no attributes.

        Raises:
            ValueError: The name of the copy exists, or the file of the copy is open for reading.
            KeyError: The source does not exist, and `dest` is a group without `name`.
            RuntimeError: The source does not exist, in any other case; or it is the root group or has no
                path, and `name` is not given.
            TypeError: `dest` is neither a path nor a group, or `name` is given with a path.

        Example:
            >>> file.copy("surface/t2m", "backup")
            >>> file["backup"].attrs["units"]
            'K'
            >>> archive = hs.File.in_memory()
            >>> file.copy(group, archive, name="2024")
            >>> archive["2024/t2m"].shape
            (4, 2, 3)
        """
    def move(self, source: _Name, dest: _Name) -> None:
        """Gives a link another path. The object that the link leads to does not move.

        The indexes of a table get the name that belongs to its new path.

        Missing groups on the way of `dest` are created. The same path twice changes nothing.

        Args:
            source: The path of the link.
            dest: The new path.

        Raises:
            ValueError: `source` does not exist, `dest` exists or is below the group `source`, or the file is
                open for reading.
            TypeError: A part of `dest` is not a group, or an argument is not a name.

        Example:
            >>> file.move("surface/t2m", "archive/t2m")
            >>> list(file["archive"])
            ['t2m']
        """
    def pop(self, key: _Name, default: Any = ...) -> Any:
        """Removes a member and returns it.

        An object that no other link leads to is deleted: any use of the returned object then raises KeyError.

        Args:
            key: The path of the member.
            default: The result if there is no such member.

        Returns:
            The member, or `default`.

        Raises:
            KeyError: There is no such member and no `default`, or the file is open for reading.

        Example:
            >>> file["alias"] = dataset
            >>> file.pop("alias")
            <HDF5 dataset "alias": shape (4, 2, 3), type "<f4">
            >>> file.pop("humidity", None) is None
            True
        """
    def popitem(self) -> tuple[str, Any]:
        """Removes the first member and returns its name and the member.

        An object that no other link leads to is deleted: any use of the returned object then raises KeyError.

        Returns:
            A pair of name and member.

        Raises:
            KeyError: There is no member, or the file is open for reading.

        Example:
            >>> name, member = group.popitem()
            >>> name
            't2m'
            >>> len(group)
            0
        """
    def clear(self) -> None:
        """Removes all members. Objects that no other link leads to are deleted.

        Raises:
            KeyError: The file is open for reading.

        Example:
            >>> group.clear()
            >>> list(group)
            []
        """
    def setdefault(self, key: _Name, default: Any = None) -> Any:
        """Returns the member at a path, and creates it from a default if it does not exist.

        Args:
            key: The path of the member.
            default: The value of a new member, as in `group[key] = default`.

        Returns:
            The member. If the member is new, `default` itself and not the new dataset.

        Raises:
            ValueError: There is no such member, and the file is open for reading.
            TypeError: There is no such member, and `default` is None or cannot be stored.

        Example:
            >>> group.setdefault("t2m") == dataset
            True
            >>> group.setdefault("level", 850)
            850
            >>> group["level"].shape
            ()
        """
    def update(self, other: Any = (), /, **kwds: Any) -> None:
        """Assigns members: `group[name] = value` for each pair.

        Args:
            other: A mapping from names to values, or an iterable of pairs.
            kwds: More names with values.

        Raises:
            ValueError: A name exists, or the file is open for reading. Pairs before the failed one remain.

        Example:
            >>> group.update({"levels": [1000, 850]}, version=2)
            >>> list(group)
            ['levels', 't2m', 'version']
        """
    def create_virtual_dataset(self, name: _Name, layout: Any, fillvalue: Any = None) -> Dataset:
        """Creates a virtual dataset, whose elements are those of other datasets.

        Args:
            name: The path of the dataset.
            layout: The `VirtualLayout`.
            fillvalue: The value of elements without a source, or with a source that does not exist.

        Returns:
            The dataset.

        Raises:
            ValueError: The name exists, or the file is open for reading.

        Example:
            >>> layout = hs.VirtualLayout((2, 3), "f4", filename=file.filename)
            >>> layout[1] = hs.VirtualSource(file["surface/t2m"])[0, 0]
            >>> file.create_virtual_dataset("some", layout, fillvalue=-1)[:]
            array([[-1., -1., -1.],
                   [ 0.,  1.,  2.]], dtype=float32)
        """
    def build_virtual_dataset(
        self, name: _Name, shape: Any, dtype: Any, maxshape: Any = None, fillvalue: Any = None
    ) -> AbstractContextManager[Any]:
        """Returns a context manager that yields a `VirtualLayout` and then creates the virtual dataset.

        Args:
            name: The path of the dataset.
            shape: The shape.
            dtype: The dtype.
            maxshape: The largest shape, with None for no limit.
            fillvalue: The value of elements without a source.

        Returns:
            The context manager.

        Example:
            >>> with file.build_virtual_dataset("rows", (2, 3), "f4") as layout:
            ...     layout[0] = hs.VirtualSource(file["surface/t2m"])[0, 0]
            >>> file["rows"].is_virtual
            True
        """
    def _create_dataset(self, name: str | bytes | None, request: Any) -> Dataset: ...
    def _link(self, name: str | bytes, object: Any) -> None: ...
    def _commit(self, name: str | bytes, dtype: Any) -> None: ...
    def _copy(self, source: HLObject, dest: str | bytes, flags: dict[str, bool]) -> None: ...
    def _names(self) -> list[str]: ...
    def _some_names(self, most: int) -> tuple[list[str], int | None]: ...
    def _ipython_key_completions_(self) -> list[str]: ...

class File(Group):
    """An open file, which is also its root group.

    `with hs.File("climate.h5") as file:` opens a file for reading, and `with hs.File("new.h5", "w") as file:`
    makes a new one. `file["surface/t2m"]` is the dataset or the group at a path. `create_dataset` and
    `create_group` make new ones, and `file.attrs` has the attributes.

    Leaving a `with` block closes the file. A file without a `with` block is closed by `close`, or when no
    object of the file is left. After that, `name in file` is False, a second `close` does nothing, and
    objects of the file behave as `HLObject` says.

    Changes are in the file after `flush`, `close` or the end of a `with` block: all of them, or none.
    Elements of datasets without filters are an exception. They are written in place, and after a crash each
    element may be old or new. `transaction` rolls changes back if an exception leaves its block.

    A file that this process has open is opened once more, by whatever path. Both handles belong to the same
    file, which is closed with the last of them. The mode "r" then gives "r+" if the file is open for writing.
    Another `locking` and a stronger `durability` are refused. So are the modes "w" and "x" of any open file,
    and "r+" and "a" of a file that is open for reading (OSError).

    A process that is forked from this one can read the file as it was at the fork, as long as this process
    does not change the file. The forked process cannot change the file (RuntimeError).

    Handles of a file that was opened for reading by path can be pickled; see `HLObject`. A subclass of File
    can have an `__init__` with other arguments, which calls `super().__init__`.

    The keywords `rdcc_nslots`, `rdcc_w0`, `page_buf_size`, `min_meta_keep`, `min_raw_keep` and `block_size`
    of h5py set caches and buffers of libhdf5. They have no effect: a UserWarning names the keyword, once for
    each keyword. For a URL, `page_buf_size` is the size of the cache in bytes.

    Args:
        name: A path (str, bytes or PathLike), the URL of a file on a server ("https://", "http://", "s3://",
            "gs://", "az://"), which can only be read, or an object with `read` and `seek`. Writing needs
            `write` and `truncate` too. For the bytes of a file, use `File.from_bytes(data)`: `name` is never
            taken for bytes of a file.
        mode: "r" to read; "r+" to change an existing file; "w" to create a file, in place of an existing one;
            "x" or "w-" to create a file that does not exist; "a" for "r+" if the file exists, else "x".
        driver: None, "sec2" and "stdio" work on the file. "core" works on a copy in memory, which is written
            to the file by `flush` and `close`, unless `backing_store` is False. "fileobj" works on an object,
            and is the default for one; if the object is a file of fsspec that is only read, many ranges are
            read by one call (`cat_ranges`). "family" works on a file whose bytes are in several files, one
            after another, with a place for their number in `name` ("run-%05d.h5"). "split" works on two
            files, of metadata and of elements. "multi" reads one file for each kind of data. "io_uring"
            reads the file with many requests in progress at a time. "mmap" maps it into memory, for reading:
            by asking for it you promise that no program changes or cuts the file, or files that it names in
            links and virtual datasets, until it is closed and no view of a dataset is left. If one does,
            anything may happen, such as wrong elements or the end of this program. With "mpio", several
            processes change the file together (docs/drivers.md). "object_store" reads a URL, and is the
            default for one.
        libver: The oldest HDF5 version that new objects are made for: "earliest", "v108", "v110" (the default
            of new files), "v112", "v114", "v200" or "latest". Of a pair, the first version counts.
        durability: What a flushed change survives. "kill" (the default): the death of the program at any
            instruction. "power": also the death of the machine (loss of power). Each flush then waits for the
            disk.
        locking: True, False, or "best-effort" (the default: lock where the file system has locks). The
            environment variable HDF5_USE_FILE_LOCKING overrides the argument.
        skip_fill_chunks: The value of `Dataset.skip_fill_chunks` for all datasets that do not set it.
        backing_store: With the driver "core", False keeps the file in memory only.
        comm: With the driver "mpio", the communicator of mpi4py whose ranks open the file.
        direct: With the driver "io_uring", True bypasses the page cache, if the file system allows it.
        queue_depth: The number of requests of one reader that are in progress at a time, from 1 to 1024. By
            default, the number that suits a disk. With a URL, the number for the file, 64 by default.
        storage_options: With a URL, a dict of settings of the server: credentials, "aws_region", "endpoint",
            "skip_signature" and others (docs/drivers.md). Settings that are not given are taken from the
            environment.
        memb_size: With the driver "family", the size in bytes of the members. By default, it is the size that
            the file states, and 2147483647 in a new file.
        meta_ext: With the driver "split", the ending of the name of the file with the metadata, b"-m.h5" by
            default. A `%s` in it stands for `name`.
        raw_ext: The ending of the name of the file with the elements, b"-r.h5" by default.
        userblock_size: The size in bytes of the user block of a new file: 0 or a power of two from 512.
        track_order: True lists the members and attributes of the root group of a new file in the order of
            creation.
        rdcc_nbytes: The size in bytes of the cache of decoded chunks, for the whole file.
        in_flight_bytes: The most stored bytes that reads in progress hold before they are decoded, over all
            threads: 64 MiB by default. A larger chunk is read alone.
        swmr: With the mode "r", True reads a file that another program writes meanwhile; see `swmr_mode`.
        fs_strategy: How a new file manages its space: "fsm", "page", "aggregate" or "none". "page" allocates
            space in pages, which hold metadata or data, for readers with a page buffer.
        fs_persist: With "fsm" and "page", True keeps the free space in the file when it is closed, so that it
            is used after the file is opened again.
        fs_threshold: The length in bytes of the shortest free extent that is kept.
        fs_page_size: The size in bytes of a page, with "page": 4096, or another from 512 to 1 GiB.
        alignment_threshold: The length in bytes of the shortest extents that are aligned.
        alignment_interval: Such extents begin at multiples of this number.
        meta_block_size: The size in bytes of the blocks from which metadata are allocated.
        kwds: Other keywords of h5py.

    Raises:
        FileNotFoundError: The file does not exist.
        FileExistsError: The file exists, and the mode is "x".
        PermissionError: The system refuses the access.
        BlockingIOError: Another process has the file locked. The message names the process.
        OSError: The file cannot be opened: the system says why, or this process has it open in another mode.
        FormatError: The file is not HDF5, or is damaged.
        ValueError: A mode, driver, version or value of a keyword is unknown, or does not fit the mode.
        TypeError: The keyword is unknown, or `name` has another type.
        NotImplementedError: `track_times` is True, or a multi file is opened for writing.

    Example:
        >>> with hs.File("climate.h5") as file:
        ...     file["surface/t2m"][0, 0]
        array([0., 1., 2.], dtype=float32)
        >>> with hs.File("out.h5", "w", libver="v108") as file:
        ...     file["levels"] = [1000, 850]
        >>> with hs.File("out.h5", "r+") as file:
        ...     file["levels"].attrs["units"] = "hPa"
    """

    def __new__(cls, *_args: Any, **_kwds: Any) -> Self: ...
    def __init__(
        self,
        name: _Path | _Readable | ObjectID,
        mode: str = "r",
        driver: str | None = None,
        libver: str | tuple[str, str] | None = None,
        *,
        durability: Literal["kill", "power"] | None = None,
        locking: bool | Literal["best-effort"] | None = None,
        userblock_size: int | None = None,
        track_order: bool | None = None,
        rdcc_nbytes: int | None = None,
        in_flight_bytes: int | None = None,
        skip_fill_chunks: bool | None = None,
        backing_store: bool | None = None,
        **kwds: Any,
    ) -> None: ...
    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview, **kwds: Any) -> Self:
        """Opens a copy of the bytes of a file, for reading.

        Args:
            data: The bytes, as `bytes` or any other buffer.
            kwds: Keywords of `File`.

        Raises:
            FormatError: The bytes are not an HDF5 file.
            TypeError: `data` is not a buffer.

        Example:
            >>> from pathlib import Path
            >>> with hs.File.from_bytes(Path("climate.h5").read_bytes()) as reading:
            ...     reading["surface/t2m"].shape
            (4, 2, 3)
        """
    @classmethod
    def in_memory(cls, file_image: bytes | bytearray | memoryview | None = None, **kwds: Any) -> Self:
        """Creates a new file in memory, or opens a copy of the bytes of a file for changing.

        Args:
            file_image: The bytes of a file. None creates an empty file.
            kwds: Keywords of `File`.

        Returns:
            The file. Its mode is "r+".

        Raises:
            FormatError: The bytes are not an HDF5 file.
            TypeError: The keyword is unknown.

        Example:
            >>> memory = hs.File.in_memory()
            >>> memory["levels"] = [1000, 850]
            >>> memory.flush()
            >>> image = memory.id.get_file_image()
            >>> hs.File.in_memory(image)["levels"].shape
            (2,)
        """
    def close(self) -> None:
        """Writes all changes to the file and closes it. All objects of the file become unusable.

        If the file is open more than once in this process, `close` ends only this opening, with the objects
        that were reached through it. The second call of `close` does nothing.

        Raises:
            OSError: The changes cannot be written. The file is closed all the same.
            ValueError: A transaction of the file has not ended. The file stays open.

        Example:
            >>> file = hs.File("climate.h5")
            >>> file.close()
            >>> bool(file)
            False
        """
    def flush(self) -> None:
        """Writes all changes to the file, or none of them.

        From then on the changes survive what `durability` says. In a file that is open for reading, nothing
        happens. In a transaction, nothing happens either: its end writes the changes.

        Raises:
            OSError: The changes cannot be written.
            RuntimeError: The process was forked after the file was opened.

        Example:
            >>> with hs.File("out.h5", "w") as file:
            ...     file["levels"] = [1000, 850]
            ...     file.flush()
        """
    def to_bytes(self) -> bytes:
        """Writes all changes and returns the bytes of the file.

        Returns:
            The bytes, which `File.from_bytes` and `File.in_memory` open.

        Raises:
            OSError: The changes cannot be written, or the file cannot be read.

        Example:
            >>> memory = hs.File.in_memory()
            >>> memory["levels"] = [1000, 850]
            >>> hs.File.from_bytes(memory.to_bytes())["levels"].shape
            (2,)
        """
    def driver_info(self) -> dict[str, Any]:
        """Returns what the driver of the file is and does.

        Returns:
            A dict. "driver" is the name of the driver, "queue_depth" the number of requests of one reader in
            progress at a time, "direct" whether reads bypass the page cache, "registered_buffers" whether the
            kernel has pinned the memory for reads, and "fallback" why the driver does less than it was asked
            for, or None. For a file on a server, "requests" and "bytes" are what was requested and received
            so far.

        Example:
            >>> hs.File("climate.h5").driver_info()["driver"]
            'sec2'
        """
    def refresh(self) -> None:
        """Picks up changes that another program has made to the file.

        All objects then show the current state. Open the file with `locking=False`, because a lock keeps the
        other program out. In a file that this process can change, there is nothing to do.

        Raises:
            OSError: Another file was written in place of the file.

        Example:
            >>> reader = hs.File("climate.h5", locking=False)
            >>> reader.refresh()
            >>> reader["stations"].shape
            (2,)
        """
    def transaction(self) -> Transaction:
        """Returns a context manager for a block of changes: all are kept, or none.

        The changes are committed at the end of the block, or rolled back if an exception leaves the block.
        Elements of datasets without filters are written in place and are not rolled back. Transactions cannot
        be nested.

        Returns:
            A context manager. It gives the file.

        Raises:
            ValueError: At the start of the block: the file is open for reading, or another transaction has
                not ended.

        Example:
            >>> try:
            ...     with file.transaction():
            ...         del file["stations"]
            ...         raise RuntimeError
            ... except RuntimeError:
            ...     "stations" in file
            True
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
        """The path that was given when the file was opened.

        For a file in memory, it is "in memory". For an object, it is the `repr` of the object.

        Example:
            >>> with hs.File("climate.h5") as file:
            ...     file.filename
            'climate.h5'
        """
    @property
    def mode(self) -> str:
        """What can be done with the file: "r" for reading, "r+" for reading and changing.

        Example:
            >>> file.mode
            'r+'
            >>> hs.File("climate.h5").mode
            'r'
        """
    @property
    def driver(self) -> str:
        """The driver of the file: "sec2", "stdio", "core", "fileobj", "io_uring", "mmap", "mpio", "family",
        "split", "multi" or "object_store".

        Example:
            >>> file.driver
            'core'
        """
    @property
    def libver(self) -> tuple[str, str]:
        """The version bounds that were given, or h5py's defaults. They have no meaning for a reader.

        A new file is for HDF5 1.10, which is within the default bounds, unless `libver` says otherwise.

        Example:
            >>> hs.File("out.h5", "w", libver="v112").libver
            ('v112', 'v200')
        """
    @property
    def userblock_size(self) -> int:
        """The size of the user block in bytes: the bytes before the HDF5 part of the file.

        Example:
            >>> hs.File("out.h5", "w", userblock_size=512).userblock_size
            512
        """
    @property
    def meta_block_size(self) -> int:
        """The size in bytes of the blocks from which metadata are allocated, as given, or the default of
        libhdf5.

        Without the keyword, blocks grow with the metadata of the file.

        Example:
            >>> file.meta_block_size
            2048
        """
    @property
    def swmr_mode(self) -> bool:
        """Whether one program writes the file while others read it (SWMR: single writer, multiple readers).

        A reader opens the file with `swmr=True`, and `refresh` shows what the writer has flushed. A writer
        sets the property to True, until the file is closed; other programs, h5py's too, may then read the
        file, and never see half of a change. The file needs the format of HDF5 1.10 (the default, or a later
        `libver`).

        In this mode changes are written in order, not all or nothing: a writer that dies leaves a file that
        is marked as open for writing until `hyperslab recover` takes the mark away. Freed space is not used
        again. There are no transactions.

        Raises:
            RuntimeError: The property is set to True, and the file is open for reading, is in this mode
                already, or has an older format.
            ValueError: The property is set to False.

        Example:
            >>> with hs.File("series.h5", "w") as writer:
            ...     series = writer.create_dataset("series", (0,), "f4", chunks=(4,), maxshape=(None,))
            ...     writer.swmr_mode = True
            ...     series.resize((2,))
            ...     series[:] = [1, 2]
            ...     writer.flush()
            ...     writer.swmr_mode
            True
        """
    @swmr_mode.setter
    def swmr_mode(self, is_on: bool, /) -> None: ...

@disjoint_base
class Datatype(HLObject):
    """A committed datatype: a datatype that is an object of the file, with a name and attributes.

    `group[name] = dtype` commits a datatype. `create_dataset` takes a `Datatype` as `dtype`; the datatype is
    then stored once and the dataset refers to it.

    Args:
        bind: The identifier of a committed datatype. Subclasses use this constructor.

    Example:
        >>> file["float"] = np.dtype("f8")
        >>> file["float"]
        <HDF5 named type "float" (dtype <f8)>
        >>> file.create_dataset("x", (2,), dtype=file["float"]).dtype
        dtype('float64')
    """

    @property
    def id(self) -> Any:
        """The low-level identifier of the datatype.

        Example:
            >>> file["count"] = np.dtype("i4")
            >>> file["count"].id.get_size()
            4
        """

    def __new__(cls, *_args: Any, **_kwds: Any) -> Self: ...
    def __init__(self, bind: TypeID) -> None: ...
    @property
    def dtype(self) -> _DType:
        """The NumPy dtype of the datatype.

        Raises:
            TypeError: NumPy has no dtype for the datatype.

        Example:
            >>> file["count"] = np.dtype("i4")
            >>> file["count"].dtype
            dtype('int32')
        """

@disjoint_base
class Dataset(HLObject):
    """A dataset: an array of one dtype and shape in a file.

    `dataset[selection]` reads elements into a new NumPy array, and `dataset[selection] = value` writes
    elements. Chunks are decoded and encoded by several threads, and the GIL is released meanwhile. Datasets
    are made by `Group.create_dataset` and opened by `group[name]`.

    A selection is one index for each axis. Missing axes are selected whole. An index is

    - an integer, which counts from the end if it is negative;
    - a slice with a step of at least 1, or an ellipsis;
    - a list, a range or a 1-D array of integers in increasing order, or a mask along the axis, for one axis
      only;
    - a `MultiBlockSlice`.

    A mask of the shape of the dataset (an array of bool) selects elements into a 1-D array. Names of fields
    select members of a compound. `dataset[()]` reads all elements.

    Args:
        bind: The identifier of a dataset, such as `file["x"].id`. Subclasses use this constructor.

    Example:
        >>> dataset
        <HDF5 dataset "t2m": shape (4, 2, 3), type "<f4">
        >>> dataset[1:3, :, 0]
        array([[ 6.,  9.],
               [12., 15.]], dtype=float32)
        >>> dataset[0, 0, 1]
        np.float32(1.0)
        >>> dataset[dataset[()] > 20]
        array([21., 22., 23.], dtype=float32)
        >>> stations["id", 0]
        np.int32(1)
        >>> dataset[0] = [7, 8, 9]
        >>> dataset[0]
        array([[7., 8., 9.],
               [7., 8., 9.]], dtype=float32)
    """

    def __new__(cls, *_args: Any, **_kwds: Any) -> Self: ...
    def __init__(self, bind: DatasetID, *, readonly: bool = False) -> None: ...
    def __reversed__(self) -> Iterator[Any]: ...
    def __getitem__(self, args: _Index, /) -> Any:
        """Reads a selection into a new array.

        Args:
            args: Integers, slices with steps of at least 1, an ellipsis, a `MultiBlockSlice`; one list, range
                or array of increasing integers, or a mask, along one axis; or one mask of the whole shape.
                Names of fields select members of a compound: one name gives the member, several names give
                records.

        Returns:
            An array of the shape that NumPy's rules give (1-D for a mask of the whole shape), a NumPy scalar
            if every index is an integer, or `Empty` for a dataset without a dataspace.

        Raises:
            IndexError: An index is out of range.
            ValueError: There are too many indices, a step is below 1, or there is no such field.
            TypeError: An index has another type, or a list is not in increasing order.
            FormatError: The file is damaged at the selected elements.
        """
    @property
    def shape(self) -> tuple[int, ...] | None:
        """The length of each axis in elements: () for a scalar, None for an empty dataset.

        Assigning a shape is the same as `resize`.

        Example:
            >>> dataset.shape
            (4, 2, 3)
        """
    @shape.setter
    def shape(self, shape: int | Sequence[int]) -> None: ...
    @property
    def dtype(self) -> _DType:
        """The dtype of the elements. Strings, enumerations and references have h5py's metadata in the dtype.

        Raises:
            UnsupportedDtypeError: NumPy has no dtype for the datatype. The class is also a TypeError and a
                ValueError.

        Example:
            >>> dataset.dtype
            dtype('float32')
            >>> hs.check_string_dtype(names.dtype).encoding
            'utf-8'
        """
    @property
    def ndim(self) -> int:
        """The number of axes.

        Example:
            >>> dataset.ndim
            3
        """
    @property
    def size(self) -> int | None:
        """The number of elements, or None for an empty dataset.

        Example:
            >>> dataset.size
            24
        """
    @property
    def nbytes(self) -> int:
        """The size of all elements in memory in bytes: `size` times the item size of `dtype`.

        Strings of variable length and other Python objects count as pointers. The stored size is
        `dataset.id.get_storage_size()`.

        Raises:
            UnsupportedDtypeError: NumPy has no dtype for the datatype.

        Example:
            >>> dataset.nbytes
            96
        """
    @property
    def maxshape(self) -> tuple[int | None, ...] | None:
        """The maximum length of each axis, where None means without limit; None for an empty dataset.

        Example:
            >>> dataset.maxshape
            (None, 2, 3)
            >>> stations.maxshape
            (2,)
        """
    @property
    def chunks(self) -> tuple[int, ...] | None:
        """The shape of a chunk in elements, or None if the dataset is not stored in chunks.

        Example:
            >>> dataset.chunks
            (1, 2, 3)
            >>> stations.chunks is None
            True
        """
    @property
    def compression(self) -> str | None:
        """The compression: "gzip", "lzf", "szip", "unknown" for another filter, or None.

        `filter_names` names every filter.

        Example:
            >>> dataset.compression
            'gzip'
            >>> temps = file.create_dataset("temps", data=np.arange(10), compression=hs.Blosc2("lz4"))
            >>> temps.compression, temps.filter_names
            ('unknown', ('blosc2',))
        """
    @property
    def compression_opts(self) -> int | tuple[str, int] | None:
        """The level of gzip (0 to 9), the method and the block size of szip, or None.

        Raises:
            TypeError: The file has an unknown method of szip.

        Example:
            >>> dataset.compression_opts
            4
        """
    @property
    def shuffle(self) -> bool:
        """Whether the shuffle filter reorders the bytes of each chunk.

        Example:
            >>> dataset.shuffle
            True
        """
    @property
    def fletcher32(self) -> bool:
        """Whether each chunk has a Fletcher-32 checksum.

        Example:
            >>> dataset.fletcher32
            False
        """
    @property
    def scaleoffset(self) -> int | None:
        """The number of bits or decimal places that the scale-offset filter keeps, or None.

        Example:
            >>> dataset.scaleoffset is None
            True
        """
    @property
    def filter_ids(self) -> tuple[int, ...]:
        """The registered numbers of the filters, in the order in which a writer applies the filters.

        Example:
            >>> dataset.filter_ids
            (2, 1)
        """
    @property
    def filters(self) -> tuple[Filter, ...]:
        """The filters, in the order in which they are applied to a chunk that is written.

        Pass the tuple as `compression=` to create a dataset with the same filters, or one of them.

        Example:
            >>> options = {"shuffle": True, "compression": hs.Zstd(9)}
            >>> made = file.create_dataset("made", (1000,), "i4", chunks=(100,), **options)
            >>> made.filters
            (<Filter shuffle ()>, <Zstd (9,)>)
            >>> file.create_dataset("same", (1000,), "i4", chunks=(100,), compression=made.filters).filters
            (<Filter shuffle ()>, <Zstd (9,)>)
        """
    @property
    def filter_names(self) -> tuple[str, ...]:
        """The names of the filters, in the order in which a writer applies the filters.

        Example:
            >>> dataset.filter_names
            ('shuffle', 'deflate')
        """
    @property
    def skip_fill_chunks(self) -> bool:
        """Whether chunks that hold only the fill value are left out when they are written.

        A stored chunk that comes to hold only the fill value is removed from the file. The property can be
        set. It lasts while the file is open, and is not stored in the file. It has no effect if space is
        allocated early or with `fill_time="never"`, because other readers would not find the fill value.
        Chunks that `DatasetID.write_direct_chunk` stores are not examined.

        Raises:
            ValueError: The property is set, and the file is open for reading.

        Example:
            >>> dataset.skip_fill_chunks = True
            >>> dataset[:3] = 0
            >>> dataset.id.get_num_chunks()
            1
        """
    @skip_fill_chunks.setter
    def skip_fill_chunks(self, skips: bool) -> None: ...
    @property
    def fillvalue(self) -> Any:
        """The value of elements that were never written.

        The value is a NumPy scalar, or `bytes` for strings of variable length. For references and sequences
        without a fill value the property is None.

        Raises:
            UnsupportedDtypeError: NumPy has no dtype for the datatype.
            RuntimeError: The fill value is undefined.

        Example:
            >>> dataset.fillvalue
            np.float32(0.0)
            >>> file.create_dataset("depth", (3,), "f4", fillvalue=-1.0)[()]
            array([-1., -1., -1.], dtype=float32)
        """
    @property
    def is_virtual(self) -> bool:
        """Whether the dataset is virtual: its elements are in other datasets.

        Example:
            >>> dataset.is_virtual
            False
        """
    def virtual_sources(self, missing_only: bool = False) -> list[Any]:
        """Lists the mappings of a virtual dataset.

        Args:
            missing_only: True lists only the mappings whose file or dataset does not exist. Their elements
                read as the fill value.

        Returns:
            One named tuple for each mapping, in order: `vspace`, the elements of this dataset; `file_name`,
            "." for this file; `dset_name`; and `src_space`, the elements of the source.

        Raises:
            RuntimeError: The dataset is not virtual.

        Example:
            >>> with file.build_virtual_dataset("row", (3,), "f4") as layout:
            ...     layout[:] = hs.VirtualSource("gone.h5", "t2m", (3,))
            >>> [(one.file_name, one.dset_name) for one in file["row"].virtual_sources(missing_only=True)]
            [('gone.h5', 't2m')]
        """
    def _set_virtual_prefix(self, prefix: str) -> None: ...
    @property
    def _virtual_prefix(self) -> str | None: ...
    @property
    def _efile_prefix(self) -> str | None: ...
    def _with_efile_prefix(self, prefix: str) -> Dataset: ...
    def _virtual_sources(self, find: bool) -> list[tuple[Any, str, str, Any, bool]]: ...
    @property
    def external(self) -> list[tuple[str, int, int]] | None:
        """The external files that hold the elements, or None if the elements are in this file.

        Each item is the name of a file, the offset of the first byte, and the size in bytes. A size of
        2**64-1 means without limit.

        Example:
            >>> dataset.external is None
            True
        """
    @property
    def is_scale(self) -> bool:
        """Whether the dataset is a dimension scale.

        Example:
            >>> dataset.is_scale
            False
            >>> dataset.make_scale("time")
            >>> dataset.is_scale
            True
        """
    @property
    def dims(self) -> DimensionManager:
        """The axes of the dataset: labels, and the attached dimension scales.

        Example:
            >>> dataset.dims[0].label = "time"
            >>> [axis.label for axis in dataset.dims]
            ['time', '', '']
        """
    @property
    def id(self) -> DatasetID:
        """The low-level identifier of the object, as h5py calls it.

        It can be obtained after the file is closed. It is a `FileID`, `GroupID`, `DatasetID` or `TypeID`.

        Example:
            >>> dataset.id.get_num_chunks()
            4
            >>> group.id.name
            b'/surface'
        """
    def len(self) -> int:
        """Returns the length of the first axis.

        The built-in `len` does the same within the limit of the platform.

        Returns:
            The length in elements.

        Raises:
            TypeError: The dataset is a scalar or empty.

        Example:
            >>> dataset.len()
            4
        """
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]:
        """Yields `dataset[0]`, `dataset[1]` and so on. Raises TypeError for a scalar."""
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> _Array:
        """Reads the whole dataset into a new array for `np.asarray`. Raises ValueError for `copy=False`."""
    def view(self) -> _Array:
        """Returns the elements as an array over the file, without reading or copying them.

        The file must be mapped into memory (`driver="mmap"`), and the dataset contiguous. The array cannot be
        written. It stays usable when the file is closed, and as long as it lives, no program may change or
        cut the file: you promise that with the driver. If a program cuts the file short, the system kills a
        program that uses the lost elements.

        Returns:
            An array of the shape and dtype of the dataset.

        Raises:
            TypeError: The elements are not stored as NumPy has them in memory, such as strings of variable
                length.
            ValueError: The file is not mapped, or the dataset is not contiguous, or was never written.

        Example:
            >>> with hs.File("out.h5", "w") as made:
            ...     made["levels"] = [1000, 850]
            >>> with hs.File("out.h5", driver="mmap") as mapped:
            ...     levels = mapped["levels"].view()
            >>> levels
            array([1000,  850])
        """
    def read_direct(
        self, dest: _Array, source_sel: _Selection | None = None, dest_sel: _Selection | None = None
    ) -> None:
        """Reads a selection into an array, or into a part of an array.

        Elements are converted as HDF5 converts them, and the shape is broadcast if necessary.

        Args:
            dest: The array that receives the elements, of any dtype and strides.
            source_sel: The selection of the dataset, as between brackets, without names of fields. None
                selects all elements.
            dest_sel: The part of `dest`, an index of NumPy. None takes the whole array.

        Raises:
            TypeError: The shape of the selection cannot be broadcast to the shape of the destination, or the
                dataset is empty.

        Example:
            >>> table = np.zeros((6, 3))
            >>> dataset.read_direct(table, np.s_[:2, 0], np.s_[4:])
            >>> table[4:]
            array([[0., 1., 2.],
                   [6., 7., 8.]])
        """
    def read(self, sel: _Selection | None = None, out: _Array | None = None, threads: int | None = None) -> _Array:
        """Reads a selection into a new array, or into an array of the caller.

        Chunks are decoded by several threads, straight into the array. The GIL is released.

        Args:
            sel: The selection, as between brackets, without names of fields. None selects all elements.
            out: The array that receives the elements. The array has the shape of the selection, any dtype and
                any strides. No other thread may use the array during the read.
            threads: The number of threads, including the caller. The default is `get_threads()`.

        Returns:
            The array. If every index is an integer, the array has shape ().

        Raises:
            TypeError: `out` has another shape, `sel` contains a name of a field, or the dataset is empty.
            ValueError: `threads` is 0, or `sel` has too many indices.
            IndexError: An index is out of range.

        Example:
            >>> dataset.read((slice(0, 2), 0))
            array([[0., 1., 2.],
                   [6., 7., 8.]], dtype=float32)
            >>> block = np.empty((4, 2, 3))
            >>> dataset.read(out=block) is block
            True
        """
    def read_many(
        self, selections: Iterable[_Selection], out: list[_Array] | None = None, threads: int | None = None
    ) -> list[_Array]:
        """Reads several selections in one call. A chunk that several selections touch is decoded once.

        Strings of variable length and other Python objects, and arrays in `out` that are not C-contiguous or
        have another dtype, are read one selection after another.

        Single rows in any order are read faster by a sorted list if several of them are in the same
        compressed chunk: the list keeps the decoded chunk for the next read, and `read_many` does not. With
        `order = np.argsort(rows)`, assign `dataset[rows[order]]` to `found[order]`.

        Args:
            selections: The selections, each as between brackets, without names of fields.
            out: One array for each selection, as for `read`. None makes new arrays.
            threads: The number of threads, including the caller. The default is `get_threads()`.

        Returns:
            One array for each selection, in the order of the selections.

        Raises:
            TypeError: An array in `out` has another shape than the selection.
            ValueError: The numbers of arrays and selections differ, or arrays in `out` overlap.
            IndexError: An index is out of range.

        Example:
            >>> first, row = dataset.read_many([(0, 0, 0), (slice(None), 1, 2)])
            >>> row
            array([ 5., 11., 17., 23.], dtype=float32)
        """
    def plan(self, sel: _Selection | None = None) -> ReadPlan:
        """Returns the plan of a read: chunks, bytes and threads. No data are read.

        Args:
            sel: The selection, as between brackets, without names of fields. None selects all elements.

        Returns:
            The plan. `print(plan)` lists the chunks.

        Raises:
            TypeError: `sel` contains a name of a field, or the dataset is empty.

        Example:
            >>> plan = dataset.plan(slice(0, 2))
            >>> plan.chunks, plan.result_bytes
            (2, 48)
        """
    def astype(self, dtype: DTypeLike) -> Any:
        """Returns a view that reads the dataset as another dtype.

        Elements are converted as HDF5 converts them. A number beyond the range of an integer dtype becomes
        the nearest limit.

        Args:
            dtype: The dtype. `"T"` reads strings as NumPy's `StringDType`.

        Returns:
            An `AsTypeView`, or the dataset if the dataset has this dtype.

        Raises:
            TypeError: There is no such dtype, or `dtype` is `StringDType` and the elements are not strings. A
                read of the view raises TypeError or OSError if there is no conversion.

        Example:
            >>> dataset.astype("f8")[0, 0]
            array([0., 1., 2.])
        """
    def asstr(self, encoding: str | None = None, errors: str = "strict") -> AsStrView:
        """Returns a view that reads strings as `str`.

        Args:
            encoding: The encoding of the strings. The default is that of the datatype, "ascii" or "utf-8".
            errors: The treatment of bytes that cannot be decoded, as for `bytes.decode`.

        Returns:
            The view.

        Raises:
            TypeError: The elements are not strings.

        Example:
            >>> names.asstr()[:]
            array(['Geneva', 'Zürich'], dtype=object)
            >>> names.asstr("ascii", errors="ignore")[1]
            'Zrich'
        """
    def fields(self, names: str | Iterable[str]) -> FieldsView:
        """Returns a view that reads some members of a compound.

        Args:
            names: The name of one member, or several names.

        Returns:
            The view. One name as a string reads the member. Several names read records.

        Raises:
            ValueError: There is no such member, or the dataset is not a compound.

        Example:
            >>> stations.fields("lat")[:]
            array([46.2, 47.4])
            >>> stations.fields(["id", "code"])[0].item()
            (1, b'GVA')
        """
    def iter_chunks(self, sel: slice | int | tuple[slice | int, ...] | None = None) -> ChunkIterator:
        """Returns an iterator over the chunks that a region touches.

        Args:
            sel: The region: a slice or an integer for each axis. Steps are ignored. As in h5py, a stop of 0
                means the end of the axis. None takes the whole dataset.

        Returns:
            An iterator. For each chunk, the iterator yields the part of the region in the chunk as a tuple of
            slices.

        Raises:
            TypeError: The dataset is not stored in chunks, or an index is neither a slice nor an integer.
            ValueError: The region exceeds the dataset or is empty, or the number of indices differs from
                `ndim`.

        Example:
            >>> sum(dataset[part].sum() for part in dataset.iter_chunks())
            np.float32(276.0)
            >>> next(dataset.iter_chunks(np.s_[1:3, :, 2:]))
            (slice(1, 2, 1), slice(0, 2, 1), slice(2, 3, 1))
        """
    def refresh(self) -> None:
        """Picks up changes that another program has made to the file.

        All objects then show the current state. As `File.refresh` does, it refreshes the whole file, not only
        this dataset. In a file that is open for writing there is nothing to do.

        Raises:
            OSError: Another file was written in place of the file.

        Example:
            >>> with hs.File("climate.h5", locking=False) as watched:
            ...     series = watched["surface/t2m"]
            ...     series.refresh()
            ...     series.shape
            (4, 2, 3)
        """
    def flush(self) -> None:
        """Writes all changes to the file, as `File.flush` does.

        The changes of the whole file are written, not only those of this dataset.

        Example:
            >>> dataset[0] = 1
            >>> dataset.flush()
        """
    def __setitem__(self, key: _Index, value: Any, /) -> None:
        """Writes elements. The value is broadcast and converted as NumPy and h5py do.

        Whole chunks are encoded by several threads, and the GIL is released. Chunks that change in part may
        stay in memory until `flush`.

        Args:
            key: The selection, as for reading. Names of fields write some members of a compound.
            value: A scalar or an array. Records change only the members that they have.

        Raises:
            TypeError: The shape or the dtype does not fit, or the dataset is empty.
            ValueError: A value cannot be converted, or there is no such field.
            IndexError: An index is out of range.
            OSError: The file is open for reading.
        """
    @property
    def collective(self) -> CollectiveContext:
        """A context manager that makes writes collective, in a file with the driver "mpio".

        All ranks write in the block, each its own selection. Chunks need collective writes; a dataset without
        chunks may also be written by any rank alone. In other files the block has no effect.

        Example:
            >>> with dataset.collective:
            ...     dataset[0] = [7, 8, 9]
        """
    def _transfer(self, transfer: str) -> str: ...
    def write_direct(
        self, source: Any, source_sel: _Selection | None = None, dest_sel: _Selection | None = None
    ) -> None:
        """Writes an array, or a part of an array, to a selection of the dataset.

        Args:
            source: The array. The values are broadcast and converted as for `dataset[dest_sel] = source`.
            source_sel: The part of `source`, an index of NumPy. None takes the whole array.
            dest_sel: The selection of the dataset, as between brackets. None selects all elements.

        Raises:
            TypeError: The shape or the dtype does not fit.
            OSError: The file is open for reading.

        Example:
            >>> dataset.write_direct(np.arange(6.0), np.s_[3:], (1, 0))
            >>> dataset[1, 0]
            array([3., 4., 5.], dtype=float32)
        """
    def resize(self, size: int | Sequence[int], axis: int | None = None) -> None:
        """Changes the shape, or the length of one axis, within `maxshape`.

        Elements keep their coordinates. New elements hold the fill value, and elements outside the new shape
        are lost.

        Args:
            size: The new shape in elements, or with `axis` the new length of the axis.
            axis: The number of the axis, from 0.

        Raises:
            TypeError: The dataset is not stored in chunks, `size` has another number of axes, or it is not an
                integer although `axis` is given.
            ValueError: There is no such axis.
            OverflowError: A length is negative.
            RuntimeError: The shape exceeds `maxshape`, or the file is open for reading.

        Example:
            >>> dataset.resize(5, axis=0)
            >>> dataset.shape
            (5, 2, 3)
            >>> dataset.resize((2, 2, 3))
        """
    def make_scale(self, name: _Name | None = None) -> None:
        """Makes the dataset a dimension scale, or gives a dimension scale another name.

        Args:
            name: The name of the scale. The default is an empty name.

        Raises:
            RuntimeError: Scales are attached to the dataset, or the file is open for reading.

        Example:
            >>> file["time"] = np.arange(4)
            >>> file["time"].make_scale("hours")
            >>> dataset.dims[0].attach_scale(file["time"])
            >>> dataset.dims[0]["hours"][:]
            array([0, 1, 2, 3])
        """
    @property
    def _filter_data(self) -> list[list[int]]: ...
    @property
    def _track_order(self) -> bool: ...
    def _ipython_key_completions_(self) -> list[str]: ...
    def _write(self, sel: Any, array: _Array, shape: tuple[int, ...]) -> None: ...
    def _shape_of(self, sel: Any = None) -> tuple[tuple[int, ...], tuple[int, ...]]: ...
    def _read_described(self, sel: Any, description: tuple[Any, ...]) -> bytes: ...
    def _write_described(self, sel: Any, description: tuple[Any, ...], bytes: bytes) -> None: ...

@type_check_only
class _View:
    """The common members of the views of a dataset.

    A view is indexed as the dataset, but without names of fields. The view reads from the file at each use.
    """

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of the dataset in elements.

        Example:
            >>> dataset.astype("f8").shape
            (4, 2, 3)
        """
    @property
    def ndim(self) -> int:
        """The number of axes.

        Example:
            >>> dataset.astype("f8").ndim
            3
        """
    @property
    def size(self) -> int | None:
        """The number of elements.

        Example:
            >>> dataset.astype("f8").size
            24
        """
    def __getitem__(self, args: _Index, /) -> Any:
        """Reads a selection into a new array of the view's dtype. Errors are those of the dataset."""
    def __len__(self) -> int: ...
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> _Array:
        """Reads the whole view into a new array for `np.asarray`. Raises ValueError for `copy=False`."""

@final
class AsTypeView(_View):
    """A view that reads a dataset as another dtype: the result of `Dataset.astype`.

    `view[selection]` converts elements as HDF5 converts them. A number beyond the range of an integer dtype
    becomes the nearest limit. Reading raises TypeError or OSError if there is no conversion.

    Example:
        >>> view = dataset.astype("i2")
        >>> view[0, 0]
        array([0, 1, 2], dtype=int16)
        >>> np.asarray(view).sum()
        np.int64(276)
    """

    @property
    def dtype(self) -> _DType:
        """The dtype of the elements that a read returns.

        Example:
            >>> dataset.astype("f8").dtype
            dtype('float64')
        """

@final
class AsStrView(_View):
    """A view that reads a dataset of strings as `str`: the result of `Dataset.asstr`.

    `view[selection]` gives one `str`, or an array of `str` with the dtype of Python objects. Reading raises
    UnicodeDecodeError if bytes cannot be decoded and `errors` is "strict", and LookupError if there is no
    such encoding.

    Example:
        >>> view = names.asstr()
        >>> view[1]
        'Zürich'
        >>> view[:]
        array(['Geneva', 'Zürich'], dtype=object)
    """

    @property
    def encoding(self) -> str:
        """The encoding with which strings are decoded.

        Example:
            >>> names.asstr().encoding
            'utf-8'
        """
    @property
    def errors(self) -> str:
        """The treatment of bytes that cannot be decoded, as for `bytes.decode`.

        Example:
            >>> names.asstr(errors="replace").errors
            'replace'
        """
    @property
    def dtype(self) -> _DType:
        """The dtype of the elements that a read returns.

        Example:
            >>> dataset.astype("f8").dtype
            dtype('float64')
        """

@final
class FieldsView(_View):
    """A view that reads some members of a compound dataset: the result of `Dataset.fields`.

    `view[selection]` gives the elements of one member, or records of several members.

    Example:
        >>> stations.fields("lat")[:]
        array([46.2, 47.4])
        >>> stations.fields(["id", "lat"])[:]
        array([(1, 46.2), (2, 47.4)], dtype=[('id', '<i4'), ('lat', '<f8')])
    """

    @property
    def dtype(self) -> _DType:
        """The dtype of the elements that a read returns.

        Example:
            >>> dataset.astype("f8").dtype
            dtype('float64')
        """

@final
class ChunkIterator:
    """An iterator over the chunks of a region: the result of `Dataset.iter_chunks`.

    For each chunk, the iterator yields the part of the region in the chunk as a tuple of slices.

    Example:
        >>> for part in dataset.iter_chunks(np.s_[2:, 0, :]):
        ...     print(part[0], dataset[part].max())
        slice(2, 3, 1) 14.0
        slice(3, 4, 1) 20.0
    """

    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[slice, ...]: ...

@final
class ReadPlan:
    """The plan of a read: the result of `Dataset.plan`.

    `str(plan)` is a summary, and one line for each of the first 20 chunks: the first element, the route, the
    number of elements, and the stored bytes with the address in the file.

    Example:
        >>> print(stations.plan())
        result     [2], 30 bytes
        pieces     1 of [2], 30 bytes stored, 30 to read
        threads    1
        route      1 direct
          [0]: direct, 2 elements, 30 bytes at ...
        <BLANKLINE>
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result in elements.

        Example:
            >>> dataset.plan((0, slice(None), slice(0, 2))).shape
            (1, 2, 2)
        """
    @property
    def chunks(self) -> int:
        """The number of chunks to read, or of runs of rows if the dataset is not stored in chunks.

        Example:
            >>> dataset.plan(slice(0, 2)).chunks
            2
        """
    @property
    def bytes(self) -> int:
        """The stored size in bytes of all chunks that the selection touches.

        Example:
            >>> dataset.plan().bytes == dataset.id.get_storage_size()
            True
        """
    @property
    def read_bytes(self) -> int:
        """The number of bytes to read from the file.

        Nothing is read of chunks in memory. Of chunks without filters, the selected bytes are read. Of large
        Blosc chunks that are selected in part, at least the front is read, and only the front counts. Gaps
        between neighbours that are read together do not count.

        Example:
            >>> plan = stations.plan(0)
            >>> plan.read_bytes, plan.bytes
            (15, 30)
        """
    @property
    def result_bytes(self) -> int:
        """The size of the result in bytes, in the dtype of the dataset.

        Example:
            >>> dataset.plan(0).result_bytes
            24
        """
    @property
    def threads(self) -> int:
        """The number of threads, including the caller.

        Example:
            >>> dataset.plan(0).threads
            1
        """
    def to_json(self) -> str:
        """Returns the whole plan, with every chunk, as JSON.

        Returns:
            A JSON object with the keys "shape", "piece_shape" (in elements), "result_bytes", "stored_bytes",
            "read_bytes", "threads" and "tasks". Each task has the keys "first", "route", "elements",
            "address", "bytes", "requests" and "read_bytes".

        Example:
            >>> import json
            >>> plan = json.loads(dataset.plan().to_json())
            >>> [task["first"] for task in plan["tasks"]]
            [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]]
        """

@final
class AttributeManager:
    """The attributes of an object: a mutable mapping from names to values.

    Reading gives a NumPy scalar or array, `str` for strings of variable length, `np.bytes_` for strings of
    fixed length, and `Empty` for an attribute without a dataspace. Names are listed in the order of creation
    if the object tracks the order, otherwise by name. After the file is closed, reading and changing
    attributes raises `ClosedError`. `ClosedError` is also a KeyError, so `get` and `pop` then return the
    default. Two mappings are equal if they have equal names and values.

    Args:
        parent: The object that has the attributes. `parent.attrs` is the same mapping.

    Example:
        >>> dataset.attrs["units"]
        'K'
        >>> dataset.attrs["limits"] = np.array([180, 330], dtype="i2")
        >>> dict(dataset.attrs)
        {'limits': array([180, 330], dtype=int16), 'scale': np.float64(1.5), 'units': 'K'}
        >>> "scale" in dataset.attrs, len(dataset.attrs)
        (True, 3)
        >>> del dataset.attrs["scale"]
    """

    def __new__(cls, parent: HLObject) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __getitem__(self, name: _Name, /) -> Any:
        """Returns the value of an attribute.

        Returns:
            A scalar or an array, `str` for strings of variable length, or `Empty` for an attribute without a
            dataspace.

        Raises:
            KeyError: There is no attribute of this name.
        """
    def __contains__(self, name: _Name, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __reversed__(self) -> Iterator[str]: ...
    def keys(self) -> KeysViewHDF5:
        """Returns a view of the names.

        Example:
            >>> list(dataset.attrs.keys())
            ['scale', 'units']
        """
    def values(self) -> ValuesViewHDF5:
        """Returns a view of the values.

        Example:
            >>> list(dataset.attrs.values())
            [np.float64(1.5), 'K']
        """
    def items(self) -> ItemsViewHDF5:
        """Returns a view of the pairs of names and values.

        Example:
            >>> for name, value in dataset.attrs.items():
            ...     print(name, value)
            scale 1.5
            units K
        """
    def get(self, name: _Name, default: Any = None) -> Any:
        """Returns the value of an attribute, or a default if there is no such attribute.

        Args:
            name: The name.
            default: The result if there is no attribute of this name.

        Returns:
            The value, as `attrs[name]` gives it, or `default`.

        Example:
            >>> dataset.attrs.get("units")
            'K'
            >>> dataset.attrs.get("offset", 0)
            0
        """
    @property
    def _id(self) -> Any: ...
    def _set_described(
        self, name: _Name, shape: list[int] | None, dtype: Any, elements: tuple[tuple[Any, ...], bytes]
    ) -> None: ...
    def get_id(self, name: _Name) -> Any:
        """Returns the low-level identifier of an attribute: shape and dtype without the value.

        Args:
            name: The name.

        Returns:
            The identifier.

        Raises:
            KeyError: There is no attribute of this name.

        Example:
            >>> dataset.attrs.get_id("scale").dtype
            dtype('float64')
        """
    def __setitem__(self, name: _Name, value: Any, /) -> None:
        """Creates an attribute. An attribute of the same name is replaced.

        Raises:
            TypeError: The value has no equivalent in HDF5.
            OSError: The file is open for reading.
        """
    def __delitem__(self, name: _Name, /) -> None:
        """Deletes an attribute. Raises KeyError if there is none, or if the file is open for reading."""
    def create(self, name: _Name, data: Any, shape: Any = None, dtype: Any = None) -> None:
        """Creates an attribute of a given shape and dtype. An attribute of the same name is replaced.

        Args:
            name: The name.
            data: The value: a scalar, an array, or `Empty`.
            shape: The shape in elements. The default is the shape of `data`.
            dtype: The dtype, or a committed `Datatype`. The default is the dtype of `data`.

        Raises:
            ValueError: `shape` has another number of elements than `data`.
            TypeError: The dtype has no equivalent in HDF5.
            OSError: The file is open for reading.

        Example:
            >>> dataset.attrs.create("grid", [1, 2, 3, 4], shape=(2, 2), dtype="i2")
            >>> dataset.attrs["grid"]
            array([[1, 2],
                   [3, 4]], dtype=int16)
        """
    def modify(self, name: _Name, value: Any) -> None:
        """Changes the value of an attribute and keeps the shape and the dtype.

        An attribute that does not exist is created, as `attrs[name] = value` creates it.

        Args:
            name: The name.
            value: The new value. The value is converted to the dtype of the attribute.

        Raises:
            TypeError: The value has another shape than the attribute.
            ValueError: The value cannot be converted.
            OSError: The attribute is empty, or the file is open for reading.

        Example:
            >>> dataset.attrs.modify("scale", 2)
            >>> dataset.attrs["scale"]
            np.float64(2.0)
        """
    def rename(self, source: _Name, dest: _Name) -> None:
        """Renames an attribute.

        Args:
            source: The present name.
            dest: The new name.

        Raises:
            KeyError: There is no attribute of the name `source`.
            ValueError: There is an attribute of the name `dest`.
            OSError: The file is open for reading.

        Example:
            >>> dataset.attrs.rename("scale", "factor")
            >>> list(dataset.attrs)
            ['factor', 'units']
        """
    def pop(self, key: _Name, default: Any = ...) -> Any:
        """Deletes an attribute and returns the value.

        Args:
            key: The name.
            default: The result if there is no attribute of this name.

        Returns:
            The value, or `default`.

        Raises:
            KeyError: There is no attribute of this name and no `default`, or the file is open for reading.

        Example:
            >>> dataset.attrs.pop("units")
            'K'
            >>> dataset.attrs.pop("units", "none")
            'none'
        """
    def popitem(self) -> tuple[str, Any]:
        """Deletes the first attribute and returns the name and the value.

        Returns:
            The name and the value.

        Raises:
            KeyError: There are no attributes, or the file is open for reading.

        Example:
            >>> dataset.attrs.popitem()
            ('scale', np.float64(1.5))
        """
    def clear(self) -> None:
        """Deletes all attributes.

        Example:
            >>> dataset.attrs.clear()
            >>> len(dataset.attrs)
            0
        """
    def setdefault(self, key: _Name, default: Any = None) -> Any:
        """Returns the value of an attribute. An attribute that does not exist is created first.

        Args:
            key: The name.
            default: The value of a new attribute.

        Returns:
            The value of the attribute, or `default` if the attribute is new.

        Raises:
            TypeError: The attribute is new, and `default` has no equivalent in HDF5, such as None.
            OSError: The attribute is new, and the file is open for reading.

        Example:
            >>> dataset.attrs.setdefault("units", "degC")
            'K'
            >>> dataset.attrs.setdefault("offset", 0)
            0
        """
    def update(self, other: Any = (), /, **kwds: Any) -> None:
        """Sets several attributes: `attrs[name] = value` for each name.

        Args:
            other: A mapping from names to values, or pairs of names and values.
            kwds: More names with values.

        Raises:
            TypeError: A value has no equivalent in HDF5.
            OSError: The file is open for reading.

        Example:
            >>> dataset.attrs.update({"units": "degC"}, offset=273)
            >>> dataset.attrs["units"], dataset.attrs["offset"]
            ('degC', np.int64(273))
        """
    def _some_names(self, most: int) -> tuple[list[str], int]: ...
    def _repr_html_(self) -> str: ...
    def _set(self, name: str | bytes, shape: list[int] | None, dtype: Any, data: _Array | None) -> None: ...
    def _ipython_key_completions_(self) -> list[str]: ...

@disjoint_base
class AttrID:
    """The low-level identifier of an attribute, as h5py calls it: the result of `AttributeManager.get_id`.

    The identifier shows the attribute as it was when the identifier was made.

    Example:
        >>> scale = dataset.attrs.get_id("scale")
        >>> scale.name, scale.shape, scale.dtype
        (b'scale', (), dtype('float64'))
    """

    def __new__(cls, manager: AttributeManager, name: _Name) -> Self: ...
    @property
    def _manager(self) -> AttributeManager: ...
    @property
    def _description(self) -> tuple[Any, ...]: ...
    @property
    def _named_type(self) -> Datatype | None: ...
    def _elements(self) -> Any: ...
    @property
    def name(self) -> bytes:
        """The name of the attribute.

        Example:
            >>> dataset.attrs.get_id("units").name
            b'units'
        """
    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of the attribute in elements: () for a scalar, None without a dataspace.

        Example:
            >>> dataset.attrs.get_id("scale").shape
            ()
        """
    @property
    def dtype(self) -> _DType:
        """The dtype of the attribute.

        Raises:
            UnsupportedDtypeError: NumPy has no dtype for the datatype.

        Example:
            >>> dataset.attrs.get_id("scale").dtype
            dtype('float64')
        """
    def get_name(self) -> bytes:
        """Returns the name of the attribute.

        Returns:
            The name in UTF-8.

        Example:
            >>> dataset.attrs.get_id("scale").get_name()
            b'scale'
        """
    def get_storage_size(self) -> int:
        """Returns the stored size of the attribute.

        Returns:
            The size in bytes. The characters of strings of variable length are stored elsewhere and do not
            count.

        Example:
            >>> dataset.attrs.get_id("scale").get_storage_size()
            8
        """

@disjoint_base
class ObjectID:
    """The low-level identifier of an object, as h5py calls it.

    Identifiers are obtained from the property `id` of an object. Two identifiers are equal if they belong to
    the same object of the same file. The truth value is True while the object is open. The properties
    `valid`, `id` and `name` can be used after the file is closed.

    Example:
        >>> file["stations"].id == stations.id
        True
        >>> bool(dataset.id)
        True
    """

    def __new__(cls, object: HLObject) -> Self: ...
    @property
    def _object(self) -> Any: ...
    def _close(self) -> None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def close(self) -> None:
        """Closes the object of the identifier: the truth value of both is False from now on. Other handles of
        the same object stay open.

        Example:
            >>> other = file["surface"]
            >>> other.id.close()
            >>> bool(other), bool(group)
            (False, True)
        """

    @property
    def valid(self) -> bool:
        """True while the object is open.

        Example:
            >>> dataset.id.valid
            True
        """
    @property
    def id(self) -> int:
        """The address of the header of the object, in bytes from the end of the user block of the file.

        Example:
            >>> file.id.id
            48
        """
    @property
    def name(self) -> bytes | None:
        """The path by which the object was reached, or None.

        It is None for an object without a path and for an object reached by a reference.

        Example:
            >>> dataset.id.name
            b'/surface/t2m'
        """
    def __bool__(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

class FileID(ObjectID):
    """The low-level identifier of a file.

    Example:
        >>> file.id.get_file_image()[1:4]
        b'HDF'
    """

    def __new__(cls, object: File) -> Self: ...
    def _keywords(self) -> dict[str, Any]: ...
    @property
    def _space(self) -> tuple[int, bool, int, int]: ...
    def get_filesize(self) -> int:
        """Returns the size of the file in bytes, without the user block.

        The size counts changes that are not in the file yet. It may change with the next `File.flush`.

        Returns:
            The number of bytes.

        Example:
            >>> with hs.File("climate.h5") as saved:
            ...     saved.id.get_filesize() == len(saved.id.get_file_image())
            True
        """
    def get_file_image(self) -> bytes:
        """Returns the bytes of the file, including the user block and all changes so far.

        The changes are written first, as by `File.flush`.

        Returns:
            A copy of the bytes.

        Example:
            >>> image = file.id.get_file_image()
            >>> hs.File.in_memory(image)["stations"].shape
            (2,)
        """

class GroupID(ObjectID):
    """The low-level identifier of a group.

    Example:
        >>> group.id.name
        b'/surface'
        >>> group.id == file["surface"].id
        True
    """

    def __new__(cls, object: Group) -> Self: ...

@disjoint_base
class TypeID(ObjectID):
    """The low-level identifier of a committed datatype.

    Example:
        >>> file["count"] = np.dtype("i4")
        >>> file["count"].id.name
        b'/count'
    """

    def __new__(cls, object: Datatype) -> Self: ...
    @property
    def _description(self) -> tuple[Any, ...]: ...
    @property
    def dtype(self) -> _DType:
        """The NumPy dtype of the datatype.

        Raises:
            TypeError: NumPy has no dtype for the datatype.

        Example:
            >>> file["count"] = np.dtype("i4")
            >>> file["count"].id.dtype
            dtype('int32')
        """

@disjoint_base
class DatasetID(ObjectID):
    """The low-level identifier of a dataset: the chunks, as they are stored.

    Methods for chunks raise RuntimeError if the dataset is not stored in chunks. Every method raises
    `ClosedError` after the file is closed. Chunks that were changed in part and wait in memory are encoded
    first, so all chunks with elements are shown.

    Example:
        >>> dataset.id.get_num_chunks()
        4
        >>> mask, stored = dataset.id.read_direct_chunk((0, 0, 0))
        >>> dataset.id.write_direct_chunk((3, 0, 0), stored, mask)
        >>> bool((dataset[3] == dataset[0]).all())
        True
    """

    def __new__(cls, object: Dataset) -> Self: ...
    @property
    def _description(self) -> tuple[Any, ...]: ...
    @property
    def _named_type(self) -> Datatype | None: ...
    @property
    def _storage(self) -> tuple[int, int, int, Any]: ...
    @property
    def _pipeline(self) -> list[tuple[int, int, str | None, list[int]]]: ...
    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of the dataset in elements, or None for an empty dataset.

        Example:
            >>> dataset.id.shape
            (4, 2, 3)
        """
    @property
    def dtype(self) -> _DType:
        """The dtype of the dataset.

        Raises:
            UnsupportedDtypeError: NumPy has no dtype for the datatype.

        Example:
            >>> dataset.id.dtype
            dtype('float32')
        """
    @property
    def rank(self) -> int:
        """The number of axes.

        Example:
            >>> dataset.id.rank
            3
        """
    def get_num_chunks(self) -> int:
        """Returns the number of stored chunks.

        Returns:
            The number. Chunks that were never written do not count.

        Raises:
            RuntimeError: The dataset is not stored in chunks.

        Example:
            >>> dataset.resize(9, axis=0)
            >>> dataset.id.get_num_chunks()
            4
        """
    def get_chunk_info(self, index: int) -> StoreInfo:
        """Returns the place of a stored chunk.

        Args:
            index: The number of the chunk among the stored chunks, from 0, in the order of the index of
                chunks.

        Returns:
            The coordinates of the first element, the filter mask, the offset in the file and the size in
            bytes.

        Raises:
            ValueError: There are not more than `index` stored chunks.
            RuntimeError: The dataset is not stored in chunks.

        Example:
            >>> dataset.id.get_chunk_info(0)
            StoreInfo(chunk_offset=(0, 0, 0), filter_mask=0, byte_offset=..., size=...)
        """
    def get_chunk_info_by_coord(self, chunk_offset: tuple[int, ...]) -> StoreInfo:
        """Returns the place of the chunk that contains an element.

        Args:
            chunk_offset: The coordinates of the element.

        Returns:
            The place, as `get_chunk_info` gives it. If the chunk is not stored, `chunk_offset` and
            `byte_offset` are None and `size` is 0.

        Raises:
            ValueError: The number of coordinates differs from the number of axes.
            RuntimeError: The dataset is not stored in chunks.

        Example:
            >>> dataset.id.get_chunk_info_by_coord((1, 1, 2)).chunk_offset
            (1, 0, 0)
        """
    def chunk_iter(self, func: Callable[[StoreInfo], _T | None]) -> _T | None:
        """Calls a function with the place of each stored chunk, in the order of the index of chunks.

        The iteration stops at the first result of the function that is not None.

        Args:
            func: The function. The argument is a place, as `get_chunk_info` gives it.

        Returns:
            The result that stopped the iteration, or None.

        Raises:
            RuntimeError: The dataset is not stored in chunks.

        Example:
            >>> dataset.id.chunk_iter(lambda chunk: print(chunk.chunk_offset))
            (0, 0, 0)
            (1, 0, 0)
            (2, 0, 0)
            (3, 0, 0)
        """
    @overload
    def read_direct_chunk(self, offsets: Iterable[int], out: None = None) -> tuple[int, bytes]: ...
    @overload
    def read_direct_chunk(self, offsets: Iterable[int], out: bytearray | memoryview | _Array) -> tuple[int, memoryview]:
        """Returns the filter mask and the stored bytes of a chunk, not decoded.

        Args:
            offsets: The coordinates of the first element of the chunk.
            out: A writable buffer for the bytes, at least as long as the stored chunk.

        Returns:
            The filter mask (bit i is set if filter i was left out) and the bytes. With `out`, a view of the
            written part of `out` replaces the bytes.

        Raises:
            RuntimeError: The chunk is not stored, or the dataset is not stored in chunks.
            TypeError: The number of coordinates differs from the number of axes.
            ValueError: `out` is too short.
            BufferError: `out` is read-only.
            OSError: No chunk begins at `offsets`.

        Example:
            >>> mask, stored = dataset.id.read_direct_chunk((1, 0, 0))
            >>> mask, stored[:1]
            (0, b'x')
        """
    def write_direct_chunk(self, offsets: Iterable[int], data: Any, filter_mask: int = 0) -> None:
        """Stores the bytes of a chunk as they are, without filters.

        The bytes are not examined. A later read raises FormatError if the filters cannot decode them.

        Args:
            offsets: The coordinates of the first element of the chunk.
            data: The filtered bytes of the chunk, as an object with a buffer.
            filter_mask: A mask of filters: bit i is set if filter i was left out.

        Raises:
            OSError: No chunk of the dataset begins at `offsets`.
            RuntimeError: The dataset is not stored in chunks, or the file is open for reading.
            ValueError: `data` is not as long as a chunk, and no filter was applied to it.

        Example:
            >>> plain = np.arange(6, dtype="f4").tobytes()
            >>> dataset.id.write_direct_chunk((3, 0, 0), plain, filter_mask=0b11)
            >>> dataset[3]
            array([[0., 1., 2.],
                   [3., 4., 5.]], dtype=float32)
        """
    def get_storage_size(self) -> int:
        """Returns the stored size of all elements.

        Returns:
            The size in bytes: of all stored chunks, or of contiguous or compact data. The size of a virtual
            dataset is 0.

        Example:
            >>> stations.id.get_storage_size()
            30
        """
    def get_offset(self) -> int | None:
        """Returns the offset of contiguous elements in the file.

        Returns:
            The offset in bytes, or None for every other layout and before the first write.

        Example:
            >>> offset = stations.id.get_offset()
            >>> image = file.id.get_file_image()
            >>> np.frombuffer(image, stations.dtype, 2, offset)["id"]
            array([1, 2], dtype=int32)
        """

@disjoint_base
class Reference:
    """A reference to an object of a file.

    `HLObject.ref` makes a reference, `file[reference]` gives the object. Datasets and attributes of dtype
    `ref_dtype` hold references. A reference is the address of an object: only the file that it comes from can
    follow it. `Reference()` is a null reference, which refers to nothing. The truth value of a null reference
    is False. Two references are equal if they refer to the same.

    Example:
        >>> reference = dataset.ref
        >>> file[reference]
        <HDF5 dataset "t2m": shape (4, 2, 3), type "<f4">
        >>> file["links"] = np.array([reference], dtype=hs.ref_dtype)
        >>> file["links"][0] == reference
        True
        >>> bool(hs.Reference())
        False
    """

    def __new__(cls) -> Self: ...
    @property
    def typecode(self) -> Literal[0, 1]:
        """The kind of the reference: 0 for a reference to an object, 1 for a reference to a region.

        Example:
            >>> dataset.ref.typecode
            0
        """
    @property
    def attribute(self) -> str | None:
        """The name of the attribute, if the reference is to an attribute of an object. Otherwise None.

        Programs of HDF5 1.12 and later write such references. `file[reference]` gives the object.

        Example:
            >>> dataset.ref.attribute is None
            True
        """
    def __bool__(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class RegionReference(Reference):
    """A reference to a part of a dataset.

    `dataset.regionref[...]` makes a reference, and `dataset[reference]` reads the part. Datasets and
    attributes of dtype `regionref_dtype` hold references. `file[reference]` gives the dataset.
    `RegionReference()` is a null reference.

    Example:
        >>> part = dataset.regionref[1:3, :, 0]
        >>> dataset[part]
        array([[[ 6.],
                [ 9.]],
        <BLANKLINE>
               [[12.],
                [15.]]], dtype=float32)
        >>> file["parts"] = np.array([part], dtype=hs.regionref_dtype)
        >>> file[file["parts"][0]]
        <HDF5 dataset "t2m": shape (4, 2, 3), type "<f4">
        >>> hs.RegionReference()
        <HDF5 region reference (null)>
        >>> hs.RegionReference().typecode
        1
    """

    def __new__(cls) -> Self: ...

@final
class HardLink:
    """A link to an object of the same file, as returned by `Group.get` with `getlink=True`.

    A `HardLink` says only the kind of a link. To make a hard link, assign the object: `group[name] = object`.

    Example:
        >>> link = group.get("t2m", getlink=True)
        >>> isinstance(link, hs.HardLink)
        True
    """

    def __new__(cls) -> Self: ...

@final
class SoftLink:
    """A link to a path of the same file.

    `group[name] = SoftLink(path)` makes the link. The path may lead to nothing; following the link is then a
    KeyError.

    Args:
        path: The path, from the root group (with a slash in front) or from the group that holds the link.

    Raises:
        TypeError: `path` is not a str or bytes.

    Example:
        >>> file["temperature"] = hs.SoftLink("/surface/t2m")
        >>> file["temperature"].shape
        (4, 2, 3)
        >>> file.get("temperature", getlink=True)
        <SoftLink to "/surface/t2m">
    """

    def __new__(cls, path: str | bytes) -> Self: ...
    def __getnewargs__(self) -> tuple[str]: ...
    @property
    def path(self) -> str:
        """The path that the link leads to. It may lead to nothing. It is `bytes` if it is not UTF-8.

        Example:
            >>> hs.SoftLink("/surface/t2m").path
            '/surface/t2m'
        """

@final
class ExternalLink:
    """A link to a path of another file.

    `group[name] = ExternalLink(filename, path)` makes the link. When the link is followed, the other file is
    opened like the file that holds the link; if it cannot be opened for writing, for reading. Following a
    link that leads to nothing is a KeyError.

    Args:
        filename: The path of the other file, relative to the directory of the file that holds the link.
        path: The path of the object in the other file.

    Raises:
        TypeError: `filename` is not a str, bytes or PathLike, or `path` is not a str or bytes.

    Example:
        >>> file["far"] = hs.ExternalLink("climate.h5", "/surface")
        >>> file["far/t2m"].shape
        (4, 2, 3)
        >>> file["far"].file.mode
        'r+'
    """

    def __new__(cls, filename: str | bytes | os.PathLike[str], path: str | bytes) -> Self: ...
    def __getnewargs__(self) -> tuple[str, str]: ...
    @property
    def filename(self) -> str:
        """The path of the other file, as the link stores it.

        Example:
            >>> hs.ExternalLink("climate.h5", "/surface").filename
            'climate.h5'
        """
    @property
    def path(self) -> str:
        """The path of the object in the other file. It may lead to nothing. It is `bytes` if it is not UTF-8.

        Example:
            >>> hs.ExternalLink("climate.h5", "/surface").path
            '/surface'
        """

@final
class Empty:
    """The value of a dataset or attribute that has a dtype and no elements (a null dataspace).

    `group[name] = Empty(dtype)` makes such a dataset. Reading it returns an `Empty`. Two are equal if their
    dtypes are equal. An `Empty` has no hash.

    Args:
        dtype: The dtype.

    Raises:
        TypeError: NumPy does not know the dtype.

    Example:
        >>> file["nothing"] = hs.Empty("f4")
        >>> file["nothing"][()]
        Empty(dtype=dtype('float32'))
        >>> file["nothing"][()] == hs.Empty("f4")
        True
    """

    def __new__(cls, dtype: DTypeLike) -> Self: ...
    def __getnewargs__(self) -> tuple[_DType]: ...
    @property
    def dtype(self) -> _DType:
        """The dtype that the elements would have.

        Example:
            >>> hs.Empty("f4").dtype
            dtype('float32')
        """
    @property
    def shape(self) -> None:
        """None: an `Empty` has no shape.

        Example:
            >>> hs.Empty("f4").shape is None
            True
        """
    @property
    def size(self) -> None:
        """None: an `Empty` has no elements.

        Example:
            >>> hs.Empty("f4").size is None
            True
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
