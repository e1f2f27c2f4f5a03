"""Groups of contestants, and how a group is timed: interleaved, rotated, with checked answers."""

from __future__ import annotations

import contextlib
import gc
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil

SCALE = float(os.environ.get("BENCH_SCALE", "1"))
LARGE = os.environ.get("BENCH_LARGE", "") not in ("", "0")
"""Whether rows whose full size takes many minutes run at that size, and not at a tenth of it."""
HERE = Path(__file__).resolve().parent
OURS, PEER, LIMIT = "ours", "peer", "limit"
OUR_NAME = "hyperslab"


@dataclass
class Contestant:
    """One way to do the work of a group. Only `call` is timed; `open` and `close` surround every call."""

    name: str
    call: Callable[[Any, int], Any]
    """Does the work with the result of `open`. The second argument is the number of the round."""
    open: Callable[[], Any] = lambda: None
    close: Callable[[Any], None] = lambda state: None
    kind: str = PEER
    threads: str = ""
    """The number of threads that it uses, in words; empty if that is the number of the group."""
    environment: dict[str, str] = field(default_factory=dict)
    size: Callable[[], int] | None = None
    """Returns the size in bytes of its file, where sizes are shown."""


@dataclass
class Timed:
    """The answer and the time that counts, which `call` may return in place of the answer.

    For a contestant in another process, whose time excludes the messages, and for work with pauses that do
    not count.
    """

    answer: Any
    seconds: float
    elsewhere: float = 0.0
    """The CPU seconds that the contestant used in another process."""


@dataclass
class Target:
    """hyperslab must be at least `ratio` times as fast as the fastest contestant named `against...`.

    If a group has several contestants of hyperslab, the fastest one whose name starts with `ours` counts.
    """

    against: str
    ratio: float
    ours: str = OUR_NAME
    of: str = "time"
    """What is compared: "time", or the "size" of the files."""


@dataclass
class Group:
    """Contestants that do the same work, and the targets for hyperslab."""

    name: str
    contestants: list[Contestant]
    targets: list[Target]
    expected: Callable[[], Any] | None
    """Returns the right answer of round 0."""
    work_bytes: int = 0
    operations: int = 1
    """The number of operations in one call. The table shows the time of one operation."""
    scratch: Sequence[np.ndarray] = ()
    """Arrays that contestants fill. They are overwritten with 0xA5 before an answer is checked."""
    files: Sequence[Path] = ()
    cold: bool = False
    """Whether the contestants drop the files from the page cache.

    The files are then not read before timing.
    """
    memory_limit_mib: float | None = None
    """The largest allowed growth of the resident set by hyperslab, without the answer."""
    memory: bool = True
    """Whether to measure the memory of hyperslab. Not useful if the answer is made of Python objects."""
    normal: Callable[[Any], Any] = lambda answer: answer
    """Converts an answer to the form of `expected` before the comparison."""


def scaled(count: int, least: int = 1) -> int:
    """Returns `count` multiplied by `BENCH_SCALE`, but at least `least`."""
    return max(least, round(count * SCALE))


def sized(count: int, least: int = 1) -> int:
    """Returns `scaled(count)` with `BENCH_LARGE`, and a tenth of it otherwise."""
    return scaled(count if LARGE else count // 10, least)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def measure(group: Group, repetitions: int | None = None) -> dict:
    """Checks and times the contestants of a group. Contestants that fail are reported and left out."""
    for path in () if group.cold else group.files:
        read_into_page_cache(path)
    failures: dict[str, str] = {}
    slowest = check_answers(group, failures)
    contestants = [c for c in group.contestants if c.name not in failures]
    repetitions = (
        repetitions or int(os.environ.get("BENCH_REPS", 0)) or (5 if slowest > 2 else 7 if slowest > 0.1 else 15)
    )
    times: dict[str, list[float]] = {c.name: [] for c in contestants}
    busy_times: dict[str, list[float]] = {c.name: [] for c in contestants}
    others: dict[str, list[tuple[float, float]]] = {c.name: [] for c in contestants}
    for turn in range(repetitions):
        start = turn % len(contestants) if contestants else 0
        order = contestants[start:] + contestants[:start]
        for contestant in order if turn % 2 == 0 else reversed(order):
            seconds, own, busy, wall = time_once(contestant, turn)
            times[contestant.name].append(seconds)
            busy_times[contestant.name].append(own)
            others[contestant.name].append((busy, wall))
    return result(group, contestants, failures, times, busy_times, others)


def check_answers(group: Group, failures: dict[str, str]) -> float:
    """Runs every contestant once, which also warms it up, and checks its answer. Returns the longest time."""
    expected = group.expected() if group.expected else None
    slowest = 0.0
    for contestant in group.contestants:
        for array in group.scratch:
            array.reshape(-1).view(np.uint8)[...] = 0xA5
        begin = time.perf_counter()
        try:
            with opened(contestant) as state:
                answer = contestant.call(state, 0)
                slowest = max(slowest, time.perf_counter() - begin)
                if isinstance(answer, Timed):
                    answer = answer.answer
                if contestant.kind != LIMIT and expected is not None and not same(group.normal(answer), expected):
                    raise ValueError("the answer is wrong")
                del answer
        except Exception as error:
            failures[contestant.name] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[
                :200
            ]
            say(f"!! {group.name}: {contestant.name}: {failures[contestant.name]}")
    return slowest


@contextlib.contextmanager
def opened(contestant: Contestant):
    """Opens a contestant with its environment variables set, and closes it afterwards."""
    before = {name: os.environ.get(name) for name in contestant.environment}
    os.environ.update(contestant.environment)
    try:
        state = contestant.open()
        try:
            yield state
        finally:
            contestant.close(state)
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def time_once(contestant: Contestant, turn: int) -> tuple[float, float, float, float]:
    """Returns the seconds of a call, its CPU seconds, those of other processes, and the wall time."""
    with opened(contestant) as state:
        gc.collect()
        gc.disable()
        try:
            machine, own = machine_seconds(), time.process_time()
            begin = time.perf_counter()
            answer = contestant.call(state, turn)
            wall = time.perf_counter() - begin
            own, machine = time.process_time() - own, machine_seconds() - machine
        finally:
            gc.enable()
        seconds = wall
        if isinstance(answer, Timed):
            seconds, own = answer.seconds, own + answer.elsewhere
        del answer
    return seconds, own, machine - own, wall


def machine_seconds() -> float:
    """Returns the CPU seconds that the whole machine has used, including those stolen by the host."""
    t = psutil.cpu_times()
    return sum(getattr(t, name, 0.0) for name in ("user", "system", "nice", "irq", "softirq", "steal"))


def same(answer: Any, expected: Any) -> bool:
    """Returns whether shapes and all elements are equal. Arrays are compared in blocks, to save memory."""
    if isinstance(expected, (list, tuple)):
        return len(answer) == len(expected) and all(map(same, answer, expected))
    if not isinstance(expected, np.ndarray) or expected.ndim == 0:
        return bool(np.all(np.asarray(answer) == expected))
    answer = np.asarray(answer)
    if answer.shape != expected.shape:
        return False
    ours, theirs = answer.reshape(-1), expected.reshape(-1)
    step = 1 << 22
    return all(np.array_equal(ours[i : i + step], theirs[i : i + step]) for i in range(0, expected.size, step))


def read_into_page_cache(path: Path) -> None:
    """Reads a file, or all files of a directory."""
    buffer = bytearray(4 << 20)
    for part in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if part.is_file():
            with part.open("rb", buffering=0) as file:
                while file.readinto(buffer):
                    pass


def result(
    group: Group, contestants: list[Contestant], failures: dict, times: dict, busy_times: dict, others: dict
) -> dict:
    """Returns the results of a group in a form that JSON can store."""
    rows = []
    for c in contestants:
        busy, wall = (sum(column) for column in zip(*others[c.name], strict=True))
        rows.append(
            {
                "name": c.name,
                "kind": c.kind,
                "threads": c.threads,
                "seconds": [round(t, 9) for t in times[c.name]],
                "median": statistics.median(times[c.name]),
                "cpu": statistics.median(busy_times[c.name]),
                "others_cpu": round(max(0.0, busy) / wall, 3),
                **({"file_bytes": c.size()} if c.size else {}),
            }
        )
    rows += [{"name": name, "error": text} for name, text in failures.items()]
    everything = [pair for pairs in others.values() for pair in pairs]
    wall = sum(seconds for _, seconds in everything)
    sizes = {c.name: [c.size()] for c in contestants if c.size}
    return {
        "group": group.name,
        "work_bytes": group.work_bytes,
        "operations": group.operations,
        "contestants": rows,
        "others_cpu": round(max(0.0, sum(busy for busy, _ in everything)) / wall, 3) if wall else None,
        "targets": [judged(target, sizes if target.of == "size" else times) for target in group.targets],
        "memory_limit_mib": group.memory_limit_mib,
    }


def judged(target: Target, times: dict[str, list[float]]) -> dict:
    """Returns the measured ratio of a target, its range over the rounds, and whether the target is met.

    `times` has what is compared of each contestant; a size is a list of one.
    """
    verdict: dict[str, Any] = {
        "of": target.of,
        "against": target.against,
        "ours": target.ours,
        "target": target.ratio,
        "ratio": None,
        "met": None,
    }
    fastest_ours, fastest = fastest_of(times, target.ours), fastest_of(times, target.against)
    if fastest_ours and fastest:
        (our_name, ours), (name, theirs) = fastest_ours, fastest
        ratio = statistics.median(theirs) / statistics.median(ours)
        by_round = sorted(b / a for a, b in zip(ours, theirs, strict=True))
        verdict |= {
            "against": name,
            "ours": our_name,
            "ratio": ratio,
            "low": by_round[0],
            "high": by_round[-1],
            "met": ratio >= target.ratio,
        }
    return verdict


def fastest_of(times: dict[str, list[float]], prefix: str) -> tuple[str, list[float]] | None:
    """Returns the name and times of the contestant with the lowest median whose name starts with `prefix`."""
    named = [item for item in times.items() if item[0].startswith(prefix)]
    return min(named, key=lambda item: statistics.median(item[1]), default=None)


def drop_from_page_cache(paths: Sequence[Path]) -> None:
    """Makes the next reads of these files come from the disk.

    Drops everything that the kernel caches if that is permitted, and otherwise the pages of these files.
    Pages that are not on the disk yet would stay.
    """
    os.sync()
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3")
    except OSError:
        for path in paths:
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def memory_of(group: Group) -> dict:
    """Returns the growth of the peak resident set by a call of hyperslab, without the answer.

    Needs a new process.
    """
    ours = next(c for c in group.contestants if c.kind == OURS)
    for array in group.scratch:
        array.reshape(-1).view(np.uint8)[...] = 0xA5
    gc.collect()
    before = reset_peak()
    with opened(ours) as state:
        answer = ours.call(state, 0)
        if isinstance(answer, Timed):
            answer = answer.answer
        peak = status_bytes("VmHWM")
    held = sum(a.nbytes for a in arrays_in(answer) if not any(np.may_share_memory(a, s) for s in group.scratch))
    mib = 1 << 20
    return {"peak_rss_mib": round(peak / mib, 1), "growth_mib": round((peak - before - held) / mib, 1)}


def arrays_in(answer: Any) -> list[np.ndarray]:
    if isinstance(answer, np.ndarray):
        return [answer]
    return [a for a in answer if isinstance(a, np.ndarray)] if isinstance(answer, list) else []


def reset_peak() -> int:
    """Resets the peak of the resident set to its current size, and returns that size."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return status_bytes("VmRSS")


def status_bytes(name: str) -> int:
    """Returns a size from `/proc/self/status`."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0
