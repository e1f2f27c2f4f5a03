"""References, regions and dimension scales."""

f["refs"][:], f["refs"][0], bool(f["refs"][0]), bool(f["refs"][1])

f[f["refs"][0]], f[f["refs"][0]].name

f[f["refs"][1]]

f[f["d"].ref].name, f[f["g"].ref].name, f[f.ref].name, f[f["named"].ref].name

f["g"][f["d"].ref].name

f["d"].ref, type(f["d"].ref), repr(f["g"].ref), str(f["d"].ref)

f["d"].ref == f["d"].ref

f["d"].ref == f["hard"].ref

h5py.Reference(), bool(h5py.Reference())

type(h5py.RegionReference()), bool(h5py.RegionReference())

f[h5py.Reference()]

f[h5py.RegionReference()]

h5py.Reference(f["d"])

isinstance(f["d"].regionref[0], h5py.Reference), isinstance(f["d"].ref, h5py.RegionReference)

copy(f["d"].ref)

pickle.dumps(f["d"].ref)

f["refs"][1] = f["g"].ref
f[f["refs"][1]].name

f["refs"][:] = [f["x"].ref, f["y"].ref]
[f[ref].name for ref in f["refs"]]

f["refs"][0] = h5py.Reference()
bool(f["refs"][0])

f["refs"][0] = None

f["refs"][0] = "d"

f["refs"][0] = 5

f["refs"][0] = f["d"]

f["refs"][0] = f["d"].regionref[0]
f["refs"][0]

ref = f["d"].ref
f.move("d", "moved")
f[ref].name

h5py.File("other.h5")[f["d"].ref]

f.create_dataset("v", (2,), h5py.ref_dtype)[:]

f.create_dataset("v", data=f["d"].ref)[()]

f.create_dataset("v", data=[f["d"].ref, f["g"].ref])

f.create_dataset("v", data=[f["d"].ref, f["g"].ref], dtype=h5py.ref_dtype)[:]

f.create_dataset("v", (2,), [("r", h5py.ref_dtype), ("n", "i4")])[0]

v = f.create_dataset("v", (2,), [("r", h5py.ref_dtype), ("n", "i4")])
v[0] = (f["d"].ref, 5)
f[v[0]["r"]].name, v["n"]

v = f.create_dataset("v", (2,), h5py.vlen_dtype(h5py.ref_dtype))
v[0] = np.array([f["d"].ref, f["g"].ref], h5py.ref_dtype)
[f[ref].name for ref in v[0]]

f["regions"].shape, f["regions"][:].dtype, bool(f["regions"][0]), bool(f["regions"][1])

region = f["regions"][0]
f[region].name, f[region][region]

region = f["d"].regionref[0:2, 1:3]
f["d"].regionref.shape(region), f["d"].regionref.selection(region)

region = f["d"].regionref[[True, False, True], 0]
f["d"].regionref.shape(region), f["d"].regionref.selection(region), f["d"][region]

region = f["d"].regionref[f["d"][:] > 7]
f["d"].regionref.shape(region), f["d"].regionref.selection(region), f["d"][region]

region = f["d"].regionref[...]
f["d"].regionref.shape(region), f["d"].regionref.selection(region), f["d"][region]

region = f["d"].regionref[1, 2]
f["d"].regionref.selection(region), f["d"][region]

region = f["d"].regionref[::2, ::3]
f["d"].regionref.selection(region), f["d"][region]

region = f["d"].regionref[[0, 2]]
f["d"].regionref.selection(region), f["d"][region]

f["d"].regionref[9]

f["d"].regionref[0:9]

f["d"].regionref["a"]

f["d"].regionref[::-1]

f["scalar"].regionref[()]

f["empty"].regionref[()]

f["zero"].regionref[:]

f["g"].regionref

f["g"].regionref[0]

f["d"].regionref.shape(f["d"].ref)

f["d"].regionref.shape(f["x"].regionref[0:2])

f["d"].regionref.shape(3)

f["x"][f["d"].regionref[0]]

f["regions"][1] = f["x"].regionref[1:3]
f["x"][f["regions"][1]], f[f["regions"][1]].name

f["regions"][0] = f["d"].ref

f[f["d"].regionref[0]].name

f["d"].attrs["region"] = f["x"].regionref[0:2]
f["x"][f["d"].attrs["region"]]

f["k"][f["k"].regionref[2:8:3, 1:3]]

f["words"][f["words"].regionref[0:2]]

f["c"][f["c"].regionref[1:]]

f["d"][f["d"].regionref[0], 0]

f["d"][f["d"].regionref[f["d"][:] > 7]] = -1
f["d"][:]

f["d"][f["d"].regionref[f["d"][:] > 7]] = [1, 2, 3, 4]
f["d"][:]

f["d"][f["d"].regionref[0:1]] = [[5, 6, 7, 8]]
f["d"][0]

f["d"][f["d"].regionref[0]] = "x"

f["d"].dims, [type(dim) for dim in f["d"].dims]

len(f["scaled"].dims), len(f["scalar"].dims)

f["scaled"].dims[0].label, f["scaled"].dims[1].label, f["d"].dims[0].label

f["scaled"].dims[0], f["scaled"].dims[0][0].name, f["scaled"].dims[0]["x axis"].name

f["scaled"].dims[0].keys(), f["scaled"].dims[0].values(), f["scaled"].dims[0].items()

list(f["scaled"].dims[0]), len(f["scaled"].dims[0]), len(f["scaled"].dims[1])

f["scaled"].dims[2]

f["scaled"].dims[-1]

f["scaled"].dims["x"]

f["scaled"].dims[1.0]

f["scaled"].dims[0:1]

f["scaled"].dims[0][1]

f["scaled"].dims[0]["nope"]

f["scaled"].dims[1][0]

f["scaled"].dims[0][None]

f["scaled"].dims[1].label = "column"
f["scaled"].dims[1].label, f["scaled"].attrs["DIMENSION_LABELS"]

f["d"].dims[0].label = "ü"
f["d"].dims[0].label

f["d"].dims[0].label = 3

f["d"].dims[0].label = None

f["d"].dims[0].label = ""
f["d"].dims[0].label

f["d"].dims[0].label = b"x"
f["d"].dims[0].label

f["d"].dims[0] = "x"

f["d"].dims[1].attach_scale(f["x"])
f["d"].dims[1][0].name, f["x"].attrs["REFERENCE_LIST"].dtype, f["d"].attrs["DIMENSION_LIST"].dtype

f["d"].dims[0].attach_scale(f["x"])
len(f["d"].dims[0])

f["d"].dims[0].attach_scale(f["big"])

f["d"].dims[0].attach_scale(f["g"])

f["d"].dims[0].attach_scale("x")

f["d"].dims[0].attach_scale(f["d"])

f["d"].dims[0].attach_scale(f["y"])
f["d"].dims[0].attach_scale(f["y"])
len(f["d"].dims[0])

f["scaled"].dims[0].attach_scale(f["y"])
[scale.name for scale in f["scaled"].dims[0].values()], f["scaled"].dims[0].keys()

f["scaled"].dims[0].detach_scale(f["x"])
len(f["scaled"].dims[0]), "DIMENSION_LIST" in f["scaled"].attrs, "REFERENCE_LIST" in f["x"].attrs

f["scaled"].dims[1].detach_scale(f["x"])

f["d"].dims[0].detach_scale(f["x"])

f["scaled"].dims[0].detach_scale("x")

"x axis" in f["scaled"].dims[0], f["x"] in f["scaled"].dims[0]

f["x"].is_scale, f["y"].is_scale, f["scaled"].is_scale

f["x"].attrs["NAME"], f["y"].attrs["NAME"], f["x"].attrs["CLASS"], f["x"].attrs["REFERENCE_LIST"].shape

f["scaled"].attrs["DIMENSION_LIST"].shape, f[f["scaled"].attrs["DIMENSION_LIST"][0][0]].name

f["x"].make_scale("other")
f["x"].attrs["NAME"], f["scaled"].dims[0].keys()

f["scaled"].make_scale()

f["x"].make_scale()
f["x"].attrs["NAME"]

f["g"].make_scale()

f["x"].dims[0].attach_scale(f["y"])

f["d"].dims.create_scale(f["x"], "x")

f["d"].dims == f["d"].dims, f["d"].dims[0] == f["d"].dims[0]

repr(f["scaled"].dims), repr(f["scaled"].dims[1])

next(iter(f["scaled"].dims))

list(f["scalar"].dims), list(f["empty"].dims)

f["empty"].dims

f["scaled"].dims[0].nope

f["scaled"].dims[0].label = "renamed"
f.move("x", "xx")
f["scaled"].dims[0][0].name
