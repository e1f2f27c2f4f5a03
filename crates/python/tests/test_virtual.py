"""Virtual datasets: h5py makes them and reads what hyperslab made."""

import warnings

import h5py
import hyperslab as hs
import numpy as np
import pytest

ENDLESS = h5py.h5s.UNLIMITED


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def source(name, data, path="d", **kwds):
    with h5py.File(name, "a") as f:
        f.create_dataset(path, data=data, **kwds)


def virtual(layout, name="v.h5", fillvalue=-7, libver="earliest"):
    with h5py.File(name, "w", libver=libver) as f:
        f.create_virtual_dataset("v", layout, fillvalue=fillvalue)


def equal(*selections, name="v.h5"):
    """Both libraries read the same."""
    with h5py.File(name) as f:
        expected = [f["v"].shape, *(f["v"][one] for one in selections)]
    with hs.File(name) as f:
        found = [f["v"].shape, *(f["v"][one] for one in selections)]
    assert found[0] == expected[0]
    for one, other in zip(found[1:], expected[1:], strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("seed", range(60))
def test_random_mappings_read_as_by_h5py(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 9, rng.integers(1, 4)))
    for number in range(3):
        kind = rng.choice(["i4", "f8", ">i2"])
        chunks = tuple(max(1, n // 2) for n in shape) if number else None
        source(f"{number}.h5", rng.integers(0, 1000, shape).astype(kind), chunks=chunks)
    layout = h5py.VirtualLayout(shape, "f4" if seed % 3 else "i8")
    covered = np.zeros(shape, int)

    def key():
        for n in shape:
            start = int(rng.integers(0, n))
            step = int(rng.integers(1, 4))
            yield slice(start, int(rng.integers(start, n)) + 1, step) if rng.random() < 0.8 else start

    for number in range(int(rng.integers(1, 5))):
        target, taken = tuple(key()), tuple(key())
        before = covered.copy()
        before[target] += 1
        if before.max() > 1:
            continue  # overlapping mappings are undefined
        name = "gone.h5" if rng.random() < 0.2 else f"{number % 3}.h5"
        try:
            layout[target] = h5py.VirtualSource(name, "d", shape)[taken if rng.random() < 0.5 else target]
        except ValueError:
            continue  # the two sides have different numbers of elements
        covered = before
    virtual(layout, libver=rng.choice(["earliest", "v110", "latest"]))
    parts = [tuple(slice(int(rng.integers(0, n)), n, int(rng.integers(1, 3))) for n in shape) for _ in range(4)]
    some = [int(index) for index in np.unique(rng.integers(0, shape[0], 3))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        equal(..., *parts, (some,))
        with hs.File("v.h5") as f:
            whole, mask = f["v"][...], rng.random(shape) < 0.4
            np.testing.assert_array_equal(f["v"][mask], whole[mask])


@pytest.mark.parametrize("libver", ["earliest", "v110", "v112", "latest"])
def test_the_mappings_are_stored_as_by_h5py(libver):
    def block(library):
        layout = library.VirtualLayout((6, 10), "i4")
        layout[0, :] = library.VirtualSource("a.h5", "d", shape=(10,))
        layout[1:3, ::3] = library.VirtualSource("a-long-name.h5", "d", shape=(9, 9))[0:2, 0:4]
        layout[3, 1:6:2] = library.VirtualSource("a-long-name.h5", "d", shape=(3,))
        layout[4, [1, 3, 4, 9]] = library.VirtualSource("same.h5", "e", shape=(4,))
        with library.File("same.h5", "w", libver=libver) as f:
            f.create_virtual_dataset("v", layout, fillvalue=3)
        with open("same.h5", "rb") as f:
            raw = f.read()
        at = raw.index(b"GCOL")
        return raw[at + 32 : at + 32 + int.from_bytes(raw[at + 24 : at + 32], "little")]

    assert block(hs) == block(h5py)


def test_h5py_reads_what_hyperslab_made():
    for number in range(3):
        source(f"{number}.h5", np.arange(4, dtype="i4") + 10 * number)
    with hs.File("v.h5", "w") as f:
        f["here"] = np.array([7.5, 8.5])
        with f.build_virtual_dataset("v", (4, 4), "f8", fillvalue=-1) as layout:
            for number in range(3):
                layout[number] = hs.VirtualSource(f"{number}.h5", "d", (4,))
            layout[3, 1:3] = hs.VirtualSource(f["here"])
        assert f["v"].is_virtual
        assert [one.file_name for one in f["v"].virtual_sources()] == ["0.h5", "1.h5", "2.h5", "."]
    equal(..., np.s_[1:, ::3])
    with h5py.File("v.h5") as f:
        assert f["v"][3].tolist() == [-1, 7.5, 8.5, -1]
        assert [one.file_name for one in f["v"].virtual_sources()] == ["0.h5", "1.h5", "2.h5", "."]


def test_a_missing_source_is_filled_and_reported():
    source("a.h5", np.arange(3))
    layout = h5py.VirtualLayout((9,), "i8")
    layout[:3] = h5py.VirtualSource("a.h5", "d", (3,))
    layout[3:6] = h5py.VirtualSource("gone.h5", "d", (3,))
    layout[6:] = h5py.VirtualSource("a.h5", "none", (3,))
    virtual(layout)
    with hs.File("v.h5") as f:
        v = f["v"]
        with pytest.warns(UserWarning, match="does not exist") as told:
            assert v[:].tolist() == [0, 1, 2, *[-7] * 6]
        assert len(told) == 2
        missing = v.virtual_sources(missing_only=True)
        assert [(one.file_name, one.dset_name) for one in missing] == [("gone.h5", "d"), ("a.h5", "none")]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert v[:3].tolist() == [0, 1, 2]


def test_a_damaged_or_smaller_source_is_an_error():
    layout = h5py.VirtualLayout((9,), "i8")
    layout[:] = h5py.VirtualSource("a.h5", "d", (9,))
    virtual(layout)
    with open("a.h5", "wb") as f:
        f.write(b"x" * 3000)
    with hs.File("v.h5") as f, pytest.raises(OSError, match="a.h5"):
        f["v"][:]


def test_a_selection_that_leaves_its_source_is_an_error():
    layout = h5py.VirtualLayout((9,), "i8")
    layout[:] = h5py.VirtualSource("b.h5", "d", (20,))[5:14]
    virtual(layout)
    source("b.h5", np.arange(10))
    with hs.File("v.h5") as f:
        assert f["v"][:5].tolist() == [5, 6, 7, 8, 9]
        with pytest.raises((IndexError, OSError, ValueError), match="out of bounds"):
            f["v"][:]


def test_blocks_without_end_follow_their_source():
    source("a.h5", np.arange(6), maxshape=(None,), chunks=(4,))
    layout = h5py.VirtualLayout((2, 1), "i8", maxshape=(2, None))
    layout[0, 0:ENDLESS] = h5py.VirtualSource("a.h5", "d", (1,), maxshape=(None,))[0:ENDLESS]
    layout[1, 0:ENDLESS:2] = h5py.VirtualSource("a.h5", "d", (1,), maxshape=(None,))[0:ENDLESS]
    virtual(layout)
    equal(..., np.s_[:, 2:9])
    with hs.File("v.h5") as f:
        v = f["v"]
        assert v.shape == (2, 11)
        with h5py.File("b.h5", "w") as other:
            other["x"] = 1
    with hs.File("a.h5", "r+") as a, hs.File("v.h5") as f:
        v = f["v"]
        assert v.shape == (2, 11)
        a["d"].resize((9,))
        a["d"][6:] = [60, 70, 80]
        assert v.shape == (2, 17)
        assert v[0, :9].tolist() == [*range(6), 60, 70, 80]


def test_numbered_sources_are_found_one_after_another():
    for number in [0, 1, 2, 4]:
        source(f"part-{number}.h5", np.full(3, number))
    layout = h5py.VirtualLayout((3,), "i8", maxshape=(None,))
    space = h5py.h5s.create_simple((3,), (ENDLESS,))
    space.select_hyperslab((0,), (ENDLESS,), (4,), (3,))
    layout.dcpl.set_virtual(space, b"part-%b.h5", b"d", h5py.h5s.create_simple((3,)))
    virtual(layout)
    equal(..., np.s_[2:9])
    with hs.File("v.h5") as f:
        assert f["v"].shape == (11,)
        source("part-3.h5", np.full(3, 3))
        assert f["v"].shape == (19,), "parts 3 and 4"
        assert f["v"][:].tolist() == [0, 0, 0, -7, 1, 1, 1, -7, 2, 2, 2, -7, 3, 3, 3, -7, 4, 4, 4]


def test_virtual_datasets_of_virtual_datasets():
    source("a.h5", np.arange(6))
    for level in range(3):
        layout = h5py.VirtualLayout((6,), "i8")
        name = ("a.h5", "d") if level == 0 else (f"{level - 1}.h5", "v")
        layout[:] = h5py.VirtualSource(*name, (6,))
        virtual(layout, f"{level}.h5")
    equal(..., np.s_[2:4], name="2.h5")


def test_a_virtual_dataset_that_is_its_own_source_is_refused():
    with hs.File("v.h5", "w") as f:
        for name, other in [("v", "w"), ("w", "v")]:
            with f.build_virtual_dataset(name, (4,), "i4") as layout:
                layout[:] = hs.VirtualSource("v.h5", other, (4,))
        with pytest.raises((OSError, ValueError), match="source of itself"):
            f["v"][:]
    layout = h5py.VirtualLayout((3,), "i8", maxshape=(None,))
    layout[0:ENDLESS] = h5py.VirtualSource("w.h5", "v", (3,), maxshape=(None,))[0:ENDLESS]
    virtual(layout, "w.h5")
    with hs.File("w.h5") as f:
        assert f["v"].shape == (3,), "the stored shape"
        with pytest.raises((OSError, ValueError), match="source of itself"):
            f["v"][:]


def test_sources_are_found_beside_the_file_and_under_a_prefix(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "other").mkdir()
    source("other/a.h5", np.arange(3))
    layout = h5py.VirtualLayout((3,), "i8")
    layout[:] = h5py.VirtualSource("a.h5", "d", (3,))
    virtual(layout, "sub/v.h5")
    with hs.File("sub/v.h5") as f, pytest.warns(UserWarning, match="does not exist"):
        assert f["v"][:].tolist() == [-7] * 3
    with hs.File("sub/v.h5") as f:
        found = f.require_dataset("v", (3,), "i8", virtual_prefix="${ORIGIN}/../other")
        assert found[:].tolist() == [0, 1, 2]
    monkeypatch.setenv("HDF5_VDS_PREFIX", str(tmp_path / "other"))
    with hs.File("sub/v.h5") as f:
        assert f["v"][:].tolist() == [0, 1, 2]
    monkeypatch.delenv("HDF5_VDS_PREFIX")
    source("sub/a.h5", np.arange(3) + 5)
    with hs.File("sub/v.h5") as f:
        assert f["v"][:].tolist() == [5, 6, 7]


def test_writing_goes_into_the_sources():
    source("a.h5", np.zeros((3, 4), "i2"))
    source("b.h5", np.zeros(8, "f8"), chunks=(3,))
    layout = h5py.VirtualLayout((5, 4), "i4")
    layout[:3] = h5py.VirtualSource("a.h5", "d", (3, 4))
    layout[3] = h5py.VirtualSource("b.h5", "d", (8,))[::2]
    virtual(layout)
    values = np.arange(16).reshape(4, 4)
    with hs.File("v.h5", "r+") as f:
        f["v"][:4] = values
        f["v"][1:4, 1] = 99
        values[1:, 1] = 99
        np.testing.assert_array_equal(f["v"][:4], values)
        with pytest.raises((OSError, ValueError), match="unmapped portion"):
            f["v"][3:] = 1
    with h5py.File("a.h5") as a, h5py.File("b.h5") as b:
        np.testing.assert_array_equal(a["d"][:], values[:3])
        np.testing.assert_array_equal(b["d"][::2], values[3])
        assert not b["d"][1::2].any()


def test_copies_keep_the_mappings_and_sources_close_with_the_file():
    source("a.h5", np.arange(3))
    layout = h5py.VirtualLayout((3,), "i8")
    layout[:] = h5py.VirtualSource("a.h5", "d", (3,))
    virtual(layout)
    with hs.File("v.h5", "r+") as f, hs.File("w.h5", "w") as g:
        f.copy("v", g, "v")
        f.copy("v", "again")
        assert g["v"][:].tolist() == f["again"][:].tolist() == [0, 1, 2]
        v = f["v"]
        assert v[0] == 0
    with hs.File("a.h5", "r+") as a:
        a["d"][0] = 5
    equal(..., name="w.h5")


def test_strings_beside_references_of_another_file_are_refused():
    """A reference leads to an object of its file, and the strings are copied to another one."""
    record = np.dtype([("text", h5py.string_dtype()), ("to", h5py.ref_dtype)])
    with h5py.File("a.h5", "w") as f:
        f.create_dataset("d", (2,), record)
        f["d"][0] = ("a", f.ref)
    layout = h5py.VirtualLayout((2,), record)
    layout[:] = h5py.VirtualSource("a.h5", "d", (2,))
    virtual(layout, fillvalue=None)
    with hs.File("v.h5") as f, pytest.raises(NotImplementedError, match="variable length"):
        f["v"][()]


def test_scalars_and_empty_selections():
    source("a.h5", 5)
    source("b.h5", np.arange(3))
    layout = h5py.VirtualLayout((3,), "i8")
    layout[1] = h5py.VirtualSource("a.h5", "d", (1,))
    layout[2] = h5py.VirtualSource("b.h5", "d", (3,))[2]
    virtual(layout)
    with hs.File("v.h5") as f:
        assert f["v"][:].tolist() == [-7, 5, 2]
        assert f["v"][0:0].shape == (0,)
        assert f["v"][2] == 2


TEXTS = ["", "short", "é" * 9, "a string of more than sixteen bytes"] * 3


def write_texts(name, step):
    record = np.dtype([("label", h5py.string_dtype()), ("values", h5py.vlen_dtype("i4")), ("n", "f8")])
    with h5py.File(name, "w") as f:
        texts = [f"{text}{step}" if text else "" for text in TEXTS]
        f.create_dataset("s", data=texts, dtype=h5py.string_dtype())
        f.create_dataset("r", (12,), record)
        f["r"][...] = np.array([(text, np.arange(n % 4, dtype="i4") * step, n) for n, text in enumerate(texts)], record)
        lists = f.create_dataset("l", (12,), h5py.vlen_dtype(h5py.string_dtype()))
        for n in range(12):
            lists[n] = np.array(texts[: n % 3], object)


@pytest.mark.parametrize("path", ["s", "r", "l"])
def test_data_of_variable_length_of_other_files(path):
    for step in range(1, 5):
        write_texts(f"{step}.h5", step)
    with h5py.File("1.h5") as f:
        dtype = f[path].dtype
    layout = h5py.VirtualLayout((5, 12), dtype)
    for step in (1, 2, 4):
        layout[step] = h5py.VirtualSource(f"{step}.h5", path, (12,), dtype)
    layout[3, ::2] = h5py.VirtualSource("3.h5", path, (12,), dtype)[6:]
    virtual(layout, fillvalue=None)
    nested = h5py.VirtualLayout((5, 12), dtype)
    nested[...] = h5py.VirtualSource("v.h5", "v", (5, 12), dtype)
    virtual(nested, "nested.h5", fillvalue=None)

    def plain(value):
        if isinstance(value, np.ndarray) or type(value) is list:
            return [plain(item) for item in value]
        return tuple(plain(item) for item in value) if isinstance(value, (tuple, np.void)) else value

    sources = {}
    for step in range(1, 5):
        with h5py.File(f"{step}.h5") as f:
            sources[step] = plain(f[path][()])
    for name in ("v.h5", "nested.h5"):
        with hs.File(name) as f:
            found = plain(f["v"][()])
            assert [found[step] for step in (1, 2, 4)] == [sources[step] for step in (1, 2, 4)]
            assert found[3][::2] == sources[3][6:] and found[3][1] == found[0][0]
            assert plain(f["v"][1:5, 3]) == [found[step][3] for step in range(1, 5)]
            assert plain(f["v"][2, [1, 5, 7]]) == [found[2][n] for n in (1, 5, 7)]
            assert plain(f["v"][4, 11]) == found[4][11]
    if path == "s":
        with hs.File("v.h5") as f:
            strings = f["v"].astype(np.dtypes.StringDType())[1:3]
            assert strings.tolist() == [[text.decode() for text in sources[step]] for step in (1, 2)]


def test_a_source_that_is_mapped_whole_may_grow():
    for rows, shape in ((2, (2, 3)), (5, (5, 3))):
        with h5py.File("s.h5", "w") as f:
            f.create_dataset("d", data=np.arange(3 * rows).reshape(shape), maxshape=(None, 3))
        if rows == 2:
            layout = h5py.VirtualLayout((2, 3), "i8")
            with h5py.File("s.h5") as f:
                layout[...] = h5py.VirtualSource(f["d"])
            virtual(layout)
        equal(np.s_[:], 0, (1, 2))


def test_writing_through_a_virtual_dataset_that_leads_to_itself_is_an_error():
    for name, other in (("a.h5", "b.h5"), ("b.h5", "a.h5")):
        layout = h5py.VirtualLayout((4,), "i4")
        layout[...] = h5py.VirtualSource(other, "v", (4,))
        virtual(layout, name)
    with hs.File("a.h5", "r+") as f:
        for what in (np.s_[:], [1, 3]):
            with pytest.raises(ValueError, match="is a source of itself"):
                f["v"][what] = 1


def test_a_refresh_closes_sources_whose_sources_are_in_the_first_file():
    source("a.h5", np.arange(8), "data")
    for name, other, path in (("b.h5", "a.h5", "data"), ("a.h5", "b.h5", "v")):
        layout = h5py.VirtualLayout((8,), "i8")
        layout[...] = h5py.VirtualSource(other, path, (8,))
        with h5py.File(name, "a") as f:
            f.create_virtual_dataset("v", layout)
    with hs.File("a.h5") as f:
        for _ in range(2):
            assert f["v"][:].tolist() == list(range(8))
            f["v"].refresh()
