"""Every layout and all six chunk indexes, with shapes that make them deep, paged, sparse or empty."""

import h5py
import numpy as np
import pattern as patterns
from common import call, dcpl, grid, main

EARLY = h5py.h5d.ALLOC_TIME_EARLY
NEVER = h5py.h5d.FILL_TIME_NEVER
UNFILTERED_EDGES = 2  # H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS
GZIP = {"compression": "gzip", "compression_opts": 4}
FULL = {"shuffle": True, "fletcher32": True, **GZIP}


def plain(topic):
    """Contiguous and compact, every rank."""
    for libver in ("earliest", "latest"):
        with topic.file(f"ranks_{libver}.h5", libver) as golden:
            golden.dataset("rank0", (), "<f8", index="contiguous")
            for rank in (1, 2, 3, 4, 5, 8):
                shape = (5, 4, 3, 2, 3, 2, 2, 2)[:rank]
                chunks = (2, 3, 2, 1, 2, 1, 2, 1)[:rank]
                golden.dataset(f"contiguous{rank}", shape, "<i2", index="contiguous")
                golden.dataset(
                    f"chunked{rank}",
                    shape,
                    "<i2",
                    chunks=chunks,
                    index="btree1" if libver == "earliest" else "fixed_array",
                )
                golden.dataset(
                    f"gzip{rank}",
                    shape,
                    "<i4",
                    chunks=chunks,
                    **FULL,
                    index="btree1" if libver == "earliest" else "fixed_array",
                )
        with topic.file(f"compact_{libver}.h5", libver) as golden:
            for name, shape in (("scalar", ()), ("line", (10,)), ("box", (3, 4, 5)), ("large", (8000,))):
                plist = dcpl()
                plist.set_layout(h5py.h5d.COMPACT)
                golden.dataset(name, shape, "<i8", index="compact", dcpl=plist)
        with topic.file(f"empty_{libver}.h5", libver) as golden:
            golden.dataset("zero", (0,), "<i4", index="contiguous")
            golden.dataset("zero_middle", (3, 0, 2), "<i4", index="contiguous")
            golden.dataset(
                "zero_chunked",
                (0,),
                "<i4",
                chunks=(4,),
                maxshape=(None,),
                index="btree1" if libver == "earliest" else "extensible_array",
            )
            golden.dataset(
                "zero_fixed",
                (0, 4),
                "<i4",
                chunks=(2, 2),
                maxshape=(8, 4),
                **GZIP,
                index="btree1" if libver == "earliest" else "fixed_array",
            )
            golden.h5["null"] = h5py.Empty("<f4")
            golden.dataset("never_contiguous", (7,), "<i4", pattern="fill", index="contiguous")
            golden.dataset("never_contiguous_fill", (7,), "<f4", pattern="fill", fillvalue=2.5, index="contiguous")
            golden.dataset(
                "never_chunked",
                (7, 5),
                ">u2",
                pattern="fill",
                fillvalue=513,
                chunks=(2, 2),
                **GZIP,
                index="btree1" if libver == "earliest" else "fixed_array",
            )
            golden.dataset(
                "never_early", (40,), "<i4", pattern="fill", fillvalue=-9, index="contiguous", dcpl=dcpl(alloc=EARLY)
            )


def old_btree(topic):
    """Version 1 B-trees: one level, then more; `K` is 32 unless the file says otherwise."""
    with topic.file("btree1.h5") as golden:
        golden.dataset("one_chunk", (4, 4), "<i4", chunks=(4, 4), index="btree1")
        golden.dataset("level0", (50,), "<i4", chunks=(3,), index="btree1")
        golden.dataset("level0_gzip", (50,), "<i4", chunks=(3,), index="btree1", **GZIP)
        golden.dataset("level1", (700,), "<u1", chunks=(2,), index="btree1")
        golden.dataset("grid", (20, 21), "<f4", chunks=(3, 4), index="btree1", **FULL)
        golden.dataset(
            "sparse", (20, 21), "<f4", chunks=(3, 4), index="btree1", fillvalue=-1.5, written=grid((20, 21), (3, 4), 5)
        )
        golden.dataset("unlimited", (20, 21), "<f4", chunks=(3, 4), maxshape=(None, None), index="btree1")
        golden.dataset("early", (20, 21), "<i2", chunks=(3, 4), index="btree1", dcpl=dcpl(alloc=EARLY))
    with topic.file("btree1_level2.h5") as golden:
        golden.dataset("level2", (6000,), "<u1", chunks=(1,), index="btree1")
    for k, count in ((1, 8), (2, 200)):
        with topic.file(f"btree1_k{k}.h5", setup=lambda fcpl: call("H5Pset_istore_k", fcpl.id, k)) as golden:
            golden.dataset("deep", (count,), "<i4", chunks=(1,), index="btree1")  # 7 and 5 levels
            golden.dataset("deep_grid", (4, count // 4), "<i4", chunks=(1, 1), index="btree1", **GZIP)


def new_indexes(topic, libver):
    """Single, implicit, fixed array, extensible array, v2 B-tree."""
    with topic.file(f"single_{libver}.h5", libver) as golden:
        golden.dataset("plain", (5, 6), "<i4", chunks=(5, 6), index="single")
        golden.dataset("gzip", (5, 6), "<i4", chunks=(5, 6), index="single", **GZIP)
        golden.dataset("full", (300,), "<i4", pattern="steps", chunks=(300,), index="single", **FULL)
        golden.dataset("never", (5, 6), "<i4", pattern="fill", fillvalue=7, chunks=(5, 6), index="single")
        golden.dataset("never_gzip", (5, 6), "<i4", pattern="fill", fillvalue=7, chunks=(5, 6), index="single", **GZIP)
        golden.dataset("rank1", (3,), "<f8", chunks=(3,), index="single")
    with topic.file(f"implicit_{libver}.h5", libver) as golden:  # early allocation, no filter, fixed extents
        golden.dataset("line", (50,), "<i4", chunks=(7,), index="implicit", dcpl=dcpl(alloc=EARLY))
        golden.dataset("box", (9, 10, 4), ">f4", chunks=(2, 3, 4), index="implicit", dcpl=dcpl(alloc=EARLY))
        golden.dataset(
            "below_maximum", (9, 10), "<i2", chunks=(2, 3), maxshape=(16, 20), index="implicit", dcpl=dcpl(alloc=EARLY)
        )
        golden.dataset(
            "never", (50,), "<i4", pattern="fill", fillvalue=3, chunks=(7,), index="implicit", dcpl=dcpl(alloc=EARLY)
        )
    with topic.file(f"fixed_array_{libver}.h5", libver) as golden:
        golden.dataset("unpaged", (100,), "<i4", chunks=(3,), index="fixed_array")
        golden.dataset("unpaged_gzip", (30, 31), "<i4", chunks=(4, 5), index="fixed_array", **GZIP)
        golden.dataset(
            "sparse",
            (30, 31),
            "<f8",
            chunks=(4, 5),
            fillvalue=0.5,
            written=grid((30, 31), (4, 5), 3),
            index="fixed_array",
        )
        golden.dataset(
            "sparse_full",
            (30, 31),
            "<f8",
            chunks=(4, 5),
            fillvalue=0.5,
            written=grid((30, 31), (4, 5), 3),
            index="fixed_array",
            **FULL,
        )
        golden.dataset("below_maximum", (10, 11), "<i4", chunks=(4, 5), maxshape=(30, 31), index="fixed_array")
        golden.dataset("exactly_a_page", (1024,), "<u1", chunks=(1,), written=[(0,), (1023,)], index="fixed_array")
        # More than 1024 chunks are in pages of 1024. The second page of `paged_sparse` is never written.
        golden.dataset(
            "paged_sparse", (4000,), "<u1", chunks=(1,), written=[(0,), (700,), (2500,), (3999,)], index="fixed_array"
        )
        golden.dataset(
            "paged_gzip",
            (2100,),
            "<i2",
            chunks=(1,),
            written=[(1,), (1023,), (1024,), (2099,)],
            index="fixed_array",
            **GZIP,
        )
    with topic.file(f"fixed_array_full_{libver}.h5", libver) as golden:
        golden.dataset("paged", (2500,), "<u2", chunks=(1,), index="fixed_array")
        golden.dataset("paged_grid", (60, 70), "<u2", chunks=(1, 2), index="fixed_array", **GZIP)
    with topic.file(f"extensible_array_{libver}.h5", libver) as golden:
        golden.dataset("index_block", (10,), "<i4", chunks=(3,), maxshape=(None,), index="extensible_array")
        golden.dataset("data_blocks", (200,), "<i4", chunks=(3,), maxshape=(None,), index="extensible_array")
        golden.dataset(
            "data_blocks_gzip", (200,), "<i4", chunks=(3,), maxshape=(None,), index="extensible_array", **GZIP
        )
        golden.dataset("second_axis", (6, 50), "<i4", chunks=(2, 3), maxshape=(6, None), index="extensible_array")
        golden.dataset(
            "middle_axis", (4, 9, 5), "<i4", chunks=(2, 2, 3), maxshape=(4, None, 8), index="extensible_array", **FULL
        )
        golden.dataset(
            "sparse",
            (900,),
            "<i4",
            chunks=(3,),
            maxshape=(None,),
            fillvalue=-3,
            written=[(0,), (5,), (99,), (250,), (299,)],
            index="extensible_array",
        )
        # Secondary blocks. From element 131,056 on, data blocks have 2048 elements and are paged.
        far = [(0,), (3,), (4,), (700,), (5000,), (131055,), (131060,), (132200,), (139999,)]
        name, filters = ("paged", {}) if libver == "v110" else ("paged_gzip", GZIP)
        golden.dataset(
            name, (140000,), "<u1", chunks=(1,), maxshape=(None,), written=far, index="extensible_array", **filters
        )
    with topic.file(f"extensible_array_full_{libver}.h5", libver) as golden:
        golden.dataset("secondary", (3000,), "<u2", chunks=(1,), maxshape=(None,), index="extensible_array")
        golden.dataset(
            "secondary_gzip", (1200,), "<u2", chunks=(1,), maxshape=(None,), index="extensible_array", **GZIP
        )
    with topic.file(f"btree2_{libver}.h5", libver) as golden:
        golden.dataset("depth0", (10, 11), "<i4", chunks=(3, 4), maxshape=(None, None), index="btree2")
        golden.dataset("depth0_gzip", (10, 11), "<i4", chunks=(3, 4), maxshape=(None, None), index="btree2", **GZIP)
        golden.dataset("depth1", (20, 20), "<u1", chunks=(1, 1), maxshape=(None, None), index="btree2")
        golden.dataset("depth1_full", (20, 20), "<u1", chunks=(1, 1), maxshape=(None, None), index="btree2", **FULL)
        golden.dataset(
            "sparse",
            (60, 60, 4),
            "<i4",
            chunks=(3, 4, 4),
            maxshape=(None, None, 4),
            fillvalue=11,
            written=grid((60, 60, 4), (3, 4, 4), 7),
            index="btree2",
        )
    with topic.file(f"btree2_deep_{libver}.h5", libver) as golden:
        golden.dataset("depth2", (90, 90), "<u1", chunks=(1, 1), maxshape=(None, None), index="btree2")


def edges(topic):
    """Filter masks, unfiltered edge chunks, resized and shrunk datasets, fill times."""
    for libver in ("earliest", "latest"):
        index = (lambda new: "btree1") if libver == "earliest" else (lambda new: new)
        with topic.file(f"masks_{libver}.h5", libver) as golden:
            for name, maxshape, kind in (
                ("fixed", None, "fixed_array"),
                ("unlimited", (None, 10), "extensible_array"),
                ("free", (None, None), "btree2"),
            ):
                raw = np.ascontiguousarray(np.arange(120, dtype="<i4").reshape(12, 10))
                d = golden.h5.create_dataset(name, (12, 10), "<i4", chunks=(4, 5), maxshape=maxshape, **FULL)
                d[()] = raw
                shuffled = raw[4:8, :5].tobytes()
                d.id.write_direct_chunk((4, 0), shuffled, 0b111)  # every filter skipped
                shuffled = np.frombuffer(raw[8:12, 5:].tobytes(), "u1").reshape(-1, 4).T.tobytes()
                d.id.write_direct_chunk((8, 5), shuffled, 0b110)  # shuffled only
                golden.note(d, index(kind), "ramp", "<i4")
            d = golden.h5.create_dataset("single", (4, 5), "<i4", chunks=(4, 5), **GZIP)
            d.id.write_direct_chunk((0, 0), np.arange(20, dtype="<i4").tobytes(), 1)
            golden.note(d, index("single"), "ramp", "<i4")
        with topic.file(f"resized_{libver}.h5", libver) as golden:
            for name, maxshape, kind in (
                ("fixed", (40, 40), "fixed_array"),
                ("unlimited", (None, 40), "extensible_array"),
                ("free", (None, None), "btree2"),
            ):
                for suffix, options in (("", {}), ("_gzip", GZIP)):
                    d = golden.dataset(
                        name + suffix,
                        (21, 22),
                        "<i4",
                        chunks=(4, 5),
                        maxshape=maxshape,
                        fillvalue=77,
                        index=index(kind),
                        box=(9, 8),
                        **options,
                    )
                    d.resize((6, 8))  # drops whole chunks and the rest of partial ones
                    d.resize((21, 22))
                    golden.datasets[-1]["box"] = [6, 8]
                    d = golden.dataset(
                        name + suffix + "_shrunk",
                        (21, 22),
                        "<i4",
                        chunks=(4, 5),
                        maxshape=maxshape,
                        index=index(kind),
                        **options,
                    )
                    d.resize((7, 22))
                    golden.datasets[-1]["shape"] = [7, 22]
        with topic.file(f"fill_{libver}.h5", libver) as golden:
            for name, fill_time in (
                ("ifset", h5py.h5d.FILL_TIME_IFSET),
                ("alloc", h5py.h5d.FILL_TIME_ALLOC),
                ("never", NEVER),
            ):
                for alloc in ("LATE", "INCR", "EARLY"):
                    plist = dcpl(
                        alloc=getattr(h5py.h5d, f"ALLOC_TIME_{alloc}"),
                        fill_time=fill_time,
                        fill=np.int32(42),
                        chunk=(4,),
                    )
                    d = golden.h5.create_dataset(f"{name}_{alloc.lower()}", (10,), "<i4", chunks=(4,), dcpl=plist)
                    d[4:8] = np.arange(4)
                    golden.note(d, index("implicit" if alloc == "EARLY" else "fixed_array"))
            golden.dataset("float_be", (3,), ">f8", pattern="fill", fillvalue=1.25, index="contiguous")
            golden.dataset("string", (3,), "S5", pattern="fill", fillvalue=b"fill", index="contiguous")
            pair = np.dtype([("a", "<i4"), ("b", "<f8")])
            golden.dataset(
                "compound", (3,), pair, pattern="fill", fillvalue=np.array((3, 2.5), pair), index="contiguous"
            )
            undefined = dcpl()
            golden.dataset("undefined", (3,), "<i4", index="contiguous", dcpl=undefined)
    # Version 4 layouts may leave partial edge chunks unfiltered.
    with topic.file("unfiltered_edges.h5", "latest") as golden:
        for name, shape, maxshape, kind in (
            ("fixed", (11, 10), None, "fixed_array"),
            ("unlimited", (11, 10), (None, 10), "extensible_array"),
            ("free", (11, 10), (None, None), "btree2"),
            # The last row of chunks ends with the dataset, so its first chunk is not partial.
            ("ends_together", (12, 10), None, "fixed_array"),
        ):
            unfiltered_edges(golden, name, shape, (4, 6), maxshape, kind, "steps")
        unfiltered_edges(golden, "one_partial", (10,), (16,), (None,), "extensible_array", "mix")
        unfiltered_edges(golden, "wide_single", (16,), (16,), None, "single", "steps")

    # Small arrays whose written elements come right after parts that were never written.
    with topic.file("array_holes.h5", "latest") as golden:
        # The second of the pages of 1024 elements is never written.
        golden.dataset("pages", (2100,), "|u1", chunks=(1,), written=[(0,), (2048,), (2099,)], index="fixed_array")
        # The index block has 4 elements and the addresses of data blocks for 240 more. The first secondary
        # block, for the next 256 elements, is missing.
        golden.dataset(
            "super_blocks",
            (520,),
            "|u1",
            chunks=(1,),
            maxshape=(None,),
            written=[(0,), (500,), (501,), (519,)],
            index="extensible_array",
        )


def unfiltered_edges(golden, path, shape, chunks, maxshape, index, pattern):
    """Writes a shuffled and deflated dataset whose partial edge chunks are stored unfiltered."""
    filters = (lambda p: p.set_shuffle(), lambda p: p.set_deflate(4))
    plist = dcpl(chunk=chunks, chunk_opts=UNFILTERED_EDGES, filters=filters)
    # `create_dataset` would set the chunk shape again, which resets the option.
    d = golden.low(path, h5py.h5t.STD_I32LE, shape, plist, maxshape)
    d[()] = patterns.array(pattern, "<i4", shape)
    for number in range(d.id.get_num_chunks()):
        chunk = d.id.get_chunk_info(number)
        is_partial = any(at + c > n for at, c, n in zip(chunk.chunk_offset, chunks, shape))
        if is_partial != (chunk.size == np.prod(chunks) * 4):
            raise AssertionError(f"{path}: the chunk at {chunk.chunk_offset} has {chunk.size} bytes")
    golden.note(d, index, pattern, "<i4")


def elsewhere(topic):
    """Data in other files: external raw files and virtual datasets."""
    with topic.file("external_raw.h5") as golden:
        raw = np.arange(60, dtype="<i4").tobytes()
        (topic.out / "external_a.raw").write_bytes(b"skip" + raw[:100])
        (topic.out / "external_b.raw").write_bytes(raw[100:])
        d = golden.h5.create_dataset(
            "split", (60,), "<i4", external=[("external_a.raw", 4, 100), ("external_b.raw", 0, 140)]
        )
        golden.note(d, "external", "ramp", "<i4")
    with topic.file("virtual.h5", "latest") as golden:
        golden.dataset("source", (4, 10), "<i4", index="contiguous")
        layout = h5py.VirtualLayout((4, 10), "<i4")
        layout[:, :] = h5py.VirtualSource(".", "source", shape=(4, 10))
        golden.note(golden.h5.create_virtual_dataset("virtual", layout, fillvalue=-1), "virtual", "mix", "<i4")


def make(topic):
    plain(topic)
    old_btree(topic)
    for libver in ("v110", "latest"):
        new_indexes(topic, libver)
    edges(topic)
    elsewhere(topic)


if __name__ == "__main__":
    main("layouts", make)
