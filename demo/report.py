"""Makes one page of what the demo measured and drew: a single file, with its figures inside."""

from __future__ import annotations

import base64
import html
import os
import platform
from pathlib import Path
from typing import NamedTuple

import h5py
import hyperslab as hs
from matplotlib.axes import Axes

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
img { width: 100% } table { border-collapse: collapse } td, th { padding: .3rem .8rem; text-align: left; border-bottom: 1px solid #ddd }
td.n { text-align: right; font-variant-numeric: tabular-nums }
"""


class Row(NamedTuple):
    """One comparison: medians, in seconds."""

    name: str
    against: str
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        """How many times as fast hyperslab is."""
        return self.theirs / self.ours


def bars(axis: Axes, rows: list[Row]) -> None:
    """Draw a bar for the ratio of each row."""
    names = [row.name for row in reversed(rows)]
    ratios = [row.ratio for row in reversed(rows)]
    colours = ["#0a8f8f" if ratio > 1 else "#c0392b" for ratio in ratios]
    drawn = axis.barh(names, ratios, color=colours, height=0.6)
    axis.bar_label(drawn, [f"{ratio:.1f}x" for ratio in ratios], padding=4)
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set_xlim(0, max(ratios) * 1.12)
    axis.set_xlabel(f"times as fast as h5py, on {hs.get_threads()} threads")
    axis.spines[["top", "right", "left"]].set_visible(False)


def write(path: Path, rows: list[Row], figure: Path, planes: list[Row], section: Path) -> Path:
    """Write the page: both figures, and the times of both parts."""
    machine = f"{platform.system()}, {platform.machine()}, {os.cpu_count()} CPUs"
    versions = f"hyperslab {hs.__version__} with {hs.get_threads()} threads, h5py {h5py.__version__}"
    path.write_text(
        f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>hyperslab: what the demo measured</title>
<style>{STYLE}</style>
<h1>hyperslab: what the demo measured</h1>
<p>{html.escape(versions)}, on {html.escape(machine)}. Each read opens the file again, which is in the page cache. A time
is the median of five reads, taken in turns. Every byte was equal.</p>
<h2>The air over the Earth</h2>
{image(figure, "Twelve monthly maps of turbidity, and a bar for the ratio of each read")}
{table(rows)}
<h2>A seismic survey</h2>
{image(section, "An inline, a crossline and a time slice of a synthetic survey")}
{table(planes)}
""",
        "utf-8",
    )
    return path


def image(path: Path, what: str) -> str:
    content = base64.b64encode(path.read_bytes()).decode("ascii")
    return f'<p><img alt="{html.escape(what)}" src="data:image/png;base64,{content}"></p>'


def table(rows: list[Row]) -> str:
    lines = [
        f"<tr><td>{html.escape(row.name)}<td>{html.escape(row.against)}<td class=n>{row.ours * 1e3:.1f} ms"
        f"<td class=n>{row.theirs * 1e3:.1f} ms<td class=n>{row.ratio:.1f}x"
        for row in rows
    ]
    return f"<table><tr><th>read<th>against<th>hyperslab<th>theirs<th>ratio{''.join(lines)}</table>"
