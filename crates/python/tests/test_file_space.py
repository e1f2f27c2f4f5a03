"""Files that allocate space in pages or keep their free space: made and changed by hyperslab and by h5py."""

import h5py
import numpy as np
import pytest
from support import hs

STRATEGIES = [
    {"fs_strategy": "page", "fs_persist": True},
    {"fs_strategy": "page", "fs_persist": True, "fs_page_size": 1024, "libver": "latest"},
    {"fs_strategy": "page", "fs_page_size": 100_000},
    {"fs_strategy": "fsm", "fs_persist": True},
    {"fs_strategy": "fsm", "fs_persist": True, "fs_threshold": 100, "libver": "latest"},
    {"fs_strategy": "aggregate"},
    {"fs_strategy": "none"},
]


def change(f, seed):
    """Adds, replaces and removes objects; returns nothing that is not in the file."""
    rng = np.random.default_rng(seed)
    for name in list(f):
        if rng.random() < 0.4:
            del f[name]
    for number in range(6):
        name = f"{seed}_{number}"
        data = rng.integers(0, 1000, rng.integers(1, 3000))
        if number % 2:
            f.create_dataset(name, data=data, chunks=(100,), maxshape=(None,), compression="gzip")
        else:
            f[name] = data
        f[name].attrs["seed"] = seed
    f[f"{seed}_text"] = np.array([f"text {seed}"] * 20, dtype=hs.string_dtype())


def content(module, path, **keywords):
    with module.File(path, **keywords) as f:
        return {name: (f[name].shape, f[name][()].tolist(), dict(f[name].attrs)) for name in f}


@pytest.mark.parametrize("keywords", STRATEGIES, ids=str)
@pytest.mark.parametrize("first", [hs, h5py])
def test_both_change_a_file_in_turns(tmp_path, keywords, first):
    path = tmp_path / "f.h5"
    other = h5py if first is hs else hs
    with first.File(path, "w", **keywords) as f:
        change(f, 0)
    for seed, module in enumerate([other, first, first, other, other, first], 1):
        with module.File(path, "r+") as f:
            change(f, seed)
        found = content(hs, path)
        assert found == content(h5py, path)
        if keywords["fs_strategy"] == "page":
            assert found == content(h5py, path, page_buf_size=1 << 17)
        with h5py.File(path) as f:
            strategy = f.id.get_create_plist().get_file_space_strategy()
        assert strategy[1] == keywords.get("fs_persist", False)
        assert strategy[2] == keywords.get("fs_threshold", 1)


def test_kept_space_is_used_again(tmp_path):
    path = tmp_path / "f.h5"
    with hs.File(path, "w", fs_strategy="fsm", fs_persist=True) as f:
        f["x"] = np.arange(10_000)
        f["y"] = np.arange(10)
        del f["x"]
    size = path.stat().st_size
    with hs.File(path, "r+") as f:
        f["z"] = np.arange(9_000)
    assert path.stat().st_size <= size + 1000


def test_opening_for_writing_changes_nothing(tmp_path):
    path = tmp_path / "f.h5"
    with h5py.File(path, "w", fs_strategy="page", fs_persist=True) as f:
        change(f, 0)
    before = path.read_bytes()
    hs.File(path, "r+").close()
    assert path.read_bytes() == before


def lookup3(data):
    """The checksum of metadata (lookup3 of Bob Jenkins)."""

    def rotated(x, by):
        return ((x << by) | (x >> (32 - by))) & 0xFFFFFFFF

    a = b = c = (0xDEADBEEF + len(data)) & 0xFFFFFFFF
    while len(data) > 12:
        a, b, c = ((x + int.from_bytes(data[at : at + 4], "little")) & 0xFFFFFFFF for x, at in ((a, 0), (b, 4), (c, 8)))
        for by in (4, 6, 8, 16, 19, 4):
            a = rotated(c, by) ^ ((a - c) & 0xFFFFFFFF)
            c = (c + b) & 0xFFFFFFFF
            a, b, c = b, c, a
        data = data[12:]
    a, b, c = ((x + int.from_bytes(data[at : at + 4], "little")) & 0xFFFFFFFF for x, at in ((a, 0), (b, 4), (c, 8)))
    for by in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - rotated(b, by)) & 0xFFFFFFFF
        a, b, c = b, c, a
    return b


@pytest.mark.damages
@pytest.mark.parametrize("skip", [0, 4000])
def test_free_space_that_is_in_use_is_refused(tmp_path, skip):
    """With `skip`, a shorter extent that begins inside the one in use is nearer to the free section."""
    path = tmp_path / "f.h5"
    with h5py.File(path, "w", libver=("earliest", "v110"), fs_strategy="fsm", fs_persist=True) as f:
        f["x"] = np.arange(1000)
        f["y"] = np.arange(1000)
        f["z"] = np.arange(2)
        offset, other = f["y"].id.get_offset(), f["z"].id.get_offset()
        del f["x"]
    image = bytearray(path.read_bytes())
    size = (8000).to_bytes(8, "little")
    (at,) = (n for n in range(len(image)) if image[n : n + 4] == b"FSSE" and image[n + 14 : n + 22] == size)
    # The one section: prefix (13), count (1), size (8), offset (8), type (1), checksum.
    assert lookup3(image[at : at + 31]) == int.from_bytes(image[at + 31 : at + 35], "little")
    image[at + 14 : at + 30] = (8000 - skip).to_bytes(8, "little") + (offset + skip).to_bytes(8, "little")
    image[at + 31 : at + 35] = lookup3(image[at : at + 31]).to_bytes(4, "little")
    if skip:
        known = image.find(other.to_bytes(8, "little"))
        image[known : known + 8] = (offset + 16).to_bytes(8, "little")
    path.write_bytes(image)
    with pytest.raises(OSError, match="Section Offset"):
        hs.File(path, "r+")
    assert path.read_bytes() == image


def test_alignment_and_blocks_for_metadata(tmp_path):
    with hs.File(tmp_path / "a.h5", "w", alignment_threshold=1000, alignment_interval=4096) as f:
        for number in range(5):
            f[f"{number}"] = np.zeros(1000 + number, "u1")
            assert f[f"{number}"].id.get_offset() % 4096 == 0
    for size in (512, 4096):
        with hs.File(tmp_path / "b.h5", "w", meta_block_size=size) as f:
            f["x"] = 5
            assert f.meta_block_size == size
            assert size <= f["x"].id.get_offset() < 2 * size
