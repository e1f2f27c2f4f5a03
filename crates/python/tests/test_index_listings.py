"""The commands leave out the indexes of tables, unless they are asked for."""

import json

import hyperslab as hs
import numpy as np
import pytest
from hyperslab._native import run_cli


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "r.h5"
    with hs.File(path, "w") as file:
        rows = np.zeros(50, [("time", "i8"), ("temp", "f8")])
        file.create_table("g/readings", obj=rows).create_index("time")
        # Only the class of PyTables makes a group one of indexes.
        file.create_group("_i_mine")["x"] = 1
    return path


def listed(capfd, *arguments):
    assert run_cli(["hyperslab", *map(str, arguments)]) == 0
    return capfd.readouterr().out


@pytest.mark.parametrize("option", ["-r", "--tree"])
def test_ls_names_indexes_only_with_all(path, capfd, option):
    plain = listed(capfd, "ls", option, path)
    assert "_i_readings" not in plain and "indices" not in plain
    assert "readings" in plain and "_i_mine" in plain
    assert plain.splitlines()[-1] == "not listed: 1 group of table indexes (--all lists them)"
    whole = listed(capfd, "ls", option, "--all", path)
    assert "_i_readings" in whole and "indicesLR" in whole and "not listed" not in whole


def test_ls_of_one_group_and_json_leave_out_indexes_too(path, capfd):
    assert "_i_readings" not in listed(capfd, "ls", f"{path}:/g")
    assert "indicesLR" in listed(capfd, "ls", f"{path}:/g/_i_readings/time")
    paths = [json.loads(line)["path"] for line in listed(capfd, "ls", "-r", "--json", path).splitlines()]
    assert paths == ["/_i_mine", "/_i_mine/x", "/g", "/g/readings"]


def test_tune_does_not_choose_an_array_of_an_index(path, capfd):
    assert run_cli(["hyperslab", "tune", str(path)]) == 2
    assert "the file has no dataset of two or more dimensions" in capfd.readouterr().err
    with hs.File(path, "r+") as file:
        file["a"] = file["b"] = np.zeros((4, 4))
    assert run_cli(["hyperslab", "tune", str(path)]) == 2
    assert "name one of /a (4, 4), /b (4, 4): tune" in capfd.readouterr().err
