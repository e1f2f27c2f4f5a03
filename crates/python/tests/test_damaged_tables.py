"""Tables with a damaged byte: in attributes, indexes, notes of chunks, and everywhere else in the file.

A query returns the rows that NumPy finds among those that `read` returns, or raises an error that says why.
`HYPERSLAB_SOAK=1` damages every byte of the files.
"""

import os
import warnings

import numpy as np
import pytest
import tables
from soundness import CHECKS
from support import hs, open_image

#: One byte of this number is damaged.
STEP = 1 if os.environ.get("HYPERSLAB_SOAK") else 23
#: A table may have any number of rows that were never written. More than these are not read.
MOST_ROWS = 1_000_000
FLIPS = [0x01, 0x80, 0xFF]
DTYPE = np.dtype([("f", "f8"), ("i", "i4"), ("u", "u8"), ("s", "S3")])
QUERIES = {
    "f > 1.5": lambda rows: rows["f"] > 1.5,
    "(i == 3) | (u > 18446744073709551000)": lambda rows: (rows["i"] == 3) | (rows["u"] > 18446744073709551000),
    "~(f <= 1.5) & (s == b'b')": lambda rows: ~(rows["f"] <= 1.5) & (rows["s"] == b"b"),
    "i < -30": lambda rows: rows["i"] < -30,
}
ERRORS = (OSError, ValueError, KeyError, TypeError, RuntimeError, NotImplementedError, IndexError)


def some_rows(count):
    rng = np.random.default_rng(count)
    rows = np.zeros(count, DTYPE)
    rows["f"], rows["i"] = np.sort(rng.normal(size=count)), rng.integers(-32, 32, count)
    rows["f"][::50] = np.nan
    rows["u"] = rng.choice(np.array([1, 2, 2**64 - 1], "u8"), count)
    rows["s"] = rng.choice([b"", b"a", b"b"], count)
    return rows


# The LZ4 library accepts some damaged streams, of which parts differ from the whole (docs/known-gaps.md).
def ours(path, kind):
    with hs.File(path, "w") as file:
        choice = hs.Blosc2("blosclz")
        table = file.create_table("t", DTYPE, "some", chunkshape=300, obj=some_rows(700), compression=choice)
        table.create_index("f", kind=kind, _blocksizes=(512, 256, 128, 32))
        table.create_index("i", kind=kind)


def theirs(path, kind):
    with tables.open_file(path, "w") as file:
        table = file.create_table("/", "t", some_rows(400), chunkshape=100, filters=tables.Filters(1, "blosc2:blosclz"))
        table.cols.f.create_index(9, kind, _blocksizes=(256, 128, 64, 16))
        table.cols.i.create_index(9, kind)


def compare(table):
    """Compares queries with NumPy. Returns the number of queries that were answered."""
    rows = table.read()
    answered = 0
    for condition, select in QUERIES.items():
        try:
            found = table.get_where_list(condition)
        except ERRORS as error:
            assert str(error), repr(error)
            continue
        assert np.array_equal(found, np.flatnonzero(select(rows))), condition
        answered += 1
    return answered


def look(image):
    """Opens a damaged image and queries its table. Returns the number of queries that were answered."""
    answered = 0
    try:
        with open_image(image) as file:
            table = hs.Table(file["t"].id)
            if len(table) > MOST_ROWS:
                return 0
            answered = compare(table)
            for name in ("title", "colnames", "indexed", "autoindex", "colindexes", "indexedcolpathnames"):
                getattr(table, name)
            for index in table.colindexes.values():
                repr(index)
                assert index.unusable is None or index.unusable
            dict(table.attrs)
            table.read_sorted("f")
    except ERRORS as error:
        assert str(error), repr(error)
    return answered


@pytest.mark.soak
@pytest.mark.damages
@pytest.mark.parametrize("kind", ["medium", "full"])
@pytest.mark.parametrize("make", [ours, theirs])
def test_a_damaged_byte_gives_the_right_rows_or_an_error(tmp_path, make, kind):
    make(tmp_path / "t.h5", kind)
    image = bytearray((tmp_path / "t.h5").read_bytes())
    assert look(bytes(image)) == len(QUERIES)
    damaged = answered = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for at in range(0, len(image), STEP):
            known = image[at]
            image[at] ^= FLIPS[(at // STEP) % 3]
            try:
                answered += look(bytes(image))
            except BaseException as error:
                raise AssertionError(f"byte {at} of {len(image)}: {error!r}") from error
            image[at] = known
            damaged += 1
    # A file that is not sound, for the check of the files of this test.
    (tmp_path / "t.h5").write_bytes(image[: len(image) // 2])
    assert answered > damaged
    CHECKS.said.append(f"damaged tables: {damaged:,} bytes of {make.__name__}, {kind}: {answered:,} queries are right")


@pytest.mark.damages
def test_bounds_of_chunks_that_are_changed_skip_nothing(tmp_path):
    """The note of a chunk is changed in every bit: its bounds, its flags, and the checksum before them."""
    rows = np.zeros(900, [("k", "i4"), ("x", "f8")])
    rows["k"], rows["x"] = np.arange(900), np.arange(900) / 7
    path = tmp_path / "t.h5"
    with hs.File(path, "w") as file:
        file.create_table("t", obj=rows, chunkshape=300, compression=hs.Blosc2("lz4"))
    image = bytearray(path.read_bytes())
    at = image.index(b"hyperslab") + len(b"hyperslab")
    wrong = 0
    for byte in range(at, at + 90):
        for bit in range(8):
            image[byte] ^= 1 << bit
            with open_image(bytes(image)) as file:
                try:
                    found = file["t"].get_where_list("(k == 7) | (k == 500) | (x > 128.2)")
                    read = file["t"].read()
                except ERRORS as error:
                    assert str(error)
                else:
                    true = (read["k"] == 7) | (read["k"] == 500) | (read["x"] > 128.2)
                    assert np.array_equal(found, np.flatnonzero(true)), (byte - at, bit)
                    wrong += 1
            image[byte] ^= 1 << bit
    path.write_bytes(image[: len(image) // 2])
    assert wrong > 100


def test_an_index_whose_chunks_do_not_fit_into_memory_is_not_used(tmp_path):
    path, rows = tmp_path / "t.h5", np.zeros(1000, [("x", "f8")])
    rows["x"] = np.arange(1000)
    with hs.File(path, "w") as file:
        file.create_table("t", rows.dtype, obj=rows).create_index("x", kind="full")
    with hs.File(path, "r+") as file:
        index = file["_i_t/x"]
        for name in ("chunksize", "slicesize", "blocksize", "superblocksize"):
            index.attrs.modify(name, index.attrs[name].dtype.type(2**31))
        for name, shape in {"sorted": (0, 2**31), "indices": (0, 2**31), "bounds": (0, 0)}.items():
            chunks = (1, min(shape[1], 1 << 16)) if shape[1] else (1, 1)
            made = {"dtype": index[name].dtype, "shape": shape, "maxshape": (None, shape[1] or None), "chunks": chunks}
            attributes = dict(index[name].attrs)
            del index[name]
            index.create_dataset(name, **made).attrs.update(attributes)
    with hs.File(path) as file:
        table = file["t"]
        assert table.get_where_list("x > 997").tolist() == [998, 999]
        assert "chunks are too large" in table.explain("x > 997")


@pytest.mark.parametrize("member", ["sorted", "indices", "ranges", "bounds", "sortedLR", "indicesLR"])
def test_an_index_without_one_of_its_parts_is_not_used(tmp_path, member):
    with hs.File(tmp_path / "t.h5", "w") as file:
        table = file.create_table("t", [("a", "i8")], obj={"a": np.arange(5000)})
        table.create_csindex("a")
    with hs.File(tmp_path / "t.h5", "r+") as file:
        del file[f"_i_t/a/{member}"]
        table = file["t"]
        assert table.count_where("a < 5") == 5
        assert "build the index again" in table.explain("a < 5")
        table.append({"a": [1]})
        file.flush()
        assert table.count_where("a < 5") == 6
        table.reindex()
        assert table.count_where("a < 5") == 6 and table.cols.a.index.unusable is None
