"""The engine "hyperslab" of xarray, against the engines h5netcdf and netcdf4, in both directions."""

import gc
import os
import pickle
import subprocess
import sys
import threading

import hyperslab as hs
import hyperslab.xarray as engine
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from support import IS_H5PY

pytestmark = pytest.mark.skipif(IS_H5PY, reason="an engine of hyperslab")
PEERS = ("h5netcdf", "netcdf4")


def dataset():
    """Returns a dataset with what netCDF-4 has."""
    found = xr.Dataset(
        {
            "t2m": (("time", "x"), np.arange(12, dtype="f4").reshape(4, 3), {"units": "K", "range": [0.0, 1.5]}),
            "name": (("x",), np.array(["a", "zwei", "drei"], dtype=object)),
            "flag": (("x",), [True, False, True]),
            "code": (("x",), np.array([b"ab", b"cd", b"ef"])),
            "answer": ((), np.int16(42)),
        },
        coords={
            "time": pd.date_range("2000-01-01", periods=4),
            "x": [10, 20, 30],
            "label": ("x", ["p", "q", "r"]),
        },
        attrs={"title": "hello", "number": 3, "list": ["eins", "zwei"]},
    )
    found["t2m"].encoding.update(zlib=True, complevel=4, chunksizes=(2, 3), _FillValue=np.float32(-1))
    return found


def comparable(found):
    return found.drop_attrs(deep=False).assign_attrs(
        {key: np.asarray(value).tolist() for key, value in found.attrs.items()}
    )


def run(text, tmp_path):
    """Runs a program of its own: two libraries would lock the same file in this one."""
    (tmp_path / "program.py").write_text(text)
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("peer", PEERS)
def test_what_the_engine_writes_others_read(peer, tmp_path):
    path = tmp_path / "ours.nc"
    dataset().to_netcdf(path, engine="hyperslab", unlimited_dims=["time"])
    with xr.open_dataset(path, engine=peer) as found:
        xr.testing.assert_equal(found.load(), dataset())
        assert found.encoding["unlimited_dims"] == {"time"} and found["t2m"].attrs["units"] == "K"
        assert found["t2m"].encoding["complevel"] == 4 and found["t2m"].encoding["chunksizes"] == (2, 3)
        assert found.attrs["title"] == "hello" and list(found.attrs["list"]) == ["eins", "zwei"]


@pytest.mark.parametrize("peer", PEERS)
def test_the_engine_reads_what_others_write_as_they_do(peer, tmp_path):
    path = tmp_path / "theirs.nc"
    dataset().to_netcdf(path, engine=peer, unlimited_dims=["time"])
    with xr.open_dataset(path, engine=peer) as theirs, xr.open_dataset(path, engine="hyperslab") as ours:
        xr.testing.assert_identical(comparable(ours.load()), comparable(theirs.load()))
        for name in theirs.variables:
            for key in ("zlib", "complevel", "shuffle", "chunksizes", "preferred_chunks", "_FillValue"):
                assert ours[name].encoding.get(key, False) == theirs[name].encoding.get(key, False), (name, key)


def test_groups_are_read_and_written(tmp_path):
    path = tmp_path / "groups.nc"
    dataset().to_netcdf(path, engine="hyperslab")
    gc.collect()
    other = xr.Dataset({"u": (("x", "level"), np.ones((3, 2)))})
    other.to_netcdf(path, engine="hyperslab", mode="a", group="wind/upper")
    with xr.open_datatree(path, engine="h5netcdf") as theirs, xr.open_datatree(path, engine="hyperslab") as ours:
        assert ours.groups == theirs.groups == ("/", "/wind", "/wind/upper")
        xr.testing.assert_equal(ours["wind/upper"].to_dataset().load(), theirs["wind/upper"].to_dataset().load())
    with pytest.raises(OSError, match="group not found"):
        xr.open_dataset(path, engine="hyperslab", group="nowhere")


def test_netcdf4_changes_the_groups_that_the_engine_writes(tmp_path):
    path = tmp_path / "g.nc"
    made = xr.Dataset({"v": ("t", [1, 2])}, attrs={"z": 1, "a": 2})
    made.to_netcdf(path, engine="hyperslab", group="g/h/i")
    made.to_netcdf(path, engine="hyperslab", group="g/other", mode="a")
    text = """
import netCDF4
with netCDF4.Dataset("g.nc", "a") as file:
    for group in (file, file["g"], file["g/h"], file["g/h/i"], file["g/other"]):
        group.setncattr("new", 3)
    file["g/h"].createVariable("w", "i4", ())[...] = 4
    assert file["g/h/i"].ncattrs() == ["z", "a", "new"]
"""
    run(text, tmp_path)
    assert xr.open_dataset(path, engine="hyperslab", group="g/h")["w"] == 4


def test_an_enumeration_keeps_its_name_and_members(tmp_path):
    path = tmp_path / "enum.nc"
    kind = np.dtype("u1", metadata={"enum": {"clear": 0, "cloudy": 3}, "enum_name": "cloud_t"})
    sky = xr.Dataset({"sky": ("x", np.array([0, 3, 3], "u1"), {}, {"dtype": kind})})
    sky.to_netcdf(path, engine="hyperslab")
    for name in ("hyperslab", "h5netcdf"):
        with xr.open_dataset(path, engine=name) as found:
            assert found["sky"].encoding["dtype"].metadata["enum"] == {"clear": 0, "cloudy": 3}
            assert found["sky"].encoding["dtype"].metadata["enum_name"] == "cloud_t"
            assert found["sky"].values.tolist() == [0, 3, 3]
    with hs.File(path) as file:
        assert isinstance(file["cloud_t"], hs.Datatype)


def test_a_coordinate_that_is_added_takes_the_place_of_its_dimension(tmp_path):
    path = tmp_path / "late.nc"
    xr.Dataset({"u": ("x", [1.0, 2.0])}).to_netcdf(path, engine="hyperslab")
    gc.collect()
    xr.Dataset(coords={"x": [5, 7]}).to_netcdf(path, engine="hyperslab", mode="a")
    for name in ("hyperslab", *PEERS):
        with xr.open_dataset(path, engine=name) as found:
            assert found["u"].dims == ("x",) and found["u"]["x"].values.tolist() == [5, 7], name


def test_axes_without_scales_get_dimensions_by_their_length(tmp_path):
    with hs.File(tmp_path / "plain.h5", "w") as file:
        file["a"] = np.zeros((3, 3))
        file["b"] = np.zeros((3, 5))
    with xr.open_dataset(tmp_path / "plain.h5", engine="hyperslab") as found:
        assert found["a"].dims == ("phony_dim_0", "phony_dim_1") and found["b"].dims == ("phony_dim_0", "phony_dim_2")


def test_a_variable_shorter_than_its_unlimited_dimension_ends_in_fill_values(tmp_path):
    program = """
import netCDF4
with netCDF4.Dataset("grown.nc", "w") as file:
    file.createDimension("time", None)
    for name, count in (("long", 5), ("short", 2)):
        file.createVariable(name, "i4", ("time",), fill_value=-9)[:count] = range(count)
"""
    run(program, tmp_path)
    found = {}
    for name in ("hyperslab", "netcdf4"):
        with xr.open_dataset(tmp_path / "grown.nc", engine=name, mask_and_scale=False) as opened:
            found[name] = opened["short"].values.tolist(), opened["short"][1:4].values.tolist()
    assert found["hyperslab"] == found["netcdf4"] == ([0, 1, -9, -9, -9], [1, -9, -9])


@pytest.mark.parametrize("key", [slice(1, 9, 3), [7, 2, 2], slice(None, None, -2), 4, np.array([True, False] * 5)])
def test_lazy_indexing_is_that_of_numpy(key, tmp_path):
    values = np.arange(200.0).reshape(10, 20)
    xr.Dataset({"v": (("a", "b"), values)}).to_netcdf(tmp_path / "v.nc", engine="hyperslab")
    with xr.open_dataset(tmp_path / "v.nc", engine="hyperslab") as found:
        np.testing.assert_array_equal(found["v"][key].values, values[key])
        np.testing.assert_array_equal(found["v"][key, 3:5].values, values[key, 3:5])


def test_a_compression_may_have_its_options_in_words(tmp_path):
    encoding = {"v": {"compression": "blosc2:lz4:5:bitshuffle", "chunksizes": (10,)}}
    xr.Dataset({"v": ("a", np.arange(40))}).to_netcdf(tmp_path / "v.nc", engine="hyperslab", encoding=encoding)
    with hs.File(tmp_path / "v.nc") as file:
        assert file["v"].filters == (hs.Blosc2("lz4", 5, "bitshuffle"),)
    for options in [{"complevel": 3}, {"compression_opts": 3}]:
        with pytest.raises(TypeError, match="which has the options"):
            xr.Dataset({"v": ("a", np.arange(40))}).to_netcdf(
                tmp_path / "w.nc", engine="hyperslab", encoding={"v": {"compression": "zstd:9", **options}}
            )


def test_chunks_of_dask_follow_the_file_and_threads_read_side_by_side(tmp_path):
    values = np.random.default_rng(1).random((60, 40))
    encoding = {"v": {"zlib": True, "chunksizes": (10, 40)}}
    xr.Dataset({"v": (("a", "b"), values)}).to_netcdf(tmp_path / "v.nc", engine="hyperslab", encoding=encoding)
    with xr.open_dataset(tmp_path / "v.nc", engine="hyperslab", chunks={}) as found:
        assert found["v"].chunks == ((10,) * 6, (40,))
        assert float(found["v"].sum().compute(scheduler="threads")) == pytest.approx(values.sum())
        lazy = xr.open_dataset(tmp_path / "v.nc", engine="hyperslab")
        sums = []
        threads = [threading.Thread(target=lambda: sums.append(lazy["v"][::7].sum().item())) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(sums) == 8 and len(set(sums)) == 1


def test_arrays_of_dask_are_written_by_threads(tmp_path):
    values = np.arange(240.0).reshape(24, 10)
    lazy = xr.Dataset({"v": (("a", "b"), values)}).chunk({"a": 5})
    lazy.to_netcdf(tmp_path / "v.nc", engine="hyperslab", encoding={"v": {"zlib": True, "chunksizes": (6, 10)}})
    with xr.open_dataset(tmp_path / "v.nc", engine="h5netcdf") as found:
        np.testing.assert_array_equal(found["v"].values, values)


def test_datasets_travel_by_pickle_and_through_memory(tmp_path):
    dataset().to_netcdf(tmp_path / "f.nc", engine="hyperslab")
    with xr.open_dataset(tmp_path / "f.nc", engine="hyperslab") as found:
        xr.testing.assert_equal(pickle.loads(pickle.dumps(found)).load(), dataset())
    image = dataset().to_netcdf(engine="hyperslab")
    xr.testing.assert_equal(xr.open_dataset(bytes(image), engine="hyperslab").load(), dataset())


def test_what_the_engine_cannot_write_is_refused(tmp_path):
    path = tmp_path / "f.nc"
    for variable, message in [
        (("x", np.zeros(2, "c8")), "complex"),
        (("x", np.zeros(2), {"flag": np.bool_(True)}), "Invalid value for attr|boolean"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            xr.Dataset({"v": variable}).to_netcdf(path, engine="hyperslab")
    with pytest.raises(ValueError, match="NETCDF4"):
        dataset().to_netcdf(path, engine="hyperslab", format="NETCDF3_64BIT")
    with pytest.raises(ValueError, match="compression must be one of"):
        dataset().to_netcdf(path, engine="hyperslab", encoding={"t2m": {"compression": "nothing"}})


def test_a_file_that_is_missing_or_no_hdf5_is_an_error(tmp_path):
    (tmp_path / "text.nc").write_text("no HDF5")
    with pytest.raises(FileNotFoundError):
        xr.open_dataset(tmp_path / "missing.nc", engine="hyperslab")
    with pytest.raises(OSError, match="text.nc"):
        xr.open_dataset(tmp_path / "text.nc", engine="hyperslab")


def test_the_engine_takes_no_lock_and_is_found_by_its_name():
    assert not engine.HyperslabBackendEntrypoint().guess_can_open("x.nc")
    assert "hyperslab" in xr.backends.list_engines()
    assert os.path.basename(engine.__file__) == "xarray.py"
