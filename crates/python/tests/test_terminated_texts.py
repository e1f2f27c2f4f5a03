"""Null-terminated texts in records, with other bytes behind the terminator: h5py and h5dump stop there."""

import subprocess
import sys

import h5py
import numpy as np
import pyarrow as pa
import pytest
from support import hs

CODE = "import sys; from hyperslab._native import run_cli; sys.exit(run_cli(['hyperslab', *sys.argv[1:]]))"
STORED = [b"ab\0xyz\0\0", b"ab\0\0\0\0\0\0", b"abcdefgh", b"\0bcdefgh", b"ab\x01\0\0\0\0q", b"aa\0\0\0\0\0z"]


def text(padding):
    datatype = h5py.h5t.C_S1.copy()
    datatype.set_size(8)
    datatype.set_strpad(padding)
    return datatype


@pytest.fixture
def path(tmp_path):
    """Records with the stored bytes in a terminated column, a padded one, and a nested one."""
    terminated, padded = text(h5py.h5t.STR_NULLTERM), text(h5py.h5t.STR_NULLPAD)
    record = h5py.h5t.create(h5py.h5t.COMPOUND, 36)
    inner = h5py.h5t.create(h5py.h5t.COMPOUND, 16)
    inner.insert(b"pair", 0, h5py.h5t.array_create(terminated, (2,)))
    for name, offset, datatype in ((b"name", 0, terminated), (b"raw", 8, padded), (b"in", 16, inner)):
        record.insert(name, offset, datatype)
    record.insert(b"n", 32, h5py.h5t.STD_I32BE)
    rows = np.zeros(len(STORED), [("name", "V8"), ("raw", "V8"), ("in", "V16"), ("n", ">i4")])
    rows["name"] = rows["raw"] = np.frombuffer(b"".join(STORED), "V8")
    rows["in"] = np.frombuffer(b"".join(one + one for one in STORED), "V16")
    rows["n"] = np.arange(len(STORED))
    with h5py.File(tmp_path / "texts.h5", "w") as file:
        space = h5py.h5s.create_simple((len(STORED),), (h5py.h5s.UNLIMITED,))
        chunks = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        chunks.set_chunk((4,))
        h5py.h5d.create(file.id, b"t", record, space, chunks).write(space, space, rows, record)
    return tmp_path / "texts.h5"


def expected(path):
    with h5py.File(path) as file:
        return file["t"][:]


CONDITIONS = ["name == b'ab'", "name > b'ab'", "name < b'ab'", "name == b''", "name != b'abcdefgh'", "raw == b'ab'"]


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("is_indexed", [False, True])
def test_conditions_hold_for_the_values_that_are_read(path, condition, is_indexed):
    rows = expected(path)
    name, operator, value = condition.split()
    found = {"==": np.equal, ">": np.greater, "<": np.less, "!=": np.not_equal}[operator](
        rows[name], value[2:-1].encode()
    )
    with hs.File(path, "r+") as file:
        table = hs.Table(file["t"].id)
        if is_indexed:
            table.create_index(name)
        assert table.read_where(condition).tobytes() == rows[found].tobytes()
        assert table.get_where_list(condition).tolist() == np.flatnonzero(found).tolist()


@pytest.mark.whole
def test_values_end_at_the_terminator_wherever_they_are_read(path):
    rows = expected(path)
    with hs.File(path) as file:
        table = hs.Table(file["t"].id)
        for read in (table.read(), table[:], file["t"][:], table.read_where("n >= 0")):
            assert read.tobytes() == rows.tobytes()
        arrow = pa.table(table.query(binary=True))
        assert arrow["name"].to_pylist() == rows["name"].tolist()
        assert [one["pair"] for one in arrow["in"].to_pylist()] == rows["in"]["pair"].tolist()
        assert arrow["raw"].to_pylist() == rows["raw"].tolist()
    done = subprocess.run(
        [sys.executable, "-c", CODE, "query", str(path), "/t", "--columns", "name", "--format", "csv"],
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout.splitlines()[1:] == [one.decode() or '""' for one in rows["name"].tolist()]


@pytest.mark.whole
def test_a_text_that_fills_a_terminated_column_is_kept_whole(path):
    with hs.File(path, "r+") as file:
        table = hs.Table(file["t"].id)
        table.append(pa.table(table.query(binary=True)).slice(2, 1))
        assert table[-1]["name"] == b"abcdefgh"
