"""Compares two open files object by object: links, attributes, properties, elements. h5py is the oracle."""

import h5py
import numpy as np
from support import IS_H5PY, assert_same, assert_same_dtype, hs, outcome, some, walk

PROPERTIES = (
    "shape",
    "size",
    "ndim",
    "nbytes",
    "chunks",
    "maxshape",
    "compression",
    "compression_opts",
    "shuffle",
    "fletcher32",
    "scaleoffset",
    "is_virtual",
    "is_scale",
    "name",
)
# Raised for types that h5py cannot read either (time, IEEE quadruple, complex half), and for features not
# supported.
REFUSALS = (NotImplementedError,)
# h5py 3.16 does not swap the bytes of big-endian variable-length sequences. h5dump agrees with the formulas.
WRONG_IN_H5PY = ("/sequences_be",)


def regions(dtype):
    """Returns whether a type has region references, which hyperslab may refuse to read."""
    if h5py.check_ref_dtype(dtype) is h5py.RegionReference:
        return True
    return any(regions(dtype[field]) for field in dtype.names or ())


def compare_attributes(ours, theirs, files):
    assert list(ours) == list(theirs)
    assert len(ours) == len(theirs)
    for name in theirs:
        kind, value = outcome(theirs.__getitem__, name)
        found_kind, found = outcome(ours.__getitem__, name)
        if kind == "raised":
            continue
        if found_kind == "raised" and isinstance(found, REFUSALS) and regions(theirs.get_id(name).dtype):
            continue
        assert found_kind == "value", f"attribute {name}: {found!r}"
        try:
            assert_same(found, value, files)
        except AssertionError as error:
            raise AssertionError(f"attribute {name}: {error}") from error
        assert name in ours


def compare_links(ours, theirs):
    assert list(ours) == list(theirs)
    assert len(ours) == len(theirs)
    for name in some(theirs):
        link, expected = ours.get(name, getlink=True), theirs.get(name, getlink=True)
        assert type(link).__name__ == type(expected).__name__
        for part in ("path", "filename"):
            if hasattr(expected, part):
                assert getattr(link, part) == getattr(expected, part)
        assert (
            ours.get(name, getlink=True, getclass=True).__name__
            == theirs.get(name, getlink=True, getclass=True).__name__
        )
        assert (name in ours) == (name in theirs)
        cls, expected = outcome(lambda: ours.get(name, getclass=True)), outcome(lambda: theirs.get(name, getclass=True))
        assert cls[0] == expected[0]
        if expected[0] == "value":
            assert getattr(cls[1], "__name__", None) == getattr(expected[1], "__name__", None), name


PYTABLES = (b"ARRAY", b"CARRAY", b"EARRAY", b"VLARRAY", b"TABLE")


def with_integers(dtype):
    """The dtype with integers of one byte in place of booleans."""
    if dtype.names is not None:
        fields = {"names": dtype.names, "formats": [with_integers(dtype[name]) for name in dtype.names]}
        fields["offsets"] = [dtype.fields[name][1] for name in dtype.names]
        return np.dtype(fields | {"itemsize": dtype.itemsize})
    if dtype.subdtype is not None:
        return np.dtype((with_integers(dtype.base), dtype.shape))
    return np.dtype("u1") if dtype.kind == "b" else dtype


def compare_dataset(ours, theirs, files, may_refuse):
    kind, dtype = outcome(lambda: theirs.dtype)
    if kind == "raised":  # h5py has no NumPy type for this: hyperslab may refuse as well, but must not crash
        outcome(lambda: ours.dtype)
        outcome(lambda: ours[()])
        return
    if regions(dtype):
        may_refuse = True
    found_kind, found = outcome(lambda: ours.dtype)
    if found_kind == "raised" and may_refuse:
        assert isinstance(found, REFUSALS), repr(found)
        return
    # Bitfields of PyTables' tables and arrays are booleans, and integers in h5py.
    is_pytables = theirs.attrs.get("CLASS") in PYTABLES
    assert_same_dtype(with_integers(ours.dtype) if is_pytables else ours.dtype, dtype)
    for name in PROPERTIES:
        expected = getattr(theirs, name)
        if name == "size" and theirs.shape is None:
            continue
        assert getattr(ours, name) == expected, f"{name}: {getattr(ours, name)} != {expected}"
    kind, fill = outcome(lambda: theirs.fillvalue)
    if kind == "value" and not regions(dtype):
        ours_fill = np.asarray(ours.fillvalue)
        assert_same(ours_fill.view(with_integers(ours_fill.dtype)) if is_pytables else ours_fill, np.asarray(fill))
    kind, expected = outcome(lambda: theirs[()])
    found_kind, found = outcome(lambda: ours[()])
    if found_kind == "raised" and may_refuse:
        assert isinstance(found, REFUSALS) or IS_H5PY, repr(found)
        return
    if kind == "raised":
        return
    assert found_kind == "value", repr(found)
    if is_pytables and isinstance(found, np.ndarray):
        found = found.view(with_integers(found.dtype))
    if has_undefined_fill(theirs) or theirs.name in WRONG_IN_H5PY:
        return
    assert_same(found, expected, files)


def has_undefined_fill(dataset):
    """Returns whether unwritten elements are undefined: whatever the disk or the memory had before."""
    plist = dataset.id.get_create_plist()
    return plist.get_layout() == h5py.h5d.CHUNKED and plist.get_fill_time() == h5py.h5d.FILL_TIME_NEVER


def compare_files(ours, theirs, refused=()):
    """Asserts that two files have equal trees, links, attributes and data.

    Reading a path in `refused` may be refused.
    """
    files = ours, theirs
    compare_attributes(ours.attrs, theirs.attrs, files)
    compare_links(ours, theirs)
    found, expected = dict(walk(ours)), dict(walk(theirs))
    assert list(found) == list(expected)
    for path, theirs_object in expected.items():
        ours_object = found[path]
        try:
            if isinstance(ours_object, hs.Dataset):
                # h5py has no classes for the datasets of PyTables.
                ours_object = hs.Dataset(ours_object.id)
            assert type(ours_object).__name__ == type(theirs_object).__name__
            assert ours_object.name == theirs_object.name
            compare_attributes(ours_object.attrs, theirs_object.attrs, files)
            if isinstance(theirs_object, h5py.Group):
                compare_links(ours_object, theirs_object)
            elif isinstance(theirs_object, h5py.Datatype):
                assert_same_dtype(ours_object.dtype, theirs_object.dtype)
            else:
                compare_dataset(ours_object, theirs_object, files, path in refused)
        except AssertionError as error:
            raise AssertionError(f"{path}: {error}") from error
