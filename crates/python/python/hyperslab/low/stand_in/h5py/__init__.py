"""The package `h5py` of processes that a process with `hyperslab.as_h5py` starts."""

import hyperslab.as_h5py  # noqa: F401
