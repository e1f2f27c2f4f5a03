"""Numbers and arrays of numbers have a fast write path, which stores and refuses the same values as h5py."""

import io

import h5py
import numpy as np
import pytest
from support import hs

LIMITS = [0, 1, -1, 127, 128, -128, -129, 255, 256, 2**31, -(2**63), 2**63 - 1, 2**63, 2**64 - 1, 2**64]
FLOATS = [0.5, -0.0, 1e300, 3.4028236e38, 1e-300, float("inf"), float("nan"), 2**24 + 1.0]
OTHERS = [True, np.int8(5), np.float32(1.5), np.float64(2.5), 1 + 2j, "7", b"7", None, [3], np.array([4]), np.array(9)]
DTYPES = ["i1", "u1", ">i2", "u4", "<i8", ">u8", "f2", "<f4", ">f4", "f8", ">f8"]


def outcome(action):
    """Returns the result of an action, or the class of its exception."""
    try:
        return action()
    except (TypeError, ValueError, OverflowError, OSError) as error:
        return type(error)


def assert_same(ours, theirs, what):
    assert isinstance(ours, type) == isinstance(theirs, type), (what, ours, theirs)
    if isinstance(theirs, type):
        assert ours is theirs, what
        return
    assert ours.dtype == theirs.dtype, what
    assert ours.tobytes() == theirs.tobytes(), what


def element_of(module, path, dtype, value):
    """Writes a value to one element and returns what h5py reads back."""
    with module.File(path, "w") as file:
        dataset = file.create_dataset("d", (3,), dtype)
        with np.errstate(over="ignore"):
            dataset[1] = value
    with h5py.File(path) as file:
        return file["d"][()]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
def test_one_element_is_stored_as_h5py_stores_it(tmp_path, dtype):
    for value in LIMITS + FLOATS + OTHERS:
        ours = outcome(lambda value=value: element_of(hs, tmp_path / "ours.h5", dtype, value))
        theirs = outcome(lambda value=value: element_of(h5py, tmp_path / "theirs.h5", dtype, value))
        assert_same(ours, theirs, (dtype, value))


def new_objects_of(module, path, value):
    """Writes a value as an attribute and as a dataset, and returns what h5py and its low-level API report."""
    with module.File(path, "w") as file:
        file.attrs["a"] = value
        file.create_dataset("d", data=value)
    with h5py.File(path) as file:
        kept = np.asarray(file.attrs["a"])
        same = np.asarray(file["d"][()])
        assert same.dtype == kept.dtype
        assert same.tobytes() == kept.tobytes()
        types = (file.attrs.get_id("a").get_type(), file["d"].id.get_type())
        assert types[0].equal(types[1])
        assert file["d"].attrs.keys() == set()
        return kept, type(types[0]).__name__, file["d"].shape, file["d"].chunks


@pytest.mark.parametrize("value", [7, -7, 2**63 - 1, -(2**63), 2**63, 0.1, float("nan"), True, np.float32(2)])
def test_a_new_number_gets_the_type_that_h5py_gives_it(tmp_path, value):
    ours = new_objects_of(hs, tmp_path / "ours.h5", value)
    theirs = new_objects_of(h5py, tmp_path / "theirs.h5", value)
    assert_same(ours[0], theirs[0], value)
    assert ours[1:] == theirs[1:]


ARRAYS = {
    "rows": np.arange(6, dtype="<i4").reshape(2, 3),
    "columns": np.asfortranarray(np.arange(6, dtype="<i4").reshape(2, 3)),
    "big-endian": np.arange(4, dtype=">u2"),
    "half": np.arange(4, dtype="f2"),
    "long double": np.arange(4, dtype=np.longdouble),
    "scalar": np.array(5, dtype="u8"),
    "empty": np.zeros((0, 4), dtype="f8"),
    "every second": np.arange(10)[::2],
    "marked as an enumeration": np.array([0, 1], dtype=h5py.enum_dtype({"A": 0, "B": 1}, "i4")),
    "masked": np.ma.masked_array([1, 2], mask=[True, False]),
    "bool": np.array([True, False]),
    "complex": np.array([1j, 2]),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_a_new_array_gets_the_type_that_h5py_gives_it(tmp_path, name):
    ours = new_objects_of(hs, tmp_path / "ours.h5", ARRAYS[name])
    theirs = new_objects_of(h5py, tmp_path / "theirs.h5", ARRAYS[name])
    assert_same(ours[0], theirs[0], name)
    assert ours[1:] == theirs[1:]


def test_the_fast_write_path_refuses_what_the_general_path_refuses():
    image = io.BytesIO()
    with hs.File(image, "w") as file:
        file.create_dataset("d", data=np.arange(3))
        with pytest.raises(ValueError, match="exists"):
            file.create_dataset("d", data=np.arange(3))
        with pytest.raises(IndexError):
            file["d"][3] = 1
    with hs.File(image, "r") as file:
        with pytest.raises(OSError, match="no write intent"):
            file["d"][0] = 1
        with pytest.raises(OSError, match="no write intent"):
            file["d"].attrs["a"] = 1
        with pytest.raises(ValueError, match="no write intent"):
            file.create_dataset("e", data=np.arange(3))
