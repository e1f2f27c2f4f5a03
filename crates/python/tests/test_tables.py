"""Tables: what PyTables writes and reads, and what NumPy says of rows that are appended, changed and
removed.
"""

import threading
import warnings

import h5py
import numpy as np
import pytest
import tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import hs

KINDS = np.dtype(
    [
        ("time", "i8"),
        ("temp", "f4"),
        ("ok", "?"),
        ("id", "S3"),
        ("info", [("level", "i2"), ("z", "c16"), ("deep", [("x", "u4")])]),
        ("grid", "f8", (2, 3)),
    ]
)


def some_rows(count, seed=0):
    random = np.random.default_rng(seed)
    rows = np.zeros(count, KINDS)
    rows["time"] = random.integers(-(2**62), 2**62, count)
    rows["temp"] = random.normal(300, 10, count)
    rows["ok"] = random.integers(0, 2, count)
    rows["id"] = random.choice([b"", b"a", b"xyz", b"XK4"], count)
    rows["info"]["level"] = random.integers(-9, 9, count)
    rows["info"]["z"] = random.normal(size=count) + 1j
    rows["info"]["deep"]["x"] = random.integers(0, 2**32, count)
    rows["grid"] = random.normal(size=(count, 2, 3))
    return rows


def same(one, other):
    """Whether two arrays of records have the same dtype and the same bytes."""
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


@pytest.fixture(params=[None, "gzip", hs.Blosc2("lz4"), hs.Blosc("zstd")], ids=["plain", "gzip", "blosc2", "blosc"])
def options(request):
    return {} if request.param is None else {"compression": request.param}


def test_pytables_reads_what_we_write(tmp_path, options):
    path, rows = tmp_path / "t.h5", some_rows(1000)
    with hs.File(path, "w") as file:
        table = file.create_table("group/readings", KINDS, "Temperatures, Zürich", expectedrows=10**6, **options)
        table.append(rows[:1])
        table.append(rows[1:])
        table.attrs["station"] = 7
    with tables.open_file(path) as file:
        table = file.get_node("/group/readings")
        assert isinstance(table, tables.Table)
        assert table.title == "Temperatures, Zürich" and table.nrows == 1000
        assert table.colpathnames == ["time", "temp", "ok", "id", "grid", "info/level", "info/z", "info/deep/x"]
        assert table.coltypes["ok"] == "bool" and table.coltypes["info/z"] == "complex128"
        assert np.array_equal(table.read(), rows)
        assert table.attrs.station == 7
        assert len(table.read_where("(temp > 300) & ok")) == ((rows["temp"] > 300) & rows["ok"]).sum()


def test_pytables_goes_on_where_we_stopped_and_we_where_it_stopped(tmp_path, options):
    path, rows = tmp_path / "t.h5", some_rows(300)
    with hs.File(path, "w") as file:
        file.create_table("t", KINDS, obj=rows[:100], **options)
    with tables.open_file(path, "a") as file:
        file.root.t.append(rows[100:200])
        row = file.root.t.row
        row["temp"] = 1
        row.append()
        file.root.t.flush()
    with hs.File(path, "r+") as file:
        table = file["t"]
        assert type(table) is hs.Table and np.array_equal(table[:200], rows[:200])
        assert table[200]["temp"] == 1 and table[200]["time"] == 0
        table.remove_row(200)
        table.append(rows[200:])
    with tables.open_file(path) as file:
        assert np.array_equal(file.root.t.read(), rows)
    with h5py.File(path) as file:
        assert file["t"].attrs["CLASS"] == b"TABLE" and file["t"].shape == (300,)


class Everything(tables.IsDescription):
    """A column of every type of PyTables, with defaults."""

    i = tables.Int16Col(dflt=-3, pos=1)
    u = tables.UInt64Col(dflt=2**64 - 1, pos=2)
    f = tables.Float16Col(dflt=1.5, pos=3)
    c = tables.ComplexCol(8, dflt=1 - 2j, pos=4)
    b = tables.BoolCol(dflt=True, pos=5)
    s = tables.StringCol(4, dflt=b"full", pos=6)
    e = tables.EnumCol(["red", "green"], "green", "uint8", pos=7)
    t32 = tables.Time32Col(dflt=5, pos=8)
    t64 = tables.Time64Col(dflt=-1.25, pos=9)
    m = tables.Int32Col(shape=(2, 2), dflt=9, pos=10)

    class info(tables.IsDescription):  # noqa: N801
        _v_pos = 11
        value = tables.Float64Col(dflt=0.5)
        name = tables.StringCol(2, dflt=b"ab")


def test_we_read_and_change_every_column_of_pytables(tmp_path):
    path = tmp_path / "t.h5"
    with tables.open_file(path, "w") as file:
        table = file.create_table("/", "t", Everything, "every type", expectedrows=100)
        for number in range(5):
            table.row["i"] = number
            table.row["t64"] = number + 0.125
            table.row.append()
        table.flush()
        expected = table.read()
    with hs.File(path, "r+") as file:
        table = file["t"]
        assert table.dtype == expected.dtype and np.array_equal(table[:], expected)
        assert table.get_enum("e") == {"red": 0, "green": 1}
        assert table.read_where("t64 > 2.1")["i"].tolist() == [2, 3, 4]
        assert table.count_where("s == b'full'") == 5 and table.count_where("b & (t32 == 5)") == 5
        table.append({"i": [70]})
        row = table.row
        row["i"] = 71
        row["info/name"] = b"cd"
        row.append()
        table.cols.t64[0] = 1e9 + 0.5
        table.modify_column(1, column=[b"FULL"], colname="s")
        expected = np.concatenate([expected, expected[:2]])
        expected["i"][5:] = 70, 71
        expected["t64"][0], expected["t64"][5:] = 1e9 + 0.5, -1.25
        expected["s"][1] = b"FULL"
        expected["info"]["name"][6] = b"cd"
    with tables.open_file(path) as file:
        assert np.array_equal(file.root.t.read(), expected)


def test_a_description_of_pytables_makes_a_table(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        described = {name: one for name, one in Everything.columns.items() if name not in ("e", "t32", "t64")}
        table = file.create_table("t", described)
        table.append({"i": [1, 2]})
        assert table.colnames == ["i", "u", "f", "c", "b", "s", "m", "info"]
        assert table[0].tolist()[1:6] == (2**64 - 1, 1.5, 1 - 2j, True, b"full")
        assert table[1]["info"].tolist() == (b"ab", 0.5) and (table[1]["m"] == 9).all()


@pytest.mark.parametrize(
    "rows",
    [
        [(1, 2.5, b"ab"), (2, 3.5, "c")],
        {"a": [1, 2], "b": np.array([2.5, 3.5]), "c": ["ab", "c"]},
        [np.array([1, 2], "u1"), np.array([2.5, 3.5], "f8"), np.array([b"ab", b"c"])],
        np.array([(1, 2.5, b"ab"), (2, 3.5, b"c")], [("a", "i8"), ("b", "f2"), ("c", "S5")]),
        np.array([(b"ab", 1, 2.5), (b"c", 2, 3.5)], [("c", "S2"), ("a", ">i4"), ("b", "f8")]),
        np.rec.array([(1, 2.5, b"ab"), (2, 3.5, b"c")], [("a", "i4"), ("b", "f4"), ("c", "S3")]),
        iter([(1, 2.5, b"ab"), (2, 3.5, b"c")]),
    ],
    ids=["tuples", "dict", "columns", "records", "other order", "recarray", "iterator"],
)
def test_append_takes_rows_in_every_form(rows):
    table = hs.File.in_memory().create_table("t", [("a", "i4"), ("b", "f4"), ("c", "S3")])
    table.append(rows)
    assert table[:].tolist() == [(1, 2.5, b"ab"), (2, 3.5, b"c")]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(1, 2.5)], "values, one for each column, not 2"),
        ({"a": [1], "d": [2]}, "no column 'd'"),
        ({"a": [1, 2], "b": [1]}, "same length"),
        ({"a": [2**31]}, "cannot hold"),
        ({"a": [1.5]}, "cannot hold"),
        ({"a": ["one"]}, "cannot hold"),
        ({"c": [b"abcd"]}, "cannot hold"),
        ({"c": ["Zür"]}, "cannot hold"),
        ({"u": [-1]}, "cannot hold"),
        ({"b": [1j]}, "cannot hold"),
    ],
)
def test_a_value_that_a_column_cannot_hold_is_an_error_and_nothing_is_appended(rows, said):
    table = hs.File.in_memory().create_table("t", [("a", "i4"), ("b", "f4"), ("c", "S3"), ("u", "u8")])
    with pytest.raises(ValueError, match=said):
        table.append(rows)
    assert len(table) == 0


def test_rows_of_no_known_form_are_a_type_error():
    table = hs.File.in_memory().create_table("t", [("a", "i4")])
    with pytest.raises(TypeError, match="rows"):
        table.append(5)


operations = st.lists(
    st.tuples(
        st.sampled_from(["append", "row", "modify", "column", "coordinates", "remove", "set", "truncate", "update"]),
        st.integers(0, 60),
        st.integers(0, 60),
        st.integers(1, 4),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations, st.sampled_from([3, 16, 1000]))
def test_random_edits_are_those_of_an_array(tmp_path, steps, chunk):
    source = some_rows(4000, 1)
    used = 0
    with hs.File(tmp_path / "edits.h5", "w") as file:
        table = file.create_table("t", KINDS, chunkshape=chunk, compression=hs.Blosc2("lz4"))
        model = np.zeros(0, KINDS)
        for what, one, other, step in steps:
            start, stop = sorted((min(one, len(model)), min(other, len(model))))
            rows = slice(start, stop, step)
            count = len(range(start, stop, step))
            new = source[used : used + max(count, other)]
            used += len(new)
            if what == "append":
                table.append(new[:other])
                model = np.concatenate([model, new[:other]])
            elif what == "row":
                for record in new[:step]:
                    for name in KINDS.names:
                        table.row[name] = record[name]
                    table.row.append()
                table.flush()
                model = np.concatenate([model, new[:step]])
            elif what == "modify":
                table.modify_rows(start, stop, step, new[:count])
                model[rows] = new[:count]
            elif what == "column":
                table.modify_column(start, stop, step, new["info"]["level"][:count], "info/level")
                model["info"]["level"][rows] = new["info"]["level"][:count]
            elif what == "coordinates":
                at = np.random.default_rng(one).integers(0, max(len(model), 1), count if len(model) else 0)
                table.modify_coordinates(at, new[: len(at)])
                for place, record in zip(at, new, strict=False):
                    model[place] = record
            elif what == "remove":
                assert table.remove_rows(start, stop, step) == count
                model = np.delete(model, np.arange(start, stop, step))
            elif what == "set":
                table.cols.temp[rows] = new["temp"][:count]
                model["temp"][rows] = new["temp"][:count]
            elif what == "truncate":
                table.truncate(start)
                model = model[:start].copy()
            else:
                for row in table.iterrows(start, stop, step):
                    row["time"] = row.nrow
                    row.update()
                model["time"][rows] = np.arange(start, stop, step)
            assert len(table) == len(model)
        assert same(table[:], model)
        for name in ("time", "id"):
            assert np.array_equal(table.col(name), model[name])
    with tables.open_file(tmp_path / "edits.h5") as file:
        assert np.array_equal(file.root.t.read(), model)


def test_rows_of_single_appends_are_written_by_flush_and_by_close(tmp_path):
    path = tmp_path / "t.h5"
    with hs.File(path, "w") as file:
        table = file.create_table("t", [("a", "i4"), ("b", "f8")])
        for number in range(10):
            table.row["a"] = number
            table.row.append()
        assert len(table) == 0 and file["t"].row.nrow == 10
        file.flush()
        assert len(table) == 10
        file["t"].row["a"] = 10
        file["t"].row.append()
    with hs.File(path) as file:
        assert file["t"].col("a").tolist() == list(range(11))


def test_many_single_appends_are_written_in_batches():
    table = hs.File.in_memory().create_table("t", [("a", "i8"), ("pad", "S248")])
    row = table.row
    for number in range(10_000):
        row["a"] = number
        row.append()
    assert 4096 < len(table) < 10_000
    table.flush()
    assert np.array_equal(table.col("a"), np.arange(10_000))


def test_threads_append_side_by_side(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_table("t", [("thread", "i4"), ("number", "i4")], chunkshape=50)

        def work(thread):
            for first in range(0, 1000, 20):
                file["t"].append({"thread": np.full(20, thread), "number": np.arange(first, first + 20)})

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        rows = table[:]
        assert len(rows) == 4000
        for thread in range(4):
            assert np.array_equal(rows["number"][rows["thread"] == thread], np.arange(1000))


def test_reading_rows_has_the_ranges_of_pytables(tmp_path):
    rows = some_rows(20)
    with tables.open_file(tmp_path / "t.h5", "w") as file:
        file.create_table("/", "t", obj=rows)
    with tables.open_file(tmp_path / "t.h5") as theirs, hs.File(tmp_path / "t.h5", locking=False) as ours:
        one, other = theirs.root.t, ours["t"]
        for arguments in [(), (3,), (-1,), (2, 9), (2, 19, 5), (-5, None, 2), (None, 4), (7, 3), (0, 100), (20,)]:
            assert same(one.read(*arguments), other.read(*arguments)), arguments
            assert np.array_equal(one.read(*arguments, field="temp"), other.read(*arguments, field="temp"))
        with pytest.raises(ValueError, match="step"):
            other.read(0, 5, -1)
        assert [row.nrow for row in one.iterrows(3, 9, 2)] == [row.nrow for row in other.iterrows(3, 9, 2)]
        coordinates = [5, 1, 1, 19]
        assert same(one.read_coordinates(coordinates), other.read_coordinates(coordinates))
        with pytest.raises(IndexError):
            other.read_coordinates([20])
        with pytest.raises(KeyError):
            other.col("nothing")


def test_a_row_of_a_loop_has_the_values_of_its_columns():
    table = hs.File.in_memory().create_table("t", KINDS, obj=some_rows(3))
    rows = list(table)
    assert [row.nrow for row in rows] == [0, 1, 2] and rows[1].table == table
    assert rows[2]["info/deep/x"] == table[2]["info"]["deep"]["x"]
    assert rows[0][0] == table[0]["time"] and rows[0][:2] == tuple(table[0])[:2] and len(rows[0]) == 6
    assert rows[1].fetch_all_fields() == table[1]


def test_changes_of_a_table_that_is_open_for_reading_are_refused(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        file.create_table("t", KINDS, obj=some_rows(5))
    with hs.File(tmp_path / "t.h5") as file:
        table = file["t"]
        for change in [
            lambda: table.append(some_rows(1)),
            lambda: table.remove_row(0),
            lambda: table.modify_rows(0, rows=some_rows(1)),
            lambda: table.row.append(),
        ]:
            with pytest.raises((OSError, RuntimeError)):
                change()


def test_copy_keeps_or_changes_filters_and_chunks(tmp_path):
    rows = some_rows(500)
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_table("t", KINDS, "title", obj=rows, compression=hs.Blosc2("zstd", 7), chunkshape=77)
        same = table.copy(newname="same")
        other = table.copy(file.create_group("g"), "other", start=10, stop=400, step=3, compression="gzip", title="x")
        assert (same.chunks, same.filter_names, same.title) == ((77,), ("blosc2",), "title")
        assert same._filter_data == table._filter_data
        assert (other.compression, other.title) == ("gzip", "x")
        assert np.array_equal(same[:], rows) and np.array_equal(other[:], rows[10:400:3])


def test_what_is_no_table_is_not_made_one():
    file = hs.File.in_memory()
    for dtype in ("f8", [], [("a", "O")], object):
        with pytest.raises(TypeError):
            file.create_table("t", dtype)
    with pytest.raises(TypeError):
        file.create_table("t")
    with pytest.raises(ValueError, match="not both"):
        file.create_table("t", KINDS, filters=tables.Filters(1), compression="gzip")
    with pytest.raises(TypeError, match="maxshape"):
        file.create_table("t", KINDS, maxshape=(5,))
    assert "t" not in file
    file["x"] = np.zeros(3)
    with pytest.raises(TypeError, match="not a table"):
        hs.Table(file["x"].id)


@pytest.mark.parametrize("library", ["blosc2:lz4", "blosc:zstd", "blosc", "zlib"])
def test_filters_of_pytables_are_taken(tmp_path, library):
    filters, rows = tables.Filters(complevel=5, complib=library), some_rows(100)
    with hs.File(tmp_path / "t.h5", "w") as file:
        file.create_table("t", KINDS, filters=filters, obj=rows)
    with tables.open_file(tmp_path / "t.h5") as file:
        found = file.root.t.filters
        assert found.complevel == 5 and found.complib == {"blosc": "blosc:blosclz"}.get(library, library)
        assert np.array_equal(file.root.t.read(), rows)


def test_a_table_of_many_columns(tmp_path):
    columns = [(f"c{number}", "f8") for number in range(1000)]
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_table("t", columns)
        table.append({name: [number] for number, (name, _) in enumerate(columns)})
        assert table.col("c999").tolist() == [999]
    with tables.open_file(tmp_path / "t.h5") as file:
        assert file.root.t.cols.c999[0] == 999


@pytest.mark.soak
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_a_table_has_thousands_of_columns(tmp_path, libver):
    dtype = np.dtype([(f"c{number}", "f8" if number % 3 else "i2") for number in range(2200)])
    rows = np.zeros(50, dtype)
    for number, name in enumerate(dtype.names):
        rows[name] = np.arange(50) * number % 1000
    path = tmp_path / "wide.h5"
    with hs.File(path, "w", libver=libver) as file:
        table = file.create_table("t", dtype, compression=hs.Blosc2("lz4"))
        table.append(rows[:30])
        table.append(rows[30:])
        table.create_index("c1500")
    with hs.File(path) as file:
        assert np.array_equal(file["t"].read(), rows)
        found = file["t"].get_where_list("(c1500 > 500) & (c3 < 100)")
        assert np.array_equal(found, np.flatnonzero((rows["c1500"] > 500) & (rows["c3"] < 100)))
    with h5py.File(path) as file:
        assert np.array_equal(file["t"][()], rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tables.PerformanceWarning)
        with tables.open_file(path) as file:
            assert np.array_equal(file.root.t.read(), rows)
            assert file.root.t.cols.c1500.index.kind == "medium"


class TestRead:
    """`Table.read` by the arguments of PyTables, and by those of `Dataset.read`."""

    @pytest.fixture
    def path(self, tmp_path):
        with tables.open_file(tmp_path / "t.h5", "w") as file:
            file.create_table("/", "t", obj=some_rows(20))
        return tmp_path / "t.h5"

    @pytest.mark.parametrize("field", [None, "time"])
    @pytest.mark.parametrize(
        "rows", [(), (3,), (-1,), (2, 9, 3), (None, 4), (None, -2), (None, None, 4), (30,), (-3,), (9, 2)], ids=str
    )
    def test_ranges_mean_what_they_mean_in_pytables(self, path, rows, field):
        with tables.open_file(path) as file:
            expected = file.root.t.read(*rows, field=field)
        with hs.File(path) as file:
            found = file["t"].read(*rows, field=field)
            assert found.tobytes() == expected.tobytes()
            out = np.zeros_like(expected)
            assert file["t"].read(*rows, field=field, out=out) is out and out.tobytes() == expected.tobytes()

    @pytest.mark.parametrize("sel", [np.s_[3:9], [1, 5], np.arange(20) % 3 == 0], ids=str)
    def test_a_selection_goes_with_out_and_threads_as_for_any_dataset(self, path, sel):
        with hs.File(path) as file:
            table, expected = file["t"], some_rows(20)[sel]
            for give in (
                lambda out: table.read(sel, out),
                lambda out: table.read(sel, out, 1),
                lambda out: table.read(sel, out=out, threads=1),
                lambda out: table.read(sel=sel, out=out),
            ):
                out = np.zeros_like(expected)
                assert give(out) is out and out.tobytes() == expected.tobytes()
            out = np.zeros(len(expected), "f8")
            assert table.read(sel, out, field="time") is out and np.array_equal(out, expected["time"])

    @pytest.mark.parametrize(
        "arguments",
        [
            {"start": np.s_[:4], "stop": 3},
            {"start": np.s_[:4], "step": 2},
            {"start": [1, 2], "stop": 3, "field": "time"},
            {"sel": [1, 2], "stop": 3},
            {"sel": [1, 2], "step": 3},
            {"sel": [1, 2], "start": 3},
        ],
        ids=str,
    )
    def test_a_selection_with_an_end_or_a_step_is_refused(self, path, arguments):
        with hs.File(path) as file, pytest.raises(TypeError, match="must be left out if a selection is given"):
            file["t"].read(**arguments)

    def test_out_for_a_column_has_its_shape(self, path):
        with hs.File(path) as file:
            for shape in ((3,), (1, 1), ()):
                with pytest.raises(ValueError, match="out must have the shape"):
                    file["t"].read(4, 5, field="time", out=np.zeros(shape, "i8"))

    def test_out_and_threads_are_given_once_and_out_is_an_array(self, path):
        with hs.File(path) as file:
            table = file["t"]
            out = np.zeros(2, table.dtype)
            for name, arguments, named in (
                ("out", ([1, 2], out), {"out": out}),
                ("threads", ([1, 2], out, 2), {"threads": 1}),
            ):
                with pytest.raises(TypeError, match=f"{name} must be given once"):
                    table.read(*arguments, **named)
            assert not out.tobytes().strip(b"\0"), "a call that was refused has written"
            assert table.read([1, 2], out, 2) is out and out["time"].tolist() == table.read(1, 3)["time"].tolist()
            with pytest.raises(TypeError, match="out must be an array, not list"):
                table.read(0, 2, field="time", out=[0, 0])
