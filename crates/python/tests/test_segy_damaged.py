"""Damaged and foreign files give an error with a byte offset, never a crash, a hang or a huge allocation."""

import struct

import numpy as np
import pytest
from segy_files import CROSSLINE, INLINE, grid, segy, some_values
from segy_surveys import brought
from support import hs

NUMBERS = grid(range(1, 4), range(1, 3))
FIELDS = {INLINE: NUMBERS[:, 0], CROSSLINE: NUMBERS[:, 1]}
SAMPLES = some_values(5, (6, 10))
TRACE = 240 + 4 * 10


def image(**options):
    return segy(SAMPLES, FIELDS, **options)


def ingested(tmp_path, image, **options):
    (tmp_path / "bad.sgy").write_bytes(image)
    return hs.segy.ingest(tmp_path / "bad.sgy", tmp_path / "bad.h5", **options)


@pytest.mark.parametrize("length", [0, 1, 127, 128, 3199, 3200, 3223, 3225, 3599, 3600])
def test_a_file_truncated_in_its_headers_is_refused(tmp_path, length):
    with pytest.raises(hs.FormatError, match=f"at byte {length} of the file"):
        ingested(tmp_path, image()[:length])
    assert not (tmp_path / "bad.h5").exists()


@pytest.mark.parametrize("trace", [0, 1, 5])
@pytest.mark.parametrize("into", [1, 100, 239, 240, 241, 243, 244, TRACE - 1])
def test_a_file_truncated_in_a_trace_is_refused_or_read_up_to_that_trace(tmp_path, trace, into):
    offset = 3600 + trace * TRACE
    cut = image()[: offset + into]
    with pytest.raises(hs.FormatError, match=f"trace {trace}, at byte {offset} of the file"):
        ingested(tmp_path, cut)
    assert not (tmp_path / "bad.h5").exists()
    if trace > 0:
        with brought(tmp_path, cut, ignore_rest=True) as survey:
            assert len(survey.headers) == trace
            np.testing.assert_array_equal(survey.trace(trace - 1), SAMPLES[trace - 1])


@pytest.mark.parametrize("code", [0, 13, 14, 17, 99, -1])
def test_the_error_for_an_unknown_sample_format_has_its_byte_offset(tmp_path, code):
    with pytest.raises(hs.FormatError, match="at byte 3224 of the file.*not a sample format"):
        ingested(tmp_path, image(patches=[(3224, struct.pack(">h", code))]))


def test_fixed_point_with_gain_is_refused(tmp_path):
    with pytest.raises(NotImplementedError, match="format 4"):
        ingested(tmp_path, image(patches=[(3224, b"\0\4")]))


def test_files_with_bytes_swapped_in_pairs_are_refused(tmp_path):
    with pytest.raises(NotImplementedError, match="swapped in pairs"):
        ingested(tmp_path, image(revision=(2, 0), patches=[(3296, bytes([2, 1, 4, 3]))]))


LIES = {
    "2^31 samples": (3268, ">I", 2**31),
    "2^32 - 1 samples": (3268, ">I", 2**32 - 1),
    "a negative number of extended headers": (3504, ">h", -5),
    "more extended headers than bytes": (3504, ">h", 32767),
    "an end of text that is not there": (3504, ">h", -1),
    "a first trace behind the end": (3520, ">Q", 2**40),
    "a first trace in the headers": (3520, ">Q", 17),
    "a first trace at the last byte": (3520, ">Q", 3600 + 6 * TRACE),
    "2^60 traces": (3512, ">Q", 2**60),
    "2^64 - 1 traces": (3512, ">Q", 2**64 - 1),
    "one trace too many": (3512, ">Q", 7),
    "negative trace header extensions": (3506, ">h", -2),
    "32767 trace header extensions": (3506, ">h", 32767),
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("pad", [False, True])
def test_wrong_counts_in_headers_are_refused(tmp_path, lie, pad):
    offset, kind, value = LIES[lie]
    lies = [(offset, struct.pack(kind, value))]
    if "samples" in lie:
        # No trace header states another number of samples.
        lies += [(3600 + trace * TRACE + 114, b"\0\0") for trace in range(6)]
    with pytest.raises(hs.FormatError, match="byte"):
        ingested(tmp_path, image(revision=(2, 1), patches=lies), pad=pad)


@pytest.mark.parametrize("value", [2**31 - 1, -(2**31)])
def test_line_numbers_far_apart_do_not_make_a_huge_volume(tmp_path, value):
    numbers = grid(range(200), range(200, 400))[np.arange(200) * 201]
    numbers[0] = value
    few = segy(some_values(5, (200, 3)), {INLINE: numbers[:, 0], CROSSLINE: numbers[:, 1]})
    assert ingested(tmp_path, few)["shape"] == [200, 3]


@pytest.mark.parametrize("revision", [(0, 0), (1, 0)], ids=str)
def test_a_file_with_an_ambiguous_trace_length_is_refused_without_trust_length(tmp_path, revision):
    # A trace of 80 samples is as long as two traces of 10 samples, so both lengths fit the size of the file.
    both = image(revision=revision, patches=[(3600 + 114, b"\0\x50")])
    if revision == (0, 0):
        with pytest.raises(hs.FormatError, match="trace 0, at byte 3714 of the file: it counts 80 samples"):
            ingested(tmp_path, both)
    # In revision 1 the header states that all traces have the same length.
    with brought(tmp_path, both, trust_length=revision == (0, 0)) as survey:
        np.testing.assert_array_equal(survey.trace(5), SAMPLES[5])


def test_a_file_that_is_not_segy_is_refused(tmp_path):
    with hs.File(tmp_path / "file.h5", "w") as file:
        file["values"] = np.arange(10_000)
    with pytest.raises(hs.FormatError, match="not a SEG-Y file"):
        hs.segy.ingest(tmp_path / "file.h5", tmp_path / "out.h5")
    with pytest.raises(hs.FormatError, match="no survey"):
        hs.segy.open(tmp_path / "file.h5")
    (tmp_path / "text.sgy").write_bytes(b"no seismic data at all " * 1000)
    with pytest.raises(OSError, match="not a SEG-Y file"):
        hs.segy.scan(tmp_path / "text.sgy")
    (tmp_path / "a.sgy").write_bytes(image())
    with pytest.raises(hs.FormatError):
        hs.segy.open(tmp_path / "a.sgy")
    with pytest.raises(FileNotFoundError):
        hs.segy.ingest(tmp_path / "none.sgy", tmp_path / "out.h5")
    with pytest.raises(FileNotFoundError):
        hs.segy.open(tmp_path / "none.h5")
    with pytest.raises(FileNotFoundError):
        hs.segy.ingest(tmp_path / "a.sgy", tmp_path / "none" / "out.h5")
    with pytest.raises(OSError):
        hs.segy.ingest(tmp_path, tmp_path / "out.h5")
    with pytest.raises(FileNotFoundError):
        hs.segy.scan(tmp_path / "none.sgy")


def test_errors_for_wrong_arguments_say_what_is_allowed(tmp_path):
    (tmp_path / "a.sgy").write_bytes(image())
    wrong = [
        ({"inline_byte": 5}, "give both"),
        ({"x_byte": 5}, "give both"),
        ({"inline_byte": 238, "crossline_byte": 1}, "1 to 240"),
        ({"inline_byte": "5:i3", "crossline_byte": 1}, "kinds are"),
        ({"kind": "cube"}, "kind must be one of"),
        ({"chunks": (1, 2)}, "3 axes"),
        ({"chunks": (1, 2, 0)}, "3 axes"),
        ({"compression": "zip"}, "unavailable"),
        ({"compression": "gzip", "compression_opts": 11}, "0-9"),
    ]
    for options, said in wrong:
        with pytest.raises(ValueError, match=said):
            hs.segy.ingest(tmp_path / "a.sgy", tmp_path / "a.h5", **options)
    assert not (tmp_path / "a.h5").exists()
    with hs.File(tmp_path / "mine.h5", "w") as file:
        file["mine"] = 1
    with pytest.raises(ValueError, match="3 axes"):
        hs.segy.ingest(tmp_path / "a.sgy", tmp_path / "mine.h5", chunks=(1,), overwrite=True)
    with hs.File(tmp_path / "mine.h5") as file:
        assert "mine" in file, "a refused ingest does not overwrite the file"


def replace(file, name, values, **options):
    del file[name]
    file.create_dataset(name, data=values, **options)


def retell(file, name, value):
    file["segy"].attrs[name] = value


def count_too_much(file):
    retell(file, "padded", np.uint64(1))
    headers = file["segy/trace_header"][()]
    headers["samples"][3] = 60_000
    file["segy/trace_header"][...] = headers


TAMPERED = {
    "no data": lambda f: f.pop("data"),
    "no axis": lambda f: f.pop("inline"),
    "no times": lambda f: f.pop("twt"),
    "no map": lambda f: f.pop("segy/trace"),
    "no headers": lambda f: f.pop("segy/trace_header"),
    "no file header": lambda f: f.pop("segy/file_header"),
    "no coordinates": lambda f: f.pop("cdp_x"),
    "no live mask": lambda f: f.pop("live"),
    "a group for data": lambda f: (f.pop("data"), f.create_group("data")),
    "data of another type": lambda f: replace(f, "data", np.zeros((3, 2, 10), "f8")),
    "data of another shape": lambda f: replace(f, "data", np.zeros((3, 2, 9), "f4")),
    "flat data": lambda f: replace(f, "data", np.zeros(60, "f4")),
    "scalar data": lambda f: replace(f, "data", np.float32(1)),
    "a longer axis": lambda f: replace(f, "inline", np.arange(5)),
    "an empty axis": lambda f: replace(f, "inline", np.arange(0)),
    "an axis of text": lambda f: replace(f, "inline", np.array([b"a", b"b", b"c"])),
    "a flat map": lambda f: replace(f, "segy/trace", np.arange(6)),
    "a small map": lambda f: replace(f, "segy/trace", np.zeros((1, 1), "i8")),
    "a map beyond all traces": lambda f: replace(f, "segy/trace", np.full((3, 2), 10**15)),
    "a map of the largest numbers": lambda f: replace(f, "segy/trace", np.full((3, 2), 2**63 - 1)),
    "a map below zero": lambda f: replace(f, "segy/trace", np.full((3, 2), -(2**63))),
    "a map of one trace": lambda f: replace(f, "segy/trace", np.zeros((3, 2), "i8")),
    "few headers": lambda f: replace(f, "segy/trace_header", f["segy/trace_header"][:2]),
    "no header at all": lambda f: replace(f, "segy/trace_header", f["segy/trace_header"][:0]),
    "headers that are bytes": lambda f: replace(f, "segy/trace_header", np.zeros((6, 240), "u1")),
    "headers that are numbers": lambda f: replace(f, "segy/trace_header", np.zeros(6)),
    "a file header of two axes": lambda f: replace(f, "segy/file_header", np.zeros((60, 60), "u1")),
    "a file header of numbers": lambda f: replace(f, "segy/file_header", np.zeros(3600, "f8")),
    "an empty file header": lambda f: replace(f, "segy/file_header", np.zeros(0, "u1")),
    "words of another type": lambda f: f.create_dataset("segy/ibm_words", data=np.arange(5)),
    "no kind": lambda f: f["segy"].attrs.pop("kind"),
    "another kind": lambda f: retell(f, "kind", "cube"),
    "a line": lambda f: retell(f, "kind", "line"),
    "a kind that is a number": lambda f: retell(f, "kind", 5),
    "another layout": lambda f: retell(f, "layout", "hyperslab-segy 99"),
    "no layout": lambda f: f["segy"].attrs.pop("layout"),
    "another format": lambda f: retell(f, "sample_format", np.uint64(99)),
    "format 1": lambda f: retell(f, "sample_format", np.uint64(1)),
    "format 3": lambda f: retell(f, "sample_format", np.uint64(3)),
    "a format in four bytes": lambda f: retell(f, "sample_format", np.uint32(5)),
    "many headers": lambda f: retell(f, "headers_per_trace", np.uint64(2**60)),
    "three headers": lambda f: retell(f, "headers_per_trace", np.uint64(3)),
    "no source bytes": lambda f: retell(f, "source_bytes", np.uint64(2**63)),
    "padded": lambda f: retell(f, "padded", np.uint64(1)),
    "padded, and a header that counts too much": count_too_much,
    "no group": lambda f: f.pop("segy"),
}


@pytest.mark.parametrize("tampering", TAMPERED)
def test_reading_a_tampered_survey_gives_an_error_or_data(tmp_path, tampering):
    brought(tmp_path, image()).close()
    cube = tmp_path / "cube.h5"
    with hs.File(cube, "r+") as file:
        TAMPERED[tampering](file)
    refusals = []

    def attempt(function):
        try:
            return function()
        except (OSError, ValueError, LookupError, TypeError, NotImplementedError) as error:
            assert str(error), "the error has no message"
            refusals.append(error)

    attempt(lambda: hs.segy.export(cube, tmp_path / "out.sgy"))
    attempt(lambda: hs.segy.extract(cube, "inline", 1, tmp_path / "line.sgy"))
    attempt(lambda: hs.segy.scan(cube))
    survey = attempt(lambda: hs.segy.open(cube))
    if survey is not None:
        with survey:
            for read in (
                lambda: survey.trace(5),
                lambda: survey.trace_header(5),
                lambda: survey.inline(1),
                lambda: survey.x,
                lambda: survey.live,
                lambda: survey.polyline([(1, 1), (3, 2)], xy=True),
            ):
                attempt(read)
    harmless = {"no source bytes", "a map of one trace", "format 1", "padded"}
    assert refusals or tampering in harmless
    assert not (tmp_path / "out.sgy.part").exists()


@pytest.mark.parametrize("end", [(0, 0), (2**32 - 1, 5), (0, 2**31), (2**60, 3)])
def test_kept_ibm_words_with_positions_out_of_bounds_do_not_crash(tmp_path, end):
    patch = bytes.fromhex("40000001")
    brought(tmp_path, segy(SAMPLES, FIELDS, code=1, patches=[(3840, patch)])).close()
    with hs.File(tmp_path / "cube.h5", "r+") as file:
        words = file["segy/ibm_words"]
        row = words[0]
        row["trace"], row["sample"] = end[0], end[1] % 2**32
        words[0] = row
    try:
        hs.segy.export(tmp_path / "cube.h5", tmp_path / "out.sgy")
    except (OSError, ValueError) as error:
        assert str(error)
