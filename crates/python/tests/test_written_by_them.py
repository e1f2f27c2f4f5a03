"""Every golden file has the same tree, links, attributes and data with h5py and with hyperslab."""

import itertools
import math
import re
import subprocess
import sys

import h5py
import numpy as np
import pytest
from compare import WRONG_IN_H5PY, compare_files
from support import FILES, GOLDEN, IS_H5PY, WHOLE_FILES, hs, walk

sys.path.insert(0, str(GOLDEN / "make"))
import pattern  # noqa: E402


def refused(name):
    """Returns the paths that hyperslab does not support, according to the manifest."""
    return {d["path"] for d in FILES[name].get("dataset", ()) if d.get("refused")}


@pytest.mark.soak
@pytest.mark.parametrize("name", WHOLE_FILES)
def test_a_file_written_by_libhdf5_is_read_as_by_h5py(both, name):
    ours, theirs = both(name)
    assert ours.userblock_size == theirs.userblock_size
    compare_files(ours, theirs, refused(name))


def expected_values(entry):
    """Returns the values of a dataset of the manifest, computed by its formula."""
    shape, spelled = tuple(entry["shape"]), entry["dtype"]
    count = math.prod(shape)
    if spelled in ("vlen:utf-8", "vlen:ascii"):
        text = pattern.words if spelled == "vlen:utf-8" else pattern.plain_words
        return np.array([text(k).encode() for k in range(count)], object).reshape(shape)
    if spelled.startswith("vlen"):
        out = np.empty(count, object)
        out[:] = [pattern.sequence(k, spelled.removeprefix("vlen")) for k in range(count)]
        return out.reshape(shape)
    if spelled == "bf2":
        return (pattern.brain(np.arange(count)).astype("<u4") << 16).view("<f4").reshape(shape)
    dtype = parsed(spelled)
    fill = np.full(shape, entry.get("fill", 0), dtype) if dtype.kind in "iufb" else np.zeros(shape, dtype)
    if entry["pattern"] == "fill":
        return fill
    values = pattern.array(entry["pattern"], dtype, shape)
    if "written" in entry:
        out = fill.copy()
        for at in entry["written"]:
            corner = tuple(slice(i * c, (i + 1) * c) for i, c in zip(at, entry["chunks"]))
            out[corner] = values[corner]
        return out
    if "box" in entry:
        corner = tuple(slice(0, n) for n in entry["box"])
        fill[corner] = values[corner]
        return fill
    return values


def parsed(spelled):
    """Returns the NumPy type of a type in the spelling of the manifest."""
    if spelled.startswith("("):
        dimensions, base = re.fullmatch(r"\(([\d,]+)\)(.*)", spelled).groups()
        return np.dtype((parsed(base), tuple(map(int, dimensions.split(",")))))
    if not spelled.startswith("{"):
        return np.dtype(spelled)
    fields, depth, start = [], 0, 1
    for i, letter in enumerate(spelled):
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(letter, 0)
        if depth == 1 and letter == "," or depth == 0:
            name, member = spelled[start:i].split(":", 1)
            fields.append((name, parsed(member)))
            start = i + 1
    return np.dtype(fields)


@pytest.mark.parametrize("name", WHOLE_FILES)
def test_golden_values_equal_their_formulas(golden, name):
    with hs.File(golden / name, "r") as file:
        for entry in FILES[name].get("dataset", ()):
            if "dtype" not in entry or entry.get("refused") or (IS_H5PY and entry["path"] in WRONG_IN_H5PY):
                continue
            found = file[entry["path"]][()]
            expected = expected_values(entry)
            where = f"{name} {entry['path']}"
            if expected.dtype.kind == "O":
                for a, b in zip(np.ravel(found), expected.ravel(), strict=True):
                    assert np.array_equal(a, b), where
            else:
                assert np.array_equal(found, expected), where


REFUSED = """
import sys
import hyperslab as hs

with hs.File(sys.argv[1]) as file:
    for path in sys.argv[2:]:
        try:
            print(path, "is read:", file[path][()])
        except NotImplementedError as error:
            assert len(str(error)) > 10
"""


@pytest.mark.process
@pytest.mark.parametrize("name", [name for name in WHOLE_FILES if refused(name)])
def test_unsupported_datasets_are_refused_by_name(golden, name):
    """In a process of its own: in this one, hdf5plugin's compiled filters may be loaded."""
    if IS_H5PY:
        return
    command = [sys.executable, "-c", REFUSED, str(golden / name), *refused(name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize("name", WHOLE_FILES)
def test_chunks_have_the_addresses_that_libhdf5_reports(both, name):
    ours, theirs = both(name)
    found = dict(walk(ours))
    for path, dataset in walk(theirs):
        if not isinstance(dataset, h5py.Dataset) or dataset.chunks is None or path in refused(name):
            continue
        count = dataset.id.get_num_chunks()
        assert found[path].id.get_num_chunks() == count, path
        if misplaced(dataset):
            places = grid(dataset)
        else:
            infos = [dataset.id.get_chunk_info(i) for i in range(min(count, 50))]
            if count <= 50:
                assert {tuple(found[path].id.get_chunk_info(i)) for i in range(count)} == {
                    tuple(info) for info in infos
                }, path
            for info in infos:
                assert tuple(found[path].id.get_chunk_info_by_coord(info.chunk_offset)) == tuple(info), path
            places = [info.chunk_offset for info in infos]
        for place in places:
            assert found[path].id.read_direct_chunk(place) == dataset.id.read_direct_chunk(place), path


def misplaced(dataset):
    """Returns whether libhdf5 2.0 lists the chunks with wrong coordinates.

    It does so for an Extensible Array whose unlimited axis is not the first.
    """
    return dataset.maxshape.count(None) == 1 and dataset.maxshape[0] is not None


def grid(dataset):
    """Returns the coordinates of the first element of every chunk."""
    return list(itertools.product(*(range(0, n, c) for n, c in zip(dataset.shape, dataset.chunks))))
