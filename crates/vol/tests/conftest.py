"""The end of a run: counts, and a failure in CI if a test was skipped, or was allowed to fail."""

import os

import pytest
from through import COUNTED, PLUGINS, SAID, TOOLS


def pytest_sessionstart():
    """Fails if the plug-in or the programs are not there."""
    if COUNTED and not list(PLUGINS.glob("libhyperslab_vol.*")):
        raise pytest.UsageError(f"no plug-in in {PLUGINS}: run `make vol`")
    if not (TOOLS / "h5dump").exists():
        raise pytest.UsageError(f"no programs in {TOOLS}: run `python scripts/vol_tools.py`")


SLOWEST = (
    "test_h5py",
    "test_netcdf4",
    "test_h5repack_of_the_golden_files",
    "test_random_work",
    "test_a_writer_that_is_killed",
    "test_prints_the_same",
    "test_binary_dumps",
    "test_pytables",
)
"""The tests that take longest, by the beginnings of their names."""


def pytest_collection_modifyitems(items):
    """Begins with the slowest tests, so that processes of pytest-xdist end at about the same time."""

    def place(item):
        return next((place for place, name in enumerate(SLOWEST) if item.name.startswith(name)), len(SLOWEST))

    items.sort(key=place)


def pytest_terminal_summary(terminalreporter):
    """Prints the counts that the tests have noted."""
    for line in SAID:
        terminalreporter.write_line(line)


def pytest_sessionfinish(session):
    """Hands on what one of several processes has noted. Fails the run in CI if a test was left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["said"] = SAID
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    left_out = sum(len(stats.get(kind, [])) for kind in ("skipped", "xfailed", "xpassed"))
    if left_out and "CI" in os.environ:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        SAID.append(f"{left_out} tests were skipped or allowed to fail, and CI requires all of them")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Adds what a process of pytest-xdist has noted; a process that crashed hands nothing on."""
    SAID.extend(getattr(node, "workeroutput", {}).get("said", []))
