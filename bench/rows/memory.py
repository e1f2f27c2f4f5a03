"""Creates, reads back and computes on a compressed array in memory."""

from __future__ import annotations

from functools import cache

import data
import limits
import numpy as np
import peers
from common import OUR_NAME, OURS, Contestant, Group, Target

TITLE = "1.6 GB int32 as Blosc2 (BloscLZ, level 5) in memory: creating, reading into a warm array, computing"
THREADS = (2,)
EXPRESSION = "3*a+1"


@cache
def values() -> np.ndarray:
    return data.counting()


def by_us():
    hyperslab = peers.ours_module()
    file = hyperslab.File.in_memory()
    packed = hyperslab.Blosc2("blosclz")
    file.create_dataset("d", data=values(), chunks=data.FLAT_CHUNK, compression=packed)
    return file


def by_h5py(plugin: str):
    import h5py

    filters = {"Blosc1": data.blosc1_filter, "Blosc2": data.blosc2_filter}[plugin]("blosclz")
    file = h5py.File(f"{plugin}.h5", "w", driver="core", backing_store=False)
    file.create_dataset("d", data=values(), chunks=data.FLAT_CHUNK, **filters)
    return file


def blosc2_parameters(threads: int) -> dict:
    import blosc2

    packed = {"codec": blosc2.Codec.BLOSCLZ, "clevel": 5, "filters": [blosc2.Filter.SHUFFLE], "nthreads": threads}
    return {"cparams": packed, "dparams": {"nthreads": threads}}


def by_blosc2(threads: int):
    import blosc2

    blosc2.set_nthreads(threads)
    return blosc2.asarray(values(), chunks=data.FLAT_CHUNK, **blosc2_parameters(threads))


def decoded(made) -> np.ndarray:
    """Returns the values in what a contestant has created."""
    return made[...] if hasattr(made, "schunk") else made["d"][...]


def creating(threads: int) -> Group:
    return Group(
        "creating",
        [
            Contestant(OUR_NAME, lambda state, turn: by_us(), kind=OURS),
            Contestant("python-blosc2", lambda state, turn: by_blosc2(threads)),
            *h5py_contestants(lambda plugin: lambda state, turn: by_h5py(plugin), threads),
            limits.memcpy(values, np.empty_like(values()), threads),
        ],
        [Target("python-blosc2", 1.0), Target("h5py core, Blosc2", 4.0)],
        values,
        work_bytes=values().nbytes,
        memory=False,
        normal=decoded,
    )


def h5py_contestants(make, threads: int, opened=None) -> list[Contestant]:
    """Returns h5py with Blosc and Blosc2, with one thread inside a chunk and with `threads`."""
    return [
        Contestant(
            f"h5py core, {plugin}, {inside} thread{'s' * (inside > 1)}",
            make(plugin),
            opened(plugin) if opened else lambda: None,
            threads=f"{inside} inside a chunk",
            environment={"BLOSC_NTHREADS": str(inside)},
        )
        for plugin in ("Blosc1", "Blosc2")
        for inside in sorted({1, threads})
    ]


def reading(threads: int) -> Group:
    out = np.empty_like(values())
    ours, theirs = cache(by_us), cache(lambda: by_blosc2(threads))
    in_core = cache(by_h5py)

    def read_theirs(array, turn):
        array.schunk.get_slice(0, out.size, out=out)
        return out

    def read_h5py(file, turn):
        file["d"].read_direct(out)
        return out

    return Group(
        "reading back into a warm array",
        [
            Contestant(OUR_NAME, lambda file, turn: file["d"].read(out=out), ours, kind=OURS),
            Contestant("python-blosc2", read_theirs, theirs),
            *h5py_contestants(lambda plugin: read_h5py, threads, lambda plugin: lambda: in_core(plugin)),
            limits.memcpy(values, out, threads),
        ],
        [Target("python-blosc2", 1.0), Target("h5py core, Blosc2", 4.0)],
        values,
        work_bytes=out.nbytes,
        scratch=[out],
        memory=False,
    )


def computing(threads: int) -> Group:
    ours, theirs, in_core = cache(by_us), cache(lambda: by_blosc2(threads)), cache(by_h5py)

    def with_us(file, turn):
        hyperslab = peers.ours_module()
        target, d = hyperslab.File.in_memory(), file["d"]
        packed = hyperslab.Blosc2("blosclz")
        target.create_dataset("d", d.shape, d.dtype, chunks=d.chunks, compression=packed)
        hyperslab.Expr(EXPRESSION, a=d).eval(out=target["d"])
        return target

    def with_blosc2(array, turn):
        import blosc2

        return blosc2.lazyexpr(EXPRESSION, {"a": array}).compute(
            chunks=array.chunks, dtype=array.dtype, **blosc2_parameters(threads)
        )

    def with_h5py(file, turn):
        """Reads, computes and writes a chunk at a time."""
        import h5py

        source, target = file["d"], h5py.File("result.h5", "w", driver="core", backing_store=False)
        d = target.create_dataset(
            "d", source.shape, source.dtype, chunks=source.chunks, **data.blosc2_filter("blosclz")
        )
        for first in range(0, source.size, source.chunks[0]):
            d[first : first + source.chunks[0]] = 3 * source[first : first + source.chunks[0]] + 1
        return target

    return Group(
        f"computing {EXPRESSION} into a new array",
        [
            Contestant(OUR_NAME, with_us, ours, kind=OURS),
            Contestant("python-blosc2", with_blosc2, theirs),
            Contestant("h5py core, Blosc2, and NumPy", with_h5py, lambda: in_core("Blosc2"), threads="1"),
        ],
        [Target("python-blosc2", 1.0), Target("h5py core, Blosc2", 4.0)],
        lambda: 3 * values() + 1,
        work_bytes=2 * values().nbytes,
        memory=False,
        normal=decoded,
    )


def groups(threads: int):
    yield creating(threads)
    yield reading(threads)
    yield computing(threads)
