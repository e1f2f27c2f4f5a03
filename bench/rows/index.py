"""Builds a completely sorted index of a column of float64, and finds rows with it."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import data
import numpy as np
import peers
import writers
from common import LIMIT, OUR_NAME, OURS, PEER, Contestant, Group, Target, sized

TITLE = "a completely sorted index of a column of float64: building it, and finding 2,000 rows with it"
THREADS = (2,)
HITS = 2000
CONDITION = "(x >= low) & (x <= high)"


@cache
def values() -> np.ndarray:
    return np.random.default_rng(1).random(sized(100_000_000, 100_000))


def bounds() -> dict[str, float]:
    return {"low": 0.25, "high": 0.25 + HITS / len(values())}


def rows_found() -> np.ndarray:
    low, high = bounds().values()
    return np.flatnonzero((values() >= low) & (values() <= high))


def table() -> Path:
    """Returns the path of PyTables' table without an index."""

    def make(path: Path) -> None:
        import tables

        rows = np.zeros(len(values()), [("x", "f8"), ("k", "i4"), ("y", "f4")])
        rows["x"] = values()
        filters = tables.Filters(1, "blosc2:lz4")
        with tables.open_file(path, "w") as file:
            file.create_table("/", "t", rows, expectedrows=len(rows), filters=filters)

    return data.made(f"index_{len(values())}.h5", make)


def indexed(by: str, build) -> Path:
    """Returns the path of the table with an index, which `build` makes."""

    def make(path: Path) -> None:
        shutil.copyfile(table(), path)
        build(path)

    return data.made(f"index_{len(values())}_{by}.h5", make)


def ctable() -> Path:
    """Returns the path of a table of python-blosc2 with an index of kind FULL."""

    def make(path: Path) -> None:
        import blosc2
        import pyarrow as pa
        import pyarrow.parquet as pq

        count = len(values())
        columns = {"x": values(), "k": np.zeros(count, "i4"), "y": np.zeros(count, "f4")}
        source = path.with_suffix(".parquet")
        pq.write_table(pa.table(columns), source)
        made = blosc2.CTable.from_parquet(str(source), urlpath=str(path), mode="w", batch_size=1 << 20)
        source.unlink()
        made.create_index("x", kind=blosc2.IndexKind.FULL)
        made.close()

    return data.made(f"index_{len(values())}.b2d", make)


def by_us(path: Path) -> None:
    with peers.ours_module().File(path, "r+") as file:
        file["t"].create_csindex("x")


def by_them(path: Path) -> None:
    import tables

    with tables.open_file(path, "a") as file:
        file.root.t.cols.x.create_csindex()


def building(name: str, copy: str, build, kind: str, threads: str = "") -> Contestant:
    """Returns a contestant that builds the index of a fresh copy of the table."""
    path, size = writers.written(copy), 0

    def opened() -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(table(), path)
        return path

    def call(path: Path, turn: int) -> Path:
        build(path)
        return path

    def close(path: Path) -> None:
        nonlocal size
        size = writers.size_of(path)
        writers.remove(path)

    return Contestant(name, call, opened, close, kind=kind, threads=threads, size=lambda: size)


def in_order(path: Path | None) -> np.ndarray | None:
    """Returns the values in the order of the index."""
    if path is None or not path.exists():
        return None
    with peers.ours_module().File(path) as file:
        return values()[file["t"].cols.x.index[:]]


def sorting() -> Contestant:
    """Sorts as many values, and the numbers of their rows, in memory."""
    return Contestant("numpy.argsort", lambda state, turn: np.argsort(values()), kind=LIMIT, threads="1")


def building_group(threads: int) -> Group:
    count = len(values())
    return Group(
        f"building it for {count} rows",
        [
            building(OUR_NAME, "ours.h5", by_us, OURS),
            building("PyTables", "theirs.h5", by_them, PEER, "1"),
            sorting(),
        ],
        [Target("PyTables", 5.0)],
        lambda: np.sort(values()),
        work_bytes=8 * count,
        files=[table()],
        normal=in_order,
    )


def find(state, turn) -> np.ndarray:
    return np.sort(state[1].get_where_list(CONDITION, bounds()))


def ours(is_first: bool) -> Contestant:
    path = indexed("hyperslab", by_us)

    def opened():
        file = peers.ours_module().File(path)
        state = file, file["t"]
        if not is_first:
            find(state, 0)
        return state

    return Contestant(OUR_NAME, find, opened, peers.close_file, OURS)


def pytables(is_first: bool, threads: int) -> Contestant:
    path = indexed("pytables", by_them)

    def opened():
        import tables

        file = tables.open_file(path, MAX_BLOSC_THREADS=threads, MAX_NUMEXPR_THREADS=threads)
        state = file, file.root.t
        if not is_first:
            find(state, 0)
        return state

    return Contestant("PyTables", find, opened, peers.close_file)


def blosc2_ctable(is_first: bool, threads: int) -> Contestant:
    """Finds the values; a table of python-blosc2 does not tell the numbers of rows."""
    path = ctable()

    def search(opened_table, turn):
        low, high = bounds().values()
        return opened_table.where(f"(x >= {low!r}) & (x <= {high!r})", columns=["x"])["x"][:]

    def opened():
        import blosc2

        blosc2.set_nthreads(threads)
        opened_table = blosc2.CTable.open(str(path), mode="r")
        if not is_first:
            search(opened_table, 0)
        return opened_table

    return Contestant("CTable", search, opened, lambda opened_table: opened_table.close())


def as_values(answer: np.ndarray) -> np.ndarray:
    """Returns the values of an answer of row numbers or values, sorted."""
    return np.sort(values()[answer] if answer.dtype.kind in "iu" else answer)


def groups(threads: int):
    yield building_group(threads)
    for is_first, name in ((False, "in an open file, after a first one"), (True, "the first one in an open file")):
        yield Group(
            f"query with {HITS} hits in {len(values())} rows, {name}",
            [ours(is_first), pytables(is_first, threads), blosc2_ctable(is_first, threads)],
            [] if is_first else [Target("PyTables", 10.0), Target("CTable", 1.0)],
            lambda: np.sort(values()[rows_found()]),
            files=[table(), indexed("hyperslab", by_us), indexed("pytables", by_them)],
            memory=not is_first,
            normal=as_values,
        )
