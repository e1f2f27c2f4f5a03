"""Creates many small datasets with two attributes each."""

import numpy as np
import writers
from common import OUR_NAME, OURS, Group, Target, scaled
from peers import ours_module

TITLE = "small datasets with two attributes each, in one group"
THREADS = (1,)


def h5py_module():
    import h5py

    return h5py


def making(module, count: int):
    value = np.arange(4.0)

    def make(path):
        with module().File(path, "w", libver="latest") as file:
            group = file.create_group("g")
            for number in range(count):
                dataset = group.create_dataset(f"d{number:06d}", data=value)
                dataset.attrs["number"] = number
                dataset.attrs["scale"] = 0.5

    return make


def what_is_there(path):
    import h5py

    with h5py.File(path) as file:
        group = file["g"]
        last = group[max(group)]
        return [len(group), int(last.attrs["number"]), float(last.attrs["scale"]), float(last[3])]


def groups(threads: int):
    count = scaled(100_000, 1000)
    yield Group(
        f"{count} datasets",
        [
            writers.writer(OUR_NAME, "ours.h5", making(ours_module, count), OURS),
            writers.writer("h5py", "h5py.h5", making(h5py_module, count)),
        ],
        [Target("h5py", 5.0)],
        lambda: [count, count - 1, 0.5, 3.0],
        operations=count,
        normal=what_is_there,
    )
