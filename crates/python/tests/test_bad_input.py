"""Reading a damaged file gives an error or data, and never a crash, a hang or unbounded memory."""

import resource
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
