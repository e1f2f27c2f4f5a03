"""Single calls of the low-level API: the results and the exceptions of h5py."""

import h5py
import hyperslab as hs
import numpy as np
import pytest
from support import IS_H5PY

pytestmark = pytest.mark.skipif(IS_H5PY, reason="compares hyperslab with h5py")


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


RECORD = [("a", "i4"), ("s", h5py.string_dtype()), ("v", "f8", (2,)), ("n", [("t", "S3"), ("q", "?")])]


def classes_in(m, made):
    return [made.detect_class(number) for number in range(12)]


def record(m, *members):
    made = m.h5t.create(m.h5t.COMPOUND, 16)
    for name, offset in (("a", 4), *members):
        made.insert(name.encode(), offset, m.h5t.STD_I32LE)
    return [made.get_member_offset(number) for number in range(made.get_nmembers())]


def enumeration(m, *members):
    made = m.h5t.enum_create(m.h5t.STD_U8LE)
    for name, value in (("A", 1), *members):
        made.enum_insert(name.encode(), value)
    return made.get_nmembers()


def of_another_size(m, name, size):
    made = getattr(m.h5t, name).copy()
    made.set_size(size)
    return made.get_size(), made.get_precision(), made.get_offset()


def new_dataset(m, file, name=b"new", limits=None, lcpl=None):
    return m.h5d.create(file.id, name, m.h5t.STD_I8LE, m.h5s.create_simple((3,), limits), None, lcpl).shape


def making_groups(m):
    made = m.h5p.create(m.h5p.LINK_CREATE)
    made.set_create_intermediate_group(True)
    return made


def filtered(m, name, *arguments):
    made = m.h5p.create(m.h5p.DATASET_CREATE)
    getattr(made, name)(*arguments)
    return made.get_filter(0)[:3]


def moved_elements(m, file, memory):
    space, out = file["x"].id.get_space(), np.full(8, -1.0)
    space.select_hyperslab((2,), (3,))
    file["x"].id.read(m.h5s.ALL if memory is None else m.h5s.create_simple((memory,)), space, out[: memory or 8])
    return out.tolist()


def changed_configuration(m, change):
    first = m.h5p.create(m.h5p.FILE_ACCESS)
    second, config = first.copy(), first.get_mdc_config()
    if change:
        config.max_size = 1 << 24
    before = first == second, first.get_mdc_config().max_size
    first.set_mdc_config(config)
    return before, first == second, first.get_mdc_config().max_size, first.copy() == first


def scales(m, file):
    m.h5ds.set_scale(file["x"].id, b"x")
    return file["c"].id, file["x"].id


CALLS |= {
    "classes in a record": lambda m, f: classes_in(m, m.h5t.py_create(np.dtype(RECORD), logical=True)),
    "classes in records in sequences": lambda m, f: classes_in(
        m, m.h5t.vlen_create(m.h5t.array_create(m.h5t.py_create(np.dtype(RECORD), logical=True), (2,)))
    ),
    "classes in an enumeration": lambda m, f: classes_in(m, m.h5t.enum_create(m.h5t.STD_U8LE)),
    "classes in a complex number": lambda m, f: classes_in(m, m.h5t.NATIVE_DOUBLE_COMPLEX),
    "classes in a string": lambda m, f: classes_in(m, m.h5t.py_create(m.string_dtype(), logical=True)),
    "no class of datatypes": lambda m, f: m.h5t.STD_I8LE.detect_class(77),
    "a name of an enumeration again": lambda m, f: enumeration(m, ("A", 2)),
    "a value of an enumeration again": lambda m, f: enumeration(m, ("B", 1)),
    "more of an enumeration": lambda m, f: enumeration(m, ("B", 2)),
    "a member's name again": lambda m, f: record(m, ("a", 0)),
    "a member that overlaps the end": lambda m, f: record(m, ("b", 7)),
    "a member that overlaps the start": lambda m, f: record(m, ("b", 1)),
    "a member at a negative offset": lambda m, f: record(m, ("b", -1)),
    "members side by side": lambda m, f: record(m, ("b", 0), ("c", 8)),
    **{
        f"{name} of {size} bytes": lambda m, f, name=name, size=size: of_another_size(m, name, size)
        for name in ("STD_I32LE", "IEEE_F32LE")
        for size in (0, 1, 2, 8)
    },
    "the bytes of datatypes": lambda m, f: [
        getattr(m.h5t, name).encode() for name in ("STD_I32BE", "IEEE_F64LE", "C_S1", "STD_REF_OBJ")
    ],
    "a negative length": lambda m, f: m.h5s.create_simple((-1,)).shape,
    "a limit below the length": lambda m, f: m.h5s.create_simple((3,), (2,)).shape,
    "too many axes": lambda m, f: m.h5s.create_simple((1,) * 33).shape,
    "limits without chunks": lambda m, f: new_dataset(m, f, limits=(4,)),
    "no limits without chunks": lambda m, f: new_dataset(m, f, limits=(m.h5s.UNLIMITED,)),
    "limits of the length": lambda m, f: new_dataset(m, f, limits=(3,)),
    "a dataset in no group": lambda m, f: new_dataset(m, f, b"no/x"),
    "a dataset in a new group": lambda m, f: (new_dataset(m, f, b"no/x", lcpl=making_groups(m)), list(f["no"])),
    "a group in no group": lambda m, f: m.h5g.create(f.id, b"no/x"),
    "a group in a group": lambda m, f: (bool(m.h5g.create(f.id, b"/g/y")), bool(m.h5g.create(f.id, b"./z/")), list(f)),
    "a datatype in no group": lambda m, f: m.h5t.STD_I8LE.copy().commit(f.id, b"no/x"),
    "a soft link in no group": lambda m, f: f.id.links.create_soft(b"no/x", b"x"),
    "a hard link in no group": lambda m, f: f.id.links.create_hard(b"no/x", f.id, b"x"),
    "a hard link to nothing": lambda m, f: f.id.links.create_hard(b"y", f.id, b"no"),
    "an external link in no group": lambda m, f: f.id.links.create_external(b"no/x", b"f.h5", b"x"),
    "a link in no group": lambda m, f: f.id.link(b"x", b"no/x"),
    "an object in no group": lambda m, f: m.h5o.link(f["x"].id, f.id, b"no/x"),
    "a copy in no group": lambda m, f: m.h5o.copy(f.id, b"x", f.id, b"no/x"),
    "a copy in a new group": lambda m, f: (
        m.h5o.copy(f.id, b"x", f.id, b"no/x", None, making_groups(m)),
        list(f["no"]),
    ),
    "a move to no group": lambda m, f: f.id.links.move(b"x", f.id, b"no/x"),
    "another name in no group": lambda m, f: f.id.move(b"x", b"no/x"),
    "a link of no group": lambda m, f: f.id.links.exists(b"no/x"),
    "odd pixels": lambda m, f: filtered(m, "set_szip", 4, 7),
    "many pixels": lambda m, f: filtered(m, "set_szip", 4, 34),
    "options of szip": lambda m, f: [filtered(m, "set_szip", options, 8) for options in (4, 32, 36, 8, 16, 2)],
    "a negative scale": lambda m, f: filtered(m, "set_scaleoffset", 0, -3),
    "no type of scales": lambda m, f: filtered(m, "set_scaleoffset", 3, 1),
    "filters without a number": lambda m, f: filtered(m, "set_filter", 99999),
    "filters with a negative number": lambda m, f: filtered(m, "set_filter", -1),
    "more room in the array": lambda m, f: moved_elements(m, f, None),
    "less selected in the file": lambda m, f: moved_elements(m, f, 4),
    "less selected in memory": lambda m, f: moved_elements(m, f, 2),
    "as much selected in memory": lambda m, f: moved_elements(m, f, 3),
    "a configuration of the cache": lambda m, f: changed_configuration(m, change=False),
    "another configuration of the cache": lambda m, f: changed_configuration(m, change=True),
    "facts about nothing": lambda m, f: m.h5o.get_info(f.id, b"no"),
    "facts by a number": lambda m, f: [m.h5o.get_info(f.id, index=number).type for number in range(3)],
    "facts by a number too large": lambda m, f: m.h5o.get_info(f.id, index=3),
    "older facts about nothing": lambda m, f: m.h5g.get_objinfo(f.id, b"no"),
    "a visit of nothing": lambda m, f: m.h5o.visit(f.id, print, obj_name=b"no"),
    "an iteration over nothing": lambda m, f: m.h5g.iterate(f.id, print, obj_name=b"no"),
    "a copy of nothing": lambda m, f: m.h5o.copy(f.id, b"no", f.id, b"y"),
    "the name of no member": lambda m, f: f.id.get_objname_by_idx(3),
    "the name of a negative member": lambda m, f: f.id.get_objname_by_idx(-1),
    "the kind of no member": lambda m, f: f.id.get_objtype_by_idx(3),
    "the value of no link": lambda m, f: f.id.get_linkval(b"no"),
    "a group as a datatype": lambda m, f: m.h5t.open(f.id, b"g"),
    "nothing as a datatype": lambda m, f: m.h5t.open(f.id, b"no"),
    "a scale of no axis": lambda m, f: m.h5ds.attach_scale(*scales(m, f), 2),
    "no scale of no axis": lambda m, f: m.h5ds.detach_scale(*scales(m, f), 2),
    "whether a scale has no axis": lambda m, f: m.h5ds.is_attached(*scales(m, f), 2),
    "the number of scales of no axis": lambda m, f: m.h5ds.get_num_scales(f["c"].id, 2),
    "the scales of no axis": lambda m, f: m.h5ds.iterate(f["c"].id, 2, print),
    "the scales behind the last": lambda m, f: m.h5ds.iterate(f["c"].id, 1, print, 5),
    "the label of no axis": lambda m, f: m.h5ds.get_label(f["c"].id, 2),
    "the label of a negative axis": lambda m, f: m.h5ds.get_label(f["c"].id, -1),
    "a label for no axis": lambda m, f: m.h5ds.set_label(f["c"].id, 2, b"y"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_the_result_or_the_exception_of_h5py(name):
    assert outcome(hs, CALLS[name]) == outcome(h5py, CALLS[name])
