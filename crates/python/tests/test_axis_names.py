"""The names of axes, in the engine of xarray and in references, against the netCDF library."""

import json
import random
import subprocess
import sys

import h5py
import hyperslab as hs
import numpy as np
import pytest
import xarray as xr
from hyperslab import _netcdf
from support import IS_H5PY

pytestmark = pytest.mark.skipif(IS_H5PY, reason="an engine of hyperslab")
FILES = 80
NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable.        3"
PROGRAM = """
import json, netCDF4, sys
def of(group):
    found = {f"{group.path}/{name}".replace("//", "/"): list(v.dimensions) for name, v in group.variables.items()}
    for below in group.groups.values():
        found |= of(below)
    return found
found = []
for number in range(int(sys.argv[1])):
    with netCDF4.Dataset(f"{number}.h5") as file:
        found.append(of(file))
print(json.dumps(found))
"""


def fill(group, chance, depth=0):
    """Fills a group with random datasets, scales and groups."""
    names = chance.sample("abcdefgh", chance.randint(0, 5))
    for name in names:
        shape = tuple(chance.randint(1, 4) for _ in range(chance.randint(0, 3)))
        limits = tuple(None if chance.random() < 0.5 else length for length in shape)
        limits = limits if shape and chance.random() < 0.4 else None
        kind = chance.random()
        if kind < 0.25:
            limits = (None,) if chance.random() < 0.3 else None
            scale = group.create_dataset(name, (chance.randint(1, 4),), "f4", maxshape=limits)
            scale.make_scale(name if chance.random() < 0.6 else NO_VARIABLE)
            if chance.random() < 0.3:
                scale.attrs["_Netcdf4Dimid"] = np.int32(chance.randint(100, 10**6))
        else:
            enum = h5py.enum_dtype({"A": 1, "B": 2})
            dtypes = ["i4", "f8", "S3", "u1", h5py.ref_dtype, h5py.string_dtype(), enum, [("a", "i4"), ("b", "f8")]]
            group.create_dataset(name, shape, chance.choice(dtypes), maxshape=limits)
    scales = [group[name] for name in names if group[name].is_scale]
    for name in names:
        dataset = group[name]
        if scales and not dataset.is_scale and chance.random() < 0.3:
            for dim in dataset.dims:
                dim.attach_scale(chance.choice(scales))
    if depth < 3:
        for name in chance.sample("stuv", chance.randint(0, 2)):
            fill(group.create_group(name, track_order=chance.random() < 0.5), chance, depth + 1)


@pytest.mark.filterwarnings("ignore:datasets without references")
def test_they_are_those_of_the_netcdf_library(tmp_path):
    for number in range(FILES):
        chance = random.Random(number)
        with h5py.File(tmp_path / f"{number}.h5", "w", track_order=chance.random() < 0.5) as file:
            fill(file, chance)
    command = [sys.executable, "-c", PROGRAM, str(FILES)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    phony = 0
    for number, theirs in enumerate(json.loads(done.stdout)):
        path = tmp_path / f"{number}.h5"
        with hs.File(path) as file:
            for group, found in _netcdf.walk(file):
                for name, variable in found.variables.items():
                    known = theirs.get(f"{group.rstrip('/')}/{name}")
                    # The library leaves references out.
                    assert known is None or list(variable.dimensions) == known, (number, group, name)
                    phony += known is not None and any(dim.startswith("phony") for dim in known)
            refs = hs.references(file, skip_unsupported=True)["refs"]
        for name, known in theirs.items():
            if f"{name[1:]}/.zattrs" in refs:
                assert json.loads(refs[f"{name[1:]}/.zattrs"])["_ARRAY_DIMENSIONS"] == known, (number, name)
    assert phony > 100


def test_axes_behind_those_of_the_dataset_are_named_as_well(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as file:
        file.create_dataset("a", (4, 3), "(3,4)i2")
        file.create_dataset("b", (4, 3), "i2")
        file.create_dataset("c", (2,), "(2,)i2")
        refs = hs.references(file, skip_unsupported=True)["refs"]
    found = {name: json.loads(refs[f"{name}/.zattrs"])["_ARRAY_DIMENSIONS"] for name in "abc"}
    names = [f"phony_dim_{number}" for number in range(6)]
    assert found == {"a": names[:2] + names[3:5], "b": names[:2], "c": [names[2], names[5]]}


@pytest.mark.parametrize("module", [hs, h5py], ids=["ours", "theirs"])
@pytest.mark.filterwarnings("ignore:datasets without references")
@pytest.mark.parametrize("kind", ["null", "scalar", "copied", "deleted", "unlinked", "partly deleted"])
def test_xarray_opens_files_whose_scales_are_missing(module, kind, tmp_path):
    with module.File(tmp_path / "f.h5", "w") as file:
        file["y"] = [1.0, 2, 3]
        shape = {"null": None, "scalar": ()}.get(kind, (3,))
        scale = file.create_dataset(None if kind == "unlinked" else "x", shape, "i4")
        scale.make_scale("x")
        file["y"].dims[0].attach_scale(scale)
        if kind == "partly deleted":
            file["z"] = [7, 8, 9]
            file["z"].make_scale("z")
            file["y"].dims[0].attach_scale(file["z"])
    with module.File(tmp_path / "f.h5", "r+") as file, module.File(tmp_path / "g.h5", "w") as other:
        if kind == "copied":
            file.copy("y", other)
        if "deleted" in kind:
            del file["x"]
    path = tmp_path / ("g.h5" if kind == "copied" else "f.h5")
    with xr.open_dataset(path, engine="hyperslab") as found:
        assert found["y"].values.tolist() == [1, 2, 3]
        assert found["y"].dims == (("z",) if kind == "partly deleted" else ("phony_dim_0",))
        dims = found["y"].dims
        found.load()
    refs = hs.references(path, skip_unsupported=True)["refs"]
    assert json.loads(refs["y/.zattrs"])["_ARRAY_DIMENSIONS"] == list(dims)


def test_a_coordinate_takes_the_place_of_a_dimension_that_lists_a_deleted_variable(tmp_path):
    xr.Dataset({"u": ("x", [1.0, 2.0]), "v": ("x", [3.0, 4.0])}).to_netcdf(tmp_path / "f.nc", engine="hyperslab")
    with hs.File(tmp_path / "f.nc", "r+") as file:
        file.copy("x", "y")  # lists u and v, which do not list it
        del file["v"]
    for name in "xy":
        xr.Dataset(coords={name: [5, 7]}).to_netcdf(tmp_path / "f.nc", engine="hyperslab", mode="a")
    with xr.open_dataset(tmp_path / "f.nc", engine="hyperslab") as found:
        assert found["u"].dims == ("x",) and found["u"]["x"].values.tolist() == [5, 7]
        assert found["y"].values.tolist() == [5, 7] and found["y"].dims == ("y",)


DAMAGES = {
    "_Netcdf4Coordinates": [
        np.array(numbers, kind)
        for numbers, kind in [([7, 9], "i4"), ([0], "i4"), ([0, 1, 1], "i4"), ([], "i4"), ([-1, -5], "i4")]
    ]
    + [np.array([b"x", b"y"]), np.array([0, 9], "i4"), np.array([0.5, 1.5]), "text"],
    "_Netcdf4Dimid": [np.array([1, 2, 3]), "x", np.array([], "i4"), -3, 2.5, h5py.Empty("i4"), 2**40],
    "DIMENSION_LIST": [np.array([1, 2]), "x", np.array([1.5, 2.5]), h5py.Empty("i4"), 7],
    "REFERENCE_LIST": [np.array([1, 2]), "x", np.array([1.5, 2.5]), h5py.Empty("i4"), 7],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in DAMAGES for value in DAMAGES[name]], ids=str)
def test_damaged_attributes_of_netcdf_lose_names_and_nothing_else(name, value, tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as file:
        lat, lon = (file.create_dataset(axis, data=np.arange(length)) for axis, length in (("lat", 3), ("lon", 4)))
        lat.make_scale("lat")
        lon.make_scale(NO_VARIABLE)
        both = file.create_dataset("both", data=np.ones((3, 4)))
        both.make_scale("both")
        both.attrs["_Netcdf4Coordinates"] = np.array([0, 1], "i4")
        for number, scale in enumerate((lat, lon)):
            scale.attrs["_Netcdf4Dimid"] = np.int32(number)
        values = file.create_dataset("values", data=np.arange(12).reshape(3, 4))
        for dim, scale in zip(values.dims, (lat, lon), strict=True):
            dim.attach_scale(scale)
        for damaged in (both, lat, lon, values):
            if name in damaged.attrs:
                del damaged.attrs[name]
                damaged.attrs[name] = value
    with xr.open_dataset(tmp_path / "f.h5", engine="hyperslab") as found:
        np.testing.assert_array_equal(found["values"].values, np.arange(12).reshape(3, 4))
        assert found["both"].shape == (3, 4) and found["lat"].dims == ("lat",)
        if name != "DIMENSION_LIST":
            assert found["values"].dims == ("lat", "lon")
    if name == "REFERENCE_LIST":
        # A coordinate takes the place of the dimension, whose users the file does not know any more.
        with hs.File(tmp_path / "f.h5") as file:
            assert _netcdf.users(file["lon"]) == []


def test_axes_in_other_files_are_named_as_by_the_netcdf_library(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        for name, length in (("z", 5), ("same", 6), ("below/x", 3)):
            file[name] = np.full((length, length + 1), length)
        file["lat"] = np.arange(5.0)
        file["lat"].make_scale("lat")
        file["z"].dims[0].attach_scale(file["lat"])
    with h5py.File(tmp_path / "0.h5", "w") as file:
        file["same"] = np.zeros((7, 8, 9))
        file["deep/er"] = np.zeros((7, 2))
        file["root"] = h5py.ExternalLink("other.h5", "/")
        file["one"] = h5py.ExternalLink("other.h5", "/same")
        for number in range(9):  # scales at addresses that other scales have in the other file
            file[f"scale{number}"] = np.arange(20.0 + number)
            file[f"scale{number}"].make_scale(f"scale{number}")
    done = subprocess.run([sys.executable, "-c", PROGRAM, "1"], cwd=tmp_path, capture_output=True, check=True)
    [expected] = json.loads(done.stdout)
    with xr.open_datatree(tmp_path / "0.h5", engine="hyperslab") as found:
        names = {}
        for node in found.subtree:
            of_node = node.to_dataset(inherit=False)
            names |= {f"{node.path.rstrip('/')}/{name}": list(of_node[name].dims) for name in of_node.variables}
        # The other file has the same path, with other values.
        np.testing.assert_array_equal(found["root/same"].values, np.full((6, 7), 6))
        np.testing.assert_array_equal(found["same"].values, np.zeros((7, 8, 9)))
    assert names == expected
    assert names["/root/z"][0] == "lat"
