"""What programs in Python ask of libhdf5, one case for each name: it prints what it reads.

    python cases.py NAME FOLDER

The output is the same natively and through the connector.
"""

import hashlib
import os
import subprocess
import sys
import zlib
from pathlib import Path

import h5py
import numpy as np

VALUES = np.arange(12_000, dtype="<i4").reshape(120, 100)
OTHERS = VALUES[::-1] * 3


def show(what, values):
    values = np.asarray(values)
    if values.dtype.hasobject:
        print(what, hashlib.md5(repr(values.tolist()).encode()).hexdigest(), flush=True)
    else:
        print(what, values.dtype, values.shape, hashlib.md5(values.tobytes()).hexdigest(), flush=True)


def make(path, **options):
    options = {"chunks": (30, 100), "compression": "gzip", "shuffle": True} | options
    with h5py.File(path, "w") as file:
        file.create_dataset("d", data=VALUES, **options)


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
    with h5py.File(folder / "f.h5") as file:
        show("compact", file["d"])


def external(folder):
    with h5py.File(folder / "f.h5", "w") as file:
        file.create_dataset("d", data=VALUES, external=[("a.raw", 0, 20_000), ("b.raw", 64, h5py.h5f.UNLIMITED)])
    with h5py.File(folder / "f.h5") as file:
        show("external", file["d"])
    os.truncate("b.raw", 0)
    with h5py.File(folder / "f.h5") as file:
        show("truncated", file["d"])


def virtual(folder):
    make(folder / "source.h5")
    layout = h5py.VirtualLayout((2, 120, 100), "<i4")
    layout[0] = h5py.VirtualSource(folder / "source.h5", "d", (120, 100))
    with h5py.File(folder / "f.h5", "w") as file:
        file.create_virtual_dataset("d", layout, fillvalue=-3)
    with h5py.File(folder / "f.h5") as file:
        show("virtual", file["d"])
    make(folder / "source.h5", dtype=">i8")
    with h5py.File(folder / "f.h5") as file:
        show("changed", file["d"])


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
    with h5py.File(folder / "f.h5") as file:
        show("skipped", file["d"])


def optional_filter(folder):
    """A filter that no library has, and that was left out because it is optional."""
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((30, 100))
    plist.set_filter(400, h5py.h5z.FLAG_OPTIONAL, (1, 2))
    plist.set_deflate(4)
    with h5py.File(folder / "f.h5", "w") as file:
        space = h5py.h5s.create_simple((120, 100))
        dataset = h5py.h5d.create(file.id, b"d", h5py.h5t.STD_I32LE, space, dcpl=plist)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, VALUES)
    with h5py.File(folder / "f.h5") as file:
        dataset = file["d"]
        print([dataset.id.get_chunk_info(number).filter_mask for number in range(4)])
        show("read", dataset)


def missing_filter(folder):
    """A chunk under a filter that no library has."""
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((30, 100))
    plist.set_filter(400, h5py.h5z.FLAG_OPTIONAL, (1, 2))
    with h5py.File(folder / "f.h5", "w") as file:
        space = h5py.h5s.create_simple((120, 100))
        dataset = h5py.h5d.create(file.id, b"d", h5py.h5t.STD_I32LE, space, dcpl=plist)
        dataset.write_direct_chunk((0, 0), VALUES[:30].tobytes())
    with h5py.File(folder / "f.h5") as file:
        try:
            show("read", file["d"])
        except OSError:
            print("failed")


def core_driver(folder):
    with h5py.File(folder / "f.h5", "w", driver="core", backing_store=False) as file:
        dataset = file.create_dataset("d", data=VALUES, chunks=(30, 100), compression="gzip")
        show("in memory", dataset)
        file.flush()
        image = file.id.get_file_image()
    plist = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    plist.set_fapl_core(1 << 16, False)
    plist.set_file_image(image)
    with h5py.File(h5py.h5f.open(b"image", h5py.h5f.ACC_RDONLY, plist)) as file:
        show("image", file["d"])


def family_driver(folder):
    with h5py.File(folder / "f%d.h5", "w", driver="family", memb_size=10_000) as file:
        file.create_dataset("d", data=VALUES, chunks=(30, 100), compression="gzip")
    with h5py.File(folder / "f%d.h5", driver="family", memb_size=10_000) as file:
        show("family", file["d"])


def split_driver(folder):
    with h5py.File(folder / "f.h5", "w", driver="split") as file:
        file.create_dataset("d", data=VALUES, chunks=(30, 100), compression="gzip")
    with h5py.File(folder / "f.h5", driver="split") as file:
        show("split", file["d"])


def file_object(folder):
    make(folder / "f.h5")
    with open(folder / "f.h5", "rb") as raw, h5py.File(raw) as file:
        show("file object", file["d"])


def user_block(folder):
    with h5py.File(folder / "f.h5", "w", userblock_size=1024) as file:
        file.create_dataset("d", data=VALUES, chunks=(30, 100), compression="gzip")
    with h5py.File(folder / "f.h5") as file:
        show("after a user block", file["d"])


def unflushed(folder):
    """What was written, and is not in the file yet."""
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5", "r+") as file:
        file["d"][5:40, 10:20] = -1
        show("unflushed", file["d"])
        file["d"][...] = OTHERS
        show("whole", file["d"])
        file["d"][5:40, 10:20] = -2
        show("part", file["d"])
        file["d"][0:30] = 7
        file["d"][2, 3] = 8
        file["d"][0:30] = 9
        show("chunk, element, chunk", file["d"])
        file["d"][40:50] = VALUES[40:50]
        file["d"][30:60] = OTHERS[0:30]
        show("part, chunk", file["d"])
    with h5py.File(folder / "f.h5") as file:
        show("closed", file["d"])


def opened_twice(folder):
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5", "r+") as writer, h5py.File(folder / "f.h5", "r+") as reader:
        show("before", reader["d"])
        writer["d"][30:60] = -5
        writer["d"][3, 4] = -6
        show("other handle", reader["d"])
        show("same handle", writer["d"])
        again = h5py.Dataset(h5py.h5d.open(reader.id, b"d"))
        again[60:90] = -7
        show("both", writer["d"])


def read_then_written(folder):
    """A file that is read, closed, changed and read again."""
    make(folder / "f.h5")
    for turn in range(3):
        with h5py.File(folder / "f.h5") as file:
            show(f"turn {turn}", file["d"])
        with h5py.File(folder / "f.h5", "r+") as file:
            file["d"][30 * turn : 30 * turn + 30] = -turn
    make(folder / "f.h5", dtype="<f8", chunks=(17, 23))
    with h5py.File(folder / "f.h5") as file:
        show("another file", file["d"])


def renamed(folder):
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5") as file:
        (folder / "f.h5").rename(folder / "g.h5")
        with h5py.File(folder / "f.h5", "w") as other:
            other.create_dataset("d", data=OTHERS)
        show("renamed", file["d"])
    with h5py.File(folder / "g.h5") as file:
        (folder / "g.h5").unlink()
        show("removed", file["d"])


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


def points(folder):
    make(folder / "f.h5")
    numbers = np.random.default_rng(3)
    places = np.stack([numbers.integers(0, 120, 4000), numbers.integers(0, 100, 4000)], axis=1)
    with h5py.File(folder / "f.h5") as file:
        space = file["d"].id.get_space()
        space.select_elements(places)
        out = np.full(4000, -1, "<i4")
        file["d"].id.read(h5py.h5s.create_simple((4000,)), space, out)
        show("points", out)


def irregular(folder):
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5") as file:
        space = file["d"].id.get_space()
        space.select_hyperslab((0, 0), (60, 50))
        space.select_hyperslab((40, 30), (70, 60), op=h5py.h5s.SELECT_XOR)
        out = np.full(space.get_select_npoints(), -1, "<i4")
        file["d"].id.read(h5py.h5s.create_simple(out.shape), space, out)
        show("irregular", out)


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
        out = np.full(20_000, -1, "<i4")
        file["d"].id.read(memory, h5py.h5s.ALL, out)
        show("scattered", out)


def other_shape_in_memory(folder):
    """A box of the file goes to a box of another shape."""
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5") as file:
        memory = h5py.h5s.create_simple((51, 300))
        memory.select_hyperslab((3, 20), (48, 250))
        space = file["d"].id.get_space()
        space.select_hyperslab((0, 0), (120, 100))
        out = np.full((51, 300), -1, "<i4")
        file["d"].id.read(memory, space, out)
        show("other shape", out)


def parts_of_chunks(folder):
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5", "r+") as file:
        file["d"][10:110] = OTHERS[10:110]
    with h5py.File(folder / "f.h5") as file:
        show("written", file["d"])


def encoded(values):
    return zlib.compress(np.frombuffer(values.tobytes(), "u1").reshape(-1, 4).T.tobytes(), 5)


def direct_chunks(folder):
    """Chunks that are written as they are stored, before and after parts of them."""
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5", "r+") as file:
        dataset = file["d"]
        dataset[30:45] = -1
        dataset.id.write_direct_chunk((30, 0), encoded(OTHERS[30:60]))
        show("over a part", dataset)
        dataset[60:70] = -2
        dataset.id.write_direct_chunk((60, 0), encoded(OTHERS[60:90]))
        dataset[70:80] = -3
        show("under a part", dataset)
        dataset[0:15] = -4
        mask, stored = dataset.id.read_direct_chunk((0, 0))
        print(mask, hashlib.md5(zlib.decompress(stored)).hexdigest())
        dataset[15:30] = -5
        mask, stored = dataset.id.read_direct_chunk((0, 0))
        print(mask, hashlib.md5(zlib.decompress(stored)).hexdigest())
    with h5py.File(folder / "f.h5") as file:
        show("closed", file["d"])


def grows_by_rows(folder):
    """A dataset that grows by rows, as programs append to it: resize, write, resize."""
    with h5py.File(folder / "f.h5", "w") as file:
        dataset = file.create_dataset("d", (0, 100), "<i4", maxshape=(None, None), chunks=(30, 60), compression="gzip")
        for row in range(0, 120, 8):
            dataset.resize(row + 8, axis=0)
            dataset[row : row + 8] = VALUES[row : row + 8]
        show("grown", dataset)
        dataset.resize((65, 70))
        dataset.resize((120, 100))
        show("shrunk and grown", dataset)
        dataset[64:66] = -1
        dataset.resize(60, axis=0)
        dataset.resize(120, axis=0)
        show("cut", dataset)
    with h5py.File(folder / "f.h5") as file:
        show("closed", file["d"])
        print(file["d"].id.get_num_chunks())


def parts_of_new_chunks(folder):
    """Parts of chunks that were never written, with a fill value."""
    with h5py.File(folder / "f.h5", "w") as file:
        options = {"chunks": (30, 60), "compression": "gzip", "fillvalue": -9}
        dataset = file.create_dataset("d", (120, 100), "<i4", **options)
        dataset[10:20] = VALUES[10:20]
        dataset[40:50, 20:70] = 1
        print(dataset.id.get_num_chunks())
        show("parts", dataset)
        other = file.create_dataset("e", (120, 100), "<i4", **options)
        other[5:7] = 3
        file.copy("d", "copy")
        file.copy("e", "other copy")
        show("copies", file["copy"][:] + file["other copy"][:])
        del file["e"]
        dataset[0:10] = VALUES[0:10]
    with h5py.File(folder / "f.h5") as file:
        show("closed", file["d"])
        print(sorted(file), file["d"].id.get_num_chunks())


def left_open(folder):
    """A part of a chunk is written, and the program ends without closing its file or dataset."""
    program = (
        "import h5py, sys; file = h5py.File(sys.argv[1], 'w'); "
        "d = file.create_dataset('d', (120, 100), '<i4', chunks=(30, 100), compression='gzip'); "
        "d[3:50] = [[7] * 100] * 47; kept = file['d']; sys.exit()"
    )
    subprocess.run([sys.executable, "-c", program, folder / "f.h5"], check=True)
    with h5py.File(folder / "f.h5") as file:
        show("ended", file["d"])


def closed_before_its_dataset(folder):
    """The file's handle is closed while a dataset of it stays open and is written."""
    plist = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    plist.set_fclose_degree(h5py.h5f.CLOSE_WEAK)
    make(folder / "f.h5")
    file = h5py.h5f.open(str(folder / "f.h5").encode(), h5py.h5f.ACC_RDWR, plist)
    dataset = h5py.Dataset(h5py.h5d.open(file, b"d"))
    dataset[2:50] = -1
    file.close()
    dataset[49:70] = -2
    show("open", dataset)
    dataset.id.close()
    with h5py.File(folder / "f.h5") as file:
        show("closed", file["d"])


def killed(folder):
    """What was flushed is in the file of a program that is killed."""
    program = (
        "import h5py, numpy as np, os, sys; file = h5py.File(sys.argv[1], 'w'); "
        "d = file.create_dataset('d', (120, 100), '<i4', chunks=(30, 100), compression='gzip'); file.flush(); "
        "d[3:50] = np.full((47, 100), 7, '<i4'); file.flush(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, folder / "f.h5"], check=False)
    with h5py.File(folder / "f.h5") as file:
        show("flushed", file["d"])


def other_ways_to_look(folder):
    """What shows the chunks of a dataset while parts of them were written."""
    make(folder / "f.h5", chunks=(30, 60))
    with h5py.File(folder / "f.h5", "r+") as file:
        dataset = file["d"]
        dataset[:] = 0
        dataset[3:50] = VALUES[3:50]
        found = []
        dataset.id.chunk_iter(lambda info: found.append(info.chunk_offset))
        print(sorted(found), dataset.id.get_num_chunks(), dataset.id.get_storage_size() > 0)
        dataset.refresh()
        show("refreshed", dataset)
        dataset[50:70] = 5
        show("again", file["/d"])
        file.move("d", "e")
        dataset[70:75] = 6
        show("moved", file["e"])
        reference = file["e"].ref
        show("by reference", file[reference])
        file.flush()
        with open(folder / "f.h5", "rb") as raw, h5py.File(raw) as other:
            show("flushed", other["e"])


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


def no_filters(folder):
    make(folder / "f.h5", compression=None, shuffle=False)
    with h5py.File(folder / "f.h5", "r+") as file:
        file["d"][...] = OTHERS
    with h5py.File(folder / "f.h5") as file:
        show("written", file["d"])


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


def links_to_other_files(folder):
    """A dataset behind an external link, in a file with the same addresses."""
    make(folder / "f.h5")
    with h5py.File(folder / "g.h5", "w") as file:
        file.create_dataset("d", data=OTHERS, chunks=(30, 100), compression="gzip", shuffle=True)
    with h5py.File(folder / "f.h5", "r+") as file:
        file["other"] = h5py.ExternalLink("g.h5", "/d")
    with h5py.File(folder / "f.h5") as file:
        show("here", file["d"])
        show("there", file["other"])
        show("here", file["d"])


def two_files(folder):
    """Two files with the same addresses, open at once, and one of them closed."""
    make(folder / "f.h5")
    with h5py.File(folder / "g.h5", "w") as file:
        file.create_dataset("d", data=OTHERS, chunks=(30, 100), compression="gzip", shuffle=True)
    first, second = h5py.File(folder / "f.h5"), h5py.File(folder / "g.h5")
    kept = first["d"]
    show("second", second["d"])
    show("first", kept)
    first.close()
    show("second", second["d"])
    third = h5py.File(folder / "f.h5")
    show("again", third["d"])


def main():
    name, folder = sys.argv[1], Path(sys.argv[2])
    os.chdir(folder)
    globals()[name](folder)


if __name__ == "__main__":
    main()
