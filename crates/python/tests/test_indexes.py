"""Indexes of tables: PyTables and hyperslab use each other's, and neither ever hides a row."""

import random

import h5py
import hyperslab as hs
import numpy as np
import pytest
import tables

KINDS = [("ultralight", 0), ("ultralight", 9), ("light", 0), ("light", 6), ("light", 9)]
KINDS += [("medium", 0), ("medium", 3), ("medium", 6), ("medium", 9), ("full", 0), ("full", 6), ("full", 9)]
#: Sizes of superblocks, blocks, slices and chunks that small tables fill.
SIZES = (512, 256, 128, 32)
DTYPE = np.dtype(
    [("f8", "f8"), ("f4", "f4"), ("f2", "f2"), ("i1", "i1"), ("i2", "i2"), ("i4", "i4"), ("i8", "i8"), ("u1", "u1")]
    + [("u2", "u2"), ("u4", "u4"), ("u8", "u8"), ("b", "?"), ("s", "S5"), ("n", [("x", "f8"), ("s", "S11")])]
)
COLUMNS = [name for name in DTYPE.names if name != "n"] + ["n/x", "n/s"]
#: PyTables neither indexes 64-bit unsigned integers, nor compares float16 in queries.
THEIRS = [name for name in COLUMNS if name not in ("u8", "f2")]


def some_rows(count, seed=0, special=True):
    rng = np.random.default_rng(seed)
    rows = np.zeros(count, DTYPE)
    for name in ("f8", "f4", "f2"):
        rows[name] = rng.integers(-30, 30, count) / 4
        if special and count:
            for value in (np.nan, np.inf, -np.inf, -0.0, 0.0):
                rows[name][rng.integers(0, count, max(count // 20, 1))] = value
    rows["n"]["x"] = rng.normal(size=count)
    for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
        info = np.iinfo(DTYPE[name])
        rows[name] = rng.integers(0, 40, count)
        if info.min < 0:
            rows[name] -= 20
        if count:
            near = rng.integers(0, 3, count // 10).astype(DTYPE[name])
            rows[name][rng.integers(0, count, count // 10)] = DTYPE[name].type(info.max) - near
            rows[name][rng.integers(0, count, count // 10)] = info.min
    rows["b"] = rng.random(count) < 0.3
    rows["s"] = [b"%d" % number if number % 5 else b"" for number in rng.integers(0, 200, count)]
    rows["n"]["s"] = [b"%x" % (number**3) for number in rng.integers(0, 3000, count)]
    return rows


def column_of(rows, path):
    for name in path.split("/"):
        rows = rows[name]
    return rows


def bounds_of(values, seed):
    """Pairs of bounds: values of the column, values between, and none."""
    rng = random.Random(seed)
    plain = [value for value in np.unique(values).tolist() if value == value]
    pairs = [(None, None)]
    for _ in range(2):
        low, high = sorted((rng.choice(plain), rng.choice(plain))) if plain else (0, 0)
        pairs += [(low, high), (low, low), (None, high), (low, None), (high, low)]
    return pairs


def expected(values, low, high):
    found = values == values
    if low is not None:
        found &= values >= np.asarray(low, values.dtype)
    if high is not None:
        found &= values <= np.asarray(high, values.dtype)
    return np.flatnonzero(found)


def rows_of(ranges):
    """The rows of ranges, without a loop over them: there may be as many as rows."""
    starts, stops = ranges.astype(np.int64).T
    ends = np.cumsum(stops - starts)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(stops - ends, stops - starts)


def check_searches(table, path, values, seed):
    """Compares searches of an index with NumPy. Returns the number of searches."""
    index = table.colindexes[path]
    pairs = bounds_of(values, seed)
    # Rows that the index does not know yet may match.
    kind, known = index.kind, index.nelements
    for low, high in pairs:
        found = rows_of(index.search(low, high))
        true = expected(values, low, high)
        if kind == "full":
            assert np.array_equal(found[found < known], true[true < known]), (path, low, high)
        assert np.isin(true, found).all(), (path, kind, index.optlevel, low, high)
    return len(pairs)


@pytest.mark.soak
@pytest.mark.parametrize(("kind", "optlevel"), KINDS)
def test_indexes_of_pytables_are_searched(tmp_path, kind, optlevel):
    searches = 0
    for seed, count in enumerate((0, 1, 100, 1000)):
        rows = some_rows(count, seed)
        with tables.open_file(tmp_path / "t.h5", "w") as file:
            table = file.create_table("/", "t", rows, chunkshape=seed * 10 + 7)
            for path in THEIRS:
                table.cols._f_col(path).create_index(optlevel, kind, _blocksizes=SIZES)
            table.append(some_rows(150, seed + 100))
            table.flush()
            values = table.read()
        with hs.File(tmp_path / "t.h5") as file:
            table = file["t"]
            assert table.indexedcolpathnames == [name for name in table.colpathnames if name in THEIRS]
            for path in THEIRS:
                index = table.cols._f_col(path).index
                assert (index.kind, index.optlevel, index.dirty) == (kind, optlevel, False)
                if index.unusable and "part of the values" in index.unusable:
                    # PyTables has kept every how many-th value only.
                    assert kind != "full"
                    with pytest.raises(TypeError, match="build the index again"):
                        index.search(None, None)
                    continue
                assert index.unusable is None, (path, kind, optlevel, count)
                assert len(index) <= len(values)
                searches += check_searches(table, path, column_of(values, path), seed)
    print(f"{searches} searches of PyTables' indexes, {kind} {optlevel}")


# With the usual sizes, small tables fill the last row of an index only, whatever its level.
@pytest.mark.soak
@pytest.mark.parametrize(
    ("kind", "optlevel", "sizes"),
    [(*kind, SIZES) for kind in KINDS] + [(kind, 6, None) for kind in ("ultralight", "light", "medium", "full")],
)
def test_pytables_uses_our_indexes(tmp_path, kind, optlevel, sizes):
    searches = 0
    for seed, count in enumerate((0, 1000) if sizes else (0, 130, 1000)):
        rows = some_rows(count, seed, special=False)
        with hs.File(tmp_path / "t.h5", "w") as file:
            # Buckets of rows divide blocks: PyTables adds rows to others in a way that it does not find
            # again.
            table = file.create_table("t", DTYPE, chunkshape=8 << seed, obj=rows)
            for path in COLUMNS:
                assert table.create_index(path, optlevel, kind, _blocksizes=sizes) == count
            for more in range(2):
                new = some_rows(70 * more + 70, 1000 + more, special=False)
                table.append(new)
                rows = np.concatenate([rows, new])
                for path in COLUMNS:
                    searches += check_searches(table, path, column_of(rows, path), seed)
        with tables.open_file(tmp_path / "t.h5", "a") as file:
            table = file.root.t
            assert table.indexed and table.autoindex
            for changes in range(2):
                for path in THEIRS:
                    index = table.cols._f_col(path).index
                    assert (index.kind, index.optlevel, index.dirty) == (kind, optlevel, False)
                    assert index.nelements == len(rows)
                    # With reduced values that PyTables has added, it reads row numbers beyond the last one.
                    if not changes or index.reduction == 1:
                        searches += check_queries(table, path, column_of(rows, path), seed, index)
                table.append(some_rows(200, 7 + changes, special=False))
                table.flush()
                rows = table.read()
        with hs.File(tmp_path / "t.h5") as file:
            for path in THEIRS:
                index = file["t"].colindexes[path]
                if index.unusable is None:
                    searches += check_searches(file["t"], path, column_of(rows, path), seed)
                else:
                    # PyTables has added reduced values to our reduced values.
                    assert kind != "full" and "part of the values" in index.unusable
    print(f"{searches} searches of our indexes, {kind} {optlevel}")


def check_queries(table, path, values, seed, index):
    """Compares indexed queries of PyTables with NumPy. Returns the number of queries."""
    column = table.cols._f_col(path)
    pairs = bounds_of(values, seed)[1:12]
    if column.dtype.kind == "b":
        pairs = [(True, True), (False, False)]
    count = 0
    for low, high in pairs:
        if low is None or high is None or low > high:
            continue
        # A name of its own for each column: PyTables remembers rows by the text of the condition and the
        # values.
        name = path.replace("/", "_")
        condition = f"{name} == low" if low == high else f"({name} >= low) & ({name} <= high)"
        names = {name: column, "low": low} if low == high else {name: column, "low": low, "high": high}
        assert table.will_query_use_indexing(condition, names), path
        true = expected(values, low, high)
        assert np.array_equal(np.sort(table.get_where_list(condition, names)), true), (path, low, high)
        count += 1
    if index.kind == "full" and index.is_csi:
        order = table.read_sorted(column, checkCSI=True)
        assert np.array_equal(column_of(order, path), np.sort(values))
    return count


def test_our_index_is_completely_sorted_for_pytables(tmp_path):
    rows = some_rows(5000, 3)
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_table("t", DTYPE, obj=rows)
        for path in COLUMNS:
            table.create_csindex(path)
            index = table.colindexes[path]
            assert index.is_csi and index.nelements == 5000
            values = column_of(rows, path)
            ordered = values[index[:]]
            assert np.array_equal(ordered, np.sort(values), equal_nan=values.dtype.kind == "f")
            assert np.array_equal(index[::-1], index[:][::-1]) and np.array_equal(index[10:500:7], index[:][10:500:7])
            assert index[-1] == index[:][-1]
    with tables.open_file(tmp_path / "t.h5") as file:
        for path in THEIRS:
            index = file.root.t.cols._f_col(path).index
            assert index.is_csi
            values = column_of(rows, path)
            found = (
                column_of(file.root.t.read_sorted(path.replace("/", "."), checkCSI=True), path)
                if "/" not in path
                else None
            )
            if found is not None:
                assert np.array_equal(found, np.sort(values), equal_nan=values.dtype.kind == "f")


@pytest.mark.soak
def test_larger_tables_fill_slices_of_the_usual_sizes(tmp_path):
    rng = np.random.default_rng(5)
    rows = np.zeros(400_000, [("x", "f8"), ("s", "S3"), ("k", "i2")])
    rows["x"], rows["k"] = rng.normal(size=len(rows)), rng.integers(0, 50, len(rows))
    rows["s"] = rng.integers(100, 999, len(rows)).astype("S3")
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_table("t", rows.dtype, obj=rows)
        for path, kind in (("x", "full"), ("s", "medium"), ("k", "light")):
            table.create_index(path, 9 if kind == "full" else 6, kind)
    with tables.open_file(tmp_path / "t.h5") as file:
        table = file.root.t
        assert table.cols.x.index.is_csi and table.cols.x.index.nslices > 0
        for low, high in ((-0.01, 0.01), (3.5, 9.0), (-9.0, -3.0)):
            assert table.will_query_use_indexing("(x >= low) & (x <= high)", {"low": low, "high": high})
            found = table.get_where_list("(x >= low) & (x <= high)", {"low": low, "high": high}, sort=True)
            assert np.array_equal(found, expected(rows["x"], low, high))
        assert np.array_equal(np.sort(table.get_where_list("s == b'123'")), np.flatnonzero(rows["s"] == b"123"))
        assert np.array_equal(np.sort(table.get_where_list("k == 7")), np.flatnonzero(rows["k"] == 7))
        assert np.array_equal(table.read_sorted("x")["x"], np.sort(rows["x"]))


def test_times_and_enumerated_columns(tmp_path):
    class Columns(tables.IsDescription):
        day = tables.Time32Col()
        time = tables.Time64Col()
        state = tables.EnumCol({"dry": 1, "wet": 2}, "dry", base="uint8")

    rng = np.random.default_rng(1)
    with tables.open_file(tmp_path / "t.h5", "w") as file:
        table = file.create_table("/", "t", Columns)
        rows = np.zeros(500, table.dtype)
        rows["day"], rows["state"] = rng.integers(-99, 99, 500), rng.integers(1, 3, 500)
        rows["time"] = np.round(rng.normal(scale=1e9, size=500), 6)
        table.append(rows)
        for path in ("day", "time", "state"):
            table.cols._f_col(path).create_csindex()
        table.flush()
        rows = table.read()
    with hs.File(tmp_path / "t.h5", "r+") as file:
        table = file["t"]
        for _ in range(2):
            assert [index.unusable for index in table.colindexes.values()] == [None] * 3
            index = table.cols.time.index
            for number in range(0, 500, 50):
                value = rows["time"][number]
                assert np.array_equal(rows_of(index.search(value, value)), np.flatnonzero(rows["time"] == value))
            assert np.array_equal(rows["time"][index[:]], np.sort(rows["time"]))
            assert np.array_equal(rows_of(table.cols.day.index.search(-3, 5)), expected(rows["day"], -3, 5))
            table.reindex()
    with tables.open_file(tmp_path / "t.h5") as file:
        found = file.root.t.get_where_list("(time > -1e8) & (time < 1e8)")
        assert file.root.t.will_query_use_indexing("(time > -1e8) & (time < 1e8)")
        assert np.array_equal(np.sort(found), np.flatnonzero((rows["time"] > -1e8) & (rows["time"] < 1e8)))


def test_other_programs_that_leave_an_index_stale_are_noticed(tmp_path):
    noticed = 0
    for maker in ("ours", "theirs"):
        for compression in (None, "gzip"):
            for kind in ("medium", "full"):
                rows = some_rows(2000, 1)
                path = tmp_path / "t.h5"
                with hs.File(path, "w") as file:
                    table = file.create_table("t", DTYPE, obj=rows, compression=compression)
                    if maker == "ours":
                        table.create_index("i4", 6, kind)
                if maker == "theirs":
                    with tables.open_file(path, "a") as file:
                        file.root.t.cols.i4.create_index(6, kind)
                with hs.File(path) as file:
                    assert file["t"].cols.i4.index.unusable is None
                # libhdf5 changes one value in place: no size and no address in the file tells of it.
                with h5py.File(path, "r+") as file:
                    row = file["t"][77]
                    row["i4"] = 12345
                    file["t"][77] = row
                with hs.File(path, "r+") as file:
                    index = file["t"].cols.i4.index
                    assert not index.dirty and "has changed" in index.unusable
                    with pytest.raises(TypeError, match="build the index again"):
                        index.search(12345, 12345)
                    file["t"].reindex_dirty()
                    assert rows_of(index.search(12345, 12345)).tolist().count(77) == 1
                # A value of another column changes no index; a table that shrinks makes it unusable.
                with h5py.File(path, "r+") as file:
                    row = file["t"][78]
                    row["f8"] = 1e9
                    file["t"][78] = row
                with hs.File(path) as file:
                    assert file["t"].cols.i4.index.unusable is None
                with h5py.File(path, "r+") as file:
                    file["t"].resize((1000,))
                with hs.File(path) as file:
                    assert "has 1000" in file["t"].cols.i4.index.unusable
                noticed += 1
    print(f"{noticed} stale indexes noticed")


def test_indexes_follow_every_change_of_a_table(tmp_path):
    rows = some_rows(600, 2, special=False)
    rng = np.random.default_rng(0)
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_table("t", DTYPE, obj=rows)
        table.create_index("i4", kind="full")
        table.create_index("n/x", kind="light")

        def change(number):
            match number % 7:
                case 0:
                    table.append(some_rows(30, number))
                case 1:
                    table.modify_column(5, 9, column=rng.integers(-5, 5, 4), colname="i4")
                case 2:
                    table.remove_rows(10, 40, 3)
                case 3:
                    table.cols.n.x[3] = 0.5
                case 4:
                    table.row["i4"] = 3
                    table.row.append()
                case 5:
                    table[7:9] = some_rows(2, number)
                case 6:
                    table.modify_coordinates([100, 3], some_rows(2, number))

        for number in range(35):
            change(number)
            if number % 3 == 0:
                table.flush()
                assert [index.dirty for index in table.colindexes.values()] == [False, False]
                now = table[:]
                for path in ("i4", "n/x"):
                    check_searches(table, path, column_of(now, path), number)
            else:
                for index in table.colindexes.values():
                    assert index.dirty or index.unusable is None
        now = table[:]
    with tables.open_file(tmp_path / "t.h5") as file:
        index = file.root.t.cols.i4.index
        assert not index.dirty and index.nelements == len(now)
        assert np.array_equal(np.sort(file.root.t.get_where_list("i4 == 3")), np.flatnonzero(now["i4"] == 3))
    assert not [finding for finding in hs.check(tmp_path / "t.h5") if finding.severity == "error"]


@pytest.mark.parametrize("filters", [None, hs.Blosc2("lz4")])
@pytest.mark.parametrize("kind", ["full", "medium"])
def test_an_undone_transaction_leaves_the_index_and_the_rows_that_it_found(tmp_path, filters, kind):
    """Also without filters, when elements are written in place."""
    rows = np.zeros(3000, [("x", "f8"), ("n", "i4")])
    rows["x"] = np.random.default_rng(3).normal(size=len(rows))
    path, condition = tmp_path / "t.h5", "(x > 0.1) & (x < 0.4)"
    with hs.File(path, "w") as file:
        table = file.create_table("t", rows.dtype, obj=rows, chunkshape=100, compression=filters)
        table.create_index("x", kind=kind, filters=filters if filters else tables.Filters())
        file.flush()
        with pytest.raises(RuntimeError, match="undo"), file.transaction():
            table.append(rows[:700])
            table.modify_column(0, 3000, column=-rows["x"], colname="x")
            table.flush()
            table.append(rows[:10])
            table.reindex()
            table.remove_rows(5, 1000)
            table.flush()
            raise RuntimeError("undo")
        assert np.array_equal(table.read(), rows)
        expected = np.flatnonzero((rows["x"] > 0.1) & (rows["x"] < 0.4))
        assert np.array_equal(table.get_where_list(condition), expected)
        assert table.cols.x.index.unusable is None
    with tables.open_file(path) as file:
        table = file.root.t
        assert table.will_query_use_indexing(condition)
        assert np.array_equal(np.sort(table.get_where_list(condition)), expected)
    assert not [finding for finding in hs.check(path) if finding.severity == "error"]


def test_a_boolean_of_h5py_is_true_in_an_index_if_any_bit_is_set(tmp_path):
    path, rows = tmp_path / "t.h5", np.zeros(1000, [("on", "?"), ("n", "i4")])
    rows["on"][::100] = True
    with h5py.File(path, "w") as file:
        file.create_dataset("t", data=rows, chunks=(100,), maxshape=(None,))
        file["t"].attrs["CLASS"] = np.bytes_("TABLE")
        stored = rows.view([("on", "i1"), ("n", "i4")]).copy()
        stored["on"][5], stored["on"][7] = 2, -1
        booleans = file["t"].id.get_type().get_member_type(0)
        raw = h5py.h5t.create(h5py.h5t.COMPOUND, 5)
        raw.insert(b"on", 0, booleans)
        raw.insert(b"n", 1, h5py.h5t.NATIVE_INT32)
        file["t"].id.write(h5py.h5s.ALL, h5py.h5s.ALL, stored, mtype=raw)
    expected = sorted({5, 7, *range(0, 1000, 100)})
    with hs.File(path, "r+") as file:
        table = file["t"]
        assert table.get_where_list("on").tolist() == expected
        table.create_index("on", kind="full")
        assert table.get_where_list("on").tolist() == expected
        assert table.will_query_use_indexing("on") and table.get_where_list("~on & (n == 0)").size == 1000 - len(
            expected
        )


def test_a_loop_in_the_order_of_a_column_may_change_another_column():
    with hs.File.in_memory() as file:
        table = file.create_table(
            "t", [("a", "i4"), ("b", "i4")], obj={"a": np.arange(1000)[::-1], "b": np.zeros(1000)}
        )
        table.create_csindex("a")
        table.create_csindex("b")
        for row in table.itersorted("a", stop=500):
            row["b"] = row["a"]
            row.update()
        assert table.cols.b.index.dirty and not table.cols.a.index.dirty
        assert table.read_sorted("a")["b"].tolist() == [*range(500), *[0] * 500]


def test_without_autoindex_changes_mark_indexes(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_table("t", DTYPE, obj=some_rows(100))
        table.create_index("i4")
        assert table.autoindex
        table.autoindex = False
        table.append(some_rows(5))
    with tables.open_file(tmp_path / "t.h5", "a") as file:
        assert not file.root.t.autoindex and file.root.t.cols.i4.index.dirty
    with hs.File(tmp_path / "t.h5", "r+") as file:
        table = file["t"]
        assert not table.autoindex and table.cols.i4.index.dirty and "out of date" in table.cols.i4.index.unusable
        assert "out of date" in repr(table.cols.i4.index)
        table.autoindex = True
        table.reindex_dirty()
        assert table.autoindex and not table.cols.i4.index.dirty and table.cols.i4.index.nelements == 105


def test_arguments(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_table("t", [("c", "c16"), ("a", "f8", (2,)), ("x", "f8"), ("n", [("y", "i4")])])
        with pytest.raises(TypeError, match="complex"):
            table.create_index("c")
        with pytest.raises(TypeError, match="multidimensional"):
            table.create_index("a")
        with pytest.raises(TypeError, match="nested"):
            table.create_index("n")
        with pytest.raises(KeyError):
            table.create_index("z")
        with pytest.raises(ValueError, match="kind must be"):
            table.create_index("x", kind="best")
        with pytest.raises(ValueError, match="levels are 0 to 9"):
            table.create_index("x", 10)
        with pytest.raises(ValueError, match="multiple"):
            table.create_index("x", _blocksizes=(4, 3, 2, 1))
        table.create_index("n.y", filters=hs.Blosc2("zstd", 3))
        assert file["_i_t/n/y/sorted"].filter_names == ("blosc2",)
        table.reindex()
        assert file["_i_t/n/y/sorted"].filter_names == ("blosc2",)
        table.create_index("x", filters=tables.Filters(5, "zlib"))
        with pytest.raises(ValueError, match="an index already"):
            table.create_index("x")
        assert table.indexedcolpathnames == ["x", "n/y"] and table.cols.n.y.is_indexed
        table.remove_index("x")
        table.remove_index("x")
        assert table.cols.x.index is None and table.indexed
        with pytest.raises(IndexError):
            table.cols.n.y.index[0]
    with hs.File(tmp_path / "t.h5") as file:
        with pytest.raises(OSError):
            file["t"].create_index("x")
        with pytest.raises(OSError):
            file["t"].reindex()


@pytest.mark.parametrize("name", ["indexes_2_0.h5", "indexes_2_1.h5"])
def test_old_indexes_of_pytables(name):
    path = tables.tests.common.test_filename(name)
    used = 0
    with hs.File(path) as file, tables.open_file(path) as theirs:
        for node in theirs.walk_nodes("/", "Table"):
            table = hs.Table(file[node._v_pathname].id)
            for column, index in table.colindexes.items():
                if index.unusable is None:
                    values = column_of(node.read(), column)
                    used += check_searches(table, column, values, 1)
                else:
                    assert "part of the values" in index.unusable or index.dirty, index.unusable
    assert used > 0
    print(f"{used} searches of indexes in {name}")
