"""Writes a float32 dataset in gzip chunks."""

import data
import writers
from common import Group, Target

TITLE = "400 MB of float32, (100,1000,1000) in chunks (1,500,500), shuffle + gzip 4, written to a new file"
THREADS = (1, 2)
RATIO = {1: 3.0, 2: 6.0}


def groups(threads: int):
    values = data.gzip_values()
    options = {"chunks": data.GZIP_CHUNK, "shuffle": True, "compression_opts": 4}
    yield Group(
        "gzip 4",
        [writers.ours(values, "gzip", **options), writers.h5py(values, compression="gzip", **options)],
        [Target("h5py", RATIO[threads])],
        lambda: values,
        work_bytes=values.nbytes,
        normal=writers.read_back,
    )
