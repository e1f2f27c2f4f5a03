"""Names of the module, and what programs do with the low-level API."""

h5py.version.hdf5_version_tuple, h5py.version.version_tuple[:2], h5py.__version__

"HDF5" in h5py.version.info, "h5py" in h5py.version.info

h5py.get_config().track_order, h5py.get_config().complex_names, h5py.get_config().bool_names

h5py.get_config().mpi, h5py.get_config().ros3, h5py.get_config().swmr_min_hdf5_version

h5py.get_config().default_file_mode

h5py.get_config().track_order = True
h5py.get_config().track_order, setattr(h5py.get_config(), "track_order", False)

h5py.get_config().nope

h5py.UNLIMITED

h5py.filters.__name__.rpartition(".")[2]

sorted(h5py.filters.decode), sorted(h5py.filters.encode)

h5py.h5z.filter_avail(h5py.h5z.FILTER_DEFLATE), h5py.h5z.filter_avail(h5py.h5z.FILTER_LZF)

h5py.h5z.filter_avail(31999)

h5py.h5z.get_filter_info(h5py.h5z.FILTER_DEFLATE)

h5py.h5z.get_filter_info(31999)

h5py.h5.get_libversion()

h5py.h5t.py_create("i4"), h5py.h5t.py_create(np.dtype("f8")) == h5py.h5t.IEEE_F64LE

h5py.h5t.py_create(h5py.string_dtype()), h5py.h5t.py_create("S5").get_size()

h5py.h5t.py_create(h5py.string_dtype(), logical=True).is_variable_str()

h5py.h5t.py_create("U3")

h5py.h5t.py_create("O")

h5py.h5t.py_create("M8[s]")

h5py.h5t.py_create([("a", "i4"), ("b", "S3")]).get_nmembers()

h5py.h5t.py_create(bool, logical=True).enum_valueof(b"TRUE")

h5py.h5t.STD_I32LE.dtype, h5py.h5t.NATIVE_DOUBLE.dtype, h5py.h5t.C_S1.dtype

h5py.h5t.array_create(h5py.h5t.STD_I8LE, (2, 3)).dtype, h5py.h5t.vlen_create(h5py.h5t.STD_I8LE).dtype

h5py.h5t.C_S1.copy().set_size(h5py.h5t.VARIABLE)

text = h5py.h5t.C_S1.copy()
text.set_size(8)
text.set_cset(h5py.h5t.CSET_UTF8)
text.set_strpad(h5py.h5t.STR_NULLTERM)
text.dtype, text.get_cset(), text.get_strpad()

h5py.h5t.STD_I32LE.set_size(4)

f["d"].id.get_type().get_class() == h5py.h5t.INTEGER, f["d"].id.get_type().get_sign(), f["d"].id.get_type().get_order()

(
    f["enum"].id.get_type().get_nmembers(),
    f["enum"].id.get_type().get_member_name(1),
    f["enum"].id.get_type().get_member_value(1),
)

(
    f["c"].id.get_type().get_member_name(0),
    f["c"].id.get_type().get_member_offset(1),
    f["c"].id.get_type().get_member_type(2).dtype,
)

f["words"].id.get_type().is_variable_str(), f["words"].id.get_type().get_cset(), f["fixed"].id.get_type().get_strpad()

h5py.h5s.create_simple((3, 4)).shape, h5py.h5s.create_simple((3,), (h5py.h5s.UNLIMITED,)).get_simple_extent_dims(True)

h5py.h5s.create_simple((3, 4)).get_select_npoints(), h5py.h5s.create(h5py.h5s.SCALAR).get_simple_extent_npoints()

space = f["d"].id.get_space()
space.select_hyperslab((0, 1), (2, 2))
space.get_select_bounds(), space.get_select_npoints(), space.get_regular_hyperslab()

space = f["d"].id.get_space()
space.select_elements([(0, 1), (2, 2)])
space.get_select_elem_pointlist()

space = f["d"].id.get_space()
space.select_hyperslab((2, 1), (2, 2))
space.select_valid()

space = f["d"].id.get_space()
space.select_hyperslab((0, 0), (2, 2))
out = np.zeros((2, 2), "i4")
f["d"].id.read(h5py.h5s.create_simple((2, 2)), space, out)
out

out = np.zeros((3, 4), "f8")
f["d"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, out)
out

f["d"].id.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ones((3, 4), "i4"))
f["d"][0]

h5py.h5d.open(f.id, b"d").shape, h5py.h5d.open(f.id, "d").shape

h5py.h5d.open(f.id, b"nope")

h5py.h5d.open(f.id, b"g")

h5py.h5g.open(f.id, b"g").name

h5py.h5g.open(f.id, b"d")

h5py.h5o.open(f.id, b"d"), h5py.h5o.open(f.id, b"g"), h5py.h5o.open(f.id, b"named")

plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
plist.set_chunk((2, 2))
plist.set_deflate(4)
plist.set_fill_value(np.array(7, "i4"))
new = h5py.h5d.create(f.id, b"v", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((4, 4)), dcpl=plist)
h5py.Dataset(new)[0], f["v"].chunks, f["v"].compression_opts, f["v"].fillvalue

plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
plist.set_chunk((2,))
h5py.h5d.create(f.id, b"v", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((4, 4)), dcpl=plist)

plist = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
plist.set_libver_bounds(h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
plist.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
new = h5py.h5f.create(b"new.h5", h5py.h5f.ACC_TRUNC, fapl=plist)
h5py.File(new).mode, h5py.File(new).libver

h5py.h5f.open(b"other.h5", h5py.h5f.ACC_RDONLY).name

h5py.h5f.open(b"no.h5")

h5py.h5f.is_hdf5(b"other.h5"), h5py.h5f.is_hdf5(b"f.h5")

h5py.h5f.is_hdf5(b"no.h5")

h5py.h5f.get_name(f["d"].id), h5py.h5i.get_name(f["d"].id), h5py.h5i.get_type(f["d"].id) == h5py.h5i.DATASET

h5py.h5i.get_file_id(f["d"].id) == f.id

h5py.h5a.exists(f.id, b"title"), h5py.h5a.get_num_attrs(f["d"].id), h5py.h5a.open(f.id, b"title").name

h5py.h5a.open(f.id, b"nope")

h5py.h5a.create(f.id, b"title", h5py.h5t.STD_I8LE, h5py.h5s.create(h5py.h5s.SCALAR))

new = h5py.h5a.create(f.id, b"v", h5py.h5t.STD_I8LE, h5py.h5s.create_simple((3,)))
new.write(np.array([1, 2, 3], "i1"))
f.attrs["v"]

h5py.h5a.delete(f.id, b"nope")

h5py.h5a.rename(f.id, b"title", b"renamed")
f.attrs["renamed"], "title" in f.attrs

h5py.h5a.rename(f.id, b"nope", b"x")

h5py.h5a.rename(f.id, b"title", b"number")

seen = []
h5py.h5a.iterate(f.id, seen.append)
sorted(seen)

(
    h5py.h5r.create(f.id, b"d", h5py.h5r.OBJECT),
    h5py.h5r.get_name(f["d"].ref, f.id),
    h5py.h5r.dereference(f["d"].ref, f.id),
)

h5py.h5r.create(f.id, b"nope", h5py.h5r.OBJECT)

h5py.h5r.get_obj_type(f["g"].ref, f.id) == h5py.h5o.TYPE_GROUP

f.id.links.exists(b"d"), f.id.links.exists(b"nope"), f.id.links.get_info(b"soft").type == h5py.h5l.TYPE_SOFT

seen = []
f.id.links.iterate(seen.append)
sorted(seen) == sorted(name.encode() for name in f)

f.id.links.create_soft(b"v", b"/d")
f["v"].shape

f.id.links.create_hard(b"v", f.id, b"d")
f["v"] == f["d"]

f.id.links.create_external(b"v", b"other.h5", b"/there")
f["v"].shape

f.id.links.create_soft(b"d", b"/x")

f.id.links.move(b"d", f["g"].id, b"d")
"g/d" in f

f.id.links.unlink(b"nope")

f.id.unlink(b"d")
"d" in f

f.id.get_num_objs() == len(f), f.id.get_objname_by_idx(0), f.id.get_objtype_by_idx(0)

h5py.h5ds.is_scale(f["x"].id), h5py.h5ds.get_scale_name(f["x"].id), h5py.h5ds.get_label(f["scaled"].id, 1)

h5py.h5ds.get_num_scales(f["scaled"].id, 0), h5py.h5ds.is_attached(f["scaled"].id, f["x"].id, 0)

info = h5py.h5o.get_info(f["d"].id)
info.rc, info.type, info.num_attrs

h5py.h5o.copy(f.id, b"d", f.id, b"copied")
f["copied"].shape

h5py.h5o.link(f["d"].id, f.id, b"linked")
f["linked"] == f["d"]

h5py.h5o.exists_by_name(f.id, b"g/nope")

seen = []
h5py.h5o.visit(f["g"].id, seen.append)
seen

h5py.h5p.create(h5py.h5p.FILE_ACCESS).get_cache(), h5py.h5p.create(h5py.h5p.FILE_ACCESS).get_libver_bounds()

h5py.h5p.create(3)

f.id.get_create_plist().get_userblock(), f.id.get_access_plist().get_driver() == h5py.h5fd.SEC2

f["k"].id.get_access_plist().get_chunk_cache()

f["fill"].id.get_create_plist().get_fill_time(), f["fill"].id.get_create_plist().get_alloc_time()

out = np.zeros(1, "i8")
f["fill"].id.get_create_plist().get_fill_value(out)
out

f["d"].id.get_create_plist().get_chunk()

h5py.h5pl.append(b"/nowhere")
h5py.h5pl.get(h5py.h5pl.size() - 1)

h5py._errors.silence_errors()

h5py.h5fd.SEC2 == h5py.h5fd.CORE

h5py.nope

__import__("h5py", fromlist=["nope"]).nope

import_module("h5py.nope")

low = [import_module(f"h5py.h5{name}") for name in "f d t s p a g o r l z i ds fd pl ac".split()]
low[0].ACC_RDONLY, low[1].CHUNKED, low[3].SELECT_SET, low[4].DEFAULT, low[10].FILTER_SHUFFLE

hl = [import_module(f"h5py._hl.{name}") for name in ("files", "dataset", "group")]
hl[0].File is h5py.File, hl[1].Dataset is h5py.Dataset, hl[2].Group is h5py.Group

with import_module("h5py._hl.base").phil:
    found = f["d"].shape
found

chosen = import_module("h5py._hl.selections").select((3, 4), np.s_[0:2])
chosen.array_shape, chosen.nselect, chosen.shape

len(import_module("h5py._hl.filters").guess_chunk((100, 100), None, 8))

h5py.File.__module__, h5py.Dataset.__module__, h5py.Group.__module__, h5py.Empty.__module__, h5py.SoftLink.__module__

h5py.Dataset.__name__, h5py.File.__qualname__, h5py.AttributeManager.__name__

(
    issubclass(h5py.Dataset, h5py.HLObject),
    issubclass(h5py.Datatype, h5py.HLObject),
    issubclass(h5py.RegionReference, h5py.Reference),
)

isinstance(f.id, h5py.h5f.FileID), isinstance(f["d"].id, h5py.h5d.DatasetID), isinstance(f["g"].id, h5py.h5g.GroupID)

sorted(name for name in h5py.__dict__ if name[0] != "_" and isinstance(h5py.__dict__[name], type))

bool(f.id), f.id.id > 0

f.id.close()
bool(f)

f["d"].id.close()
bool(f["d"])

f["d"].id._close

f.id == f.id, f["d"].id == f["d"].id, f["d"].id in {f["d"].id}

seen = []
thread_of = import_module("threading").Thread
threads = [thread_of(target=lambda: seen.append(int(f["d"][:].sum()))) for _ in range(4)]
_ = [thread.start() for thread in threads], [thread.join() for thread in threads]
seen

h5py.run_tests

h5py.enable_ipython_completer

h5py.get_config() is h5py.get_config(), type(h5py.get_config()).__name__

h5py.H5pyDeprecationWarning

h5py.h5py_warnings.H5pyWarning if hasattr(h5py.h5py_warnings, "H5pyWarning") else sorted(vars(h5py.h5py_warnings))
