"""Builds a completely sorted index of a column of float64, and searches it."""

import os
import shutil
from functools import cache
from pathlib import Path

import data
import numpy as np
import writers
from common import OUR_NAME, OURS, PEER, Contestant, Group, Target, scaled
from peers import ours_module

TITLE = "a completely sorted index of a column of float64: building it, and searching 2,000 rows with it"
THREADS = (2,)
HITS = 2000


@cache
def values() -> np.ndarray:
    return np.random.default_rng(1).random(scaled(10_000_000, 100_000))


def table() -> Path:
    """Returns the path of a table without an index."""

    def make(path: Path) -> None:
        import tables

        rows = np.zeros(len(values()), [("x", "f8"), ("k", "i4"), ("y", "f4")])
        rows["x"] = values()
        filters = tables.Filters(1, "blosc2:lz4")
        with tables.open_file(path, "w") as file:
            file.create_table("/", "t", rows, expectedrows=len(rows), filters=filters)

    return data.made("table.h5", make)


def indexed() -> Path:
    """Returns the path of a table with an index."""

    def make(path: Path) -> None:
        shutil.copyfile(table(), path)
        with ours_module().File(path, "r+") as file:
            file["t"].create_csindex("x")

    return data.made("indexed.h5", make)


def tables_module():
    import tables

    return tables


def building(name: str, copy: str, build, kind: str, threads: str) -> Contestant:
    """Returns a contestant that builds the index of a fresh copy of the table."""
    path = writers.written(copy)

    def opened() -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(table(), path)
        return path

    def call(path: Path, turn: int) -> Path:
        build(path)
        return path

    return Contestant(name, call, opened, lambda path: writers.remove(path), kind=kind, threads=threads)


def by_us(path: Path) -> None:
    with ours_module().File(path, "r+") as file:
        file["t"].create_csindex("x")


def by_them(path: Path) -> None:
    with tables_module().open_file(path, "a") as file:
        file.root.t.cols.x.create_csindex()


def in_order(path: Path | None) -> np.ndarray | None:
    """Returns the values in the order of the index."""
    if path is None or not os.path.exists(path):
        return None
    with ours_module().File(path) as file:
        return values()[file["t"].cols.x.index[:]]


def groups(threads: int):
    count = len(values())
    yield Group(
        f"building it for {count} rows",
        [
            building(OUR_NAME, "ours.h5", by_us, OURS, ""),
            building("PyTables", "theirs.h5", by_them, PEER, "1"),
        ],
        [Target("PyTables", 5.0)],
        lambda: np.sort(values()),
        work_bytes=8 * count,
        files=[table()],
        normal=in_order,
    )
    low, high = 0.25, 0.25 + HITS / count

    def our_search(file, turn):
        return np.sort(file["t"].cols.x.index.search(low, high)[:, 0])

    def their_search(file, turn):
        return np.sort(file.root.t.get_where_list("(x >= low) & (x <= high)", {"low": low, "high": high}))

    def our_file():
        file = ours_module().File(indexed())
        # The first search in an opening compares the index with the column.
        our_search(file, 0)
        return file

    yield Group(
        f"rows of {HITS} values of {count}, in an open file",
        [
            Contestant(OUR_NAME, our_search, our_file, lambda file: file.close(), kind=OURS, threads="1"),
            Contestant(
                "PyTables",
                their_search,
                lambda: tables_module().open_file(indexed()),
                lambda file: file.close(),
                kind=PEER,
                threads="1",
            ),
        ],
        [Target("PyTables", 10.0)],
        lambda: np.flatnonzero((values() >= low) & (values() <= high)),
        files=[indexed()],
    )
