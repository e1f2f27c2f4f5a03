"""Floats of layouts that NumPy does not have are read as h5py reads them."""

import h5py
import numpy as np
import pytest
from h5py import h5d, h5s, h5t
from support import hs

VALUES = np.array([0, 1, -2.5, 3.14159, 1e-3, 65504, -1 / 3, np.inf, -np.inf, np.nan])


def changed(base, *changes):
    """Returns a copy of a datatype on which methods were called: name, arguments."""
    made = base.copy()
    for name, *arguments in changes:
        getattr(made, name)(*arguments)
    return made


EXTENDED = h5t.py_create(np.dtype(np.longdouble))
BIG = ("set_order", h5t.ORDER_BE)
LAYOUTS = {
    "extended, 16 bytes": EXTENDED,
    "extended, 16 bytes, big-endian": changed(EXTENDED, BIG),
    "extended, 12 bytes": changed(EXTENDED, ("set_size", 12)),
    "extended, 12 bytes, big-endian": changed(EXTENDED, ("set_size", 12), BIG),
    "extended, 10 bytes": changed(EXTENDED, ("set_size", 10)),
    "24 bits": changed(
        h5t.IEEE_F32LE,
        ("set_fields", 23, 16, 7, 0, 16),
        ("set_precision", 24),
        ("set_size", 3),
        ("set_ebias", 63),
    ),
    "single at bit 5 of 8 bytes": changed(h5t.IEEE_F32LE, ("set_size", 8), ("set_offset", 5)),
}


def written(path, datatype, values=VALUES):
    """Writes values as a datatype. libhdf5 converts them."""
    with h5py.File(path, "w") as file:
        dataset = h5d.create(file.id, b"d", datatype, h5s.create_simple(values.shape))
        dataset.write(h5s.ALL, h5s.ALL, values)


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_float_is_read_as_by_h5py(name, tmp_path):
    path = tmp_path / "f.h5"
    written(path, LAYOUTS[name])
    with h5py.File(path) as theirs, hs.File(path) as ours:
        expected = theirs["d"][:]
        assert ours["d"].dtype == expected.dtype
        np.testing.assert_array_equal(ours["d"][:], expected)
        np.testing.assert_array_equal(ours["d"].astype("f8")[:], expected.astype("f8"))


@pytest.mark.parametrize("name", ["extended, 16 bytes", "extended, 16 bytes, big-endian"])
def test_a_complex_number_of_extended_precision_has_the_values_that_were_written(name, tmp_path):
    """h5py 3.16 does not swap the bytes of the big-endian one: its own values are not read back."""
    path, part = tmp_path / "f.h5", LAYOUTS[name]
    pair = h5t.create(h5t.COMPOUND, 2 * part.get_size())
    pair.insert(b"r", 0, part)
    pair.insert(b"i", part.get_size(), part)
    values = (VALUES[:7] + 1j * VALUES[6::-1]).astype(np.clongdouble)
    written(path, pair, values)
    with h5py.File(path) as theirs, hs.File(path) as ours:
        assert ours["d"].dtype == theirs["d"].dtype
        np.testing.assert_array_equal(ours["d"][:], values)


def test_a_quadruple_is_refused_as_by_h5py(tmp_path):
    path = tmp_path / "f.h5"
    fields = ("set_size", 16), ("set_precision", 128), ("set_fields", 127, 112, 15, 0, 112), ("set_ebias", 16383)
    written(path, changed(h5t.IEEE_F64LE, *fields))
    with h5py.File(path) as theirs, hs.File(path) as ours:
        for file in (theirs, ours):
            with pytest.raises((TypeError, ValueError), match="Insufficient precision"):
                file["d"][:]
