"""Invalid names and datatypes are refused.

A file that has an invalid name can be read, and the name deleted.
"""

import shutil

import h5py
import numpy as np
import pytest
from support import IS_H5PY, REPOSITORY, hs

BAD_FILES = REPOSITORY / "crates" / "hyperslab" / "tests" / "data"
pytestmark = pytest.mark.skipif(IS_H5PY, reason="h5py cuts names at their first zero byte")


@pytest.mark.parametrize("libver", ["earliest", "v110"])
def test_invalid_names_are_refused_and_change_nothing(tmp_path, libver):
    with hs.File(tmp_path / "f.h5", "w", libver=libver) as f:
        group = f.create_group("g")
        group.attrs["unit"] = 5
        for name in ("", "\0", "a\0b", "x" * 70_000):
            for value in (1, "text", [1.5], hs.Empty("f4")):
                with pytest.raises(OSError if len(name) > 65535 else ValueError, match="name"):
                    group.attrs[name] = value
            with pytest.raises(OSError if len(name) > 65535 else ValueError, match="name"):
                group.attrs.rename("unit", name)
            assert name not in group.attrs
        for name in ("", "a\0b", ".", "g/.", "new/."):
            for make in (
                lambda name: f.create_group(name),
                lambda name: f.create_dataset(name, data=[1]),
                lambda name: f.create_dataset(name, shape=(2,), dtype="i4", chunks=True),
                lambda name: f.__setitem__(name, group),
                lambda name: f.__setitem__(name, hs.SoftLink("/g")),
                lambda name: f.__setitem__(name, hs.ExternalLink("f.h5", "/g")),
                lambda name: f.__setitem__(name, np.dtype("i4")),
                lambda name: f.move("g", name),
                lambda name: f.copy("g", name),
            ):
                with pytest.raises(ValueError):
                    make(name)
        for link in (hs.SoftLink(""), hs.SoftLink("a\0b"), hs.ExternalLink("", "/g"), hs.ExternalLink("f.h5", "a\0b")):
            with pytest.raises(ValueError, match="target"):
                f["link"] = link
        assert list(f) == ["g"] and list(group.attrs) == ["unit"]
    with h5py.File(tmp_path / "f.h5") as f:
        assert list(f) == ["g"] and dict(f["g"].attrs) == {"unit": 5}


@pytest.mark.parametrize(
    "dtype",
    [
        np.dtype([("a\0b", "i4")]),
        np.dtype({"names": ["a", "b"], "formats": ["i4", "i4"], "offsets": [0, 2], "itemsize": 8}),
        np.dtype([(f"a field with a name of some length {k}", "f4") for k in range(3000)]),
        hs.enum_dtype({f"name {k}": k for k in range(9000)}, "i4"),
        hs.enum_dtype({"a\0b": 1}),
        np.dtype(("i1", (1,) * 33)),
    ],
    ids=["zero", "overlap", "many", "values", "value", "rank"],
)
def test_datatypes_that_cannot_be_read_back_are_refused(tmp_path, dtype):
    with hs.File(tmp_path / "f.h5", "w") as f:
        for make in (
            lambda: f.create_dataset("d", shape=(1,), dtype=dtype),
            lambda: f.__setitem__("d", dtype),
            lambda: f.attrs.create("d", np.zeros(1, dtype), shape=(1,), dtype=dtype),
        ):
            # As in h5py, an attribute of over 64 KiB is an OSError.
            with pytest.raises((ValueError, OSError)):
                make()
        assert not list(f) and not list(f.attrs)
    with h5py.File(tmp_path / "f.h5") as f:
        assert not list(f) and not list(f.attrs)


def test_too_many_dimensions_and_too_large_fill_values_are_refused(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        with pytest.raises(ValueError, match="33 dimensions"):
            f.create_dataset("d", shape=(1,) * 33, dtype="i1")
        with pytest.raises(ValueError, match="33 dimensions"):
            f.attrs["d"] = np.zeros((1,) * 33)
        with pytest.raises(ValueError, match="64 KiB"):
            f.create_dataset("d", shape=(1,), dtype="S70000", fillvalue=b"x" * 69_999)
        assert not list(f) and not list(f.attrs)


@pytest.mark.parametrize("name", ["bad_names.h5", "bad_names_earliest.h5"])
def test_an_invalid_name_in_a_file_hides_no_other_name_and_can_be_deleted(tmp_path, name):
    path = tmp_path / "f.h5"
    shutil.copy(BAD_FILES / name, path)
    found = hs.check(path)
    assert any("cannot be read by libhdf5" in finding.message for finding in found)
    with hs.File(path, "r+") as f:
        for group in f.values():
            bad = "" if group.name.endswith("0") else "a\0b"
            assert group.attrs["unit"] == 5 and group.attrs[bad] == 7 and bad in group.attrs
            with pytest.raises(ValueError, match="name"):
                f.copy(group, "copy")
            del group.attrs[bad]
            if "x\0y" in group:
                del group["x\0y"]
            group.attrs["new"] = 1
    with h5py.File(path) as f:
        for group in f.values():
            assert {"unit", "new"} <= set(group.attrs) and not any(name in group.attrs for name in ("a", "b"))
