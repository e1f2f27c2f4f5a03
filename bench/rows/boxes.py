"""Reads random small boxes of a cube: with one call for each box, and with one call for all."""

from functools import cache

import data
import numpy as np
import peers
from common import LIMIT, Contestant, Group, Target, scaled

TITLE = "1000 random boxes of a 512^3 float32 cube in 64^3 chunks, Blosc2 LZ4 + shuffle; files stay open"
THREADS = (1, 2)


def random_boxes(shape: tuple[int, ...], box: tuple[int, ...]) -> list[tuple[slice, ...]]:
    random = np.random.default_rng(7)
    corners = [random.integers(0, n - size + 1, scaled(1000, 50)) for n, size in zip(shape, box, strict=True)]
    return [
        tuple(slice(int(o), int(o) + size) for o, size in zip(corner, box, strict=True))
        for corner in zip(*corners, strict=True)
    ]


def one_by_one(boxes):
    return lambda dataset, turn: [dataset[box] for box in boxes]


def groups(threads: int):
    path, array, store = data.boxes(), data.boxes_b2nd(), data.boxes_zarr()
    values = cache(lambda: peers.h5py_answer(path))
    for box in ((20, 20, 20), (1, 64, 64)):
        boxes = random_boxes(data.boxes_shape(), box)
        answer = cache(lambda boxes=boxes: [values()[b].copy() for b in boxes])
        memory = Contestant(
            "NumPy in memory", lambda a, turn, boxes=boxes: [a[b].copy() for b in boxes], values, kind=LIMIT
        )
        common = {
            "expected": answer,
            "work_bytes": int(np.prod(box)) * 4 * len(boxes),
            "operations": len(boxes),
            "files": [path, array, store],
        }
        label = "x".join(map(str, box))
        use = one_by_one(boxes)
        yield Group(
            f"boxes of {label}, one call each",
            [
                peers.ours(path, use),
                *peers.h5py_contestants(path, use, threads, plugin=True),
                peers.blosc2_contestant(array, use, threads),
                peers.tensorstore_contestant(
                    store, lambda s, turn, boxes=boxes: [s[b].read().result() for b in boxes], threads
                ),
                memory,
            ],
            [Target("h5py+hdf5plugin", 4.0), Target("python-blosc2", 1.0)],
            **common,
        )
        yield Group(
            f"boxes of {label}, one call for all",
            [
                peers.ours(path, lambda d, turn, boxes=boxes: d.read_many(boxes, threads=threads)),
                peers.tensorstore_contestant(store, lambda s, turn, boxes=boxes: in_one_batch(s, boxes), threads),
                memory,
            ],
            [Target("tensorstore", 1.2)],
            **common,
        )


def in_one_batch(store, boxes):
    import tensorstore

    with tensorstore.Batch() as batch:
        reads = [store[box].read(batch=batch) for box in boxes]
    return [read.result() for read in reads]
