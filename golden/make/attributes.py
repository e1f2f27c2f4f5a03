"""Attributes: compact, dense and shared; every type and shape; the largest possible."""

import h5py
import numpy as np
import pattern
from common import call, dcpl, main

NUMBERS = (
    "i1",
    "u1",
    "<i2",
    ">i2",
    "<u4",
    ">u4",
    "<i8",
    ">i8",
    "<u8",
    "<f2",
    ">f2",
    "<f4",
    ">f4",
    "<f8",
    ">f8",
    "<c8",
    "<c16",
)


def every_type(attrs):
    """Writes one attribute of each type that an attribute can have, scalar and array."""
    for name in NUMBERS:
        label = np.dtype(name).name + ("_be" if name.startswith(">") else "")
        attrs.create(f"{label}_scalar", pattern.array("mix", name, ()))
        attrs.create(f"{label}_line", pattern.array("mix", name, (5,)))
        attrs.create(f"{label}_box", pattern.array("mix", name, (2, 3)))
    attrs["bool"] = True
    attrs["bools"] = np.array([True, False, True])
    attrs["text"] = "variable ü"
    attrs["text_empty"] = ""
    attrs["texts"] = ["a", "", "日本"]
    attrs.create("ascii_variable", "plain", dtype=h5py.string_dtype("ascii"))
    attrs["bytes"] = np.bytes_(b"fixed")
    attrs["bytes_array"] = np.array([b"a", b"", b"long"])
    attrs.create("fixed_utf8", "ü".encode(), dtype=h5py.string_dtype("utf-8", 6))
    attrs["empty"] = h5py.Empty("<f4")
    attrs["empty_text"] = h5py.Empty("S3")
    attrs["no_elements"] = np.zeros((0,), "<i4")
    attrs["no_elements_box"] = np.zeros((2, 0), "<i4")
    attrs["compound"] = np.array([(1, 2.5, b"x"), (3, -4.5, b"yz")], [("i", "<i2"), ("f", ">f8"), ("s", "S4")])
    attrs.create("enum", 2, dtype=h5py.enum_dtype({"RED": 0, "GREEN": 1, "BLUE": 2}, "u1"))
    attrs.create("array", np.arange(6, dtype="<i4").reshape(2, 3), shape=(2, 3), dtype=np.dtype(("<i4", (3,))))
    attrs["opaque"] = np.void(b"\x00\x01\xff")
    ragged = np.empty(3, object)
    ragged[:] = [np.array([1, 2], "<i4"), np.array([], "<i4"), np.array([7], "<i4")]
    attrs.create("sequences", ragged, dtype=h5py.vlen_dtype(np.dtype("<i4")))
    attrs["öä 日本"] = 1


def references(golden):
    """Writes attributes that refer to objects and regions, as those of dimension scales do."""
    d = golden.dataset("target", (4, 5), "<i4", index="contiguous")
    attrs = golden.h5.attrs
    attrs["object"] = d.ref
    attrs.create("objects", np.array([d.ref, golden.h5.ref], dtype=h5py.ref_dtype), dtype=h5py.ref_dtype)
    attrs["region"] = d.regionref[1:3, 2:4]


def make(topic):
    for libver in ("earliest", "v108", "latest"):
        with topic.file(
            f"attributes_{libver}.h5", libver
        ) as golden:  # symbol: compact; v108 on: dense from the ninth on
            every_type(golden.h5.attrs)
            few = golden.dataset("few", (3,), "<i4", index="contiguous")
            few.attrs["units"], few.attrs["scale"], few.attrs["n"] = "m/s", 0.5, np.int16(-3)
            every_type(golden.h5.create_group("group").attrs)
        with topic.file(f"attribute_references_{libver}.h5", libver) as golden:
            references(golden)
        with topic.file(f"attributes_large_{libver}.h5", libver) as golden:
            d = golden.dataset("d", (3,), "<i4", index="contiguous")
            d.attrs["64k"] = pattern.array("mix", "<i4", (16000,))  # just below the limit of a message
            d.attrs["20k"] = pattern.array("mix", "<f8", (2500,))
            if libver == "latest":
                d.attrs["small"] = 1
        with topic.file(f"attributes_many_{libver}.h5", libver) as golden:
            for name, count in (("five", 5), ("sixty", 60)):
                group = golden.h5.create_group(name)
                for i in range(count):
                    group.attrs[f"attribute{(i * 37) % count:03}"] = np.int32(i)
        with topic.file(f"attributes_changed_{libver}.h5", libver) as golden:
            group = golden.h5.create_group("g")
            for i in range(30):
                group.attrs[f"a{i}"] = "x" * i
            for i in range(0, 30, 4):
                del group.attrs[f"a{i}"]
            for i in range(1, 30, 4):
                group.attrs.modify(f"a{i}", "y" * (40 - i))

    with topic.file("attributes_huge.h5", "latest") as golden:  # dense storage, huge object of the fractal heap
        d = golden.h5.create_dataset("d", (3,), "<i4", dcpl=dcpl(attributes=(0, 0)), data=np.arange(3))
        golden.note(d, "contiguous", "ramp", "<i4")
        d.attrs["huge"] = pattern.array("mix", "<i4", (30000,))
        d.attrs["tiny"] = np.int8(1)
        d.attrs["scalar"] = "text"
    for indexed in (False, True):
        with topic.file(f"attributes_order_{'indexed' if indexed else 'tracked'}.h5", "latest") as golden:
            for name, count in (("compact", 6), ("dense", 25)):
                gcpl = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
                gcpl.set_obj_track_times(False)
                gcpl.set_attr_creation_order(
                    h5py.h5p.CRT_ORDER_TRACKED | (h5py.h5p.CRT_ORDER_INDEXED if indexed else 0)
                )
                group = h5py.Group(h5py.h5g.create(golden.h5.id, name.encode(), gcpl=gcpl))
                for i in range(count):
                    group.attrs[f"z{(i * 7) % count:02}"] = i
    with topic.file("attributes_named_type.h5") as golden:
        golden.h5["type"] = np.dtype([("a", "<i4"), ("b", "<f8")])
        golden.h5.attrs.create("of_named_type", np.array([(1, 2.5)], golden.h5["type"].dtype), dtype=golden.h5["type"])
        golden.h5["type"].attrs["on_a_type"] = "yes"

    def shared(fcpl):
        call("H5Pset_shared_mesg_nindexes", fcpl.id, 1)
        call("H5Pset_shared_mesg_index", fcpl.id, 0, 0x1F, 20)  # all of dataspace, datatype, fill, pipeline, attribute

    for libver in ("v108", "latest"):
        with topic.file(f"shared_messages_{libver}.h5", libver, setup=shared) as golden:
            for i in range(12):
                d = golden.dataset(
                    f"d{i:02}",
                    (6, 5),
                    "<f8",
                    index="btree1" if libver == "v108" else "fixed_array",
                    chunks=(2, 3),
                    fillvalue=1.5,
                    compression="gzip",
                    shuffle=True,
                )
                d.attrs["a shared attribute of some length"] = pattern.array("mix", "<i4", (9,))
                d.attrs["text"] = "shared text"


if __name__ == "__main__":
    main("attributes", make)
