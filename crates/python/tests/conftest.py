"""Fixtures for golden files, made once per version of their scripts; and the check of test files."""

import fcntl
import hashlib
import io
import os
import signal
import subprocess
import sys
from collections import Counter

import h5py
import numpy as np
import pytest
from needs import NO_SKIPS
from soundness import CHECKS
from support import GOLDEN, IS_H5PY, REPOSITORY, hs, image_of, open_image
from web import Server

# h5py supports neither SEG-Y nor tables, so these tests do not run with h5py in place of hyperslab.
OWN = ("test_segy_*", "test_table*", "test_*_tables", "test_index*", "test_quer*", "test_waiting_rows", "test_arrow")
OWN += ("test_number_filters", "test_virtual", "test_view*")
collect_ignore_glob = [f"{name}.py" for name in OWN] if IS_H5PY else []

SLOW = {
    "suite": "runs the tests of another package",
    "process": "starts programs, or waits for them",
    "docs": "runs documentation",
    "soak": "runs many random cases",
}
"""Why a test takes more than a second."""


def pytest_configure(config):
    """Registers the markers. A misspelt one is an error.

    Tests interrupt themselves, so Ctrl-C is no longer ignored, as a shell's job in the background ignores it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.option.strict_markers = True
    config.addinivalue_line("markers", "damages: leaves a file that is not sound, on purpose")
    config.addinivalue_line("markers", "extras: needs more than README names (`needs.py`)")
    config.addinivalue_line("markers", "whole: needs servers, Arrow or the viewer; `make quick` may leave it out")
    for name, what in SLOW.items():
        config.addinivalue_line("markers", f"{name}: {what}; `make quick` leaves it out")


@pytest.fixture(autouse=True)
def sound_files(request, tmp_path, tmp_path_factory):
    """Checks the files that the test has created or changed, after its other fixtures have closed them.

    The fixture `tmp_path` is there first, so its directory is removed after the check.
    """
    yield
    CHECKS.directory(tmp_path_factory.getbasetemp(), request.node.get_closest_marker("damages") is not None)


def pytest_terminal_summary(terminalreporter):
    """Prints how many tests passed and how many files were checked."""
    passed = Counter(report.nodeid.partition("[")[0] for report in terminalreporter.getreports("passed"))
    for test in (test for test in passed if "/interop/" in test):
        terminalreporter.write_line(f"{test.rpartition('/')[2]}: {passed[test]} passed")
    for line in (f"hyperslab check: {CHECKS.files} files of tests were checked", *CHECKS.said):
        terminalreporter.write_line(line)


def pytest_sessionfinish(session):
    """Hands on what one of several processes has checked. Names the reason of each skipped test."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["checks"] = CHECKS.files, CHECKS.said
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if IS_H5PY:
        return
    for why, count in Counter(str(report.longrepr[2]) for report in skipped).items():
        CHECKS.said.append(f"{count} tests were skipped: {why.removeprefix('Skipped: ')}")
    # `make test-extras` requires those with this marker, and nothing would require the others.
    if unmarked := [report.nodeid for report in skipped if "extras" not in report.keywords]:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        CHECKS.said.append(f"{len(unmarked)} skipped tests lack the marker `extras`: {', '.join(unmarked[:5])}")
    if skipped and NO_SKIPS:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        CHECKS.said.append(f"{len(skipped)} tests were skipped, and HYPERSLAB_NO_SKIPS requires all of them")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Adds what a process of pytest-xdist has checked; a process that crashed hands nothing on."""
    files, said = getattr(node, "workeroutput", {}).get("checks", (0, []))
    CHECKS.files += files
    CHECKS.said += said


def fingerprint():
    """Returns a hash of the golden scripts and of the pinned versions."""
    digest = hashlib.sha256()
    for path in (*sorted((GOLDEN / "make").glob("*.py")), GOLDEN / "requirements.txt"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@pytest.fixture(scope="session")
def golden():
    """Returns a directory with every golden file, including the large and the damaged files."""
    out = REPOSITORY / "target" / "golden"
    stamp = out / "made-by"
    out.mkdir(parents=True, exist_ok=True)
    with (out / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several processes of pytest-xdist, one makes the files
        if not stamp.is_file() or stamp.read_text() != fingerprint():
            # A test imports hdf5plugin, which sets this variable. h5py would then load the plugins by itself,
            # and fail.
            environment = {name: value for name, value in os.environ.items() if name != "HDF5_PLUGIN_PATH"}
            subprocess.run([sys.executable, GOLDEN / "make" / "all.py", out], check=True, env=environment)
            stamp.write_text(fingerprint())
    return out


@pytest.fixture
def both(golden):
    """Opens a golden file with both modules: `ours, theirs = both(name)`."""
    opened = []

    def open_both(name):
        pair = hs.File(golden / name, "r"), h5py.File(golden / name, "r")
        opened.extend(pair)
        return pair

    yield open_both
    for file in opened:
        file.close()


@pytest.fixture
def opened():
    """Writes a file with h5py and opens it with both modules: `ours, theirs = opened(write)`."""
    files = []

    def make(write, **options):
        image = image_of(write, **options)
        pair = open_image(image), h5py.File(io.BytesIO(image), "r")
        files.extend(pair)
        return pair

    yield make
    for file in files:
        file.close()


@pytest.fixture
def server():
    """Returns a web server of files; see `web`."""
    made = Server()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture(scope="session")
def cube():
    """Returns the values of the datasets for selection tests."""
    return np.arange(13 * 17 * 5, dtype="<i4").reshape(13, 17, 5)
