"""New tables: the columns that rows tell, names and types that are refused, and what a copy keeps."""

import warnings

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import tables
from support import hs


class Described(tables.IsDescription):
    text = tables.StringCol(6, dflt=b"none", pos=0)
    count = tables.Int32Col(dflt=7, pos=1)
    kind = tables.EnumCol(tables.Enum({"dry": 3, "wet": 5}), "wet", "uint8", pos=2)
    ok = tables.BoolCol(dflt=True, pos=3)
    grid = tables.Float64Col(shape=(2,), dflt=[1.5, 2.5], pos=4)

    class inner(tables.IsDescription):
        _v_pos = 5
        level = tables.Int16Col(dflt=-4)


def described_file(path):
    """Writes a table with defaults and attributes, and returns the names of these."""
    with tables.open_file(path, "w") as file:
        table = file.create_table("/", "t", Described, "Title")
        for number in range(5):
            table.row["count"] = 5 - number
            table.row.append()
        table.flush()
        table.cols.count.create_csindex()
        table.attrs.units, table.attrs.many, table.attrs.pickled = "K", np.arange(3), {"a": 1}
        table.attrs.empty, table.attrs.nothing = "", None
    with h5py.File(path, "r+") as file:
        file["t"].attrs["long"] = "Grüße"
        file["t"].attrs["texts"] = ["a", "bü"]
        file["t"].attrs.create("wet", 5, dtype=h5py.enum_dtype({"dry": 3, "wet": 5}, "u1"))
        file["t"].attrs["null"] = h5py.Empty("f4")
        file["t"].attrs.create("arrays", np.arange(6).reshape(2, 3), (2, 3), np.dtype(("i4", (3,))))
        file["t"].attrs["record"] = np.array([(1, "ü")], [("a", ">i4"), ("s", h5py.string_dtype())])
        file["t"].attrs["lists"] = np.array([np.arange(2), np.arange(3)], h5py.vlen_dtype("i2"))


@pytest.mark.filterwarnings("ignore::tables.exceptions.DataTypeWarning")
@pytest.mark.parametrize("options", [{}, {"sortby": "count"}, {"start": 1, "stop": 4, "step": 2}, {"filters": None}])
def test_a_copy_keeps_defaults_and_attributes_of_users(tmp_path, options):
    path, other = tmp_path / "t.h5", tmp_path / "other.h5"
    described_file(path)
    with hs.File(path, "r+") as file, hs.File(other, "w") as target:
        for made in (file["t"].copy(newname="copy", **options), file["t"].copy(target, "copy", **options)):
            assert made.title == "Title"
            made.append({"count": [1]})
            assert made[-1].tolist()[:4] == (b"none", 1, 5, True)
            assert made[-1]["grid"].tolist() == [1.5, 2.5] and made[-1]["inner"]["level"] == -4
            made.row.append()
            made.flush()
            assert made[-1]["count"] == 7
    for name in (path, other):
        with tables.open_file(path) as mine, tables.open_file(name) as file:
            source, made = mine.root.t, file.root.copy
            assert [made.coldflts[name].tolist() for name in made.colpathnames] == [
                source.coldflts[name].tolist() for name in source.colpathnames
            ]
            assert set(made.attrs._v_attrnamesuser) == set(source.attrs._v_attrnamesuser)
            assert made.attrs.pickled == {"a": 1} and made.attrs.empty == "" and made.attrs.nothing is None
        with h5py.File(path) as mine, h5py.File(name) as file:
            for key, value in mine["t"].attrs.items():
                if key != "NROWS":
                    ours, theirs = file["copy"].attrs.get_id(key), mine["t"].attrs.get_id(key)
                    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, key
                    assert h5py.check_string_dtype(ours.dtype) == h5py.check_string_dtype(theirs.dtype), key
                    assert h5py.check_enum_dtype(ours.dtype) == h5py.check_enum_dtype(theirs.dtype), key
                    assert repr(file["copy"].attrs[key]) == repr(value)


def test_references_are_copied_within_their_file_only():
    file, other = hs.File.in_memory(), hs.File.in_memory()
    table = file.create_table("t", [("a", "i4")], obj={"a": [1, 2]})
    scale = file.create_dataset("scale", data=[0.5, 1.5])
    scale.make_scale("x")
    table.dims[0].attach_scale(scale)
    table.attrs["one"] = scale.ref
    table.attrs.create("some", np.array([scale.ref, table.ref], hs.ref_dtype))
    table.attrs["record"] = np.array([(1, scale.ref)], [("n", "i4"), ("to", hs.ref_dtype)])
    lists = np.empty(1, object)
    lists[0] = np.array([scale.ref], hs.ref_dtype)
    table.attrs.create("lists", lists, dtype=hs.vlen_dtype(hs.ref_dtype))
    table.attrs["units"] = "K"
    made = table.copy(newname="copy")
    assert file[made.attrs["one"]] == scale and file[made.attrs["some"][1]] == table
    assert file[made.attrs["record"][0]["to"]] == scale and file[made.attrs["lists"][0][0]] == scale
    assert len(made.dims[0]) == 0
    names = {name for name in table.copy(other, "copy").attrs if not name.startswith("FIELD_")}
    assert names == {"CLASS", "VERSION", "TITLE", "NROWS", "units"}


def test_an_attribute_that_cannot_be_copied_is_named(monkeypatch):
    file = hs.File.in_memory()
    table = file.create_table("t", [("a", "i4")])
    table.attrs["units"] = "K"
    create = type(table.attrs).create

    def refused(attrs, name, *args):
        if name == "units":
            raise TypeError("no dtype")
        create(attrs, name, *args)

    monkeypatch.setattr(hs.AttributeManager, "create", refused)
    with pytest.raises(TypeError, match="attribute 'units' of '/t' cannot be copied: no dtype; copyuserattrs=False"):
        table.copy(newname="copy")
    assert list(file) == ["t"]
    table.copy(newname="copy", copyuserattrs=False)


@pytest.mark.filterwarnings("ignore::tables.exceptions.DataTypeWarning")
def test_a_copy_leaves_attributes_of_users_out_if_they_are_not_wanted(tmp_path):
    path = tmp_path / "t.h5"
    described_file(path)
    with tables.open_file(path, "a") as file:
        file.root.t.copy(newname="theirs", copyuserattrs=False)
    with hs.File(path, "r+") as file:
        file["t"].copy(newname="ours", copyuserattrs=False)
    with tables.open_file(path) as file:
        ours, theirs = file.root.ours, file.root.theirs
        assert ours.attrs._v_attrnamesuser == theirs.attrs._v_attrnamesuser == []
        assert ours.coldflts["text"] == b"none"


@pytest.mark.parametrize("stage", ["append", "create_index", "_copy_attributes"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_copy_that_fails_leaves_nothing(monkeypatch, stage, error):
    file = hs.File.in_memory()
    table = file.create_table("t", [("a", "i8")], obj={"a": np.arange(10)})
    table.create_csindex("a")
    file.flush()
    before = sorted(file)

    def fail(*args, **kwds):
        raise error("stop")

    monkeypatch.setattr(hs.Table, stage, fail)
    with pytest.raises(error, match="stop"):
        table.copy(newname="copy", propindexes=True)
    with pytest.raises(error, match="stop"):
        table.copy(newname="copy", sortby="a", propindexes=True)
    monkeypatch.undo()
    assert sorted(file) == before
    assert len(table.copy(newname="copy", propindexes=True)) == 10
    assert table.len() == 10 and table.count_where("a < 3") == 3


def test_a_copy_to_a_name_that_exists_leaves_what_has_it():
    file = hs.File.in_memory()
    table = file.create_table("t", [("a", "i8")], obj={"a": [1, 2]})
    file.create_table("other", [("a", "i8")], obj={"a": [3]})
    with pytest.raises(ValueError, match="exists"):
        table.copy(newname="other")
    assert file["other"].col("a").tolist() == [3]


@pytest.mark.whole
@pytest.mark.parametrize("name", ["a/b", "/", "", "."])
def test_names_of_columns_that_pytables_refuses_are_refused(name, tmp_path):
    forms = [
        [(name, "f8")],
        {name: "f8"},
        [("n", [(name, "f8"), ("x", "f8")])],
        {"n": {name: "f8"}},
        [("n", [(name, "f8")], (2,))],
    ]
    rows = [{name: [1.0]}, {"n": np.zeros(1, {"names": [name], "formats": ["f8"]})}]
    file = hs.File.in_memory()
    for columns in forms:
        with pytest.raises(ValueError, match="cannot have the name"):
            file.create_table("t", columns)
    for obj in [*rows, pd.DataFrame({name: [1.0]}), pa.table({name: [1.0]})]:
        with pytest.raises(ValueError, match="cannot have the name"):
            file.create_table("t", obj=obj)
    assert list(file) == []
    if name != ".":
        with tables.open_file(tmp_path / "t.h5", "w") as theirs, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(ValueError, match="not allowed"):
                theirs.create_table("/", "t", {name: tables.Float64Col()})


def test_tables_of_other_programs_with_such_names_are_read(tmp_path):
    path = tmp_path / "t.h5"
    rows = np.array([(1, 2.5), (3, 4.5)], [("a/b", "i4"), ("c", "f8")])
    with h5py.File(path, "w") as file:
        file.create_dataset("t", data=rows, maxshape=(None,), chunks=(10,)).attrs["CLASS"] = np.bytes_("TABLE")
    with hs.File(path, "r+") as file:
        table = file["t"]
        assert table.colnames == ["a/b", "c"] and table[:].tobytes() == rows.tobytes()
        assert table.fields("a/b")[:].tolist() == [1, 3] and table.col("c").tolist() == [2.5, 4.5]
        table.append({"a/b": [5], "c": [6.5]})
        table["a/b", 0] = 7
        assert table["a/b"].tolist() == [7, 3, 5]


FRAMES = {
    "frame": lambda columns: pd.DataFrame(columns),
    "dict": lambda columns: columns,
    "records": lambda columns: pd.DataFrame(columns).to_records(index=False),
    "series": lambda columns: {name: pd.Series(values) for name, values in columns.items()},
    "objects": lambda columns: {name: np.array(values, object) for name, values in columns.items()},
    "polars": lambda columns: pl.DataFrame(columns),
}


@pytest.mark.whole
@pytest.mark.parametrize("form", FRAMES)
def test_a_table_is_created_from_rows_that_tell_their_columns(form, tmp_path):
    columns = {"i": [1, 2], "f": [1.5, float("nan")], "s": ["a", "Zürich"], "ok": [True, False]}
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_table("t", obj=FRAMES[form](columns))
        assert table.dtype["i"] == "i8" and table.dtype["f"] == "f8" and table.dtype["ok"] == "?"
        assert table.dtype["s"] == "S7"
        assert table.col("s").tolist() == [b"a", "Zürich".encode()]
        assert table.col("i").tolist() == [1, 2] and table.col("ok").tolist() == [True, False]
        table.append({"s": ["b"]})
    with tables.open_file(tmp_path / "t.h5") as file:
        assert file.root.t.nrows == 3


@pytest.mark.parametrize(
    ("obj", "error", "said"),
    [
        (pd.DataFrame({"s": ["a", None]}), TypeError, "column 's' must not have missing values .*replace them"),
        (pd.DataFrame({"s": pd.Series([], dtype=object)}), TypeError, "column 's', which has no values; pass dtype="),
        (
            pd.DataFrame({"s": pd.Series([1, "a"], dtype=object)}),
            TypeError,
            "column 's', which has values of int and str",
        ),
        ({"s": [{}]}, TypeError, "column 's', which has values of dict"),
        ({"s": 3}, ValueError, "column 's' must have one value for each row"),
        ([(1, 2)], TypeError, "not list: give dtype"),
        (np.zeros((2, 3)), TypeError, "not ndarray: give dtype"),
        (pd.Series([1, 2]), TypeError, "not Series: give dtype"),
        (5, TypeError, "not int: give dtype"),
        ({}, TypeError, "at least one column"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "must have different names, not a, a"),
    ],
)
def test_rows_that_do_not_tell_their_columns_say_what_to_do(obj, error, said):
    file = hs.File.in_memory()
    with pytest.raises(error, match=said):
        file.create_table("t", obj=obj)
    assert list(file) == []


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("U5", r"column 'a' of <U5: texts are bytes in UTF-8: give their length, such as 'S20'"),
        ("O", "column 'a' of object: a column has a fixed size: .*'S20'"),
        ("S", "column 'a' of .S0: give a length, such as 'S20'"),
        ("M8", r"column 'a' of datetime64: give a unit, such as 'M8\[us\]'"),
        (("U5", (2,)), "column 'a' of <U5"),
        ([("b", "U5")], "column 'a/b' of <U5"),
    ],
)
def test_dtypes_that_tables_do_not_have_are_refused_by_the_name_of_the_column(kind, said):
    file = hs.File.in_memory()
    columns = [("n", "i4"), ("a", *kind) if isinstance(kind, tuple) else ("a", kind)]
    with pytest.raises(TypeError, match=said):
        file.create_table("t", columns)
    assert list(file) == []


@pytest.mark.whole
def test_times_of_numpy_are_stored_in_every_form():
    days = np.array(["2024-01-01", "NaT"], "M8[s]")
    span = np.array([1, 2], "m8[ms]")
    frame = {"t": days, "d": span, "v": np.array([days, days]), "n": np.zeros(2, [("t", "M8[s]"), ("i", "i2")])}
    plain = {"t": days, "d": span}
    forms = [
        (hs.File.in_memory().create_table("t", [("t", "M8[s]"), ("d", "m8[ms]")], obj=plain), plain),
        (hs.File.in_memory().create_table("t", obj=plain), plain),
        (hs.File.in_memory().create_table("t", obj=pd.DataFrame(plain)), plain),
        (hs.File.in_memory().create_table("t", obj=pa.table(plain)), plain),
        (hs.File.in_memory().create_table("t", obj=frame), frame),
    ]
    for table, columns in forms:
        assert table.dtype["t"].metadata == {"h5py_opaque": True}
        for name, values in columns.items():
            np.testing.assert_array_equal(table.col(name), values)
        assert pa.table(table)["t"].null_count == 1
    rows = np.zeros(2, np.dtype([("a", "i1"), ("t", "M8[s]"), ("b", "f8")], align=True))
    rows["a"], rows["t"], rows["b"] = 3, days, 1.5
    table = hs.File.in_memory().create_table("t", obj=rows)
    assert table.dtype == rows.dtype and table.col("b").tolist() == [1.5, 1.5]
    assert table.copy(newname="copy").col("t").astype("i8").tolist() == days.astype("i8").tolist()


@pytest.mark.parametrize("key", ["compresion", "shape", "data", "chunks", "fillvalue", "external", "_is_table"])
def test_unknown_keywords_are_refused_in_the_name_of_the_function(key):
    file = hs.File.in_memory()
    with pytest.raises(TypeError, match=rf"create_table\(\) got an unexpected keyword argument '{key}'"):
        file.create_table("t", [("a", "i4")], **{key: 1})
    table = file.create_table("t", [("a", "i4")])
    for name in (key, "obj", "dtype"):
        with pytest.raises(TypeError, match=rf"copy\(\) got an unexpected keyword argument '{name}'"):
            table.copy(newname="copy", **{name: 1})
    assert list(file) == ["t"]
    made = table.copy(newname="copy", title="T", compression="gzip", chunkshape=7, expectedrows=5, track_times=False)
    assert made.title == "T" and made.compression == "gzip" and made.chunks == (7,)


def test_copies_keep_times_and_enumerations_as_pytables_knows_them(tmp_path):
    class Columns(tables.IsDescription):
        time = tables.Time64Col(pos=0)
        day = tables.Time32Col(pos=1)
        state = tables.EnumCol({"dry": 1, "wet": 2}, "wet", base="uint8", pos=2)

    with tables.open_file(tmp_path / "t.h5", "w") as file:
        file.create_table("/", "t", Columns).append([(1.5, 3, 1), (2.25, 4, 2)])
    with hs.File(tmp_path / "t.h5", "r+") as file, hs.File(tmp_path / "u.h5", "w") as other:
        file["t"].copy(newname="copy")
        file["t"].copy(other, "sorted", sortby=None)
        file.create_table("made", file["t"].dtype, obj=file["t"][:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with tables.open_file(tmp_path / "t.h5") as file, tables.open_file(tmp_path / "u.h5") as other:
            expected = file.root.t.coltypes
            assert expected["time"] == "time64"
            for copy in (file.root.copy, other.root.sorted):
                assert copy.coltypes == expected and copy.read().tolist() == file.root.t.read().tolist()
            assert file.root.made.coldflts["state"] == file.root.made.get_enum("state")["dry"] - 1
