"""`hs.pandas` against pandas: each reads what the other one wrote, and both see equal frames."""

import datetime
import pickle
import subprocess
import sys
import warnings

import h5py
import numpy as np
import pandas as pd
import pytest
import tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import pandas as pdst
from pandas_objects import LEVELS, OBJECTS, RANDOM, VERSION, N, as_read_from_ours, is_refused
from support import IS_H5PY, hs

if IS_H5PY:
    pytest.skip("h5py does not read the files of pandas", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")


def check_equal(one, other):
    test = pd.testing.assert_series_equal if isinstance(one, pd.Series) else pd.testing.assert_frame_equal
    test(one, other)


def outcome(action):
    """The value of a call, or the exception."""
    try:
        return action()
    except Exception as error:
        return error


@pytest.mark.parametrize("form", [("fixed", None), ("table", None), ("table", True)], ids=str)
@pytest.mark.parametrize("name", OBJECTS)
def test_pandas_reads_what_we_write_and_we_read_what_pandas_writes(name, form, tmp_path):
    value, ours, theirs = OBJECTS[name], tmp_path / "ours.h5", tmp_path / "theirs.h5"
    packed = {"complevel": 5, "complib": "blosc"} if name in ("dtypes", "dates", "levels") else {}
    options = {"format": form[0], "data_columns": form[1], **packed}
    refused = outcome(lambda: value.to_hdf(theirs, key="in/k", index=False, **options))
    refused_here = outcome(lambda: hs.pandas.to_hdf(value, ours, "in/k", **options))
    if is_refused(name, form[0]):
        assert isinstance(refused_here, TypeError | ValueError) and pd.__version__ in str(refused_here), refused_here
        return
    if refused is not None:
        assert type(refused_here) is type(refused), (refused, refused_here)
        return
    assert refused_here is None, refused_here
    if value.empty and form[0] == "table":
        assert not ours.exists()
        return
    expected = as_read_from_ours(name, form[0])
    if expected is None:
        expected = pd.read_hdf(theirs, "in/k")
        check_equal(hs.pandas.read_hdf(theirs, "in/k"), expected)
    check_equal(pd.read_hdf(ours, "in/k"), expected)
    check_equal(hs.pandas.read_hdf(ours, "in/k"), expected)


def columns():
    strings = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4)
    kinds = [("i", "i8"), ("j", "i2"), ("f", "f8"), ("g", "f4"), ("b", "?"), ("m", "m8[ns]"), ("d", "M8[ns]")]
    return st.lists(st.sampled_from([*kinds, ("s", strings), ("t", strings)]), min_size=1, max_size=6, unique=True).map(
        lambda chosen: [
            pdst.column(name, dtype=kind) if isinstance(kind, str) else pdst.column(name, elements=kind, dtype=object)
            for name, kind in chosen
        ]
    )


FRAMES = columns().flatmap(lambda chosen: pdst.data_frames(chosen, index=pdst.range_indexes(min_size=1, max_size=9)))


@pytest.mark.soak
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(frame=FRAMES, form=st.sampled_from(["fixed", "table"]), data=st.data())
def test_random_frames_are_equal_on_both_ways(frame, form, data, tmp_path_factory):
    path = tmp_path_factory.mktemp("frames")
    own = data.draw(st.lists(st.sampled_from(list(frame)), unique=True)) if form == "table" else None
    options = {"format": form, "data_columns": own}
    frame.to_hdf(path / "theirs.h5", key="k", index=False, **options)
    hs.pandas.to_hdf(frame, path / "ours.h5", "k", **options)
    expected = pd.read_hdf(path / "theirs.h5", "k")
    check_equal(hs.pandas.read_hdf(path / "theirs.h5", "k"), expected)
    check_equal(pd.read_hdf(path / "ours.h5", "k"), expected)
    start, stop = data.draw(st.integers(-9, 9)), data.draw(st.integers(-9, 9))
    part = outcome(lambda: pd.read_hdf(path / "theirs.h5", "k", start=start, stop=stop))
    if isinstance(part, pd.DataFrame):
        check_equal(hs.pandas.read_hdf(path / "theirs.h5", "k", start=start, stop=stop), part)


@pytest.fixture(scope="module")
def queried(tmp_path_factory):
    """A table that pandas wrote, with a data column of each kind."""
    rows = 50
    frame = pd.DataFrame(
        {
            "A": RANDOM.normal(size=rows),
            "B": np.arange(rows),
            "s": RANDOM.choice(list("abc"), rows),
            "d": pd.date_range("2020", periods=rows, tz="UTC"),
            "q": RANDOM.normal(size=rows) > 0,
            "c": pd.Categorical(RANDOM.choice(list("xyz"), rows)),
            "z": np.arange(rows) * 2.0,
        },
        index=pd.date_range("2021", periods=rows, freq="h"),
    )
    path = tmp_path_factory.mktemp("queried") / "q.h5"
    frame.to_hdf(path, key="k", format="table", data_columns=list("ABsdqc"), index=False)
    return path, frame


CONDITIONS = [
    "A > 0",
    "B>=10 & B<20",
    "s='a'",
    "s=='a' | s==b",
    "s in ['a','c']",
    "s==some",
    "s!=some",
    "index > moment",
    "index>='20210102'",
    "index > frame.index[4] & A>0",
    "index==frame.index[[1,5]]",
    "d > '2020-01-10'",
    "d>Timestamp('2020-01-10')",
    "d=='2020-01-10'",
    "q==True",
    "q=False & B<seven",
    "c=='x'",
    "c!='x'",
    "c=['x','y']",
    "columns=['A','B']",
    "columns=A",
    "index<moment & columns=['A','z']",
    "~(columns=['A'])",
    "B == [1,2,3]",
    "B<5.5",
    "B=5.5",
    "B>-1",
    "(A>0 & B<10) | (A<0 & B>40)",
    "A!=0 & s!='a'",
    "A>'0.5'",
    "B in 5",
    "index=moment",
    ["A>0", "B<20"],
    [0, 5, 7, 5],
    np.arange(50) % 2 == 0,
]


@pytest.mark.parametrize("where", CONDITIONS, ids=str)
def test_conditions_select_the_rows_that_pandas_selects(queried, where):
    path, frame = queried
    moment, some, seven = pd.Timestamp("2021-01-02"), ["a", "b"], 7
    found = hs.pandas.read_hdf(path, "k", where=where)
    if VERSION < (3, 1) and str(where) in ("s!=some", "B=5.5"):
        # pandas inverts no list, and rounds the constant.
        check_equal(found, frame[~frame.s.isin(some)] if where == "s!=some" else frame[frame.B == 5.5])
        return
    check_equal(found, pd.read_hdf(path, "k", where=where))
    assert (moment, some, seven, len(frame)) is not None


@pytest.mark.parametrize(
    "options",
    [
        {"start": 3, "stop": 10},
        {"start": -5},
        {"stop": -3},
        {"start": 100},
        {"columns": ["z", "A"]},
        {"columns": ["A", "unknown"]},
        {"where": "A>0", "columns": ["B"], "start": 5, "stop": 30},
        {"where": [3, 4], "start": 2},
    ],
    ids=str,
)
def test_parts_of_a_table_are_those_of_pandas(queried, options):
    check_equal(hs.pandas.read_hdf(queried[0], "k", **options), pd.read_hdf(queried[0], "k", **options))


def test_a_condition_is_evaluated_block_by_block(monkeypatch):
    monkeypatch.setattr("hyperslab.pandas._tables._BLOCK_BYTES", 1)
    rows = np.zeros(50, [("A", "f8"), ("B", "i8")])
    rows["A"], rows["B"] = RANDOM.normal(size=50), np.arange(50)
    with hs.File.in_memory() as file:
        file.create_table("t", obj=rows, chunkshape=8)
        for start, stop in ((0, 50), (3, 29), (8, 9)):
            found = hs.pandas.read_hdf(file, "t", where="A > 0 & index < 40", start=start, stop=stop)
            expected = pd.DataFrame(rows)[start:stop].query("A > 0 & index < 40")
            check_equal(found.reset_index(drop=True), expected.reset_index(drop=True))


def test_a_category_that_equals_the_mark_of_missing_strings_is_missing(tmp_path):
    value = pd.DataFrame({"c": pd.Categorical(["a", "nan", "b", None], categories=["nan", "a", "b"])})
    for module, path in ((hs.pandas.to_hdf, tmp_path / "ours.h5"), (pd.DataFrame.to_hdf, tmp_path / "theirs.h5")):
        module(value, path, key="k", format="table", nan_rep="nan")
    expected = pd.read_hdf(tmp_path / "theirs.h5", "k")
    for path in (tmp_path / "ours.h5", tmp_path / "theirs.h5"):
        check_equal(pd.read_hdf(path, "k"), expected)
        check_equal(hs.pandas.read_hdf(path, "k"), expected)


@pytest.mark.soak
def test_random_conditions_select_what_pandas_selects_in_memory(tmp_path):
    rows = 400
    frame = pd.DataFrame({name: RANDOM.integers(0, 9, rows) for name in "abcd"})
    hs.pandas.to_hdf(frame, tmp_path / "r.h5", "k", format="table", data_columns=True)

    def tree(depth):
        if depth == 0:
            return f"({RANDOM.choice(list('abcd'))} {RANDOM.choice(['<', '<=', '==', '!=', '>=', '>'])} {RANDOM.integers(9)})"
        sides = f"({tree(depth - 1)} {RANDOM.choice(['&', '|'])} {tree(depth - 1)})"
        return f"~{sides}" if RANDOM.integers(4) == 0 else sides

    for _ in range(200):
        where = tree(RANDOM.integers(0, 4))
        check_equal(hs.pandas.read_hdf(tmp_path / "r.h5", "k", where=where), frame.query(where))


@pytest.mark.parametrize(
    ("where", "error", "says"),
    [
        ("z>3", ValueError, "'z' is not the index or a data column"),
        ("A>", ValueError, "not a condition"),
        ("A+1>2", ValueError, "invalid variable reference"),
        ("A>B*2", NotImplementedError, "arithmetic"),
        ("B==None", TypeError, "to None"),
        ("A>open('x')", (ValueError, TypeError), "calls|not"),
        ("A>frame.__class__", ValueError, "not a value"),
        ("A>frame.to_pickle('x')", ValueError, "calls 'frame.to_pickle'"),
        ("A", ValueError, "not a comparison"),
        ("c < [1, 2]", TypeError, "several values"),
        ("d > 'no date'", ValueError, "cannot compare 'no date' with the column 'd'"),
        ([60], ValueError, "index locations"),
        ([True], ValueError, "mask of 1 rows"),
        ([0.5], TypeError, "row numbers"),
    ],
    ids=str,
)
def test_a_condition_that_is_not_valid_is_an_error_that_says_why(queried, where, error, says):
    path, frame = queried
    with pytest.raises(error, match=says):
        hs.pandas.read_hdf(path, "k", where=where)
    assert len(frame) == 50


@pytest.mark.parametrize("name", [name for name, value in OBJECTS.items() if not value.empty])
def test_rows_are_appended_to_our_tables_and_to_those_of_pandas(name, tmp_path):
    value, path = OBJECTS[name], tmp_path / "a.h5"
    options = {"append": True, "min_itemsize": {"values": 9} if name == "missing strings" else None}
    if is_refused(name, "table"):
        with pytest.raises((TypeError, ValueError), match=pd.__version__):
            hs.pandas.to_hdf(value, path, "k", **options)
        return
    if (better := as_read_from_ours(name, "table")) is not None:
        for _ in range(2):
            hs.pandas.to_hdf(value, path, "ours", **options)
        check_equal(pd.read_hdf(path, "ours"), pd.concat([better, better]))
        return
    expected = outcome(lambda: [value.to_hdf(path, key=key, **options, index=False) for key in ("k", "k", "pandas")])
    if name == "dates":
        # pandas takes two equal time zones for different ones.
        value.to_hdf(path, key="z", format="table", index=False)
        hs.pandas.to_hdf(value, path, "z", append=True)
        check_equal(pd.read_hdf(path, "z"), pd.concat([value, value]))
        return
    if isinstance(expected, Exception):
        with pytest.raises(type(expected)):
            hs.pandas.to_hdf(value, path, "k2", **options)
        return
    for key in ("ours", "ours", "pandas"):
        hs.pandas.to_hdf(value, path, key, append=True, min_itemsize=options["min_itemsize"])
    expected = pd.read_hdf(path, "k")
    for key in ("ours", "pandas"):
        check_equal(pd.read_hdf(path, key), expected)
        check_equal(hs.pandas.read_hdf(path, key), expected)
    value.to_hdf(path, key="ours", append=True, index=False)
    assert len(hs.pandas.read_hdf(path, "ours")) == 3 * len(value)


def test_rows_that_differ_from_the_stored_ones_are_refused_and_nothing_changes(tmp_path):
    path = tmp_path / "a.h5"
    frame = pd.DataFrame({"x": [1.0, 2.0], "s": ["a", "b"], "c": pd.Categorical(["p", "q"])})
    hs.pandas.to_hdf(frame, path, "k", append=True)
    for changed, error in (
        (frame.drop(columns="x"), ValueError),
        (frame.assign(x=["a", "b"]), ValueError),
        (frame.assign(x=[1, 2]), ValueError),
        (frame.assign(s=["a", "longer"]), ValueError),
        (frame.assign(c=pd.Categorical(["p", "r"])), ValueError),
        (frame.set_index(pd.Index(["a", "b"])), TypeError),
        (frame.set_index(pd.date_range("2020", periods=2)), TypeError),
        (frame.set_index(pd.period_range("2020", periods=2, freq="D")), TypeError),
        (frame.set_index(LEVELS[:2].set_names(["m", "n"])), TypeError),
    ):
        with pytest.raises(error):
            hs.pandas.to_hdf(changed, path, "k", append=True)
        check_equal(hs.pandas.read_hdf(path, "k"), frame)
    hs.pandas.to_hdf(frame[["x", "s"]], path, "fixed")
    with pytest.raises(ValueError, match="has the 'fixed' format"):
        hs.pandas.to_hdf(frame[["x", "s"]], path, "fixed", append=True)
    with pytest.raises(ValueError, match="Can only append to Tables"):
        hs.pandas.to_hdf(frame[["x", "s"]], path, "k2", format="fixed", append=True)


def test_an_appended_string_that_is_the_stored_mark_is_refused(tmp_path):
    path, frame = tmp_path / "m.h5", pd.DataFrame({"s": ["a", None, "bcd"]})
    hs.pandas.to_hdf(frame, path, "k", append=True)
    with pytest.raises(ValueError, match="collides with the sentinel"):
        hs.pandas.to_hdf(pd.DataFrame({"s": ["nan"]}), path, "k", append=True)
    check_equal(pd.read_hdf(path, "k"), frame)


@pytest.mark.parametrize("form", ["fixed", "table"])
def test_units_that_the_installed_pandas_does_not_read_become_nanoseconds_with_a_warning(form, tmp_path):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        hs.pandas.to_hdf(OBJECTS["seconds"], tmp_path / "u.h5", "k", format=form)
    told = [str(one.message) for one in said if "nanoseconds" in str(one.message)]
    assert len(told) == (VERSION < (3, 0)) and all(one.startswith("z, td: ") for one in told)
    far = pd.DataFrame({"d": np.array(["9999-01-01"], "M8[s]")})
    found = outcome(lambda: hs.pandas.to_hdf(far, tmp_path / "u.h5", "far", format=form))
    assert isinstance(found, ValueError) if VERSION < (3, 0) else found is None, found


def test_appended_rows_are_in_the_indexes_that_pandas_made(tmp_path):
    path = tmp_path / "i.h5"
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.integers(0, 900, 5000), "y": rng.normal(size=5000), "s": list("abcde") * 1000})
    for count in (1, 20, 5000):
        frame.to_hdf(path, key="k", format="table", data_columns=True, mode="w")
        hs.pandas.to_hdf(frame[:count], path, "k", append=True)
        whole = pd.concat([frame, frame[:count]])
        with tables.open_file(path) as file:
            table = file.root.k.table
            assert table.cols.x.is_indexed and table.cols.index.is_indexed and not table.cols.x.index.dirty
            assert len(table.read_where("x == 7")) == (whole.x == 7).sum()
        for where, found in (
            ("x == 7", whole[whole.x == 7]),
            ("y > 2 & s == 'b'", whole[(whole.y > 2) & (whole.s == "b")]),
        ):
            check_equal(pd.read_hdf(path, "k", where=where), found)
            check_equal(hs.pandas.read_hdf(path, "k", where=where), found)


def test_conditions_use_the_indexes_of_the_table(tmp_path, monkeypatch):
    path = tmp_path / "i.h5"
    rng = np.random.default_rng(4)
    index = pd.date_range("2024-01-01", periods=5000, freq="37s", tz="Europe/Berlin")
    frame = pd.DataFrame({"x": rng.integers(-50, 900, 5000), "y": rng.normal(size=5000).astype("f4")}, index=index)
    frame["s"] = rng.choice(["", "a", "bc", "zürich"], 5000).tolist()
    frame["name"] = [f"n{number}é" for number in rng.integers(0, 900, 5000)]
    frame["flag"] = frame.x > 3
    frame.to_hdf(path, key="k", format="table", data_columns=True, index=False)
    with hs.File(path, "r+") as file:
        for column in ("index", "x", "y", "name"):
            file["k/table"].create_csindex(column)
    looked = []
    original = hs.Table.get_where_list

    def spied(table, condition, condvars=None, *args, **kwds):
        found = original(table, condition, condvars, *args, **kwds)
        looked.append((len(found), table.will_query_use_indexing(condition, condvars)))
        return found

    monkeypatch.setattr(hs.Table, "get_where_list", spied)
    when = index[2000]
    for where, true, column in (
        ("x == 7", frame.x == 7, "x"),
        ("x > 880.5 & y > 0", (frame.x > 880.5) & (frame.y > 0), "x"),
        ("~(x <= 880)", ~(frame.x <= 880), "x"),
        ("y > 2.5", frame.y > 2.5, "y"),
        ("x == [3, 4] | x in [5]", frame.x.isin([3, 4, 5]), "x"),
        ("index == when", frame.index == when, "index"),
        ("index > when & index <= '2024-01-01 21:40' & flag == True", None, "index"),
        ("name == 'n7é'", frame.name == "n7é", "name"),
        ("name in ['n7é', 'n8é', 'none']", frame.name.isin(["n7é", "n8é"]), "name"),
        ("name > 'n89'", frame.name > "n89", None),
        ("s == 'zürich' & x < -45", (frame.s == "zürich") & (frame.x < -45), "x"),
        ("flag == False | x == 9", ~frame.flag | (frame.x == 9), None),
        ("s == 'zürich' & index <= '2024-01-01 02:00'", None, "index"),
        ("s != 'a'", frame.s != "a", None),
        ("s > 'b'", frame.s > "b", None),
    ):
        looked.clear()
        found = hs.pandas.read_hdf(path, "k", where=where)
        if "~" not in where and "name >" not in where:
            # pandas does not invert a condition, and takes bytes above 127 for negative numbers.
            check_equal(found, pd.read_hdf(path, "k", where=where))
        if true is not None:
            assert len(found) == true.sum()
        if column is None:
            assert not looked
        else:
            [(count, used)] = looked
            assert len(found) <= count and column in used, (where, looked)
    with pytest.raises(TypeError):
        hs.pandas.read_hdf(path, "k", where="x == -999 & y == None")


def test_an_object_is_replaced_and_objects_below_it_stay(tmp_path):
    path, frame = tmp_path / "r.h5", OBJECTS["categories"]
    hs.pandas.to_hdf(frame, path, "a", format="table")
    hs.pandas.to_hdf(frame["c"], path, "a/b", format="table")
    hs.pandas.to_hdf(OBJECTS["numbers"], path, "/a")
    check_equal(pd.read_hdf(path, "a"), OBJECTS["numbers"])
    check_equal(pd.read_hdf(path, "a/b"), frame["c"])
    hs.pandas.to_hdf(OBJECTS["numbers"], path, "c", mode="w")
    check_equal(hs.pandas.read_hdf(path), OBJECTS["numbers"])
    hs.pandas.to_hdf(OBJECTS["numbers"], path, "d")
    with pytest.raises(ValueError, match="key must be provided"):
        hs.pandas.read_hdf(path)
    with pytest.raises(KeyError):
        hs.pandas.read_hdf(path, "e")
    with hs.File(path, "r+") as file:
        file["plain"] = [1, 2]
        with pytest.raises(TypeError, match="not a frame or a series"):
            hs.pandas.read_hdf(file, "plain")
        check_equal(hs.pandas.read_hdf(file, "d"), OBJECTS["numbers"])


def test_any_table_of_pytables_is_read_as_pandas_reads_it(tmp_path):
    path = tmp_path / "t.h5"
    with tables.open_file(path, "w") as file:
        table = file.create_table("/in", "t", np.dtype("i4,f8,S3,?"), createparents=True)
        table.append([(1, 2.5, b"ab", True), (2, 3.5, b"nan", False)])
    check_equal(hs.pandas.read_hdf(path, "in/t"), pd.read_hdf(path, "in/t"))
    whole = pd.read_hdf(path, "in/t")
    check_equal(hs.pandas.read_hdf(path, where="f0 < 2"), whole[whole.f0 < 2])


class Trap:
    """An object whose unpickling fails the test."""

    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


def test_pickled_objects_that_are_not_plain_are_errors_and_never_loaded(tmp_path):
    path = tmp_path / "trap.h5"
    hs.pandas.to_hdf(pd.Series(["a", 1]), path, "objects")
    hs.pandas.to_hdf(pd.DataFrame({"x": [1]}), path, "frame", format="table")
    trap = pickle.dumps(np.array([Trap()], dtype=object))
    with h5py.File(path, "r+") as file:
        file["objects/values"][0] = np.frombuffer(trap, "u1")
        file["frame"].attrs["info"] = np.bytes_(pickle.dumps({"index": Trap()}, 0))
    with pytest.raises(ValueError, match="only plain values are read"):
        hs.pandas.read_hdf(path, "objects")
    with pytest.raises(ValueError, match="attribute info of '/frame': .* only plain values"):
        hs.pandas.read_hdf(path, "frame")


PLAIN = [
    *(None, True, False, 3, -1, 10**30, 1.5, "é", "", b"ab\xff", (), (1,), (1, "a", None, 2.5), [], {}, {1, 2}),
    *({"a": [1, (2, {"b": None})]}, np.int64(3), np.float32(1.5), np.str_("a"), np.bool_(True)),
    *(datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3), datetime.timezone(datetime.timedelta(hours=2))),
    *(pd.Timestamp("2020-01-01 01:02"), pd.Timestamp("2020", tz="UTC"), pd.Timedelta("1h"), pd.Period("2020", "M")),
    *(pd.NaT, pd.NA, pd.offsets.Day(2), pd.offsets.Week(weekday=3), pd.offsets.BusinessDay(), pd.offsets.YearEnd()),
    frozenset([1]),
    np.datetime64("2020-01-01", "s"),
]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_pickles_of_plain_values_are_read_without_unpickling(value, protocol):
    from hyperslab.pandas._pickles import loads

    found = loads(pickle.dumps(value, protocol))
    assert type(found) is type(value) and (found is value if value is pd.NaT or value is pd.NA else found == value)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_pickles_are_errors_of_one_kind(data):
    from hyperslab.pandas._pickles import PickleError, loads

    pickled = bytearray(pickle.dumps(PLAIN, data.draw(st.integers(0, 5))))
    for _ in range(data.draw(st.integers(1, 4))):
        pickled[data.draw(st.integers(0, len(pickled) - 1))] = data.draw(st.integers(0, 255))
    try:
        loads(bytes(pickled[: data.draw(st.integers(0, len(pickled)))]))
    except PickleError:
        pass


def test_arrays_in_pickles_have_their_dtype_shape_and_order():
    from hyperslab.pandas._pickles import loads

    for array in (np.arange(6).reshape(2, 3), np.array([["a", None], [1.5, b"c"]], object), np.array(["a", "bc"])):
        for layout in (array, np.asfortranarray(array)):
            for protocol in range(6):
                found = loads(pickle.dumps(layout, protocol))
                np.testing.assert_array_equal(found, array)
                assert found.dtype == array.dtype


def test_importing_the_package_imports_neither_pandas_nor_dask():
    code = "import sys, hyperslab as hs; assert not {'pandas', 'dask'} & set(sys.modules); hs.pandas.read_hdf"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_damaged_attributes_are_errors_and_not_frames(tmp_path):
    path = tmp_path / "d.h5"
    names = ("index_cols", "values_cols", "pandas_type", "table_type", "non_index_axes", "info", "levels")
    hs.pandas.to_hdf(OBJECTS["dtypes"], path, "k", format="table", data_columns=["i"])
    with warnings.catch_warnings(), hs.File(path, "r+") as file:
        for name in names:
            kept = file["k"].attrs.get_id(name)
            value, dtype = file["k"].attrs[name], kept.dtype
            for damaged in (np.bytes_(b"(lp0\nI1\na"), np.bytes_(b"I7\n."), 7, np.arange(3)):
                file["k"].attrs[name] = damaged
                found = outcome(lambda: hs.pandas.read_hdf(file, "k"))
                assert isinstance(found, ValueError | TypeError | KeyError | NotImplementedError), (
                    name,
                    damaged,
                    found,
                )
            file["k"].attrs.create(name, value, dtype=dtype)
        assert len(hs.pandas.read_hdf(file, "k")) == N
