"""Chunks that a query leaves out by their minima and maxima: values of every kind, against NumPy."""

import re

import h5py
import numpy as np
import pytest
from support import hs

ROWS = 8000
CHUNK = 1000
KINDS = [
    *((f"{order}{kind}", order + kind) for order in "<>" for kind in ("i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")),
    *((kind, kind) for kind in ("i1", "u1", "?", "S4", "<f2")),
]
SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0]


def some_rows(random):
    """Rows whose chunks have different values in each column: some have few, or NaN alone."""
    rows = np.zeros(ROWS, np.dtype([(f"c{number}", kind) for number, (_, kind) in enumerate(KINDS)]))
    for name in rows.dtype.names:
        dtype = rows.dtype[name]
        for start in range(0, ROWS, CHUNK):
            part = rows[name][start : start + CHUNK]
            low = random.integers(0, 100)
            if dtype.kind == "b":
                part[:] = random.choice([[True, True], [False, False], [True, False]])[random.integers(0, 2, CHUNK)]
            elif dtype.kind == "S":
                part[:] = [b"%d" % number for number in random.integers(low, low + 9, CHUNK)]
            elif dtype.kind == "f":
                part[:] = random.choice([low, -low, low / 8]) + random.random(CHUNK)
                part[random.random(CHUNK) < random.choice([0, 0.1, 1], p=[0.6, 0.3, 0.1])] = random.choice(SPECIAL)
            else:
                limits = np.iinfo(dtype)
                edge = [limits.min, 0, limits.max - 20][random.integers(3)]
                part[:] = np.array([edge + int(n) for n in random.integers(0, 20, CHUNK)], dtype)
    return rows


def some_condition(random, rows):
    """A comparison of a column with a value near those that it has, and which rows meet it."""
    name = random.choice(rows.dtype.names)
    column, dtype = rows[name], rows.dtype[name]
    if dtype.kind == "b":
        return (name, column) if random.random() < 0.5 else (f"~{name}", ~column)
    value = column[random.integers(0, ROWS)].item()
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        value = min(max(value + int(random.integers(-2, 3)), limits.min), limits.max)
    operator, compare = random.choice(
        [("<", np.less), ("<=", np.less_equal), (">", np.greater), (">=", np.greater_equal), ("==", np.equal)]
    )
    with np.errstate(invalid="ignore"):
        met = compare(column, column.dtype.type(value))
    if dtype.kind == "f":
        literal = {"nan": "(1e999 - 1e999)", "inf": "1e999", "-inf": "(-1e999)"}.get(str(value), repr(value))
        # A literal of Python has the type of the column, as for NumPy.
        return f"{name} {operator} {literal}", met
    return f"{name} {operator} {value!r}", met


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    random = np.random.default_rng(5)
    rows = some_rows(random)
    path = tmp_path_factory.mktemp("bounds") / "t.h5"
    with hs.File(path, "w") as file:
        file.create_table("t", rows.dtype, chunkshape=CHUNK, compression=hs.Blosc2("lz4"), obj=rows)
    return path, rows


def left_out(table, condition):
    found = re.search(r"left out by minima and maxima: (\d+) of (\d+) chunks", table.explain(condition))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def test_chunks_are_left_out_and_no_row_is_missing(made):
    path, rows = made
    random = np.random.default_rng(6)
    skipped = 0
    with hs.File(path) as file:
        table = file["t"]
        for _ in range(400):
            (one, met), (other, also) = some_condition(random, rows), some_condition(random, rows)
            for condition, expected in [
                (one, met),
                (f"({one}) & ({other})", met & also),
                (f"({one}) | ({other})", met | also),
                (f"~({one}) & ({other})", ~met & also),
            ]:
                expected = np.flatnonzero(expected)
                assert np.array_equal(table.get_where_list(condition), expected), condition
            chunks, of = left_out(table, one)
            assert of in (0, ROWS // CHUNK)
            assert chunks <= of - len(np.unique(np.flatnonzero(met) // CHUNK)) or of == 0, one
            skipped += chunks
    assert skipped > 500


def test_a_range_of_rows_leaves_out_its_own_chunks(made):
    path, rows = made
    with hs.File(path) as file:
        table = file["t"]
        for start, stop in [(0, 0), (1, 2), (999, 1001), (2500, 7001), (0, ROWS), (7999, 9000)]:
            low, high = rows["c0"][start:stop].min(initial=99), rows["c0"][start:stop].max(initial=0)
            for condition, met in [(f"c0 > {high}", rows["c0"] > high), (f"c0 <= {low}", rows["c0"] <= low)]:
                expected = np.flatnonzero(met[start:stop]) + start
                assert np.array_equal(table.get_where_list(condition, start=start, stop=stop), expected)


def test_values_that_another_program_changed_are_found(made, tmp_path):
    """h5py writes the chunks anew, so that their minima and maxima are gone."""
    path, rows = made
    copy = tmp_path / "copy.h5"
    copy.write_bytes(path.read_bytes())
    changed = rows.copy()
    changed["c4"][::1500] = 12345
    with h5py.File(copy, "r+") as file:
        file["t"][:] = changed.view(file["t"].dtype)
    with hs.File(copy) as file:
        assert np.array_equal(file["t"].get_where_list("c4 == 12345"), np.arange(0, ROWS, 1500))


def test_changed_rows_have_new_minima_and_maxima(made, tmp_path):
    path, rows = made
    copy = tmp_path / "copy.h5"
    copy.write_bytes(path.read_bytes())
    with hs.File(copy, "r+") as file:
        table = file["t"]
        missing = int(np.setdiff1d(np.arange(30000), rows["c4"].astype("i8"))[0])
        assert left_out(table, f"c4 == {missing}")[1] == ROWS // CHUNK
        table.modify_column(start=1700, stop=1701, column=np.array([missing], "i4"), colname="c4")
        table.append(rows[:5])
        assert table.get_where_list(f"c4 == {missing}").tolist() == [1700]


@pytest.mark.parametrize(
    ("condition", "scalars"),
    [
        ("c > x + y", {"x": np.int8(100), "y": np.int8(100)}),
        ("c < x - y", {"x": np.uint8(3), "y": np.uint8(5)}),
        ("c == -x", {"x": np.uint8(3)}),
        ("c == x + y", {"x": np.float32(0.1), "y": np.float32(0.2)}),
        ("c == x + x", {"x": np.int64(2**62)}),
        ("c >= -x", {"x": np.int16(-(2**15))}),
    ],
)
@pytest.mark.parametrize("is_indexed", [False, True])
def test_operators_on_typed_scalars_wrap_and_round_where_rows_are_left_out(condition, scalars, is_indexed):
    """The rows that an index and the bounds of chunks leave are those of the computed condition."""
    kind = next(iter(scalars.values())).dtype
    with np.errstate(over="ignore"):
        right = eval(condition.split(maxsplit=2)[2], {}, scalars)  # noqa: S307
        rows = np.zeros(ROWS, [("c", kind)])
        rows["c"] = np.arange(ROWS).astype(kind)
        rows["c"][CHUNK // 2 :: CHUNK] = right
        expected = np.flatnonzero(eval(condition, {}, {"c": rows["c"], **scalars}))  # noqa: S307
    with hs.File.in_memory() as file:
        table = file.create_table("t", rows.dtype, chunkshape=CHUNK, compression=hs.Blosc2("lz4"), obj=rows)
        if is_indexed:
            table.create_index("c")
        np.testing.assert_array_equal(table.get_where_list(condition, scalars), expected)
