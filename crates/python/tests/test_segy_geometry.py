"""The geometry of traces: volumes, prestack volumes and lines, in any order, with gaps, or without any."""

import numpy as np
import pytest
from segy_files import CDP, CROSSLINE, INLINE, OFFSET, X, Y, grid, laid_out, segy, some_values
from segy_surveys import assert_planes, brought
from support import hs

INLINES, CROSSLINES = range(20, 29, 2), range(300, 321, 3)


def orders():
    """Yields the name of each trace order, and the line numbers of the traces in that order."""
    shuffled = grid(INLINES, CROSSLINES)
    np.random.default_rng(3).shuffle(shuffled)
    yield "by inline", grid(INLINES, CROSSLINES)
    yield "by crossline", grid(INLINES, CROSSLINES, "crossline")
    yield "inlines fall", grid(INLINES[::-1], CROSSLINES)
    yield "both fall", grid(INLINES[::-1], CROSSLINES[::-1], "crossline")
    yield "zigzag", np.concatenate([grid([i], CROSSLINES[:: 1 - 2 * (n % 2)]) for n, i in enumerate(INLINES)])
    yield "random", shuffled
    yield "with gaps", shuffled[5:]
    yield "a line is missing", grid([20, 22, 26, 28], CROSSLINES)
    yield "one swapped", grid(INLINES, CROSSLINES)[[0, 1, 3, 2, *range(4, 35)]]
    yield "negative", grid(range(-3, 2), range(-7, 0))


ORDERS = dict(orders())


@pytest.mark.parametrize("memory", [1, 512 << 20])
@pytest.mark.parametrize("order", ORDERS)
def test_traces_in_any_order_are_placed_in_the_volume(tmp_path, order, memory):
    numbers = ORDERS[order]
    samples = some_values(5, (len(numbers), 17))
    image = segy(samples, {INLINE: numbers[:, 0], CROSSLINE: numbers[:, 1]})
    with brought(tmp_path, image, memory=memory, chunks=(2, 3, 5)) as survey:
        volume, axes = laid_out(numbers, samples, np.nan)
        assert survey.kind == "volume"
        assert_planes(survey, volume, axes)
        np.testing.assert_array_equal(survey.live, ~np.isnan(volume[..., 0]))
        np.testing.assert_array_equal(np.isnan(survey.x), ~survey.live)
        for trace in range(len(numbers)):
            np.testing.assert_array_equal(survey.trace(trace), samples[trace])
            assert tuple(survey.trace_header(trace)[["inline", "crossline"]]) == tuple(numbers[trace])


@pytest.mark.parametrize(
    "places, options",
    [
        (((9, "i4"), (21, "i4")), {}),
        (((5, "i4"), (21, "i4")), {}),
        (((221, "i2"), (17, "i4")), {"inline_byte": "221:i2", "crossline_byte": 17}),
        (((233, "u2"), (237, "f4")), {"inline_byte": "233:u2", "crossline_byte": "237:f4"}),
    ],
)
def test_line_numbers_are_read_from_the_fields_of_older_files_or_from_given_fields(tmp_path, places, options):
    numbers = grid(INLINES, CROSSLINES)
    samples = some_values(5, (len(numbers), 4))
    image = segy(samples, {place: numbers[:, axis] for axis, place in enumerate(places)})
    with brought(tmp_path, image, **options) as survey:
        assert_planes(survey, *laid_out(numbers, samples, np.nan))


@pytest.mark.parametrize("full", [True, False])
def test_a_prestack_volume_has_an_axis_of_offsets(tmp_path, full):
    numbers = np.array([(i, x, o) for i in (1, 2, 3) for x in (5, 6) for o in (100, 200, 300, 400)])
    if not full:
        numbers = np.delete(numbers, [3, 9, 10], axis=0)
    samples = some_values(5, (len(numbers), 6))
    fields = {
        INLINE: numbers[:, 0],
        CROSSLINE: numbers[:, 1],
        OFFSET: numbers[:, 2],
        X: 10 * numbers[:, 0],
        Y: numbers[:, 1],
    }
    with brought(tmp_path, segy(samples, fields), chunks=(1, 2, 3, 4)) as survey:
        assert survey.kind == "prestack" and list(survey.axes) == ["inline", "crossline", "offset", "twt"]
        assert_planes(survey, *laid_out(numbers, samples, np.nan))
        np.testing.assert_array_equal(survey.x, [[10, 10], [20, 20], [30, 30]])
        values, along = survey.polyline([(1, 5), (3, 6)])
        assert values.shape == (len(along), 4, 6)


def test_a_line_has_an_axis_of_common_depth_points(tmp_path):
    samples = some_values(5, (12, 6))
    with brought(tmp_path, segy(samples, {CDP: range(1000, 1012), X: 5, Y: 7})) as survey:
        assert survey.kind == "line" and list(survey.axes["cdp"]) == list(range(1000, 1012))
        np.testing.assert_array_equal(survey.cube(cdp=slice(1003, 1005)), samples[3:6])
        with pytest.raises(ValueError, match="no axis 'inline': this line has cdp, twt"):
            survey.inline(1)


def test_a_prestack_line_has_an_axis_of_offsets(tmp_path):
    numbers = np.array([(c, o) for c in range(50, 56) for o in (10, 20, 30)])
    samples = some_values(5, (18, 6))
    with brought(tmp_path, segy(samples, {CDP: numbers[:, 0], OFFSET: numbers[:, 1]})) as survey:
        assert survey.kind == "prestack line"
        assert_planes(survey, *laid_out(numbers, samples, np.nan))


def test_traces_without_geometry_stay_in_the_order_of_the_file(tmp_path):
    samples = some_values(5, (9, 6))
    image = segy(samples, {})
    with brought(tmp_path, image) as survey:
        assert survey.kind == "traces"
        np.testing.assert_array_equal(survey.data[()], samples)
    done = hs.segy.ingest(tmp_path / "source.sgy", tmp_path / "again.h5")
    assert "no geometry found" in done["note"]
    numbers = grid(INLINES, CROSSLINES)
    image = segy(some_values(5, (35, 6)), {INLINE: numbers[:, 0], CROSSLINE: numbers[:, 1]})
    with brought(tmp_path, image, kind="traces") as survey:
        assert survey.shape == (35, 6)


def test_two_traces_at_one_position_are_an_error_that_names_them(tmp_path):
    numbers = grid(range(1, 9), range(1, 9))
    numbers[40] = numbers[7]
    image = segy(some_values(5, (64, 3)), {INLINE: numbers[:, 0], CROSSLINE: numbers[:, 1]})
    with pytest.raises(ValueError, match="traces 7 and 40 are both at inline 1, crossline 8"):
        brought(tmp_path, image)
    with brought(tmp_path, image, kind="traces") as survey:
        assert survey.shape == (64, 3)


def test_a_requested_kind_that_the_geometry_does_not_have_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="inline, crossline"):
        brought(tmp_path, segy(some_values(5, (9, 6)), {}), kind="volume")


def test_scan_reports_the_survey_that_ingest_would_create(tmp_path):
    numbers = grid(INLINES, CROSSLINES)
    image = segy(some_values(2, (35, 6)), {INLINE: numbers[:, 0], CROSSLINE: numbers[:, 1]}, code=2)
    with brought(tmp_path, image):
        said = hs.segy.scan(tmp_path / "source.sgy")
        of_cube = hs.segy.scan(tmp_path / "cube.h5")
    assert said["survey"] == of_cube["survey"] == "volume" and said["traces"] == 35
    assert said["axes"][:2] == of_cube["axes"][:2]
    assert said["axes"][1] == {"name": "crossline", "first": 300, "last": 318, "length": 7}
    assert said["sample_format"] == of_cube["sample_format"] == "4-byte integer"
    assert said["sample_interval"] == 4000 and of_cube["axes"][2]["last"] == 20.0


def test_a_survey_without_the_attribute_geometry_fields_is_read(tmp_path):
    numbers = grid(INLINES, CROSSLINES)
    with brought(tmp_path, segy(some_values(2, (35, 6)), {INLINE: numbers[:, 0], CROSSLINE: numbers[:, 1]})) as survey:
        assert survey.source["geometry_fields"] == "inline 189:i4, crossline 193:i4, x 181:i4, y 185:i4"
    with hs.File(tmp_path / "cube.h5", "a") as file:
        del file["segy"].attrs["geometry_fields"]
    with hs.segy.open(tmp_path / "cube.h5") as survey:
        assert survey.source["geometry_fields"] is None and "geometry_fields" not in hs.segy.scan(tmp_path / "cube.h5")
