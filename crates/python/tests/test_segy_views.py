"""Reads a survey: parts by line numbers, polylines, xarray datasets and plots; also with other programs."""

import subprocess
import sys

import h5py
import matplotlib
import numpy as np
import pytest
import xarray
from segy_files import CROSSLINE, INLINE, OFFSET, SCALAR, X, Y, grid, laid_out, segy, some_values
from support import hs

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (after the backend is chosen)

INLINES, CROSSLINES = np.arange(10, 24, 2), np.arange(100, 109)
NUMBERS = grid(INLINES, CROSSLINES)
GONE = 17
"""The number of the missing trace: inline 12, crossline 108."""
KEPT = np.delete(NUMBERS, GONE, axis=0)
SAMPLES = some_values(5, (len(KEPT), 30))
VOLUME = laid_out(KEPT, SAMPLES, np.nan)[0]


def at(inline, crossline):
    """Returns the coordinates of a trace: 25 m per inline, 12.5 m per crossline, rotated by 30 degrees."""
    cosine, sine = np.cos(np.pi / 6), np.sin(np.pi / 6)
    along, across = 25.0 * (inline - 10), 12.5 * (crossline - 100)
    return 450_000 + cosine * along - sine * across, 6_780_000 + sine * along + cosine * across


@pytest.fixture(scope="module")
def cube(tmp_path_factory):
    """Ingests a volume with one trace missing."""
    directory = tmp_path_factory.mktemp("views")
    x, y = at(KEPT[:, 0], KEPT[:, 1])
    fields = {
        INLINE: KEPT[:, 0],
        CROSSLINE: KEPT[:, 1],
        X: np.rint(100 * x).astype(int),
        Y: np.rint(100 * y).astype(int),
        SCALAR: -100,
    }
    (directory / "a.sgy").write_bytes(segy(SAMPLES, fields))
    hs.segy.ingest(directory / "a.sgy", directory / "a.h5", chunks=(3, 4, 7), compression="gzip")
    return directory / "a.h5"


@pytest.fixture
def survey(cube):
    with hs.segy.open(cube) as survey:
        yield survey


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_opening_the_segy_package_does_not_import_optional_libraries():
    code = "import sys, hyperslab as hs; hs.segy.open; print([m for m in ('xarray', 'dask', 'matplotlib', 'pandas') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_a_survey_has_a_kind_a_shape_units_and_a_repr(survey):
    assert survey.kind == "volume" and survey.shape == (7, 9, 30)
    assert survey.units == {"twt": "ms", "cdp_x": "m", "cdp_y": "m"}
    assert repr(survey) == "<volume of float32: inline 10 to 22, crossline 100 to 108, twt 0 to 116 ms>"
    assert survey.text == "C 1 A SURVEY"
    assert survey.live.sum() == 62 and not survey.live[1, 8]
    with pytest.raises(ValueError):
        survey.live[0, 0] = False
    survey.close()
    assert repr(survey) == "<closed survey>"
    with pytest.raises(hs.ClosedError):
        survey.inline(10)


@pytest.mark.parametrize("threads", [1, 4])
def test_reads_fill_the_array_of_the_caller(survey, threads):
    before = hs.get_threads()
    hs.set_threads(threads)
    try:
        out = np.zeros((18, 60), "f8")[::2, ::2]
        assert survey.inline(14, out=out) is out
        np.testing.assert_array_equal(out, VOLUME[2])
        out = np.zeros((7, 30), "f4")
        np.testing.assert_array_equal(survey.crossline(103, out=out), VOLUME[:, 3])
        out = np.zeros((9, 7), "f4").T
        assert survey.depth_slice(40.0, out=out) is out
        np.testing.assert_array_equal(out, VOLUME[..., 10])
        out = np.zeros(30, "f4")
        np.testing.assert_array_equal(survey.trace(20, out=out), SAMPLES[20])
        out = np.zeros((2, 3, 2), "f4")
        survey.cube(inline=[10, 22], crossline=[100, 104, 108], samples=[0, 116], out=out)
        np.testing.assert_array_equal(out, VOLUME[np.ix_([0, 6], [0, 4, 8], [0, 29])])
    finally:
        hs.set_threads(before)
    with pytest.raises(TypeError):
        survey.inline(14, out=np.zeros((9, 31), "f4"))


def test_a_depth_slice_is_the_nearest_sample_within_the_range(survey):
    for value, place in ((0, 0), (1.9, 0), (2.1, 1), (115.0, 29), (116, 29)):
        np.testing.assert_array_equal(survey.depth_slice(value), VOLUME[..., place])
    for value in (-0.1, 116.1, np.nan, np.inf):
        with pytest.raises(ValueError, match="samples lie from 0 to 116 ms"):
            survey.depth_slice(value)
    for place in (-1, 30):
        with pytest.raises(IndexError, match="there are 30"):
            survey.depth_slice(place, index=True)
    with pytest.raises(TypeError):
        survey.depth_slice(1.5, index=True)


def test_the_error_for_a_missing_line_number_lists_the_existing_numbers(survey):
    with pytest.raises(ValueError, match="inline 11: there are 10 to 22, in steps of 2"):
        survey.inline(11)
    with pytest.raises(ValueError, match="crossline 99: there are 100 to 108"):
        survey.crossline(99)
    with pytest.raises(ValueError, match="no axis 'offset': this volume has inline, crossline, twt"):
        survey.offset(100)
    with pytest.raises(ValueError, match="no axis 'cdp'"):
        survey.cube(cdp=5)
    with pytest.raises(ValueError, match="rise"):
        survey.cube(inline=[12, 10])
    with pytest.raises(ValueError, match="forward"):
        survey.cube(inline=slice(None, None, -1))
    for trace in (-1, 62):
        with pytest.raises(IndexError, match="there are 62"):
            survey.trace(trace)
        with pytest.raises(IndexError):
            survey.trace_header(trace)


SELECTIONS = [
    {},
    {"inline": 12},
    {"inline": slice(12, 16), "crossline": slice(103, None)},
    {"inline": slice(11, 15), "samples": slice(3.0, 21)},
    {"inline": slice(None, None, 2), "crossline": slice(101, 107, 3)},
    {"inline": slice(50, 60)},
    {"inline": [10, 16, 22]},
    {"crossline": np.array([100, 108]), "inline": 14},
    {"inline": [10, 16], "crossline": [101, 102, 107]},
    {"inline": [10, 16], "crossline": [101, 102, 107], "samples": [0, 8, 112, 116]},
    {"inline": 10, "crossline": 101, "samples": 8},
]


@pytest.mark.parametrize("selection", SELECTIONS, ids=str)
def test_a_part_selected_by_line_numbers_equals_the_selection_of_xarray(survey, selection):
    array = xarray.DataArray(VOLUME, dims=list(survey.axes), coords=survey.axes)
    named = {"twt" if name == "samples" else name: wanted for name, wanted in selection.items()}
    np.testing.assert_array_equal(survey.cube(**selection), array.sel(named))


def test_a_polyline_takes_the_nearest_traces(survey):
    values, numbers = survey.polyline([(10, 100), (22, 100), (22, 108)])
    assert numbers.tolist() == [[i, 100] for i in INLINES] + [[22, x] for x in CROSSLINES[1:]]
    np.testing.assert_array_equal(values[:7], VOLUME[:, 0])
    np.testing.assert_array_equal(values[7:], VOLUME[6, 1:])
    values, numbers = survey.polyline([(10, 100), (22, 108)], step=0.7)
    assert len(values) == 15 and numbers[0].tolist() == [10, 100] and numbers[-1].tolist() == [22, 108]
    for line, (inline, crossline) in zip(values, numbers, strict=True):
        np.testing.assert_array_equal(line, VOLUME[(inline - 10) // 2, crossline - 100])
    on_ground = survey.polyline([at(10, 100), at(22, 108)], xy=True, step=0.7)
    np.testing.assert_array_equal(on_ground[1], numbers)
    np.testing.assert_array_equal(on_ground[0], values)
    for points, said in (
        ([(10, 100)], "two points"),
        ([(10, 100), (24, 100)], "inline 24: there are 10 to 22"),
        ([10, 100], "pairs"),
        ([(10, 100), (np.nan, 100)], "finite"),
    ):
        with pytest.raises(ValueError, match=said):
            survey.polyline(points)
    with pytest.raises(ValueError, match="outside the survey"):
        survey.polyline([at(10, 100), at(30, 100)], xy=True)
    with pytest.raises(ValueError, match="step"):
        survey.polyline([(10, 100), (22, 108)], step=0)


def test_xarray_reads_lazily(survey):
    ds = survey.to_xarray()
    assert ds["data"].dims == ("inline", "crossline", "twt") and not ds["data"].variable._in_memory
    assert set(ds.coords) == {"inline", "crossline", "twt", "cdp_x", "cdp_y", "live"}
    assert ds["twt"].attrs["units"] == "ms" and ds["cdp_x"].dims == ("inline", "crossline")
    assert ds.attrs["kind"] == "volume" and ds.attrs["source_name"] == "a.sgy"
    part = ds["data"].isel(inline=slice(None, None, -2), crossline=[5, 1, 1], twt=3)
    assert not part.variable._in_memory
    np.testing.assert_array_equal(part, VOLUME[::-2][:, [5, 1, 1], 3])
    np.testing.assert_array_equal(ds["data"].sel(inline=12, crossline=slice(101, 103)), VOLUME[1, 1:4])
    np.testing.assert_array_equal(ds["cdp_x"], survey.x)
    np.testing.assert_array_equal(ds["data"], VOLUME)


@pytest.mark.parametrize("chunks", ["auto", {}, {"inline": 2}, 4])
def test_dask_computes_on_a_survey(survey, chunks):
    ds = survey.to_xarray(chunks=chunks)
    assert ds["data"].chunks is not None
    if chunks == {}:
        assert ds["data"].data.chunksize == (3, 4, 7)
    np.testing.assert_array_equal(ds["data"].compute(), VOLUME)
    np.testing.assert_allclose(ds["data"].mean(), np.nanmean(VOLUME.astype("f8")), rtol=1e-5)
    assert ds["data"].data.name == survey.to_xarray(chunks=chunks)["data"].data.name, (
        "the same survey has the same name"
    )


def test_the_xarray_accessor_has_lines_slices_and_plots(survey):
    ds = survey.to_xarray()
    np.testing.assert_array_equal(ds.segy.inline(12), VOLUME[1])
    np.testing.assert_array_equal(ds.segy.crossline(105), VOLUME[:, 5])
    np.testing.assert_array_equal(ds.segy.depth_slice(41.0), VOLUME[..., 10])
    for wrong in (
        lambda: ds.segy.inline(13),
        lambda: ds.segy.depth_slice(-5),
        lambda: ds.segy.offset(1),
        lambda: ds.segy.plot(inline=12, crossline=100),
        lambda: xarray.Dataset().segy.inline(1),
    ):
        with pytest.raises(ValueError):
            wrong()
    ours, theirs = survey.plot(inline=12), ds.segy.plot(inline=12)
    assert ours.images[0].get_extent() == theirs.images[0].get_extent()
    np.testing.assert_array_equal(ours.images[0].get_array(), theirs.images[0].get_array())
    assert ours.get_ylabel() == theirs.get_ylabel() and ours.get_title() == theirs.get_title()
    assert ds.segy.plot(slice=41.0).get_title() == survey.plot(slice=41.0).get_title() == "twt 40 ms"


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
def test_xarray_opens_the_file_with_its_netcdf_engines(cube, engine):
    hs.segy.register_xarray()
    with xarray.open_dataset(cube, engine=engine) as ds:
        assert ds["data"].dims == ("inline", "crossline", "twt")
        assert {"inline", "crossline", "twt", "cdp_x", "cdp_y"} <= set(ds.coords)
        np.testing.assert_array_equal(ds["data"], VOLUME)
        np.testing.assert_array_equal(ds["crossline"], CROSSLINES)
        np.testing.assert_allclose(ds["cdp_y"][0], at(10, CROSSLINES)[1], atol=0.01)
        assert ds["twt"].attrs["units"] == "ms" and np.isnan(ds["data"].encoding["_FillValue"])
        np.testing.assert_array_equal(ds.segy.inline(12), VOLUME[1])
    options = {"phony_dims": "sort"} if engine == "h5netcdf" else {}
    with xarray.open_dataset(cube, engine=engine, group="segy", **options) as ds:
        assert ds["trace"].dims == ("inline", "crossline") and ds.attrs["kind"] == "volume"


def test_h5py_reads_the_file_without_plugins(cube, survey):
    with h5py.File(cube) as file:
        assert [scales.keys() for scales in file["data"].dims] == [["inline"], ["crossline"], ["twt"]]
        np.testing.assert_array_equal(file["data"], VOLUME)
        np.testing.assert_array_equal(file["segy/trace_header"]["inline"], KEPT[:, 0])
        np.testing.assert_array_equal(file["segy/trace"][()] >= 0, survey.live)
    built_in = {1, 2, 3}
    used = []
    survey.file.visititems(lambda name, item: used.extend(item.filter_ids) if isinstance(item, hs.Dataset) else None)
    assert used and set(used) <= built_in


def test_a_plotted_section_has_samples_downwards_and_line_numbers(survey):
    ax = survey.plot(inline=12, clip=90)
    (image,) = ax.images
    assert image.get_extent() == [99.5, 108.5, -2.0, 118.0]
    assert ax.get_ylim() == (118.0, -2.0) and ax.get_xlim() == (99.5, 108.5)
    assert ax.get_xlabel() == "crossline" and ax.get_ylabel() == "twt (ms)" and ax.get_title() == "inline 12"
    drawn = np.asarray(image.get_array())
    np.testing.assert_array_equal(drawn[:, :8], VOLUME[1].T[:, :8])
    limit = np.nanpercentile(np.abs(VOLUME[1].astype("f8")), 90)
    np.testing.assert_allclose(image.get_clim(), (-limit, limit))
    assert image.get_cmap().name == "RdBu" and len(ax.figure.axes) == 2, "the plot and its colour bar"


def test_a_plotted_slice_has_lines_on_its_axes_and_the_aspect_of_the_ground(survey):
    ax = survey.plot(slice=40.0, colorbar=False, cmap="gray")
    (image,) = ax.images
    assert image.get_extent() == [99.5, 108.5, 9.0, 23.0] and len(ax.figure.axes) == 1
    assert ax.get_xlabel() == "crossline" and ax.get_ylabel() == "inline" and ax.get_title() == "twt 40 ms"
    np.testing.assert_array_equal(np.asarray(image.get_array())[0], VOLUME[0, :, 10])
    # Inlines are 25 m apart, and crosslines 12.5 m.
    assert abs(ax.get_aspect() - 2.0) < 0.01


def test_a_plot_is_drawn_on_the_given_axes(survey):
    _, (left, right) = plt.subplots(1, 2)
    assert survey.plot(crossline=104, ax=right) is right
    assert right.images and not left.images
    ax = survey.plot(polyline=[(10, 100), (22, 104), (14, 108)])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["10/100", "22/104", "14/108"]
    ax.figure.canvas.draw()


def test_a_plot_needs_exactly_two_free_axes(survey):
    for wrong, said in (
        ({}, "fix more"),
        ({"inline": 12, "crossline": 101}, "fix fewer axes: a figure needs two axes, not 1"),
        ({"offset": 3}, "no axis 'offset'"),
        ({"inline": 11}, "there are 10 to 22"),
        ({"slice": 500.0}, "samples lie"),
        ({"inline": 12, "clip": 0}, "percentile"),
        ({"inline": 12, "polyline": [(10, 100), (12, 100)]}, "by itself"),
    ):
        with pytest.raises(ValueError, match=said):
            survey.plot(**wrong)


def test_missing_lines_leave_a_gap_in_the_plot(tmp_path):
    numbers = grid([1, 2, 3, 7, 8], range(4))
    image = segy(some_values(3, (20, 6)), {INLINE: numbers[:, 0], CROSSLINE: numbers[:, 1]}, code=3)
    (tmp_path / "a.sgy").write_bytes(image)
    hs.segy.ingest(tmp_path / "a.sgy", tmp_path / "a.h5")
    with hs.segy.open(tmp_path / "a.h5") as survey:
        ax = survey.plot(crossline=2)
        (mesh,) = ax.collections
        np.testing.assert_array_equal(mesh.get_coordinates()[0, :, 0], [0.5, 1.5, 2.5, 5, 7.5, 8.5])
        assert ax.get_ylim()[0] > ax.get_ylim()[1]
        # Without coordinates the aspect is that of the line numbers.
        assert survey.plot(slice=8.0).get_aspect() == 1.0
        with pytest.raises(ValueError, match="no plane"):
            survey.polyline([(0, 0), (1, 1)], xy=True)


def test_prestack_gathers_and_lines_are_drawn(tmp_path):
    numbers = np.array([(i, x, o) for i in (1, 2, 3) for x in (5, 6) for o in (100, 200, 300)])
    fields = {INLINE: numbers[:, 0], CROSSLINE: numbers[:, 1], OFFSET: numbers[:, 2]}
    (tmp_path / "a.sgy").write_bytes(segy(some_values(5, (18, 6)), fields))
    (tmp_path / "b.sgy").write_bytes(segy(np.zeros((18, 6), "f4"), {(21, "i4"): np.arange(18)}))
    for name in "ab":
        hs.segy.ingest(tmp_path / f"{name}.sgy", tmp_path / f"{name}.h5")
    with hs.segy.open(tmp_path / "a.h5") as survey:
        assert survey.plot(inline=2, crossline=5).get_xlabel() == "offset"
        assert survey.plot(inline=2, offset=300).get_title() == "inline 2, offset 300"
        assert survey.plot(offset=300, slice=4.0).get_ylabel() == "inline"
        assert survey.plot(polyline=[(1, 5), (3, 6)], offset=200).get_title() == "polyline, offset 200"
        with pytest.raises(ValueError, match="name an offset"):
            survey.plot(polyline=[(1, 5), (3, 6)])
        assert survey.to_xarray()["data"].dims == ("inline", "crossline", "offset", "twt")
    with hs.segy.open(tmp_path / "b.h5") as survey:
        ax = survey.plot()
        assert ax.get_xlabel() == "cdp" and ax.images[0].get_clim() == (-1.0, 1.0)
        assert survey.to_xarray()["cdp_x"].dims == ("cdp",)
