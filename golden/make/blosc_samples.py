"""Blosc chunks made by python-blosc2 and by hdf5plugin, for `crates/filters/tests/blosc.rs`.

Writes the chunks one after the other to `samples.bin`, and a line for each chunk to `samples.txt`: name,
filter number, element size, chunk shape, offset, stored length, FNV-1a hash of the decoded bytes.

    python golden/make/blosc_samples.py golden/files/blosc          # the samples of the repository
    python golden/make/blosc_samples.py --all /tmp/samples          # every combination
"""

import argparse
import itertools
import os
import pathlib
import tempfile

import numpy as np

os.environ.setdefault("BLOSC_NTHREADS", "1")
import blosc2  # noqa: E402
import h5py  # noqa: E402
import hdf5plugin  # noqa: E402


def fnv1a(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


class Pack:
    def __init__(self):
        self.chunks, self.lines, self.offset = [], [], 0

    def add(self, name, filter_id, element_size, shape, stored, decoded):
        assert len(decoded) == element_size * int(np.prod(shape)), name
        shape = "x".join(map(str, shape))
        stored = bytes(stored)
        self.lines.append(
            f"{name} {filter_id} {element_size} {shape} {self.offset} {len(stored)} {fnv1a(decoded):016x}"
        )
        self.chunks.append(stored)
        self.offset += len(stored)

    def write(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "samples.bin").write_bytes(b"".join(self.chunks))
        (folder / "samples.txt").write_text("\n".join(self.lines) + "\n")
        print(len(self.lines), "samples,", self.offset, "bytes")


def values(kind: str, typesize: int, count: int) -> bytes:
    """Returns elements with runs, repetitions and noise in different bytes."""
    rng = np.random.default_rng(typesize * 1000 + count)
    if kind == "count":
        numbers = np.arange(count, dtype=np.uint64) * 3
    elif kind == "walk":
        numbers = np.cumsum(rng.integers(-3, 4, count)).astype(np.int64).view(np.uint64) + np.uint64(1 << 20)
    elif kind == "steps":
        numbers = np.repeat(rng.integers(0, 1 << 40, count // 37 + 1), 37)[:count].astype(np.uint64)
    else:
        numbers = rng.integers(0, 1 << 62, count).astype(np.uint64)
    raw = numbers.view(np.uint8).reshape(count, 8)
    out = np.zeros((count, typesize), np.uint8)
    for byte in range(typesize):
        out[:, byte] = raw[:, byte % 8] if byte < 8 or kind != "count" else byte
    return out.tobytes()


CODECS = ["BLOSCLZ", "LZ4", "LZ4HC", "ZLIB", "ZSTD"]
FILTERS = {
    "none": [],
    "shuffle": [("SHUFFLE", 0)],
    "bitshuffle": [("BITSHUFFLE", 0)],
    "delta": [("DELTA", 0)],
    "delta-shuffle": [("DELTA", 0), ("SHUFFLE", 0)],
    "delta-bitshuffle": [("DELTA", 0), ("BITSHUFFLE", 0)],
    "trunc-shuffle": [("TRUNC_PREC", 10), ("SHUFFLE", 0)],
    "shuffle2": [("SHUFFLE", 2)],
}


def super_chunks(pack, every):
    splits = ["ALWAYS_SPLIT", "NEVER_SPLIT", "AUTO_SPLIT", "FORWARD_COMPAT_SPLIT"]
    sizes = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 32, 255] if every else [1, 2, 4, 7, 8, 12, 16, 24]
    kinds = ["count", "walk", "steps", "noise"] if every else ["walk", "steps"]
    number = 0
    for codec, (name, filters), split, size in itertools.product(CODECS, FILTERS.items(), splits, sizes):
        if name.startswith("trunc") and size not in (4, 8):
            continue
        for kind in kinds:
            number += 1
            # The step has no common divisor with the lengths of the lists, so every value of each list is
            # used.
            if not every and number % 19:
                continue
            count = 700 if every else 300
            decoded = values(kind, size, count)
            level = (1, 3, 5, 9)[number % 4]
            cparams = blosc2.CParams(
                codec=blosc2.Codec[codec],
                clevel=level,
                typesize=size,
                filters=[blosc2.Filter[f] for f, _ in filters] or [blosc2.Filter.NOFILTER],
                filters_meta=[meta for _, meta in filters] or [0],
                splitmode=blosc2.SplitMode[split],
                blocksize=(128 if size < 16 else 40) * size,
                nthreads=1,
            )
            schunk = blosc2.SChunk(chunksize=len(decoded), data=decoded, cparams=cparams)
            back = schunk[:]
            if "trunc" not in name:
                assert back == decoded, (codec, name, split, size, kind)
            pack.add(
                f"frame-{codec}-{name}-{split}-{size}-{kind}-{level}".lower(),
                32026,
                size,
                (count,),
                schunk.to_cframe(),
                back,
            )


def special_chunks(pack):
    for special in ("ZERO", "NAN", "UNINIT", "VALUE"):
        for size in (4, 8):
            schunk = blosc2.SChunk(chunksize=1000 * size, cparams=dict(typesize=size, nthreads=1))
            value = (b"abcdefgh" * 2)[:size] if special == "VALUE" else None
            schunk.fill_special(1000, blosc2.SpecialValue[special], **({"value": value} if value else {}))
            decoded = schunk[:] if special != "UNINIT" else bytes(1000 * size)
            pack.add(f"special-{special}-{size}".lower(), 32026, size, (1000,), schunk.to_cframe(), decoded)
    for size, raw in ((4, np.zeros(1000, "i4")), (8, np.full(1000, np.nan)), (2, np.full(1000, 77, "u2"))):
        schunk = blosc2.SChunk(chunksize=raw.nbytes, data=raw, cparams=dict(typesize=size, nthreads=1))
        pack.add(f"constant-{size}", 32026, size, (1000,), schunk.to_cframe(), raw.tobytes())
    # A frame changed in place, whose first chunk is not at the offset that it has in a new frame.
    schunk = blosc2.SChunk(chunksize=4000, data=np.arange(1000, dtype="i4"), cparams=dict(typesize=4, nthreads=1))
    schunk.append_data(np.arange(1000, 2000, dtype="i4"))
    pack.add("first-of-two", 32026, 4, (1000,), schunk.to_cframe(), np.arange(1000, dtype="i4").tobytes())


def arrays(pack, every):
    shapes = [((10, 10), (4, 8)), ((1, 21, 20, 17), (1, 8, 8, 16)), ((33, 9), (7, 2)), ((3, 5, 7), (2, 2, 2))]
    kinds = [("i4", "walk"), ("f8", "noise"), ("u2", "steps"), ("u1", "walk")]
    number = 0
    for (shape, blocks), (dtype, kind), codec in itertools.product(shapes, kinds, CODECS):
        for filters in ([blosc2.Filter.SHUFFLE], [blosc2.Filter.BITSHUFFLE], []):
            number += 1
            if not every and number % 17:
                continue
            dtype = np.dtype(dtype)
            data = np.frombuffer(values(kind, dtype.itemsize, int(np.prod(shape))), dtype).reshape(shape)
            array = blosc2.asarray(
                data,
                chunks=shape,
                blocks=blocks,
                cparams=dict(codec=blosc2.Codec[codec], filters=filters, filters_meta=[0] * len(filters), nthreads=1),
            )
            name = f"array-{codec}-{'+'.join(f.name for f in filters)}-{dtype}-{kind}".lower()
            pack.add(name, 32026, dtype.itemsize, shape, array.to_cframe(), data.tobytes())
    zeros = blosc2.zeros((30, 40), dtype="i4", chunks=(30, 40), blocks=(8, 16))
    pack.add("array-zeros", 32026, 4, (30, 40), zeros.to_cframe(), bytes(4800))
    # c-blosc2 cannot read this array back, because the element size does not fit its headers.
    large = np.frombuffer(values("walk", 300, 24), "S300").reshape(4, 6)
    array = blosc2.asarray(large, chunks=(4, 6), blocks=(2, 4), cparams=dict(nthreads=1))
    pack.add("array-large-elements", 32026, 300, (4, 6), array.to_cframe(), large.tobytes())
    small = np.arange(100, dtype="i2").reshape(10, 10)
    padded = blosc2.asarray(small, chunks=(16, 12), blocks=(8, 4))
    pack.add("array-smaller-than-chunk", 32026, 2, (10, 10), padded.to_cframe(), small.tobytes())


def hdf5(pack, every):
    with tempfile.TemporaryDirectory() as folder:
        with h5py.File(f"{folder}/a.h5", "w") as file:
            number = 0
            for shape in ((50, 40), (1000,), (1, 12, 25, 13)):
                for dtype in ("i4", "f8", "u1", "i2"):
                    for one, cname, shuffle in itertools.product(
                        (hdf5plugin.Blosc, hdf5plugin.Blosc2),
                        ("blosclz", "lz4", "lz4hc", "zlib", "zstd"),
                        (0, 1, 2),
                    ):
                        number += 1
                        if not every and number % 17:
                            continue
                        key = "filters" if one is hdf5plugin.Blosc2 else "shuffle"
                        options = one(cname=cname, clevel=5, **{key: shuffle})
                        dtype = np.dtype(dtype)
                        data = np.frombuffer(values("walk", dtype.itemsize, int(np.prod(shape))), dtype)
                        dataset = file.create_dataset(str(number), data=data.reshape(shape), chunks=shape, **options)
                        mask, stored = dataset.id.read_direct_chunk((0,) * len(shape))
                        if mask:
                            continue
                        pack.add(
                            f"hdf5-{one.__name__}-{cname}-{shuffle}-{dtype}".lower(),
                            options.filter_id,
                            dtype.itemsize,
                            shape,
                            stored,
                            data.tobytes(),
                        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("folder")
    arguments = parser.parse_args()
    pack = Pack()
    super_chunks(pack, arguments.all)
    special_chunks(pack)
    arrays(pack, arguments.all)
    hdf5(pack, arguments.all)
    pack.write(arguments.folder)


if __name__ == "__main__":
    main()
