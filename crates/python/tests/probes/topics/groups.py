"""Groups: access by name, membership, creation, deletion."""

f["d"]

f["/d"].name, f["./d"].name, f["g/../d"]

f["g//sub"].name, f["g/"].name, f["/"].name

f["g"]["/d"].name

f["g/sub"]["../n"]

f[""]

f["."].name

f[" d"]

f["nope"]

f["g/nope/deep"]

f["d/nope"]

f[0]

f[None]

f[1.5]

f["d", "x"]

f[:]

f[...]

f[()]

f[b"d"].name

f[b"nope"]

f[np.str_("d")].name

f[np.bytes_(b"d")].name

f["ünicode"]

f["a\0b"]

f["dangling"]

f["lost"]

f["external"].name, os.path.basename(f["external"].file.filename)

f["external"].parent.name

f["soft"].name, f["soft"].parent.name

f["hard"].name

"d" in f, "nope" in f, "g/sub" in f, "/g/sub" in f["g"], "g/" in f, "" in f, "/" in f, "." in f

"dangling" in f, "lost" in f, "external" in f, "soft/deep" in f, "d/x" in f

b"d" in f, b"nope" in f

1 in f

None in f

f["d"] in f

f["d"].ref in f, f["refs"][1] in f

list(f["g"]), list(f["ordered"]), len(f), len(f["ordered"])

list(f)

list(f["g"].keys()), list(f["g"].items()), list(f["g"].values())

type(f.keys()).__name__, type(f.items()).__name__, type(f.values()).__name__

repr(f.keys()), repr(f.items()), repr(f["g"].values())

len(f.keys()), len(f["g"].items()), "d" in f.keys(), f["d"] in f.values()

("n", f["g/n"]) in f["g"].items(), ("n", 3) in f["g"].items()

f["g"].keys() & {"n", "other"}, f["g"].keys() | {"other"}, f["g"].keys() - {"n"}

f["g"].keys() == {"n", "sub"}, f["g"].keys() == ["n", "sub"]

f["g"].keys()[0]

list(reversed(f["g"])), list(reversed(f["ordered"].keys())), list(reversed(f["ordered"].items()))

list(reversed(f["ordered"]))

next(iter(f)), next(iter(f["ordered"]))

next(iter(f["g"])), iter(f["g"]) is iter(f["g"])

list(f.items())

list(f.values())

dict(f["g"]), dict(f["ordered"].attrs)

{**f["g"]}

sorted(f["ordered"])

[name for name in f if name.startswith("sc")]

f["g"] == f["/g"], f["g"] != f["/g/sub"], f["g"] is f["g"], f["g"] == "g"

f["g"] in [f["g"]], {f["g"]: 1}[f["/g"]]

hash(f["g"]) == hash(f["/g"]), hash(f["g"]) == hash(f["g/sub"])

bool(f["g"]), bool(f.create_group("new"))

repr(f["g"]), str(f["g"]), repr(f["ordered"]), repr(f["g/sub/deep"])

repr(f["soft"]), repr(f["hard"]), repr(f["named"])

f.create_group("a").name

f.create_group("a/b/c").name, "a/b" in f

f.create_group("/g/x").name, f["g"].create_group("/y").name

f.create_group("g")

f.create_group("d")

f.create_group("d/x")

f.create_group("")

f.create_group("/")

f.create_group(".")

f.create_group("a/")

f.create_group("a//b").name

f.create_group("./a").name

f.create_group(None)

f.create_group(3)

f.create_group(b"bytes").name

f.create_group("ünï").name

f.create_group("a b/c.d").name

f.create_group("a\0b")

f.create_group("x" * 300).name == "/" + "x" * 300

f.create_group("a", True)

new = f.create_group("new", track_order=True)
for name in ["z", "a", "m"]:
    new.create_group(name)
list(new)

f.create_group("new", track_times=True).id.get_create_plist().get_obj_track_times()

f.create_group("new", nope=1)

f.require_group("g").name, f.require_group("new/a").name

f.require_group("d")

f.require_group("soft").name

f.require_group("dangling")

f.require_group(None)

f["v"] = 1
f["v"], f["v"][()]

f["v"] = [1, 2, 3]
f["v"].dtype, f["v"].shape

f["v"] = "text"
f["v"].dtype, f["v"][()]

f["v"] = b"text"
f["v"].dtype, f["v"][()]

f["v"] = ["a", "b"]
f["v"].dtype, f["v"][:]

f["v"] = None

f["v"] = {}

f["v"] = {"a": 1}

f["v"] = object()

f["v"] = [1, "a"]

f["v"] = [[1, 2], [3]]

f["v"] = []
f["v"].dtype, f["v"].shape

f["v"] = 1 + 2j
f["v"].dtype, f["v"][()]

f["v"] = True
f["v"].dtype, f["v"][()]

f["v"] = 2**70

f["v"] = 2**63
f["v"].dtype, f["v"][()]

f["v"] = np.arange(3)[::-1]
f["v"][:]

f["v"] = np.ma.masked_array([1, 2], [True, False])
f["v"][:]

f["v"] = range(4)
f["v"][:]

f["v"] = (x for x in range(3))

f["v"] = {1, 2}

f["v"] = np.array(["a", "b"])

f["v"] = np.array(["a", "b"], object)
f["v"].dtype, f["v"][:]

f["v"] = np.array([1, "b"], object)

f["v"] = np.datetime64("2024-01-01")

f["v"] = np.dtype("i4")
f["v"], f["v"].dtype

f["v"] = int

f["v"] = h5py.Empty("f4")
f["v"].shape, f["v"][()]

f["v"] = f["d"]
f["v"] == f["d"], f["v"].name

f["v"] = f["g"]
list(f["v"])

f["v"] = f["d"].ref
f["v"].dtype, f[f["v"][()]].name

f["v"] = f["d"].dtype
f["v"].dtype

f["v"] = h5py.SoftLink("/d")
f["v"].shape

f["v"] = h5py.SoftLink("nowhere")
f["v"]

f["v"] = h5py.ExternalLink("other.h5", "there")
f["v"][:]

f["v"] = h5py.HardLink()

f["d"] = 1

f["g"] = f["d"]

f["a/b/c"] = 1
f["a/b/c"][()], f["a"]

f["d/x"] = 1

f[3] = 1

f[None] = 1

f[""] = 1

f["v"] = h5py.File("other.h5", "r")["there"]

f[b"v"] = 1
f["v"][()]

f.update({"v": 1, "w": "two"})
f["v"][()], f["w"][()]

f.setdefault("v", 1)

f.setdefault("v", [1, 2])
f["v"][:]

f.setdefault("d", 1).shape

f.pop("d").shape

f.pop("nope")

f.pop("nope", 3)

f.popitem()

f.clear()

f["ordered"].clear()
list(f["ordered"])

del f["d"]
"d" in f, f["hard"].shape

del f["g/n"]
list(f["g"])

del f["nope"]

del f["g"]
f["soft"]

del f["soft"]
"g/sub" in f

del f["/"]

del f[""]

del f[0]

del f["d", "x"]

del f[b"d"]
"d" in f

del f["dangling"], f["lost"], f["external"]
len(f)

d = f["d"]
del f["d"], f["hard"]
d[:], d.name, bool(d)

g = f["g"]
del f["g"]
list(g), g.name

g = f["ordered"]
f["more"] = g
g.name, f["more"].name, g == f["more"]

f["g"].file.filename, f["g"].parent, f["g/sub/deep"].parent.parent.name, f.parent.name

f.create_group(None).name

g = f["g/sub"].parent
g["n"].name

f.create_dataset(None, data=1).name

f.create_dataset(None, data=1).parent

anonymous = f.create_dataset(None, data=[1, 2])
f["now"] = anonymous
f["now"][:], anonymous.name

anonymous = f.create_group(None)
repr(anonymous), bool(anonymous)

h5py.Group(f["g"].id).name, h5py.Group(f["g"].id) == f["g"]

h5py.Group(f["d"].id)

h5py.Group("g")

h5py.Group()

h5py.Dataset(f["d"].id).shape

h5py.Dataset(f["g"].id)

h5py.Datatype(f["named"].id).dtype

h5py.Group(f.id)

isinstance(f, h5py.Group), isinstance(f["d"], h5py.HLObject), issubclass(h5py.File, h5py.Group)

abc = import_module("collections.abc")
[isinstance(f, each) for each in (abc.Mapping, abc.MutableMapping, abc.Sized, abc.Iterable)]

f.nope

f["g"].shape

f.name = "x"

type(f["g"].attrs)

f["g"].attrs = 3

f["g"].x = 3
f["g"].x

f["g"].id.get_num_objs()

f.build_virtual_dataset

f["g"].nbytes

f["g"][()]

f["g"][:]

f["g"]["n", "sub"]

f["d"]["x"]

f["g"].create_dataset_like("like", f["d"]).shape
