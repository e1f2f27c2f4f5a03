"""Draws the pictures of `docs/compare.md`: how many times as fast as a peer, with the misses.

    .venv-bench/bin/python bench/pictures.py                      # from the tables of docs/speed.md
    .venv-bench/bin/python bench/pictures.py --results bench/out/results.json

A bar is the time of the peer over the time of hyperslab, and the thin line its range over the rounds. With
`--results`, rows that the run did not have are left out, and named.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

REPOSITORY = Path(__file__).resolve().parent.parent
FIGURES = REPOSITORY / "docs" / "figures"

FAR = "a file behind 20 ms and 100 MB/s: open, list, a plane"
MAPPED = "planes of a cube in chunks of 64^3, mapped, files stay open"
PICTURES = {
    "read": (
        "Reading arrays, two threads",
        [
            ("1.6 GB, Blosc 2, n-dimensional", "nd: written by hdf5plugin", "2", "h5py+hdf5plugin"),
            ("the same from a file of PyTables", "nd: written by PyTables", "2", "PyTables"),
            ("1.6 GB, Blosc 2, one dimension", "flat: Blosc2", "2", "python-blosc2"),
            ("1.6 GB, Blosc 2, one dimension", "flat: Blosc2", "2", "zarr+zarrs"),
            ("1.6 GB, Blosc 2, one dimension", "flat: Blosc2", "2", "tensorstore"),
            ("400 MB, gzip + shuffle", "gzip: into a warm array", "2", "h5py"),
            ("400 MB, gzip + shuffle", "gzip: into a fresh array", "2", "hidefix"),
            ("boxes of 20³, a call each", "boxes: boxes of 20x20x20, one call each", "2", "h5py+hdf5plugin, 1 thread"),
            ("boxes of 20³, a call each", "boxes: boxes of 20x20x20, one call each", "2", "python-blosc2"),
            ("boxes of 20³, one call", "boxes: boxes of 20x20x20, one call for all", "2", "tensorstore"),
            ("planes, no filter", "planes: no filter", "2", "h5py"),
            ("planes, no filter", "planes: no filter", "2", "tensorstore"),
            ("planes, Blosc 2", "planes: Blosc2 LZ4 + shuffle", "2", "python-blosc2"),
        ],
    ),
    "read-one": (
        "Reading arrays, one thread",
        [
            ("1.6 GB, Blosc 2, n-dimensional", "nd: written by hdf5plugin", "1", "h5py+hdf5plugin"),
            ("the same into new memory", "fresh: n-dimensional Blosc2", "1", "np.copy"),
            ("1.6 GB, Blosc 2, one dimension", "flat: Blosc2", "1", "python-blosc2"),
            ("400 MB, gzip + shuffle", "gzip: into a warm array", "1", "h5py"),
            ("800 MB, contiguous, no filter", "raw: contiguous", "1", "file.readinto"),
            ("boxes of 20³, one call", "boxes: boxes of 20x20x20, one call for all", "1", "tensorstore"),
            ("boxes of 1x64x64, a call each", "boxes: boxes of 1x64x64, one call each", "1", "python-blosc2"),
            ("planes, Blosc 2", "planes: Blosc2 LZ4 + shuffle", "1", "h5py+hdf5plugin"),
            ("one element, gzip", "scalar: gzip chunk, cached", "1", "h5py"),
            ("open and read 1 of 10⁶ chunks", "million: fixed array: open and first read", "1", "h5py"),
            ("further chunks, B-tree", "million: B-tree version 1: further random reads", "1", "h5py"),
            ("list 10⁶ chunks, B-tree", "million: B-tree version 1: list all chunks", "1", "h5py"),
        ],
    ),
    "write": (
        "Writing, two threads",
        [
            ("1.6 GB, Blosc 2", "write_nd: four dimensions", "2", "h5py+hdf5plugin, Blosc2"),
            ("1.6 GB, Blosc 1 of h5py", "write_nd: four dimensions", "2", "h5py+hdf5plugin, Blosc1"),
            ("1.6 GB, Blosc 2", "write_nd: four dimensions", "2", "PyTables"),
            ("1.6 GB, Blosc 2", "write_nd: four dimensions", "2", "python-blosc2"),
            ("1.6 GB, Blosc 2", "write_nd: four dimensions", "2", "zarr+zarrs"),
            ("400 MB, gzip + shuffle", "write_gzip", "2", "h5py"),
            ("1.6 GB, contiguous, no filter", "write_raw: contiguous", "2", "numpy.tofile"),
            ("append 10⁶ rows, one by one", "append: 1,000,000 rows", "1", "h5py"),
            ("10⁵ datasets with attributes", "small: 100,000 datasets", "1", "h5py"),
            ("flush of 1,000 headers", "commit: 1,000 headers", "1", "h5py"),
            ("10⁶ strings from str", "short, 1000000 written from str", "", "h5py"),
            ("repack 1 GB, gzip to Zstandard", "repack: gzip 4 to Zstandard 3", "2", "h5repack"),
        ],
    ),
    "tables": (
        "Tables and expressions, two threads",
        [
            ("first scan of 10⁷ rows", "scan: 10^7 rows, the first scan in an open file", "", "PyTables"),
            ("first scan of 10⁷ rows", "scan: 10^7 rows, the first scan in an open file", "", "CTable"),
            (
                "first scan of 10⁷ rows",
                "scan: 10^7 rows, the first scan in an open file",
                "",
                "DuckDB over Parquet, snappy",
            ),
            ("later scans", "scan: 10^7 rows, after a first one", "", "DuckDB over Parquet, snappy"),
            ("building an index, 10⁷ rows", "index: building it for 10^7 rows", "", "PyTables"),
            (
                "2,000 hits by an index",
                "index: query with 2,000 hits in 10^7 rows, in an open file, after a first one",
                "",
                "CTable",
            ),
            (
                "first row among 10⁵ chunks",
                "tables: first row of a table of 10^5 chunks, in an open file",
                "",
                "PyTables, 1 thread",
            ),
            ("rows by table.row", "tables: 200,000 single rows with table.row", "", "PyTables"),
            (
                "a*b+1 on disk, no filter",
                "expressions: a*b+1, 10^8 values, no filter, page cache",
                "",
                "numexpr on memmaps",
            ),
            (
                "a*b+1 on disk, Blosc 2",
                "expressions: a*b+1, 10^8 values, Blosc2 LZ4, page cache",
                "",
                "python-blosc2",
            ),
            (
                "3*a-2*b+1.1 in memory, compressed",
                "expressions_memory: 3*a-2*b+1.1, 10^7 values in memory, into an array",
                "",
                "plain arrays",
            ),
        ],
    ),
    "seismic": (
        "An inline, a crossline and a slice, two threads",
        [
            ("no filter, page cache warm", "no filter, warm", "", "h5py"),
            ("no filter, page cache warm", "no filter, warm", "", "jHDF"),
            ("no filter, page cache warm", "no filter, warm", "", "segyio, mapped"),
            ("no filter, warm, chunks of 128³", "no filter, warm, edge 128", "", "jHDF"),
            ("no filter, page cache cold", "no filter, cold", "", "h5py"),
            ("no filter, page cache cold", "no filter, cold", "", "jHDF"),
            ("no filter, page cache cold", "no filter, cold", "", "segyio, mapped"),
            ("Blosc 2 Zstandard, warm", "Blosc2 Zstd + shuffle, warm", "", "h5py+hdf5plugin, 1 thread"),
        ],
    ),
    "far": (
        "Servers, disks, processes",
        [
            ("a file behind 20 ms a request", f"{FAR}; one thread", "", "fsspec + h5py"),
            ("20,000 random chunks off the disk", "the same", "", "h5py"),
            ("planes, mapped, one thread", f"{MAPPED}; one thread", "", "jHDF, 16 threads"),
            ("planes, mapped, one thread", "the same", "", "C gather out of a mapping"),
            ("2 GB from four processes of Dask", "four Dask workers write 2 GB by blocks, Blosc2", "", "zarr + zarrs"),
            ("512 MB from two ranks, contiguous", "collective write, contiguous", "", "parallel HDF5"),
            ("512 MB from two ranks, chunks", "collective write, chunks of 1 MiB", "", "parallel HDF5"),
            ("512 MB from two ranks, gzip", "collective write, gzip 1 + shuffle", "", "parallel HDF5"),
        ],
    ),
}
"""For each picture its title and its bars: a label, and the row, the threads and the peer in the tables."""

IN_RUNS = {
    (f"{FAR}; one thread", "fsspec + h5py"): ("remote: open, list, plane", "fsspec + h5py"),
    ("the same", "h5py"): ("cold: 20000 of 4 KiB", "h5py"),
    (f"{MAPPED}; one thread", "jHDF, 16 threads"): ("planes: no filter, mapped", "jHDF"),
    ("the same", "C gather out of a mapping"): ("planes: no filter, mapped", "C gather from a mapped file"),
    ("four Dask workers write 2 GB by blocks, Blosc2", "zarr + zarrs"): ("dask_store: Blosc2 LZ4", "zarr+zarrs"),
    **{
        (f"collective write, {text}", "parallel HDF5"): (
            f"ranks: write, collective, {name}, HDF5",
            "h5py, parallel HDF5",
        )
        for text, name in (("contiguous", "contiguous"), ("chunks of 1 MiB", "chunked"), ("gzip 1 + shuffle", "gzip"))
    },
}
"""Rows and peers that the tables name in other words than `bench/run.py`."""


@dataclass(frozen=True)
class Ratio:
    """A measured ratio with its range, and the ratio that was wanted."""

    value: float
    low: float
    high: float
    wanted: float

    @property
    def colour(self) -> str:
        """Slower than the peer; faster, but less than wanted; as wanted."""
        return SLOWER if self.value < 0.995 else SHORT if self.value < self.wanted else MET


Key = tuple[str, str, str]
MET, SHORT, SLOWER = "#1f9e89", "#c98a1b", "#d1495b"
NUMBERS = re.compile(r"^(?P<value>[\d.,]+)(?: \((?P<low>[\d.,]+) to (?P<high>[\d.,]+)\))?$")


def number(text: str) -> float:
    """Returns the number in a cell of a table."""
    return float(text.replace(",", ""))


def of_tables(text: str) -> dict[Key, Ratio]:
    """Returns the ratios in the tables of a page, the first of each row."""
    found: dict[Key, Ratio] = {}
    header: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells or len(cells) != len(header):
            header = cells
            continue
        row = dict(zip(header, cells, strict=True))
        ratio = NUMBERS.match(row.get("ratio", ""))
        if not ratio or not re.match(r"^[\d.]+$", row.get("wanted", "")):
            continue
        value = number(ratio["value"])
        low, high = (number(ratio[end] or ratio["value"]) for end in ("low", "high"))
        key = (cells[0], row.get("threads", ""), row["against"])
        found.setdefault(key, Ratio(value, low, high, number(row["wanted"])))
    return found


def of_results(results: dict) -> dict[Key, Ratio]:
    """Returns the ratios of a run of `bench/run.py`."""
    found = {}
    for row in results["rows"]:
        for group in row["groups"]:
            for target in group["targets"]:
                if target["ratio"] is not None:
                    ratio = Ratio(target["ratio"], target["low"], target["high"], target["target"])
                    name = f"{row['name']}: {group['group']}"
                    found[name, str(row["threads"]), target["against"]] = ratio
                    found.setdefault((name, "", target["against"]), ratio)
                    found.setdefault((name.removeprefix("seismic_planes: "), "", target["against"]), ratio)
    for (row, against), (name, peer) in IN_RUNS.items():
        if (name, "", peer) in found:
            found[row, "", against] = found[name, "", peer]
    return found


def place(value: float) -> float:
    """Returns the x of a ratio."""
    return LEFT + (math.log(value) - math.log(LEAST)) / (math.log(MOST) - math.log(LEAST)) * (RIGHT - LEFT)


def drawing(title: str, bars: list[tuple[str, str, Ratio]]) -> str:
    """Returns a picture with a bar for each label and peer."""
    bottom = TOP + STEP * len(bars)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 40}" font-size="13">',
        "<style>svg{color:#24292f;font-family:system-ui,sans-serif}"
        "@media(prefers-color-scheme:dark){svg{color:#d0d7de}}</style>",
        f"<title>{escape(title)}</title>",
        '<g fill="currentColor" stroke="none">',
        f'<text x="0" y="16" font-size="15" font-weight="600">{escape(title)}</text>',
    ]
    x = 0
    for colour, words in ((MET, "target reached"), (SHORT, "faster, below the target"), (SLOWER, "slower")):
        parts.append(f'<rect x="{x}" y="28" width="11" height="11" rx="2" fill="{colour}"/>')
        parts.append(f'<text x="{x + 16}" y="38" font-size="12">{words}</text>')
        x += 40 + 6.3 * len(words)
    for value in (0.5, 1, 2, 5, 10, 20, 50):
        at, strong = place(value), 0.7 if value == 1 else 0.2
        line = f'x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 8}" y2="{bottom}"'
        parts.append(f'<line {line} stroke="currentColor" stroke-opacity="{strong}"/>')
        parts.append(f'<text x="{at:.1f}" y="{bottom + 16}" text-anchor="middle" font-size="12">{value:g}</text>')
    middle = (LEFT + RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{bottom + 34}" text-anchor="middle" font-size="12">{AXIS}</text>')
    for row, (label, against, ratio) in enumerate(bars):
        y = TOP + STEP * row
        end = place(min(ratio.value, MOST))
        start, width = min(place(1), end), max(abs(end - place(1)), 1.5)
        parts.append(
            f'<text x="{LEFT}" y="{y + 11}">{escape(label)} <tspan font-weight="600">{escape(against)}</tspan></text>'
        )
        parts.append(f'<rect x="{start:.1f}" y="{y + 16}" width="{width:.1f}" height="10" fill="{ratio.colour}"/>')
        low, high = (place(min(max(value, LEAST), MOST)) for value in (ratio.low, ratio.high))
        parts.append(f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y + 21}" y2="{y + 21}" stroke="currentColor"/>')
        after = max(high, end, place(1)) + 6
        parts.append(
            f'<text x="{after:.1f}" y="{y + 26}" font-weight="600">{ratio.value:.{0 if ratio.value >= 20 else 1 if ratio.value >= 1.95 else 2}f}</text>'
        )
    return "\n".join([*parts, "</g>", "</svg>", ""])


AXIS = "times as fast as the library in bold type"
WIDTH, LEFT, RIGHT, TOP, STEP = 480, 2, 430, 62, 36
LEAST, MOST = 0.4, 60
"""The ends of the axis. A longer bar is cut there; its number says the rest."""


def pictures(ratios: dict[Key, Ratio]) -> tuple[dict[str, str], list[Key]]:
    """Returns the drawings by their names, and the keys without a ratio."""
    drawn, missing = {}, []
    for name, (title, wanted) in PICTURES.items():
        bars = []
        for label, *key in wanted:
            ratio = ratios.get((key[0], key[1], key[2]))
            if ratio is None:
                missing.append((key[0], key[1], key[2]))
            else:
                bars.append((label, key[2], ratio))
        if bars:
            drawn[f"{name}.svg"] = drawing(title, bars)
    return drawn, missing


def main() -> None:
    """Draw, and say which rows were not found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, help="the results of a run, in place of docs/speed.md")
    results = parser.parse_args().results
    speed = REPOSITORY / "docs" / "speed.md"
    ratios = of_results(json.loads(results.read_text())) if results else of_tables(speed.read_text())
    drawn, missing = pictures(ratios)
    FIGURES.mkdir(exist_ok=True)
    for name, text in drawn.items():
        (FIGURES / name).write_text(text)
    for row, threads, against in missing:
        print(f"no figure: {row}, {threads or 'any'} threads, against {against}")


if __name__ == "__main__":
    main()
