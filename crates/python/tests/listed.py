"""What tests that run a suite share: its environment, and the list of its expected failures, by reason."""

import os

from soundness import CHECKS


def environment_of_suite(path):
    """Returns the environment of another pytest, which finds modules in `path`."""
    found = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return found | {"PYTHONPATH": str(path)}


def account(counts, failed, cannot, either=None, where="cannot.toml"):
    """Asserts that `failed`, which maps names to messages, holds exactly the names listed in `cannot`.

    `cannot` maps reasons to names. Names in `either`, by reason, may fail or not. The end of the run prints
    `counts`, and how many names each reason has.
    """
    listed = {name for names in cannot.values() for name in names}
    allowed = listed | {name for names in (either or {}).values() for name in names}
    unlisted = {name: said for name, said in failed.items() if name not in allowed}
    assert not unlisted, f"{len(unlisted)} of them:\n" + "\n".join(f"{name}: {said}" for name, said in unlisted.items())
    needless = sorted(listed - failed.keys())
    assert not needless, f"remove these from {where}, because they pass or no longer exist: {needless}"
    CHECKS.said.append(counts)
    CHECKS.said += [f"  {len(names)} cannot: {reason}" for reason, names in cannot.items()]


def outcomes_of(found):
    """Returns {test: message} of the failed tests in {test: (outcome, message)}, and how many passed."""
    failed = {name: said for name, (outcome, said) in found.items() if outcome == "failed"}
    return failed, sum(outcome == "passed" for outcome, _ in found.values())
