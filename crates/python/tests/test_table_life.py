"""Tables under hard conditions: killed writers, threads that query while others change rows, forked children,
full disks.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pyarrow
import pytest
import tables
from soundness import CHECKS
from support import hs

KILLS = 60 if os.environ.get("HYPERSLAB_SOAK") else 8
ROWS = 20
COLUMNS = [("step", "i4"), ("x", "f8"), ("twice", "f8"), ("id", "S4")]

WRITER = """
import sys
import numpy as np
import hyperslab as hs
from test_table_life import rows_of

with hs.File(sys.argv[1], "r+") as file:
    table = file["t"]
    step = int(file.attrs["last"])
    while True:
        step += 1
        with file.transaction():
            table.append(rows_of(step))
            if step % 3 == 0:
                table.modify_column(len(table) - 1, len(table), column=[b"END"], colname="id")
            if step % 7 == 0:
                table.remove_rows(0, 60)
            if step % 11 == 0:
                table.reindex()
            row = table.row
            row["step"], row["x"], row["twice"] = step, -step, -2 * step
            row.append()
            table.flush()
            file.attrs["last"] = step
        print("flushed", step, flush=True)
"""


def rows_of(step):
    rows = np.zeros(ROWS, COLUMNS)
    rows["step"] = step
    rows["x"] = np.random.default_rng(step).normal(size=ROWS)
    rows["twice"] = 2 * rows["x"]
    rows["id"] = b"row"
    return rows


def rows_after(step):
    """All rows of the table after a step, by a model in NumPy."""
    rows = np.zeros(0, COLUMNS)
    for number in range(1, step + 1):
        rows = np.concatenate([rows, rows_of(number)])
        if number % 3 == 0:
            rows["id"][-1] = b"END"
        if number % 7 == 0:
            rows = rows[60:]
        last = np.zeros(1, COLUMNS)
        last["step"], last["x"], last["twice"] = number, -number, -2 * number
        rows = np.concatenate([rows, last])
    return rows


CONDITIONS = {
    "x > 0.5": lambda rows: rows["x"] > 0.5,
    "(x < -3) | (step == 2)": lambda rows: (rows["x"] < -3) | (rows["step"] == 2),
    "(step > 5) & (id == b'END')": lambda rows: (rows["step"] > 5) & (rows["id"] == b"END"),
}


def checked(table, step):
    """Asserts that a table has the rows of a step, and that queries find them."""
    expected = rows_after(step)
    assert table.read().tobytes() == expected.tobytes()
    for condition, mask in CONDITIONS.items():
        assert np.array_equal(table.get_where_list(condition), np.flatnonzero(mask(expected))), condition


@pytest.mark.process
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_a_killed_writer_of_a_table_loses_no_flushed_rows(tmp_path, libver):
    path, moments = tmp_path / "t.h5", random.Random(libver)
    with hs.File(path, "w", libver=libver) as file:
        table = file.create_table("t", COLUMNS, chunkshape=64, compression=hs.Blosc2("lz4"))
        for column in ("x", "step", "id"):
            table.create_index(column, kind="full" if column == "x" else "medium")
        file.attrs["last"] = 0
    words = [sys.executable, "-c", WRITER, path]
    for _ in range(KILLS):
        environment = os.environ | {"PYTHONPATH": os.path.dirname(__file__)}
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as writer:
            said = [writer.stdout.readline()]
            assert said[0], "the writer ended before it was killed"
            time.sleep(moments.uniform(0, 0.1))
            writer.kill()
            said += writer.stdout.readlines()
        flushed = max(int(line.split()[1]) for line in said if line.endswith("\n"))
        CHECKS.directory(tmp_path)
        with hs.File(path, "r") as file:
            found = int(file.attrs["last"])
            assert found >= flushed
            checked(file["t"], found)
        with hs.File(path, "r+") as file:
            checked(file["t"], found)
        with tables.open_file(path) as file:
            assert file.root.t.read().tobytes() == rows_after(found).tobytes()
            for condition, mask in CONDITIONS.items():
                assert np.array_equal(file.root.t.get_where_list(condition), np.flatnonzero(mask(rows_after(found))))
    assert found >= KILLS
    CHECKS.said.append(f"killed writers of tables ({libver}): {KILLS} kills, {found} steps")


@pytest.mark.process
def test_queries_see_whole_rows_while_threads_append_change_and_remove(tmp_path):
    stop, failed = threading.Event(), []
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_table("t", COLUMNS, chunkshape=100, compression=hs.Blosc2("lz4"))
        table.append(rows_of(1))
        table.create_csindex("x")

        def run(work):
            try:
                while not stop.is_set():
                    work()
            except BaseException as error:
                failed.append(error)
                stop.set()

        def is_whole(found):
            return (found["twice"] == 2 * found["x"]).all() and (found["id"] == b"row").all()

        def query():
            found = file["t"].read_where("x > 0.25")
            assert is_whole(found) and (found["x"] > 0.25).all()

        def look():
            found = file["t"].read()
            assert is_whole(found) and len(found) % ROWS == 0

        def add():
            file["t"].append(rows_of(5))

        def change():
            file["t"].modify_rows(0, rows=rows_of(7))

        def remove():
            if file["t"].len() > 500:
                file["t"].remove_rows(100, 400)

        def count():
            assert file["t"].count_where("id == b''") == 0
            file.flush()

        def stream():
            try:
                for batch in file["t"].to_batches("x < 0", columns=["x", "id"], batch_size=50):
                    assert batch["x"].to_numpy().max() < 0
                for row in file["t"].where("x > 1"):
                    assert row["x"] > 1
            except (RuntimeError, pyarrow.ArrowInvalid) as error:
                assert "were removed" in str(error)

        works = (query, look, add, add, change, remove, count, stream)
        threads = [threading.Thread(target=run, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        time.sleep(2)
        stop.set()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        if failed:
            raise failed[0]
        rows = table.read()
        assert np.array_equal(table.get_where_list("x > 0.25"), np.flatnonzero(rows["x"] > 0.25))


def test_a_forked_child_queries_the_table_of_its_parent(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_table("t", COLUMNS, chunkshape=100, compression=hs.Blosc2("lz4"))
        table.append(np.concatenate([rows_of(step) for step in range(1, 50)]))
        table.create_csindex("x")
        file.flush()
        expected = table.get_where_list("x > 1").tolist()
        child = os.fork()
        if child == 0:
            found = False
            try:
                found = table.get_where_list("x > 1").tolist() == expected and table.count_where("step == 7") == ROWS
            finally:
                os._exit(0 if found else 1)
        assert os.waitpid(child, 0)[1] == 0
        table.append(rows_of(50))
        assert table.count_where("step == 50") == ROWS


def test_a_forked_child_does_not_wait_for_rows_that_a_thread_of_its_parent_was_changing(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_table("t", COLUMNS, chunkshape=100)
        table.append(rows_of(1))
        file.flush()
        held, done = threading.Event(), threading.Event()

        def hold():
            held.set()
            done.wait(60)

        thread = threading.Thread(target=hs._native._changing_rows, args=(table, hold))
        thread.start()
        held.wait(60)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            os._exit(0 if table.count_where("step == 1") == ROWS else 1)
        assert os.waitpid(child, 0)[1] == 0
        done.set()
        thread.join(60)
        assert table.count_where("step == 1") == ROWS


FULL = """
import resource, signal, sys
import numpy as np
import hyperslab as hs
from test_table_life import COLUMNS, rows_of

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path, what = sys.argv[1:]
with hs.File(path, "r+") as file:
    table = file["t"]
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
    random = np.random.default_rng(0)
    try:
        for step in range(1, 1000):
            if what == "append":
                rows = np.zeros(1000, COLUMNS)
                rows["x"] = random.normal(size=1000)
                table.append(rows)
                table.flush()
            else:
                table.create_csindex("x")
                table.cols.x.remove_index()
                table.append(table.read())
                table.flush()
    except OSError as error:
        print("OSError", error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


@pytest.mark.parametrize("what", ["append", "index"])
def test_a_full_disk_is_an_error_and_no_flushed_row_is_lost(tmp_path, what):
    path = tmp_path / "t.h5"
    first = np.concatenate([rows_of(step) for step in range(1, 100)])
    with hs.File(path, "w") as file:
        file.create_table("t", COLUMNS, chunkshape=64, compression=hs.Blosc2("lz4")).append(first)
    environment = os.environ | {"PYTHONPATH": os.path.dirname(__file__)}
    words = [sys.executable, "-c", FULL, str(path), what]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert done.returncode == 0 and done.stdout.startswith("OSError"), (done.stdout, done.stderr)
    with hs.File(path, "r+") as file:
        table = file["t"]
        rows = table.read()
        assert rows[: len(first)].tobytes() == first.tobytes()
        assert np.array_equal(table.get_where_list("x > 1"), np.flatnonzero(rows["x"] > 1))
        table.append(rows_of(1))
    with tables.open_file(path) as file:
        assert file.root.t.nrows == len(rows) + ROWS


def test_a_table_of_more_rows_than_memory_has_numbers_is_looked_into_from_its_start():
    with hs.File.in_memory() as file:
        table = file.create_table("t", COLUMNS, chunkshape=1 << 16, compression=hs.Blosc2("lz4"))
        table.append(rows_of(1))
        table.resize(10**15, axis=0)
        assert [row.nrow for row, _ in zip(table.iterrows(step=7), range(3), strict=False)] == [0, 7, 14]
        assert table.read_where("step == 1", step=6, limit=3)["x"].tolist() == rows_of(1)["x"][:18:6].tolist()
        assert len(table.read_where("step == 0", step=1000, limit=2000)) == 2000
        assert len(table.read_where("step == 0", limit=0, step=2)) == 0
        for step in (1, 2):
            with pytest.raises(ValueError, match="limit must be at least 0, not "):
                table.read_where("step == 0", limit=-1, step=step)
        with pytest.raises(MemoryError, match="ask for fewer rows"):
            table.get_where_list("1 < 2")


@pytest.mark.soak
def test_a_loop_over_rows_ends_with_an_error_if_a_transaction_that_removed_rows_is_undone():
    with hs.File.in_memory() as file:
        table = file.create_table("t", COLUMNS, chunkshape=64)
        table.append(np.concatenate([rows_of(step) for step in range(50_000)]))
        loop = None
        with pytest.raises(KeyError), file.transaction():
            table.remove_rows(0, 10)
            loop = table.iterrows()
            assert next(loop)["step"] == 0
            raise KeyError
        with pytest.raises(RuntimeError, match="start the loop again"):
            list(loop)


KILLED = """
import os, sys
import numpy as np
import hyperslab as hs

file = hs.File(sys.argv[1], "w")
table = file.create_table("t", [("a", "i8"), ("b", "f8")], chunkshape=100, obj=None)
table.append({"a": np.arange(1050), "b": -np.arange(1050.0)})
table.create_index("a", kind="full")
file.flush()
if sys.argv[2] == "remove":
    table.remove_rows(0, 130)
elif sys.argv[2] == "modify":
    table.modify_column(0, column=np.full(500, 7), colname="a")
else:
    table.append({"a": np.full(500, 7), "b": np.zeros(500)})
if sys.argv[3] == "flushed halfway":
    hs._native._update_indexes(table)
os._exit(0)
"""


@pytest.mark.parametrize("change", ["remove", "modify", "append"])
@pytest.mark.parametrize("when", ["before", "flushed halfway"])
def test_a_killed_change_of_rows_without_filters_leaves_those_of_the_last_flush(tmp_path, change, when):
    """Chunks without filters are written in place elsewhere; here they would leave half a change."""
    subprocess.run([sys.executable, "-c", KILLED, tmp_path / "t.h5", change, when], check=True)
    with tables.open_file(tmp_path / "t.h5") as file:
        table = file.root.t
        assert table.read()["a"].tolist() == list(range(1050))
        assert table.will_query_use_indexing("a == 7") and not table.cols.a.index.dirty
        assert table.get_where_list("a == 7").tolist() == [7]
        assert np.sort(table.get_where_list("a > 990")).tolist() == list(range(991, 1050))
