"""Small files for the tests of objects: attributes, committed types, shared messages, odd heaps and links.

python golden/make/object_samples.py golden/files/object
"""

import ctypes
import os
import sys
from pathlib import Path

import h5py
import numpy as np
from common import LIB, LIBVER, call

OUT = Path(sys.argv[1])


TRAVERSE = ctypes.CFUNCTYPE(ctypes.c_int64)


class UserLink(ctypes.Structure):
    """`H5L_class_t`, with only a traversal function."""

    _fields_ = [
        ("version", ctypes.c_int),
        ("id", ctypes.c_int),
        ("comment", ctypes.c_char_p),
        ("create", ctypes.c_void_p),
        ("move", ctypes.c_void_p),
        ("copy", ctypes.c_void_p),
        ("traverse", TRAVERSE),
        ("delete", ctypes.c_void_p),
        ("query", ctypes.c_void_p),
    ]


def create(name, libver="latest", setup=None):
    """Creates a file without times, except in committed types and shared messages, which always have some."""
    path = OUT / name
    path.unlink(missing_ok=True)
    fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    fcpl.set_obj_track_times(False)
    if setup:
        setup(fcpl)
    fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    fapl.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    fapl.set_libver_bounds(LIBVER[libver], LIBVER["latest"])
    return h5py.File(h5py.h5f.create(os.fsencode(path), h5py.h5f.ACC_TRUNC, fcpl, fapl))


def group(file, path, order=False, attribute_order=False, deflate=False):
    """Creates a group with these creation properties."""
    gcpl = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
    gcpl.set_obj_track_times(False)
    flags = h5py.h5p.CRT_ORDER_TRACKED | h5py.h5p.CRT_ORDER_INDEXED
    if order:
        gcpl.set_link_creation_order(flags)
    if attribute_order:
        gcpl.set_attr_creation_order(flags)
    if deflate:
        LIB.H5Pset_deflate.argtypes = [ctypes.c_int64, ctypes.c_uint]
        call("H5Pset_deflate", gcpl.id, 6)
    return h5py.Group(h5py.h5g.create(file.id, path.encode(), gcpl=gcpl))


def dataset(parent, name, shape, dtype, **options):
    return parent.create_dataset(name, shape, dtype, track_times=False, **options)


def attributes(libver):
    """Compact and dense attributes of every kind of value, with and without creation order."""
    with create(f"attributes_{libver}.h5", libver) as f:
        few = f.create_group("few")
        few.attrs["zulu"] = np.int32(5)
        few.attrs["alpha"] = np.arange(6, dtype=">i2").reshape(2, 3)
        few.attrs["text"] = "grüße"
        few.attrs["fixed"] = np.bytes_(b"abc")
        few.attrs["empty"] = h5py.Empty("f4")
        few.attrs["reference"] = f["few"].ref
        few.attrs["strings"] = ["one", "", "three"]
        few.attrs["größe"] = 1.5
        ordered = group(f, "ordered", attribute_order=True)
        for name in ("c", "a", "b"):
            ordered.attrs[name] = name
        for path, order in (("many", False), ("many_ordered", True)):
            many = group(f, path, attribute_order=order)
            for i in range(60):
                many.attrs[f"attribute{i * 37 % 60:03}"] = np.int64(i)
        d = dataset(f, "data", (4,), "<f8")
        d.attrs["units"] = "K"
        if libver != "earliest":
            huge = f.create_group("huge")
            huge.attrs["small"] = 1
            huge.attrs["large"] = np.arange(9_000, dtype="<i8")  # over 64 KiB: a huge object of the heap


def committed():
    """Committed datatypes, used by datasets and attributes."""
    for libver in ("earliest", "latest"):
        with create(f"committed_{libver}.h5", libver) as f:
            f["number"] = np.dtype(">i4")
            f["record"] = np.dtype([("a", "<i2"), ("b", "<f8"), ("c", "S3")])
            f["number"].attrs["note"] = "a type may have attributes"
            dataset(f, "numbers", (3,), f["number"])[...] = [1, -2, 3]
            dataset(f, "records", (2,), f["record"])
            f["numbers"].attrs.create("typed", 7, dtype=f["number"])
            f["plain"] = np.int8(1)


def heaps():
    """Fractal heaps: with a filter, with huge and filtered huge objects."""
    with create("heaps.h5") as f:
        target = f.create_group("target")
        packed = group(f, "packed", order=True, deflate=True)
        for i in range(200):
            packed[f"link{i:03}"] = h5py.SoftLink("/target/" + "x" * 80 + str(i))
        packed["l" * 5000] = target
        for i in range(9):
            packed.attrs[f"attribute{i}"] = np.zeros(50, "<i4") + i
        packed.attrs["large"] = np.zeros(9_000, "<i8")
        plain = group(f, "plain")
        for i in range(300):
            plain[f"soft{i}"] = h5py.SoftLink("y" * (i * 7 % 400) + str(i))
        for i in range(5):
            plain[f"{i}" + "l" * 5000] = target  # enough huge objects for a B-tree


def references():
    """Object and region references, variable-length data."""
    with create("references.h5", "earliest") as f:
        data = dataset(f, "data", (10, 10), "<i4", data=np.arange(100, dtype="<i4").reshape(10, 10))
        objects = dataset(f, "objects", (3,), h5py.ref_dtype)
        objects[0], objects[1] = data.ref, f.create_group("group").ref
        regions = dataset(f, "regions", (2,), h5py.regionref_dtype)
        regions[0] = data.regionref[2:4, 3:9:2]
        texts = dataset(f, "texts", (4,), h5py.string_dtype())
        texts[:3] = ["first", "", "drittes ✓"]
        sequences = dataset(f, "sequences", (3,), h5py.vlen_dtype("<i2"))
        sequences[0], sequences[2] = [1, 2, 3], range(3000)
    with create("references_1_12.h5") as f:
        data = dataset(f, "data", (10, 10), "<i4")
        data.attrs["unit"] = "K"
        space = h5py.h5s.create_simple((10, 10))
        space.select_hyperslab((2, 3), (2, 3), stride=(1, 2))
        kind = ctypes.c_int64.in_dll(LIB, "H5T_STD_REF_g").value
        values = (ctypes.c_char * 64 * 4)()  # `H5R_ref_t`; the last stays null
        hid, text, value = ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p
        LIB.H5Rcreate_object.argtypes = [hid, text, hid, value]
        LIB.H5Rcreate_region.argtypes = [hid, text, hid, hid, value]
        LIB.H5Rcreate_attr.argtypes = [hid, text, text, hid, value]
        at = [ctypes.addressof(values) + 64 * i for i in range(4)]
        call("H5Rcreate_object", f.id.id, b"/data", 0, at[0])
        call("H5Rcreate_region", f.id.id, b"/data", space.id, 0, at[1])
        call("H5Rcreate_attr", f.id.id, b"/data", b"unit", 0, at[2])
        LIB.H5Dcreate2.restype = hid
        LIB.H5Dcreate2.argtypes = [hid, text, hid, hid, hid, hid, hid]
        of_four = h5py.h5s.create_simple((4,))
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_obj_track_times(False)
        made = call("H5Dcreate2", f.id.id, b"references", kind, of_four.id, 0, dcpl.id, 0)
        call("H5Dwrite", made, kind, 0, 0, 0, at[0])
        LIB.H5Dclose.argtypes = [hid]
        call("H5Dclose", made)


def shared():
    """Shared messages in the message heap of the file, as lists and B-trees."""

    def setup(fcpl):
        call("H5Pset_shared_mesg_nindexes", fcpl.id, 1)
        call("H5Pset_shared_mesg_index", fcpl.id, 0, 0x1F, 10)

    with create("shared_messages.h5", setup=setup) as f:
        for i in range(3):
            dataset(f, f"d{i}", (20, 30, 40), np.dtype([("a", "<i2"), ("b", "<f8"), ("c", "S3")]))


def links():
    """Links of every kind, including dangling and circular links."""
    with create("link_target.h5", "earliest") as f:
        dataset(f, "inside/values", (4, 3), "<f4")
        f["inside/back"] = h5py.SoftLink("/inside/values")
        f["inside/home"] = h5py.ExternalLink("links_latest.h5", "data")
    for libver in ("earliest", "latest"):
        with create(f"links_{libver}.h5", libver) as f:
            dataset(f, "data/numbers", (5,), "<i4")
            f["hard"] = f["data/numbers"]
            f["soft"] = h5py.SoftLink("/data/numbers")
            f["soft_group"] = h5py.SoftLink("data")
            f["data/beside"] = h5py.SoftLink("./numbers")
            f["soft_of_soft"] = h5py.SoftLink("soft_group/beside")
            f["dangling"] = h5py.SoftLink("/not/here")
            f["loop_a"] = h5py.SoftLink("/loop_b")
            f["loop_b"] = h5py.SoftLink("/loop_a")
            f["data/root"] = f["/"]
            f["external"] = h5py.ExternalLink("link_target.h5", "/inside/values")
            f["external_group"] = h5py.ExternalLink("link_target.h5", "inside")
            f["external_missing_file"] = h5py.ExternalLink("no_such_file.h5", "/x")
            f["external_missing_object"] = h5py.ExternalLink("link_target.h5", "/x")
            f["external_itself"] = h5py.ExternalLink(f"links_{libver}.h5", "/external_itself")
            f["type"] = np.dtype("<i4")
    with create("symbol_table.h5", "earliest", lambda fcpl: call("H5Pset_sym_k", fcpl.id, 2, 1)) as f:
        target = f.create_group("target")
        many = f.create_group("many")  # nodes of two links: a B-tree of several levels
        for i in range(60):
            many[f"link{i * 37 % 60:02}"] = h5py.SoftLink(f"/target{i}") if i % 5 == 0 else target
    with create("user_link.h5") as f:
        f.create_group("g")
        cls = UserLink(1, 187, b"test", None, None, None, TRAVERSE(lambda: -1), None, None)
        LIB.H5Lregister.argtypes = [ctypes.c_void_p]
        call("H5Lregister", ctypes.addressof(cls))
        LIB.H5Lcreate_ud.argtypes = [
            ctypes.c_int64,
            ctypes.c_char_p,
            ctypes.c_int,
            ctypes.c_char_p,
            ctypes.c_size_t,
            ctypes.c_int64,
            ctypes.c_int64,
        ]
        call("H5Lcreate_ud", f.id.id, b"user", 187, b"payload", 7, 0, 0)


attributes("earliest")
attributes("latest")
committed()
heaps()
references()
shared()
links()
