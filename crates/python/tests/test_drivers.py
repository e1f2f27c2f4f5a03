"""Files read through rings of the kernel and from mappings; files in memory; what `driver_info` says."""

import os
import pickle
import signal
import subprocess
import sys
import threading

import h5py
import numpy as np
import pytest
from support import hs

PLANES = np.arange(64 * 64 * 64, dtype="<f4").reshape(64, 64, 64)
RECORDS = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "<i4"), ("b", "<f8")])
DRIVERS = [{"driver": "io_uring"}, {"driver": "io_uring", "direct": True, "queue_depth": 3}, {"driver": "mmap"}]


@pytest.fixture
def path(tmp_path):
    """A file of h5py with datasets of several layouts."""
    found = tmp_path / "planes.h5"
    with h5py.File(found, "w") as file:
        file["plain"] = PLANES
        file.create_dataset("chunked", data=PLANES, chunks=(16, 16, 16))
        file.create_dataset("filtered", data=PLANES, chunks=(16, 16, 16), compression="gzip", shuffle=True)
        file["records"] = RECORDS
        file["big endian"] = np.arange(5, dtype=">i8")
        file["flags"] = np.array([True, False, True])
        file["names"] = np.array([b"ab", b"c"])
        file["words"] = ["a", "longer"]
        file["number"] = 7
        file.create_dataset("empty", (0, 3), "f8")
        file.create_dataset("unwritten", (4,), "f8")
    return found


@pytest.mark.parametrize("options", DRIVERS, ids=str)
def test_every_layout_is_read_as_by_h5py(path, options):
    selections = [np.s_[...], np.s_[5], np.s_[:, 7], np.s_[::3, 1:60:7, 33], np.s_[[1, 5, 63], 2:4]]
    with hs.File(path, **options) as ours, h5py.File(path) as theirs:
        assert ours.driver == options["driver"]
        for name in ("plain", "chunked", "filtered"):
            for selection in selections:
                np.testing.assert_array_equal(ours[name][selection], theirs[name][selection])
        for name in ("records", "big endian", "flags", "names", "words", "number", "empty", "unwritten"):
            np.testing.assert_array_equal(ours[name][()], theirs[name][()])


def test_what_a_driver_does_is_said(path):
    with hs.File(path) as file:
        assert file.driver_info() == {
            "driver": "sec2",
            "queue_depth": 256,
            "direct": False,
            "registered_buffers": False,
            "fallback": None,
        }
    with hs.File(path, queue_depth=7) as file:
        assert file.driver_info()["queue_depth"] == 7
    with hs.File(path, driver="io_uring", direct=True, queue_depth=5) as file:
        found = file.driver_info()
        assert (found["driver"], found["queue_depth"], found["direct"], found["fallback"]) == (
            "io_uring",
            5,
            True,
            None,
        )
    with hs.File(path, driver="mmap") as file:
        assert file.driver_info()["driver"] == "mmap"


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"queue_depth": 0}, ValueError, "from 1 to 1024"),
        ({"queue_depth": 1025}, ValueError, "from 1 to 1024"),
        ({"queue_depth": "many"}, ValueError, "from 1 to 1024"),
        ({"direct": True}, TypeError, "'direct' is an invalid keyword"),
        ({"driver": "mmap", "queue_depth": 3}, TypeError, "'queue_depth' is an invalid keyword"),
        ({"driver": "io_uring", "direct": "yes"}, TypeError, "bool"),
        ({"driver": "mmap", "mode": "r+"}, ValueError, "can only be read"),
        ({"driver": "mmap", "mode": "w"}, ValueError, "can only be read"),
        ({"driver": "mmap", "swmr": True}, ValueError, "can only be read"),
    ],
)
def test_options_that_make_no_sense_are_refused(path, options, error, text):
    before = path.read_bytes()
    with pytest.raises(error, match=text):
        hs.File(path, **options)
    assert path.read_bytes() == before


def test_a_file_is_written_and_read_through_rings(tmp_path):
    path = tmp_path / "new.h5"
    with hs.File(path, "w", driver="io_uring", direct=True) as file:
        made = file.create_dataset("planes", data=PLANES, chunks=(16, 64, 64), compression="lzf")
        np.testing.assert_array_equal(made[3:40], PLANES[3:40])
        file.flush()
        made[5] = 1
        np.testing.assert_array_equal(made[4:7, 0, 0], [PLANES[4, 0, 0], 1, PLANES[6, 0, 0]])
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["planes"][6:], PLANES[6:])


@pytest.mark.parametrize("options", DRIVERS, ids=str)
def test_threads_and_a_forked_child_read_at_the_same_time(path, options):
    with hs.File(path, **options) as file:
        wrong = []

        def read(number):
            for turn in range(20):
                plane = (number * 7 + turn) % 64
                if not np.array_equal(file["filtered"][:, plane], PLANES[:, plane]):
                    wrong.append(plane)

        threads = [threading.Thread(target=read, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        child = os.fork()
        if child == 0:
            right = all(np.array_equal(file[name][9:20], PLANES[9:20]) for name in ("plain", "chunked", "filtered"))
            os._exit(0 if right else 1)
        for thread in threads:
            thread.join()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert not wrong


def test_a_pickled_handle_opens_its_file_with_the_same_driver(path):
    with hs.File(path, driver="io_uring", queue_depth=9) as file:
        dataset = pickle.loads(pickle.dumps(file["plain"]))
        assert dataset.file.driver_info()["queue_depth"] == 9
        np.testing.assert_array_equal(dataset[2], PLANES[2])


def test_a_view_is_an_array_over_the_file(path):
    with hs.File(path, driver="mmap") as file:
        views = {name: file[name].view() for name in ("plain", "records", "flags", "names", "number", "empty")}
        views["big endian"] = file["big endian"].view()
        again = file["plain"].view()
    with h5py.File(path) as theirs:
        for name, view in views.items():
            assert view.dtype == theirs[name].dtype
            assert view.shape == theirs[name].shape
            np.testing.assert_array_equal(view, theirs[name][()])
    assert np.shares_memory(views["plain"], views["plain"][3])
    assert not views["plain"].flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        views["plain"].flags.writeable = True
    assert again.__array_interface__["data"] == views["plain"].__array_interface__["data"]


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("chunked", ValueError, "not contiguous"),
        ("filtered", ValueError, "not contiguous"),
        ("unwritten", ValueError, "never written"),
        ("words", TypeError, "not stored as NumPy"),
    ],
)
def test_elements_without_a_view_are_refused(path, name, error, text):
    with hs.File(path, driver="mmap") as file, pytest.raises(error, match=text):
        file[name].view()


def test_a_file_that_is_not_mapped_has_no_views(path):
    with hs.File(path) as file, pytest.raises(ValueError, match="driver mmap"):
        file["plain"].view()


@pytest.mark.damages
def test_a_read_of_a_mapped_file_that_was_cut_is_an_error(path):
    with hs.File(path, driver="mmap") as file:
        dataset, filtered = file["plain"], file["filtered"]
        os.truncate(path, 5000)
        for read in (lambda: dataset[3], lambda: dataset[()], lambda: filtered[...], dataset.view):
            with pytest.raises(OSError, match="cut short"):
                read()


@pytest.mark.damages
def test_a_program_that_uses_a_view_of_lost_elements_is_killed(path):
    code = f"""
import os
import hyperslab as hs
view = hs.File({str(path)!r}, driver="mmap")["plain"].view()
os.truncate({str(path)!r}, 5000)
view.sum()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == -signal.SIGBUS


def test_the_bytes_of_a_file_are_returned_with_all_changes(tmp_path):
    path = tmp_path / "new.h5"
    with hs.File(path, "w") as file:
        file["levels"] = [1000, 850]
        image = file.to_bytes()
        assert image == path.read_bytes()
    with h5py.File(path, "r", driver="core", backing_store=False) as theirs:
        assert theirs["levels"][1] == 850
    with hs.File.in_memory(image) as file:
        file["levels"][0] = 1
        assert hs.File.from_bytes(file.to_bytes())["levels"][0] == 1


def test_a_file_in_memory_is_written_once_for_its_changes(tmp_path):
    path = tmp_path / "core.h5"
    with hs.File(path, "w", driver="core") as file:
        file["levels"] = [1000, 850]
        file.flush()
        written = path.stat().st_ino, path.stat().st_mtime_ns
        file.flush()
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == written
    with hs.File(path, "r+", driver="core"):
        pass
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == written
    with h5py.File(path) as theirs:
        assert theirs["levels"][0] == 1000


def test_handles_of_several_drivers_read_one_file(path):
    with hs.File(path) as plain, hs.File(path, driver="mmap") as mapped, hs.File(path, driver="io_uring") as ring:
        assert [file.driver_info()["driver"] for file in (plain, mapped, ring)] == ["sec2", "mmap", "io_uring"]
        for file in (plain, mapped, ring):
            np.testing.assert_array_equal(file["filtered"][7], PLANES[7])
        with hs.File(path, driver="mmap") as again:
            assert again["plain"].view()[1, 2, 3] == PLANES[1, 2, 3]
        with pytest.raises(OSError, match="read-only in this process"):
            hs.File(path, "r+")


def test_a_file_that_is_being_changed_is_not_mapped(path):
    with hs.File(path, "r+") as changed:
        with pytest.raises(OSError, match="cannot be mapped"):
            hs.File(path, driver="mmap")
        with hs.File(path, driver="io_uring") as joined:
            changed["plain"][0, 0, 0] = 5
            assert joined["plain"][0, 0, 0] == 5
            assert joined.driver_info()["driver"] == "sec2"
