"""Writes records.h5: records and enumerations that `tests/suite/records.rs` reads, and writes again.

python records.py, with h5py 3.16. Each number is `part(row, place)`, which both files compute.
"""

from pathlib import Path

import h5py
import numpy as np

ROWS = 120
PHASES = {"IDLE": -3, "ramp up": -2, "Hold": 300, "Down": 7}
LEVELS = {"Low": 0, "High": 255}


def part(row, place):
    """Some number below 2^48 that no other row and place has."""
    return (row * 64 + place + 1) * 0x9E3779B97F4A7C15 % 2**64 >> 16


def phase(row, place):
    return list(PHASES.values())[part(row, place) % 4]


def inner(row, place):
    phases = [phase(row, place + 1), phase(row, place + 2)]
    return (part(row, place) % 4096 / 8, phases, part(row, place + 3) % 2 == 1)


def sample(row):
    grid = [[part(row, 2 + 3 * j + i) % 65536 - 32768 for i in range(3)] for j in range(2)]
    many = [inner(row, 16), inner(row, 24)]
    return (part(row, 0), phase(row, 1), grid, inner(row, 8), many, part(row, 32) % 256)


def packed():
    phases = h5py.enum_dtype(PHASES, "<i2")
    one = np.dtype([("x (m)", "<f4"), ("phases", phases, (2,)), ("is_valid", "?")])
    members = [("id", "<u8"), ("phase", phases), ("grid", "<i2", (2, 3)), ("inner", one), ("many", one, (2,))]
    return np.dtype([*members, ("type", "u1")])


def other():
    """The same members in another order, with gaps, other integers and byte orders, and one member more."""
    phases = h5py.enum_dtype(dict(reversed(PHASES.items())), ">i4")
    one = np.dtype([("is_valid", "?"), ("phases", phases, (2,)), ("x (m)", ">f8")], align=True)
    members = [("many", one, (2,)), ("more", "<f8"), ("inner", one), ("type", "<u8"), ("grid", ">i4", (2, 3))]
    return np.dtype([*members, ("phase", phases), ("id", ">i8")], align=True)


def fill(target, source):
    """Copies members by name; NumPy would copy those of nested records by position."""
    for name in source.dtype.names:
        if source.dtype[name].base.names:
            fill(target[name], source[name])
        else:
            target[name] = source[name]


def main():
    rows = np.array([sample(row) for row in range(ROWS)], packed())
    with h5py.File(Path(__file__).with_name("records.h5"), "w", libver="v112") as file:
        file["packed"] = rows
        moved = np.zeros(ROWS, other())
        fill(moved, rows)
        file["other"] = moved
        file.attrs.create("sample", rows[5], dtype=rows.dtype)
        file.attrs.create("phase", 300, dtype=h5py.enum_dtype(PHASES, "<i2"))
        # Numbers that have no name.
        file.create_dataset("unnamed", data=[7, 300, 5], dtype=h5py.enum_dtype(PHASES, "<i2"))
        file.create_dataset("beyond", data=[0, 255, 300], dtype=h5py.enum_dtype(LEVELS, "<i4"))
        file.create_dataset("below", data=[255, -1], dtype=h5py.enum_dtype(LEVELS, ">i2"))
        # Other names, other numbers, and numbers without names.
        file.create_dataset("more names", data=[0], dtype=h5py.enum_dtype({**LEVELS, "Middle": 9}, "u1"))
        file.create_dataset("fewer names", data=[0], dtype=h5py.enum_dtype({"Low": 0}, "u1"))
        file.create_dataset("other numbers", data=[0], dtype=h5py.enum_dtype({"Low": 1, "High": 255}, "u1"))
        file.create_dataset("integers", data=[0], dtype="u1")


if __name__ == "__main__":
    main()
