"""Planes of surveys as pictures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._optional import needed_by
from . import _places

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._survey import Survey


@dataclass
class Side:
    """An axis of a picture."""

    label: str
    numbers: NDArray[Any]
    ticks: dict[float, str] | None = None


@dataclass
class Plane:
    """A picture, with values (horizontal, vertical)."""

    values: NDArray[Any]
    horizontal: Side
    vertical: Side
    title: str
    is_section: bool
    """Whether samples go downwards."""
    aspect: float = 1.0
    """On a map, the distance of vertical neighbours in units of the distance of horizontal neighbours."""


def label(name: str, unit: str) -> str:
    """Returns the label of an axis."""
    return f"{name} ({unit})" if unit else name


def two_left(named: Mapping[str, Any], axes: Mapping[str, Any], kind: str) -> list[str]:
    """Returns the two axes that are not fixed. Raises ValueError for an unknown axis, or another number."""
    fixed = {name for name, wanted in named.items() if wanted is not None}
    for name in fixed:
        if name not in axes:
            raise ValueError(f"there is no axis {name!r}: this {kind} has {', '.join(axes)}")
    left = [name for name in axes if name not in fixed]
    if len(left) != 2:
        more = "fix fewer axes" if len(left) < 2 else "fix more axes"
        raise ValueError(f"{more}: a figure needs two axes, not {len(left)} ({', '.join(left) or 'none'})")
    return left


def plane_of(
    survey: "Survey",
    named: dict[str, _places.Number | None],
    time: float | None,
    polyline: ArrayLike | None,
) -> Plane:
    """Returns the plane of a survey at fixed numbers of axes, or at a time or depth."""
    samples = survey.sample_axis
    if polyline is not None:
        return _along(survey, named, time, polyline)
    left = two_left({**named, samples: time}, survey.axes, survey.kind)
    values = survey.cube(inline=named["inline"], crossline=named["crossline"], offset=named["offset"], samples=time)
    title = [f"{name} {number}" for name, number in named.items() if number is not None]
    if time is not None:
        title.append(f"{samples} {survey.axes[samples][survey._sample(time)]:g} {survey.units[samples]}")
    first, second = (Side(label(name, survey.units.get(name, "")), survey.axes[name]) for name in left)
    is_section = samples in left
    if is_section:
        return Plane(values, first, second, title=", ".join(title), is_section=True)
    # Upwards the first axis, the inlines.
    plane = Plane(values.T, second, first, title=", ".join(title), is_section=False)
    if left == ["inline", "crossline"]:
        plane.aspect = _aspect(survey)
    return plane


def _aspect(survey: "Survey") -> float:
    try:
        steps = survey._ground.steps
    except ValueError:
        return 1.0
    inline, crossline = (_step(survey.axes[name]) for name in ("inline", "crossline"))
    return float(steps[0] / inline / (steps[1] / crossline))


def _step(numbers: NDArray[Any]) -> float:
    return float(np.median(np.diff(numbers))) if len(numbers) > 1 else 1.0


def _along(survey: "Survey", named: dict[str, Any], time: float | None, polyline: ArrayLike) -> Plane:
    if time is not None or any(named[name] is not None for name in ("inline", "crossline")):
        raise ValueError("a polyline is a picture by itself: name no inline, crossline or slice with it")
    values, _ = survey.polyline(polyline)
    title = "polyline"
    if values.ndim == 3:
        if named["offset"] is None:
            raise ValueError("a picture has two axes: name an offset with the polyline")
        values = values[:, _places.place_of("offset", survey.axes["offset"], named["offset"])]
        title += f", offset {named['offset']}"
    elif named["offset"] is not None:
        survey._axis("offset")
    _, reached = _places.along(survey._corners(polyline, xy=False), 1.0)
    corners = zip(reached, _places.pairs(polyline), strict=True)
    ticks = {float(at): f"{inline:.15g}/{crossline:.15g}" for at, (inline, crossline) in corners}
    samples = survey.sample_axis
    across = Side("inline/crossline", np.linspace(0.0, reached[-1], len(values)), ticks)
    down = Side(label(samples, survey.units[samples]), survey.axes[samples])
    return Plane(values, across, down, title=title, is_section=True)


def draw(plane: Plane, ax: "Axes | None", clip: float, cmap: str, colorbar: bool) -> "Axes":
    """Draws a plane; see `Survey.plot`."""
    with needed_by("Survey.plot"):
        import matplotlib.pyplot as plt

    if not 0 < clip <= 100:
        raise ValueError(f"clip is a percentile, above 0 and up to 100, not {clip!r}")
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    magnitudes = np.abs(np.asarray(plane.values, dtype=np.float64))
    finite = magnitudes[np.isfinite(magnitudes)]
    limit = float(np.percentile(finite, clip)) if finite.size else 0.0
    # Where most is 0, the largest says more.
    limit = limit or (float(finite.max()) if finite.size else 0.0) or 1.0
    style: dict[str, Any] = {"cmap": cmap, "vmin": -limit, "vmax": limit}
    across, down = _edges(plane.horizontal.numbers), _edges(plane.vertical.numbers)
    image: Any
    if _is_even(across) and _is_even(down):
        extent = (across[0], across[-1], down[0], down[-1])
        image = ax.imshow(plane.values.T, extent=extent, origin="lower", interpolation="none", **style)
    else:
        image = ax.pcolormesh(across, down, plane.values.T, **style)
    if plane.is_section:
        ax.set_aspect("auto")
        ax.set_ylim(down[-1], down[0])
    else:
        ax.set_aspect(plane.aspect)
    if plane.horizontal.ticks is not None:
        ax.set_xticks(list(plane.horizontal.ticks), list(plane.horizontal.ticks.values()))
    ax.set_xlabel(plane.horizontal.label)
    ax.set_ylabel(plane.vertical.label)
    ax.set_title(plane.title)
    if colorbar:
        ax.figure.colorbar(image, ax=ax, label="amplitude")
    return ax


def _edges(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Returns the ends of the cells around numbers."""
    numbers = np.asarray(numbers, dtype=np.float64)
    if len(numbers) == 1:
        return np.array([numbers[0] - 0.5, numbers[0] + 0.5])
    middles = (numbers[1:] + numbers[:-1]) / 2
    return np.concatenate([[2 * numbers[0] - middles[0]], middles, [2 * numbers[-1] - middles[-1]]])


def _is_even(edges: NDArray[np.float64]) -> bool:
    steps = np.diff(edges)
    return bool(np.allclose(steps, steps[0], rtol=1e-6, atol=0))
