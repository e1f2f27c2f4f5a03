"""Mappings of virtual datasets in property lists, beside those of h5py."""

import h5py
import hyperslab as hs
import numpy as np
import pytest
from hyperslab.low import h5d, h5p, h5s, h5t

END = h5s.UNLIMITED


def sources(tmp_path):
    for number in range(2):
        with h5py.File(tmp_path / f"{number}.h5", "w") as file:
            file["d"] = np.arange(12.0).reshape(3, 4) + 100 * number


def described(space):
    """Returns the kind of a selection, or the indices of each axis: a count may stand for a block."""
    kind = space.get_select_type()
    if kind != h5s.SEL_HYPERSLABS:
        return kind
    return [
        (start, END)
        if END in (count, block)
        else [start + stride * at + by for at in range(count) for by in range(block)]
        for start, stride, count, block in zip(*space.get_regular_hyperslab(), strict=True)
    ]


def mappings(dataset):
    plist = dataset.id.get_create_plist()
    return [
        (
            plist.get_virtual_filename(at),
            plist.get_virtual_dsetname(at),
            described(plist.get_virtual_vspace(at)),
            described(plist.get_virtual_srcspace(at)),
        )
        for at in range(plist.get_virtual_count())
    ]


def make(spaces, plists, types, datasets, file):
    """Makes a virtual dataset through the low-level modules of either package."""
    space = spaces.create_simple((2, 3, 2), (2, 3, 2))
    plist = plists.create(plists.DATASET_CREATE)
    plist.set_fill_value(np.array([-1]))
    for number in range(2):
        source = spaces.create_simple((3, 4))
        source.select_hyperslab((0, number), (3, 2), (1, 2), (1, 1))
        space.select_hyperslab((number, 0, 0), (1, 1, 1), block=(1, 3, 2))
        plist.set_virtual(space, f"{number}.h5".encode(), b"d", source)
    datasets.create(file.id, b"v", types.NATIVE_INT16, space, plist)


def test_a_dataset_made_by_identifiers_is_that_of_h5py(tmp_path):
    sources(tmp_path)
    with hs.File(tmp_path / "ours.h5", "w") as file:
        make(h5s, h5p, h5t, h5d, file)
    with h5py.File(tmp_path / "theirs.h5", "w") as file:
        make(h5py.h5s, h5py.h5p, h5py.h5t, h5py.h5d, file)
    found = []
    for package in (hs, h5py):
        for name in ("ours.h5", "theirs.h5"):
            with package.File(tmp_path / name) as file:
                dataset = file["v"]
                assert dataset.dtype == np.int16 and dataset.fillvalue == -1
                found.append((dataset[:].tolist(), mappings(dataset)))
    expected = [(np.arange(12).reshape(3, 4) + 100 * number)[:, number::2].tolist() for number in range(2)]
    assert found[0][0] == expected
    assert all(one == found[0] for one in found)


def test_mappings_without_end_are_listed_as_by_h5py(tmp_path):
    sources(tmp_path)
    layout = h5py.VirtualLayout((3, 4), "f8", maxshape=(None, 4))
    layout[: h5py.h5s.UNLIMITED] = h5py.VirtualSource("0.h5", "d", (3, 4), maxshape=(None, 4))[: h5py.h5s.UNLIMITED]
    with h5py.File(tmp_path / "v.h5", "w", libver="latest") as file:
        file.create_virtual_dataset("v", layout)
        theirs = mappings(file["v"])
    with hs.File(tmp_path / "v.h5") as file:
        assert mappings(file["v"]) == theirs
        assert theirs[0][2] == [(0, END), [0, 1, 2, 3]]


def test_selections_that_do_not_fit_are_refused():
    space, source = h5s.create_simple((4,)), h5s.create_simple((3,))
    plist = h5p.create(h5p.DATASET_CREATE)
    with pytest.raises(ValueError, match="different number of elements"):
        plist.set_virtual(space, b"a.h5", b"d", source)
    space.select_elements([[0], [2], [3]])
    with pytest.raises(ValueError, match="Point selections"):
        plist.set_virtual(space, b"a.h5", b"d", source)
    corners = h5s.create_simple((2, 2))
    corners.select_hyperslab((0, 0), (1, 1))
    corners.select_hyperslab((1, 1), (1, 1), op=h5s.SELECT_OR)
    corners.select_hyperslab((0, 1), (1, 1), op=h5s.SELECT_OR)
    with pytest.raises(NotImplementedError, match="map each block by itself"):
        plist.set_virtual(corners, b"a.h5", b"d", source)
    assert plist.get_layout() == h5d.CONTIGUOUS


def test_a_grid_of_indices_is_mapped(tmp_path):
    sources(tmp_path)
    space, source = h5s.create_simple((3,)), h5s.create_simple((3, 4))
    source.select_hyperslab((1, 0), (1, 2))
    source.select_hyperslab((1, 3), (1, 1), op=h5s.SELECT_OR)
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_virtual(space, b"0.h5", b"d", source)
    with hs.File(tmp_path / "v.h5", "w") as file:
        h5d.create(file.id, b"v", h5t.NATIVE_DOUBLE, space, plist)
        h5d.create(file.id, None, h5t.NATIVE_DOUBLE, space, plist)
    with h5py.File(tmp_path / "v.h5") as file:
        assert file["v"][:].tolist() == [4.0, 5.0, 7.0]
        blocks = file["v"].id.get_create_plist().get_virtual_srcspace(0).get_select_hyper_blocklist()
    with hs.File(tmp_path / "v.h5") as file:
        ours = file["v"].id.get_create_plist().get_virtual_srcspace(0).get_select_hyper_blocklist()
    np.testing.assert_array_equal(ours, blocks)


def test_the_folder_of_sources_is_kept_and_used(tmp_path):
    (tmp_path / "a").mkdir()
    sources(tmp_path / "a")
    with hs.File(tmp_path / "v.h5", "w") as file:
        layout = hs.VirtualLayout((3, 4), "f8")
        layout[:] = hs.VirtualSource("1.h5", "d", (3, 4))
        file.create_virtual_dataset("v", layout)
        access = h5p.create(h5p.DATASET_ACCESS)
        access.set_virtual_prefix(bytes(tmp_path / "a"))
        found = h5d.open(file.id, b"v", access)
        assert found._object[0, 0] == 100
        assert found.get_access_plist().get_virtual_prefix() == bytes(tmp_path / "a")
        other = file.create_dataset("other", (2,), "f4", virtual_prefix="/somewhere")
        assert other.id.get_access_plist().get_virtual_prefix() == b"/somewhere"
