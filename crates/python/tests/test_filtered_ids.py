"""Data of variable length whose ids are filtered, as libhdf5 2.2 and later writes them (hdf5#6178)."""

import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import pytest
from libhdf5_22 import NAMES, SEQUENCES, TEXTS
from support import hs

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A file of libhdf5 2.2, in whose first chunks no filter was skipped."""
    path = tmp_path_factory.mktemp("ids") / "libhdf5_22.h5"
    command = [sys.executable, Path(__file__).parent / "libhdf5_22.py", path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    said = {name: int(mask) for name, mask, _ in map(str.split, done.stdout.splitlines())}
    assert said == dict.fromkeys(NAMES, 0)
    return path


def values(dataset):
    """The values of a dataset as a list of texts or of lists of numbers."""
    return [value.decode() if isinstance(value, bytes) else value.tolist() for value in dataset[:]]


@pytest.mark.parametrize("name", NAMES)
def test_filtered_ids_of_libhdf5_are_read_and_changed(name, written, tmp_path):
    path = shutil.copy(written, tmp_path)
    expected = list(TEXTS if name.startswith("t") else SEQUENCES)
    with hs.File(path) as file:
        assert values(file[name]) == expected
        assert file[name].id.get_chunk_info(0).filter_mask == 0
    changed = "z" * 100 if name.startswith("t") else [7, 8, 9, 10]
    with hs.File(path, "r+") as file:
        file[name][20] = changed
        file.copy(name, "copy")
    expected[20] = changed
    for opened in (hs.File(path), h5py.File(path)):
        with opened as file:
            assert values(file[name]) == values(file["copy"]) == expected
