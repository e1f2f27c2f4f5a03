"""Attributes."""

a = f.attrs
a["title"], a["number"], a["array"]

a = f["d"].attrs
[(name, a[name]) for name in ("units", "names", "raw", "empty", "flag", "complex", "matrix", "big", "enum")]

f["d"].attrs["ragged"]

f[f["d"].attrs["ref"]].name

list(f["d"].attrs), len(f["d"].attrs)

list(f["d"].attrs.items())[0], list(f.attrs.values())

f.attrs.keys(), f["d"].attrs.values()

repr(f.attrs.keys()), repr(f.attrs.items())

repr(f.attrs), str(f.attrs)

f.attrs["nope"]

f.attrs[0]

f.attrs[None]

f.attrs[b"title"]

f.attrs[""]

f.attrs["title", "number"]

f.attrs[:]

f.attrs.get("nope"), f.attrs.get("nope", 3), f.attrs.get("title")

f.attrs.get(3)

"title" in f.attrs, "nope" in f.attrs, b"title" in f.attrs, "" in f.attrs

3 in f.attrs

None in f.attrs

f.attrs["v"] = 1
f.attrs["v"]

f.attrs["v"] = "x"
f.attrs["v"]

f.attrs["v"] = b"x"
f.attrs["v"]

f.attrs["v"] = 1.5
f.attrs["v"]

f.attrs["v"] = True
f.attrs["v"]

f.attrs["v"] = 1j
f.attrs["v"]

f.attrs["v"] = None

f.attrs["v"] = [1, 2]
f.attrs["v"]

f.attrs["v"] = (1, 2.5)
f.attrs["v"]

f.attrs["v"] = []
f.attrs["v"]

f.attrs["v"] = ["a", "ü"]
f.attrs["v"]

f.attrs["v"] = [b"a", b"bc"]
f.attrs["v"]

f.attrs["v"] = ["a", b"b"]
f.attrs["v"]

f.attrs["v"] = ["a", 1]
f.attrs["v"]

f.attrs["v"] = [1, [2, 3]]

f.attrs["v"] = {"a": 1}

f.attrs["v"] = {1, 2}

f.attrs["v"] = object()

f.attrs["v"] = range(3)
f.attrs["v"]

f.attrs["v"] = np.arange(3)
f.attrs["v"]

f.attrs["v"] = np.arange(6).reshape(2, 3).T
f.attrs["v"]

f.attrs["v"] = np.array(["a", "b"])

f.attrs["v"] = np.array(["a", "b"], object)
f.attrs["v"]

f.attrs["v"] = np.array(["a", "b"], h5py.string_dtype("ascii"))
f.attrs["v"], h5py.h5a.open(f.id, b"v").dtype

f.attrs["v"] = np.array([b"a", b"bc"])
f.attrs["v"]

f.attrs["v"] = np.str_("x")
f.attrs["v"]

f.attrs["v"] = np.bytes_(b"x")
f.attrs["v"]

f.attrs["v"] = np.void(b"ab")
f.attrs["v"]

f.attrs["v"] = np.float16(1.5)
f.attrs["v"]

f.attrs["v"] = np.datetime64("2024-01-01")

f.attrs["v"] = np.array(["2024-01-01"], h5py.opaque_dtype("M8[D]"))
f.attrs["v"]

f.attrs["v"] = np.longdouble(1.5)
f.attrs["v"]

f.attrs["v"] = 2**63
f.attrs["v"]

f.attrs["v"] = 2**64

f.attrs["v"] = -(2**63)
f.attrs["v"]

f.attrs["v"] = np.array((1, 2.5), [("a", "i4"), ("b", "f8")])
f.attrs["v"], f.attrs["v"]["a"]

f.attrs["v"] = np.array([(1, b"x")], [("a", "i4"), ("b", "S3")])
f.attrs["v"]

f.attrs["v"] = f["d"]
f.attrs["v"]

f.attrs["v"] = f["d"].ref
f[f.attrs["v"]].name

f.attrs["v"] = f["d"].regionref[0]
type(f.attrs["v"])

f.attrs["v"] = f["g"]

f.attrs["v"] = [f["d"].ref, f["g"].ref]

f.attrs["v"] = np.array([f["d"].ref, f["g"].ref], h5py.ref_dtype)
[f[ref].name for ref in f.attrs["v"]]

f.attrs["v"] = h5py.Empty("f4")
f.attrs["v"]

f.attrs["v"] = h5py.Empty("S5")
f.attrs["v"]

f.attrs["v"] = ""
f.attrs["v"]

f.attrs["v"] = b""
f.attrs["v"]

f.attrs["v"] = [""]
f.attrs["v"]

f.attrs["v"] = "a\0b"
f.attrs["v"]

f.attrs["v"] = "\ud800"

f.attrs["v"] = "x" * 100_000
len(f.attrs["v"])

f.attrs["v"] = np.zeros(10_000)

f.attrs["v"] = np.zeros(8_000)
f.attrs["v"].shape

f.attrs["v"] = np.zeros((0, 3))
f.attrs["v"]

f.attrs["v"] = np.ma.masked_array([1, 2], [True, False])
f.attrs["v"]

f.attrs[""] = 1

f.attrs[3] = 1

f.attrs[None] = 1

f.attrs[b"v"] = 1
f.attrs["v"]

f.attrs["ünï €"] = 1
f.attrs["ünï €"]

f.attrs["a/b"] = 1
f.attrs["a/b"], "a/b" in f.attrs

f.attrs["a\0b"] = 1

f.attrs["title"] = 5
f.attrs["title"], len(f.attrs)

f.attrs["title"] += "!"
f.attrs["title"]

f.attrs["array"][0] = 7
f.attrs["array"]

del f.attrs["title"]
"title" in f.attrs

del f.attrs["nope"]

del f.attrs[3]

f.attrs.pop("title"), len(f.attrs)

f.attrs.pop("nope")

f.attrs.pop("nope", 3)

f.attrs.popitem()

f.attrs.clear()
len(f.attrs)

f.attrs.update({"v": 1, "w": "x"})
f.attrs["v"], f.attrs["w"]

f.attrs.update(v=1)
f.attrs["v"]

f.attrs.update(f["d"].attrs)
len(f.attrs)

f.attrs.setdefault("v", 3), f.attrs.setdefault("title", 3)

f.attrs.create("v", 1)
f.attrs["v"]

f.attrs.create("v", [1, 2], shape=(2, 1))
f.attrs["v"]

f.attrs.create("v", [1, 2], shape=(3,))

f.attrs.create("v", [1, 2], dtype="f4")
f.attrs["v"]

f.attrs.create("v", [1, 2], shape=(2,), dtype="i1")
f.attrs["v"]

f.attrs.create("v", None, shape=(2,), dtype="i4")

f.attrs.create("v", None)

f.attrs.create("v", shape=(2,), dtype="i4")

f.attrs.create("v", "text", dtype="S2")
f.attrs["v"]

f.attrs.create("v", "text", dtype=h5py.string_dtype("utf-8", 10))
f.attrs["v"]

f.attrs.create("v", "text", dtype=h5py.string_dtype("ascii"))
f.attrs["v"]

f.attrs.create("v", ["a", "b"], dtype=h5py.string_dtype())
f.attrs["v"]

f.attrs.create("v", "x", dtype="i4")

f.attrs.create("v", 1.5, dtype="i4")
f.attrs["v"]

f.attrs.create("v", 300, dtype="u1")
f.attrs["v"]

f.attrs.create("v", 1, dtype=f["named"])

f.attrs.create("v", (1, 2.5), dtype=f["named"].dtype)
f.attrs["v"]

f.attrs.create("v", np.arange(4).reshape(2, 2), dtype=np.dtype(("i4", (2,))))
f.attrs["v"]

f.attrs.create("v", [1, 2, 3], dtype=h5py.vlen_dtype("i4"))
f.attrs["v"]

f.attrs.create("v", np.array([[1, 2]]), dtype=h5py.vlen_dtype("i4"))

f.attrs.create("v", 2, dtype=h5py.enum_dtype({"A": 2}))
f.attrs["v"]

f.attrs.create("title", "other")
f.attrs["title"]

f.attrs.create("v", 1, nope=3)

f.attrs.create(3, 1)

f.attrs.modify("number", 6)
f.attrs["number"]

f.attrs.modify("number", 6.7)
f.attrs["number"]

f.attrs.modify("number", [1, 2])

f.attrs.modify("number", "x")

f.attrs.modify("array", [1, 2, 3])
f.attrs["array"]

f.attrs.modify("array", [1, 2])

f.attrs.modify("new", 3)
f.attrs["new"]

f.attrs.modify("title", "a longer title")
f.attrs["title"]

f["d"].attrs.modify("empty", 3)

f.attrs.rename("title", "name")

f.attrs.get_id("number").dtype, f.attrs.get_id("number").shape

f.attrs.get_id("array").get_type().dtype, f.attrs.get_id("title").get_type().is_variable_str()

f.attrs.get_id("nope")

f["named"].attrs["note"] = "committed"
f["named"].attrs["note"]

h5py.Group(f.id).attrs["title"]

f.attrs == f.attrs, f.attrs == f["/"].attrs

list(reversed(f.attrs))

list(f.attrs.__reversed__())

f.create_group("t", track_order=True).attrs.update(dict.fromkeys("zam", 1))
list(f["t"].attrs)

d = f.create_dataset("v", data=1, track_order=True)
for name in "zam":
    d.attrs[name] = name
list(d.attrs), list(reversed(d.attrs))

for number in range(30):
    f["g"].attrs[f"n{number:02}"] = number
list(f["g"].attrs)[:4], len(f["g"].attrs)

bool(f.attrs), bool(f["g/n"].attrs)

next(iter(f.attrs)), next(iter(f.attrs.items()))

f.attrs.nope

f.attrs.x = 1

copied = dict(f.attrs)
sorted(copied)

pickle.loads(pickle.dumps(dict(f.attrs)))["number"]

f.attrs["v"] = f["d"].attrs["matrix"]
f.attrs["v"]

f.attrs["v"] = [np.int8(1), np.int16(2)]
f.attrs["v"]

f.attrs["v"] = Path("x")

f.attrs["v"] = bytearray(b"abc")
f.attrs["v"]

f.attrs["v"] = memoryview(b"abc")
f.attrs["v"]

f.attrs["v"] = np.array(5)
f.attrs["v"]

f.attrs["v"] = np.array([[b"a"], [b"b"]])
f.attrs["v"]

f.attrs["v"] = np.array("x", object)
f.attrs["v"]

h5py.AttributeManager(f["g"])["of"]

h5py.AttributeManager(3)

f.close()
h5py.File("f.h5", "r").attrs["v"] = 1

f.close()
del h5py.File("f.h5", "r").attrs["title"]

f.close()
h5py.File("f.h5", "r").attrs.create("title", 1)
