"""Dimension scales and labels, compared with h5py."""

import h5py
import numpy as np
import pytest
from support import IS_H5PY, hs, outcome
from test_threads import together


def fill(file):
    file["data"] = np.zeros((2, 3, 4))
    file["other"] = np.zeros((2,))
    for name, size in (("x", 2), ("y", 3), ("z", 4), ("second", 2)):
        file[name] = np.arange(size)


STEPS = {
    "make": lambda f: f["x"].make_scale("the x"),
    "make without a name": lambda f: f["y"].make_scale(),
    "rename": lambda f: f["x"].make_scale("renamed"),
    "attach": lambda f: f["data"].dims[0].attach_scale(f["x"]),
    "attach what is none": lambda f: f["data"].dims[0].attach_scale(f["second"]),
    "attach to another": lambda f: f["other"].dims[0].attach_scale(f["x"]),
    "attach to an axis": lambda f: f["data"].dims[1].attach_scale(f["y"]),
    "label": lambda f: setattr(f["data"].dims[1], "label", "äxis"),
    "label with bytes": lambda f: setattr(f["data"].dims[2], "label", b"bytes"),
    "label anew": lambda f: setattr(f["data"].dims[1], "label", "rows"),
    "no label": lambda f: setattr(f["data"].dims[2], "label", ""),
    "scale of a scale": lambda f: f["x"].dims[0].attach_scale(f["z"]),
    "scales that have scales": lambda f: f["other"].dims[0].attach_scale(f["data"]),
    "itself": lambda f: f["other"].dims[0].attach_scale(f["other"]),
    "make one of what has scales": lambda f: f["data"].make_scale("no"),
    "detach what is not attached": lambda f: f["data"].dims[2].detach_scale(f["x"]),
    "detach": lambda f: f["data"].dims[0].detach_scale(f["x"]),
    "detach again": lambda f: f["data"].dims[0].detach_scale(f["x"]),
    "attach once more": lambda f: f["data"].dims[0].attach_scale(f["x"]),
    "detach all": lambda f: (
        f["data"].dims[0].detach_scale(f["second"]),
        f["data"].dims[0].detach_scale(f["x"]),
        f["data"].dims[1].detach_scale(f["y"]),
        f["other"].dims[0].detach_scale(f["x"]),
    ),
}


def state(file):
    """Returns everything that a file shows of scales and labels."""

    def of(dataset):
        dims = [
            (dim.label, len(dim), list(dim), [name for name, _ in dim.items()], [scale.name for scale in dim.values()])
            for dim in dataset.dims
        ]
        users = dataset.attrs.get("REFERENCE_LIST")
        users = None if users is None else [(file[user[0]].name, int(user[1])) for user in users]
        lists = dataset.attrs.get("DIMENSION_LIST")
        lists = None if lists is None else [[file[ref].name for ref in refs] for refs in lists]
        return dataset.is_scale, dims, users, lists, sorted(dataset.attrs)

    return {name: of(file[name]) for name in file}


@pytest.mark.parametrize("libver", ["earliest", "v110"])
@pytest.mark.parametrize("by_them", [False, True], ids=["ours", "theirs"])
def test_every_change_of_scales_leaves_the_same_state_as_h5py(tmp_path, libver, by_them):
    """Both modules make all changes to a file of their own, or they take turns on a file that h5py made."""
    paths = tmp_path / "ours.h5", tmp_path / "theirs.h5"
    for path, module in zip(paths, (hs, h5py), strict=True):
        with (h5py if by_them else module).File(path, "w", libver=libver) as f:
            fill(f)
    for number, (name, step) in enumerate(STEPS.items()):
        outcomes = []
        for path, module in zip(paths, (hs, h5py), strict=True):
            with (h5py if by_them and number % 2 else module).File(path, "r+") as f:
                kind, found = outcome(step, f)
                outcomes.append(type(found) if kind == "raised" else None)
        assert outcomes[0] == outcomes[1], name
        with h5py.File(paths[1]) as theirs:
            expected = state(theirs)
        for module in (hs, h5py):
            with module.File(paths[0], "r") as ours:
                assert state(ours) == expected, name


def test_attaching_a_scale_twice_attaches_it_once(tmp_path):
    """(The second time, h5py adds an entry to REFERENCE_LIST of the scale, but none to DIMENSION_LIST.)"""
    with hs.File(tmp_path / "f.h5", "w") as f:
        fill(f)
        for _ in range(2):
            f["data"].dims[0].attach_scale(f["x"])
        assert len(f["data"].dims[0]) == 1
        assert IS_H5PY or len(f["x"].attrs["REFERENCE_LIST"]) == 1


def test_scales_are_found_by_number_and_by_name(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        fill(f)
        dims = f["data"].dims
        assert len(dims) == 3 and len(dims[0]) == 0
        with pytest.raises(RuntimeError):
            dims[0][0]
        f["x"].make_scale("name")
        dims[0].attach_scale(f["x"])
        assert dims[0][0] == f["x"] and dims[0]["name"] == f["x"] and dims[0][0].name == "/x"
        for missing, error in ((1, IndexError), ("other", KeyError)):
            with pytest.raises(error):
                dims[0][missing]
        with pytest.raises(IndexError):
            dims[3]


@pytest.mark.skipif(IS_H5PY, reason="h5py cuts names at their first zero byte")
def test_scale_names_and_labels_with_a_zero_byte_are_refused(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        fill(f)
        with pytest.raises(RuntimeError, match="zero byte"):
            f["x"].make_scale("a\0b")
        with pytest.raises(RuntimeError, match="zero byte"):
            f["data"].dims[0].label = "a\0b"
        assert not f["x"].is_scale and not list(f["data"].attrs)


def test_scales_attached_by_many_threads_are_all_kept(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        f["data"] = np.zeros((2, 2))
        for number in range(12):
            f[f"scale {number}"] = [1, 2]

        def work(number):
            scale = f[f"scale {number}"]
            scale.make_scale(f"{number}")
            f["data"].dims[number % 2].attach_scale(scale)
            f["data"].dims[number % 2].label = f"axis {number % 2}"

        together(work)
        for axis in (0, 1):
            assert sorted(map(int, f["data"].dims[axis])) == list(range(axis, 12, 2))
            assert f["data"].dims[axis].label == f"axis {axis}"


def test_changing_scales_of_a_file_open_for_reading_is_an_error(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        fill(f)
        f["x"].make_scale("x")
    with hs.File(tmp_path / "f.h5", "r") as f:
        for change in (
            lambda: f["y"].make_scale("y"),
            lambda: f["data"].dims[0].attach_scale(f["x"]),
            lambda: f["data"].dims[0].detach_scale(f["x"]),
            lambda: setattr(f["data"].dims[0], "label", "x"),
        ):
            with pytest.raises(RuntimeError):
                change()


def scaled(path, module=hs, **options):
    with module.File(path, "w", **options) as f:
        fill(f)
        for name in ("x", "second"):
            f[name].make_scale(name)
            f["data"].dims[0].attach_scale(f[name])


def findings(path):
    return [found.message for found in hs.check(path) if "reference" in found.message]


@pytest.mark.skipif(IS_H5PY, reason="h5py raises RuntimeError")
@pytest.mark.parametrize("module", [hs, h5py], ids=["ours", "theirs"])
@pytest.mark.parametrize("libver", ["earliest", "v110"])
class TestReferencesToNoScale:
    """A reference in DIMENSION_LIST that leads to no scale is left out, and `check` reports it."""

    def test_scales_that_a_copy_left_behind(self, tmp_path, module, libver):
        scaled(tmp_path / "f.h5", module, libver=libver)
        with module.File(tmp_path / "f.h5") as f, module.File(tmp_path / "g.h5", "w", libver=libver) as g:
            f.copy("data", g)
        assert findings(tmp_path / "g.h5")
        with hs.File(tmp_path / "g.h5", "r+") as g:
            dims = g["data"].dims
            assert len(dims[0]) == 0 and dims[0].keys() == [] and dims[0].items() == []
            g["new"] = [1, 2]
            dims[0].attach_scale(g["new"])
            assert dims[0][0] == g["new"] and len(dims[0]) == 1
            dims[0].detach_scale(g["new"])
            assert len(dims[0]) == 0
            dims[0].attach_scale(g["new"])
        with hs.File(tmp_path / "g.h5") as g:
            assert g["data"].dims[0].values() == [g["new"]]

    def test_a_scale_whose_place_other_data_have_taken(self, tmp_path, module, libver):
        scaled(tmp_path / "f.h5", module, libver=libver)
        with h5py.File(tmp_path / "f.h5") as f:
            at = h5py.h5o.get_info(f["x"].id).addr
        with module.File(tmp_path / "f.h5", "r+") as f:
            del f["x"]
        for there in (b"\0" * 64, b"\1" + b"\0" * 63, np.arange(1, 9, dtype="u8").tobytes(), b"\xff" * 64):
            image = bytearray((tmp_path / "f.h5").read_bytes())
            image[at : at + 64] = there[: max(0, len(image) - at)]
            (tmp_path / "g.h5").write_bytes(image)
            assert any("leads to" in message for message in findings(tmp_path / "g.h5"))
            with hs.File(tmp_path / "g.h5") as f:
                assert f["data"].dims[0].keys() == ["second"] and f["data"].dims[0][0].name == "/second"

    def test_a_reference_to_a_group_or_to_a_plain_dataset(self, tmp_path, module, libver):
        with module.File(tmp_path / "f.h5", "w", libver=libver) as f:
            fill(f)
            f.create_group("group")
            lists = np.empty(3, object)
            for axis, names in enumerate((["group", "x"], ["y"], [])):
                lists[axis] = np.array([f[name].ref for name in names], module.ref_dtype)
            f["data"].attrs.create("DIMENSION_LIST", lists, (3,), module.vlen_dtype(module.ref_dtype))
            f["x"].make_scale("x")
        with hs.File(tmp_path / "f.h5") as f:
            assert [dim.keys() for dim in f["data"].dims] == [["x"], [], []]

    def test_a_new_scale_at_the_address_of_a_deleted_one_is_listed_on_both_sides(self, tmp_path, module, libver):
        scaled(tmp_path / "f.h5", module, libver=libver)
        with h5py.File(tmp_path / "f.h5", "r+") as f:
            f["x"].attrs.__delitem__("REFERENCE_LIST")
        with hs.File(tmp_path / "f.h5", "r+") as f:
            f["data"].dims[0].attach_scale(f["x"])
            assert len(f["data"].dims[0]) == 2
            assert [(f[user[0]].name, user[1]) for user in f["x"].attrs["REFERENCE_LIST"]] == [("/data", 0)]


@pytest.mark.skipif(IS_H5PY, reason="h5py raises RuntimeError")
@pytest.mark.damages
def test_damage_in_the_header_of_a_scale_is_an_error(tmp_path):
    scaled(tmp_path / "f.h5", libver="v110")
    with h5py.File(tmp_path / "f.h5") as f:
        at = h5py.h5o.get_info(f["x"].id).addr
    image = bytearray((tmp_path / "f.h5").read_bytes())
    image[at + 30] ^= 1
    (tmp_path / "f.h5").write_bytes(image)
    with hs.File(tmp_path / "f.h5") as f, pytest.raises(hs.FormatError, match="checksum"):
        f["data"].dims[0].keys()
