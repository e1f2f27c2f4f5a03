"""Reads and writes many strings of variable length."""

from functools import cache, partial

import data
import numpy as np
import writers
from common import LIMIT, OUR_NAME, OURS, Contestant, Group, Target, scaled
from peers import close_file, h5py_answer, h5py_contestants, ours, ours_module

TITLE = "strings of variable length, short (5 to 15 letters) and mixed (some not ASCII, some of 16 to 115)"
THREADS = (2,)
ONE = "1 (it has no more)"
READS = {
    "bytes": (2.0, lambda dataset: dataset[:]),
    "str": (2.0, lambda dataset: dataset.asstr()[:]),
    "StringDType": (8.0, lambda dataset: dataset.astype("T")[:]),
}


def values(kind: str, form: str, count: int | None = None) -> np.ndarray:
    texts = data.strings_values(kind, count)
    if form == "StringDType":
        return texts.astype(np.dtypes.StringDType())
    return np.array([text.encode() for text in texts], dtype=object) if form == "bytes" else texts


def creation(kind: str, form: str) -> Contestant:
    """Returns the limit of a read: NumPy creates the objects, or the file's bytes are read."""
    if form == "StringDType":
        path = data.strings(kind)

        def opened():
            return open(path, "rb", buffering=0), bytearray(path.stat().st_size // 2)

        return Contestant("file.readinto", lambda state, turn: state[0].readinto(state[1]), opened, close_file, LIMIT)
    fixed = values(kind, form).astype("S" if form == "bytes" else "U")
    name = f"creating {form} by NumPy"
    return Contestant(name, lambda state, turn: fixed.astype(object), kind=LIMIT, threads="1")


def making(module, array: np.ndarray):
    """Returns a function that writes the strings to a new file."""

    def make(path):
        with module().File(path, "w") as file:
            file.create_dataset("d", data=array, dtype=module().string_dtype())

    return make


def listed(module, texts: list, is_new: bool):
    """Returns a function that writes a list: as a new dataset without a dtype, or to chunks of a dataset."""

    def make(path):
        with module().File(path, "w") as file:
            if is_new:
                file.create_dataset("d", data=texts)
            else:
                dataset = file.create_dataset("d", (len(texts),), module().string_dtype(), chunks=(len(texts) // 10,))
                dataset[...] = texts

    return make


def h5py_module():
    import h5py

    return h5py


def plain_writes(count: int):
    """Returns a function that writes as many bytes as the file has: 48 for a string of 5 to 15 letters."""
    block = bytes(1 << 16)

    def make(path):
        with open(path, "wb", buffering=0) as file:
            for _ in range(count * 48 >> 16):
                file.write(block)

    return make


def groups(threads: int):
    set_threads = {"HYPERSLAB_THREADS": str(threads)}
    for kind in ("short", "mixed"):
        for name in ("contiguous", "chunks"):
            for form, (ratio, use) in READS.items():
                path = data.strings(kind)
                read = lambda dataset, turn, use=use: use(dataset)  # noqa: E731
                yield Group(
                    f"{kind}, {name}, read as {form}",
                    [
                        ours(path, read, name),
                        *h5py_contestants(path, read, 1, False, name),
                        creation(kind, form),
                    ],
                    [Target("h5py", ratio)],
                    cache(partial(values, kind, form)),
                    operations=data.strings_count(),
                    files=[path],
                    memory=form == "StringDType",
                )
    for kind, count in (("short", None), ("mixed", None), ("short", scaled(100_000, 1000))):
        for form in ("str", "StringDType"):
            array = values(kind, form, count)
            yield Group(
                f"{kind}, {len(array)} written from {form}",
                [
                    writers.writer(OUR_NAME, "ours.h5", making(ours_module, array), OURS, **set_threads),
                    writers.writer("h5py", "h5py.h5", making(h5py_module, array), threads=ONE),
                    writers.writer("plain writes", "plain", plain_writes(len(array)), LIMIT, threads="1"),
                ],
                [Target("h5py", 4.0)],
                lambda array=array: array.astype(object),
                operations=len(array),
                normal=partial(h5py_answer, use=lambda file: file.asstr()[:], name="d"),
            )
    array = values("short", "str", scaled(100_000, 1000))
    texts = array.tolist()
    for is_new, name in ((True, "create_dataset(data=)"), (False, "dataset[...] =, chunks")):
        yield Group(
            f"short, list of {len(texts)}, {name}",
            [
                writers.writer(OUR_NAME, "ours.h5", listed(ours_module, texts, is_new), OURS, **set_threads),
                writers.writer("h5py", "h5py.h5", listed(h5py_module, texts, is_new), threads=ONE),
                writers.writer("plain writes", "plain", plain_writes(len(texts)), LIMIT, threads="1"),
            ],
            [Target("h5py", 4.0)],
            lambda: array,
            operations=len(texts),
            normal=partial(h5py_answer, use=lambda file: file.asstr()[:], name="d"),
        )
