"""New files of the simplest kinds have no byte that nothing uses, whatever the version of the format."""

import json

import hyperslab as hs
import numpy as np
import pytest
from hyperslab._native import run_cli


def numbers(f):
    f["a"] = [1, 2, 3]


def chunks(f):
    f.create_dataset("a", (100,), "i4", chunks=(10,), compression="gzip")[:] = np.arange(100)


def attributes(f):
    f["a"] = [1.5]
    f["a"].attrs["unit"] = "m"
    f.attrs["title"] = "x" * 50


def groups(f):
    f.create_group("g/h")["b"] = range(10)
    f["g/c"] = np.arange(1000)
    f["g"].attrs["n"] = 1


@pytest.mark.parametrize("libver", [None, "earliest", "v108", "latest"])
@pytest.mark.parametrize("make", [numbers, chunks, attributes, groups])
def test_a_new_small_file_has_no_warning(tmp_path, capfd, libver, make):
    path = tmp_path / "x.h5"
    with hs.File(path, "w", libver=libver) as f:
        make(f)
    assert hs.check(path, data=True) == []
    assert run_cli(["hyperslab", "check", "--json", str(path)]) == 0
    assert json.loads(capfd.readouterr().out)["lost_bytes"] == 0
