"""Reads a whole four-dimensional int32 dataset in Blosc2 chunks into a warm array."""

from functools import cache

import data
import limits
import numpy as np
import peers
from common import Group, Target

TITLE = "1.6 GB of int32, (400,100,100,100) in chunks (1,100,100,100), Blosc2 BloscLZ + shuffle, into a warm array"
THREADS = (1, 2)
RATIO = {1: 2.0, 2: 3.6}


def groups(threads: int):
    out = np.empty(data.nd_shape(), "i4")

    expected = cache(lambda: data.counting().reshape(data.nd_shape()))
    path = data.nd()
    yield Group(
        "written by hdf5plugin",
        [
            peers.ours_into(path, out, threads),
            *peers.h5py_into(path, out, threads, plugin=True),
            limits.memcpy(expected, out, threads),
            limits.c_blosc2(path, out, threads),
        ],
        [Target("h5py+hdf5plugin", RATIO[threads])],
        expected,
        work_bytes=out.nbytes,
        scratch=[out],
        files=[path],
    )
    path = data.nd_pytables()
    yield Group(
        "written by PyTables",
        [
            peers.ours_into(path, out, threads),
            peers.pytables_into(path, out, threads),
            limits.memcpy(expected, out, threads),
        ],
        [Target("PyTables", RATIO[threads])],
        expected,
        work_bytes=out.nbytes,
        scratch=[out],
        files=[path],
    )
