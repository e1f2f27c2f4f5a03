"""Rows of tables as streams of Arrow: what pyarrow, polars, DuckDB and pandas read is what NumPy says."""

import gc
import pickle
import threading

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.acero as acero
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.lib.recfunctions import repack_fields
from support import hs
from test_tables import KINDS, some_rows

pytestmark = pytest.mark.whole

COLOURS = hs.enum_dtype({"red": -1, "green": 7, "blue": 300}, basetype="i2")
NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", ">i2", ">u8", ">f4", ">f8", "?"]
UNITS = ["s", "ms", "us", "ns"]


def table_of(rows, **options):
    """Returns a table in memory with these rows."""
    table = hs.File.in_memory().create_table("readings", rows.dtype, **options)
    table.append(rows)
    return table


def columns_of(rows, *names):
    """Returns some columns of rows, without the bytes of others between them."""
    return repack_fields(rows[list(names)])


def numbers(count=1000):
    """Returns rows with a column of every type of numbers."""
    random = np.random.default_rng(3)
    rows = np.zeros(count, [(f"{code}{number}", code) for number, code in enumerate(NUMBERS)])
    for name in rows.dtype.names:
        rows[name] = random.integers(0, 2, count) if rows.dtype[name].kind == "b" else random.integers(0, 127, count)
    for name in rows.dtype.names:
        kind = rows.dtype[name]
        if kind.kind in "iu":
            rows[name][:2] = np.iinfo(kind).min, np.iinfo(kind).max
        elif kind.kind == "f":
            rows[name][:5] = np.nan, np.inf, -np.inf, -0.0, np.finfo(kind).max
    return rows


def assert_equal(column, values):
    """Asserts that a column of pyarrow has the values of an array, bit by bit for numbers."""
    assert column.null_count == 0 and len(column) == len(values)
    found = column.combine_chunks().to_numpy(zero_copy_only=False)
    expected = values.astype(values.dtype.newbyteorder("="))
    assert found.dtype == expected.dtype and found.tobytes() == expected.tobytes()


def test_every_number_is_the_same_in_arrow():
    rows = numbers()
    read = pa.table(table_of(rows, compression=hs.Blosc2("lz4"), chunkshape=300))
    assert read.column_names == list(rows.dtype.names)
    for name in rows.dtype.names:
        assert_equal(read[name], rows[name])
        assert not read.schema.field(name).nullable


def test_nested_complex_and_array_columns_and_texts_are_the_same_in_arrow():
    rows = some_rows(500)
    read = pa.table(table_of(rows)).to_pylist()
    for row, found in zip(rows, read, strict=True):
        info = found["info"]
        assert found["id"] == row["id"].decode() and found["grid"] == row["grid"].tolist()
        assert info["level"] == row["info"]["level"] and info["deep"]["x"] == row["info"]["deep"]["x"]
        assert complex(info["z"]["r"], info["z"]["i"]) == row["info"]["z"]


def test_halves_are_halves_or_wide():
    rows = np.zeros(4, [("h", "f2"), ("big", ">f2")])
    rows["h"] = rows["big"] = 0.1, np.inf, 65504, -6e-8
    table = table_of(rows)
    assert_equal(pa.table(table)["h"], rows["h"])
    assert_equal(pa.table(table)["big"], rows["big"])
    assert_equal(pa.table(table.query(wide_halves=True))["big"], rows["big"].astype("f4"))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", ["M8", "m8"])
def test_times_of_numpy_are_times_and_not_a_time_is_null(unit, kind):
    rows = np.zeros(4, [("t", hs.opaque_dtype(np.dtype(f"{kind}[{unit}]"))), ("n", "i4")])
    rows["t"] = np.array([0, -1, 1_500_000_000, "NaT"], rows["t"].dtype)
    read = pa.table(table_of(rows))["t"]
    assert read.type == (pa.timestamp(unit) if kind == "M8" else pa.duration(unit))
    assert read.null_count == 1 and read[3].as_py() is None
    assert read[:3].cast("i8").to_pylist() == [0, -1, 1_500_000_000]


def test_an_enumeration_is_a_dictionary():
    rows = np.zeros(4, [("colour", COLOURS)])
    rows["colour"] = 7, -1, 300, 7
    read = pa.table(table_of(rows))["colour"]
    assert pa.types.is_dictionary(read.type)
    assert read.to_pylist() == ["green", "red", "blue", "green"]
    rows["colour"][2] = 5
    with pytest.raises(Exception, match='column "colour", row 2: the enumeration has no name for the value 5'):
        pa.table(table_of(rows))


def test_texts_keep_zeros_inside_and_lose_those_at_their_end():
    rows = np.array([(b"a\0b",), (b"",), (b"abcd",), ("ü".encode(),)], [("text", "S4")])
    assert pa.table(table_of(rows))["text"].to_pylist() == ["a\0b", "", "abcd", "ü"]
    assert pa.table(table_of(rows).query(binary=True))["text"].to_pylist() == [b"a\0b", b"", b"abcd", b"\xc3\xbc"]


def test_a_text_that_is_not_utf8_is_named_and_can_be_read_as_bytes():
    rows = np.zeros(1000, [("n", "i4"), ("text", "S3")])
    rows["text"][700] = b"\xff\xfe"
    table = table_of(rows, chunkshape=100)
    with pytest.raises(Exception, match='column "text", row 700: the text is not valid UTF-8: read texts as binary'):
        pa.table(table)
    assert pa.table(table.query(binary=True))["text"][700].as_py() == b"\xff\xfe"
    with pytest.raises(Exception, match="row 700"):
        pa.table(table.query("n == 0", start=500))
    wanted = pa.schema([("n", pa.int32()), ("text", pa.binary())])
    assert pa.RecordBatchReader.from_stream(table, schema=wanted).read_all()["text"][700].as_py() == b"\xff\xfe"


def test_every_consumer_reads_a_table():
    rows = columns_of(some_rows(3000), "time", "temp", "ok", "id")
    readings = table_of(rows, chunkshape=700)
    texts = [text.decode() for text in rows["id"]]
    frames = {
        "polars": pl.DataFrame(readings).to_dict(as_series=False),
        "pandas": pd.DataFrame.from_arrow(readings).to_dict("list"),
        "pyarrow": pa.table(readings).to_pydict(),
        "DuckDB": duckdb.sql("select * from readings").to_arrow_table().to_pydict(),
    }
    for name, read in frames.items():
        assert list(read) == list(rows.dtype.names), name
        assert read["id"] == texts, name
        for column in ("time", "temp", "ok"):
            assert np.array_equal(read[column], rows[column]), (name, column)
    assert pl.from_arrow(readings).struct.field("temp").to_numpy().tobytes() == rows["temp"].tobytes()


def test_duckdb_groups_the_rows_of_a_table():
    rows = some_rows(5000)
    t = table_of(rows, chunkshape=512)
    found = duckdb.sql("select id, avg(temp), count(*) from t where time > 0 group by 1 order by 1").fetchall()
    kept = rows[rows["time"] > 0]
    assert [row[0].encode() for row in found] == sorted(set(kept["id"].tolist()))
    for text, mean, count in found:
        of_text = kept["temp"][kept["id"] == text.encode()]
        assert count == len(of_text) and mean == pytest.approx(of_text.mean(dtype="f8"))
    assert t.len() == 5000


CONDITIONS = [None, "temp > 300", "(temp > 310) | (time < 0)", "temp > 1e9", "id == b'XK4'", "info.level >= 0"]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_query_has_the_rows_that_read_where_has(condition):
    rows = some_rows(4000)
    table = table_of(rows, chunkshape=333, compression=hs.Blosc2("lz4"))
    for options in ({}, {"start": 100, "stop": 3500}, {"step": 7}, {"start": 5, "stop": 3000, "step": 1000}):
        expected = table.read(**options) if condition is None else table.read_where(condition, **options)
        for limit in (None, 0, 1, 50, 10**9):
            query = table.query(condition, columns=["temp", "time"], limit=limit, **options)
            read = pa.table(query)
            assert read.column_names == ["temp", "time"]
            kept = expected if limit is None else expected[:limit]
            for name in ("temp", "time"):
                assert_equal(read[name], kept[name])
            assert query.count() == len(kept) and query.read().tobytes() == columns_of(kept, "temp", "time").tobytes()


def test_batches_have_the_size_that_is_asked_for():
    table = table_of(some_rows(1000), chunkshape=128)
    batches = list(table.to_batches("temp > -1", columns=["time"], batch_size=100))
    assert [batch.num_rows for batch in batches] == [100] * 10
    assert sum(batch.num_rows for batch in table.query(limit=250).to_batches(60)) == 250
    assert table.query().to_batches(1).read_next_batch().num_rows == 1


def test_columns_are_named_by_paths_in_any_order():
    rows = some_rows(100)
    table = table_of(rows)
    read = pa.table(table.query(columns=["info/deep/x", "time", "info/level"]))
    assert read.column_names == ["info/deep/x", "time", "info/level"]
    assert_equal(read["info/deep/x"], rows["info"]["deep"]["x"].copy())
    assert_equal(read["info/level"], rows["info"]["level"].copy())
    assert pa.table(table.query(columns=[])).shape == (0, 0) or pa.table(table.query(columns=[])).num_rows == 100
    for read_rows in (pa.table, hs.Query.read):
        with pytest.raises(ValueError, match='column "info/nothing": it must be one of time, '):
            read_rows(table.query(columns=["info/nothing"]))
    for bad in (0, -1):
        with pytest.raises((ValueError, OverflowError)):
            table.to_batches(batch_size=bad)


def test_records_of_a_query_have_a_field_for_each_path():
    rows = some_rows(100)
    table = table_of(rows)
    for condition, kept in ((None, rows), ("temp > 300", rows[rows["temp"] > 300])):
        read = table.query(condition, columns=["info/deep/x", "time", "info/level", "grid"]).read()
        assert read.dtype.names == ("info/deep/x", "time", "info/level", "grid")
        expected = (kept["info"]["deep"]["x"], kept["time"], kept["info"]["level"], kept["grid"])
        for name, values in zip(read.dtype.names, expected, strict=True):
            assert np.array_equal(read[name], values) and read[name].dtype == values.dtype
        limited = table.query(condition, columns=["info/level"], limit=3).read()
        assert limited["info/level"].tolist() == kept["info"]["level"][:3].tolist()
        none = table.query(condition, columns=[], limit=50).read()
        assert none.shape == (min(50, len(kept)),) and none.dtype.names == ()
    file = hs.File.in_memory()
    file["slashes"] = np.array([(1, (2,))], [("a/b", "i4"), ("a", [("c/d", "i4")])])
    slashes = hs.Table(file["slashes"].id)
    assert pa.table(slashes.query(columns=["a/c/d", "a/b"])).to_pydict() == {"a/c/d": [2], "a/b": [1]}
    assert slashes.query(columns=["a/c/d", "a/b"]).read().tolist() == [(2, 1)]


def test_a_limit_is_a_number_of_rows():
    table = table_of(some_rows(10))
    for make in (table.query, table.to_batches):
        with pytest.raises(ValueError, match="limit must be at least 0, not -1"):
            make("temp > 0", limit=-1)
        with pytest.raises(TypeError):
            make(limit=1.5)
    assert len(table.query(limit=np.int64(3)).read()) == 3


def test_an_empty_table_and_an_empty_result_have_their_schema():
    table = table_of(np.zeros(0, KINDS))
    for read in (pa.table(table), pa.table(table.query("temp > 0")), pa.table(table.query(start=5))):
        assert read.num_rows == 0 and read.column_names == list(KINDS.names)
    assert pa.schema(table) == pa.table(table).schema


def test_datasets_hand_columns_and_conditions_on_to_the_table(monkeypatch):
    rows = some_rows(5000)
    table = table_of(rows, chunkshape=500)
    asked = []
    scan = type(table.query())._narrowed

    def noted(self, columns, condition):
        asked.append((columns, condition))
        return scan(self, columns, condition)

    monkeypatch.setattr(type(table.query()), "_narrowed", noted)
    whole = table.to_pyarrow_dataset()
    found = duckdb.sql("select sum(time) from whole where temp > 310").fetchall()[0][0]
    assert found == int(rows["time"][rows["temp"] > np.float32(310)].astype(object).sum())
    assert asked.pop()[0] == ["time", "temp"]
    frame = pl.scan_pyarrow_dataset(whole).filter(pl.col("time") > 5).select("id").collect()
    assert frame["id"].to_list() == [text.decode() for text in rows["id"][rows["time"] > 5]]
    columns, condition = asked.pop()
    assert set(columns) == {"id", "time"} and condition == "(time > 5)"


def test_datasets_are_joined_sorted_and_filtered():
    rows = np.zeros(1000, [("i", "i4"), ("g", "i4"), ("f", "f8")])
    rows["i"], rows["g"], rows["f"] = np.arange(1000), np.arange(1000) % 7, np.arange(1000)[::-1]
    table = table_of(rows, chunkshape=128)
    read = table.to_pyarrow_dataset()
    whole = pads.InMemoryDataset(pa.table(table))
    other = pads.InMemoryDataset(pa.table({"i": pa.array([5, 7, 2000], "i4"), "name": ["a", "b", "c"]}))
    for sorted_rows in (read.sort_by("f"), read.sort_by([("g", "descending"), ("f", "ascending")])):
        assert sorted_rows.count_rows() == 1000
    assert read.sort_by("f").to_table() == whole.sort_by("f").to_table()
    for kind in ("inner", "left semi"):
        assert read.join(other, "i", join_type=kind).to_table() == whole.join(other, "i", join_type=kind).to_table()
    doubled = read.join(read, keys="i", right_suffix="_2").sort_by("i").to_table()
    assert doubled["f_2"].to_pylist() == rows["f"].tolist() and doubled.num_rows == 1000
    near = {"on": "i", "by": [], "tolerance": 5}
    assert read.join_asof(other, **near).to_table() == whole.join_asof(other, **near).to_table()

    part = read.filter(pc.field("i") < 500).filter(pc.field("g") == 3)
    kept = rows[(rows["i"] < 500) & (rows["g"] == 3)]
    assert part.count_rows() == len(kept) and part.to_table()["f"].to_pylist() == kept["f"].tolist()
    assert part.to_table(filter=pc.field("i") < 100)["i"].to_pylist() == kept["i"][kept["i"] < 100].tolist()
    assert part.sort_by("f").to_table()["i"].to_pylist() == kept["i"][::-1].tolist()
    assert duckdb.sql("select count(*) from part where f > 600").fetchall() == [((kept["f"] > 600).sum(),)]


#: What reads a dataset in C++, and so cannot read a table.
IN_CPP = [
    lambda read: pads.Scanner.from_dataset(read).to_table(),
    lambda read: pads.Scanner.from_dataset(read, columns=["n"]).head(1),
    lambda read: pads.UnionDataset(read.schema, [read]).to_table(),
    lambda read: pads.dataset([read, read]),
    lambda read: pa.table({"n": pa.array([1], "i4")}).join(read, "n"),
    lambda read: pads.InMemoryDataset(pa.table({"n": pa.array([1], "i4")})).join(read, "n"),
    lambda read: acero.Declaration("scan", acero.ScanNodeOptions(read)).to_table(),
    lambda read: read.replace_schema(read.schema),
    lambda read: list(read.get_fragments()),
    lambda read: read.files,
    pickle.dumps,
]


@pytest.mark.parametrize("use", IN_CPP)
def test_what_reads_datasets_in_another_way_is_refused(use):
    read = table_of(np.zeros(3, [("n", "i4")])).to_pyarrow_dataset()
    with pytest.raises((NotImplementedError, OSError, TypeError), match="table"):
        use(read)
    assert read.to_table().num_rows == 3 and str(read.partition_expression) == "true"


FILTERS = [
    (lambda f: f("i") > 3, True),
    (lambda f: (f("i") > 3) & (f("f") < 2.5), True),
    (lambda f: (f("i") > 3) | (f("f") < 2.5), False),
    (lambda f: ~(f("i") > 3), False),
    (lambda f: f("f") == 0.1, True),
    (lambda f: f("i") < 5.000000000000001, False),
    (lambda f: f("f") > float("inf"), False),
    (lambda f: f("u") > 2**62, True),
    (lambda f: (f("s") == "a) and (i > 3") & (f("i") > 1), True),
    (lambda f: f("i").isin([1, 2]), False),
    (lambda f: pc.is_nan(f("f")) & (f("i") >= 0), True),
    (lambda f: (f("i") + 1) > 3, False),
]


@pytest.mark.parametrize(("make", "is_narrowed"), FILTERS)
def test_filters_of_datasets_find_what_pyarrow_finds(make, is_narrowed):
    from hyperslab._arrow_filter import condition_of

    random = np.random.default_rng(5)
    rows = np.zeros(2000, [("i", "i4"), ("f", "f8"), ("u", "u8"), ("s", "S16")])
    rows["i"] = random.integers(-5, 9, 2000)
    rows["f"] = random.choice([0.1, 2.5, np.nan, np.inf, -np.inf, -1, 0.1 + 1e-16, 1e300], 2000)
    rows["u"] = random.choice(np.array([0, 2**62 + 1, 2**63 - 1], "u8"), 2000)
    rows["s"] = random.choice([b"a) and (i > 3", b"", b"b"], 2000)
    table = table_of(rows, chunkshape=256)
    expression = make(pc.field)
    assert (condition_of(expression, pa.schema(table)) is not None) == is_narrowed
    expected = pa.table(table).filter(expression)
    assert table.to_pyarrow_dataset().to_table(filter=expression).to_pydict().__repr__() == repr(expected.to_pydict())


def test_a_stream_ends_when_its_consumer_wants_no_more():
    table = table_of(some_rows(10_000), chunkshape=100)
    reader = table.to_batches(batch_size=10)
    assert reader.read_next_batch().num_rows == 10
    del reader
    gc.collect()
    capsule = table.__arrow_c_stream__()
    del capsule
    gc.collect()
    assert table.len() == 10_000


def test_a_stream_of_a_closed_file_is_refused_and_so_is_one_of_removed_rows(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_table("t", obj=some_rows(100_000), chunkshape=1000)
        reader = table.to_batches(batch_size=10)
        shortened = table.to_batches(batch_size=10, stop=100_000)
        reader.read_next_batch()
        shortened.read_next_batch()
    with pytest.raises(Exception, match="closed"):
        reader.read_all()
    with pytest.raises((ValueError, OSError), match="[Cc]losed|not open|invalid"):
        table.to_batches()
    with hs.File(tmp_path / "t.h5", "r+") as file:
        table = file["t"]
        reader = table.to_batches(batch_size=1 << 20)
        table.remove_rows(0, 99_990)
        with pytest.raises(Exception, match="rows were removed while a stream of them was read"):
            reader.read_all()


def test_threads_share_streams_of_one_table():
    rows = some_rows(20_000)
    table = table_of(rows, chunkshape=777, compression=hs.Blosc2("lz4"))
    failed = []

    def run():
        try:
            for _ in range(5):
                assert_equal(pa.table(table.query(columns=["time"]))["time"], rows["time"])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0/."), min_size=1, max_size=5)
TYPES = st.sampled_from(
    [
        pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(),
        pa.float32(), pa.float64(), pa.bool_(), pa.string(), pa.large_string(), pa.binary(), pa.string_view(),
        pa.timestamp("us"), pa.timestamp("ns"), pa.duration("ms"), pa.binary(3), pa.list_(pa.int16(), 2),
        pa.struct([("a", pa.int8()), ("b", pa.string())]), pa.dictionary(pa.int8(), pa.string()),
    ]
)  # fmt: skip


def values_of(kind):
    """A strategy of plain values of a type of Arrow."""
    if pa.types.is_dictionary(kind):
        return st.sampled_from(["x", "yy", ""])
    if pa.types.is_struct(kind):
        return st.fixed_dictionaries({field.name: values_of(field.type) for field in kind})
    if pa.types.is_fixed_size_list(kind):
        return st.lists(values_of(kind.value_type), min_size=kind.list_size, max_size=kind.list_size)
    if pa.types.is_fixed_size_binary(kind):
        return st.binary(min_size=kind.byte_width, max_size=kind.byte_width)
    if pa.types.is_binary(kind):
        # A text of HDF5 loses zeros at its end.
        return st.binary(max_size=6).filter(lambda value: value.rstrip(b"\0") == value)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view():
        return st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4)
    if pa.types.is_boolean(kind):
        return st.booleans()
    if pa.types.is_floating(kind):
        return st.floats(width=kind.bit_width, allow_nan=False)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return st.integers(-(2**53), 2**53)
    info = np.iinfo(kind.to_pandas_dtype())
    return st.integers(int(info.min), int(info.max))


@st.composite
def tables_of_arrow(draw):
    kinds = draw(st.lists(TYPES, min_size=1, max_size=5))
    names = draw(st.lists(NAMES, min_size=len(kinds), max_size=len(kinds), unique=True))
    count = draw(st.integers(0, 9))
    columns = [draw(st.lists(values_of(kind), min_size=count, max_size=count)) for kind in kinds]
    arrays = [pa.array(column, type=kind) for column, kind in zip(columns, kinds, strict=True)]
    return pa.table(arrays, names=names)


def plain(table):
    """The values of a table, with texts as bytes and times as integers."""

    def simple(value):
        if isinstance(value, str):
            return value.encode()
        if isinstance(value, dict):
            return {name: simple(part) for name, part in value.items()}
        return value

    columns = []
    for column in table.columns:
        kind = column.type
        if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
            column = column.cast("i8")
        columns.append([simple(value) for value in column.to_pylist()])
    return dict(zip(table.column_names, columns, strict=True))


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(tables_of_arrow(), st.integers(1, 4))
def test_rows_of_arrow_come_back_as_they_were(given_rows, size):
    file = hs.File.in_memory()
    table = file.create_table("t", obj=given_rows)
    assert table.len() == given_rows.num_rows
    for _ in range(2):
        table.append(pa.RecordBatchReader.from_batches(given_rows.schema, given_rows.to_batches(size)))
    expected = pa.concat_tables([given_rows] * 3)
    assert plain(pa.table(table.query(binary=True))) == plain(expected)


def test_frames_are_appended_by_their_names():
    rows = columns_of(some_rows(50), "time", "temp", "id")
    table = table_of(rows)
    frame = pl.DataFrame({"id": ["a", "bc"], "time": [1, 2], "temp": [1.5, 2.5]})
    table.append(frame)
    table.append(pa.table(frame))
    table.append(duckdb.sql("select * from frame"))
    table.append(pd.DataFrame({"temp": [1.5, 2.5], "time": [1, 2], "id": ["a", "bc"]}))
    table.append(table.query("temp < 100"))
    assert table.len() == 50 + 8 + 8
    expected = np.array([(1, 1.5, b"a"), (2, 2.5, b"bc")] * 8, rows.dtype)
    assert table[50:].tobytes() == expected.tobytes()


REFUSED = [
    ({"n": pa.array([1, None], "i4")}, 'column "n", row 1: the value must not be null; fill nulls first'),
    ({"n": pa.array([1, 300], "i4")}, 'column "n", row 1'),
    ({"n": pa.array([1.0, 2.5])}, 'column "n", row 1'),
    ({"n": pa.array([1.0, float("nan")])}, 'column "n", row 1'),
    ({"n": ["a", "b"]}, 'column "n"'),
    ({"s": ["abc", "abcde"]}, 'column "s", row 1'),
    ({"colour": ["red", "pink"]}, 'column "colour", row 1'),
    ({"other": [1]}, 'column "other": the rows must have only columns of the table, which are n, s, colour'),
    ({"f": [1]}, 'column "f": the rows must have only columns of the table'),
]


@pytest.mark.parametrize(("columns", "message"), REFUSED)
def test_rows_that_do_not_fit_are_refused_and_none_of_them_is_appended(columns, message):
    table = table_of(np.zeros(3, [("n", "i1"), ("s", "S4"), ("colour", COLOURS)]))
    good = pa.table({name: pa.array(values)[:1] for name, values in columns.items()})
    bad = pa.table(columns)
    batches = [*good.cast(bad.schema).to_batches(), *bad.to_batches()] if len(bad) > 1 else bad.to_batches()
    before = table.read()
    message = message.replace("row 1", "row 2") if len(batches) > 1 else message
    with pytest.raises((ValueError, TypeError, OverflowError), match=message):
        table.append(pa.RecordBatchReader.from_batches(bad.schema, batches))
    assert table.len() == 3 and table.read().tobytes() == before.tobytes()


def test_a_stream_that_fails_in_the_middle_leaves_no_rows_behind():
    table = table_of(np.zeros(3, [("n", "i8")]))
    schema = pa.schema([("n", pa.int64())])

    def batches():
        yield pa.record_batch([pa.array([1, 2])], schema=schema)
        raise RuntimeError("the network is gone")

    with pytest.raises(Exception, match="the network is gone"):
        table.append(pa.RecordBatchReader.from_batches(schema, batches()))
    assert table.len() == 3
    table.append({"n": [4]})
    assert table.read()["n"].tolist() == [0, 0, 0, 4]


def test_a_stream_that_fails_takes_back_its_own_rows_and_no_others():
    table = table_of(np.zeros(3, [("n", "i8")]))
    table.create_index("n")
    schema = pa.schema([("n", pa.int64())])

    def batches():
        yield pa.record_batch([pa.array([1, 2])], schema=schema)
        table.append({"n": [99]})
        yield pa.record_batch([pa.array([3])], schema=schema)
        table.append({"n": [98]})
        table.flush()
        raise RuntimeError("the network is gone")

    with pytest.raises(Exception, match="the network is gone"):
        table.append(pa.RecordBatchReader.from_batches(schema, batches()))
    assert table.read()["n"].tolist() == [0, 0, 0, 99, 98]
    assert table.get_where_list("n > 0").tolist() == [3, 4]
    table.flush()
    assert table.get_where_list("n > 0").tolist() == [3, 4] and not table.cols.n.index.dirty


def test_a_stream_whose_rows_have_moved_says_that_they_stay():
    table = table_of(np.zeros(3, [("n", "i8")]))
    schema = pa.schema([("n", pa.int64())])

    def batches():
        yield pa.record_batch([pa.array([1, 2])], schema=schema)
        table.remove_rows(0, 1)
        raise RuntimeError("the network is gone")

    with pytest.raises(ValueError, match="2 rows of the stream: they stay"):
        table.append(pa.RecordBatchReader.from_batches(schema, batches()))
    assert table.read()["n"].tolist() == [0, 0, 1, 2]


def test_capsules_of_others_are_looked_at_before_they_are_used():
    table = table_of(np.zeros(3, [("n", "i8")]))
    stream = pa.table({"n": [1]}).__arrow_c_stream__()

    class Given:
        def __init__(self, capsule):
            self.capsule = capsule

        def __arrow_c_stream__(self, requested_schema=None):
            return self.capsule

    table.append(Given(stream))
    with pytest.raises(ValueError, match="read already"):
        table.append(Given(stream))
    for wrong in (pa.schema([]).__arrow_c_schema__(), None, 5):
        with pytest.raises((ValueError, TypeError)):
            table.append(Given(wrong))
    with pytest.raises(TypeError, match="the Arrow stream must have rows, not values"):
        table.append(Given(pa.chunked_array([[1, 2]]).__arrow_c_stream__()))
    with pytest.raises((ValueError, TypeError)):
        table.__arrow_c_stream__(requested_schema=stream)
    assert table.len() == 4
