"""A plugin of pytest: writes the outcome of every test to the file that H5PY_OWN_OUTCOMES names."""

import json
import os
from pathlib import Path

_outcomes: dict[str, list[str]] = {}
_WORSE = {"passed": 0, "skipped": 1, "failed": 2}


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
    """Writes them."""
    Path(os.environ["H5PY_OWN_OUTCOMES"]).write_text(json.dumps(_outcomes))
