"""Files that are not given by a path: bytes, buffers and Python file objects."""

import io
import os
import pathlib
import threading

import h5py
import numpy as np
import pytest
from support import IS_H5PY, hs, image_of

VALUES = np.arange(60, dtype="<i4").reshape(6, 10)


def write(f):
    f["plain"] = VALUES
    f.create_dataset("gzip", data=VALUES, chunks=(2, 4), compression="gzip")
    f.attrs["title"] = "in memory"


@pytest.fixture(scope="module", params=[("earliest", None), ("latest", None), ("latest", 512)], ids=str)
def image(request):
    return image_of(write, request.param[0], request.param[1])


def check(f):
    assert sorted(f) == ["gzip", "plain"] and f.attrs["title"] == "in memory"
    assert np.array_equal(f["plain"][1:3], VALUES[1:3]) and np.array_equal(f["gzip"][...], VALUES)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_file_is_opened_from_bytes(image, kind):
    if IS_H5PY:
        return
    with hs.File.from_bytes(kind(image)) as f:
        check(f)


def test_a_bytesio_stays_open_when_its_file_is_closed(image):
    buffer = io.BytesIO(image)
    with hs.File(buffer, "r") as f:
        check(f)
    assert not buffer.closed


def test_a_file_is_opened_from_an_open_file_object(image, tmp_path):
    path = tmp_path / "f.h5"
    path.write_bytes(image)
    for options in ({}, {"buffering": 0}):
        with open(path, "rb", **options) as raw, hs.File(raw, "r") as f:
            check(f)


@pytest.mark.parametrize("kind", [str, pathlib.Path, os.fsencode])
def test_a_path_may_be_str_bytes_or_pathlike(image, tmp_path, kind):
    path = tmp_path / "f.h5"
    path.write_bytes(image)
    with hs.File(kind(path), "r") as f:
        check(f)
        assert f.filename == str(path)
    with hs.File(kind(path)) as f:
        assert f.mode == "r"


class Minimal:
    """A file object with only the methods that reading needs."""

    def __init__(self, image):
        self.inner, self.reads = io.BytesIO(image), 0

    def read(self, size=-1):
        self.reads += 1
        return self.inner.read(size)

    def readinto(self, buffer):
        self.reads += 1
        return self.inner.readinto(buffer)

    def seek(self, offset, whence=0):
        return self.inner.seek(offset, whence)

    def tell(self):
        return self.inner.tell()


def test_an_object_with_read_and_seek_can_be_opened(image):
    raw = Minimal(image)
    with hs.File(raw, "r") as f:
        check(f)
    assert raw.reads > 0


class Failing(Minimal):
    """A file object that fails after some reads, as a network may."""

    def __init__(self, image, after):
        super().__init__(image)
        self.after = after

    def read(self, size=-1):
        if self.reads >= self.after:
            raise ConnectionError("the network is gone")
        return super().read(size)

    def readinto(self, buffer):
        if self.reads >= self.after:
            raise ConnectionError("the network is gone")
        return super().readinto(buffer)


def test_an_error_of_the_file_object_is_raised_to_the_caller(image):
    if IS_H5PY:
        return
    for after in range(6):
        raw = Failing(image, after)
        try:
            with hs.File(raw, "r") as f:
                check(f)
        except OSError as error:
            assert "the network is gone" in str(error) or isinstance(error, ConnectionError)
        else:
            assert raw.reads <= after


def test_threads_can_share_a_file_object(image):
    if IS_H5PY:
        return
    with hs.File(io.BytesIO(image), "r") as f:
        wrong = []

        def work():
            for row in range(6):
                if not np.array_equal(f["gzip"][row], VALUES[row]):
                    wrong.append(row)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


def test_an_object_that_is_not_a_file_is_refused():
    for bad in (3.5, object(), [], {}):
        with pytest.raises((TypeError, OSError, AttributeError, ValueError)):
            hs.File(bad, "r")


def test_h5py_reads_the_same_bytes(image):
    with h5py.File(io.BytesIO(image), "r") as f:
        check(f)


def test_threads_that_change_and_look_at_a_file_object_do_not_wait_for_each_other():
    with hs.File(io.BytesIO(), "w") as f:
        d = f.create_dataset("d", (10,), "f4")

        def change():
            for number in range(300):
                d.attrs["a"] = number
                if number % 5 == 0:
                    f.flush()

        thread = threading.Thread(target=change, daemon=True)
        thread.start()
        while thread.is_alive():
            assert d.shape == (10,) and d.size == 10
        assert d.attrs["a"] == 299


@pytest.mark.skipif(IS_H5PY, reason="h5py flushes at each close")
def test_an_object_is_flushed_once_for_its_changes():
    class Counted(io.BytesIO):
        flushes = 0

        def flush(self):
            self.flushes += 1

    made = Counted()
    with hs.File(made, "w") as file:
        file["levels"] = [1000, 850]
        file.flush()
        after_flush = made.flushes
        file.flush()
    assert made.flushes == after_flush > 0
    with hs.File(made, "r+"):
        pass
    assert made.flushes == after_flush
    with hs.File(made, "r+") as file:
        file["levels"][0] = 1
    assert made.flushes > after_flush


def chunked(path):
    """Writes a file with many chunks that are far from each other. Returns the elements."""
    numbers = np.arange(400_000, dtype="<i4").reshape(1000, 400)
    with h5py.File(path, "w") as f:
        f.create_dataset("gzip", data=numbers, chunks=(100, 200), compression="gzip", compression_opts=1)
        f.create_dataset("plain", data=numbers, chunks=(500, 100))
        f["whole"] = numbers
    return numbers


class Counting:
    """A file system that counts its calls, and hands them on to one of fsspec."""

    def __init__(self, inner, async_impl=False):
        self.inner, self.calls, self.async_impl = inner, [], async_impl

    def cat_ranges(self, paths, starts, ends, **kwargs):
        assert len(paths) == len(starts) == len(ends)
        self.calls.append([end - start for start, end in zip(starts, ends, strict=True)])
        return self.inner.cat_ranges(paths, starts, ends, **kwargs)


class Counted(Minimal):
    """A file object of such a file system."""

    def __init__(self, image, fs, path, attributes=None):
        super().__init__(image)
        vars(self).update({"fs": fs, "path": path} | (attributes or {}))


@pytest.mark.skipif(IS_H5PY, reason="h5py reads one range after another")
@pytest.mark.parametrize("protocol", ["file", "memory"])
def test_files_of_fsspec_are_read_many_ranges_at_a_time(tmp_path, protocol):
    import fsspec

    numbers = chunked(tmp_path / "f.h5")
    system = fsspec.filesystem(protocol)
    path = str(tmp_path / "f.h5")
    if protocol == "memory":
        path = "/folder/f.h5"
        system.pipe_file(path, (tmp_path / "f.h5").read_bytes())
    with system.open(path, "rb") as raw, hs.File(raw, "r") as f:
        assert f.driver_info()["queue_depth"] > 1
        for name in f:
            for selection in (np.s_[...], np.s_[3:900:7, 5:390], np.s_[[1, 500, 999]], np.s_[12, 13]):
                assert np.array_equal(f[name][selection], numbers[selection])


@pytest.mark.skipif(IS_H5PY, reason="h5py reads one range after another")
@pytest.mark.parametrize("async_impl", [False, True])
def test_one_call_reads_many_ranges(tmp_path, async_impl):
    import fsspec

    path = tmp_path / "f.h5"
    numbers = chunked(path)
    system = Counting(fsspec.filesystem("file"), async_impl)
    raw = Counted(path.read_bytes(), system, str(path))
    with hs.File(raw, "r") as f:
        f["gzip"][0, 0]
        raw.reads = 0
        system.calls.clear()
        # Every second row of chunks: the chunks are not neighbours.
        wanted = np.r_[0:100, 200:300, 400:500, 600:700, 800:900]
        # Each of several threads would make a call of its own.
        found = f["gzip"].read(wanted, threads=1)
        assert np.array_equal(found[:, :200], numbers[wanted][:, :200])
        # Neighbouring chunks are one range.
        assert len(system.calls) == 1 and len(system.calls[0]) > 1
        assert np.array_equal(f["gzip"][...], numbers)


@pytest.mark.skipif(IS_H5PY, reason="h5py reads one range after another")
def test_ranges_are_read_one_by_one_where_the_object_may_have_other_bytes(tmp_path):
    import fsspec

    path = tmp_path / "f.h5"
    numbers = chunked(path)
    for attributes in ({"mode": "r+b"}, {"compression": "gzip"}, {"path": None}, {"fs": object()}):
        system = Counting(fsspec.filesystem("file"))
        raw = Counted(path.read_bytes(), system, str(path), attributes)
        with hs.File(raw, "r") as f:
            assert f.driver_info()["queue_depth"] == 1
            assert np.array_equal(f["gzip"][...], numbers)
        assert not system.calls
    # A file that is open for writing has bytes that the file system does not have yet.
    with fsspec.filesystem("file").open(str(path), "r+b") as raw, hs.File(raw, "r+") as f:
        assert f.driver_info()["queue_depth"] == 1


@pytest.mark.skipif(IS_H5PY, reason="h5py reads one range after another")
def test_a_wrong_answer_to_many_ranges_is_an_error(tmp_path):
    path = tmp_path / "f.h5"
    numbers = chunked(path)

    class Wrong:
        answer = None

        def cat_ranges(self, paths, starts, ends):
            return self.answer(starts, ends)

    def bytes_of(starts, ends):
        image = path.read_bytes()
        return [image[start:end] for start, end in zip(starts, ends, strict=True)]

    wrong = [
        (lambda starts, ends: bytes_of(starts, ends)[1:], OSError, "returned . results for"),
        (lambda starts, ends: [b"", *bytes_of(starts, ends)[1:]], OSError, "end of file"),
        (lambda starts, ends: [*bytes_of(starts, ends)[:-1], ConnectionError("gone")], OSError, "gone"),
        (lambda starts, ends: ["text" for _ in starts], Exception, "bytes"),
        (lambda starts, ends: 5, Exception, "iterable"),
        (lambda starts, ends: 1 / 0, Exception, "zero"),
    ]
    system = Wrong()
    with hs.File(Counted(path.read_bytes(), system, str(path)), "r") as f:
        for answer, error, text in wrong:
            system.answer = answer
            with pytest.raises(error, match=text):
                f["gzip"][::300]
        system.answer = bytes_of
        assert np.array_equal(f["gzip"][::300], numbers[::300])
