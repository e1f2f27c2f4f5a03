"""A plugin of pytest: writes the outcome of every test to the file that H5PY_OWN_OUTCOMES names.

A test that passes and leaves a file that is not sound has failed.
"""

import json
import os
from pathlib import Path

import pytest
from soundness import CHECKS

# They store a chunk of another length than the dataset's chunks have.
DAMAGES = {"test_read_uncompressed_offsets"}

_outcomes: dict[str, list[str]] = {}
_WORSE = {"passed": 0, "skipped": 1, "failed": 2}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Checks the files that the test has left in the directory of its class, or in its own."""
    result = yield
    directory = getattr(item.cls, "tempdir", None) or item.funcargs.get("tmp_path")
    if directory is not None:
        CHECKS.directory(directory, item.name in DAMAGES)
    return result


def pytest_runtest_logreport(report):
    """Keeps the worst outcome of a test's three phases, with the last line of what it said."""
    name = report.nodeid.rpartition("/")[2]
    outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
    said = ""
    if report.failed and hasattr(report.longrepr, "reprcrash") and report.longrepr.reprcrash:
        said = report.longrepr.reprcrash.message.partition("\n")[0][:200]
    if _WORSE[outcome] >= _WORSE[_outcomes.get(name, ["passed"])[0]]:
        _outcomes[name] = [outcome, said]


def pytest_collectreport(report):
    """A module that cannot be imported is one failed test."""
    if report.failed:
        _outcomes[report.nodeid.rpartition("/")[2]] = ["failed", str(report.longrepr)[-200:]]


def pytest_sessionfinish():
    """Writes them, and how many files were checked."""
    Path(os.environ["H5PY_OWN_OUTCOMES"]).write_text(json.dumps({"tests": _outcomes, "checked": CHECKS.files}))
