"""Numbers of headers are not rounded: floats, large integers, intervals and delays.

The oracle is struct.unpack on the bytes of the file.
"""

import json
import struct
import subprocess
import sys

import h5py
import numpy as np
import pytest
import xarray
from segy_files import CDP, CROSSLINE, DELAY, INLINE, OFFSET, SCALAR, TIME_SCALAR, X, Y, laid_out, segy, some_values
from segy_surveys import assert_planes, brought
from support import hs

FLOATS = {"of quarters": [0.25, 12.75, 25.25, 37.75], "around 0": [-1.5, -0.5, 0.5, 1.5], "tiny": [0.1, 0.2, 0.3, 0.7]}


def unpacked(image, count, samples, byte, kind, order=">", start=3600):
    """Returns the numbers of a field in all trace headers, and the offsets of the traces."""
    starts = [start + trace * (240 + 4 * samples) for trace in range(count)]
    code = {"f4": "f", "f8": "d", "i8": "q", "u8": "Q"}[kind]
    return [struct.unpack_from(order + code, image, start + byte - 1)[0] for start in starts], starts


@pytest.mark.parametrize("order", [">", "<"])
@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("name", FLOATS)
def test_offsets_that_are_floats_keep_their_fractions(tmp_path, name, kind, order):
    places = [(cdp, offset) for cdp in (5, 6, 9) for offset in FLOATS[name]]
    np.random.default_rng(1).shuffle(places)
    samples = some_values(5, (len(places), 4))
    fields = {CDP: [cdp for cdp, _ in places], (201, kind): [offset for _, offset in places]}
    image = segy(samples, fields, order=order, revision=(2, 0))
    offsets, _ = unpacked(image, len(places), 4, 201, kind, order)
    numbers = list(zip(fields[CDP], offsets, strict=True))
    with brought(tmp_path, image, kind="prestack line", offset_byte=f"201:{kind}") as survey:
        volume, axes = laid_out(numbers, samples, np.nan)
        assert_planes(survey, volume, axes)
        assert list(survey.axes["offset"]) == sorted(set(offsets))
        assert [survey.axes[name].dtype for name in ("cdp", "offset")] == [np.int64, np.float64]
        for offset, exact in zip(sorted(FLOATS[name]), sorted(set(offsets)), strict=True):
            np.testing.assert_array_equal(survey.offset(offset), survey.offset(exact))
            np.testing.assert_array_equal(
                survey.cube(cdp=6, offset=np.dtype(kind).type(offset)), survey.offset(exact)[1]
            )
        assert survey.cube(offset=slice(offsets[0], offsets[0])).shape == (3, 1, 4)
    with h5py.File(tmp_path / "cube.h5") as file:
        assert file["offset"].dtype == "f8" and sorted(set(offsets)) == list(file["offset"])
        assert file["cdp"].dtype == "i8" and file["data"].dims[1][0] == file["offset"]


def test_lines_that_are_floats_make_a_volume(tmp_path):
    numbers = [(i, x) for i in (1.5, 2.0, 2.5) for x in (-0.25, 0.0, 7.125, 1e30)]
    samples = some_values(5, (12, 3))
    image = segy(samples, {(201, "f8"): [i for i, _ in numbers], (209, "f8"): [x for _, x in numbers], X: 7, Y: 9})
    with brought(tmp_path, image, inline_byte="201:f8", crossline_byte="209:f8") as survey:
        assert survey.kind == "volume" and survey.live.all()
        assert_planes(survey, *laid_out(numbers, samples, np.nan))
        assert repr(survey).startswith("<volume of float32: inline 1.5 to 2.5, crossline -0.25 to 1e+30,")
        along, found = survey.polyline([(1.5, -0.25), (2.5, 7.125)])
        assert found[-1].tolist() == [2.5, 7.125] and len(along) == len(found)
        for wrong in (2.25, np.nan, np.inf):
            with pytest.raises(ValueError, match=r"inline .*: there are 1.5 to 2.5, in steps of 0.5"):
                survey.inline(wrong)
        hs.segy.extract(survey, "crossline", 7.125, tmp_path / "line.sgy")
        with pytest.raises(ValueError, match=r"crossline 7.25: there are -0.25 to 1e\+30, in steps of 0.25"):
            hs.segy.extract(survey, "crossline", 7.25, tmp_path / "other.sgy")
    line = (tmp_path / "line.sgy").read_bytes()
    assert unpacked(line, 3, 3, 209, "f8")[0] == [7.125] * 3
    found = hs.segy.scan(tmp_path / "source.sgy", inline_byte="201:f8", crossline_byte="209:f8")
    assert found["axes"][0] == {"name": "inline", "first": 1.5, "last": 2.5, "length": 3}
    assert found["axes"][:2] == hs.segy.scan(tmp_path / "cube.h5")["axes"][:2]


SHORT = [0.1, 0.3, 0.5, 0.7]
"""Numbers that are others in single precision: some larger, some smaller."""


def test_a_number_stands_for_its_float_of_single_precision_everywhere(tmp_path):
    numbers = [(i, x) for i in SHORT for x in SHORT]
    samples = some_values(5, (16, 3))
    image = segy(samples, {(201, "f4"): [i for i, _ in numbers], (209, "f4"): [x for _, x in numbers]})
    stored, _ = unpacked(image, 16, 3, 201, "f4")
    assert set(np.sign(np.array(stored) - [i for i, _ in numbers])) == {-1, 0, 1}
    volume = samples.reshape(4, 4, 3)
    with brought(tmp_path, image, inline_byte="201:f4", crossline_byte="209:f4") as survey:
        for first in range(4):
            for last in range(first, 4):
                found = survey.cube(inline=slice(SHORT[first], SHORT[last]))
                np.testing.assert_array_equal(found, volume[first : last + 1])
        np.testing.assert_array_equal(survey.cube(inline=[0.1, 0.7], crossline=0.3), volume[[0, 3], 1])
        along, _ = survey.polyline([(0.1, 0.1), (0.7, 0.7)], step=2**0.5)
        np.testing.assert_array_equal(along, volume[range(4), range(4)])
        hs.segy.extract(survey, "inline", 0.7, tmp_path / "line.sgy")
    assert unpacked((tmp_path / "line.sgy").read_bytes(), 4, 3, 201, "f4")[0] == stored[12:]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["f4", "i4"])
def test_what_is_no_number_of_an_axis_is_an_error_with_the_axis(tmp_path, kind):
    image = segy(some_values(5, (4, 3)), {(201, kind): [1, 1, 2, 2], (209, kind): [1, 2, 1, 2]})
    with brought(tmp_path, image, inline_byte=f"201:{kind}", crossline_byte=f"209:{kind}") as survey:
        ways = [survey.inline, lambda number: survey.cube(inline=[number])]
        ways += [lambda number: hs.segy.extract(survey, "inline", number, tmp_path / "line.sgy")]
        for way in ways:
            for wrong in ("1", b"1", None, 1j):
                with pytest.raises(TypeError, match="inline must be an? (integer|number), not "):
                    way(wrong)
            for absent in (10**400, -(10**400), 2**70, 3):
                with pytest.raises(ValueError, match=f"inline {absent}: there are 1.* to 2"):
                    way(absent)
        if kind == "f4":
            for absent in (1e300, -1e300, float("inf"), float("nan")):
                with pytest.raises(ValueError, match="inline .*: there are 1.0 to 2.0"):
                    survey.inline(absent)
        assert not (tmp_path / "line.sgy").exists()


def test_a_survey_with_a_float_axis_opens_in_xarray(tmp_path):
    places = [(cdp, offset) for cdp in (5, 6) for offset in (-0.5, 0.5, 1.5)]
    samples = some_values(5, (6, 4))
    image = segy(samples, {CDP: [c for c, _ in places], (201, "f4"): [o for _, o in places]})
    with brought(tmp_path, image, kind="prestack line", offset_byte="201:f4") as survey:
        found = survey.to_xarray()
        np.testing.assert_array_equal(found["data"].sel(cdp=6, offset=0.5), samples[4])
        np.testing.assert_array_equal(found.segy.offset(-0.5), samples[[0, 3]])
    with xarray.open_dataset(tmp_path / "cube.h5", engine="h5netcdf") as found:
        assert list(found["offset"].to_numpy()) == [-0.5, 0.5, 1.5]


def command(*args):
    """Runs the command, and returns its status, output and errors."""
    line = [sys.executable, "-m", "hyperslab", *map(str, args)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_the_command_takes_and_prints_floats(tmp_path):
    places = [(cdp, offset) for cdp in (5, 6) for offset in (-12.75, 0.1, 12.75)]
    samples = some_values(5, (6, 4))
    image = segy(samples, {CDP: [c for c, _ in places], (201, "f4"): [o for _, o in places]})
    brought(tmp_path, image, kind="prestack line", offset_byte="201:f4").close()
    assert "-12.75 to 12.75, 3 positions" in command("segy", "info", tmp_path / "cube.h5")[1]
    said = json.loads(command("segy", "info", tmp_path / "cube.h5", "--json")[1])
    assert said["axes"][1] == {"name": "offset", "first": -12.75, "last": 12.75, "length": 3}
    for offset, place in ((-12.75, 0), (0.1, 1)):
        out = tmp_path / f"{place}.npy"
        code, _, errors = command("segy", "slice", tmp_path / "cube.h5", "--offset", offset, "--out", out)
        assert code == 0, errors
        np.testing.assert_array_equal(np.load(out), samples[[place, place + 3]])
    code, _, errors = command("segy", "slice", tmp_path / "cube.h5", "--offset", "12", "--out", out)
    assert code == 2 and "offset 12: there are -12.75 to 12.75" in errors


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_float_that_places_no_trace_is_an_error_with_its_trace(tmp_path, bad):
    offsets = [0.5, 1.5, 0.5, bad]
    source = tmp_path / "source.sgy"
    source.write_bytes(segy(some_values(5, (4, 5)), {CDP: [1, 1, 2, 2], (201, "f4"): offsets}))
    byte = 3600 + 3 * 260 + 200
    with pytest.raises(hs.FormatError, match=rf"source.sgy: header of trace 3, at byte {byte} .*201:f4") as raised:
        hs.segy.ingest(source, tmp_path / "cube.h5", kind="prestack line", offset_byte="201:f4")
    assert str(bad).lower() in str(raised.value).lower() and 'kind="traces"' in str(raised.value)
    assert not (tmp_path / "cube.h5").exists()
    with brought(tmp_path, source.read_bytes(), kind="traces", offset_byte="201:f4") as survey:
        assert survey.shape == (4, 5)


def test_traces_at_one_float_are_an_error_that_names_both(tmp_path):
    for offsets in ([0.5, 1.5, 12.75, 12.75], [1.5, 2.5, 0.0, -0.0]):
        image = segy(some_values(5, (4, 5)), {CDP: [1, 2, 3, 3], (201, "f4"): offsets})
        match = rf"source.sgy: traces 2 and 3 are both at cdp 3, offset {offsets[2]} \(21:i4, 201:f4\)"
        with pytest.raises(ValueError, match=match):
            brought(tmp_path, image, kind="prestack line", offset_byte="201:f4")


def test_the_error_for_two_traces_names_what_they_share(tmp_path):
    fields = {INLINE: [1, 1, 1, 1, 2, 2], CROSSLINE: [7, 7, 8, 8, 7, 8], OFFSET: [10, 20, 30, 30, 10, 10]}
    image = segy(some_values(5, (6, 5)), fields)
    with pytest.raises(ValueError, match=r"traces 2 and 3 are both at inline 1, crossline 8, offset 30 \("):
        brought(tmp_path, image, kind="prestack")
    with pytest.raises(ValueError, match=r"traces 0 and 1 are both at inline 1, crossline 7 \("):
        brought(tmp_path, image, kind="volume")
    with pytest.raises(ValueError, match=r"traces 0 and 1 are both at cdp 4 \("):
        brought(tmp_path, segy(some_values(5, (3, 5)), {CDP: [4, 4, 5]}), kind="line")


def test_integers_of_eight_bytes_are_exact(tmp_path):
    inlines, crosslines = [2**53 + 1, 2**53 + 3], [-(2**63), 0, 2**63 - 1]
    numbers = [(i, x) for i in inlines for x in crosslines]
    samples = some_values(5, (6, 4))
    image = segy(samples, {(201, "i8"): [i for i, _ in numbers], (209, "i8"): [x for _, x in numbers]})
    with brought(tmp_path, image, inline_byte="201:i8", crossline_byte="209:i8") as survey:
        assert survey.axes["inline"].tolist() == inlines and survey.axes["crossline"].tolist() == crosslines
        for trace, (i, x) in enumerate(numbers):
            np.testing.assert_array_equal(survey.cube(inline=i, crossline=x), samples[trace])
        with pytest.raises(TypeError, match=r"inline must be an integer, not 1\.5"):
            survey.inline(1.5)


def test_an_unsigned_number_above_the_largest_integer_is_an_error(tmp_path):
    lines = [2**63 + 5, 2**63 + 6]
    image = segy(some_values(5, (4, 4)), {(201, "u8"): [line for line in lines for _ in "ab"], CROSSLINE: [1, 2, 1, 2]})
    with pytest.raises(hs.FormatError, match=f"header of trace 0, at byte 3800 .*{2**63 + 5} is above {2**63 - 1}"):
        brought(tmp_path, image, inline_byte="201:u8", crossline_byte=193)


@pytest.mark.parametrize("interval", [0.1, 333.3333333333333, 4000.0, 65536.0])
def test_the_interval_of_revision_2_is_a_float(tmp_path, interval):
    image = segy(some_values(5, (6, 400)), {CDP: range(6)}, revision=(2, 0), interval=interval)
    (stored,) = struct.unpack_from(">d", image, 3200 + 72)
    assert stored == interval
    with brought(tmp_path, image) as survey:
        expected = [sample * interval / 1000 for sample in range(400)]
        assert survey.axes["twt"].tolist() == expected
    assert hs.segy.scan(tmp_path / "source.sgy")["sample_interval"] == interval


@pytest.mark.parametrize("scalar, start", [(-10, 0.3), (-1000, 0.003), (0, 3.0), (10, 30.0)])
def test_the_delay_has_its_scalar(tmp_path, scalar, start):
    with brought(tmp_path, segy(some_values(5, (4, 3)), {CDP: range(4), DELAY: 3, TIME_SCALAR: scalar})) as survey:
        assert survey.axes["twt"].tolist() == [start, start + 4.0, start + 8.0]


@pytest.mark.parametrize("kind", ["f4", "f8", "i8", "u8"])
def test_coordinates_of_any_kind_have_their_scalar(tmp_path, kind):
    value = {"f4": 1234.5, "f8": 123456.789, "i8": 2**40 + 1, "u8": 2**63 + 2**20}[kind]
    image = segy(some_values(5, (4, 3)), {CDP: range(4), (201, kind): value, (209, kind): 0, SCALAR: -100})
    (stored, *_), _ = unpacked(image, 4, 3, 201, kind)
    with brought(tmp_path, image, x_byte=f"201:{kind}", y_byte=f"209:{kind}") as survey:
        assert survey.x.tolist() == [stored / 100] * 4


def test_messages_name_the_file(tmp_path):
    brought(tmp_path, segy(some_values(5, (4, 3)), {CDP: range(4)})).close()
    whole = (tmp_path / "cube.h5").read_bytes()
    (tmp_path / "half.h5").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "half.sgy").write_bytes((tmp_path / "source.sgy").read_bytes()[:3700])
    for name in ("half.h5", "half.sgy", "none.sgy"):
        with pytest.raises(OSError, match=f"{tmp_path / name}") as raised:
            hs.segy.scan(tmp_path / name)
        assert "os error" not in str(raised.value)
    with pytest.raises(ValueError, match=r"cube.h5: it exists, .*overwrite=True"):
        hs.segy.ingest(tmp_path / "source.sgy", tmp_path / "cube.h5")
    for damaged in (whole[: len(whole) // 2], b"not HDF5", whole[:64]):
        (tmp_path / "half.h5").write_bytes(damaged)
        for call in (hs.segy.scan, hs.segy.open, lambda path: hs.segy.ingest(tmp_path / "source.sgy", path)):
            if call is hs.segy.scan and damaged.startswith(b"not"):
                continue  # it is a SEG-Y file then
            with pytest.raises(OSError, match=f"{tmp_path / 'half.h5'}"):
                call(tmp_path / "half.h5")
    # After each test, every HDF5 file in its folder must be sound.
    (tmp_path / "half.h5").unlink()


def test_large_numbers_are_shown_whole(tmp_path):
    with brought(tmp_path, segy(some_values(5, (4, 3)), {CDP: range(1234567, 1234571)})) as survey:
        assert "cdp 1234567 to 1234570" in repr(survey) and "1234567 to 1234570" in survey._repr_html_()
