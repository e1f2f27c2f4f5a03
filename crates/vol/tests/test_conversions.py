"""Conversions between numbers give the same bits as libhdf5's, or are left to it.

Values beyond the range of a type are converted by libhdf5 as the machine and its compiler do.
"""

import json

import h5py
import numpy as np
from through import ALL_CALLS, HERE, SAID, TESTED, Report, asserted, run

PROGRAM = """
import itertools, json, sys
import h5py
import numpy as np
sys.path.insert(0, sys.argv[3])
from test_conversions import TYPES, name_of, values_of
read = {}
with h5py.File(sys.argv[1], "w") as file:
    for stored in TYPES:
        values = values_of(stored)
        options = {"chunks": (len(values),), "compression": "gzip", "compression_opts": 1}
        file.create_dataset(f"read/{name_of(stored)}", data=values, **options)
        for memory in TYPES:
            file.create_dataset(f"written/{name_of(memory)} to {name_of(stored)}", values.shape, stored, **options)
with h5py.File(sys.argv[1]) as file:
    for stored, memory in itertools.product(TYPES, TYPES):
        dataset = file[f"read/{name_of(stored)}"]
        assert dataset.dtype == stored
        out = np.empty(dataset.shape, memory)
        dataset.read_direct(out)
        read[f"{name_of(stored)} to {name_of(memory)}"] = out.tobytes().hex()
with h5py.File(sys.argv[1], "r+") as file:
    for memory, stored in itertools.product(TYPES, TYPES):
        dataset = file[f"written/{name_of(memory)} to {name_of(stored)}"]
        dataset.write_direct(np.resize(values_of(memory), dataset.shape))
json.dump(read, open(sys.argv[2], "w"))
"""

TYPES = ["i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "u1", "<u2", ">u2", "<u4", ">u4", "<u8", ">u8"]
TYPES += ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]
TYPES = [np.dtype(name) for name in TYPES]


def name_of(dtype):
    return f"{'big' if dtype.byteorder == '>' else 'little'} {dtype.kind}{dtype.itemsize}"


def values_of(dtype):
    """Returns values at the limits of types, and random bits."""
    bits = np.random.default_rng(1).integers(0, 256, 1000 * dtype.itemsize).astype("u1")
    if dtype.kind == "f":
        at = [0, 0.4, 0.5, 0.6, 1, 1.5, 2.5, 127.5, 128, 255.5, 256, 2049, 32768, 65504, 65519, 65520, 2**24 + 1]
        at += [2.0**31, 2.0**31 - 1, 2.0**32, 2.0**53 + 2, 2.0**63, 2.0**64, 3.5e38, 1e300, 6e-8, 2.98e-8, 1e-40, 1e-45]
        at = np.array([*at, np.inf, np.nan, float(np.finfo(dtype).max), float(np.finfo(dtype).tiny)])
        with np.errstate(over="ignore"):
            special = np.concatenate([at, -at]).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        at = [sign * (2**power + more) for power in range(64) for more in (-1, 0, 1) for sign in (1, -1)]
        special = np.array(sorted({value for value in at if limits.min <= value <= limits.max}), dtype)
    # NumPy joins arrays in the byte order of the machine.
    return np.concatenate([special, bits.view(dtype)]).astype(dtype)


def test_conversions_give_the_same_bits(tmp_path):
    report = tmp_path / "report"
    read, written = [], []
    for connector in (None, TESTED):
        path, out = tmp_path / f"{connector}.h5", tmp_path / f"{connector}.json"
        command = ["python", "-c", PROGRAM, path, out, HERE]
        run(command, connector, report if connector else None, env=ALL_CALLS)
        read.append(json.loads(out.read_text()))
        with h5py.File(path) as file:
            written.append({name: dataset[()].tobytes() for name, dataset in file["written"].items()})
    wrong = [f"reading {pair}" for pair in read[0] if read[0][pair] != read[1][pair]]
    wrong += [f"writing {pair}" for pair in written[0] if written[0][pair] != written[1][pair]]
    assert not wrong, f"{len(wrong)} of {2 * len(read[0])}: {', '.join(wrong)}"
    said = Report.of(report)
    SAID.append(f"conversions: {len(read[0])} pairs of types; {said}")
    asserted(said.taken["reads"] > 100 and said.taken["writes"] > 100, str(said))
