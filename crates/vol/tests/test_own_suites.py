"""The tests of h5py, PyTables and netCDF4-python pass through the connector.

A test that fails is run again under libhdf5's `pass_through`, and must fail there too: what no connector can
do is no failure of ours. `VOL_SUITES=all` runs all modules of PyTables, which takes an hour.
"""

import json
import os
import tarfile

from through import ALL_CALLS, HERE, REPOSITORY, SAID, TESTED, Report, asserted, run

ARCHIVES = REPOSITORY / "target" / "corpus" / "archives"
ALL = os.environ.get("VOL_SUITES") == "all"

TABLES = ["tables.tests"] if ALL else ["tables.tests.test_earray", "tables.tests.test_carray"]

# Modules of netCDF4-python that ask servers, or call programs of the netCDF library that is in the wheel.
LEFT_OUT = ("test_dap.py", "run_all.py")


def outcomes(root, tests, connector, report=None):
    """Runs pytest on tests in an own folder, and returns {test: (outcome, message)}."""
    out = root / "outcomes.json"
    out.unlink(missing_ok=True)
    command = ["python", "-m", "pytest", "-q", "--tb=no", "-W", "ignore", "--continue-on-collection-errors"]
    command += ["-p", "outcomes", "-p", "no:cacheprovider", "--rootdir", root, "-c", os.devnull, *tests]
    more = ALL_CALLS | {"PYTHONPATH": str(HERE), "VOL_OUTCOMES": str(out), "NO_NET": "1", "NO_CDL": "1"}
    done = run(command, connector, report, check=False, cwd=root, timeout=7200, env=more)
    assert out.exists(), f"exit status {done.returncode}: {done.stdout[-3000:]} {done.stderr[-3000:]}"
    return json.loads(out.read_text())


def compare(name, root, tests, passing):
    """Runs a suite through the connector, and its failed tests again under `pass_through`."""
    report = root / "report"
    found = outcomes(root, tests, TESTED, report)
    failed = {test: said for test, (outcome, said) in found.items() if outcome == "failed"}
    passed = sum(outcome == "passed" for outcome, _ in found.values())
    baseline = {}
    if failed:
        baseline = outcomes(root, tests, "pass_through")
        baseline = {test for test, (outcome, _) in baseline.items() if outcome == "failed"}
    new = {test: said for test, said in failed.items() if test not in baseline}
    said = Report.of(report)
    SAID.append(f"{name}'s own tests: {passed} passed, {len(failed)} failed, as under pass_through; {said}")
    assert not new, "\n".join(f"{test}: {message}" for test, message in new.items())
    assert passed > passing, passed
    return said


def test_h5py(tmp_path):
    said = compare("h5py", tmp_path, ["--pyargs", "h5py.tests"], 850)
    asserted(said.taken["reads"] > 25, str(said))


def test_pytables(tmp_path):
    said = compare("PyTables", tmp_path, ["--pyargs", *TABLES], 3000 if ALL else 700)
    asserted(said.taken["reads"] > 0, str(said))


def test_netcdf4(tmp_path):
    (archive,) = ARCHIVES.glob("netcdf4-*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.glob("netcdf4-*/test")
    for name in LEFT_OUT:
        (folder / name).unlink()
    said = compare("netCDF4-python", folder, ["."], 130)
    asserted(said.taken["reads"] > 0, str(said))
