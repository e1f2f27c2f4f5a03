"""Ctrl-C in reads and writes of local files: they end, and what the file holds is sound."""

import subprocess
import sys
from pathlib import Path

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
