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
def test_a_handler_of_the_program_is_called_after_a_read_that_is_whole(tmp_path):
    run("handler", tmp_path)
