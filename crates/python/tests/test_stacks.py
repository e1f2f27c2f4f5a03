"""Packages that use h5py run with hyperslab in its place: their suites, and programs with several processes.

The packages are in `.venv/stacks`, and the sources of those whose wheels have no tests in
`.venv/stacks-src` (`make` installs both). `stacks/suites.toml` says what runs, and which tests cannot pass
and why. The end of a run prints the counts.
"""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from listed import account, environment_of_suite, outcomes_of
from support import IS_H5PY

HERE = Path(__file__).parent / "stacks"
SUITES = tomllib.loads((HERE / "suites.toml").read_text())
VENV = Path(sys.prefix)
OVERLAY, SOURCES = VENV / "stacks", VENV / "stacks-src"

pytestmark = pytest.mark.skipif(IS_H5PY, reason="hyperslab stands in for h5py")


def environment(*paths):
    """Returns the environment of a process that finds the packages."""
    return environment_of_suite(os.pathsep.join(map(str, [*paths, OVERLAY]))) | {"MPLBACKEND": "agg"}


def outcomes(suite, root):
    """Runs a suite. Returns {test: (outcome, message)}; a test is named without its file."""
    shutil.copy(HERE.parent / "h5py_own" / "outcomes.py", root)
    shutil.copy(HERE.parent / "soundness.py", root)
    [source] = [path for path in SOURCES.glob(f"{suite['source']}-*") if path.is_dir()] if "source" in suite else [root]
    paths = [root, *(source / path for path in suite.get("path", ()))]
    # The files of these tests are still open when a test ends.
    found = environment(*paths) | {"H5PY_OWN_OUTCOMES": str(root / "outcomes.json"), "OUTCOMES_ONLY": "1"}
    # As a plugin, the stand-in is in the processes of pytest-xdist, too.
    command = [sys.executable, "-m", "pytest", "-p", "hyperslab.as_h5py", *suite["arguments"]]
    command += ["-q", "--tb=no", "-W", "ignore", "-p", "outcomes", "-p", "no:cacheprovider"]
    done = subprocess.run(command, env=found, cwd=source, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout[-3000:] + done.stderr[-3000:]
    said = json.loads((root / "outcomes.json").read_text())["tests"]
    return {name.partition("::")[2] or name: outcome for name, outcome in said.items()}


@pytest.mark.suite
@pytest.mark.parametrize("name", SUITES)
def test_a_suite_passes_except_for_tests_listed_with_a_reason(name, tmp_path):
    suite = SUITES[name]
    found = outcomes(suite, tmp_path)
    failed, passed = outcomes_of(found)
    account(f"the suite of {name}: {passed} passed", failed, suite["cannot"], suite["either"], "suites.toml")
    assert passed >= suite["least"], passed


def run_program(text, tmp_path, *arguments):
    """Runs a program that imports h5py, with hyperslab in its place. Returns what it prints."""
    program = tmp_path / "program.py"
    program.write_text(text)
    command = [sys.executable, "-m", "hyperslab.as_h5py", program, *arguments]
    done = subprocess.run(command, env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()


LOADER = """
import multiprocessing, sys
import h5py
import numpy as np

class Samples:
    "A data set of PyTorch's kind: each worker opens the file, or has got the handle."
    def __init__(self, path, is_shared):
        self.path, self.file = path, h5py.File(path) if is_shared else None
    def __getitem__(self, index):
        if self.file is None:
            self.file = h5py.File(self.path)
        return float(self.file["x"][index].sum())

def work(samples, indices, queue):
    assert h5py.h5.__name__ == "hyperslab.low.h5", h5py
    queue.put([samples[index] for index in indices])

if __name__ == "__main__":
    with h5py.File("samples.h5", "w") as file:
        file.create_dataset("x", data=np.arange(400.0).reshape(40, 10), chunks=(7, 10), compression="gzip")
    context = multiprocessing.get_context(sys.argv[1])
    samples, queue = Samples("samples.h5", sys.argv[2] == "shared"), context.Queue()
    workers = [context.Process(target=work, args=(samples, range(n, 40, 4), queue)) for n in range(4)]
    for worker in workers:
        worker.start()
    print(sum(sum(queue.get(timeout=60)) for _ in workers))
    for worker in workers:
        worker.join()
"""


@pytest.mark.process
@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.parametrize("handle", ["shared", "own"])
def test_workers_of_a_loader_read_a_file(start, handle, tmp_path):
    assert run_program(LOADER, tmp_path, start, handle) == [str(sum(range(400)) * 1.0)]


JOBLIB = """
import h5py, joblib
import numpy as np

def total(dataset, part):
    return float(dataset[part::4].sum())

if __name__ == "__main__":
    with h5py.File("data.h5", "w") as file:
        file["group/x"] = np.arange(100.0)
    file = h5py.File("data.h5", "r")
    parts = joblib.Parallel(n_jobs=2)(joblib.delayed(total)(file["group/x"], part) for part in range(4))
    print(sum(parts))
"""


@pytest.mark.process
def test_handles_travel_to_workers_of_joblib(tmp_path):
    assert run_program(JOBLIB, tmp_path) == ["4950.0"]


DISTRIBUTED = """
import dask.array, h5py
import numpy as np
from distributed import Client

if __name__ == "__main__":
    with h5py.File("data.h5", "w") as file:
        file.create_dataset("x", data=np.arange(1000.0), chunks=(100,), compression="gzip")
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True) as client:
        x = dask.array.from_array(h5py.File("data.h5")["x"], chunks=100)
        print(float(x.sum().compute()))
"""


@pytest.mark.suite
def test_dask_distributed_reads_datasets_in_other_processes(tmp_path):
    assert run_program(DISTRIBUTED, tmp_path) == ["499500.0"]
