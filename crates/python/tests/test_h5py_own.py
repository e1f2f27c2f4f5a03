"""Runs the tests of h5py, which are in its wheel, with hyperslab in place of h5py (`hyperslab.as_h5py`).

`h5py_own/cannot.toml` lists by reason the modules that are left out and the tests that cannot pass. This test
fails if an unlisted test fails, or if a listed test passes. The end of a run prints the counts.
"""

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import h5py
import pytest
from listed import account, environment_of_suite, outcomes_of
from soundness import CHECKS
from support import IS_H5PY

HERE = Path(__file__).parent / "h5py_own"
CANNOT = tomllib.loads((HERE / "cannot.toml").read_text())
TESTS = Path(h5py.__file__).parent / "tests"
LEFT_OUT = [module for modules in CANNOT["modules"].values() for module in modules]


def run(root):
    """Runs all modules that are not left out.

    Returns {test: (outcome, message)} and the number of files checked.
    """
    shutil.copy(HERE / "outcomes.py", root)
    shutil.copy(HERE.parent / "soundness.py", root)
    environment = environment_of_suite(root) | {"H5PY_OWN_OUTCOMES": str(root / "outcomes.json")}
    command = [sys.executable, "-m", "hyperslab.as_h5py", "-m", "pytest", "--pyargs", "h5py.tests"]
    command += ["-q", "--tb=no", "-W", "ignore", "--continue-on-collection-errors", "--rootdir", root]
    command += ["-p", "outcomes", "-p", "no:cacheprovider", *(f"--ignore={TESTS / module}" for module in LEFT_OUT)]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout[-3000:] + done.stderr[-3000:]
    said = json.loads((root / "outcomes.json").read_text())
    return said["tests"], said["checked"]


@pytest.mark.suite
@pytest.mark.skipif(IS_H5PY, reason="h5py runs its own tests")
def test_the_tests_of_h5py_pass_except_those_listed_with_a_reason(tmp_path):
    outcomes, checked = run(tmp_path)
    CHECKS.files += checked
    failed, passed = outcomes_of(outcomes)
    account(f"h5py's own tests: {passed} passed", failed, CANNOT["tests"], CANNOT["either"])
    assert passed > 850 and checked > 300, (passed, checked)
