"""Writes the files that every probe gets a fresh copy of: `f.h5`, and `other.h5`, to which it has a link.

python fixture.py FOLDER...
"""

import shutil
import sys
from pathlib import Path

import h5py
import numpy as np


def write(folder):
    """Writes both files to a folder."""
    with h5py.File(folder / "other.h5", "w") as f:
        f["there"] = np.arange(4)
    with h5py.File(folder / "f.h5", "w") as f:
        _datasets(f)
        _strings(f)
        _special(f)
        _links(f)
        _attributes(f)


def _datasets(f):
    f["d"] = np.arange(12, dtype="<i4").reshape(3, 4)
    f["x"], f["y"] = np.linspace(0, 1, 4), np.arange(3) * 10.0
    f["big"] = np.arange(10_000, dtype="<f8").reshape(100, 100)
    f["scalar"], f["empty"], f["zero"] = 2.5, h5py.Empty("<f4"), np.zeros((0, 3), "<i2")
    f.create_dataset("k", data=np.arange(40, dtype="<i2").reshape(10, 4), chunks=(4, 3), maxshape=(None, 8))
    f.create_dataset(
        "z", data=np.arange(60, dtype=">f4").reshape(6, 10), chunks=(3, 5), compression="gzip", shuffle=True
    )
    f.create_dataset("fill", (4, 4), "<i8", chunks=(2, 2), maxshape=(None, None), fillvalue=-1)
    f.create_dataset("log", (0,), "<i4", chunks=(8,), maxshape=(None,))
    f["cube"] = np.arange(24, dtype="u1").reshape(2, 3, 4)


def _strings(f):
    f["words"], f["word"] = ["one", "", "drei ü"], "alone"
    f["fixed"] = np.array([b"ab", b"c", b""], "S4")
    f["utf8"] = np.array(["ä".encode(), b"b"], h5py.string_dtype("utf-8", 6))
    f.create_dataset("ascii", data=[b"x", b"yz"], dtype=h5py.string_dtype("ascii"))
    f.create_dataset("grid", data=np.array([["a", "b"], ["c", "d"]], object), dtype=h5py.string_dtype())


def _special(f):
    f["c"] = np.array([(1, 2.5, b"x"), (2, 3.5, b"y"), (3, 4.5, b"z")], [("a", "<i4"), ("b", "<f8"), ("s", "S2")])
    f["nested"] = np.array([(1, (2, 3.0)), (4, (5, 6.0))], [("n", "<i2"), ("in", [("p", "u1"), ("q", "<f4")])])
    f["arrays"] = np.array([([1, 2],), ([3, 4],)], [("pair", "<i4", (2,))])
    f["bool"], f["complex"] = np.array([True, False, True]), np.array([1 + 2j, 3 - 4j])
    f["half"], f["opaque"] = np.array([0.5, -2], "<f2"), np.array([b"\1\2", b"\3\4"], "V2")
    f.create_dataset("enum", data=np.array([0, 2, 1], "u1"), dtype=h5py.enum_dtype({"A": 0, "B": 1, "C": 2}, "u1"))
    ragged = f.create_dataset("ragged", (3,), h5py.vlen_dtype(np.dtype("<i4")))
    ragged[0], ragged[2] = [1, 2, 3], [4]
    f["when"] = np.array(["2024-07-01", "2024-07-02"], "M8[D]").astype(h5py.opaque_dtype("M8[D]"))
    refs = f.create_dataset("refs", (2,), h5py.ref_dtype)
    refs[0] = f["d"].ref
    regions = f.create_dataset("regions", (2,), h5py.regionref_dtype)
    regions[0] = f["d"].regionref[0:2, 1:3]
    f["named"] = np.dtype([("u", "<i4"), ("v", "<f4")])


def _links(f):
    f.create_group("g/sub/deep")
    f["g/n"] = np.arange(5)
    f["g"].attrs["of"] = "group"
    tracked = f.create_group("ordered", track_order=True)
    for name in "cab":
        tracked[name] = 1
    f["hard"], f["soft"], f["dangling"] = f["d"], h5py.SoftLink("/g/sub"), h5py.SoftLink("/nope")
    f["external"], f["lost"] = h5py.ExternalLink("other.h5", "/there"), h5py.ExternalLink("no.h5", "/x")
    f["scaled"] = np.ones((4, 3))
    f["x"].make_scale("x axis")
    f["y"].make_scale()
    f["scaled"].dims[0].attach_scale(f["x"])
    f["scaled"].dims[1].label = "row"


def _attributes(f):
    f.attrs["title"], f.attrs["number"], f.attrs["array"] = "a title", 5, np.arange(3.0)
    a = f["d"].attrs
    a["units"], a["names"], a["raw"] = "K", ["a", "bc"], np.bytes_(b"raw")
    a["empty"], a["flag"], a["complex"] = h5py.Empty("<f4"), True, 1 + 2j
    a["matrix"], a["ref"], a["big"] = np.arange(6, dtype="<i2").reshape(2, 3), f["g"].ref, np.float32(1.5)
    a.create("ragged", [np.array([1, 2]), np.array([3])], dtype=h5py.vlen_dtype("<i4"))
    a.create("enum", 1, dtype=h5py.enum_dtype({"A": 0, "B": 1}, "i1"))


if __name__ == "__main__":
    first, *others = map(Path, sys.argv[1:])
    write(first)
    for path in first.glob("*.h5"):
        for other in others:
            shutil.copy(path, other)
