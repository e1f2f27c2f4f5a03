"""Values, links and references at the edges of h5py's rules: each call gives what it gives in h5py."""

import re
import subprocess
import sys

import h5py
import numpy as np
import pandas as pd
import pytest
from support import IS_H5PY, hs, outcome

NAMES = {"A": 1, "B": 258}
BOTH = pytest.mark.parametrize("reader", [hs, h5py], ids=["hyperslab", "h5py"])


def told(function):
    """Returns what a call gives in a form to compare: the values, or the class of the exception."""
    kind, found = outcome(function)
    if kind == "raised":
        return type(found)
    return [np.asarray(item).tolist() for item in found] if isinstance(found, np.ndarray) else found


# Enumerations


@pytest.mark.parametrize("base", ["<u2", ">u2", ">i2", ">i4", ">u8", "<i8"])
@BOTH
def test_names_of_an_enumeration_have_their_values_in_any_byte_order(tmp_path, reader, base):
    names = {**NAMES, "C": -2} if "i" in base else NAMES
    with hs.File(tmp_path / "f.h5", "w") as f:
        kind = hs.enum_dtype(names, base)
        f.create_dataset("d", data=[1, 258], dtype=kind)
        f.create_dataset("record", (2,), np.dtype([("e", kind), ("n", "i2")]))
        f.create_dataset("sequences", (2,), hs.vlen_dtype(kind))
        f.attrs.create("a", 258, dtype=kind)
        f["t"] = kind
    with hs.File(tmp_path / "f.h5", "r+") as f:  # and again, by the dtype that was read
        f["copy"] = f["d"][:]
        f.create_dataset_like("like", f["d"])
        f["committed"] = f["t"].dtype
    with reader.File(tmp_path / "f.h5") as f:
        found = [f[name].dtype for name in ("d", "copy", "like", "t", "committed")]
        found += [f["record"].dtype["e"], f.attrs.get_id("a").dtype]
        found += [f["sequences"].id.get_type().get_super().dtype]
        assert [reader.check_enum_dtype(dtype) for dtype in found] == [names] * len(found)
        assert f["copy"][:].tolist() == [1, 258] and f.attrs["a"] == 258


def test_a_value_that_an_enumeration_cannot_hold_is_refused(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        for names, base in (({"A": 300}, "u1"), ({"A": -1}, ">u4"), ({"A": 2**31}, ">i4")):
            if not IS_H5PY:  # which cuts the value
                with pytest.raises(OverflowError):
                    f.create_dataset("d", (1,), hs.enum_dtype(names, base))
        assert list(f) == []


# Records with members of other sizes in NumPy


def records(module):
    """Dtypes whose members have other sizes in NumPy, in libhdf5's memory and in a file."""
    text, sequence, region = module.string_dtype(), module.vlen_dtype("f4"), module.regionref_dtype
    inner = np.dtype([("v", sequence), ("n", "i2")])
    return {
        "sequence": np.dtype([("v", sequence), ("e", "i2")]),
        "region": np.dtype([("r", region), ("e", "i2")]),
        "object": np.dtype([("r", module.ref_dtype), ("e", "i2")]),
        "text": np.dtype([("s", text), ("e", "i2"), ("t", text)]),
        "all": np.dtype([("s", text), ("v", sequence), ("r", region), ("e", "i2"), ("v2", sequence)]),
        "nested": np.dtype([("a", inner), ("n", "u1"), ("b", inner), ("s", text)]),
        "array": np.dtype([("a", sequence, (2,)), ("n", "u1"), ("r", region, (3,))]),
        "gaps": np.dtype(
            {"names": ["s", "v", "e"], "formats": [text, sequence, "i2"], "offsets": [0, 16, 48], "itemsize": 64}
        ),
        "backwards": np.dtype(
            {"names": ["e", "v", "s"], "formats": ["i2", sequence, text], "offsets": [24, 8, 0], "itemsize": 26}
        ),
        "plain": np.dtype([("a", "u1"), ("b", "f8")], align=True),
    }


@pytest.mark.parametrize("which", list(records(hs)))
def test_a_record_keeps_its_size_from_copy_to_copy(tmp_path, which):
    found = {}
    for module in (hs, h5py):
        with module.File(tmp_path / f"{module.__name__}.h5", "w") as f:
            f.create_dataset("0", (2,), records(module)[which])
            for number in range(3):
                f[f"{number + 1}"] = f[f"{number}"][:]
            f["t"] = f["0"].dtype
            f.attrs.create("a", f["0"][:], dtype=f["0"].dtype)
            if module is not h5py:  # it crashes, at the fill value
                f.create_dataset_like("like", f["0"])
            assert f.require_dataset("1", (2,), f["0"].dtype, exact=True) == f["1"]
        dtypes = {}
        with h5py.File(tmp_path / f"{module.__name__}.h5") as f:
            dtypes = {name: f[name].dtype for name in f} | {"a": f.attrs.get_id("a").dtype}
        assert set(dtypes.values()) == {dtypes["0"]}
        found[module] = dtypes["0"]
    assert found[hs] == found[h5py]


# Numbers into datasets of booleans, enumerations and records

NUMBERS = {
    "i8": np.array([0, 1, 7]),
    "u1": np.array([0, 1, 1], "u1"),
    ">i4": np.array([0, 1, 1], ">i4"),
    "large": np.array([-300, 2**40, 1]),
    "u8": np.array([300, 2**63, 1], "u8"),
    "?": np.array([False, True, True]),
    "floats": np.array([0.0, 1.0, 1.5]),
    "list": [0, 1, 1],
    "one": np.array([1]),
    "0-d": np.array(1),
    "number": 1,
    "reversed": np.array([0, 1, 1])[::-1],
}
WAYS = {
    "slice": lambda d, v: d.__setitem__(slice(None), v),
    "ellipsis": lambda d, v: d.__setitem__(..., v),
    "list": lambda d, v: d.__setitem__([0, 1, 2], v),
    "direct": lambda d, v: d.write_direct(np.broadcast_to(np.asarray(v), 3).copy()),
}
TARGETS = {
    "?": lambda module: "?",
    "i1": lambda module: module.enum_dtype({"A": 0, "B": 1}, "i1"),
    "u1": lambda module: module.enum_dtype({"A": 0, "B": 1}, "u1"),
    ">u2": lambda module: module.enum_dtype({"A": 0, "B": 1}, ">u2"),
    "i8": lambda module: module.enum_dtype({"A": 0, "B": 1}, "i8"),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("way", WAYS)
def test_numbers_become_booleans_and_enumerations_by_every_way(tmp_path, way, target):
    found = []
    for module in (hs, h5py):
        with module.File(tmp_path / f"{module.__name__}.h5", "w") as f:
            dataset = f.create_dataset("d", (3,), TARGETS[target](module))
            row = {}
            for name, value in NUMBERS.items():
                if way == "list" and name == "one":
                    continue  # with a list, h5py broadcasts nothing
                dataset[...] = 0
                done = told(lambda d=dataset, v=value: WAYS[way](d, v))
                row[name] = done or dataset[:].tolist()
            found.append(row)
    assert found[0] == found[1]


@pytest.mark.parametrize("target", TARGETS)
def test_numbers_become_booleans_and_enumerations_in_new_datasets(tmp_path, target):
    found = []
    for module in (hs, h5py):
        with module.File(tmp_path / f"{module.__name__}.h5", "w") as f:
            kind = TARGETS[target](module)
            found.append(
                {
                    name: told(lambda f=f, n=name, v=value, k=kind: f.create_dataset(n, data=v, dtype=k)[()])
                    for name, value in NUMBERS.items()
                }
            )
    assert found[0] == found[1]


def test_arrays_of_booleans_and_enumerations_as_elements_take_numbers(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        for base in ("?", hs.enum_dtype({"A": 0, "B": 1}, ">i2")):
            dataset = f.create_dataset(str(base), (2,), np.dtype((base, (2,))))
            dataset[:] = np.array([[0, 1], [1, 0]])
            assert dataset[:].tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("value", [np.array([7]), np.array(7), np.array([7.5]), 7, np.array([7], "u1")])
def test_a_number_becomes_a_record_by_every_index(tmp_path, value):
    for number, kind in enumerate(([("a", "i4")], [("a", "i4"), ("b", "f8")])):
        found = []
        for module in (hs, h5py):
            with module.File(tmp_path / f"{module.__name__}{number}.h5", "w") as f:
                dataset = f.create_dataset("d", (2,), kind)
                for index in (np.s_[0:1], 0, np.s_[...]):
                    dataset[index] = value
                    found.append((module is hs, index, dataset[:].tolist()))
        half = len(found) // 2
        assert [row[1:] for row in found[:half]] == [row[1:] for row in found[half:]]


# Links to files that cannot be opened


def break_file(path, how):
    """Makes a file that cannot be opened. Returns a process to end, if there is one."""
    if how == "locked":
        program = f"import h5py, sys; f = h5py.File({str(path)!r}, 'r+'); print('open', flush=True); sys.stdin.read()"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        process = subprocess.Popen([sys.executable, "-c", program], **pipes)
        assert process.stdout.readline() == b"open\n"
        return process
    if how == "truncated":
        path.write_bytes(path.read_bytes()[:100])
    elif how == "text":
        path.write_text("a text")
    else:
        path.unlink()
        path.mkdir()
    return None


REASONS = {"locked": "lock", "truncated": "only 100 available", "text": "not an HDF5 file", "folder": ""}


DAMAGED = pytest.param("truncated", marks=pytest.mark.damages)


@pytest.mark.parametrize("how", ["locked", DAMAGED, "text", "folder"])
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_link_to_a_file_that_cannot_be_opened_breaks_no_other_member(tmp_path, how, mode):
    target = tmp_path / "target.h5"
    with h5py.File(target, "w") as f:
        f["d"] = 1
    with h5py.File(tmp_path / "main.h5", "w") as f:
        f["g/fine"] = 5
        f["g/link"] = h5py.ExternalLink("target.h5", "/d")
        f["soft"] = h5py.SoftLink("/g/link")
    process = break_file(target, how)
    try:
        with hs.File(tmp_path / "main.h5", mode) as f:
            group = f["g"]
            assert group.get("link") is None and f.get("soft", 5) == 5 and group.get("link", elink_mode="r") is None
            assert [name for name, member in group.items() if member is None] == ["link"]
            assert [member is None for member in group.values()] == [False, True]
            assert "link" in group and group.get("link", getlink=True).filename == "target.h5"
            for path in ("g/link", "soft", "g/link/below"):
                with pytest.raises(KeyError) as caught:
                    f[path]
                if not IS_H5PY:
                    text = str(caught.value)
                    assert "/g/link" in text and "target.h5" in text and REASONS[how] in text
            names = []
            f.visit(names.append)
            assert names == ["g", "g/fine"]
    finally:
        if process is not None:
            process.communicate(b"")


def rings(module, folder):
    """What each call gives for links in a ring: within a file, between two files, through both."""
    with module.File(folder / "one.h5", "r+") as f:
        for name in ("soft", "external", "itself", "mixed"):
            for call in (
                lambda: f[name],
                lambda: f.get(name, 5),
                lambda: f[name + "/below"],
                lambda: name in f,
                lambda: name + "/below" in f,
                lambda: f.get(name, getlink=True).path,
                lambda: f.get(name + "/below", getlink=True),
                lambda: f.require_group(name + "/below"),
                lambda: f.create_dataset(name + "/x/y", data=1),
            ):
                yield name, told(call)


def test_rings_of_links_fail_as_in_h5py(tmp_path):
    with h5py.File(tmp_path / "one.h5", "w") as f:
        f["soft"], f["back"] = h5py.SoftLink("/back"), h5py.SoftLink("/soft")
        f["external"], f["itself"] = h5py.ExternalLink("two.h5", "/external"), h5py.ExternalLink("one.h5", "/itself")
        f["mixed"], f["into"] = h5py.SoftLink("/into"), h5py.ExternalLink("two.h5", "/mixed")
    with h5py.File(tmp_path / "two.h5", "w") as f:
        f["external"], f["mixed"] = h5py.ExternalLink("one.h5", "/external"), h5py.ExternalLink("one.h5", "/mixed")
    assert list(rings(hs, tmp_path)) == list(rings(h5py, tmp_path))


# Objects without a path, and deleted ones


def test_an_object_has_a_name_once_it_is_linked(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        for number, item in enumerate((f.create_dataset(None, data=1), f.create_group(None))):
            assert item.name is None and "anonymous" in repr(item)
            f[f"x{number}"] = item
            assert item.name == f"/x{number}" and item.parent == f["/"]


@pytest.mark.skipif(IS_H5PY, reason="an open object outlives its links in h5py")
def test_a_deleted_object_differs_from_the_one_at_its_address(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        old, again = f.create_dataset("d", data=1), f["d"]
        assert old == again and old.id == again.id
        del f["d"]
        new = f.create_dataset("d", data=2)
        assert old.ref == new.ref  # it has the same address
        assert old != new and not old == new and old.id != new.id
        assert old == again and old.id == again.id and new == f["d"]
        for use in (lambda: old[()], lambda: old.attrs["a"], lambda: old.attrs.__setitem__("a", 1)):
            with pytest.raises(KeyError, match='"/d" was deleted'):
                use()


@pytest.mark.skipif(IS_H5PY, reason="following such a reference may end the interpreter with h5py")
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_a_reference_to_no_object_is_a_key_error_that_says_so(tmp_path, libver):
    with hs.File(tmp_path / "f.h5", "w", libver=libver) as f, hs.File(tmp_path / "g.h5", "w", libver=libver) as other:
        f["d"], f["e"] = 1, np.arange(500)
        deleted, foreign = f["d"].ref, f["e"].ref
        del f["d"]
        for file, reference in ((f, deleted), (other, foreign)):
            with pytest.raises(KeyError, match="a deleted object or of another file") as caught:
                file[reference]
            assert file.get(reference) is None
            for needed, available in re.findall(r"(\d+) bytes needed, only (\d+)", str(caught.value)):
                assert int(needed) > int(available)


# Arrays of pandas, missing strings, sequences of sequences

ARRAYS = {
    "Int64": lambda: pd.array([1, 2], dtype="Int64"),
    "Int64 with a missing number": lambda: pd.array([1, None], dtype="Int64"),
    "Float64": lambda: pd.array([1.5, 2], dtype="Float64"),
    "boolean": lambda: pd.array([True, False], dtype="boolean"),
    "boolean with a missing one": lambda: pd.array([True, None], dtype="boolean"),
    "Series": lambda: pd.Series([1, 2], dtype="Int64"),
    "sparse": lambda: pd.arrays.SparseArray([0, 1]),
    "texts": lambda: pd.Series(["a", "b"]),
    "text array": lambda: pd.array(["a", "b"], dtype="string"),
    "index": lambda: pd.Index(["a", "b"]),
    "categories": lambda: pd.Series(["a", "b"], dtype="category"),
    "frame": lambda: pd.DataFrame({"a": [1, 2]}),
}


@pytest.mark.parametrize("which", ARRAYS)
@pytest.mark.parametrize("dtype", [None, "i4", "text"])
def test_arrays_of_pandas(tmp_path, which, dtype):
    found = []
    for module in (hs, h5py):
        with module.File(tmp_path / f"{module.__name__}.h5", "w") as f:
            kind = module.string_dtype() if dtype == "text" else dtype
            value = ARRAYS[which]()
            row = [told(lambda f=f, v=value, k=kind: f.create_dataset("d", data=v, dtype=k)[()])]
            row.append(told(lambda f=f, v=value, k=kind: (f.attrs.create("a", v, dtype=k), f.attrs["a"])[1]))
            found.append(row)
    assert str(found[0]) == str(found[1])


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA], ids=str)
@pytest.mark.parametrize("dtype", [None, "utf-8", "S4"])
def test_a_missing_string_is_stored_as_an_empty_one(tmp_path, missing, dtype):
    found = []
    texts = np.array([["a", missing], ["", "long"]], dtype=np.dtypes.StringDType(na_object=missing))
    for module in (hs, h5py):
        with module.File(tmp_path / f"{module.__name__}.h5", "w") as f:
            kind = module.string_dtype() if dtype == "utf-8" else dtype
            f.create_dataset("d", data=texts, dtype=kind)
            f["e"] = texts
            dataset = f.create_dataset("s", (2, 2), "S4")
            dataset[:] = texts
            found.append([f[name][()].tolist() for name in "des"])
    assert found[0] == found[1] == [[[b"a", b""], [b"", b"long"]]] * 3


def objects(*items):
    """Returns an array of Python objects."""
    made = np.empty(len(items), object)
    for place, item in enumerate(items):
        made[place] = item
    return made


@pytest.mark.parametrize(
    ("base", "value", "expected"),
    [
        ("sequence", objects(np.array([1, 2], "i4"), np.array([3], "i4")), [[1, 2], [3]]),
        ("sequence", objects(np.array([1, 2], "i4")), [[1, 2]]),
        ("sequence", [np.array([1, 2], "i4"), np.array([3], "i4")], [[1, 2], [3]]),
        ("sequence", objects(), []),
        ("i4", np.array([1, 2], object), [1, 2]),
        ("i4", [1, 2], [1, 2]),
        ("text", np.array(["a", "b"], object), [b"a", b"b"]),
        ("text", ["a", "b"], [b"a", b"b"]),
    ],
)
def test_one_element_is_a_sequence_of_sequences(tmp_path, base, value, expected):
    for module in (hs, h5py):
        with module.File(tmp_path / f"{module.__name__}.h5", "w") as f:
            kind = {"sequence": module.vlen_dtype("i4"), "text": module.string_dtype()}.get(base, base)
            dataset = f.create_dataset("d", (2,), module.vlen_dtype(kind))
            dataset[0] = value
            assert [np.asarray(item).tolist() for item in dataset[0]] == expected
            assert len(dataset[1]) == 0


@pytest.mark.skipif(IS_H5PY, reason="h5py writes one element of such a dataset at a time")
def test_several_elements_are_sequences_of_sequences(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        dataset = f.create_dataset("d", (2,), hs.vlen_dtype(hs.vlen_dtype("i4")))
        one, two = objects(np.array([1, 2], "i4"), np.array([3], "i4")), objects(np.array([4], "i4"))
        dataset[:] = objects(one, two)
        assert [[list(item) for item in element] for element in dataset[:]] == [[[1, 2], [3]], [[4]]]
        dataset[1:] = objects(one)
        assert [list(item) for item in dataset[1]] == [[1, 2], [3]]


@BOTH
def test_an_attribute_that_an_old_file_cannot_hold_is_an_os_error(tmp_path, reader):
    with reader.File(tmp_path / "f.h5", "w", libver="earliest") as f:
        with pytest.raises(OSError):
            f.attrs["x"] = np.zeros(70000, "u1")
        with pytest.raises(OSError):
            f.attrs["n" * 70000] = 1
        assert list(f.attrs) == []
