"""The limit of planes of an unfiltered file: C that copies them out of a mapping (`gather.c`)."""

from __future__ import annotations

import ctypes
import subprocess
import time
from functools import cache
from itertools import product
from pathlib import Path

import limits
import numpy as np
from common import HERE, LIMIT, Contestant, Timed

TILE = np.dtype([(name, "u8") for name in ("from", "to", "rows", "columns", "from_row", "from_column", "to_row")])


@cache
def library() -> ctypes.CDLL:
    made = HERE / "out" / "gather.so"
    made.parent.mkdir(exist_ok=True)
    subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", HERE / "gather.c", "-o", made], check=True)
    return ctypes.CDLL(str(made))


def tiles(
    chunks: dict[tuple[int, ...], np.ndarray], shape: tuple[int, ...], axis: int, at: int
) -> tuple[np.ndarray, tuple[int, int]]:
    """Returns the tiles of a plane, and its shape. The `to` of a tile is an offset in the plane, in bytes."""
    edges = next(iter(chunks.values())).shape
    rows, columns = (d for d in range(3) if d != axis)
    found = []
    for row, column in product(range(0, shape[rows], edges[rows]), range(0, shape[columns], edges[columns])):
        origin = [0, 0, 0]
        origin[axis], origin[rows], origin[columns] = at // edges[axis] * edges[axis], row, column
        chunk = chunks[tuple(origin)]
        floats = [stride // 4 for stride in chunk.strides]
        found.append(
            (
                chunk.ctypes.data + at % edges[axis] * chunk.strides[axis],
                (row * shape[columns] + column) * 4,
                min(edges[rows], shape[rows] - row),
                min(edges[columns], shape[columns] - column),
                floats[rows],
                floats[columns],
                shape[columns],
            )
        )
    return np.array(found, TILE), (shape[rows], shape[columns])


def contestant(path: Path, shape: tuple[int, ...], indexes, threads: int) -> Contestant:
    """Returns the limit that copies the planes of a round, whose numbers `indexes(turn)` returns."""
    chunks = cache(lambda: limits.mapped_chunks(path))

    def call(mapped, turn: int) -> Timed:
        parts = [tiles(mapped, shape, axis, at) for axis, at in enumerate(indexes(turn))]
        gather, answer = library().gather, []
        begin = time.perf_counter()
        for part, size in parts:
            plane = np.empty(size, "f4")
            placed = part.copy()
            placed["to"] += plane.ctypes.data
            step = -(-len(placed) // threads)

            def copy(i: int, placed=placed, step=step) -> None:
                mine = placed[i * step : (i + 1) * step]
                gather(ctypes.c_void_p(mine.ctypes.data), ctypes.c_size_t(len(mine)))

            limits.share(threads, copy, threads)
            answer.append(plane)
        return Timed(answer, time.perf_counter() - begin)

    return Contestant("C gather from a mapped file", call, chunks, kind=LIMIT)
