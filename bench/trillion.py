"""Makes a table of up to 10^12 rows of 32 bytes, and draws how speed and memory depend on its chunks.

    python bench/trillion.py                       # five minutes
    python bench/trillion.py --seconds 3600        # until there are 10^12 rows, or an hour has passed

The rows are zeros, except one at each checkpoint, which a query must find. At 1,000, 2,000, 5,000, ... chunks
the file is closed, and a new process reads it. The figure is `docs/trillion.svg`, the numbers are
`bench/out/trillion.json`. See docs/speed.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import data
import numpy as np
import records
from common import HERE, read_into_page_cache, reset_peak, say, status_bytes

ROWS = 10**12
CHUNKS_OF_BATCH = 16
ROWS_SCANNED = 2 * 10**9
"""The most rows of one scan: the last ones of the table."""
RANDOM_ROWS = 200
MARK = 11
"""The latitude of the last row before a checkpoint; all others have 0."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=ROWS, help="rows of the whole table (default: 10^12)")
    parser.add_argument("--seconds", type=float, default=300, help="when to stop in any case (default: 300)")
    parser.add_argument("--path", type=Path, default=data.ROOT / "trillion.h5", help="the table's file; it is removed")
    parser.add_argument("--figure", type=Path, default=HERE.parent / "docs" / "trillion.svg")
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        print(json.dumps(reading(options.path)))
        return 0
    options.path.parent.mkdir(parents=True, exist_ok=True)
    try:
        points = growing(options.path, int(options.rows), time.monotonic() + options.seconds)
    finally:
        options.path.unlink(missing_ok=True)
    out = HERE / "out"
    out.mkdir(exist_ok=True)
    (out / "trillion.json").write_text(json.dumps(points, indent=1))
    draw(points, options.figure)
    return 0


def checkpoints():
    """Yields 1,000, 2,000, 5,000, 10,000, ... chunks."""
    power = 1000
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def growing(path: Path, most: int, end: float) -> list[dict]:
    """Appends rows until there are `most` of them or the time is over, and measures at every checkpoint."""
    import hyperslab

    with hyperslab.File(path, "w") as file:
        packed = hyperslab.Blosc2("lz4")
        table = file.create_table("t", records.DTYPE, expectedrows=most, compression=packed)
        chunk = table.chunks[0]
    batch = np.zeros(CHUNKS_OF_BATCH * chunk, records.DTYPE)
    points, rows, base = [], 0, status_bytes("VmRSS")
    for wanted in checkpoints():
        before, begin = rows, time.perf_counter()
        reset_peak()
        with hyperslab.File(path, "r+") as file:
            table = file["t"]
            while rows < min(wanted * chunk, most) and time.monotonic() < end:
                count = min(len(batch), wanted * chunk - rows, most - rows)
                table.append(batch[:count])
                rows += count
            table.modify_column(rows - 1, rows, column=[MARK], colname="lat")
        seconds = time.perf_counter() - begin
        point = {
            "rows": rows,
            "chunks": -(-rows // chunk),
            "appended": rows - before,
            "append_bytes_per_second": (rows - before) * records.DTYPE.itemsize / seconds,
            "file_bytes": path.stat().st_size,
            "writer_bytes": status_bytes("VmHWM") - base,
            **read_apart(path),
        }
        points.append(point)
        say(described(point))
        if rows == most or time.monotonic() >= end:
            return points
    return points


def read_apart(path: Path) -> dict:
    """Measures reading in a new process. The file is in the page cache."""
    read_into_page_cache(path)
    command = [sys.executable, __file__, "--read", "--path", str(path)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def reading(path: Path) -> dict:
    """Measures opening, a scan of the last rows and random rows, and checks their values."""
    import hyperslab

    random = np.random.default_rng(1)
    before, begin = reset_peak(), time.perf_counter()
    with hyperslab.File(path) as file:
        table = file["t"]
        rows = len(table)
        opened = time.perf_counter() - begin
        last = table[rows - 1]["lat"]
        if last != MARK:
            raise ValueError(f"row {rows - 1} has the latitude {last}, not {MARK}")
        places = random.integers(0, rows - 1, RANDOM_ROWS).tolist()
        times, again = [], []
        for taken in (times, again):
            for place in places:
                begin = time.perf_counter()
                row = table[place]
                taken.append(time.perf_counter() - begin)
                if row["lon"] != 0:
                    raise ValueError(f"row {place} is {row}, not zeros")
        first = max(0, rows - ROWS_SCANNED)
        begin = time.perf_counter()
        found = table.get_where_list("lat > 10", start=first, stop=rows)
        scanned = time.perf_counter() - begin
        if rows - 1 not in found:
            raise ValueError(f"a scan of rows {first} to {rows} does not find row {rows - 1}")
        return {
            "open_seconds": opened,
            "row_seconds": statistics.median(times),
            "row_again_seconds": statistics.median(again),
            "first_row_seconds": times[0],
            "scan_bytes_per_second": (rows - first) * records.DTYPE.itemsize / scanned,
            "reader_bytes": status_bytes("VmHWM") - before,
        }


def described(point: dict) -> str:
    return (
        f"{point['rows']:.3g} rows, {point['chunks']} chunks: append {point['append_bytes_per_second'] / 1e9:.1f} GB/s, "
        f"scan {point['scan_bytes_per_second'] / 1e9:.0f} GB/s, a row {point['row_seconds'] * 1e6:.1f} us, "
        f"again {point['row_again_seconds'] * 1e6:.1f} us, "
        f"file {point['file_bytes'] / 1e6:.1f} MB ({point['file_bytes'] / point['chunks']:.0f} bytes a chunk), "
        f"writer +{point['writer_bytes'] / 2**20:.0f} MiB, reader +{point['reader_bytes'] / 2**20:.0f} MiB"
    )


def draw(points: list[dict], path: Path) -> None:
    """Draws rates, the size of the file, the time of a row, and the memory of the writer and the reader."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    chunks = [point["chunks"] for point in points]
    mib = 2**20
    panels = (
        ("append, GB/s", [("", [p["append_bytes_per_second"] / 1e9 for p in points])]),
        ("scan, GB/s", [("", [p["scan_bytes_per_second"] / 1e9 for p in points])]),
        (
            "random row, µs",
            [
                ("first time", [p["row_seconds"] * 1e6 for p in points]),
                ("again", [p["row_again_seconds"] * 1e6 for p in points]),
            ],
        ),
        ("file, bytes per chunk", [("", [p["file_bytes"] / p["chunks"] for p in points])]),
        (
            "added memory, MiB",
            [(who, [p[f"{who}_bytes"] / mib for p in points]) for who in ("writer", "reader")],
        ),
    )
    figure, axes = plt.subplots(1, len(panels), figsize=(15, 3), layout="constrained")
    for ax, (title, lines) in zip(axes, panels, strict=True):
        for label, values in lines:
            ax.plot(chunks, values, "o-", markersize=3, label=label)
        ax.set(xscale="log", title=title, xlabel="chunks", ylim=(0, 1.25 * max(max(values) for _, values in lines)))
        ax.grid(color="#ddd")
        if len(lines) > 1:
            ax.legend()
    figure.suptitle(f"A table of {points[-1]['rows']:.3g} rows of 32 bytes")
    figure.savefig(path)


if __name__ == "__main__":
    sys.exit(main())
