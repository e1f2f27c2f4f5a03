"""Modes, drivers and options of files."""

f.mode, f.driver, f.filename, f.name

f.libver, f.userblock_size, f.swmr_mode, f.meta_block_size

h5py.File("new.h5", "w").mode

h5py.File("new.h5", "w-").mode

h5py.File("new.h5", "x").mode

h5py.File("new.h5", "a").mode

h5py.File("new.h5", "r")

h5py.File("new.h5", "r+")

h5py.File("new.h5")

h5py.File("f.h5", "x")

h5py.File("f.h5", "w-")

h5py.File("f.h5", "w")

h5py.File("f.h5", "rw")

h5py.File("f.h5", "rb")

h5py.File("f.h5", "")

h5py.File("f.h5", None)

h5py.File("", "r")

h5py.File("", "w")

h5py.File(None, "r")

h5py.File(5, "r")

h5py.File()

h5py.File(b"f.h5", "r").filename

h5py.File(Path("f.h5"), "r").filename

h5py.File(Path("f.h5").resolve().relative_to(Path.cwd()), "r").filename

h5py.File(np.str_("f.h5"), "r").filename

h5py.File(".", "r")

h5py.File("no/such/dir.h5", "w")

h5py.File("no/such/dir.h5", "a")

Path("text.h5").write_text("not HDF5" * 1000)
h5py.File("text.h5", "r")

Path("text.h5").write_text("not HDF5" * 1000)
h5py.File("text.h5", "a")

Path("text.h5").write_bytes(b"")
h5py.File("text.h5", "r+")

Path("nothing.h5").write_bytes(b"")
h5py.File("nothing.h5", "a")

h5py.File("f.h5", "r").create_group("more")

h5py.File("f.h5", "r", nope=1)

h5py.File("new.h5", "w", driver="nope")

h5py.File("new.h5", "w", driver="core").driver

h5py.File("new.h5", "w", driver="core", backing_store=False)["x"]

new = h5py.File("new.h5", "w", driver="core", backing_store=False)
new["x"] = 1
new.close()
os.path.exists("new.h5")

new = h5py.File("new.h5", "w", driver="core")
new["x"] = 1
new.close()
h5py.File("new.h5")["x"][()]

new = h5py.File("new.h5", "w", driver="core", backing_store=True, block_size=4096)
new["x"] = 1
new.close()
os.path.exists("new.h5")

h5py.File("new.h5", "w", driver="sec2").driver

h5py.File("new.h5", "w", driver="stdio").driver

h5py.File("new.h5", "w", driver="core", nope=3)

h5py.File("new.h5", "w", driver="sec2", backing_store=True)

buffer = io.BytesIO()
new = h5py.File(buffer, "w")
new["x"] = [1, 2]
new.close()
h5py.File(buffer, "r")["x"][:]

h5py.File(io.BytesIO(), "w").driver

h5py.File(io.BytesIO(), "r")

h5py.File(io.BytesIO(b"not a file"), "r")

new = h5py.File(io.BytesIO(), "w")
type(new.filename).__name__, new.mode

h5py.File(open("f.h5", "rb"), "r")["d"].shape

h5py.File("new.h5", "w", libver="latest").libver

h5py.File("new.h5", "w", libver="earliest").libver

h5py.File("new.h5", "w", libver=("earliest", "v110")).libver

h5py.File("new.h5", "w", libver=("v108", "v108")).libver

h5py.File("new.h5", "w", libver="v112").libver

h5py.File("new.h5", "w", libver="v200").libver

h5py.File("new.h5", "w", libver="nope")

h5py.File("new.h5", "w", libver=("latest", "earliest"))

h5py.File("new.h5", "w", libver=3)

h5py.File("new.h5", "w", userblock_size=512).userblock_size

h5py.File("new.h5", "w", userblock_size=500)

h5py.File("new.h5", "w", userblock_size=256)

h5py.File("new.h5", "w", userblock_size=0).userblock_size

h5py.File("new.h5", "w", userblock_size="512")

h5py.File("f.h5", "r", userblock_size=512)

h5py.File("f.h5", "r+", userblock_size=0)

h5py.File("new.h5", "a", userblock_size=1024).userblock_size

h5py.File("new.h5", "w", track_order=True).id.get_create_plist().get_link_creation_order()

new = h5py.File("new.h5", "w", track_order=True)
for name in "cab":
    new.attrs[name] = new[name] = 1
list(new), list(new.attrs)

new = h5py.File("new.h5", "w", track_order=False)
for name in "cab":
    new.attrs[name] = new[name] = 1
list(new), list(new.attrs)

h5py.File("new.h5", "w", fs_strategy="page", fs_page_size=4096, fs_persist=True, fs_threshold=2).mode

h5py.File("new.h5", "w", fs_strategy="nope")

h5py.File("f.h5", "r", fs_strategy="page")

h5py.File("new.h5", "w", fs_page_size=100, fs_strategy="page")

h5py.File("f.h5", "r", locking=False).mode

h5py.File("f.h5", "r", locking="best-effort").mode

h5py.File("f.h5", "r", locking="nope")

h5py.File("f.h5", "r", locking=3)

h5py.File("f.h5", "r", rdcc_nbytes=2**20, rdcc_w0=0.5, rdcc_nslots=101).mode

h5py.File("f.h5", "r", rdcc_nbytes=-1)

h5py.File("f.h5", "r", rdcc_w0=7)

h5py.File("f.h5", "r", rdcc_nbytes="much")

h5py.File("new.h5", "w", alignment_threshold=1024, alignment_interval=4096).mode

h5py.File("new.h5", "w", alignment_threshold=0, alignment_interval=0)

h5py.File("new.h5", "w", meta_block_size=4096).meta_block_size

h5py.File("f.h5", "r", page_buf_size=4096)

h5py.File("new.h5", "w", swmr=True).swmr_mode

h5py.File("other.h5", "r", swmr=True).swmr_mode

f.swmr_mode = False

f.swmr_mode = True

new = h5py.File("new.h5", "w", libver="latest")
new.swmr_mode = True
new.swmr_mode, new.mode

new = h5py.File("new.h5", "w", libver="latest")
new.swmr_mode = True
new.create_group("g")

new = h5py.File("new.h5", "w", libver="latest")
d = new.create_dataset("d", (0,), maxshape=(None,), chunks=(8,))
new.swmr_mode = True
d.resize((4,))
d[:] = 1
d.flush()
d[:]

new = h5py.File("new.h5", "w", libver="latest")
new.swmr_mode = True
new.swmr_mode = False

f.libver = "latest"

f.filename = "x"

f.mode = "r"

f.close()
f.mode

f.close()
f.filename

f.close()
bool(f), repr(f)

f.close()
f.name

f.close()
f["d"]

f.close()
f.create_group("x")

f.close()
list(f)

f.close()
len(f)

f.close()
"d" in f

f.close()
f.attrs["title"]

f.close()
f.close()

f.close()
f.flush()

d = f["d"]
f.close()
bool(d), repr(d)

d = f["d"]
f.close()
d[:]

d = f["d"]
f.close()
d.name

d = f["d"]
f.close()
d.attrs["units"]

d = f["d"]
f.close()
d.file

g = f["g"]
f.close()
g["n"]

g = f["g"]
f.close()
bool(g), repr(g)

a = f["d"].attrs
f.close()
list(a)

with h5py.File("other.h5", "r") as other:
    d = other["there"]
bool(other), bool(d)

with h5py.File("other.h5", "a") as other:
    other.close()
bool(other)

other = h5py.File("f.h5", "r+")
other["d"][0, 0] = 77
f["d"][0, 0]

h5py.File("f.h5", "a").mode

f.close()
one, two = h5py.File("f.h5", "r"), h5py.File("f.h5", "r")
one == two, one["d"] == two["d"]

f.close()
one = h5py.File("f.h5", "r")
h5py.File("f.h5", "r+")

f.close()
one = h5py.File("f.h5", "r")
h5py.File("f.h5", "w")

f == f, f == f["/"], f == f["g"], f == 1, f != f["/"]

f["/"], f["g"].file

f["d"].file == f, f["d"].file is f, f["d"].file.mode

hash(f) == hash(f["/"])

repr(f), str(f)

f.parent, f.parent.name

bool(f.id.valid), f.id.name

type(f.id), type(f["d"].id), type(f["g"].id), type(f["named"].id)

f.flush()

pickle.dumps(f)

pickle.dumps(f["d"])

copy(f)

deepcopy(f["d"])

f.fid

h5py.is_hdf5("f.h5"), h5py.is_hdf5("nope.h5"), h5py.is_hdf5(b"f.h5"), h5py.is_hdf5(Path("f.h5"))

h5py.is_hdf5(None)

h5py.is_hdf5(io.BytesIO())

h5py.is_hdf5(".")

h5py.registered_drivers()

h5py.register_driver("mine", lambda plist, **kwargs: plist.set_fapl_core(**kwargs))
new = h5py.File("new.h5", "w", driver="mine", backing_store=False)
h5py.unregister_driver("mine")
new.driver

h5py.register_driver("nothing", 3)

h5py.unregister_driver("never registered")

f.in_memory

h5py.File.in_memory().mode

image = h5py.File.in_memory()
image["x"] = 1
image.flush()
type(image.id.get_file_image())

f.track_order

f["ordered"].track_order, f["g"].track_order

f.id.get_access_plist().get_fclose_degree()

f.id.get_filesize() == os.path.getsize("f.h5")

f.id.get_intent()

h5py.File("split", "w", driver="split").driver

h5py.File("fam-%d.h5", "w", driver="family", memb_size=2**20).driver

new = h5py.File("new.h5", "w")
new.userblock_size, new.libver, len(new), list(new.attrs)

class_ = type("Mine", (h5py.File,), {})
repr(class_("f.h5", "r")), class_("f.h5", "r").mode

h5py.File("f.h5", "r", 3)

h5py.File(name="f.h5", mode="r").mode

h5py.File("f.h5", mode="r", driver=None, libver=None, userblock_size=None).mode

h5py.File("ümläut €.h5", "w").filename

h5py.File("f.h5", "r", track_order=True).mode

h5py.File("new.h5", "w", driver="fileobj")
