"""Datasets of fixed shape with few of many possible chunks written: h5py reads and changes them.

Their size in the file depends on the written chunks only (decision 0007).
"""

import h5py
import numpy as np
import pytest
from support import IS_H5PY, hs

pytestmark = pytest.mark.skipif(IS_H5PY, reason="the Fixed Array of h5py has an element for every possible chunk")

SIDE = 2**24
CHUNK = 8
FILTERS = {"none": {}, "gzip": {"compression": "gzip"}}
FILL = -7


def places(count, side=SIDE):
    """Returns the first elements of chunks at random positions, and at both ends."""
    random = np.random.default_rng(7)
    found = {tuple(place) for place in (random.integers(0, side // CHUNK, (count - 2, 2)) * CHUNK).tolist()}
    return sorted(found | {(0, 0), (side - CHUNK, side - CHUNK)})


def block(place):
    return tuple(slice(at, at + CHUNK) for at in place)


def make(h5, path, libver="latest", **options):
    """Creates a dataset of 2^42 possible chunks and writes 1,000 of them, each with its own number."""
    with h5.File(path, "w", libver=libver) as f:
        d = f.create_dataset("d", (SIDE, SIDE), "<i2", chunks=(CHUNK, CHUNK), fillvalue=FILL, **options)
        for number, place in enumerate(places(1000)):
            d[block(place)] = number


@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("libver", ["v110", "latest"])
def test_h5py_finds_a_thousand_of_2_to_the_42_chunks_in_a_small_file(tmp_path, libver, filters):
    ours, theirs = tmp_path / "ours.h5", tmp_path / "theirs.h5"
    make(hs, ours, libver, **FILTERS[filters])
    # The version 1 B-tree that h5py makes for the earliest libraries also grows with the written chunks only.
    make(h5py, theirs, "earliest", **FILTERS[filters])
    assert ours.stat().st_size <= theirs.stat().st_size
    with h5py.File(ours) as f, hs.File(ours) as g:
        for d in (f["d"], g["d"]):
            assert d.id.get_num_chunks() == 1000
            assert all((d[block(place)] == number).all() for number, place in enumerate(places(1000)))
            assert (d[SIDE // 2 : SIDE // 2 + 3, 5:9] == FILL).all()
        assert f["d"].id.get_storage_size() == g["d"].id.get_storage_size()


@pytest.mark.parametrize("filters", FILTERS)
def test_h5py_and_hyperslab_change_a_sparse_dataset_in_turn(tmp_path, filters):
    path = tmp_path / "f.h5"
    limits, at = (SIDE, SIDE), places(400, SIDE // 2)
    with hs.File(path, "w", libver="latest") as f:
        options = {"chunks": (CHUNK, CHUNK), "maxshape": limits, "fillvalue": FILL, **FILTERS[filters]}
        d = f.create_dataset("d", (SIDE // 2, SIDE // 2), "<i2", **options)
        for number, place in enumerate(at[:300]):
            d[block(place)] = number
    expected = dict(zip(at, range(300), strict=False))
    for turn, h5 in enumerate((h5py, hs, h5py, hs)):
        with h5.File(path, "r+") as f:
            d = f["d"]
            # After a turn of h5py, which does not shrink the dataset, the last chunk still exists.
            assert d.id.get_num_chunks() == len(expected) + turn % 2
            for place in at[50 * turn : 200 + 50 * turn]:
                expected[place] = 1000 * turn + 1
                d[block(place)] = expected[place]
            d.resize(limits)
            d[SIDE - 1, SIDE - 1] = turn
            for place, number in expected.items():
                assert (d[block(place)] == number).all(), (turn, place)
            # To shrink the dataset, libhdf5 would look up every possible chunk.
            if h5 is hs:
                d.resize((SIDE // 2, SIDE // 2))
    with h5py.File(path, "r+") as f:
        assert f["d"].id.get_num_chunks() == len(expected)
        del f["d"]
    assert path.stat().st_size < 1_000_000


@pytest.mark.soak
def test_a_large_fixed_array_of_h5py_is_read_and_changed_and_its_copy_is_small(tmp_path):
    path, copy = tmp_path / "f.h5", tmp_path / "copy.h5"
    count = 2**28
    with h5py.File(path, "w", libver="latest") as f:
        f.create_dataset("empty", (count * 4,), "u1", chunks=(4,))
        d = f.create_dataset("d", (count * 4,), "u1", chunks=(4,))
        d[0], d[count], d[-5:] = 1, 2, 3
    # The file system stores everything that was not written as a hole.
    assert path.stat().st_size > count * 8
    with hs.File(path, "r+") as f, hs.File(copy, "w", libver="latest") as g:
        d = f["d"]
        assert [d[0], d[1], d[count], d[-1]] == [1, 0, 2, 3]
        listed = []
        d.id.chunk_iter(lambda chunk: listed.append(tuple(chunk)))
        assert [chunk[0] for chunk in listed] == [(0,), (count,), (count * 4 - 8,), (count * 4 - 4,)]
        d[count // 2] = 4
        f["empty"][count] = 5
        f.copy("d", g)
    assert copy.stat().st_size < 10_000
    with h5py.File(path) as f, h5py.File(copy) as g:
        for d in (f["d"], g["d"]):
            assert [d[0], d[count // 2], d[count], d[-5]] == [1, 4, 2, 3]
            assert d.id.get_num_chunks() == 5
        assert f["empty"][count] == 5
