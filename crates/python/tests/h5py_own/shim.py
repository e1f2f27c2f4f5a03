"""The module `h5py` for h5py's own tests: hyperslab, and the low-level names that the tests need.

Every other low-level name raises an exception. `cannot.toml` lists the tests that need such a name.
"""

import contextlib
import math
import os
import sys
import types
from typing import Any

import hyperslab
from hyperslab import *  # noqa: F403
from hyperslab import __version__  # noqa: F401


class Lower(types.ModuleType):
    """A module of h5py's low-level API. It has only the names that are set here."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(f"the low-level API has no {self.__name__}.{name} here")


def _lower(name: str, **members: Any) -> Lower:
    """Creates a module `h5py.name`."""
    module = Lower(f"{__name__}.{name}")
    module.__dict__.update(members)
    sys.modules[module.__name__] = module
    parent, _, last = name.rpartition(".")
    setattr(sys.modules[f"{__name__}.{parent}" if parent else __name__], last, module)
    return module


class _FastReader:
    """h5py has a fast reader for simple selections. hyperslab reads all selections in the same way."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def read(self, args: Any) -> Any:
        return self._dataset[args]


hyperslab.Dataset._fast_reader = property(_FastReader)

# Attributes that the tests read, under the names of h5py.
for _link in (hyperslab.SoftLink, hyperslab.ExternalLink):
    _link._path = property(lambda self: self.path)
hyperslab.ExternalLink._filename = property(lambda self: self.filename)


class _DatasetID:
    """An identifier with its dataset, for functions that take identifiers in h5py, datasets in hyperslab."""

    def __init__(self, dataset: Any, identifier: Any) -> None:
        self.dataset = dataset
        self._identifier = identifier

    def __getattr__(self, name: str) -> Any:
        return getattr(self._identifier, name)

    def __bool__(self) -> bool:
        return bool(self._identifier)

    def __eq__(self, other: object) -> bool:
        return self._identifier == getattr(other, "_identifier", other)

    def __hash__(self) -> int:
        return hash(self._identifier)


_identifier_of = hyperslab.HLObject.id.__get__
hyperslab.Dataset.id = hyperslab.Dataset._id = property(lambda self: _DatasetID(self, _identifier_of(self)))


def _iterate(dataset: _DatasetID, axis: int, function: Any, start: int) -> Any:
    for scale in dataset.dataset.dims[axis].values()[start:]:
        result = function(scale.id)
        if result is not None:
            return result
    return None


_SCALES = {
    "set_scale": lambda scale, name=b"": scale.dataset.make_scale(name),
    "is_scale": lambda scale: scale.dataset.is_scale,
    "attach_scale": lambda dataset, scale, axis: dataset.dataset.dims[axis].attach_scale(scale.dataset),
    "detach_scale": lambda dataset, scale, axis: dataset.dataset.dims[axis].detach_scale(scale.dataset),
    "is_attached": lambda dataset, scale, axis: scale.dataset in dataset.dataset.dims[axis].values(),
    "get_num_scales": lambda dataset, axis: len(dataset.dataset.dims[axis]),
    "get_scale_name": lambda scale: scale.dataset.attrs["NAME"],
    "get_label": lambda dataset, axis: dataset.dataset.dims[axis].label.encode(),
    "set_label": lambda dataset, axis, label: setattr(dataset.dataset.dims[axis], "label", label),
    "iterate": _iterate,
}


def _is_without_elements(identifier: Any) -> bool:
    return identifier.shape is None


# The version of HDF5 whose behaviour the tests expect.
_lower("version", hdf5_version_tuple=(2, 0, 0), hdf5_version="2.0.0", version=__version__, info="")
_lower("_objects", phil=contextlib.nullcontext())
_lower("_errors", silence_errors=lambda: None, unsilence_errors=lambda: None)
_lower("h5py_warnings", H5pyDeprecationWarning=DeprecationWarning)
_lower("_selector", Selector=None)
_lower("_hl")
_base = _lower("_hl.base", is_hdf5=hyperslab.is_hdf5, Empty=hyperslab.Empty, product=math.prod)
_base.is_empty_dataspace = _is_without_elements
_lower("_hl.compat", filename_encode=os.fsencode, filename_decode=os.fsdecode)
_lower("_hl.dataset", Dataset=hyperslab.Dataset, _LEGACY_GZIP_COMPRESSION_VALS=frozenset(range(10)))
_lower("_hl.group", Group=hyperslab.Group)
_lower("_hl.vds", vds_support=True)
_lower("_hl.files", File=hyperslab.File, direct_vfd=False, _drivers={}, make_fapl=None)
_filters = _lower("_hl.filters", encode=("gzip", "lzf", "shuffle", "fletcher32"))
_filters.decode = _filters.encode
filters = sys.modules[f"{__name__}.filters"] = _filters
for _name in ("selections", "selections2", "attrs", "datatype"):
    _lower(f"_hl.{_name}")
for _name in ("h5a", "h5d", "h5f", "h5fd", "h5g", "h5i", "h5l", "h5o", "h5p", "h5pl", "h5s"):
    _lower(_name)
_lower("h5ds", **_SCALES)
_lower("h5r", Reference=hyperslab.Reference, RegionReference=hyperslab.RegionReference)
_lower("h5t", vlen_dtype=hyperslab.vlen_dtype, check_vlen_dtype=hyperslab.check_vlen_dtype)
_lower(
    "h5",
    get_config=lambda: types.SimpleNamespace(complex_names=("r", "i"), mpi=False, ros3=False, has_native_complex=False),
)
_h5z = _lower("h5z", FILTER_DEFLATE=1, FILTER_SHUFFLE=2, FILTER_FLETCHER32=3, FILTER_SZIP=4, FILTER_LZF=32000)
_h5z.filter_avail = lambda number: number in (1, 2, 3, 32000)
