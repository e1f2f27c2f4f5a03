"""The engine "hyperslab" of xarray: netCDF-4 and other HDF5 files, read and written in parallel.

    xr.open_dataset("climate.nc", engine="hyperslab")
    ds.to_netcdf("out.nc", engine="hyperslab")

Reading needs no import of this package, as xarray finds the engine itself. Writing does, unless a file was
read before: `import hyperslab` adds the engine to xarray's list of those that write, which is fixed.

Variables are lazy. Reads take no lock, so that threads of Dask read side by side, and each read decodes its
chunks on all threads. Dask's chunks follow the chunks of the file with `chunks={}`.
"""

import io
import os
from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np

from ._optional import needed_by

with needed_by("hyperslab.xarray"):
    from xarray.backends.common import (
        BackendArray,
        BackendEntrypoint,
        BytesIOProxy,
        WritableCFDataStore,
        _normalize_path,
    )
from xarray.backends.file_manager import CachingFileManager, DummyFileManager, FileManager, PickleableFileManager
from xarray.backends.locks import get_dask_scheduler, get_write_lock
from xarray.backends.netCDF4_ import _encode_nc4_variable, _nc4_dtype
from xarray.backends.store import StoreBackendEntrypoint
from xarray.core import indexing
from xarray.core.dataset import Dataset as XarrayDataset
from xarray.core.datatree import DataTree
from xarray.core.utils import FrozenDict, close_on_error, is_remote_uri, try_read_magic_number_from_file_or_path
from xarray.core.variable import Variable as XarrayVariable

from . import _encoding, _netcdf
from ._dtypes import string_dtype
from ._errors import ClosedError
from ._native import Dataset, File, Group

_SIGNATURE = b"\x89HDF\r\n\x1a\n"


class _Array(BackendArray):
    """A variable of a file, read when it is indexed."""

    def __init__(self, store: "HyperslabStore", path: str, shape: "tuple[int, ...]", dataset: Dataset) -> None:
        self.store = store
        self.path = path
        self.shape = shape
        self.is_text = _netcdf.is_text(dataset.dtype)
        self.dtype = string_dtype() if self.is_text else dataset.dtype

    def __getitem__(self, key: Any) -> Any:
        support = indexing.IndexingSupport.OUTER_1VECTOR
        return indexing.explicit_indexing_adapter(key, self.shape, support, self._read)

    def _read(self, key: Any) -> Any:
        try:
            return self._read_once(key)
        except ClosedError:
            # xarray closes files when too many are open, and opens them again.
            return self._read_once(key)

    def _read_once(self, key: Any) -> Any:
        dataset = self.store.file()[self.path]
        view = dataset.asstr(errors="surrogateescape") if self.is_text else dataset
        found = (view if dataset.shape == self.shape else self._padded(dataset))[key]
        is_element = all(isinstance(one, int | np.integer) for one in key)
        return _element(found) if is_element and self.dtype == object and not self.is_text else found

    def _padded(self, dataset: Dataset) -> Any:
        """Returns the elements in the shape of the dimensions, of which others have grown since."""
        fill = dataset.fillvalue
        if self.dtype == object:
            fill = "" if self.is_text else _element(fill)
        whole = np.full(self.shape, fill, dtype=self.dtype)
        view = dataset.asstr(errors="surrogateescape") if self.is_text else dataset
        whole[tuple(slice(0, length) for length in dataset.shape or ())] = view[...]
        return whole

    def __setitem__(self, key: Any, value: Any) -> None:
        with self.store.lock:
            self.store.file()[self.path][key] = value
            if self.store.autoclose:
                self.store.close(needs_lock=False)


def _element(value: Any) -> "np.ndarray[Any, Any]":
    """Returns an object as an array without axes: a sequence is one element, and not an axis."""
    found = np.empty((), object)
    found[()] = value
    return found


class HyperslabStore(WritableCFDataStore):
    """A group of a file for xarray, to read and to write.

    Args:
        manager: What opens the file.
        group: The path of the group.
        mode: The mode of the file.
        lock: The lock of writes from several processes.
        autoclose: True closes the file after each write, for writes from several processes.
    """

    def __init__(
        self,
        manager: "FileManager[Any]",
        group: "str | None" = None,
        mode: str = "r",
        lock: Any = None,
        autoclose: bool = False,
    ) -> None:
        self._manager = manager
        self._group = group
        self._mode = mode
        self.lock = indexing_lock(lock)
        self.autoclose = autoclose
        #: The dimensions that are written, and those that are coordinate variables.
        self._dimensions: dict[str, _netcdf.Dimension] = {}
        self._coordinates: set[str] = set()
        self._names = _netcdf.AxisNames()

    @classmethod
    def open(
        cls,
        filename: Any,
        mode: str = "r",
        format: "str | None" = "NETCDF4",
        group: "str | None" = None,
        lock: Any = None,
        autoclose: bool = False,
        **keywords: Any,
    ) -> "HyperslabStore":
        """Opens or creates a file.

        Args:
            filename: The path, or a file object.
            mode: "r", "r+", "a", "w" or "x".
            format: "NETCDF4".
            group: The path of the group.
            lock: The lock of writes. By default, writes from threads take none, and those from other
                processes the lock of the scheduler of Dask.
            autoclose: True closes the file after each write.
            keywords: Keywords of `hyperslab.File`.

        Raises:
            ValueError: Another format.

        Example:
            >>> from hyperslab.xarray import HyperslabStore
            >>> HyperslabStore.open("climate.h5").get_dimensions()["phony_dim_0"]
            2
        """
        if format not in (None, "NETCDF4"):
            raise ValueError(f"the engine 'hyperslab' writes the format NETCDF4, not {format!r}")
        if isinstance(filename, BytesIOProxy):
            proxy, filename = filename, io.BytesIO()
            proxy.getvalue = filename.getbuffer
        if isinstance(filename, bytes | memoryview):
            filename = io.BytesIO(filename)
        if mode != "r":
            keywords.setdefault("track_order", True)
        if lock is None and mode != "r" and get_dask_scheduler() not in (None, "threaded"):
            lock = get_write_lock(filename)
        is_path = isinstance(filename, str | os.PathLike)
        manager_class: Any = CachingFileManager if is_path else PickleableFileManager
        if keywords.get("storage_options") is not None:
            keywords["storage_options"] = tuple(sorted(keywords["storage_options"].items()))
        manager = manager_class(_open, os.fspath(filename) if is_path else filename, mode=mode, kwargs=keywords)
        return cls(manager, group=group, mode=mode, lock=lock, autoclose=autoclose)

    @classmethod
    def of(cls, group: Group) -> "HyperslabStore":
        """Returns the store of an open file or of a group of it, which stays open.

        Args:
            group: The file or group.

        Example:
            >>> from hyperslab.xarray import HyperslabStore
            >>> sorted(HyperslabStore.of(file["surface"]).get_variables())
            ['t2m']
        """
        return cls(DummyFileManager(group.file), group=group.name, mode=group.file.mode)

    def file(self) -> File:
        """Returns the open file."""
        with self._manager.acquire_context() as file:
            return cast(File, file)

    def get_child_store(self, group: str) -> "HyperslabStore":
        """Returns the store of a group of this group."""
        path = group if self._group is None else f"{self._group.rstrip('/')}/{group}"
        return self._at(path)

    def _at(self, path: str) -> "HyperslabStore":
        """Returns the store of a group of the file."""
        store = type(self)(self._manager, group=path, mode=self._mode, lock=self.lock, autoclose=self.autoclose)
        store._names = self._names
        return store

    def _opened(self) -> _netcdf.NetCDFGroup:
        file = self.file()
        if self._mode != "r" and self._group:
            _netcdf.require_group(file, self._group)
        # The names of axes change with the file.
        return _netcdf.open_group(file, self._group, self._names if self._mode == "r" else None)

    def _path(self, name: str) -> str:
        """Returns the path of a variable in the file of the store.

        Behind an external link, the name of the group is one in another file.
        """
        return f"{(self._group or '').rstrip('/')}/{name}"

    # Reading

    def load(self) -> "tuple[Any, Any]":
        """Returns the variables and the attributes of the group."""
        found = self._opened()
        variables = {name: self._variable(found, name) for name in found.variables}
        return FrozenDict(variables), FrozenDict(_netcdf.read_attributes(found.group))

    def get_variables(self) -> Any:
        """Returns the variables of the group."""
        return self.load()[0]

    def get_attrs(self) -> Any:
        """Returns the attributes of the group."""
        return FrozenDict(_netcdf.read_attributes(self._opened().group))

    def get_dimensions(self) -> Any:
        """Returns the lengths of the dimensions of the group."""
        return FrozenDict({name: dim.size for name, dim in self._opened().dimensions.items()})

    def get_parent_dimensions(self) -> Any:
        """Returns the lengths of the dimensions of the groups above."""
        parent = self._opened().parent
        above = {} if parent is None else parent.all_dimensions()
        return FrozenDict({name: dim.size for name, dim in above.items()})

    def get_encoding(self) -> "dict[str, Any]":
        """Returns the names of the dimensions that can grow."""
        dimensions = self._opened().dimensions
        return {"unlimited_dims": {name for name, dim in dimensions.items() if dim.is_unlimited}}

    def _variable(self, found: _netcdf.NetCDFGroup, name: str) -> XarrayVariable:
        variable = found.variables[name]
        dataset = variable.dataset
        data = indexing.LazilyIndexedArray(_Array(self, self._path(name), found.shape_of(variable), dataset))
        encoding = self._encoding(variable, data.shape)
        attributes = _netcdf.read_attributes(dataset)
        if data.dtype == object and not _netcdf.is_text(dataset.dtype):
            # xarray would compare sequences with it, which have several values.
            encoding.update({name: attributes.pop(name) for name in _netcdf.FILLS if name in attributes})
        return XarrayVariable(variable.dimensions, data, attributes, encoding)

    def _encoding(self, variable: _netcdf.Variable, shape: "tuple[int, ...]") -> "dict[str, Any]":
        encoding = _encoding.found(variable.dataset, variable.dimensions)
        encoding.update(source=str(self.file().filename), original_shape=shape)
        return encoding

    # Writing

    def encode_variable(self, variable: Any, name: Any = None) -> Any:
        """Returns a variable in the form that the file stores."""
        return _encode_nc4_variable(variable, name=name)

    def set_attribute(self, key: str, value: Any) -> None:
        """Writes an attribute of the group."""
        _netcdf.write_attribute(self._opened().group, key, value)

    def set_dimensions(self, variables: "Mapping[str, Any]", unlimited_dims: Any = None) -> None:
        """Notes the dimensions of the variables that will be written."""
        self._coordinates = {name for name, variable in variables.items() if variable.dims == (name,)}
        super().set_dimensions(variables, unlimited_dims=unlimited_dims)

    def set_dimension(self, name: str, length: int, is_unlimited: bool = False) -> None:
        """Notes a dimension. Its scale is made with the first variable that has it."""
        if "/" in name:
            raise ValueError(f"a name of netCDF has no '/' (got {name!r})")
        self._dimensions[name] = _netcdf.Dimension(length, is_unlimited)

    def set_variables(self, variables: Any, check_encoding_set: Any, writer: Any, unlimited_dims: Any = None) -> None:
        """Writes variables: those first that are the scales of others."""
        names = sorted(variables, key=lambda name: name not in self._coordinates)
        ordered = {name: variables[name] for name in names}
        super().set_variables(ordered, check_encoding_set, writer, unlimited_dims=unlimited_dims)
        missing = [name for name in self._dimensions if name not in self._opened().all_dimensions()]
        self._scales(self._opened(), missing)

    def prepare_variable(
        self, name: str, variable: Any, check_encoding: bool = False, unlimited_dims: Any = None
    ) -> "tuple[_Array, Any]":
        """Creates a variable. Returns the target and the source of its elements."""
        if "/" in name:
            raise ValueError(f"a name of netCDF has no '/' (got {name!r})")
        file = self.file()
        _netcdf.mark_file(file)
        found = self._opened()
        attributes = dict(variable.attrs)
        fill = attributes.pop("_FillValue", None)
        if name in found.variables:
            dataset = found.variables[name].dataset
        else:
            dataset = self._create(found, name, variable, fill, check_encoding)
        for key, value in attributes.items():
            _netcdf.write_attribute(dataset, key, value)
        return _Array(self, self._path(name), dataset.shape or (), dataset), variable.data

    def _create(self, found: _netcdf.NetCDFGroup, name: str, variable: Any, fill: Any, check_encoding: bool) -> Dataset:
        """Creates the dataset of a variable, with the scales of its dimensions."""
        unlimited = {dim for dim, facts in self._all(found).items() if facts.is_unlimited}
        encoding = _encoding.wanted(variable, check_encoding, unlimited)
        dtype: Any = _nc4_dtype(variable)
        if dtype is str:
            dtype = string_dtype()
        elif np.dtype(dtype).kind == "c":
            raise ValueError(f"the variable {name!r} is complex, which netCDF-4 does not have: write two variables")
        else:
            dtype = _encoding.in_order(np.dtype(dtype), encoding)
            enum = (dtype.metadata or {}).get("enum_name")
            dtype = _netcdf.enum_type(found.group, enum, dtype) if enum else dtype
        keywords = _encoding.storage(encoding, variable, [dim in unlimited for dim in variable.dims], dtype)
        if fill is not None:
            keywords["fillvalue"] = fill
        replaced = self._replaced(found, name)
        dataset: Dataset = found.group.create_dataset(name, variable.shape, dtype, track_order=True, **keywords)
        if fill is not None:
            kind = getattr(dtype, "dtype", dtype)
            dataset.attrs["_FillValue"] = fill if kind.kind == "O" else np.array([fill], dtype=kind)
        made = _netcdf.Variable(dataset, tuple(variable.dims))
        if variable.dims == (name,):
            known = found.dimensions.get(name)
            number = None if known is None else known.number
            _netcdf.make_scale(dataset, _netcdf.next_number(self.file()) if number is None else number, name)
            for other, axis in replaced:
                other.dims[axis].attach_scale(dataset)
            return dataset
        scales = self._scales(found, list(made.dimensions))
        if name in made.dimensions:
            raise ValueError(f"the variable {name!r} has several dimensions, and the name of one of them")
        _netcdf.attach(made, scales)
        return dataset

    def _all(self, found: _netcdf.NetCDFGroup) -> "dict[str, _netcdf.Dimension]":
        return found.all_dimensions() | self._dimensions

    def _scales(self, found: _netcdf.NetCDFGroup, names: Iterable[str]) -> "dict[str, Dataset]":
        """Returns the scales of dimensions, which are created if they do not exist."""
        scales: dict[str, Dataset] = {}
        for name in names:
            owner: _netcdf.NetCDFGroup | None = found
            while owner is not None and name not in owner.dimensions:
                owner = owner.parent
            if owner is None:
                number = _netcdf.next_number(self.file())
                dimension = self._dimensions[name]
                scales[name] = _netcdf.create_dimension(found.group, name, dimension, number)
                found.dimensions[name] = dimension._replace(number=number)
            else:
                scales[name] = owner.group[name]
        return scales

    def _replaced(self, found: _netcdf.NetCDFGroup, name: str) -> "list[tuple[Dataset, int]]":
        """Removes the scale of a dimension without a variable. Returns the axes that it was attached to."""
        if name not in found.group or name not in found.dimensions:
            return []
        scale = found.group[name]
        attached = _netcdf.users(scale)
        for other, axis in attached:
            other.dims[axis].detach_scale(scale)
        del found.group[name]
        return attached

    def sync(self) -> None:
        """Writes changes to the file."""
        self.file().flush()

    def close(self, **keywords: Any) -> None:
        """Closes the file."""
        self._manager.close(**keywords)


def _open(name: Any, *, storage_options: Any = None, **keywords: Any) -> File:
    """Opens a file. xarray uses the arguments as a key, so options are pairs in place of a dict."""
    return File(name, storage_options=None if storage_options is None else dict(storage_options), **keywords)


def indexing_lock(lock: Any) -> Any:
    """Returns a lock that can be pickled; None and False stand for no lock."""
    from xarray.backends.locks import ensure_lock

    return ensure_lock(lock or False)


class HyperslabBackendEntrypoint(BackendEntrypoint):
    """The engine "hyperslab": netCDF-4 and other HDF5 files, without locks and on all threads."""

    description = "Open netCDF-4 and other HDF5 files with hyperslab, in parallel and without libhdf5"
    url = "https://github.com/hyperslab/hyperslab"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Returns False: xarray takes the engine only by name, so that other engines stay the default."""
        return False

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: "str | Iterable[str] | None" = None,
        mask_and_scale: bool = True,
        decode_times: Any = True,
        concat_characters: bool = True,
        decode_coords: Any = True,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: "str | None" = None,
        lock: Any = None,
        driver: "str | None" = None,
        driver_kwds: "Mapping[str, Any] | None" = None,
        storage_options: "Mapping[str, Any] | None" = None,
    ) -> XarrayDataset:
        """Opens a group of a file as a dataset. `driver_kwds` are keywords of `hyperslab.File`."""
        keywords = _keywords(driver, driver_kwds, storage_options)
        store = _store(filename_or_obj, group, lock, keywords)
        with close_on_error(store):
            return StoreBackendEntrypoint().open_dataset(
                store,
                mask_and_scale=mask_and_scale,
                decode_times=decode_times,
                concat_characters=concat_characters,
                decode_coords=decode_coords,
                drop_variables=drop_variables,
                use_cftime=use_cftime,
                decode_timedelta=decode_timedelta,
            )

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        group: "str | None" = None,
        lock: Any = None,
        driver: "str | None" = None,
        driver_kwds: "Mapping[str, Any] | None" = None,
        storage_options: "Mapping[str, Any] | None" = None,
        **decoding: Any,
    ) -> "dict[str, XarrayDataset]":
        """Opens every group of a file as a dataset, by its path."""
        store = _store(filename_or_obj, group, lock, _keywords(driver, driver_kwds, storage_options))
        base = "/" + (group or "").strip("/")
        found = {}
        with close_on_error(store):
            for path, _ in list(_netcdf.walk(store.file(), group)):
                child = store._at(path)
                relative = path if base == "/" else path[len(base) :] or "/"
                found[relative] = StoreBackendEntrypoint().open_dataset(child, **decoding)
        return found

    def open_datatree(self, filename_or_obj: Any, **keywords: Any) -> DataTree:
        """Opens all groups of a file as a tree of datasets."""
        from xarray.backends.common import datatree_from_dict_with_io_cleanup

        tree: DataTree = datatree_from_dict_with_io_cleanup(self.open_groups_as_dict(filename_or_obj, **keywords))
        return tree


def _keywords(
    driver: "str | None", driver_kwds: "Mapping[str, Any] | None", storage_options: "Mapping[str, Any] | None"
) -> "dict[str, Any]":
    """Returns the keywords of `File`."""
    options = {} if storage_options is None else {"storage_options": dict(storage_options)}
    return {"driver": driver, **options, **(driver_kwds or {})}


def _store(filename_or_obj: Any, group: "str | None", lock: Any, keywords: "dict[str, Any]") -> HyperslabStore:
    source = _normalize_path(filename_or_obj)
    is_url = isinstance(source, str) and is_remote_uri(source)
    if isinstance(source, str) and not is_url and not os.path.exists(source):
        raise FileNotFoundError(2, os.strerror(2), source)
    is_file = not is_url and not isinstance(source, bytes | memoryview)
    magic = try_read_magic_number_from_file_or_path(source) if is_file else None
    if isinstance(source, io.IOBase) and magic is not None and not magic.startswith(_SIGNATURE):
        raise ValueError(f"{magic!r} is not the signature of an HDF5 file")
    return HyperslabStore.open(source, group=group, lock=lock, **keywords)
