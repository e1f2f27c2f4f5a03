"""Reading while another program writes (SWMR). Both hyperslab and h5py write, and both read."""

import subprocess
import sys

import h5py
import numpy as np
import pytest
from support import hs

ROWS = 600
# One for each index of chunks that allows SWMR; see `WRITER`.
KINDS = {
    "extensible array": {"shape": (0,), "maxshape": (None,), "chunks": (7,)},
    "extensible array, filtered": {"shape": (0,), "maxshape": (None,), "chunks": (7,), "compression": "gzip"},
    "b-tree": {"shape": (0, 3), "maxshape": (None, None), "chunks": (5, 2)},
    "b-tree, filtered": {"shape": (0, 3), "maxshape": (None, None), "chunks": (5, 2), "compression": "gzip"},
    "fixed array": {"shape": (0,), "maxshape": (ROWS,), "chunks": (3,)},
}
# Appends rows whose elements are the number of the row, and flushes after each append.
WRITER = """
import importlib, sys, time
import numpy as np
module, path, keywords, rows = importlib.import_module(sys.argv[1]), sys.argv[2], eval(sys.argv[3]), int(sys.argv[4])
with module.File(path, "w", libver="latest") as f:
    d = f.create_dataset("x", dtype="i8", **keywords)
    f.swmr_mode = True
    print("ready", flush=True)
    for first in range(0, rows, 13):
        last = min(first + 13, rows)
        d.resize((last,) + d.shape[1:])
        numbers = np.arange(first, last)
        d[first:last] = numbers if d.ndim == 1 else np.repeat(numbers[:, None], 3, axis=1)
        d.flush()
        time.sleep(0.002)
    print("written", flush=True)
    sys.stdin.read(1)
"""


def started(module, path, keywords):
    command = [sys.executable, "-c", WRITER, module.__name__, path, repr(keywords), str(ROWS)]
    writer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "ready\n"
    return writer


@pytest.mark.process
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("writing", "reading"), [(hs, h5py), (h5py, hs), (hs, hs)])
def test_a_reader_sees_only_whole_changes(tmp_path, writing, reading, kind):
    path = tmp_path / "f.h5"
    writer = started(writing, path, KINDS[kind])
    lengths = []
    with reading.File(path, "r", swmr=True) as f:
        assert f.swmr_mode
        dataset = f["x"]
        while not lengths or lengths[-1] < ROWS:
            dataset.refresh()
            lengths.append(dataset.shape[0])
            found = dataset[:]
            rows = np.arange(len(found)).reshape(-1, *[1] * (found.ndim - 1))
            assert len(found) == lengths[-1]
            assert np.array_equal(found, np.broadcast_to(rows, found.shape))
            assert writer.poll() is None
        writer.communicate("x")
    assert lengths == sorted(lengths)
    assert writer.returncode == 0
    with h5py.File(path) as f:
        assert np.array_equal(f["x"][:].reshape(ROWS, -1)[:, 0], np.arange(ROWS))


def test_all_other_changes_are_seen_by_h5py(tmp_path):
    path = tmp_path / "f.h5"
    with hs.File(path, "w") as f:
        dense = f.create_group("dense")
        for number in range(40):
            dense[f"link {number}"] = hs.SoftLink("/x")
        text = f.create_dataset("text", (3,), hs.string_dtype(), chunks=(2,))
        f["x"] = np.arange(5)
        f.swmr_mode = True
        for number in range(30):
            dense[f"more {number}"] = hs.SoftLink("/x")
            del dense[f"link {number}"]
            f.attrs[f"a{number}"] = number
            text[number % 3] = f"text {number}"
            f.flush()
            with h5py.File(path, "r", swmr=True) as reader:
                names = {f"link {n}" for n in range(number + 1, 40)} | {f"more {n}" for n in range(number + 1)}
                assert set(reader["dense"]) == names
                assert dict(reader.attrs) == {f"a{n}": n for n in range(number + 1)}
                assert reader["text"][number % 3] == f"text {number}".encode()
        f["x"][2] = 7
    with h5py.File(path) as reader:
        assert reader["x"][2] == 7
        assert len(reader["dense"]) == 40


def test_what_swmr_refuses(tmp_path):
    path = tmp_path / "f.h5"
    with hs.File(path, "w") as f:
        f.swmr_mode = True
        with pytest.raises(RuntimeError, match="already in SWMR"):
            f.swmr_mode = True
        with pytest.raises(ValueError, match="SWMR"), f.transaction():
            pass
        for module in (hs, h5py):
            code = f"import {module.__name__} as m; m.File({str(path)!r}, 'r+')"
            assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 1
    with h5py.File(path, "w", libver="latest") as f:
        f.flush()
        code = f"import hyperslab as m; m.File({str(path)!r}, 'r', swmr=True, locking=False)"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)
        assert "not for SWMR" in run.stderr


def test_a_file_of_a_writer_that_died_is_read_and_not_changed(tmp_path):
    path = tmp_path / "f.h5"
    writer = started(hs, path, KINDS["b-tree"])
    assert writer.stdout.readline() == "written\n"
    writer.kill()
    writer.communicate()
    with pytest.raises(OSError, match="died"):
        hs.File(path, "r+")
    for options in ({}, {"swmr": True}):
        with hs.File(path, **options) as f:
            assert np.array_equal(f["x"][:, 0], np.arange(ROWS))


def killed(module, path):
    """Kills a writer whose rows are all in the file, and returns its process."""
    writer = started(module, path, KINDS["extensible array"])
    assert writer.stdout.readline() == "written\n"
    writer.kill()
    writer.communicate()


# Exits as `hyperslab recover` does.
RECOVER = (
    "import sys; from hyperslab._native import run_cli; sys.exit(run_cli(['hyperslab', 'recover', *sys.argv[1:]]))"
)


def recover(path, *more):
    command = [sys.executable, "-c", RECOVER, *map(str, more), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.process
@pytest.mark.parametrize("writing", [hs, h5py])
def test_recover_takes_away_the_mark_of_a_writer_that_died(tmp_path, writing):
    path = tmp_path / "f.h5"
    killed(writing, path)
    image = path.read_bytes()
    with pytest.raises(hs.FormatError, match="hyperslab recover FILE"):
        hs.File(path, "r+")
    code, said = recover(path, "--dry-run")
    assert (code, path.read_bytes() == image) == (0, True), said
    assert "take away the mark" in said
    assert "done" not in said
    code, said = recover(path)
    assert (code, "done: take away the mark" in said) == (0, True), said
    for module in (h5py, hs):
        with module.File(path, "r+") as f:
            assert (f["x"][:] == np.arange(ROWS)).all()
            f.attrs[module.__name__] = 1
    assert not [finding for finding in hs.check(path, data=True) if finding.severity == "error"]
    code, said = recover(path)
    assert (code, said.endswith("nothing to do\n")) == (0, True), said


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the open files of others")
@pytest.mark.parametrize("writing", [hs, h5py])
def test_recover_leaves_the_mark_of_a_writer_that_lives(tmp_path, writing):
    path = tmp_path / "f.h5"
    writer = started(writing, path, KINDS["extensible array"])
    assert writer.stdout.readline() == "written\n"
    image = path.read_bytes()
    for more in (["--dry-run"], []):
        code, said = recover(path, *more)
        assert (code, path.read_bytes() == image) == (1, True), said
        assert "the mark stays" in said
        assert f"process {writer.pid}" in said
    writer.communicate("x")
    with h5py.File(path) as f:
        assert len(f["x"]) == ROWS


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="locks of Unix")
def test_recover_leaves_the_mark_of_a_file_that_a_process_has_locked(tmp_path):
    path = tmp_path / "f.h5"
    killed(hs, path)
    lock = (
        "import fcntl, sys; file = open(sys.argv[1]); fcntl.flock(file, fcntl.LOCK_SH); "
        "print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", lock, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        other.stdout.readline()
        code, said = recover(path)
        assert (code, "the mark stays" in said) == (1, True), said
        other.communicate("")
    assert recover(path)[0] == 0


@pytest.mark.process
def test_recover_leaves_the_mark_of_a_damaged_file(tmp_path):
    path = tmp_path / "f.h5"
    killed(hs, path)
    image = bytearray(path.read_bytes())
    at = image.index(b"OHDR")
    image[at + 8] ^= 0xFF
    path.write_bytes(image)
    code, said = recover(path)
    assert (code, path.read_bytes() == image) == (1, True), said
    assert "the mark stays" in said
    # Other tests' files are all sound.
    path.unlink()
