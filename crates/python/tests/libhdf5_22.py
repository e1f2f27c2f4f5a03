"""Writes data of variable length under filters with the libhdf5 that netCDF4's wheel brings (2.2 or later).

`python libhdf5_22.py FILE`: that library filters the ids of such data by every filter, also by mandatory
ones and by those that ask for the datatype first. h5py's library (2.0) refuses the first, and skips the
second.
"""

import ctypes as c
import sys
from importlib.metadata import files
from itertools import product
from pathlib import Path

N, CHUNK = 40, 16
TEXTS = [f"text {i}" * (i % 5) for i in range(N)]
SEQUENCES = [list(range(i, i + i % 4)) for i in range(N)]
OPTIONAL, MANDATORY = 1, 0
SHUFFLE, DEFLATE, FLETCHER32 = (2, ()), (1, (4,)), (3, ())
BLOSC, BLOSC2 = (32001, (0, 0, 0, 0, 5, 1, 0)), (32026, (0, 0, 0, 0, 5, 1, 1))
PIPELINES = {
    "deflate": [DEFLATE],
    "shuffle_deflate": [SHUFFLE, DEFLATE],
    "fletcher32": [FLETCHER32],
    "shuffle_deflate_fletcher32": [SHUFFLE, DEFLATE, FLETCHER32],
    "blosc": [BLOSC],
    "blosc2": [BLOSC2],
}
NAMES = [f"{kind}_{name}_{flag}" for kind, name, flag in product(("t", "s"), PIPELINES, (OPTIONAL, MANDATORY))]


class Sequence(c.Structure):
    """`hvl_t`: a length and a pointer."""

    _fields_ = (("len", c.c_size_t), ("p", c.c_void_p))


def library():
    """Loads libhdf5 of netCDF4's wheel, with the plugins of hdf5plugin."""
    [path] = [path for path in files("netCDF4") if path.name.startswith("libhdf5-")]
    # The plugins look for a library in the process, and importing hdf5plugin would bring that of h5py.
    found = c.CDLL(str(path.locate()), mode=c.RTLD_GLOBAL)
    found.H5open()
    numbers = [c.c_uint() for _ in range(3)]
    found.H5get_libversion(*map(c.byref, numbers))
    assert [number.value for number in numbers] >= [2, 2, 0], numbers
    plugins = next(path.locate().parent for path in files("hdf5plugin") if path.name.startswith("libh5blosc2"))
    found.H5PLprepend(str(plugins).encode())
    return found


def write(path):
    """Writes the datasets `NAMES`, and prints masks of the filters skipped in their first chunks."""
    lib = library()
    ids = c.c_int64
    for name in (
        "H5Fcreate",
        "H5Tcopy",
        "H5Tvlen_create",
        "H5Screate_simple",
        "H5Pcreate",
        "H5Dcreate2",
        "H5Dget_space",
    ):
        getattr(lib, name).restype = ids

    def known(name):
        return ids.in_dll(lib, f"{name}_g")

    def done(code):
        assert code >= 0
        return code if code == 0 else ids(code)

    size = (c.c_ulonglong * 1)(N)
    file = done(lib.H5Fcreate(str(path).encode(), 2, ids(0), ids(0)))
    space = done(lib.H5Screate_simple(1, size, None))
    text = done(lib.H5Tcopy(known("H5T_C_S1")))
    done(lib.H5Tset_size(text, c.c_size_t(-1)))
    whole = known("H5T_NATIVE_INT")
    rows = [(c.c_int * len(row))(*row) for row in SEQUENCES]
    kinds = {
        "t": (text, (c.c_char_p * N)(*(text.encode() for text in TEXTS))),
        "s": (done(lib.H5Tvlen_create(whole)), (Sequence * N)(*((len(row), c.addressof(row)) for row in rows))),
    }
    for (kind, (datatype, values)), (name, filters), flag in product(
        kinds.items(), PIPELINES.items(), (OPTIONAL, MANDATORY)
    ):
        plist = done(lib.H5Pcreate(known("H5P_CLS_DATASET_CREATE_ID")))
        done(lib.H5Pset_chunk(plist, 1, (c.c_ulonglong * 1)(CHUNK)))
        for number, options in filters:
            given = (c.c_uint * len(options))(*options)
            done(lib.H5Pset_filter(plist, number, flag, c.c_size_t(len(options)), given))
        full = f"{kind}_{name}_{flag}"
        made = done(lib.H5Dcreate2(file, full.encode(), datatype, space, ids(0), plist, ids(0)))
        done(lib.H5Dwrite(made, datatype, ids(0), ids(0), ids(0), values))
        offset, mask, address, stored = (c.c_ulonglong * 1)(), c.c_uint(), c.c_ulonglong(), c.c_ulonglong()
        done(lib.H5Dflush(made))
        where = done(lib.H5Dget_space(made))
        done(lib.H5Dget_chunk_info(made, where, c.c_ulonglong(0), offset, *map(c.byref, (mask, address, stored))))
        print(full, mask.value, stored.value)
        done(lib.H5Dclose(made))
    done(lib.H5Fclose(file))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
