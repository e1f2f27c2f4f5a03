"""The programs that only read print the same, byte for byte, for every golden file."""

import re
from itertools import zip_longest

import h5py
import pytest
from through import ALL_CALLS, GOLDEN, SAID, TESTED, Report, asserted, run

FILES = sorted(path for path in GOLDEN.rglob("*") if path.suffix in (".h5", ".nc"))

# Datasets without fill values: libhdf5 shows memory that it has not initialized.
UNDEFINED = {"fill_earliest.h5", "fill_latest.h5"}

# Filters of the connector that libhdf5 has too.
FILTERS = {1, 2, 3, 4, 5, 6}


def must_be_taken(path):
    """Returns whether a file has a dataset whose reads have no reason to be left to the native connector."""
    found = []

    def visit(name, item):
        if not isinstance(item, h5py.Dataset) or item.chunks is None or not item.size or item.is_virtual:
            return
        plist = item.id.get_create_plist()
        filters = {plist.get_filter(index)[0] for index in range(plist.get_nfilters())}
        plain = item.id.get_type().get_class() in (h5py.h5t.INTEGER, h5py.h5t.FLOAT)
        if plain and filters and filters <= FILTERS and item.id.get_num_chunks():
            found.append(name)

    try:
        with h5py.File(path) as file:
            file.visititems(visit)
    except (OSError, RuntimeError):
        return False
    return bool(found)


# Of references, h5dump and h5ls print where they are in memory.
IN_MEMORY = re.compile(rb"(DATASET|GROUP)([- ](?:-?\d+:)?)\d{12,}")


def difference(expected, found):
    """Returns the first lines of two outputs that differ."""
    pairs = zip_longest(expected.splitlines(), found.splitlines())
    return next((pair for pair in pairs if pair[0] != pair[1]), None)


COMMANDS = {
    "h5dump": ["h5dump"],
    "h5dump -pH": ["h5dump", "-pH"],
    "h5ls -rvd": ["h5ls", "-rvd"],
    "h5stat": ["h5stat"],
    "ncdump": ["ncdump"],
    "ncdump -hs": ["ncdump", "-hs"],
}


def defined(native, other, ours):
    """Returns lines of two outputs, without those that two native runs print differently."""
    lines = [output.splitlines() for output in (native, other, ours)]
    assert len({len(found) for found in lines}) == 1
    kept = [(line, mine) for line, again, mine in zip(*lines) if line == again]
    assert len(kept) > len(lines[0]) - 20
    return [b"\n".join(column) for column in zip(*kept)]


@pytest.mark.parametrize("name", COMMANDS)
def test_prints_the_same(name, tmp_path):
    report = tmp_path / "report"
    worked = taken = 0
    for path in FILES:
        command = [*COMMANDS[name], path]
        native = run(command, check=False)
        before = Report.of(report).taken["reads"]
        ours = run(command, TESTED, report, check=False, env=ALL_CALLS)
        expected, found = (IN_MEMORY.sub(rb"\1\2", done.stdout) for done in (native, ours))
        if found != expected and path.name in UNDEFINED:
            expected, found = defined(expected, run(command, check=False).stdout, found)
        same = (ours.returncode, found) == (native.returncode, expected)
        assert same, f"{command}: {difference(expected, found)}\n{ours.stderr[-2000:].decode()}"
        worked += native.returncode == 0
        here = Report.of(report).taken["reads"] - before
        taken += here
        if name == "h5dump" and native.returncode == 0 and must_be_taken(path):
            asserted(here, f"{path}: no read was taken over")
    SAID.append(f"{name}: {len(FILES)} files, {worked} of them read without an error; {Report.of(report)}")
    assert worked > (30 if name.startswith("ncdump") else 90)
    if name in ("h5dump", "h5ls -rvd", "ncdump"):
        asserted(taken > 50, taken)


def datasets_of(path):
    found = []
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
    return found


def test_binary_dumps_are_the_same(tmp_path):
    report = tmp_path / "report"
    count = 0
    for path in FILES:
        try:
            names = datasets_of(path)
        except (OSError, RuntimeError):
            continue
        for name in names[:4]:
            dumps = []
            for connector in (None, TESTED):
                out = tmp_path / f"dump-{connector}"
                out.unlink(missing_ok=True)
                command = ["h5dump", "-b", "LE", "-d", f"/{name}", "-o", out, path]
                done = run(command, connector, report if connector else None, check=False, env=ALL_CALLS)
                dumps.append((done.returncode, done.stdout, out.read_bytes() if out.exists() else None))
            same = dumps[0] == dumps[1]
            assert same, (path, name)
            count += 1
    SAID.append(f"h5dump -b: {count} datasets; {Report.of(report)}")
    assert count > 150
