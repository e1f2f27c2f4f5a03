"""Reading and writing by selections."""

d = f["d"]
d[()], d[...], d[:]

d = f["d"]
d[0], d[-1], d[1, 2], d[-1, -1]

d = f["d"]
d[0:2], d[:, 1], d[..., 1], d[1, ...], d[1:, ::2]

d = f["d"]
d[5:9], d[1:1], d[2:1], d[:100], d[-2:], d[-100:2]

d = f["d"]
d[np.int8(1)], d[np.array(1)], d[np.uint64(2), np.array([1])]

f["d"][True]

f["d"][False]

f["d"][None]

f["d"][np.newaxis, :]

f["d"][1.0]

f["d"][np.float64(1)]

f["d"]["0"]

f["d"][3]

f["d"][-4]

f["d"][0, 4]

f["d"][0, 0, 0]

f["d"][::-1]

f["d"][::0]

f["d"][::-2, 1]

f["d"][1.5:2]

f["d"]["a":"b"]

f["d"][..., ..., 0]

f["d"][0, ..., 0], f["d"][..., 0, 0], f["d"][0, 0, ...]

f["d"][(0,)], f["d"][(0, 1)], f["d"][[0]], f["d"][[0, 2]]

f["d"][[2, 0]]

f["d"][[0, 0]]

f["d"][[]], f["d"][[], :], f["d"][:, []]

f["d"][[0, 1], [0, 1]]

f["d"][[0, 1], 2], f["d"][1, [0, 3]], f["d"][1:, [0, 3]]

f["d"][[-1]], f["d"][[0, -1]]

f["d"][[-1, 0]]

f["d"][[3]]

f["d"][[0.5]]

f["d"][["a"]]

f["d"][[True, False, True]]

f["d"][[True, False]]

f["d"][np.array([True, False, True])]

f["d"][np.array([True, False, True]), 1]

f["d"][1, np.array([True, False, True, False])]

f["d"][np.array([True, False])]

f["d"][f["d"][:] > 5]

f["d"][f["d"][:] > 50]

f["d"][np.ones((4, 3), bool)]

f["d"][np.zeros((3, 4), bool)]

f["d"][np.array([[0, 1]])]

f["d"][np.array([2, 0])]

f["d"][np.arange(3)], f["d"][range(0, 3, 2)], f["d"][(i for i in range(2))]

f["d"][{0}]

f["d"][{}]

f["d"][object()]

f["d"][slice(None)], f["d"][slice(0, 2), slice(None, None, 3)]

f["d"][np.s_[0:2], np.s_[1:3]]

f["d"][0][1], f["d"][0:2][1]

f["d"][h5py.MultiBlockSlice(start=0, count=2, stride=2, block=1)]

f["d"][:, h5py.MultiBlockSlice(count=2, stride=2)]

f["d"][h5py.MultiBlockSlice(start=0, count=9, stride=2, block=1)]

f["big"][h5py.MultiBlockSlice(start=1, count=3, stride=10, block=2), 0]

repr(h5py.MultiBlockSlice(1, 2, 3, 4)), h5py.MultiBlockSlice().indices(10)

h5py.MultiBlockSlice(count=0)

h5py.MultiBlockSlice(stride=1, block=2)

f["big"][::30, 99], f["big"][50, ::33], f["big"][[1, 50, 99], ::50]

f["cube"][1, :, [0, 2]], f["cube"][:, [0, 1], 1:3], f["cube"][..., 0].shape, f["cube"][0].shape

f["cube"][[0, 1], :, [1, 2]]

f["k"][9, 3], f["k"][3:9:2, [0, 3]], f["z"][2:5, ::4]

f["scalar"][()], f["scalar"][...], f["scalar"][()].dtype

f["scalar"][0]

f["scalar"][:]

f["scalar"][[]]

f["scalar"]["x"]

f["scalar"][..., ...]

f["empty"][()], f["empty"][...]

f["empty"][0]

f["empty"][:]

f["zero"][()], f["zero"][:, 1], f["zero"][0:5]

f["zero"][0]

f["log"][:], f["log"][...], f["log"][-1:]

f["log"][0]

f["log"][-1]

f["x"][1:3].flags.writeable, f["x"][...].flags.c_contiguous, f["x"][0].flags.writeable

type(f["x"][0]), type(f["scalar"][()]), type(f["word"][()]), type(f["d"][0]), type(f["c"][0])

d = f["d"]
d[0] = 9
d[:]

d = f["d"]
d[...] = 0
d[0, 1] = 5
d[1, :] = [1, 2, 3, 4]
d[:, 0] = [7, 8, 9]
d[:]

d = f["d"]
d[:, 1:3] = [[1], [2], [3]]
d[:]

d = f["d"]
d[[0, 2]] = [[1, 1, 1, 1], [2, 2, 2, 2]]
d[:]

d = f["d"]
d[[0, 2], 1] = 5
d[:]

d = f["d"]
d[d[:] > 5] = -1
d[:]

d = f["d"]
d[d[:] > 9] = [50, 60]
d[:]

d = f["d"]
d[d[:] > 9] = [1, 2, 3]

d = f["d"]
d[0] = [1, 2, 3]

d = f["d"]
d[0] = [[1, 2, 3, 4]]
d[0]

d = f["d"]
d[0:2] = [1, 2, 3, 4]
d[:]

d = f["d"]
d[:] = np.arange(12)
d[:]

f["d"][:] = np.ones((4, 3))

f["d"][:] = np.ones((1, 3, 4))
f["d"][0]

f["d"][0:2] = np.ones((3, 4))

f["d"][0, 0] = "x"

f["d"][0, 0] = "5"
f["d"][0, 0]

f["d"][0, 0] = None

f["d"][0, 0] = 1.9
f["d"][0, 0]

f["d"][0, 0] = np.nan

f["d"][0, 0] = 2**40
f["d"][0, 0]

f["d"][0, 0] = 1j

f["d"][0, 0] = [1]
f["d"][0, 0]

f["d"][0, 0] = [1, 2]

f["d"][0, 0] = True
f["d"][0, 0]

f["d"][9] = 1

f["d"][5:9] = 1
f["d"][:]

f["d"][5:9] = [1, 2, 3, 4]

f["d"][1:1] = 5
f["d"][:]

f["d"][[]] = 5
f["d"][:]

f["d"]["a"] = 5

f["d"][None] = 5

f["d"][::-1] = 5

f["d"][[1, 0]] = 5

f["d"][0] = f["d"][1]
f["d"][:2]

f["d"][0] = f["d"]

f["d"][:] = f["hard"]
f["d"][0]

f["d"][0] = (x for x in range(4))

f["d"][0] = range(4)
f["d"][0]

f["d"][0] = {}

f["d"][0, :2] += 100
f["d"][0]

f["d"][0] += [1, 2, 3, 4]
f["d"][0]

f["scalar"][()] = 7
f["scalar"][()]

f["scalar"][...] = [7]
f["scalar"][()]

f["scalar"][...] = [7, 8]

f["scalar"][0] = 7

f["scalar"][()] = "x"

f["empty"][()] = 3

f["empty"][...] = h5py.Empty("f4")

f["zero"][:] = 5
f["zero"].shape

f["log"][0] = 5

f["log"][:] = [1, 2]

log = f["log"]
log.resize(3, axis=0)
log[-3:] = [1, 2, 3]
log[:]

fill = f["fill"]
fill[0, 0] = 1
fill[:]

fill = f["fill"]
fill[1:3, 1:3] = [[1, 2], [3, 4]]
fill[:], fill.id.get_num_chunks()

f["k"][8:, 2:] = -5
f["k"][7:]

f["z"][::2, ::3] = 0
f["z"][0]

f["big"][np.array([0, 50]), 5:7] = 1
f["big"][50, 4:8]

f["cube"][:, 1, ::2] = 200
f["cube"][0]

f["d"].read_direct(np.zeros((3, 4), "i4"))

out = np.zeros((3, 4), "i4")
f["d"].read_direct(out)
out

out = np.zeros((3, 4), "f8")
f["d"].read_direct(out)
out

out = np.zeros(4, "i4")
f["d"].read_direct(out, np.s_[1])
out

out = np.zeros(10, "i4")
f["d"].read_direct(out, np.s_[1, :], np.s_[3:7])
out

out = np.zeros((2, 2), "i4")
f["d"].read_direct(out, source_sel=np.s_[0:2, 1:3])
out

out = np.zeros(4, "i4")
f["d"].read_direct(out, np.s_[0:2, 1:3])
out

out = np.zeros(12, "i4")
f["d"].read_direct(out)
out

out = np.zeros(3, "i4")
f["d"].read_direct(out)

out = np.zeros((3, 4), "i4")
f["d"].read_direct(out, np.s_[0], np.s_[2])
out

out = np.zeros(4, "i4")
f["d"].read_direct(out, f["d"].regionref[0:2, 1:3])
out

out = np.zeros(2, "i4")
f["d"].read_direct(out, f["d"].regionref[[True, False, True], 0], None)
out

f["d"].read_direct([0] * 12)

f["d"].read_direct(np.zeros((3, 4), "S2"))

out = np.zeros((4, 3), "i4").T
f["d"].read_direct(out)
out

f["d"].read_direct(np.zeros((3, 4), "i4"), dest_sel=np.s_[0:9])

f["d"].read_direct(np.zeros((3, 4), "i4"), np.s_[9])

f["scalar"].read_direct(np.zeros(()))

out = np.zeros(1)
f["scalar"].read_direct(out)
out

f["empty"].read_direct(np.zeros(3))

out = np.empty(3, object)
f["words"].read_direct(out)
out

f["d"].write_direct(np.ones((3, 4), "i4"))
f["d"][0]

f["d"].write_direct(np.ones((3, 4), "f8"))
f["d"][0]

f["d"].write_direct(np.arange(4, dtype="i4"), None, np.s_[1])
f["d"][:2]

f["d"].write_direct(np.arange(10, dtype="i4"), np.s_[2:6], np.s_[1, :])
f["d"][1]

f["d"].write_direct(np.arange(4, dtype="i4"), dest_sel=np.s_[0:2, 0:2])
f["d"][:2]

f["d"].write_direct(np.ones(5, "i4"))

f["d"].write_direct([1, 2])

f["d"].write_direct(np.array(["x"] * 12))

f["empty"].write_direct(np.ones(3))

np.asarray(f["d"]), np.array(f["d"], "f4"), np.array(f["scalar"]), np.asarray(f["words"])

np.asarray(f["empty"])

np.array(f["d"], copy=False)

np.asarray(f["d"], dtype="S3")

f["d"].__array__(), f["d"].__array__("f2")

f["d"].__array__(copy=False)

np.sum(f["d"]), np.max(f["d"]), np.mean(f["x"]), np.shape(f["d"]), np.ndim(f["d"])

np.concatenate([f["x"], f["y"]]), np.stack([f["x"], f["x"]])

f["d"] + 1

1 + f["d"]

f["x"] * f["x"]

f["d"] > 5

f["d"] == 5, f["d"] == f["d"], f["d"] != f["x"]

-f["d"]

5 in f["d"]

[row.tolist() for row in f["d"]], list(f["x"]), [type(value) for value in f["words"]]

list(f["scalar"])

list(f["empty"])

list(f["zero"])

len(f["d"]), len(f["zero"]), len(f["log"])

len(f["scalar"])

len(f["empty"])

list(reversed(f["x"])), next(reversed(f["d"]))

float(f["scalar"]), int(f["scalar"])

bool(f["zero"]), bool(f["scalar"]), bool(f["empty"])

max(f["x"]), min(f["y"]), sum(f["y"]), sorted(f["x"])

a, b, c = f["d"]
a, c

np.isin(5, f["d"]), np.where(f["d"][:] > 9)

np.searchsorted(f["x"], 0.5), np.array_equal(f["d"], f["hard"])

f["d"].T

f["d"].flatten()

f["d"].sum()

f["d"].tolist()

f["d"][:, 0].mean()

f["big"][:][0:2, 0:2], f["big"][10:12][:, 5]

f["d"][np.ix_([0, 2], [1, 3])]

f["d"].regionref[0:2].__class__, f["d"][f["d"].regionref[0:2, 1:3]]

f["d"][f["x"].regionref[0:2]]

f["d"][f["x"].regionref[0:2]] = 1

f["d"][f["refs"][0]]

f["d"][f["d"].regionref[0:2, 1:3]] = 0
f["d"][:]

f["d"][f["d"].regionref[0:2, 1:3]] = [[1, 2], [3, 4]]
f["d"][:]

f["d"][f["regions"][0]]

f["d"][f["regions"][1]]

chosen = import_module("h5py._hl.selections").select((3, 4), np.s_[0:2, 1:3])
f["d"][chosen]

chosen = import_module("h5py._hl.selections").select((3, 4), np.s_[0:2, 1:3])
out = np.zeros((2, 2), "i4")
f["d"].read_direct(out, chosen)
out

chosen = import_module("h5py._hl.selections").select((3, 4), np.s_[0:2, 1:3])
out = np.zeros(4, "i4")
f["d"].read_direct(out, chosen)
out

chosen = import_module("h5py._hl.selections").select((3, 4), np.s_[[0, 2], 1:3])
f["d"][chosen]

chosen = import_module("h5py._hl.selections").select((3, 4), f["d"][:] > 7)
f["d"][chosen]

chosen = import_module("h5py._hl.selections").select((3, 4), np.s_[0:2, 1:3])
f["d"][chosen] = 0
f["d"][:]

chosen = import_module("h5py._hl.selections").select((9, 9), np.s_[0:2, 1:3])
f["d"][chosen]

f["d"].read_direct(np.zeros((2, 4), "i4"), f["x"].regionref[0:2])

f["d"].write_direct(np.ones((2, 2), "i4"), None, f["d"].regionref[0:2, 1:3])
f["d"][:]

f["d"].write_direct(np.ones(4, "i4"), None, f["d"].regionref[0:2, 1:3])
f["d"][:]

f["d"][f["d"].regionref[0:2, 1:3]] = np.ones(4, "i4")
f["d"][:]
