"""Cases at the edge: empty shapes, extreme numbers, unusual dtypes and names."""

f.create_dataset("v", data=np.array([np.iinfo("i8").min, np.iinfo("i8").max]))[:]

f.create_dataset("v", data=np.array([0, np.iinfo("u8").max], "u8")).astype("i8")[:]

f.create_dataset("v", data=np.array([np.inf, -np.inf, np.nan, -0.0]))[:]

f.create_dataset("v", data=np.array([np.inf, -np.inf, 1e300])).astype("f4")[:]

f.create_dataset("v", data=np.array([1.9, -1.9, 300, -300])).astype("i1")[:]

f.create_dataset("v", data=np.array([-1, 256, 3])).astype("u1")[:]

f.create_dataset("v", data=np.array([0.1, 65504, 1e6], "f4")).astype("f2")[:]

f.create_dataset("v", data=np.array([1, 0, 5], "i1")).astype("?")[:]

f.create_dataset("v", data=np.array([True, False])).astype("i4")[:]

f.create_dataset("v", data=np.array([True, False])).astype("f8")[:]

f.create_dataset("v", data=[1, 2], dtype=bool)[:]

f.create_dataset("v", data=[True, False], dtype="i4")[:]

f.create_dataset("v", data=[1.5], dtype=complex)[:]

f.create_dataset("v", data=[1j], dtype="f8")

f.create_dataset("v", data=np.array([1 + 1j], "c16"), dtype="c8")[:]

f.create_dataset("v", data=np.array([1, 2], "f8"), dtype=">f4").dtype, f["v"][:]

f.create_dataset("v", data=np.arange(3), dtype="S2")

f.create_dataset("v", data=np.array(["1", "2"], "S1"), dtype="i4")

f.create_dataset("v", data="5", dtype="i4")

f.create_dataset("v", data=b"5", dtype="f8")

f.create_dataset("v", data=[None, 1])

f.create_dataset("v", data=[[1, 2], [3, 4]], dtype="i1")[:]

f.create_dataset("v", data=np.array([1, 2], "m8[s]"))

f.create_dataset("v", data=np.array(["2024"], "M8[Y]").astype(h5py.opaque_dtype("M8[Y]")))[:]

f.create_dataset("v", data=np.array([(1,)], [("a", "M8[s]")]))

f.create_dataset("v", data=np.array([(1, 2)], [("a", "i4"), ("a b/c.d", "i4")]))["a b/c.d"]

f.create_dataset("v", data=np.zeros(2, [("a", "i4"), ("b", [("c", "f4"), ("d", "S3")])]))[0]

f.create_dataset("v", data=np.zeros(2, [("a", "i4", (2, 2)), ("b", "S2", (3,))]))[0]

f.create_dataset("v", data=np.zeros(2, [("a", "?"), ("b", "c8"), ("c", "f2")]))[0]

f.create_dataset("v", data=np.zeros(2, [("a", "U3")]))

f.create_dataset("v", data=np.zeros(2, [("a", "O")]))

f.create_dataset("v", data=np.zeros(2, np.dtype([("a", "i1"), ("b", "f8")], align=True))).dtype

f.create_dataset(
    "v", data=np.zeros(2, {"names": ["b", "a"], "formats": ["i2", "i4"], "offsets": [4, 0], "itemsize": 10})
).dtype

f.create_dataset("v", data=np.zeros(0, [("a", "i4")]))[:], len(f["v"])

f.create_dataset("v", (0, 5), maxshape=(None, 5))[:], f["v"].chunks

f.create_dataset("v", (3, 0))[:].shape, f["v"].size, f["v"].nbytes

f.create_dataset("v", (1,) * 5, "i1")[0, 0, 0, 0, 0]

f.create_dataset("v", (2, 2), chunks=(2, 2))[-1, -1], f["v"][-2:, -2:]

v = f.create_dataset("v", (5, 5), "i4", chunks=(2, 2), compression="gzip")
v[4, 4] = 1
v[3:, 3:], v[:].sum(), v.id.get_num_chunks()

v = f.create_dataset("v", (5,), "i4", chunks=(2,), maxshape=(None,), fillvalue=9)
v[4] = 1
v.resize((3,))
v.resize((6,))
v[:]

v = f.create_dataset("v", (4,), "i4", chunks=(2,))
v[1:3] = [1, 2]
v.id.get_num_chunks(), v.id.get_chunk_info(0).size, v.id.get_storage_size()

v = f.create_dataset("v", (4,), "i4", chunks=(2,), compression="gzip")
v[0] = 1
v.id.read_direct_chunk((0,))[0], v.id.get_num_chunks()

v = f.create_dataset("v", (4,), "i4", chunks=(2,), maxshape=(None,))
v[:] = 1
v.resize((2,))
v.id.get_num_chunks(), v[:]

v = f.create_dataset("v", (4, 4), "i4")
v[1] = v[2] = 5
v[:, 1] += 1
v[:]

v = f.create_dataset("v", (4, 4), "i4")
v[[0, 3], 1:3] = [[1, 2], [3, 4]]
v[1:3, [0, 3]] = 7
v[:]

v = f.create_dataset("v", (4, 4), "i4")
v[::2, ::2] = np.arange(4).reshape(2, 2)
v[1::2, 1::2] = -1
v[:]

v = f.create_dataset("v", (4, 4), "i4")
v[..., 0] = 1
v[0, ...] = 2
v[...,] = v[...].T
v[:]

v = f.create_dataset("v", (4,), "i4")
v[np.array([True, False, True, False])] = [5, 6]
v[np.array([False, True, False, True])] = 9
v[:]

v = f.create_dataset("v", (4,), "i4")
v[[True, False, False, True]] = 3
v[:]

v = f.create_dataset("v", (4,), "i4")
v[[]] = []

v = f.create_dataset("v", (4,), "i4")
v[np.zeros(4, bool)] = 5
v[:]

v = f.create_dataset("v", (4,), "i4")
v[-1:] = 5
v[-3:-1] = [1, 2]
v[:]

v = f.create_dataset("v", (4,), "i4")
v[2:1] = 5
v[9:] = 5
v[:]

v = f.create_dataset("v", (2, 3), "i4")
v[:] = [1, 2, 3]
v[:, :] += np.array([[10], [20]])
v[:]

v = f.create_dataset("v", (2, 3), "i4")
v[:] = [[1], [2]]
v[:]

v = f.create_dataset("v", (2, 3), "i4")
v[:] = [1, 2]

v = f.create_dataset("v", (2, 3), "i4")
v[0] = 1, 2, 3
v[1] = np.float64(2.7)
v[:]

v = f.create_dataset("v", (2, 3), "i4")
v[0, [0, 2]] = [5, 6]
v[[0, 1], 0] = [7, 8]
v[:]

v = f.create_dataset("v", (3,), "f4")
v[:] = ["1", "2.5", "x"]

v = f.create_dataset("v", (3,), "f4")
v[:] = ["1", "2.5", "3"]
v[:]

v = f.create_dataset("v", (3,), "f4")
v[:] = [b"1", b"2", b"3"]
v[:]

v = f.create_dataset("v", (3,), "f4")
v[0] = np.array(["5"], "S1")

v = f.create_dataset("v", (3,), "u1")
v[:] = [-5, 300, 5]

v = f.create_dataset("v", (3,), "u1")
v[:] = np.array([-5, 300, 5])
v[:]

v = f.create_dataset("v", (3,), "u1")
v[0] = -1

v = f.create_dataset("v", (3,), "u1")
v[0] = np.int64(-1)
v[0]

v = f.create_dataset("v", (3,), "i4")
v[:] = np.array([1.9, -1.9, 1e20])
v[:]

v = f.create_dataset("v", (3,), "i4")
v[0] = 1e20

v = f.create_dataset("v", (3,), "i4")
v[0] = 2**31

v = f.create_dataset("v", (3,), "i4")
v[:] = np.array([None, 1, 2])

v = f.create_dataset("v", (3,), "i4")
v[:] = np.array([1, 2, 3], object)
v[:]

v = f.create_dataset("v", (3,), complex)
v[0] = 1
v[1:] = [1j, 2]
v[:]

v = f.create_dataset("v", (3,), bool)
v[0] = "yes"

v = f.create_dataset("v", (3,), "S3")
v[:] = [b"abcd", "xy", b""]
v[:]

v = f.create_dataset("v", (3,), "S3")
v[0] = None

v = f.create_dataset("v", (3,), "S3")
v[0] = b"a\0b"
v[0]

v = f.create_dataset("v", (2,), h5py.string_dtype("utf-8", 3))
v[0] = "äö"
v[0]

v = f.create_dataset("v", (2,), h5py.string_dtype("ascii"))
v[0] = b"\xff"
v[0]

f["v"] = np.array([b"\xff", b"a"], h5py.string_dtype())
f["v"][:], f["v"].asstr(errors="replace")[:]

f["v"] = np.array([b"\xff", b"a"], h5py.string_dtype())
f["v"].asstr()[:]

f.attrs["v"] = np.array([b"\xff"], h5py.string_dtype())
f.attrs["v"]

f.attrs["v"] = np.bytes_(b"\xff")
f.attrs["v"]

f["x" * 1000] = 1
len(max(f, key=len))

f["日本/語"] = 1
f["日本"]["語"][()], f["日本/語"].name

f["\x01\x7f"] = 1
f["\x01\x7f"].name

f["a.b"] = 1
f["a..b"] = 2
f["..."] = 3
sorted(name for name in f if "." in name)

f["."] = 1

f[".."] = 1
f[".."][()]

f["a/."] = 1

f["a/./b"] = 1
f["a/b"][()]

f["/abs"] = 1
f["g"]["/abs2"] = 1
"abs" in f, "abs2" in f, "abs2" in f["g"]

f["trailing/"] = 1

f["//double"] = 1
f["double"].name

f[" "] = 1
f[" "].name, " " in f

for number in range(200):
    f[f"many/{number:03}"] = number
len(f["many"]), list(f["many"])[:3], f["many/199"][()], list(f["many"])[-1]

for number in range(200):
    f[f"many/{number:03}"] = number
del f["many/100"]
f.move("many/000", "many/zzz")
len(f["many"]), list(f["many"])[-1], "100" in f["many"]

many = f.create_group("many", track_order=True)
for number in range(50, 0, -1):
    many.create_group(str(number))
list(many)[:3], list(many)[-1], len(many)

for number in range(100):
    f["d"].attrs[f"a{number:03}"] = number
list(f["d"].attrs)[:2], f["d"].attrs["a099"], len(f["d"].attrs)

for name in f["g"]:
    f["g"].create_group(name + "2")
sorted(f["g"])

for name in f["d"].attrs:
    f["d"].attrs[name] = 1
set(map(int, (f["d"].attrs[name] for name in f["d"].attrs)))

keys, values = f["g"].keys(), f["g"].values()
f["g/new"] = 1
len(keys), len(values), list(keys)

f["cycle/a"] = 1
f["cycle/self"] = f["cycle"]
f["cycle/self/self/a"][()], f["cycle/self"] == f["cycle"], len(f["cycle"])

f["chain1"], f["chain2"], f["chain3"] = h5py.SoftLink("/chain2"), h5py.SoftLink("/chain3"), h5py.SoftLink("/d")
f["chain1"].shape, f["chain1"].name

f["one"] = h5py.SoftLink("/g")
f["one/new"] = 5
f["g/new"][()], f["one"].create_group("sub2").name

f["hard2"] = f["hard"]
del f["d"], f["hard"]
f["hard2"][0]

h5py.h5g.get_objinfo(f["d"].id).nlink, h5py.h5o.get_info(f["g"].id).rc

f["g"].move("n", "sub/n")
f["g/sub/n"][:], list(f["g"])

f["g"].copy("sub", "sub copy")
list(f["g"])

f["v"] = h5py.Empty("S10")
f["v"].dtype, f["v"][()].dtype

f["v"] = h5py.Empty(h5py.string_dtype())
f["v"][()].dtype

f["v"] = h5py.Empty([("a", "i4")])
f["v"][()]

f["empty"].asstr()

f["empty"].astype("i4")[()]

f["empty"].len()

np.array(f["empty"])

f["zero"][0:0], f["zero"][:, 0], f["zero"][[], :], f["zero"][..., [0, 2]]

f["zero"].iter_chunks()

f["scalar"].astype("i4")[()], f["scalar"].astype("i4")[...], np.asarray(f["scalar"]).shape

f["word"].asstr()[...], f["word"].asstr().shape, f["word"][...]

f["scalar"].read_direct(np.zeros((), "f4"))

f["d"][0:1, 0:1], f["d"][0:1, 0], f["d"][[0], 0], f["d"][[0], [0]]

f["d"][np.int64(0), np.uint8(1)], f["d"][np.array(0), np.array(1)], f["d"][np.array([0]), 1]

f["d"][slice(np.int64(0), np.int64(2))], f["d"][slice(None, None, np.int64(2))]

f["d"][0, :, None]

f["d"][(slice(0, 1), 2)], f["d"][[slice(0, 1)]]

f["d"][np.s_[...]], f["d"][Ellipsis, 0], f["d"][Ellipsis][0]

f["d"][-3:], f["d"][-4:2], f["d"][:-5], f["d"][3:], f["d"][2:2]

f["d"][:, -1], f["d"][:, -2:], f["d"][-1, -1:]

f["d"][[0, 1, 2]], f["d"][[1]], f["d"][:, [3]], f["d"][:, [0, 1, 3]]

f["d"][np.array([], int)], f["d"][np.array([])]

f["d"][np.array([0, 2], "f8")]

f["d"][[0, 2], [1, 3], 0]

f["d"][[[0, 1]]]

f["d"][[0, True]]

f["d"][np.array([[True, False, True, False]] * 3)], f["d"][np.array([[True, False, True, False]])]

f["d"][[True, True, True]], f["d"][[True, True, True], 0]

f["d"][np.array([True, False, True]), [0, 1]]

f["cube"][np.array([True, False])], f["cube"][:, np.array([True, False, True])].shape

f["cube"][[0], [0, 1], :]

f["cube"][0, [0, 2], 1:], f["cube"][[1], :, 0], f["cube"][..., [1]].shape

f["big"][99], f["big"][99, 99]

f["big"][100]

f["big"][0, 100]

f["big"][-101]

f["big"][[0, 100]]

f["big"][2**70]

f["big"][: 2**70].shape, f["big"][-(2**70) :].shape

f["log"][()], f["log"][0:0], f["log"].chunks, f["log"].size

f["x"].fields("a")

f["c"].fields("a")[0], f["c"].fields(["s", "a"])[0], f["c"].fields(["s", "a"])[:].dtype

f["c"].astype([("a", "i8"), ("b", "f4"), ("s", "S4")])[:]

f["c"].astype([("a", "i8")])[:]

f["c"].astype([("z", "i8")])[:]

f["c"].astype("f8")[:]

f["nested"].astype([("n", "i4"), ("in", [("p", "i8"), ("q", "f8")])])[:]

f["arrays"].astype([("pair", "f8", (2,))])[:]

f["enum"].astype(h5py.enum_dtype({"A": 0, "B": 1, "C": 2}, "i4"))[:]

f["bool"].astype("u1")[:], f["bool"].astype(bool)[:]

f["ragged"].astype(h5py.vlen_dtype("f8"))[:]

f["ragged"].astype("f8")[:]

f["refs"].astype("i8")[:]

f["opaque"].astype("V2")[:], f["opaque"].dtype

f["half"].astype("f8")[:], f["half"].astype(np.longdouble)[:].dtype

f["words"].astype("S3")[:], f["words"].astype("O")[:]

f["fixed"].astype("S10")[:], f["fixed"].astype("O")[:]
