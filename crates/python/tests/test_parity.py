"""Runs the probes with h5py and with hyperslab in its place, and compares what a user sees.

A probe is some lines that a program for h5py may have; `probes/run.py` says how it runs. Two outcomes are
equal if the values, with their dtypes and shapes, and the warnings are; or if an `except` clause for the
exception of h5py catches that of hyperslab. `probes/differs.toml` lists the others by reason.
"""

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from listed import account
from support import IS_H5PY

HERE = Path(__file__).parent / "probes"
DIFFERS = tomllib.loads((HERE / "differs.toml").read_text())
PROGRAMS = {"theirs": [], "ours": ["-m", "hyperslab.as_h5py"]}


def outcomes(folder):
    """Returns {probe: outcome} of both programs, which get the same files."""
    for program in PROGRAMS:
        (folder / program).mkdir()
    subprocess.run([sys.executable, HERE / "fixture.py", *map(folder.joinpath, PROGRAMS)], check=True)
    commands = [
        [sys.executable, *way, HERE / "run.py", folder / f"{program}.json", folder / program]
        for program, way in PROGRAMS.items()
    ]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]
    said = [each.communicate()[1] for each in running]
    assert [each.returncode for each in running] == [0, 0], said
    # The files of hyperslab are checked when the test ends, those of h5py are not.
    shutil.rmtree(folder / "theirs")
    return [json.loads((folder / f"{program}.json").read_text()) for program in PROGRAMS]


@pytest.mark.soak
@pytest.mark.skipif(IS_H5PY, reason="h5py is the oracle")
def test_a_probe_has_the_outcome_of_h5py(tmp_path):
    theirs, ours = outcomes(tmp_path)
    same_class, different = 0, {}
    for name, (kind, classes, text, warned) in theirs.items():
        our_kind, our_classes, our_text, our_warned = ours[name]
        if kind == our_kind == "raised" and classes[0] in our_classes and warned == our_warned:
            same_class += (our_classes, our_text) != (classes, text)
        elif ours[name] != theirs[name]:
            different[name] = f"{our_classes[:1]} {our_text} {our_warned}; h5py: {classes[:1]} {text} {warned}"
    equal = len(theirs) - same_class - len(different)
    counts = f"probes: {len(theirs)}, {equal} identical, {same_class} raise the same exception with another text"
    account(counts, different, DIFFERS, where="differs.toml")
    assert ours.keys() == theirs.keys() and len(theirs) > 1700
