"""Frames and series of every kind for `test_pandas_store.py`, and what versions of pandas make of them."""

import datetime

import numpy as np
import pandas as pd

VERSION = tuple(int(part) for part in pd.__version__.split(".")[:2])
RANDOM = np.random.default_rng(13)
N = 7
LEVELS = pd.MultiIndex.from_product([[1, 2], ["a", "b"]], names=["n", "s"])
OBJECTS = {
    "numbers": pd.DataFrame(RANDOM.normal(size=(N, 3)), columns=list("abc")),
    "dtypes": pd.DataFrame(
        {"f": 1.5, "i": range(N), "b": True, "s": list("abcdefg"), "u": np.arange(N, dtype="u1"), "h": np.ones(N, "f4")}
    ),
    "complex": pd.DataFrame({"c": np.arange(N) * 1j}),
    "missing strings": pd.DataFrame({"s": ["a", None, "nan", "é", "", "b", "c"], "t": ["x"] * N}),
    "dates": pd.DataFrame(
        {
            "d": pd.date_range("2020", periods=N),
            "td": pd.to_timedelta(np.arange(N), unit="s"),
            "tz": pd.date_range("2020", periods=N, tz="Europe/Paris"),
            "tz2": pd.date_range("2021", periods=N, tz="Europe/Paris"),
            "utc": pd.date_range("2021", periods=N, tz="UTC"),
        },
        index=pd.date_range("2020-01-01", periods=N, freq="D", tz="US/Eastern", name="when"),
    ),
    "an offset from UTC": pd.DataFrame(
        {"x": range(3)},
        index=pd.date_range("2020", periods=3, tz=datetime.timezone(datetime.timedelta(hours=2))),
    ),
    "missing dates": pd.DataFrame({"d": [pd.Timestamp("2020"), pd.NaT], "td": [pd.NaT, pd.Timedelta("1s")]}),
    "units": pd.DataFrame(
        {"d": np.array(["2020-01-01", "2021-02-03"], "M8[s]")},
        index=pd.DatetimeIndex(np.array(["2020-01-01", "2021-02-03"], "M8[ms]")),
    ),
    "periods": pd.DataFrame(
        {"p": pd.period_range("2020", periods=N, freq="M"), "x": range(N)},
        index=pd.period_range("2020", periods=N, freq="D"),
    ),
    "weeks": pd.DataFrame({"x": range(3)}, index=pd.date_range("2024-01-01", periods=3, freq="W-WED")),
    "categories": pd.DataFrame(
        {
            "c": pd.Categorical(list("abcabca"), categories=list("cba"), ordered=True),
            "d": pd.Categorical([1, 2, None, 1, 2, 1, 1]),
            "e": pd.Categorical([None] * N),
        }
    ),
    "an index of categories": pd.DataFrame({"x": range(3)}, index=pd.CategoricalIndex(list("aba"), name="k")),
    "levels": pd.DataFrame({"x": np.arange(4.0), "t": list("abcd")}, index=LEVELS),
    "levels without names": pd.DataFrame({"x": np.arange(4.0)}, index=LEVELS.set_names([None, None])),
    "levels of columns": pd.DataFrame(np.arange(8.0).reshape(2, 4), columns=LEVELS),
    "columns without names": pd.DataFrame(np.arange(8).reshape(2, 4)),
    "columns that are dates": pd.DataFrame(np.eye(2), columns=pd.date_range("2020", periods=2)),
    "names of axes": pd.DataFrame({"a": [1], "b": [2.0]}).rename_axis(columns="cc", index="ii"),
    "an index of strings": pd.DataFrame({"x": [1, 2, 3]}, index=["a", None, "nan"]),
    "an index of floats": pd.DataFrame({"x": [1, 2, 3]}, index=[0.5, 1.5, np.nan]),
    "an index of durations": pd.DataFrame({"x": [1, 2, 3]}, index=pd.timedelta_range("1D", periods=3, freq="D")),
    "an index of booleans": pd.DataFrame({"x": [1, 2]}, index=[True, False]),
    "the dtype string": pd.DataFrame({"x": pd.array(["a", pd.NA, "b"], dtype="string")}),
    "mixed objects": pd.DataFrame({"x": ["a", 1, None, datetime.date(2020, 1, 1), np.float64(2.5), b"b"]}),
    "no columns": pd.DataFrame(),
    "no rows": pd.DataFrame({"a": np.empty(0), "s": np.empty(0, object), "t": pd.DatetimeIndex([], tz="UTC")}),
    "a series": pd.Series([1, 2, 3.0], name="s"),
    "a series of strings": pd.Series(["a", "b"]),
    "a series with levels": pd.Series(np.arange(4.0), index=LEVELS, name="z"),
    "a series of dates": pd.Series(pd.date_range("2020", periods=2, tz="UTC")),
    "a series of categories": pd.Series(pd.Categorical(list("ab"))),
    "a series of durations": pd.Series(pd.to_timedelta([1, None, 3], unit="s")),
    "an index of periods": pd.DataFrame({"x": range(3)}, index=pd.period_range("2020", periods=3, freq="M", name="p")),
    "an index with the string nan": pd.DataFrame({"x": [1, 2]}, index=["a", "nan"]),
    "labels with the string nan": pd.DataFrame({"nan": [1, 2], "b": [3, 4]}),
    "a category that is the string nan": pd.DataFrame({"c": pd.Categorical(["nan", "b", None])}),
    "levels of dates": pd.DataFrame(
        {"x": [1, 2]},
        index=pd.MultiIndex.from_arrays(
            [pd.date_range("2020", periods=2, tz="Asia/Tokyo"), pd.to_timedelta([1, 2], unit="s")], names=["d", "td"]
        ),
    ),
    "one block of zones": pd.DataFrame(np.ones((3, 2)))
    .apply(lambda _: pd.date_range("2020", periods=3, tz="Asia/Tokyo"))
    .copy(),
    "seconds": pd.DataFrame(
        {
            "z": pd.DatetimeIndex(np.array(["2020-01-01", "2021-02-03"], "M8[s]")).tz_localize("UTC"),
            "td": np.array([1, 86400], "m8[s]"),
        }
    ),
    "an index of seconds": pd.DataFrame({"x": [1, 2]}, index=pd.TimedeltaIndex(np.array([1, 2], "m8[s]"))),
    "large and small numbers": pd.DataFrame({"u": np.array([2**64 - 1, 0], "u8"), "h": np.array([1, 2], "f2")}),
}

# What a pandas before a version reads as something else, by format. It is refused.
REFUSED = {
    **{
        (name, "table"): (3, 1)
        for name in ("an index of durations", "an index of seconds", "an index with the string nan")
    },
    **{("an index of categories", form): (3, 1) for form in ("fixed", "table")},
    **{("the dtype string", form): (2, 3) for form in ("fixed", "table")},
}
# What a pandas before a version does not read right from its own files, but from ours: as which object.
BETTER = {
    **dict.fromkeys(["missing strings", "an index with the string nan"], ((3, 1), lambda value: value)),
    **dict.fromkeys(["labels with the string nan", "a category that is the string nan"], ((3, 1), lambda value: value)),
    "one block of zones": ((3, 0), lambda value: value),
    "units": ((3, 0), lambda value: value.astype("M8[ns]")),
    "seconds": ((3, 0), lambda value: value.astype({"z": "M8[ns, UTC]", "td": "m8[ns]"})),
    "an index of seconds": ((3, 0), lambda value: value.set_index(value.index.as_unit("ns"))),
}


def is_refused(name, form):
    """Whether `hs.pandas` refuses an object because of the installed pandas."""
    if name == "an index of strings":
        # Before it, a missing string makes an index one of objects.
        return form == "table" and VERSION == (3, 0)
    return VERSION < REFUSED.get((name, form), (0,))


def as_read_from_ours(name, form):
    """The object that the installed pandas reads from our file, if not the one that it reads from its own."""
    value = OBJECTS[name]
    if VERSION == (3, 0) and form == "fixed" and name in ("an index of strings", "an index with the string nan"):
        return value.set_index(value.index.astype(object))
    if VERSION == (3, 0) and form == "fixed" and name == "labels with the string nan":
        return value.set_axis(value.columns.astype(object), axis=1)
    before, change = BETTER.get(name, ((0,), None))
    return change(value) if VERSION < before else None
