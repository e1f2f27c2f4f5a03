"""Reads and writes under the filters that know the datatype: scale-offset, N-bit, szip and ZFP."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import Any

import data
import numpy as np
import peers
import writers
from common import OUR_NAME, OURS, Contestant, Group, Target

TITLE = "(200,500,500) numbers in chunks (1,500,500) under scale-offset, N-bit, szip and ZFP, read and written"
THREADS = (1, 2)
RATIO = {1: 1.5, 2: 3.0}


def groups(threads: int):
    import hdf5plugin

    ours = peers.ours_module()
    target = [Target("h5py", RATIO[threads])]
    integers, floats = data.number_values("i4"), data.number_values("f4")
    for name, values, theirs, our in (
        ("scale-offset, int32", integers, {"scaleoffset": 0}, {"scaleoffset": 0}),
        ("scale-offset, float32", floats, {"scaleoffset": 2}, {"scaleoffset": 2}),
        ("szip, int32", integers, {"compression": "szip"}, {"compression": "szip"}),
        ("szip, float32", floats, {"compression": "szip"}, {"compression": "szip"}),
        ("ZFP rate 8", floats, {"compression": hdf5plugin.Zfp(rate=8)}, {"compression": ours.Zfp(rate=8)}),
        (
            "ZFP accuracy 0.01",
            floats,
            {"compression": hdf5plugin.Zfp(accuracy=0.01)},
            {"compression": ours.Zfp(accuracy=0.01)},
        ),
    ):
        chunked = {"chunks": data.NUMBERS_CHUNK}
        stem = "".join(letter if letter.isalnum() else "_" for letter in name)
        path = data.made(f"{stem}.h5", data.hdf5(lambda values=values: values, **chunked, **theirs))
        yield read(f"{name}, read", path, values, threads, target)
        yield Group(
            f"{name}, written",
            [writers.ours(values, **chunked, **our), writers.h5py(values, **chunked, **theirs)],
            target,
            cache(lambda path=path: peers.h5py_answer(path)),
            work_bytes=values.nbytes,
            normal=writers.read_back,
        )
    yield from n_bit(threads, target)


def read(name: str, path: Path, values: np.ndarray, threads: int, target: list[Target]) -> Group:
    out = np.empty_like(values)
    return Group(
        name,
        [peers.ours_into(path, out, threads), *peers.h5py_into(path, out, threads, plugin=True)],
        target,
        cache(lambda: peers.h5py_answer(path)),
        work_bytes=out.nbytes,
        scratch=[out],
        files=[path],
    )


def n_bit(threads: int, target: list[Target]):
    """Numbers of 12 bits. The datasets are there before, as NumPy has no such dtype."""
    import h5py

    values = data.number_values("u2")

    def into(module: Any):
        def write(path: Path) -> None:
            shutil.copyfile(data.twelve_bits(), path)
            with module.File(path, "r+") as file:
                file["d"][...] = values

        return write

    path = data.made("n_bit.h5", into(h5py))
    yield read("N-bit, 12 of 16 bits, read", path, values, threads, target)
    contestants: list[Contestant] = [
        writers.writer(OUR_NAME, "ours.h5", into(peers.ours_module()), OURS),
        writers.writer("h5py", "h5py.h5", into(h5py), threads="1 (it has no more)"),
    ]
    yield Group(
        "N-bit, 12 of 16 bits, written",
        contestants,
        target,
        lambda: values,
        work_bytes=values.nbytes,
        normal=writers.read_back,
    )
