"""Reads one slice across all sources of a virtual dataset, whose files are opened by the read."""

import data
import peers
from common import Group, Target, scaled

TITLE = "a virtual dataset of 1,000 files: one element of each, and a row of each"
THREADS = (1, 2)


def groups(threads: int):
    path = data.virtual(scaled(1000, 20))
    uses = {
        "one element of each": lambda dataset, turn: dataset[:, 7, 3],
        "a row of each": lambda dataset, turn: dataset[:, 7],
    }
    for label, use in uses.items():
        yield Group(
            label,
            [peers.ours(path / "all.h5", use), *peers.h5py_contestants(path / "all.h5", use, threads, plugin=False)],
            [Target("h5py", 4.0)],
            lambda use=use: peers.h5py_answer(path / "all.h5", lambda dataset: use(dataset, 0)),
            files=[path / "all.h5"],
        )
