"""Surveys as datasets of xarray."""

import os
from typing import TYPE_CHECKING, Any

from .._optional import needed_by
from . import _places
from ._text import text_of

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

    from ._survey import Survey

_accessors: list[type] = []


def register_xarray() -> None:
    """Gives every dataset of xarray the accessor `ds.segy`.

    The datasets of `Survey.to_xarray` have the accessor anyway. The accessor works on datasets with the names
    of a survey, such as `xarray.open_dataset` of the HDF5 file.

    Raises:
        ImportError: xarray is not installed.

    Example:
        >>> hs.segy.register_xarray()
    """
    if _accessors:
        return
    with needed_by("register_xarray()"):
        import xarray

    register: Any = xarray.register_dataset_accessor
    _accessors.append(register("segy")(Accessor))


class Accessor:
    """The accessor `ds.segy` of a dataset of xarray: lines and slices of a survey by their numbers.

    Example:
        >>> ds = survey.to_xarray()
        >>> ds.segy.inline(1201).sizes["crossline"]
        4
    """

    def __init__(self, dataset: "xarray.Dataset") -> None:
        self._dataset = dataset

    def inline(self, number: _places.Number) -> "xarray.DataArray":
        """Returns an inline.

        Args:
            number: The number of the inline.

        Raises:
            ValueError: The survey has no inline of this number, or no inlines.

        Example:
            >>> float(survey.to_xarray().segy.inline(1200)[0, 1])
            1.0
        """
        return self._at("inline", number)

    def crossline(self, number: _places.Number) -> "xarray.DataArray":
        """Returns a crossline.

        Args:
            number: The number of the crossline.

        Raises:
            ValueError: The survey has no crossline of this number, or no crosslines.

        Example:
            >>> survey.to_xarray().segy.crossline(391).shape
            (3, 5)
        """
        return self._at("crossline", number)

    def offset(self, number: _places.Number) -> "xarray.DataArray":
        """Returns the traces of an offset.

        Args:
            number: The offset.

        Raises:
            ValueError: The survey has no traces of this offset, or no offsets.

        Example:
            >>> survey.to_xarray().segy.offset(100)
            Traceback (most recent call last):
            ...
            ValueError: there is no axis 'offset': there are inline, crossline, twt
        """
        return self._at("offset", number)

    def depth_slice(self, value: float) -> "xarray.DataArray":
        """Returns the samples nearest to a time or depth.

        Args:
            value: The time or depth, in the unit of the axis.

        Raises:
            ValueError: The time or depth is beyond the ends of the axis.

        Example:
            >>> survey.to_xarray().segy.depth_slice(8).shape
            (3, 4)
        """
        data, name = self._data(), self._sample_axis()
        values = self._dataset[name]
        place = _places.nearest(name, values.to_numpy(), value, str(values.attrs.get("units", "")))
        return data.isel({name: place})

    def plot(
        self,
        *,
        inline: _places.Number | None = None,
        crossline: _places.Number | None = None,
        offset: _places.Number | None = None,
        slice: float | None = None,
        ax: "Axes | None" = None,
        clip: float = 99.0,
        cmap: str = "RdBu",
        colorbar: bool = True,
    ) -> "Axes":
        """Draws a plane. The arguments are those of `Survey.plot`.

        Example:
            >>> survey.to_xarray().segy.plot(inline=1200, colorbar=False).get_title()
            'inline 1200'
        """
        from . import _plot

        data, samples = self._data(), self._sample_axis()
        named = {"inline": inline, "crossline": crossline, "offset": offset}
        axes = {str(name): data[name].to_numpy() for name in data.dims}
        left = _plot.two_left({**named, samples: slice}, axes, "dataset")
        title = []
        for name, number in named.items():
            if number is not None:
                data = data.isel({name: _places.place_of(name, axes[name], number)})
                title.append(f"{name} {number}")
        if slice is not None:
            unit = str(data[samples].attrs.get("units", ""))
            data = data.isel({samples: _places.nearest(samples, axes[samples], slice, unit)})
            title.append(f"{samples} {float(data[samples]):g} {unit}")
        first, second = (
            _plot.Side(_plot.label(name, str(data[name].attrs.get("units", ""))), axes[name]) for name in left
        )
        values = data.transpose(*left).to_numpy()
        is_section = samples in left
        if is_section:
            plane = _plot.Plane(values, first, second, title=", ".join(title), is_section=True)
        else:
            plane = _plot.Plane(values.T, second, first, title=", ".join(title), is_section=False)
        return _plot.draw(plane, ax, clip, cmap, colorbar)

    def _data(self) -> "xarray.DataArray":
        if "data" not in self._dataset:
            raise ValueError("the dataset holds no survey: it has no variable 'data'")
        return self._dataset["data"]

    def _sample_axis(self) -> str:
        name = str(self._data().dims[-1])
        for known in ("twt", "depth"):
            if known in self._data().dims:
                name = known
        return name

    def _at(self, name: str, number: _places.Number) -> "xarray.DataArray":
        data = self._data()
        if name not in data.dims:
            raise ValueError(f"there is no axis {name!r}: there are {', '.join(map(str, data.dims))}")
        return data.isel({name: _places.place_of(name, data[name].to_numpy(), number)})


def dataset_of(survey: "Survey", chunks: Any) -> "xarray.Dataset":
    """Returns the survey as a dataset; see `Survey.to_xarray`."""
    with needed_by("Survey.to_xarray"):
        import xarray

        from ._lazy import lazy

    register_xarray()
    dims = tuple(survey.axes)
    ground = dims[: survey._ground_axes]
    coordinates: dict[str, Any] = {}
    for name, values in survey.axes.items():
        attrs = {"long_name": text_of(survey.file[name].attrs.get("long_name", name))}
        if name in survey.units:
            attrs["units"] = survey.units[name]
        coordinates[name] = xarray.Variable((name,), values, attrs)
    for name, along in (("cdp_x", ground), ("cdp_y", ground), ("live", dims[:-1])):
        dataset = survey.file[name]
        kept = {key: text_of(dataset.attrs[key]) for key in ("long_name", "units") if key in dataset.attrs}
        coordinates[name] = xarray.Variable(along, lazy(dataset), kept)
    encoding = {}
    if survey.data.chunks is not None:
        encoding["preferred_chunks"] = dict(zip(dims, survey.data.chunks, strict=True))
    data = xarray.Variable(dims, lazy(survey.data), {"long_name": "seismic samples"}, encoding)
    attrs = {"kind": survey.kind, "text": survey.text}
    attrs.update({f"source_{name}": value for name, value in survey.source.items()})
    made = xarray.Dataset({"data": data}, coordinates, attrs)
    if chunks is None:
        return made
    if isinstance(chunks, dict) and not chunks:
        chunks = encoding.get("preferred_chunks", {})
    return made.assign(data=made["data"].chunk(chunks, token=_token(survey)))


def _token(survey: "Survey") -> str:
    """Returns a token of the samples for dask: the name of the file, and its time of modification."""
    name = survey.file.filename
    changed = os.stat(name).st_mtime_ns if os.path.exists(name) else id(survey)
    return f"hyperslab-{os.path.abspath(name)}-{changed}"
