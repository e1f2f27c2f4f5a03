"""Limits shown beside the contestants: the speed of the machine, or of only the codec."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
from common import LIMIT, Contestant


@cache
def pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


def share(threads: int, work: Callable[[int], object], count: int) -> None:
    """Calls `work(0)` to `work(count - 1)`, one at a time on each thread."""
    if threads == 1:
        for i in range(count):
            work(i)
    else:
        for _ in pool(threads).map(work, range(count)):
            pass


def memcpy(source: Callable[[], np.ndarray], out: np.ndarray, threads: int) -> Contestant:
    """Copies memory to warm memory in pieces of 4 MB."""

    def call(array, turn):
        flat, into, step = array.reshape(-1), out.reshape(-1), (4 << 20) // array.itemsize
        share(
            threads,
            lambda i: np.copyto(into[i * step : (i + 1) * step], flat[i * step : (i + 1) * step]),
            -(-flat.size // step),
        )
        return out

    return Contestant("memcpy", call, source, kind=LIMIT)


def readinto(path: Path, offset: Callable[[], int], out: np.ndarray, kind: str = LIMIT) -> Contestant:
    """`file.readinto` of as many bytes as `out` has."""

    def call(start, turn):
        view, done = memoryview(out.reshape(-1).view(np.uint8)), 0
        with path.open("rb", buffering=0) as file:
            file.seek(start)
            while done < len(view):
                done += file.readinto(view[done:])
        return out

    return Contestant("file.readinto", call, offset, kind=kind, threads="1")


def stored_chunks(path: Path) -> list[bytes]:
    """Returns the stored bytes of the chunks of dataset `d`, in order."""
    import h5py

    with h5py.File(path, "r") as file:
        dataset = file["d"]
        count = dataset.id.get_num_chunks()
        offsets = sorted(dataset.id.get_chunk_info(i).chunk_offset for i in range(count))
        return [dataset.id.read_direct_chunk(offset)[1] for offset in offsets]


@cache
def blosc2_payloads(path: Path) -> tuple[list[bytes], int]:
    """Returns the Blosc2 chunk in each stored frame, and the decoded size of a chunk in bytes."""
    import blosc2

    frames = [blosc2.schunk_from_cframe(stored) for stored in stored_chunks(path)]
    return [frame.get_chunk(0) for frame in frames], frames[0].nbytes


def c_blosc2(path: Path, out: np.ndarray, threads: int, kind: str = LIMIT) -> Contestant:
    """Decodes with only c-blosc2, one chunk on each thread, into the final place if chunks are consecutive.

    A multidimensional chunk is decoded in the order of its blocks, with padding, into a scratch array for
    each thread.
    """

    def prepared():
        import blosc2

        blosc2.set_releasegil(True)
        return blosc2_payloads(path)

    def call(state, turn):
        import blosc2

        payloads, size = state
        flat = out.reshape(-1).view(np.uint8)
        in_place = size * len(payloads) == flat.size
        scratch = None if in_place else [np.empty(size, np.uint8) for _ in range(threads)]

        def decode(i):
            if in_place:
                blosc2.decompress2(payloads[i], flat[i * size : (i + 1) * size], nthreads=1)
            else:
                for k in range(i, len(payloads), threads):
                    blosc2.decompress2(payloads[k], scratch[i], nthreads=1)

        share(threads, decode, len(payloads) if in_place else threads)
        return out

    return Contestant("c-blosc2 alone", call, prepared, kind=kind)


def inflate_alone(path: Path, threads: int) -> Contestant:
    """Inflates every stored chunk, with libdeflate if its package is installed, otherwise with zlib."""
    try:
        from deflate import zlib_decompress

        name = "libdeflate alone"

        def inflate(stored: bytes, size: int) -> object:
            return zlib_decompress(stored, size)
    except ImportError:
        import zlib

        name = "zlib alone"

        def inflate(stored: bytes, size: int) -> object:
            return zlib.decompress(stored, bufsize=size)

    @cache
    def chunks():
        return stored_chunks(path)

    def call(stored, turn):
        share(threads, lambda i: inflate(stored[i], 1_000_000), len(stored))

    return Contestant(name, call, chunks, kind=LIMIT)


def mapped_chunks(path: Path) -> dict[tuple[int, ...], np.ndarray]:
    """Returns the unfiltered chunks of dataset `d` as arrays in a mapping of the file."""
    import h5py

    with h5py.File(path, "r") as file, path.open("rb") as raw:
        dataset, views = file["d"], {}
        memory = mmap.mmap(raw.fileno(), 0, prot=mmap.PROT_READ)

        def view(info):
            views[info.chunk_offset] = np.ndarray(dataset.chunks, dataset.dtype, memory, info.byte_offset)

        dataset.id.chunk_iter(view)
    return views
