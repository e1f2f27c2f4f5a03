"""SEG-Y files of every revision, byte order and format are ingested, compared and exported byte for byte."""

import numpy as np
import pytest
from segy_files import (
    CROSSLINE,
    DELAY,
    END_TEXT,
    INLINE,
    SCALAR,
    STORED,
    TIME_SCALAR,
    X,
    Y,
    grid,
    laid_out,
    segy,
    some_values,
)
from segy_surveys import assert_planes, brought

NUMBERS = grid(range(10, 15), range(100, 107))
LINES = {INLINE: NUMBERS[:, 0], CROSSLINE: NUMBERS[:, 1]}
REVISIONS = [(0, 0), (1, 0), (2, 0), (2, 1)]


def fill_of(samples):
    return np.nan if samples.dtype.kind == "f" else 0


@pytest.mark.parametrize("order", [">", "<"])
@pytest.mark.parametrize("code", STORED)
def test_samples_of_every_format_are_read_in_both_byte_orders(tmp_path, code, order):
    samples = some_values(code, (len(NUMBERS), 23))
    with brought(tmp_path, segy(samples, LINES, code=code, order=order), chunks=(2, 3, 8)) as survey:
        assert_planes(survey, *laid_out(NUMBERS, samples, fill_of(samples)))
        for trace in (0, 17, 34):
            np.testing.assert_array_equal(survey.trace(trace), samples[trace])
            assert survey.trace_header(trace)["trace_in_line"] == trace + 1


@pytest.mark.parametrize("order", [">", "<"])
@pytest.mark.parametrize("revision", REVISIONS, ids=str)
def test_files_of_every_revision_are_read(tmp_path, revision, order):
    samples = some_values(5, (len(NUMBERS), 11))
    with brought(tmp_path, segy(samples, LINES, revision=revision, order=order)) as survey:
        assert survey.source["revision"] == "{}.{}".format(*revision)
        assert survey.source["byte_order"] == {">": "big", "<": "little"}[order]
        assert_planes(survey, *laid_out(NUMBERS, samples, np.nan))
        np.testing.assert_array_equal(survey.headers["inline"], NUMBERS[:, 0])


@pytest.mark.parametrize("encoding", ["cp037", "ascii"])
def test_the_textual_header_is_decoded_from_ebcdic_or_ascii(tmp_path, encoding):
    text = "C 1 CLIENT ÅNGSTRÖM".encode("ascii", "ignore").decode().ljust(80) + "C 2 LINE 7".ljust(80)
    image = segy(some_values(5, (len(NUMBERS), 5)), LINES, text=text, encoding=encoding)
    with brought(tmp_path, image) as survey:
        assert survey.text.split("\n") == ["C 1 CLIENT NGSTRM", "C 2 LINE 7"]


@pytest.mark.parametrize("revision", REVISIONS[1:], ids=str)
@pytest.mark.parametrize("count", [2, -1])
def test_extended_textual_headers_are_counted_or_end_with_a_stanza(tmp_path, revision, count):
    samples = some_values(5, (len(NUMBERS), 7))
    extended = ["((OGP: P1/90))", END_TEXT]
    image = segy(samples, LINES, revision=revision, extended=extended, extended_count=count)
    with brought(tmp_path, image) as survey:
        assert_planes(survey, *laid_out(NUMBERS, samples, np.nan))
        assert len(survey.file["segy/file_header"]) == 3600 + 6400


@pytest.mark.parametrize("revision", REVISIONS[1:], ids=str)
def test_a_tape_label_is_skipped(tmp_path, revision):
    samples = some_values(1, (len(NUMBERS), 7))
    image = segy(samples, LINES, code=1, revision=revision, label=True)
    with brought(tmp_path, image) as survey:
        assert_planes(survey, *laid_out(NUMBERS, samples, np.nan))


@pytest.mark.parametrize("revision", REVISIONS[2:], ids=str)
@pytest.mark.parametrize("further", [1, 3])
def test_trace_header_extensions_are_exported(tmp_path, revision, further):
    samples = some_values(3, (len(NUMBERS), 9))
    image = segy(samples, LINES, code=3, revision=revision, further=further)
    with brought(tmp_path, image, memory=1) as survey:
        assert survey.source["headers_per_trace"] == further + 1
        assert survey.file["segy/trace_header_extensions"].shape == (len(NUMBERS), 240 * further)
        assert_planes(survey, *laid_out(NUMBERS, samples, 0))


def test_a_trailer_and_a_gap_before_the_first_trace_are_exported(tmp_path):
    samples = some_values(5, (len(NUMBERS), 9))
    trailer = b"((SEG: trailer))".ljust(6400)
    with brought(tmp_path, segy(samples, LINES, revision=(2, 1), trailer=trailer, gap=1000)) as survey:
        assert survey.file["segy/trailer"][()].tobytes() == trailer
        assert_planes(survey, *laid_out(NUMBERS, samples, np.nan))


def test_traces_with_more_than_65535_samples_are_read(tmp_path):
    samples = some_values(8, (3, 70_000))
    with brought(tmp_path, segy(samples, {INLINE: [1, 1, 1], CROSSLINE: [1, 2, 3]}, code=8, revision=(2, 0))) as survey:
        np.testing.assert_array_equal(survey.inline(1), samples)


@pytest.mark.parametrize("revision", [(2, 0), (2, 1)], ids=str)
def test_a_fractional_sample_interval_is_kept(tmp_path, revision):
    with brought(tmp_path, segy(some_values(5, (35, 9)), LINES, revision=revision, interval=312.5)) as survey:
        np.testing.assert_allclose(survey.axes["twt"], np.arange(9) * 0.3125)


@pytest.mark.parametrize("scalar, delay, start", [(0, 100, 100), (10, 7, 70), (-10, 125, 12.5), (1, -8, -8)])
def test_the_first_sample_has_the_time_of_the_delay_and_its_scalar(tmp_path, scalar, delay, start):
    fields = {**LINES, DELAY: delay, TIME_SCALAR: scalar}
    with brought(tmp_path, segy(some_values(5, (35, 9)), fields, interval=2000)) as survey:
        np.testing.assert_allclose(survey.axes["twt"], start + 2.0 * np.arange(9))
        assert survey.units["twt"] == "ms"


@pytest.mark.parametrize(
    "code, unit, direction",
    [
        (0, "ft", "easting"),
        (1, "ft", "easting"),
        (2, "arcsec", "longitude"),
        (3, "degrees", "longitude"),
        (4, "DDDMMSS.ss", "longitude"),
    ],
)
def test_coordinates_have_the_unit_of_the_trace_headers(tmp_path, code, unit, direction):
    fields = {**LINES, (89, "i2"): code, (181, "i4"): 1234567, (71, "i2"): -100}
    with brought(tmp_path, segy(some_values(5, (35, 9)), fields, system=2)) as survey:
        x = survey.file["cdp_x"]
        assert x.attrs["units"].decode() == survey.units["cdp_x"] == unit
        assert direction in x.attrs["long_name"].decode()
        np.testing.assert_allclose(x[()], 12345.67)


@pytest.mark.parametrize("system, unit", [(1, "m"), (2, "ft")])
def test_depth_has_the_unit_of_the_file(tmp_path, system, unit):
    with brought(tmp_path, segy(some_values(5, (35, 9)), LINES, system=system, interval=5000), depth=True) as survey:
        assert list(survey.axes) == ["inline", "crossline", "depth"] and survey.units["depth"] == unit
        np.testing.assert_allclose(survey.axes["depth"], 5.0 * np.arange(9))


@pytest.mark.parametrize("scalar, factor", [(0, 1), (1, 1), (100, 100), (-100, 0.01), (-10, 0.1)])
def test_coordinates_are_multiplied_by_their_scalar(tmp_path, scalar, factor):
    x, y = 500_000 + 25 * NUMBERS[:, 0], 6_000_000 + 12 * NUMBERS[:, 1]
    with brought(tmp_path, segy(some_values(5, (35, 4)), {**LINES, X: x, Y: y, SCALAR: scalar})) as survey:
        np.testing.assert_allclose(survey.x.ravel(), x * factor)
        np.testing.assert_allclose(survey.y.ravel(), y * factor)


def test_ibm_floats_without_an_exact_ieee_float_are_exported(tmp_path):
    # Not normalised; below and above all IEEE floats; negative zero; and 24 bits after leading zeros.
    words = [0x40000001, 0x00100000, 0x7FFFFFFF, 0x80000000, 0x41000000, 0xC0FFFFFF, 0x00000001]
    samples = some_values(1, (35, 9))
    patch = b"".join(word.to_bytes(4, "big") for word in words)
    image = segy(samples, LINES, code=1, patches=[(3600 + 12 * (240 + 36) + 240, patch)])
    for memory in (1, 1 << 20):
        with brought(tmp_path, image, chunks=(2, 2, 4), memory=memory) as survey:
            assert len(survey.file["segy/ibm_words"]) > 0
            np.testing.assert_array_equal(survey.trace(11), samples[11])


@pytest.mark.parametrize("pad", [False, True])
def test_traces_of_several_lengths_are_padded_on_request(tmp_path, pad):
    lengths = [9, 5, 7, 9, 1, 8]
    samples = [some_values(5, 9, seed)[:length] for seed, length in enumerate(lengths)]
    image = segy(samples, {INLINE: [1, 1, 1, 2, 2, 2], CROSSLINE: [1, 2, 3] * 2})
    if not pad:
        with pytest.raises(OSError, match=r"trace 1, at byte .* counts 5 samples, .* 9: --pad \(in Python, pad=True\)"):
            brought(tmp_path, image)
        return
    for options in ({}, {"memory": 1, "chunks": (1, 2, 4)}):
        with brought(tmp_path, image, pad=True, **options) as survey:
            assert survey.shape == (2, 3, 9) and survey.source["padded"]
            for number, trace in enumerate(samples):
                found = survey.trace(number)
                np.testing.assert_array_equal(found[: len(trace)], trace)
                assert np.isnan(found[len(trace) :]).all()


def test_the_number_of_traces_stated_in_revision_2_is_used(tmp_path):
    samples = some_values(5, (len(NUMBERS), 10))
    image = segy(samples, LINES, revision=(2, 1), count=35, trailer=b"x" * 3200)
    with brought(tmp_path, image) as survey:
        assert len(survey.headers) == 35
