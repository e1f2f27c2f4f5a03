"""Reads data with the most common filters, shuffle and gzip."""

from functools import cache

import data
import limits
import numpy as np
import peers
from common import Group, Target

TITLE = "400 MB of float32, gzip 4 + shuffle in chunks (1,500,500)"
THREADS = (1, 2)


def groups(threads: int):
    path = data.gzip()
    out = np.empty(data.gzip_shape(), "f4")
    answer = cache(lambda: peers.h5py_answer(path))
    against_h5py = Target("h5py", {1: 2.2, 2: 4.0}[threads])
    yield Group(
        "into a warm array",
        [
            peers.ours_into(path, out, threads),
            *peers.h5py_into(path, out, threads, plugin=False),
            limits.inflate_alone(path, threads),
        ],
        [against_h5py],
        answer,
        work_bytes=out.nbytes,
        scratch=[out],
        files=[path],
    )
    yield Group(
        "into a fresh array",
        [
            peers.ours_fresh(path, threads),
            *peers.h5py_fresh(path, threads, plugin=False),
            peers.hidefix_fresh(path, out.shape),
        ],
        [against_h5py, *([Target("hidefix", 1.3)] if threads > 1 else [])],
        answer,
        work_bytes=out.nbytes,
        files=[path],
    )
