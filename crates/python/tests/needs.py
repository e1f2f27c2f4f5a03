"""Programs and files that a test needs beyond those that README names."""

import os
import shutil

import pytest
from tools import TOOLS

NO_SKIPS = "HYPERSLAB_NO_SKIPS" in os.environ
"""Whether a test that cannot run here fails. `.ci/run` sets it when all programs are installed."""


def need(program):
    """Skips the test if a program is not installed, and names its package. Such a test is marked `extras`."""
    beside = {"java": "javac"}.get(program, "h5clear" if program.startswith("h5") else program)  # of the same package
    package = next(package for name, package, *_ in TOOLS if name == beside)
    skip_without(shutil.which(program), f"{program} is not installed: apt-get install {package}")


def skip_without(there, why):
    """Skips the test if something is not there; `why` says how to get it."""
    if not there:
        assert not NO_SKIPS, f"{why} (no test may be skipped here)"
        pytest.skip(why)
