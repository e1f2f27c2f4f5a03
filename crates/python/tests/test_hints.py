"""Errors and texts that say what to write instead, with both values."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from support import IS_H5PY, hs

pytestmark = pytest.mark.skipif(IS_H5PY, reason="messages of hyperslab")


@pytest.fixture
def file(tmp_path):
    with hs.File(tmp_path / "a.h5", "w") as file:
        yield file


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"chunks": (1,)}, r"chunks must fit the shape \(3, 4\), not be \(1,\)"),
        ({"chunks": (1, 0)}, r"chunks must fit the shape \(3, 4\), not be \(1, 0\)|positive"),
        ({"maxshape": (2, None), "chunks": (1, 1)}, r"maxshape must fit the shape \(3, 4\), not be \(2, None\)"),
        ({"maxshape": (9,), "chunks": (1, 1)}, r"maxshape must fit the shape \(3, 4\), not be \(9,\)"),
    ],
    ids=str,
)
def test_chunks_and_maxshape_are_shown_beside_the_shape(file, options, says):
    with pytest.raises(ValueError, match=says):
        file.create_dataset("q", (3, 4), "f4", **options)


def test_chunks_of_xarray_are_shown_beside_the_shape(tmp_path):
    data = xr.Dataset({"v": (("x",), np.arange(3))})
    with pytest.raises(ValueError, match=r"\(3,\), not be \(1, 2\)"):
        data.to_netcdf(tmp_path / "a.nc", engine="hyperslab", encoding={"v": {"chunksizes": (1, 2)}})


def test_an_unknown_keyword_names_the_one_that_is_near(file):
    with pytest.raises(TypeError, match="unexpected keyword argument 'compress'. Did you mean 'compression'"):
        file.create_dataset("q", (3,), "f4", compress="gzip")
    with pytest.raises(TypeError, match="'compress'. Did you mean 'compression'"):
        file.create_table("t", {"a": "i4"}, compress="gzip")
    with pytest.raises(TypeError, match="unexpected keyword argument 'zzz'$"):
        file.create_dataset("q", (3,), "f4", zzz=1)


def test_a_file_that_is_open_read_only_is_said_to_be(file, tmp_path):
    file.close()
    with hs.File(file_path := tmp_path / "a.h5"), pytest.raises(OSError, match="already open read-only in this"):
        hs.File(file_path, "r+")


def test_a_segy_file_that_is_opened_is_to_be_ingested(tmp_path):
    path = tmp_path / "a.sgy"
    path.write_bytes(bytes(9600))
    with pytest.raises(hs.FormatError, match=r"hs\.segy\.ingest"):
        hs.segy.open(path)


def test_an_unordered_list_names_the_call_for_any_order(file):
    made = file.create_dataset("d", data=np.arange(8.0))
    with pytest.raises(TypeError, match=r"increasing order.*read_many"):
        made[[3, 1]]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT], ids=str)
@pytest.mark.parametrize("of", ["a list", "a frame", "an array"])
def test_missing_values_among_strings_name_the_column_and_the_way_out(file, missing, of):
    values = ["a", missing]
    columns = {"i": [1, 2], "s": np.array(values, dtype=object) if of == "an array" else values}
    rows = pd.DataFrame({"i": [1, 2], "s": pd.Series(values, dtype=object)}) if of == "a frame" else columns
    with pytest.raises(TypeError, match=r"column 's' must not have missing values \(.*\) among its strings.*replace"):
        file.create_table("t", obj=rows)
    assert "t" not in file


def test_numbers_among_strings_do_not_become_strings(file):
    with pytest.raises(TypeError, match="column 's', which has values of float and str"):
        file.create_table("t", obj={"s": ["a", 2.5]})


def test_a_row_that_is_filled_shows_its_table_and_number(file):
    table = file.create_table("t", obj={"a": [1, 2], "b": [0.5, 1.5]})
    row = table.row
    row["a"] = 7
    assert repr(row) == "<new row 2 of '/t': (np.int64(7), np.float64(0.0))>"
    row.append()
    assert repr(row).startswith("<new row 3 of '/t'")
    file.close()
    assert repr(row).startswith("<new row")


def test_one_is_singular(file):
    table = file.create_table("t", obj={"a": [1]})
    assert "scan of 1 row\n" in table.explain("a > 1")
    made = file.create_dataset("d", data=np.zeros(3), chunks=(3,))
    file.flush()
    assert repr(made.plan()) == "<ReadPlan: 1 chunk, 24 stored bytes>"
    table.create_csindex("a")
    assert ", 1 row," in repr(table.colindexes["a"])
