"""Cases of the rules by which a call is left to libhdf5, and of reads and writes near them (`shown.py`)."""

import os
import subprocess
import sys
from functools import partial

import h5py
import hdf5plugin
import numpy as np
from shown import OPTIONS, OTHERS, VALUES, attempt, main, make, reread, show


def small(folder):
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5") as file:
        show("element", file["d"][3, 4])
        show("row", file["d"][7])


def compact(folder):
    with h5py.File(folder / "f.h5", "w") as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((5000,))
        h5py.h5d.create(file.id, b"d", h5py.h5t.STD_I32LE, space, dcpl=plist)
        file["d"][:] = np.arange(5000)
    reread(folder, "compact")


def external(folder):
    with h5py.File(folder / "f.h5", "w") as file:
        file.create_dataset("d", data=VALUES, external=[("a.raw", 0, 20_000), ("b.raw", 64, h5py.h5f.UNLIMITED)])
    reread(folder, "external")
    os.truncate("b.raw", 0)
    reread(folder, "truncated")


def virtual(folder):
    make(folder / "source.h5")
    layout = h5py.VirtualLayout((2, 120, 100), "<i4")
    layout[0] = h5py.VirtualSource(folder / "source.h5", "d", (120, 100))
    with h5py.File(folder / "f.h5", "w") as file:
        file.create_virtual_dataset("d", layout, fillvalue=-3)
    reread(folder, "virtual")
    make(folder / "source.h5", dtype=">i8")
    reread(folder, "changed")


def variable_length(folder):
    with h5py.File(folder / "f.h5", "w") as file:
        words = [f"word {number}" for number in range(3000)]
        file.create_dataset("words", data=words, chunks=(500,), compression="gzip")
        lists = file.create_dataset("lists", (3000,), h5py.vlen_dtype("<i4"), chunks=(500,), compression="gzip")
        lists[:] = [np.arange(number % 5) for number in range(3000)]
    with h5py.File(folder / "f.h5") as file:
        show("words", file["words"])
        show("lists", np.concatenate(file["lists"][:]))


def references(folder):
    with h5py.File(folder / "f.h5", "w") as file:
        target = file.create_dataset("target", data=VALUES)
        found = file.create_dataset("d", (3000,), h5py.ref_dtype, chunks=(500,), compression="gzip")
        found[:] = [target.ref] * 3000
    with h5py.File(folder / "f.h5") as file:
        show("names", [file[reference].name == "/target" for reference in file["d"][:]])


def skipped_filters(folder):
    """A chunk that was stored without the filters of its dataset."""
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5", "r+") as file:
        file["d"].id.write_direct_chunk((30, 0), OTHERS[30:60].tobytes(), filter_mask=3)
    reread(folder, "skipped")


def unknown_filter(number=400):
    """Returns the creation properties of a dataset under an optional filter: one that no library has."""
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((30, 100))
    plist.set_filter(number, h5py.h5z.FLAG_OPTIONAL, (1, 2))
    return plist


def create(file, plist):
    return h5py.h5d.create(file.id, b"d", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((120, 100)), dcpl=plist)


def optional_filter(folder):
    """A filter that no library has, and that was left out because it is optional."""
    plist = unknown_filter()
    plist.set_deflate(4)
    with h5py.File(folder / "f.h5", "w") as file:
        create(file, plist).write(h5py.h5s.ALL, h5py.h5s.ALL, VALUES)
    with h5py.File(folder / "f.h5") as file:
        dataset = file["d"]
        print([dataset.id.get_chunk_info(number).filter_mask for number in range(4)])
        show("read", dataset)


def missing_filter(folder):
    """A chunk under a filter that no library has."""
    with h5py.File(folder / "f.h5", "w") as file:
        create(file, unknown_filter()).write_direct_chunk((0, 0), VALUES[:30].tobytes())
    try:
        reread(folder, "read")
    except OSError:  # its text depends on the folders of plug-ins
        print("failed")


def filter_of_the_engine(folder):
    """Snappy, which the engine has and the program's libhdf5 lacks."""
    with h5py.File(folder / "f.h5", "w") as file:
        dataset = create(file, unknown_filter(32003))
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, VALUES)
        h5py.Dataset(dataset)[3:5] = OTHERS[3:5]
        file.flush()
        print([dataset.get_chunk_info(number).filter_mask for number in range(4)])
    attempt("read", lambda: reread(folder, "filter"))


def core_driver(folder):
    with h5py.File(folder / "f.h5", "w", driver="core", backing_store=False) as file:
        show("in memory", file.create_dataset("d", data=VALUES, **OPTIONS))
        file.flush()
        image = file.id.get_file_image()
    plist = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    plist.set_fapl_core(1 << 16, False)
    plist.set_file_image(image)
    with h5py.File(h5py.h5f.open(b"image", h5py.h5f.ACC_RDONLY, plist)) as file:
        show("image", file["d"])


def family_driver(folder):
    opening = {"driver": "family", "memb_size": 10_000}
    make(folder / "f%d.h5", opening=opening)
    reread(folder, "family", "f%d.h5", **opening)


def split_driver(folder):
    make(folder / "f.h5", opening={"driver": "split"})
    reread(folder, "split", driver="split")


def file_object(folder):
    make(folder / "f.h5")
    with open(folder / "f.h5", "rb") as raw, h5py.File(raw) as file:
        show("file object", file["d"])


def user_block(folder):
    make(folder / "f.h5", opening={"userblock_size": 1024})
    reread(folder, "after a user block")


SWMR = """
import sys, h5py
file = h5py.File(sys.argv[1], "w", libver="latest")
d = file.create_dataset("d", (0, 100), "<i4", chunks=(30, 100), maxshape=(None, 100), compression="gzip")
file.swmr_mode = True
print("ready", flush=True)
for line in sys.stdin:
    rows = len(d)
    d.resize(rows + 30, axis=0)
    d[rows:] = int(line)
    d.flush()
    print("written", flush=True)
"""


def swmr(folder):
    """A reader sees what a writer appends."""
    writer = subprocess.Popen(
        [sys.executable, "-c", SWMR, folder / "f.h5"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    writer.stdout.readline()
    with h5py.File(folder / "f.h5", swmr=True, libver="latest") as file:
        dataset = file["d"]
        for number in range(3):
            writer.stdin.write(f"{number}\n")
            writer.stdin.flush()
            writer.stdout.readline()
            dataset.refresh()
            show("seen", dataset)
    writer.stdin.close()
    writer.wait()


def read(dataset, memory, space, shape):
    """Reads a selection into an array that is -1 elsewhere."""
    out = np.full(shape, -1, "<i4")
    dataset.id.read(memory, space, out)
    return out


def points(folder):
    make(folder / "f.h5")
    numbers = np.random.default_rng(3)
    places = np.stack([numbers.integers(0, 120, 4000), numbers.integers(0, 100, 4000)], axis=1)
    with h5py.File(folder / "f.h5") as file:
        space = file["d"].id.get_space()
        space.select_elements(places)
        show("points", read(file["d"], h5py.h5s.create_simple((4000,)), space, 4000))


def irregular(folder):
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5") as file:
        space = file["d"].id.get_space()
        space.select_hyperslab((0, 0), (60, 50))
        space.select_hyperslab((40, 30), (70, 60), op=h5py.h5s.SELECT_XOR)
        count = space.get_select_npoints()
        show("irregular", read(file["d"], h5py.h5s.create_simple((count,)), space, count))


def strided(folder):
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5") as file:
        show("strided", file["d"][1::2, ::3])
        show("blocks", file["d"][h5py.MultiBlockSlice(start=3, stride=10, count=9, block=4)])


def points_in_memory(folder):
    """A box of the file goes to scattered places in memory."""
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5") as file:
        places = np.random.default_rng(9).permutation(20_000)[:12_000]
        memory = h5py.h5s.create_simple((20_000,))
        memory.select_elements(places[:, None])
        show("scattered", read(file["d"], memory, h5py.h5s.ALL, 20_000))


def other_shape_in_memory(folder):
    """A box of the file goes to a box of another shape."""
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5") as file:
        memory = h5py.h5s.create_simple((51, 300))
        memory.select_hyperslab((3, 20), (48, 250))
        space = file["d"].id.get_space()
        space.select_hyperslab((0, 0), (120, 100))
        show("other shape", read(file["d"], memory, space, (51, 300)))


def written_from_gaps(folder):
    """Elements that are not neighbours in memory are written."""
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5", "r+") as file:
        memory = h5py.h5s.create_simple((120, 200))
        memory.select_hyperslab((0, 3), (120, 100))
        file["d"].id.write(memory, h5py.h5s.ALL, np.arange(24_000, dtype="<i4").reshape(120, 200))
    reread(folder, "written")


def beyond_the_extent(folder):
    """Selections that leave their extent, in the file and in memory, of reads and of writes."""
    make(folder / "f.h5", np.arange(100, dtype="<i4"), chunks=(200,), maxshape=(None,))
    everything, far = h5py.h5s.create_simple((100,)), h5py.h5s.create_simple((100,))
    far.select_hyperslab((50,), (100,))
    for mode in ("r+", "r"):
        with h5py.File(folder / "f.h5", mode) as file:
            dataset, out = file["d"].id, np.full(300, -1, "<i4")
            for what, places in (("in the file", (everything, far)), ("in memory", (far, everything))):
                if mode == "r+":
                    attempt(f"write {what}", partial(dataset.write, *places, out))
                attempt(f"read {what}", partial(dataset.read, *places, out))
                show("memory", out)
    reread(folder, "closed")


def values_that_do_not_compress(folder):
    """An optional filter is left out for a chunk that it would enlarge, and used again for other values.

    libhdf5 keeps the mask of the chunk that it used last, also when that chunk is replaced as it is stored.
    """
    noise = np.random.default_rng(1).integers(-(2**31), 2**31, 100_000).astype("<i4")
    counted = np.arange(100_000, dtype="<i4")
    for name in ("gzip", "lzf", "szip"):
        with h5py.File(folder / f"{name}.h5", "w") as file:
            dataset = file.create_dataset("d", (100_000,), "<i4", chunks=(100_000,), compression=name)
            for values in (noise, counted, noise, noise.astype("f8"), counted):
                dataset[:] = values
                show(name, dataset)
            dataset[10:20] = 3
            show(name, dataset)
        with h5py.File(folder / f"{name}.h5") as file:
            show("closed", file["d"])


def lossy(folder):
    """Filters that change values: until a flush, libhdf5 gives back the values that were written."""
    values = np.cumsum(np.random.default_rng(8).normal(size=(120, 100)), axis=1).astype("<f4")
    for name, options in (("scale-offset", {"scaleoffset": 2}), ("zfp", hdf5plugin.Zfp(accuracy=0.1))):
        with h5py.File(folder / "f.h5", "w") as file:
            dataset = file.create_dataset("d", (120, 100), "<f4", chunks=(30, 100), **options)
            dataset[...] = values
            show(f"{name}, not stored yet", dataset)
            dataset[0:10] = values[10:20]
            show(f"{name}, a part", dataset)
        reread(folder, name)
    narrow = h5py.h5t.STD_U32LE.copy()
    narrow.set_precision(20)
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_chunk((30, 100))
    creation.set_filter(h5py.h5z.FILTER_NBIT, 0)
    creation.set_deflate(1)
    with h5py.File(folder / "f.h5", "w") as file:
        wide = np.arange(12_000, dtype="<u4").reshape(120, 100) * 97_711
        dataset = h5py.h5d.create(file.id, b"d", narrow, h5py.h5s.create_simple((120, 100)), creation)
        for what, values in (("whole", wide), ("a part", wide[:10])):
            space = dataset.get_space()
            space.select_hyperslab((0, 0), values.shape)
            memory = h5py.h5s.create_simple(values.shape)
            dataset.write(memory, space, values, narrow)
            out = np.zeros_like(values)
            dataset.read(memory, space, out, narrow)
            show(f"N-bit, {what}", out)


def no_filters(folder):
    make(folder / "f.h5", compression=None, shuffle=False)
    with h5py.File(folder / "f.h5", "r+") as file:
        file["d"][...] = OTHERS
    reread(folder, "written")


def compounds(folder):
    """One member, members in another order, a member as another type."""
    records = np.zeros(5000, [("a", "<i4"), ("b", "<f8"), ("c", "S3")])
    records["a"], records["b"], records["c"] = np.arange(5000), np.arange(5000) / 3, b"xy"
    with h5py.File(folder / "f.h5", "w") as file:
        file.create_dataset("d", data=records, chunks=(500,), compression="gzip")
    with h5py.File(folder / "f.h5", "r+") as file:
        show("whole", file["d"])
        show("member", file["d"]["b"])
        show("order", file["d"].fields(["c", "a"])[:])
        file["d"]["a"] = np.arange(5000)[::-1].astype("<i4")
    with h5py.File(folder / "f.h5") as file:
        show("written", file["d"])
        show("converted", file["d"].astype([("b", "<f4"), ("a", ">i8")])[:])


def texts(folder):
    with h5py.File(folder / "f.h5", "w") as file:
        file.create_dataset("d", data=np.array([b"abc", b"de", b""] * 2000), chunks=(500,), compression="gzip")
    with h5py.File(folder / "f.h5") as file:
        show("as stored", file["d"])
        show("longer", file["d"].astype("S9")[:])
        show("shorter", file["d"].astype("S2")[:])


if __name__ == "__main__":
    main(globals())
