"""Reads one element in each call, which measures the cost of a call."""

import data
import numpy as np
import peers
from common import LIMIT, Contestant, Group, Target, scaled

TITLE = "ds[i, j] of one float64, repeatedly within one chunk"
THREADS = (1,)


def groups(threads: int):
    random = np.random.default_rng(5)
    places = [(int(i), int(j)) for i, j in random.integers(200, 300, (scaled(20000, 500), 2))]
    path = data.scalar()

    def use(dataset, turn):
        return [dataset[i, j] for i, j in places]

    def expected():
        return [float(i * 1000 + j) for i, j in places]

    def in_memory():
        return np.arange(10**6, dtype="f8").reshape(1000, 1000)

    for name, label in (("chunked", "gzip chunk, cached"), ("contiguous", "contiguous")):
        yield Group(
            label,
            [
                peers.ours(path, use, name),
                *peers.h5py_contestants(path, use, threads, plugin=False, name=name),
                Contestant("NumPy in memory", use, in_memory, kind=LIMIT),
            ],
            [Target("h5py", 3.0)],
            expected,
            operations=len(places),
            files=[path],
        )
