"""Surveys written by segyio are read by both and compared. Files from obspy are exported byte for byte."""

from pathlib import Path

import numpy as np
import obspy.io.segy
import pytest
import segyio
from obspy.io.segy.segy import _read_segy
from segy_files import sha256
from support import hs

VOLUME = np.random.default_rng(1).normal(size=(11, 13, 40)).astype("f4")
TESTS_OF_OBSPY = Path(obspy.io.segy.__file__).parent / "tests" / "data"
OBSPY = sorted(path for path in TESTS_OF_OBSPY.glob("*.sgy*") if path.suffix != ".npy")


@pytest.fixture(scope="module")
def of_segyio(tmp_path_factory):
    """Writes a volume of IBM floats with segyio, sorted by crossline, with coordinates and a delay."""
    path = tmp_path_factory.mktemp("segyio") / "volume.sgy"
    spec = segyio.spec()
    spec.ilines, spec.xlines, spec.samples = np.arange(11) * 3 + 7, np.arange(13) + 100, 50 + 4.0 * np.arange(40)
    spec.sorting, spec.format = segyio.TraceSortingFormat.CROSSLINE_SORTING, 1
    with segyio.create(path, spec) as file:
        number = 0
        for x, crossline in enumerate(spec.xlines):
            for i, inline in enumerate(spec.ilines):
                file.trace[number] = VOLUME[i, x]
                file.header[number] = {
                    segyio.su.iline: inline,
                    segyio.su.xline: crossline,
                    segyio.su.cdpx: 1000 * i,
                    segyio.su.cdpy: 500 * x,
                    segyio.su.scalco: -10,
                    segyio.su.delrt: 50,
                }
                number += 1
        file.bin.update(hdt=4000, tsort=1)
    return path


@pytest.fixture
def survey(of_segyio, tmp_path, request):
    """Ingests that volume, with the options of the test: filters, odd chunks, little memory."""
    cube = tmp_path / "cube.h5"
    hs.segy.ingest(of_segyio, cube, **getattr(request, "param", {}))
    with hs.segy.open(cube) as survey:
        yield survey


WAYS = [
    {},
    {"compression": "gzip", "compression_opts": 1, "shuffle": True, "fletcher32": True},
    {"compression": hs.Blosc2("zstd", 3), "chunks": (1, 13, 40)} if hasattr(hs, "segy") else {},
    {"compression": "lzf", "chunks": (3, 5, 7), "memory": 1},
    {"chunks": (11, 1, 9), "memory": 20_000},
]


@pytest.mark.parametrize("survey", WAYS, indirect=True)
def test_planes_traces_and_headers_equal_those_that_segyio_reads(survey, of_segyio, tmp_path):
    with segyio.open(of_segyio) as theirs:
        assert list(survey.axes["inline"]) == list(theirs.ilines)
        assert list(survey.axes["crossline"]) == list(theirs.xlines)
        np.testing.assert_array_equal(survey.axes["twt"], theirs.samples)
        for inline in theirs.ilines:
            np.testing.assert_array_equal(survey.inline(inline), theirs.iline[inline])
        for crossline in theirs.xlines:
            np.testing.assert_array_equal(survey.crossline(crossline), theirs.xline[crossline])
        for place in range(40):
            np.testing.assert_array_equal(
                survey.depth_slice(place, index=True), theirs.depth_slice[place].T
            )  # (crosslines, inlines), as the file is sorted
        for trace in range(theirs.tracecount):
            np.testing.assert_array_equal(survey.trace(trace), theirs.trace[trace])
            header = survey.trace_header(trace)
            assert header["cdp_x"] == theirs.header[trace][segyio.su.cdpx]
        np.testing.assert_array_equal(survey.headers["inline"], theirs.attributes(segyio.su.iline)[:])
        np.testing.assert_allclose(survey.x.T.ravel(), theirs.attributes(segyio.su.cdpx)[:] / 10)
        np.testing.assert_allclose(survey.y.T.ravel(), theirs.attributes(segyio.su.cdpy)[:] / 10)
        assert survey.text.split("\n")[0] == theirs.text[0][:80].decode().rstrip()
    hs.segy.export(survey, tmp_path / "back.sgy")
    assert sha256(tmp_path / "back.sgy") == sha256(of_segyio)


def test_segyio_reads_extracted_lines(survey, tmp_path):
    hs.segy.extract(survey, "inline", 13, tmp_path / "line.sgy")
    with segyio.open(tmp_path / "line.sgy", ignore_geometry=True) as line:
        np.testing.assert_array_equal(line.trace.raw[:], survey.inline(13))
        assert list(line.attributes(segyio.su.xline)[:]) == list(range(100, 113))
    with pytest.raises(ValueError, match="inline 14: there are 7 to 37, in steps of 3"):
        hs.segy.extract(survey, "inline", 14, tmp_path / "other.sgy")
    with pytest.raises(ValueError, match="exists"):
        hs.segy.extract(survey.file.filename, "inline", 13, tmp_path / "line.sgy")


def test_segyio_reads_an_exported_survey_with_changed_samples(of_segyio, tmp_path):
    hs.segy.ingest(of_segyio, tmp_path / "cube.h5", compression=hs.Zstd())
    with hs.segy.open(tmp_path / "cube.h5", "r+") as survey:
        survey.data[3:5] = 2 * survey.data[3:5]
    hs.segy.export(tmp_path / "cube.h5", tmp_path / "out.sgy")
    with segyio.open(tmp_path / "out.sgy") as file:
        with hs.segy.open(tmp_path / "cube.h5") as survey:
            # IBM floats have at least 21 significant bits.
            np.testing.assert_allclose(segyio.cube(file).transpose(1, 0, 2), survey.cube(), rtol=2**-21)
            np.testing.assert_array_equal(file.iline[7], survey.inline(7))


@pytest.mark.parametrize("path", OBSPY, ids=lambda path: path.name)
def test_files_of_obspy_are_exported_byte_for_byte_and_have_the_values_that_obspy_reads(path, tmp_path):
    theirs = _read_segy(str(path), unpack_headers=True)
    hs.segy.ingest(path, tmp_path / "cube.h5")
    hs.segy.export(tmp_path / "cube.h5", tmp_path / "back.sgy")
    assert sha256(tmp_path / "back.sgy") == sha256(path)
    with hs.segy.open(tmp_path / "cube.h5") as survey:
        assert len(survey.headers) == len(theirs.traces)
        for number, trace in enumerate(theirs.traces):
            np.testing.assert_allclose(survey.trace(number), trace.data, rtol=2e-7)
            assert survey.trace_header(number)["trace_in_line"] == trace.header.trace_sequence_number_within_line


def test_the_obspy_package_has_test_files():
    assert len(OBSPY) >= 5
