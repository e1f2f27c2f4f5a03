"""Reads a real file whole, by month and by region, and compares speed and values with h5py.

The file is `LinkeTurbidities.h5` of the package pvlib, which others wrote. It has the monthly turbidity of
the atmosphere over the whole Earth: 2160 by 4320 by 12 values of one byte, deflated. Every byte is compared
with the result of h5py. The seismic part is in `seismic.py`, and `report.py` makes one page of both.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import h5py
import hyperslab as hs
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import report
import seismic
from report import Row

PVLIB = "pvlib==0.16.1"
Read = Callable[[Any], np.ndarray]
"""Reads elements of a dataset of either library."""
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def main() -> None:
    """Run the demo and save its page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--out", type=Path, default=Path("demo-out"), help="folder for the page, its figures and `data`"
    )
    out = parser.parse_args().out
    data = out / "data"
    data.mkdir(parents=True, exist_ok=True)
    print("fetching a file of the atmosphere over the Earth")
    path = turbidity_file(data)

    with hs.File(path) as file:
        dataset = file["LinkeTurbidity"]
        size = dataset.nbytes / 1e6
        print(
            f"{path.name}: {dataset.shape} {dataset.dtype}, chunks {dataset.chunks}, {dataset.compression}, {size:.0f} MB decoded"
        )
        maps = dataset[...]
    print(f"hyperslab {hs.__version__} with {hs.get_threads()} threads, h5py {h5py.__version__}")
    print("each read opens the file anew; the file is in the page cache; median of five, interleaved\n")
    print(f"{'read':34}{'hyperslab':>22}{'h5py':>22}{'ratio':>8}")
    strided = np.s_[::2, :, 0]
    rows = [
        compare("whole", path, np.s_[...]),
        compare("one month, [:, :, 6]", path, np.s_[:, :, 6]),
        compare("a region, [400:800, 1900:2400, :]", path, np.s_[400:800, 1900:2400, :]),
        compare("every second row, [::2, :, 0]", path, strided),
        compare("second rows; h5py: [:, :, 0][::2]", path, strided, by_h5py=lambda dataset: dataset[:, :, 0][::2]),
    ]
    print("\nSelections with steps are what libhdf5 reads most slowly. The last line is the fair one: h5py reads the")
    print("whole plane, and NumPy takes every second row of it.")
    figure = draw(maps, rows, out / "turbidity.png")
    print(f"\nevery byte equal; the twelve monthly maps are in {figure}")
    planes, section = seismic.show(data, out)
    page = report.write(out / "index.html", rows, figure, planes, section)
    print(f"\none page with everything, to open or to send: {page}")


def turbidity_file(out: Path) -> Path:
    """Fetch the file out of pvlib's wheel, once."""
    path = out / "pvlib" / "data" / "LinkeTurbidities.h5"
    if not path.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*command, "--target", str(out), PVLIB], check=True)
    return path


def compare(name: str, path: Path, selection: object, by_h5py: Read | None = None) -> Row:
    """Time the read of a selection by both, alternately, and compare every byte.

    h5py reads the selection, too, unless another way to the same elements is given.
    """

    def read(dataset: Any) -> np.ndarray:
        return dataset[selection]

    reads: dict[ModuleType, Read] = {hs: read, h5py: by_h5py or read}
    times: dict[str, list[float]] = {"hyperslab": [], "h5py": []}
    results: dict[str, np.ndarray] = {}
    for _ in range(5):
        for module, read_by in reads.items():
            begin = time.perf_counter()
            with module.File(path) as file:
                results[module.__name__] = read_by(file["LinkeTurbidity"])
            times[module.__name__].append(time.perf_counter() - begin)
    ours, theirs = results["hyperslab"], results["h5py"]
    if ours.dtype != theirs.dtype or not np.array_equal(ours, theirs):
        sys.exit(f"{name}: hyperslab and h5py disagree")
    fast, slow = (statistics.median(times[who]) for who in ("hyperslab", "h5py"))
    size = ours.nbytes

    def cell(seconds: float) -> str:
        return f"{seconds * 1e3:8.1f} ms {size / seconds / 1e9:6.2f} GB/s"

    print(f"{name:34}{cell(fast):>22}{cell(slow):>22}{slow / fast:7.1f}x")
    return Row(name, "h5py", fast, slow)


def draw(maps: np.ndarray, rows: list[Row], path: Path) -> Path:
    """Save the twelve monthly maps, above a bar for each read."""
    figure = plt.figure(figsize=(13, 11), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(5, 1.1))
    axes = above.subplots(4, 3)
    for month, axis in enumerate(axes.flat):
        # The stored values are twenty times the turbidity. Every fourth value suffices for the pixels.
        image = axis.imshow(maps[::4, ::4, month] / 20, extent=(-180, 180, -90, 90), cmap="YlOrBr", vmin=1, vmax=7)
        axis.set_title(MONTHS[month])
        axis.set_xticks(range(-180, 181, 90))
        axis.set_yticks(range(-90, 91, 45))
    above.suptitle("How hazy the air is, over a year: LinkeTurbidities.h5 of pvlib, 112 MB")
    above.supxlabel("longitude (degrees east)")
    above.supylabel("latitude (degrees north)")
    above.colorbar(image, ax=axes, shrink=0.6, label="Linke turbidity (number of clean, dry atmospheres)")
    # The fourth row is left out: its selection is what libhdf5 reads most slowly, and would dwarf the others.
    report.bars(below.subplots(), [row for row in rows if "[::2, :, 0]" not in row.name])
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
