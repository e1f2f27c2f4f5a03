"""Values of tables: what a column refuses in every way to store it, and forms of rows, as NumPy has them."""

import warnings

import numpy as np
import pandas as pd
import pytest
import tables
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support import hs

COLUMNS = [("i", "i4"), ("big", ">i2"), ("u", "u8"), ("f", "f4"), ("z", "c8"), ("s", "S3"), ("ok", "?")]


def table_of(columns, rows=None, **options):
    table = hs.File.in_memory().create_table("t", columns, **options)
    if rows is not None:
        table.append(rows)
    return table


def stored(put):
    """Returns the row that a program stores, or None if it gets a ValueError and stores nothing."""
    table = table_of(COLUMNS, np.zeros(1, COLUMNS))
    try:
        put(table)
    except ValueError:
        table.flush()
        assert table.read().tobytes() == np.zeros(1, COLUMNS).tobytes()
        return None
    table.flush()
    return table[-1].tolist()


def by_append(name, value):
    return lambda table: table.append({name: [value]})


def by_tuple(name, value):
    row = tuple(value if name == other else 0 if other != "s" else b"" for other, _ in COLUMNS)
    return lambda table: table.append([row])


def by_new_row(name, value):
    def put(table):
        row = table.row
        row[name] = value
        row.append()

    return put


def by_update(name, value):
    def put(table):
        for row in table:
            row[name] = value
            row.update()

    return put


def by_number(name, value):
    def put(table):
        number = table.colnames.index(name)
        for row in table:
            row[number] = value
            row.update()

    return put


def by_item(name, value):
    row = tuple(value if name == other else 0 if other != "s" else b"" for other, _ in COLUMNS)
    return lambda table: table.__setitem__(0, row)


def by_records(name, value):
    record = np.array([(value,)], [(name, np.asarray(value).dtype)])
    return lambda table: table.__setitem__(slice(0, 1), record)


def by_field(name, value):
    return lambda table: table.__setitem__((name, 0), value)


def by_column(name, value):
    return lambda table: getattr(table.cols, name).__setitem__(0, value)


def by_modify(name, value):
    return lambda table: table.modify_column(0, column=[value], colname=name)


def by_write_direct(name, value):
    rows = np.zeros(1, [(other, np.asarray(value).dtype if other == name else kind) for other, kind in COLUMNS])
    rows[name] = value
    return lambda table: table.write_direct(rows)


WAYS = [
    by_append, by_tuple, by_new_row, by_update, by_number, by_item, by_records, by_field, by_column, by_modify,
    by_write_direct,
]  # fmt: skip
REFUSED = [
    ("i", 1.9), ("i", 2**31), ("i", -(2**31) - 1), ("i", float("nan")), ("i", np.float64(2.5)), ("i", 1e300),
    ("i", "3"), ("big", 2**15), ("big", 0.5), ("u", -1), ("u", 2**64), ("f", 1e300), ("f", -1e39), ("z", 1e300j),
    ("z", 1e300), ("s", b"toolong"), ("s", "toolong"), ("s", "üü"), ("s", 2.5), ("ok", 2), ("f", b"1"), ("f", 1j),
]  # fmt: skip
TAKEN = [
    ("i", 3.0, 3), ("i", np.int64(-(2**31)), -(2**31)), ("i", True, 1), ("big", 2**15 - 1, 2**15 - 1),
    ("u", 2**64 - 1, 2**64 - 1), ("f", float("inf"), float("inf")), ("f", 0.1, float(np.float32(0.1))),
    ("f", 2**24 + 1, float(2**24)), ("z", complex("inf"), complex("inf")), ("s", "ü", "ü".encode()),
    ("s", np.str_("ü"), "ü".encode()), ("s", b"ab", b"ab"), ("ok", 1, True), ("ok", np.True_, True),
]  # fmt: skip


def can_be_given(way, value):
    """Whether a value can be given in a way: no record of NumPy has an integer of more than 64 bits."""
    return way not in (by_records, by_write_direct) or np.asarray(value).dtype != object


@pytest.mark.parametrize(
    ("way", "name", "value"),
    [(way, name, value) for way in WAYS for name, value in REFUSED if can_be_given(way, value)],
)
def test_a_value_that_a_column_cannot_hold_is_refused_in_every_way_to_store_it(way, name, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert stored(way(name, value)) is None


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "value", "expected"), TAKEN)
def test_a_value_that_a_column_holds_is_stored_in_every_way(way, name, value, expected):
    row = stored(way(name, value))
    assert row is not None and row[[other for other, _ in COLUMNS].index(name)] == expected


@pytest.mark.parametrize("how", ["append", "rows", "row", "update", "set", "field"])
def test_nan_is_stored_as_it_is(how):
    table = table_of([("f", "f4"), ("i", "i4")], [(0, 0)])
    nan = float("nan")
    if how == "append":
        table.append({"f": [1e30, nan]})
    elif how == "rows":
        table.append([(nan, 1)])
    elif how == "row":
        table.row["f"] = nan
        table.row.append()
    elif how == "update":
        for row in table:
            row["f"] = nan
            row.update()
    elif how == "set":
        table[0] = (nan, 1)
    else:
        table["f", 0] = nan
    table.flush()
    assert np.isnan(table[-1]["f"])


def test_values_of_nested_columns_and_of_arrays_follow_the_same_rule():
    table = table_of(
        [("n", [("x", "i2"), ("s", "S2")]), ("v", "i4", (3,))],
        [((0, b""), [0, 0, 0])] * 2,
    )
    for bad in ((1.5, b""), (1, b"abc"), (2**15, b"")):
        with pytest.raises(ValueError, match="cannot hold"):
            table.row["n"] = bad
        with pytest.raises(ValueError, match="cannot hold"):
            table["n", 0] = bad
        with pytest.raises(ValueError, match="cannot hold"):
            table.cols.n[0] = bad
    for bad in ([1, 2, 2**31], [1, 2, 0.5]):
        with pytest.raises(ValueError, match="cannot hold"):
            table.row["v"] = bad
        with pytest.raises(ValueError, match="cannot hold"):
            table["v", 1] = bad
    with pytest.raises(ValueError, match=r"cannot hold 0\.5 of row 1"):
        table.append({"v": [[1, 2, 3], [1, 2, 0.5]]})
    table["n", 0] = (7, "ü")
    table["v", 0] = [1, 2, 3]
    for row in table.iterrows(1, 2):
        row["n"], row["v"], row["n/x"] = (7, b"ab"), 5, 8
        row.update()
    row = table.row
    row["n"], row["v"] = np.array((1, b"c"), table.dtype["n"])[()], [4, 5, 6]
    row.append()
    table.flush()
    assert [(one["n"].tolist(), one["v"].tolist()) for one in table[:]] == [
        ((7, "ü".encode()), [1, 2, 3]),
        ((8, b"ab"), [5, 5, 5]),
        ((1, b"c"), [4, 5, 6]),
    ]


def test_a_row_that_is_refused_keeps_its_other_values():
    table = table_of(COLUMNS)
    row = table.row
    row["i"] = 4
    with pytest.raises(ValueError, match="column 'big' of >i2 cannot hold 1.5"):
        row["big"] = 1.5
    row.append()
    table.flush()
    assert table[0]["i"] == 4 and table[0]["big"] == 0


def test_items_change_rows_and_columns_as_in_an_array():
    rows = np.zeros(6, [("a", "i4"), ("b", "f8"), ("s", "S4")])
    table = table_of(rows.dtype, rows)
    mask = np.arange(6) % 2 == 1
    for key, value in [
        (0, (1, 2.5, b"one")),
        (slice(1, 3), [(2, 3.5, b"two"), (3, 4.5, b"more")]),
        (slice(3, 6), (7, 8.0, b"all")),
        (mask, np.array([(9, 1.0, b"m")] * 3, [("a", "i8"), ("b", "f8"), ("s", "S9")])),
        (-1, np.array((1, 2, b"last"), rows.dtype)),
        (Ellipsis, rows[::-1]),
    ]:
        table[key] = value
        rows[key] = np.array(value, rows.dtype) if isinstance(value, list) else value
        assert table[:].tobytes() == rows.tobytes()
    table["a"] = np.arange(6)
    table["b", 2:4] = 5
    table["s", mask] = ["x", "y", "ü"]
    rows["a"], rows["b"][2:4], rows["s"][mask] = np.arange(6), 5, [b"x", b"y", "ü".encode()]
    assert table[:].tobytes() == rows.tobytes()
    # Records that lack columns change their own ones. Their order does not matter.
    table[2:4] = np.array([(4, 1), (5, 2)], [("b", "i2"), ("a", "u1")])
    table["b", "a", 5] = np.array((8, 9), [("a", "i8"), ("b", "i8")])
    rows["a"][2:4], rows["b"][2:4], rows["a"][5], rows["b"][5] = [1, 2], [4, 5], 8, 9
    assert table[:].tobytes() == rows.tobytes()
    table["a", "b", 0] = 3
    rows["a"][0] = rows["b"][0] = 3
    table[0:0] = []
    assert table[:].tobytes() == rows.tobytes()


@pytest.mark.parametrize(
    ("key", "value", "error", "said"),
    [
        (0, 5, TypeError, "rows"),
        (0, (1, 2), ValueError, "values, one for each column, not 2"),
        (0, np.zeros(1, [("a", "i4"), ("other", "i4")]), ValueError, "no column 'other'"),
        (("other", 0), 1, ValueError, "no column 'other'"),
        (("a", "b", 0), 1.5, ValueError, "column 'a' of int32 cannot hold 1.5"),
        (slice(0, 2), [(1, 2.0, b""), (1.5, 2.0, b"")], ValueError, "cannot hold 1.5 of row 1"),
    ],
)
def test_an_item_that_is_refused_changes_nothing(key, value, error, said):
    rows = np.ones(3, [("a", "i4"), ("b", "f8"), ("s", "S4")])
    table = table_of(rows.dtype, rows)
    with pytest.raises(error, match=said):
        table[key] = value
    assert table[:].tobytes() == rows.tobytes()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["i8", "f8", "i2", object])
@pytest.mark.parametrize("rows", range(5))
def test_an_array_of_two_dimensions_is_rows(rows, kind, order):
    given_rows = np.asarray(np.arange(3 * rows).reshape(rows, 3), kind, order=order)
    table = table_of([("a", "i4"), ("b", "f4"), ("c", "i8")])
    table.append(given_rows)
    assert table[:].tolist() == [tuple(row) for row in given_rows.tolist()]
    if rows:
        table[0] = given_rows[-1:]
        table.modify_rows(0, rows=given_rows)
        assert table[:].tolist() == [tuple(row) for row in given_rows.tolist()]


def test_an_array_of_other_columns_than_the_table_is_refused():
    table = table_of([("a", "i4"), ("b", "f4")])
    with pytest.raises(ValueError, match="rows must have 2 columns, as the table has, not 3"):
        table.append(np.zeros((2, 3)))
    with pytest.raises(TypeError, match="row 0 must be a tuple .*, not float64"):
        table.append(np.zeros(2))


def test_lists_of_arrays_are_columns_as_in_pytables(tmp_path):
    columns = [np.array([1, 2]), np.array([3.5, 4.5])]
    dtype = np.dtype([("a", "i4"), ("b", "f4")])
    table = table_of(dtype, columns)
    with tables.open_file(tmp_path / "t.h5", "w") as file:
        theirs = file.create_table("/", "t", dtype)
        theirs.append(columns)
        assert theirs.read().tolist() == table[:].tolist()


LARGE = st.integers(-(2**63), 2**64 - 1)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(LARGE | st.floats(-(2**70), 2**70) | st.booleans(), min_size=1, max_size=4), st.sampled_from(["i8", "u8"])
)
@example([1, 2**63 + 5], "u8")
@example([2**60 + 1, 1.0], "i8")
@example([2.0**63], "i8")
def test_large_integers_beside_others_keep_their_digits(values, kind):
    table = table_of([("n", kind)])
    limits = np.iinfo(kind)
    if all(limits.min <= value <= limits.max and int(value) == value for value in values):
        table.append({"n": values})
        assert table.col("n").tolist() == [int(value) for value in values]
        objects = table_of([("n", kind)], {"n": np.array(values, object)})
        assert objects.col("n").tolist() == table.col("n").tolist()
    else:
        with pytest.raises(ValueError, match="cannot hold"):
            table.append({"n": values})


def test_times_lose_nothing():
    table = table_of([("t", "M8[us]"), ("d", "m8[s]"), ("n", "i4")])
    table.append(
        {"t": np.array([1_000, 2_000], "M8[ns]"), "d": np.array([1, 2], "m8[m]"), "n": np.array([1, 2], "M8[s]")}
    )
    assert table.col("t").astype("i8").tolist() == [1, 2]
    assert table.col("d").astype("i8").tolist() == [60, 120]
    for bad in (
        {"t": np.array([1], "M8[ns]")},
        {"t": np.array(["9999999"], "M8[Y]")},
        {"n": np.array([2**40], "M8[s]")},
    ):
        with pytest.raises(ValueError, match="cannot hold"):
            table.append(bad)
    table.append({"t": np.array(["NaT"], "M8[ns]")})
    assert np.isnat(table[-1]["t"])


MASKED = np.ma.array([1, 2], mask=[False, True])


@pytest.mark.parametrize(
    "rows",
    [
        {"a": MASKED},
        [MASKED, np.array([1, 2])],
        [(1, 2), (np.ma.masked, 3)],
        [(1, [2]), (np.ma.masked, 3)],
        np.ma.array([[1, 2], [3, 4]], mask=[[False, False], [True, False]]),
        np.ma.array([(1, 2)], [("a", "i4"), ("b", "i4")], mask=[(False, True)]),
        np.ma.array([(1, 2)], [("a", "i8"), ("b", "i8")], mask=[(False, True)]),
        np.ma.array([(1,)], [("b", "i4")], mask=[(True,)]),
        np.ma.array([(1, 2)], [("a", "i4"), ("b", "i4")], mask=[(False, True)])[0],
    ],
)
def test_masked_values_are_refused(rows):
    table = table_of([("a", "i4"), ("b", "i4")], [(0, 0), (0, 0)])
    for store in (
        lambda: table.append(rows),
        lambda: table.modify_rows(0, rows=rows),
        lambda: table.__setitem__(slice(0, 2), rows),
    ):
        with pytest.raises((ValueError, TypeError), match="mask|dict"):
            store()
    assert table[:].tolist() == [(0, 0), (0, 0)]


def test_one_masked_value_is_refused_and_masked_arrays_without_masked_values_are_stored():
    table = table_of([("a", "i4"), ("b", "i4")], [(0, 0)])
    with pytest.raises(ValueError, match=r"column 'a' has masked values: .*filled\(\)"):
        table.row["a"] = MASKED[1]
    with pytest.raises(ValueError, match="column 'a' has masked values"):
        table.cols.a[0] = MASKED[1]
    with pytest.raises(ValueError, match="column 'a' has masked values"):
        table.modify_column(0, column=MASKED, colname="a")
    for row in table:
        with pytest.raises(ValueError, match="column 'a' has masked values"):
            row["a"] = MASKED[1]
    table.append({"a": MASKED.filled(9), "b": np.ma.array([3, 4])})
    table.append(np.ma.array([(5, 6)], table.dtype))
    assert table[1:].tolist() == [(1, 3), (9, 4), (5, 6)]


@pytest.mark.parametrize(
    ("rows", "error", "said"),
    [
        ({"a": 3}, ValueError, "column 'a' must have one value for each row, not a single value"),
        ({"v": [1, 2, 3]}, ValueError, r"each value of column 'v' must have the shape \(2, 3\), not \(\)"),
        ({"v": np.zeros((2, 3))}, ValueError, r"each value of column 'v' must have the shape \(2, 3\), not \(3,\)"),
        ({"a": np.zeros((2, 2))}, ValueError, "each value of column 'a' must have the shape"),
        ([(1, [[1, 2], [3]])], ValueError, "column 'v'"),
        ([5], TypeError, "row 0 must be a tuple"),
        ([{"a": 1, "v": 2}], TypeError, "row 0 must be a tuple .*, not dict"),
        ([b"ab"], TypeError, "row 0 must be a tuple .*, not bytes"),
        ({"a": [None]}, ValueError, "column 'a'"),
        ({"s": np.array([3], object)}, ValueError, "each value must be str or bytes, not 3"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "must have different names, not a, a"),
    ],
)
def test_rows_of_another_shape_are_refused_by_the_name_of_the_column(rows, error, said):
    columns = [("a", "i4"), ("v", "f8", (2, 3))]
    table = table_of([*columns, ("s", "S4")] if "s" in rows else columns)
    with pytest.raises(error, match=said):
        table.append(rows)
    assert len(table) == 0


@pytest.mark.parametrize("rows", [[], {}, {"v": []}, np.zeros(0), np.zeros((0, 2)), {"a": [], "v": []}], ids=str)
def test_no_rows_append_nothing(rows):
    table = table_of([("a", "i4"), ("v", "f8", (2, 3))])
    table.append(rows)
    assert len(table) == 0


def test_a_value_in_a_row_fills_an_array_as_in_numpy():
    dtype = np.dtype([("a", "i4"), ("v", "f8", (2, 3))])
    rows = [(1, 5.0), (2, 6.0), (3, 7.0)]
    assert table_of(dtype, rows)[:].tobytes() == np.array(rows, dtype).tobytes()
    rows = [(1, [1.0, 2.0, 3.0]), (2, [4.0, 5.0, 6.0])]
    assert table_of(dtype, rows)[:].tobytes() == np.array(rows, dtype).tobytes()


def test_modify_columns_takes_as_many_columns_as_names():
    table = table_of([("a", "i4"), ("v", "i4", (2,))], [(1, [1, 2]), (2, [3, 4])])
    with pytest.raises(ValueError, match="columns must have one item for each of the names a, v, not 1"):
        table.modify_columns(0, columns=[[1]], names=["a", "v"])
    with pytest.raises(ValueError, match="each value of column .v. must have the shape"):
        table.modify_columns(0, columns=[[1, 2]], names=["v"])
    assert table.modify_columns(0, columns=[[9], [[7, 8]]], names=["a", "v"]) == 1
    assert table[0]["a"] == 9 and table[0]["v"].tolist() == [7, 8]


def test_the_defaults_of_columns_that_rows_leave_out_are_read_once(monkeypatch):
    table = table_of([(f"c{number}", "f4") for number in range(50)])
    read, calls = hs.Table._defaults, []
    monkeypatch.setattr(hs.Table, "_defaults", lambda table: calls.append(table) or read(table))
    table.append({"c5": [1.0, 2.0]})
    assert len(calls) == 1
    assert table[1]["c5"] == 2 and table[1]["c6"] == 0
