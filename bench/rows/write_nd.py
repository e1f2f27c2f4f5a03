"""Writes a four-dimensional int32 dataset in Blosc2 chunks."""

import data
import hyperslab as hs
import writers
from common import Group, Target

TITLE = "1.6 GB of int32, (400,100,100,100) in chunks (1,100,100,100), BloscLZ + shuffle level 5, written to a new file"
THREADS = (1, 2)
TARGETS = {
    1: [Target("python-blosc2", 1.0)],
    2: [
        Target("h5py+Blosc2", 4.0),
        Target("h5py+Blosc1", 2.0),
        Target("PyTables", 5.0),
        Target("python-blosc2", 1.5),
        Target("zarr+zarrs", 1.0),
    ],
}


def groups(threads: int):
    values = data.counting().reshape(data.nd_shape())
    chunks = data.ND_CHUNK
    inside = f"{threads} inside a chunk"
    yield Group(
        "Blosc2 BloscLZ",
        [
            writers.ours(values, hs.Blosc2("blosclz", 5), chunks=chunks),
            writers.h5py(values, "h5py+Blosc2", inside, chunks=chunks, **data.blosc2_filter("blosclz")),
            writers.h5py(values, "h5py+Blosc1", inside, chunks=chunks, **data.blosc1_filter("blosclz")),
            writers.pytables(values, chunks, "blosc2:blosclz", threads),
            writers.b2nd(values, chunks, "BLOSCLZ", threads),
            writers.zarrs(values, chunks, "blosclz", threads),
        ],
        TARGETS[threads],
        lambda: values,
        work_bytes=values.nbytes,
        normal=writers.read_back,
    )
    flat = values.reshape(-1)
    yield Group(
        "in one dimension",
        [
            writers.ours(flat, hs.Blosc2("blosclz", 5), chunks=data.FLAT_CHUNK),
            writers.b2nd(flat, data.FLAT_CHUNK, "BLOSCLZ", threads),
        ],
        [Target("python-blosc2", 1.0)],
        lambda: flat,
        work_bytes=flat.nbytes,
        normal=writers.read_back,
    )
