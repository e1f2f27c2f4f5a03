"""Reads one plane in each of the three directions of a cube."""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import data
import gather as gather_in_c
import limits
import numpy as np
import peers
from common import LIMIT, OUR_NAME, OURS, Contestant, Group, Target, Timed
from jvm import Jvm, warmed_up

TITLE = "a plane in each direction of a 500x400x1000 float32 cube in 64^3 chunks, the sum of the three; files stay open"
THREADS = (1, 2)
ROUNDS = 15
"""The most rounds of a group."""


def planes(turn: int) -> list[tuple]:
    """Returns three planes, which differ in every round."""
    random = np.random.default_rng(turn)
    i, j, k = (int(random.integers(0, n)) for n in data.planes_shape())
    return [(i, slice(None), slice(None)), (slice(None), j, slice(None)), (slice(None), slice(None), k)]


def read(dataset, turn):
    return [dataset[plane] for plane in planes(turn)]


def gather(chunks: dict, turn: int, side: int = data.CUBE_CHUNK[0]) -> list[np.ndarray]:
    """Returns the planes, copied with NumPy from mapped chunks with edge `side`."""
    shape = data.planes_shape()
    answer = []
    for axis, plane in enumerate(planes(turn)):
        rows, columns = (d for d in range(3) if d != axis)
        at = plane[axis]
        out = np.empty((shape[rows], shape[columns]), "f4")
        origin = [0, 0, 0]
        origin[axis] = at // side * side
        inside = [slice(None)] * 3
        inside[axis] = at % side
        for r in range(0, shape[rows], side):
            for c in range(0, shape[columns], side):
                origin[rows], origin[columns] = r, c
                into = out[r : r + side, c : c + side]
                into[...] = chunks[tuple(origin)][tuple(inside)][: into.shape[0], : into.shape[1]]
        answer.append(out)
    return answer


def jhdf(path: Path) -> Contestant:
    def call(running: Jvm, turn: int) -> Timed:
        answer, seconds, elsewhere = [], 0.0, 0.0
        for axis, plane in enumerate(planes(turn)):
            timed = running.plane(path, axis, plane[axis], kept=True)
            answer.append(timed.answer.reshape([n for d, n in enumerate(data.planes_shape()) if d != axis]))
            seconds, elsewhere = seconds + timed.seconds, elsewhere + timed.elsewhere
        return Timed(answer, seconds, elsewhere)

    return Contestant("jHDF", call, partial(warmed_up, path, data.planes_shape()), threads="16")


def has_read(contestant: Contestant) -> Contestant:
    """Returns a contestant that has read the planes of all rounds once, and opens its file once."""
    opened = contestant.open

    @cache
    def open_once():
        state = opened()
        for turn in range(ROUNDS):
            contestant.call(state, turn)
        return state

    contestant.open = open_once
    return contestant


def mapped(threads: int, path: Path, expected: Callable[[], list[np.ndarray]], size: int) -> Group:
    """Returns the group of files that are mapped into memory, once for all rounds.

    Every contestant has read the planes of all rounds before, so that their pages are in its mapping.
    """

    def opened():
        return peers.ours_module().File(path, driver="mmap")["d"]

    def use(dataset, turn):
        return [dataset.read(plane, threads=threads) for plane in planes(turn)]

    def indexes(turn):
        return [plane[axis] for axis, plane in enumerate(planes(turn))]

    return Group(
        "no filter, mapped",
        [
            has_read(contestant)
            for contestant in (
                Contestant(OUR_NAME, use, opened, kind=OURS),
                jhdf(path),
                gather_in_c.contestant(path, data.planes_shape(), indexes, threads),
            )
        ],
        [Target("jHDF", 1.5), Target("C gather", 0.8)],
        expected,
        work_bytes=size,
        files=[path],
        memory=False,
    )


def groups(threads: int):
    raw, store = data.planes_raw(), data.planes_raw_zarr()
    values = cache(lambda: peers.h5py_answer(raw))
    i, j, k = data.planes_shape()
    size = (i * j + i * k + j * k) * 4

    def expected():
        return [values()[plane].copy() for plane in planes(0)]

    def ours(path):
        return peers.ours(path, lambda dataset, turn: [dataset.read(plane, threads=threads) for plane in planes(turn)])

    yield Group(
        "no filter",
        [
            ours(raw),
            *peers.h5py_contestants(raw, read, threads, plugin=False),
            peers.tensorstore_contestant(
                store, lambda s, turn: [s[plane].read().result() for plane in planes(turn)], threads
            ),
            Contestant(
                "gather from a mapped file", gather, cache(lambda: limits.mapped_chunks(raw)), kind=LIMIT, threads="1"
            ),
        ],
        [Target("h5py", 4.0), Target("tensorstore", 4.0)],
        expected,
        work_bytes=size,
        files=[raw, store],
    )
    yield mapped(threads, raw, expected, size)
    lz4, array = data.planes_lz4(), data.planes_b2nd()
    yield Group(
        "Blosc2 LZ4 + shuffle",
        [
            ours(lz4),
            *peers.h5py_contestants(lz4, read, threads, plugin=True),
            peers.blosc2_contestant(array, read, threads),
            Contestant(
                "NumPy in memory", lambda a, turn: [a[plane].copy() for plane in planes(turn)], values, kind=LIMIT
            ),
        ],
        [Target("h5py+hdf5plugin", 4.0), Target("python-blosc2", 1.5)],
        expected,
        work_bytes=size,
        files=[lz4, array],
    )
