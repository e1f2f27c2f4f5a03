"""Virtual datasets."""

h5py.VirtualLayout((4,), "i4").shape, h5py.VirtualLayout((4,), "i4").dtype, h5py.VirtualLayout((4,), "i4").maxshape

h5py.VirtualLayout((4,), "i4", (None,)).maxshape

h5py.VirtualLayout(4, "i4").shape

h5py.VirtualLayout((4,), "nope")

h5py.VirtualLayout((4,), "i4", filename="x.h5")

repr(h5py.VirtualSource(f["d"])), h5py.VirtualSource(f["d"]).shape

h5py.VirtualSource("other.h5", "there", (4,)).shape, h5py.VirtualSource("other.h5", "there", (4,)).path

h5py.VirtualSource("other.h5")

h5py.VirtualSource("other.h5", "there")

h5py.VirtualSource("other.h5", "there", (4,), "i4").dtype

h5py.VirtualSource("other.h5", "there", (4,), maxshape=(None,)).maxshape

h5py.VirtualSource(f["d"], "x")

h5py.VirtualSource(f["d"], shape=(3,))

h5py.VirtualSource(f["g"])

h5py.VirtualSource(3)

h5py.VirtualSource(f["d"])[0:2].shape

h5py.VirtualSource(f["d"])[0:2][0]

h5py.VirtualSource(f["d"])[9]

h5py.VirtualSource(f["d"])["x"]

h5py.VirtualSource(f["d"])[::-1]

layout = h5py.VirtualLayout((2, 4), "i4")
layout[0] = h5py.VirtualSource("other.h5", "there", (4,))
v = f.create_virtual_dataset("v", layout, fillvalue=-1)
v[:], v.is_virtual, [tuple(source)[1:3] for source in v.virtual_sources()]

layout = h5py.VirtualLayout((4,), "i4")
layout[:] = h5py.VirtualSource(f["d"])[1]
f.create_virtual_dataset("v", layout)[:]

layout = h5py.VirtualLayout((4,), "i4")
layout[::2] = h5py.VirtualSource("other.h5", "there", (4,))[1:3]
f.create_virtual_dataset("v", layout, fillvalue=9)[:]

layout = h5py.VirtualLayout((4,), "i4")
layout[0] = h5py.VirtualSource("other.h5", "there", (4,))[2]
f.create_virtual_dataset("v", layout)[:]

layout = h5py.VirtualLayout((4,), "f8")
layout[:] = h5py.VirtualSource("other.h5", "there", (4,))
f.create_virtual_dataset("v", layout)[:]

layout = h5py.VirtualLayout((4,), "i4")
layout[:] = h5py.VirtualSource("no.h5", "there", (4,))
f.create_virtual_dataset("v", layout, fillvalue=3)[:].tolist()

layout = h5py.VirtualLayout((4,), "i4")
layout[:] = h5py.VirtualSource("other.h5", "nope", (4,))
f.create_virtual_dataset("v", layout, fillvalue=3)[:].tolist()

layout = h5py.VirtualLayout((4,), "i4")
layout[:] = f["d"]

layout = h5py.VirtualLayout((4,), "i4")
layout[:] = 5

layout = h5py.VirtualLayout((4,), "i4")
layout[:3] = h5py.VirtualSource("other.h5", "there", (4,))

layout = h5py.VirtualLayout((4,), "i4")
layout[0:9] = h5py.VirtualSource("other.h5", "there", (4,))

layout = h5py.VirtualLayout((4,), "i4")
layout["x"] = h5py.VirtualSource("other.h5", "there", (4,))

layout = h5py.VirtualLayout((4,), "i4", maxshape=(None,))
layout[: h5py.UNLIMITED] = h5py.VirtualSource("other.h5", "there", (4,), maxshape=(None,))[: h5py.UNLIMITED]
v = f.create_virtual_dataset("v", layout)
v.shape, v.maxshape, v[:]

layout = h5py.VirtualLayout((4,), "i4")
layout[:] = h5py.VirtualSource("other.h5", "there", (4,))
f.create_virtual_dataset("d", layout)

layout = h5py.VirtualLayout((4,), "i4")
layout[:] = h5py.VirtualSource("other.h5", "there", (4,))
v = f.create_virtual_dataset("v", layout)
v.chunks, v.compression, v.dtype, repr(v), v.fillvalue

layout = h5py.VirtualLayout((4,), "i4")
layout[:] = h5py.VirtualSource("other.h5", "there", (4,))
v = f.create_virtual_dataset("v", layout)
v[0] = 7
h5py.File("other.h5")["there"][:]

layout = h5py.VirtualLayout((4,), "i4")
layout[:] = h5py.VirtualSource("other.h5", "there", (4,))
v = f.create_virtual_dataset("v", layout)
v.resize((5,))

with f.build_virtual_dataset("v", (2, 4), "i4") as layout:
    layout[1] = h5py.VirtualSource("other.h5", "there", (4,))
f["v"][:]

with f.build_virtual_dataset("v", (2, 4), "i4", maxshape=(2, 4), fillvalue=7) as layout:
    pass
f["v"][:]

with f.build_virtual_dataset("v", (4,), "i4") as layout:
    layout[:] = h5py.VirtualSource(f["d"])[0]
f["v"][:]

f["d"].virtual_sources()

f["d"].is_virtual

layout = h5py.VirtualLayout((4,), "i4")
layout[:] = h5py.VirtualSource(Path("other.h5"), "there", (4,))
f.create_virtual_dataset("v", layout)[:]

layout = h5py.VirtualLayout((4,), "i4")
layout[:] = h5py.VirtualSource(".", "d", (3, 4))[0]
v = f.create_virtual_dataset("v", layout)
v[:], v.virtual_sources()[0].file_name, v.virtual_sources()[0].dset_name

layout = h5py.VirtualLayout((2, 4), "i4")
for row in range(2):
    layout[row] = h5py.VirtualSource(f["d"])[row]
v = f.create_virtual_dataset("g/v", layout)
v[:], v.name, len(v.virtual_sources())

layout = h5py.VirtualLayout((3,), h5py.string_dtype())
layout[:] = h5py.VirtualSource(f["words"])
f.create_virtual_dataset("v", layout)[:]

layout = h5py.VirtualLayout((3,), f["c"].dtype)
layout[:] = h5py.VirtualSource(f["c"])
f.create_virtual_dataset("v", layout)["a"]

layout = h5py.VirtualLayout((4,), "i4")
v = f.create_virtual_dataset("v", layout)
v[:], v.is_virtual

f.copy("d", "dd")
layout = h5py.VirtualLayout((2, 4), "i4")
layout[0], layout[1] = h5py.VirtualSource(f["dd"])[0], h5py.VirtualSource(f["d"])[2]
f.create_virtual_dataset("v", layout)[:, 1:3]
