"""External raw data written by libhdf5, compared with h5py."""

import subprocess
import sys

import h5py
import hyperslab as hs
import numpy as np
import pytest

VALUES = np.arange(6000, dtype="<i4").reshape(60, 100)


@pytest.fixture
def split(tmp_path):
    """Returns the path of a file with a dataset in three parts of two external files.

    The last part is unlimited.
    """
    path, (a, b) = tmp_path / "x.h5", (tmp_path / "a.raw", tmp_path / "b.raw")
    parts = [(str(a), 10, 8000), (str(b), 0, 4000), (str(a), 9000, h5py.h5s.UNLIMITED)]
    with h5py.File(path, "w", libver="latest", userblock_size=512) as f:
        d = f.create_dataset("d", VALUES.shape, VALUES.dtype, external=parts)
        d[:] = VALUES
        f.create_dataset("inside", data=VALUES)
    return path


def test_external_data_written_by_h5py_are_read(split):
    with h5py.File(split) as theirs, hs.File(split) as ours:
        d = ours["d"]
        assert d.external == theirs["d"].external and ours["inside"].external is None
        assert d.shape == VALUES.shape and d.chunks is None
        for key in (np.s_[:], np.s_[3], np.s_[:, 7], np.s_[10:40:3, 5:90], np.s_[59, 99], np.s_[[1, 5, 9], 20:30]):
            assert np.array_equal(d[key], VALUES[key])
        assert np.array_equal(d.astype("f8")[5:25], VALUES[5:25].astype("f8"))
        assert d.nbytes == VALUES.nbytes


def test_external_data_beyond_the_end_of_the_external_file_are_zeros(split):
    with open(split.with_name("a.raw"), "r+b") as raw:
        raw.truncate(9100)
    with h5py.File(split) as theirs, hs.File(split) as ours:
        found = ours["d"][:]
        assert np.array_equal(found, theirs["d"][:]) and not found.flat[-1]


def test_the_error_names_a_missing_external_file_and_other_data_are_read(split):
    split.with_name("b.raw").unlink()
    with hs.File(split) as f:
        assert np.array_equal(f["d"][:20], VALUES[:20])
        with pytest.raises(OSError, match="external raw data file .*b.raw"):
            f["d"][:]
        assert np.array_equal(f["inside"][:], VALUES)


@pytest.mark.parametrize("what", ["folder", "pipe"])
def test_an_external_file_that_is_not_a_regular_file_is_refused(split, what):
    raw = split.with_name("b.raw")
    raw.unlink()
    if what == "folder":
        raw.mkdir()
    else:
        subprocess.run(["mkfifo", raw], check=True)
    with hs.File(split) as f, pytest.raises(OSError, match="not a regular file"):
        f["d"][:]


@pytest.mark.process
def test_external_files_are_looked_up_in_the_working_directory_the_prefix_or_beside_the_file(tmp_path, monkeypatch):
    for folder in ("home", "away", "elsewhere"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "home")
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", data=np.full(5, 1), external=[("d.raw", 0, 40)])
    np.full(5, 2).tofile(tmp_path / "away" / "d.raw")
    np.full(5, 3).tofile(tmp_path / "elsewhere" / "d.raw")
    read = f"import hyperslab as hs; print(hs.File({str(tmp_path / 'home' / 'x.h5')!r})['d'][0])"
    for folder, prefix, found in [
        ("home", None, 1),
        ("away", None, 2),
        ("elsewhere", "", 3),
        (".", None, 1),
        ("away", "${ORIGIN}", 1),
        ("away", str(tmp_path / "elsewhere"), 3),
    ]:
        monkeypatch.delenv("HDF5_EXTFILE_PREFIX", raising=False)
        if prefix is not None:
            monkeypatch.setenv("HDF5_EXTFILE_PREFIX", prefix)
        run = subprocess.run([sys.executable, "-c", read], cwd=tmp_path / folder, capture_output=True, check=True)
        assert int(run.stdout) == found, (folder, prefix)


def test_external_parts_smaller_than_the_dataset_are_an_error(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as f:
        f.create_dataset("d", (10,), "<i4", external=[(str(tmp_path / "d.raw"), 0, 40)])
    raw = path.read_bytes()
    part = (0).to_bytes(8, "little") + (40).to_bytes(8, "little")
    assert raw.count(part) == 1
    path.write_bytes(raw.replace(part, part[:8] + (39).to_bytes(8, "little")))
    with hs.File(path) as f, pytest.raises(OSError, match="Size of external data"):
        f["d"][:]


def test_values_are_written_to_external_files(split):
    with hs.File(split, "r+") as f:
        f["d"][0] = 5
        f["inside"][0] = 5
    with h5py.File(split) as f:
        assert np.array_equal(f["d"][1:], VALUES[1:]) and (f["d"][0] == 5).all()
        assert (f["inside"][0] == 5).all()


@pytest.mark.parametrize("writer, reader", [(hs, h5py), (h5py, hs)], ids=["by hyperslab", "by h5py"])
def test_external_data_are_made_by_one_library_and_read_by_the_other(tmp_path, writer, reader):
    parts = [(str(tmp_path / "one.raw"), 3, 8 * 7), (str(tmp_path / "two.raw"), 0, h5py.h5f.UNLIMITED)]
    with writer.File(tmp_path / "x.h5", "w") as f:
        made = f.create_dataset("d", (30,), "i8", external=parts, maxshape=(None,))
        made[:20] = np.arange(20)
        made[25:] = 7
    with reader.File(tmp_path / "x.h5") as f:
        assert f["d"][:].tolist() == [*range(20), *[0] * 5, *[7] * 5]
        assert [tuple(part) for part in f["d"].external][1][0] == parts[1][0]
    raw = (tmp_path / "one.raw").read_bytes()
    assert np.frombuffer(raw[3:], "i8").tolist() == list(range(7))
