"""Every datatype that libhdf5 2.0 writes, in both byte orders if the type has a byte order."""

import h5py
import numpy as np
import pattern
from common import call, main
from h5py import h5t

INTEGERS = tuple(f"{order}{kind}{size}" for order in "<>" for kind in "iu" for size in (1, 2, 4, 8))
FLOATS = tuple(f"{order}f{size}" for order in "<>" for size in (2, 4, 8))


def raw(golden, path, type_id, shape, array, index="contiguous", memory=None, **note):
    """Writes the bytes of `array` as elements of `type_id`, or of `memory`, which libhdf5 converts."""
    d = golden.low(path, type_id, shape)
    array = np.ascontiguousarray(array)
    call("H5Dwrite", d.id.id, (memory or type_id).id, 0, 0, 0, array.ctypes.data)
    entry = {"path": d.name, "shape": list(shape), "index": index, **note}
    golden.datasets.append(entry)
    return d


def numbers(golden):
    for name in INTEGERS + FLOATS + ("<c8", ">c8", "<c16", ">c16"):
        label = np.dtype(name).name + ("_be" if name.startswith(">") else "_le")
        golden.dataset(label, (4, 6), name, index="contiguous")
    golden.dataset("bool", (10,), "?", index="contiguous")
    golden.dataset("longdouble", (6,), np.longdouble, index="contiguous")
    golden.dataset("gradient", (300,), "<f4", pattern="ramp", index="contiguous")


def odd_numbers(golden):
    """Precisions, offsets and exponents for which NumPy has no type."""
    for bits, offset, size, base in (
        (12, 0, 2, h5t.STD_I16LE),
        (5, 2, 1, h5t.STD_U8LE),
        (24, 0, 4, h5t.STD_I32BE),
        (33, 7, 8, h5t.STD_U64LE),
    ):
        t = base.copy()
        t.set_precision(bits)
        t.set_offset(offset)
        name = f"int{bits}_at{offset}_of{size}"
        values = (np.arange(10) * 3 % (1 << min(bits - 1, 20))).astype("<i8")
        raw(golden, name, t, (10,), values, memory=h5t.NATIVE_INT64)
    three = h5t.STD_I32LE.copy()
    three.set_precision(24)
    three.set_size(3)
    raw(golden, "int24_of3", three, (10,), np.arange(-5, 5, dtype="<i8"), memory=h5t.NATIVE_INT64)
    brain = h5t.IEEE_F32LE.copy()
    brain.set_fields(15, 7, 8, 0, 7)
    brain.set_size(2)
    brain.set_ebias(127)
    raw(golden, "bfloat16", brain, (40,), pattern.brain(np.arange(40)), dtype="bf2", pattern="mix")
    tiny = h5t.IEEE_F16LE.copy()
    tiny.set_fields(7, 3, 4, 0, 3)
    tiny.set_size(1)
    tiny.set_ebias(7)
    raw(golden, "float8_e4m3", tiny, (16,), np.arange(16, dtype="u1") * 7)
    raw(golden, "float128", h5t.IEEE_F128LE, (4,), np.array([1, -2, 0.5, 3], "<f8"), memory=h5t.NATIVE_DOUBLE)
    for name, t, kind in (
        ("bits8", h5t.STD_B8LE, "u1"),
        ("bits16_be", h5t.STD_B16BE, ">u2"),
        ("bits32", h5t.STD_B32LE, "<u4"),
        ("bits64", h5t.STD_B64LE, "<u8"),
    ):
        raw(golden, name, t, (10,), pattern.array("mix", kind, (10,)), dtype=np.dtype(kind).str, pattern="mix")
    for name in ("UNIX_D32LE", "UNIX_D64BE"):
        size = 4 if "32" in name else 8
        raw(golden, f"time_{name}", getattr(h5t, name), (3,), np.arange(3, dtype=f"<i{size}"), refused=True)


def texts(golden):
    for size in (1, 5, 20):
        golden.dataset(f"ascii{size}", (12,), f"S{size}", index="contiguous")
    for padding in ("NULLTERM", "NULLPAD", "SPACEPAD"):
        for charset in ("ASCII", "UTF8"):
            t = h5t.C_S1.copy()
            t.set_size(8)
            t.set_strpad(getattr(h5t, f"STR_{padding}"))
            t.set_cset(getattr(h5t, f"CSET_{charset}"))
            filler = b" " if padding == "SPACEPAD" else b"\0"
            content = [
                b"a",
                b"",
                b"seven77",
                b"eight888" if padding != "NULLTERM" else b"x",
                "üü".encode() if charset == "UTF8" else b"ascii",
            ]
            raw(
                golden,
                f"{padding.lower()}_{charset.lower()}",
                t,
                (5,),
                np.array([c.ljust(8, filler) for c in content], "S8"),
            )
    count = 30
    many = np.array([pattern.words(k) for k in range(count)], object)
    golden.dataset("variable_utf8", (count,), h5py.string_dtype(), index="contiguous", data=many, spell="vlen:utf-8")
    plain = np.array([pattern.plain_words(k) for k in range(count)], object)
    golden.dataset(
        "variable_ascii", (count,), h5py.string_dtype("ascii"), index="contiguous", data=plain, spell="vlen:ascii"
    )
    golden.dataset("variable_scalar", (), h5py.string_dtype(), index="contiguous", data=np.array("one text", object))
    golden.h5.create_dataset("variable_unwritten", (4,), h5py.string_dtype())
    golden.h5.create_dataset("variable_fill", (4,), h5py.string_dtype(), fillvalue="filled")
    chunked = np.array([pattern.words(k) for k in range(60)], object).reshape(10, 6)
    d = golden.h5.create_dataset(
        "variable_chunked", (10, 6), h5py.string_dtype(), chunks=(3, 4), compression="gzip", data=chunked
    )
    entry = {"path": d.name, "shape": [10, 6], "chunks": [3, 4], "dtype": "vlen:utf-8", "pattern": "mix"}
    golden.datasets.append(entry)
    long = np.array(["long " * 3000, "x" * 70000], object)
    golden.h5.create_dataset("variable_long", data=long, dtype=h5py.string_dtype())


def composed(golden):
    nested = np.dtype(
        [("id", "<i4"), ("point", [("x", ">f8"), ("y", "<f4")]), ("name", "S6"), ("grid", "<i2", (2, 3)), ("flag", "?")]
    )
    golden.dataset("compound", (8,), np.dtype([("a", "<i4"), ("b", ">f8"), ("c", "u1")]), index="contiguous")
    golden.dataset("nested", (5, 2), nested, index="contiguous")
    golden.dataset(
        "nested_chunked",
        (25,),
        nested,
        chunks=(4,),
        compression="gzip",
        shuffle=True,
        index="btree1" if golden.h5.libver[0] == "earliest" else "fixed_array",
    )
    padded = np.dtype({"names": ["a", "b"], "formats": ["<i2", "<f8"], "offsets": [4, 16], "itemsize": 32})
    values = np.zeros(6, padded)
    values["a"], values["b"] = np.arange(6), np.arange(6) / 4
    golden.dataset("padded", (6,), padded, index="contiguous", data=values)
    golden.dataset("one_field", (6,), np.dtype([("only", "<i8")]), index="contiguous")
    golden.dataset("unicode_fields", (3,), np.dtype([("größe", "<i4"), ("名", "<f4")]), index="contiguous")
    golden.dataset(
        "array",
        (4,),
        np.dtype(("<i4", (2, 3))),
        index="contiguous",
        data=pattern.elements("mix", ("<i4", (2, 3)), np.arange(4)),
    )
    inner = np.zeros(3, [("v", "<f4", (3,)), ("n", [("k", "<i2")], (2,))])
    inner["v"] = np.arange(9).reshape(3, 3)
    golden.dataset("compound_of_arrays", (3,), inner.dtype, index="contiguous")
    colours = h5py.enum_dtype({"RED": 0, "GREEN": 1, "BLUE": 2, "NONE": 3}, "<i2")
    golden.dataset("enum", (20,), "<i2", pattern="small", stored_type=colours, index="contiguous")
    golden.dataset(
        "enum_be",
        (20,),
        ">u4",
        pattern="small",
        stored_type=h5py.enum_dtype({"A": 0, "B": 1, "C": 2, "D": 3}, ">u4"),
        index="contiguous",
    )
    golden.h5["opaque"] = np.array([b"\x00\x01\x02", b"abc"], "V3")
    tagged = h5t.create(h5t.OPAQUE, 4)
    tagged.set_tag(b"a tag")
    raw(golden, "opaque_tagged", tagged, (3,), np.arange(3, dtype="<u4"))
    golden.h5.create_dataset("datetime", data=np.arange(5).astype("M8[s]").astype(h5py.opaque_dtype("M8[s]")))
    count = 20
    ragged = np.empty(count, object)
    ragged[:] = [pattern.sequence(k, "<i4") for k in range(count)]
    golden.dataset(
        "sequences", (count,), h5py.vlen_dtype(np.dtype("<i4")), index="contiguous", data=ragged, spell="vlen<i4"
    )
    swapped = np.empty(count, object)
    swapped[:] = [pattern.sequence(k, ">f8") for k in range(count)]
    golden.dataset(
        "sequences_be", (count,), h5py.vlen_dtype(np.dtype(">f8")), index="contiguous", data=swapped, spell="vlen>f8"
    )
    mixed = np.zeros(4, [("n", "<i4"), ("s", h5py.string_dtype()), ("v", h5py.vlen_dtype(np.dtype("<f4")))])
    for k in range(4):
        mixed[k] = (k, f"text {k}", np.arange(k, dtype="<f4"))
    golden.h5.create_dataset("compound_with_variable", data=mixed)
    golden.h5["named"] = np.dtype([("a", "<i4"), ("b", "S3")])
    golden.h5.create_dataset("of_named", (3,), golden.h5["named"])


def references(golden):
    target = golden.dataset("target", (5, 6), "<i4", index="contiguous")
    group = golden.h5.create_group("group")
    d = golden.h5.create_dataset("objects", (4,), h5py.ref_dtype)
    d[0], d[1], d[2] = target.ref, group.ref, golden.h5.ref
    d = golden.h5.create_dataset("regions", (3,), h5py.regionref_dtype)
    d[0], d[1] = target.regionref[1:3, 2:5], target.regionref[::2, 0]
    golden.h5.create_dataset("compound", data=np.array([(1, target.ref)], [("i", "<i4"), ("r", h5py.ref_dtype)]))


def complex_class(golden):
    """Datatype class 11, new in HDF5 2.0."""
    for name in ("F32LE", "F32BE", "F64LE", "F64BE", "F16LE"):
        order, size = "<" if name.endswith("LE") else ">", int(name[1:3]) // 4
        if size == 4:
            part = pattern.array("mix", "<f2", (12,))
            raw(golden, f"complex_{name}", h5t.COMPLEX_IEEE_F16LE, (6,), part, refused=True)
        else:
            kind = f"{order}c{size}"
            raw(
                golden,
                f"complex_{name}",
                getattr(h5t, f"COMPLEX_IEEE_{name}"),
                (6,),
                pattern.array("mix", kind, (6,)),
                dtype=np.dtype(kind).str,
                pattern="mix",
            )


def make(topic):
    for libver in ("earliest", "latest"):
        for name, fill in (
            ("numbers", numbers),
            ("odd_numbers", odd_numbers),
            ("texts", texts),
            ("composed", composed),
            ("references", references),
        ):
            with topic.file(f"{name}_{libver}.h5", libver) as golden:
                fill(golden)
    with topic.file("complex_class.h5", "latest") as golden:
        complex_class(golden)


if __name__ == "__main__":
    main("datatypes", make)
