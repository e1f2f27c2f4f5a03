"""Processes forked while files are open can read, do not change the file of the parent, and never hang."""

import io
import multiprocessing
import os
import pickle
import select
import signal
import subprocess
import sys
import threading

import h5py
import numpy as np
import pytest
from support import IS_H5PY, hs

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(IS_H5PY, reason="libhdf5 damages the file, too"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

SECONDS = 60
VALUES = np.arange(400 * 500, dtype="i4").reshape(400, 500)


def in_child(work):
    """Returns the result of `work` in a forked child, or its exception. A child that hangs fails the test."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            said = work()
        except BaseException as error:  # noqa: BLE001  (the exception is the result)
            said = error
        os.write(write, pickle.dumps(said))
        os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        if not select.select([pipe], [], [], SECONDS)[0]:
            os.kill(pid, signal.SIGKILL)
        said = pipe.read()
    os.waitpid(pid, 0)
    assert said, "the child hung or died"
    return pickle.loads(said)


def make(path, **options):
    f = hs.File(path, "w", **options)
    f.create_dataset("gzip", data=VALUES, chunks=(20, 50), compression="gzip", shuffle=True)
    f.create_dataset("plain", data=VALUES)
    f.attrs["title"] = "forked"
    return f


def is_right(f):
    return bool(f.attrs["title"] == "forked" and all(np.array_equal(f[name][()], VALUES) for name in ("gzip", "plain")))


ENDING = """
import os, sys
import numpy as np
import hyperslab as hs
values = np.arange(400 * 500, dtype="i4").reshape(400, 500)
hs.File(sys.argv[1], "w").close()
f = hs.File(sys.argv[1], "r+")
d = f.create_dataset("gzip", (400, 500), "i4", chunks=(20, 50), compression="gzip")
d[:130] = values[:130]
pid = os.fork()
if pid == 0:
    if sys.argv[2] == "close":
        f.close()
        assert not f and not d
    elif sys.argv[2] == "del":
        del f, d
    elif sys.argv[2] == "with":
        with f:
            pass
    elif sys.argv[2] == "raise":
        f.create_group("lost")
    sys.exit(0)
status = os.waitpid(pid, 0)[1]
assert (status == 0) == (sys.argv[2] != "raise"), status
d[130:] = values[130:]
f.attrs["title"] = "forked"
f.close()
"""


@pytest.mark.parametrize("how", ["exit", "close", "del", "with", "raise"])
def test_a_child_that_ends_does_not_change_the_file_of_its_parent(tmp_path, how):
    path = tmp_path / "f.h5"
    command = [sys.executable, "-c", ENDING, path, how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    assert ("RuntimeError: the file was opened before this process was forked" in done.stderr) == (how == "raise")
    assert "since the last flush is lost" not in done.stderr
    for module in (hs, h5py):
        with module.File(path, "r") as f:
            assert list(f) == ["gzip"] and np.array_equal(f["gzip"][()], VALUES) and f.attrs["title"] == "forked"


CHANGES = {
    "an element": lambda f: f["gzip"].__setitem__((0, 0), 1),
    "a chunk": lambda f: f["gzip"].__setitem__(np.s_[:20, :50], 1),
    "unfiltered data": lambda f: f["plain"].__setitem__(slice(0, 9), 1),
    "a group": lambda f: f.create_group("group"),
    "a dataset": lambda f: f.create_dataset("new", data=VALUES),
    "an attribute": lambda f: f.attrs.__setitem__("title", "changed"),
    "a link": lambda f: f.__delitem__("plain"),
    "a flush": lambda f: f.flush(),
    "a flush of a dataset": lambda f: f["gzip"].flush(),
    "a transaction": lambda f: f.transaction().__enter__(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changing_the_file_of_the_parent_in_a_child_is_an_error(tmp_path, change):
    path = tmp_path / "f.h5"
    with make(path) as f:
        for driver in ("sec2", "core"):
            with f if driver == "sec2" else hs.File(path.with_name("core.h5"), "w", driver="core") as f:
                if driver == "core":
                    f["plain"], f["gzip"] = VALUES, VALUES
                f["gzip"][5] = VALUES[5]
                error = in_child(lambda f=f: CHANGES[change](f))
                assert type(error) is RuntimeError and "forked" in str(error), repr(error)
                assert np.array_equal(f["gzip"][()], VALUES)
                f.attrs["title"] = "forked"
            with h5py.File(f"{tmp_path}/{'f' if driver == 'sec2' else 'core'}.h5", "r") as written:
                assert is_right(written) and sorted(written) == ["gzip", "plain"]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_child_reads_with_its_own_threads(tmp_path, threads):
    path = tmp_path / "f.h5"
    make(path).close()
    with hs.File(path, "r") as f:
        # This read starts the threads of the pool and fills the caches.
        assert np.array_equal(f["gzip"].read(threads=2), VALUES)
        dataset = f["gzip"]
        assert in_child(lambda: np.array_equal(dataset.read(threads=threads), VALUES)) is True
        assert in_child(lambda: is_right(f) and hs.get_threads()) == hs.get_threads()
        assert in_child(lambda: in_child(lambda: is_right(f))) is True, "a child of a child"
        assert in_child(lambda: is_right(f) and in_child(lambda: is_right(f))) is True


def test_a_child_sees_uncommitted_changes_of_its_parent(tmp_path):
    with make(tmp_path / "f.h5") as f:
        assert in_child(lambda: is_right(f)) is True, "a file that was never flushed"
        f["gzip"][3, 7] = -1
        f.create_group("new").attrs["n"] = 5
        del f["plain"]
        seen = in_child(lambda: (int(f["gzip"][3, 7]), int(f["gzip"][3, 8]), sorted(f), int(f["new"].attrs["n"])))
        assert seen == (-1, VALUES[3, 8], ["gzip", "new"], 5)


def square(row):
    return int((FILE["gzip"][row].astype("i8") ** 2).sum())


def test_a_pool_of_processes_reads_a_file_opened_by_the_parent(tmp_path):
    global FILE
    make(tmp_path / "f.h5").close()
    with hs.File(tmp_path / "f.h5", "r") as FILE:
        assert np.array_equal(FILE["gzip"].read(threads=2), VALUES)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = pool.map_async(square, range(0, 400, 7)).get(timeout=SECONDS)
        assert found == [int((row.astype("i8") ** 2).sum()) for row in VALUES[::7]]


def beside(work, forks):
    """Calls `forks` while two threads call `work` repeatedly."""
    ends = threading.Event()

    def repeat(number):
        while not ends.is_set():
            work(number)

    threads = [threading.Thread(target=repeat, args=(number,)) for number in range(2)]
    [thread.start() for thread in threads]
    try:
        forks()
    finally:
        ends.set()
        [thread.join() for thread in threads]


def test_a_child_forked_while_threads_read_can_read(tmp_path):
    make(tmp_path / "f.h5").close()
    with hs.File(tmp_path / "f.h5", "r", rdcc_nbytes=100_000) as f:

        def work(number):
            again = f["gzip"]
            assert np.array_equal(
                again[number * 7 : number * 7 + 90, 30:70], VALUES[number * 7 : number * 7 + 90, 30:70]
            )
            assert len(f.attrs) == 1 and f["plain"][number, 3] == VALUES[number, 3]

        def forks():
            for _ in range(25):
                assert in_child(lambda: is_right(f)) is True

        beside(work, forks)


def test_a_child_forked_while_threads_write_does_not_hang(tmp_path):
    """The child may read outdated data, because the parent continues to write."""
    path, said = tmp_path / "f.h5", []
    with make(path) as f:

        def work(number):
            f["gzip"][number * 200 + 3, 3:90] = VALUES[number * 200 + 3, 3:90]
            f["gzip"][:20, :50] = VALUES[:20, :50]
            f.attrs[f"a{number}"] = number
            f.flush()

        def forks():
            said.extend(in_child(lambda: is_right(f)) for _ in range(25))

        beside(work, forks)
        assert len(said) == 25 and not any(isinstance(result, SystemError) for result in said)
    with h5py.File(path, "r") as f:
        assert is_right(f)


def test_a_child_does_not_keep_the_lock_of_its_parent(tmp_path):
    path = tmp_path / "f.h5"
    f = make(path)
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    f.close()
    open_it = "import sys, h5py; h5py.File(sys.argv[1], 'r+').close()"
    try:
        subprocess.run([sys.executable, "-c", open_it, path], check=True, timeout=SECONDS)
    finally:
        os.close(write)
        os.close(read)
        os.waitpid(pid, 0)


def test_closing_a_file_in_a_child_keeps_the_lock_of_the_parent(tmp_path):
    path = tmp_path / "f.h5"
    open_it = "import sys, hyperslab; hyperslab.File(sys.argv[1], 'r')"
    with make(path) as f:
        assert in_child(f.close) is None
        done = subprocess.run([sys.executable, "-c", open_it, path], capture_output=True, text=True, timeout=SECONDS)
        assert "BlockingIOError" in done.stderr
        # The child is another process as well, so the lock keeps it from opening the file.
        assert isinstance(in_child(lambda: hs.File(path, "r")), BlockingIOError)


def test_a_child_can_open_the_file_again(tmp_path):
    path = tmp_path / "f.h5"
    make(path).close()

    def work():
        with hs.File(path, "r") as own:
            return own == f and is_right(own), own.mode

    with hs.File(path, "r") as f:
        assert in_child(work) == (True, "r")

    def change():
        f.close()
        with hs.File(path, "r+") as own:
            own["made"] = 1
        return "changed"

    f = hs.File(path, "r")
    f.close()
    assert in_child(change) == "changed"
    with hs.File(path, "r") as f:
        assert "made" in f


def test_a_child_reads_a_bytesio_but_not_an_open_file_whose_position_it_shares(tmp_path):
    path = tmp_path / "f.h5"
    make(path).close()
    with hs.File(io.BytesIO(path.read_bytes()), "r") as f:
        assert in_child(lambda: is_right(f)) is True
    with open(path, "rb") as raw, hs.File(raw, "r") as f:
        error = in_child(lambda: is_right(f))
        assert type(error) is RuntimeError and "position" in str(error)
        assert is_right(f)


@pytest.mark.parametrize("kind", ["bytes", "core"])
def test_a_child_reads_a_file_in_memory(tmp_path, kind):
    path = tmp_path / "f.h5"
    make(path).close()
    with hs.File.from_bytes(path.read_bytes()) if kind == "bytes" else hs.File(path, "r", driver="core") as f:
        assert in_child(lambda: is_right(f)) is True
