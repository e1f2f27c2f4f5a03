"""Queries: an index and a scan against NumPy, on random tables, random boolean trees and random edits."""

import numpy as np
import pytest
import tables
from hypothesis import given, settings
from hypothesis import strategies as st
from soundness import CHECKS
from support import hs

KINDS = np.dtype(
    [
        ("i", "i4"),
        ("u", "u8"),
        ("f", "f8"),
        ("g", "f4"),
        ("b", "?"),
        ("s", "S3"),
        ("t", "i8"),
        ("n", [("x", "i2")]),
    ]
)
SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -1.5, 2.0]


def some_rows(count, seed):
    random = np.random.default_rng(seed)
    rows = np.zeros(count, KINDS)
    rows["i"] = random.integers(-50, 51, count)
    rows["u"] = random.choice(np.array([0, 1, 2, 2**63, 2**63 + 1, 2**64 - 1], "u8"), count)
    rows["f"] = random.choice([*SPECIAL, *np.linspace(-40, 40, 50)], count)
    rows["g"] = random.choice([*SPECIAL, *np.linspace(-40, 40, 50)], count).astype("f4")
    rows["b"] = random.integers(0, 2, count)
    rows["s"] = random.choice([b"", b"a", b"ab", b"abc", b"b", b"\xff", *(b"%03d" % n for n in range(30))], count)
    rows["t"] = np.sort(random.integers(0, 1000, count))
    rows["n"]["x"] = random.integers(-30, 31, count)
    return rows


numbers = st.one_of(st.integers(-52, 52), st.sampled_from([0.5, -1.5, 2.0, 1e300, float("inf")]))
leaves = st.one_of(
    st.tuples(st.sampled_from("ifgt"), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), numbers),
    st.tuples(st.just("t"), st.sampled_from(["<", ">", "=="]), st.integers(0, 1000)),
    st.integers(0, 1000).map(lambda low: ("&", ("t", ">=", low), ("t", "<", low + 30))),
    st.tuples(
        st.just("u"), st.sampled_from(["<", ">=", "=="]), st.sampled_from([0, 1, 2, 2**63, 2**63 + 1, 2**64 - 1])
    ),
    st.tuples(st.just("s"), st.sampled_from(["<", "<=", ">", "==", "!="]), st.sampled_from([b"", b"a", b"ab", b"b"])),
    st.tuples(st.just("n.x"), st.sampled_from(["<", "==", ">"]), st.integers(-31, 31)),
    st.just(("b",)),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.just("&"), inner, inner), st.tuples(st.just("|"), inner, inner), st.tuples(st.just("~"), inner)
    ),
    max_leaves=6,
)
OPERATORS = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


def text(tree):
    """The condition that a tree is."""
    if tree[0] == "b":
        return "b"
    if tree[0] == "~":
        return f"~({text(tree[1])})"
    if tree[0] in "&|":
        return f"({text(tree[1])}) {tree[0]} ({text(tree[2])})"
    name, operator, value = tree
    return f"{name} {operator} {'1e999' if value == float('inf') else repr(value)}"


def mask(tree, rows):
    """The rows that meet the condition, as NumPy computes it."""
    if tree[0] == "b":
        return rows["b"]
    if tree[0] == "~":
        return ~mask(tree[1], rows)
    if tree[0] == "&":
        return mask(tree[1], rows) & mask(tree[2], rows)
    if tree[0] == "|":
        return mask(tree[1], rows) | mask(tree[2], rows)
    name, operator, value = tree
    column = rows["n"]["x"] if name == "n.x" else rows[name]
    with np.errstate(over="ignore"):
        return OPERATORS[operator](column, value)


@pytest.fixture(scope="module")
def indexed():
    """Tables with the same rows: without indexes, with complete ones, and with those of other kinds."""
    rows = some_rows(3000, 1)
    file = hs.File.in_memory()
    made = []
    for name, kind in [("scan", None), ("full", "full"), ("medium", "medium"), ("light", "light")]:
        table = file.create_table(name, KINDS, chunkshape=257, compression=hs.Blosc2("lz4"), obj=rows)
        for number, column in enumerate(["i", "u", "f", "g", "b", "s", "t", "n/x"] if kind else []):
            # One column in four stays without an index.
            if number % 4 != 3 or kind == "full":
                table.create_index(column, kind=kind, optlevel=9 if kind == "full" else 6)
        made.append(table)
    return rows, made


CASES = {"trees": 0, "through an index": 0}


@pytest.mark.soak
@settings(max_examples=400, deadline=None)
@given(trees, st.integers(0, 3000), st.integers(0, 3000), st.sampled_from([1, 1, 2, 7]))
def test_every_index_returns_what_a_scan_and_numpy_return(indexed, tree, start, stop, step):
    rows, made = indexed
    expected = np.flatnonzero(mask(tree, rows))
    condition = text(tree)
    inside = expected[(expected >= start) & (expected < stop) & ((expected - start) % step == 0)]
    for table in made:
        assert np.array_equal(table.get_where_list(condition), expected), (table.name, condition)
        assert np.array_equal(table.get_where_list(condition, start=start, stop=stop, step=step), inside)
        assert table.count_where(condition) == len(expected)
        CASES["through an index"] += bool(table.will_query_use_indexing(condition))
        CASES["trees"] += 1
    assert table.read_where(condition)["t"].tolist() == rows["t"][expected].tolist()


@pytest.mark.soak
def test_indexes_were_used():
    assert CASES["through an index"] > 50
    CHECKS.said.append(f"queries: {CASES['trees']} conditions, {CASES['through an index']} through an index")


edits = st.lists(
    st.tuples(
        st.sampled_from(["append", "modify", "column", "remove", "set", "flush"]),
        st.integers(0, 400),
        st.integers(0, 60),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.soak
@settings(max_examples=80, deadline=None)
@given(edits, st.lists(trees, min_size=1, max_size=4), st.sampled_from(["full", "medium", "light", "ultralight"]))
def test_indexes_follow_random_edits(steps, conditions, kind):
    model, new = some_rows(400, 2), some_rows(4000, 3)
    table = hs.File.in_memory().create_table("t", KINDS, chunkshape=64, obj=model)
    for column in ("i", "f", "s", "t"):
        table.create_index(column, kind=kind)
    for what, start, count in steps:
        start = min(start, len(model))
        stop = min(start + count, len(model))
        some, new = new[: stop - start], new[stop - start :]
        if what == "append":
            table.append(some)
            model = np.concatenate([model, some])
        elif what == "modify":
            table.modify_rows(start, stop, rows=some)
            model[start:stop] = some
        elif what == "column":
            table.modify_column(start, stop, column=some["f"], colname="f")
            model["f"][start:stop] = some["f"]
        elif what == "remove":
            table.remove_rows(start, stop)
            model = np.delete(model, slice(start, stop))
        elif what == "set":
            table[start:stop] = some
            model[start:stop] = some
        else:
            table.flush()
        for tree in conditions:
            assert np.array_equal(table.get_where_list(text(tree)), np.flatnonzero(mask(tree, model)))


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["ultralight", "light", "medium", "full"])
def test_indexes_of_pytables_return_what_a_scan_returns(tmp_path, kind):
    rows = some_rows(100_000, 4)
    with tables.open_file(tmp_path / "t.h5", "w") as file:
        table = file.create_table("/", "t", obj=rows)
        for name in ("i", "f", "s", "t"):
            table.colinstances[name].create_index(optlevel=9 if kind == "full" else 6, kind=kind)
    with hs.File(tmp_path / "t.h5") as file:
        table = file["t"]
        used = 0
        for seed in range(40):
            low, high = sorted(np.random.default_rng(seed).integers(0, 1000, 2))
            condition = f"(t >= {low}) & (t < {min(high, low + 60)}) | (s == b'ab') & (t == {high})"
            expected = (rows["t"] >= low) & (rows["t"] < min(high, low + 60)) | (rows["s"] == b"ab") & (
                rows["t"] == high
            )
            assert np.array_equal(table.get_where_list(condition), np.flatnonzero(expected))
            used += bool(table.will_query_use_indexing(condition))
        # The smaller kinds name too many of so few rows.
        assert used > 10 or kind in ("light", "ultralight")


def test_an_index_that_another_program_left_behind_is_not_used(tmp_path):
    import h5py

    rows = some_rows(2000, 5)
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_table("t", KINDS, obj=rows)
        table.create_csindex("t")
    with h5py.File(tmp_path / "t.h5", "r+") as file:
        rows["t"][7] = 5000
        changed = file["t"][7:8]
        changed["t"] = 5000
        file["t"][7:8] = changed
    with hs.File(tmp_path / "t.h5") as file:
        assert file["t"].get_where_list("t > 4000").tolist() == [7]
        assert "not used" in file["t"].explain("t > 4000")


def test_the_wrong_rows_of_pytables_are_right_here(tmp_path):
    """pandas-dev/pandas#50598: PyTables loses rows of `(A & B) | (C & D)` on indexed columns."""
    random = np.random.default_rng(6)
    rows = np.zeros(20_000, [("a", "i8"), ("b", "i8"), ("c", "i8"), ("d", "i8")])
    for name in rows.dtype.names:
        rows[name] = random.integers(0, 1000, len(rows))
    with tables.open_file(tmp_path / "t.h5", "w") as file:
        table = file.create_table("/", "t", obj=rows)
        for name in rows.dtype.names:
            table.colinstances[name].create_index()
    with hs.File(tmp_path / "t.h5") as file:
        for seed in range(40):
            a, b, c, d = np.random.default_rng(seed).integers(0, 900, 4).tolist()
            condition = f"((a > {a}) & (b < {b})) | ((c > {c}) & (d == {d}))"
            expected = ((rows["a"] > a) & (rows["b"] < b)) | ((rows["c"] > c) & (rows["d"] == d))
            assert np.array_equal(file["t"].get_where_list(condition), np.flatnonzero(expected))


def test_names_of_a_condition_are_columns_then_variables(indexed):
    rows, (table, *_) = indexed
    i, limit, text_, single = "a variable", 3, "ab", np.float32(1.5)
    assert table.count_where("i > limit") == (rows["i"] > 3).sum()
    assert table.count_where("i > limit", {"limit": 4}) == (rows["i"] > 4).sum()
    assert table.count_where("s == text_") == (rows["s"] == b"ab").sum()
    assert table.count_where("g > single") == (rows["g"] > 1.5).sum()
    assert table.count_where("x > y", {"x": table.cols.n.x, "y": table.cols.i}) == (rows["n"]["x"] > rows["i"]).sum()
    assert all([i, limit, text_, single])
    with pytest.raises(ValueError, match="nothing"):
        table.count_where("i > nothing")
    with pytest.raises(ValueError, match="nothing"):
        table.count_where("i > nothing", {"other": 1})


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("", "operand"),
        ("i >", "operand"),
        ("(i > 1", "parenthesis"),
        ("i > 1 and i < 3", "&"),
        ("not b", "~"),
        ("1 < i < 3", "chain"),
        ("i + 1", "must be a comparison, not int"),
        ("i > 1 & f < 2", "put each one in parentheses"),
        ("i = 1", "=="),
        ("f & b", "put each comparison in parentheses"),
        ("s > 1", "bytes"),
        ("i > 'a'", "a number must be compared with a number, not a string"),
        ("b == 'a'", "True or False, not a string"),
        ("nofunction(i) > 1", "not known"),
        ("sum(i) > 1", "reduction"),
        ("i > 1 " * 30_000, "bytes"),
        ("(" * 5000 + "b" + ")" * 5000, "deeply"),
        ("i ** -1 > 0", "negative power"),
    ],
)
def test_a_wrong_condition_says_what_to_write(indexed, condition, said):
    with pytest.raises(ValueError, match=said):
        indexed[1][0].count_where(condition)


def test_a_query_can_stop_after_some_rows(indexed):
    rows, made = indexed
    expected = rows[rows["i"] > 45]
    for table in made:
        for limit in (0, 1, 5, 10_000):
            found = table.read_where("i > 45", limit=limit)
            assert found.tobytes() == expected[:limit].tobytes()
        assert len(table.read_where("i > 45", limit=3, step=2)) == 3


def test_columns_of_a_query_are_records_and_a_field_is_an_array(indexed):
    rows, made = indexed
    at = rows["i"] == 2
    for table in made:
        found = table.read_where("i == 2", columns=["t", "s"])
        assert found.dtype.names == ("t", "s") and np.array_equal(found["s"], rows["s"][at])
        assert np.array_equal(table.read_where("i == 2", field="n/x"), rows["n"]["x"][at])
        with pytest.raises(KeyError):
            table.read_where("i == 2", field="nothing")


def test_a_condition_without_columns_is_true_for_all_rows_or_none(indexed):
    table = indexed[1][0]
    assert table.count_where("1 < 2") == len(table) and table.count_where("1 > 2") == 0
    assert len(table.get_where_list("True", start=5, stop=9)) == 4


def test_rows_of_a_query_can_be_changed_and_copied(indexed):
    rows, _ = indexed
    file = hs.File.in_memory()
    table = file.create_table("t", KINDS, obj=rows)
    for row in table.where("(i == 2) & b"):
        row["t"] = -row.nrow
        row.update()
    at = np.flatnonzero((rows["i"] == 2) & rows["b"])
    assert np.array_equal(table.col("t")[at], -at)
    other = file.create_table("other", KINDS)
    assert table.append_where(other, "t < 0") == len(at) - (at == 0).sum()
    assert (other.col("i") == 2).all()
