"""`hs.dask.read_table` against NumPy."""

import pickle

import dask
import numpy as np
import pandas as pd
import pytest
import tables
from support import IS_H5PY, hs

if IS_H5PY:
    pytest.skip("h5py has no Dask DataFrames", allow_module_level=True)

ROWS = 1000
DTYPE = np.dtype(
    [
        ("time", "<i8"),
        ("temp", "<f4"),
        ("id", "S4"),
        ("ok", "?"),
        ("at", [("x", "<f8"), ("y", "<f8", (2,))]),
        ("v", "<i2", (2,)),
    ]
)


def records():
    made = np.zeros(ROWS, DTYPE)
    made["time"], made["temp"] = np.arange(ROWS), np.linspace(250, 320, ROWS, dtype="f4")
    made["id"] = np.array([f"n{number % 7}".encode() for number in range(ROWS)])
    made["ok"], made["at"]["x"] = np.arange(ROWS) % 3 == 0, np.arange(ROWS) / 2
    made["at"]["y"], made["v"] = np.arange(2 * ROWS).reshape(ROWS, 2), np.arange(2 * ROWS).reshape(ROWS, 2)
    return made


@pytest.fixture(params=["pytables", "table", "dataset"])
def path(request, tmp_path):
    found = tmp_path / "t.h5"
    if request.param == "pytables":
        with tables.open_file(found, "w") as file:
            file.create_table("/", "t", DTYPE, chunkshape=(64,)).append(records())
    else:
        with hs.File(found, "w") as file:
            if request.param == "table":
                file.create_table("t", DTYPE, obj=records(), chunkshape=64)
            else:
                file.create_dataset("t", data=records(), chunks=(64,))
    return found


def expected():
    made = records()
    return pd.DataFrame(
        {
            **{"time": made["time"], "temp": made["temp"]},
            "id": pd.array([value.decode() for value in made["id"]], dtype="string"),  # Dask makes its own of strings
            **{"ok": made["ok"], "at/x": made["at"]["x"]},
            **{"at/y/0": made["at"]["y"][:, 0], "at/y/1": made["at"]["y"][:, 1]},
            **{"v/0": made["v"][:, 0], "v/1": made["v"][:, 1]},
        }
    )


def test_a_table_is_a_frame_whose_partitions_are_whole_chunks(path):
    frame = hs.dask.read_table(path, "t", partition_bytes=3 * 64 * DTYPE.itemsize)
    assert frame.npartitions == -(-ROWS // 192) and frame.divisions == (*range(0, ROWS, 192), ROWS - 1)
    pd.testing.assert_frame_equal(frame.compute(), expected())
    assert frame.dtypes.tolist() == expected().dtypes.tolist()
    assert hs.dask.read_table(path, "t").npartitions == 1


def test_columns_and_conditions_select_as_in_memory(path):
    whole = expected()
    for where, selected in (
        ("temp > 300", whole[whole.temp > 300]),
        ("(temp > 310 & id == 'n3') | index < 4", whole[((whole.temp > 310) & (whole.id == "n3")) | (whole.index < 4)]),
        ("ok == True", whole[whole.ok]),
        ("temp > 1000", whole[:0]),
    ):
        frame = hs.dask.read_table(path, "t", columns=["v/1", "time", "at/x"], where=where, partition_bytes=9000)
        pd.testing.assert_frame_equal(frame.compute(), selected[["v/1", "time", "at/x"]])
        assert len(frame) == len(selected)


@pytest.mark.soak
def test_tasks_run_in_other_processes(path):
    frame = hs.dask.read_table(path, "t", where="temp > 300", partition_bytes=9000)
    assert len(pickle.loads(pickle.dumps(frame)).partitions[0].compute(scheduler="sync")) == 0
    with dask.config.set(scheduler="processes", num_workers=2):
        assert frame.time.sum().compute() == records()["time"][records()["temp"] > 300].sum()


def test_what_is_not_a_table_and_unknown_columns_are_errors(path):
    with hs.File(path, "r+") as file:
        file["numbers"] = np.arange(3)
        file.create_table("empty", DTYPE)
        file.create_dataset("texts", data=np.array([("a",)], dtype=[("s", hs.string_dtype())]))
    for name, error in (("numbers", TypeError), ("none", KeyError), ("texts", TypeError)):
        with pytest.raises(error):
            hs.dask.read_table(path, name)
    with pytest.raises(ValueError, match="no column 'at'"):
        hs.dask.read_table(path, "t", columns=["at"])
    with pytest.raises(ValueError, match="not a condition"):
        hs.dask.read_table(path, "t", where="temp >")
    empty = hs.dask.read_table(path, "empty").compute()
    assert len(empty) == 0 and empty.dtypes.tolist() == expected().dtypes.tolist()


def test_a_table_that_was_changed_has_another_name(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        file["t"] = records()
    first = hs.dask.read_table(tmp_path / "t.h5", "t")
    assert hs.dask.read_table(tmp_path / "t.h5", "t")._name == first._name
    with hs.File(tmp_path / "t.h5", "r+") as file:
        file["t"][0] = records()[1]
    assert hs.dask.read_table(tmp_path / "t.h5", "t")._name != first._name
