"""Plug-ins that fail, overrun their memory or return wrong lengths: `bad_plugin.c` does what its first
parameter says."""

import subprocess
import sys
from pathlib import Path

import hyperslab as hs
import numpy as np
import pytest
from needs import need

SOURCE = Path(__file__).with_name("bad_plugin.c")
GOOD, FAILS, OVERRUNS, OVERRUNS_NEW, OVERRUNS_FREED, LIES, SHORT, LONG, NO_MEMORY, SLOW, MISSING, THREADS = range(12)
pytestmark = pytest.mark.extras


def compiled(folder, name, *flags):
    need("cc")
    made = folder / name
    subprocess.run(["cc", "-shared", "-fPIC", "-pthread", "-g", "-O1", "-o", made, SOURCE, *flags], check=True)
    return made


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The plug-in, loaded. As many plug-ins, it is linked with a libhdf5 that this machine does not have."""
    folder = tmp_path_factory.mktemp("library")
    other = folder / "libhdf5.so.999"
    need("cc")
    empty = ["-x", "c", "/dev/null", f"-Wl,-soname,{other.name}"]
    subprocess.run(["cc", "-shared", "-fPIC", "-o", other, *empty], check=True)
    made = compiled(folder, "libbad.so", "-Wl,--no-as-needed", other)
    other.unlink()
    assert hs.load_plugins(made) == {400: "complement of bytes"}
    return made


def create(file, what, data, chunks, name="a", **others):
    options = () if what is None else (what,)
    return file.create_dataset(name, data=data, chunks=chunks, compression=400, compression_opts=options, **others)


def stored(dataset):
    """The parameters that the file has of the filter."""
    return list(dataset.id.get_create_plist().get_filter(0)[2])


@pytest.mark.damages
@pytest.mark.parametrize(
    ("what", "why"),
    [
        (FAILS, "failed to decode: no luck today"),
        (OVERRUNS, "wrote beyond the end of its memory when it was to decode"),
        (OVERRUNS_NEW, "wrote beyond the end of its memory when it was to decode"),
        (OVERRUNS_FREED, "wrote beyond the end of its memory when it was to decode"),
        (LIES, "returned 300 bytes, but its memory has 100"),
        (NO_MEMORY, "returned 100 bytes, but its memory has 0"),
        (MISSING, "failed to decode: it calls a function of libhdf5 that hyperslab does not offer"),
        (SHORT, "decodes to 50 bytes, expected 100"),
        (LONG, "decodes to 300 bytes, expected 100"),
    ],
)
def test_a_filter_that_misbehaves_is_an_error_with_coordinates(library, tmp_path, what, why):
    data = np.arange(200, dtype="u1")
    with hs.File(tmp_path / "a.h5", "w") as file:
        create(file, what, data, (100,))
        create(file, GOOD, data, (100,), "good")
    with hs.File(tmp_path / "a.h5") as file:
        with pytest.raises(OSError, match=rf"{why}.*in the chunk at \[100\].*\(/a\)"):
            file["a"][150]
        # The process and the plug-in go on.
        assert np.array_equal(file["good"][...], data)


@pytest.mark.parametrize(
    ("dtype", "told"),
    [
        ("<i4", [0, 4, 0, 4, 0, 1]),
        (">u2", [0, 2, 0, 2, 1, 0]),
        ("<f8", [1, 8, 1, 8, 0]),
        ("S7", [3, 7, 3, 7]),
        ("(3,)<i2", [10, 6, 0, 2, 0, 1]),
        ("?", [8, 1, 0, 1, 0, 1]),
        ([("a", "<i4"), ("b", "<f8")], [6, 12, 6, 12]),
    ],
    ids=str,
)
def test_a_filter_is_told_of_datatype_and_chunk(library, tmp_path, dtype, told):
    """The expected numbers are those of H5Tpublic.h; the next test compares with libhdf5."""
    with hs.File(tmp_path / "a.h5", "w") as file:
        made = file.create_dataset("a", (40, 60), dtype, chunks=(20, 30), compression=400)
        assert stored(made) == [GOOD, *told, 20, 30]
        made[...] = np.ones((), dtype)
    with hs.File(tmp_path / "a.h5") as file:
        assert np.array_equal(file["a"][...], np.ones((40, 60), dtype))
        assert file["a"].filter_names == ("complement of bytes",)


H5PY = """
import ctypes, sys
# The functions that the plug-in wants are those of h5py's libhdf5.
import h5py
ctypes.CDLL(h5py.h5z.__file__, ctypes.RTLD_GLOBAL)
with h5py.File(sys.argv[1], "r+") as file:
    for name, dataset in list(file.items()):
        made = file.create_dataset("h5py " + name, dataset.shape, dataset.dtype, chunks=dataset.chunks, compression=400)
        made[...] = dataset[...]
        print(name, made.id.get_create_plist().get_filter(0)[2] == dataset.id.get_create_plist().get_filter(0)[2])
"""


def test_libhdf5_tells_and_stores_the_same(library, tmp_path):
    kinds = ["<i4", ">u2", "<f8", "S7", "?", [("a", "<i4"), ("b", "<f8")], "(3,)<i2"]
    path = tmp_path / "a.h5"
    with hs.File(path, "w") as file:
        for number, dtype in enumerate(kinds):
            made = file.create_dataset(str(number), (40, 60), dtype, chunks=(20, 30), compression=400)
            made[...] = np.ones((), dtype)
    (folder := tmp_path / "plugins").mkdir()
    compiled(folder, "libbad.so")
    program = [sys.executable, "-c", H5PY, path]
    environment = {"HDF5_PLUGIN_PATH": str(folder)}
    done = subprocess.run(program, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{number} True" for number in range(len(kinds))]
    with hs.File(path) as file:
        for number, dtype in enumerate(kinds):
            assert np.array_equal(file[f"h5py {number}"][...], np.ones((40, 60), dtype))


def test_a_filter_that_refuses_the_dataset_is_an_error(library, tmp_path):
    with hs.File(tmp_path / "a.h5", "w") as file:
        with pytest.raises(ValueError, match="the plug-in complement of bytes is not for this datatype and chunk"):
            create(file, 99, np.arange(9), (3,))
        # Optional filters may be ones that cannot be applied, as in libhdf5.
        assert file.create_dataset("opaque", (9,), "V3", chunks=(3,), compression=400).chunks == (3,)


def test_one_thread_at_a_time_is_in_a_plugin(library, tmp_path):
    data = np.arange(3_200_000, dtype="<i4")
    with hs.File(tmp_path / "a.h5", "w") as file:
        create(file, SLOW, data, (50_000,))
    before = hs.get_threads()
    hs.set_threads(8)
    try:
        with hs.File(tmp_path / "a.h5") as file:
            assert np.array_equal(file["a"][...], data)
    finally:
        hs.set_threads(before)


def test_memory_that_another_thread_of_the_plugin_has_replaced_is_no_overrun(library, tmp_path):
    data = np.arange(200, dtype="u1")
    with hs.File(tmp_path / "a.h5", "w") as file:
        create(file, THREADS, data, (100,))
    with hs.File(tmp_path / "a.h5") as file:
        assert np.array_equal(file["a"][...], data)


SEARCH = """
import hyperslab as hs, os, sys
first, second, third = map(os.fsencode, sys.argv[1:])
hs.h5pl.append(second)
hs.h5pl.append(third)
hs.h5pl.insert(first, 0)
with hs.File.in_memory() as file:
    print(*file.create_dataset("a", (9,), "u1", chunks=(3,), compression=400).filter_names)
"""


def test_folders_are_searched_in_the_order_of_h5pl(tmp_path):
    names = ["third", "first", "second"]
    for name in names:
        (tmp_path / name).mkdir()
        compiled(tmp_path / name, "libbad.so", f'-DNAME="{name}"')
    for order in (names, names[::-1]):
        program = [sys.executable, "-c", SEARCH, *(tmp_path / name for name in order)]
        done = subprocess.run(program, capture_output=True, text=True)
        assert done.stdout.split() == [order[0]], done.stderr


def test_classes_of_another_version_and_plugins_of_another_kind_are_refused(tmp_path):
    with pytest.raises(OSError, match="the version of its class must be 1, not 2"):
        hs.load_plugins(compiled(tmp_path, "version.so", "-DVERSION=2"))
    with pytest.raises(OSError, match="it is not a filter"):
        hs.load_plugins(compiled(tmp_path, "kind.so", "-DKIND=1"))
    assert hs.load_plugins(tmp_path) == {}
