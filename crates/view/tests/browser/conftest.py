"""A file of every kind of view, a viewer of it, and pages in Chromium."""

import shutil
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from playwright.sync_api import sync_playwright

REPOSITORY = Path(__file__).resolve().parents[4]
sys.path.append(str(REPOSITORY / "crates/python/tests"))

from pages import ARGUMENTS, Page  # noqa: E402
from viewer import Viewer  # noqa: E402


@pytest.fixture(scope="session")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("view") / "climate.h5"
    y, x = np.mgrid[0:120, 0:200].astype("f4")
    with h5py.File(path, "w", libver="latest") as f:
        f.attrs["title"] = "What the viewer shows"
        surface = f.create_group("surface")
        field = np.sin(x / 20) * np.cos(y / 15) * 12 + 288
        surface.create_dataset("t2m", data=field, chunks=(40, 50), compression="gzip")
        surface["t2m"].attrs["units"] = "K"
        times = np.arange(24, dtype="f4")[:, None, None]
        surface.create_dataset("hours", data=field[None] + times, chunks=(1, 120, 200), compression="gzip")
        f["line"] = np.sin(np.arange(300) / 15) * np.exp(-np.arange(300) / 150)
        image = np.zeros((60, 90, 3), "u1")
        image[:, :30, 0] = image[:, 30:60, 1] = image[:, 60:, 2] = 255
        f["photo"] = image
        f["photo"].attrs.update({"CLASS": np.bytes_("IMAGE"), "IMAGE_SUBCLASS": np.bytes_("IMAGE_TRUECOLOR")})
        kind = [("station", h5py.string_dtype()), ("height", "f4"), ("count", "i8"), ("phase", "c8")]
        rows = [("Lindenberg", 98.5, 7, 1 + 2j), ("Säntis", 2501.0, 9_007_199_254_740_993, -1j)]
        f.create_dataset("stations", data=np.array(rows, kind))
        f["text"] = "Grüße aus dem HDF5-File"
        f["wave"] = np.exp(1j * np.arange(100) / 10) * np.arange(100)
        f["wave_plane"] = np.exp(1j * (x / 10 + y / 20)) * (y + 1)
        f["big_endian"] = np.arange(12, dtype=">i8").reshape(3, 4)
        f["soft"] = h5py.SoftLink("/line")
        f["dangling"] = h5py.SoftLink("/nowhere")
        broken = f.create_dataset("broken", (100,), "f8", chunks=(100,), compression="gzip")
        broken.id.write_direct_chunk((0,), b"no deflate stream")
    return path


@pytest.fixture(scope="session")
def other(file):
    path = file.parent / "other.h5"
    with h5py.File(path, "w") as f:
        f["numbers"] = np.arange(5)
    return path


@pytest.fixture(scope="session")
def chromium():
    program = shutil.which("chromium")
    assert program, "the tests of the page need Chromium (Debian's package `chromium`)"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def viewer(file, other):
    with Viewer(file, other) as viewer:
        yield viewer


@pytest.fixture
def page(chromium, viewer):
    context = chromium.new_context(viewport={"width": 1100, "height": 700}, accept_downloads=True)
    page = Page(context.new_page(), viewer)
    yield page
    context.close()
    assert not page.problems
    assert not page.foreign
