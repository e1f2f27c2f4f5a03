"""What `hyperslab view` does not answer, and what it survives (decision 0034)."""

import concurrent.futures
import contextlib
import os
import time
from urllib.parse import urlsplit

import h5py
import numpy as np
import pytest
from needs import skip_without
from support import REPOSITORY
from viewer import Viewer

pytestmark = pytest.mark.whole

PAGE = REPOSITORY / "crates" / "view" / "web" / "dist" / "index.html"
SECRET = "what no page may read"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a file that names files outside and inside of it."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "raw.bin").write_bytes(SECRET.encode().ljust(64))
    with h5py.File(outside / "other.h5", "w") as f:
        f["x"] = SECRET
        f["numbers"] = np.arange(10)
    inside = tmp_path_factory.mktemp("inside")
    (inside / "below").mkdir()
    with h5py.File(inside / "below/near.h5", "w") as f:
        f["numbers"] = np.arange(10)
        f["far"] = h5py.ExternalLink(str(outside / "other.h5"), "/x")
    os.mkfifo(inside / "below/pipe.h5")
    os.symlink(outside / "other.h5", inside / "symbolic.h5")
    with h5py.File(inside / "all.h5", "w", libver="latest") as f:
        f["x"] = np.arange(12).reshape(3, 4)
        f["text"] = "hello"
        f.create_dataset("huge", (1 << 20, 1 << 20), "f8", chunks=(1024, 1024))
        f.create_dataset("strings", (1 << 40,), h5py.string_dtype(), chunks=(1024,), fillvalue="fill")
        f["far"] = h5py.ExternalLink(str(outside / "other.h5"), "/x")
        f["up"] = h5py.ExternalLink(f"../{outside.name}/other.h5", "/x")
        f["symbolic"] = h5py.ExternalLink("symbolic.h5", "/x")
        f["near"] = h5py.ExternalLink("below/near.h5", "/numbers")
        f["near_far"] = h5py.ExternalLink("below/near.h5", "/far")
        f["process"] = h5py.ExternalLink(f"/proc/self/root{outside}/other.h5", "/x")
        f["pipe"] = h5py.ExternalLink("below/pipe.h5", "/x")
        f.create_dataset("raw", (64,), "u1", external=[(str(outside / "raw.bin"), 0, 64)])
        for name, source in [("virtual", outside / "other.h5"), ("virtual_near", inside / "below/near.h5")]:
            layout = h5py.VirtualLayout((10,), "i8")
            layout[:] = h5py.VirtualSource(str(source), "numbers", (10,))
            f.create_virtual_dataset(name, layout, fillvalue=-1)
    return inside


@pytest.fixture
def own_viewer(folder):
    """A viewer whose memory no other test has used."""
    with Viewer(folder / "all.h5") as viewer:
        yield viewer


@pytest.fixture(scope="module")
def viewer(folder):
    with Viewer(folder / "all.h5") as viewer:
        yield viewer


def get(viewer, name="data", **arguments):
    return viewer.get(name, **({"file": "all.h5"} | arguments))


def test_only_the_whole_secret_opens_anything(viewer):
    secret = viewer.base[1:]
    assert len(secret) == 32
    wrong = ["", secret[:-1], secret + "0", secret.upper(), "0" * 32, f"x/{secret}", f"%2e/{secret}", f"../{secret}"]
    for base in wrong:
        for name in ("", "meta?file=all.h5", "data?file=all.h5&path=/text", "files", "page.js", "licences.txt"):
            answer = viewer.ask(f"/{base}/{name}".replace("//", "/"))
            assert answer.status in (403, 404), (base, name)
            assert b"hello" not in answer.body and secret.encode() not in answer.body
    assert viewer.ask("/once/" + "0" * 32).status == 403
    assert viewer.ask("/").status == 403
    assert get(viewer, path="/text").json() == "hello"


def test_only_names_of_this_machine_are_answered(viewer):
    target = f"{viewer.base}/files"
    for host in [
        "evil.example",
        f"evil.example:{viewer.port}",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "127.0.0.1:x",
        "",
        "0.0.0.0",
        "127.0.0.1@evil.example",
        "[::1]:80",
    ]:
        assert viewer.ask(target, headers={"Host": host}).status == 421, host
    # A forwarded port has another number.
    for host in [f"127.0.0.1:{viewer.port}", "localhost:9", "localhost"]:
        assert viewer.ask(target, headers={"Host": host}).status == 200, host
    for request in [
        f"GET {target} HTTP/1.0\r\n\r\n",
        f"GET {target} HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
    ]:
        with viewer.connect() as connection:
            connection.sendall(request.encode())
            assert connection.recv(100).split()[1] in (b"421", b"400")


def test_pages_of_other_origins_are_not_answered(viewer):
    target, host = f"{viewer.base}/meta?file=all.h5", f"127.0.0.1:{viewer.port}"
    for headers in [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": f"https://{host}"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
    ]:
        answer = viewer.ask(target, headers=headers)
        assert answer.status == 403, headers
        assert "access-control-allow-origin" not in answer.headers
    framed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
    assert viewer.ask(f"{viewer.base}/", headers=framed).status == 403
    # A link in another page may lead to the page.
    visit = framed | {"Sec-Fetch-Dest": "document"}
    assert viewer.ask(f"{viewer.base}/", headers=visit).status in (200, 404)
    assert viewer.ask(target, headers={"Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}).status == 200


def test_every_answer_says_what_a_browser_may_do(viewer):
    for answer in [viewer.ask("/"), viewer.get("files"), viewer.get(""), get(viewer, path="/none")]:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_nothing_can_be_written(viewer):
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"):
        assert viewer.get("data", method, file="all.h5", path="/x").status in (400, 405), method


def test_paths_on_disk_are_not_names_of_files(viewer, folder):
    names = [
        folder / "all.h5",
        folder / "below/near.h5",
        "below/near.h5",
        "./all.h5",
        "../inside0/all.h5",
        "/etc/passwd",
        "all.h5\0",
        "file:///etc/passwd",
        "http://127.0.0.1:1/a.h5",
        "",
    ]
    for name in names:
        for endpoint in ("meta", "data", "attr", "paths", "stats"):
            answer = viewer.get(endpoint, file=name, path="/")
            assert answer.status == 404 and answer.message == "File not found!", (name, endpoint)
    for name in ["../Cargo.toml", "..%2f..%2fCargo.toml", "%2e%2e/secret.rs", "/etc/passwd", "index.html/.."]:
        assert viewer.ask(f"{viewer.base}/{name}").status in (403, 404), name


def test_files_outside_the_folder_are_not_read_through_the_given_file(viewer):
    for path in ("/far", "/up", "/symbolic", "/near_far", "/process"):
        described = get(viewer, "meta", path=path).json()
        assert described["kind"] == "external_link", described
        answer = get(viewer, path=path)
        assert answer.status == 404 and "outside the folder" in answer.message
        assert SECRET.encode() not in answer.body
    for path in ("/raw", "/virtual"):
        answer = get(viewer, path=path)
        assert answer.status == 422 and "outside the folder" in answer.message, answer.body
    # A pipe would be waited for.
    assert get(viewer, path="/pipe").status == 404
    assert get(viewer, path="/near").json() == list(range(10))
    assert get(viewer, path="/virtual_near").json() == list(range(10))


def test_another_folder_can_be_allowed(folder):
    with Viewer(folder / "all.h5", options=["--links", folder.parent]) as viewer:
        assert get(viewer, path="/far").json() == SECRET
        assert get(viewer, path="/virtual").json() == list(range(10))


def test_a_file_on_a_server_names_no_file_of_this_machine(folder, server):
    with Viewer(server.add(folder / "all.h5")) as viewer:
        assert get(viewer, path="/text").json() == "hello"
        for path in ("/far", "/raw", "/virtual"):
            answer = get(viewer, path=path)
            assert answer.status in (404, 422) and "confined to the one that names it" in answer.message, path
        # Beside the server's file, and not in the folder of this process.
        assert get(viewer, path="/near").status == 404


@pytest.mark.extras
def test_the_address_for_a_browser_leads_to_the_page_once(folder, tmp_path):
    skip_without(PAGE.is_file(), "this build has no page: apt-get install npm, and `make test` builds it")
    (tmp_path / "browser").write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/part\nmv {tmp_path}/part {tmp_path}/asked\n')
    (tmp_path / "browser").chmod(0o755)
    with Viewer(folder / "all.h5", browser=tmp_path / "browser") as viewer:
        until = time.monotonic() + 60
        while not (tmp_path / "asked").exists():
            assert time.monotonic() < until, "the browser was not started"
            time.sleep(0.01)
        target = urlsplit((tmp_path / "asked").read_text().strip()).path
        assert viewer.base[1:] not in target
        first, second = viewer.ask(target), viewer.ask(target)
        assert (first.status, first.headers["location"]) == (303, f"{viewer.base}/")
        assert second.status == 403 and "location" not in second.headers


@pytest.mark.process
@pytest.mark.parametrize("form", ["bin", "npy", "csv", "tiff", "json"])
def test_huge_selections_are_refused_before_they_are_read(viewer, form):
    before = viewer.resident()
    arguments = {"flatten": "true"} if form == "json" else {"format": form}
    for path in ("/huge", "/strings"):
        answer = get(viewer, path=path, **arguments)
        assert answer.status in (413, 422), (path, answer.body[:200])
        assert "MiB: select fewer elements" in answer.message or "non-numeric" in answer.message
    assert viewer.resident() - before < 200 << 20


def test_malformed_selections_are_errors(viewer):
    for selection in [
        "x",
        "0,0,0",
        "99",
        "-99",
        "::0",
        "::-1",
        "1:2:3:4",
        "0x1",
        "[",
        "]",
        "[[",
        "1e9",
        "9" * 400,
        "...,...",
        "0;0",
        "é",
        "\0",
        ",",
        "[" * 5000,
        "0," * 5000,
    ]:
        for form in ("json", "bin", "npy"):
            answer = get(viewer, path="/x", selection=selection, format=form)
            assert answer.status == 422 and "selection" in answer.message, (selection[:20], answer.body)
    for arguments in [
        {"format": "exe"},
        {"dtype": "f4"},
        {"format": "bin", "path": "/text"},
        {"path": "/"},
        {"dtype": "safe", "path": "/text"},
        {"format": "tiff", "selection": "0,0"},
    ]:
        assert get(viewer, **({"path": "/x"} | arguments)).status == 422, arguments
    assert viewer.ask(f"{viewer.base}/data?%ff%00&&=&file").status in (404, 422)


@pytest.mark.process
def test_a_thousand_requests_at_once_are_all_answered(own_viewer):
    viewer = own_viewer
    where = {"path": "/huge", "format": "bin", "selection": "0:1024,0:1024"}

    def ask(number):
        if number % 2:
            return get(viewer, "meta", path="/").status
        answer = get(viewer, **where)
        return answer.status if answer.body == bytes(8 << 20) else "other bytes"

    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        assert set(pool.map(ask, range(1000))) == {200}
    # The answers of a moment have at most 512 MiB together.
    assert viewer.resident() < 1 << 30


@pytest.mark.process
def test_clients_that_hang_keep_neither_memory_nor_others_from_answers(own_viewer):
    viewer = own_viewer
    request = f"GET {viewer.base}/data?file=all.h5&path=/huge&format=bin&selection=0:4096,0:4096 HTTP/1.1\r\n"
    request = f"{request}Host: localhost\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:

        def connect():
            return stack.enter_context(contextlib.closing(viewer.connect()))

        # Each of these takes an answer of 128 MiB, and reads nothing of it.
        deaf = [connect() for _ in range(10)]
        for connection in deaf:
            connection.sendall(request)
        # These never finish their headers.
        slow = [connect() for _ in range(200)]
        for number, connection in enumerate(slow):
            connection.sendall(b"" if number % 2 else b"GET / HTTP/1.1\r\nHost: local")
        assert get(viewer, path="/text").json() == "hello"
        # All of them are disconnected in the end.
        for connection in slow:
            with contextlib.suppress(ConnectionError):
                while connection.recv(1000):
                    pass
        # The memory of answers that are not taken is free again.
        answer = get(viewer, path="/huge", format="bin", selection="0:4096,0:4096")
        assert len(answer.body) == 128 << 20
        assert get(viewer, path="/text").json() == "hello"
        # The answers would be 1.25 GiB together, and have 512 MiB.
        assert viewer.resident() < 1 << 30


def test_long_headers_are_refused(viewer):
    with viewer.connect() as connection, contextlib.suppress(ConnectionError):
        connection.sendall(b"GET / HTTP/1.1\r\n")
        for number in range(10_000):
            connection.sendall(b"X-%d: %s\r\n" % (number, b"x" * 1000))
    with viewer.connect() as connection:
        connection.sendall(b"\x16\x03\x01 not HTTP\r\n\r\n")
        assert b"400" in connection.recv(100)
    assert get(viewer, path="/text").json() == "hello"
