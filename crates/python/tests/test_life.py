"""The life of a file: closing, opening twice in one process, refreshing after another process wrote."""

import gc
import io
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import h5py
import numpy as np
import pytest
from support import IS_H5PY, hs

ours = pytest.mark.skipif(IS_H5PY, reason="h5py behaves differently")


def descriptors(path):
    """Returns the number of file descriptors of this process that are open on the file."""
    path = os.path.realpath(path)
    fds = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
    return sum(os.path.exists(fd) and os.path.realpath(fd) == path for fd in fds)


linux = pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc/self/fd of Linux")


@linux
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_closing_a_file_closes_its_descriptor_even_if_objects_are_left(tmp_path, mode):
    path = tmp_path / "f.h5"
    with hs.File(path, "w") as f:
        f["x"] = np.arange(10)
    f = hs.File(path, mode)
    dataset, group = f["x"], f["/"]
    assert descriptors(path) == 1
    f.close()
    assert descriptors(path) == 0
    for use in (lambda: dataset[0], lambda: list(group), lambda: f["x"], lambda: dataset.attrs["a"]):
        with pytest.raises((ValueError, KeyError, OSError, RuntimeError)):
            use()
    assert not dataset and not group and not f


@linux
def test_a_file_is_closed_with_its_last_handle(tmp_path):
    path = tmp_path / "f.h5"
    f = hs.File(path, "w")
    dataset = f.create_dataset("x", data=np.arange(10))
    del f
    gc.collect()
    assert (dataset[:] == np.arange(10)).all() and descriptors(path) == 1
    del dataset
    gc.collect()
    assert descriptors(path) == 0
    with h5py.File(path, "r") as f:
        assert (f["x"][:] == np.arange(10)).all()


@ours
@pytest.mark.parametrize("is_closed", [True, False])
def test_a_file_in_memory_is_written_to_its_backing_store_when_it_is_closed(tmp_path, is_closed):
    path = tmp_path / "f.h5"
    f = hs.File(path, "w", driver="core")
    f["x"] = np.arange(10)
    assert not path.exists()
    f.flush()
    with h5py.File(path, "r") as written:
        assert list(written) == ["x"]
    f["y"] = 1
    if is_closed:
        f.close()
    del f
    gc.collect()
    with h5py.File(path, "r") as written:
        assert list(written) == ["x", "y"]


def test_closing_flushes_the_file_object():
    class Holding(io.BytesIO):
        flushed = 0

        def flush(self):
            self.flushed = len(self.getvalue())

    held = Holding()
    with hs.File(held, "w") as f:
        f["x"] = np.arange(10)
    assert held.flushed == len(held.getvalue()) > 0
    # A file object that is only read may be closed before the file.
    f = hs.File(held, "r")
    held.close()
    f.close()


# Two openings.


def names(path):
    """Returns three paths of the file: its own, a symbolic link and a hard link."""
    link, hard = path.with_name("link.h5"), path.with_name("hard.h5")
    link.symlink_to(path)
    os.link(path, hard)
    return path, link, hard


@pytest.mark.parametrize("first", ["r", "r+", "a", "w"])
def test_opening_an_open_file_again_behaves_as_in_h5py(tmp_path, first):
    path = tmp_path / "f.h5"
    with h5py.File(path, "w") as f:
        f["x"] = [1, 2, 3]
    mode = "r" if first == "r" else "r+"
    with hs.File(path, first) as f:
        f.require_dataset("x", (3,), "i8") if first == "w" else None
        for name in names(path):
            for second in ("r", "r+", "a") if mode == "r+" else ("r",):
                with hs.File(name, second) as again:
                    assert (again.mode, again.filename, again == f) == (mode, str(name), True)
                    assert again["x"] == f["x"] and again["x"].shape == (3,)
                assert not again and f and f["x"].shape == (3,)
        for second, why in [("w", "truncate"), ("x", "exists"), ("w-", "exists")] + [
            (second, "already open read-only") for second in ("r+", "a") if mode == "r"
        ]:
            with pytest.raises(OSError, match=why):
                hs.File(path, second)
        with pytest.raises(OSError, match="locking flag values don't match"):
            hs.File(path, "r", locking=False)
    with hs.File(path, "w"):
        pass


def test_two_openings_of_a_file_share_all_changes(tmp_path):
    path = tmp_path / "f.h5"
    first = hs.File(path, "w")
    first["x"] = np.arange(10)
    second = hs.File(path, "r")
    mine, theirs = first["x"], second["x"]
    first["x"][3] = 33
    assert theirs[3] == 33
    first.close()
    assert not mine and theirs
    with pytest.raises((ValueError, KeyError, OSError, RuntimeError)):
        mine[0]
    second["y"] = theirs[()]
    theirs[4] = 44
    second.close()
    with h5py.File(path, "r") as f:
        assert f["x"][3:5].tolist() == [33, 44] and f["y"][3] == 33


@ours
def test_opening_an_open_file_with_a_stronger_durability_is_refused(tmp_path):
    with hs.File(tmp_path / "f.h5", "w"):
        with pytest.raises(OSError, match="loss of power"):
            hs.File(tmp_path / "f.h5", "r+", durability="power")
    with hs.File(tmp_path / "f.h5", "r+", durability="power"):
        hs.File(tmp_path / "f.h5", "r+").close()


def test_running_a_notebook_cell_again_opens_the_file_again(tmp_path):
    """The variable keeps the old file open until the new file is assigned."""
    path = tmp_path / "f.h5"
    for number in range(3):
        f = hs.File(path, "a")
        f.require_dataset("x", (10,), "i4")[number] = number + 1
    f.close()
    with h5py.File(path, "r") as f:
        assert f["x"][:4].tolist() == [1, 2, 3, 0]


def test_threads_open_and_close_one_file_at_the_same_time(tmp_path):
    path = tmp_path / "f.h5"
    failed = []

    def work(number):
        try:
            for turn in range(10):
                with hs.File(path, "a") as f:
                    f.create_group(f"{number} {turn}")
        except Exception as error:  # noqa: BLE001  (checked below)
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failed
    with h5py.File(path, "r") as f:
        assert len(f) == 40


@ours
def test_an_external_link_to_a_file_open_for_writing_is_followed(tmp_path):
    with hs.File(tmp_path / "to.h5", "w") as to, hs.File(tmp_path / "from.h5", "w") as f:
        to["x"] = [1, 2]
        f["there"], f["here"] = hs.ExternalLink("to.h5", "x"), hs.ExternalLink("from.h5", "/")
        to["x"][0] = 9
        assert f["there"][:].tolist() == [9, 2] and f["there"].file == to
        assert f["there"].file.mode == "r+" and list(f["here"]) == ["here", "there"]


# Other processes.

OTHER = """
import sys
import {module} as hs
with hs.File(sys.argv[1], {mode!r}) as f:
    print("open", flush=True)
    sys.stdin.readline()
"""


def other(path, mode, module="hyperslab"):
    """Starts a process that keeps the file open until its input ends."""
    command = [sys.executable, "-c", OTHER.format(mode=mode, module=module), path]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "open\n"
    return process


@pytest.mark.soak
@ours
@pytest.mark.parametrize("module", ["hyperslab", "h5py"])
def test_a_file_locked_by_another_process_raises_a_blocking_io_error_that_names_the_process(tmp_path, module):
    path = tmp_path / "f.h5"
    hs.File(path, "w").close()
    for theirs, mine in (("r+", "r"), ("r+", "r+"), ("r", "r+"), ("r", "w")):
        process = other(path, theirs, module)
        with pytest.raises(BlockingIOError, match="unable to lock the file") as caught:
            hs.File(path, mine)
        assert caught.value.errno in (11, 35)
        if os.path.exists("/proc/locks"):
            assert f"process {process.pid} (python" in str(caught.value)
        process.communicate("\n")
        assert process.returncode == 0
    hs.File(path, "r+").close()


WRITER = """
import sys
import numpy as np
import {module} as hs
f = hs.File(sys.argv[1], "w", **{options})
d = f.create_dataset("x", (0,), "i4", maxshape=(None,), chunks=(8,), compression="gzip")
for line in sys.stdin:
    d.resize((int(line),))
    d[:] = np.arange(int(line))
    d.attrs["len"] = int(line)
    d.flush()
    f.flush()
    print("written", flush=True)
f.close()
"""


@pytest.mark.parametrize("module", ["hyperslab", "h5py"])
def test_refresh_shows_what_another_process_has_written(tmp_path, module):
    if IS_H5PY:
        return
    path = tmp_path / "f.h5"
    options = {"libver": "latest", "locking": False}
    command = [sys.executable, "-c", WRITER.format(module=module, options=options), path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:

        def write(length):
            writer.stdin.write(f"{length}\n")
            writer.stdin.flush()
            assert writer.stdout.readline() == "written\n"

        write(5)
        with hs.File(path, "r", locking=False) as f:
            dataset = f["x"]
            for length, refresh in ((5, f.refresh), (6, f.refresh), (300, dataset.refresh), (4, dataset.refresh)):
                write(length)
                refresh()
                assert dataset.shape == (length,) and dataset.attrs["len"] == length
                # Repeated small reads, so that the chunk is cached.
                assert all(dataset[length - 1] == length - 1 for _ in range(5))
                assert np.array_equal(dataset[()], np.arange(length))
            refresh()
            assert np.array_equal(f["x"][()], np.arange(4))
        writer.stdin.close()


@ours
def test_swmr_is_refused_by_name(tmp_path):
    path = tmp_path / "f.h5"
    with hs.File(path, "w", libver="v108") as f:
        with pytest.raises(RuntimeError, match="superblock version"):
            f.swmr_mode = True
        with pytest.raises(ValueError, match="switch SWMR mode off"):
            f.swmr_mode = False
        assert f.swmr_mode is False
    with hs.File(path) as f, pytest.raises(RuntimeError, match="no write intent"):
        f.swmr_mode = True
    for mode in ("r+", "a", "w"):
        with pytest.warns(UserWarning, match="only affects read"), hs.File(path, mode, swmr=True) as f:
            assert f.swmr_mode is False


@pytest.mark.process
@ours
def test_an_invalid_number_of_threads_is_warned_of_once():
    code = "import hyperslab as hs; print(hs.get_threads() > 0)"
    for asked, is_warned in (("abc", True), ("0", True), ("-1", True), ("1.5", True), ("2", False), ("", False)):
        environment = os.environ | {"HYPERSLAB_THREADS": asked}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert done.stdout == "True\n", done.stderr
        assert done.stderr.count(f"HYPERSLAB_THREADS={asked} is not a number of threads") == is_warned, done.stderr
        assert ("RuntimeWarning" in done.stderr) == is_warned


@ours
def test_a_new_file_with_a_user_block_replaces_a_file_without_one(tmp_path):
    path = tmp_path / "f.h5"
    with hs.File(path, "w") as f:
        f["old"] = 1
    with hs.File(path, "w", userblock_size=512) as f:
        f["new"] = 1
    assert Path(path).read_bytes()[:512] == bytes(512)
    for module in (hs, h5py):
        with module.File(path, "r") as f:
            assert list(f) == ["new"] and re.fullmatch("512", str(f.userblock_size))


FULL_DISK = """
import resource, signal, sys
import hyperslab as hs, numpy as np
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
with hs.File(sys.argv[1], "w") as f:
    f["a"] = np.arange(1000)
    for make in (
        lambda: f.__setitem__("plain", np.ones(1 << 20)),
        lambda: f.create_dataset("plain", data=np.ones(1 << 20)),
        lambda: f.create_dataset("chunked", data=np.random.default_rng(1).random(1 << 20), chunks=(4096,)),
    ):
        try:
            make()
        except OSError as error:
            assert "large" in str(error), error
        else:
            raise AssertionError("the write succeeded on a full disk")
    f["b"] = 5
"""


def test_a_dataset_that_does_not_fit_on_the_disk_is_not_created(tmp_path):
    path = tmp_path / "x.h5"
    subprocess.run([sys.executable, "-c", FULL_DISK, path], check=True)
    with h5py.File(path) as f:
        assert list(f) == ["a", "b"] and np.array_equal(f["a"][:], np.arange(1000))
