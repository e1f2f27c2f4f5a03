"""Two ranks of MPI write and read one file together, from before it is opened until it is closed."""

import atexit
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import writers
from common import HERE, LIMIT, OUR_NAME, OURS, PEER, Contestant, Group, Target, Timed, scaled

TITLE = "512 MB of float32, (512,262144), written and read by two ranks of MPI, half each; chunks of 1 MiB"
THREADS = (1,)
RANKS = 2
# Debian's h5py with parallel HDF5 is one of the system's Python.
SYSTEM = "/usr/bin/python3"


def rows() -> int:
    return scaled(512, 8)


class Program:
    """Ranks that wait for work."""

    def __init__(self, python: str) -> None:
        self._folder = tempfile.mkdtemp()
        pipes = [f"{self._folder}/rank.{rank}" for rank in range(RANKS)]
        for pipe in pipes:
            os.mkfifo(pipe)
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "HYPERSLAB_THREADS": "1"}
        command = ["mpirun", "--oversubscribe", "-n", str(RANKS)]
        self._ranks = subprocess.Popen(
            [*command, python, str(HERE / "ranks.py"), self._folder, str(rows())],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | allowed,
        )
        self._pipes = contextlib.ExitStack()
        self._told = [self._pipes.enter_context(open(pipe, "w")) for pipe in pipes]
        atexit.register(self.end)
        if self._ranks.stdout.readline() != "ready\n":
            raise RuntimeError(f"mpirun with {python} did not start")

    def do(self, work: str, path: Path) -> float:
        for told in self._told:
            told.write(f"{work} {path}\n")
            told.flush()
        answer = self._ranks.stdout.readline()
        if not answer:
            raise RuntimeError(f"{work} failed")
        return float(answer)

    def end(self) -> None:
        self._pipes.close()
        self._ranks.wait(30)
        shutil.rmtree(self._folder)


@cache
def program(python: str) -> Program:
    return Program(python)


def has_parallel_hdf5() -> bool:
    test = "import mpi4py.MPI, h5py, sys; sys.exit(not h5py.get_config().mpi)"
    # Debian's h5py is the serial one otherwise.
    environment = os.environ | {"H5PY_ALWAYS_USE_MPI": "1"}
    return subprocess.run([SYSTEM, "-c", test], capture_output=True, env=environment).returncode == 0


def writing(name: str, work: str, python: str, kind: str) -> Contestant:
    made = writers.writer(name, f"{work}.h5", lambda path: None, kind, threads=f"{RANKS} ranks")

    def call(path: Path, turn: int) -> Timed:
        return Timed(None, program(python).do(work, path))

    made.call = call
    return made


def reading(name: str, work: str, path: Path, kind: str) -> Contestant:
    def call(_: Any, turn: int) -> Timed:
        return Timed(None, program(sys.executable).do(work, path))

    return Contestant(name, call, kind=kind, threads=f"{RANKS} ranks")


def group(name: str, contestants: list[Contestant], target: Target, files: list[Path] | None = None) -> Group:
    size = rows() * 256 * 1024 * 4
    return Group(name, contestants, [target], None, work_bytes=size, memory=False, files=files or [])


def groups(threads: int):
    ours, raw = sys.executable, Target("MPI-IO", 0.95)
    limit = writing("MPI-IO", "raw-write", ours, LIMIT)
    yield group("write, independent", [writing(OUR_NAME, "hyperslab-independent-contiguous", ours, OURS), limit], raw)
    yield group("write, collective", [writing(OUR_NAME, "hyperslab-collective-contiguous", ours, OURS), limit], raw)
    path = writers.written("ranks.h5")
    path.parent.mkdir(parents=True, exist_ok=True)
    program(ours).do("hyperslab-independent-contiguous", path)
    yield group(
        "read",
        [
            reading(OUR_NAME, "hyperslab-read-contiguous", path, OURS),
            reading("MPI-IO", "raw-read", path, LIMIT),
        ],
        raw,
        [path],
    )
    path.unlink()
    if not has_parallel_hdf5():
        return
    for storage, ratio in (("contiguous", 1.8), ("chunked", 2.0), ("gzip", 3.0)):
        yield group(
            f"write, collective, {storage}, HDF5",
            [
                writing(OUR_NAME, f"hyperslab-collective-{storage}", ours, OURS),
                writing("h5py, parallel HDF5", f"h5py-collective-{storage}", SYSTEM, PEER),
            ],
            Target("h5py, parallel HDF5", ratio),
        )
