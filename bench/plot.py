"""Draws bars of the measured ratios with a mark at each target: a picture for each row, and one of all."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def bars_of(row: dict) -> list[dict]:
    return [
        {"label": f"{row['name']} {row['threads']}t, {group['group']}\nagainst {target['against']}", **target}
        for group in row["groups"]
        for target in group["targets"]
        if target["ratio"] is not None
    ]


def draw(bars: list[dict], title: str, path: Path) -> None:
    if not bars:
        return
    figure, axes = plt.subplots(figsize=(9, 0.9 + 0.42 * len(bars)), layout="constrained")
    places = range(len(bars))
    colours = ["#3a7d44" if bar["met"] else "#c1443c" for bar in bars]
    errors = [
        [bar["ratio"] - min(bar["low"], bar["ratio"]) for bar in bars],
        [max(bar["high"], bar["ratio"]) - bar["ratio"] for bar in bars],
    ]
    axes.barh(
        places,
        [bar["ratio"] for bar in bars],
        color=colours,
        height=0.6,
        xerr=errors,
        error_kw={"ecolor": "#888", "lw": 1},
    )
    axes.plot([bar["target"] for bar in bars], places, "k|", markersize=16, markeredgewidth=2, label="wanted")
    for place, bar in zip(places, bars, strict=True):
        axes.annotate(
            f"{bar['ratio']:.2f}", (bar["ratio"], place), (4, 0), textcoords="offset points", va="center", fontsize=7
        )
    axes.axvline(1, color="#888", lw=0.8, ls=":")
    axes.margins(y=0.01)
    axes.set_xscale("log")
    axes.set_yticks(places, [bar["label"] for bar in bars], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("times as fast as the other (whiskers: range over the rounds)")
    axes.set_title(title, fontsize=9)
    axes.legend(loc="lower right", fontsize=7)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def draw_all(results: dict, folder: Path) -> None:
    by_name: dict[str, list[dict]] = {}
    for row in results["rows"]:
        by_name.setdefault(row["name"], []).append(row)
    everything = []
    for name, rows in by_name.items():
        bars = [bar for row in rows for bar in bars_of(row)]
        draw(bars, rows[0]["title"], folder / f"{name}.png")
        everything += bars
    draw(everything, "hyperslab against its peers", folder / "ratios.png")
