"""Reads other than `dataset[...]`: into a given array, many at once, as another type, chunk by chunk."""

import io

import h5py
import numpy as np
import pytest
from support import IS_H5PY, assert_same, image_of, open_image

CUBE = np.arange(20 * 30 * 4, dtype="<i4").reshape(20, 30, 4)
NAMES = ("plain", "gzip", "btree2", "swapped")


def write(f):
    f["plain"] = CUBE
    f.create_dataset("gzip", data=CUBE, chunks=(6, 7, 4), compression="gzip", shuffle=True)
    f.create_dataset("btree2", data=CUBE, chunks=(5, 5, 2), maxshape=(None, None, 4))
    f.create_dataset("swapped", data=CUBE.astype(">i4"), chunks=(6, 7, 3), compression="lzf")
    f.create_dataset("sparse", (50,), "<f8", chunks=(7,), fillvalue=1.5)[14:28] = 2.0
    f["texts"] = ["a", "bc", "drei ü", ""]
    f.create_dataset(
        "records",
        data=np.array([(i, i / 2, b"x" * (i % 4)) for i in range(20)], [("a", "<i4"), ("b", ">f8"), ("c", "S3")]),
        chunks=(6,),
    )


@pytest.fixture(scope="module")
def files():
    image = image_of(write, "latest")
    return open_image(image), h5py.File(io.BytesIO(image), "r")


only_ours = pytest.mark.parametrize("name", [] if IS_H5PY else NAMES)


@only_ours
@pytest.mark.parametrize(
    "selection",
    [np.s_[...], np.s_[3:9], np.s_[:, 4], np.s_[2:18:3, ::2, 1], np.s_[[1, 5, 19]], np.s_[1, 2, 3], CUBE % 7 == 0],
    ids=repr,
)
def test_read_returns_the_same_as_getitem(files, name, selection):
    dataset = files[0][name]
    for threads in (None, 1, 4):
        found = dataset.read(selection, threads=threads)
        assert np.array_equal(found, CUBE[selection]) and np.shape(found) == np.shape(CUBE[selection])
    assert np.array_equal(dataset.read(), CUBE)


@only_ours
def test_read_fills_the_given_array_and_returns_it(files, name):
    dataset = files[0][name]
    for selection in (np.s_[...], np.s_[3:9, 5:8], np.s_[::3]):
        expected = CUBE[selection]
        out = np.full(expected.shape, -1, dataset.dtype)
        assert dataset.read(selection, out=out) is out
        assert np.array_equal(out, expected)


@only_ours
def test_read_into_a_strided_array_changes_only_its_elements(files, name):
    dataset = files[0][name]
    for view in (lambda a: a[::2, 1::3, ::-1], lambda a: a.transpose(2, 1, 0), lambda a: a[5:, :, 2:6]):
        base = np.full((60, 100, 60), -7, "<i4")
        out = view(base)[:6, :9, :4]
        expected_base = base.copy()
        view(expected_base)[:6, :9, :4] = CUBE[2:8, 3:12]
        dataset.read(np.s_[2:8, 3:12], out=out)
        assert np.array_equal(base, expected_base)


@only_ours
def test_read_converts_to_the_type_of_the_given_array(files, name):
    dataset = files[0][name]
    for kind in ("<i8", ">i4", "<f8", "<u2", "<f4"):
        out = np.zeros(CUBE.shape, kind)
        dataset.read(out=out)
        assert np.array_equal(out, CUBE.astype(kind)), kind


@only_ours
def test_an_array_that_does_not_fit_is_refused_and_unchanged(files, name):
    dataset = files[0][name]
    for out in (np.zeros((3, 3), "<i4"), np.zeros((20, 30, 5), "<i4"), np.zeros(0, "<i4")):
        with pytest.raises((ValueError, TypeError)):
            dataset.read(out=out)
        assert not out.any()
    fixed = np.zeros(CUBE.shape, "<i4")
    fixed.flags.writeable = False
    with pytest.raises((ValueError, TypeError, BufferError)):
        dataset.read(out=fixed)
    with pytest.raises((ValueError, TypeError)):
        dataset.read(out=[1, 2, 3])


@only_ours
def test_read_many_returns_one_array_for_each_selection(files, name):
    dataset = files[0][name]
    selections = [np.s_[0:2], np.s_[5], np.s_[:, 3:4, 1], np.s_[19, 29, 3], np.s_[4:4]]
    found = dataset.read_many(selections)
    assert len(found) == len(selections)
    for array, selection in zip(found, selections):
        assert np.array_equal(array, CUBE[selection])
    assert list(dataset.read_many([])) == []


@only_ours
def test_a_plan_describes_a_read_without_reading(files, name):
    plan = files[0][name].plan(np.s_[2:8, 3:12])
    assert len(str(plan)) > 10
    assert 0 <= plan.read_bytes <= plan.bytes


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "source, destination",
    [
        (None, None),
        (np.s_[2:5], np.s_[0:3]),
        (np.s_[2:5, ::3], np.s_[1:4, 20:30]),
        (np.s_[::4], np.s_[::4]),
        (np.s_[1, :, 2], np.s_[3, :, 0]),
        (np.s_[5:5], np.s_[0:0]),
    ],
    ids=str,
)
def test_read_direct_writes_the_selected_part(files, name, source, destination):
    results = []
    for f in files:
        out = np.full(CUBE.shape, -1, "<i4")
        f[name].read_direct(out, source, destination)
        results.append(out)
    assert np.array_equal(*results)


def test_read_direct_into_arrays_that_h5py_refuses(files):
    if IS_H5PY:
        return
    out = np.zeros((30, 20, 4), "<i4").transpose(1, 0, 2)
    files[0]["gzip"].read_direct(out)
    assert np.array_equal(out, CUBE)
    wide = np.full((40, 30, 4), -1, "<i4")
    files[0]["gzip"].read_direct(wide[::2])
    assert np.array_equal(wide[::2], CUBE) and (wide[1::2] == -1).all()


@pytest.mark.parametrize("kind", ["<f4", "<f8", ">i2", "<i8", "<u1", "<u4", "<c16"])
@pytest.mark.parametrize("name", NAMES)
def test_astype_converts_as_libhdf5_does(files, name, kind):
    if kind == "<c16" or (kind == "<u1"):
        selection = np.s_[0, :5]  # values that fit
    else:
        selection = np.s_[3:7, ::2]
    (found, expected) = (outcome_of(f, name, kind, selection) for f in files)
    assert type(found) is type(expected) or isinstance(expected, Exception)
    if isinstance(expected, np.ndarray):
        assert_same(found, expected)


def outcome_of(f, name, kind, selection):
    try:
        return f[name].astype(kind)[selection]
    except (TypeError, ValueError, OSError, NotImplementedError) as error:
        return error


@pytest.mark.parametrize(
    "pair",
    [
        ("<i4", "<i2"),
        ("<i4", "<u1"),
        ("<f8", "<i4"),
        ("<f8", "<f4"),
        ("<u8", "<i4"),
        ("<i2", "<f2"),
        (">f4", "<f8"),
        ("<i8", "<f4"),
    ],
    ids=str,
)
def test_values_out_of_range_are_clipped_as_libhdf5_clips_them(opened, pair):
    stored, wanted = pair
    values = np.array([0, 1, 100, 127, 128, 255, 256, 32767, 32768, 65536, 2**31 - 1], "f8").astype(stored)
    if np.dtype(stored).kind != "u":
        values = np.concatenate([values, -values])
    if np.dtype(stored).kind == "f":
        values = np.concatenate([values, np.array([0.5, 1.5, -2.5, 1e30], stored)])
    ours, theirs = opened(lambda f: f.create_dataset("d", data=values))
    assert_same(ours["d"].astype(wanted)[:], theirs["d"].astype(wanted)[:])


def test_asstr_decodes_strings(files):
    for selection in (np.s_[:], np.s_[1:3], 2, np.s_[...], np.s_[[0, 3]]):
        assert_same(files[0]["texts"].asstr()[selection], files[1]["texts"].asstr()[selection])
    with pytest.raises(UnicodeDecodeError):
        files[0]["texts"].asstr("ascii")[:]


def test_fields_reads_selected_members(files):
    for names in ("a", ["a"], ["c", "a"], ["b"]):
        for selection in (np.s_[:], np.s_[2:11], np.s_[::3], 3):
            assert_same(files[0]["records"].fields(names)[selection], files[1]["records"].fields(names)[selection])


@pytest.mark.parametrize("name", ["gzip", "btree2", "swapped"])
def test_iter_chunks_covers_the_selection_exactly(files, name):
    for selection in (None, np.s_[3:9, :, :], np.s_[3:9, 5:6, :], np.s_[:, 20:, 1:2]):
        found, expected = (list(f[name].iter_chunks(selection)) for f in files)
        assert found == expected
    seen = np.zeros(CUBE.shape, int)
    for part in files[0][name].iter_chunks():
        seen[part] += 1
        assert np.array_equal(files[0][name][part], CUBE[part])
    assert (seen == 1).all()


@pytest.mark.parametrize("name", ["gzip", "btree2", "swapped", "sparse"])
def test_chunks_are_listed_as_h5py_lists_them(files, name):
    ours, theirs = (f[name].id for f in files)
    count = theirs.get_num_chunks()
    assert ours.get_num_chunks() == count
    expected = [tuple(theirs.get_chunk_info(i)) for i in range(count)]
    assert sorted(tuple(ours.get_chunk_info(i)) for i in range(count)) == sorted(expected)
    visited = []
    ours.chunk_iter(lambda info: visited.append((info.chunk_offset, info.filter_mask, info.byte_offset, info.size)))
    assert sorted(visited) == sorted(expected)
    assert ours.chunk_iter(lambda info: info.size) == theirs.chunk_iter(lambda info: info.size) or name == "sparse"
    for info in expected:
        assert tuple(ours.get_chunk_info_by_coord(info[0])) == info
        assert ours.read_direct_chunk(info[0]) == theirs.read_direct_chunk(info[0])


@pytest.mark.parametrize(
    "keep",
    [
        lambda info: info,
        lambda info: info if info.chunk_offset[1] else tuple(info),
        lambda info: (info.chunk_offset, info[1:]),
        lambda info: info.chunk_offset,
    ],
    ids=["all", "some", "parts", "offsets"],
)
def test_chunk_information_that_a_callback_keeps_does_not_change(files, keep):
    kept = ([], [])
    for found, f in zip(kept, files):
        f["gzip"].id.chunk_iter(lambda info, found=found: found.append(keep(info)))
    assert sorted(map(tuple, kept[0])) == sorted(map(tuple, kept[1]))


def test_a_stored_chunk_can_be_read_into_a_buffer(files):
    for f in files:
        size = f["gzip"].id.get_chunk_info_by_coord((0, 0, 0)).size
        out = bytearray(size)
        mask, found = f["gzip"].id.read_direct_chunk((0, 0, 0), out=out)
        assert mask == 0 and bytes(found) == bytes(out) and any(out)


def test_a_dataset_is_an_array_to_numpy(files):
    for ours, theirs in zip(*([f[name] for name in NAMES] for f in files)):
        assert_same(np.asarray(ours), np.asarray(theirs))
        assert_same(np.array(ours, dtype="<f4"), np.array(theirs, dtype="<f4"))
        assert np.sum(ours) == CUBE.sum()
        assert (np.add(ours, 1) == CUBE + 1).all()


def test_unwritten_elements_have_the_fill_value(files):
    expected = np.full(50, 1.5)
    expected[14:28] = 2.0
    assert np.array_equal(files[0]["sparse"][:], expected)
    assert np.array_equal(files[0]["sparse"][10:16:2], expected[10:16:2])
