"""Runs pandas' own tests of `HDFStore`, which are in its wheel, with `hs.pandas` beside it.

Whatever a test reads from a store, `hs.pandas` reads too, and must find an equal value.
`pandas_own/cannot.toml` lists by reason the tests that cannot pass. This test fails if an unlisted test
fails, or if a listed test passes.
"""

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from listed import account, environment_of_suite, outcomes_of
from support import IS_H5PY

HERE = Path(__file__).parent / "pandas_own"
CANNOT = tomllib.loads((HERE / "cannot.toml").read_text())
EITHER = CANNOT.pop("either")
TESTS = Path(pd.__file__).parent / "tests" / "io" / "pytables"


def run(root):
    """Returns {test: (outcome, message)} and the number of reads that were compared."""
    shutil.copytree(TESTS, root / "pytables", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE / "beside.py", root)
    # The fixtures of pandas' tests.
    shutil.copy(TESTS.parents[2] / "conftest.py", root)
    environment = environment_of_suite(root) | {"PANDAS_OWN_OUTCOMES": str(root / "outcomes.json")}
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-W", "ignore", "-p", "beside"]
    command += ["-p", "no:cacheprovider", "--rootdir", root, root / "pytables"]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout[-3000:] + done.stderr[-3000:]
    said = json.loads((root / "outcomes.json").read_text())
    return said["tests"], said["compared"]


@pytest.mark.suite
@pytest.mark.skipif(IS_H5PY, reason="about hyperslab's pandas")
def test_what_the_tests_of_pandas_read_is_read_here_except_what_is_listed_with_a_reason(tmp_path):
    outcomes, compared = run(tmp_path)
    failed, passed = outcomes_of(outcomes)
    account(f"pandas' own tests: {passed} passed, {compared} reads compared", failed, CANNOT, EITHER)
    assert passed > 400 and compared > 500, (passed, compared)
