"""Reads planes of a cube in Java, with hyperslab for Java and with jHDF."""

from functools import cache, partial
from pathlib import Path

import data
import jvm
from common import OUR_NAME, OURS, Contestant, Group, Target, Timed

from rows.planes import planes

TITLE = "in Java: a plane in each direction of a 500x400x1000 float32 cube in 64^3 chunks, the average of the three"
THREADS = (1, 2)


def contestant(name: str, process, request: str, path: Path, **options) -> Contestant:
    """Returns a contestant that reads three planes in a process of Java."""
    shape = data.planes_shape()

    def call(running: jvm.Jvm, turn: int) -> Timed:
        answer, seconds, elsewhere = [], 0.0, 0.0
        for axis, plane in enumerate(planes(turn)):
            timed = running.read(request, path, axis, plane[axis])
            answer.append(timed.answer.reshape([n for d, n in enumerate(shape) if d != axis]))
            seconds, elsewhere = seconds + timed.seconds, elsewhere + timed.elsewhere
        return Timed(answer, seconds, elsewhere)

    return Contestant(name, call, lambda: jvm.reading(process(), request, path, shape), **options)


def group(name: str, path: Path, kept: bool, threads: int, ratio: float, expected) -> Group:
    prefix = "kept-" if kept else ""
    java = jvm.newest_java()
    ours, theirs = partial(jvm.ours, java, threads), partial(jvm.jhdf, java)
    memory = "kept" if kept else "plane"
    return Group(
        name,
        [
            contestant(OUR_NAME, ours, f"{prefix}slice", path, kind=OURS),
            contestant(f"{OUR_NAME}, into a buffer", ours, memory, path, kind=OURS),
            contestant(f"{OUR_NAME}, JNI on Java 17", partial(jvm.ours, "java", threads), f"{prefix}slice", path, kind=OURS),
            contestant("jHDF", theirs, f"{prefix}slice", path, threads="1 (it has no more)"),
            contestant("jHDF by chunks", theirs, memory, path, threads="16"),
        ],
        [Target("jHDF", ratio)],
        expected,
        work_bytes=sum(4 * a * b for a, b in sides()),
        operations=3,
        files=[path],
        memory=False,
    )


def sides() -> list[tuple[int, int]]:
    i, j, k = data.planes_shape()
    return [(j, k), (i, k), (i, j)]


def groups(threads: int):
    values = cache(data.planes_values)

    def expected():
        return [values()[plane].copy() for plane in planes(0)]

    gzip, raw = data.planes_gzip(), data.planes_raw()
    yield group("gzip 4 + shuffle, file opened for each plane", gzip, False, threads, 5.0, expected)
    yield group("gzip 4 + shuffle, file kept open", gzip, True, threads, 4.0, expected)
    yield group("no filter, file kept open", raw, True, threads, 1.0, expected)
