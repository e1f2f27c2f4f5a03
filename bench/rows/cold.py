"""Reads random chunks that are not in the page cache: the peer is the disk, as fio measures it."""

import json
import subprocess
import time
from functools import partial
from pathlib import Path
from typing import Any

import data
import numpy as np
import peers
from common import LIMIT, OURS, Contestant, Group, Target, Timed, drop_from_page_cache, scaled

TITLE = "random chunks without a filter that are not in the page cache, in one call"
THREADS = (1, 2)
DEPTHS = (4, 16, 64)
"""The numbers of requests in progress that fio tries."""


def rows_of(turn: int, chunk_kib: int, count: int) -> np.ndarray:
    """Returns the numbers of the chunks of a round, which ascend as h5py wants them."""
    return np.sort(np.random.default_rng(turn).choice(data.cold_shape(chunk_kib)[0], count, replace=False))


def reading(name: str, path: Path, chunk_kib: int, out: np.ndarray, **options: Any) -> Contestant:
    """Returns a contestant that reads the chunks of a round into an array."""

    def opened():
        drop_from_page_cache([path])
        if name.startswith("h5py"):
            import h5py

            return h5py.File(path)
        return peers.ours_module().File(path, **options)

    def call(file, turn: int) -> Timed:
        rows, dataset = rows_of(turn, chunk_kib, len(out)), file["d"]
        begin = time.perf_counter()
        dataset.read_direct(out, np.s_[rows, :])
        return Timed(out, time.perf_counter() - begin)

    kind = {} if name.startswith("h5py") else {"kind": OURS}
    return Contestant(name, call, opened, lambda file: file.close(), **kind)


def fio(path: Path, chunk_kib: int, count: int, depth: int) -> Contestant:
    """Returns the time in which the disk serves as many random reads of the same size."""
    command = ["fio", "--name=reads", f"--filename={path}", "--rw=randread", f"--bs={chunk_kib}k", "--direct=1"]
    command += ["--ioengine=io_uring", f"--iodepth={depth}", f"--number_ios={count}", "--output-format=json"]

    def call(state: None, turn: int) -> Timed:
        done = subprocess.run([*command, f"--randseed={turn}"], check=True, capture_output=True, text=True)
        read = json.loads(done.stdout)["jobs"][0]["read"]
        return Timed(None, read["runtime"] / 1000 * count / read["total_ios"])

    return Contestant(f"fio, depth {depth}", call, kind=LIMIT, threads="1")


def groups(threads: int):
    peers.ours_module().set_threads(threads)
    for chunk_kib, count, ratio, targets in (
        (256, scaled(1000, 32), 0.9, []),
        (4, scaled(20_000, 32), 0.8, [Target("h5py", 2.5)]),
    ):
        path = data.cold(chunk_kib)
        out = np.zeros((count, data.cold_shape(chunk_kib)[1]), "f4")
        direct = {"driver": "io_uring", "direct": True}
        expected = partial(expected_of, chunk_kib, count)
        yield Group(
            f"{count} of {chunk_kib} KiB",
            [
                reading("hyperslab, io_uring, direct", path, chunk_kib, out, **direct),
                reading("hyperslab, posix", path, chunk_kib, out),
                reading("h5py", path, chunk_kib, out),
                *(fio(path, chunk_kib, count, depth) for depth in DEPTHS),
            ],
            [Target("fio", ratio, "hyperslab, io_uring, direct"), *targets],
            expected,
            work_bytes=out.nbytes,
            operations=count,
            scratch=[out],
            files=[path],
            cold=True,
            memory=False,
        )


def expected_of(chunk_kib: int, count: int) -> np.ndarray:
    rows = rows_of(0, chunk_kib, count).astype("f4")
    return rows[:, None] + np.arange(data.cold_shape(chunk_kib)[1], dtype="f4")
