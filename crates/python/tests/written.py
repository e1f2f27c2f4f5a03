"""Writes files with every feature of the package, for the tests of other readers.

A feature is a function that writes below one group. It works with hyperslab and with h5py, so that a reader
must find the same in both files.
"""

import contextlib
import io
from collections.abc import Mapping

import h5py
import numpy as np
from soundness import CHECKS
from support import hs

LIBVERS = ("earliest", "v108", "v110", "v112", "v114", "latest")
GRID = np.arange(40 * 30, dtype="<i4").reshape(40, 30)
RECORD = np.dtype([("name", "S6"), ("place", [("x", "<f4"), ("y", "<f8")]), ("counts", "<u2", (3,))])
# Filters that every HDF5 library has, and filters that need a plugin.
FILTERS = {
    "gzip": {"compression": "gzip"},
    "gzip_shuffle": {"compression": 9, "shuffle": True},
    "fletcher32": {"fletcher32": True},
    "all": {"compression": "gzip", "shuffle": True, "fletcher32": True},
}
PLUGINS = {
    "lzf": {"compression": "lzf"},
    "blosc": {"compression": hs.Blosc("zstd", 5, "bitshuffle")},
    "blosc2": {"compression": hs.Blosc2("lz4", 5)},
    "lz4": {"compression": hs.LZ4()},
    "zstd": {"compression": hs.Zstd(3)},
    "bitshuffle": {"compression": hs.Bitshuffle()},
}


def records():
    """Returns nested records with strings and arrays."""
    array = np.zeros(4, RECORD)
    for index in range(4):
        array[index] = (b"n%d" % index, (index / 2, -index), (index, index + 1, index + 2))
    return array


def write_numbers(group, h5):
    """Writes every kind of number, in both byte orders."""
    for code in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"):
        for order in "<>":
            dtype = np.dtype(order + code)
            group[f"{'le' if order == '<' else 'be'}_{code}"] = np.arange(-5, 20).astype(dtype)
    group["bool"] = np.array([True, False, True])
    group["complex"] = np.array([1 + 2j, -3.5j])
    group["scalar"] = np.float64(2.5)
    group["negative"] = -7
    group["none"] = np.zeros((0, 3), "i4")


def write_kinds(group, h5):
    """Writes every type other than numbers."""
    group["text"] = "hällo"
    group["bytes"] = b"bytes"
    group["texts"] = ["a", "bb", "ccc é", ""]
    group["fixed"] = np.array([b"ab", b"cde", b""])
    fixed = group.create_dataset("fixed_utf8", (2,), dtype=h5.string_dtype("utf-8", 4))
    fixed[:] = ["ä", "b"]
    sequences = group.create_dataset("sequences", (3,), dtype=h5.vlen_dtype(np.dtype("<i4")))
    for index, value in enumerate(([1, 2, 3], np.arange(50), [])):
        sequences[index] = value
    group["references"] = np.array([group["text"].ref, group.ref, h5.Reference()], dtype=h5.ref_dtype)
    group["enum"] = np.array([1, 0, 1], dtype=h5.enum_dtype({"GREEN": 0, "RED": 1}, "i1"))
    group["records"] = records()
    mixed = np.dtype([("label", h5.string_dtype()), ("value", "<f8")])
    group["mixed"] = np.array([("x", 1.5), ("yy", 2.5)], dtype=mixed)
    group.create_dataset("arrays", (4,), dtype=np.dtype(("<i8", (2, 3))))[:] = np.arange(24).reshape(4, 2, 3)
    group["opaque"] = np.array([b"12345678", b"abcdefgh"], dtype="V8")
    times = np.array(["2026-11-22", "1970-01-01"], dtype="datetime64[s]")
    group["times"] = times.astype(h5.opaque_dtype(times.dtype))
    group["empty"] = h5.Empty("<f4")
    group["committed"] = np.dtype("<i2")
    group.create_dataset("of_committed", data=[1, 2, 3], dtype=group["committed"])


def write_storage(group, h5):
    """Writes every kind of storage and every chunk index."""
    group["contiguous"] = GRID
    # h5py has compact datasets only in its low-level API. Readers do not see the difference.
    group.create_dataset("compact", data=GRID[:10, :10], **({} if h5 is h5py else {"compact": True}))
    group.create_dataset("fixed_array", data=GRID, chunks=(7, 9))
    group.create_dataset("single", data=GRID, chunks=(40, 30))
    group.create_dataset("extensible", data=GRID, chunks=(7, 9), maxshape=(None, 30))
    group.create_dataset("two_ways", data=GRID, chunks=(7, 9), maxshape=(None, None))
    group.create_dataset("never_written", (40, 30), dtype="i4", chunks=(7, 9), fillvalue=-1)
    group.create_dataset("contiguous_fill", (40, 30), dtype="f4", fillvalue=2.5)
    part = group.create_dataset("in_part", (40, 30), dtype="i4", chunks=(7, 9), fillvalue=9)
    part[5:20, 3:11] = GRID[5:20, 3:11]
    many = group.create_dataset("many_chunks", (0,), dtype="<i8", chunks=(3,), maxshape=(None,))
    many.resize(5000, axis=0)
    many[:] = np.arange(5000)
    shrunk = group.create_dataset("shrunk", data=GRID, chunks=(7, 9), maxshape=(None, None), fillvalue=5)
    shrunk.resize((11, 17))
    shrunk.resize((25, 20))
    group.create_dataset("times_kept", data=GRID, track_times=True)


def write_filters(group, h5):
    """Writes every filter that libhdf5 has."""
    write_filtered(group, h5, FILTERS)


def write_plugins(group, h5):
    """Writes every filter that is a plugin of libhdf5."""
    write_filtered(group, h5, PLUGINS)


def write_filtered(group, h5, filters):
    """Writes each filter with each chunk index."""
    for name, options in filters.items():
        options = dict(options)
        if h5 is h5py and isinstance(options.get("compression"), Mapping):
            # h5py takes the mapping of a hyperslab filter object as keywords.
            options |= options["compression"]
        group.create_dataset(name, data=GRID, chunks=(16, 16), **options)
        group.create_dataset(name + "_growing", data=GRID, chunks=(16, 16), maxshape=(None, 30), **options)
        group.create_dataset(name + "_two_ways", data=GRID, chunks=(16, 16), maxshape=(None, None), **options)


def write_groups(group, h5):
    """Writes links of every kind, few and many, in order of name and of creation."""
    group.create_group("a/b/c")
    group["a/value"] = 1
    group["hard"] = group["a/value"]
    group["soft"] = h5.SoftLink("a/value")
    group["dangling"] = h5.SoftLink("/nowhere")
    group["external"] = h5.ExternalLink("missing.h5", "/there")
    many = group.create_group("many")
    for index in range(200):
        many.create_group(f"g{index:04d}")
    for index in range(0, 200, 3):
        del many[f"g{index:04d}"]
    ordered = group.create_group("ordered", track_order=True)
    for name in ("z", "m", "a"):
        ordered[name] = ord(name)
    many_ordered = group.create_group("many_ordered", track_order=True)
    for index in range(50):
        many_ordered[f"n{49 - index:02d}"] = index
    group.move("a/b", "moved")


def write_attributes(group, h5):
    """Writes attributes of every kind, few and many."""
    attrs = group.attrs
    attrs["text"] = "Titel é"
    attrs["bytes"] = b"bytes"
    attrs["texts"] = ["x", "yy"]
    attrs["number"] = 2.5
    attrs["array"] = np.arange(6, dtype="<i2").reshape(2, 3)
    attrs["empty"] = h5.Empty("<f4")
    attrs["records"] = records()
    attrs["bool"] = True
    attrs["reference"] = group.ref
    attrs["complex"] = 1 - 1j
    attrs.create("sequence", [np.arange(3), np.arange(2)], dtype=h5.vlen_dtype("<i4"))
    attrs["gone"] = 1
    attrs["text"] = "Titel ä"
    del attrs["gone"]
    attrs["dense"] = np.zeros(1)
    del attrs["dense"]
    many = group.create_group("many")
    for index in range(40):
        many.attrs[f"a{index:02d}"] = index
    for index in range(0, 40, 4):
        del many.attrs[f"a{index:02d}"]
    ordered = group.create_dataset("ordered", data=1, track_order=True)
    for index in range(12):
        ordered.attrs[f"b{11 - index:02d}"] = index


def write_scales(group, h5):
    """Writes axes with labels and scales."""
    field = group.create_dataset("field", data=GRID, chunks=(7, 9))
    for axis, (name, size) in enumerate((("y", 40), ("x", 30))):
        group[name] = np.arange(size, dtype="<f8")
        group[name].make_scale(name)
        field.dims[axis].attach_scale(group[name])
        field.dims[axis].label = name
    group["second"] = np.arange(40)
    group["second"].make_scale()
    field.dims[0].attach_scale(group["second"])
    group["gone"] = np.arange(40)
    group["gone"].make_scale("gone")
    field.dims[0].attach_scale(group["gone"])
    field.dims[0].detach_scale(group["gone"])


def write_reused(group, h5):
    """Writes datasets into space that was freed before."""
    for _ in range(3):
        for index in range(20):
            group.create_dataset(f"d{index}", data=GRID + index, chunks=(7, 9), compression="gzip")
        for index in range(0, 20, 2):
            del group[f"d{index}"]
            group[f"d{index}"] = GRID[: index + 1]
        if _ < 2:
            for name in list(group):
                del group[name]


def write_copies(group, h5):
    """Copies a group with everything in it, and links objects after they were created."""
    source = group.create_group("source")
    source["data"] = GRID
    source["text"] = ["a", "bb"]
    source["reference"] = np.array([source["data"].ref], dtype=h5.ref_dtype)
    source["soft"] = h5.SoftLink("data")
    source.attrs["name"] = "source"
    group.copy("source", "copy")
    group.copy("source", "shallow", shallow=True)
    group.copy(source["data"], "other")
    unnamed = group.create_dataset(None, data=GRID)
    group["named_later"] = unnamed
    group.create_dataset(None, data=GRID)


def write_transactions(group, h5):
    """Writes a transaction that is committed, and one that is rolled back."""
    file = group.file
    group["before"] = GRID
    with contextlib.nullcontext() if h5 is h5py else file.transaction():
        group["kept"] = GRID + 1
        group.attrs["kept"] = 1
    with contextlib.suppress(KeyboardInterrupt):
        if h5 is not h5py:
            with file.transaction():
                group["undone"] = GRID
                group.attrs["undone"] = 1
                del group["kept"]
                raise KeyboardInterrupt
    group["after"] = GRID + 2


FEATURES = {
    function.__name__.removeprefix("write_"): function
    for function in (
        write_numbers,
        write_kinds,
        write_storage,
        write_filters,
        write_plugins,
        write_groups,
        write_attributes,
        write_scales,
        write_copies,
        write_reused,
        write_transactions,
    )
}


def write_file(path, h5, features=FEATURES, **options):
    """Writes a file with each feature in a group of its name."""
    with h5.File(path, "w", **options) as file:
        for name in features:
            FEATURES[name](file.create_group(name), h5)
    if isinstance(path, io.BytesIO):
        CHECKS.image(path.getvalue())
