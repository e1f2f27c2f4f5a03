"""Runs programs natively and through the connector, and reads the connector's report.

`VOL_TESTED=pass_through` tests the tests: libhdf5's own connector, which takes nothing over, in place of
hyperslab's. Then no count is asserted.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
PLUGINS = REPOSITORY / "target" / "vol"
TOOLS = REPOSITORY / "target" / "vol-tools" / "bin"
GOLDEN = REPOSITORY / "golden" / "files"
TESTED = os.environ.get("VOL_TESTED", "hyperslab")
COUNTED = TESTED == "hyperslab"

PASS_THROUGH = "pass_through under_vol=0;under_info={}"

SAID: list[str] = []
"""Lines for the end of the run."""


@dataclass
class Report:
    """How many reads and writes the connector took over, and how many it left by reason, in all processes."""

    taken: Counter = field(default_factory=Counter)
    left: dict[str, Counter] = field(default_factory=lambda: {"reads": Counter(), "writes": Counter()})
    libraries: list[list[str]] = field(default_factory=list)

    @classmethod
    def of(cls, path):
        """Reads the lines that processes have appended to a file."""
        found = cls()
        for line in path.read_text().splitlines() if path.exists() else []:
            said = json.loads(line)
            for kind in ("reads", "writes"):
                found.taken[kind] += said[kind]["taken"]
                found.left[kind].update(said[kind]["left"])
            found.libraries.append(said["libraries"])
        return found

    def __str__(self):
        parts = []
        for kind in ("reads", "writes"):
            parts.append(f"{self.taken[kind]} {kind} taken over, {self.left[kind].total()} left")
        return "; ".join(parts)


def environment(connector=None, report=None, **more):
    """Returns the environment of a process: native, or with a connector and the place of its report."""
    dropped = ("HDF5_", "HYPERSLAB_", "PYTEST_")
    found = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    if connector == "pass_through":
        found["HDF5_VOL_CONNECTOR"] = PASS_THROUGH
    elif connector is not None:
        found |= {"HDF5_VOL_CONNECTOR": connector, "HDF5_PLUGIN_PATH": str(PLUGINS)}
    if report is not None:
        found["HYPERSLAB_VOL_REPORT"] = str(report)
    return found | more


ALL_CALLS = {"HYPERSLAB_VOL_LEAST": "0"}
"""The environment in which the connector looks at small calls too."""


def run(command, connector=None, report=None, check=True, cwd=None, timeout=600, env=None):
    """Runs a command, as `subprocess.run` does. A program of the tools is named by its name."""
    command = [str(part) for part in command]
    if command[0] == "python":
        command[0] = sys.executable
    elif "/" not in command[0]:
        command[0] = str(TOOLS / command[0])
    done = subprocess.run(
        command, env=environment(connector, report, **(env or {})), cwd=cwd, capture_output=True, timeout=timeout
    )
    if check:
        said = done.stdout[-2000:].decode(errors="replace") + done.stderr[-3000:].decode(errors="replace")
        assert done.returncode == 0, f"{' '.join(command)}: exit status {done.returncode}\n{said}"
    return done


def asserted(condition, message):
    """Asserts something about counts, which only the connector under test has."""
    assert condition or not COUNTED, message
