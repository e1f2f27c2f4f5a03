"""A pytest plugin that writes the outcome of every test to the file given by VOL_OUTCOMES.

If VOL_ONLY is set, it is a JSON list of the tests to run.
"""

import json
import os
from pathlib import Path

_OUTCOMES: dict[str, list[str]] = {}
_WORSE = {"passed": 0, "skipped": 1, "failed": 2}


def pytest_collection_modifyitems(config, items):
    """Leaves out the tests that VOL_ONLY does not name."""
    if "VOL_ONLY" in os.environ:
        only = set(json.loads(os.environ["VOL_ONLY"]))
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in only])
        items[:] = [item for item in items if item.nodeid in only]


def pytest_runtest_logreport(report):
    """Records the worst outcome of the three phases of a test, with the first line of its message."""
    outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
    said = ""
    if report.failed and getattr(report.longrepr, "reprcrash", None):
        said = report.longrepr.reprcrash.message.partition("\n")[0][:300]
    if _WORSE[outcome] >= _WORSE[_OUTCOMES.get(report.nodeid, ["passed"])[0]]:
        _OUTCOMES[report.nodeid] = [outcome, said]


def pytest_collectreport(report):
    """Records a module that cannot be imported as one failed test."""
    if report.failed:
        _OUTCOMES[report.nodeid] = ["failed", str(report.longrepr)[-300:]]


def pytest_sessionfinish():
    """Writes the outcomes."""
    Path(os.environ["VOL_OUTCOMES"]).write_text(json.dumps(_OUTCOMES))
