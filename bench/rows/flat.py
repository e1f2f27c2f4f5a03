"""Reads the values of `nd` in one dimension: Blosc2, Blosc1, and the array formats of the peers."""

from functools import cache

import data
import limits
import numpy as np
import peers
from common import Group, Target

TITLE = "1.6 GB of int32 counting up, one dimension in chunks of 4 MB, BloscLZ + shuffle, into a warm array"
THREADS = (1, 2)


def groups(threads: int):
    out = np.empty(np.prod(data.nd_shape()), "i4")
    counting = cache(data.counting)
    path, array, store = data.flat_blosc2(), data.flat_b2nd(), data.flat_zarr()
    others = ("python-blosc2", "zarr+zarrs", "tensorstore")
    targets = [Target("python-blosc2", 1.0)] if threads == 1 else [Target(name, 1.2) for name in others]
    yield Group(
        "Blosc2",
        [
            peers.ours_into(path, out, threads),
            *peers.h5py_into(path, out, threads, plugin=True),
            peers.blosc2_flat_into(array, out, threads),
            *peers.zarr_into(store, out, threads),
            peers.tensorstore_into(store, out, threads),
            limits.memcpy(counting, out, threads),
            limits.c_blosc2(path, out, threads),
        ],
        [Target("h5py+hdf5plugin", {1: 1.2, 2: 2.0}[threads]), *targets],
        counting,
        work_bytes=out.nbytes,
        scratch=[out],
        files=[path, array, store],
    )
    path = data.flat_blosc1()
    yield Group(
        "Blosc1",
        [
            peers.ours_into(path, out, threads),
            *peers.h5py_into(path, out, threads, plugin=True),
            limits.memcpy(counting, out, threads),
        ],
        [Target("h5py+hdf5plugin", {1: 1.2, 2: 2.0}[threads])],
        counting,
        work_bytes=out.nbytes,
        scratch=[out],
        files=[path],
    )
