"""Superblocks of versions 0 to 3, user blocks, and every `libver` bound."""

import h5py
from common import call, main


def contents(golden, libver):
    """Writes a few objects, so that the root group and offsets relative to the base address are used."""
    modern = libver not in ("earliest", "v108")
    golden.dataset("a", (20,), "<i4", index="contiguous")
    golden.dataset(
        "group/b", (6, 7), ">f8", index="fixed_array" if modern else "btree1", chunks=(4, 4), compression="gzip"
    )
    golden.h5.attrs["title"] = "superblocks"
    golden.h5["group"].attrs["numbers"] = [1, 2, 3]


def make(topic):
    for libver in ("earliest", "v108", "v110", "v112", "v114", "v200", "latest"):
        with topic.file(f"libver_{libver}.h5", libver) as golden:  # versions 0, 2, 3, 3, 3, 3, 3
            contents(golden, libver)
    for low, high in (("earliest", "v108"), ("v108", "v110"), ("v110", "v114")):
        with topic.file(f"libver_{low}_{high}.h5", (low, high)) as golden:
            contents(golden, low)

    # Superblock version 1 has the K of chunk B-trees. libhdf5 writes it if that K is not the default.
    with topic.file("superblock_v1.h5", setup=lambda fcpl: call("H5Pset_istore_k", fcpl.id, 3)) as golden:
        contents(golden, "earliest")
        golden.dataset("deep", (90,), "<u2", index="btree1", chunks=(2,))
    # Superblock version 0 with other values of K for groups.
    with topic.file("superblock_v0_sym_k.h5", setup=lambda fcpl: call("H5Pset_sym_k", fcpl.id, 2, 2)) as golden:
        contents(golden, "earliest")
        for i in range(40):
            golden.h5.create_group(f"many/member{i:02}")
    # With superblock version 2, the values of K are in a superblock extension.
    for libver in ("v108", "v110"):
        with topic.file(
            f"extension_{libver}.h5", libver, setup=lambda fcpl: call("H5Pset_istore_k", fcpl.id, 3)
        ) as golden:
            contents(golden, libver)
    # Narrow offsets and lengths. (libhdf5 can write lengths of 16 bytes, but cannot read them.)
    for offsets, lengths in ((4, 4), (4, 8), (8, 4), (2, 2)):
        for libver in ("earliest", "v110"):
            if offsets == 2 and libver == "v110":
                continue
            with topic.file(
                f"sizes_{offsets}_{lengths}_{libver}.h5", libver, setup=lambda fcpl: fcpl.set_sizes(offsets, lengths)
            ) as golden:
                contents(golden, libver)

    for size in (512, 1024, 2048):
        for libver in ("earliest", "v108", "latest"):
            with topic.file(f"userblock_{size}_{libver}.h5", libver, userblock=size, userblock_bytes=size) as golden:
                contents(golden, libver)
            with open(topic.out / f"userblock_{size}_{libver}.h5", "r+b") as raw:
                raw.write(b"a user block is the user's\n" * (size // 27))

    for name, strategy in (
        ("page", h5py.h5f.FSPACE_STRATEGY_PAGE),
        ("aggregate", h5py.h5f.FSPACE_STRATEGY_AGGR),
        ("none", h5py.h5f.FSPACE_STRATEGY_NONE),
        ("managed", h5py.h5f.FSPACE_STRATEGY_FSM_AGGR),
    ):

        def setup(fcpl):
            fcpl.set_file_space_strategy(strategy, name != "none" and name != "aggregate", 1)
            if name == "page":
                fcpl.set_file_space_page_size(512)

        with topic.file(f"space_{name}.h5", "v110", setup=setup) as golden:
            contents(golden, "v110")
            golden.dataset("gone", (500,), "<i4", index="contiguous")
            del golden.h5["gone"]
            golden.datasets.pop()


if __name__ == "__main__":
    main("superblocks", make)
