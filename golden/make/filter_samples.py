"""Writes crates/filters/tests/samples.txt: the stored bytes of chunks that h5py and hdf5plugin wrote.

A line is a sample: name, element size, filters (number:client data, joined by +), filter mask, decoded bytes,
stored bytes. The last two are hexadecimal. Run it with h5py and hdf5plugin installed: python
golden/make/filter_samples.py
"""

import pathlib
import sys

import h5py
import hdf5plugin
import numpy as np

OUT = pathlib.Path(__file__).parents[2] / "crates/filters/tests/samples.txt"


def values(count, dtype):
    """Returns values with slowly changing upper bytes, so that every codec compresses them.

    Neighbouring elements differ.
    """
    i = np.arange(count)
    return ((i * i // 3) % 1000 + i // 10).astype(dtype)


def noise(count):
    """Returns bytes that no codec compresses."""
    return np.random.default_rng(1).integers(0, 256, count, dtype=np.uint8)


bshuf = hdf5plugin.Bitshuffle
SAMPLES = {
    "gzip": (values(60, "<i4"), dict(compression="gzip", compression_opts=4)),
    "gzip-noise": (noise(90), dict(compression="gzip", compression_opts=9)),
    "shuffle": (values(37, "<i4"), dict(shuffle=True)),
    "shuffle-f8-gzip": (values(41, "<f8"), dict(shuffle=True, compression="gzip")),
    "shuffle-i2-gzip-fletcher": (values(75, "<i2"), dict(shuffle=True, compression="gzip", fletcher32=True)),
    "fletcher-odd": (values(51, "u1"), dict(fletcher32=True)),
    "fletcher-even": (values(60, "<u2"), dict(fletcher32=True)),
    "lzf": (values(200, "<i4"), dict(compression="lzf")),
    "lzf-shuffle": (values(200, "<i4"), dict(compression="lzf", shuffle=True)),
    "lzf-run": (np.zeros(700, "u1"), dict(compression="lzf")),
    "lzf-noise": (noise(90), dict(compression="lzf")),
    "lz4": (values(120, "<i4"), hdf5plugin.LZ4()),
    "lz4-blocks": (values(120, "<i4"), hdf5plugin.LZ4(nbytes=128)),
    "lz4-noise": (noise(90), hdf5plugin.LZ4(nbytes=40)),
    "zstd": (values(100, "<i4"), hdf5plugin.Zstd(clevel=5)),
    "zstd-negative": (values(100, "<i4"), hdf5plugin.Zstd(clevel=-3)),
    "zstd-shuffle": (values(100, "<i4"), dict(shuffle=True, **hdf5plugin.Zstd())),
    "bitshuffle": (values(61, "<i4"), bshuf(cname="none")),
    "bitshuffle-small-blocks": (values(61, "<i2"), bshuf(nelems=16, cname="none")),
    "bitshuffle-default-blocks": (values(300, "<f8"), bshuf(cname="none")),
    "bitshuffle-lz4": (values(205, "<i4"), bshuf(nelems=64, cname="lz4")),
    "bitshuffle-lz4-short": (values(5, "<i4"), bshuf(cname="lz4")),
    "bitshuffle-lz4-default-blocks": (values(1100, "<u8"), bshuf(cname="lz4")),
    "bitshuffle-zstd": (values(203, "<i2"), bshuf(nelems=48, cname="zstd", clevel=3)),
}


def main():
    lines = []
    for name, (array, options) in SAMPLES.items():
        with h5py.File("sample.h5", "w", driver="core", backing_store=False) as file:
            dataset = file.create_dataset("d", data=array, chunks=array.shape, **options)
            mask, stored = dataset.id.read_direct_chunk((0,))
            plist = dataset.id.get_create_plist()
            filters = [plist.get_filter(k) for k in range(plist.get_nfilters())]
            chain = "+".join(f"{number}:{','.join(map(str, data))}" for number, _, data, _ in filters)
            lines.append(f"{name} {array.itemsize} {chain} {mask} {array.tobytes().hex()} {stored.hex()}")
    OUT.write_text("\n".join(lines) + "\n")
    print(f"{OUT}: {len(lines)} samples", file=sys.stderr)


if __name__ == "__main__":
    main()
