"""Reads inlines, crosslines and depth slices of a seismic cube in chunks of several sizes.

The file is opened for each plane.
"""

import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import data
import limits
import numpy as np
import peers
from common import LIMIT, OUR_NAME, OURS, Contestant, Group, Target, Timed, drop_from_page_cache
from jvm import Jvm, warmed_up

from rows.planes import gather, planes

TITLE = (
    "an inline, a crossline and a depth slice of a 500x400x1000 float32 cube, the average of the three; "
    "including the time to open the file for each"
)
THREADS = (2,)
Read = Callable[[int, int], np.ndarray | Timed]
"""Reads the plane across an axis at an index."""
Expected = Callable[[], list[np.ndarray]]


def reading(name: str, path: Path, read: Read, cold: bool, **options: Any) -> Contestant:
    """Returns a contestant that reads three planes.

    If `cold` is set, the page cache is dropped before each plane.
    """

    def call(state: Jvm | None, turn: int) -> Timed:
        answer, seconds, elsewhere = [], 0.0, 0.0
        for axis, plane in enumerate(planes(turn)):
            if cold and state:
                state.release()
            if cold:
                drop_from_page_cache([path])
            begin = time.perf_counter()
            timed = read(axis, plane[axis])
            if not isinstance(timed, Timed):
                timed = Timed(timed, time.perf_counter() - begin)
            answer.append(timed.answer)
            seconds, elsewhere = seconds + timed.seconds, elsewhere + timed.elsewhere
        return Timed(answer, seconds, elsewhere)

    return Contestant(name, call, **options)


def across(axis: int, index: int) -> tuple:
    return tuple(index if d == axis else slice(None) for d in range(3))


def ours(path: Path, threads: int) -> Read:
    def read(axis, index):
        with peers.ours_module().File(path, "r") as file:
            return file["d"].read(across(axis, index), threads=threads)

    return read


def h5py(path: Path) -> Read:
    import h5py
    import hdf5plugin  # noqa: F401  (registers its filters)

    def read(axis, index):
        with h5py.File(path, "r") as file:
            return file["d"][across(axis, index)]

    return read


def jhdf(path: Path) -> Read:
    shape = data.planes_shape()

    def read(axis, index):
        timed = warmed_up(path, shape).plane(path, axis, index)
        timed.answer = timed.answer.reshape([n for d, n in enumerate(shape) if d != axis])
        return timed

    return read


def segyio(path: Path, mmap: bool) -> Read:
    import segyio

    def read(axis, index):
        with segyio.open(path) as file:
            if mmap and not file.mmap():
                raise OSError("the file cannot be mapped")
            if axis == 2:
                return file.depth_slice[index]
            return (file.xline if axis == 1 else file.iline)[index + 1]

    return read


def unfiltered(threads: int, cold: bool, targets: list[Target], expected: Expected) -> Group:
    """Returns the group without filters: the same cube in chunks of every edge and as SEG-Y."""
    files = {edge: data.planes_of_edge(edge) for edge in data.PLANE_EDGES}
    segy, shape = data.planes_segy(), data.planes_shape()
    contestants = []
    for edge, path in files.items():
        contestants += [
            reading(f"{OUR_NAME}, edge {edge}", path, ours(path, threads), cold, kind=OURS),
            reading(f"h5py, edge {edge}", path, h5py(path), cold, threads="1 (it has no more)"),
            reading(f"jHDF, edge {edge}", path, jhdf(path), cold, open=partial(warmed_up, path, shape), threads="16"),
        ]
        if not cold:
            contestants.append(gathering(path, edge))
    contestants += [
        reading("segyio", segy, segyio(segy, mmap=False), cold, threads="1 (it has no more)"),
        reading("segyio, mapped", segy, segyio(segy, mmap=True), cold, threads="1 (it has no more)"),
    ]
    return Group(
        f"no filter, {'cold' if cold else 'warm'}",
        contestants,
        targets,
        expected,
        work_bytes=plane_bytes(),
        operations=3,
        files=[*files.values(), segy],
        cold=cold,
        memory=False,
    )


def compressed(threads: int, expected: Expected) -> Group:
    files = {edge: data.planes_zstd(edge) for edge in data.PLANE_EDGES}
    contestants = []
    for edge, path in files.items():
        alone = {"BLOSC_NTHREADS": "1"}
        contestants += [
            reading(f"{OUR_NAME}, edge {edge}", path, ours(path, threads), cold=False, kind=OURS),
            reading(f"h5py+hdf5plugin, edge {edge}", path, h5py(path), cold=False, threads=f"{threads} inside a chunk"),
            reading(
                f"h5py+hdf5plugin, 1 thread, edge {edge}", path, h5py(path), cold=False, threads="1", environment=alone
            ),
        ]
    return Group(
        "Blosc2 Zstd + shuffle, warm",
        contestants,
        [Target("h5py+hdf5plugin", 4.0)],
        expected,
        work_bytes=plane_bytes(),
        operations=3,
        files=list(files.values()),
        memory=False,
    )


def gathering(path: Path, edge: int) -> Contestant:
    """Returns the limit that copies the planes from a mapped file, which stays open."""
    chunks = cache(lambda: limits.mapped_chunks(path))
    name = f"gather from a mapped file, edge {edge}"
    return Contestant(name, lambda c, turn: gather(c, turn, edge), chunks, kind=LIMIT, threads="1")


def plane_bytes() -> int:
    i, j, k = data.planes_shape()
    return (i * j + i * k + j * k) * 4


def groups(threads: int):
    values = cache(data.planes_values)

    def expected():
        return [values()[plane].copy() for plane in planes(0)]

    at_ends = [
        Target(f"{name}, edge {edge}", ratio, ours=f"{OUR_NAME}, edge {edge}")
        for edge, name, ratio in ((16, "h5py", 4.0), (16, "jHDF", 2.0), (128, "h5py", 3.0), (128, "jHDF", 1.5))
    ]
    best = [Target("h5py", 5.0), Target("jHDF", 1.5), Target("segyio", 10.0)]
    yield unfiltered(threads, False, best + at_ends, expected)
    yield unfiltered(threads, True, [Target("h5py", 2.5), Target("jHDF", 1.5), Target("segyio", 5.0)], expected)
    yield compressed(threads, expected)
