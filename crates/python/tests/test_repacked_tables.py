"""`hyperslab repack` and `hyperslab copy` of tables: streams of rows, bounds of chunks, and indexes."""

import os
import subprocess
import sys

import hyperslab as hs
import numpy as np
import pytest
import tables

ROWS = 20_000
DTYPE = np.dtype([("t", "i8"), ("x", "f4"), ("y", "f4"), ("k", "i4"), ("s", "S12")])


def command(*arguments):
    """Runs the command, which must succeed, and returns what it prints."""
    code = "import sys; from hyperslab._native import run_cli; sys.exit(run_cli(['hyperslab', *sys.argv[1:]]))"
    done = subprocess.run([sys.executable, "-c", code, *map(os.fspath, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def some_rows():
    rng = np.random.default_rng(1)
    rows = np.zeros(ROWS, DTYPE)
    rows["t"], rows["k"] = np.arange(ROWS), rng.integers(0, 5000, ROWS)
    rows["x"], rows["y"] = np.cumsum(rng.normal(size=ROWS)), rng.normal(size=ROWS).round(1)
    rows["s"] = rng.choice([b"a", b"bc", b"station"], ROWS)
    return rows


@pytest.fixture
def theirs(tmp_path):
    """A file of PyTables with indexes of each kind."""
    path = tmp_path / "theirs.h5"
    with tables.open_file(path, "w") as file:
        group = file.create_group("/", "g")
        filters = tables.Filters(5, "blosc2:lz4")
        table = file.create_table(group, "t", some_rows(), chunkshape=2048, filters=filters)
        table.cols.k.create_csindex()
        table.cols.t.create_index(9, "light")
        table.cols.x.create_index(9, "ultralight")
        table.cols.y.create_index(9, "medium")
    return path


def check(path, columns=("t", "x", "y", "k")):
    """Compares queries of both packages with NumPy."""
    rows = some_rows()
    conditions = {
        "(t >= 700) & (t < 730)": (rows["t"] >= 700) & (rows["t"] < 730),
        "k == 77": rows["k"] == 77,
        "x > 1e9": rows["x"] > 1e9,
        "(y == 3.5) & (k > 4000)": (rows["y"] == np.float32(3.5)) & (rows["k"] > 4000),
    }
    with hs.File(path) as file:
        table = file["g/t"]
        assert table[:].tobytes() == rows.tobytes()
        assert sorted(table.colindexes) == sorted(columns)
        for name, index in table.colindexes.items():
            assert index.unusable is None, name
        for condition, true in conditions.items():
            assert np.array_equal(table.get_where_list(condition), np.flatnonzero(true)), condition
    with tables.open_file(path) as file:
        table = file.root.g.t
        for condition, true in conditions.items():
            assert bool(table.will_query_use_indexing(condition)) == bool(columns)
            found = np.sort(table.get_where_list(condition))
            assert np.array_equal(found, np.flatnonzero(true)), condition


def first_chunk(path):
    with hs.File(path) as file:
        return file["g/t"].id.read_direct_chunk((0,))[1]


def streams(path):
    """The number of streams of the first block of a table's first chunk."""
    chunk = first_chunk(path)
    at = int.from_bytes(chunk[11:15], "big")
    return 1 if chunk[at + 2] & 0x10 else chunk[at + 3]


@pytest.mark.soak
def test_both_layouts_of_rows_become_the_other(theirs, tmp_path):
    fast, back = tmp_path / "fast.h5", tmp_path / "back.h5"
    assert streams(theirs) == 1
    command("repack", theirs, fast)
    # Chunks are copied as they are stored.
    assert streams(fast) == 1
    check(fast)
    command("repack", theirs, fast, "--encode", "--overwrite")
    assert streams(fast) == DTYPE.itemsize
    check(fast)
    assert b"hyperslab" in first_chunk(fast) and b"hyperslab" not in first_chunk(theirs), "bounds of columns"
    command("repack", fast, back, "--filter", "blosc:lz4")
    with hs.File(back) as file:
        assert file["g/t"].filter_names == ("blosc",)
    check(back)
    command("repack", theirs, fast, "--filter", "gzip:1", "--shuffle", "--overwrite")
    check(fast)


def test_indexes_that_count_chunks_are_built_again_for_chunks_of_another_shape(theirs, tmp_path):
    path = tmp_path / "out.h5"
    said = command("repack", theirs, path, "--chunks", "500", "--filter", "blosc2:lz4")
    assert [line for line in said.splitlines() if "built again" in line]
    check(path)
    with hs.File(path) as file:
        assert file["g/t"].chunks == (500,)
    command("repack", path, tmp_path / "auto.h5", "--chunks", "auto")
    check(tmp_path / "auto.h5")
    assert not [finding for finding in hs.check(path) if finding.severity == "error"]


def test_a_selected_or_copied_table_takes_its_indexes_along(theirs, tmp_path):
    path = tmp_path / "out.h5"
    command("repack", theirs, path, "--select", "/g/t")
    with hs.File(path) as file:
        assert sorted(file["g"]) == ["_i_t", "t"]
    check(path)
    other = tmp_path / "other.h5"
    command("copy", f"{theirs}:/g/t", f"{other}:/g/t", "--parents")
    check(other)
    with hs.File(theirs, "r+") as file:
        for name in list(file["g/t"].colindexes):
            file["g/t"].remove_index(name)
    command("repack", theirs, path, "--select", "/g/t", "--overwrite")
    check(path, ())
