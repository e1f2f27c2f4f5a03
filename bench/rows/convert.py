"""Reads elements in another form than stored: another byte order, another type, one field of a compound."""

from functools import cache

import data
import numpy as np
import peers
from common import LIMIT, OUR_NAME, OURS, Contestant, Group, Target

TITLE = "200 MB in chunks of 4 MB, Blosc2 LZ4 + shuffle unless stated otherwise, converted into a warm array"
THREADS = (1, 2)


def ours_as(name: str, path, out: np.ndarray, threads: int, kind: str = OURS) -> Contestant:
    """Returns hyperslab reading into `out`, with conversion to its dtype."""
    made = peers.ours_into(path, out, threads)
    return Contestant(name, made.call, made.open, made.close, kind)


def one_field(dataset, turn):
    return dataset.fields("b")[...]


def groups(threads: int):
    count, records = data.convert_count(), data.record_count()
    integers, floats = np.empty(count, "i4"), np.empty(count, "f8")
    values, reals = cache(data.convert_values), cache(lambda: data.convert_values().astype("f8"))
    native, big = data.convert_stored("<i4"), data.convert_stored(">i4")
    yield Group(
        "big-endian int32 into native",
        [
            ours_as(OUR_NAME, big, integers, threads),
            ours_as("stored native", native, integers, threads, LIMIT),
            *peers.h5py_into(big, integers, threads, plugin=True),
        ],
        [Target("stored native", 1 / 1.3)],
        values,
        work_bytes=integers.nbytes,
        scratch=[integers],
        files=[big, native],
    )
    yield Group(
        "int32 into float64",
        [
            ours_as(OUR_NAME, native, floats, threads),
            ours_as("int32 wanted", native, integers, threads, LIMIT),
            *peers.h5py_into(native, floats, threads, plugin=True),
        ],
        [Target("int32 wanted", 1 / 2.7)],
        reals,
        work_bytes=floats.nbytes,
        scratch=[integers, floats],
        files=[native],
    )
    contiguous = data.convert_contiguous()
    yield Group(
        "contiguous big-endian int32 into native",
        [
            ours_as(OUR_NAME, contiguous, integers, threads),
            *peers.h5py_into(contiguous, integers, threads, plugin=False),
        ],
        [Target("h5py", {1: 1.5, 2: 2.5}[threads])],
        values,
        work_bytes=integers.nbytes,
        scratch=[integers],
        files=[contiguous],
    )
    table = data.records()
    whole = np.empty(records, data.RECORD)
    yield Group(
        "one float32 of a compound of 32 bytes",
        [
            peers.ours(table, one_field),
            *peers.h5py_contestants(table, one_field, threads, plugin=True),
        ],
        [Target("h5py+hdf5plugin", {1: 3.0, 2: 5.0}[threads])],
        lambda: data.record_values()["b"],
        work_bytes=4 * records,
        files=[table],
    )
    yield Group(
        "a whole compound of 32 bytes",
        [peers.ours_into(table, whole, threads), *peers.h5py_into(table, whole, threads, plugin=True)],
        [Target("h5py+hdf5plugin", {1: 1.5, 2: 2.5}[threads])],
        data.record_values,
        work_bytes=whole.nbytes,
        scratch=[whole.view("u1")],
        files=[table],
    )
