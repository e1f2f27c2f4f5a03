"""Reads one element or a small box in each call, from C and from Rust: the cost of the interface for C."""

import subprocess
from functools import cache
from pathlib import Path

import data
from common import HERE, OURS, Contestant, Group, Target, Timed, scaled

TITLE = "one element, or a box of 20x20 float64, in each call of a program in C"
THREADS = (1,)
ROOT = HERE.parent
INSTALLED = ROOT / "target" / "capi"
MOST = 80
"""The number of first coordinates, from 200 on."""


def program_in_c() -> Path:
    made = HERE / "out" / "calls"
    made.parent.mkdir(exist_ok=True)
    library = INSTALLED / "lib"
    flags = ["-O2", f"-I{INSTALLED}/include", f"-L{library}", f"-Wl,-rpath,{library}", "-lhyperslab_c"]
    subprocess.run(["cc", HERE / "capi" / "calls.c", "-o", made, *flags], check=True)
    return made


def program_in_rust() -> Path:
    command = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "hyperslab-capi", "--example", "calls"]
    subprocess.run(command, cwd=ROOT, check=True)
    return ROOT / "target" / "release" / "examples" / "calls"


@cache
def running(build) -> subprocess.Popen:
    """Returns a program of this process. It ends when its standard input is closed."""
    return subprocess.Popen([build()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def contestant(name: str, build, dataset: str, side: int, calls: int) -> Contestant:
    path = data.scalar()

    def call(state, turn):
        program = running(build)
        program.stdin.write(f"{path} {dataset} {side} {calls}\n")
        program.stdin.flush()
        nanoseconds, total = program.stdout.readline().split()
        return Timed(float(total), int(nanoseconds) / 1e9)

    return Contestant(name, call, kind=OURS)


def total(side: int, calls: int) -> float:
    """Returns the sum of the elements of all boxes, each of which is 1000 i + j."""
    state, result = 5, 0
    for _ in range(calls):
        first = []
        for _ in range(2):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            first.append(200 + (state >> 33) % MOST)
        middle = (side - 1) / 2
        result += side * side * (1000 * (first[0] + middle) + first[1] + middle)
    return float(result)


def groups(threads: int):
    calls = scaled(200_000, 500)
    for side, what in ((1, "one element"), (20, "a box of 20x20")):
        for dataset, where in (("chunked", "gzip chunk, cached"), ("contiguous", "contiguous")):
            yield Group(
                f"{what}, {where}",
                [
                    contestant("hyperslab in C", program_in_c, dataset, side, calls),
                    contestant("hyperslab in Rust", program_in_rust, dataset, side, calls),
                ],
                [Target("hyperslab in Rust", 0.9, ours="hyperslab in C")],
                lambda side=side: total(side, calls),
                operations=calls,
                files=[data.scalar()],
                memory=False,
            )
