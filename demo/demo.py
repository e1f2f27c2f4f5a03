"""The main job on real data: read a real file whole, by month and by region, beside h5py.

The file is `LinkeTurbidities.h5` of the package pvlib: monthly turbidity of the atmosphere over the whole Earth, 2160 by
4320 by 12 values of one byte, deflated, written by others. Every byte is compared with what h5py reads.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import matplotlib
import numpy as np

import hyperslab as hs

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402 - the backend is chosen first

PVLIB = "pvlib==0.16.1"
MONTHS = "January February March April May June July August September October November December".split()


def main() -> None:
    """Run the demo and save its picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("demo-out"), help="folder of the data and the picture")
    out = parser.parse_args().out
    out.mkdir(exist_ok=True)
    path = turbidity_file(out)

    with hs.File(path) as ours, h5py.File(path) as theirs:
        a, b = ours["LinkeTurbidity"], theirs["LinkeTurbidity"]
        print(f"{path.name}: {a.shape} {a.dtype}, chunks {a.chunks}, {a.compression}, {a.nbytes / 1e6:.0f} MB decoded")
        print(f"hyperslab {hs.__version__} with {hs.get_threads()} threads, h5py {h5py.__version__}\n")
        print(f"{'read':34}{'hyperslab':>22}{'h5py':>22}{'ratio':>8}")
        compare("whole", lambda d: d[...], a, b)
        compare("one month, [:, :, 6]", lambda d: d[:, :, 6], a, b)
        compare("a region, [400:800, 1900:2400, :]", lambda d: d[400:800, 1900:2400, :], a, b)
        compare("every second row, [::2, :, 0]", lambda d: d[::2, :, 0], a, b)
        maps = a[...]
    picture = draw(maps, out / "turbidity.png")
    print(f"\nevery byte equal; the twelve monthly maps are in {picture}")


def turbidity_file(out: Path) -> Path:
    """Fetch the file out of pvlib's wheel, once."""
    path = out / "pvlib" / "data" / "LinkeTurbidities.h5"
    if not path.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*command, "--target", str(out), PVLIB], check=True)
    return path


def compare(name: str, read: Callable[[object], np.ndarray], ours: object, theirs: object) -> None:
    """Time `read` on both, alternately, and compare what it returns."""
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    results: dict[str, np.ndarray] = {}
    for _ in range(5):
        for who, dataset in (("ours", ours), ("theirs", theirs)):
            begin = time.perf_counter()
            results[who] = read(dataset)
            times[who].append(time.perf_counter() - begin)
    if results["ours"].dtype != results["theirs"].dtype or not np.array_equal(results["ours"], results["theirs"]):
        sys.exit(f"{name}: hyperslab and h5py disagree")
    fast, slow = (statistics.median(times[who]) for who in ("ours", "theirs"))
    size = results["ours"].nbytes

    def cell(seconds: float) -> str:
        return f"{seconds * 1e3:8.1f} ms {size / seconds / 1e9:6.2f} GB/s"

    print(f"{name:34}{cell(fast):>22}{cell(slow):>22}{slow / fast:7.1f}x")


def draw(maps: np.ndarray, path: Path) -> Path:
    """Save the twelve monthly maps."""
    figure, axes = plt.subplots(4, 3, figsize=(15, 11), layout="constrained")
    for month, axis in enumerate(axes.flat):
        # Stored as twenty times the turbidity; every fourth value is as many as the picture has pixels.
        image = axis.imshow(maps[::4, ::4, month] / 20, extent=(-180, 180, -90, 90), cmap="YlOrBr", vmin=1, vmax=7)
        axis.set_title(MONTHS[month])
        axis.set_xticks(range(-180, 181, 90))
        axis.set_yticks(range(-90, 91, 45))
    figure.supxlabel("longitude (degrees east)")
    figure.supylabel("latitude (degrees north)")
    figure.colorbar(image, ax=axes, shrink=0.6, label="Linke turbidity (number of clean, dry atmospheres)")
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
