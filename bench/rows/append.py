"""Appends rows one at a time to a chunked dataset."""

import numpy as np
import writers
from common import OUR_NAME, OURS, Group, Target, scaled
from peers import ours_module

TITLE = "rows of 8 bytes appended one at a time: resize, write one row; chunks of 4096 rows"
THREADS = (1,)


def h5py_module():
    import h5py

    return h5py


def appending(module, rows: int):
    def make(path):
        options = {} if module is ours_module else {"libver": "latest"}
        with module().File(path, "w", **options) as file:
            dataset = file.create_dataset("d", (0,), "i8", maxshape=(None,), chunks=(4096,))
            for row in range(rows):
                dataset.resize((row + 1,))
                dataset[row] = row

    return make


def groups(threads: int):
    rows = scaled(1_000_000, 10_000)
    yield Group(
        f"{rows} rows",
        [
            writers.writer(OUR_NAME, "ours.h5", appending(ours_module, rows), OURS),
            writers.writer("h5py", "h5py.h5", appending(h5py_module, rows)),
        ],
        [Target("h5py", 20.0)],
        lambda: np.arange(rows),
        operations=rows,
        normal=writers.read_back,
    )
