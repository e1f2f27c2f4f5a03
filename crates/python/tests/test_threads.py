"""Many threads use one file, one dataset and one attribute at the same time, and every result is right."""

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
    """Calls `work(number)` in all threads at the same time, and raises the exception of any thread."""
    barrier = threading.Barrier(THREADS)

    def start(number):
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return [future.result() for future in [pool.submit(start, i) for i in range(THREADS)]]


@pytest.mark.parametrize("name", ["contiguous", "gzip", "extensible", "btree2"])
def test_threads_that_share_a_dataset_read_their_own_selections(path, name):
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


def test_threads_that_share_a_file_open_objects_and_attributes_at_the_same_time(path):
    with hs.File(path, "r") as f:

        def work(number):
            for i in range(50):
                i = (i * 7 + number) % 50
                dataset = f[f"group/small{i}"]
                assert dataset.attrs["n"] == i and (dataset[:] == i).all()
            assert len(f["group"]) == 50 and "small7" in f["group"]
            assert f["texts"].asstr()[number] == f"text {number}"

        together(work)


def test_each_thread_can_open_and_close_the_file(path):
    def work(number):
        for _ in range(5):
            with hs.File(path, "r") as f:
                assert f["gzip"][number, 5] == number * 300 + 5

    together(work)


def test_closing_a_file_while_threads_read_gives_them_data_or_an_error(path):
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


@pytest.mark.parametrize("options", [{}, {"compression": "gzip"}], ids=["plain", "gzip"])
def test_threads_fill_the_columns_of_one_array(tmp_path, options):
    values = np.arange(1, 40_001, dtype="i4").reshape(200, 200)
    with hs.File(tmp_path / "f.h5", "w") as f:
        dataset = f.create_dataset("d", data=values, chunks=(16, 16), **options)
        columns = np.zeros((200, THREADS), dtype="i4")

        def work(number):
            dataset.read_direct(columns[:, number::THREADS], np.s_[:, number : number + 1])

        together(work)
        assert np.array_equal(columns, values[:, :THREADS])


@pytest.mark.parametrize("options", [{}, {"compression": "gzip"}], ids=["plain", "gzip"])
def test_a_read_during_a_resize_sees_a_single_shape(tmp_path, options):
    rows, values = 60, np.arange(1, 301, dtype="i4").reshape(60, 5)
    texts = np.array([f"row {k}" for k in range(rows)], dtype=object)
    records = np.zeros(rows, dtype=[("k", "i4"), ("x", "f8")])
    records["k"] = np.arange(1, rows + 1)
    with hs.File(tmp_path / "f.h5", "w") as f:
        for turn in range(4):
            numbers = f.create_dataset(f"n{turn}", data=values, maxshape=(None, 5), chunks=(7, 3), **options)
            words = f.create_dataset(f"t{turn}", data=texts, maxshape=(None,), chunks=(7,), dtype=hs.string_dtype())
            table = f.create_dataset(f"r{turn}", data=records, maxshape=(None,), chunks=(7,), **options)
            ways = (
                lambda d: d[:],
                lambda d: d[()],
                lambda d: np.asarray(d),
                lambda d: d.astype("f8")[...],
                lambda d: np.concatenate([d[:, :2], d[:, 2:]], axis=1) if d.shape[0] == 1 else d[:],
                *([] if IS_H5PY else [lambda d: d.read(), lambda d: d.read_many([np.s_[:]])[0]]),
            )

            def work(number, numbers=numbers, words=words, table=table, ways=ways):
                if number == 0:
                    for left in range(rows - 1, 0, -1):
                        for dataset in (numbers, words, table):
                            dataset.resize(left, axis=0)
                    return
                while True:
                    found = ways[number % len(ways)](numbers)
                    assert np.array_equal(found, values[: len(found)])
                    if number % 3 == 0:
                        strings = words.asstr()[:]
                        assert list(strings) == list(texts[: len(strings)])
                        picked = table["k"]
                        assert np.array_equal(picked, records["k"][: len(picked)])
                    if len(numbers) == 1:
                        return

            together(work)


def test_a_write_during_a_resize_uses_a_single_shape(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        numbers = f.create_dataset("n", shape=(30, 4), dtype="i4", maxshape=(None, None), chunks=(7, 3))
        words = f.create_dataset("t", shape=(30,), maxshape=(None,), chunks=(7,), dtype=hs.string_dtype())

        def work(number):
            for turn in range(60):
                if number % 3 == 0:
                    numbers.resize(10 + (turn + number) % 20, axis=0)
                    words.resize((10 + (turn + number) % 20,))
                elif number % 3 == 1:
                    numbers[...] = turn
                    words[:] = f"turn {turn}"
                else:
                    numbers[:, 0] = number
                    words[3] = "three"

        together(work)
        assert numbers.shape[1] == 4


def test_threads_that_resize_different_axes_do_not_undo_each_other(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        dataset = f.create_dataset("d", shape=(1,) * 4, dtype="i1", maxshape=(None,) * 4, chunks=(8,) * 4)

        def work(number):
            if number < 4:
                for size in range(1, 200):
                    dataset.resize(size, axis=number)

        together(work)
        assert dataset.shape == (199,) * 4


def test_strings_replaced_by_threads_are_read_as_old_or_new(tmp_path):
    record = np.dtype([("k", "i4"), ("text", hs.string_dtype()), ("list", hs.vlen_dtype("i4"))])
    with hs.File(tmp_path / "f.h5", "w") as f:
        plain = f.create_dataset("plain", shape=(6,), dtype=hs.string_dtype())
        chunked = f.create_dataset("chunked", shape=(6,), dtype=hs.string_dtype(), chunks=(4,))
        lists = f.create_dataset("lists", shape=(3,), dtype=hs.vlen_dtype("i4"))
        table = f.create_dataset("table", shape=(2,), dtype=record)
        filled = f.create_dataset("filled", shape=(THREADS + 1,), dtype=hs.string_dtype(), fillvalue="never")
        start = np.empty(2, dtype=record)
        start[:] = [(0, "0", np.arange(1, dtype="i4"))] * 2
        plain[:], chunked[:], lists[:], table[:] = "0", "0", [np.arange(1, dtype="i4")] * 3, start

        def work(number):
            for turn in range(25):
                text = str(number) * (1 + turn % 7)
                plain[:] = text
                chunked[number % 6] = text
                lists[number % 3] = np.full(1 + turn % 5, number, dtype="i4")
                table[number % 2] = (number, text, np.full(turn % 4, number, dtype="i4"))
                filled[number] = text
                assert len({*plain[:]}) == 1
                assert all(found.decode().isdigit() for found in chunked[:])
                assert all(len({*found.tolist()}) <= 1 for found in lists[:])
                k, words, numbers = table[number % 2]
                assert {*words.decode()} <= {*str(k)} and {*numbers.tolist()} <= {int(k)}

        together(work)
        assert filled.asstr()[THREADS] == "never"
    with h5py.File(tmp_path / "f.h5", "r") as f:
        assert f["filled"][THREADS] == b"never" and len({*f["plain"][:]}) == 1
        assert all(found.decode().isdigit() for found in f["chunked"][:])
        assert [k for k, *_ in f["table"][:]] == [
            int(text.decode()[0]) if k < 10 else k for k, text, _ in f["table"][:]
        ]
