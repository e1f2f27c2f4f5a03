"""Small programs, as they are in scripts and packages."""

with h5py.File("new.h5", "w") as new:
    group = new.create_group("entry/data")
    group.attrs["NX_class"] = "NXdata"
    group.attrs["signal"] = "counts"
    counts = group.create_dataset("counts", data=np.arange(6).reshape(2, 3))
    counts.attrs["units"] = "1"
    counts.attrs["long_name"] = np.bytes_("Counts")
with h5py.File("new.h5") as new:
    entry = new["entry/data"]
    found = dict(entry.attrs), dict(entry["counts"].attrs), entry[entry.attrs["signal"]][:]
found

log = f.create_dataset("events", (0,), maxshape=(None,), dtype=[("t", "f8"), ("id", "i4")], chunks=True)
for number in range(3):
    log.resize(log.shape[0] + 1, axis=0)
    log[-1] = (number / 2, number)
log[:], log["id"]

log = f.create_dataset("lines", (0,), maxshape=(None,), dtype=h5py.string_dtype())
for line in ("a", "bc", ""):
    log.resize((len(log) + 1,))
    log[-1] = line
[line.decode() for line in log], log.asstr()[:]

stack = f.create_dataset("stack", shape=(0, 3, 4), maxshape=(None, 3, 4), dtype="f4", chunks=(1, 3, 4))
for frame in range(3):
    stack.resize(frame + 1, axis=0)
    stack[frame] = np.full((3, 4), frame)
stack[:, 0, 0], stack.id.get_num_chunks(), stack.shape

names = []
f.visititems(lambda name, node: names.append(name) if isinstance(node, h5py.Dataset) and node.ndim == 2 else None)
names

shape_of = lambda item: item.shape if isinstance(item, h5py.Dataset) else type(item).__name__
walk = lambda group: {
    key: walk(item) if isinstance(item, h5py.Group) else shape_of(item) for key, item in group.items()
}
walk(f)

keep = lambda group, key, item: (
    group.update({key: item}) if not isinstance(item, dict) else save(group.create_group(key), item)
)
save = lambda group, value: [keep(group, key, item) for key, item in value.items()]
save(f.create_group("conf"), {"a": 1, "b": {"c": [1, 2], "d": "text"}, "e": 2.5})
f["conf/b/d"][()], f["conf/b/c"][:], f["conf/e"][()]

try:
    f.create_dataset("d", data=1)
except ValueError:
    found = "exists"
found

try:
    f["d"] = 1
except (RuntimeError, OSError):
    del f["d"]
    f["d"] = 1
f["d"][()]

if "d" in f:
    del f["d"]
f.create_dataset("d", data=[1.5])[:]

f["d"][...] = f["d"][...] * 2
f["d"][1]

f["d"][:, 0] = f["d"][:, 3]
f["d"][:]

f["d"][f["d"][:, 0] > 3, :] = 0
f["d"][:]

rows = np.flatnonzero(f["d"][:, 0] >= 4)
f["d"][rows], f["d"][rows.tolist(), 1:3]

mask = np.zeros((3, 4), bool)
mask[1:, ::2] = True
f["d"][mask], f["d"][:][mask]

order = np.argsort([3, 1, 2])
f["d"][np.sort(order)][order]

f["big"][np.array([1, 5, 7], "u1")][:, 3], f["big"][[np.int64(4)], 5]

f["big"][10:20, 10:20].mean(), f["big"][...].sum(), f["big"][5].max()

np.add(f["x"], f["x"]), np.add.reduce(f["y"]), np.linalg.norm(f["x"])

np.vstack([f["d"], f["d"]]).shape, np.hstack((f["d"], f["d"])).shape

f["x"][:] + f["y"][()].max(), f["scalar"][()] * 2, float(f["scalar"][...])

out = np.empty(f["big"].shape, f["big"].dtype)
f["big"].read_direct(out)
out[99, 99], (out == f["big"][:]).all()

total = 0
for part in f["k"].iter_chunks():
    total += int(f["k"][part].sum())
total == int(f["k"][:].sum())

for part in f["fill"].iter_chunks():
    f["fill"][part] = 5
f["fill"][:]

f.create_dataset_like("copy", f["k"], compression="lzf").compression, f["copy"].chunks

f.create_dataset(
    "v", data=f["k"][:], **{key: getattr(f["k"], key) for key in ("chunks", "maxshape", "compression")}
).maxshape

options = dict(compression="gzip", compression_opts=6, shuffle=True, fletcher32=True, chunks=(10, 10))
v = f.create_dataset("v", data=np.arange(10000.0).reshape(100, 100), **options)
v[37, ::20], v.compression, v.compression_opts, v.shuffle, v.fletcher32

v = f.create_dataset("v", data=np.random.default_rng(0).integers(0, 100, 1000), scaleoffset=7)
(v[:] == np.random.default_rng(0).integers(0, 100, 1000)).all()

v = f.create_dataset("images", (2, 4, 4, 3), "u1")
v.attrs["CLASS"], v.attrs["IMAGE_VERSION"] = np.bytes_("IMAGE"), np.bytes_("1.2")
v[0, ..., 0] = 255
v[0, 0, 0], v[..., 1].sum(), v[0, :, :, 0].mean()

f["meta"] = np.void(b"\0\1\2raw")
f["meta"][()].tobytes(), f["meta"].dtype

f["json"] = '{"a": [1, 2]}'
f["json"].asstr()[()], f["json"][()].decode()

f.attrs["json"] = '{"a": [1, 2]}'
f.attrs["json"], type(f.attrs["json"])

f.attrs["now"] = np.datetime64("2024-01-01").astype("i8")
f.attrs["now"]

f.attrs["list"] = [1.5, 2]
f.attrs["list"].tolist(), list(f.attrs["list"])

f.attrs["pair"] = ("a", "b")
list(f.attrs["pair"])

f.attrs["shape"] = f["d"].shape
tuple(f.attrs["shape"])

f.attrs["none"] = h5py.Empty("f4")
f.attrs["none"] is None, isinstance(f.attrs["none"], h5py.Empty)

f.attrs["dtype"] = str(f["d"].dtype)
np.dtype(f.attrs["dtype"])

f.attrs.update({"i": 1, "s": "x", "b": True, "f": 2.5, "l": [1, 2]})
{key: f.attrs[key] for key in "isbfl"}

{
    key: value.item() if isinstance(value, np.generic) else value
    for key, value in f["d"].attrs.items()
    if np.ndim(value) == 0 and key != "ref"
}

for key in list(f["d"].attrs):
    del f["d"].attrs[key]
len(f["d"].attrs), list(f["d"].attrs)

for key in list(f):
    del f[key]
len(f)

for key, value in f["d"].attrs.items():
    f["big"].attrs[key] = value
sorted(f["big"].attrs)

new = h5py.File("new.h5", "w")
for key in f:
    if isinstance(f.get(key), h5py.Dataset) and key not in ("refs", "regions"):
        f.copy(key, new)
len(new), new["c"][0], new["ragged"][0], new["words"][2]

new = h5py.File("new.h5", "w")
new.attrs.update(f.attrs)
dict(new.attrs)

new = h5py.File("new.h5", "w")
new["link"] = h5py.ExternalLink("f.h5", "g/n")
f.flush()
new["link"][:]

new = h5py.File("new.h5", "w")
new["all"] = h5py.ExternalLink("f.h5", "/")
f.flush()
new["all/d"][0], new["all"].name, new["all/d"].file.filename == new.filename

with h5py.File("new.h5", "w") as new:
    new["a"] = 1
with h5py.File("new.h5", "a") as new:
    new["b"] = 2
with h5py.File("new.h5", "r+") as new:
    new["a"][()] = 3
with h5py.File("new.h5") as new:
    found = {name: item[()] for name, item in new.items()}
found

buffer = io.BytesIO()
with h5py.File(buffer, "w") as new:
    new.create_dataset("x", data=np.arange(1000), compression="gzip")
again = h5py.File(io.BytesIO(buffer.getvalue()), "r")
again["x"][999], again.mode

new = h5py.File("memory", "w", driver="core", backing_store=False)
new["x"] = np.arange(3)
new.flush()
image = new.id.get_file_image()
h5py.File(io.BytesIO(image), "r")["x"][:]

mean_of = lambda group: float(np.mean([item[()] for item in group.values()]))
frames = type("Frames", (h5py.Group,), {"mean": mean_of})
frames(f["ordered"].id).mean(), repr(frames(f["ordered"].id))

start = lambda self, path: h5py.File.__init__(self, path, "w")
recorder = type("Recorder", (h5py.File,), {"__init__": start, "by": "recorder"})
with recorder("new.h5") as new:
    new.attrs["by"] = new.by
    found = new.attrs["by"], new.mode, isinstance(new, h5py.File)
found

d = f["d"]
before = d[:]
f.flush()
d.refresh()
(d[:] == before).all()

f["g"].attrs["of"], f["/g"].attrs.get("nothing", "default"), "of" in f["g"].attrs

dims = f["scaled"].dims
dims[0].label, dims[1].label = "time", "space"
f["time"] = np.arange(4) * 0.5
f["time"].make_scale("time")
dims[0].attach_scale(f["time"])
[(dim.label, list(dim.keys())) for dim in dims], dims[0]["time"][:]

f["space"] = ["a", "b", "c"]
f["space"].make_scale()
f["scaled"].dims[1].attach_scale(f["space"])
f["scaled"].dims[1][0].asstr()[:]

enum = h5py.enum_dtype({"RED": 0, "GREEN": 1})
v = f.create_dataset("colours", (3,), enum)
v[1] = 1
names = {value: name for name, value in h5py.check_enum_dtype(v.dtype).items()}
[names[value] for value in v[:]]

v = f.create_dataset("table", data=np.rec.fromarrays([[1, 2], [0.5, 1.5]], names="id,x"))
v.dtype.names, v["x"].mean(), v[v["id"] > 1], np.rec.array(v[:]).id

v = f.create_dataset("table", data=np.array([("a", 1)], dtype=[("s", "S5"), ("n", "i8")]))
v["s"].astype("U5"), v[0]["s"].decode(), v[0].tolist(), v[0].item()

v = f.create_dataset("strings", data=np.array(["x", "yy"], dtype="S"))
v[:].astype(str), v.asstr()[:]

v = f.create_dataset("strings", data=np.array(["x", "yy"]).astype("S"))
[item.decode() for item in v]

v = f.create_dataset("strings", data=np.array(["x", "yy"]).astype(object))
v.asstr()[:].tolist()

v = f.create_dataset("strings", data=np.array(["x", "yy"]).tolist(), dtype=h5py.string_dtype())
v[0], v.asstr()[1]

v = f.create_dataset("strings", data=["x", "yy"], dtype="S10")
v.dtype, v[:]

v = f.create_dataset("strings", (2, 2), h5py.string_dtype())
v[0] = "row"
v[:, 1] = ["p", "q"]
v.asstr()[:]

v = f.create_dataset("boxes", (2,), h5py.vlen_dtype("f4"))
v[0], v[1] = [1, 2], np.arange(3)
[item.tolist() for item in v], v[1].dtype

refs = f.create_dataset("index", (2,), h5py.ref_dtype)
refs[0], refs[1] = f["d"].ref, f["g"].ref
[type(f[ref]) for ref in refs], f[refs[0]].name in ("/d", "/hard")

[f[f["refs"][0]][0].tolist(), f[f["regions"][0]].name in ("/d", "/hard")]

link = f.get("soft", getlink=True)
f[link.path].name, isinstance(link, h5py.SoftLink)

[type(f.get(key, getlink=True)) for key in ("d", "soft", "external")]

f["z"].chunks, [slice(0, n, c) for n, c in zip(f["z"].shape, f["z"].chunks)]

f["d"].shape[0], len(f["d"]), f["d"].ndim, f["d"].size * f["d"].dtype.itemsize == f["d"].nbytes

f["k"].maxshape[0] is None, h5py.h5s.UNLIMITED in f["k"].id.get_space().get_simple_extent_dims(True)

np.ma.masked_equal(f["fill"][:], -1).mask.all()

np.save("x.npy", f["d"][:])
np.load("x.npy").shape

np.allclose(f["x"], np.linspace(0, 1, 4)), np.array_equal(f["x"], f["x"][:])

np.interp(0.5, f["x"], f["x"]), np.histogram(f["x"], bins=2)[0], np.unique(f["bool"])

np.random.default_rng(0).permutation(f["x"][:]).sum() == np.sum(f["x"])

memoryview(f["d"][:]).shape, bytes(f["fixed"][:]), f["d"][:].tobytes() == np.arange(12, dtype="<i4").tobytes()

list(zip(f["x"], f["y"])), list(enumerate(f["y"])), dict(zip("abcd", f["x"]))

[int(v) for v in f["d"][0]], f["d"][0].tolist(), f["d"][0, 0].item()

f"{f['scalar'][()]:.2f}", f"{f['d'][0, 1]}", str(f["word"].asstr()[()])

f["d"].name.split("/")[-1], os.path.basename(f["g/n"].name)

f["g"]["n"].parent == f["g"], f["g/n"].parent.name, f["g/n"].file == f

f["a/b"] = 1
f["a"]["c"] = 2
sorted(f["a"]), sorted(f["/a"].keys()), f["a/b"].parent.parent == f

len(f["g"]), len(f["g"].keys()), bool(f["g"]), bool(f["d"]), not f["d"]

[name for name in f["g"]], [*f["g"]], {*f["g"]}, tuple(f["g"])

all(name in f for name in ("d", "g", "g/n")), any(name in f for name in ("q", "r"))

max(f["ordered"]), sorted(f["ordered"].items())[0][0], next(reversed(f["ordered"]))

(
    isinstance(f["d"], h5py.Dataset),
    isinstance(f["g"], h5py.Group),
    isinstance(f["named"], h5py.Datatype),
    isinstance(f, h5py.Group),
)

hasattr(f["d"], "shape"), hasattr(f["g"], "shape"), getattr(f["g"], "shape", None)

match_ = f["d"].dtype.kind, f["d"].dtype.byteorder, f["z"].dtype.byteorder, f["words"].dtype.kind
match_

from_file = f["d"][()]
from_file[0, 0] = 99
f["d"][0, 0], from_file.flags.owndata, from_file.flags.writeable

f["d"][0][0] = 99
f["d"][0, 0]

f["d"].attrs["units"] = f["d"].attrs["units"] + "/s"
f["d"].attrs["units"]

f["d"].attrs["matrix"][0, 0] = 9
f["d"].attrs["matrix"][0, 0]

f.create_dataset("v", data=3).shape, f["v"][()], type(f["v"][()])

f.create_dataset("v", data=np.float32(3)).dtype, f["v"][...], f["v"][...].shape

f.create_dataset("v", (5,), data=np.arange(5), dtype="f8")[:]

f.create_dataset("v", data=np.arange(5)[::-2])[:], f.create_dataset("w", data=np.asfortranarray(np.eye(2)))[:]

f.create_dataset("v", data=np.broadcast_to(1, (2, 3)))[:]

f.create_dataset("v", data=(1, 2, 3))[:], f.create_dataset("w", data=[[1], [2]]).shape

f.create_dataset("v", data=np.zeros((2, 0, 3))).shape, f["v"][:].shape, f["v"][:, :, 0].shape

f.create_dataset("v", data=np.zeros(()))[()], f.create_dataset("w", data=np.zeros((1, 1)))[0, 0]

f.create_dataset("deep/er/v", data=1).name, list(f["deep"]), f["deep/er"].name

f.require_group("deep/er").create_dataset("v", data=1).name, f.require_group("deep")["er/v"][()]

f.require_dataset("deep/v", (2,), "f8", chunks=(1,)).chunks, f.require_dataset("deep/v", (2,), "f8").chunks

f.create_group("x/y") if "x/y" not in f["g"] else None
