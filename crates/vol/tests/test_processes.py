"""Several libhdf5s in one process, processes that fork, and processes that are killed."""

import json
import random
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
from through import ALL_CALLS, COUNTED, SAID, TESTED, Report, asserted, environment, run

VALUES = np.arange(600_000, dtype="<f4").reshape(600, 1000)

TOGETHER = """
import sys
import h5py, netCDF4, tables
import numpy as np
expected = np.arange(600_000, dtype="<f4").reshape(600, 1000)
for turn in range(2):
    with h5py.File(sys.argv[1]) as file:
        assert (file["d"][:] == expected).all()
        with tables.open_file(sys.argv[2]) as other, netCDF4.Dataset(sys.argv[3]) as third:
            assert (other.root.d[:] == expected).all()
            assert (third["d"][:] == expected).all()
            assert (file["d"][100:300] == expected[100:300]).all()
            assert (third["d"][100:300] == expected[100:300]).all()
            assert (other.root.d[100:300] == expected[100:300]).all()
versions = h5py.version.hdf5_version, tables.hdf5_version, netCDF4.__hdf5libversion__
assert len(set(versions)) == 3, versions
print(*sorted(versions))
"""


def test_three_libraries_in_one_process(tmp_path):
    import netCDF4
    import tables

    paths = [tmp_path / name for name in ("h5py.h5", "tables.h5", "netcdf.nc")]
    with h5py.File(paths[0], "w") as file:
        file.create_dataset("d", data=VALUES, chunks=(100, 1000), compression="gzip", shuffle=True)
    with tables.open_file(paths[1], "w") as file:
        filters = tables.Filters(complevel=1, complib="zlib")
        file.create_carray("/", "d", obj=VALUES, filters=filters, chunkshape=(100, 1000))
    with netCDF4.Dataset(paths[2], "w") as file:
        file.createDimension("y", 600)
        file.createDimension("x", 1000)
        file.createVariable("d", "f4", ("y", "x"), zlib=True, chunksizes=(100, 1000))[:] = VALUES
    report = tmp_path / "report"
    done = run(["python", "-c", TOGETHER, *paths], TESTED, report)
    said = Report.of(report)
    versions = done.stdout.decode().split()
    SAID.append(f"three libraries in one process ({', '.join(versions)}): {said}")
    if COUNTED:
        assert sorted(said.libraries[0]) == versions
        # Of the netCDF library, the first read of a file goes to its own buffer.
        assert said.taken["reads"] == 12, str(said)


FORKED = """
import multiprocessing, os, sys
import h5py
import numpy as np
expected = np.arange(600_000, dtype="<f4").reshape(600, 1000)
file = h5py.File(sys.argv[1])
dataset = file["d"]
assert (dataset[:] == expected).all()
def work(number):
    for turn in range(3):
        assert (dataset[:] == expected).all()
        assert (dataset[100 * number : 100 * number + 150] == expected[100 * number : 100 * number + 150]).all()
    with h5py.File(sys.argv[1]) as again:
        assert (again["d"][:] == expected).all()
    return number
context = multiprocessing.get_context("fork")
with context.Pool(3) as pool:
    assert pool.map(work, range(6), chunksize=1) == list(range(6))
child = os.fork()
if child == 0:
    work(1)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert (dataset[:] == expected).all()
"""


def test_children_read_after_a_fork(tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file.create_dataset("d", data=VALUES, chunks=(50, 1000), compression="gzip", shuffle=True)
    report = tmp_path / "report"
    run(["python", "-c", FORKED, tmp_path / "f.h5"], TESTED, report, timeout=120)
    said = Report.of(report)
    SAID.append(f"fork: {said}")
    # The reads of the parent and of the last child; processes of a pool end by `os._exit`, without a report.
    asserted(said.taken["reads"] >= 9, str(said))


COUNTING = """
import os, sys
import h5py
import numpy as np
with h5py.File(sys.argv[1], "w") as file:
    file.create_dataset("d", data=np.zeros((64, 64)), chunks=(16, 64), compression="gzip")
for work in (False, True):
    if os.fork() == 0:
        if work:
            with h5py.File(sys.argv[1]) as file:
                file["d"][:]
        sys.exit(0)
    assert os.wait()[1] == 0
"""


def test_a_child_reports_its_own_calls(tmp_path):
    """The parent writes and its second child reads. The first child makes no call, and reports nothing."""
    report = tmp_path / "report"
    run(["python", "-c", COUNTING, tmp_path / "f.h5"], TESTED, report, timeout=60, env=ALL_CALLS)
    if COUNTED:
        lines = [json.loads(line) for line in report.read_text().splitlines()]
        assert [(line["reads"]["taken"], line["writes"]["taken"]) for line in lines] == [(1, 0), (0, 1)]


WRITER = """
import os, sys
import h5py
import numpy as np
file = h5py.File(sys.argv[1], "w")
dataset = file.create_dataset("d", (0, 1000), "<f4", maxshape=(None, 1000), chunks=(30, 1000), compression="gzip")
for number in range(10_000):
    dataset.resize(20 * (number + 1), axis=0)
    dataset[20 * number :] = np.full((20, 1000), number, "<f4")
    file.flush()
    print(number, flush=True)
"""


def kill(connector, path, after):
    """Kills a writer after a time, and returns the last step that was flushed."""
    program = [sys.executable, "-c", WRITER, path]
    env = environment(connector, **ALL_CALLS)
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as writer:
        first = writer.stdout.readline()
        assert first == b"0\n", writer.stderr.read()
        time.sleep(after)
        writer.send_signal(signal.SIGKILL)
        lines = [first, *writer.stdout]
    return int(lines[-1])


READER = """
import json, sys
import h5py
steps = int(sys.argv[2])
try:
    with h5py.File(sys.argv[1]) as file:
        found = file["d"][: 20 * (steps + 1)]
    wrong = [step for step in range(steps + 1) if (found[20 * step : 20 * step + 20] != step).any()]
    print(json.dumps(wrong))
except (OSError, KeyError, RuntimeError) as error:
    print(json.dumps("failed: " + str(error)[:100]))
"""


def test_a_writer_that_is_killed_leaves_what_it_flushed(tmp_path):
    """A file may not open, as natively; if it opens, all that was flushed is there."""
    outcomes = {}
    for connector in (None, TESTED):
        pauses = random.Random(7)
        outcomes[connector] = []
        for turn in range(8):
            path = tmp_path / f"{connector}-{turn}.h5"
            steps = kill(connector, path, pauses.uniform(0.02, 0.4))
            # The last step that was said to be flushed; a later one may be half in the file.
            done = run(["python", "-c", READER, path, steps], timeout=60)
            outcomes[connector].append(json.loads(done.stdout))
    said = {
        str(connector): [sum(outcome == [] for outcome in found), sum(isinstance(outcome, str) for outcome in found)]
        for connector, found in outcomes.items()
    }
    SAID.append(f"killed writers (all there, not readable): {said}")
    for connector, found in outcomes.items():
        wrong = [outcome for outcome in found if isinstance(outcome, list) and outcome]
        assert not wrong or connector is None, outcomes
    readable = [sum(isinstance(outcome, list) for outcome in found) for found in outcomes.values()]
    assert readable[1] >= readable[0] - 4, outcomes
