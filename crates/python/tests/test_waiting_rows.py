"""Rows of single appends, indexes and numbers of rows that wait to be written: nothing is lost, and nothing
keeps a file open.
"""

import gc
import subprocess
import sys
import threading
import time

import h5py
import numpy as np
import pytest
import tables
from hyperslab._native import _changing_rows
from support import hs

COLUMNS = [("a", "i4"), ("b", "f8")]


def add(row, *values):
    for value in values:
        row["a"], row["b"] = value, -value
        row.append()


UNCLOSED = """
import sys
import hyperslab as hs
file = hs.File(sys.argv[1], "w")
table = file.create_table("t", [("a", "i4"), ("b", "f8")])
table.create_index("a")
table.append([(number, 0) for number in range(10)])
row = table.row
for number in range(10, 15):
    row["a"] = number
    row.append()
"""


def test_a_program_that_ends_without_closing_its_file_loses_no_rows(tmp_path):
    subprocess.run([sys.executable, "-c", UNCLOSED, tmp_path / "t.h5"], check=True)
    with h5py.File(tmp_path / "t.h5") as file:
        assert file["t"]["a"].tolist() == list(range(15)) and file["t"].attrs["NROWS"] == 15
    with tables.open_file(tmp_path / "t.h5") as file:
        assert not file.root.t.cols.a.index.dirty and file.root.t.cols.a.index.nelements == 15


def test_dropping_the_last_handle_writes_what_waits_and_closes_the_file(tmp_path):
    file = hs.File(tmp_path / "t.h5", "w")
    table = file.create_table("t", COLUMNS)
    row = table.row
    add(row, 1, 2)
    del file, table
    gc.collect()
    with tables.open_file(tmp_path / "t.h5", "a") as file:
        assert file.root.t.read()["a"].tolist() == [1, 2]
    with pytest.raises(ValueError, match="closed"):
        add(row, 3)


def test_a_transaction_leaves_rows_from_before_and_takes_back_its_own(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        table, other = file.create_table("t", COLUMNS), file.create_table("u", COLUMNS)
        table.create_index("a")
        row = table.row
        add(row, 1)
        add(other.row, 10)
        with pytest.raises(KeyError), file.transaction():
            add(row, 2, 3)
            add(other.row, 11)
            table.append([(4, 4)])
            row["a"] = 99
            raise KeyError
        add(row, *range(5, 1005))
        add(other.row, 12)
        assert row.nrow == 1001
    with tables.open_file(tmp_path / "t.h5") as file:
        assert file.root.t.read()["a"].tolist() == [1, *range(5, 1005)]
        assert file.root.u.read()["a"].tolist() == [10, 12]
        assert file.root.t.cols.a.index.nelements == 1001 and not file.root.t.cols.a.index.dirty


FULL = """
import resource, signal, sys
import hyperslab as hs
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
file = hs.File(sys.argv[1], "w")
table = file.create_table("t", [("a", "i8")])
table.append([(1,)])
file.flush()
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
try:
    with file.transaction():
        row = table.row
        for number in range(20_000):
            row["a"] = number
            row.append()
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
except OSError as error:
    print("refused", type(error).__name__)
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
with file.transaction():
    table.append([(2,)])
row["a"] = 3
row.append()
file.close()
"""


def test_a_transaction_whose_rows_cannot_be_written_is_undone_and_ended(tmp_path):
    said = subprocess.run([sys.executable, "-c", FULL, tmp_path / "t.h5"], check=True, capture_output=True, text=True)
    assert said.stdout.split() == ["refused", "OSError"]
    with h5py.File(tmp_path / "t.h5") as file:
        assert file["t"]["a"].tolist() == [1, 2, 3]


def test_a_row_of_a_deleted_table_is_refused_and_harms_no_other(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        row = file.create_table("t", COLUMNS).row
        add(row, 1)
        del file["t"]
        table = file.create_table("t", COLUMNS)
        file["other"] = 1
        with pytest.raises(ValueError, match="the table was deleted"):
            add(row, 2)
        add(table.row, 3)
    with h5py.File(tmp_path / "t.h5") as file:
        assert file["t"]["a"].tolist() == [3] and file["other"][()] == 1


def test_two_rows_of_a_table_lose_nothing_of_each_other():
    with hs.File.in_memory() as file:
        table = file.create_table("t", COLUMNS)
        one, two = table.row, table.row
        add(one, 1, 2)
        add(two, 3)
        add(one, 4)
        table.flush()
        assert table.read()["a"].tolist() == [1, 2, 3, 4]


def test_a_file_that_cannot_be_written_is_closed_all_the_same(tmp_path, monkeypatch):
    file = hs.File(tmp_path / "t.h5", "w")
    table = file.create_table("t", COLUMNS)
    add(table.row, 1)
    hs._native._waiting_rows(table)._fill(bytes(12))
    file.close()
    assert not file
    with h5py.File(tmp_path / "t.h5") as file:
        assert file["t"]["a"].tolist() == [1]


def test_an_index_in_another_byte_order_is_extended_in_that_order(tmp_path):
    rows = np.zeros(1000, [("a", ">i4"), ("b", ">f8")])
    rows["a"] = rows["b"] = np.random.default_rng(2).permutation(1000)
    with tables.open_file(tmp_path / "t.h5", "w") as file:
        table = file.create_table("/", "t", rows.dtype, byteorder="big")
        table.append(rows)
        table.cols.a.create_index(kind="full")
        table.cols.b.create_index(kind="medium")
    with hs.File(tmp_path / "t.h5", "r+") as file:
        file["t"].append([(5, 5.0), (2000, 2000.0)])
    with hs.File(tmp_path / "t.h5", "r") as file:
        assert file["t"].cols.a.index.unusable is None and file["t"].cols.b.index.unusable is None
    with tables.open_file(tmp_path / "t.h5") as file:
        for condition in ("a == 5", "b == 5", "a > 1999", "b > 998"):
            assert file.root.t.will_query_use_indexing(condition)
            found = file.root.t.read_where(condition)
            everything = file.root.t.read()
            expected = everything[eval(condition, {name: everything[name] for name in "ab"})]
            assert np.array_equal(np.sort(found), np.sort(expected)), condition


@pytest.mark.soak
def test_an_expression_sees_the_columns_of_a_table_together():
    rows = np.zeros(100_000, [("a", "i8"), ("b", "i8")])
    rows["a"] = np.arange(len(rows))
    rows["b"] = 2 * rows["a"] + 1
    with hs.File.in_memory() as file:
        table, stop = file.create_table("t", rows.dtype, obj=rows, chunkshape=1000), threading.Event()

        def remove():
            while not stop.is_set() and table.len() > 1000:
                table.remove_rows(1, 40)

        thread = threading.Thread(target=remove)
        thread.start()
        try:
            for _ in range(200):
                assert hs.Expr("sum(b - 2*a != 1)", a=table.cols.a, b=table.cols.b).eval() == 0
        finally:
            stop.set()
            thread.join(60)


def test_an_expression_has_its_shape_from_one_moment_of_a_table():
    rows = np.zeros(100, [("a", "i8"), ("b", "i8")])
    with hs.File.in_memory() as file:
        table, begun, shapes = file.create_table("t", rows.dtype, obj=rows), threading.Event(), []

        def make():
            begun.set()
            shapes.append(hs.Expr("a + b", a=table.cols.a, b=table.cols.b).shape)

        def change():
            thread.start()
            begun.wait(60)
            time.sleep(0.2)
            table.remove_rows(0, 40)

        thread = threading.Thread(target=make)
        _changing_rows(table, change)
        thread.join(60)
        assert shapes == [(60,)]
