"""Decodes chunks encoded by hyperslab with python-blosc2, hdf5plugin and PyTables.

The test `decode_undoes_encode` of `crates/filters/tests/blosc.rs` writes the chunks:

BLOSC_ENCODED=/tmp/encoded cargo test -p hyperslab-filters --test blosc decode_undoes_encode
python golden/make/blosc_check.py /tmp/encoded
"""

import pathlib
import sys
import tempfile

import blosc2
import h5py
import hdf5plugin
import numpy as np
import tables
from blosc_samples import fnv1a


def main():
    folder = pathlib.Path(sys.argv[1])
    chunks = (folder / "samples.bin").read_bytes()
    bad = count = 0
    hashes = {}
    with tempfile.TemporaryDirectory() as scratch, h5py.File(f"{scratch}/a.h5", "w") as file:
        for line in (folder / "samples.txt").read_text().splitlines():
            name, filter_id, size, shape, at, length, expected = line.split()
            stored = chunks[int(at) : int(at) + int(length)]
            shape = tuple(map(int, shape.split("x")))
            count += 1
            try:
                if filter_id == "32026":
                    opened = blosc2.schunk_from_cframe(stored, copy=True)
                    if "b2nd" in opened.meta:
                        opened = blosc2.ndarray_from_cframe(stored, copy=True)
                        assert opened.shape == shape
                        plain = opened[...].tobytes()
                    else:
                        plain = opened[:]
                else:
                    plain = blosc2.decompress2(stored)
                assert fnv1a(bytes(plain)) == int(expected, 16), "python-blosc2 decodes other bytes"
                options = (hdf5plugin.Blosc2 if filter_id == "32026" else hdf5plugin.Blosc)()
                datatype = f"u{size}" if int(size) in (1, 2, 4, 8) else f"V{size}"
                dataset = file.create_dataset(name, shape, datatype, chunks=shape, **options)
                dataset.id.write_direct_chunk((0,) * len(shape), stored)
                assert fnv1a(np.ascontiguousarray(dataset[...]).tobytes()) == int(expected, 16), (
                    "hdf5plugin decodes other bytes"
                )
                hashes[name] = int(expected, 16)
            except Exception as error:
                bad += 1
                print(name, filter_id, size, shape, repr(error))
        file.close()
        with tables.open_file(f"{scratch}/a.h5") as file:
            for name, expected in hashes.items():
                node = file.get_node("/", name)
                # PyTables does not read opaque types.
                if not isinstance(node, tables.UnImplemented) and fnv1a(node[...].tobytes()) != expected:
                    bad += 1
                    print(name, "PyTables decodes other bytes")
    print(count, "chunks,", bad, "wrong")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
