"""Special dtypes: strings, enumerations, compounds, sequences, opaque data."""

h5py.string_dtype(), h5py.string_dtype("ascii"), h5py.string_dtype("utf-8", 5), h5py.string_dtype(length=3)

h5py.string_dtype("latin-1")

h5py.string_dtype("utf-8", -1)

h5py.string_dtype("utf-8", 0)

h5py.string_dtype("utf-8", 2.5)

h5py.string_dtype("UTF-8"), h5py.string_dtype("utf8")

(
    h5py.check_string_dtype(h5py.string_dtype()),
    h5py.check_string_dtype(np.dtype("S3")),
    h5py.check_string_dtype(np.dtype("i4")),
)

h5py.check_string_dtype("S3")

h5py.check_string_dtype(None)

h5py.check_string_dtype(np.dtype("O")), h5py.check_string_dtype(np.dtype("U3"))

(
    h5py.vlen_dtype("i4"),
    h5py.vlen_dtype(int),
    h5py.vlen_dtype(h5py.string_dtype()),
    h5py.vlen_dtype(h5py.vlen_dtype("f4")),
)

h5py.vlen_dtype("nope")

h5py.vlen_dtype(None)

(
    h5py.check_vlen_dtype(h5py.vlen_dtype("i4")),
    h5py.check_vlen_dtype(np.dtype("i4")),
    h5py.check_vlen_dtype(h5py.string_dtype()),
)

h5py.check_vlen_dtype(3)

h5py.enum_dtype({"A": 1, "B": 2}), h5py.enum_dtype({"A": 1}, "u2"), h5py.enum_dtype({}, "i4")

h5py.enum_dtype({"A": 1.5})

h5py.enum_dtype({"A": 1}, basetype="f4")

h5py.enum_dtype(["A", "B"])

h5py.enum_dtype({1: "A"})

h5py.enum_dtype({"A": 300}, "u1")

(
    h5py.check_enum_dtype(h5py.enum_dtype({"A": 1})),
    h5py.check_enum_dtype(np.dtype("i4")),
    h5py.check_enum_dtype(np.dtype(bool)),
)

h5py.opaque_dtype("M8[s]"), h5py.opaque_dtype(np.dtype("V3"))

h5py.check_opaque_dtype(h5py.opaque_dtype("M8[s]")), h5py.check_opaque_dtype(np.dtype("M8[s]"))

h5py.opaque_dtype("O")

h5py.ref_dtype, h5py.regionref_dtype, h5py.check_ref_dtype(h5py.ref_dtype), h5py.check_ref_dtype(np.dtype("O"))

h5py.special_dtype(vlen=str), h5py.special_dtype(vlen=bytes), h5py.special_dtype(vlen="i4")

(
    h5py.special_dtype(enum=("i1", {"A": 1})),
    h5py.special_dtype(ref=h5py.Reference),
    h5py.special_dtype(ref=h5py.RegionReference),
)

h5py.special_dtype(ref=int)

h5py.special_dtype(enum="x")

h5py.special_dtype(vlen=str, enum=("i", {}))

h5py.special_dtype("x")

(
    h5py.check_dtype(vlen=h5py.string_dtype()),
    h5py.check_dtype(enum=h5py.enum_dtype({"A": 1})),
    h5py.check_dtype(ref=h5py.ref_dtype),
)

h5py.check_dtype(nope=np.dtype("i4"))

h5py.check_dtype()

h5py.check_dtype(vlen=np.dtype("i4"), ref=np.dtype("i4"))

h5py.check_complex_dtype(np.dtype("c8")), h5py.check_complex_dtype(np.dtype("f4"))

h5py.complex_compat_dtype("c8")

h5py.complex_compat_dtype("f4")

h5py.string_dtype() == h5py.string_dtype("ascii"), h5py.string_dtype() == np.dtype("O")

pickle.loads(pickle.dumps(h5py.string_dtype()))

np.zeros(2, h5py.string_dtype()), np.zeros(2, h5py.enum_dtype({"A": 1})), np.zeros(1, h5py.vlen_dtype("i4"))

h5py.Empty("f4"), h5py.Empty("f4").dtype, h5py.Empty("f4").shape, h5py.Empty("f4").size

h5py.Empty("f4") == h5py.Empty("f4"), h5py.Empty("f4") == h5py.Empty("i4"), h5py.Empty("f4") == 1

h5py.Empty()

h5py.Empty("nope")

h5py.Empty(h5py.string_dtype())

hash(h5py.Empty("f4")) == hash(h5py.Empty("f4"))

repr(h5py.Empty("f4")), str(h5py.Empty("i4"))

np.asarray(f.create_dataset("v", data=h5py.Empty("S3"))[()].dtype)

f["v"] = h5py.Empty("U3")

w = f["words"]
w[0] = "new"
w[1] = b"bytes"
w[:]

w = f["words"]
w[:] = ["a", "b", "c"]
w[:]

w = f["words"]
w[:] = "all"
w[:]

w = f["words"]
w[0] = 5
w[:]

w = f["words"]
w[0] = None

w = f["words"]
w[:2] = ["a", 5]
w[:]

w = f["words"]
w[:2] = np.array(["a", "b"])
w[:]

w = f["words"]
w[:2] = np.array([b"a", b"b"])
w[:]

w = f["words"]
w[:2] = np.array(["a", "b"], object)
w[:]

w = f["words"]
w[0] = "with\0zero"
w[0]

w = f["words"]
w[0] = ["x"]
w[0]

w = f["words"]
w[:] = [1.5, 2, 3]
w[:]

w = f["words"]
w[[0, 2]] = ["x", "y"]
w[:]

w = f["words"]
w[np.array([True, False, True])] = ["x", "y"]
w[:]

w = f["words"]
w[:] = np.array(["a", "ü", "c"], "T")
w[:]

f["word"][()] = "other"
f["word"][()]

f["word"][...] = ["x"]
f["word"][()]

f["ascii"][0] = "ü"
f["ascii"][0]

f["fixed"][0] = b"abcdefg"
f["fixed"][0]

f["fixed"][0] = "text"
f["fixed"][:]

f["fixed"][0] = "ü"
f["fixed"][0]

f["fixed"][:] = ["x", "y", "z"]
f["fixed"][:]

f["fixed"][:] = np.array([b"x", b"yy", b"zzz"])
f["fixed"][:]

f["fixed"][:] = np.array(["x", "yy", "zzz"])
f["fixed"][:]

f["fixed"][0] = 5
f["fixed"][0]

f["utf8"][0] = "üö"
f["utf8"][0]

f["utf8"][0] = "x" * 20
f["utf8"][0]

f["utf8"][0] = "ü" * 4
f["utf8"][0]

f["grid"][0] = ["x", "y"]
f["grid"][:]

f["grid"][:, 1] = "z"
f["grid"][:]

[value.decode() for value in f["words"]], f["words"][2].decode()

f["words"][0] == "one", f["words"][0] == b"one", f["words"][:] == b"one"

f["words"][:].astype("U"), f["words"][:].tolist()

f["enum"][:], f["enum"][0], f["enum"].dtype

f["enum"][0] = 2
f["enum"][:]

f["enum"][0] = "B"

f["enum"][0] = 9
f["enum"][0]

h5py.check_enum_dtype(f["enum"].dtype)["B"], f["enum"][:] == 2

f["enum"].astype("i8")[:], f["enum"].astype("f4")[:]

f.create_dataset("v", data=[0, 1], dtype=h5py.enum_dtype({"OFF": 0, "ON": 1}))[:]

f.create_dataset("v", (2,), h5py.enum_dtype({"OFF": 5, "ON": 6}))[:]

f.create_dataset("v", data=np.array([0, 1], h5py.enum_dtype({"OFF": 0, "ON": 1}, "i1")))[:]

f["v"] = np.array([1, 0], h5py.enum_dtype({"X": 1, "Y": 0}, "i2"))
f["v"].dtype

f["bool"][0] = False
f["bool"][:]

f["bool"][0] = 5
f["bool"][:]

f["bool"][:] = [1, 0, 2]
f["bool"][:]

f["bool"][:].sum(), np.flatnonzero(f["bool"][:]), f["x"][:3][f["bool"][:]]

f["c"][0], f["c"]["a"], f["c"]["a", "s"], f["c"][["a", "b"]]

f["c"]["a", 0], f["c"][0, "a"], f["c"][0]["a"], f["c"]["a"][0]

f["c"]["a"][:], f["c"][:]["a"], f["c"][0:2, "b"]

f["c"]["nope"]

f["c"][["a", "nope"]]

f["c"][b"a"]

f["c"][0] = (9, 9.5, b"q")
f["c"][0]

f["c"][0] = [9, 9.5, b"q"]

f["c"][0] = 5

f["c"][:] = [(1, 1.0, b"a")] * 3
f["c"][:]

f["c"][:] = (7, 7.0, b"t")
f["c"][:]

f["c"]["a"] = [5, 6, 7]
f["c"]["a"]

f["c"]["a"] = 5
f["c"]["a"], f["c"]["b"]

f["c"][0, "a"] = 50
f["c"][0]

f["c"]["a", 0] = 50
f["c"][0]

f["c"][0:2, "b"] = [1.5, 2.5]
f["c"][:]

f["c"]["a", "b"] = (1, 2.0)

f["c"]["nope"] = 1

f["c"][:] = np.array([(1, 2)] * 3, [("a", "i4"), ("b", "f8")])
f["c"][:]

f["c"][0] = np.array((1, 2.5, b"z"), f["c"].dtype)
f["c"][0]

f["c"][0] = np.void((1, 2.5, b"z"), f["c"].dtype)
f["c"][0]

f["c"][0]["a"] = 77
f["c"][0]

f["c"][:] = np.array([(b"p", 1, 2.5)] * 3, [("s", "S2"), ("a", "i4"), ("b", "f8")])
f["c"][0]

f["c"].dtype.names, f["c"].dtype["a"], f["c"].dtype.fields["b"]

f["nested"][:], f["nested"]["in"], f["nested"][0]["in"]["p"], f["nested"]["in"]["q"]

f["nested"][0] = (9, (8, 7.0))
f["nested"][0]

f["nested"]["in"] = (1, 2.0)

f["arrays"][:], f["arrays"]["pair"], f["arrays"][0]["pair"][1]

f["arrays"]["pair"] = [[5, 6], [7, 8]]
f["arrays"][:]

f["arrays"][0] = ([9, 9],)
f["arrays"][0]

f.create_dataset("v", (2,), "(3,)i4")[:]

v = f.create_dataset("v", (2,), "(3,)i4")
v[0] = [1, 2, 3]
v[:], v.dtype, v.shape

v = f.create_dataset("v", (2,), "(3,)i4")
v[:] = 5
v[:]

v = f.create_dataset("v", (2,), "(3,)i4")
v[0] = [1, 2]

r = f["ragged"]
r[:], r[0], r[1], r.dtype

r = f["ragged"]
r[1] = [9, 8]
r[1], r[0]

r = f["ragged"]
r[0] = []
r[0]

r = f["ragged"]
r[0] = [1.7, 2.2]
r[0]

r = f["ragged"]
r[0] = "text"

r = f["ragged"]
r[0] = None

r = f["ragged"]
r[:] = [[1], [2, 3], []]

r = f["ragged"]
r[0:2] = np.array([np.array([1]), np.array([2, 3])], object)
r[:]

r = f["ragged"]
r[:] = np.array([[1, 2], [3, 4], [5, 6]])
r[:]

r = f["ragged"]
r[0] = np.array([[1, 2], [3, 4]])

r = f["ragged"]
r[0] = range(3)
r[0]

r = f["ragged"]
r[:] = [1, 2, 3]
r[:]

[len(row) for row in f["ragged"]], np.concatenate(f["ragged"][:])

v = f.create_dataset("v", (2,), h5py.vlen_dtype(h5py.string_dtype()))
v[0] = ["a", "bc"]
v[:]

v = f.create_dataset("v", (2,), h5py.vlen_dtype(h5py.vlen_dtype("i4")))

v = f.create_dataset("v", (2,), h5py.vlen_dtype([("a", "i4"), ("b", "f4")]))
v[0] = np.array([(1, 2.0), (3, 4.0)], [("a", "i4"), ("b", "f4")])
v[0]

v = f.create_dataset("v", (2,), [("n", "i4"), ("s", h5py.string_dtype()), ("l", h5py.vlen_dtype("i4"))])
v[0] = (1, "text", np.array([1, 2]))
v[:]

v = f.create_dataset("v", data=np.array([(1, "ä")], [("n", "i4"), ("s", h5py.string_dtype())]))
v[0], v["s"]

v = f.create_dataset("v", (2,), h5py.vlen_dtype("u1"))
v[0] = np.frombuffer(b"\1\2\3", "u1")
v[0].tobytes()

v = f.create_dataset("v", data=[np.array([1]), np.array([2, 3])], dtype=h5py.vlen_dtype("i4"))
v[:]

v = f.create_dataset("v", data=[[1], [2, 3]], dtype=h5py.vlen_dtype("i4"))

v = f.create_dataset("v", data=[[1, 2], [2, 3]], dtype=h5py.vlen_dtype("i4"))
v.shape, v[:]

f["opaque"][0] = np.void(b"\5\6")
f["opaque"][:]

f["opaque"][0] = b"\5\6"
f["opaque"][0]

f["when"][:], f["when"].dtype, f["when"][0], f["when"][:].astype("M8[D]")

f["when"][0] = np.datetime64("2025-01-01", "D")
f["when"][0]

f["complex"][:], f["complex"][0].real, f["complex"].dtype

f["complex"][0] = 5
f["complex"][0]

f["complex"].astype("c8")[:]

f["complex"].astype("f8")[:]

f["complex"]["r"]

f["half"][:], f["half"].astype("f4")[0]

f.create_dataset("v", data=np.array([1, 2], "f2")).dtype, f.create_dataset("w", data=np.longdouble(1.5))[()]

f.create_dataset("v", data=np.array([1 + 2j], "c8"))[:], f.create_dataset("w", data=np.clongdouble(1j)).dtype

f.create_dataset("v", data=np.array([1, 2], ">i8"))[:], f.create_dataset("w", data=np.array([1.5], ">f4")).dtype

f["named"], f["named"].dtype, f["named"].name, repr(f["named"])

f["v"] = np.dtype("S5")
f["v"].dtype, repr(f["v"])

f["v"] = h5py.string_dtype()
f["v"].dtype, f.create_dataset("w", (2,), f["v"]).dtype

f["named"] == f["named"], hash(f["named"]) == hash(f["named"])

f["named"][:]

f["named"].shape

f["named"].dtype.names

np.dtype(f["named"])

f.create_dataset("v", (2,), f["named"]).id.get_type().committed()

np.array([1, 2], f["enum"].dtype).dtype

f["enum"][:].dtype.metadata, f["words"][:].dtype.metadata, f["ragged"][:].dtype.metadata

f["c"][:].dtype, f["c"][0].dtype, f["nested"].dtype

f["when"].astype("M8[s]")[:]

f.create_dataset("v", data=np.array(["2024-01-01"], "M8[D]").astype("i8"))[:]

f.create_dataset("v", (3,), dtype=h5py.special_dtype(vlen=str))[:]

f.create_dataset("v", (3,), dtype=h5py.special_dtype(ref=h5py.Reference))[:]

np.testing.assert_array_equal(f["words"][:], [b"one", b"", "drei ü".encode()])
