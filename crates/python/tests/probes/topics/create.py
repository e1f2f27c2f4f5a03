"""Creating datasets: shapes, dtypes and options."""

f.create_dataset("v", (3,)).dtype

f.create_dataset("v", 5).shape, f.create_dataset("w", [2, 3]).shape

f.create_dataset("v", ()).shape, f.create_dataset("w", (), data=3)[()]

f.create_dataset("v")

f.create_dataset("v", None)

f.create_dataset("v", dtype="i4")

f.create_dataset("v", shape=None, dtype="i4")

f.create_dataset("v", (2, 3), "i2").dtype

f.create_dataset("v", (2, 3), int).dtype, f.create_dataset("w", (2,), float).dtype

f.create_dataset("v", (2,), bool).dtype, f.create_dataset("w", (2,), complex).dtype

f.create_dataset("v", (2,), str).dtype, f.create_dataset("w", (2,), bytes).dtype

f.create_dataset("v", (2,), str)[:], f.create_dataset("w", (2,), bytes)[:]

f.create_dataset("v", (2,), object)

f.create_dataset("v", (2,), "O")

f.create_dataset("v", (2,), "U5")

f.create_dataset("v", (2,), "S5").dtype

f.create_dataset("v", (2,), "S").dtype

f.create_dataset("v", (2,), "nope")

f.create_dataset("v", (2,), "M8[s]")

f.create_dataset("v", (2,), "m8[s]")

f.create_dataset("v", (2,), "V3").dtype

f.create_dataset("v", (2,), ">i4").dtype, f.create_dataset("w", (2,), "=f8").dtype

f.create_dataset("v", (2,), "f2").dtype, f.create_dataset("w", (2,), np.longdouble).dtype

f.create_dataset("v", (2,), np.float32).dtype

f.create_dataset("v", (2,), [("a", int), ("b", float)]).dtype

f.create_dataset("v", (2,), np.dtype([("a", "i4"), ("b", "f8")], align=True)).dtype

f.create_dataset("v", (2,), {"names": ["a"], "formats": ["i4"], "offsets": [4], "itemsize": 12}).dtype

f.create_dataset("v", (2,), np.dtype(("i4", (3,)))).shape

f.create_dataset("v", (2,), [("", "i4"), ("", "i4")]).dtype

f.create_dataset("v", (2,), [("ü", "i4")]).dtype

f.create_dataset("v", (2,), f["named"]).dtype

f.create_dataset("v", (2,), f["d"].dtype).dtype

f.create_dataset("v", (2,), h5py.h5t.STD_I32BE).dtype

f.create_dataset("v", data=[1, 2]).dtype, f.create_dataset("w", data=[1.5]).dtype

f.create_dataset("v", data=[1, 2], dtype="f4").dtype, f["v"][:]

f.create_dataset("v", data=[1.7, -2.2], dtype="i4")[:]

f.create_dataset("v", data=[300, -1], dtype="u1")[:]

f.create_dataset("v", data=np.array([300, -1]), dtype="u1")[:]

f.create_dataset("v", data=np.array([1e20, np.nan]), dtype="i4")

f.create_dataset("v", data="text").dtype, f["v"][()]

f.create_dataset("v", data="text", dtype="S2")[()]

f.create_dataset("v", data=["text", "b"], dtype="S2")[:]

f.create_dataset("v", data=b"text", dtype="S8")[()]

f.create_dataset("v", data=["ä"], dtype="S4")

f.create_dataset("v", data=[1, 2], dtype=str)

f.create_dataset("v", data=[1, 2], dtype="S3")

f.create_dataset("v", data=["1", "2"], dtype="i4")[:]

f.create_dataset("v", data=["a", "2"], dtype="i4")

f.create_dataset("v", (3,), data=[1, 2])

f.create_dataset("v", (2, 2), data=[1, 2, 3, 4])[:]

f.create_dataset("v", (4,), data=np.arange(4).reshape(2, 2))[:]

f.create_dataset("v", (2,), data=5)

f.create_dataset("v", (), data=[5])[()]

f.create_dataset("v", (1,), data=5)[:]

f.create_dataset("v", data=h5py.Empty("f4")).shape

f.create_dataset("v", (2,), data=h5py.Empty("f4"))

f.create_dataset("v", data=h5py.Empty("f4"), dtype="i4").dtype

f.create_dataset("v", data=np.array([]), maxshape=(None,)).chunks

f.create_dataset("v", data=[[]]).shape

f.create_dataset("v", (0,)).chunks, f.create_dataset("w", (0,), maxshape=(None,)).chunks

f.create_dataset("v", (0,), chunks=True)

f.create_dataset("v", (-1,))

f.create_dataset("v", (2.5,))

f.create_dataset("v", "3")

f.create_dataset("v", (2, None))

f.create_dataset("v", (np.int64(2), np.uint8(3))).shape

f.create_dataset("v", np.array([2, 3])).shape

f.create_dataset("v", [1] * 33)

f.create_dataset("v", [1] * 32).ndim

f.create_dataset("v", (2**40,), "i1").shape

f.create_dataset("v", (2**40, 2**40), chunks=(1, 1)).shape

f.create_dataset("d", data=1)

f.create_dataset("g", data=1)

f.create_dataset("", data=1)

f.create_dataset("g/", data=1)

f.create_dataset("d/x", data=1)

f.create_dataset("a/b/c", data=1).parent.name

f.create_dataset("/top", data=1).name, f["g"].create_dataset("/top2", data=1).name

f.create_dataset(b"bytes", data=1).name

f.create_dataset(3, data=1)

f.create_dataset("ünï €", data=1).name

f.create_dataset("v", (10,), chunks=True).chunks

f.create_dataset("v", (1000, 1000), "f8", chunks=True).chunks

f.create_dataset("v", (7, 100, 3000), "i2", chunks=True).chunks

f.create_dataset("v", (10,), chunks=3).chunks

f.create_dataset("v", (10,), chunks=[3]).chunks

f.create_dataset("v", (10,), chunks=(0,))

f.create_dataset("v", (10,), chunks=(-3,))

f.create_dataset("v", (10,), chunks=(11,))

f.create_dataset("v", (10,), chunks=(11,), maxshape=(None,)).chunks

f.create_dataset("v", (10,), chunks=(2, 2))

f.create_dataset("v", (10, 10), chunks=(2,))

f.create_dataset("v", (10,), chunks="auto")

f.create_dataset("v", (10,), chunks=2.5)

f.create_dataset("v", (10,), chunks=(2.5,))

f.create_dataset("v", (10,), chunks=False).chunks

f.create_dataset("v", (10,), chunks=False, compression="gzip")

f.create_dataset("v", (10,), chunks=False, maxshape=(None,))

f.create_dataset("v", (), chunks=True)

f.create_dataset("v", data=5, chunks=(1,))

f.create_dataset("v", data=5, compression="gzip")

f.create_dataset("v", data=5, maxshape=(None,))

f.create_dataset("v", data=5, shuffle=True)

f.create_dataset("v", data=5, fletcher32=True)

f.create_dataset("v", data="text", compression="gzip")

f.create_dataset("v", data=h5py.Empty("i4"), chunks=True)

f.create_dataset("v", data=h5py.Empty("i4"), compression="gzip")

f.create_dataset("v", (10,), maxshape=(20,)).maxshape, f["v"].chunks

f.create_dataset("v", (10,), maxshape=None).maxshape

f.create_dataset("v", (10,), maxshape=True).maxshape

f.create_dataset("v", (10,), maxshape=(5,))

f.create_dataset("v", (10,), maxshape=(None, None))

f.create_dataset("v", (10,), maxshape=20).maxshape

f.create_dataset("v", (10,), maxshape="x")

f.create_dataset("v", (10,), maxshape=(h5py.UNLIMITED,)).maxshape

f.create_dataset("v", (10, 5), maxshape=(None, 5)).chunks

f.create_dataset("v", (10,), maxshape=(10,)).chunks

f.create_dataset("v", (10,), compression="gzip").compression_opts, f["v"].compression, f["v"].chunks

f.create_dataset("v", (10,), compression="gzip", compression_opts=9).compression_opts

f.create_dataset("v", (10,), compression=7).compression_opts, f["v"].compression

f.create_dataset("v", (10,), compression=True)

f.create_dataset("v", (10,), compression=10)

f.create_dataset("v", (10,), compression="gzip", compression_opts=10)

f.create_dataset("v", (10,), compression="gzip", compression_opts="x")

f.create_dataset("v", (10,), compression="gzip", compression_opts=-1)

f.create_dataset("v", (10,), compression_opts=5)

f.create_dataset("v", (10,), compression="lzf").compression, f["v"].compression_opts

f.create_dataset("v", (10,), compression="lzf", compression_opts=3)

f.create_dataset("v", (10,), compression="szip").compression, f["v"].compression_opts

f.create_dataset("v", (10,), compression="szip", compression_opts=("ec", 16)).compression_opts

f.create_dataset("v", (10,), compression="szip", compression_opts=("xx", 16))

f.create_dataset("v", (10,), compression="szip", compression_opts=("nn", 7))

f.create_dataset("v", (10,), compression="nope")

f.create_dataset("v", (10,), compression="GZIP")

f.create_dataset("v", (10,), compression=99999)

f.create_dataset("v", (10,), compression=32000).compression

f.create_dataset("v", (10,), compression=1, compression_opts=(4,)).compression_opts

f.create_dataset("v", (10,), compression=h5py.h5z.FILTER_DEFLATE, compression_opts=(3,)).compression_opts

f.create_dataset("v", (10,), compression=0.5)

f.create_dataset("v", (10,), compression=None).chunks

f.create_dataset("v", (10,), compression="").chunks

f.create_dataset("v", (10,), shuffle=True).shuffle, f["v"].chunks

f.create_dataset("v", (10,), shuffle=False).chunks, f.create_dataset("w", (10,), shuffle="x").shuffle

f.create_dataset("v", (10,), fletcher32=True).fletcher32, f["v"].chunks

f.create_dataset("v", (10,), "i4", scaleoffset=3).scaleoffset, f["v"].chunks

f.create_dataset("v", (10,), "i4", scaleoffset=True).scaleoffset

f.create_dataset("v", (10,), "f4", scaleoffset=True)

f.create_dataset("v", (10,), "f4", scaleoffset=2).scaleoffset

f.create_dataset("v", (10,), "S3", scaleoffset=2)

f.create_dataset("v", (10,), "i4", scaleoffset=-2)

f.create_dataset("v", (10,), "i4", scaleoffset=3, fletcher32=True)

f.create_dataset("v", (10,), "c8", scaleoffset=2)

f.create_dataset("v", data=np.arange(10.0), scaleoffset=2)[:]

f.create_dataset("v", data=["a"] * 10, compression="gzip").compression

f.create_dataset("v", (10,), fillvalue=7)[:3]

f.create_dataset("v", (10,), "i4", fillvalue=7.9).fillvalue

f.create_dataset("v", (10,), "u1", fillvalue=-1).fillvalue

f.create_dataset("v", (10,), "f4", fillvalue=np.nan).fillvalue

f.create_dataset("v", (10,), "i4", fillvalue="x")

f.create_dataset("v", (10,), "i4", fillvalue=[1, 2])

f.create_dataset("v", (10,), "S3", fillvalue=b"ab")[:2]

f.create_dataset("v", (3,), str, fillvalue="gone")[:]

f.create_dataset("v", (3,), str, fillvalue=b"gone").fillvalue

f.create_dataset("v", (3,), str).fillvalue, f.create_dataset("w", (3,), "S3").fillvalue

f.create_dataset("v", (3,), [("a", "i4"), ("b", "f4")], fillvalue=np.array((1, 2.5), [("a", "i4"), ("b", "f4")]))[0]

f.create_dataset("v", (3,), [("a", "i4"), ("b", "f4")], fillvalue=(1, 2.5))[0]

f.create_dataset("v", (3,), [("a", "i4"), ("b", "f4")]).fillvalue

f.create_dataset("v", (3,), h5py.enum_dtype({"A": 5}), fillvalue=5)[:]

f.create_dataset("v", (3,), bool, fillvalue=True)[:]

f.create_dataset("v", (3,), complex, fillvalue=1j)[:]

f.create_dataset("v", (3,), "M8[s]", fillvalue=0)

f.create_dataset("v", (3,), fillvalue=None).fillvalue

f.create_dataset("v", (3,), "i4", fill_time="never").shape

f.create_dataset("v", (3,), "i4", fill_time="alloc", fillvalue=3)[:]

f.create_dataset("v", (3,), "i4", fill_time="nope")

f.create_dataset("v", (3,), "i4", fill_time=3)

bool(f.create_dataset("v", (3,), track_times=True).id.get_create_plist().get_obj_track_times())

bool(f.create_dataset("v", (3,)).id.get_create_plist().get_obj_track_times())

f.create_dataset("v", (3,), track_times="x")

f.create_dataset("v", (3,), track_order=True).id.get_create_plist().get_attr_creation_order()

f.create_dataset("v", (3,), nope=True)

f.create_dataset("v", (3,), "i4", None, "extra")

f.create_dataset("v", (3,), external=[("raw.bin", 0, 100)]).external

f.create_dataset("v", (3,), external="raw.bin").external

f.create_dataset("v", (3,), external=[("raw.bin",)]).external

f.create_dataset("v", (3,), external=[("raw.bin", 0, 100)], chunks=True)

f.create_dataset("v", (3,), external=3)

f.create_dataset("v", (3,), "f4", external=[("raw.bin", 0, 4)])

f.create_dataset("v", data=[1, 2], external="raw.bin")[:], os.path.getsize("raw.bin")

f.create_dataset("v", (10,), chunks=(5,), rdcc_nbytes=1000, rdcc_w0=0.1, rdcc_nslots=10).chunks

f.create_dataset("v", (10,), allow_unknown_filter=True).shape

f.create_dataset("v", (10,), compression=31999, allow_unknown_filter=True)

f.create_dataset("v", data=np.ones((2, 3)).T).shape, f["v"][:]

f.create_dataset("v", data=np.arange(10)[::2])[:]

f.create_dataset("v", data=f["d"])[:]

f.create_dataset("v", data=f["words"])[:]

f.create_dataset("v", data=f["c"])[1]

f.create_dataset("v", data=f["d"][:], chunks=f["k"].chunks).chunks

f.create_dataset("v", data=[np.float32(1), np.int8(2)]).dtype

f.create_dataset("v", data=[True, False]).dtype, f.create_dataset("w", data=[1, 2.5, True]).dtype

f.create_dataset("v", data=[b"a", "b"])

f.create_dataset("v", data=["a", None])

f.create_dataset("v", data=["a", 1])[:]

f.create_dataset("v", data=["a\0b"])[:]

f.create_dataset("v", data="a\0b")[()]

f.create_dataset("v", data=["\ud800"])

f.create_dataset("v", data=b"a\0b\0")[()]

f.create_dataset("v", data=np.bytes_(b"abc")).dtype

f.create_dataset("v", data=np.str_("abc"))

f.create_dataset("v", data=np.array("abc", "U"))

f.create_dataset("v", data=np.array([b"a", b"bc"])).dtype

f.create_dataset("v", data=np.void(b"abc"))[()]

f.create_dataset("v", data=[[1, 2], [3, 4]], dtype=[("a", "i4"), ("b", "i4")])

f.create_dataset("v", data=[(1, 2), (3, 4)], dtype=[("a", "i4"), ("b", "f4")])[:]

f.create_dataset("v", data=[(1, "x")], dtype=[("a", "i4"), ("b", h5py.string_dtype())])[:]

f.create_dataset("v", data=np.rec.array([(1, 2.0)], names="a,b"))[:]

f.create_dataset("v", data=Path("x"))

f.create_dataset("v", data=lambda: 1)

f.create_dataset("v", data=np.array([{}, {}]))

f.create_dataset("v", data=1 << 65)

f.create_dataset("v", data=[2**63, 1]).dtype

f.create_dataset("v", data=[2**63, -1]).dtype

f.create_dataset("v", data=range(3)).dtype, f.create_dataset("w", data=bytearray(b"ab")).dtype

f.create_dataset("v", data=memoryview(b"ab")).dtype

f.require_dataset("d", (3, 4), "i4").shape

f.require_dataset("d", (3, 4), "i4", exact=True).shape

f.require_dataset("d", (3, 4), "f8").dtype

f.require_dataset("d", (3, 4), "i8").dtype

f.require_dataset("d", (3, 4), "i2")

f.require_dataset("d", (3, 4), "i8", exact=True)

f.require_dataset("d", (3, 5), "i4")

f.require_dataset("d", 12, "i4")

f.require_dataset("g", (3,), "i4")

f.require_dataset("v", (3,), "i4").shape

f.require_dataset("v", (3,), "i4", data=[1, 2, 3])[:]

f.require_dataset("v", (3,))

f.require_dataset("k", (10, 4), "i2").chunks

f.require_dataset("k", (10, 4), "i2", maxshape=(None, 8)).maxshape

f.require_dataset("k", (10, 4), "i2", maxshape=(None, None))

f.require_dataset("soft", (3,), "i4")

f.require_dataset("words", (3,), h5py.string_dtype()).dtype

f.create_dataset_like("v", f["k"]).chunks, f["v"].maxshape, f["v"].dtype, f["v"][0]

f.create_dataset_like("v", f["z"]).compression, f["v"].shuffle

f.create_dataset_like("v", f["k"], shape=(20, 4)).maxshape

f.create_dataset_like("v", f["fill"]).fillvalue

f.create_dataset_like("v", f["d"], dtype="f8").dtype, f["v"].chunks

f.create_dataset_like("v", np.ones(3))

f.create_dataset_like("v", f["g"])

f.create_dataset_like("v", f["words"]).dtype

f.create_dataset_like("v", f["scalar"]).shape

f.create_dataset_like("v", f["empty"]).shape

f.create_virtual_dataset("v", h5py.VirtualLayout((4,), "i4"))[:]

f.create_virtual_dataset("v", 3)

h5py.VirtualLayout((4,))

h5py.VirtualLayout()
