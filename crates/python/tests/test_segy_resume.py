"""An ingest that was stopped or killed at any moment can be resumed, and gives the same file."""

import random
import signal
import subprocess
import sys

import numpy as np
import pytest
from segy_files import CROSSLINE, INLINE, grid, segy, sha256, some_values
from soundness import CHECKS
from support import hs

NUMBERS = grid(range(12), range(12), "crossline")
SAMPLES = some_values(1, (144, 50))
OPTIONS = {"chunks": (4, 4, 16), "compression": "lzf", "memory": 1}


@pytest.fixture
def source(tmp_path):
    """Returns a volume with some IBM floats without an exact IEEE float. Their words are kept separately."""
    patches = [(3600 + n * (240 + 200) + 240 + 4 * n, bytes.fromhex("40000001")) for n in range(0, 50, 7)]
    path = tmp_path / "source.sgy"
    fields = {INLINE: NUMBERS[:, 0], CROSSLINE: NUMBERS[:, 1]}
    path.write_bytes(segy(SAMPLES, fields, code=1, patches=patches))
    return path


def contents(path):
    """Returns all values of a file, by name."""
    found = {}
    with hs.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, hs.Dataset) else None)
        found["attributes"] = {name: value for name, value in file["segy"].attrs.items()}
    return found


def assert_same_as_uninterrupted(source, cube, **options):
    directory = source.parent
    hs.segy.ingest(source, directory / "whole.h5", overwrite=True, **{**OPTIONS, **options})
    wanted, found = contents(directory / "whole.h5"), contents(cube)
    assert wanted.pop("attributes") == found.pop("attributes")
    assert wanted.keys() == found.keys()
    # Words are kept in the order in which they were read, which depends on the interruptions.
    for values in (wanted, found):
        if "segy/ibm_words" in values:
            values["segy/ibm_words"] = np.sort(values["segy/ibm_words"], order=["trace", "sample"])
    for name, values in wanted.items():
        np.testing.assert_array_equal(values, found[name], err_msg=name)
    (directory / "back.sgy").unlink(missing_ok=True)
    hs.segy.export(cube, directory / "back.sgy")
    assert sha256(directory / "back.sgy") == sha256(source)


def calls(source, directory):
    """Returns how often an ingest calls `progress`."""
    seen = []
    hs.segy.ingest(source, directory / "count.h5", progress=lambda *said: seen.append(said), **OPTIONS)
    assert seen == sorted(seen) and {total for _, total in seen} == {source.stat().st_size}
    assert seen[0][0] == 0 and seen[-1][0] == source.stat().st_size
    return len(seen)


class Enough(Exception):
    pass


def stops_after(count, error=Enough):
    left = iter(range(count))

    def progress(done, total):
        if next(left, None) is None:
            raise error

    return progress


@pytest.mark.soak
def test_an_ingest_stopped_by_any_call_of_progress_can_be_resumed(source, tmp_path):
    count = calls(source, tmp_path)
    assert count > 8
    for stop in range(count - 1):
        cube = tmp_path / f"{stop}.h5"
        error = KeyboardInterrupt if stop % 2 else Enough
        with pytest.raises(error):
            hs.segy.ingest(source, cube, progress=stops_after(stop, error), **OPTIONS)
        CHECKS.directory(tmp_path)
        for refuses in (hs.segy.open, lambda cube: hs.segy.export(cube, tmp_path / "none.sgy"), hs.segy.scan):
            with pytest.raises(OSError, match="interrupted"):
                refuses(cube)
        assert hs.segy.ingest(source, cube, **OPTIONS)["resumed"] == (stop > 0)
        assert_same_as_uninterrupted(source, cube)


def test_an_ingest_stopped_repeatedly_can_be_resumed_with_other_memory_limits(source, tmp_path):
    cube = tmp_path / "cube.h5"
    for memory in (7_000, 1, 1 << 20, 30_000):
        with pytest.raises(Enough):
            hs.segy.ingest(source, cube, progress=stops_after(2), **{**OPTIONS, "memory": memory})
    assert hs.segy.ingest(source, cube)["resumed"]
    assert_same_as_uninterrupted(source, cube)


@pytest.mark.parametrize("other", [(20, 6), (1000, 5)], ids=str)
def test_a_wrong_prediction_of_the_trace_order_restarts_the_ingest(tmp_path, other):
    # The first traces, the last and some between are sorted by inline, but two others are not.
    numbers = grid(range(40), range(30))
    numbers[605], numbers[606] = other, (20, 5)
    samples = some_values(5, (1200, 8))
    (tmp_path / "a.sgy").write_bytes(segy(samples, {INLINE: numbers[:, 0], CROSSLINE: numbers[:, 1]}))
    options = {"memory": 1, "chunks": (4, 30, 8)}
    # Progress reports the beginning of both attempts, and the pieces of the second.
    told = []
    hs.segy.ingest(tmp_path / "a.sgy", tmp_path / "whole.h5", progress=lambda done, total: told.append(done), **options)
    assert told.count(0) == 2
    for stop in (len(told) - 5, 1):
        with pytest.raises(Enough):
            hs.segy.ingest(tmp_path / "a.sgy", tmp_path / "a.h5", progress=stops_after(stop), **options)
    hs.segy.ingest(tmp_path / "a.sgy", tmp_path / "a.h5", memory=1)
    with hs.segy.open(tmp_path / "a.h5") as survey:
        np.testing.assert_array_equal(survey.trace(605), samples[605])
        np.testing.assert_array_equal(survey.inline(20)[5], samples[606])
        assert len(survey.axes["inline"]) == 40 + (other[0] == 1000)
    assert_same_as_uninterrupted(tmp_path / "a.sgy", tmp_path / "a.h5", **options, compression=None)


def test_resuming_an_ingest_with_another_geometry_is_refused(source, tmp_path):
    cube = tmp_path / "cube.h5"
    with pytest.raises(Enough):
        hs.segy.ingest(source, cube, progress=stops_after(5), **OPTIONS)
    with pytest.raises(ValueError, match="another geometry"):
        hs.segy.ingest(source, cube, kind="traces")
    assert hs.segy.ingest(source, cube, **OPTIONS)["resumed"]
    assert_same_as_uninterrupted(source, cube)


INGEST = """
import sys, time
import hyperslab as hs
number = 0

def progress(done, total):
    global number
    number += 1
    print(number, flush=True)
    if number == int(sys.argv[3]):
        time.sleep(2.1)
    time.sleep(0.01)

hs.segy.ingest(sys.argv[1], sys.argv[2], chunks=(4, 4, 16), compression="lzf", memory=1, progress=progress)
"""


def killed(source, cube, lines, pause=0):
    """Runs an ingest up to `lines` calls of progress and kills it. A pause at call `pause` lets it commit."""
    command = [sys.executable, "-c", INGEST, source, cube, str(pause)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(lines):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    return process.returncode


@pytest.mark.process
def test_a_killed_ingest_is_resumed_from_its_last_commit(source, tmp_path):
    cube = tmp_path / "cube.h5"
    assert killed(source, cube, lines=6, pause=4) == -signal.SIGKILL
    CHECKS.directory(tmp_path)
    with pytest.raises(OSError, match="interrupted after 3 pieces"):
        hs.segy.open(cube)
    told = []
    assert hs.segy.ingest(source, cube, progress=lambda done, total: told.append(done), **OPTIONS)["resumed"]
    assert told[0] > 0, "committed pieces are not ingested again"
    assert_same_as_uninterrupted(source, cube)


@pytest.mark.process
def test_an_ingest_killed_at_random_moments_can_be_resumed(source, tmp_path):
    moments = random.Random(7)
    cube = tmp_path / "cube.h5"
    for _ in range(4):
        killed(source, cube, lines=moments.randrange(8))
        CHECKS.directory(tmp_path)
    hs.segy.ingest(source, cube, **OPTIONS)
    assert_same_as_uninterrupted(source, cube)


def test_resuming_with_other_options_is_refused(source, tmp_path):
    cube = tmp_path / "cube.h5"
    with pytest.raises(Enough):
        hs.segy.ingest(source, cube, progress=stops_after(5), **OPTIONS)
    for other in (
        {"chunks": (4, 4, 8)},
        {"compression": "gzip"},
        {"compression": "lzf", "shuffle": True},
        {"depth": True},
    ):
        with pytest.raises(ValueError, match="omit these options to continue it"):
            hs.segy.ingest(source, cube, **other)
    with pytest.raises(ValueError, match="name the same bytes"):
        hs.segy.ingest(source, cube, x_byte=73, y_byte=77, **OPTIONS)
    assert hs.segy.ingest(source, cube)["resumed"]
    assert_same_as_uninterrupted(source, cube)


def test_overwrite_keeps_the_old_file_until_the_new_ingest_has_started(source, tmp_path):
    cube, link = tmp_path / "cube.h5", tmp_path / "link.h5"
    cube.write_bytes(b"mine")
    link.symlink_to(cube)
    with pytest.raises(ValueError, match="3 axes"):
        hs.segy.ingest(source, link, overwrite=True, chunks=(4, 4))
    assert cube.read_bytes() == b"mine"
    hs.segy.ingest(source, link, overwrite=True, **OPTIONS)
    assert link.is_symlink() and not list(tmp_path.glob("*.part"))
    with hs.segy.open(cube), pytest.raises(OSError, match="has it open"):
        hs.segy.ingest(source, link, overwrite=True, **OPTIONS)
    assert_same_as_uninterrupted(source, cube)


def test_an_existing_file_that_is_not_this_ingest_is_not_changed(source, tmp_path):
    cube = tmp_path / "cube.h5"
    hs.segy.ingest(source, cube, **OPTIONS)
    with pytest.raises(ValueError, match="exists"):
        hs.segy.ingest(source, cube)
    with hs.File(tmp_path / "other.h5", "w") as file:
        file["mine"] = 1
    with pytest.raises(ValueError, match="exists"):
        hs.segy.ingest(source, tmp_path / "other.h5")
    with pytest.raises(Enough):
        hs.segy.ingest(source, tmp_path / "part.h5", progress=stops_after(3), **OPTIONS)
    other = bytearray(source.read_bytes())
    other[100] ^= 1
    (tmp_path / "other.sgy").write_bytes(other)
    with pytest.raises(ValueError, match="exists, and is not an interrupted ingest of this SEG-Y file"):
        hs.segy.ingest(tmp_path / "other.sgy", tmp_path / "part.h5")
    hs.segy.ingest(tmp_path / "other.sgy", tmp_path / "part.h5", overwrite=True)
    hs.segy.open(tmp_path / "part.h5").close()
    with hs.File(tmp_path / "other.h5") as file:
        assert file["mine"][()] == 1


def test_an_empty_file_is_replaced_by_the_ingest(source, tmp_path):
    (tmp_path / "cube.h5").touch()
    assert not hs.segy.ingest(source, tmp_path / "cube.h5", **OPTIONS)["resumed"]
    assert_same_as_uninterrupted(source, tmp_path / "cube.h5")


def test_an_export_stopped_by_progress_leaves_no_file(source, tmp_path):
    hs.segy.ingest(source, tmp_path / "cube.h5", **OPTIONS)
    with pytest.raises(Enough):
        hs.segy.export(tmp_path / "cube.h5", tmp_path / "out.sgy", progress=stops_after(0))
    assert not list(tmp_path.glob("out.sgy*"))
    told = []
    hs.segy.export(tmp_path / "cube.h5", tmp_path / "out.sgy", progress=lambda *said: told.append(said))
    assert told[-1] == (source.stat().st_size,) * 2 or told[-1][0] <= told[-1][1]
    with pytest.raises(ValueError, match="exists"):
        hs.segy.export(tmp_path / "cube.h5", tmp_path / "out.sgy")
