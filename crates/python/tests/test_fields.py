"""Writing some fields of records: sequences, strings, nested records, arrays, and several fields together.

The oracles are NumPy's records and h5py, which reads the files.
"""

import h5py
import hyperslab as hs
import numpy as np
import pytest

POINT = np.dtype([("p", "i1"), ("q", "<f8")])
DEEP = np.dtype([("n", "<i4"), ("s", hs.vlen_dtype("<i2")), ("t", hs.string_dtype())])
KIND = np.dtype(
    [
        ("time", "<f8"),
        ("data", hs.vlen_dtype("u1")),
        ("text", hs.string_dtype()),
        ("fixed", hs.string_dtype("utf-8", 6)),
        ("point", POINT),
        ("deep", DEEP),
        ("row", "<f4", (3,)),
        ("points", POINT, (2,)),
        ("nested", hs.vlen_dtype(hs.vlen_dtype("<i4"))),
        ("names", hs.vlen_dtype(hs.string_dtype())),
        ("records", hs.vlen_dtype(POINT)),
        ("flag", "?"),
        ("color", hs.enum_dtype({"RED": 1, "GREEN": 2}, "i1")),
    ]
)
PLAIN = np.dtype([("time", "<f8"), ("point", POINT), ("row", "<f4", (3,)), ("points", POINT, (2,)), ("name", "S3")])


def plain(value):
    """The value as lists and tuples of Python."""
    if isinstance(value, np.void):
        return tuple(plain(value[name]) for name in value.dtype.names)
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def sequence(*items, dtype="u1"):
    return np.array(items, dtype)


#: A key, a value, and what each row then has in the field.
CASES = {
    "a sequence": ((0, "data"), sequence(1, 2), [[1, 2], [], []]),
    "a list": ((0, "data"), [3, 4, 5], [[3, 4, 5], [], []]),
    "one sequence for all rows": ((slice(None), "data"), sequence(7, 8), [[7, 8]] * 3),
    "a sequence for each row": ((slice(0, 2), "data"), [[1], [2, 3]], [[1], [2, 3], []]),
    "an empty sequence": (("data",), sequence(), [[], [], []]),
    "a string": ((1, "text"), "ü", [b"", "ü".encode(), b""]),
    "strings": (("text",), ["a", "b", "c"], [b"a", b"b", b"c"]),
    "NumPy's strings": ((slice(1, 3), "text"), np.array(["a", "b"], np.dtypes.StringDType()), [b"", b"a", b"b"]),
    "strings of fixed length": (("fixed",), ["ü", "b", "c"], ["ü".encode(), b"b", b"c"]),
    "one string of fixed length": ((2, "fixed"), "üü", [b"", b"", "üü".encode()]),
    "a tuple": ((0, "point"), (1, 2.5), [(1, 2.5), (0, 0.0), (0, 0.0)]),
    "a record": ((0, "point"), np.array((1, 2.5), POINT), [(1, 2.5), (0, 0.0), (0, 0.0)]),
    "records": (("point",), np.array([(1, 2), (3, 4), (5, 6)], POINT), [(1, 2.0), (3, 4.0), (5, 6.0)]),
    "records of another order": (
        ("point",),
        np.array([(2, 1), (4, 3), (6, 5)], [("q", "f4"), ("p", "i8")]),
        [(1, 2.0), (3, 4.0), (5, 6.0)],
    ),
    "a field of the record": ((0, "point"), np.array((1,), [("p", "i1")]), [(1, 0.0), (0, 0.0), (0, 0.0)]),
    "a record that has the field": (
        (0, "point"),
        np.array(((1, 2.5), 9.0), [("point", POINT), ("time", "f8")]),
        [(1, 2.5), (0, 0.0), (0, 0.0)],
    ),
    "a record of sequences": (
        (0, "deep"),
        (5, sequence(1, 2, dtype="i2"), "x"),
        [(5, [1, 2], b"x"), (0, [], b""), (0, [], b"")],
    ),
    "an array": ((0, "row"), [1, 2, 3], [[1.0, 2.0, 3.0], [0.0] * 3, [0.0] * 3]),
    "an array for each row": (("row",), np.arange(9).reshape(3, 3), np.arange(9.0).reshape(3, 3).tolist()),
    "an array of records": ((slice(None), "points"), np.array([(5, 6), (7, 8)], POINT), [[(5, 6.0), (7, 8.0)]] * 3),
    "sequences of sequences": ((0, "nested"), [[1, 2], [3]], [[[1, 2], [3]], [], []]),
    "a sequence of strings": ((0, "names"), ["a", "bb"], [[b"a", b"bb"], [], []]),
    "a sequence of records": ((0, "records"), np.array([(1, 2), (3, 4)], POINT), [[(1, 2.0), (3, 4.0)], [], []]),
    "a truth value": ((1, "flag"), True, [False, True, False]),
    "a member of an enumeration": ((1, "color"), 2, [0, 2, 0]),
}


@pytest.mark.parametrize("chunks", [None, (2,)])
@pytest.mark.parametrize("case", CASES)
def test_one_field_is_written_and_the_others_stay(tmp_path, case, chunks):
    key, value, expected = CASES[case]
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_dataset("t", (3,), KIND, chunks=chunks)
        before = plain(table[:])
        table[key] = value
        for row, old, new in zip(table[:], before, expected, strict=True):
            assert plain(row[key[-1]]) == new
            assert [plain(row[name]) for name in KIND.names if name != key[-1]] == [
                part for name, part in zip(KIND.names, old, strict=True) if name != key[-1]
            ]
        assert plain(table[key[-1]]) == expected
        assert plain(table.fields(key[-1])[:]) == expected
    with h5py.File(tmp_path / "t.h5") as file:
        assert plain(file["t"][:][key[-1]]) == expected


def test_a_field_is_changed_beside_sequences_that_exist(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_dataset("t", (2,), KIND)
        table[0, "data"] = [1, 2]
        table[0, "text"] = "first"
        table[0, "deep"] = (5, sequence(1, 2, dtype="i2"), "inside")
        table[0, "deep"] = np.array((6,), [("n", "i4")])
        table[:, "time"] = 1.5
        assert plain(table[0])[:3] == (1.5, [1, 2], b"first")
        assert plain(table[0, "deep"]) == (6, [1, 2], b"inside")


SEVERAL = {
    "a tuple": ((0, "time", "data"), (4.5, sequence(9, 9))),
    "a list of tuples": ((slice(None), "time", "data"), [(4.5, sequence(9, 9))] * 3),
    "records": (
        (slice(None), "data", "time"),
        np.array([(4.5, sequence(9, 9), 1)] * 3, [("time", "f4"), ("data", hs.vlen_dtype("u1")), ("other", "i4")]),
    ),
}


@pytest.mark.parametrize("case", SEVERAL)
def test_several_fields_are_written_together(tmp_path, case):
    key, value = SEVERAL[case]
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_dataset("t", (3,), KIND)
        table[0, "text"] = "kept"
        table[key] = value
        count = 1 if key[0] == 0 else 3
        assert plain(table["time", "data"]) == [(4.5, [9, 9])] * count + [(0.0, [])] * (3 - count)
        assert table[0, "text"] == b"kept"


@pytest.mark.parametrize("values", [[(300, 1.5, 1)] * 3, [(-300, 1.5, 1)] * 3, [(5, 1.5, 1)] * 3])
@pytest.mark.parametrize("kind", [KIND, PLAIN], ids=["with objects", "without"])
@pytest.mark.parametrize("how", ["the field", "a field of it", "parts of records"])
def test_numbers_of_fields_become_the_nearest_values_as_in_h5py(tmp_path, values, kind, how):
    given = np.array(values, [("p", "i4"), ("q", "f4"), ("z", "i4")])[["p", "q"]]
    expected = [(min(max(value[0], -128), 127), 1.5 if how == "the field" else 0.0) for value in values]
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_dataset("t", (3,), kind)
        if how == "the field":
            table["point"] = given
        elif how == "a field of it":
            table["point"] = given[["p"]]
        else:
            records = np.zeros(3, [("time", "f8"), ("point", [("p", "i4")])])
            records["time"], records["point"]["p"] = 2.5, given["p"]
            table[:] = records
            assert table["time"].tolist() == [2.5] * 3
        assert table["point"].tolist() == expected
    with h5py.File(tmp_path / "model.h5", "w") as file:
        model = file.create_dataset("t", (3,), POINT)
        model[:] = given
        assert model["p"].tolist() == [value for value, _ in expected]


@pytest.mark.parametrize("value", [2.9, -2.9, 1e12, -1e12])
@pytest.mark.parametrize("kind", [KIND, PLAIN], ids=["with objects", "without"])
def test_floats_become_integers_of_fields_as_those_of_a_dataset(tmp_path, kind, value):
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_dataset("t", (2,), kind)
        table[:, "point"] = np.array((value,), [("p", "f8")])
        alone = file.create_dataset("d", (2,), "i1")
        alone[:] = np.array([value, value])
        assert table["point"]["p"].tolist() == alone[:].tolist()


@pytest.mark.parametrize(
    ("key", "value", "error", "message"),
    [
        ((0, "nope"), 5, ValueError, 'fields "nope" not in dataset type'),
        ((0, "point"), np.zeros((), [("z", "f8")]), TypeError, "the records must have one of the fields p, q"),
        ((0, "time", "data"), np.zeros((), [("time", "f8")]), ValueError, "the value must have the fields 'data'"),
        ((0, "data"), "text", ValueError, "invalid literal"),
        ((0, "row"), [1, 2], TypeError, "broadcast|last N dimensions"),
    ],
)
def test_values_that_do_not_fit_a_field_are_refused(tmp_path, key, value, error, message):
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_dataset("t", (3,), KIND)
        table[0, "text"] = "kept"
        before = plain(table[:])
        with pytest.raises(error, match=message):
            table[key] = value
        assert plain(table[:]) == before
