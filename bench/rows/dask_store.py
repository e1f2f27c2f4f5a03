"""Writes an array by blocks from four processes of Dask: a part for each process, or a file per chunk."""

import atexit
from pathlib import Path

import dask.array as da
import data
import hyperslab as hs
import numpy as np
import writers
from common import OUR_NAME, OURS, PEER, Contestant, Group, Target, scaled
from distributed import Client

TITLE = "2 GB of int32, (500,100,100,100) in chunks (1,100,100,100), by blocks of 64 MB from four workers of Dask"
# Of each worker, which is a process.
THREADS = (1,)
WORKERS = 4
ROWS = 16
CHUNKS = data.ND_CHUNK
CODEC, LEVEL = "lz4", 5


def shape() -> tuple[int, ...]:
    return (scaled(500, 4), 100, 100, 100)


def block(block_info=None) -> np.ndarray:
    """Returns the values of a block: 0, 1, 2, ... through the whole array."""
    (start, stop), *_ = block_info[None]["array-location"]
    size = int(np.prod(shape()[1:]))
    return np.arange(start * size, stop * size, dtype="i4").reshape(stop - start, *shape()[1:])


def array() -> da.Array:
    rows = shape()[0]
    step = min(ROWS, -(-rows // WORKERS))
    lengths = tuple(min(step, rows - start) for start in range(0, rows, step))
    return da.map_blocks(
        block, chunks=(lengths, *((side,) for side in shape()[1:])), dtype="i4", meta=np.empty(0, "i4")
    )


def use_zarrs(threads: int) -> None:
    import zarr

    zarr.config.set(
        {
            "codec_pipeline.path": "zarrs.ZarrsCodecPipeline",
            "codec_pipeline.chunk_concurrent_maximum": threads,
            "threading.max_workers": threads,
        }
    )


def store(path: Path) -> None:
    path.mkdir()
    hs.dask.store(array(), path / "a.h5", "d", chunks=CHUNKS, compression=hs.Blosc2(CODEC, LEVEL))


def store_as_one(path: Path) -> None:
    store(path)
    hs.dask.consolidate(path / "a.h5", remove_parts=True)


def store_zarr(path: Path) -> None:
    import zarr
    from zarr.codecs import BloscCodec

    compressor = BloscCodec(typesize=4, cname=CODEC, clevel=LEVEL, shuffle="shuffle")
    target = zarr.create_array(
        str(path), shape=shape(), chunks=CHUNKS, dtype="i4", compressors=[compressor], fill_value=0
    )
    # Blocks are whole chunks, so no lock is needed.
    da.store(array(), target, lock=False)


def contestant(name: str, file: str, make: writers.Make, kind: str) -> Contestant:
    return writers.writer(name, file, make, kind, threads=f"{WORKERS} workers")


def read_back(path: Path | None) -> np.ndarray | None:
    return writers.read_back(path / "a.h5" if path is not None and path.suffix == ".dask" else path)


def groups(threads: int):
    client = Client(n_workers=WORKERS, threads_per_worker=threads, processes=True, dashboard_address=None)
    atexit.register(client.close)
    client.run(use_zarrs, threads)
    use_zarrs(threads)
    yield Group(
        "Blosc2 LZ4",
        [
            contestant(OUR_NAME, "ours.dask", store, OURS),
            contestant("hyperslab, then one file", "one.dask", store_as_one, PEER),
            contestant("zarr+zarrs", "array.zarr", store_zarr, PEER),
        ],
        [Target("zarr+zarrs", 1.0)],
        lambda: np.arange(np.prod(shape()), dtype="i4").reshape(shape()),
        work_bytes=int(np.prod(shape())) * 4,
        memory=False,
        normal=read_back,
    )
