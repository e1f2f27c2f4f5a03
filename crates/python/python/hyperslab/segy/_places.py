"""Numbers of lines, times and coordinates as places in an array."""

import math
import operator
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Numbers = NDArray[Any]
Number: TypeAlias = SupportsIndex | float
"""The number of a line, an offset or an ensemble. Floats are on axes that header fields of floats made."""


def place_of(name: str, values: _Numbers, number: Number) -> int:
    """Returns the place of a number on a rising axis, or raises ValueError if the axis lacks the number."""
    if values.dtype.kind != "f" and not isinstance(number, SupportsIndex):
        raise TypeError(f"{name} must be an integer, not {number!r}: the axis holds integers")
    found = _found(values, _known(name, values, number))
    if found is not None:
        return found
    steps = np.diff(values)
    step = f", in steps of {steps.min()}" if len(steps) else ""
    there = f"there are {values[0]} to {values[-1]}{step}" if len(values) else "there are none"
    raise ValueError(f"{name} {number}: {there}")


def _known(name: str, values: _Numbers, number: Any) -> Any:
    """Returns the number of an axis that a number stands for, or the number itself.

    On an axis of floats, a number that is not there stands for the nearest float of single precision: 0.1 is
    the number of a header field of 4 bytes, which holds 0.10000000149011612.
    """
    if values.dtype.kind != "f":
        return operator.index(number) if isinstance(number, SupportsIndex) else number
    if isinstance(number, str | bytes):
        raise TypeError(f"{name} must be a number, not {number!r}")
    try:
        exact = float(number)
    except TypeError:
        raise TypeError(f"{name} must be a number, not {number!r}") from None
    except OverflowError:  # an integer beyond all floats
        return math.inf if number > 0 else -math.inf
    with np.errstate(over="ignore"):
        single = float(np.float32(exact))
    return exact if _found(values, exact) is not None or _found(values, single) is None else single


def _found(values: _Numbers, number: Any) -> "int | None":
    """Returns the place of exactly this number."""
    found = int(np.searchsorted(values, number))
    return found if found < len(values) and values[found] == number else None


def nearest(name: str, values: _Numbers, wanted: float, unit: str) -> int:
    """Returns the sample nearest to a time or depth, or raises ValueError beyond the ends of the axis."""
    wanted = float(wanted)
    first, last = float(values[0]), float(values[-1])
    if not min(first, last) <= wanted <= max(first, last):
        raise ValueError(f"{name} {wanted:g} {unit}: samples lie from {first:g} to {last:g} {unit}")
    return int(np.abs(values - wanted).argmin())


def selection(name: str, values: _Numbers, wanted: Any, is_sample: bool, unit: str) -> Any:
    """Returns the places of numbers on an axis: an index, a slice, or an array of rising places.

    Args:
        name: The name of the axis.
        values: The numbers on the axis.
        wanted: A number; a slice of numbers, which includes both ends; a list of rising numbers; or None for
            all.
        is_sample: Whether the axis is that of samples, on which the nearest sample is taken.
        unit: The unit of the axis.

    Raises:
        ValueError: A number is not on the axis. Ends of slices need not be.
    """
    if wanted is None:
        return slice(None)
    if isinstance(wanted, slice):
        ends = (wanted.start, wanted.stop)
        first, last = (end if end is None or is_sample else _known(name, values, end) for end in ends)
        start = 0 if first is None else int(np.searchsorted(values, first, "left"))
        stop = len(values) if last is None else int(np.searchsorted(values, last, "right"))
        step = 1 if wanted.step is None else operator.index(wanted.step)
        if step < 1:
            raise ValueError(f"{name}: a slice goes forward, not in steps of {step}")
        return slice(start, max(start, stop), step)

    def find(one: Any) -> int:
        return nearest(name, values, one, unit) if is_sample else place_of(name, values, one)

    if np.ndim(wanted) == 0:
        return find(wanted)
    places = np.array([find(one) for one in wanted], dtype=np.intp)
    if np.any(np.diff(places) < 1):
        raise ValueError(f"{name}: numbers of a list must rise, each once")
    return places


def along(corners: NDArray[np.float64], step: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns points at equal distances along a line through corners, and the distance of each corner.

    Args:
        corners: The corners, an array (n, 2).
        step: The approximate distance between two points. Both ends of the line are points.

    Raises:
        ValueError: The line has fewer than two corners, or the step is not a positive number.
    """
    if len(corners) < 2:
        raise ValueError("a polyline goes through two points at least")
    if not (math.isfinite(step) and step > 0):
        raise ValueError(f"step must be a positive number, not {step!r}")
    lengths = np.hypot(*np.diff(corners, axis=0).T)
    reached = np.concatenate([[0.0], np.cumsum(lengths)])
    at = np.linspace(0.0, reached[-1], round(reached[-1] / step) + 1)
    points = np.stack([np.interp(at, reached, corners[:, axis]) for axis in range(2)], axis=1)
    return points, reached


def on_axes(points: ArrayLike, axes: tuple[tuple[str, _Numbers], tuple[str, _Numbers]]) -> NDArray[np.float64]:
    """Returns points (inline, crossline) as fractional places. Raises ValueError beyond an axis."""
    given = pairs(points)
    for column, (name, values) in zip(given.T, axes, strict=True):
        column[:] = [_known(name, values, number) for number in column]
        outside = (column < values[0]) | (column > values[-1])
        if outside.any():
            raise ValueError(f"{name} {column[outside][0]:g}: there are {values[0]} to {values[-1]}")
    columns = [np.interp(column, v, np.arange(len(v))) for column, (_, v) in zip(given.T, axes, strict=True)]
    return np.stack(columns, axis=1)


def pairs(points: ArrayLike) -> NDArray[np.float64]:
    """Returns an array (n, 2) of finite numbers, or raises ValueError for anything else."""
    given = np.array(points, dtype=np.float64)
    if given.ndim != 2 or given.shape[1] != 2 or not np.isfinite(given).all():
        raise ValueError("points are pairs of finite numbers: [(a, b), (c, d), ...]")
    return given


class Ground:
    """The linear map from places (i, j) to coordinates (x, y) that fits a survey best."""

    def __init__(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        """Fits the map.

        Args:
            x, y: The coordinates of each place, arrays (inlines, crosslines). Places without a trace hold
                NaN.

        Raises:
            ValueError: The coordinates do not span a plane.
        """
        i, j = np.nonzero(np.isfinite(x) & np.isfinite(y))
        here = np.stack([np.ones(len(i)), i, j], axis=1)
        there = np.stack([x[i, j], y[i, j]], axis=1)
        if len(i) < 3 or np.linalg.matrix_rank(here) < 3:
            raise ValueError("too few traces have coordinates: name inlines and crosslines")
        # About the middle, as coordinates are large and lie close together.
        self._middle = there.mean(axis=0)
        solution = np.linalg.lstsq(here, there - self._middle, rcond=None)[0]
        self._origin, self._matrix = solution[0], solution[1:]
        if abs(np.linalg.det(self._matrix)) < 1e-12 * max(1e-300, float(np.abs(self._matrix).max()) ** 2):
            raise ValueError("the coordinates of the traces span no plane: name inlines and crosslines")
        self.steps = np.hypot(self._matrix[:, 0], self._matrix[:, 1])
        """The distance of neighbours along each axis."""

    def places(self, points: ArrayLike, shape: tuple[int, int]) -> NDArray[np.float64]:
        """Returns points (x, y) as fractional places.

        Raises:
            ValueError: A point is outside the survey by more than half a place.
        """
        given = pairs(points)
        found = np.linalg.solve(self._matrix.T, (given - self._middle - self._origin).T).T
        last = np.array(shape) - 1
        outside = ((found < -0.5) | (found > last + 0.5)).any(axis=1)
        if outside.any():
            x, y = given[outside][0]
            raise ValueError(f"the point ({x:g}, {y:g}) lies outside the survey")
        return np.clip(found, 0, last)
