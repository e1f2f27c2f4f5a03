"""Chunks with only the fill value are not stored: the values and the chunks that h5py then finds."""

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import IS_H5PY, hs

pytestmark = pytest.mark.skipif(IS_H5PY, reason="h5py stores every chunk")

CHUNK = (4, 3)
FILTERS = {"none": {}, "gzip": {"compression": "gzip", "shuffle": True}, "blosc2": {"compression": hs.Blosc2("lz4")}}
# The maximum shape selects the chunk index: Single Chunk, Fixed Array, Extensible Array, version 2 B-tree. In
# a file for the earliest libraries the index is always a version 1 B-tree.
LIMITS = {"single": None, "fixed": (12, 15), "extensible": (12, None), "two_ways": (None, None)}


def held(array, fill, chunk):
    """Returns how many chunks have an element other than the fill value."""
    starts = ((i, j) for i in range(0, array.shape[0], chunk[0]) for j in range(0, array.shape[1], chunk[1]))
    same = (lambda part: np.isnan(part)) if fill != fill else (lambda part: part == fill)
    return sum(not same(array[i : i + chunk[0], j : j + chunk[1]]).all() for i, j in starts)


def check(path, expected, fill, chunk):
    """Asserts that h5py finds the expected values and number of chunks."""
    with h5py.File(path) as f:
        np.testing.assert_array_equal(f["d"][()], expected)
        assert f["d"].id.get_num_chunks() == held(expected, fill, chunk)


boxes = st.tuples(*(st.tuples(st.integers(0, 14), st.integers(1, 15)) for _ in range(2)))
actions = st.lists(
    st.one_of(
        st.tuples(st.just("write"), boxes, st.sampled_from(["fill", "fill", "other", "mixed"])),
        st.tuples(st.just("resize"), st.tuples(st.integers(0, 12), st.integers(0, 15))),
        st.just(("flush",)),
        st.just(("reopen",)),
    ),
    min_size=1,
    max_size=10,
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("limits", LIMITS)
@given(libver=st.sampled_from(["earliest", "v110"]), fill=st.sampled_from([0, -7, 2.5, np.nan]), todo=actions)
def test_h5py_finds_all_values_and_only_chunks_with_other_values_than_the_fill_value(
    tmp_path, limits, filters, libver, fill, todo
):
    path, limits = tmp_path / "f.h5", LIMITS[limits]
    chunk = (8, 9) if limits is None else CHUNK
    expected = np.full((8, 9), fill, "f4")
    f = hs.File(path, "w", libver=libver)
    f.create_dataset(
        "d", (8, 9), "f4", chunks=chunk, maxshape=limits, fillvalue=fill, skip_fill_chunks=True, **FILTERS[filters]
    )
    for action, *arguments in todo:
        if action == "write":
            ((top, height), (left, width)), kind = arguments
            where = np.s_[top : top + height, left : left + width]
            values = np.full(expected[where].shape, fill, "f4")
            if kind == "mixed":
                values[..., ::5] = 3
            elif kind == "other":
                values[...] = 4
            expected[where] = values
            f["d"][where] = values
        elif action == "resize" and limits is not None:
            (shape,) = arguments
            new = np.full(shape, fill, "f4")
            both = tuple(slice(min(sizes)) for sizes in zip(shape, expected.shape, strict=True))
            new[both] = expected[both]
            expected = new
            f["d"].resize(shape)
        elif action == "flush":
            f.flush()
            assert f["d"].id.get_num_chunks() == held(expected, fill, chunk)
        elif action == "reopen":
            f.close()
            check(path, expected, fill, chunk)
            f = hs.File(path, "r+", skip_fill_chunks=True)
        np.testing.assert_array_equal(f["d"][()], expected)
    f.close()
    check(path, expected, fill, chunk)


def test_a_stored_chunk_is_removed_when_filled_and_stored_again_when_changed(tmp_path):
    path = tmp_path / "f.h5"
    with h5py.File(path, "w", libver="latest") as f:
        f.create_dataset("d", data=np.ones((100, 100)), chunks=(10, 10), compression="gzip", fillvalue=-1)
    with hs.File(path, "r+") as f:
        d = f["d"]
        assert d.skip_fill_chunks is False
        d.skip_fill_chunks = True
        assert f["d"].skip_fill_chunks is True
        d[20:40] = -1
        d[95:, 95:] = -1
        assert d.id.get_num_chunks() == 80
        d[20:30] = 2
        d[25, 5] = -1
    with h5py.File(path) as f:
        expected = np.ones((100, 100))
        expected[20:40] = -1
        expected[20:30] = 2
        expected[25, 5] = expected[95:, 95:] = -1
        assert f["d"].id.get_num_chunks() == 90
        np.testing.assert_array_equal(f["d"], expected)
    with h5py.File(path, "r+") as f:
        f["d"][30:40] = 7
    with hs.File(path) as f:
        assert (f["d"][30:40] == 7).all() and not f["d"].skip_fill_chunks


def test_skip_fill_chunks_is_set_for_a_dataset_or_a_file(tmp_path):
    zeros = np.zeros((100, 100))
    with hs.File(tmp_path / "f.h5", "w") as f:
        assert f.create_dataset("plain", data=zeros, chunks=(10, 10)).id.get_num_chunks() == 100
        sparse = f.create_dataset("sparse", data=zeros, chunks=(10, 10), skip_fill_chunks=True)
        assert sparse.id.get_num_chunks() == 0 and sparse.skip_fill_chunks
        never = f.create_dataset("never", data=zeros, chunks=(10, 10), skip_fill_chunks=True, fill_time="never")
        assert never.id.get_num_chunks() == 100, 'with fill_time="never" h5py would not fill absent chunks'
        assert f.create_dataset("contiguous", data=zeros, skip_fill_chunks=True).shape == zeros.shape
        negative = f.create_dataset("negative", data=-zeros, chunks=(10, 10), skip_fill_chunks=True)
        assert negative.id.get_num_chunks() == 100 and np.signbit(negative[5, 5]), "-0.0 is not 0.0"
    with hs.File(tmp_path / "g.h5", "w", skip_fill_chunks=True) as f:
        assert f.create_dataset("all", data=zeros, chunks=(10, 10)).id.get_num_chunks() == 0
        other = f.create_dataset("but one", data=zeros, chunks=(10, 10), skip_fill_chunks=False)
        assert other.id.get_num_chunks() == 100
    with h5py.File(tmp_path / "g.h5") as f:
        assert not f["all"][()].any()
    with hs.File(tmp_path / "g.h5") as f, pytest.raises(ValueError, match="no write intent"):
        f["all"].skip_fill_chunks = True


def test_records_and_strings_are_compared_with_the_fill_value_as_stored_bytes(tmp_path):
    record = np.dtype([("a", "<i2"), ("b", "<f8")])
    fill = np.array((3, 1.5), record)[()]
    with hs.File(tmp_path / "f.h5", "w", skip_fill_chunks=True) as f:
        d = f.create_dataset("records", (20,), record, chunks=(5,), fillvalue=fill)
        d[:] = fill
        d[7] = (3, 2.5)
        texts = f.create_dataset("texts", (20,), hs.string_dtype(), chunks=(5,))
        texts[3] = "x"
        fixed = f.create_dataset("fixed", (20,), "S3", chunks=(5,), fillvalue=b"ab")
        fixed[:] = b"ab"
        fixed[12] = b"abc"
    with h5py.File(tmp_path / "f.h5") as f:
        assert [f[name].id.get_num_chunks() for name in ("records", "texts", "fixed")] == [1, 1, 1]
        assert f["records"][7]["b"] == 2.5 and f["records"][8] == fill
        assert f["texts"][3] == b"x" and f["texts"][15] == b"" and f["fixed"][11] == b"ab"
