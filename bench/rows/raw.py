"""Reads uncompressed data: the work is only copying, so the peer is the operating system."""

from functools import cache

import data
import limits
import numpy as np
import peers
from common import PEER, Group, Target

TITLE = "800 MB of int32 without a filter, into a warm array, against file.readinto of the same number of bytes"
THREADS = (1,)


def groups(threads: int):
    out = np.empty(data.raw_shape(), "i4")
    values = cache(data.raw_values)
    contiguous, chunked = data.raw_contiguous(), data.raw_chunked()

    def offset():
        return peers.h5py_answer(contiguous, lambda dataset: dataset.id.get_offset())

    for name, path, ratio in (("contiguous", contiguous, 1 / 1.05), ("chunks of 4 MB", chunked, 1 / 1.10)):
        yield Group(
            name,
            [
                peers.ours_into(path, out, threads),
                limits.readinto(contiguous, offset, out, kind=PEER),
                *peers.h5py_into(path, out, threads, plugin=False),
                limits.memcpy(values, out, threads),
            ],
            [Target("file.readinto", ratio)],
            values,
            work_bytes=out.nbytes,
            scratch=[out],
            files=[path, contiguous],
        )
