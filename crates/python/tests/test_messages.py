"""The texts of errors: each names the argument, says what it must be, and shows what it was."""

import warnings

import hyperslab as hs
import numpy as np
import pytest


@pytest.fixture
def names(tmp_path, monkeypatch):
    """The names that the calls below use."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.sgy").write_bytes(b"short")
    fixed = np.zeros(4, "f4")
    fixed.flags.writeable = False
    with hs.File("a.h5", "w") as file:
        dataset = file.create_dataset("d", data=np.ones(4, "f4"), chunks=(2,), maxshape=(None,))
        table = file.create_table("t", np.dtype([("a", "i4"), ("b", "f4"), ("s", "S4"), ("ok", "?")]))
        yield {"f": file, "d": dataset, "t": table, "fixed": fixed, "hs": hs, "np": np}


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        ("d.read(out=fixed)", TypeError, "the array must be writable, not read-only"),
        ("d.read_direct(fixed)", TypeError, "the array must be writable, not read-only"),
        ("d.read(out=[1])", TypeError, "out must be a NumPy array, not list"),
        ("d.read_direct([1])", TypeError, "dest must be a NumPy array, not list"),
        ("d.read_many([0], out=[5])", TypeError, "each of out must be a NumPy array, not int"),
        ("d.read(threads=-1)", ValueError, "threads must be at least 1, not -1"),
        ("d.read_many([0], threads=0)", ValueError, "threads must be at least 1, not 0"),
        ("hs.set_threads(-2**70)", ValueError, f"threads must be at least 1, not {-(2**70)}"),
        ("d.read(threads=1.5)", TypeError, "threads must be an integer, not float"),
        (
            "t.read_where('a > 3 & b < 2')",
            ValueError,
            "comparisons cannot be chained; put each one in parentheses, as in (a < b) & (b < c), at character 10 of "
            '"a > 3 & b < 2"',
        ),
        (
            "t.read_where('b == \"a\"')",
            ValueError,
            "float32 == a string: a number must be compared with a number, not a string",
        ),
        (
            "t.read_where('s == 5')",
            ValueError,
            "bytes of length 4 == an integer: a number must be compared with a number, not a string",
        ),
        (
            "t.read_where('ok == \"a\"')",
            ValueError,
            "bool == a string: a bool must be compared with True or False, not a string",
        ),
        (
            "t.read_where('a')",
            ValueError,
            'condition "a": must be a comparison, not int32; write, for example, "temp > 310"',
        ),
        ("f.create_group('')", ValueError, 'path "": must end with a name, as in "group/name"'),
        ("f.move('d', '/')", ValueError, 'path "/": must end with a name, as in "group/name"'),
        ("f.copy('nope', 'q')", RuntimeError, 'Unable to copy object (no object named "nope")'),
        (
            "hs.File('ftp://x/y.h5')",
            FileNotFoundError,
            "[Errno 2] Unable to open file 'ftp://x/y.h5': a URL must begin with http://, https://, s3://, gs:// or "
            "az://, not ftp://",
        ),
        (
            "hs.File('hdfs://x/y.h5', 'w')",
            FileNotFoundError,
            "[Errno 2] Unable to open file 'hdfs://x/y.h5': a URL must begin with http://, https://, s3://, gs:// or "
            "az://, not hdfs://",
        ),
        (
            "hs.File('folder/y.h5', 'w')",
            FileNotFoundError,
            "[Errno 2] Unable to open file 'folder/y.h5': create failed: No such file or directory",
        ),
        ("hs.segy.ingest('no.sgy', 'x.h5')", FileNotFoundError, "[Errno 2] no.sgy: No such file or directory"),
    ],
)
def test_a_wrong_call_says_what_to_write(names, call, error, text):
    with pytest.raises(error) as raised:
        eval(call, names)
    assert str(raised.value) == text


def test_a_dataset_without_dtype_says_what_to_pass(names):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        names["f"].create_dataset("x", (3,))
    assert [str(one.message) for one in given] == ["a dataset without data or dtype gets the dtype 'f4'; pass dtype="]


def test_the_html_of_a_dataset_names_layouts_and_limits_by_their_names(names):
    file = names["f"]
    assert "<dt>shape</dt><dd>4</dd><dt>maxshape</dt><dd>unlimited</dd>" in names["d"]._repr_html_()
    assert "<dt>layout</dt><dd>contiguous</dd>" in file.create_dataset("c", data=[1])._repr_html_()
    assert "<dt>layout</dt><dd>compact</dd>" in file.create_dataset("e", data=[1], compact=True)._repr_html_()
    assert "str of 1 byte, ascii" in file.create_dataset("s", data=np.array([b"a"]))._repr_html_()
    assert "str of 2 bytes, ascii" in file.create_dataset("u", data=np.array([b"ab"]))._repr_html_()
    assert "opaque, 1 byte" in file.create_dataset("o", data=np.zeros(1, "V1"))._repr_html_()
