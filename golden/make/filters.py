"""Every filter of libhdf5, h5py and hdf5plugin that hyperslab supports, and some that it must refuse."""

import h5py
import hdf5plugin
import numpy as np
from common import call, dcpl, main

SHAPE, CHUNKS = (40, 25), (16, 10)
TYPES = ("u1", "<i2", "<i4", ">i4", "<f8")


def several(golden, name, index, types=TYPES, **options):
    """Writes datasets with the same filter and several types, with compressible data and with noise."""
    for kind in types:
        label = np.dtype(kind).name + ("_be" if kind.startswith(">") else "")
        golden.dataset(f"{name}_{label}", SHAPE, kind, pattern="steps", chunks=CHUNKS, index=index, **options)
    golden.dataset(f"{name}_noise", SHAPE, "<i4", pattern="mix", chunks=CHUNKS, index=index, **options)
    if "compound" not in name:
        pair = np.dtype([("a", "<i4"), ("b", "u1"), ("c", ">f8")])
        golden.dataset(f"{name}_compound", (50,), pair, chunks=(16,), index=index, **options)


def standard(golden, index):
    several(golden, "gzip", index, compression="gzip", compression_opts=6)
    several(golden, "gzip0", index, ("<i4",), compression="gzip", compression_opts=0)
    several(golden, "shuffle", index, shuffle=True)
    several(golden, "fletcher32", index, fletcher32=True)
    several(golden, "shuffle_gzip", index, compression="gzip", shuffle=True)
    several(golden, "shuffle_gzip_fletcher32", index, compression="gzip", shuffle=True, fletcher32=True)
    several(golden, "lzf", index, compression="lzf")
    several(golden, "shuffle_lzf", index, compression="lzf", shuffle=True, fletcher32=True)
    # Odd sizes: a chunk with an odd number of bytes, elements of one and three bytes.
    golden.dataset("fletcher32_odd", (21,), "u1", chunks=(7,), index=index, fletcher32=True)
    golden.dataset("shuffle_s3", (21,), "S3", chunks=(7,), index=index, shuffle=True, compression="gzip")
    twice = dcpl(
        chunk=CHUNKS, filters=(lambda p: p.set_deflate(3), lambda p: p.set_shuffle(), lambda p: p.set_deflate(3))
    )
    golden.dataset("gzip_shuffle_gzip", SHAPE, "<i4", pattern="steps", chunks=CHUNKS, index=index, dcpl=twice)


def numbers(golden, index):
    """Writes datasets with filters that depend on the datatype, and with bzip2."""
    zfp = hdf5plugin.Zfp(reversible=True)
    for name, kinds, options in (
        ("szip", ("u1", "<i2", ">i4", "<f8"), {"compression": "szip"}),
        ("szip_entropy", ("<i2", "<f4"), {"compression": "szip", "compression_opts": ("ec", 16)}),
        ("scaleoffset", ("u1", "<i2", ">i4", "<i8"), {"scaleoffset": 0}),
        ("scaleoffset_fill", ("<i2", ">i4"), {"scaleoffset": 0, "fillvalue": 3}),
        ("zfp", ("<i4", "<i8", "<f4", "<f8"), {"compression": zfp}),
        ("bzip2", ("<i4",), {"compression": hdf5plugin.BZip2(), "shuffle": True}),
    ):
        for kind in kinds:
            label = f"{name}_{np.dtype(kind).name}"
            for pattern, end in (("steps", ""), ("mix", "_noise")):
                given = {"pattern": pattern, "chunks": CHUNKS, "index": index}
                golden.dataset(label + end, SHAPE, kind, **given, **options)
    # These filters lose digits, and bits that are not significant.
    lossy = golden.h5.create_dataset("scaleoffset_digits", SHAPE, "<f4", chunks=CHUNKS, scaleoffset=2)
    lossy[()] = np.arange(1000).reshape(SHAPE) / 7
    golden.note(lossy, index)
    twelve = h5py.h5t.STD_I16LE.copy()
    twelve.set_precision(12)
    plist = dcpl(chunk=(8,), filters=(lambda p: call("H5Pset_nbit", p.id),))
    d = golden.low("nbit", twelve, (20,), plist)
    d[()] = np.arange(20)
    golden.note(d, index)


def refused(golden, index):
    """Writes datasets with filters that hyperslab does not have."""
    for name, plugin in (("sz3", hdf5plugin.SZ3(absolute=0.5)), ("sperr", hdf5plugin.Sperr(rate=16))):
        golden.dataset(name, SHAPE, "<f4", pattern="steps", chunks=CHUNKS, index=index, compression=plugin)
        golden.datasets[-1]["refused"] = True


def plugins(golden, index):
    several(golden, "lz4", index, compression=hdf5plugin.LZ4())
    several(golden, "lz4_blocks", index, ("<i4",), compression=hdf5plugin.LZ4(nbytes=256))
    several(golden, "zstd", index, compression=hdf5plugin.Zstd())
    several(golden, "zstd22", index, ("<i4",), compression=hdf5plugin.Zstd(clevel=22))
    for codec in ("none", "lz4", "zstd"):
        several(golden, f"bitshuffle_{codec}", index, compression=hdf5plugin.Bitshuffle(cname=codec))
        several(
            golden,
            f"bitshuffle_{codec}_blocks",
            index,
            ("<i4", "<f8"),
            compression=hdf5plugin.Bitshuffle(nelems=64, cname=codec),
        )


def blosc(golden, index):
    for codec in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        for shuffle in (0, 1, 2):
            several(
                golden,
                f"{codec}_{shuffle}",
                index,
                ("u1", "<i4", "<f8"),
                compression=hdf5plugin.Blosc(cname=codec, clevel=5, shuffle=shuffle),
            )
    several(golden, "level0", index, ("<i4",), compression=hdf5plugin.Blosc(clevel=0))
    several(golden, "level9", index, ("<i4",), compression=hdf5plugin.Blosc(cname="zstd", clevel=9))


def blosc2(golden, index):
    for codec in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        for filters in (0, 1, 2, 3):  # none, shuffle, bitshuffle, delta
            several(
                golden,
                f"{codec}_{filters}",
                index,
                ("u1", "<i4", "<f8"),
                compression=hdf5plugin.Blosc2(cname=codec, clevel=5, filters=filters),
            )
    several(
        golden, "zstd_truncate_free", index, ("<f8",), compression=hdf5plugin.Blosc2(cname="zstd", clevel=1, filters=1)
    )
    for value, name in ((0, "zeros"), (7, "constant")):
        d = golden.h5.create_dataset(name, SHAPE, "<i4", chunks=CHUNKS, compression=hdf5plugin.Blosc2())
        d[()] = value
        golden.note(d, index)
    # More than one Blosc block in a chunk, in one and two dimensions (the n-D form has its own block shape).
    golden.dataset(
        "blocks_1d", (60000,), "<i4", pattern="steps", chunks=(30000,), index=index, compression=hdf5plugin.Blosc2()
    )
    golden.dataset(
        "blocks_2d", (200, 210), "<i4", pattern="steps", chunks=(120, 130), index=index, compression=hdf5plugin.Blosc2()
    )
    golden.dataset(
        "blocks_3d",
        (40, 50, 30),
        "<f4",
        pattern="steps",
        chunks=(20, 30, 30),
        index=index,
        compression=hdf5plugin.Blosc2(cname="lz4"),
    )
    golden.dataset(
        "rank5",
        (6, 5, 4, 5, 6),
        "<i2",
        pattern="steps",
        chunks=(3, 4, 3, 3, 5),
        index=index,
        compression=hdf5plugin.Blosc2(),
    )


def make(topic):
    for libver in ("earliest", "latest"):
        index = "btree1" if libver == "earliest" else "fixed_array"
        for name, fill in (
            ("filters", standard),
            ("plugins", plugins),
            ("blosc", blosc),
            ("blosc2", blosc2),
            ("number_filters", numbers),
            ("refused_filters", refused),
        ):
            if name == "blosc" and libver == "latest":
                continue
            with topic.file(f"{name}_{libver}.h5", libver) as golden:
                fill(golden, index)
    with topic.file("blosc_blocks.h5") as golden:
        for codec in ("blosclz", "lz4", "zstd"):
            for shuffle in (0, 1, 2):
                golden.dataset(
                    f"{codec}_{shuffle}",
                    (100003,),
                    "<i4",
                    pattern="steps",
                    chunks=(100003,),
                    index="btree1",
                    compression=hdf5plugin.Blosc(cname=codec, shuffle=shuffle),
                )
                golden.dataset(
                    f"{codec}_{shuffle}_noise",
                    (20003,),
                    "<f8",
                    chunks=(20003,),
                    index="btree1",
                    compression=hdf5plugin.Blosc(cname=codec, shuffle=shuffle),
                )


if __name__ == "__main__":
    main("filters", make)
