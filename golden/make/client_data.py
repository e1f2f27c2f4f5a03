"""Prints the filter messages that h5py, hdf5plugin and PyTables store, for `crates/filters/tests/choice.rs`.

    python golden/make/client_data.py > crates/filters/tests/client_data.txt

Each line has the name, the element size, the size of the items of an element (different only for arrays), the
chunk shape, and for each filter its number, flags and client data.
"""

import tempfile
import warnings

import h5py
import hdf5plugin
import numpy as np
import tables

INT4 = h5py.h5t.NATIVE_INT32
INT2 = h5py.h5t.NATIVE_INT16
BYTES300 = h5py.h5t.py_create(np.dtype("S300"))
ARRAY = h5py.h5t.array_create(h5py.h5t.NATIVE_FLOAT, (3,))
B1, B2 = hdf5plugin.Blosc, hdf5plugin.Blosc2

ROWS = {
    "gzip-4+shuffle+fletcher": (
        INT4,
        (10, 20, 30),
        dict(compression="gzip", compression_opts=4, shuffle=True, fletcher32=True),
    ),
    "shuffle-array": (ARRAY, (10, 20), dict(shuffle=True)),
    "lzf": (INT4, (10, 20, 30), dict(compression="lzf")),
    "lzf-array": (ARRAY, (7, 5), dict(compression="lzf")),
    "lz4": (INT4, (64,), hdf5plugin.LZ4()),
    "lz4-4096": (INT4, (64,), hdf5plugin.LZ4(nbytes=4096)),
    "zstd-3": (INT4, (64,), hdf5plugin.Zstd()),
    "zstd--3": (INT4, (64,), hdf5plugin.Zstd(clevel=-3)),
    "bitshuffle-none-64": (INT2, (10, 300), hdf5plugin.Bitshuffle(nelems=64, cname="none")),
    "bitshuffle-lz4-0": (INT4, (10, 300), hdf5plugin.Bitshuffle()),
    "bitshuffle-lz4-0-array": (ARRAY, (10, 300), hdf5plugin.Bitshuffle()),
    "bitshuffle-zstd-5-0": (INT4, (10, 300), hdf5plugin.Bitshuffle(cname="zstd", clevel=5)),
    "blosc-lz4-5-shuffle": (INT4, (10, 20, 30), B1()),
    "blosc-zstd-3-bitshuffle": (INT2, (1000,), B1(cname="zstd", clevel=3, shuffle=2)),
    "blosc-blosclz-9-none": (INT4, (1000,), B1(cname="blosclz", clevel=9, shuffle=0)),
    "blosc-zlib-1-shuffle": (BYTES300, (10, 20, 30), B1(cname="zlib", clevel=1)),
    "blosc-lz4hc-1-shuffle": (ARRAY, (7, 5), B1(cname="lz4hc", clevel=1)),
    "blosc2-blosclz-5-shuffle": (INT4, (10, 20, 30), B2()),
    "blosc2-lz4-3-delta": (INT4, (10, 20), B2(cname="lz4", clevel=3, filters=B2.DELTA)),
    "blosc2-lz4hc-3-truncate": (h5py.h5t.NATIVE_FLOAT, (50,), B2(cname="lz4hc", clevel=3, filters=B2.TRUNC_PREC)),
    "blosc2-zlib-7-bitshuffle": (BYTES300, (2, 3, 4, 5), B2(cname="zlib", clevel=7, filters=B2.BITSHUFFLE)),
    "blosc2-zstd-9-none": (ARRAY, (7, 5), B2(cname="zstd", clevel=9, filters=B2.NOFILTER)),
    "blosc2-blosclz-1-shuffle-8d": (INT2, (2, 1, 3, 1, 2, 1, 2, 1), B2(clevel=1)),
    "blosc2-blosclz-1-shuffle-9d": (INT2, (2, 1, 3, 1, 2, 1, 2, 1, 2), B2(clevel=1)),
}


def print_row(name, datatype, dataset):
    plist = dataset.get_create_plist()
    item = datatype.get_super().get_size() if isinstance(datatype, h5py.h5t.TypeArrayID) else datatype.get_size()
    filters = [plist.get_filter(k) for k in range(plist.get_nfilters())]
    filters = " ".join(f"{id}:{flags}:{','.join(map(str, data))}" for id, flags, data, _ in filters)
    print(name, datatype.get_size(), item, "x".join(map(str, plist.get_chunk())), filters)


def main():
    with tempfile.TemporaryDirectory() as folder:
        with h5py.File(f"{folder}/h5py.h5", "w") as file:
            for name, (datatype, chunk, options) in ROWS.items():
                plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                plist = h5py._hl.filters.fill_dcpl(plist, chunk, np.dtype("i4"), chunk, **{**NOTHING, **dict(options)})
                space = h5py.h5s.create_simple(chunk)
                print_row(name, datatype, h5py.h5d.create(file.id, name.encode(), datatype, space, plist))
        with tables.open_file(f"{folder}/pytables.h5", "w") as file:
            for library, bits in (("zlib", 0), ("blosc", 0), ("blosc:zstd", 1), ("blosc2:lz4", 0), ("blosc2:zstd", 1)):
                filters = tables.Filters(complevel=5, complib=library, shuffle=not bits, bitshuffle=bool(bits))
                name = f"pytables-{library.replace(':', '-')}-{bits}"
                file.create_carray(
                    "/", name, tables.Int32Atom(), (10, 20, 30), filters=filters, chunkshape=(10, 20, 30)
                )
        with h5py.File(f"{folder}/pytables.h5") as file:
            for name, dataset in file.items():
                print_row(name, dataset.id.get_type(), dataset.id)


NOTHING = dict(
    compression=None, compression_opts=None, shuffle=None, fletcher32=None, maxshape=None, scaleoffset=None,
    external=None, allow_unknown_filter=False,
)  # fmt: skip

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
