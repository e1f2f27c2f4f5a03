"""The low-level API of h5py: identifiers, property lists, dataspaces and datatypes.

One file for each module of h5py, over the native objects of the package. `hyperslab.h5d` is
`hyperslab.low.h5d`, and in the place of h5py (`hyperslab.as_h5py`) it is `h5py.h5d`. Names, arguments and
constants are those of h5py 3.16 and HDF5 2.0. What has no meaning without libhdf5 raises NotImplementedError
by name.
"""

import importlib
from typing import Any

MODULES = (
    "_conv",
    "_errors",
    "_objects",
    "_proxy",
    "_selector",
    "h5",
    "h5a",
    "h5ac",
    "h5d",
    "h5ds",
    "h5f",
    "h5fd",
    "h5g",
    "h5i",
    "h5l",
    "h5o",
    "h5p",
    "h5pl",
    "h5py_warnings",
    "h5r",
    "h5s",
    "h5t",
    "h5z",
    "utils",
    "version",
)


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
