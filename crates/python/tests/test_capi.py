"""The interface for C against h5py: files that programs in C wrote, and files that they copied.

`make capi` builds the library. The contract of single functions is in `crates/capi/tests`.
"""

import subprocess

import h5py
import numpy as np
import pytest
from support import GOLDEN, IS_H5PY, REPOSITORY

if IS_H5PY:
    pytest.skip("about hyperslab's own interface", allow_module_level=True)

INSTALLED = REPOSITORY / "target" / "capi"


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """Returns a function that compiles a program of `crates/capi/tests/c`, with the flags of pkg-config."""
    folder = tmp_path_factory.mktemp("programs")

    def compiled(name):
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


def cannot_be_written(dtype):
    """Whether elements have texts or sequences inside, which the interface only reads."""
    if h5py.check_vlen_dtype(dtype) is not None:
        return holds_items(h5py.check_vlen_dtype(dtype))
    return h5py.check_string_dtype(dtype) is None and holds_items(dtype)


def holds_items(dtype):
    if dtype.subdtype:
        return holds_items(dtype.subdtype[0])
    if dtype.names:
        return any(holds_items(dtype[name]) for name in dtype.names)
    string = h5py.check_string_dtype(dtype)
    return h5py.check_vlen_dtype(dtype) is not None or (string is not None and string.length is None)


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


FILES = sorted(GOLDEN.rglob("*.h5"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_copy_by_a_program_in_c_is_the_same_for_h5py(program, path, tmp_path):
    copy = tmp_path / "copy.h5"
    done = subprocess.run([program("copy"), path, copy], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    left = dict(line.removeprefix("left ").split(": ", 1) for line in done.stdout.splitlines())
    if "/" in left:
        pytest.fail(left["/"])
    compared = 0
    with h5py.File(path) as theirs, h5py.File(copy) as ours:

        def compare(name, link):
            nonlocal compared
            full = f"/{name}"
            if full in left or isinstance(link, h5py.ExternalLink):
                return
            item, mine = theirs[name], ours[name]
            if isinstance(item, h5py.Dataset):
                assert (mine.shape, mine.dtype, mine.chunks) == (item.shape, item.dtype, item.chunks)
                assert same(mine[()], item[()]), name
                if item.chunks and item.fillvalue is not None:
                    assert same(mine.fillvalue, item.fillvalue) and mine.maxshape == item.maxshape
                compared += 1
            for key, value in item.attrs.items():
                if f"{full}@{key}" not in left:
                    assert same(mine.attrs[key], value), f"{name}@{key}"
                    compared += 1

        theirs.visititems_links(compare)
        for full, why in left.items():
            name, _, attribute = full.partition("@")
            print(full, why)
    print(compared, "compared,", len(left), "left")
