"""The contestants that read: hyperslab and its peers, each called in its fastest way."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import OUR_NAME, OURS, Contestant

Use = Callable[[Any, int], Any]
"""Uses an opened dataset in a round, whose number is the second argument."""


def ours_module():
    return importlib.import_module("hyperslab")


def close_file(state: tuple[Any, Any]) -> None:
    state[0].close()


def with_dataset(use: Use) -> Use:
    """Returns a function that calls `use` with the dataset of a (file, dataset) pair."""
    return lambda state, turn: use(state[1], turn)


def ours(path: Path, use: Use, name: str = "d") -> Contestant:
    def opened():
        file = ours_module().File(path, "r")
        return file, file[name]

    return Contestant(OUR_NAME, with_dataset(use), opened, close_file, OURS)


def ours_into(path: Path, out: np.ndarray, threads: int) -> Contestant:
    return ours(path, lambda dataset, turn: dataset.read(out=out, threads=threads))


def ours_fresh(path: Path, threads: int) -> Contestant:
    return ours(path, lambda dataset, turn: dataset.read(threads=threads))


def h5py_contestants(path: Path, use: Use, threads: int, plugin: bool, name: str = "d") -> list[Contestant]:
    """Returns h5py, or with `plugin` h5py+hdf5plugin: with `threads` inside a Blosc chunk, and with one."""

    def opened():
        import h5py

        if plugin:
            import hdf5plugin  # noqa: F401  (registers its filters)
        file = h5py.File(path, "r")
        return file, file[name]

    if not plugin:
        return [Contestant("h5py", with_dataset(use), opened, close_file, threads="1 (it has no more)")]
    label = "h5py+hdf5plugin"
    contestants = [Contestant(label, with_dataset(use), opened, close_file, threads=f"{threads} inside a chunk")]
    if threads > 1:
        alone = {"BLOSC_NTHREADS": "1"}
        contestants.append(
            Contestant(f"{label}, 1 thread", with_dataset(use), opened, close_file, threads="1", environment=alone)
        )
    return contestants


def h5py_into(path: Path, out: np.ndarray, threads: int, plugin: bool) -> list[Contestant]:
    def use(dataset, turn):
        dataset.read_direct(out)
        return out

    return h5py_contestants(path, use, threads, plugin)


def h5py_fresh(path: Path, threads: int, plugin: bool) -> list[Contestant]:
    return h5py_contestants(path, lambda dataset, turn: dataset[...], threads, plugin)


def h5py_answer(path: Path, use: Callable[[Any], Any] = lambda dataset: dataset[...], name: str = "d") -> Any:
    """Returns the result of h5py, which is the expected answer if the values have no formula."""
    import h5py
    import hdf5plugin  # noqa: F401  (registers its filters)

    with h5py.File(path, "r") as file:
        return use(file[name])


def pytables_into(path: Path, out: np.ndarray, threads: int) -> Contestant:
    def opened():
        import tables

        file = tables.open_file(str(path), "r", MAX_BLOSC_THREADS=threads)
        return file, file.root.d

    def use(dataset, turn):
        dataset.read(out=out)
        return out

    return Contestant("PyTables", with_dataset(use), opened, close_file, threads=f"{threads} inside a chunk")


def blosc2_contestant(path: Path, use: Use, threads: int) -> Contestant:
    def opened():
        import blosc2

        blosc2.set_nthreads(threads)
        return blosc2.open(str(path), mode="r", dparams={"nthreads": threads})

    return Contestant("python-blosc2", use, opened)


def blosc2_flat_into(path: Path, out: np.ndarray, threads: int) -> Contestant:
    """Reads a one-dimensional array through its super-chunk, which decodes into a given buffer."""

    def use(array, turn):
        array.schunk.get_slice(0, out.size, out=out)
        return out

    return blosc2_contestant(path, use, threads)


def zarr_contestant(name: str, pipeline: str, path: Path, use: Use, threads: int) -> Contestant:
    def opened():
        import zarr

        zarr.config.set(
            {
                "codec_pipeline.path": pipeline,
                "codec_pipeline.chunk_concurrent_maximum": threads,
                "threading.max_workers": threads,
            }
        )
        return zarr.open_array(str(path), mode="r")

    return Contestant(name, use, opened)


def zarrs_contestant(path: Path, use: Use, threads: int) -> Contestant:
    return zarr_contestant("zarr+zarrs", "zarrs.ZarrsCodecPipeline", path, use, threads)


def zarr_into(path: Path, out: np.ndarray, threads: int) -> list[Contestant]:
    """Returns zarr with the pipelines that it has: zarrs, and from 3.3 on its own fused one."""

    def use(array, turn):
        from zarr.core.buffer.cpu import NDBuffer

        array.get_basic_selection(..., out=NDBuffer(out))
        return out

    fused = "zarr.core.codec_pipeline.FusedCodecPipeline"
    return [zarrs_contestant(path, use, threads), zarr_contestant("zarr, fused", fused, path, use, threads)]


def tensorstore_contestant(path: Path, use: Use, threads: int) -> Contestant:
    def opened():
        import tensorstore

        limits = {name: {"limit": threads} for name in ("data_copy_concurrency", "file_io_concurrency")}
        store = {"driver": "file", "path": str(path)}
        return tensorstore.open({"driver": "zarr3", "kvstore": store, "context": limits}).result()

    return Contestant("tensorstore", use, opened)


def tensorstore_into(path: Path, out: np.ndarray, threads: int) -> Contestant:
    def use(store, turn):
        import tensorstore

        tensorstore.array(out).write(store).result()
        return out

    return tensorstore_contestant(path, use, threads)


def hidefix_fresh(path: Path, shape: tuple[int, ...]) -> Contestant:
    """hidefix. Building its index is not timed."""

    def opened():
        import hidefix

        return hidefix.Index(str(path)).dataset("d")

    everything = tuple(slice(0, n) for n in shape)
    return Contestant("hidefix", lambda dataset, turn: np.asarray(dataset[everything]), opened)


def thread_environment(threads: int) -> dict[str, str]:
    """Returns the environment that sets the number of threads; libraries read it when they are loaded."""
    names = (
        "HYPERSLAB_THREADS",
        "BLOSC_NTHREADS",
        "BLOSC2_NTHREADS",
        "RAYON_NUM_THREADS",
        "OMP_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
    )
    return {**os.environ, **dict.fromkeys(names, str(threads))}
