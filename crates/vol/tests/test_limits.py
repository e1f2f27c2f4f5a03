"""A disk that is full, and the memory that parts of chunks take."""

import json

import pytest
from through import ALL_CALLS, SAID, TESTED, Report, asserted, run

DISK = """
import json, os, resource, signal, sys
import h5py
import numpy as np

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def fails(action, *arguments):
    try:
        action(*arguments)
    except (OSError, RuntimeError):
        return True
    return False

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
rows, columns = map(int, sys.argv[2:])
step = np.random.default_rng(0).integers(0, 256, (8, columns)).astype("<i4")
file = h5py.File(sys.argv[1], "w")
options = {"chunks": (16, columns), "compression": "gzip", "compression_opts": 1}
dataset = file.create_dataset("d", (rows, columns), "<i4", **options)
file.flush()
"""

FULL = """
limit(4 << 20)
firsts = range(0, rows, 8)
failed = [first for first in firsts if fails(dataset.__setitem__, slice(first, first + 8), step + first)]
limit(resource.RLIM_INFINITY)
file.flush()
lost = [first for first in firsts if (dataset[first : first + 8] != step + first).any()]
file.close()
print(json.dumps([failed, lost]))
"""


def full_disk(rows, tmp_path, connector=TESTED):
    """Writes rows to a disk that is full after 4 MiB, and then is not.

    Returns the first rows of writes that failed, and of writes that are not in the file, and the report.
    """
    report = tmp_path / "report"
    program = ["python", "-c", DISK + FULL, tmp_path / "f.h5", rows, 16_384]
    failed, lost = json.loads(run(program, connector, report, timeout=60, env=ALL_CALLS).stdout)
    SAID.append(f"full disk: of {rows // 8} writes {len(failed)} failed, {len(lost)} are lost")
    return failed, lost, Report.of(report)


@pytest.mark.parametrize("rows", [560, 1600])
def test_rows_that_a_full_disk_does_not_take_are_an_error(rows, tmp_path):
    """Each row that is lost was written by a call that failed, or before one."""
    failed, lost, said = full_disk(rows, tmp_path)
    assert failed and max(lost, default=0) <= max(failed), (failed, lost)
    asserted(said.left["writes"]["earlier parts not stored"], str(said.left))


HELD = """
dataset[40:48] = step
limit(100_000)
print(fails(file.flush), fails(dataset.refresh), fails(lambda: dataset[0:1]), fails(file.close), flush=True)
os._exit(0)
"""


def test_parts_that_cannot_be_stored_fail_each_call_that_stores_them(tmp_path):
    """The chunks are larger than libhdf5's cache of them, which therefore does not take the parts."""
    done = run(["python", "-c", DISK + HELD, tmp_path / "f.h5", 64, 1 << 18], TESTED, timeout=60, env=ALL_CALLS)
    asserted(done.stdout == b"True True True True\n", done.stdout)


CLOSED = """
dataset[40:48] = step
limit(100_000)
print(fails(dataset.id.close), bool(dataset))
limit(resource.RLIM_INFINITY)
print(fails(file.close), fails(file.close))
"""


def test_parts_that_are_lost_at_the_close_of_a_dataset_fail_the_close_of_the_file(tmp_path):
    """The dataset is closed: after an error, libhdf5 would keep its identifier, whose handle is gone."""
    done = run(["python", "-c", DISK + CLOSED, tmp_path / "f.h5", 64, 1 << 18], TESTED, timeout=60, env=ALL_CALLS)
    asserted(done.stdout == b"False False\nTrue False\n", done.stdout)


MEMORY = """
import sys
import h5py
import numpy as np
rows, step = map(int, sys.argv[2:])
with h5py.File(sys.argv[1], "w") as file:
    options = {"chunks": (1, 1 << 19), "compression": "gzip", "compression_opts": 1}
    dataset = file.create_dataset("d", (rows, 1 << 19), "<f4", **options)
    for first in range(0, rows, step):
        dataset[first : first + step, 0:9] = np.ones((step, 9), "<f4")
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.parametrize(("rows", "step", "most"), [(144, 144, 200), (224, 16, 400)], ids=["one call", "many calls"])
def test_parts_of_chunks_are_held_in_bounded_memory(rows, step, most, tmp_path):
    """Parts of chunks of 2 MiB are written, of more of them than 192 MiB."""
    report = tmp_path / "report"
    done = run(["python", "-c", MEMORY, tmp_path / "f.h5", rows, step], TESTED, report, timeout=60, env=ALL_CALLS)
    peak = int(done.stdout) >> 10
    SAID.append(f"parts of {rows} chunks of 2 MiB: {peak} MiB of memory")
    assert peak < most < 2 * rows
    said = Report.of(report)
    asserted(said.left["writes"] == ({"part of a chunk": 1} if rows == step else {}), str(said.left))
