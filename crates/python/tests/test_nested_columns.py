"""A nested column has one name everywhere: its path with slashes. Conditions and indexes also take dots."""

import subprocess
import sys

import numpy as np
import pytest
from support import IS_H5PY, hs

pytestmark = pytest.mark.skipif(IS_H5PY, reason="h5py has no tables")
RECORDS = np.zeros(6, [("a", "i4"), ("n", [("x", "f8"), ("m", [("y", "i4")])])])
RECORDS["a"] = [1, 2, 3, 4, 5, 6]
RECORDS["n"]["x"] = [5, 4, 3, 2, 1, 0]
RECORDS["n"]["m"]["y"] = [0, 2, 4, 1, 3, 5]
X, Y = RECORDS["n"]["x"], RECORDS["n"]["m"]["y"]


@pytest.fixture
def table(tmp_path):
    with hs.File(tmp_path / "nested.h5", "w") as file:
        yield file.create_table("t", obj=RECORDS)


CONDITIONS = {
    "n/x > 2": X > 2,
    "n.x > 2": X > 2,
    "n/m/y > 2": Y > 2,
    "n/m.y > 2": Y > 2,
    "n.m/y > 2": Y > 2,
    "2*n/x/a > 2": 2 * X / RECORDS["a"] > 2,
    "a/n/m/y > 1": RECORDS["a"] / np.maximum(Y, 1e-9) > 1,
    "(n/x > n/m/y) & (a > 1)": (X > Y) & (RECORDS["a"] > 1),
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_takes_the_path_of_a_nested_column(table, condition):
    x = y = m = 7  # noqa: F841 - variables of the caller do not take part
    assert table.get_where_list(condition).tolist() == np.flatnonzero(CONDITIONS[condition]).tolist()
    assert [row.nrow for row in table.where(condition)] == np.flatnonzero(CONDITIONS[condition]).tolist()


def test_a_slash_divides_where_no_column_is_nested(table):
    assert table.get_where_list("a/2 > 2").tolist() == [4, 5]
    assert table.get_where_list("n/x > 2", condvars={"n": 12, "x": table.cols.a}).tolist() == [0, 1, 2, 3, 4]


def test_every_name_that_is_listed_is_taken(table):
    assert table.colpathnames == ["a", "n/x", "n/m/y"]
    for path in table.colpathnames:
        table.create_csindex(path)
        expected = table.col(path)
        assert table.read(field=path).tolist() == expected.tolist()
        found = table.read_where("a > 2", columns=[path])
        assert found.dtype.names == (path,) and found[path].tolist() == expected[2:].tolist()
        assert table.read_where("a > 2", field=path).tolist() == expected[2:].tolist()
        assert table.read_sorted(path).tolist() == RECORDS[np.argsort(expected)].tolist()
        assert [row[path] for row in table.iterrows()] == expected.tolist()
        assert table.get_where_list(f"{path} == 3").tolist() == np.flatnonzero(expected == 3).tolist()
        table.remove_index(path)


def test_the_columns_of_a_query_may_be_of_any_depth(table):
    found = table.read_where("a < 3", columns=["n/m/y", "n", "a", "n/x"])
    assert found.dtype.names == ("n/m/y", "n", "a", "n/x")
    assert found.tolist() == [(0, (5.0, (0,)), 1, 5.0), (2, (4.0, (2,)), 2, 4.0)]


@pytest.mark.parametrize("column", ["q", "n/q", "a/x"])
def test_an_unknown_column_is_an_error_that_lists_the_others(table, column):
    for call in (
        lambda: table.read_where("a > 3", columns=[column]),
        lambda: table.col(column),
        lambda: table.create_index(column),
        lambda: table.get_where_list(column.replace("a/", "n/q/") + " > 1"),
    ):
        with pytest.raises((KeyError, ValueError), match="a, n/x, n/m/y"):
            call()


@pytest.mark.whole
def test_the_command_takes_the_path_of_a_nested_column(table):
    path = table.file.filename
    table.file.close()
    command = [
        sys.executable,
        "-m",
        "hyperslab",
        "query",
        path,
        "/t",
        "n/m/y > 3",
        "--columns",
        "n/x,a",
        "--format",
        "csv",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[1:] == ["3,3", "0,6"] or done.stdout.split()[1:] == ["3.0,3", "0.0,6"], done.stdout
