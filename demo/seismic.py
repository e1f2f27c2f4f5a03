"""The seismic part: ingests and exports real SEG-Y files byte for byte, and reads three planes of a survey.

The real files are in the package obspy. The survey is synthetic (`survey.py`). segyio writes it as SEG-Y, the
command `hyperslab segy ingest` ingests it, and hyperslab, segyio and h5py read it. Every sample is compared.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401 (h5py finds Blosc 2 by it)
import hyperslab as hs
import matplotlib.pyplot as plt
import numpy as np
import segyio
import survey
from report import Row

OBSPY = "obspy==1.5.1"
INLINE, CROSSLINE, TIME = 1200, 390, 1780.0
"""The planes that are shown."""


def show(data: Path, out: Path) -> tuple[list[Row], Path]:
    """Run the seismic part with files in `data`. Return the times, and the figure in `out`."""
    print("\nSEG-Y files of obspy, into HDF5 and back:")
    for path in obspy_files(data):
        there_and_back(path, data)
    source, cube = data / "survey.sgy", data / "survey.h5"
    if not source.exists():
        survey.write(source, survey.traces())
    print(
        f"\n{source.name}: {source.stat().st_size / 1e6:.0f} MB of IBM floats, a synthetic survey with layers, a fault and a channel"
    )
    command = ["segy", "ingest", source, cube, "--filter", "blosc2:zstd:5", "--overwrite"]
    subprocess.run([Path(sys.executable).with_name("hyperslab"), *command], check=True)
    rows = compare(source, cube)
    figure = draw(cube, out / "survey.png")
    there_and_back(source, data)
    print(f"every sample equal; the three planes are in {figure}")
    return rows, figure


def obspy_files(out: Path) -> list[Path]:
    """Fetch the SEG-Y files out of obspy's wheel, once."""
    folder = out / "obspy" / "io" / "segy" / "tests" / "data"
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*command, "--target", str(out), OBSPY], check=True)
    files = sorted([*folder.glob("*.sgy*"), *folder.glob("*.segy*"), *folder.glob("*.y_first_trace")])
    return [path for path in files if path.suffix != ".npy"]


def there_and_back(path: Path, out: Path) -> None:
    """Ingest a file, export it, and compare every byte."""
    cube, back = out / "back.h5", out / "back.sgy"
    back.unlink(missing_ok=True)
    hs.segy.ingest(path, cube, overwrite=True)
    hs.segy.export(cube, back)
    if back.read_bytes() != path.read_bytes():
        sys.exit(f"{path.name}: the exported file differs from the source")
    with hs.segy.open(cube) as found:
        print(f"  {path.name:34}{found.kind:10}{found.shape!s:20}{path.stat().st_size:>12,} bytes, all equal")
    cube.unlink()
    back.unlink()


def compare(source: Path, cube: Path) -> list[Row]:
    """Time the three planes: hyperslab and h5py on the HDF5 file, segyio on the SEG-Y file."""
    place = INLINE - survey.INLINES[0], CROSSLINE - survey.CROSSLINES[0], round(TIME / survey.INTERVAL)

    def by_hyperslab() -> list[np.ndarray]:
        with hs.segy.open(cube) as file:
            return [file.inline(INLINE), file.crossline(CROSSLINE), file.depth_slice(TIME)]

    def by_h5py() -> list[np.ndarray]:
        with h5py.File(cube) as file:
            data = file["data"]
            return [data[place[0]], data[:, place[1]], data[:, :, place[2]]]

    def by_segyio() -> list[np.ndarray]:
        with segyio.open(str(source)) as file:
            return [file.iline[INLINE], file.xline[CROSSLINE], file.depth_slice[place[2]]]

    print(f"\n{'inline, crossline and time slice, file opened each time':58}{'':>12}{'ratio':>8}")
    ours = timed("hyperslab", by_hyperslab, None, 0.0)
    rows = []
    for name, read in (("h5py + hdf5plugin, the same file", by_h5py), ("segyio, the SEG-Y file", by_segyio)):
        _, theirs = timed(name, read, ours[0], ours[1])
        rows.append(Row("inline, crossline and time slice", name, ours[1], theirs))
    return rows


def timed(
    name: str, read: Callable[[], list[np.ndarray]], expected: list[np.ndarray] | None, ours: float
) -> tuple[list[np.ndarray], float]:
    """Return the planes, and the median time of five reads of them."""
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        planes = read()
        times.append(time.perf_counter() - begin)
    if expected and not all(np.array_equal(a, b) for a, b in zip(planes, expected, strict=True)):
        sys.exit(f"{name} read different samples")
    seconds = statistics.median(times)
    print(f"  {name:56}{seconds * 1e3:9.1f} ms{f'{seconds / ours:7.1f}x' if ours else ''}")
    return planes, seconds


def draw(cube: Path, path: Path) -> Path:
    """Save the three planes in one scale of colours, with lines where the others cross them."""
    figure, axes = plt.subplots(1, 3, figsize=(18, 7), width_ratios=(3, 3, 2), layout="constrained")
    planes = ({"inline": INLINE}, {"crossline": CROSSLINE}, {"slice": TIME})
    crossings = ((CROSSLINE, TIME), (INLINE, TIME), (CROSSLINE, INLINE))
    with hs.segy.open(cube) as found:
        for axis, plane, (across, down) in zip(axes, planes, crossings, strict=True):
            found.plot(**plane, ax=axis, colorbar=False)
            axis.axvline(across, color="black", linewidth=0.8, linestyle="--")
            axis.axhline(down, color="black", linewidth=0.8, linestyle="--")
    images = [axis.images[0] for axis in axes]
    limit = max(image.get_clim()[1] for image in images)
    for image in images:
        image.set_clim(-limit, limit)
    figure.colorbar(images[0], ax=axes, label="amplitude", shrink=0.8)
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return path
