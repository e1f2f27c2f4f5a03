"""Builds completely sorted indexes of a column of float64, and searches one."""

import os
from functools import cache
from pathlib import Path

import data
import numpy as np
import writers
from common import OUR_NAME, OURS, PEER, Contestant, Group, Target, scaled

TITLE = "a completely sorted index of float64: building it, and searching 2,000 rows with it"
THREADS = (2,)
HITS = 2000


@cache
def rows() -> np.ndarray:
    count = scaled(10_000_000, 100_000)
    made = np.zeros(count, [("x", "f8"), ("k", "i4"), ("y", "f4")])
    made["x"] = np.random.default_rng(1).random(count)
    made["k"] = np.arange(count)
    return made


def make_table(path: Path) -> None:
    import tables

    with tables.open_file(path, "w") as file:
        file.create_table("/", "t", rows(), expectedrows=len(rows()), filters=tables.Filters(1, "blosc2:lz4"))


def by_us(path: Path) -> None:
    import hyperslab

    make_table(path)
    with hyperslab.File(path, "r+") as file:
        file["t"].create_csindex("x")


def by_them(path: Path) -> None:
    import tables

    make_table(path)
    with tables.open_file(path, "a") as file:
        file.root.t.cols.x.create_csindex()


def order(path: Path | None) -> np.ndarray | None:
    """Returns the rows in the order of the index."""
    import hyperslab

    if path is None or not os.path.exists(path):
        return None
    with hyperslab.File(path) as file:
        return rows()["x"][file["t"].cols.x.index[:]]


def groups(threads: int):
    count = len(rows())
    yield Group(
        f"{count} rows: the table is written and the index is built",
        [
            writers.writer(OUR_NAME, "ours.h5", by_us, OURS),
            writers.writer("PyTables", "theirs.h5", by_them, threads="1"),
        ],
        [Target("PyTables", 5.0)],
        lambda: np.sort(rows()["x"]),
        work_bytes=8 * count,
        normal=order,
    )
    path = data.FOLDER / f"index-{count}.h5" if hasattr(data, "FOLDER") else Path(f"/tmp/index-{count}.h5")
    if not path.exists():
        by_us(path)
    low, high = 0.25, 0.25 + HITS / count

    def ours(file, turn):
        return len(file["t"].cols.x.index.search(low, high))

    def theirs(file, turn):
        file.root.t._dirtycache = True
        return len(file.root.t.get_where_list("(x >= low) & (x <= high)", {"low": low, "high": high}))

    def our_file():
        import hyperslab

        return hyperslab.File(path)

    def their_file():
        import tables

        return tables.open_file(path)

    yield Group(
        f"{HITS} hits in {count} rows, in an open file",
        [
            Contestant(OUR_NAME, ours, our_file, kind=OURS, threads="1"),
            Contestant("PyTables", theirs, their_file, kind=PEER, threads="1"),
        ],
        [Target("PyTables", 10.0)],
        lambda: None,
    )
