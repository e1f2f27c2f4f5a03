"""The contestants that write: each creates a new file in its fastest way. Removing the file is not timed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import data
import numpy as np
from common import LIMIT, OUR_NAME, OURS, PEER, Contestant
from peers import h5py_answer, ours_module

Make = Callable[[Path], None]


def written(name: str) -> Path:
    """Returns the path for the file of a contestant."""
    return data.ROOT / "written" / name


def writer(name: str, file: str, make: Make, kind: str = PEER, threads: str = "", **environment: str) -> Contestant:
    """Returns a contestant that creates `file` in every round.

    Its answer is the path; the size is recorded.
    """
    path = written(file)
    size = 0

    def opened() -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove(path)
        return path

    def call(path: Path, turn: int) -> Path:
        make(path)
        return path

    def close(path: Path) -> None:
        nonlocal size
        size = size_of(path)
        remove(path)
        # Otherwise the disk would still write this file while the next one is created.
        os.sync()

    return Contestant(name, call, opened, close, kind=kind, threads=threads, environment=environment, size=lambda: size)


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def size_of(path: Path) -> int:
    """Returns the size in bytes of a file, or of all files in a directory."""
    return sum(part.stat().st_size for part in (path.rglob("*") if path.is_dir() else [path]) if part.is_file())


def ours(values: np.ndarray, compression: Any = None, **options: Any) -> Contestant:
    def make(path: Path) -> None:
        with ours_module().File(path, "w") as file:
            file.create_dataset("d", data=values, compression=compression, **options)

    return writer(OUR_NAME, "ours.h5", make, OURS)


def h5py(values: np.ndarray, label: str = "h5py", threads: str = "1 (it has no more)", **options: Any) -> Contestant:
    def make(path: Path) -> None:
        import h5py

        with h5py.File(path, "w", libver="latest") as file:
            file.create_dataset("d", data=values, **options)

    return writer(label, f"{label.replace(' ', '-')}.h5", make, threads=threads)


def pytables(values: np.ndarray, chunks: tuple[int, ...], complib: str, threads: int) -> Contestant:
    def make(path: Path) -> None:
        import tables

        filters = tables.Filters(complevel=5, complib=complib, shuffle=True)
        with tables.open_file(str(path), "w", MAX_BLOSC_THREADS=threads) as file:
            file.create_carray("/", "d", obj=values, chunkshape=chunks, filters=filters)

    return writer("PyTables", "pytables.h5", make, threads=f"{threads} inside a chunk")


def b2nd(values: np.ndarray, chunks: tuple[int, ...], codec: str, threads: int) -> Contestant:
    def make(path: Path) -> None:
        import blosc2

        parameters = {
            "codec": blosc2.Codec[codec],
            "clevel": 5,
            "filters": [blosc2.Filter.SHUFFLE],
            "nthreads": threads,
        }
        blosc2.set_nthreads(threads)
        blosc2.asarray(values, chunks=chunks, cparams=parameters, urlpath=str(path), mode="w", contiguous=True)

    return writer("python-blosc2", "array.b2nd", make)


def zarrs(values: np.ndarray, chunks: tuple[int, ...], codec: str, threads: int) -> Contestant:
    def make(path: Path) -> None:
        import zarr
        from zarr.codecs import BloscCodec

        zarr.config.set(
            {
                "codec_pipeline.path": "zarrs.ZarrsCodecPipeline",
                "codec_pipeline.chunk_concurrent_maximum": threads,
                "threading.max_workers": threads,
            }
        )
        compressor = BloscCodec(typesize=values.dtype.itemsize, cname=codec, clevel=5, shuffle="shuffle")
        array = zarr.create_array(
            str(path), shape=values.shape, chunks=chunks, dtype=values.dtype, compressors=[compressor], fill_value=0
        )
        array[...] = values

    return writer("zarr+zarrs", "array.zarr", make)


def tofile(values: np.ndarray) -> Contestant:
    """Writes the same bytes to the page cache in one call."""

    def make(path: Path) -> None:
        values.tofile(path)

    return writer("numpy.tofile", "raw.bin", make, threads="1")


def as_limit(contestant: Contestant) -> Contestant:
    contestant.kind = LIMIT
    return contestant


def read_back(path: Path | None) -> Any:
    """Returns the values of a file, read by h5py or by the library that wrote the file."""
    if path is None or not os.path.exists(path):
        return None
    if path.suffix == ".b2nd":
        import blosc2

        return blosc2.open(str(path), mode="r")[...]
    if path.suffix == ".zarr":
        import zarr

        return zarr.open_array(str(path), mode="r")[...]
    if path.suffix == ".bin":
        return None
    return h5py_answer(path)
