"""Reads the values of `nd` and `flat` into a new array, compared with NumPy's copy of the decoded array."""

from functools import cache

import data
import peers
from common import Contestant, Group, Target

TITLE = "1.6 GB of int32 counting up, BloscLZ + shuffle, into a fresh array"
THREADS = (1, 2)


def groups(threads: int):
    nd, flat = data.nd(), data.flat_blosc2()
    layouts = (
        ("n-dimensional Blosc2", nd, data.nd_shape(), []),
        (
            "flat Blosc2",
            flat,
            (-1,),
            [
                peers.blosc2_contestant(data.flat_b2nd(), lambda array, turn: array[...], threads),
                peers.zarrs_contestant(data.flat_zarr(), lambda array, turn: array[...], threads),
                peers.tensorstore_contestant(data.flat_zarr(), lambda store, turn: store.read().result(), threads),
            ],
        ),
    )
    for name, path, shape, others in layouts:
        values = cache(lambda shape=shape: data.counting().reshape(shape))
        yield Group(
            name,
            [
                peers.ours_fresh(path, threads),
                Contestant("np.copy", lambda array, turn: array.copy(), values, threads="1"),
                *peers.h5py_fresh(path, threads, plugin=True),
                *others,
            ],
            [Target("np.copy", 1.0)],
            values,
            work_bytes=data.nd_bytes(),
            files=[path],
        )
