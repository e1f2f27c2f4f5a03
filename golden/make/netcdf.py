"""netCDF-4 files: dimension scales, unlimited dimensions, groups, strings, user-defined types."""

import netCDF4
import numpy as np
import pattern
from common import main


def note(path, array_shape, spell):
    return {"path": path, "shape": list(array_shape), "dtype": spell, "pattern": "mix"}


def make(topic):
    path = topic.out / "netcdf4.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF4") as f:
        f.title = "golden"
        f.createDimension("time", None)
        f.createDimension("lat", 5)
        f.createDimension("lon", 6)
        f.createDimension("no_variable", 3)
        for name, kind, size in (("time", "f8", 4), ("lat", "f4", 5), ("lon", "f4", 6)):
            v = f.createVariable(name, kind, (name,))
            v.units = "units of " + name
            v[:] = pattern.array("mix", kind, (size,))
        t = f.createVariable(
            "temperature", "i2", ("time", "lat", "lon"), zlib=True, shuffle=True, fletcher32=True, fill_value=-99
        )
        t.setncattr("valid_range", np.array([-100, 100], "i2"))
        t[:] = pattern.array("mix", "<i2", (4, 5, 6))
        s = f.createVariable("names", str, ("lat",))
        s[:] = np.array([pattern.words(k) for k in range(5)], object)
        g = f.createGroup("inner")
        g.createDimension("x", 7)
        x = g.createVariable("x", "i4", ("x",))
        x[:] = pattern.array("mix", "<i4", (7,))
        y = g.createVariable("both", "f8", ("x", "no_variable"), contiguous=True)
        y[:] = pattern.array("mix", "<f8", (7, 3))
        pair = np.dtype([("a", "<i4"), ("b", "<f8")])
        pair_type = f.createCompoundType(pair, "pair")
        c = f.createVariable("compound", pair_type, ("lat",))
        c[:] = pattern.array("mix", pair, (5,))
        ragged = f.createVLType(np.int32, "ragged")
        r = f.createVariable("sequences", ragged, ("lat",))
        for k in range(5):
            r[k] = pattern.sequence(k, "<i4")
        f.createVariable("scalar", "f4", ())[:] = 1.5
    topic.foreign(
        path,
        [
            note("/time", (4,), "<f8"),
            note("/lat", (5,), "<f4"),
            note("/temperature", (4, 5, 6), "<i2"),
            note("/names", (5,), "vlen:utf-8"),
            note("/inner/x", (7,), "<i4"),
            note("/inner/both", (7, 3), "<f8"),
            note("/sequences", (5,), "vlen<i4"),
        ],
    )
    path = topic.out / "netcdf4_classic.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF4_CLASSIC") as f:
        f.createDimension("x", None)
        v = f.createVariable("v", "f4", ("x",))
        v[:] = pattern.array("mix", "<f4", (9,))
    topic.foreign(path, [note("/v", (9,), "<f4")])


if __name__ == "__main__":
    main("netcdf", make)
