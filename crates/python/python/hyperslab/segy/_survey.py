"""Surveys in HDF5, and reading parts of them."""

import itertools
import operator
from collections.abc import Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import FormatError
from .._native import Dataset, File, _segy_describe
from . import _places
from ._text import text_of

if TYPE_CHECKING:
    import os

    import xarray
    from matplotlib.axes import Axes

_Array: TypeAlias = NDArray[Any]
_Wanted: TypeAlias = _places.Number | slice | Sequence[float] | _Array | None
_Times: TypeAlias = float | slice | Sequence[float] | _Array | None


def open(path: "str | bytes | os.PathLike[str] | os.PathLike[bytes]", mode: str = "r") -> "Survey":
    """Opens a survey that `ingest` made.

    Args:
        path: The path of the HDF5 file.
        mode: "r" for reading, or "r+" for changing samples.

    Raises:
        FormatError: The file holds no survey, its ingest was interrupted, or the file is damaged.
        OSError: The system refuses to open the file.

    Example:
        >>> with hs.segy.open("cube.h5") as survey:
        ...     survey
        <volume of float32: inline 1200 to 1202, crossline 390 to 393, twt 0 to 16 ms>
    """
    try:
        file = File(path, mode)
    except FormatError as error:
        if "not an HDF5 file" not in str(error):
            raise
        raise FormatError(f"{error}; make one of a SEG-Y file with hs.segy.ingest") from None
    try:
        return Survey(file)
    except BaseException:
        file.close()
        raise


class Survey:
    """A seismic survey in an open file. The end of a `with` block closes the file.

    The dataset `data` holds the samples. Its axes are inline and crossline ("volume"), the same and offset
    ("prestack"), cdp ("line"), cdp and offset ("prestack line") or trace ("traces"), and twt or depth as the
    last. Places without a trace hold NaN for floats and 0 for integers. Several threads read and decode
    chunks (see `hyperslab.set_threads`). The GIL is released.

    Methods with an argument `out` fill this array and return it. The array has the shape of the result.

    Args:
        file: The open HDF5 file.

    Raises:
        FormatError: The file holds no survey, or a survey that is not complete.

    Example:
        >>> survey
        <volume of float32: inline 1200 to 1202, crossline 390 to 393, twt 0 to 16 ms>
        >>> survey.axes["inline"], survey.units["twt"]
        (array([1200, 1201, 1202]), 'ms')
    """

    def __init__(self, file: File) -> None:
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
        """The numbers of lines, offsets or traces along each axis, in increasing order, and the times or
        depths in their unit. The numbers are float64 if their header field holds floats, else int64."""
        length = text_of(file["cdp_x"].attrs.get("units", "m"))
        self.units: dict[str, str] = {self.sample_axis: said["sample_unit"], "cdp_x": length, "cdp_y": length}
        """The units of the axis of samples and of coordinates: "ms", "m" or "ft"; for coordinates also
        "degrees", "arcsec" or "DDDMMSS.ss"."""
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
        """Facts about the SEG-Y file: name, bytes, revision ("1.0"), sample_format, byte_order,
        headers_per_trace, padded, and geometry_fields: the header fields that placed the traces, such as
        "inline 189:i4, crossline 193:i4, x 181:i4, y 185:i4", or None."""
        self._ground_axes: int = said["ground_axes"]

    def close(self) -> None:
        """Closes the file. Arrays that were read stay valid.

        Example:
            >>> survey.close()
            >>> survey
            <closed survey>
        """
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

    def _repr_html_(self) -> str:
        from .._html import of_survey

        return of_survey(self)

    def __repr__(self) -> str:
        def span(name: str) -> str:
            values = self.axes[name]
            return f"{name} {values[0]:.15g} to {values[-1]:.15g} {self.units.get(name, '')}".rstrip()

        if not self.file:
            return "<closed survey>"
        return f"<{self.kind} of {self.data.dtype}: {', '.join(span(name) for name in self.axes)}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes, with that of the samples last.

        Example:
            >>> survey.shape
            (3, 4, 5)
        """
        return tuple(len(values) for values in self.axes.values())

    @property
    def headers(self) -> Dataset:
        """The header of each trace, in the order of the SEG-Y file.

        The property is a dataset of records with the fields of the standard.

        Example:
            >>> survey.headers[5]["crossline"]
            np.int32(391)
        """
        found: Dataset = self.file["segy/trace_header"]
        return found

    @cached_property
    def live(self) -> NDArray[np.bool_]:
        """Whether each place has a trace: bools along all axes except that of the samples.

        Example:
            >>> survey.live.all()
            np.True_
        """
        found: NDArray[np.bool_] = _read_only(self.file["live"][()] != 0)
        return found

    @cached_property
    def x(self) -> NDArray[np.float64]:
        """The easting or the longitude of each place, in the unit `units["cdp_x"]`.

        The scalar of the trace header is applied. Places without a trace hold NaN.

        Example:
            >>> survey.x[:, 0]
            array([30000., 30025., 30050.])
        """
        found: NDArray[np.float64] = _read_only(self.file["cdp_x"][()])
        return found

    @cached_property
    def y(self) -> NDArray[np.float64]:
        """The northing or the latitude of each place, in the unit `units["cdp_y"]`.

        The scalar of the trace header is applied. Places without a trace hold NaN.

        Example:
            >>> survey.y[0]
            array([9750., 9775., 9800., 9825.])
        """
        found: NDArray[np.float64] = _read_only(self.file["cdp_y"][()])
        return found

    def inline(self, number: _places.Number, out: _Array | None = None) -> _Array:
        """Returns an inline: an array (crosslines, samples), or (crosslines, offsets, samples).

        Args:
            number: The number of the inline.
            out: An array that receives the samples.

        Raises:
            ValueError: The survey has no inline of this number, or no inlines.

        Example:
            >>> survey.inline(1200)[0]
            array([0., 1., 2., 3., 4.], dtype=float32)
        """
        return self._plane("inline", number, out)

    def crossline(self, number: _places.Number, out: _Array | None = None) -> _Array:
        """Returns a crossline: an array (inlines, samples), or (inlines, offsets, samples).

        Args:
            number: The number of the crossline.
            out: An array that receives the samples.

        Raises:
            ValueError: The survey has no crossline of this number, or no crosslines.

        Example:
            >>> survey.crossline(391).shape
            (3, 5)
        """
        return self._plane("crossline", number, out)

    def offset(self, number: _places.Number, out: _Array | None = None) -> _Array:
        """Returns the traces of an offset: an array (inlines, crosslines, samples), or (cdps, samples).

        Args:
            number: The offset, in the unit of the trace headers.
            out: An array that receives the samples.

        Raises:
            ValueError: The survey has no traces of this offset, or no offsets.

        Example:
            >>> survey.offset(100)
            Traceback (most recent call last):
            ...
            ValueError: there is no axis 'offset': this volume has inline, crossline, twt
        """
        return self._plane("offset", number, out)

    def depth_slice(self, value: float, out: _Array | None = None, *, index: bool = False) -> _Array:
        """Returns the samples nearest to a time or depth: an array (inlines, crosslines), or with offsets.

        Args:
            value: The time or depth in the unit of the axis: ms, m or ft. With `index`, the number of the
                sample.
            out: An array that receives the samples.
            index: Whether `value` is the number of a sample, from 0.

        Raises:
            ValueError: The time or depth is beyond the ends of the axis.
            IndexError: The survey has no sample of this number.

        Example:
            >>> survey.depth_slice(8)[0]
            array([ 2.,  7., 12., 17.], dtype=float32)
        """
        return self.data.read((..., self._sample(value, index)), out=out)

    def trace(self, number: SupportsIndex, out: _Array | None = None) -> _Array:
        """Returns the samples of a trace.

        If traces of several lengths were padded, the samples behind the end of the trace are NaN or 0.

        Args:
            number: The number of the trace in the SEG-Y file, from 0.
            out: An array that receives the samples.

        Raises:
            IndexError: The survey has no trace of this number.

        Example:
            >>> survey.trace(1)
            array([5., 6., 7., 8., 9.], dtype=float32)
        """
        wanted = self._trace_number(number)
        place = np.unravel_index(self._place_of_trace[wanted], self.shape[:-1])
        return self.data.read(tuple(int(at) for at in place), out=out)

    def trace_header(self, number: SupportsIndex) -> np.void:
        """Returns the header of a trace: a record with the fields of the standard.

        Args:
            number: The number of the trace in the SEG-Y file, from 0.

        Raises:
            IndexError: The survey has no trace of this number.

        Example:
            >>> survey.trace_header(1)["inline"]
            np.int32(1200)
        """
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
        """Returns a part of the survey, by the numbers on its axes.

        An axis without an argument is read whole.

        Args:
            inline, crossline, offset, cdp, trace: A number, which removes the axis from the result; a slice
                of numbers, which includes both ends, as with xarray, and whose step counts places; or a list
                of rising numbers.
            samples: The same in the unit of the axis. A single time or depth selects the nearest sample.
            out: An array that receives the samples.

        Returns:
            An array along the axes of the survey.

        Raises:
            ValueError: The survey has no such axis or number.

        Example:
            >>> survey.cube(inline=slice(1200, 1201), crossline=392, samples=[0, 16])
            array([[10., 14.],
                   [30., 34.]], dtype=float32)
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

    def polyline(self, points: ArrayLike, xy: bool = False, step: float = 1.0) -> tuple[_Array, _Array]:
        """Returns the traces along a line through points, each at the nearest place.

        Args:
            points: Pairs (inline, crossline). With `xy`, pairs of coordinates (x, y), which the straight map
                that fits all traces best takes to places.
            xy: Whether `points` are coordinates.
            step: The distance between two traces, in places. It is rounded so that it divides the line
                evenly. Both ends are on the line.

        Returns:
            The samples, an array (traces, samples) or (traces, offsets, samples); and the pair (inline,
            crossline) of each trace.

        Raises:
            ValueError: A point is outside the survey, or the survey has no inlines and crosslines.

        Example:
            >>> samples, numbers = survey.polyline([(1200, 390), (1202, 392)])
            >>> numbers.tolist()
            [[1200, 390], [1201, 391], [1201, 391], [1202, 392]]
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
        inline: _places.Number | None = None,
        crossline: _places.Number | None = None,
        offset: _places.Number | None = None,
        slice: float | None = None,
        polyline: ArrayLike | None = None,
        ax: "Axes | None" = None,
        clip: float = 99.0,
        cmap: str = "RdBu",
        colorbar: bool = True,
    ) -> "Axes":
        """Draws a plane with matplotlib, with samples downward.

        The arguments select the plane. Two axes must be left: a 2-D line needs no argument.

        Args:
            inline, crossline, offset: The number on the axis.
            slice: A time or depth.
            polyline: Points (inline, crossline).
            ax: The axes to draw on. None draws on a new figure.
            clip: The percentile of the magnitudes at which colours end, alike on both sides of 0.
            cmap: The name of a colour map.
            colorbar: Whether to draw a colour bar.

        Returns:
            The matplotlib axes.

        Raises:
            ValueError: The survey has no such number, or not two axes are left.
            ImportError: matplotlib is not installed (`pip install matplotlib`).

        Example:
            >>> survey.plot(inline=1200, colorbar=False).get_title()
            'inline 1200'
        """
        from . import _plot

        fixed = {"inline": inline, "crossline": crossline, "offset": offset}
        plane = _plot.plane_of(self, fixed, slice, polyline)
        return _plot.draw(plane, ax, clip, cmap, colorbar)

    def to_xarray(self, chunks: Any = None) -> "xarray.Dataset":
        """Returns the survey as an `xarray.Dataset`, which reads on access, while the survey is open.

        The variable `data` has the axes as coordinates, and `cdp_x`, `cdp_y` and `live` along the axes.
        `ds.segy` has the methods `inline`, `crossline`, `offset`, `depth_slice` and `plot`.

        Args:
            chunks: None for arrays without dask. Otherwise as for `xarray.open_dataset`: "auto", {} for the
                chunks of the file, or lengths such as {"inline": 64}.

        Raises:
            ImportError: xarray is not installed (`pip install xarray`), or with `chunks` dask.

        Example:
            >>> dict(survey.to_xarray().sizes)
            {'inline': 3, 'crossline': 4, 'twt': 5}
        """
        from . import _xarray

        return _xarray.dataset_of(self, chunks)

    def _axis(self, name: str) -> int:
        if name not in self.axes:
            raise ValueError(f"there is no axis {name!r}: this {self.kind} has {', '.join(self.axes)}")
        return list(self.axes).index(name)

    def _plane(self, name: str, number: _places.Number, out: _Array | None) -> _Array:
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
        """Reads a selection with lists on several axes. One read takes one list: the longest."""
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
    """Returns the length of a selected axis, or None if a number removes the axis."""
    if isinstance(part, slice):
        return len(range(*part.indices(size)))
    return len(part) if isinstance(part, np.ndarray) else None


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array
