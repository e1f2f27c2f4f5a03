"""Kills a program that writes with the package, again and again. No flushed data are lost."""

import contextlib
import os
import random
import subprocess
import sys
import threading
import time

import h5py
import numpy as np
import pytest
from soundness import CHECKS
from support import IS_H5PY, hs

pytestmark = pytest.mark.skipif(IS_H5PY, reason="libhdf5 does not promise this")

KILLS = 60 if os.environ.get("HYPERSLAB_SOAK") else 6
ROWS = 20

WRITER = """
import sys
import threading
import numpy as np
import hyperslab as hs

ROWS = 20
with hs.File(sys.argv[1], "r+") as f:
    step = int(f.attrs["last"])
    while True:
        step += 1
        with f.transaction():
            series = f["series"]
            series.resize(step * ROWS, axis=0)
            series[-ROWS:] = np.arange((step - 1) * ROWS, step * ROWS)
            group = f.create_group(f"steps/{step}")
            group.attrs["number"] = step
            group["values"] = np.full(step % 50, step)
            if step > 15:
                del f[f"steps/{step - 15}"]
            f.attrs["last"] = step
        print("flushed", step, flush=True)
"""


def killed(path, moment):
    """Kills the writer `moment` seconds after its first step.

    Returns the last step that it reported as flushed.
    """
    with subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True) as writer:
        said = [writer.stdout.readline()]
        assert said[0], "the writer ended before it was killed"
        time.sleep(moment)
        writer.kill()
        said += writer.stdout.readlines()
    return max(int(line.split()[1]) for line in said if line.endswith("\n"))


def last_step(file):
    """Asserts that the file has exactly the changes up to its last step, and returns that step."""
    last = int(file.attrs["last"])
    assert np.array_equal(file["series"][()], np.arange(last * ROWS))
    steps = range(max(last - 15, 0) + 1, last + 1)
    assert sorted(file["steps"], key=int) == [str(step) for step in steps]
    for step in steps:
        assert file[f"steps/{step}"].attrs["number"] == step
        assert np.array_equal(file[f"steps/{step}/values"][()], np.full(step % 50, step))
    return last


@pytest.mark.process
@pytest.mark.parametrize("libver", ["earliest", "v108", "v110"])
def test_a_killed_writer_loses_no_flushed_data(tmp_path, libver):
    path, moments = tmp_path / "f.h5", random.Random(libver)
    with hs.File(path, "w", libver=libver) as f:
        f.create_dataset("series", (0,), dtype="i8", maxshape=(None,), chunks=(64,), compression="gzip")
        f.create_group("steps")
        f.attrs["last"] = 0
    for _ in range(KILLS):
        flushed = killed(path, moments.uniform(0, 0.1))
        CHECKS.directory(tmp_path)
        # h5py does not recover the file: it sees the state after a step, or refuses the file.
        try:
            with h5py.File(path, "r") as f:
                seen = last_step(f)
        except OSError:
            seen = None
        with hs.File(path, "r") as f:
            found = last_step(f)
        assert found >= flushed and seen in (None, found, found - 1), (flushed, seen, found)
        # Opening the file for writing recovers it, and then every program can read it.
        with hs.File(path, "r+") as f:
            assert last_step(f) == found
        CHECKS.directory(tmp_path)
        with h5py.File(path, "r") as f:
            assert last_step(f) == found
    assert found >= KILLS
    CHECKS.said.append(f"killed writers ({libver}): {KILLS} kills, {found} steps")


@pytest.mark.parametrize("keywords", [{}, {"chunks": (100,)}, {"chunks": (100,), "maxshape": (None,)}], ids=str)
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_strings_written_over_flushed_ones_survive_a_kill_and_a_roll_back(tmp_path, keywords, libver):
    path, old, new = tmp_path / "f.h5", ["old" * 300] * 500, ["7" * 700] * 500
    with hs.File(path, "w", libver=libver) as f:
        f.create_dataset("d", data=old, dtype=hs.string_dtype(), **keywords)
    child = os.fork()
    if child == 0:
        f = hs.File(path, "r+")
        f["d"][...] = new
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    with hs.File(path, "r+") as f:
        assert f["d"].asstr()[:].tolist() == old
        with pytest.raises(KeyError), f.transaction():
            f["d"][...] = new
            f["d"][5] = "another"
            raise KeyError
        f["x"] = np.full(2_000_000, 1, "u1")
        assert f["d"].asstr()[:].tolist() == old
        f["d"][7] = "new"
        f["d"][9] = "newer"
    old[7], old[9] = "new", "newer"
    with h5py.File(path) as f:
        assert f["d"].asstr()[:].tolist() == old


def test_strings_of_one_thread_survive_roll_backs_of_another(tmp_path):
    path, done = tmp_path / "f.h5", threading.Event()
    with hs.File(path, "w") as f:
        d = f.create_dataset("d", data=["old" * 300] * 200, dtype=hs.string_dtype())

        def roll_back():
            number = 0
            while not done.is_set():
                with contextlib.suppress(KeyError), f.transaction():
                    f.create_dataset(f"x{number}", data=np.full(60_000, 7, "u1"))
                    number += 1
                    raise KeyError

        thread = threading.Thread(target=roll_back)
        thread.start()
        try:
            for number in range(60):
                d[:] = [f"{number % 10}" * 700] * 200
                d.attrs["text"] = [f"{number}" * 50] * 3
                assert len(set(d.asstr()[:].tolist())) == 1
        finally:
            done.set()
            thread.join()
    with h5py.File(path) as f:
        assert len(set(f["d"].asstr()[:].tolist())) == 1 and len(set(f["d"].attrs.get("text", ["-"]))) == 1
