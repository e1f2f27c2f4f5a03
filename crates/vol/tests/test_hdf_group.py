"""The HDF Group's tests for connectors, and libhdf5's own tests, pass through the connector.

The sources are those of Debian's libhdf5. Each program runs natively and through the connector, and must say
the same of each of its tests.
"""

import re
import subprocess

import pytest
from through import ALL_CALLS, SAID, TESTED, TOOLS, Report, run

SOURCE = TOOLS.parent / "source"
TESTS = SOURCE / "test"

CONNECTORS = "h5_api_test"
"""The HDF Group's tests for connectors, of all calls of the public interface."""

PROGRAMS = {
    CONNECTORS: 1000,
    "cmpd_dset": 31,
    "dt_arith": 440,
    "dtransform": 79,
    "dtypes": 53,
    "enum": 7,
    "extend": 4,
    "external": 27,
    "fillval": 20,
    "links": 680,
    "mount": 30,
    "mtime": 3,
    "ntypes": 17,
    "select_io_dset": 100,
    "unlink": 79,
    "vds": 96,
}
"""Programs, and the fewest of their tests that pass natively."""

DIFFERENT = {
    # It asks how libhdf5 wrote a chunk that the connector wrote.
    ("select_io_dset", "H5Pget_no_selection_io_cause()"),
}
"""Tests that pass natively only."""

SETTINGS = """
#include "hdf5.h"
static const char *config_srcdir = ".";
#define FILTERDIR "."
"""
"""What libhdf5's build would have put into headers for its tests."""


@pytest.fixture(scope="session")
def headers(tmp_path_factory):
    """The folder of the headers that a build makes."""
    folder = tmp_path_factory.mktemp("headers")
    for name in ("H5_api_test_config.h", "H5srcdir_str.h"):
        (folder / name).write_text("#pragma once\n" + SETTINGS)
    return folder


def compiled(name, headers, folder):
    """Compiles a program of the tests, and returns its path."""
    files = [TESTS / f"{name}.c"]
    if name == CONNECTORS:
        files = sorted((TESTS / "API").glob("H5_api_*.c"))
    files += [TESTS / "h5test.c", TESTS / "testframe.c"]
    files += [TESTS / "external_common.c"] * (name == "external")
    folders = [f"-I{folder}" for folder in (headers, TESTS, TESTS / "API", SOURCE / "src")]
    subprocess.run([TOOLS / "h5cc1.14", "-w", *folders, "-o", folder / name, *files, "-ldl"], check=True)
    return folder / name


def outcomes(program, folder, connector):
    """Runs a program in an empty folder, and returns [(test, outcome)]."""
    folder.mkdir()
    env = ALL_CALLS | {"HDF5TestExpress": "3", "srcdir": str(TESTS)}
    done = run([program], connector, folder / "report", check=False, cwd=folder, env=env)
    said = re.findall(r"^\s*Testing (.*?)\s*(PASSED|-SKIP-|\*FAILED\*)", done.stdout.decode(errors="replace"), re.M)
    assert said, done.stderr[-2000:]
    return said


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_says_the_same_natively_and_through_the_connector(name, headers, tmp_path):
    program = compiled(name, headers, tmp_path)
    native = outcomes(program, tmp_path / "native", None)
    ours = outcomes(program, tmp_path / "connector", TESTED)
    new = [
        pair for pair in zip(native, ours, strict=True) if pair[0] != pair[1] and (name, pair[0][0]) not in DIFFERENT
    ]
    assert not new, new
    passed = sum(outcome == "PASSED" for _, outcome in ours)
    assert passed >= PROGRAMS[name], passed
    SAID.append(f"HDF Group's {name}: {passed} passed; {Report.of(tmp_path / 'connector' / 'report')}")
