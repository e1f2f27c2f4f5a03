"""`dataset[...]`: every form of selection on several layouts, compared with h5py and NumPy."""

import io

import h5py
import numpy as np
import pytest
from support import IS_H5PY, assert_same, image_of, open_image

LAYOUTS = {
    "contiguous": {},
    "btree1": {"chunks": (4, 5, 2)},
    "btree1_gzip": {"chunks": (4, 5, 2), "compression": "gzip", "shuffle": True, "fletcher32": True},
    "fixed_array": {"chunks": (4, 5, 2), "libver": "latest"},
    "fixed_array_lzf": {"chunks": (3, 17, 5), "compression": "lzf", "libver": "latest"},
    "extensible_array": {"chunks": (4, 5, 2), "maxshape": (None, 17, 5), "libver": "latest"},
    "btree2_gzip": {"chunks": (5, 4, 5), "maxshape": (None, None, 5), "compression": "gzip", "libver": "latest"},
    "single_gzip": {"chunks": (13, 17, 5), "compression": "gzip", "libver": "latest"},
}

BASIC = [
    np.s_[...],
    (),
    np.s_[:],
    np.s_[0],
    np.s_[-1],
    np.s_[12],
    np.s_[2:9],
    np.s_[:, 3],
    np.s_[:, :, 4],
    np.s_[..., 2],
    np.s_[1, ...],
    np.s_[1, 2, 3],
    np.s_[1, ..., 3],
    np.s_[-1, -1, -1],
    np.s_[::2],
    np.s_[::3, 1::4],
    np.s_[1:12:5, ::16, ::4],
    np.s_[:, 2:2],
    np.s_[5:5],
    np.s_[9:2],
    np.s_[20:30],
    np.s_[-5:-1],
    np.s_[-100:100],
    np.s_[3:1000],
    np.s_[4:8, 5:10, 2:4],
    np.s_[4:8, 5:10],
    np.s_[3:9, 4:11, 1:4],
    np.s_[np.int64(3)],
    np.s_[np.uint8(3), np.int16(4)],
    np.s_[True:5],
    np.s_[12:13, 16:17, 4:5],
    np.s_[0:1],
    np.s_[:, ::17],
    np.s_[2:9, ..., ::2],
]
FANCY = [
    np.s_[[0, 3, 7]],
    np.s_[[0, 3, 7], :, 2],
    np.s_[:, [1, 2, 16]],
    np.s_[2:5, [1, 2, 16], ::2],
    np.s_[..., [0, 4]],
    np.s_[[12]],
    np.s_[3, [1, 5]],
    np.s_[np.array([1, 2])],
    np.s_[np.array([], int)],
    np.s_[[]],
    np.s_[:, []],
    np.s_[[-2, -1]],
    np.s_[(0, 2, 4),],
    np.s_[np.arange(13)],
    np.s_[:, np.array([0, 8, 9], np.uint16), 1],
    np.s_[range(2, 8, 3)],
]


def mask(seed, shape, share):
    return np.random.default_rng(seed).random(shape) < share


MASKS = [
    mask(0, (13, 17, 5), 0.1),
    mask(1, (13, 17, 5), 0.9),
    np.zeros((13, 17, 5), bool),
    np.ones((13, 17, 5), bool),
    np.s_[mask(2, 13, 0.5)],
    np.s_[:, mask(3, 17, 0.5)],
    np.s_[1, mask(4, 17, 0.3), 2:4],
    np.s_[..., np.array([True, False, True, False, True])],
]


@pytest.fixture(scope="module")
def files(cube):
    pairs = {}
    for name, options in LAYOUTS.items():
        options = dict(options)
        libver = options.pop("libver", "earliest")
        image = image_of(lambda f, options=options: f.create_dataset("d", data=cube, **options), libver)
        pairs[name] = open_image(image)["d"], h5py.File(io.BytesIO(image), "r")["d"]
    return pairs


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("selection", BASIC, ids=repr)
def test_integers_slices_and_ellipses_select_what_numpy_selects(files, cube, layout, selection):
    ours, theirs = files[layout]
    found = ours[selection]
    assert_same(found, theirs[selection])
    np.testing.assert_array_equal(found, cube[selection])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("selection", FANCY, ids=repr)
def test_lists_of_indices_select_what_h5py_selects(files, cube, layout, selection):
    ours, theirs = files[layout]
    assert_same(ours[selection], theirs[selection])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("number", range(len(MASKS)))
def test_masks_select_what_numpy_selects(files, cube, layout, number):
    ours, theirs = files[layout]
    selection = MASKS[number]
    found = ours[selection]
    assert_same(found, theirs[selection])
    np.testing.assert_array_equal(found, cube[selection])


@pytest.mark.parametrize("rank", range(9))
def test_datasets_of_any_rank_are_read_whole_and_in_part(opened, rank):
    shape = (3, 2, 4, 2, 3, 2, 2, 3)[:rank]
    values = np.arange(int(np.prod(shape)), dtype="<i2").reshape(shape)
    chunks = tuple(max(n - 1, 1) for n in shape) or None

    def write(f):
        f["plain"] = values
        if rank:
            f.create_dataset("chunked", data=values, chunks=chunks, compression="gzip")

    ours, theirs = opened(write)
    for name in theirs:
        assert_same(ours[name][()], theirs[name][()])
        assert_same(ours[name][...], theirs[name][...])
        if rank:
            last = tuple(n - 1 for n in shape)
            assert_same(ours[name][last], theirs[name][last])
            assert_same(
                ours[name][tuple(slice(1, None) for _ in shape)], theirs[name][tuple(slice(1, None) for _ in shape)]
            )
            assert_same(
                ours[name][tuple(slice(None, None, 2) for _ in shape)],
                values[tuple(slice(None, None, 2) for _ in shape)],
            )


def test_a_scalar_gives_a_number_for_an_empty_tuple_and_an_array_for_an_ellipsis(opened):
    def write(f):
        f["number"], f["text"] = 2.5, "text"
        f["record"] = np.array((1, 2.5), [("a", "<i4"), ("b", "<f8")])

    ours, theirs = opened(write)
    for name in theirs:
        assert_same(ours[name][()], theirs[name][()])
        assert_same(ours[name][...], theirs[name][...])
    assert_same(ours["record"]["a"], theirs["record"]["a"])


@pytest.mark.parametrize("selection", [(), np.s_[...], np.s_[:], np.s_[:, 0], np.s_[:, 1:3], np.s_[0:0]], ids=repr)
def test_a_dataset_without_elements_reads_as_an_empty_array(opened, selection):
    def write(f):
        f.create_dataset("plain", (0, 4), "<i4")
        f.create_dataset("chunked", (0, 4), "<i4", maxshape=(None, 4))

    ours, theirs = opened(write)
    for name in theirs:
        assert_same(ours[name][selection], theirs[name][selection])


def test_a_null_dataspace_reads_as_empty(opened):
    ours, theirs = opened(lambda f: f.create_dataset("d", data=h5py.Empty("<f4")))
    assert_same(ours["d"][()], theirs["d"][()])
    assert_same(ours["d"][...], theirs["d"][...])
    assert ours["d"].shape is None and ours["d"].size is None


RECORD = np.dtype(
    [("a", "<i4"), ("b", ">f8"), ("name", "S4"), ("box", "<i2", (2, 3)), ("inner", [("x", "<u1"), ("y", "<f4")])]
)


@pytest.fixture(scope="module")
def records():
    rows = np.zeros((11, 3), RECORD)
    rows["a"], rows["b"] = np.arange(33).reshape(11, 3), np.arange(33).reshape(11, 3) / 4
    rows["name"], rows["box"] = b"abc", np.arange(6).reshape(2, 3)
    rows["inner"]["y"] = rows["a"]

    def write(f):
        f["plain"] = rows
        f.create_dataset("chunked", data=rows, chunks=(4, 2), compression="gzip", shuffle=True)

    image = image_of(write)
    return open_image(image), h5py.File(io.BytesIO(image), "r")


@pytest.mark.parametrize(
    "selection",
    [
        "a",
        "b",
        "name",
        "box",
        "inner",
        ("a", "b"),
        ("name", "a"),
        np.s_["a", 2:5],
        np.s_["a", "inner", 1:9:2],
        np.s_["b", :, 1],
        np.s_[2:5, "a"],
        np.s_["box", 0],
        np.s_["a", 3, 2],
        np.s_[["a", "b"]],
    ],
    ids=repr,
)
def test_selected_fields_of_a_compound_are_read(records, selection):
    for name in ("plain", "chunked"):
        if isinstance(selection, list):
            selection = tuple(selection)
        assert_same(records[0][name][selection], records[1][name][selection])


def test_the_result_is_a_writable_array_of_its_own(files):
    for ours, _ in files.values():
        found = ours[2:5]
        assert found.flags.writeable and found.flags.c_contiguous and found.flags.owndata or IS_H5PY
        found[...] = -1
        assert (ours[2:5] != -1).all()
