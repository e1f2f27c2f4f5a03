"""Tests ``hyperslab pio`` of the package, whose processes are interpreters of Python."""

import json
import subprocess
import sys

import h5py
import numpy as np


def test_processes_write_one_file(tmp_path):
    sizes = ["--transfer", "1K", "--bytes", "4K", "--iterations", "1", "--processes", "2"]
    command = [sys.executable, "-m", "hyperslab", "pio", "--folder", tmp_path, *sizes, "--keep", "--verify", "--json"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    report = json.loads(done.stdout)
    assert {result["processes"] for result in report["results"]} == {2}
    (folder,) = tmp_path.iterdir()
    (file,) = folder.glob("hyperslab-*.h5")
    (raw,) = folder.glob("posix-*.raw")
    with h5py.File(file) as opened:
        elements = opened["dataset0"][:]
    assert elements.shape == (8192,)
    assert len(np.unique(elements)) == 16
    assert raw.read_bytes() == elements.tobytes()


def test_an_error_of_the_processes_is_that_of_the_command(tmp_path):
    command = [sys.executable, "-m", "hyperslab", "pio", "--folder", tmp_path / "missing"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "--folder" in done.stderr and "No such file" in done.stderr
