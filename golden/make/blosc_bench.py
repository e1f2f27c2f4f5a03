"""Makes chunks for `cargo bench -p hyperslab-filters --bench decode -- FOLDER`, or times python-blosc2 on them.

    python golden/make/blosc_bench.py FOLDER            # makes them
    python golden/make/blosc_bench.py --time FOLDER     # decodes them in one thread
"""

import argparse
import pathlib
import tempfile
import time

import blosc2
import h5py
import hdf5plugin
import numpy as np


def cases():
    rng = np.random.default_rng(0)
    counting = np.arange(1_000_000, dtype="i4").reshape(1, 100, 100, 100)
    noisy = (np.sin(np.linspace(0, 400, 1_000_000)) + rng.normal(0, 1e-3, 1_000_000)).astype("f4")
    noisy = noisy.reshape(1, 100, 100, 100)
    for label, data in (("arange", counting), ("noisy", noisy)):
        for one in (hdf5plugin.Blosc, hdf5plugin.Blosc2):
            for codec in ("blosclz", "lz4", "zstd"):
                for filters in (0, 1, 2):
                    key = "filters" if one is hdf5plugin.Blosc2 else "shuffle"
                    yield f"{label}-{one.__name__}-{codec}-{filters}", data, one(cname=codec, clevel=5, **{key: filters})
        flat = data.ravel()
        for codec in ("blosclz", "lz4", "zstd"):
            yield f"{label}-flat-{codec}-1", flat, hdf5plugin.Blosc2(cname=codec, clevel=5, filters=1)
    yield "zeros", np.zeros_like(counting), hdf5plugin.Blosc2()


def make(folder):
    lines, chunks, at = [], [], 0
    with tempfile.TemporaryDirectory() as scratch, h5py.File(f"{scratch}/a.h5", "w") as file:
        for name, data, options in cases():
            dataset = file.create_dataset(name, data=data, chunks=data.shape, **options)
            mask, stored = dataset.id.read_direct_chunk((0,) * data.ndim)
            if mask:
                continue
            shape = "x".join(map(str, data.shape))
            lines.append(f"{name} {options.filter_id} {data.itemsize} {shape} {at} {len(stored)} 0")
            chunks.append(stored)
            at += len(stored)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "samples.bin").write_bytes(b"".join(chunks))
    (folder / "samples.txt").write_text("\n".join(lines) + "\n")


def best(run):
    start, least = time.perf_counter(), 1e9
    while time.perf_counter() - start < 0.4:
        before = time.perf_counter()
        run()
        least = min(least, time.perf_counter() - before)
    return least


def measure(folder):
    blosc2.set_nthreads(1)
    chunks = (folder / "samples.bin").read_bytes()
    for line in (folder / "samples.txt").read_text().splitlines():
        name, filter_id, size, shape, at, length, _ = line.split()
        stored = chunks[int(at) : int(at) + int(length)]
        shape = tuple(map(int, shape.split("x")))
        out = np.empty(shape, {"1": "u1", "4": "i4", "8": "i8"}[size])
        if filter_id == "32001":
            frame = f"{best(lambda: blosc2.decompress2(stored, dst=out)):.9f}"
        else:
            schunk = blosc2.schunk_from_cframe(stored, copy=False)
            if "b2nd" in schunk.meta:
                array = blosc2.ndarray_from_cframe(stored, copy=False)
                dparams = blosc2.DParams(nthreads=1)
                array.schunk.dparams = dparams
                whole = (slice(None),) * len(shape)
                frame = best(lambda: array.get_slice_numpy(out, (tuple([0] * len(shape)), shape))) \
                    if hasattr(array, "get_slice_numpy") else best(lambda: array[whole])
            else:
                schunk.dparams = blosc2.DParams(nthreads=1)
                frame = best(lambda: schunk.decompress_chunk(0, dst=out))
        print(f"{name:44} {out.nbytes / float(frame) / 1e9:12.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--time", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    (measure if arguments.time else make)(arguments.folder)


if __name__ == "__main__":
    main()
