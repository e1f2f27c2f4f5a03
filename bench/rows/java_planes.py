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


def group(name: str, path: Path, ways: tuple[str, str], threads: int, target: Target, expected) -> Group:
    """Returns a group whose contestants read by `getData`, and into memory, by these requests."""
    java, (slices, memory) = jvm.newest_java(), ways
    ours, theirs = partial(jvm.ours, java, threads), partial(jvm.jhdf, java)
    of_jhdf = [way.replace("mapped", "kept") for way in ways]
    return Group(
        name,
        [
            contestant(f"{OUR_NAME}, getData", ours, slices, path, kind=OURS),
            contestant(f"{OUR_NAME}, into a buffer", ours, memory, path, kind=OURS),
            contestant(
                f"{OUR_NAME}, getData, JNI on Java 17", partial(jvm.ours, "java", threads), slices, path, kind=OURS
            ),
            contestant("jHDF, getData", theirs, of_jhdf[0], path, threads="1 (it has no more)"),
            contestant("jHDF, chunks in threads of the program", theirs, of_jhdf[1], path, threads="16"),
        ],
        [target],
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
    opened, kept, mapped = ("slice", "plane"), ("kept-slice", "kept"), ("mapped-slice", "mapped")
    name = "gzip 4 + shuffle, file"
    yield group(f"{name} opened for each plane", gzip, opened, threads, Target("jHDF, getData", 5.0), expected)
    yield group(f"{name} kept open", gzip, kept, threads, Target("jHDF, getData", 4.0), expected)
    yield group("no filter, mapped", raw, mapped, threads, Target("jHDF", 1.0), expected)
