"""Loads a variable of a netCDF-4 file by the engines of xarray."""

from functools import cache

import data
import numpy as np
from common import OUR_NAME, OURS, Contestant, Group, Target

TITLE = "xarray loads 400 MB of float32 from netCDF-4, gzip 4 + shuffle in chunks (1,500,500)"
THREADS = (2,)


def loading(engine: str | type):
    """Returns a function that opens the file by an engine, and loads the variable."""

    def load(state, turn):
        import xarray

        with xarray.open_dataset(data.netcdf(), engine=engine) as dataset:
            return dataset["t2m"].load().to_numpy()

    return load


def groups(threads: int):
    # By its class, since the package is found by its path and not installed.
    from hyperslab.xarray import HyperslabBackendEntrypoint

    one = "1 (it has no more)"
    yield Group(
        "xr.open_dataset(...).load()",
        [
            Contestant(
                OUR_NAME,
                loading(HyperslabBackendEntrypoint),
                kind=OURS,
                environment={"HYPERSLAB_THREADS": str(threads)},
            ),
            Contestant("h5netcdf", loading("h5netcdf"), threads=one),
            Contestant("netcdf4", loading("netcdf4"), threads=one),
        ],
        [Target("h5netcdf", 4.0), Target("netcdf4", 4.0)],
        cache(data.gzip_values),
        work_bytes=int(np.prod(data.gzip_shape())) * 4,
        files=[data.netcdf()],
    )
