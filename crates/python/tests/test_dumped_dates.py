"""The command prints the dates that opaque elements hold. NumPy's own text is the oracle."""

import json
import subprocess
import sys

import h5py
import numpy as np
import pytest
from support import hs

UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "25s", "10us"]


def dumped(*args):
    """Returns the output of `hyperslab dump`."""
    line = [sys.executable, "-m", "hyperslab", "dump", *map(str, args)]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("library", [hs, h5py])
@pytest.mark.parametrize("order", "<>")
def test_dates_are_printed_as_numpy_prints_them(tmp_path, library, order):
    random = np.random.default_rng(5)
    written = {}
    with library.File(tmp_path / "dates.h5", "w") as file:
        for unit in UNITS:
            # Years of at most six digits: NumPy's own text of others overflows.
            years = {"Y": 1, "M": 12, "W": 52, "D": 365, "h": 8760, "m": 525_600, "s": 31_536_000, "25s": 1_261_440}
            most = min(2**63 - 1, 200_000 * years.get(unit, 31_536_000 * 10**3))
            most = {"us": 2**63 - 1, "10us": 2**59}.get(unit, most)
            numbers = np.concatenate([random.integers(-most, most, 300), np.arange(-50, 50), [-(2**63)]])
            dates = numbers.astype("i8").view(f"M8[{unit}]")
            written[unit] = dates
            dtype = library.opaque_dtype(np.dtype(f"{order}M8[{unit}]"))
            file[unit] = dates.astype(dtype)
    lines = dumped(tmp_path / "dates.h5", *written, "--json").splitlines()
    for line, (unit, dates) in zip(lines, written.items(), strict=True):
        assert json.loads(line)["value"] == [str(date) for date in dates], unit


def test_dates_stand_without_quotes_and_durations_are_numbers(tmp_path):
    record = np.dtype([("at", hs.opaque_dtype("M8[s]")), ("lasts", hs.opaque_dtype("m8[ms]"))])
    with hs.File(tmp_path / "f.h5", "w") as file:
        rows = file.create_dataset("rows", (2,), record)
        rows[:] = np.array([("2024-01-01T12:00:00", 5), ("NaT", "NaT")], dtype=[("at", "M8[s]"), ("lasts", "m8[ms]")])
        file["raw"] = np.array([b"12345678"], "V8")
        rows.attrs["begun"] = np.array(["2024-02-29"], "M8[D]").astype(hs.opaque_dtype("M8[D]"))
    text = dumped(tmp_path / "f.h5", "rows")
    assert "2024-01-01T12:00:00" in text and "NaT" in text and "[2024-02-29]" in text
    said = json.loads(dumped(tmp_path / "f.h5", "rows", "--json"))["value"]
    assert said == [{"at": "2024-01-01T12:00:00", "lasts": 5}, {"at": "NaT", "lasts": "NaT"}]
    assert json.loads(dumped(tmp_path / "f.h5", "raw", "--json"))["value"] == [{"hex": b"12345678".hex()}]
    # The canonical text keeps the bytes.
    assert "2024" not in dumped(tmp_path / "f.h5", "rows", "--canon")
