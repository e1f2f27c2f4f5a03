"""The tests of h5py, PyTables and netCDF4-python pass through the connector.

A test that fails is run again under libhdf5's `pass_through`, and must fail there too: what no connector can
do is no failure of ours. The other tests are not run again. `VOL_SUITES=all` runs all modules of PyTables,
which takes long.
"""

import json
import os
import tarfile
from pathlib import Path

import netCDF4
from through import ALL_CALLS, HERE, PLUGINS, REPOSITORY, SAID, TESTED, Report, asserted, run

ARCHIVES = REPOSITORY / "target" / "corpus" / "archives"
ALL = os.environ.get("VOL_SUITES") == "all"

TABLES = ["test_all"] if ALL else ["test_carray", "test_earray"]

# PyTables says which of its classes are tests: pytest would run the classes that these are made of, too.
UNITTEST = """
import importlib, json, os, sys, unittest
if "VOL_ONLY" in os.environ:
    suite = unittest.defaultTestLoader.loadTestsFromNames(json.loads(os.environ["VOL_ONLY"]))
else:
    suite = unittest.TestSuite(importlib.import_module(f"tables.tests.{name}").suite() for name in sys.argv[1:])
class Result(unittest.TextTestResult):
    said = {}
    def stopTest(self, test):
        super().stopTest(test)
        self.said.setdefault(test.id(), ["passed", ""])
    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.said[test.id()] = ["failed", str(error[1])[:300]]
    addError = addFailure
    def addSkip(self, test, reason):
        self.said[test.id()] = ["skipped", reason]
unittest.TextTestRunner(stream=open(os.devnull, "w"), resultclass=Result).run(suite)
open(os.environ["VOL_OUTCOMES"], "w").write(json.dumps(Result.said))
"""

# Modules of h5py's tests that start a process for each test, and take as long as all others.
H5PY_PROCESSES = ("test_h5pl", "test_h5z")

# Modules of netCDF4-python that ask servers, or call programs of the netCDF library that is in the wheel.
LEFT_OUT = ("test_dap.py", "run_all.py")


def by_pytest(root, *tests):
    """Returns the command that runs tests in an own folder."""
    command = ["python", "-m", "pytest", "-q", "--tb=no", "-W", "ignore", "--continue-on-collection-errors"]
    return [*command, "-p", "outcomes", "-p", "no:cacheprovider", "--rootdir", root, "-c", os.devnull, *tests]


def outcomes(root, command, connector, report=None, **more):
    """Runs tests, and returns {test: (outcome, message)}."""
    out = root / "outcomes.json"
    out.unlink(missing_ok=True)
    more = ALL_CALLS | more | {"PYTHONPATH": str(HERE), "VOL_OUTCOMES": str(out), "NO_NET": "1", "NO_CDL": "1"}
    done = run(command, connector, report, check=False, cwd=root, timeout=7200, env=more)
    assert out.exists(), f"exit status {done.returncode}: {done.stdout[-3000:]} {done.stderr[-3000:]}"
    return json.loads(out.read_text())


def compare(name, root, command, passing, **more):
    """Runs a suite through the connector, and its failed tests again under `pass_through`."""
    report = root / "report"
    found = outcomes(root, command, TESTED, report, **more)
    failed = {test: said for test, (outcome, said) in found.items() if outcome == "failed"}
    passed = sum(outcome == "passed" for outcome, _ in found.values())
    baseline = {}
    if failed:
        baseline = outcomes(root, command, "pass_through", VOL_ONLY=json.dumps(list(failed)), **more)
        baseline = {test for test, (outcome, _) in baseline.items() if outcome == "failed"}
    new = {test: said for test, said in failed.items() if test not in baseline}
    said = Report.of(report)
    SAID.append(f"{name}'s own tests: {passed} passed, {len(failed)} failed, as under pass_through; {said}")
    assert not new, "\n".join(f"{test}: {message}" for test, message in new.items())
    assert passed > passing, passed
    return said


def test_h5py(tmp_path):
    others = [f"--ignore-glob=/*/{name}.py" for name in H5PY_PROCESSES]
    said = compare("h5py", tmp_path, by_pytest(tmp_path, *others, "--pyargs", "h5py.tests"), 840)
    asserted(said.taken["reads"] > 25, str(said))


def test_h5py_in_processes(tmp_path):
    modules = [f"h5py.tests.{name}" for name in H5PY_PROCESSES]
    compare("h5py (processes)", tmp_path, by_pytest(tmp_path, "--pyargs", *modules), 5)


def test_pytables(tmp_path):
    said = compare("PyTables", tmp_path, ["python", "-c", UNITTEST, *TABLES], 3000 if ALL else 100)
    asserted(said.taken["reads"] > 0, str(said))


def test_netcdf4(tmp_path):
    (archive,) = ARCHIVES.glob("netcdf4-*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.glob("netcdf4-*/test")
    for name in LEFT_OUT:
        (folder / name).unlink()
    filters = Path(netCDF4.__file__).parent / "plugins"  # which the wheel uses if the variable is not set
    said = compare("netCDF4-python", folder, by_pytest(folder, "."), 130, HDF5_PLUGIN_PATH=f"{PLUGINS}:{filters}")
    asserted(said.taken["reads"] > 0, str(said))
