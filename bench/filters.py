"""Sizes and speeds of the filters on three kinds of data, as a table for `docs/guide/filters.md`.

    .venv-bench/bin/python bench/filters.py            # 64 MB of each kind, five rounds
    .venv-bench/bin/python bench/filters.py --mb 8     # quick: only to try the script

Files are in memory, so that the disk does not count. A speed is the fastest of all rounds, on one thread; the
filters take turns, a round each.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import hyperslab as hs
import numpy as np

FILTERS = {
    "none": {},
    "gzip 4": {"compression": "gzip", "compression_opts": 4},
    "shuffle + gzip 4": {"compression": "gzip", "compression_opts": 4, "shuffle": True},
    "LZF": {"compression": "lzf", "shuffle": True},
    "Bitshuffle + LZ4": {"compression": hs.Bitshuffle()},
    "shuffle + Zstd 3": {"compression": hs.Zstd(3), "shuffle": True},
    "Blosc2 LZ4": {"compression": hs.Blosc2("lz4", 5)},
    "Blosc2 Zstd 5": {"compression": hs.Blosc2("zstd", 5)},
    "Blosc2 Zstd 9": {"compression": hs.Blosc2("zstd", 9)},
    "Blosc2 Zstd 5, bitshuffle": {"compression": hs.Blosc2("zstd", 5, filter="bitshuffle")},
    "scale-offset 2 + shuffle + gzip 4": {"scaleoffset": 2, "compression": "gzip", "shuffle": True},
}


def kinds(megabytes: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yields a name and an array of about that size for each kind of data."""
    random = np.random.default_rng(7)
    planes = max(1, megabytes * 1_000_000 // (4 * 512 * 512))
    row, column = np.meshgrid(np.linspace(0, 3, 512), np.linspace(0, 5, 512), indexing="ij")
    smooth = [288 + 20 * np.cos(row + 0.01 * plane) * np.sin(column) for plane in range(planes)]
    noise = random.normal(0, 0.05, (planes, 512, 512))
    yield "temperatures: float32, smooth with noise in the second digit", (np.array(smooth) + noise).astype("f4")
    counts = random.poisson(0.3, (2 * planes, 512, 512))
    counts[:, 200:210, 300:310] += 900
    yield "a detector: uint16, mostly 0 to 3", counts.astype("u2")
    steps = random.integers(0, 900, (planes, 512 * 256)).astype("i8")
    yield "times: int64, increasing", np.cumsum(steps).reshape(planes, 512, 256)


def rounds(array: np.ndarray, options: dict) -> Iterator[tuple[float, float, int]]:
    """Yields the seconds of writing and reading, and the bytes of the file, for round after round."""
    out = np.empty_like(array)
    while True:
        with hs.File.in_memory() as file:
            begin = time.perf_counter()
            file.create_dataset("d", data=array, chunks=(1, *array.shape[1:]), **options)
            file.flush()
            written = time.perf_counter()
            size = len(file.to_bytes())
            again = time.perf_counter()
            file["d"].read(out=out)
            yield written - begin, time.perf_counter() - again, size


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=64, help="megabytes of each kind of data")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    hs.set_threads(1)
    for title, array in kinds(arguments.mb):
        print(
            f"\n{title} ({array.nbytes / 1e6:.0f} MB)\n\n| filter | times smaller | write | read |\n| --- | --- | --- | --- |"
        )
        fitting = {
            name: options
            for name, options in FILTERS.items()
            if array.dtype.kind == "f" or "scaleoffset" not in options
        }
        turns = {name: rounds(array, options) for name, options in fitting.items()}
        found: dict[str, list[tuple[float, float, int]]] = {name: [] for name in turns}
        for _ in range(arguments.rounds):
            for name, turn in turns.items():
                found[name].append(next(turn))
        for name, results in found.items():
            write, read, size = (min(column) for column in zip(*results, strict=True))
            speeds = " | ".join(f"{array.nbytes / seconds / 1e6:,.0f} MB/s" for seconds in (write, read))
            print(f"| {name} | {array.nbytes / size:.2f} | {speeds} |")


if __name__ == "__main__":
    main()
