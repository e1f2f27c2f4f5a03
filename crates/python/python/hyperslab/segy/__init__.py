"""Seismic surveys: SEG-Y into HDF5 and back, and any inline, crossline, slice or trace of a survey.

>>> import hyperslab as hs
>>> hs.segy.ingest("volume.sgy", "cube.h5", compression=hs.Blosc2("zstd"))       # doctest: +SKIP
>>> with hs.segy.open("cube.h5") as survey:                                      # doctest: +SKIP
...     section = survey.inline(1200)                    # an array (crosslines, samples)
...     survey.plot(slice=752.0)                         # at 752 ms; needs matplotlib
...     lazy = survey.to_xarray(chunks="auto")           # needs xarray, and dask for chunks
>>> hs.segy.export("cube.h5", "back.sgy")                # byte for byte volume.sgy  # doctest: +SKIP
"""

from ._convert import export, extract, ingest, scan
from ._survey import Survey, open
from ._xarray import register_xarray

__all__ = ["Survey", "export", "extract", "ingest", "open", "register_xarray", "scan"]
