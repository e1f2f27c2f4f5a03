"""Appends to tables, scans them and reads single rows."""

from __future__ import annotations

from pathlib import Path

import data
import limits
import numpy as np
import peers
import records
import writers
from common import LIMIT, OUR_NAME, OURS, Contestant, Group, Target, scaled, sized

TITLE = "tables: appending, scanning, reading rows one at a time"
THREADS = (2,)
MEMORY_LIMIT_MIB = 64
ROWS_OF_CHUNK = 16
LARGE_CHUNK = 3_440_000
"""The rows of a chunk that PyTables chooses on a processor with 260 MB of cache."""
NARROW = np.dtype([("number", "i4"), ("value", "f4")])
CONDITION = "lat > 10"


def batches(count: int):
    """Yields `count` rows of zeros in batches."""
    zeros = np.zeros(min(count, records.BATCH), records.DTYPE)
    for first in range(0, count, len(zeros)):
        yield zeros[: count - first]


def by_us(count: int):
    def make(path: Path) -> None:
        hyperslab = peers.ours_module()
        with hyperslab.File(path, "w") as file:
            packed = hyperslab.Blosc2("zstd", 1)
            table = file.create_table("t", records.DTYPE, expectedrows=count, compression=packed)
            for rows in batches(count):
                table.append(rows)

    return make


def by_pytables(count: int, threads: int, chunk: int | None = None):
    """Writes `count` rows in chunks of `chunk` rows. PyTables chooses by the cache by default."""

    def make(path: Path) -> None:
        import tables

        filters = tables.Filters(1, "blosc2:zstd", shuffle=True)
        with tables.open_file(path, "w", MAX_BLOSC_THREADS=threads) as file:
            options = {"filters": filters, "expectedrows": count, "chunkshape": chunk}
            table = file.create_table("/", "t", records.DTYPE, **options)
            for rows in batches(count):
                table.append(rows)

    return make


def opened_by_pytables(path: Path, threads: int):
    def opened():
        import tables

        file = tables.open_file(path, MAX_BLOSC_THREADS=threads, MAX_NUMEXPR_THREADS=threads)
        return file, file.root.t

    return opened


def readers(paths: dict[str, Path], theirs: Path, use, use_theirs, threads: int) -> list[Contestant]:
    """Returns hyperslab on each of its files, and PyTables with `threads` inside a chunk, and one."""
    ours = [(name, peers.ours(path, use, "t")) for name, path in paths.items()]
    contestants = [Contestant(name, made.call, made.open, made.close, OURS) for name, made in ours]
    for count, label in ((threads, "PyTables"), (1, "PyTables, 1 thread")):
        opened, call = opened_by_pytables(theirs, count), peers.with_dataset(use_theirs)
        alone = {"BLOSC_NTHREADS": str(count)}
        inside = f"{count} inside a chunk"
        contestants.append(Contestant(label, call, opened, peers.close_file, threads=inside, environment=alone))
    return contestants


def rows_in(path: Path | None) -> tuple | None:
    """Returns the number of rows in a file, and whether all are zeros; read by PyTables."""
    import tables

    if path is None or not path.exists():
        return None
    with tables.open_file(path) as file:
        table = file.root.t
        step = table.chunkshape[0]
        is_zero = all(not table.read(i, i + step).view("u1").any() for i in range(0, min(table.nrows, 10**7), step))
        return table.nrows, is_zero


def looked_at(count: int, threads: int) -> Contestant:
    """Reads all rows in memory once, which shows that they are zeros."""

    def call(state, turn):
        for rows in batches(count):
            parts = np.array_split(rows.view("i8"), 64)
            limits.share(threads, lambda i, parts=parts: parts[i].max(), len(parts))

    return Contestant("reading the rows in memory", call, kind=LIMIT)


def zero_groups(threads: int):
    count = sized(1_000_000_000, 1_000_000)
    nbytes = count * records.DTYPE.itemsize
    yield Group(
        f"append {count} rows of zeros",
        [
            writers.writer(OUR_NAME, "ours.h5", by_us(count), OURS),
            writers.writer("PyTables", "pytables.h5", by_pytables(count, threads)),
            looked_at(count, threads),
        ],
        [Target("PyTables", 4.0)],
        lambda: (count, True),
        work_bytes=nbytes,
        memory_limit_mib=MEMORY_LIMIT_MIB,
        normal=rows_in,
    )
    ours = data.made(f"zeros_{count}_hyperslab.h5", by_us(count))
    theirs = data.made(f"zeros_{count}_pytables.h5", by_pytables(count, threads))
    paths = {OUR_NAME: ours, "ours on PyTables' file": theirs}
    yield Group(
        f"scan of {count} rows of zeros: {CONDITION}",
        readers(
            paths,
            theirs,
            lambda table, turn: len(table.get_where_list(CONDITION)),
            lambda table, turn: len(table.get_where_list(CONDITION)),
            threads,
        ),
        [Target("PyTables", 30.0)],
        lambda: 0,
        work_bytes=nbytes,
        files=[ours, theirs],
        memory_limit_mib=MEMORY_LIMIT_MIB,
    )
    places = [int(i) for i in np.random.default_rng(1).integers(0, count, 20)]

    def random_rows(table, turn):
        return [table[i].tolist() for i in places]

    in_memory = Contestant("NumPy in memory", random_rows, _Everywhere, kind=LIMIT, threads="1")

    large = data.made(f"zeros_{count}_large.h5", by_pytables(count, threads, LARGE_CHUNK))
    for label, file, ratio in (("", theirs, None), (f" in chunks of {LARGE_CHUNK} rows", large, 500.0)):
        yield Group(
            f"random rows of {count} rows of zeros{label}",
            [
                *readers({OUR_NAME: ours, "ours on PyTables' file": file}, file, random_rows, random_rows, threads),
                in_memory,
            ],
            [Target("PyTables", ratio)] if ratio else [],
            lambda: [np.zeros(1, records.DTYPE)[0].tolist()] * len(places),
            operations=len(places),
            files=[ours, file],
            memory_limit_mib=MEMORY_LIMIT_MIB,
        )


def many_chunks(count: int) -> Path:
    """Returns PyTables' file with a table of `count` chunks. Row k has the number k."""

    def make(path: Path) -> None:
        import tables

        filters = tables.Filters(1, "blosc2:lz4", shuffle=True)
        with tables.open_file(path, "w") as file:
            table = file.create_table("/", "t", NARROW, filters=filters, chunkshape=(ROWS_OF_CHUNK,))
            for part in np.array_split(np.arange(count * ROWS_OF_CHUNK, dtype="i4"), 10):
                rows = np.zeros(len(part), NARROW)
                rows["number"] = part
                table.append(rows)

    return data.made(f"chunks_{count}.h5", make)


def chunk_groups(threads: int):
    count = sized(1_000_000, 10_000)
    path = many_chunks(count)
    places = [int(i) for i in np.random.default_rng(2).integers(0, count * ROWS_OF_CHUNK, scaled(10_000, 500))]

    def use(table, turn):
        return [table[i]["number"] for i in places]

    def first(table, turn):
        return table[places[0]]["number"]

    yield Group(
        f"first row of a table of {count} chunks, in an open file",
        readers({OUR_NAME: path}, path, first, first, threads),
        [Target("PyTables", 2.0)],
        lambda: places[0],
        files=[path],
    )
    yield Group(
        f"random rows of a table of {count} chunks",
        readers({OUR_NAME: path}, path, use, use, threads),
        [Target("PyTables", 5.0)],
        lambda: places,
        operations=len(places),
        files=[path],
        memory_limit_mib=MEMORY_LIMIT_MIB,
    )


def with_row(table, rows: list[tuple]) -> None:
    """Sets the eight columns of a new row and appends it, as users of PyTables do."""
    row = table.row
    for lat, lon, time, precip, solar, air, snow, wind in rows:
        row["lat"], row["lon"], row["time"], row["precip"] = lat, lon, time, precip
        row["solar"], row["air"], row["snow"], row["wind"] = solar, air, snow, wind
        row.append()
    table.flush()


def with_append(table, rows: list[tuple]) -> None:
    for row in rows:
        table.append([row])
    table.flush()


def appended(path: Path | None) -> np.ndarray | None:
    if path is None or not path.exists():
        return None
    return peers.h5py_answer(path, name="t")


def single_groups():
    for name, count, append in (
        ("table.row", scaled(200_000, 2_000), with_row),
        ("table.append", scaled(20_000, 1_000), with_append),
    ):
        values = next(records.weather(count))
        rows = values.tolist()

        def ours(path, append=append, rows=rows):
            hyperslab = peers.ours_module()
            with hyperslab.File(path, "w") as file:
                packed = hyperslab.Blosc2("lz4")
                append(file.create_table("t", records.DTYPE, expectedrows=len(rows), compression=packed), rows)

        def theirs(path, append=append, rows=rows):
            import tables

            filters = tables.Filters(5, "blosc2:lz4", shuffle=True)
            with tables.open_file(path, "w") as file:
                append(file.create_table("/", "t", records.DTYPE, filters=filters, expectedrows=len(rows)), rows)

        def assignments(state, turn, rows=rows):
            row = {}
            with_row(_Nothing(row), rows)

        limit = Contestant("the same loop over a dict", assignments, kind=LIMIT, threads="1")
        yield Group(
            f"{count} single rows with {name}",
            [
                writers.writer(OUR_NAME, "ours.h5", ours, OURS),
                writers.writer("PyTables", "pytables.h5", theirs),
                *([limit] if append is with_row else []),
            ],
            [Target("PyTables", 5.0)],
            lambda values=values: values,
            operations=count,
            normal=appended,
        )


class _Everywhere:
    """A table in memory that has the same rows at every place."""

    def __init__(self) -> None:
        self.rows = np.zeros(1000, records.DTYPE)

    def __getitem__(self, place: int) -> np.void:
        return self.rows[place % len(self.rows)]


class _Nothing:
    """A table whose rows are only assigned to."""

    class Row(dict):
        def append(self) -> None:
            pass

    def __init__(self, row: dict) -> None:
        self.row = self.Row(row)

    def flush(self) -> None:
        pass


def groups(threads: int):
    yield from zero_groups(threads)
    yield from chunk_groups(threads)
    yield from single_groups()
