"""Reading a damaged file gives an error or data, and never a crash, a hang or unbounded memory."""

import resource
import shutil
import sys

import h5py
import numpy as np
import pytest
from support import DAMAGED_FILES, GOLDEN, IS_H5PY, hs, open_image

sys.path.insert(0, str(GOLDEN / "make"))
import damaged  # noqa: E402

# The exceptions that a caller may see. A panic would be a `BaseException` of PyO3, which fails the test.
FAULTS = (
    OSError,
    KeyError,
    ValueError,
    NotImplementedError,
    TypeError,
    RuntimeError,
    UnicodeError,
    IndexError,
    OverflowError,
    MemoryError,
)
LARGEST = 1 << 31
# Files whose metadata have checksums. In other files a flipped bit may change data unnoticed, so only crashes
# count.
CHECKED = (
    "libver_latest.h5",
    "fixed_array_latest.h5",
    "extensible_array_full_v110.h5",
    "btree2_latest.h5",
    "links_latest_40.h5",
)

needs_hyperslab = pytest.mark.skipif(IS_H5PY, reason="libhdf5 may crash or hang on these files")


def read_everything(image_or_path):
    """Reads everything in a file. Returns the values by path, and the errors."""
    values, errors = {}, []

    def attempt(function):
        try:
            return function()
        except FAULTS as error:
            errors.append(error)

    def attributes(node, path):
        for name in attempt(lambda: list(node.attrs)) or ():
            attempt(lambda name=name: node.attrs[name])

    def visit(group, path, depth):
        attributes(group, path)
        for name in (attempt(lambda: list(group)) or ())[:300]:
            where = f"{path}/{name}"
            node = attempt(lambda name=name: group[name])
            if node is None or len(values) > 500:
                continue
            if isinstance(node, hs.Group):
                if depth < 8:
                    visit(node, where, depth + 1)
            elif isinstance(node, hs.Dataset):
                attributes(node, where)
                size = attempt(lambda node=node: node.nbytes if node.shape is not None else 0)
                if size is not None and size < LARGEST // 16:
                    found = attempt(lambda node=node: node[()])
                    if found is not None:
                        values[where] = found

    try:
        file = open_image(image_or_path) if isinstance(image_or_path, bytes) else hs.File(image_or_path, "r")
    except FAULTS as error:
        return values, [error]
    with file:
        visit(file, "", 0)
    return values, errors


@pytest.fixture(autouse=True)
def bounded_memory():
    """Asserts that no huge size stated by a file is allocated."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < LARGEST >> 10, f"the test allocated {grown} KiB"


@pytest.mark.parametrize("name", DAMAGED_FILES)
def test_reading_a_damaged_golden_file_gives_an_error_or_data(golden, name):
    if not IS_H5PY:  # libhdf5 may crash or hang on these files
        read_everything(golden / name)


@pytest.mark.parametrize("name", damaged.VICTIMS)
def test_reading_many_damaged_copies_gives_errors_or_data(golden, name):
    if IS_H5PY:
        return
    content = (golden / name).read_bytes()
    for _, bad in damaged.variants(content, name, 24 if len(content) < 100_000 else 8):
        read_everything(bad)


def changed_bytes(found, expected):
    """Returns how many bytes differ between two arrays of numbers."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    return sum(a != b for a, b in zip(found.tobytes(), expected.tobytes(), strict=True))


@pytest.mark.parametrize("name", CHECKED)
def test_checksums_catch_a_flipped_bit_of_metadata(golden, name):
    """A flipped bit is an error, changes nothing, or changes one stored element, which has no checksum."""
    if IS_H5PY:
        return
    content = (golden / name).read_bytes()
    whole, errors = read_everything(content)
    assert whole or name == "links_latest_40.h5"
    rng = np.random.default_rng(5)
    for _ in range(40):
        at = int(rng.integers(0, min(len(content), 6000)))
        bad = bytearray(content)
        bad[at] ^= 1 << int(rng.integers(8))
        found, errors = read_everything(bytes(bad))
        if not errors:
            assert found.keys() == whole.keys()
            assert sum(changed_bytes(found[path], whole[path]) for path in whole) <= 1, f"byte {at}"


@pytest.mark.parametrize(
    "name", ["libver_earliest.h5", "libver_latest.h5", "links_latest_40.h5", "composed_earliest.h5"]
)
def test_reading_a_truncated_file_is_an_error(golden, name):
    if IS_H5PY:
        return
    content = (golden / name).read_bytes()
    for length in range(0, len(content), max(len(content) // 60, 1)):
        _, errors = read_everything(content[:length])
        assert errors, f"{length} of {len(content)} bytes were read without an error"


def test_a_flipped_bit_under_fletcher32_is_an_error_that_names_the_chunk(golden):
    if IS_H5PY:
        return
    with h5py.File(golden / "filters_latest.h5", "r") as f:
        info = f["fletcher32_int32"].id.get_chunk_info(0)
    content = bytearray((golden / "filters_latest.h5").read_bytes())
    content[info.byte_offset + 5] ^= 4
    with hs.File.from_bytes(bytes(content)) as f:
        with pytest.raises(hs.FormatError) as raised:
            f["fletcher32_int32"][:]
        assert "chunk" in str(raised.value).lower()
        assert f["fletcher32_int32"][39, 24] is not None


@pytest.mark.damages
def test_a_file_with_a_missing_end_is_refused_when_opened_or_read(golden, tmp_path):
    if IS_H5PY:
        return
    content = (golden / "libver_latest.h5").read_bytes()
    path = tmp_path / "short.h5"
    path.write_bytes(content[:-100])
    with pytest.raises(OSError):
        with hs.File(path, "r") as f:
            f["a"][:]
            f["group/b"][:]
            list(f.attrs.items())


def test_a_family_with_one_member_file_is_read(tmp_path):
    with h5py.File(tmp_path / "part%d.h5", "w", driver="family", libver="earliest") as f:
        f["x"] = np.arange(100_000)
    with hs.File(tmp_path / "part0.h5") as f:
        assert np.array_equal(f["x"][:], np.arange(100_000))


def patched(path, edits):
    image = bytearray(path.read_bytes())
    for find, replace, start in edits:
        at = image.find(find, start)
        assert at >= 0
        image[at : at + len(replace)] = replace
    path.write_bytes(image)


@needs_hyperslab
def test_a_chain_of_many_filters_needs_little_memory(tmp_path):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((64,))
    for _ in range(31):
        properties.set_deflate(1)
    with h5py.File(tmp_path / "f.h5", "w") as f:
        space = h5py.h5s.create_simple((64,))
        dataset = h5py.h5d.create(f.id, b"d", h5py.h5t.STD_U8LE, space, properties)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(64, dtype="u1"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with hs.File(tmp_path / "f.h5") as f:
        assert np.array_equal(f["d"][()], np.arange(64))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


@needs_hyperslab
@pytest.mark.damages
def test_parameters_of_n_bit_that_double_at_every_level_are_refused(tmp_path):
    levels = 20
    values = [number for k in range(levels) for number in (levels - k + 1, 2, 0, 2, 1, 2, 1, 3)]
    values = [3, *values, 1, 1, 0, 4, 1]
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((8,))
    properties.set_filter(305, h5py.h5z.FLAG_OPTIONAL, (3 + len(values), 0, 8, *values))
    with h5py.File(tmp_path / "f.h5", "w", libver="earliest") as f:
        space = h5py.h5s.create_simple((8,))
        dataset = h5py.h5d.create(f.id, b"d", h5py.h5t.STD_U8LE, space, properties)
        dataset.write_direct_chunk((0,), b"\0" * 64)
    patched(tmp_path / "f.h5", [((305).to_bytes(2, "little"), (5).to_bytes(2, "little"), 0)])
    with hs.File(tmp_path / "f.h5") as f, pytest.raises(OSError, match="number of datatypes"):
        f["d"][()]


@needs_hyperslab
def test_a_fill_value_that_refers_to_its_dataset_is_not_copied_without_end(tmp_path):
    marker = 0x1122334455667788
    with h5py.File(tmp_path / "f.h5", "w", libver="earliest") as f:
        dataset = f.create_dataset("a", (3,), "i8", fillvalue=marker)
        at = h5py.h5o.get_info(dataset.id).addr
    patched(
        tmp_path / "f.h5",
        [
            (bytes.fromhex("1008000008000000"), bytes.fromhex("1700000008000000"), at),
            (marker.to_bytes(8, "little"), at.to_bytes(8, "little"), at),
        ],
    )
    with hs.File(tmp_path / "f.h5") as f, hs.File(tmp_path / "copy.h5", "w") as copy:
        with pytest.raises(NotImplementedError, match="references in fill values"):
            f.copy("a", copy, "x", expand_refs=True)
        assert list(copy) == []


@needs_hyperslab
def test_a_region_of_empty_blocks_without_number_is_read_at_once(tmp_path):
    with h5py.File(tmp_path / "f.h5", "w", libver=("v110", "v110")) as f:
        f["d"] = np.arange(100).reshape(10, 10)
        space = f["d"].id.get_space()
        space.select_hyperslab((0, 0), (4, 3), (3, 4), (2, 2))
        f.create_dataset("r", (1,), h5py.regionref_dtype)
        f["r"][0] = h5py.h5r.create(f.id, b"d", h5py.h5r.DATASET_REGION, space)
    axes = [0, 3, 2**64 - 1, 2, 0, 1, 2**62, 0]
    image = (tmp_path / "f.h5").read_bytes()
    start = (2).to_bytes(4, "little") * 2 + b"\1"
    at = image.find(start)
    new = b"".join(number.to_bytes(8, "little") for number in axes)
    patched(tmp_path / "f.h5", [(image[at + 17 : at + 81], new, at)])
    with hs.File(tmp_path / "f.h5") as f:
        assert f["d"][f["r"][0]].size == 0


@needs_hyperslab
def test_a_stored_chunk_without_filters_has_the_bytes_of_a_chunk(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        d = f.create_dataset("d", (6, 4), "i4", chunks=(4, 2))
        for wrong in (b"abc", bytes(31), bytes(33), bytes(64)):
            with pytest.raises(ValueError, match=f"in bytes, has length {len(wrong)}, expected 32"):
                d.id.write_direct_chunk((4, 2), wrong)
        assert d.id.get_num_chunks() == 0
        d.id.write_direct_chunk((4, 2), np.arange(8, dtype="<i4").tobytes())
        assert d[4:, 2:].tolist() == [[0, 1], [2, 3]]


@needs_hyperslab
def test_a_stored_chunk_at_an_edge_without_filters_has_the_bytes_of_a_chunk(golden, tmp_path):
    shutil.copy(golden / "unfiltered_edges.h5", tmp_path / "f.h5")
    with hs.File(tmp_path / "f.h5", "r+") as f:
        for name in ("ends_together", "fixed", "free"):
            edge, inside = (8, 6), (0, 0)
            with pytest.raises(ValueError, match="has length 3, expected 96"):
                f[name].id.write_direct_chunk(edge, b"abc")
            f[name].id.write_direct_chunk(edge, np.arange(24, dtype="<i4").tobytes())
            assert f[name][8, 6:].tolist() == [0, 1, 2, 3]
            f[name].id.write_direct_chunk(inside, f[name].id.read_direct_chunk(inside)[1])


@pytest.mark.damages
@pytest.mark.parametrize("length", [3, 31, 33, 64])
def test_a_chunk_whose_filters_were_skipped_is_read_if_it_has_the_bytes_of_a_chunk(tmp_path, length):
    with hs.File(tmp_path / "f.h5", "w") as f:
        d = f.create_dataset("d", (6, 4), "i4", chunks=(4, 2), compression="gzip", shuffle=True)
        # h5py's own tests store and read such chunks, which are not those of the dataset.
        d.id.write_direct_chunk((4, 2), bytes(length), 3)
        assert d.id.read_direct_chunk((4, 2)) == (3, bytes(length))
        with pytest.raises(OSError, match="32"):
            d[4:, 2:]
    assert any(finding.severity == "error" for finding in hs.check(tmp_path / "f.h5", data=True))


def test_a_stored_chunk_has_bytes(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        d = f.create_dataset("d", (100,), "u1", chunks=(10,))
        with pytest.raises(OSError, match="1 byte or more"):
            d.id.write_direct_chunk((40,), b"")
        f["x"] = np.zeros(1000, "u1")
        del f["x"]
