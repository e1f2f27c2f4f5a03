"""Files of PyTables: tables and arrays, plain and with Blosc, Blosc2 and indexes."""

import numpy as np
import pattern
import tables
from common import main

ROW = np.dtype([("id", "<i8"), ("value", "<f4"), ("name", "S10"), ("box", "<i2", (2, 3)), ("flag", "?")])


def note(path, shape, spell):
    return {"path": path, "shape": list(shape), "dtype": spell, "pattern": "mix"}


def make(topic):
    row_spell = "{id:<i8,value:<f4,name:|S10,box:(2,3)<i2,flag:|b1}"
    for label, filters in (
        ("plain", None),
        ("zlib", tables.Filters(5, "zlib", shuffle=True, fletcher32=True)),
        ("blosc", tables.Filters(5, "blosc:lz4")),
        ("blosc2", tables.Filters(5, "blosc2:zstd")),
        ("blosc2_bitshuffle", tables.Filters(9, "blosc2:lz4", shuffle=False, bitshuffle=True)),
    ):
        path = topic.out / f"pytables_{label}.h5"
        with tables.open_file(path, "w", title="golden", filters=filters) as f:
            rows = pattern.array("mix", ROW, (500,))
            table = f.create_table("/", "table", rows, title="a table", chunkshape=128, track_times=False)
            table.attrs.note = "an attribute"
            f.create_array(
                "/arrays", "array", pattern.array("mix", "<f8", (6, 7)), createparents=True, track_times=False
            )
            f.create_carray(
                "/arrays", "carray", obj=pattern.array("mix", "<i4", (50, 30)), chunkshape=(20, 20), track_times=False
            )
            earray = f.create_earray(
                "/arrays", "earray", tables.Int32Atom(), (0, 10), chunkshape=(16, 10), track_times=False
            )
            for part in np.split(pattern.array("mix", "<i4", (60, 10)), 4):
                earray.append(part)
            # HDF5 refuses filters on variable-length data since 1.14.
            vlarray = f.create_vlarray(
                "/arrays", "vlarray", tables.Int32Atom(), filters=tables.Filters(), track_times=False
            )
            for k in range(10):
                vlarray.append(pattern.sequence(k, "<i4"))
            objects = f.create_vlarray(
                "/arrays", "texts", tables.VLUnicodeAtom(), filters=tables.Filters(), track_times=False
            )
            for k in range(4):
                objects.append(pattern.words(k))
            f.create_soft_link("/", "soft", "/arrays/array")
            f.root._v_attrs.pickled = {"a": [1, 2]}
            f.root._v_attrs.number = 3
        topic.foreign(
            path,
            [
                note("/table", (500,), row_spell),
                note("/arrays/array", (6, 7), "<f8"),
                note("/arrays/carray", (50, 30), "<i4"),
                note("/arrays/earray", (60, 10), "<i4"),
                note("/arrays/vlarray", (10,), "vlen<i4"),
            ],
        )
    path = topic.out / "pytables_indexed.h5"
    with tables.open_file(path, "w") as f:
        table = f.create_table("/", "table", pattern.array("mix", ROW, (800,)), track_times=False)
        table.cols.id.create_csindex()
        table.cols.value.create_index()
    topic.foreign(path, [note("/table", (800,), row_spell)])


if __name__ == "__main__":
    main("pytables_files", make)
