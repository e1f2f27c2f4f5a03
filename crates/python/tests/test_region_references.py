"""Region references: both libraries write what both read, and both see the same regions."""

import h5py
import hyperslab as hs
import numpy as np
import pytest

SHAPE = (6, 8)
DATA = np.arange(48).reshape(SHAPE)
MASK = DATA % 5 == 2
WHOLE = np.ones(SHAPE, dtype=bool)
KEYS = {
    "slab": np.s_[1:4, 2:5],
    "all": np.s_[...],
    "steps": np.s_[::2, 1:8:3],
    "row": np.s_[3],
    "element": np.s_[3, 4],
    "nothing": np.s_[2:2, 1:3],
    "list": np.s_[[0, 2, 3], :],
    "list and slice": np.s_[1:5:2, [1, 2, 6]],
    "one of a list": np.s_[[4], 1:3],
    "mask": MASK,
    "whole mask": WHOLE,
    "empty mask": ~WHOLE,
    "many blocks": np.s_[::3, ::2],
}
LIBVERS = ("earliest", "v108", "v110", "v112", "latest")


def write(lib, path, libver="earliest"):
    """Writes a region of each kind to a dataset, and to attributes."""
    with lib.File(path, "w", libver=libver) as file:
        data = file.create_dataset("data", data=DATA, chunks=(2, 3))
        references = file.create_dataset("references", (len(KEYS) + 1,), dtype=lib.regionref_dtype)
        for number, (name, key) in enumerate(KEYS.items()):
            region = data.regionref[key]
            references[number] = region
            data.attrs.create(name, region, dtype=lib.regionref_dtype)


def seen(lib, path):
    """Returns what a library finds behind each reference."""
    found = []
    with lib.File(path) as file:
        data = file["data"]
        references = [*file["references"][:-1], *(data.attrs[name] for name in KEYS)]
        for reference in references:
            assert isinstance(reference, lib.h5r.RegionReference if lib is h5py else hs.RegionReference)
            part = data[reference]
            assert file[reference].name == "/data"
            of_all, of_part = data.regionref.shape(reference), data.regionref.selection(reference)
            found.append((part.tolist(), part.shape, of_all, of_part))
        null = file["references"][len(KEYS)]
        assert not null
        with pytest.raises(ValueError):
            file[null]
    return found


@pytest.mark.parametrize("libver", LIBVERS)
@pytest.mark.parametrize("writer", [h5py, hs], ids=["by h5py", "by hyperslab"])
def test_both_libraries_find_the_same_behind_references(tmp_path, writer, libver):
    path = tmp_path / "file.h5"
    write(writer, path, libver)
    ours, theirs = seen(hs, path), seen(h5py, path)
    assert ours == theirs
    for key, (part, *_) in zip(KEYS.values(), ours, strict=False):
        assert np.ravel(part).tolist() == DATA[key].ravel().tolist()


@pytest.mark.parametrize("libver", LIBVERS)
@pytest.mark.parametrize("name", KEYS)
def test_both_libraries_store_the_same_shape_of_a_region(tmp_path, name, libver):
    found = []
    for lib in (h5py, hs):
        with lib.File(tmp_path / f"{lib.__name__}.h5", "w", libver=libver) as file:
            data = file.create_dataset("data", data=DATA)
            region = data.regionref[KEYS[name]]
            found.append((data.regionref.shape(region), data.regionref.selection(region), data[region].tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("op", ["or", "xor", "not"])
def test_blocks_of_any_form_are_read(tmp_path, op):
    path = tmp_path / "file.h5"
    code = {"or": h5py.h5s.SELECT_OR, "xor": h5py.h5s.SELECT_XOR, "not": h5py.h5s.SELECT_NOTB}[op]
    rng = np.random.default_rng(7)
    with h5py.File(path, "w") as file:
        data = file.create_dataset("data", data=DATA)
        references = file.create_dataset("references", (40,), dtype=h5py.regionref_dtype)
        for number in range(40):
            space = h5py.h5s.create_simple(SHAPE)
            space.select_hyperslab((0, 0), (4, 6))
            for _ in range(rng.integers(1, 4)):
                start = rng.integers(0, SHAPE)
                space.select_hyperslab(tuple(start), tuple(rng.integers(1, np.array(SHAPE) - start + 1)), op=code)
            references[number] = h5py.h5r.create(data.id, b".", h5py.h5r.DATASET_REGION, space)
    with h5py.File(path) as theirs, hs.File(path) as ours:
        for wanted, found in zip(theirs["references"][:], ours["references"][:], strict=True):
            shape = theirs["data"].regionref.selection(wanted)
            assert ours["data"].regionref.selection(found) == shape
            np.testing.assert_array_equal(ours["data"][found], theirs["data"][wanted])


def test_points_are_read_in_their_order(tmp_path):
    path = tmp_path / "file.h5"
    points = [(5, 7), (0, 0), (3, 2), (0, 1)]
    with h5py.File(path, "w") as file:
        data = file.create_dataset("data", data=DATA)
        space = h5py.h5s.create_simple(SHAPE)
        space.select_elements(points)
        region = h5py.h5r.create(data.id, b".", h5py.h5r.DATASET_REGION, space)
        data.attrs.create("points", region, dtype=h5py.regionref_dtype)
    with hs.File(path, "r+") as file:
        region = file["data"].attrs["points"]
        assert file["data"][region].tolist() == [47, 0, 26, 1]
        file["data"].attrs.create("again", region, dtype=hs.regionref_dtype)
    with h5py.File(path) as file:
        space = h5py.h5r.get_region(file["data"].attrs["again"], file.id)
        assert space.get_select_elem_pointlist().tolist() == [list(point) for point in points]


def test_the_low_level_api_makes_and_reads_regions(tmp_path):
    path = tmp_path / "file.h5"
    blocks = [((0, 0), (2, 3)), ((4, 5), (2, 2)), ((1, 2), (3, 3))]
    found = []
    for lib, low in ((h5py, h5py), (hs, hs.low)):
        with lib.File(path, "w") as file:
            data = file.create_dataset("data", data=DATA)
            space = low.h5s.create_simple(SHAPE)
            space.select_none()
            for start, count in blocks:
                space.select_hyperslab(start, count, op=low.h5s.SELECT_OR)
            region = low.h5r.create(data.id, b".", low.h5r.DATASET_REGION, space)
            back = low.h5r.get_region(region, file.id)
            found.append((back.get_select_npoints(), back.get_select_bounds(), low.h5r.get_name(region, file.id)))
    assert found[0] == found[1]


def test_values_are_written_to_a_region():
    with hs.File.in_memory() as file:
        data = file.create_dataset("data", data=DATA)
        data[data.regionref[1:3, 2:5]] = 0
        expected = DATA.copy()
        expected[1:3, 2:5] = 0
        np.testing.assert_array_equal(data[...], expected)
        data[data.regionref[MASK]] = -np.arange(MASK.sum())
        expected[MASK] = -np.arange(MASK.sum())
        np.testing.assert_array_equal(data[...], expected)


def test_a_region_does_not_grow_with_its_dataset():
    with hs.File.in_memory() as file:
        data = file.create_dataset("data", data=DATA, maxshape=(None, 8))
        region = data.regionref[...]
        data.resize((9, 8))
        assert data[region].shape == SHAPE
        data.resize((3, 8))
        with pytest.raises((ValueError, IndexError)):
            data[region]


def test_a_reference_to_another_dataset_and_a_null_reference_are_refused():
    with hs.File.in_memory() as file:
        one, two = file.create_dataset("one", data=DATA), file.create_dataset("two", data=DATA)
        with pytest.raises(ValueError, match="must point to this dataset"):
            two[one.regionref[0]]
        with pytest.raises(ValueError):
            one[hs.RegionReference()]
        with pytest.raises(ValueError):
            one.regionref.shape(hs.RegionReference())
        with pytest.raises(TypeError):
            file.regionref[0]
        with pytest.raises(TypeError):
            file.create_dataset("objects", (1,), dtype=hs.ref_dtype)[0] = one.regionref[0]
        with pytest.raises(TypeError):
            file.create_dataset("regions", (1,), dtype=hs.regionref_dtype)[0] = one.ref


def test_a_scalar_dataset_has_regions():
    with hs.File.in_memory() as file:
        scalar = file.create_dataset("scalar", data=7)
        region = scalar.regionref[()]
        assert scalar.regionref.selection(region) == () and scalar[region] == 7


def test_regions_are_in_records(tmp_path):
    path = tmp_path / "file.h5"
    for writer, reader in ((hs, h5py), (h5py, hs)):
        with writer.File(path, "w") as file:
            data = file.create_dataset("data", data=DATA)
            dtype = np.dtype([("id", "i4"), ("part", writer.regionref_dtype)])
            records = np.empty(2, dtype=dtype)
            records["id"] = [1, 2]
            records["part"] = [data.regionref[0], data.regionref[1:3, 4]]
            file["records"] = records
        with reader.File(path) as file:
            first, second = file["records"]["part"]
            assert file["data"][first].ravel().tolist() == DATA[0].tolist()
            assert file["data"][second].ravel().tolist() == [12, 20]


def test_copies_of_regions_lead_to_the_copies(tmp_path):
    write(hs, tmp_path / "file.h5")
    with hs.File(tmp_path / "file.h5") as file, hs.File(tmp_path / "copy.h5", "w") as copy:
        file.copy("references", copy, expand_refs=True)
        wanted = [file["data"][reference].tolist() for reference in file["references"][:-1]]
    with h5py.File(tmp_path / "copy.h5") as copy:
        found = copy["references"][:-1]
        assert [copy[reference][reference].tolist() for reference in found] == wanted
