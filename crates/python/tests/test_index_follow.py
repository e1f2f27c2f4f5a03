"""Indexes go where their table goes: removed, moved, copied and replaced tables, also by other programs."""

import warnings

import h5py
import hyperslab as hs
import numpy as np
import pytest
import tables

DTYPE = np.dtype([("x", "f8"), ("k", "i4"), ("n", [("s", "S4")])])


def some_rows(count=300, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.zeros(count, DTYPE)
    rows["x"], rows["k"] = rng.normal(size=count), rng.integers(0, 9, count)
    rows["n"]["s"] = rng.integers(0, 99, count).astype("S4")
    return rows


def indexed(group, name="t", rows=None, kind="full"):
    """A table with an index on each column."""
    table = group.create_table(name, DTYPE, chunkshape=32, obj=some_rows() if rows is None else rows)
    for path in ("x", "k", "n/s"):
        table.create_index(path, kind=kind)
    return table


def check(table, is_used=True):
    """Compares queries with NumPy. `is_used` says whether they use an index."""
    rows = table[:]
    for condition, true in (("k == 3", rows["k"] == 3), ("x > 2", rows["x"] > 2)):
        assert np.array_equal(table.get_where_list(condition), np.flatnonzero(true))
    assert bool(table.will_query_use_indexing("x > 2")) == is_used
    return rows


def check_pytables(path, name):
    """Compares indexed queries of PyTables with NumPy."""
    with tables.open_file(path) as file:
        table = file.get_node(name)
        rows = table.read()
        assert table.will_query_use_indexing("x > 1")
        assert np.array_equal(np.sort(table.get_where_list("x > 1")), np.flatnonzero(rows["x"] > 1))
        return rows


def test_removed_tables_leave_no_index(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        group = file.create_group("g")
        for remove in (
            lambda: group.__delitem__("t"),
            lambda: file.__delitem__("/g/t"),
            lambda: file.__delitem__("g/t/"),
            lambda: group.pop("t"),
            lambda: group.clear(),
        ):
            indexed(group)
            assert "_i_t" in group
            remove()
            assert list(group) == []
        with pytest.raises(KeyError):
            del group["t"]
        # A name before that of its indexes.
        indexed(group, "T")
        group.clear()
        assert list(group) == []
        indexed(group)
        del file["g"]
        assert list(file) == []
        # Objects of the user with such a name stay.
        file["_i_t"], file["t"] = 1, 2
        del file["t"]
        assert list(file) == ["_i_t"]


def test_waiting_rows_and_indexes_of_removed_tables_are_dropped(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        for number in range(6):
            group = file.create_group("g")
            table = indexed(group)
            table.row["k"] = 5
            table.row.append()
            table.remove_rows(0, 5)
            table.row.append()
            if number % 2:
                del group["t"]
            else:
                del file["g"]
                group = file.create_group("g")
            again = group.create_table("t", [("other", "i4")], obj=np.ones(number, [("other", "i4")]))
            file.flush()
            assert len(again) == number and not again.indexed
            del file["g"]


def test_moved_tables_keep_their_indexes(tmp_path):
    path = tmp_path / "t.h5"
    with hs.File(path, "w") as file:
        table = indexed(file)
        table.row["x"] = 7
        table.row.append()
        file.move("t", "a/b/u")
        assert sorted(file) == ["a"] and sorted(file["a/b"]) == ["_i_u", "u"]
        rows = check(file["a/b/u"])
        assert rows["x"][-1] == 7
        # The handle that was opened before the move changes the same indexes.
        table.append(some_rows(50, 1))
        table.modify_column(0, 1, column=[9.0], colname="x")
        assert table.colindexes["x"].dirty
        file.flush()
        assert not table.colindexes["x"].dirty
        rows = check(file["a/b/u"])
        file["a"].move("b", "c")
        check(file["a/c/u"])
    assert np.array_equal(check_pytables(path, "/a/c/u"), rows)


def test_a_move_replaces_an_orphan_and_leaves_other_objects(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        indexed(file, "old", some_rows(seed=3))
        indexed(file, "t")
    with h5py.File(tmp_path / "t.h5", "r+") as file:
        del file["old"]
    with hs.File(tmp_path / "t.h5", "r+") as file:
        assert "_i_old" in file
        file.move("t", "old")
        assert sorted(file) == ["_i_old", "old"]
        check(file["old"])
        file["_i_new"] = 1
        file.move("old", "new")
        assert sorted(file) == ["_i_new", "new"] and not file["new"].indexed
        with pytest.raises(ValueError):
            file.move("new", "_i_new")
        indexed(file, "t")
        with pytest.raises(ValueError):
            file.move("t", "new")
        assert file["t"].indexed


def test_copies_have_their_own_indexes(tmp_path):
    path, other = tmp_path / "t.h5", tmp_path / "o.h5"
    with hs.File(path, "w") as file, hs.File(other, "w") as target:
        table = indexed(file.create_group("g"))
        table.row["x"] = 8
        table.row.append()
        file.copy("g/t", "u")
        file.copy("g", "h")
        file.copy(file["g/t"], target)
        file.copy(file["g"], target, name="all")
        file.copy("g/t", "bare", without_attrs=True)
        assert "_i_bare" not in file
        for made in (file["u"], file["h/t"], target["t"], target["all/t"]):
            rows = check(made)
            assert rows["x"][-1] == 8
            made.remove_rows(0, 100)
            assert check(file["g/t"]).shape == (301,)
            file.flush()
            target.flush()
            check(made)
        with pytest.raises(ValueError):
            file.copy("g/t", "u")
        check(file["u"])
    for where, name in ((path, "/u"), (path, "/h/t"), (other, "/t"), (other, "/all/t")):
        assert len(check_pytables(where, name)) == 201


@pytest.mark.parametrize("kind", ["ultralight", "light", "medium", "full"])
@pytest.mark.parametrize("maker", ["ours", "theirs"])
def test_an_index_that_h5py_left_behind_gives_no_wrong_rows(tmp_path, maker, kind):
    path = tmp_path / "t.h5"
    compared = 0
    for count in (300, 200, 400):
        with hs.File(path, "w") as file:
            table = file.create_table("t", DTYPE, chunkshape=32, obj=some_rows())
            if maker == "ours":
                table.create_index("x", kind=kind)
                table.create_index("k", kind=kind)
        if maker == "theirs":
            with tables.open_file(path, "a") as file:
                file.root.t.cols.x.create_index(kind=kind)
                file.root.t.cols.k.create_index(kind=kind)
        with h5py.File(path, "r+") as file:
            attrs = dict(file["t"].attrs)
            del file["t"]
            file.create_dataset("t", data=some_rows(count, 5), chunks=(32,), maxshape=(None,)).attrs.update(attrs)
            # A table without one of the columns, and with another type in the other.
            other = file.create_dataset("u", data=np.ones(count, [("k", "f4")]), chunks=(32,), maxshape=(None,))
            other.attrs["CLASS"] = np.bytes_(b"TABLE")
            file.copy("_i_t", "_i_u")
        with hs.File(path, "r+") as file:
            table = file["t"]
            check(table, is_used=False)
            assert all(index.unusable for index in table.colindexes.values())
            assert "not used" in table.explain("x > 2")
            assert np.array_equal(file["u"].get_where_list("k == 1"), np.arange(count))
            assert file["u"].indexedcolpathnames == ["k"]
            compared += 3
            for table in (file["t"], file["u"]):
                table.append(table[:10])
                table.remove_rows(0, 3)
            file.flush()
            # Ranges of rows are too long here to be better than a scan.
            check(file["t"], is_used=kind == "full")
            assert np.array_equal(file["u"].get_where_list("k == 1"), np.arange(count + 7))
        with h5py.File(path, "r+") as file:
            del file["t"]
        with hs.File(path, "r+") as file:
            assert "_i_t" in file
            # A new table of the name has no index.
            table = file.create_table("t", DTYPE, obj=some_rows(50, 9))
            assert "_i_t" not in file and not table.indexed
    print(f"{compared} queries on tables with an index of another table")


def test_pytables_opens_new_files_without_warnings(tmp_path):
    path = tmp_path / "t.h5"
    makers = {
        "Table": lambda file: indexed(file.create_group("g"), "t"),
        "Array": lambda file: file.create_array("a", np.arange(3)),
        "EArray": lambda file: file.create_earray("e", "f4", (0,), obj=np.ones(3, "f4")),
        "CArray": lambda file: file.create_carray("c", "f4", (3,)),
        "VLArray": lambda file: file.create_vlarray("v", "i4", obj=[1, 2]),
    }
    for name, make in makers.items():
        with hs.File(path, "w") as file:
            make(file)
            assert file.attrs["PYTABLES_FORMAT_VERSION"] == b"2.1"
            assert file.attrs["CLASS"] == b"GROUP" and file.attrs["VERSION"] == b"1.0"
        for mode in ("r", "a"):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                with tables.open_file(path, mode) as file:
                    assert file.format_version == "2.1" and file.title == ""
                    nodes = [type(node).__name__ for node in file.walk_nodes("/", "Leaf")]
                    assert nodes == [name]
                    repr(file)
                    if name == "Table" and mode == "a":
                        file.root.g.t.append(some_rows(3))
                        file.root.g.t.flush()
                        file.create_table("/", "more", DTYPE)
    # Attributes that a file has already stay.
    with h5py.File(path, "w") as file:
        file.attrs["TITLE"] = "mine"
    with hs.File(path, "r+") as file:
        file.create_table("t", DTYPE)
        assert file.attrs["TITLE"] == "mine" and file.attrs["CLASS"] == b"GROUP"


def test_the_number_of_rows_in_the_attributes_follows(tmp_path):
    path = tmp_path / "t.h5"
    with tables.open_file(path, "w") as file:
        file.create_table("/", "theirs", some_rows(10))
    with hs.File(path, "r+") as file:
        file.create_table("t", DTYPE, obj=some_rows(10))
        file.create_dataset("plain", data=some_rows(10), maxshape=(None,), chunks=(8,))
        for name in ("t", "theirs"):
            table = file[name]

            def said(table=table):
                file.flush()
                return int(table.attrs["NROWS"])

            assert said() == 10
            table.append(some_rows(5))
            assert said() == 15
            table.row["k"] = 1
            table.row.append()
            table.flush()
            assert said() == 16
            table.remove_rows(0, 8, 2)
            assert said() == 12
            table.truncate(7)
            assert said() == 7
            table.resize((9,))
            assert said() == 9 and table.attrs["NROWS"].dtype == np.int64
        plain = hs.Table(file["plain"].id)
        plain.append(some_rows(1))
        assert len(plain) == 11 and "NROWS" not in plain.attrs
    with tables.open_file(path, "a") as file:
        for name in ("t", "theirs"):
            table = file.get_node(f"/{name}")
            assert table.nrows == 9 and table.attrs.NROWS == 9


SORTED = [
    (None, None, None),
    (3, None, None),
    (None, 20, None),
    (-9, None, 2),
    (None, None, -1),
    (50, 3, -4),
    (9, 9, 1),
]


@pytest.mark.parametrize("kind", ["f8", "f4", "i2", "u8", "?", "S5"])
def test_sorted_reads_are_those_of_numpy_and_pytables(tmp_path, kind):
    rng = np.random.default_rng(3)
    rows = np.zeros(500, [("v", kind), ("id", "i4")])
    rows["v"] = rng.integers(0, 40, 500) % (2 if kind == "?" else 50)
    if kind in ("f8", "f4"):
        rows["v"][[3, 99, 400]] = [np.nan, -0.0, np.inf]
    rows["id"] = np.arange(500)
    order = np.argsort(rows["v"], kind="stable")
    path = tmp_path / "t.h5"
    with hs.File(path, "w") as file:
        table = file.create_table("t", rows.dtype, chunkshape=64, obj=rows)
        with pytest.raises(ValueError, match="create_csindex"):
            table.read_sorted("v")
        table.create_index("v", kind="medium")
        with pytest.raises(ValueError, match="create_csindex"):
            table.read_sorted("v")
        table.remove_index("v")
        table.create_csindex("v")
        for start, stop, step in SORTED:
            expected = rows[order[start:stop:step]]
            found = table.read_sorted("v", True, None, start, stop, step)
            assert np.array_equal(found["id"], expected["id"])
            assert np.array_equal(
                table.read_sorted(table.cols.v, field="id", start=start, stop=stop, step=step), found["id"]
            )
            assert [row["id"] for row in table.itersorted("v", True, start, stop, step)] == expected["id"].tolist()
            made = table.copy(
                newname="copy", sortby="v", checkCSI=True, start=start, stop=stop, step=step, propindexes=True
            )
            assert np.array_equal(made[:]["id"], expected["id"])
            assert made.cols.v.index.is_csi or not len(made)
            del file["copy"]
        # An index that does not know all rows, or is out of date, is not used.
        table.autoindex = False
        table.append(rows[:7])
        again = np.concatenate([rows, rows[:7]])
        order_again = np.argsort(again["v"], kind="stable")
        assert np.array_equal(table.read_sorted("v")["id"], again["id"][order_again])
        table.remove_rows(500)
        table.autoindex = True
        table.reindex()
        with pytest.raises(KeyError):
            table.read_sorted("none")
        with pytest.raises(TypeError):
            table.read_sorted(3)
    if kind == "u8":
        return
    with tables.open_file(path, "a") as file:
        # Other parts are one row or an error in PyTables.
        for start, stop, step in ((None, None, None), (3, 500, 1), (0, 20, 3), (7, 400, 9)):
            theirs = file.root.t.read_sorted("v", True, None, start, stop, step)
            expected = rows["v"][order[start:stop:step]]
            assert np.array_equal(theirs["v"], expected, equal_nan=kind[0] == "f")
        file.root.t.cols.v.remove_index()
        file.root.t.cols.v.create_index(kind="full", optlevel=3, _blocksizes=(256, 128, 64, 16))
    with hs.File(path) as file:
        table = file["t"]
        if not table.cols.v.index.is_csi:
            with pytest.raises(ValueError, match="must be completely sorted"):
                table.read_sorted("v", True)
        found = table.read_sorted("v", field="v")
        assert np.array_equal(found, rows["v"][order], equal_nan=kind[0] == "f")
