"""Reads and writes HDF5 files in parallel, without libhdf5, straight from and into NumPy arrays.

The names are h5py's, and mean the same where nothing else is said (``docs/known-gaps.md`` lists what is
missing):

>>> import hyperslab as hs
>>> with hs.File("climate.h5") as file:            # doctest: +SKIP
...     july = file["surface/t2m"][181:212, ::2]

>>> with hs.File("out.h5", "w") as file:           # doctest: +SKIP
...     file.create_dataset("t2m", data=july, compression=hs.Blosc2("lz4"))

What h5py lacks: ``Dataset.read`` with ``out=`` and ``threads=``, ``Dataset.read_many``, ``Dataset.plan``,
``set_threads``; ``File.transaction``, ``durability=``, ``check``, and files that stay whole if the program
dies at any instruction (and with ``durability="power"`` the machine); ``hyperslab.segy`` for seismic surveys.
Reads and writes run without the GIL.
"""

import importlib as _importlib
import os as _os
from collections.abc import MutableMapping as _MutableMapping
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import _engine as _engine
from . import _interrupt as _interrupt  # first: it takes no time, and NumPy does
from . import low, segy
from ._arrow import Query
from ._check import Finding, check
from ._chunks import StoreInfo
from ._columns import Cols, Column
from ._dtypes import (
    check_dtype,
    check_enum_dtype,
    check_opaque_dtype,
    check_ref_dtype,
    check_string_dtype,
    check_vlen_dtype,
    enum_dtype,
    opaque_dtype,
    ref_dtype,
    regionref_dtype,
    special_dtype,
    string_dtype,
    vlen_dtype,
)
from ._errors import ClosedError, FormatError, NameExistsError, UnsupportedDtypeError
from ._expr import Expr
from ._filters import LZ4, Bitshuffle, Blosc, Blosc2, BZip2, Filter, NBit, Snappy, SZip, Zfp, Zstd
from ._imagecodecs import use_imagecodecs
from ._native import (
    AttributeManager,
    Dataset,
    Datatype,
    Empty,
    ExternalLink,
    File,
    Group,
    HardLink,
    HLObject,
    ReadPlan,
    Reference,
    RegionReference,
    SoftLink,
    __version__,
    disable_plugins,
    get_threads,
    load_plugins,
    register_filter,
    set_threads,
    unregister_filter,
)
from ._pytables import EArray, VLArray
from ._references import references
from ._row import NewRow, Row
from ._selections import MultiBlockSlice
from ._table import Table
from ._virtual import UNLIMITED, VDSmap, VirtualLayout, VirtualSource
from .low._complex import check_complex_dtype, complex_compat_dtype
from .low.h5 import get_config

if _TYPE_CHECKING:
    from . import dask as dask
    from . import filters as filters
    from . import pandas as pandas
    from .low import version as version
    from .low._drivers import register_driver as register_driver
    from .low._drivers import registered_drivers as registered_drivers
    from .low._drivers import unregister_driver as unregister_driver

_MutableMapping.register(Group)
_MutableMapping.register(AttributeManager)

_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_hdf5(fname: "str | bytes | _os.PathLike[str] | _os.PathLike[bytes]") -> bool:
    """Returns whether a file begins like an HDF5 file: at its start, or after a user block.

    Args:
        fname: The path of the file.

    Returns:
        False if there is no file at this path.

    Example:
        >>> hs.is_hdf5("climate.h5"), hs.is_hdf5("missing.h5")
        (True, False)
    """
    if not _os.path.isfile(fname):
        return False
    with open(fname, "rb") as file:
        end = file.seek(0, _os.SEEK_END)
        place = 0
        while place + len(_SIGNATURE) <= end:
            file.seek(place)
            if file.read(len(_SIGNATURE)) == _SIGNATURE:
                return True
            place = place * 2 or 512
    return False


def run_tests(args: str = "") -> int:
    """Runs the tests of h5py, which its package has, with hyperslab in the place of h5py.

    Args:
        args: The arguments of pytest, separated by spaces.

    Returns:
        The exit status of pytest.

    Example:
        >>> hs.run_tests("-k test_is_hdf5 -q")  # doctest: +SKIP
        0
    """
    import shlex
    import subprocess
    import sys

    command = [sys.executable, "-m", "hyperslab.as_h5py", "-m", "pytest", "--pyargs", "h5py.tests"]
    return subprocess.run([*command, *shlex.split(args)], check=False).returncode


def enable_ipython_completer() -> None:
    """Does nothing: objects complete their names in IPython by themselves.

    Example:
        >>> hs.enable_ipython_completer()
    """


# Modules that import other libraries, when they are first used.
_ON_DEMAND = ("dask", "filters", "pandas")
# Names that are defined in modules of the low-level API.
_LOW = {
    "register_driver": "_drivers",
    "registered_drivers": "_drivers",
    "unregister_driver": "_drivers",
}


def __getattr__(name: str) -> "_Any":
    if name in _ON_DEMAND:
        return _importlib.import_module(f".{name}", __name__)
    if name in _LOW:
        return getattr(_importlib.import_module(f".low.{_LOW[name]}", __name__), name)
    if name in low.MODULES:
        return _importlib.import_module(f".low.{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> "list[str]":
    modules = [name for name in low.MODULES if not name.startswith("_")]
    return sorted({*globals(), *_ON_DEMAND, *_LOW, *modules})


__all__ = [
    "AttributeManager",
    "Dataset",
    "Datatype",
    "Empty",
    "ExternalLink",
    "File",
    "Group",
    "HLObject",
    "HardLink",
    "MultiBlockSlice",
    "Reference",
    "RegionReference",
    "SoftLink",
    "UNLIMITED",
    "VirtualLayout",
    "VirtualSource",
    "check_complex_dtype",
    "check_dtype",
    "check_enum_dtype",
    "check_opaque_dtype",
    "check_ref_dtype",
    "check_string_dtype",
    "check_vlen_dtype",
    "complex_compat_dtype",
    "enable_ipython_completer",
    "enum_dtype",
    "filters",
    "get_config",
    "is_hdf5",
    "opaque_dtype",
    "ref_dtype",
    "regionref_dtype",
    "register_driver",
    "registered_drivers",
    "run_tests",
    "special_dtype",
    "string_dtype",
    "unregister_driver",
    "vlen_dtype",
]
# The names of h5py that the package has.
H5PY_NAMES = tuple(__all__)
__all__ += [
    "BZip2",
    "Bitshuffle",
    "Blosc",
    "Blosc2",
    "ClosedError",
    "Cols",
    "Column",
    "EArray",
    "Expr",
    "Filter",
    "Finding",
    "FormatError",
    "LZ4",
    "NBit",
    "NameExistsError",
    "NewRow",
    "Query",
    "ReadPlan",
    "Row",
    "SZip",
    "Snappy",
    "StoreInfo",
    "Table",
    "UnsupportedDtypeError",
    "VDSmap",
    "VLArray",
    "Zfp",
    "Zstd",
    "__version__",
    "check",
    "disable_plugins",
    "get_threads",
    "load_plugins",
    "references",
    "register_filter",
    "segy",
    "set_threads",
    "unregister_filter",
    "use_imagecodecs",
]
