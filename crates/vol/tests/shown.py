"""The parts that the cases in Python have in common: files to work on, and what a case prints.

A file of cases is a program: `python FILE.py NAME FOLDER` runs one of its functions in a folder.
"""

import hashlib
import os
import sys
from pathlib import Path

import h5py
import numpy as np

VALUES = np.arange(12_000, dtype="<i4").reshape(120, 100)
OTHERS = VALUES[::-1] * 3
OPTIONS = {"chunks": (30, 100), "compression": "gzip", "shuffle": True}


def show(what, values):
    """Prints the type, shape and hash of values."""
    values = np.asarray(values)
    if values.dtype.hasobject:
        print(what, hashlib.md5(repr(values.tolist()).encode()).hexdigest(), flush=True)
    else:
        print(what, values.dtype, values.shape, hashlib.md5(values.tobytes()).hexdigest(), flush=True)


def attempt(what, action):
    """Calls `action`, and prints the exception that it raises."""
    try:
        action()
        print(what, "no error")
    except Exception as error:
        print(what, repr(error))


def make(path, data=VALUES, opening=None, **options):
    """Writes a file with one dataset, in four chunks unless `options` say otherwise."""
    with h5py.File(path, "w", **(opening or {})) as file:
        file.create_dataset("d", data=data, **(OPTIONS | options))


def reread(folder, what, name="f.h5", **options):
    """Opens a file, and shows its dataset."""
    with h5py.File(folder / name, **options) as file:
        show(what, file["d"])


def main(cases):
    """Runs the case that the command line names."""
    name, folder = sys.argv[1], Path(sys.argv[2])
    os.chdir(folder)
    cases[name](folder)
