"""Programs with a c-blosc2 that has another order of blocks (before 2.21.2), in hdf5plugin 5.1."""

import pytest
from through import ALL_CALLS, REPOSITORY, SAID, TESTED, Report, run

OLD = {"PYTHONPATH": str(REPOSITORY / ".venv" / "old")}

PROGRAM = """
import sys
import numpy as np
import h5py, hdf5plugin

def rows(number, shape):
    return (np.arange(np.prod(shape), dtype="f4") % (number + 2)).reshape(shape)

way, path, rows_of_chunk, y, x = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
shape = (rows_of_chunk // 4, y, x)
if way == "write":
    with h5py.File(path, "w") as file:
        options = {"maxshape": (None, y, x), "chunks": (rows_of_chunk, y, x), **hdf5plugin.Blosc2("zstd")}
        dataset = file.create_dataset("d", (0, y, x), "f4", **options)
        for number in range(9):
            dataset.resize((number + 1) * shape[0], 0)
            dataset[number * shape[0] :] = rows(number, shape)
with h5py.File(path) as file:
    same = [np.array_equal(file["d"][n * shape[0] : (n + 1) * shape[0]], rows(n, shape)) for n in range(9)]
    print(np.array_equal(file["d"][:], np.concatenate([rows(n, shape) for n in range(9)])), all(same))
"""


def told(way, path, chunk, connector=None, report=None, env=None):
    """Returns whether a program reads what it has written, whole and in parts."""
    done = run(["python", "-c", PROGRAM, way, path, *chunk], connector, report, env=ALL_CALLS | (env or {}))
    return done.stdout.split()


@pytest.mark.parametrize("chunk", [(43, 300, 20), (64, 64, 64), (16, 512, 512)])
def test_what_an_old_program_writes_is_read_by_all(chunk, tmp_path):
    ours, native, report = tmp_path / "ours.h5", tmp_path / "native.h5", tmp_path / "report"
    right = [b"True", b"True"]
    assert told("write", ours, chunk, TESTED, report, OLD) == right
    for env in (OLD, {}):
        assert told("read", ours, chunk, env=env) == right
    assert told("write", native, chunk, env=OLD) == right
    assert told("read", native, chunk, TESTED, report, OLD) == right
    SAID.append(f"hdf5plugin 5.1, chunks {chunk}: {Report.of(report)}")
