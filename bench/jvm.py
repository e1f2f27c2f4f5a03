"""Runs jHDF (`jhdf/Planes.java`) in its own process, which measures its own time."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import psutil
from common import HERE, Timed

JARS = HERE.parent / "target" / "jhdf"
WARM_UPS = 10
"""The number of planes of each kind to read before timing, so that the code has been compiled."""


class Jhdf:
    """A running `Planes.java`."""

    def __init__(self) -> None:
        if not list(JARS.glob("jhdf-*.jar")):
            raise FileNotFoundError(f"{JARS} has no jHDF: `make jhdf` fetches it")
        command = ["java", "-cp", f"{JARS}/*", str(HERE / "jhdf" / "Planes.java")]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._usage = psutil.Process(self._process.pid)

    def plane(self, path: Path, axis: int, index: int, kept: bool = False) -> Timed:
        """Reads one plane. The time includes opening and closing the file, unless it is `kept` open."""
        before = self._cpu_seconds()
        request = "kept" if kept else "plane"
        nanoseconds, count = map(int, self._ask(f"{request} {axis} {index} {path}").split())
        plane = np.frombuffer(self._process.stdout.read(count * 4), "f4")
        return Timed(plane, nanoseconds / 1e9, self._cpu_seconds() - before)

    def release(self) -> None:
        """Unmaps the files read before, whose pages would stay in the page cache."""
        self._ask("release")

    def _ask(self, request: str) -> str:
        self._process.stdin.write(f"{request}\n".encode())
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"jHDF ended with status {self._process.wait()}")
        return answer.decode()

    def _cpu_seconds(self) -> float:
        used = self._usage.cpu_times()
        return used.user + used.system


@cache
def jhdf() -> Jhdf:
    """Returns the jHDF process of this process. It ends when its standard input is closed."""
    return Jhdf()


@cache
def warmed_up(path: Path, shape: tuple[int, ...]) -> Jhdf:
    """Returns jHDF after it has read planes of this file."""
    running = jhdf()
    for turn in range(WARM_UPS):
        for axis, length in enumerate(shape):
            running.plane(path, axis, turn * length // WARM_UPS)
    return running
