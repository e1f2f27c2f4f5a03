"""Ctrl-C in reads and writes of local files: they end, and what the file holds is sound."""

import subprocess
import sys
from pathlib import Path

import h5py
import hyperslab as hs
import pytest
from support import IS_H5PY

if IS_H5PY:
    pytest.skip("h5py goes on to the end", allow_module_level=True)

ROUTES = [
    "append",
    "chunks",
    "chunks_in_mapped_memory",
    "chunks_on_one_thread",
    "contiguous",
    "expression",
    "index",
    "points",
    "query",
    "virtual",
    "write_chunks",
    "write_contiguous",
]
if sys.platform == "linux":
    ROUTES.append("chunks_by_io_uring")


def run(route, folder):
    command = [sys.executable, Path(__file__).with_name("interrupted.py"), route, folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


@pytest.mark.process
@pytest.mark.parametrize("route", ROUTES)
def test_ctrl_c_ends_work_before_its_end(route, tmp_path):
    assert run(route, tmp_path) < 0.8, "most of the work was done"


@pytest.mark.process
@pytest.mark.parametrize("route", ["strings_in_use", "finalizers"])
def test_a_thread_that_asks_for_signals_waits_for_nothing_and_runs_no_other_code(route, tmp_path):
    run(route, tmp_path)


@pytest.mark.process
def test_a_handler_that_closes_the_file_is_called_after_an_index_is_built(tmp_path):
    run("handler_closes", tmp_path)


@pytest.mark.process
def test_a_handler_of_the_program_is_called_after_a_read_that_is_whole(tmp_path):
    run("handler", tmp_path)


# A write of incompressible chunks that ends early; the file is closed as usual.
ENDED = """
import os, resource, signal, sys, threading
import hyperslab as hs, numpy as np
path, why = sys.argv[1:]
numbers = np.random.default_rng(0).normal(size=(60, 1000, 100))
f = hs.File(path, "w", **({"driver": "split"} if why == "split" else {}))
dataset = f.create_dataset("a", numbers.shape, "f8", chunks=(1, 1000, 100), compression=hs.Zstd(19))
f.flush()
if why == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000_000, -1))
elif why != "transaction":
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    if why == "transaction":
        with f.transaction():
            dataset[:10] = numbers[:10]
            raise KeyboardInterrupt
    dataset[:] = numbers
    print("to the end")
except (KeyboardInterrupt, OSError) as error:
    print(type(error).__name__)
f.close()
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of Unix")
@pytest.mark.parametrize("why", ["ctrl-c", "full", "split", "transaction"])
def test_after_a_write_that_ended_early_close_leaves_nothing_behind_the_end(tmp_path, why):
    path = tmp_path / "f.h5"
    done = subprocess.run([sys.executable, "-c", ENDED, path, why], capture_output=True, text=True, timeout=180)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ("OSError\n" if why == "full" else "KeyboardInterrupt\n")
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 10_000
    assert hs.check(path, data=True) == []
    if why != "split":
        with h5py.File(path) as f:
            assert f["a"].id.get_num_chunks() == 0
