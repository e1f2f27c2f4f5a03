"""Variables whose elements are sequences (netCDF's VLEN types), in the engine "hyperslab" and in netCDF4."""

import h5py
import hyperslab as hs
import netCDF4
import numpy as np
import pytest
import xarray as xr
from support import IS_H5PY

pytestmark = [
    pytest.mark.skipif(IS_H5PY, reason="an engine of hyperslab"),
    pytest.mark.filterwarnings("ignore"),
]
SEQUENCE = h5py.vlen_dtype("i4")


def sequences(*lengths):
    found = np.empty(len(lengths), object)
    for at, length in enumerate(lengths):
        found[at] = np.arange(length, dtype="i4")
    return found


def variable(path, values, dtype=SEQUENCE):
    """A file with a variable `v` along `x`. Returns the variable."""
    file = h5py.File(path, "w")
    x = file.create_dataset("x", data=np.arange(len(values)))
    x.make_scale("x")
    made = file.create_dataset("v", (len(values),), dtype)
    made[...] = values
    made.dims[0].attach_scale(x)
    return made


def check(found, expected):
    assert found.dtype == object and found.shape == expected.shape
    for one, other in zip(found.ravel(), expected.ravel(), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("options", [{}, {"decode_cf": False}, {"chunks": {}}], ids=str)
@pytest.mark.parametrize("lengths", [(0, 1, 2), (1, 0, 2), (2, 3, 0, 5)])
def test_sequences_are_read_as_netcdf4_reads_them(lengths, options, tmp_path):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", len(lengths))
        made = file.createVariable("v", file.createVLType("i4", "kind"), ("x",))
        for at, values in enumerate(sequences(*lengths)):
            made[at] = values
    with xr.open_dataset(path, engine="netcdf4", **options) as theirs:
        expected = theirs.v.values
    with xr.open_dataset(path, engine="hyperslab", **options) as ours:
        # A part is read alone.
        check(ours.v[1:2].values, expected[1:2])
        check(ours.v[[0, 2]].values, expected[[0, 2]])
        assert ours.v[2].dims == () and ours.v[2].values.item().tolist() == expected[2].tolist()
        check(ours.v.values, expected)


def test_a_variable_with_one_sequence_has_no_dimensions(tmp_path):
    path = tmp_path / "a.nc"
    with h5py.File(path, "w") as file:
        file.create_dataset("v", (), SEQUENCE)[()] = np.arange(3, dtype="i4")
    with xr.open_dataset(path, engine="hyperslab") as found:
        assert found.v.dims == () and found.v.values.item().tolist() == [0, 1, 2]


def test_sequences_that_a_longer_dimension_adds_are_empty(tmp_path):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("t", None)
        made = file.createVariable("v", file.createVLType("i4", "kind"), ("t",))
        made[0], made[1] = sequences(2, 3)
        file.createVariable("other", "f4", ("t",))[:] = np.ones(4)
    with xr.open_dataset(path, engine="hyperslab") as found:
        check(found.v.values, sequences(2, 3, 0, 0))
        assert found.v[3].values.item().tolist() == []


@pytest.mark.parametrize("fill", [sequences(2), np.array([7], "i4")], ids=["a sequence", "a number"])
@pytest.mark.parametrize("name", ["_FillValue", "missing_value"])
@pytest.mark.parametrize("options", [{}, {"chunks": {}}], ids=str)
def test_fill_values_mask_no_sequences(fill, name, options, tmp_path):
    path = tmp_path / "a.nc"
    made = variable(path, sequences(0, 1, 2))
    made.attrs.create(name, fill, (1,), SEQUENCE if fill.dtype == object else None)
    made.file.close()
    with xr.open_dataset(path, engine="hyperslab", **options) as found:
        check(found.v.values, sequences(0, 1, 2))
        assert name not in found.v.attrs and (name in found.v.encoding) == (fill.dtype != object)


def test_a_fill_value_that_is_a_sequence_masks_no_numbers(tmp_path):
    path = tmp_path / "a.nc"
    made = variable(path, np.array([0.0, 1.0, 2.0]), "f4")
    made.attrs.create("_FillValue", sequences(2), (1,), SEQUENCE)
    made.file.close()
    with xr.open_dataset(path, engine="netcdf4") as theirs, xr.open_dataset(path, engine="hyperslab") as ours:
        xr.testing.assert_equal(ours.v, theirs.v)
        assert ours.v.values.tolist() == [0, 1, 2]


def test_other_attributes_may_be_sequences(tmp_path):
    path = tmp_path / "a.nc"
    made = variable(path, np.array([0.0, 1.0, 2.0]), "f4")
    made.attrs.create("one", sequences(2), (1,), SEQUENCE)
    made.file.attrs.create("two", sequences(2, 0), (2,), SEQUENCE)
    made.file.close()
    with xr.open_dataset(path, engine="hyperslab") as found:
        assert found.v.attrs["one"].tolist() == [0, 1]
        check(found.attrs["two"], sequences(2, 0))


def test_sequences_of_sequences_and_of_references_are_read(tmp_path):
    path = tmp_path / "a.nc"
    with hs.File(path, "w") as file:
        for name, kind in (("nested", hs.vlen_dtype(SEQUENCE)), ("references", hs.vlen_dtype(hs.ref_dtype))):
            file.create_dataset(name, (2,), kind)
        file["nested"][0] = sequences(2, 3)
        file["references"][0] = np.array([file.ref, file.ref], hs.ref_dtype)
    with xr.open_dataset(path, engine="hyperslab") as found:
        check(found.nested[0].values.item(), sequences(2, 3))
        assert [len(one) for one in found.references.values] == [2, 0]
