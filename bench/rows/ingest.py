"""Ingests a SEG-Y file into HDF5."""

import os
import shutil
from pathlib import Path

import data
import numpy as np
import writers
from common import LIMIT, OUR_NAME, OURS, Group, Target
from peers import h5py_answer

TITLE = "a SEG-Y file of 500x400x1000 IBM floats into HDF5 chunks of 64^3; ours with headers, the other only samples"
THREADS = (2,)
CHUNKS = (64, 64, 64)


def by_us(**options):
    def make(path: Path) -> None:
        import hyperslab

        hyperslab.segy.ingest(data.planes_segy(), path, chunks=CHUNKS, **options)

    return make


def by_them(**options):
    """Copies as many inlines at a time as a chunk has, so that no chunk is written twice."""

    def make(path: Path) -> None:
        import h5py
        import segyio

        shape = data.planes_shape()
        with segyio.open(data.planes_segy()) as source, h5py.File(path, "w", libver="latest") as file:
            dataset = file.create_dataset("data", shape, "f4", chunks=CHUNKS, **options)
            lines = np.empty((CHUNKS[0], *shape[1:]), "f4")
            for first in range(0, shape[0], CHUNKS[0]):
                count = min(CHUNKS[0], shape[0] - first)
                traces = slice(first * shape[1], (first + count) * shape[1])
                lines[:count] = source.trace.raw[traces].reshape(count, *shape[1:])
                dataset[first : first + count] = lines[:count]

    return make


def copied(path: Path) -> None:
    shutil.copyfile(data.planes_segy(), path)


def read_back(path: Path | None) -> np.ndarray | None:
    """Returns the samples of a file, read by h5py."""
    return h5py_answer(path, name="data") if path and os.path.exists(path) else None


def groups(threads: int):
    import hdf5plugin
    import hyperslab

    gzip = {"compression": "gzip", "shuffle": True}
    kinds = {
        "no filter": ({}, {}, [Target("segyio", 4.0), Target("cp", 0.5)]),
        "gzip 4 + shuffle": (gzip, gzip, [Target("segyio", 4.0)]),
        "Blosc2 LZ4": ({"compression": hyperslab.Blosc2("lz4")}, hdf5plugin.Blosc2("lz4"), [Target("segyio", 4.0)]),
        "Blosc2 Zstd": ({"compression": hyperslab.Blosc2("zstd")}, hdf5plugin.Blosc2("zstd"), [Target("segyio", 4.0)]),
    }
    for name, (ours, theirs, targets) in kinds.items():
        contestants = [writers.writer(OUR_NAME, "ours.h5", by_us(**ours), OURS)]
        if isinstance(theirs, hdf5plugin.Blosc2):
            label, inside, alone = "segyio + h5py+hdf5plugin", f"{threads} inside a chunk", {"BLOSC_NTHREADS": "1"}
            contestants.append(writers.writer(label, "segyio.h5", by_them(**theirs), threads=inside))
            label = f"{label}, 1 thread"
            contestants.append(writers.writer(label, "segyio1.h5", by_them(**theirs), threads="1", **alone))
        else:
            contestants.append(writers.writer("segyio + h5py", "segyio.h5", by_them(**theirs), threads="1"))
        if not ours:
            contestants.append(writers.writer("cp", "copy.sgy", copied, LIMIT))
        yield Group(
            name,
            contestants,
            targets,
            data.planes_values,
            work_bytes=4 * int(np.prod(data.planes_shape())),
            files=[data.planes_segy()],
            normal=read_back,
        )
