"""A pytest plugin that writes the outcome of every test to the file given by H5PY_OWN_OUTCOMES.

A test that leaves an unsound file fails, unless OUTCOMES_ONLY is set.
"""

import json
import os
from pathlib import Path

import pytest
from soundness import CHECKS

# Tests that store a chunk of another length than the chunks of the dataset have.
DAMAGES = {"test_read_uncompressed_offsets"}

_outcomes: dict[str, list[str]] = {}
_WORSE = {"passed": 0, "skipped": 1, "failed": 2}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Checks the files that the test has left in the directory of its class, which goes with the class."""
    result = yield
    _check(item, getattr(item.cls, "tempdir", None))
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    """Checks the files that the test has left in its own directory, once its fixtures have closed them."""
    directory = getattr(item, "funcargs", {}).get("tmp_path")
    result = yield
    _check(item, directory)
    return result


def _check(item, directory):
    if directory is not None and "OUTCOMES_ONLY" not in os.environ:
        CHECKS.directory(directory, item.name in DAMAGES)


def pytest_collection_finish():
    """Fails if the tests would run with h5py."""
    import h5py

    assert "hyperslab" in h5py.__file__, "hyperslab does not stand in for h5py"


def pytest_runtest_logreport(report):
    """Records the worst outcome of the three phases of a test, with the first line of its message."""
    name = report.nodeid.rpartition("/")[2]
    outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
    said = ""
    if report.failed and hasattr(report.longrepr, "reprcrash") and report.longrepr.reprcrash:
        said = report.longrepr.reprcrash.message.partition("\n")[0][:200]
    if _WORSE[outcome] >= _WORSE[_outcomes.get(name, ["passed"])[0]]:
        _outcomes[name] = [outcome, said]


def pytest_collectreport(report):
    """Records a module that cannot be imported as one failed test."""
    if report.failed:
        _outcomes[report.nodeid.rpartition("/")[2]] = ["failed", str(report.longrepr)[-200:]]


def pytest_sessionfinish():
    """Writes the outcomes and the number of files checked."""
    Path(os.environ["H5PY_OWN_OUTCOMES"]).write_text(json.dumps({"tests": _outcomes, "checked": CHECKS.files}))
