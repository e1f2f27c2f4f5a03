"""Reads data that hardly compress: most of the time is decoding, so the peer is only the codec."""

import data
import limits
import numpy as np
import peers
from common import PEER, Group, Target

TITLE = "800 MB of noisy float32 (ratio about 1.7) in chunks of 4 MB, Blosc2 LZ4 + shuffle, into a warm array"
THREADS = (1, 2)


def groups(threads: int):
    path = data.noisy()
    out = np.empty(data.noisy_count(), "f4")
    yield Group(
        "LZ4 + shuffle",
        [
            peers.ours_into(path, out, threads),
            limits.c_blosc2(path, out, threads, kind=PEER),
            *peers.h5py_into(path, out, threads, plugin=True),
        ],
        [Target("c-blosc2 alone", 0.9)],
        lambda: peers.h5py_answer(path),
        work_bytes=out.nbytes,
        scratch=[out],
        files=[path],
    )
