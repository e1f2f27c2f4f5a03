"""Properties and methods of datasets."""

d = f["k"]
d.shape, d.dtype, d.size, d.ndim, d.nbytes, d.maxshape, d.chunks

d = f["z"]
d.compression, d.compression_opts, d.shuffle, d.fletcher32, d.scaleoffset, d.external, d.is_virtual

[(name, f[name].shape, f[name].size, f[name].ndim, f[name].nbytes) for name in ("scalar", "zero", "d", "words")]

f["empty"].shape, f["empty"].ndim, f["empty"].maxshape

f["empty"].size, f["empty"].nbytes

f["empty"].dtype, f["empty"].chunks, f["empty"].fillvalue, f["empty"].is_scale

[f[name].fillvalue for name in ("d", "fill", "fixed", "words", "bool", "enum", "scalar")]

f["c"].fillvalue, f["c"].fillvalue.dtype

f["ragged"].fillvalue

f["refs"].fillvalue

f["d"].name, f["g/n"].name, f["g"]["n"].parent.name

[repr(f[name]) for name in ("d", "scalar", "empty", "words", "c", "refs", "z", "g/n", "bool", "enum", "ragged")]

str(f["d"])

f["d"].len(), f["log"].len()

f["scalar"].len()

f["d"].attrs["units"], f["d"].file.filename, f["d"].parent == f

f["d"].ref, f["d"].regionref

f["d"].dims, len(f["d"].dims), list(f["scaled"].dims)

f["d"].shape = (1, 12)

f["k"].shape = (12, 8)
f["k"].shape, f["k"][11]

f["k"].resize((12, 4))
f["k"].shape, f["k"][9:]

f["k"].resize((5, 2))
f["k"][4]

f["k"].resize(20, axis=0)
f["k"].shape

f["k"].resize(5, 1)
f["k"].shape

f["k"].resize((12, 9))

f["k"].resize((12,))

f["k"].resize(12)

f["k"].resize(12, axis=2)

f["k"].resize(12, axis=-1)

f["k"].resize((-1, 4))

f["k"].resize((2.5, 4))

f["k"].resize("x")

f["k"].resize()

f["k"].resize((0, 0))
f["k"].shape, f["k"][:]

f["d"].resize((4, 4))

f["scalar"].resize(())

f["scalar"].resize((3,))

f["fill"].resize((6, 6))
f["fill"][5, 5]

f["k"].resize((2, 2))
f["k"].resize((4, 4))
f["k"][:]

f["d"].flush()

f["d"].refresh()

f["d"].astype("f4"), f["d"].astype("f4")[0], f["d"].astype(float)[0, 0]

f["d"].astype("f4").dtype, f["d"].astype("f4").shape

f["d"].astype("nope")

f["d"].astype("S4")[:]

f["d"].astype(bool)[0]

f["d"].astype(complex)[0]

f["x"].astype(int)[:]

f["x"].astype("i4")[1:3]

np.array(f["d"].astype("u1")), len(f["d"].astype("u1"))

f["d"].astype("f4").size, f["d"].astype("f4").ndim, f["d"].astype("f4").nbytes

list(f["x"].astype("f4"))

np.asarray(f["d"].astype("f4"), dtype="i2")

f["d"].astype()

with f["d"].astype("f4"):
    out = f["d"][0]
out

f["words"].asstr()[:], f["words"].asstr()[0], f["word"].asstr()[()], f["fixed"].asstr()[:], f["utf8"].asstr()[0]

f["words"].asstr("ascii")[:]

f["words"].asstr("ascii", "replace")[:], f["words"].asstr("ascii", errors="ignore")[2]

f["words"].asstr("nope")[:]

f["words"].asstr("utf-8", "nope")[:]

f["words"].asstr(5)

f["d"].asstr()

f["c"].asstr()

f["words"].asstr().shape, len(f["words"].asstr()), f["words"].asstr().dtype

list(f["words"].asstr()), np.asarray(f["words"].asstr()), np.array(f["fixed"].asstr())

f["words"].asstr().size, f["words"].asstr().ndim

repr(f["words"].asstr()), repr(f["d"].astype("f4")), repr(f["c"].fields("a"))

f["grid"].asstr()[0], f["grid"].asstr()[:, 1], f["grid"].asstr()[0, 1]

f["words"].asstr()[[0, 2]], f["words"].asstr()[np.array([True, False, True])]

"one" in f["words"].asstr()[:], "one" in list(f["words"].asstr())

f["words"].astype("T")[:]

f["words"].astype("U6")[:]

f["words"].astype("S6")[:]

f["words"].astype(object)[:]

f["words"].astype(str)[:]

f["fixed"].astype("U4")[:]

f["fixed"].astype("S2")[:]

f["fixed"].astype("T")[:]

f["c"].fields("a")[:], f["c"].fields(["a", "s"])[0], f["c"].fields(("a",))[:]

f["c"].fields("nope")

f["c"].fields("nope")[:]

f["c"].fields(["a", "nope"])[:]

f["c"].fields([])[:]

f["c"].fields(3)

f["d"].fields("a")

f["d"].fields("a")[:]

len(f["c"].fields("a")), np.asarray(f["c"].fields("b")), np.asarray(f["c"].fields("b"), dtype="i4")

f["c"].fields("a").shape, f["c"].fields("a").dtype

f["c"].fields("a").astype("f4")[:]

f["nested"].fields("in")[:], f["nested"].fields("in")[0]

f["nested"].fields("in/p")[:]

f["nested"].fields("in.p")[:]

f["d"].iter_chunks()

list(f["k"].iter_chunks())

list(f["k"].iter_chunks(np.s_[2:5, 1:3])), list(f["k"].iter_chunks(np.s_[2:5]))

list(f["k"].iter_chunks(np.s_[2:20]))

list(f["k"].iter_chunks(np.s_[::2]))

list(f["k"].iter_chunks(3))

list(f["k"].iter_chunks([0, 1]))

next(f["k"].iter_chunks())

list(f["log"].iter_chunks())

list(f["scalar"].iter_chunks())

f["k"].iter_chunks()

f["d"].make_scale("rows")
f["d"].is_scale, f["d"].attrs["NAME"], f["d"].attrs["CLASS"]

f["d"].make_scale(b"rows")

f["d"].make_scale(3)

f["x"].is_scale, f["d"].is_scale

f["d"].is_virtual, f["d"].virtual_sources()

f["d"].id.get_offset() > 0, f["d"].id.get_storage_size(), f["k"].id.get_offset(), f["log"].id.get_storage_size()

f["d"].id.shape, f["d"].id.rank, f["d"].id.dtype

f["k"].id.get_num_chunks(), tuple(f["k"].id.get_chunk_info(0))[:2], f["k"].id.get_chunk_info(1)._fields

f["k"].id.get_chunk_info(99)

f["k"].id.get_chunk_info_by_coord((4, 3)).chunk_offset, f["k"].id.get_chunk_info_by_coord((4, 3)).size

f["d"].id.get_num_chunks()

f["d"].id.get_chunk_info(0)

f["fill"].id.get_num_chunks(), f["fill"].id.get_storage_size(), f["fill"].id.get_space_status()

f["k"].id.read_direct_chunk((0, 0))[0], len(f["k"].id.read_direct_chunk((0, 0))[1])

f["k"].id.read_direct_chunk((1, 1))

f["k"].id.read_direct_chunk((100, 0))

f["k"].id.read_direct_chunk((0,))

f["k"].id.write_direct_chunk((0, 0), np.full(12, 7, "<i2").tobytes())
f["k"][0]

f["k"].id.write_direct_chunk((1, 1), bytes(24))

f["d"].id.read_direct_chunk((0, 0))

f["z"].id.write_direct_chunk((0, 0), np.full(15, 7, ">f4").tobytes(), filter_mask=3)
f["z"][0]

offsets = []
f["k"].id.chunk_iter(lambda info: offsets.append(info.chunk_offset))
offsets

f["k"].id.chunk_iter(lambda info: 5)

f["d"].id.chunk_iter([].append)

f["z"].id.get_create_plist().get_nfilters(), f["z"].id.get_create_plist().get_filter(1)

f["z"].id.get_create_plist().get_chunk(), f["z"].id.get_create_plist().get_layout()

f["d"].id.get_type().get_size(), f["d"].id.get_type() == h5py.h5t.STD_I32LE

f["d"].id.get_space().get_simple_extent_dims(), f["k"].id.get_space().get_simple_extent_dims(True)

f["k"].id.set_extent((11, 4))
f["k"].shape

f["d"].id == f["hard"].id, f["d"].id.id != f["x"].id.id

f["d"] == f["hard"], hash(f["d"]) == hash(f["hard"]), f["d"] in [f["x"], f["hard"]], f["d"] is f["d"]

f["d"] == 1, f["d"] == None, f["d"] is None

f["d"].nope

f["d"].dtype = "f4"

f["d"].name = "x"

f["d"].chunks = (1, 1)

f["d"].x = 3

f["d"].compression = "gzip"

f["words"].dtype, f["fixed"].dtype, f["utf8"].dtype, f["ascii"].dtype, f["bool"].dtype, f["enum"].dtype

f["refs"].dtype, f["regions"].dtype, f["ragged"].dtype, f["when"].dtype, f["opaque"].dtype

f["half"][:], f["complex"][:], f["opaque"][:], f["when"][:], f["bool"][:]

f["words"][:], f["words"][0], f["word"][()], f["fixed"][:], f["utf8"][:], f["ascii"][:], f["grid"][:]

f["words"].len(), f["words"].nbytes

f["external"].shape, f["external"].file.filename.endswith("other.h5")

f["d"].chunks, f["d"].compression, f["d"].compression_opts, f["d"].maxshape, f["d"].external

f["d"].allow_unknown_filter

h5py.Dataset(f["d"].id, readonly=True)[0]

h5py.Dataset(f["d"].id, readonly=True)[0] = 1

h5py.Dataset("d")

h5py.Dataset(f["d"].id) == f["d"]

class_ = type("Mine", (h5py.Dataset,), {"double": lambda self: self[()] * 2})
class_(f["x"].id).double(), repr(class_(f["x"].id))

f.close()
h5py.File("f.h5", "r")["d"][0] = 1

f.close()
h5py.File("f.h5", "r")["k"].resize((3, 3))

f.close()
h5py.File("f.h5", "r").create_dataset("v", data=1)

f.close()
del h5py.File("f.h5", "r")["d"]

f.close()
h5py.File("f.h5", "r").require_group("new")

f.close()
h5py.File("f.h5", "r").require_group("g").name

f.close()
h5py.File("f.h5", "r")["v"] = 1

f.close()
h5py.File("f.h5", "r").move("d", "e")

f.close()
h5py.File("f.h5", "r")["d"].make_scale()

f.close()
h5py.File("f.h5", "r")["d"].write_direct(np.ones((3, 4)))

f.close()
h5py.File("f.h5", "r")["d"].dims[0].label = "x"

f.close()
h5py.File("f.h5", "r").flush()
