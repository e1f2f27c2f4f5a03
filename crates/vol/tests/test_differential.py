"""Random work on random datasets has the same results natively and through the connector (`differential.py`).

`VOL_SEEDS=FIRST-LAST` runs other seeds.
"""

import json
import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import differential
import h5py
import numpy as np
import pytest
from through import ALL_CALLS, SAID, TESTED, Report, asserted, run

FIRST, LAST = map(int, os.environ.get("VOL_SEEDS", "0-120").split("-"))
PARTS = 4
PROGRAM = Path(differential.__file__)


def contents(path, opening):
    """Returns the values and the chunks of all datasets of a file, read natively."""
    found = {}

    def visit(name, item):
        if not isinstance(item, h5py.Dataset):
            return
        chunks = []
        if item.chunks is not None:
            item.id.chunk_iter(lambda info: chunks.append((info.chunk_offset, info.filter_mask)))
        try:
            values = differential.summary(np.asarray(item[()]))
        except OSError:
            values = "failed"
        found[name] = values, sorted(chunks), item.shape, item.dtype

    with h5py.File(path, "r", **opening) as file:
        file.visititems(visit)
    return found


def context(work, at):
    """Returns the work up to a place that concerns the same dataset."""
    words = work[at][0].replace("/", "").split()
    name = next((word for word in words if word[0] in "dc" and word[1:].isdigit()), "")
    lines = [f"{what} => {str(result)[:80]}" for what, result in work[: at + 1]]
    return [line for line in lines if f"{name} " in line.replace("/", "") or line.startswith(("file", "re", "open"))]


@pytest.mark.parametrize("part", range(PARTS))
def test_random_work_has_the_same_results(part, tmp_path):
    each = (LAST - FIRST) // PARTS
    first = FIRST + part * each
    report = tmp_path / "report"
    folders = {connector: tmp_path / str(connector) for connector in (None, TESTED)}

    def work(connector):
        folders[connector].mkdir()
        command = ["python", PROGRAM, folders[connector], tmp_path / f"{connector}.out", first, first + each]
        return run(command, connector, report if connector else None, check=False, env=ALL_CALLS)

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(work, folders))
    native, ours = (
        [json.loads(line) for line in (tmp_path / f"{connector}.out").read_text().splitlines()] for connector in folders
    )
    assert done[0].returncode == 0, done[0].stderr[-3000:].decode()
    counts = Counter()
    for (seed, name, opening, expected), (_, _, _, found) in zip(native, ours):
        for at, (mine, theirs) in enumerate(zip(found, expected)):
            if mine != theirs:
                said = "\n".join(context(expected, at))
                pytest.fail(f"seed {seed}, step {at}:\n{said}\nthrough the connector: {mine[1]}", pytrace=False)
            counts[theirs[0].split()[0]] += 1
        assert len(found) == len(expected)
        if opening.get("driver") == "core":
            continue
        written = [contents(folder / name, opening) for folder in folders.values()]
        for path in written[0]:
            if written[1].get(path) != written[0][path]:
                pytest.fail(f"seed {seed}, {path}: {written[1].get(path)}\nnative: {written[0][path]}", pytrace=False)
        counts["datasets compared"] += len(written[0])
    last = ours[-1][0] if ours else first - 1
    assert done[1].returncode == 0, f"seed {last + 1}: {done[1].returncode} {done[1].stderr[-3000:].decode()}"
    said = Report.of(report)
    SAID.append(f"differential: {each} seeds, {dict(counts)}; {said}")
    assert counts["read"] > 2 * each and counts["write"] > 2 * each
    asserted(said.taken["reads"] > each and said.taken["writes"] > each // 12, str(said))
