"""The low-level API, against h5py's: the same calls give the same results and the same files."""

import functools
import importlib
import os
import subprocess
import sys
import warnings
from pathlib import Path

import h5py
import hyperslab as hs
import numpy as np
import pytest
from hyperslab import low
from support import IS_H5PY

pytestmark = pytest.mark.skipif(IS_H5PY, reason="compares hyperslab with h5py")
BOTH = pytest.mark.parametrize("m", [hs, h5py], ids=["hyperslab", "h5py"])


def public(module):
    """Returns the names of a module that are for users: no other modules, and no imports of Cython."""
    modules = {name for name in vars(module) if isinstance(vars(module)[name], type(sys))}
    return {name for name in vars(module) if not name.startswith("_")} - modules


# What h5py's modules import for themselves.
IMPORTED = {"namedtuple", "phil", "with_phil", "warn", "getLogger", "logger", "cfg", "H5pyDeprecationWarning"}
NOT_THERE = {
    "h5": {"ByteStringContext", "CYTHON_VERSION_COMPILED_WITH", "NUMPY_VERSION_COMPILED_AGAINST"},
    "h5t": {"NUMPY_RUNTIME_VERSION_TUPLE", "get_config"},
}


@pytest.mark.parametrize("name", [name for name in low.MODULES if name.startswith("h5")])
def test_a_module_has_the_names_of_that_of_h5py(name):
    theirs = public(importlib.import_module(f"h5py.{name}")) - IMPORTED - NOT_THERE.get(name, set())
    assert theirs <= set(dir(importlib.import_module(f"hyperslab.low.{name}")))


@pytest.mark.parametrize("name", [name for name in low.MODULES if name.startswith("h5")])
def test_constants_have_the_values_of_h5py(name):
    theirs, ours = (importlib.import_module(f"{package}.{name}") for package in ("h5py", "hyperslab.low"))
    numbers = {key: value for key, value in vars(theirs).items() if type(value) is int and key[0].isupper()}
    assert {key: getattr(ours, key) for key in numbers if name != "h5fd" or value_is_fixed(numbers[key])} == {
        key: value for key, value in numbers.items() if name != "h5fd" or value_is_fixed(value)
    }


def value_is_fixed(value):
    """libhdf5 numbers its drivers when they are loaded."""
    return value < 1 << 59


def test_classes_have_the_methods_of_those_of_h5py():
    missing = {}
    for name in (name for name in low.MODULES if name.startswith("h5")):
        theirs, ours = (importlib.import_module(f"{package}.{name}") for package in ("h5py", "hyperslab.low"))
        for key, value in vars(theirs).items():
            if isinstance(value, type) and key.endswith(("ID", "Proxy")):
                methods = {method for method in vars(value) if not method.startswith("_")}
                missing[key] = methods - set(dir(getattr(ours, key)))
    assert {key: methods for key, methods in missing.items() if methods} == {}


DTYPES = ["<i4", ">u2", "f8", ">f4", "S5", "V3", "c16", "?", [("a", "i4"), ("b", "f8", (2, 3))], ("i2", (4,))]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_datatypes_of_dtypes_are_those_of_h5py(dtype):
    ours, theirs = (m.h5t.py_create(np.dtype(dtype), logical=True) for m in (hs, h5py))
    assert type(ours).__name__ == type(theirs).__name__
    assert ours.get_class() == theirs.get_class() and ours.get_size() == theirs.get_size()
    assert ours.dtype == theirs.dtype and hs.h5t.decode(ours.encode()) == ours
    for method in ("get_order", "get_sign", "get_precision", "get_fields", "get_ebias", "get_cset", "get_strpad"):
        if hasattr(theirs, method):
            assert getattr(ours, method)() == getattr(theirs, method)(), method


def test_the_predefined_datatypes_are_those_of_h5py():
    names = [name for name in vars(h5py.h5t) if isinstance(getattr(h5py.h5t, name), h5py.h5t.TypeID)]
    assert len(names) > 60
    for name in names:
        ours, theirs = getattr(hs.h5t, name), getattr(h5py.h5t, name)
        assert (type(ours).__name__, ours.get_size()) == (type(theirs).__name__, theirs.get_size()), name


@BOTH
def test_an_enumeration_is_built_member_by_member(m):
    made = m.h5t.enum_create(m.h5t.STD_I16BE)
    for name, value in ((b"low", -3), (b"high", 300)):
        made.enum_insert(name, value)
    assert made.get_nmembers() == 2 and made.get_member_value(0) == -3
    assert made.enum_nameof(300) == b"high" and made.enum_valueof(b"low") == -3
    assert m.check_enum_dtype(made.dtype) == {"low": -3, "high": 300}


def random_space(m, shape, steps):
    """Returns a dataspace with the same random selections, in either library."""
    random = np.random.default_rng(steps)
    space = m.h5s.create_simple(shape)
    for step in range(steps):
        block = random.integers(1, 3, len(shape))
        stride = block + random.integers(0, 3, len(shape))
        count = random.integers(1, 3, len(shape))
        room = np.array(shape) - (stride * (count - 1) + block)
        if (room < 0).any():
            continue
        start = [int(random.integers(0, free + 1)) for free in room]
        op = m.h5s.SELECT_SET if step == 0 else int(random.integers(1, 6))
        space.select_hyperslab(tuple(start), *(tuple(map(int, part)) for part in (count, stride, block)), op=op)
    return space


@pytest.mark.parametrize("steps", range(1, 25))
def test_selections_combine_as_in_h5py(steps, tmp_path):
    shape = (9, 11)
    values = np.arange(99, dtype="i4").reshape(shape)
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["x"] = values
    found = []
    for m in (hs, h5py):
        space = random_space(m, shape, steps)
        count = space.get_select_npoints()
        out = np.zeros(count, "i4")
        with m.File(tmp_path / "f.h5") as file:
            file["x"].id.read(m.h5s.create_simple((count,)), space, out)
        found.append((count, out.tolist(), space.get_select_bounds() if count else None))
    assert found[0] == found[1]


@BOTH
def test_elements_are_read_and_written_in_their_order(m):
    with m.File.in_memory() as file:
        dataset = file.create_dataset("x", data=np.arange(12.0).reshape(3, 4), chunks=(2, 2))
        space = m.h5s.create_simple((3, 4))
        space.select_elements([(2, 3), (0, 0), (1, 2)])
        out = np.zeros(3)
        dataset.id.read(m.h5s.create_simple((3,)), space, out)
        assert out.tolist() == [11.0, 0.0, 6.0]
        dataset.id.write(m.h5s.create_simple((3,)), space, np.array([1.0, 2.0, 3.0]))
        assert [dataset[2, 3], dataset[0, 0], dataset[1, 2]] == [1.0, 2.0, 3.0]


@BOTH
def test_the_selection_in_memory_says_where_elements_are(m):
    with m.File.in_memory() as file:
        dataset = file.create_dataset("x", data=np.arange(6, dtype="i4"))
        memory = m.h5s.create_simple((2, 5))
        memory.select_hyperslab((0, 1), (2, 2), (1, 2))
        part = m.h5s.create_simple((6,))
        part.select_hyperslab((1,), (4,))
        out = np.full((2, 5), -1, "i4")
        dataset.id.read(memory, part, out)
        assert out.tolist() == [[-1, 1, -1, 2, -1], [-1, 3, -1, 4, -1]]
        dataset.id.write(memory, part, np.arange(10, dtype="i4").reshape(2, 5) * 10)
        assert dataset[:].tolist() == [0, 10, 30, 60, 80, 5]


def test_a_dataset_is_created_with_the_properties_that_h5py_reads(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as file:
        plist = hs.h5p.create(hs.h5p.DATASET_CREATE)
        plist.set_chunk((4, 3))
        plist.set_shuffle()
        plist.set_deflate(6)
        plist.set_fletcher32()
        plist.set_fill_value(np.array(7, "i4"))
        plist.set_fill_time(hs.h5d.FILL_TIME_ALLOC)
        plist.set_attr_creation_order(hs.h5p.CRT_ORDER_TRACKED | hs.h5p.CRT_ORDER_INDEXED)
        space = hs.h5s.create_simple((8, 9), (hs.h5s.UNLIMITED, 9))
        made = hs.h5d.create(file.id, b"x", hs.h5t.STD_I32BE, space, plist)
        made.write(hs.h5s.ALL, hs.h5s.ALL, np.arange(72).reshape(8, 9))
    found = []
    for m in (hs, h5py):
        with m.File(tmp_path / "f.h5") as file:
            made = file["x"].id
            plist = made.get_create_plist()
            filters = [plist.get_filter(number) for number in range(plist.get_nfilters())]
            value = np.zeros((), "i4")
            plist.get_fill_value(value)
            orders = plist.get_attr_creation_order(), plist.get_fill_time(), plist.get_chunk(), int(value)
            shapes = made.get_space().get_simple_extent_dims(True), made.get_type().dtype, made.get_type().get_order()
            found.append((filters, orders, shapes, file["x"][...].tolist()))
    assert found[0] == found[1]


def test_facts_about_links_and_objects_are_those_of_h5py(tmp_path):
    with h5py.File(tmp_path / "f.h5", "w", track_order=True) as file:
        file.create_dataset("first", data=[1, 2], track_times=True)
        file["äther"] = file["first"]
        file["soft"] = h5py.SoftLink("/first")
        file["far"] = h5py.ExternalLink("other.h5", "/x")
        file["first"].attrs["a"] = 1
    found = []
    for m in (hs, h5py):
        with m.File(tmp_path / "f.h5") as file:
            links = file.id.links
            names = ["first", "äther", "soft", "far"]
            infos = [links.get_info(name.encode()) for name in names]
            facts = m.h5o.get_info(file.id, b"first")
            found.append(
                (
                    [(info.type, info.corder_valid, info.corder, info.cset) for info in infos],
                    [links.get_val(name.encode()) for name in ("soft", "far")],
                    (facts.type, facts.rc, facts.num_attrs),
                    m.h5g.get_objinfo(file.id, b"first").mtime,
                    m.h5a.get_info(file["first"].id, b"a").data_size,
                )
            )
    assert found[0] == found[1]


@BOTH
def test_an_attribute_is_created_by_its_identifier(m):
    with m.File.in_memory() as file:
        made = m.h5t.C_S1.copy()
        made.set_size(5)
        attribute = m.h5a.create(file.id, b"title", made, m.h5s.create(m.h5s.SCALAR))
        attribute.write(np.array(b"hello"), mtype=attribute.get_type())
        assert file.attrs["title"] == b"hello" and attribute.get_type().get_strpad() == m.h5t.STR_NULLTERM
        assert m.h5a.exists(file.id, b"title") and m.h5a.get_num_attrs(file.id) == 1
        m.h5a.delete(file.id, b"title")
        assert not m.h5a.exists(file.id, b"title")


def test_a_closed_identifier_closes_its_handle_only():
    with hs.File.in_memory() as file:
        first, second = file.create_group("g"), file["g"]
        first.id.close()
        assert not first and second and repr(first) == "<Closed HDF5 group>"


def test_handles_are_counted_as_long_as_they_live():
    count = hs.h5f.get_obj_count
    before = count(types=hs.h5f.OBJ_FILE), count(types=hs.h5f.OBJ_DATASET)
    file = hs.File.in_memory()
    dataset = file.create_dataset("x", data=1)
    assert (count(types=hs.h5f.OBJ_FILE), count(types=hs.h5f.OBJ_DATASET)) == (before[0] + 1, before[1] + 1)
    assert count(file.id, hs.h5f.OBJ_DATASET) == 1
    del dataset
    assert count(file.id, hs.h5f.OBJ_DATASET) == 0
    file.close()
    assert count(types=hs.h5f.OBJ_FILE) == before[0]


@pytest.mark.parametrize(
    "call",
    [
        lambda: hs.h5s.decode(b""),
        lambda: hs.h5s.create_simple((2,)).encode(),
        lambda: hs.h5f.get_obj_ids(),
        lambda: hs.h5z.register_filter(0),
        lambda: hs.h5t.find(hs.h5t.STD_I8LE, hs.h5t.STD_I16LE),
    ],
)
def test_what_has_no_meaning_is_refused_by_name(call):
    with pytest.raises(NotImplementedError, match=r"h5[a-z]\.|SpaceID\."):
        call()


def program(text, tmp_path, *before):
    """Runs a program and returns its output and its errors."""
    (tmp_path / "program.py").write_text(text)
    command = [sys.executable, *before, str(tmp_path / "program.py"), "one", "two"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    return done.stdout.strip(), done.stderr


def test_a_program_runs_with_hyperslab_in_the_place_of_h5py(tmp_path):
    text = "import sys, h5py, h5py._hl.files, h5py.h5d as d\nprint(h5py.File.__name__, d.__name__, sys.argv[1:])\n"
    text += "print(h5py.__version__, type(h5py.File.in_memory()).__module__, h5py._hl.files.File is h5py.File)"
    said, _ = program(text, tmp_path, "-m", "hyperslab.as_h5py")
    assert said.splitlines() == [
        "File hyperslab.low.h5d ['one', 'two']",
        "3.16.0 h5py._hl.files True",
    ]


def test_a_text_runs_with_hyperslab_in_the_place_of_h5py(tmp_path):
    text = "import sys, h5py\nprint(h5py.h5d.__name__, sys.argv, __name__, repr(sys.path[0]))"
    run = functools.partial(subprocess.run, capture_output=True, text=True, cwd=tmp_path)
    command = [sys.executable, "-m", "hyperslab.as_h5py"]
    for way, given in ((["-c", text], None), (["-"], text)):
        done = run([*command, *way, "one"], input=given)
        assert done.stdout.split() == ["hyperslab.low.h5d", f"['{way[0]}',", "'one']", "__main__", "''"], done.stderr


def test_the_import_system_finds_the_stand_in(tmp_path):
    text = """
import hyperslab.as_h5py, h5py, importlib.util, importlib.resources, importlib
for name in ("h5py", "h5py.h5d", "h5py._hl", "h5py._hl.files"):
    assert importlib.util.find_spec(name).loader is not None, name
assert importlib.util.find_spec("h5py.nothing") is None
assert h5py.__spec__.name == "h5py" and importlib.resources.files("h5py").is_dir()
assert importlib.reload(h5py) is h5py and h5py.File is hyperslab.File
from xarray.core.utils import module_available
print(module_available("h5py"))
"""
    assert program(text, tmp_path)[0] == "True", program(text, tmp_path)[1]


@pytest.mark.parametrize("other", [True, False], ids=["with h5py", "without h5py"])
def test_the_stand_in_gives_way_where_there_is_no_hyperslab(tmp_path, other):
    """The Python of another environment inherits PYTHONPATH."""
    if other:
        (tmp_path / "h5py").mkdir()
        (tmp_path / "h5py" / "__init__.py").write_text("from . import part\nname = part.__name__")
        (tmp_path / "h5py" / "part.py").touch()
    paths = [str(as_h5py_folder()), *([str(tmp_path)] if other else [])]
    command = [sys.executable, "-S", "-c", "import h5py, h5py.part; print(h5py.name, h5py.__file__)"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    if other:
        assert done.stdout.split() == ["h5py.part", str(tmp_path / "h5py" / "__init__.py")], done.stderr
    else:
        assert "ModuleNotFoundError: No module named 'h5py'" in done.stderr


def as_h5py_folder():
    return Path(low.__file__).parent / "stand_in"


def test_a_process_that_is_forked_has_the_lock_as_often_as_its_parent(tmp_path):
    text = """
import os, threading, hyperslab.low._objects as objects
lock, found = objects.phil, []
with lock, lock:
    child = os.fork()
    other = threading.Thread(target=lambda: found.append(lock.acquire(False)))
    other.start()
    other.join()
other = threading.Thread(target=lambda: found.append(lock.acquire(False)))
other.start()
other.join()
assert found == [False, True], found
if child:
    print(os.waitpid(child, 0)[1])
"""
    said, errors = program(text, tmp_path)
    assert said == "0", errors


def test_the_names_of_the_package_are_listed():
    names = set(dir(hs))
    assert {"File", "h5d", "h5f", "version", "pandas", "dask", "filters", "register_driver"} <= names
    assert set(hs.__all__) <= names and "_selector" not in names
    assert repr(hs.MultiBlockSlice(1, 3, None, 2)) == repr(h5py.MultiBlockSlice(1, 3, None, 2))


def test_standing_in_for_an_h5py_that_is_imported_is_an_error(tmp_path):
    _, errors = program("import h5py\nimport hyperslab.as_h5py", tmp_path)
    assert "ImportError: h5py is already imported" in errors


def test_bit_fields_and_new_files_are_as_in_h5py_in_its_place(tmp_path):
    text = """
import hyperslab.as_h5py, h5py
with h5py.File("f.h5", "w") as file:
    file.attrs["CLASS"] = "GROUP"
    made = file.create_dataset("bits", (2,), dtype=h5py.h5t.STD_B8LE)
    made.attrs["CLASS"] = "ARRAY"
    print(file.libver, file["bits"].dtype, type(file["bits"]).__name__)
"""
    said, errors = program(text, tmp_path)
    assert said == "('earliest', 'v200') uint8 Dataset", errors


def test_a_wrapper_that_opens_nothing_shows_the_dataset_that_it_wraps():
    class Wrapper(hs.Dataset):
        def __init__(self, dataset):
            self.dataset = dataset

    class Other(hs.Dataset):
        def __init__(self, dataset, other):
            super().__init__(other.id)

    with hs.File.in_memory() as file:
        dataset, other = file.create_dataset("x", data=[1, 2, 3]), file.create_dataset("y", data=[4])
        assert Wrapper(dataset).shape == (3,) and Wrapper(dataset).name == "/x" and Wrapper(dataset) == dataset
        assert Other(dataset, other).name == "/y"
        with pytest.raises(RuntimeError, match="called twice"):
            Other(dataset, other).__init__(dataset, other)


def test_elements_that_were_never_written_have_no_fill_value_that_is_never_written(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as file:
        for name, chunks in (("flat", None), ("chunked", (2,))):
            made = file.create_dataset(name, (4,), "i4", fillvalue=9, fill_time="never", chunks=chunks)
            assert made[:].tolist() == [0, 0, 0, 0] and made.fillvalue == 9


def test_programs_set_attributes_of_their_own_on_objects():
    with hs.File.in_memory() as file:
        dataset = file.create_dataset("x", data=[1])
        for found in (file, dataset, file.create_group("g")):
            found.note = "mine"
            assert found.note == "mine" and not hasattr(file["x"], "note")


def test_each_library_decodes_datatypes_of_the_other():
    for dtype in (np.dtype("<i4"), np.dtype([("a", ">f8"), ("b", "S5"), ("c", "i2", (3,))]), h5py.enum_dtype({"A": 3})):
        ours, theirs = (m.h5t.py_create(dtype, logical=True) for m in (hs, h5py))
        assert h5py.h5t.decode(ours.encode()) == theirs and hs.h5t.decode(theirs.encode()) == ours
        # As written before the encoding had the bytes of libhdf5.
        assert hs.h5t.decode(ours.encode()[2:]) == ours


@BOTH
def test_the_prefix_of_external_links_says_where_their_files_are(m, tmp_path):
    (tmp_path / "folder").mkdir()
    with m.File(tmp_path / "folder" / "far.h5", "w") as file:
        file["g/x"] = np.arange(3)
    with m.File(tmp_path / "f.h5", "w") as file:
        file["far"] = m.ExternalLink("far.h5", "/g")
        file["a/far"], file["a/to"], file["loop"] = m.ExternalLink("far.h5", "g"), m.SoftLink("far"), m.SoftLink("loop")
        plist = m.h5p.create(m.h5p.LINK_ACCESS)
        plist.set_elink_prefix(str(tmp_path / "folder").encode())
        for path in (b"far/x", b"/far/x", b"a/to/x", b"/a/to/x"):
            with pytest.raises(KeyError):
                m.h5o.open(file.id, path)
            assert m.h5o.open(file.id, path, plist).shape == (3,)
        assert m.h5o.open(file["a"].id, b"/far/x", plist).shape == (3,)
        for path, error in ((b"no", KeyError), (b"far/no", KeyError), (b"loop", RuntimeError)):
            with pytest.raises(error):
                m.h5o.open(file.id, path, plist)


@BOTH
def test_the_order_of_members_is_no_part_of_a_datatype(m):
    def record(names, letters):
        letter = m.h5t.enum_create(m.h5t.STD_I8LE)
        for name in letters:
            letter.enum_insert(name.encode(), ord(name))
        made = m.h5t.create(m.h5t.COMPOUND, 2)
        for name in names:
            made.insert(name.encode(), "ab".index(name), letter if name == "a" else m.h5t.STD_I8LE)
        return made

    first = record("ab", "RGB")
    for other, is_equal in ((record("ab", "BGR"), True), (record("ba", "RGB"), True), (record("ab", "RGX"), False)):
        assert (first == other) is first.equal(other) is is_equal


def test_the_access_list_of_a_dataset_lives_as_long_as_a_handle_that_has_it():
    with warnings.catch_warnings(action="ignore"), hs.File.in_memory() as file:
        first = file.create_dataset("x", (4,), "i4", chunks=(2,), rdcc_nbytes=12345)

        def size(handle):
            return handle.id.get_access_plist().get_chunk_cache()[1]

        second = file["x"]
        assert size(first) == size(second) == 12345
        del first
        assert size(second) == size(file["x"]) == 12345
        del second
        assert size(file["x"]) != 12345
