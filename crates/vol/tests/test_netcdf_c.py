"""netCDF-C's own tests pass through the connector.

The sources are those of Debian's libnetcdf, for which they are compiled. Each program runs natively and
through the connector, and must say the same.
"""

import re
import shutil
import subprocess

import pytest
from through import ALL_CALLS, SAID, TESTED, TOOLS, Report, asserted, run

SOURCE = TOOLS.parent / "netcdf"
ROOT = TOOLS.parent / "root" / "usr"

SETTINGS = """
#pragma once
#include <stdint.h>
#define HAVE_UNISTD_H 1
#define SIZEOF_SIZE_T 8
#define USE_NETCDF4 1
#define USE_HDF5 1
#define NC_UNUSED(value) (void)(value)
#define DEFAULT_CHUNK_SIZE 16777216
#define CHUNK_CACHE_SIZE 67108864
#define CHUNK_CACHE_NELEMS 1000
#define CHUNK_CACHE_PREEMPTION 0.75
#define TEMP_LARGE "."
"""
"""What netCDF-C's build puts into `config.h`, as far as its tests ask for it."""

FOLDERS = {"nc_test4": ("NC4_TESTS", 72), "h5_test": ("H5TESTS", 27)}
"""Folders of tests, the variables of their makefiles that list the programs, and the number of these."""


def listed(folder, variable):
    """Returns the names of the programs in a makefile's variable."""
    text = (SOURCE / folder / "Makefile.am").read_text().replace("\\\n", " ")
    return [name for names in re.findall(rf"(?m)^{variable} \+?= (.*)$", text) for name in names.split()]


def compiled(folder, name, into):
    """Compiles a program, and returns its path."""
    (into / "config.h").write_text(SETTINGS)
    folders = [f"-I{path}" for path in (into, ROOT / "include", SOURCE / "include")]
    (library,) = ROOT.glob("lib/*/libnetcdf.so")
    libraries = [f"-L{library.parent}", "-lnetcdf", "-lhdf5_serial_hl"]
    source = SOURCE / folder / f"{name}.c"
    subprocess.run([TOOLS / "h5cc1.14", "-w", *folders, "-o", into / name, source, *libraries], check=True)
    return into / name


def said(program, folder, source, connector, report):
    """Runs a program in a folder with the files that it reads, and returns its exit status and output."""
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.c", "*.sh", "Makefile*"))
    env = ALL_CALLS | {"srcdir": str(source)}
    done = run([program], connector, report, check=False, cwd=folder, env=env)
    return done.returncode, done.stdout


@pytest.mark.parametrize("folder", FOLDERS)
def test_it_says_the_same_natively_and_through_the_connector(folder, tmp_path):
    variable, count = FOLDERS[folder]
    names, report = listed(folder, variable), tmp_path / "report"
    for name in names:
        program = compiled(folder, name, tmp_path)
        native = said(program, tmp_path / f"{name}, native", SOURCE / folder, None, None)
        ours = said(program, tmp_path / f"{name}, connector", SOURCE / folder, TESTED, report)
        assert native[0] == 0, (name, native)
        assert ours == native, (name, ours, native)
    assert len(names) == count
    found = Report.of(report)
    asserted(found.taken["reads"] > 0, str(found))
    SAID.append(f"netCDF-C's {folder}: {count} programs passed; {found}")
