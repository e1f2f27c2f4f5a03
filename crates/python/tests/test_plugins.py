"""Compiled filter plug-ins: those of hdf5plugin, whose oracle is libhdf5 with the same libraries."""

import contextlib
import os
import struct
import subprocess
import sys
from pathlib import Path

import h5py
import hdf5plugin
import hyperslab as hs
import numpy as np
import pytest

# What h5py is given, and the kinds of elements that the filter is for.
LOSSY = {
    "sz absolute": (hdf5plugin.SZ(absolute=0.01), "f"),
    "sz relative": (hdf5plugin.SZ(relative=0.01), "f"),
    "sz pointwise": (hdf5plugin.SZ(pointwise_relative=0.01), "f"),
    "sz3 absolute": (hdf5plugin.SZ3(absolute=0.01), "fi"),
    "sz3 relative": (hdf5plugin.SZ3(relative=0.01), "f"),
    "sz3 norm": (hdf5plugin.SZ3(norm2=0.1), "f"),
    "sperr rate": (hdf5plugin.Sperr(rate=16), "f"),
    "sperr psnr": (hdf5plugin.Sperr(peak_signal_to_noise_ratio=90), "f"),
    "sperr absolute": (hdf5plugin.Sperr(absolute=0.01, swap=True), "f"),
    "sperr missing": (hdf5plugin.Sperr(rate=16, missing_value_mode=1), "f"),
    "fcidecomp": (hdf5plugin.FciDecomp(), "s"),
    "htj2k": (hdf5plugin.Htj2k(), "s"),
}
DTYPES = {"f": ["<f4", "<f8"], "i": ["<i4", "<u8", "<i2"], "s": ["u1", "<u2"]}
# The shapes of datasets and of chunks: whole ones, and some that the dataset cuts.
SHAPES = [((60, 48), (30, 24)), ((50, 70), (32, 40)), ((20, 24, 28), (16, 12, 16))]
CASES = [
    pytest.param(name, dtype, *shapes, id=f"{name} {dtype} {len(shapes[0])}d {shapes[0][0]}")
    for name, (_, kinds) in LOSSY.items()
    for kind in kinds
    for dtype in DTYPES[kind]
    for shapes in SHAPES
    if len(shapes[0]) == 2 or kind != "s"
]


def smooth(dtype, shape):
    """A wave with some noise, in the range of the datatype."""
    places = np.indices(shape).sum(0)
    made = 50 * np.sin(places / 9) + 60 + np.random.default_rng(1).normal(0, 0.5, shape)
    return made.astype(dtype)


@pytest.mark.parametrize(("name", "dtype", "shape", "chunks"), CASES)
def test_both_libraries_store_and_read_the_same(tmp_path, name, dtype, shape, chunks):
    data, given, path = smooth(dtype, shape), LOSSY[name][0], tmp_path / "a.h5"
    if name == "sperr missing":
        data[3:5, 7] = np.nan
    with h5py.File(path, "w") as file:
        file.create_dataset("theirs", data=data, chunks=chunks, **given)
    with hs.File(path, "r+") as file:
        ours = file.create_dataset("ours", data=data, chunks=chunks, **given)
        assert ours._filter_data == file["theirs"]._filter_data
    # Chunks in the caches are those before the filter: both files are opened again.
    with hs.File(path) as file:
        read = {name: file[name][...] for name in file}
    with h5py.File(path) as file:
        stored = {which: [] for which in file}
        for which, dataset in file.items():
            assert np.array_equal(read[which], dataset[...], equal_nan=dtype[1] == "f")
            for index in range(dataset.id.get_num_chunks()):
                at = dataset.id.get_chunk_info(index).chunk_offset
                stored[which].append((at, *dataset.id.read_direct_chunk(at)))
    assert np.array_equal(read["ours"], read["theirs"], equal_nan=dtype[1] == "f")
    if name == "sz pointwise":
        # SZ leaves a byte of the header of its streams as its memory was.
        return
    assert sorted(stored["ours"]) == sorted(stored["theirs"])


def test_a_filter_that_is_not_for_the_datatype_is_refused_as_by_libhdf5(tmp_path):
    outcomes = {}
    for library in (h5py, hs):
        for given, dtype, shape in [
            (hdf5plugin.Htj2k(), "f8", (9, 9)),
            (hdf5plugin.SZ(), "S5", (9, 9)),
            (hdf5plugin.Sperr(rate=16), "i4", (20, 20)),
            (hdf5plugin.FciDecomp(), "f4", (20, 20)),
        ]:
            with library.File(tmp_path / f"{library.__name__}.h5", "a") as file:
                name = f"{type(given).__name__} {dtype}"
                try:
                    made = file.create_dataset(name, shape, dtype, chunks=shape, **given)
                    outcomes[library.__name__, name] = made.chunks and "made"
                except (ValueError, RuntimeError, OSError):
                    outcomes[library.__name__, name] = "refused"
    ours = {name: what for (library, name), what in outcomes.items() if library == "hyperslab"}
    theirs = {name: what for (library, name), what in outcomes.items() if library == "h5py"}
    assert ours == theirs and "refused" in ours.values()


def run(code, *args, **environment):
    """Runs Python in a process of its own, where nothing is imported yet."""
    drop = {"HDF5_PLUGIN_PATH", "HDF5_PLUGIN_PRELOAD"}
    environment = {name: value for name, value in os.environ.items() if name not in drop} | environment
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, args)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def lossy(tmp_path_factory):
    """A file with a dataset that only a plug-in reads."""
    path = tmp_path_factory.mktemp("plugins") / "sz.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("a", data=smooth("f4", (30, 40)), chunks=(10, 40), compression=hdf5plugin.SZ(absolute=0.01))
    return path


READ = """
import hyperslab as hs, sys
with hs.File(sys.argv[1]) as file:
    dataset = file["a"]
    {more}
    try:
        print(dataset[...].sum())
    except Exception as error:
        print(type(error).__name__, error)
"""


@pytest.mark.process
def test_nothing_is_loaded_unless_the_program_asks(lossy):
    with h5py.File(lossy) as file:
        total = str(file["a"][...].sum())
    refused = "filter 32017 (sz) is not available"
    assert refused in run(READ.format(more=""), lossy)
    # Python programs say so themselves: the variable of libhdf5 is set for other programs, too.
    assert refused in run(READ.format(more=""), lossy, HDF5_PLUGIN_PATH=hdf5plugin.PLUGIN_PATH)
    assert run(READ.format(more="import hdf5plugin"), lossy) == total
    assert run(READ.format(more="hs.load_plugins()"), lossy) == total
    assert run(READ.format(more=f"hs.load_plugins({hdf5plugin.PLUGIN_PATH!r})"), lossy) == total
    library = str(Path(hdf5plugin.PLUGIN_PATH) / "libh5sz.so")
    assert run(READ.format(more=f"assert list(hs.load_plugins({library!r})) == [32017]"), lossy) == total


@pytest.mark.process
def test_folders_that_h5pl_is_given_are_searched(lossy):
    with h5py.File(lossy) as file:
        total = str(file["a"][...].sum())
    for call in ("append({})", "prepend({})", "insert({}, 0)"):
        more = f"hs.h5pl.{call.format(repr(hdf5plugin.PLUGIN_PATH.encode()))}"
        assert run(READ.format(more=more), lossy) == total


@pytest.mark.process
def test_folders_that_h5pl_removes_are_not_searched(lossy, tmp_path):
    with h5py.File(lossy) as file:
        total = str(file["a"][...].sum())
    folder, other = repr(hdf5plugin.PLUGIN_PATH.encode()), repr(bytes(tmp_path))
    refused = "filter 32017 (sz) is not available"
    add = f"hs.h5pl.append({folder}); last = hs.h5pl.size() - 1; "
    assert refused in run(READ.format(more=add + "hs.h5pl.remove(last)"), lossy)
    assert refused in run(READ.format(more=add + f"hs.h5pl.replace({other}, last)"), lossy)
    again = add + f"hs.h5pl.prepend({folder}); hs.h5pl.remove(0)"
    assert run(READ.format(more=again), lossy) == total


@pytest.mark.process
def test_plugins_can_be_switched_off(lossy):
    refused = "filter 32017 (sz) is not available"
    assert refused in run(READ.format(more="import hdf5plugin; hs.disable_plugins()"), lossy)
    assert refused in run(READ.format(more="import hdf5plugin"), lossy, HDF5_PLUGIN_PRELOAD="::")
    load = "import hyperslab as hs\ntry: hs.load_plugins()\nexcept OSError as error: print(error)"
    assert "plug-ins are switched off" in run(load, HDF5_PLUGIN_PRELOAD="::")


@pytest.mark.process
def test_libhdf5_in_the_process_keeps_its_plugins(lossy, tmp_path):
    code = """
import hyperslab as hs, sys, numpy as np
if sys.argv[3] == "first": hs.load_plugins()
import h5py, hdf5plugin
if sys.argv[3] == "second": hs.load_plugins()
given = hdf5plugin.SZ3(absolute=0.01)
for round in range(3):
    for library in (h5py, hs):
        with library.File(sys.argv[2], "w") as file:
            made = file.create_dataset("a", data=np.linspace(0, 1, 2000).reshape(40, 50), chunks=(20, 50), **given)
        for reader in (h5py, hs):
            with reader.File(sys.argv[2]) as file:
                assert abs(file["a"][...].ravel() - np.linspace(0, 1, 2000)).max() <= 0.0101
            with reader.File(sys.argv[1]) as file:
                print(file["a"][...].sum())
"""
    for when in ("first", "second", "never"):
        assert len(set(run(code, lossy, tmp_path / "b.h5", when).split())) == 1


def test_what_is_no_plugin_is_refused(tmp_path):
    text = tmp_path / "text.so"
    text.write_text("not a library")
    short = tmp_path / "short.so"
    short.write_bytes((Path(hdf5plugin.PLUGIN_PATH) / "libh5lz4.so").read_bytes()[:3000])
    for path, why in [
        (text, "not a shared library"),
        (short, "it ends early"),
        (tmp_path / "none.so", "No such file"),
        (hs._native.__file__, "it does not export H5PLget_plugin_type"),
    ]:
        with pytest.raises(OSError, match=why):
            hs.load_plugins(path)
    # In a folder, they are passed over.
    assert hs.load_plugins(tmp_path) == {}


def test_a_damaged_library_is_refused_at_once(tmp_path):
    """Tables of relocations with impossible sizes, and a segment outside the file."""
    whole = (Path(hdf5plugin.PLUGIN_PATH) / "libh5lz4.so").read_bytes()
    segments = struct.unpack_from("<Q", whole, 32)[0]
    size, count = struct.unpack_from("<HH", whole, 54)
    places = [segments + number * size for number in range(count)]
    dynamic = next(place for place in places if struct.unpack_from("<I", whole, place)[0] == 2)
    first, length = (struct.unpack_from("<Q", whole, dynamic + at)[0] for at in (8, 32))
    tags = {struct.unpack_from("<Q", whole, at)[0]: at for at in range(first, first + length, 16)}
    changes = {
        "relocations.so": (tags[8] + 8, 2**64 - 1),
        "calls.so": (tags[2] + 8, 2**64 - 1),
        "segment.so": (
            next(place for place in places if struct.unpack_from("<I", whole, place)[0] == 1) + 8,
            2**64 - 4,
        ),
    }
    for name, (at, value) in changes.items():
        damaged = bytearray(whole)
        struct.pack_into("<Q", damaged, at, value)
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(
            OSError, match="it ends early" if name == "segment.so" else "relocations are not in the file"
        ):
            hs.load_plugins(tmp_path / name)
    assert hs.load_plugins(tmp_path) == {}


def test_a_library_is_loaded_once(tmp_path):
    library = Path(hdf5plugin.PLUGIN_PATH) / "libh5sz3.so"
    for name in ("libz.so.1", "libz.so"):
        (tmp_path / name).symlink_to(library)
    first = hs.load_plugins(library)
    opened = len(os.listdir("/proc/self/fd"))
    for path in [library, tmp_path, tmp_path / "libz.so"] * 3:
        assert hs.load_plugins(path) == first
    assert len(os.listdir("/proc/self/fd")) == opened


def test_libraries_are_not_mixed_up_after_all_descriptors_were_closed():
    code = """
import hyperslab as hs, os, sys
for name in ("libh5sz.so", "libh5sz3.so", "libh5sperr.so"):
    print(*hs.load_plugins(os.path.join(sys.argv[1], name)))
    os.closerange(3, 256)
"""
    assert run(code, hdf5plugin.PLUGIN_PATH).split() == ["32017", "32024", "32028"]


@pytest.mark.process
def test_threads_that_need_a_plugin_at_the_same_time_find_it(lossy, tmp_path):
    """In a folder that takes a while to list."""
    for number in range(2000):
        (tmp_path / f"{number}.so").touch()
    (tmp_path / "sz.so").symlink_to(Path(hdf5plugin.PLUGIN_PATH) / "libh5sz.so")
    code = """
import hyperslab as hs, sys, threading, types
sys.modules["hdf5plugin"] = types.SimpleNamespace(PLUGIN_PATH=sys.argv[2])
barrier, found = threading.Barrier(8), []
def read():
    barrier.wait()
    try: found.append(float(dataset[...].sum()))
    except Exception as error: found.append(str(error))
with hs.File(sys.argv[1]) as file:
    dataset = file["a"]
    threads = [threading.Thread(target=read) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
print(len(found), len(set(found)), found[0])
"""
    with h5py.File(lossy) as file:
        assert run(code, lossy, tmp_path) == f"8 1 {float(file['a'][...].sum())}"


MAKE = """
import hyperslab as hs, sys
# The functions do nothing, so the file has the parameters and the bytes that it is given.
hs.register_filter(int(sys.argv[2]), lambda data, options, size: data, lambda data, options: data)
with hs.File(sys.argv[1], "w") as file:
    made = file.create_dataset("a", (32, 32), sys.argv[3], chunks=(32, 32), compression=int(sys.argv[2]))
    made.id.write_direct_chunk((0, 0), bytes.fromhex(sys.argv[4]))
"""


@pytest.mark.process
@pytest.mark.parametrize("name", ["sz absolute", "sz3 absolute", "sperr rate", "fcidecomp"])
def test_a_filter_without_its_parameters_is_an_error(tmp_path, name):
    """Some plug-ins read the first parameters without asking how many there are."""
    given, kinds = LOSSY[name]
    dtype = DTYPES[kinds[-1]][-1] if kinds == "s" else "<f4"
    with h5py.File(tmp_path / "whole.h5", "w") as file:
        whole = file.create_dataset("a", data=smooth(dtype, (32, 32)), chunks=(32, 32), **given)
        stored = whole.id.read_direct_chunk((0, 0))[1]
        number = whole.id.get_create_plist().get_filter(0)[0]
    run(MAKE, tmp_path / "a.h5", number, dtype, stored.hex())
    assert "in the chunk at [0, 0]" in run(READ.format(more="import hdf5plugin"), tmp_path / "a.h5")
    # Whether the file counts as sound depends on the plug-ins of this process.
    (tmp_path / "a.h5").unlink()


def hyperslab(*args, **environment):
    """Runs the command and returns what it wrote."""
    drop = {"HDF5_PLUGIN_PATH", "HDF5_PLUGIN_PRELOAD"}
    environment = {name: value for name, value in os.environ.items() if name not in drop} | environment
    program = [sys.executable, "-m", "hyperslab", *map(str, args)]
    return subprocess.run(program, env=environment, capture_output=True, text=True)


@pytest.mark.process
def test_the_command_searches_the_folders_of_the_environment(lossy, tmp_path):
    path = f"{tmp_path}/none{os.pathsep}{hdf5plugin.PLUGIN_PATH}"
    assert "filter 32017" in hyperslab("repack", lossy, tmp_path / "b.h5", "--filter", "gzip").stderr
    done = hyperslab("repack", lossy, tmp_path / "b.h5", "--filter", "gzip", HDF5_PLUGIN_PATH=path)
    assert done.returncode == 0, done.stderr
    with h5py.File(lossy) as theirs, h5py.File(tmp_path / "b.h5") as ours:
        assert np.array_equal(theirs["a"][...], ours["a"][...])
    off = {"HDF5_PLUGIN_PATH": path, "HDF5_PLUGIN_PRELOAD": "::"}
    assert "filter 32017" in hyperslab("repack", lossy, tmp_path / "c.h5", "--filter", "gzip", **off).stderr
    assert not hyperslab("check", "--data", lossy, HDF5_PLUGIN_PATH=path).returncode


@pytest.mark.damages
def test_damaged_chunks_are_errors_with_coordinates(tmp_path):
    path = tmp_path / "a.h5"
    data = smooth("<u2", (64, 64))
    with h5py.File(path, "w") as file:
        for name in ("fcidecomp", "htj2k"):
            file.create_dataset(name, data=data, chunks=(32, 64), **LOSSY[name][0])
        places = {name: file[name].id.get_chunk_info(1) for name in file}
    content = bytearray(path.read_bytes())
    for place in places.values():
        content[place.byte_offset : place.byte_offset + 40] = bytes(40)
    path.write_bytes(content)
    with hs.File(path) as file:
        for name in places:
            assert np.array_equal(file[name][:32], data[:32])
            with pytest.raises(OSError, match=rf"the plug-in .* failed to decode.*in the chunk at \[32, 0\].*/{name}"):
                file[name][...]


def test_filters_of_plugins_are_named(tmp_path):
    with contextlib.closing(hs.File(tmp_path / "a.h5", "w")) as file:
        data = smooth("f4", (30, 40))
        first = file.create_dataset("first", data=data, chunks=(10, 40), **hdf5plugin.SZ3(absolute=0.01))
        assert first.filter_names == ("sz3",) and first.compression == "unknown"
        blank = file.create_dataset("blank", (30, 40), "f4", chunks=(10, 40), **hdf5plugin.SZ3(absolute=0.01))
        assert blank[...].sum() == 0 and np.abs(first[...] - data).max() <= 0.01
