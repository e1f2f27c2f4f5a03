"""Files on web servers and in S3: elements, numbers of requests, errors, signals, forks."""

import mmap
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import h5py
import numpy as np
import pytest
from support import hs

pytestmark = pytest.mark.whole

PLANES = np.arange(64 * 128 * 128, dtype="<f4").reshape(64, 128, 128)
TEMPERATURES = np.random.default_rng(7).random((20, 300, 300))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A file of h5py with many groups and datasets of several layouts."""
    found = tmp_path_factory.mktemp("remote") / "run.h5"
    with h5py.File(found, "w") as file:
        for number in range(100):
            file.create_group(f"runs/{number:03}").attrs["number"] = number
        file["plain"] = PLANES
        file.create_dataset("chunked", data=PLANES, chunks=(16, 16, 64))
        file.create_dataset("filtered", data=TEMPERATURES, chunks=(4, 50, 100), compression="gzip", shuffle=True)
        file["names"] = np.array([b"ab", b"c"])
        file["words"] = ["a", "longer"]
        file["number"] = 7
        file.create_dataset("unwritten", (4,), "f8")
    return found


@pytest.mark.process
@pytest.mark.parametrize("options", [{}, {"queue_depth": 3}, {"page_buf_size": 0}], ids=str)
def test_everything_is_read_as_by_h5py(server, path, options):
    selections = [np.s_[...], np.s_[5], np.s_[:, 7], np.s_[::3, 1:60:7, 33], np.s_[[1, 5, 19], 2:4]]
    with hs.File(server.add(path), **options) as ours, h5py.File(path) as theirs:
        assert (ours.driver, ours.mode) == ("object_store", "r")
        assert list(ours["runs"]) == list(theirs["runs"])
        assert [group.attrs["number"] for group in ours["runs"].values()] == list(range(100))
        for name in ("plain", "chunked", "filtered"):
            for selection in selections:
                np.testing.assert_array_equal(ours[name][selection], theirs[name][selection])
        for name in ("names", "words", "number", "unwritten"):
            np.testing.assert_array_equal(ours[name][()], theirs[name][()])


def test_opening_listing_and_reading_a_plane_takes_few_requests(server, path):
    with hs.File(server.add(path)) as file:
        for group in file["runs"].values():
            assert group.attrs["number"] >= 0
        opened = len(server.requests)
        # The plane is in 15 of the 90 chunks, and neighbours are requested together.
        plane = file["filtered"][:, 70]
        info = file.driver_info()
    np.testing.assert_array_equal(plane, TEMPERATURES[:, 70])
    assert opened <= 3, server.requests
    assert len(server.requests) <= opened + 15, server.requests
    assert info["driver"] == "object_store"
    assert info["requests"] == len(server.requests)
    assert 0 < info["bytes"] <= os.path.getsize(path) + (1 << 20)


def test_many_requests_are_in_progress_at_a_time(server, tmp_path):
    path = tmp_path / "wide.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("d", (32, 100_000), "f8", chunks=(1, 100_000), data=np.ones((32, 100_000)))
    with hs.File(server.add(path)) as file:
        server.delay = 0.2
        server.requests.clear()
        begin = time.monotonic()
        assert file["d"][:, 17].sum() == 32
        # One after another would take 0.2 s for each.
        assert len(server.requests) < 4 or time.monotonic() - begin < 0.2 * len(server.requests) / 2


def test_small_reads_of_many_threads_are_in_progress_at_a_time(server, tmp_path):
    path = tmp_path / "wide.h5"
    values = np.random.default_rng(1).random((32, 50_000))
    with h5py.File(path, "w") as file:
        file.create_dataset("d", data=values, chunks=(1, 50_000))
    with hs.File(server.add(path), page_buf_size=0) as file:
        dataset = file["d"]
        dataset.plan(np.s_[...])  # finds the chunks
        found = {}

        def read(row):
            found[row] = dataset[row, 17]

        # The server answers when it has a request of each thread, and refuses all of them after a minute.
        server.together = threading.Barrier(16, timeout=60)
        rows = range(16, 32)  # opening the file has brought its first mebibyte
        threads = [threading.Thread(target=read, args=(row,)) for row in rows]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == {row: values[row, 17] for row in rows}


@pytest.mark.process
@pytest.mark.parametrize("count", [1, 4])
def test_answers_that_are_awaited_take_256_mebibytes_for_all_reads(server, tmp_path, count):
    with h5py.File(tmp_path / "large.h5", "w") as file:
        early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        early.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        space = h5py.h5s.create_simple((80 << 20,))
        for number in range(count):
            h5py.h5d.create(file.id, f"d{number}".encode(), h5py.h5t.IEEE_F32LE, space, early)
    refused = []

    def read(dataset):
        try:
            dataset.read(threads=1)
        except OSError as error:
            refused.append(error)

    with (tmp_path / "large.h5").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        server.files["/large.h5"] = image
        with hs.File(server.url("large.h5"), queue_depth=1000) as opened:
            datasets = [opened[f"d{number}"] for number in range(count)]
            server.requests.clear()
            while server.waiting.acquire(blocking=False):
                pass
            # The server answers nothing until it has no new request for a second, and then refuses all.
            server.together = threading.Event()
            threads = [threading.Thread(target=read, args=(dataset,)) for dataset in datasets]
            for thread in threads:
                thread.start()
            while server.waiting.acquire(timeout=60 if not server.requests else 1):
                pass
            bounds = [map(int, one.removeprefix("bytes=").split("-")) for one in server.requests]
            lengths = [last + 1 - first for first, last in bounds]
            server.fails = [404] * 1000
            server.together.set()
            for thread in threads:
                thread.join()
    assert max(lengths) <= 4 << 20 and len(refused) == count
    # Each thread may have one request more.
    assert (252 << 20) <= sum(lengths) <= (256 << 20) + (count - 1) * (4 << 20)


def test_a_file_is_only_read(server, path):
    url = server.add(path)
    for mode in ("r+", "w", "x", "a"):
        with pytest.raises(ValueError, match="can only be read"):
            hs.File(url, mode)
    with hs.File(url) as file, pytest.raises((OSError, ValueError)):
        file["other"] = 1
    with pytest.raises(ValueError, match="URLs only"):
        hs.File("run.h5", driver="object_store")


def test_errors_are_those_of_python_and_hide_secrets(server, path):
    url = server.add(path).replace("http://", "http://me:hidden@") + "?token=hidden"
    cases = [(404, FileNotFoundError), (403, PermissionError), (401, PermissionError), (400, OSError)]
    for status, expected in cases:
        server.fails = [status]
        with pytest.raises(expected, match="Unable to open file 'http://127.0.0.1:[0-9]+/run.h5'") as raised:
            hs.File(url)
        assert "hidden" not in str(raised.value)
    with hs.File(url) as file:
        assert "hidden" not in repr(file)
        assert file.filename == url
    with pytest.raises(hs.FormatError, match="run.h5"):
        server.files["/run.h5"] = b"not HDF5"
        hs.File(url)


def test_failed_requests_are_repeated(server, path):
    url = server.add(path)
    server.fails = [503, 500]
    with hs.File(url) as file:
        server.fails = [503]
        np.testing.assert_array_equal(file["plain"][()], PLANES)
    server.fails = [503] * 3
    with pytest.raises(OSError, match="503"):
        hs.File(url, storage_options={"max_retries": 1})


def test_a_file_that_changes_is_an_error(server, path):
    with hs.File(server.add(path)) as file:
        dataset = file["plain"]
        server.files["/run.h5"] = server.files["/run.h5"] + b"more"
        with pytest.raises(OSError, match="run.h5: the file was changed on the server while it was open"):
            dataset[()]


def test_options_are_checked(server, path):
    url = server.add(path)
    for name, value, said in (
        ("colour", 1, "colour. is not an option"),
        ("aws_region", "x", "is not an option of this kind of server"),
        ("timeout", "long", "Duration"),
        ("max_retries", -1, "the value of .max_retries. is not valid"),
    ):
        with pytest.raises(ValueError, match=said):
            hs.File(url, storage_options={name: value})
    for options in ("timeout", {"timeout": [1]}, {1: 2}):
        with pytest.raises(TypeError, match="storage_options"):
            hs.File(url, storage_options=options)
    with pytest.raises(TypeError, match="storage_options"):
        hs.File(path, storage_options={})
    for wrong in ("s3://bucket", "http://host"):
        with pytest.raises(ValueError, match="the URL"):
            hs.File(wrong)
    with hs.File(url, storage_options={"timeout": "20 seconds", "allow_http": True, "retry_timeout": 2.5}) as file:
        assert file["number"][()] == 7


def test_a_handle_is_pickled(server, path):
    with hs.File(server.add(path), storage_options={"max_retries": 2}) as file:
        copy = pickle.loads(pickle.dumps(file["plain"]))
        np.testing.assert_array_equal(copy[3], PLANES[3])


def read_in_child(file, results):
    results.put((file["plain"][3].sum(), file["filtered"][19, 299].sum()))


def test_a_forked_child_reads_on_connections_of_its_own(server, path):
    with hs.File(server.add(path)) as file:
        expected = file["plain"][3].sum(), TEMPERATURES[19, 299].sum()
        context = multiprocessing.get_context("fork")
        results = context.Queue()
        children = [context.Process(target=read_in_child, args=(file, results)) for _ in range(2)]
        for child in children:
            child.start()
        found = [results.get(timeout=60) for _ in children]
        for child in children:
            child.join(60)
            assert child.exitcode == 0
        np.testing.assert_allclose(found, [expected] * 2)
        # The parent's connections still work.
        np.testing.assert_array_equal(file["filtered"][()], TEMPERATURES)


INTERRUPTED = """
import sys, threading, time
import hyperslab as hs
file = hs.File(sys.argv[1])
dataset = file["plain"]
print("opened", flush=True)
sys.stdin.readline()
try:
    dataset[()]
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_a_read(server, path):
    url = server.add(path)
    pipe = subprocess.PIPE
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED, url], stdin=pipe, stdout=pipe, text=True)
    try:
        assert child.stdout.readline() == "opened\n"
        while server.waiting.acquire(blocking=False):
            pass
        server.delay = 30
        child.stdin.write("read\n")
        child.stdin.flush()
        assert server.waiting.acquire(timeout=60)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=20)
        assert out == "interrupted\n"
        assert child.returncode == 0
    finally:
        child.kill()


def test_threads_read_one_file(server, path):
    with hs.File(server.add(path)) as file:
        found = {}

        def read(number):
            found[number] = file["filtered"][number]

        threads = [threading.Thread(target=read, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for number, plane in found.items():
        np.testing.assert_array_equal(plane, TEMPERATURES[number])


@pytest.fixture(scope="module")
def s3():
    """The settings of an S3 server with a bucket, and a client."""
    import boto3
    from moto.server import ThreadedMotoServer

    made = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    made.start()
    host, port = made.get_host_and_port()
    settings = {
        "endpoint": f"http://{host}:{port}",
        "allow_http": True,
        "aws_access_key_id": "a key",
        "aws_secret_access_key": "hidden",
        "aws_region": "us-east-1",
    }
    client = boto3.client(
        "s3",
        endpoint_url=settings["endpoint"],
        aws_access_key_id="a key",
        aws_secret_access_key="hidden",
        region_name="us-east-1",
    )
    client.create_bucket(Bucket="bucket")
    yield settings, client
    made.stop()


@pytest.mark.soak
def test_an_object_in_s3_is_read_as_by_h5py(s3, path):
    settings, client = s3
    for key in ("folder/run 1%20.h5", "run.h5"):
        client.upload_file(str(path), "bucket", key)
        with hs.File(f"s3://bucket/{key}", storage_options=settings) as ours, h5py.File(path) as theirs:
            for name in ("plain", "chunked", "filtered", "words"):
                np.testing.assert_array_equal(ours[name][()], theirs[name][()])
            assert list(ours["runs"]) == list(theirs["runs"])


def test_an_object_in_s3_that_changes_or_is_missing_is_an_error(s3, path):
    settings, client = s3
    client.upload_file(str(path), "bucket", "changes.h5")
    with hs.File("s3://bucket/changes.h5", storage_options=settings) as file:
        dataset = file["plain"]
        client.put_object(Bucket="bucket", Key="changes.h5", Body=b"x" * os.path.getsize(path))
        with pytest.raises(OSError, match="changed on the server"):
            dataset[()]
    for missing in ("s3://bucket/missing.h5", "s3://no-bucket/run.h5"):
        with pytest.raises(FileNotFoundError, match=missing):
            hs.File(missing, storage_options=settings)


def test_settings_of_s3_are_taken_from_the_environment(s3, path, monkeypatch):
    settings, client = s3
    client.upload_file(str(path), "bucket", "environment.h5")
    for name, value in settings.items():
        name = name.upper() if name.startswith("aws") else f"AWS_{name.upper()}"
        monkeypatch.setenv(name, str(value).lower() if value is True else value)
    with hs.File("s3://bucket/environment.h5") as file:
        assert file["number"][()] == 7
