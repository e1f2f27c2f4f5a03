"""Files with structures that few writers use: messages that objects share in heaps of the file, cache images,
heaps of links with filters, names that are not UTF-8, links of types that a program defined.

libhdf5 writes the files, through functions that h5py does not have, and reads what hyperslab makes of them.
Every file is checked afterwards, with its reference counts (`soundness.py`).
"""

import ctypes
import random
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
from support import IS_H5PY, hs

pytestmark = pytest.mark.skipif(IS_H5PY, reason="compares hyperslab with h5py")

DATASPACE, DATATYPE, FILL, PIPELINE, ATTRIBUTE = 1 << 1, 1 << 3, 1 << 5, 1 << 11, 1 << 12
ALL = DATASPACE | DATATYPE | FILL | PIPELINE | ATTRIBUTE
# Types of messages and the least size of a shared one for each index, and the sizes at which an index becomes
# a tree and a list again.
SHARED = {
    "list": ([(ALL, 1)], (50, 40)),
    "tree": ([(ALL, 1)], (0, 0)),
    "several": ([(ATTRIBUTE, 20), (DATATYPE | DATASPACE, 1), (FILL | PIPELINE, 1)], (6, 4)),
}


@pytest.fixture(scope="module")
def lib():
    """The libhdf5 that h5py uses."""
    path = next((Path(h5py.__file__).parent.parent / "h5py.libs").glob("libhdf5-*.so*"))
    return ctypes.CDLL(str(path))


def call(function, id, *numbers):
    """Calls a function of libhdf5 whose other arguments are numbers."""
    assert function(ctypes.c_int64(id.id), *map(ctypes.c_uint, numbers)) >= 0


def created(path, fcpl=None, low=h5py.h5f.LIBVER_V18, image=None):
    """Creates a file with h5py's low-level functions."""
    fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    fapl.set_libver_bounds(low, h5py.h5f.LIBVER_LATEST)
    if image is not None:
        image(fapl)
    return h5py.File(h5py.h5f.create(bytes(path), h5py.h5f.ACC_TRUNC, fcpl, fapl))


def sharing(lib, path, which, low, attributes):
    """Writes a file whose objects share messages."""
    indexes, phases = SHARED[which]
    fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    call(lib.H5Pset_shared_mesg_nindexes, fcpl, len(indexes))
    for number, (types, size) in enumerate(indexes):
        call(lib.H5Pset_shared_mesg_index, fcpl, number, types, size)
    call(lib.H5Pset_shared_mesg_phase_change, fcpl, *phases)
    record = np.dtype([("a", "i4"), ("b", "f8"), ("longname", "i2", (3,))])
    with created(path, fcpl, low) as f:
        f["type"] = np.dtype("f4")
        for k in range(6):
            numbers = np.arange(20, dtype="i4").reshape(4, 5) + k
            chunked = {"chunks": (2, 5), "maxshape": (None, 5), "compression": "gzip", "shuffle": True}
            d = f.create_dataset(f"d{k}", data=numbers, fillvalue=7 + k % 2, **chunked)
            c = f.create_dataset(f"c{k}", data=np.zeros(3 + k % 2, record))
            for a in range(attributes):
                d.attrs[f"attr{a}"] = np.arange(10) + a
                c.attrs[f"attr{a}"] = np.arange(10) + a + k
            d.attrs.create("named", 3.5, dtype=f["type"])
            d.attrs["text"] = "text " * 5


def assert_same(path):
    """Asserts that hyperslab reads the file as h5py does, and that each shared message counts its uses."""
    assert not [finding for finding in hs.check(path) if "uses" in finding.message]
    with h5py.File(path) as theirs, hs.File(path) as ours:
        assert list(ours) == list(theirs)
        for name in theirs:
            a, b = theirs[name], ours[name]
            assert list(b.attrs) == list(a.attrs) and b.dtype == a.dtype
            for attribute in a.attrs:
                assert np.array_equal(b.attrs[attribute], a.attrs[attribute])
            if isinstance(a, h5py.Dataset):
                assert np.array_equal(b[()], a[()]) and b.maxshape == a.maxshape
                assert np.array_equal(b.fillvalue, a.fillvalue) and b.compression == a.compression


def objects(f):
    return [name for name in f if name[0] in "cd"]


def delete_two(f):
    del f["d0"], f["c5"]


def delete_all(f):
    for name in objects(f):
        del f[name]


def delete_attributes(f):
    for name in objects(f):
        for attribute in list(f[name].attrs):
            del f[name].attrs[attribute]


def change_in_place(f):
    for name in objects(f):
        if name[0] == "d":
            f[name].resize((9, 5))
        for attribute in list(f[name].attrs)[:2]:
            f[name].attrs[attribute] = np.arange(5.0)
        for number in range(12):
            f[name].attrs[f"new{number}"] = number


def copy_and_rename(f):
    f.copy("d1", "c_copied")
    f.copy("c1", "d_copied")
    f.move("d2", "d_moved")
    for name in ("d3", "c3"):
        for attribute in list(f[name].attrs)[:2]:
            f[name].attrs.rename(attribute, attribute + "x")


def change_at_random(f):
    choose = random.Random(3)
    for _ in range(100):
        name = choose.choice(objects(f))
        what, attributes = choose.random(), list(f[name].attrs)
        if what < 0.1 and len(objects(f)) > 3:
            del f[name]
        elif what < 0.6 and attributes:
            del f[name].attrs[choose.choice(attributes)]
        else:
            f[name].attrs[f"r{choose.randrange(40)}"] = np.arange(choose.randrange(50))


CHANGES = (delete_two, delete_all, delete_attributes, change_in_place, copy_and_rename, change_at_random)


@pytest.mark.parametrize("attributes", [3, 12])
@pytest.mark.parametrize("low", [h5py.h5f.LIBVER_EARLIEST, h5py.h5f.LIBVER_V18])
@pytest.mark.parametrize("which", SHARED)
def test_shared_messages(lib, tmp_path, which, low, attributes):
    source = tmp_path / "source.h5"
    sharing(lib, source, which, low, attributes)
    assert_same(source)
    for number, change in enumerate(CHANGES):
        path = shutil.copy(source, tmp_path / f"changed{number}.h5")
        with hs.File(path, "r+") as f:
            change(f)
        assert_same(path)
        # libhdf5 finds the messages that are left, and frees them.
        theirs = shutil.copy(path, tmp_path / f"theirs{number}.h5")
        with h5py.File(theirs, "r+") as f:
            for name in objects(f):
                f[name].attrs["theirs"] = np.arange(10)
                del f[name].attrs[list(f[name].attrs)[0]]
            for name in objects(f)[:1]:
                del f[name]
        assert_same(theirs)


class ImageConfiguration(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_int32),
        ("make", ctypes.c_bool),
        ("resize", ctypes.c_bool),
        ("age", ctypes.c_int32),
    ]


def with_image(lib, fapl):
    """Sets that closing a file leaves its metadata in an image of the cache."""
    configuration = ImageConfiguration(1, True, False, -1)
    assert lib.H5Pset_mdc_image_config(ctypes.c_int64(fapl.id), ctypes.byref(configuration)) >= 0


@pytest.mark.parametrize("user_block", [0, 1024])
def test_cache_images(lib, tmp_path, user_block):
    path = tmp_path / "f.h5"
    fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    fcpl.set_userblock(user_block)
    with created(path, fcpl, h5py.h5f.LIBVER_LATEST, lambda fapl: with_image(lib, fapl)) as f:
        for k in range(20):
            chunked = {"chunks": (10,), "maxshape": (None,), "compression": "gzip"}
            d = f.create_dataset(f"g{k % 5}/d{k}", data=np.arange(100) + k, **chunked)
            d.attrs["a"] = k
    before = path.read_bytes()
    assert b"MDCI" in before
    with hs.File(path) as f:
        for k in range(20):
            assert np.array_equal(f[f"g{k % 5}/d{k}"], np.arange(100) + k) and f[f"g{k % 5}/d{k}"].attrs["a"] == k
    assert path.read_bytes() == before
    with hs.File(path, "r+") as f:
        f["g0/new"] = [1, 2, 3]
        f["g1/d1"][5] = 77
        del f["g2"]
    with h5py.File(path) as f:
        assert list(f) == ["g0", "g1", "g3", "g4"] and list(f["g0/new"]) == [1, 2, 3]
        assert f["g1/d1"][5] == 77 and list(f["g3/d3"][:2]) == [3, 4]


@pytest.mark.damages
def test_a_damaged_cache_image_is_an_error(lib, tmp_path):
    path = tmp_path / "damaged.h5"
    with created(path, low=h5py.h5f.LIBVER_LATEST, image=lambda fapl: with_image(lib, fapl)) as f:
        f["d"] = np.arange(10)
    content = bytearray(path.read_bytes())
    content[content.index(b"MDCI") + 30] ^= 1
    path.write_bytes(content)
    with pytest.raises(OSError, match="cache image"):
        hs.File(path)


@pytest.mark.parametrize(("links", "long"), [(5, 0), (50, 2), (1500, 3)])
def test_heaps_with_filters_change(lib, tmp_path, links, long):
    path, deleted = tmp_path / "f.h5", tmp_path / "deleted.h5"
    with created(path) as f:
        gcpl = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
        call(lib.H5Pset_deflate, gcpl, 6)
        call(lib.H5Pset_link_phase_change, gcpl, 2, 1)
        g = h5py.Group(h5py.h5g.create(f.id, b"g", gcpl=gcpl))
        for k in range(links):
            g[f"link_number_{k}" + "x" * (k % 40)] = h5py.SoftLink("/g")
        for k in range(long):
            g[f"long{k}" + "y" * (5000 + k)] = h5py.SoftLink("/g")
        names = set(g)
    with hs.File(path, "r+") as f:
        g = f["g"]
        for name in sorted(names)[::3]:
            del g[name]
            names.remove(name)
        for name in [f"new{k}" + "z" * (k % 60) for k in range(300)] + ["newlong" + "y" * 6000]:
            g[name] = hs.SoftLink("/x")
            names.add(name)
    shutil.copy(path, deleted)
    with h5py.File(path, "r+") as f:
        assert set(f["g"]) == names
        for k in range(100):
            f[f"g/more{k}"] = h5py.SoftLink("/x")
            names.add(f"more{k}")
        for name in sorted(names)[::2]:
            del f["g"][name]
            names.remove(name)
    with hs.File(path) as f:
        assert set(f["g"]) == names
    with hs.File(deleted, "r+") as f:
        del f["g"]


@pytest.mark.parametrize(
    "options", [{"libver": "earliest"}, {"libver": "v108"}, {"libver": "latest", "track_order": True}]
)
def test_names_that_are_not_utf8(tmp_path, options):
    path = tmp_path / "f.h5"
    with h5py.File(path, "w", **options) as f:
        f.create_group(b"caf\xe9")
        f.create_group(b"\xff\xfe").create_dataset("d", data=[1, 2])
        f["plain"], f["été"], f["\U0010feff"] = 1, 2, 3
        many = f.create_group("many")
        for k in range(20):
            many[b"\xe9%d" % k] = k
            many.attrs[b"\xb0%d" % k] = k
        f["plain"].attrs[b"\xb5m"] = 1.5
    with h5py.File(path) as theirs, hs.File(path) as ours:
        assert list(ours) == list(theirs)
        assert list(ours["many"]) == list(theirs["many"]) and list(ours["many"].attrs) == list(theirs["many"].attrs)
        a, b = [], []
        theirs.visit(a.append)
        ours.visit(b.append)
        assert a == b and ours[b"\xff\xfe/d"].name == theirs[b"\xff\xfe/d"].name
        assert ours["plain"].attrs[b"\xb5m"] == 1.5 and b"\xb5m" in ours["plain"].attrs and b"caf\xe9" in ours
        assert repr(ours[b"caf\xe9"]) == repr(theirs[b"caf\xe9"])
        assert ours["\U0010feff"][()] == 3 and ours["\U0010feff"].name == "/\U0010feff"
    with hs.File(path, "r+") as f:
        f.create_group(b"caf\xe8")
        del f[b"caf\xe9"], f["many"].attrs[b"\xb03"], f["many"][b"\xe97"]
        f.move(b"\xff\xfe", b"\xff")
        f.copy(b"\xff", b"\xfd")
        f[b"many/\xe9x"] = 7
        f["plain"].attrs[b"\xb6"] = 2
        f["soft"] = hs.SoftLink("/plain")
    with h5py.File(path) as f:
        assert {b"caf\xe8", b"\xff", b"\xfd"} < set(f) and b"caf\xe9" not in list(f)
        assert f[b"\xfd/d"][1] == 2 and f["plain"].attrs[b"\xb6"] == 2
        assert b"\xe9x" in list(f["many"]) and b"\xe97" not in list(f["many"])
        if options["libver"] != "earliest":
            assert f.id.links.get_info(b"caf\xe8").cset == h5py.h5t.CSET_ASCII


def test_an_undefined_fill_value_is_an_error(lib, tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as f:
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        lib.H5Pset_fill_value(ctypes.c_int64(dcpl.id), ctypes.c_int64(-1), None)
        h5py.h5d.create(f.id, b"d", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((3,)), dcpl=dcpl)
        with pytest.raises(RuntimeError, match="fill value is undefined"):
            _ = f["d"].fillvalue
    with hs.File(tmp_path / "f.h5") as f:
        with pytest.raises(RuntimeError, match="fill value is undefined"):
            _ = f["d"].fillvalue
        assert f["d"].shape == (3,)


def test_a_link_of_an_unknown_type(lib, tmp_path):
    with created(tmp_path / "f.h5") as f:
        f.create_group("g")
        fields = [("version", ctypes.c_int), ("kind", ctypes.c_int), ("comment", ctypes.c_char_p)]
        functions = [(name, ctypes.c_void_p) for name in ("create", "move", "copy", "follow", "delete", "query")]
        follow = ctypes.CFUNCTYPE(ctypes.c_int64)(lambda: -1)
        link_class = type("LinkClass", (ctypes.Structure,), {"_fields_": fields + functions})
        link_class = link_class(1, 187, b"test", follow=ctypes.cast(follow, ctypes.c_void_p))
        assert lib.H5Lregister(ctypes.byref(link_class)) >= 0
        assert (
            lib.H5Lcreate_ud(
                ctypes.c_int64(f.id.id), b"own", 187, b"data", ctypes.c_size_t(4), ctypes.c_int64(0), ctypes.c_int64(0)
            )
            >= 0
        )
        assert lib.H5Lunregister(187) >= 0
    with h5py.File(tmp_path / "f.h5") as theirs, hs.File(tmp_path / "f.h5") as ours:
        for f in (theirs, ours):
            assert list(f) == ["g", "own"] and "own" in f and f.get("own") is None
            with pytest.raises(KeyError, match="unable to find link class"):
                f["own"]
            with pytest.raises(TypeError, match="Unknown link type"):
                f.get("own", getlink=True)
    with hs.File(tmp_path / "f.h5", "r+") as f:
        f.move("own", "moved")
        del f["moved"]
