"""Many threads read one file, one dataset and one attribute at a time, and every result is right."""

import threading
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy as np
import pytest
from support import IS_H5PY, hs

THREADS, ROUNDS = 12, 40


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("threads") / "f.h5"
    values = np.arange(200 * 300, dtype="<i4").reshape(200, 300)
    with h5py.File(path, "w", libver="latest") as f:
        for name, options in (
            ("contiguous", {}),
            ("gzip", {"chunks": (32, 64), "compression": "gzip", "shuffle": True}),
            ("extensible", {"chunks": (7, 300), "maxshape": (None, 300)}),
            ("btree2", {"chunks": (16, 16), "maxshape": (None, None)}),
        ):
            f.create_dataset(name, data=values, **options)
        for i in range(50):
            f.create_dataset(f"group/small{i}", data=np.full(3, i)).attrs["n"] = i
        f["texts"] = [f"text {i}" for i in range(300)]
    return path


def together(work):
    """Runs `work(thread number)` in all threads, started at the same moment; raises what any of them raised."""
    barrier = threading.Barrier(THREADS)

    def start(number):
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return [future.result() for future in [pool.submit(start, i) for i in range(THREADS)]]


@pytest.mark.parametrize("name", ["contiguous", "gzip", "extensible", "btree2"])
def test_threads_that_share_a_dataset_read_what_they_asked_for(path, name):
    values = np.arange(200 * 300, dtype="<i4").reshape(200, 300)
    with hs.File(path, "r") as f:
        dataset = f[name]

        def work(number):
            rng = np.random.default_rng(number)
            for _ in range(ROUNDS):
                top, left = rng.integers(0, 190), rng.integers(0, 290)
                box = np.s_[top : top + rng.integers(1, 60), left : left + rng.integers(1, 90)]
                assert np.array_equal(dataset[box], values[box])

        together(work)


def test_threads_that_share_a_file_open_objects_and_attributes_at_once(path):
    with hs.File(path, "r") as f:

        def work(number):
            for i in range(50):
                i = (i * 7 + number) % 50
                dataset = f[f"group/small{i}"]
                assert dataset.attrs["n"] == i and (dataset[:] == i).all()
            assert len(f["group"]) == 50 and "small7" in f["group"]
            assert f["texts"].asstr()[number] == f"text {number}"

        together(work)


def test_threads_may_each_open_and_close_the_file(path):
    def work(number):
        for _ in range(5):
            with hs.File(path, "r") as f:
                assert f["gzip"][number, 5] == number * 300 + 5

    together(work)


def test_closing_while_others_read_gives_them_data_or_an_error(path):
    if IS_H5PY:
        return
    values = np.arange(200 * 300, dtype="<i4").reshape(200, 300)
    for _ in range(5):
        f = hs.File(path, "r")

        def work(number):
            dataset_error = (ValueError, KeyError, OSError, RuntimeError)
            try:
                for row in range(0, 200, 9):
                    if number == 0 and row > 90:
                        f.close()
                        return
                    assert np.array_equal(f["gzip"][row], values[row])
            except dataset_error:
                assert not f

        together(work)
