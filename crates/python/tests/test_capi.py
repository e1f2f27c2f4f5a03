"""The interface for C against h5py: files that programs in C wrote, and files that they copied.

`make capi` builds the library. The contract of single functions is in `crates/capi/tests`.
"""

import re
import subprocess

import h5py
import numpy as np
import pytest
from needs import need
from support import GOLDEN, IS_H5PY, REPOSITORY

if IS_H5PY:
    pytest.skip("about hyperslab's own interface", allow_module_level=True)

pytestmark = pytest.mark.extras

INSTALLED = REPOSITORY / "target" / "capi"


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """Returns a function that compiles a program of `crates/capi/tests/c`, with the flags of pkg-config."""
    folder = tmp_path_factory.mktemp("programs")

    def compiled(name):
        need("cc")
        need("pkg-config")
        made = folder / name
        if not made.exists():
            environment = {"PKG_CONFIG_PATH": str(INSTALLED / "lib" / "pkgconfig"), "PATH": "/usr/bin:/bin"}
            asked = ["pkg-config", "--cflags", "--libs", "hyperslab"]
            flags = subprocess.run(asked, env=environment, check=True, capture_output=True, text=True).stdout.split()
            source = REPOSITORY / "crates" / "capi" / "tests" / "c" / f"{name}.c"
            rpath = f"-Wl,-rpath,{INSTALLED / 'lib'}"
            subprocess.run(["cc", "-pthread", "-g", source, "-o", made, *flags, rpath], check=True)
        return made

    return compiled


def test_h5py_reads_what_a_program_in_c_wrote(program, tmp_path):
    subprocess.run([program("values"), tmp_path], check=True, capture_output=True)
    with h5py.File(tmp_path / "values.h5") as file:
        for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"):
            dataset = file["numbers"][f"{name[0]}{8 * int(name[1])}"]
            assert dataset.dtype == np.dtype(name) and dataset.shape == (2, 3)
            expected = np.array([[-2, -1, 0], [1, 2, 100]])
            assert np.array_equal(dataset[:], expected.clip(0) if name[0] == "u" else expected)
        assert file["numbers/bool"].dtype == bool
        assert file["numbers/bool"][:].tolist() == [True, False, True]
        assert file["big"].dtype == ">i2"
        assert file["big"][:].tolist() == [0x0102, -2]
        assert file["words"].asstr()[:].tolist() == ["Genève", "", "Z"]
        assert h5py.check_string_dtype(file["words"].dtype).encoding == "utf-8"
        assert file["fixed"].dtype == "S6"
        assert file["fixed"][:].tolist() == [b"abcde", b"", b"z"]
        assert [list(each) for each in file["lists"][:]] == [[1, 2, 3], []]
        assert h5py.check_vlen_dtype(file["lists"].dtype) == np.int32
        cube = file["cube"]
        assert (cube.shape, cube.maxshape, cube.chunks, cube.fillvalue) == ((20, 20), (None, 20), (4, 6), 7.5)
        assert (cube.compression, cube.compression_opts, cube.shuffle) == ("gzip", 3, True)
        expected = np.full((20, 20), 7.5)
        expected[:10] = np.arange(200).reshape(10, 20)
        expected[np.ix_([1, 4], [2, 3, 7, 8, 12, 13])] = -np.arange(12).reshape(2, 6)
        expected[8:12, 6:12] = expected[4:8, 6:12]  # a stored chunk that was written at another place
        expected[10, :6] = expected[10, 12:] = 7.5
        assert np.array_equal(cube[:], expected)
        attributes = cube.attrs
        assert sorted(attributes) == ["answer", "limits", "lists", "names", "units"]
        assert (attributes["answer"], attributes["answer"].dtype, attributes["units"]) == (42, np.int16, "K")
        assert attributes["limits"].tolist() == [180, 330]
        assert attributes["names"].tolist() == ["time", "lat"]
        assert [list(each) for each in attributes["lists"]] == [[180, 330], [180]]
        assert sorted(file["groups"]) == ["cube", "far", "soft"]
        assert file["groups/cube"] == cube
        assert file["groups"].get("soft", getlink=True).path == "/nowhere"
        far = file["groups"].get("far", getlink=True)
        assert (far.filename, far.path) == ("other.h5", "/there")
        assert file.userblock_size == 512


def same(ours, theirs):
    """Whether two values are equal, NaN and sequences included."""
    if isinstance(theirs, h5py.Empty) or isinstance(ours, h5py.Empty):
        return ours == theirs
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return False
    if ours.dtype.hasobject:
        return all(np.array_equal(a, b) for a, b in zip(ours.ravel(), theirs.ravel(), strict=True))
    return ours.tobytes() == theirs.tobytes()


def test_nothing_is_read_of_a_null_dataset_whatever_is_selected(program, tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["d"] = h5py.Empty("f4")
    done = subprocess.run([program("nothing"), tmp_path / "f.h5"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# References lead to addresses, which are others in a copy; h5py does not list user-defined links.
FILES = sorted(path for path in GOLDEN.rglob("*.h5") if "references" not in path.stem and path.stem != "user_link")
# Why the program leaves an object out: what the interface does not write, and what the file itself lacks.
LEFT = re.compile(
    r"a null dataspace|references|a committed datatype|filter.id: \d+ is no filter of hyperslab"
    r"|type: texts and sequences of variable length|.*sequences of texts or of sequences"
)


@pytest.mark.process
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_copy_by_a_program_in_c_is_the_same_for_h5py(program, path, tmp_path):
    copy = tmp_path / "copy.h5"
    done = subprocess.run([program("copy"), path, copy], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    left = dict(line.removeprefix("left ").split(": ", 1) for line in done.stdout.splitlines())
    assert {full: why for full, why in left.items() if not LEFT.match(why)} == {}
    with h5py.File(path) as theirs, h5py.File(copy) as ours:
        links = []
        theirs.visititems_links(lambda name, link: links.append((name, link)))
        for name in [name for name, link in links if isinstance(link, h5py.HardLink) and f"/{name}" not in left]:
            compare(theirs[name], ours[name], left)
        compare(theirs, ours, left)


def compare(theirs, ours, left):
    """Compares an object with its copy, as far as h5py can read it."""
    if isinstance(theirs, h5py.Dataset):
        try:
            expected = theirs[()]
        except (OSError, TypeError, ValueError):
            return  # no NumPy type, or a file that is not there
        assert (ours.shape, ours.dtype, ours.chunks) == (theirs.shape, theirs.dtype, theirs.chunks)
        assert same(ours[()], expected)
        if theirs.chunks:
            assert ours.maxshape == theirs.maxshape
            assert theirs.fillvalue is None or same(ours.fillvalue, theirs.fillvalue)
    for key in theirs.attrs:
        if f"{theirs.name}@{key}" not in left:
            try:
                expected = theirs.attrs[key]
            except (OSError, TypeError, ValueError):
                continue
            assert same(ours.attrs[key], expected), key
