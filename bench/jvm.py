"""Runs jHDF (`jhdf/Planes.java`) and hyperslab for Java (`java/Planes.java`), each in its own process.

These processes measure their own time.
"""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import psutil
from common import HERE, Timed

TARGET = HERE.parent / "target"
JARS = TARGET / "jhdf"
OURS = TARGET / "java"
WARM_UPS = 10
"""The number of planes of each kind to read before timing, so that the code has been compiled."""


def newest_java() -> str:
    """Returns the command of the newest installed Java, which `JAVA_NEW` may name."""
    found = sorted(Path("/usr/lib/jvm").glob("*/bin/java"), key=version)
    return os.environ.get("JAVA_NEW") or (str(found[-1]) if found else "java")


def version(java: Path) -> int:
    release = java.parent.parent / "release"
    lines = release.read_text().splitlines() if release.exists() else []
    numbers = [line.split('"')[1].split(".")[0] for line in lines if line.startswith("JAVA_VERSION=")]
    return int(numbers[0]) if numbers else 0


class Jvm:
    """A running `Planes.java`."""

    def __init__(self, name: str, command: list[str | Path]) -> None:
        self._name = name
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._usage = psutil.Process(self._process.pid)

    def plane(self, path: Path, axis: int, index: int, kept: bool = False) -> Timed:
        """Reads one plane. The time includes opening and closing the file, unless it is `kept` open."""
        return self.read("kept" if kept else "plane", path, axis, index)

    def read(self, request: str, path: Path, axis: int, index: int) -> Timed:
        """Reads one plane as the request says."""
        before = self._cpu_seconds()
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
            raise RuntimeError(f"{self._name} ended with status {self._process.wait()}")
        return answer.decode()

    def _cpu_seconds(self) -> float:
        used = self._usage.cpu_times()
        return used.user + used.system


@cache
def jhdf(java: str = "java") -> Jvm:
    """Returns the jHDF process of this process. It ends when its standard input is closed."""
    if not list(JARS.glob("jhdf-*.jar")):
        raise FileNotFoundError(f"{JARS} has no jHDF: `make jhdf` fetches it")
    return Jvm("jHDF", [java, "-cp", f"{JARS}/*", HERE / "jhdf" / "Planes.java"])


@cache
def ours(java: str, threads: int) -> Jvm:
    """Returns the process of hyperslab for Java."""
    jars = [*OURS.glob("hyperslab-*.jar")]
    if not jars:
        raise FileNotFoundError(f"{OURS} has no jar of hyperslab: `make java` makes it")
    access = [] if java == "java" else ["--enable-native-access=ALL-UNNAMED"]
    classes = ":".join(map(str, jars))
    return Jvm("hyperslab for Java", [java, *access, "-cp", classes, HERE / "java" / "Planes.java", str(threads)])


@cache
def warmed_up(path: Path, shape: tuple[int, ...]) -> Jvm:
    """Returns jHDF after it has read planes of this file."""
    running = jhdf()
    for turn in range(WARM_UPS):
        for axis, length in enumerate(shape):
            running.plane(path, axis, turn * length // WARM_UPS)
    return running


@cache
def reading(running: Jvm, request: str, path: Path, shape: tuple[int, ...]) -> Jvm:
    """Returns a process after it has read planes of this file by this request."""
    for turn in range(WARM_UPS):
        for axis, length in enumerate(shape):
            running.read(request, path, axis, turn * length // WARM_UPS)
    return running
