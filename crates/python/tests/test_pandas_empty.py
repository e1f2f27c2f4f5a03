"""`hs.pandas` on objects without elements: each library reads the other's files as pandas reads its own."""

import datetime

import numpy as np
import pandas as pd
import pytest
from pandas_objects import VERSION
from support import IS_H5PY, hs

if IS_H5PY:
    pytest.skip("h5py does not read the files of pandas", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")

DAYS = pd.date_range("2020", periods=2, name="d")
INDEXES = {
    "numbers": pd.Index([3, 4]),
    "floats": pd.Index([0.5, 1.5], name="q"),
    "strings": pd.Index(["a", "b"], name="s"),
    "objects": pd.Index(["a", 1], dtype=object),
    "dates of Python": pd.Index([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], dtype=object),
    "dates": DAYS,
    "a zone": DAYS.tz_localize("Europe/Paris"),
    "durations": pd.timedelta_range("1D", periods=2),
    "periods": pd.period_range("2020", periods=2, freq="M"),
    "levels": pd.MultiIndex.from_arrays([[1, 2], ["x", "y"]], names=["i", "j"]),
    "levels of many kinds": pd.MultiIndex.from_arrays([DAYS, [0.5, 1.5], [True, False]], names=["d", "f", "b"]),
    "levels without values": pd.MultiIndex.from_arrays([[], []], names=["a", "b"]),
}
if VERSION >= (3, 1):
    INDEXES["categories"] = pd.CategoricalIndex(["a", "b"])
COLUMNS = {
    "f": [1.0, 2.0],
    "b": [True, False],
    "s": ["a", "b"],
    "o": ["a", 1],
    "d": DAYS,
    "z": DAYS.tz_localize("UTC"),
    "m": pd.to_timedelta([1, 2], unit="s"),
    "p": pd.period_range("2020", periods=2, freq="D"),
}


def objects_of(index):
    """Objects without rows, without columns, and without both, that have an index or a part of it."""
    ones = np.ones((2, len(index)))
    yield pd.DataFrame({"a": ones[0], "b": ["x"] * len(index)}, index=index)[:0]
    yield pd.DataFrame(index=index)
    yield pd.DataFrame(index=index[:0])
    yield pd.DataFrame(columns=index[:0])
    yield pd.DataFrame(ones, columns=index)[:0]
    yield pd.DataFrame(ones, columns=index).iloc[:, :0]
    yield pd.Series(ones[0], index=index, name="z")[:0]
    if isinstance(index, pd.MultiIndex):
        yield pd.DataFrame(index=index[:0].remove_unused_levels())


def check(value, folder):
    theirs, ours = folder / "theirs.h5", folder / "ours.h5"
    value.to_hdf(theirs, key="k", mode="w")
    hs.pandas.to_hdf(value, ours, "k", mode="w")
    expected = pd.read_hdf(theirs, "k")
    test = pd.testing.assert_series_equal if isinstance(value, pd.Series) else pd.testing.assert_frame_equal
    test(hs.pandas.read_hdf(theirs, "k"), expected)
    test(hs.pandas.read_hdf(ours, "k"), expected)
    test(pd.read_hdf(ours, "k"), expected)


@pytest.mark.parametrize("name", INDEXES)
def test_an_index_of_any_kind_without_elements_is_read_as_pandas_reads_it(name, tmp_path):
    for value in objects_of(INDEXES[name]):
        check(value, tmp_path)


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_any_kind_without_rows_are_read_as_pandas_reads_them(name, tmp_path):
    frame = pd.DataFrame({"a": COLUMNS[name], "b": COLUMNS[name]})[:0]
    for value in (frame, frame["a"], frame.set_axis(INDEXES["levels"][:0])):
        check(value, tmp_path)


def test_a_table_whose_rows_were_all_removed_is_read_as_pandas_reads_it(tmp_path):
    path = tmp_path / "removed.h5"
    frame = pd.DataFrame({"a": [1.0, 2.0], "s": ["x", "y"]}, index=INDEXES["levels"])
    with pd.HDFStore(path, "w") as store:
        store.append("k", frame)
        store.remove("k", "i >= 0")
    pd.testing.assert_frame_equal(hs.pandas.read_hdf(path, "k"), pd.read_hdf(path, "k"))
