"""Links, `get`, visiting, copying and moving."""

f.get("d"), f.get("nope"), f.get("nope", 7), f.get("dangling"), f.get("lost", "gone")

f.get("d", getclass=True), f.get("g", getclass=True), f.get("named", getclass=True)

f.get("nope", getclass=True)

f.get("nope", 3, getclass=True), f.get("nope", 3, getlink=True), f.get("nope", 3, True, True)

f.get("nope", getlink=True)

f.get("d", getlink=True), f.get("soft", getlink=True), f.get("external", getlink=True)

f.get("soft", getlink=True).path, f.get("dangling", getlink=True).path

f.get("external", getlink=True).path, f.get("external", getlink=True).filename

f.get("d", getclass=True, getlink=True), f.get("soft", getclass=True, getlink=True)

f.get("external", getclass=True, getlink=True)

f.get("soft", getclass=True)

f.get("dangling", getclass=True)

f.get("lost", 5, getclass=True)

f.get("g/n", getlink=True), f.get("/g/n", getclass=True)

f.get("d/x", 3)

f.get(3)

f.get(None)

f.get(b"d")

f.get("")

f.get("/", getlink=True)

f.get("d", nope=1)

f.get(f["d"].ref)

h5py.SoftLink("/a").path, repr(h5py.SoftLink("/a")), h5py.SoftLink(b"/a").path

h5py.SoftLink(3).path

h5py.SoftLink()

h5py.SoftLink("/a") == h5py.SoftLink("/a")

h5py.ExternalLink("a.h5", "/x"), h5py.ExternalLink("a.h5", "/x").filename

h5py.ExternalLink(Path("a.h5"), "/x").filename

h5py.ExternalLink(b"a.h5", "/x").filename

h5py.ExternalLink("a.h5")

h5py.ExternalLink(3, "/x").filename

h5py.ExternalLink("a.h5", 3).path

h5py.HardLink()

repr(h5py.HardLink())

h5py.HardLink(1)

f["one"] = h5py.SoftLink("two")
f["two"] = h5py.SoftLink("one")
f["one"]

f["one"] = h5py.SoftLink("one")
"one" in f, f.get("one")

f["self"] = h5py.SoftLink("/")
f["self/self/d"].name

f["g/up"] = h5py.SoftLink("../d")
f["g/up"]

f["g/here"] = h5py.SoftLink("n")
f["g/here"][:], f["g/here"].name

f["a"] = h5py.SoftLink("g/n")
f["b"] = h5py.SoftLink("a")
f["b"][:], f["b"].name

f["a"] = h5py.SoftLink("")

f["a"] = h5py.SoftLink("x\0y")

f["a"] = h5py.ExternalLink("f.h5", "/d")
f["a"].shape

f["a"] = h5py.ExternalLink("other.h5", "/nope")
f["a"]

f["a"] = h5py.ExternalLink("other.h5", "/")
list(f["a"]), f["a"].name, f["a"].file.mode

f["a"] = h5py.ExternalLink("", "/x")

f["a"] = h5py.ExternalLink(Path("other.h5"), "there")
f["a/"]

f["external"][0] = 9
h5py.File("other.h5", "r")["there"][:]

f["external"].file.mode

f.close()
h5py.File("f.h5", "r")["external"].file.mode

f.copy("d", "e").shape if f.copy("d", "e") else f["e"].shape

f.copy("d", "copied")
f["copied"][:], dict(f["copied"].attrs.items())["units"]

f.copy("d", "d")

f.copy("d", "g")

f.copy("nope", "fresh")

f.copy(f["d"], f["g"])
f["g/d"].shape

f.copy(f["d"], f["g"], "renamed")
f["g/renamed"].shape

f.copy(f["d"], "g/other")
f["g/other"].shape

f.copy("g", "h")
sorted(f["h"]), f["h"].attrs["of"]

f.copy("g", "h", shallow=True)
sorted(f["h"]), list(f["h/sub"])

f.copy("d", "h", without_attrs=True)
list(f["h"].attrs)

f.copy("soft", "h")
list(f["h"]), f.get("h", getlink=True)

f.create_group("from")
f["from/soft"] = h5py.SoftLink("/d")
f["from/ext"] = h5py.ExternalLink("other.h5", "/there")
f.copy("from", "to")
f.get("to/soft", getlink=True), f.get("to/ext", getlink=True)

f.create_group("from")
f["from/soft"] = h5py.SoftLink("/d")
f["from/ext"] = h5py.ExternalLink("other.h5", "/there")
f.copy("from", "to", expand_soft=True, expand_external=True)
f.get("to/soft", getlink=True), f.get("to/ext", getlink=True)

f.copy("refs", "refs2")
bool(f["refs2"][0])

f.copy("refs", "refs2", expand_refs=True)
bool(f["refs2"][0])

f.copy("d", h5py.File("new.h5", "w"))
h5py.File("new.h5")["d"][1]

new = h5py.File("new.h5", "w")
f.copy("g", new, "all")
new["all/n"][:], new["all"].attrs["of"]

new = h5py.File("new.h5", "w")
new.copy(f["d"], "x")
new["x"][:].tolist()

new = h5py.File("new.h5", "w")
f.copy(f, new, "whole")
len(new["whole"]) == len(f)

new = h5py.File("new.h5", "w")
f.copy(f["/"], new["/"], name="root")
"root/g/sub/deep" in new

f.copy("d", "a/b/c")

f.copy("d", 3)

f.copy(3, "x")

f.copy("d", None)

f.copy()

f.copy("dangling", "fresh")

f.copy("external", "fresh")
f["fresh"][:], f.get("fresh", getlink=True)

f["g"].copy("n", "m")
f["g/m"][:]

f["g"].copy("/d", "/fromroot")
f["fromroot"].shape

f.copy("named", "named2")
f["named2"].dtype

f.copy("scaled", "scaled2")
[len(dim) for dim in f["scaled2"].dims], f["scaled2"].dims[1].label

f.copy("k", "k2")
f["k2"].chunks, f["k2"].maxshape, f["k2"][9]

f.copy("ordered", "o2")
list(f["o2"])

f.move("d", "e")
f["e"].shape, "d" in f, f["e"].attrs["units"]

f.move("d", "g/deeper/e")
f["g/deeper/e"].name

f.move("d", "g")

f.move("nope", "e")

f.move("soft", "hardly")
f.get("hardly", getlink=True).path

f.move("d", "d")

f.move("g", "g/sub/x")

f.move("d", "")

f.move(3, "x")

f.move("d", None)

d = f["d"]
f.move("d", "e")
d.name

g = f["g"]
f.move("g", "h")
g.name, g["n"].name

f["g"].move("n", "/n")
"n" in f

f.visit([].append)

seen = []
f.visit(seen.append)
seen

seen = []
f["g"].visit(seen.append)
seen

seen = []
f.visititems(lambda name, node: seen.append((name, type(node).__name__)))
seen

seen = []
f.visit_links(seen.append)
seen

seen = []
f.visititems_links(lambda name, link: seen.append((name, link)))
seen

f.visit(lambda name: name if "sub" in name else None)

f.visititems(lambda name, node: node if name == "g/n" else None)

f.visit(lambda name: False)

f.visit(lambda name: 0)

f.visit(lambda: None)

f.visit(lambda name: 1 / 0)

f.visititems(lambda name: None)

f.visit(None)

f.visit()

seen = []
f["ordered"].visit(seen.append)
seen

f["again"] = f["g"]
seen = []
f.visit(seen.append)
[name for name in seen if "n" in name]

f["g/loop"] = f["g"]
seen = []
f["g"].visit(seen.append)
seen

f["d"].visit([].append)

f.visititems(lambda name, node: node.attrs.get("units"))

[name for name in f if isinstance(f.get(name, getlink=True), h5py.SoftLink)]

f.get_link("d")

group = f["g"].id
group.links.exists(b"n"), group.links.get_info(b"n").type

f.id.links.get_val(b"soft")

f.id.links.get_val(b"external")

seen = []
group = f["g"].id
group.links.visit(seen.append), seen

h5py.h5o.exists_by_name(f.id, b"dangling"), h5py.h5o.exists_by_name(f.id, b"d")

h5py.h5o.get_info(f["d"].id).rc, h5py.h5o.get_info(f["g"].id).type

h5py.h5g.get_objinfo(f.id, b"d").nlink
