"""Mode "w" over an existing file, and a program that dies before its first flush (decision 0040)."""

import os
import random
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
from soundness import CHECKS
from support import IS_H5PY, hs

pytestmark = pytest.mark.skipif(IS_H5PY, reason="libhdf5 does not promise this")

KEYWORDS = [{}, {"libver": "earliest"}, {"libver": "latest"}, {"userblock_size": 1024}, {"fs_strategy": "page"}]


def in_child(function):
    """Runs a function in a forked child, which dies without closing the file that the function returns."""
    child = os.fork()
    if child == 0:
        try:
            open_file = function()
            assert open_file
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


def old_file(path, module=hs):
    with module.File(path, "w") as f:
        f["old"] = np.arange(50_000)


@pytest.mark.process
@pytest.mark.parametrize("keywords", KEYWORDS, ids=str)
@pytest.mark.parametrize("exists", [True, False])
def test_a_program_that_dies_before_its_first_flush_leaves_an_empty_file(tmp_path, keywords, exists):
    path = tmp_path / "f.h5"
    if exists:
        old_file(path, h5py)

    def write():
        f = hs.File(path, "w", **keywords)
        f["new"] = np.arange(100_000)
        f.create_dataset("chunks", data=np.arange(100_000), chunks=(1000,), compression="gzip")
        f.attrs["a"] = 1
        return f

    in_child(write)
    CHECKS.directory(tmp_path)
    for module in (h5py, hs):
        with module.File(path, "r") as f:
            assert list(f) == [] and dict(f.attrs) == {}
    with hs.File(path, "r+") as f:
        f["after"] = [1, 2]
    with h5py.File(path) as f:
        assert list(f) == ["after"] and f["after"][1] == 2
    with h5py.File(path, "a") as f:
        f["again"] = [3]
    assert path.stat().st_size < 100_000


@pytest.mark.process
@pytest.mark.parametrize("mode", ["w", "x", "a"])
def test_a_new_file_is_one_from_the_beginning(tmp_path, mode):
    path = tmp_path / "f.h5"
    in_child(lambda: hs.File(path, mode))
    with h5py.File(path) as f:
        assert list(f) == []


WRITER = """
import sys
import numpy as np
import hyperslab as hs

print("begun", flush=True)
while True:
    with hs.File(sys.argv[1], "w") as f:
        f["d"] = np.arange(20_000)
        f.create_dataset("c", data=np.arange(5_000), chunks=(500,), compression="gzip")
"""


@pytest.mark.process
def test_a_program_that_replaces_a_file_again_and_again_leaves_one_at_any_moment(tmp_path):
    path, moments, seen = tmp_path / "f.h5", random.Random(3), {"old": 0, "empty": 0, "new": 0}
    for _ in range(60 if os.environ.get("HYPERSLAB_SOAK") else 12):
        old_file(path)
        with subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE) as writer:
            assert writer.stdout.readline()
            time.sleep(moments.uniform(0, 0.02))
            writer.kill()
        with hs.File(path, "r") as f:
            if "old" in f:
                seen["old"] += 1
            elif "d" in f:
                assert (f["d"][:] == np.arange(20_000)).all() and (f["c"][:] == np.arange(5_000)).all()
                seen["new"] += 1
            else:
                assert list(f) == []
                seen["empty"] += 1
        CHECKS.directory(tmp_path)
    assert seen["empty"] + seen["new"] > 0
    CHECKS.said.append(f"killed while it replaced a file: {seen}")


def test_a_replaced_file_keeps_its_permissions_links_and_identity(tmp_path):
    path, link, soft = tmp_path / "f.h5", tmp_path / "hard.h5", tmp_path / "soft.h5"
    old_file(path)
    os.chmod(path, 0o640)
    os.link(path, link)
    soft.symlink_to(path.name)
    inode = path.stat().st_ino
    with hs.File(soft, "w") as f:
        with pytest.raises(OSError, match="already open"):
            hs.File(link, "w")
        with hs.File(link, "r") as again:
            f["new"] = 1
            assert "new" in again
    assert soft.is_symlink() and path.stat().st_ino == inode and path.stat().st_mode & 0o777 == 0o640
    with h5py.File(link) as f:
        assert list(f) == ["new"]


def test_a_file_that_another_program_has_open_is_not_touched(tmp_path):
    path = tmp_path / "f.h5"
    old_file(path)
    before = path.read_bytes()
    with h5py.File(path, "r"), pytest.raises(BlockingIOError):
        hs.File(path, "w")
    assert path.read_bytes() == before
