"""The module under test, and comparisons between what it returns and what h5py returns."""

import importlib
import io
import os
import tomllib
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401  (registers its filters with h5py)
import numpy as np

# `HYPERSLAB_MODULE=h5py pytest` tests the tests: h5py must agree with itself.
hs = importlib.import_module(os.environ.get("HYPERSLAB_MODULE", "hyperslab"))
IS_H5PY = hs is h5py

REPOSITORY = Path(__file__).resolve().parents[3]
GOLDEN = REPOSITORY / "golden"
MANIFEST = tomllib.loads((GOLDEN / "MANIFEST.toml").read_text())
FILES = {entry["name"]: entry for entry in MANIFEST["file"]}
WHOLE_FILES = [name for name, entry in FILES.items() if not entry.get("damaged")]
DAMAGED_FILES = [name for name, entry in FILES.items() if entry.get("damaged")]


def image_of(write, libver=None, userblock_size=None):
    """Returns the bytes of a file that h5py wrote. (In a `BytesIO` h5py omits unwritten bytes at the end.)"""
    with h5py.File(
        "image.h5", "w", driver="core", backing_store=False, libver=libver, userblock_size=userblock_size
    ) as f:
        write(f)
        f.flush()
        return f.id.get_file_image()


def open_image(image):
    """Opens the bytes of a file with the module under test. h5py takes bytes only as a file object."""
    return hs.File(io.BytesIO(image), "r") if IS_H5PY else hs.File.from_bytes(image)


def outcome(function, *arguments):
    """Returns ("value", result) of a call, or ("raised", exception)."""
    try:
        return ("value", function(*arguments))
    except Exception as error:  # noqa: BLE001  (the class is the result)
        return ("raised", error)


def assert_same_dtype(ours, theirs):
    """Asserts that two types are equal as NumPy types and as special types of h5py."""
    assert ours == theirs, f"{ours} != {theirs}"
    text, expected = hs.check_string_dtype(ours), h5py.check_string_dtype(theirs)
    assert (text is None) == (expected is None), f"{ours}: string {text} != {expected}"
    if expected is not None:
        assert tuple(text) == tuple(expected)
    base, expected = hs.check_vlen_dtype(ours), h5py.check_vlen_dtype(theirs)
    assert (base is None) == (expected is None), f"{ours}: vlen {base} != {expected}"
    if isinstance(expected, np.dtype):
        assert_same_dtype(base, expected)
    assert hs.check_enum_dtype(ours) == h5py.check_enum_dtype(theirs)
    reference, expected = hs.check_ref_dtype(ours), h5py.check_ref_dtype(theirs)
    assert (reference and reference.__name__) == (expected and expected.__name__)
    for name in theirs.names or ():
        assert_same_dtype(ours[name], theirs[name])
    if theirs.subdtype is not None:
        assert_same_dtype(ours.subdtype[0], theirs.subdtype[0])


def assert_same(ours, theirs, files=None):
    """Asserts that two values have equal class, type, shape and contents.

    `files` are both open files, for references.
    """
    if isinstance(theirs, h5py.Empty):
        assert isinstance(ours, (hs.Empty, h5py.Empty))
        assert ours.dtype == theirs.dtype and ours.shape is None
    elif isinstance(theirs, np.ndarray):
        assert isinstance(ours, np.ndarray), f"{type(ours)}, not an array"
        assert ours.shape == theirs.shape
        assert_same_dtype(ours.dtype, theirs.dtype)
        assert_same_elements(ours, theirs, files)
    elif isinstance(theirs, (h5py.Reference, h5py.RegionReference)):
        assert bool(ours) == bool(theirs)
        if files is not None and theirs:
            assert files[0][ours].name == files[1][theirs].name
    elif isinstance(theirs, np.void):
        assert isinstance(ours, np.void)
        assert_same_dtype(ours.dtype, theirs.dtype)
        assert_same_elements(np.array(ours), np.array(theirs), files)
    elif isinstance(theirs, np.generic):
        assert type(ours) is type(theirs), f"{type(ours)} != {type(theirs)}"
        assert ours.tobytes() == theirs.tobytes() or (ours != ours and theirs != theirs), f"{ours} != {theirs}"
    else:
        assert type(ours) is type(theirs), f"{type(ours)} != {type(theirs)}"
        assert ours == theirs


def assert_same_elements(ours, theirs, files):
    """Asserts that two arrays of equal shape and type have equal elements."""
    if theirs.dtype.names:
        for name in theirs.dtype.names:
            assert_same_elements(ours[name], theirs[name], files)
    elif theirs.dtype.kind == "O":
        for a, b in zip(ours.ravel(), theirs.ravel(), strict=True):
            assert_same(a, b, files)
    elif theirs.dtype.kind == "V" or theirs.dtype.kind in "fc":
        np.testing.assert_array_equal(ours, theirs)
    else:
        assert np.array_equal(ours, theirs), f"{ours} != {theirs}"


def assert_same_outcome(function, *pairs, classes=True):
    """Asserts that `function` returns the same value or raises the same class for both lists of arguments."""
    (kind, ours), (expected_kind, theirs) = outcome(function, *pairs[0]), outcome(function, *pairs[1])
    assert kind == expected_kind, f"{ours!r} but h5py {expected_kind} {theirs!r}"
    if kind == "value":
        assert_same(ours, theirs)
    elif classes:
        assert isinstance(ours, public_class(theirs)), f"{ours!r} but h5py raised {theirs!r}"


def public_class(error):
    """Returns the class that a caller would catch. Subclasses of h5py count as their built-in base class."""
    for kind in (
        KeyError,
        IndexError,
        ValueError,
        TypeError,
        NotImplementedError,
        OSError,
        AttributeError,
        RuntimeError,
    ):
        if isinstance(error, kind):
            return kind
    return type(error)


def some(group):
    """Returns the names in a group, or some of them if the group is large."""
    names = list(group)
    return names if len(names) < 100 else names[:5] + names[5 : -5 : len(names) // 20] + names[-5:]


def walk(group, path="/"):
    """Yields (path, object) for every hard link below a group, and enters each group once.

    Soft and external links are not followed.
    """
    seen = set()

    def visit(group, path):
        for name in some(group):
            link = group.get(name, getlink=True)
            if type(link).__name__ != "HardLink":
                continue
            child = group[name]
            where = path.rstrip("/") + "/" + name
            yield where, child
            if type(child).__name__ == "Group":
                key = child.id.__hash__() if hasattr(child, "id") else where
                if key not in seen and where.count("/") < 12:
                    seen.add(key)
                    yield from visit(child, where)

    yield from visit(group, path)
