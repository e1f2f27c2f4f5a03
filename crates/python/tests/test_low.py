"""The low-level API, against h5py's: the same calls give the same results and the same files."""

import importlib
import subprocess
import sys

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


def outcome(m, call):
    """Returns the result of a call with a small file, or the class of its exception."""
    with m.File.in_memory() as file:
        file.create_group("g")
        file["x"] = np.arange(10.0)
        file.create_dataset("c", data=np.arange(20).reshape(4, 5), chunks=(2, 2), maxshape=(None, 5))
        try:
            return repr(call(m, file))
        except Exception as error:
            return type(error).__name__


CALLS = {
    "maximum extent": lambda m, f: f["c"].id.get_space().get_simple_extent_dims(True),
    "space status": lambda m, f: (f["x"].id.get_space_status(), f["c"].id.get_space_status()),
    "no group": lambda m, f: m.h5g.open(f.id, b"nope"),
    "no dataset": lambda m, f: m.h5d.open(f.id, b"g"),
    "no attribute": lambda m, f: m.h5a.open(f.id, b"nope"),
    "kind and name": lambda m, f: (m.h5i.get_type(f["x"].id), m.h5i.get_name(f["x"].id)),
    "strings and sequences": lambda m, f: [
        m.h5t.py_create(kind, logical=True).get_size() for kind in (m.string_dtype(), m.vlen_dtype("i4"), m.ref_dtype)
    ],
    "no dtype": lambda m, f: m.h5t.py_create(np.dtype("U5")),
    "bounds": lambda m, f: m.h5s.create_simple((3, 4)).get_select_bounds(),
    "points of a scalar and of nothing": lambda m, f: [
        m.h5s.create(kind).get_simple_extent_npoints() for kind in (m.h5s.SCALAR, m.h5s.NULL)
    ],
    "members": lambda m, f: (sorted(f.id), len(f.id), b"x" in f.id, f.id.get_num_objs()),
    "value of a hard link": lambda m, f: f.id.links.get_val(b"x"),
    "no link": lambda m, f: f.id.links.get_info(b"nope"),
    "no chunks": lambda m, f: m.h5p.create(m.h5p.DATASET_CREATE).get_chunk(),
    "no class": lambda m, f: m.h5p.create("nope"),
    "filters": lambda m, f: (m.h5z.filter_avail(1), m.h5z.get_filter_info(1), m.h5z.filter_avail(399)),
    "no filter": lambda m, f: m.h5z.get_filter_info(399),
    "references": lambda m, f: (
        m.h5r.get_name(f["x"].ref, f.id),
        m.h5r.get_obj_type(f["x"].ref, f.id),
        m.h5r.dereference(f["x"].ref, f.id) == f["x"].id,
    ),
    "cache of chunks": lambda m, f: f["x"].id.get_access_plist().get_chunk_cache(),
    "visits": lambda m, f: (
        m.h5o.visit(f.id, lambda name: name if name == b"g" else None),
        f.id.links.visit(lambda name: name if name == b"x" else None),
        m.h5g.iterate(f.id, lambda name: name if name == b"x" else None),
    ),
    "a member beyond the end": lambda m, f: m.h5t.create(m.h5t.COMPOUND, 8).insert(b"a", 6, m.h5t.STD_I32LE),
    "a locked datatype": lambda m, f: m.h5t.STD_I32LE.set_size(8),
    "no file": lambda m, f: m.h5f.open(b"/nope.h5"),
    "no file to look at": lambda m, f: m.h5f.is_hdf5(b"/nope.h5"),
    "numbers of an enumeration": lambda m, f: f.create_dataset(
        "e", data=np.array([0, 1]), dtype=m.enum_dtype({"A": 0, "B": 1}, "i1")
    )[:].tolist(),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_the_result_or_the_exception_of_h5py(name):
    assert outcome(hs, CALLS[name]) == outcome(h5py, CALLS[name])
