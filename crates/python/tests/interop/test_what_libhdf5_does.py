"""Measures the behaviour of libhdf5 on which commits rely (docs/journal.md, M1 to M6).

Only h5py is asked here, and `h5clear` of Debian's `hdf5-tools`, which `.ci/run` installs and requires. A
release of HDF5 that changes an answer is noticed.
"""

import subprocess

import h5py
import numpy as np
import pytest
from needs import need

VERSIONS = {"earliest": 0, "v108": 2, "latest": 3}
VALUES = np.arange(100, dtype="<i4")
TAIL = b"journal " * 625
GUARD = 1 << 62
REFUSED = "truncated file"


def rotl(x, k):
    return ((x << k) | (x >> (32 - k))) & 0xFFFFFFFF


def lookup3(data):
    """Returns Bob Jenkins' hash of bytes, which is the checksum of HDF5 metadata."""
    a = b = c = (0xDEADBEEF + len(data)) & 0xFFFFFFFF
    while len(data) > 12:
        x, y, z = (int.from_bytes(data[i : i + 4], "little") for i in (0, 4, 8))
        a, b, c = (a + x) & 0xFFFFFFFF, (b + y) & 0xFFFFFFFF, (c + z) & 0xFFFFFFFF
        a = (a - c) & 0xFFFFFFFF ^ rotl(c, 4)
        c = (c + b) & 0xFFFFFFFF
        b = (b - a) & 0xFFFFFFFF ^ rotl(a, 6)
        a = (a + c) & 0xFFFFFFFF
        c = (c - b) & 0xFFFFFFFF ^ rotl(b, 8)
        b = (b + a) & 0xFFFFFFFF
        a = (a - c) & 0xFFFFFFFF ^ rotl(c, 16)
        c = (c + b) & 0xFFFFFFFF
        b = (b - a) & 0xFFFFFFFF ^ rotl(a, 19)
        a = (a + c) & 0xFFFFFFFF
        c = (c - b) & 0xFFFFFFFF ^ rotl(b, 4)
        b = (b + a) & 0xFFFFFFFF
        data = data[12:]
    if data:
        x, y, z = (int.from_bytes(data.ljust(12, b"\0")[i : i + 4], "little") for i in (0, 4, 8))
        a, b, c = (a + x) & 0xFFFFFFFF, (b + y) & 0xFFFFFFFF, (c + z) & 0xFFFFFFFF
        for p, q, k in (
            ("c", "b", 14),
            ("a", "c", 11),
            ("b", "a", 25),
            ("c", "b", 16),
            ("a", "c", 4),
            ("b", "a", 14),
            ("c", "b", 24),
        ):
            s = {"a": a, "b": b, "c": c}
            s[p] = ((s[p] ^ s[q]) - rotl(s[q], k)) & 0xFFFFFFFF
            a, b, c = s["a"], s["b"], s["c"]
    return c


def edited(content, change):
    """Returns the file with `change` applied to its superblock and a correct checksum."""
    image = bytearray(content)
    change(image)
    if image[8] >= 2:
        image[44:48] = lookup3(bytes(image[:44])).to_bytes(4, "little")
    return bytes(image)


def end_field(image):
    """Returns the slice of the End of File Address, for addresses of eight bytes."""
    return slice(40, 48) if image[8] == 0 else slice(28, 36)


def guarded(content, guard=GUARD):
    def change(image):
        field = end_field(image)
        image[field] = (int.from_bytes(image[field], "little") | guard).to_bytes(8, "little")

    return edited(content, change)


def flags_at(image):
    """Returns the offset of the File Consistency Flags."""
    return 20 if image[8] == 0 else 11


def flagged(content, flags):
    def change(image):
        image[flags_at(image)] = flags

    return edited(content, change)


@pytest.fixture(params=VERSIONS)
def file(request, tmp_path):
    path = tmp_path / f"{request.param}.h5"
    with h5py.File(path, "w", libver=request.param) as f:
        f["values"] = VALUES
    content = path.read_bytes()
    assert content[8] == VERSIONS[request.param]
    assert int.from_bytes(content[end_field(content)], "little") == len(content)
    assert guarded(guarded(content, 0), 0) == content, "the checksum is computed as libhdf5 does"
    return path


def read(path, **options):
    with h5py.File(path, "r", **options) as f:
        return f["values"][:]


def refusal(path, mode="r", **options):
    """Returns the error with which libhdf5 refuses a file, and asserts that the file is unchanged."""
    before = path.read_bytes()
    with pytest.raises(OSError) as error:
        h5py.File(path, mode, **options).close()
    assert path.read_bytes() == before
    return str(error.value)


def test_m1_bytes_after_the_end_of_file_address_are_ignored(file):
    file.write_bytes(file.read_bytes() + TAIL)
    assert np.array_equal(read(file), VALUES)
    assert file.read_bytes().endswith(TAIL)


def test_m2_opening_for_writing_cuts_the_tail_even_without_changes(file):
    content = file.read_bytes()
    file.write_bytes(content + TAIL)
    h5py.File(file, "r+").close()
    assert len(file.read_bytes()) == len(content)
    assert np.array_equal(read(file), VALUES)


def test_m3_a_file_with_an_end_of_file_address_beyond_its_end_is_refused(file):
    content = file.read_bytes()
    file.write_bytes(guarded(content))
    assert REFUSED in refusal(file, "r")
    assert REFUSED in refusal(file, "r+")
    file.write_bytes(guarded(content) + TAIL)
    assert REFUSED in refusal(file, "r")
    assert REFUSED in refusal(file, "r+")
    file.write_bytes(content)
    assert np.array_equal(read(file), VALUES)


def test_m3_in_superblock_0_the_guard_changes_one_byte(file):
    content = file.read_bytes()
    if content[8] == 0:
        differ = [i for i, (a, b) in enumerate(zip(content, guarded(content), strict=True)) if a != b]
        assert differ == [47] and content[47] == 0
    else:
        assert len(guarded(content)) == len(content)


def test_m4_only_files_with_superblock_3_are_refused_by_consistency_flags(file):
    content = file.read_bytes()
    version = content[8]
    for flags in (1, 5):
        file.write_bytes(flagged(content, flags))
        if version < 3:
            assert np.array_equal(read(file), VALUES)
        else:
            assert "h5clear" in refusal(file, "r")
            assert "h5clear" in refusal(file, "r+")
    if version == 3:
        file.write_bytes(flagged(content, 5))
        assert np.array_equal(read(file, swmr=True, libver="latest"), VALUES)
        file.write_bytes(flagged(content, 1))
        refusal(file, "r", swmr=True, libver="latest")


def test_m5_a_writer_marks_the_file_while_it_is_open(file):
    at = flags_at(file.read_bytes())
    with h5py.File(file, "r+"):
        assert file.read_bytes()[at] == 1
    assert file.read_bytes()[at] == 0


@pytest.mark.extras
def test_m6_h5clear_does_not_make_a_guarded_file_readable_with_its_old_length(file):
    need("h5clear")
    content = guarded(file.read_bytes())
    file.write_bytes(content)
    subprocess.run(["h5clear", "--increment=0", file], check=False, capture_output=True)
    # Whatever h5clear reports, other programs cannot read the file with a half-applied change.
    if file.read_bytes() == content:
        assert REFUSED in refusal(file, "r")
    else:
        assert file.stat().st_size >= GUARD
