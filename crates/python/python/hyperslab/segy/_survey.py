"""Surveys in HDF5, and what is read of them."""

import itertools
import operator
from collections.abc import Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._native import Dataset, File, _segy_describe
from . import _places
from ._text import text_of

if TYPE_CHECKING:
    import os

    import xarray
    from matplotlib.axes import Axes

_Array: TypeAlias = NDArray[Any]
_Wanted: TypeAlias = SupportsIndex | slice | Sequence[int] | _Array | None
_Times: TypeAlias = float | slice | Sequence[float] | _Array | None


def open(path: "str | bytes | os.PathLike[str] | os.PathLike[bytes]", mode: str = "r") -> "Survey":
    """Opens a survey that ``ingest`` made, for reading, or for changing its samples (``mode="r+"``).

    FormatError: no survey is in the file, its ingest was interrupted, or it is damaged. OSError: as the system says.
    """
    file = File(path, mode)
    try:
        return Survey(file)
    except BaseException:
        file.close()
        raise


class Survey:
    """A seismic survey. Leaving a ``with`` block closes it.

    Samples lie in ``data`` along the axes inline and crossline ("volume"), these and offset ("prestack"), cdp ("line"), cdp
    and offset ("prestack line") or trace ("traces"), and twt or depth as the last. Where no trace stands, floats are NaN
    and integers 0. Chunks are read and decoded by all threads (``hyperslab.set_threads``), without the GIL.

    out : where a method takes it, an array of the result's shape that is filled and returned.
    """

    def __init__(self, file: File) -> None:
        """The survey in an open file. FormatError: none is in it, or one that is not complete."""
        said = _segy_describe(file)
        self.file: File = file
        """The HDF5 file."""
        self.kind: str = said["kind"]
        """ "volume", "prestack", "line", "prestack line" or "traces"."""
        self.data: Dataset = file["data"]
        """The samples."""
        self.sample_axis: str = said["sample_axis"]
        """ "twt" or "depth"."""
        self.text: str = said["text"]
        """The textual header: lines of at most 80 characters."""
        self.axes: dict[str, _Array] = {name: _read_only(file[name][()]) for name in (*said["axes"], self.sample_axis)}
        """What stands at each place: numbers of lines, offsets or traces, rising; times or depths in their unit last."""
        length = text_of(file["cdp_x"].attrs.get("units", "m"))
        self.units: dict[str, str] = {self.sample_axis: said["sample_unit"], "cdp_x": length, "cdp_y": length}
        """The units of the axis of samples and of coordinates: "ms", "m" or "ft"; of coordinates also "degrees", "arcsec" or
        "DDDMMSS.ss"."""
        names = (
            "name",
            "bytes",
            "revision",
            "geometry_fields",
            "sample_format",
            "byte_order",
            "headers_per_trace",
            "padded",
        )
        self.source: dict[str, Any] = {name: said[name] for name in names}
        """The SEG-Y file it was made of: name, bytes, revision ("1.0"), sample_format, byte_order, headers_per_trace, padded, and
        geometry_fields (the header fields that placed its traces, as "inline 189:i4, crossline 193:i4, x 181:i4, y 185:i4"; or None)."""
        self._ground_axes: int = said["ground_axes"]

    def close(self) -> None:
        """Closes the file. Nothing can be read any more but what was."""
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        def span(name: str) -> str:
            values = self.axes[name]
            return f"{name} {values[0]:g} to {values[-1]:g} {self.units.get(name, '')}".rstrip()

        if not self.file:
            return "<closed survey>"
        return f"<{self.kind} of {self.data.dtype}: {', '.join(span(name) for name in self.axes)}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes, that of samples last."""
        return tuple(len(values) for values in self.axes.values())

    @property
    def headers(self) -> Dataset:
        """The header of each trace, in the order of the SEG-Y file: records of the standard's fields when read."""
        found: Dataset = self.file["segy/trace_header"]
        return found

    @cached_property
    def live(self) -> NDArray[np.bool_]:
        """Where there is a trace: bools along all axes but that of samples."""
        found: NDArray[np.bool_] = _read_only(self.file["live"][()] != 0)
        return found

    @cached_property
    def x(self) -> NDArray[np.float64]:
        """The easting of each place (or its longitude), its scalar applied, in ``units["cdp_x"]``; NaN where there is no trace."""
        found: NDArray[np.float64] = _read_only(self.file["cdp_x"][()])
        return found

    @cached_property
    def y(self) -> NDArray[np.float64]:
        """The northing of each place (or its latitude), as ``x``."""
        found: NDArray[np.float64] = _read_only(self.file["cdp_y"][()])
        return found

    def inline(self, number: SupportsIndex, out: _Array | None = None) -> _Array:
        """The inline of this number: (crosslines, samples), or (crosslines, offsets, samples).

        ValueError: there is no such line, or there are no inlines.
        """
        return self._plane("inline", number, out)

    def crossline(self, number: SupportsIndex, out: _Array | None = None) -> _Array:
        """The crossline of this number: (inlines, samples), or (inlines, offsets, samples).

        ValueError: there is no such line, or there are no crosslines.
        """
        return self._plane("crossline", number, out)

    def offset(self, number: SupportsIndex, out: _Array | None = None) -> _Array:
        """The traces of this offset: (inlines, crosslines, samples), or (cdps, samples).

        ValueError: there is no such offset, or there are no offsets.
        """
        return self._plane("offset", number, out)

    def depth_slice(self, value: float, out: _Array | None = None, *, index: bool = False) -> _Array:
        """The samples nearest to a time or depth: (inlines, crosslines), and offsets, as the survey has them.

        value : in the unit of the axis, ms or m or ft; with ``index`` the number of the sample, from 0 on.

        ValueError: it is beyond the ends of the axis. IndexError: there are not so many samples.
        """
        return self.data.read((..., self._sample(value, index)), out=out)

    def trace(self, number: SupportsIndex, out: _Array | None = None) -> _Array:
        """The samples of a trace, which counts from 0 in the SEG-Y file. IndexError: there are not so many.

        Where traces of several lengths were padded, the samples behind its own are NaN or 0.
        """
        wanted = self._trace_number(number)
        place = np.unravel_index(self._place_of_trace[wanted], self.shape[:-1])
        return self.data.read(tuple(int(at) for at in place), out=out)

    def trace_header(self, number: SupportsIndex) -> np.void:
        """The header of a trace, which counts from 0 in the SEG-Y file: ``header["inline"]``. IndexError: not so many."""
        header: np.void = self.headers[self._trace_number(number)]
        return header

    def cube(
        self,
        *,
        inline: _Wanted = None,
        crossline: _Wanted = None,
        offset: _Wanted = None,
        cdp: _Wanted = None,
        trace: _Wanted = None,
        samples: _Times = None,
        out: _Array | None = None,
    ) -> _Array:
        """A part of the survey, by the numbers on its axes: what is not named is read whole.

        inline, crossline, offset, cdp, trace : a number (its axis is gone from the result); a slice of numbers, both ends
            of which are in it, as with xarray, and whose step counts places; or a list of rising numbers.
        samples : the same in the unit of the axis; single ones stand for the nearest.

        Returns an array along the axes of the survey. ValueError: no such axis or number.
        """
        named: dict[str, Any] = {
            "inline": inline,
            "crossline": crossline,
            "offset": offset,
            "cdp": cdp,
            "trace": trace,
        }
        for name, wanted in named.items():
            if wanted is not None:
                self._axis(name)
        selected: list[Any] = []
        for name, values in self.axes.items():
            is_sample = name == self.sample_axis
            wanted = samples if is_sample else named[name]
            selected.append(_places.selection(name, values, wanted, is_sample, self.units.get(name, "")))
        lists = [axis for axis, part in enumerate(selected) if isinstance(part, np.ndarray)]
        if len(lists) < 2:
            return self.data.read(tuple(selected), out=out)
        return self._several_lists(selected, lists, out)

    def polyline(self, points: ArrayLike, xy: bool = False, step: float = 1.0) -> tuple[_Array, NDArray[np.int64]]:
        """The traces along a line through points, at the nearest place each.

        points : pairs (inline, crossline), or coordinates (x, y) if ``xy``: these are taken to places by the straight map
            that fits all traces best.
        step : how many places from one to the next, so near as divides the line evenly; both ends are on it.

        Returns the samples, (traces, samples) or (traces, offsets, samples), and the numbers (inline, crossline) of each.
        ValueError: a point lies outside the survey, or the survey has no inlines and crosslines.
        """
        self._axis("inline")
        places, _ = _places.along(self._corners(points, xy), step)
        at = np.rint(places).astype(np.intp)
        values = np.empty((len(at), *self.shape[2:]), self.data.dtype)
        self.data.read_many([(int(i), int(j)) for i, j in at], out=list(values))
        numbers = np.stack([self.axes["inline"][at[:, 0]], self.axes["crossline"][at[:, 1]]], axis=1)
        return values, numbers

    def plot(
        self,
        *,
        inline: SupportsIndex | None = None,
        crossline: SupportsIndex | None = None,
        offset: SupportsIndex | None = None,
        slice: float | None = None,
        polyline: ArrayLike | None = None,
        ax: "Axes | None" = None,
        clip: float = 99.0,
        cmap: str = "RdBu",
        colorbar: bool = True,
    ) -> "Axes":
        """Draws a plane with matplotlib: what is left when these are fixed must have two axes, as a 2-D line has by itself.

        inline, crossline, offset : numbers.  slice : a time or depth.  polyline : points (inline, crossline).
        ax : where to draw; else axes of a new figure.
        clip : colours end, alike on both sides of 0, at this percentile of the magnitudes.
        cmap : the name of a colour map.  colorbar : whether one is drawn.

        Samples go downwards. Returns the axes. ValueError: no such number, or not two axes left.
        ImportError: matplotlib is not there (``pip install hyperslab[plot]``).
        """
        from . import _plot

        fixed = {"inline": inline, "crossline": crossline, "offset": offset}
        plane = _plot.plane_of(self, fixed, slice, polyline)
        return _plot.draw(plane, ax, clip, cmap, colorbar)

    def to_xarray(self, chunks: Any = None) -> "xarray.Dataset":
        """The survey as an ``xarray.Dataset``, which reads what is asked of it, while the survey is open.

        Its variable ``data`` has the axes as coordinates, and ``cdp_x``, ``cdp_y`` and ``live`` along them; ``ds.segy`` has
        ``inline``, ``crossline``, ``depth_slice`` and ``plot``.

        chunks : None without dask; else as ``xarray.open_dataset`` takes them: "auto", {} for the chunks of the file, or
            their lengths, as {"inline": 64}.

        ImportError: xarray or dask is not there (``pip install hyperslab[xarray]``).
        """
        from . import _xarray

        return _xarray.dataset_of(self, chunks)

    def _axis(self, name: str) -> int:
        if name not in self.axes:
            raise ValueError(f"there is no axis {name!r}: this {self.kind} has {', '.join(self.axes)}")
        return list(self.axes).index(name)

    def _plane(self, name: str, number: SupportsIndex, out: _Array | None) -> _Array:
        axis = self._axis(name)
        place = _places.place_of(name, self.axes[name], number)
        return self.data.read((*[slice(None)] * axis, place), out=out)

    def _sample(self, value: float, index: bool = False) -> int:
        values = self.axes[self.sample_axis]
        if not index:
            return _places.nearest(self.sample_axis, values, value, self.units[self.sample_axis])
        if not isinstance(value, SupportsIndex):
            raise TypeError(f"the number of a sample is an integer, not {value!r}")
        wanted = operator.index(value)
        if not 0 <= wanted < len(values):
            raise IndexError(f"sample {wanted}: there are {len(values)}, from 0 on")
        return wanted

    def _trace_number(self, number: SupportsIndex) -> int:
        wanted, count = operator.index(number), len(self.headers)
        if not 0 <= wanted < count:
            raise IndexError(f"trace {wanted}: there are {count}, from 0 on")
        return wanted

    @cached_property
    def _place_of_trace(self) -> NDArray[np.intp]:
        numbers = self.file["segy/trace"][()].ravel()
        places = np.flatnonzero((numbers >= 0) & (numbers < len(self.headers)))
        found = np.zeros(len(self.headers), np.intp)
        found[numbers[places]] = places
        return found

    def _corners(self, points: ArrayLike, xy: bool) -> NDArray[np.float64]:
        if xy:
            inlines, crosslines = self.shape[:2]
            return self._ground.places(points, (inlines, crosslines))
        names = ("inline", "crossline")
        first, second = ((name, self.axes[name]) for name in names)
        return _places.on_axes(points, (first, second))

    @cached_property
    def _ground(self) -> _places.Ground:
        return _places.Ground(self.x, self.y)

    def _several_lists(self, selected: list[Any], lists: list[int], out: _Array | None) -> _Array:
        """Reads where several axes have lists of places, of which one read takes one: the longest."""
        lengths = [_length(part, size) for part, size in zip(selected, self.shape, strict=True)]
        if out is None:
            out = np.empty([length for length in lengths if length is not None], self.data.dtype)
        longest = max(lists, key=lambda axis: len(selected[axis]))
        others = [axis for axis in lists if axis != longest]
        reads, parts = [], []
        for at in itertools.product(*(range(len(selected[axis])) for axis in others)):
            read = list(selected)
            part: list[Any] = [slice(None)] * len(selected)
            for axis, place in zip(others, at, strict=True):
                read[axis] = int(selected[axis][place])
                part[axis] = place
            reads.append(tuple(read))
            parts.append(out[tuple(one for one, length in zip(part, lengths, strict=True) if length is not None)])
        self.data.read_many(reads, out=parts)
        return out


def _length(part: Any, size: int) -> int | None:
    """How long a selected axis is; None where it is gone."""
    if isinstance(part, slice):
        return len(range(*part.indices(size)))
    return len(part) if isinstance(part, np.ndarray) else None


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array
