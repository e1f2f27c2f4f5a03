"""Arrays in PyTables' layout: PyTables reads what we write, and we read what PyTables wrote."""

import pickle
from pathlib import Path

import h5py
import numpy as np
import pytest
import tables
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from support import IS_H5PY, hs

if IS_H5PY:
    pytest.skip("h5py has no arrays in PyTables' layout", allow_module_level=True)

COLOURS = {"red": 0, "green": 1}
DTYPES = st.one_of(
    npst.boolean_dtypes(),
    npst.integer_dtypes(endianness="<"),
    npst.unsigned_integer_dtypes(endianness="<"),
    npst.floating_dtypes(endianness="<", sizes=(32, 64)),
    npst.complex_number_dtypes(endianness="<", sizes=(64, 128)),
    npst.byte_string_dtypes(endianness="=", min_len=1, max_len=5),
)


def same(ours, theirs):
    """Whether two values have the same dtype, shape and bytes, with NaN equal to NaN."""
    np.testing.assert_array_equal(ours, theirs)
    return np.asarray(ours).dtype == np.asarray(theirs).dtype and np.shape(ours) == np.shape(theirs)


@settings(max_examples=60, deadline=None)
@given(
    array=DTYPES.flatmap(lambda dtype: npst.arrays(dtype, npst.array_shapes(max_dims=3, max_side=4))),
    title=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5),
)
def test_pytables_reads_every_dtype_of_array_carray_and_earray(array, title, tmp_path_factory):
    path = tmp_path_factory.mktemp("arrays") / "a.h5"
    with hs.File(path, "w") as file:
        file.create_array("in/array", array, title)
        file.create_carray("carray", obj=array, title=title, compression="gzip", shuffle=True)
        earray = file.create_earray("earray", array.dtype, (0, *array.shape[1:]), title)
        earray.append(array)
        earray.append(array[:1])
    with tables.open_file(path) as file:
        assert type(file.root["in"].array) is tables.Array and file.root["in"].array.title == title
        assert type(file.root.carray) is tables.CArray and file.root.carray.title == title
        assert type(file.root.earray) is tables.EArray and file.root.earray.extdim == 0
        assert same(array, file.root["in"].array.read()) and same(array, file.root.carray.read())
        assert same(np.concatenate([array, array[:1]]), file.root.earray.read())


def test_pytables_appends_to_our_earrays_and_vlarrays_and_we_to_theirs(tmp_path):
    path = tmp_path / "both.h5"
    with hs.File(path, "w") as file:
        file.create_earray("e", "f4", (2, 0), compression=hs.Blosc2("zstd")).append([[1, 2], [3, 4]])
        file.create_vlarray("v", "i4").append([1, 2, 3])
    with tables.open_file(path, "a") as file:
        file.root.e.append(np.array([[5], [6]], "f4"))
        file.root.v.append([])
        file.create_earray("/", "theirs", tables.Int16Atom(shape=(2,)), (0, 3)).append(np.ones((1, 3, 2), "i2"))
        file.create_vlarray("/", "names", tables.VLUnicodeAtom()).append("Zürich")
    with hs.File(path, "r+") as file:
        assert file["e"][:].tolist() == [[1, 2, 5], [3, 4, 6]]
        theirs, names = file["theirs"], file["names"]
        theirs.append(np.zeros((2, 3, 2)))
        names.append("")
        names.append("Bern\U0001f600")
        assert list(names) == ["Zürich", "", "Bern\U0001f600"]
        file["v"].append([4])
    with tables.open_file(path) as file:
        assert file.root.theirs.read()[:, 0, 0].tolist() == [1, 0, 0]
        assert file.root.names.read() == ["Zürich", "", "Bern\U0001f600"]
        assert [row.tolist() for row in file.root.v] == [[1, 2, 3], [], [4]]


def test_rows_of_vlarrays_have_every_kind_of_element(tmp_path):
    path = tmp_path / "v.h5"
    rows = {
        "numbers": ("i4", [[1, 2], []]),
        "pairs": (("f8", (2,)), [[[1, 2], [3, 4]], []]),
        "flags": ("?", [[True, False], []]),
        "codes": ("S3", [[b"ab", b"c"], []]),
        "waves": ("c8", [[1j], []]),
        "colours": (hs.enum_dtype(COLOURS), [[0, 1], []]),
    }
    with hs.File(path, "w") as file:
        for name, (dtype, values) in rows.items():
            vlarray = file.create_vlarray(name, dtype)
            for row in values:
                vlarray.append(row)
            assert [row.tolist() for row in vlarray] == values
    with tables.open_file(path) as file:
        for name, (_, values) in rows.items():
            assert [row.tolist() for row in file.root[name].read()] == values
        assert file.root.flags[0].dtype == bool
        assert list(file.root.colours.get_enum()) == list(tables.Enum(COLOURS))


class Trap:
    """An object whose unpickling fails the test."""

    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


def test_pickles_are_shown_as_bytes_and_never_loaded(tmp_path):
    path = tmp_path / "pickles.h5"
    pickled = pickle.dumps(Trap(), 0)
    with tables.open_file(path, "w") as file:
        objects = file.create_vlarray("/", "objects", tables.ObjectAtom())
        objects.append({"a": Trap()})
    with h5py.File(path, "r+") as file:
        file["objects"].attrs["trap"] = np.bytes_(pickled)
    with hs.File(path, "r+") as file:
        objects = file["objects"]
        assert objects.attrs["trap"] == pickled
        assert objects[0] == pickle.dumps({"a": Trap()}, pickle.HIGHEST_PROTOCOL)
        objects.append(pickle.dumps([1, "a"]))
        with pytest.raises(TypeError, match="pass the bytes of a pickle"):
            objects.append([1, "a"])
        assert len(objects) == 2
        del objects.attrs["trap"]
    with tables.open_file(path) as file:
        assert file.root.objects[1] == [1, "a"]


def test_enumerated_elements_keep_the_names_of_their_values(tmp_path):
    path = tmp_path / "enum.h5"
    with hs.File(path, "w") as file:
        file.create_earray("e", hs.enum_dtype(COLOURS, "i2"), (0,)).append([1, 0, 1])
    with tables.open_file(path) as file:
        assert file.root.e.read().tolist() == [1, 0, 1]
        assert dict(file.root.e.get_enum()) == COLOURS


def test_booleans_of_pytables_are_bitfields_in_the_file_and_booleans_here(tmp_path):
    with hs.File(tmp_path / "bits.h5", "w") as file:
        file.create_array("array", [True, False])
        file["dataset"] = file["array"][:]
        assert file["array"].dtype == bool and file["array"][:].tolist() == [True, False]
    with h5py.File(tmp_path / "bits.h5") as file:
        kinds = [type(file[name].id.get_type()) for name in ("array", "dataset")]
    assert kinds == [h5py.h5t.TypeBitfieldID, h5py.h5t.TypeEnumID]


def test_times_of_pytables_are_seconds_and_can_be_appended(tmp_path):
    path = tmp_path / "times.h5"
    with tables.open_file(path, "w") as file:
        file.create_earray("/", "whole", tables.Time32Atom(), (0,)).append(np.array([5, -1], "i4"))
        file.create_earray("/", "parts", tables.Time64Atom(), (0,)).append(np.array([5.25, -1.5]))
        file.create_vlarray("/", "rows", tables.Time64Atom()).append([1.5, 2.25])
    with hs.File(path, "r+") as file:
        assert file["whole"][:].tolist() == [5, -1] and file["parts"][:].tolist() == [5.25, -1.5]
        assert file["rows"][0].tolist() == [1.5, 2.25]
        file["whole"].append([7])
        file["parts"].append([0.125])
        file["rows"].append([4.5])
    with tables.open_file(path) as file:
        assert file.root.whole.read().tolist() == [5, -1, 7] and file.root.parts.read().tolist() == [5.25, -1.5, 0.125]
        assert [row.tolist() for row in file.root.rows.read()] == [[1.5, 2.25], [4.5]]


def test_strings_of_pytables_keep_their_last_byte_when_rows_are_appended(tmp_path):
    path = tmp_path / "strings.h5"
    with tables.open_file(path, "w") as file:
        file.create_earray("/", "codes", tables.StringAtom(3), (0,)).append(np.array([b"abc"]))
        file.create_vlarray("/", "rows", tables.StringAtom(3)).append([b"abc"])
    with hs.File(path, "r+") as file:
        file["codes"].append([b"xyz", b"a"])
        file["rows"].append([b"xyz", b"a"])
        assert file["codes"][:].tolist() == [b"abc", b"xyz", b"a"]
    with tables.open_file(path) as file:
        assert file.root.codes.read().tolist() == [b"abc", b"xyz", b"a"]
        assert file.root.rows[1].tolist() == [b"xyz", b"a"]


def test_shapes_and_dtypes_that_do_not_fit_are_refused_and_leave_nothing(tmp_path):
    with hs.File(tmp_path / "refused.h5", "w") as file:
        earray = file.create_earray("e", "i4", (0, 3))
        for rows, error in (
            ([1, 2, 3], ValueError),
            ([[1, 2]], ValueError),
            (np.ones((2, 4)), ValueError),
            ([["a", "b", "c"]], (TypeError, ValueError)),
            (np.array([[b"x", b"y", b"z"]]), (TypeError, ValueError)),
        ):
            with pytest.raises(error):
                earray.append(rows)
            assert earray.shape == (0, 3)
        with pytest.raises(ValueError, match="shape must have one length of 0"):
            file.create_earray("two", "i4", (0, 0))
        with pytest.raises(ValueError, match="shape must have one length of 0"):
            file.create_earray("none", "i4", (1, 2))
        with pytest.raises(TypeError, match="convert them"):
            file.create_array("text", ["a", "b"])
        with pytest.raises(TypeError, match="create a table"):
            file.create_array("records", np.zeros(2, "i4,f4"))
        with pytest.raises(TypeError, match="dtype and shape must be given"):
            file.create_carray("nothing")
        with pytest.raises(ValueError, match=r"obj must have the shape \(3,\), not \(2,\)"):
            file.create_carray("other", obj=[1, 2], shape=(3,))
        with pytest.raises(TypeError, match="must be a str, not bytes"):
            file.create_vlarray("names", "vlunicode", obj=b"a")
        assert list(file) == ["e"]
    with hs.File(tmp_path / "refused.h5") as file, pytest.raises(ValueError, match="no write intent"):
        file.create_array("late", [1])


def test_attributes_that_do_not_fit_the_data_are_errors_with_the_name(tmp_path):
    with hs.File(tmp_path / "damaged.h5", "w") as file:
        earray = file.create_earray("e", "i4", (0, 3))
        for axis in (2, -1, np.array([0, 1]), "x"):
            earray.attrs["EXTDIM"] = axis
            with pytest.raises(ValueError, match="EXTDIM of '/e'"):
                earray.append([[1, 2, 3]])
        vlarray = file.create_vlarray("v", "vlunicode", obj="a")
        hs.Dataset(vlarray.id)[0] = [0x110000]
        with pytest.raises(ValueError, match="code point 0 is invalid"):
            vlarray[0]
        vlarray.attrs["PSEUDOATOM"] = "vlstring"
        with pytest.raises(
            ValueError, match="rows of '/v' must have the dtype of the pseudo atom 'vlstring', not uint32"
        ):
            vlarray.append(b"a")
        vlarray.attrs["PSEUDOATOM"] = "json"
        with pytest.raises(ValueError, match="PSEUDOATOM of '/v' must be one of .*, not 'json'"):
            vlarray.append(b"a")


# The files of all versions of PyTables that its wheel has, but for those that PyTables itself cannot read.
OLD = [
    path
    for path in sorted(Path(tables.__file__).parent.rglob("*.h5"))
    if not any(word in path.name for word in ("lzo", "szip", "with-gaps"))
]
# A float of 16 bytes that NumPy has no dtype for.
NOT_READ = {"/quadprecision"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", OLD, ids=lambda path: path.name)
def test_arrays_and_tables_in_old_files_are_read_as_pytables_reads_them(path):
    with tables.open_file(path) as theirs, hs.File(path) as ours:
        for node in theirs.walk_nodes("/"):
            if not hasattr(node, "read") or node._v_pathname in NOT_READ:
                continue
            found, expected = ours[node._v_pathname], node.read()
            rows = found[()]
            if isinstance(node, tables.VLArray):
                assert isinstance(found, hs.VLArray) and len(rows) == len(expected)
                if found.pseudoatom == "object":
                    expected = [pickle.dumps(row, pickle.HIGHEST_PROTOCOL) for row in expected]
                    assert [type(row) for row in rows] == [bytes] * len(expected)
                else:
                    assert all(np.array_equal(row, other) for row, other in zip(rows, expected, strict=True))
            elif rows.dtype.names is None:
                np.testing.assert_array_equal(rows, expected)
                assert not isinstance(expected, np.ndarray) or rows.dtype.kind == expected.dtype.kind
            else:
                assert sorted(rows.dtype.names) == sorted(expected.dtype.names)
                for name in rows.dtype.names:
                    np.testing.assert_array_equal(rows[name], expected[name])
            assert isinstance(found, hs.EArray) == (found.attrs.get("CLASS") == b"EARRAY")
            assert all(found.attrs[name] is not None for name in found.attrs)
