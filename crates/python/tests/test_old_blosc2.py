"""Blosc2 chunks in hdf5plugin 5.1, whose c-blosc2 (before 2.21.2) takes some blocks in another order."""

import subprocess
import sys
from pathlib import Path

import hyperslab as hs
import numpy as np
import pytest

OLD = Path(__file__).resolve().parents[3] / ".venv" / "old"

CHUNKS = [
    (10, 90, 90),
    (64, 64, 64),
    (64, 64, 128),
    (100, 1000, 4),
    (1000, 100, 1),
    (128, 128, 128),
    (1, 500, 500),
    (8, 512, 512),
    (30, 30, 30, 30),
    (1, 100, 100, 100),
    (1000, 1000),
    (2, 3, 40, 50, 60),
]

READ = """
import sys
import h5py
import hdf5plugin
assert hdf5plugin.version == "5.1.0", hdf5plugin.version
with h5py.File(sys.argv[1]) as file:
    for name, dataset in file.items():
        step = dataset[:].reshape(-1)[1:] - dataset[:].reshape(-1)[:-1]
        print(name, dataset[(0,) * dataset.ndim] == 0 and bool((step == 1).all()))
"""


@pytest.mark.process
@pytest.mark.parametrize("dtype", ["i4", "f8"])
def test_an_old_c_blosc2_reads_chunks_of_every_shape(dtype, tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as file:
        for number, shape in enumerate(CHUNKS):
            values = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
            file.create_dataset(str(number), data=values, chunks=shape, compression=hs.Blosc2("zstd", level=1))
    command = [sys.executable, "-c", READ, tmp_path / "f.h5"]
    done = subprocess.run(command, env={"PYTHONPATH": str(OLD)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = dict(line.split() for line in done.stdout.splitlines())
    assert {CHUNKS[int(name)]: outcome for name, outcome in said.items()} == dict.fromkeys(CHUNKS, "True")
