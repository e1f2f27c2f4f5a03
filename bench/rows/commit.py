"""Commits many changed metadata blocks."""

import shutil
from pathlib import Path

import numpy as np
import writers
from common import OUR_NAME, OURS, PEER, Contestant, Group, Target, scaled
from peers import ours_module

TITLE = "flush of one changed attribute in each of 1,000 datasets"
THREADS = (1,)


def h5py_module():
    import h5py

    return h5py


def changed(name: str, module, kind: str, count: int) -> Contestant:
    """Returns a contestant that flushes a changed file. Only the flush is timed."""
    path = writers.written(f"commit-{name}.h5")

    def opened():
        path.parent.mkdir(parents=True, exist_ok=True)
        pristine = path.with_suffix(".pristine")
        if not pristine.exists():
            make(module, pristine, count)
        shutil.copy(pristine, path)
        file = module().File(path, "r+")
        for number in range(count):
            file[f"d{number:05d}"].attrs["a"] = number + 1
        return file

    def call(file, turn: int) -> Path:
        file.flush()
        return path

    return Contestant(name, call, opened, lambda file: file.close(), kind)


def make(module, path: Path, count: int) -> None:
    with module().File(path, "w", libver="latest") as file:
        for number in range(count):
            file.create_dataset(f"d{number:05d}", data=np.arange(4.0)).attrs["a"] = 0


def groups(threads: int):
    count = scaled(1000, 100)
    yield Group(
        f"{count} blocks",
        [changed(OUR_NAME, ours_module, OURS, count), changed("h5py", h5py_module, PEER, count)],
        [Target("h5py", 1.0)],
        None,
        operations=count,
    )
