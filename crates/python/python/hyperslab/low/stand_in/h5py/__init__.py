"""The package `h5py` of processes that a process with `hyperslab.as_h5py` starts."""

import importlib
import importlib.util
import os
import sys

if importlib.util.find_spec("hyperslab") is not None:
    importlib.import_module("hyperslab.as_h5py")
else:
    # The Python of another environment inherits the path to this package, and has an h5py of its own.
    _folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _folder]
    del sys.modules["h5py"]
    importlib.import_module("h5py")
