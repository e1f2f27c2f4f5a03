"""Measures the gain from threads: the same work on 1, 2, 4, ... threads, up to as many as the machine has."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import data
import limits
import numpy as np
import peers
import writers
from common import LIMIT, OUR_NAME, OURS, PEER, Contestant, Group, Target

from rows.boxes import random_boxes

MOST = len(os.sched_getaffinity(0))
THREADS = (MOST,)
TITLE = "the same work on 1, 2, 4, ... threads, up to as many as the machine has"
CODEC_BOUND = 0.9
"""The wanted gain from each thread, as a share of one thread, if the codec is the limit."""


def counts() -> list[int]:
    """Returns 1, 2, 4, ... and the number of CPUs."""
    return sorted({2**i for i in range(MOST.bit_length()) if 2**i <= MOST} | {MOST})


def named(threads: int) -> str:
    return OUR_NAME if threads == MOST else f"{threads} thread{'s' * (threads > 1)}"


def kind(threads: int) -> str:
    return OURS if threads == MOST else PEER


def each(make) -> list[Contestant]:
    """Returns a contestant for each number of threads; `make(n)` returns the contestant with `n` threads."""
    made = [(n, make(n)) for n in counts()]
    return [Contestant(named(n), c.call, c.open, c.close, kind(n), threads=str(n), size=c.size) for n, c in made]


def against_one(part: float) -> list[Target]:
    return [Target("1 thread", part * MOST)] if MOST > 1 else []


def on_threads(threads: int, writer: Contestant) -> Contestant:
    """Returns a writer that runs with `threads` threads in the pool."""

    def call(state, turn):
        peers.ours_module().set_threads(threads)
        try:
            return writer.call(state, turn)
        finally:
            peers.ours_module().set_threads(MOST)

    return Contestant(writer.name, call, writer.open, writer.close, size=writer.size)


def boxes_from(path, boxes, threads: int) -> Contestant:
    """Reads boxes with `threads` Python threads, each of which reads on its own thread only."""
    parts = [boxes[i::threads] for i in range(threads)]

    def read(dataset, part):
        return [dataset.read(box, threads=1) for box in part]

    def use(dataset, turn):
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(lambda part: read(dataset, part), parts))
        answer = [None] * len(boxes)
        for i, part in enumerate(found):
            answer[i::threads] = part
        return answer

    return peers.ours(path, use)


def partly_written(values: np.ndarray) -> Contestant:
    """Writes rows that are half a chunk high, so that every chunk is written in two parts."""
    step = data.GZIP_CHUNK[1] // 2

    def make(path):
        with peers.ours_module().File(path, "w") as file:
            d = file.create_dataset(
                "d", values.shape, values.dtype, chunks=data.GZIP_CHUNK, shuffle=True, compression="gzip"
            )
            for start in range(0, values.shape[1], step):
                d[:, start : start + step] = values[:, start : start + step]

    return writers.writer(OUR_NAME, "partly.h5", make, OURS)


def groups(threads: int):
    reads = (
        ("whole read, Blosc2 LZ4", data.noisy(), np.empty(data.noisy_count(), "f4"), CODEC_BOUND),
        ("whole read, gzip", data.gzip(), np.empty(data.gzip_shape(), "f4"), CODEC_BOUND),
        ("whole read, no filter", data.raw_chunked(), np.empty(data.raw_shape(), "i4"), None),
    )
    for name, path, out, part in reads:
        yield Group(
            name,
            [
                *each(lambda n, path=path, out=out: peers.ours_into(path, out, n)),
                limits.memcpy(lambda out=out: np.ones_like(out), out, threads),
            ],
            against_one(part) if part else [],
            cache(lambda path=path: peers.h5py_answer(path)),
            work_bytes=out.nbytes,
            scratch=[out],
            files=[path],
        )
    boxes = random_boxes(data.boxes_shape(), (20, 20, 20))
    whole = cache(lambda: peers.h5py_answer(data.boxes()))
    yield Group(
        "boxes of 20x20x20 from as many Python threads",
        [
            *each(lambda n: boxes_from(data.boxes(), boxes, n)),
            Contestant("NumPy in memory", lambda a, turn: [a[b].copy() for b in boxes], whole, kind=LIMIT),
        ],
        against_one(CODEC_BOUND),
        lambda: [whole()[b].copy() for b in boxes],
        operations=len(boxes),
        files=[data.boxes()],
    )
    values = data.gzip_values()
    options = {"chunks": data.GZIP_CHUNK, "shuffle": True, "compression_opts": 4}
    for name, writer in (
        ("whole write, gzip", lambda: writers.ours(values, "gzip", **options)),
        ("write in parts, gzip", lambda: partly_written(values)),
    ):
        yield Group(
            name,
            each(lambda n, writer=writer: on_threads(n, writer())),
            against_one(CODEC_BOUND),
            lambda: values,
            work_bytes=values.nbytes,
            normal=writers.read_back,
        )
