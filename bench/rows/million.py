"""A million chunks of 64 bytes in each chunk index: opening the file, finding chunks, listing chunks."""

from pathlib import Path

import data
import numpy as np
import peers
from common import LIMIT, OUR_NAME, OURS, PEER, Contestant, Group, Target, scaled

TITLE = "1,000,000 chunks of 64 bytes"
THREADS = (1,)
MEMORY_LIMIT_MIB = 64


def selection(kind: str, chunk: int):
    """Returns the selection of one chunk, numbered in row-major order."""
    width = data.TINY_CHUNK_ELEMENTS
    if kind != "btree2":
        return slice(chunk * width, (chunk + 1) * width)
    row, column = divmod(chunk, data.million_side())
    return row, slice(column * width, (column + 1) * width)


def elements(chunk: int) -> np.ndarray:
    width = data.TINY_CHUNK_ELEMENTS
    return np.arange(chunk * width, (chunk + 1) * width, dtype="i4")


def h5py_module():
    import h5py

    return h5py


MODULES = ((OUR_NAME, OURS, peers.ours_module), ("h5py", PEER, h5py_module))


def opening(kind: str, path: Path, chunks: list[int]) -> list[Contestant]:
    """Opens the file, reads one chunk and closes it, for each chunk."""

    def call(module, turn):
        answer = []
        for chunk in chunks:
            with module.File(path, "r") as file:
                answer.append(file["d"][selection(kind, chunk)])
        return answer

    return [Contestant(name, call, module, kind=role, threads="1") for name, role, module in MODULES]


def on_open_file(path: Path, use) -> list[Contestant]:
    return [peers.ours(path, use), *peers.h5py_contestants(path, use, 1, plugin=False)]


def listed(dataset, turn) -> list:
    """Returns the information about every chunk, in any order."""
    found = []
    dataset.id.chunk_iter(found.append)
    return found


def places(found: list) -> np.ndarray:
    """Returns the coordinates, address and size of every chunk, sorted."""
    return np.array(sorted((*chunk.chunk_offset, chunk.byte_offset, chunk.size) for chunk in found))


def pread(path: Path, chunks: list[int]) -> Contestant:
    """Reads 64 bytes at random offsets, unbuffered."""

    def call(file, turn):
        for chunk in chunks:
            file.seek(chunk * 64)
            file.read(64)

    return Contestant(
        "read of 64 bytes", call, lambda: path.open("rb", buffering=0), lambda file: file.close(), kind=LIMIT
    )


def callbacks() -> Contestant:
    """Calls a Python function once for each chunk."""
    count = data.million_side() ** 2

    def call(state, turn):
        append = [].append
        for i in range(count):
            append((i, 0, i, i))

    return Contestant("a million Python calls", call, kind=LIMIT)


def groups(threads: int):
    random = np.random.default_rng(11)
    count = data.million_side() ** 2
    few = [int(i) for i in random.integers(0, count, 20)]
    many = [int(i) for i in random.integers(0, count, scaled(10_000, 500))]
    for kind in data.INDEX_KINDS:
        path = data.million(kind)
        label = kind.replace("_", " ").replace("btree", "B-tree version ")

        def further(dataset, turn, kind=kind):
            return [dataset[selection(kind, chunk)] for chunk in many]

        yield Group(
            f"{label}: open and first read",
            opening(kind, path, few),
            [Target("h5py", 3.0)],
            lambda: [elements(chunk) for chunk in few],
            operations=len(few),
            files=[path],
        )
        yield Group(
            f"{label}: further random reads",
            [*on_open_file(path, further), pread(path, many)],
            [Target("h5py", 4.0)],
            lambda: [elements(chunk) for chunk in many],
            operations=len(many),
            files=[path],
            memory_limit_mib=MEMORY_LIMIT_MIB,
        )
        yield Group(
            f"{label}: list all chunks",
            [*on_open_file(path, listed), callbacks()],
            [Target("h5py", 4.0)],
            lambda path=path: peers.h5py_answer(path, lambda dataset: places(listed(dataset, 0))),
            operations=count,
            files=[path],
            memory=False,
            normal=places,
        )
