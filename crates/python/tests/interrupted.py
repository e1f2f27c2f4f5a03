"""Reads and writes that Ctrl-C ends, each in a process of its own: `python interrupted.py ROUTE FOLDER`.

Prints what part of the elements was read or written. A route that nothing shows to be under way is so long
that it would not end in the time that the test gives it.
"""

import contextlib
import faulthandler
import gc
import os
import signal
import sys
import threading
import time

import hyperslab as hs
import numpy as np

ROWS, WIDTH = 2000, 1 << 20


def press(is_under_way):
    """Presses Ctrl-C as soon as the work is under way."""

    def wait():
        deadline = time.monotonic() + 60
        while not is_under_way() and time.monotonic() < deadline:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait, daemon=True).start()


def ended(work, is_under_way):
    press(is_under_way)
    try:
        work()
        # A signal that comes after the work ends the pause.
        time.sleep(60)
    except KeyboardInterrupt:
        return
    sys.exit("no signal has come")


def soon():
    """Returns a function that tells whether the work has gone on for a while."""
    begin = time.monotonic() + 0.3
    return lambda: time.monotonic() > begin


def changes(path):
    """Returns a function that tells whether a file changes."""
    before = os.stat(path)
    return lambda: (os.stat(path).st_mtime_ns, os.stat(path).st_size) != (before.st_mtime_ns, before.st_size)


def chunked_file(folder):
    """A file of many chunks that take long to decode, and are all the same."""
    path = folder + "/chunked.h5"
    with hs.File(path, "w") as file:
        dataset = file.create_dataset("d", shape=(ROWS, WIDTH), dtype="i4", chunks=(1, WIDTH), compression="gzip")
        dataset[0] = np.arange(WIDTH) % 7
        mask, stored = dataset.id.read_direct_chunk((0, 0))
        for row in range(1, ROWS):
            dataset.id.write_direct_chunk((row, 0), stored, mask)
    return path


def chunks(folder, **keywords):
    path = chunked_file(folder)
    with hs.File(path, **keywords) as file:
        dataset = file["d"]
        out = np.full((ROWS, WIDTH // 1024), -1, "i4")
        ended(lambda: dataset.read_direct(out, np.s_[:, ::1024]), lambda: (out != -1).any())
        np.testing.assert_array_equal(dataset[5, :100], np.arange(100) % 7)
        return (out != -1).mean()


def chunks_by_io_uring(folder):
    return chunks(folder, driver="io_uring")


def chunks_in_mapped_memory(folder):
    return chunks(folder, driver="mmap")


def chunks_on_one_thread(folder):
    hs.set_threads(1)
    return chunks(folder)


def virtual(folder):
    source = chunked_file(folder)
    with hs.File(folder + "/virtual.h5", "w") as file:
        layout = hs.VirtualLayout((ROWS, WIDTH), "i4")
        for row in range(0, ROWS, 2):
            layout[row : row + 2] = hs.VirtualSource(source, "d", (ROWS, WIDTH))[row : row + 2]
        file.create_virtual_dataset("d", layout)
        dataset = file["d"]
        out = np.full((ROWS, WIDTH // 1024), -1, "i4")
        ended(lambda: dataset.read_direct(out, np.s_[:, ::1024]), lambda: (out != -1).any())
        return (out != -1).mean()


def contiguous(folder):
    with hs.File(folder + "/c.h5", "w") as file:
        dataset = file.create_dataset("d", shape=(200_000_000,), dtype="i4")
        dataset[-1] = 0
        out = np.full(dataset.shape[0] // 4, -1, "f8")
        ended(lambda: dataset.read_direct(out, np.s_[::4]), lambda: (out != -1).any())
        assert dataset[-1] == 0
        return (out != -1).mean()


def points(folder):
    with hs.File(folder + "/c.h5", "w") as file:
        dataset = file.create_dataset("d", shape=(100_000_000,), dtype="i4")
        dataset[-1] = 0
        where = np.arange(2_000_000) * 49 + np.arange(2_000_000) % 5
        out = np.full(where.shape, -1, "i4")
        ended(lambda: dataset.read_direct(out, where), lambda: (out != -1).any())
        return (out != -1).mean()


def expression(folder):
    with hs.File(folder + "/e.h5", "w") as file:
        dataset = file.create_dataset("d", shape=(10**13,), dtype="f8", chunks=(1000,))
        ended(lambda: hs.Expr("sum(d * 2)", d=dataset).eval(), soon())
    return 0


def query(folder):
    with hs.File(folder + "/q.h5", "w") as file:
        file.create_table("t", obj=np.zeros(10, [("a", "i8")]), chunkshape=1000)
        file["t"].resize(10**12, axis=0)
        ended(lambda: file["t"].get_where_list("a == 1"), soon())
    return 0


def write_chunks(folder):
    path = folder + "/w.h5"
    new = np.random.default_rng(1).integers(0, 1 << 30, (600, 1 << 15), dtype="i4")
    with hs.File(path, "w") as file:
        dataset = file.create_dataset(
            "d", data=np.zeros_like(new), chunks=(1, 1 << 15), compression="gzip", compression_opts=9
        )
        file.flush()
        ended(lambda: dataset.write_direct(new), changes(path))
        file["kept"] = 1
    return part_of_new(path, new)


def write_contiguous(folder):
    path = folder + "/w.h5"
    new = np.random.default_rng(1).integers(1, 1 << 30, (20_000_000,), dtype="i4")
    with hs.File(path, "w") as file:
        dataset = file.create_dataset("d", shape=(40_000_000,), dtype="i4")
        dataset[-1] = 0
        file.flush()

        def write():
            dataset[::2] = new

        ended(write, changes(path))
        file["kept"] = 1
    with hs.File(path) as file:
        assert not file["d"][1::2].any()
    return part_of_new(path, new, np.s_[::2])


def part_of_new(path, new, key=...):
    with hs.File(path) as file:
        assert file["kept"][()] == 1
        found = file["d"][key]
        is_new = found == new
        assert (is_new | (found == 0)).all()
        return is_new.mean()


def append(folder):
    path = folder + "/t.h5"
    rows = np.zeros(10_000_000, [("a", "i8"), ("b", "i8")])
    rows["a"] = np.random.default_rng(1).integers(0, 1 << 60, len(rows))
    rows["b"] = rows["a"] ^ 5
    with hs.File(path, "w") as file:
        table = file.create_table("t", obj=rows[:3], compression="gzip")
        file.flush()
        ended(lambda: table.append(rows), changes(path))
        table.append(rows[5:9])
    with hs.File(path) as file:
        np.testing.assert_array_equal(file["t"][:], np.concatenate([rows[:3], rows[5:9]]))
    return 0


def strings_in_use(folder):
    """Writes an array of NumPy's strings of which another thread reads elements: neither waits for ever."""
    faulthandler.dump_traceback_later(60, exit=True)
    texts = np.tile(np.array([f"a text of some length, {number}" for number in range(1000)], "T"), 400)
    going, seen = [True], set()

    def look():
        while going:
            seen.add(texts[len(seen)])

    thread = threading.Thread(target=look, daemon=True)
    with hs.File(folder + "/s.h5", "w") as file:
        dataset = file.create_dataset("d", shape=texts.shape, dtype=hs.string_dtype())
        thread.start()
        for _ in range(5):
            dataset[...] = texts
        going.clear()
        thread.join()
        assert seen and (dataset.astype("T")[...] == texts).all()
    return 0


def finalizers(folder):
    """Garbage that waits to be collected is not collected by a thread in the middle of a read: a finalizer
    may close the file."""
    reading, called = [], []

    class Garbage:
        def __init__(self):
            self.itself = self

        def __del__(self):
            called.append(bool(reading))

    # A tuple is made of the memory of another one, unless all are in use.
    tuples = [(number,) for number in range(5000)]

    def leave():
        time.sleep(0.3)
        gc.disable()
        Garbage()
        gc.set_threshold(1, 10, 10)
        tuples.extend([(number,) for number in range(3000)])
        gc.enable()
        time.sleep(60)

    with hs.File(chunked_file(folder)) as file:
        out, dataset = np.empty((ROWS // 2, WIDTH // 1024), "i4"), file["d"]
        threading.Thread(target=leave, daemon=True).start()
        reading.append(True)
        dataset.read_direct(out, np.s_[: ROWS // 2, ::1024])
        reading.clear()
    gc.collect()
    assert called == [False], called
    return 0


def index(folder):
    with hs.File(folder + "/i.h5", "w") as file:
        table = file.create_table("t", obj=np.zeros(20_000_000, [("a", "f8")]))
        ended(table.cols.a.create_csindex, soon())
        assert not table.cols.a.is_indexed
    return 0


def handler_closes(folder):
    """A handler that closes the file is called after an index is built, not in the middle."""
    faulthandler.dump_traceback_later(60, exit=True)
    called = []
    with hs.File(folder + "/i.h5", "w") as file:
        table = file.create_table("t", obj=np.zeros(3_000_000, [("a", "f8")]))

        def close(*_):
            called.append(1)
            file.close()

        signal.signal(signal.SIGINT, close)
        begin = time.monotonic()
        press(lambda: time.monotonic() > begin + 0.05)
        with contextlib.suppress(hs.ClosedError):
            table.cols.a.create_csindex()
        while not called:
            time.sleep(0.01)
    with hs.File(folder + "/i.h5") as file:
        assert file["t"].cols.a.is_indexed
    return 0


def handler(folder):
    """A handler of the program is called at the end of a read, and the read is whole."""
    path, called = chunked_file(folder), []
    signal.signal(signal.SIGINT, lambda *_: called.append(1))
    with hs.File(path) as file:
        out = np.full((ROWS // 2, WIDTH // 1024), -1, "i4")
        press(lambda: (out != -1).any())
        file["d"].read_direct(out, np.s_[: ROWS // 2, ::1024])
        assert called and (out != -1).all()
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(globals()[sys.argv[1]](sys.argv[2]))
