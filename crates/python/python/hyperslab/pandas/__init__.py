"""Reads and writes the frames and series of pandas' HDF5 files, without PyTables: `hs.pandas`.

The files are those of `pandas.read_hdf` and `DataFrame.to_hdf`, in both directions and both formats (fixed
and table). Pickled attributes and arrays of Python objects are read by an interpreter of plain values, so
reading an untrusted file runs no code of it.

>>> frame = hs.pandas.read_hdf("store.h5", "readings", where="temp > 310")   # doctest: +SKIP
>>> hs.pandas.to_hdf(frame, "out.h5", "hot", compression=hs.Blosc2("zstd"))   # doctest: +SKIP

pandas itself is imported when the first name of this module is used.
"""

from .._optional import needed_by

with needed_by("hyperslab.pandas"):
    from ._store import read_hdf, to_hdf

__all__ = ["read_hdf", "to_hdf"]
