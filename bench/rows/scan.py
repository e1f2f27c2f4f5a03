"""Sums a column over the rows of a condition on another column, without an index."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import data
import numpy as np
import peers
import records
import writers
from common import LIMIT, OUR_NAME, OURS, Contestant, Group, Target, sized

TITLE = "sum of a column over the rows of `air > 311.5`; rows of 32 bytes like those of ERA5"
THREADS = (2,)
CONDITION = "air > 311.5"
ROWS_OF_GROUP = 1 << 20


def count() -> int:
    return sized(100_000_000, 1_000_000)


@cache
def found() -> np.ndarray:
    """Returns `precip` in the rows of the condition."""
    return np.concatenate([rows["precip"][rows["air"] > np.float32(311.5)] for rows in records.weather(count())])


def of_pytables() -> Path:
    def make(path: Path) -> None:
        import tables

        filters = tables.Filters(5, "blosc2:lz4", shuffle=True)
        with tables.open_file(path, "w") as file:
            table = file.create_table("/", "t", records.DTYPE, filters=filters, expectedrows=count())
            for rows in records.weather(count()):
                table.append(rows)

    return data.made(f"weather_{count()}_pytables.h5", make)


def of_ours() -> Path:
    def make(path: Path) -> None:
        hyperslab = peers.ours_module()
        with hyperslab.File(path, "w") as file:
            packed = hyperslab.Blosc2("lz4")
            table = file.create_table("t", records.DTYPE, expectedrows=count(), compression=packed)
            for rows in records.weather(count()):
                table.append(rows)

    return data.made(f"weather_{count()}_hyperslab.h5", make)


def parquet(codec: str) -> Path:
    def make(path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        writer = None
        for rows in records.weather(count()):
            batch = pa.table({name: np.ascontiguousarray(rows[name]) for name in rows.dtype.names})
            writer = writer or pq.ParquetWriter(str(path), batch.schema, compression=codec)
            writer.write_table(batch, row_group_size=ROWS_OF_GROUP)
        writer.close()

    return data.made(f"weather_{count()}_{codec}.parquet", make)


def ctable() -> Path:
    def make(path: Path) -> None:
        import blosc2

        packed = {"codec": blosc2.Codec.LZ4, "clevel": 5, "filters": [blosc2.Filter.SHUFFLE]}
        blosc2.CTable.from_parquet(
            str(parquet("zstd")), urlpath=str(path), mode="w", cparams=packed, batch_size=ROWS_OF_GROUP
        ).close()

    return data.made(f"weather_{count()}.b2d", make)


def sum_of(values: np.ndarray) -> float:
    return float(values.sum(dtype="f8"))


def ours(path: Path, name: str) -> Contestant:
    def call(state, turn):
        return sum_of(state[1].read_where(CONDITION, field="precip"))

    made = peers.ours(path, lambda dataset, turn: None, "t")
    return Contestant(name, call, made.open, made.close, OURS, size=lambda: writers.size_of(path))


def pytables(threads: int) -> Contestant:
    path = of_pytables()

    def opened():
        import tables

        return tables.open_file(path, MAX_BLOSC_THREADS=threads, MAX_NUMEXPR_THREADS=threads)

    def call(file, turn):
        return sum_of(file.root.t.read_where(CONDITION, field="precip"))

    return Contestant("PyTables", call, opened, lambda file: file.close(), size=lambda: writers.size_of(path))


def blosc2_ctable(threads: int) -> Contestant:
    path = ctable()

    def opened():
        import blosc2

        blosc2.set_nthreads(threads)
        return blosc2.CTable.open(str(path), mode="r")

    def call(table, turn):
        return sum_of(table.where(CONDITION, columns=["precip"])["precip"][:])

    return Contestant("CTable", call, opened, lambda table: table.close(), size=lambda: writers.size_of(path))


def duckdb_over(codec: str, threads: int) -> Contestant:
    path = parquet(codec)
    query = f"select sum(precip::DOUBLE) from '{path}' where air > 311.5::FLOAT"

    def opened():
        import duckdb

        connection = duckdb.connect()
        connection.execute(f"set threads={threads}")
        return connection

    return Contestant(
        f"DuckDB over Parquet, {codec}",
        lambda connection, turn: connection.execute(query).fetchone()[0],
        opened,
        lambda connection: connection.close(),
        size=lambda: writers.size_of(path),
    )


def in_numpy() -> Contestant:
    """Compares and sums columns in memory, as they are on disk without a codec."""

    @cache
    def columns():
        batches = [(rows["air"].copy(), rows["precip"].copy()) for rows in records.weather(count())]
        return tuple(np.concatenate(column) for column in zip(*batches, strict=True))

    def call(state, turn):
        air, precip = state
        return sum_of(precip[np.flatnonzero(air > np.float32(311.5))])

    return Contestant("NumPy in memory", call, columns, kind=LIMIT, threads="1")


def after_a_first(contestant: Contestant) -> Contestant:
    """Returns the contestant in a file in which it has done the work once."""

    def opened():
        state = contestant.open()
        contestant.call(state, 0)
        return state

    return replace(contestant, open=opened)


def groups(threads: int):
    contestants = [
        ours(of_ours(), OUR_NAME),
        ours(of_pytables(), "ours on PyTables' file"),
        pytables(threads),
        blosc2_ctable(threads),
        duckdb_over("snappy", threads),
        duckdb_over("zstd", threads),
    ]
    targets = [Target("PyTables", 50.0), Target("CTable", 1.5), Target("DuckDB over Parquet", 0.7)]
    for is_first, name in ((True, "the first scan in an open file"), (False, "after a first one")):
        size = [Target("PyTables", 1.0, of="size")] if is_first else []
        yield Group(
            f"{count()} rows, {name}",
            [*(contestants if is_first else map(after_a_first, contestants)), in_numpy()],
            targets + size,
            lambda: round(sum_of(found()), 3),
            work_bytes=records.DTYPE.itemsize * count(),
            files=[of_ours(), of_pytables(), ctable(), parquet("snappy"), parquet("zstd")],
            memory_limit_mib=64,
            normal=lambda total: round(total, 3),
        )
