"""Dataspaces of the low-level API, against h5py's: offsets, and selections that are large."""

import h5py
import hyperslab as hs
import numpy as np
import pytest
from support import IS_H5PY
from test_low import random_space

pytestmark = pytest.mark.skipif(IS_H5PY, reason="compares hyperslab with h5py")
BOTH = pytest.mark.parametrize("m", [hs, h5py], ids=["hyperslab", "h5py"])


def said(call):
    """Returns the result of a call, or the class of its exception."""
    try:
        found = call()
    except Exception as error:
        return type(error).__name__
    return found.tolist() if isinstance(found, np.ndarray) else found


def facts(space):
    names = "get_select_type get_select_npoints get_select_bounds get_select_hyper_blocklist is_regular_hyperslab"
    names += " get_regular_hyperslab get_select_elem_pointlist select_valid"
    return [said(getattr(space, name)) for name in names.split()]


@pytest.mark.parametrize("shape", [(14,), (9, 11), (5, 6, 4)])
def test_combined_selections_have_the_kind_and_the_blocks_of_h5py(shape):
    for steps in range(40):
        ours, theirs = (facts(random_space(m, shape, steps)) for m in (hs, h5py))
        assert ours == theirs, steps


def moved(m):
    """Yields what a dataspace says after each of many steps."""
    space = m.h5s.create_simple((10,))
    space.select_hyperslab((2,), (3,))
    for offset in [(2,), (1,), (8,), (0,), (3,), None, (3,)]:
        space.offset_simple(offset)
        yield facts(space), facts(space.copy())
    yield said(lambda: space.offset_simple((-1,))), said(lambda: space.offset_simple((1, 2)))
    other = m.h5s.create_simple((10,))
    other.select_hyperslab((0,), (1,))
    yield other.select_shape_same(space), facts(space.combine_select(other, m.h5s.SELECT_OR))
    yield facts(other.combine_select(space, m.h5s.SELECT_OR)), facts(other.combine_select(space, m.h5s.SELECT_AND))
    other.select_copy(space)
    yield facts(other)
    for change in (
        lambda: space.select_hyperslab((0,), (2,)),
        lambda: space.select_elements([(1,), (0,)]),
        lambda: space.select_none(),
        lambda: space.select_all(),
        lambda: space.select_hyperslab((0,), (2,), (3,)),
        lambda: space.extent_copy(m.h5s.create_simple((7,))),
        lambda: space.set_extent_simple((8,)),
    ):
        change()
        yield facts(space)
    yield [said(lambda kind=kind: m.h5s.create(kind).offset_simple(())) for kind in (m.h5s.SCALAR, m.h5s.NULL)]


def test_an_offset_moves_a_selection_from_its_own_place():
    for step, (ours, theirs) in enumerate(zip(moved(hs), moved(h5py), strict=True)):
        assert ours == theirs, step


@BOTH
def test_an_offset_says_where_elements_are_written_and_read(m):
    with m.File.in_memory() as file:
        dataset = file.create_dataset("x", (10,), "i4")
        space, memory = dataset.id.get_space(), m.h5s.create_simple((3,))
        space.select_hyperslab((0,), (3,))
        for number in range(3):
            space.offset_simple((3 * number,))
            dataset.id.write(memory, space, np.full(3, number + 1, "i4"))
        assert dataset[:].tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 3, 0]
        space.offset_simple((8,))
        with pytest.raises(OSError, match="not within extent"):
            dataset.id.write(memory, space, np.full(3, 9, "i4"))
        space.offset_simple(None)
        dataset.id.write(memory, space, np.full(3, 7, "i4"))
        assert dataset[:].tolist() == [7, 7, 7, 2, 2, 2, 3, 3, 3, 0]
        memory = m.h5s.create_simple((5,))
        memory.select_hyperslab((0,), (3,))
        memory.offset_simple((2,))
        out = np.zeros(5, "i4")
        dataset.id.read(memory, space, out)
        assert out.tolist() == [0, 0, 7, 7, 7]


@BOTH
def test_an_offset_is_part_of_a_mapping_and_not_of_a_region(m):
    with m.File.in_memory() as file:
        space = file.create_dataset("x", (10,), "i4").id.get_space()
        space.select_hyperslab((1,), (2,))
        space.offset_simple((4,))
        reference = m.h5r.create(file.id, b"x", m.h5r.DATASET_REGION, space)
        assert m.h5r.get_region(reference, file.id).get_select_bounds() == ((1,), (2,))
        plist = m.h5p.create(m.h5p.DATASET_CREATE)
        plist.set_virtual(space, b"other.h5", b"x", m.h5s.create_simple((2,)))
        made = m.h5d.create(file.id, b"v", m.h5t.STD_I32LE, m.h5s.create_simple((10,)), plist)
        for found in (plist, made.get_create_plist()):
            assert found.get_virtual_vspace(0).get_select_bounds() == ((5,), (6,))


@BOTH
def test_selections_of_many_elements_are_combined_by_their_blocks(m):
    """A list of the elements would take 160 GB."""
    side = 100_000
    space = m.h5s.create_simple((side, side))
    space.select_hyperslab((10, 20), (5, 7), op=m.h5s.SELECT_AND)
    assert space.get_regular_hyperslab() == ((10, 20), (1, 1), (5, 7), (1, 1))
    space.select_hyperslab((0, 0), (side // 2, side), op=m.h5s.SELECT_SET)
    space.select_hyperslab((side // 2, 0), (side // 2, side - 1), op=m.h5s.SELECT_OR)
    assert space.get_select_npoints() == side**2 - side // 2
    space.select_hyperslab((side // 2, side - 1), (side // 2, 1), op=m.h5s.SELECT_OR)
    assert space.get_select_npoints() == side**2
    whole = m.h5s.create_simple((side, side))
    assert whole.select_shape_same(m.h5s.create_simple((side, side)))
    space.select_hyperslab((3, 3), (2, 2), op=m.h5s.SELECT_NOTB)
    assert space.get_select_npoints() == side**2 - 4 and not whole.select_shape_same(space)


def test_the_region_of_many_bands_has_their_blocks():
    with hs.File.in_memory() as file:
        dataset = file.create_dataset("x", (2000, 2000), "u1", chunks=(100, 100))
        rows = [row for row in range(1500) if row % 3 != 1 and row % 50 != 7]
        space = hs.h5r.get_region(dataset.regionref[rows, :], file.id)
        assert space.get_select_npoints() == 2000 * len(rows)
        low, high = np.moveaxis(space.get_select_hyper_blocklist(), 1, 0)
        assert [row for a, b in zip(low, high, strict=True) for row in range(int(a[0]), int(b[0]) + 1)] == rows
        assert set(low[:, 1]) == {0} and set(high[:, 1]) == {1999}


@pytest.mark.soak
def test_sparse_points_in_many_axes_are_combined_as_points():
    random, shape = np.random.default_rng(1), (4000, 4000, 4000)
    points = random.integers(0, 4000, (500, 3))
    spaces = []
    for m in (hs, h5py):
        space = m.h5s.create_simple(shape)
        space.select_none()
        for point in points:
            space.select_hyperslab(tuple(map(int, point)), (1, 1, 1), op=m.h5s.SELECT_OR)
        spaces.append(space)
    assert facts(spaces[0])[:5] == facts(spaces[1])[:5]
