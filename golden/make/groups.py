"""Groups of every storage: symbol tables, compact and dense links; every kind of link."""

import h5py
import numpy as np
from common import call, main

UNICODE = ("äöü", "日本語", "emoji 🎈", "a b", ".hidden", "dots...", "x" * 200, "new\nline", "ü" * 100)


def tracked(golden, path, order, indexed=True):
    """Creates a group that tracks creation order if `order` is set, with or without an index over it."""
    gcpl = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
    gcpl.set_obj_track_times(False)
    if order:
        gcpl.set_link_creation_order(h5py.h5p.CRT_ORDER_TRACKED | (h5py.h5p.CRT_ORDER_INDEXED if indexed else 0))
    return h5py.Group(h5py.h5g.create(golden.h5.id, path.encode(), gcpl=gcpl))


def fill(group, count):
    """Creates hard links to one small group, in an order that is not alphabetic."""
    target = group.create_group("target")
    for i in range(count):
        group[f"member{(i * 7919) % count:05}"] = target


def links(golden):
    """Creates every kind of link, including loops and dangling links."""
    golden.dataset("data/numbers", (5,), "<i4", index="contiguous")
    h5 = golden.h5
    h5["hard"] = h5["data/numbers"]
    h5["soft"] = h5py.SoftLink("/data/numbers")
    h5["soft_relative"] = h5py.SoftLink("data/numbers")
    h5["data/up"] = h5py.SoftLink("numbers")
    h5["soft_group"] = h5py.SoftLink("/data")
    h5["soft_of_soft"] = h5py.SoftLink("soft_group/up")
    h5["dangling"] = h5py.SoftLink("/not/here")
    h5["loop_a"] = h5py.SoftLink("/loop_b")
    h5["loop_b"] = h5py.SoftLink("/loop_a")
    h5["self"] = h5py.SoftLink("self")
    h5["data/root"] = h5["/"]
    h5["external"] = h5py.ExternalLink("link_target.h5", "/inside/values")
    h5["external_group"] = h5py.ExternalLink("link_target.h5", "/inside")
    h5["external_missing_file"] = h5py.ExternalLink("no_such_file.h5", "/x")
    h5["external_missing_object"] = h5py.ExternalLink("link_target.h5", "/x")


def make(topic):
    with topic.file("link_target.h5") as golden:
        golden.dataset("inside/values", (4, 3), "<f4", index="contiguous")
        golden.h5["inside/back"] = h5py.SoftLink("/inside/values")

    for libver in ("earliest", "v108", "latest"):
        with topic.file(f"links_{libver}.h5", libver) as golden:  # symbol table; compact messages; compact messages
            links(golden)
        with topic.file(f"names_{libver}.h5", libver) as golden:
            for name in UNICODE:
                golden.h5.create_group(name)
            for depth in range(7):
                golden.h5.create_group("deep" + f"/level{depth}" * (depth + 1))
            golden.h5.create_group("empty")

    # Symbol tables: one node; then 300 and 3000 links, with one and two levels of B-tree nodes.
    for count in (3, 300, 3000):
        with topic.file(f"symbol_table_{count}.h5") as golden:
            fill(golden.h5.create_group("g"), count)
    with topic.file("symbol_table_deep.h5", setup=lambda fcpl: call("H5Pset_sym_k", fcpl.id, 1, 1)) as golden:
        fill(golden.h5.create_group("g"), 10)  # K = 1: nine levels

    # New-style groups: compact up to 8 links, then dense (fractal heap and v2 B-tree).
    for libver in ("v108", "latest"):
        for count in (5, 40, 2500):
            with topic.file(f"links_{libver}_{count}.h5", libver) as golden:
                fill(tracked(golden, "by_name", False), count)
                fill(tracked(golden, "tracked", True, indexed=False), count)
                fill(tracked(golden, "by_order", True), count)
    with topic.file("dense_kinds.h5", "latest") as golden:
        links(golden)
        group = tracked(golden, "dense", True)
        for i in range(30):
            group[f"soft{i:02}"] = h5py.SoftLink("/data/" + "numbers" if i % 2 else "/nowhere/" + "long" * i)
            group[f"external{i:02}"] = h5py.ExternalLink("link_target.h5", "/inside/values" if i % 2 else "/none")
            group[f"hard{i:02}"] = golden.h5["data"]
        group["n" * 5000] = golden.h5["data"]  # larger than managed objects of the heap, so it is a huge object
    with topic.file("deleted_links.h5", "latest") as golden:
        group = tracked(golden, "g", True)
        fill(group, 200)
        for i in range(0, 200, 3):
            del group[f"member{i:05}"]
    with topic.file("comments.h5") as golden:
        group = golden.h5.create_group("g")
        call("H5Oset_comment", group.id.id, b"a comment message")
        golden.dataset("g/d", (3,), "<i2", index="contiguous")
    with topic.file("mixed_styles.h5") as golden:
        fill(golden.h5.create_group("old"), 20)
        fill(tracked(golden, "new", True), 20)  # creation order forces the new style in an old file
        golden.h5["type"] = np.dtype("<i4")


if __name__ == "__main__":
    main("groups", make)
