"""Many strings of variable length at a time: the same as h5py's, in every form and layout."""

import io
import threading

import h5py
import hyperslab as hs
import numpy as np
import pytest

LAYOUTS = [{}, {"chunks": (1000,)}, {"chunks": (777,), "compression": "gzip"}]
EDGES = [0, 1, 7, 8, 14, 15, 16, 17, 255, 256, 70_000]


def texts(count=20_000):
    """Strings around all lengths at which StringDType changes its form, some of them not ASCII."""
    values = [f"{k} " + "abcdefghij"[k % 10] * (k % 23) for k in range(count)]
    for at, length in enumerate(EDGES * 3):
        values[at * 97] = "x" * length
        values[at * 97 + 1] = ("é" * length)[: length // 2] + "z" * (length % 2)
    for at in range(5, count, 11):
        values[at] = ["", "日本", "ñandú", "🙂", "Zürich, 15 byte"][at % 5]
    return np.array(values, dtype=object)


VALUES = texts()
T = np.dtypes.StringDType()


def forms(dataset):
    return dataset[:], dataset.asstr()[:], dataset.astype("T")[:]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_strings_of_h5py_are_read_as_h5py_reads_them(tmp_path, layout):
    path = tmp_path / "theirs.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("s", data=VALUES, dtype=h5py.string_dtype(), **layout)
    with h5py.File(path) as theirs, hs.File(path) as ours:
        for mine, other in zip(forms(ours["s"]), forms(theirs["s"]), strict=True):
            assert mine.dtype == other.dtype
            assert np.array_equal(mine, other)
        assert [type(value) for value in ours["s"][:20]] == [bytes] * 20
        for selection in (slice(3, None, 7), slice(100, 200), [5, 9, 4000], np.arange(len(VALUES)) % 3 == 0):
            assert np.array_equal(ours["s"].astype("T")[selection], VALUES[selection].astype(T))
            assert np.array_equal(ours["s"][selection], theirs["s"][selection])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", ["str", "bytes", "StringDType"])
def test_strings_that_are_written_are_read_by_h5py(tmp_path, layout, form):
    path = tmp_path / "ours.h5"
    array = {
        "str": VALUES,
        "bytes": np.array([value.encode() for value in VALUES], dtype=object),
        "StringDType": VALUES.astype(T),
    }[form]
    with hs.File(path, "w") as file:
        file.create_dataset("s", data=array, dtype=hs.string_dtype(), **layout)
        file["s"][100:15_000] = array[200:15_100]
    expected = VALUES.copy()
    expected[100:15_000] = VALUES[200:15_100]
    with h5py.File(path) as file:
        assert np.array_equal(file["s"].asstr()[:], expected)
    with hs.File(path) as file:
        for mine in forms(file["s"])[1:]:
            assert np.array_equal(mine, expected)


def test_a_string_of_the_array_can_be_changed_after_the_read(tmp_path):
    """The elements have the form that NumPy gives them: it can replace each by a longer or a shorter one."""
    path = tmp_path / "s.h5"
    with hs.File(path, "w") as file:
        file.create_dataset("s", data=VALUES, dtype=hs.string_dtype())
    with hs.File(path) as file:
        read = file["s"].astype("T")[:]
    expected = VALUES.astype(T)
    for array in (read, expected):
        array[::2] = "a text of more than fifteen bytes"
        array[1::4] = ""
        array[3::8] = "short"
        array += "!"
    assert np.array_equal(read, expected)
    assert read.tolist() == expected.tolist()


def with_zero_bytes(path, count):
    with h5py.File(path, "w") as file:
        values = ["one#~two", "#~#", "a text of more than #~ fifteen bytes", "no end"] * (count // 4)
        file.create_dataset("s", data=values, dtype=h5py.string_dtype())
    path.write_bytes(path.read_bytes().replace(b"#~", b"\0~"))
    return ["one", "", "a text of more than ", "no end"] * (count // 4)


@pytest.mark.parametrize("count", [8, 4000])
def test_a_string_ends_at_its_first_zero_byte(tmp_path, count):
    expected = with_zero_bytes(tmp_path / "s.h5", count)
    with hs.File(tmp_path / "s.h5") as file:
        as_bytes, as_str, as_dtype = forms(file["s"])
    assert as_bytes.tolist() == [value.encode() for value in expected]
    assert as_str.tolist() == as_dtype.tolist() == expected


@pytest.mark.parametrize("wrong", [b"wrong \xff", b"a text of more than fifteen bytes, wrong \xff"])
def test_text_that_is_not_utf_8(tmp_path, wrong):
    """The first text that is wrong is in the exception. Errors handlers are those of Python."""
    values = [b"right"] * 3000
    values[1234] = wrong
    values[2000] = b"later \xfe"
    with h5py.File(tmp_path / "s.h5", "w") as file:
        file.create_dataset("s", data=np.array(values, dtype=object), dtype=h5py.string_dtype())
    with hs.File(tmp_path / "s.h5") as file:
        dataset = file["s"]
        assert dataset[1234] == wrong
        for read in (lambda: dataset.astype("T")[:], lambda: dataset.asstr()[:]):
            with pytest.raises(UnicodeDecodeError) as error:
                read()
            assert error.value.object == wrong
        escaped = [value.decode("utf-8", "surrogateescape") for value in values]
        assert dataset.asstr(errors="surrogateescape")[:].tolist() == escaped
        assert dataset.asstr(errors="replace")[1234] == wrong.decode(errors="replace")
        with pytest.raises(LookupError):
            dataset.asstr(errors="no such handler")[:]
        # The error left nothing behind.
        assert dataset.astype("T")[:1234].tolist() == ["right"] * 1234


@pytest.mark.parametrize("form", ["objects", "StringDType"])
def test_a_string_with_a_zero_byte_is_refused_and_nothing_is_written(tmp_path, form):
    values = VALUES.copy()
    values[17_000] = "zero \0 byte"
    array = values if form == "objects" else values.astype(T)
    with hs.File(tmp_path / "s.h5", "w") as file:
        dataset = file.create_dataset("s", data=["old"] * len(values), dtype=hs.string_dtype())
        with pytest.raises(ValueError, match="embedded NULLs"):
            dataset[:] = array
        assert set(dataset.asstr()[:]) == {"old"}


def test_the_first_object_that_is_wrong_decides_the_exception(tmp_path):
    with hs.File(tmp_path / "s.h5", "w") as file:
        dataset = file.create_dataset("s", (20_000,), dtype=hs.string_dtype())
        zero, number = np.array(["a"] * 20_000, dtype=object), np.array(["a"] * 20_000, dtype=object)
        zero[15_000], zero[15_001] = "\0", 1.5
        number[15_000], number[15_001] = 1.5, "\0"
        with pytest.raises(ValueError, match="embedded NULLs"):
            dataset[:] = zero
        with pytest.raises(TypeError, match="non-string objects"):
            dataset[:] = number


def test_missing_strings_are_written_as_numpy_converts_them(tmp_path):
    array = np.array(["a", None, "b"] * 4000, dtype=np.dtypes.StringDType(na_object=None))
    for module, name in ((hs, "ours"), (h5py, "theirs")):
        with module.File(tmp_path / f"{name}.h5", "w") as file:
            dataset = file.create_dataset("s", array.shape, dtype=module.string_dtype())
            try:
                dataset[:] = array
                outcome = dataset.asstr()[:].tolist()
            except Exception as error:
                outcome = type(error)
        if name == "ours":
            ours = outcome
    assert ours == outcome


def test_ascii_strings_refuse_other_characters(tmp_path):
    ascii_strings = hs.string_dtype(encoding="ascii")
    with hs.File(tmp_path / "s.h5", "w") as file:
        dataset = file.create_dataset("s", (9000,), dtype=ascii_strings)
        for form in (object, T):
            values = np.array(["a"] * 9000, dtype=form)
            dataset[:] = values
            values[8500] = "é"
            with pytest.raises(UnicodeEncodeError):
                dataset[:] = values
        assert set(dataset.asstr()[:]) == {"a"}


def test_sequences_and_records_with_strings(tmp_path):
    sequences = np.empty(9000, dtype=object)
    sequences[:] = [np.arange(k % 7, dtype="i4") for k in range(9000)]
    record = np.dtype([("name", hs.string_dtype()), ("number", "i4")])
    records = np.array([(value, k) for k, value in enumerate(VALUES[:9000])], dtype=record)
    with hs.File(tmp_path / "s.h5", "w") as file:
        file.create_dataset("sequences", data=sequences, dtype=hs.vlen_dtype("i4"))
        file.create_dataset("records", data=records)
    with h5py.File(tmp_path / "s.h5") as theirs, hs.File(tmp_path / "s.h5") as ours:
        for file in (theirs, ours):
            assert all(np.array_equal(a, b) for a, b in zip(file["sequences"][:], sequences, strict=True))
            assert [value.decode() for value in file["records"]["name"]] == VALUES[:9000].tolist()


def test_threads_that_use_one_array_do_not_wait_for_each_other_for_ever():
    """Files that are Python objects take the GIL while NumPy's allocator may be in use elsewhere."""
    array = VALUES.astype(T)
    stop = threading.Event()

    def use():
        while not stop.is_set():
            array.copy()
            array.astype(object)

    thread = threading.Thread(target=use)
    thread.start()
    try:
        for _ in range(3):
            memory = io.BytesIO()
            with hs.File(memory, "w") as file:
                file.create_dataset("s", data=array, dtype=hs.string_dtype())
            with hs.File(memory, "r") as file:
                assert np.array_equal(file["s"].astype("T")[:], array)
    finally:
        stop.set()
        thread.join()


def test_threads_read_strings_at_the_same_time(tmp_path):
    with hs.File(tmp_path / "s.h5", "w") as file:
        file.create_dataset("s", data=VALUES, dtype=hs.string_dtype(), chunks=(1000,))
    with hs.File(tmp_path / "s.h5") as file:
        found = []
        threads = [threading.Thread(target=lambda: found.append(file["s"].astype("T")[:])) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert all(np.array_equal(array, VALUES.astype(T)) for array in found)
    assert len(found) == 4


def test_references_to_strings_are_not_lost():
    """Objects that are written have the references of before; those that are read have one."""
    import sys

    value = "a string of its own " * 2
    array = np.array([value] * 5000, dtype=object)
    before = sys.getrefcount(value)
    with hs.File(io.BytesIO(), "w") as file:
        dataset = file.create_dataset("s", data=array, dtype=hs.string_dtype())
        array[4000] = 1.5
        with pytest.raises(TypeError):
            dataset[:] = array
        array[4000] = value
        assert sys.getrefcount(value) == before
        read = dataset[:]
        # The array, the result of the index and the argument.
        assert sys.getrefcount(read[17]) == 3


class Named(str):
    """A string of another class."""


LISTS = {
    "str": ["a", "Zürich", "", "x" * 300],
    "tuple": ("a", "b", "c"),
    "bytes": [b"a", b"\xff", b""],
    "str and bytes": ["a", b"b"],
    "nested": [["a", "b"], ["c", "d"]],
    "ragged": ["a", ["b"]],
    "of NumPy": [np.str_("a"), np.str_("b")],
    "bytes of NumPy": [np.bytes_(b"a"), np.bytes_(b"b")],
    "another class": [Named("a"), Named("b")],
    "str and number": ["a", 1],
    "str and None": ["a", None],
    "empty": [],
    "empty lists": [[], []],
    "zero byte": ["a\0b"],
    "one": "a",
    "arrays": [np.array("a", dtype=object), np.array("b", dtype=object)],
}


def written(module, value, is_new, how):
    """What a file has after a list was written, or the class of the exception."""
    with module.File("lists.h5", "w", driver="core", backing_store=False) as file:
        try:
            if is_new:
                dataset = file.create_dataset("s", data=value, **how)
            else:
                shape = np.shape(np.array(value, dtype=object)) or (1,)
                dataset = file.create_dataset("s", shape, module.string_dtype(), **how)
                dataset[...] = value
        except Exception as error:  # noqa: BLE001  (the class is the result)
            return type(error)
        info = h5py.check_string_dtype(dataset.dtype)
        return dataset.shape, dataset.dtype.str, info and info.encoding, np.asarray(dataset[()]).tolist()


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(
    "how", [{}, {"shape": (2,)}, {"chunks": (2,)}, {"dtype": "S4"}, {"dtype": h5py.string_dtype()}]
)
def test_lists_become_the_datasets_that_h5py_makes_of_them(name, how):
    assert written(hs, LISTS[name], True, how) == written(h5py, LISTS[name], True, how)


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("how", [{}, {"chunks": (1,)}])
def test_lists_are_written_to_existing_strings_as_by_h5py(name, how):
    if name in ("nested", "ragged", "empty", "empty lists") and how:
        how = {"chunks": True}
    assert written(hs, LISTS[name], False, how) == written(h5py, LISTS[name], False, how)


def test_a_list_goes_to_the_selected_elements_and_must_have_as_many():
    found = []
    for module in (hs, h5py):
        with module.File("lists.h5", "w", driver="core", backing_store=False) as file:
            dataset = file.create_dataset("s", (3, 4), module.string_dtype(), chunks=(2, 2))
            dataset[...] = [["a"] * 4] * 3
            dataset[1] = ["b", "c", "d", "é"]
            dataset[:, 2] = ("x", "y", "z")
            dataset[2, 1:4:2] = ["1", "2"]
            dataset[0, [0, 3]] = ["p", "q"]
            dataset[2:, 0] = ["one"]
            for wrong in (["a"] * 3, ["a"] * 5):
                with pytest.raises(TypeError):
                    dataset[1] = wrong
            with pytest.raises((TypeError, ValueError)):
                dataset[1] = ["a", "b", 3, "d\0"]
            found.append(dataset[()].tolist())
    assert found[0] == found[1]
    assert found[0][1] == [b"b", b"c", b"y", "é".encode()]


def test_a_byte_that_is_no_utf_8_is_written_as_it_is():
    with hs.File.in_memory() as file:
        assert file.create_dataset("s", data=["a\udc80", "é"])[:].tolist() == [b"a\x80", "é".encode()]


def test_a_list_that_contains_itself_is_an_error():
    endless = ["a"]
    endless.append(endless)
    with hs.File.in_memory() as file:
        with pytest.raises((RecursionError, ValueError)):
            file.create_dataset("s", data=endless)
        assert "s" not in file


def test_lists_of_strings_over_flushed_ones_survive_without_a_flush(tmp_path):
    path, copy = tmp_path / "s.h5", tmp_path / "copy.h5"
    with hs.File(path, "w") as file:
        dataset = file.create_dataset("s", data=VALUES.tolist(), chunks=(1000,))
        file.flush()
        dataset[100:200] = ["new"] * 100
        copy.write_bytes(path.read_bytes())
    # The copy is the file that a kill at this moment would leave.
    with hs.File(copy, "r+") as file:
        assert np.array_equal(file["s"].asstr()[:], VALUES)
    with hs.File(path) as file:
        assert np.array_equal(file["s"].asstr()[100:200], ["new"] * 100)
