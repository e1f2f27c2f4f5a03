"""A file that hyperslab writes is not larger than the file that libhdf5 writes with the same contents.

A case is a function of a path, of the module that writes, and of keywords for `File`. It runs with h5py and
with hyperslab.
"""

import h5py
import numpy as np
import pytest
from support import hs

LIBVERS = ("earliest", "v108", "v110", "latest")
NOISE = np.random.default_rng(7).integers(0, 200, 400_000, "u2")


def once(write):
    """Returns a case that opens its file once."""

    def case(path, h5, **options):
        with h5.File(path, "w", **options) as file:
            write(file, h5)

    return case


def in_turns(turns, first, then):
    """Returns a case that closes its file and opens it again, `turns` times."""

    def case(path, h5, **options):
        with h5.File(path, "w", **options) as file:
            first(file, h5)
        for turn in range(turns):
            with h5.File(path, "r+", **options) as file:
                then(file, turn)

    return case


def one_dataset(file, h5):
    file["a"] = np.arange(10.0)


def flat_groups(count):
    def write(file, h5):
        for index in range(count):
            file.create_group(f"g{index:03}")

    return write


def nested_groups(count):
    def write(file, h5):
        group = file
        for index in range(count):
            group = group.create_group(f"g{index:03}")

    return write


def groups_of_groups(file, h5):
    for outer in range(15):
        for inner in range(20):
            file.create_group(f"outer{outer}/inner{inner}")


def long_names(file, h5):
    for index in range(40):
        file[f"{'long' * 15}{index}"] = index


def small_datasets(count):
    def write(file, h5):
        for index in range(count):
            dataset = file.create_dataset(f"d{index:04}", data=np.arange(4.0) + index)
            dataset.attrs["number"] = index
            dataset.attrs["unit"] = "m"

    return write


def chunks(count, **options):
    def write(file, h5):
        data = NOISE[: count * 64]
        file.create_dataset("c", data=data, chunks=(64,), **options)

    return write


def chunks_in_two_dimensions(file, h5):
    options = {"chunks": (20, 20), "maxshape": (None, None), "compression": "gzip"}
    file.create_dataset("c", data=NOISE[:360_000].reshape(600, 600), **options)


def appended(file, h5):
    dataset = file.create_dataset("log", (0,), "u2", chunks=(64,), maxshape=(None,), compression="gzip")
    for turn in range(200):
        dataset.resize((turn + 1) * 32, 0)
        dataset[turn * 32 :] = NOISE[turn * 32 : (turn + 1) * 32]
        if turn % 10 == 9:
            file.flush()


def appended_side_by_side(file, h5):
    for turn in range(50):
        for name in "abcd":
            if turn == 0:
                file.create_dataset(name, (0,), "u2", chunks=(64,), maxshape=(None,))
            file[name].resize((turn + 1) * 64, 0)
            file[name][turn * 64 :] = NOISE[turn * 64 : (turn + 1) * 64]
        if turn % 10 == 9:
            file.flush()


def few_attributes(file, h5):
    for index in range(6):
        file.attrs[f"attribute{index}"] = index


def many_attributes(count):
    def write(file, h5):
        group = file.create_group("g")
        for index in range(count):
            group.attrs[f"attribute{index}"] = np.arange(index % 5 + 1)

    return write


def deleted_and_made_again(file, h5):
    for turn in range(4):
        for index in range(100):
            name = f"d{index}"
            if name in file:
                del file[name]
            file[name] = np.arange(20.0) + turn
    for index in range(0, 100, 3):
        del file[f"d{index}"]


def links(file, h5):
    file["a"] = 1
    for index in range(100):
        file[f"soft{index}"] = h5.SoftLink(f"/path/to/{index}")
        file[f"hard{index}"] = file["a"]


def texts(file, h5):
    file["texts"] = ["text" * (index % 20) for index in range(3000)]
    dataset = file.create_dataset("more", (500,), h5.string_dtype())
    for index in range(500):
        dataset[index] = f"number {index}"


def sequences(file, h5):
    dataset = file.create_dataset("s", (200,), h5.vlen_dtype("i4"))
    for index in range(200):
        dataset[index] = np.arange(index)


def compact_datasets(file, h5):
    for index in range(50):
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_layout(h5py.h5d.COMPACT)
        if h5 is h5py:
            space = h5py.h5s.create_simple((100,))
            name = f"c{index}".encode()
            dataset = h5py.Dataset(h5py.h5d.create(file.id, name, h5py.h5t.NATIVE_INT32, space, plist))
        else:
            dataset = file.create_dataset(f"c{index}", (100,), "i4", compact=True)
        dataset[...] = np.arange(100) + index


def large_beside_small(file, h5):
    for index in range(30):
        file[f"small{index}"] = index
        file[f"large{index}"] = NOISE[: 5000 + index]


def committed_types(file, h5):
    for index in range(30):
        file[f"t{index}"] = np.dtype([("a", "i4"), (f"b{index}", "f8")])


def tracked(file, h5):
    for index in range(30):
        group = file.create_group(f"g{index}", track_order=True)
        for name in "cab":
            group.create_dataset(name, data=1, track_order=True).attrs["x"] = 1


def append_group(file, turn):
    file.create_group(f"turn{turn}").attrs["turn"] = turn


def append_dataset(file, turn):
    file.create_dataset(f"turn{turn}", data=np.arange(4.0)).attrs["turn"] = turn


def append_rows(file, turn):
    dataset = file["log"]
    start = dataset.shape[0]
    dataset.resize(start + 64, 0)
    dataset[start:] = NOISE[start : start + 64]


def log(file, h5):
    file.create_dataset("log", (0,), "u2", chunks=(64,), maxshape=(None,), compression="gzip")


def change_attribute(file, turn):
    file["a"].attrs["state"] = "x" * turn


CASES = {
    "empty": once(lambda file, h5: None),
    "one dataset": once(one_dataset),
    "one group": once(flat_groups(1)),
    "10 groups": once(flat_groups(10)),
    "300 groups": once(flat_groups(300)),
    "10 nested groups": once(nested_groups(10)),
    "300 nested groups": once(nested_groups(300)),
    "groups of groups": once(groups_of_groups),
    "long names": once(long_names),
    "10 small datasets": once(small_datasets(10)),
    "1000 small datasets": once(small_datasets(1000)),
    "one chunk": once(chunks(1, compression="gzip")),
    "10 chunks": once(chunks(10, compression="gzip")),
    "5000 chunks": once(chunks(5000, compression="gzip")),
    "5000 chunks without filters": once(chunks(5000)),
    "5000 chunks that can grow": once(chunks(5000, compression="gzip", maxshape=(None,))),
    "10 chunks that can grow": once(chunks(10, maxshape=(None,))),
    "chunks in two dimensions": once(chunks_in_two_dimensions),
    "appended": once(appended),
    "appended side by side": once(appended_side_by_side),
    "few attributes": once(few_attributes),
    "20 attributes": once(many_attributes(20)),
    "2000 attributes": once(many_attributes(2000)),
    "deleted and made again": once(deleted_and_made_again),
    "links": once(links),
    "texts": once(texts),
    "sequences": once(sequences),
    "compact datasets": once(compact_datasets),
    "large beside small": once(large_beside_small),
    "committed types": once(committed_types),
    "tracked": once(tracked),
    "reopened for groups": in_turns(10, one_dataset, append_group),
    "reopened for datasets": in_turns(10, one_dataset, append_dataset),
    "reopened for rows": in_turns(10, log, append_rows),
    "reopened for attributes": in_turns(10, one_dataset, change_attribute),
}


@pytest.mark.soak
@pytest.mark.parametrize("libver", LIBVERS)
@pytest.mark.parametrize("name", CASES)
def test_a_file_is_not_larger_than_the_file_of_libhdf5(tmp_path, name, libver):
    ours, theirs = tmp_path / "ours.h5", tmp_path / "theirs.h5"
    CASES[name](ours, hs, libver=libver)
    CASES[name](theirs, h5py, libver=libver)
    limit = theirs.stat().st_size
    assert ours.stat().st_size <= max(limit * 1.01, limit + 512)
