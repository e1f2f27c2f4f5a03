"""Compares the speed of hyperslab with its peers: `python bench/run.py [names]`. See bench/README.md."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import itertools
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import peers
import psutil
import rows
import table
from common import HERE, SCALE, measure, memory_of, say

OUT = HERE / "out"
PACKAGES = (
    "hyperslab",
    "h5py",
    "hdf5plugin",
    "tables",
    "blosc2",
    "zarr",
    "zarrs",
    "tensorstore",
    "hidefix",
    "deflate",
    "multidimio",
    "numexpr",
    "duckdb",
    "pyarrow",
    "dask",
    "distributed",
    "numpy",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"rows to measure: {', '.join(rows.ORDER)} (default: all)"
    )
    parser.add_argument("--threads", type=int, action="append", help="measure only with this number of threads")
    parser.add_argument(
        "--repetitions",
        type=int,
        help="rounds for each group (default: 5, 7 or 15, depending on the duration of a call)",
    )
    parser.add_argument("--child", choices=("measure", "memory"), help=argparse.SUPPRESS)
    parser.add_argument("--group", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = set(options.names) - set(rows.ORDER)
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    if options.child:
        return child(options)
    done: list[dict] = []
    results = {"scale": SCALE, "machine": machine(), "rows": kept_rows()}
    for name in options.names or rows.ORDER:
        for threads in importlib.import_module(f"rows.{name}").THREADS:
            if options.threads and threads not in options.threads:
                continue
            row = measured(name, threads, options.repetitions)
            for group in row["groups"]:
                print(table.block(row, group), flush=True)
            results["rows"] = in_order(
                [r for r in results["rows"] if (r["name"], r["threads"]) != (name, threads)] + [row]
            )
            write(results)
            done.append(row)
    print(table.summary(done))
    return int(any(row["failure"] for row in done))


def child(options: argparse.Namespace) -> int:
    """Measures one row, or the memory of one call of hyperslab, in this child process."""
    name, threads = options.names[0], options.threads[0]
    with contextlib.suppress(ImportError, AttributeError):
        peers.ours_module().set_threads(threads)
    groups = importlib.import_module(f"rows.{name}").groups(threads)
    if options.child == "memory":
        group = next(itertools.islice(groups, options.group, None))
        options.answer.write_text(json.dumps(memory_of(group) if group.memory else {}))
        return 0
    done = []
    for group in groups:
        say(f".. {name}, {threads} thread{'s' * (threads > 1)}: {group.name}")
        done.append(measure(group, options.repetitions))
        options.answer.write_text(json.dumps(done))
    return 0


def measured(name: str, threads: int, repetitions: int | None) -> dict:
    """Measures a row in a child process, then the memory of each group in a child process each."""
    rounds = ["--repetitions", str(repetitions)] if repetitions else []
    load = psutil.getloadavg()[0]
    groups, failure = ask("measure", name, threads, *rounds)
    for i, group in enumerate(groups or []):
        if table.ours_of(group) is None:
            continue
        memory, _ = ask("memory", name, threads, "--group", str(i))
        group.update(memory or {})
    return {
        "name": name,
        "threads": threads,
        "title": importlib.import_module(f"rows.{name}").TITLE,
        "when": time.strftime("%Y-%m-%d %H:%M"),
        "commit": commit(),
        "load_average_before": round(load, 2),
        "groups": groups or [],
        "failure": failure,
    }


def ask(what: str, name: str, threads: int, *more: str) -> tuple[list | dict | None, str | None]:
    """Returns the JSON answer of a child process, which may be partial, and its failure or None."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [
            sys.executable,
            __file__,
            name,
            "--child",
            what,
            "--threads",
            str(threads),
            "--answer",
            str(answer),
            *more,
        ]
        code = subprocess.run(command, env=peers.thread_environment(threads), check=False).returncode
        failure = f"exit status {code}" if code else None
        if failure:
            say(f"!! {what} {name} with {threads} threads: {failure}")
        return (json.loads(answer.read_text()) if answer.exists() else None), failure


def kept_rows() -> list[dict]:
    """Returns the rows of earlier runs at the same scale, so that a run of one row keeps the others."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        before = json.loads((OUT / "results.json").read_text())
        if before["scale"] == SCALE:
            return before["rows"]
    return []


def in_order(measured_rows: list[dict]) -> list[dict]:
    return sorted(measured_rows, key=lambda row: (rows.ORDER.index(row["name"]), row["threads"]))


def write(results: dict) -> None:
    """Writes the results as JSON, as a table and as pictures."""
    OUT.mkdir(exist_ok=True)
    (OUT / "results.json").write_text(json.dumps(results, indent=1))
    (OUT / "table.md").write_text(table.markdown(results))
    try:
        import plot
    except ImportError as error:
        say(f"!! no pictures: {error}")
    else:
        plot.draw_all(results, OUT)


def machine() -> dict:
    model = [
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    versions = {}
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return {
        "cpu": model[0] if model else platform.processor(),
        "cpus": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "kernel": platform.release(),
        "huge_pages": Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text().strip(),
        "python": platform.python_version(),
        "versions": versions,
    }


def commit() -> str:
    """Returns the measured commit, with `+` if the working tree differs from it."""
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        git = ["git", "-C", str(HERE), "describe", "--always", "--dirty=+", "--exclude=*"]
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    return ""


if __name__ == "__main__":
    sys.exit(main())
