"""Reads the frames of a detector, as beamlines store them."""

from functools import cache

import data
import numpy as np
import peers
from common import Group, Target

TITLE = "800 MB of uint16, 100 frames of 2000 x 2000, bitshuffle + LZ4, a frame in a chunk"
THREADS = (1, 2)
RATIO = {1: 2.0, 2: 4.0}


def groups(threads: int):
    path = data.detector()
    out = np.empty((data.scaled(100, 4), 2000, 2000), "u2")
    yield Group(
        "into a warm array",
        [peers.ours_into(path, out, threads), *peers.h5py_into(path, out, threads, plugin=True)],
        [Target("h5py", RATIO[threads])],
        cache(lambda: peers.h5py_answer(path)),
        work_bytes=out.nbytes,
        scratch=[out],
        files=[path],
    )
