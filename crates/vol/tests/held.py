"""Cases in which parts of chunks are held that were written (`shown.py`, `src/pending.rs`)."""

import hashlib
import itertools
import os
import subprocess
import sys
import zlib

import h5py
import numpy as np
from shown import OTHERS, VALUES, main, make, reread, show


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
    reread(folder, "closed")


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


def parts_of_chunks(folder):
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5", "r+") as file:
        file["d"][10:110] = OTHERS[10:110]
    reread(folder, "written")


def encoded(values):
    return zlib.compress(np.frombuffer(values.tobytes(), "u1").reshape(-1, 4).T.tobytes(), 5)


def show_stored(dataset):
    mask, stored = dataset.id.read_direct_chunk((0, 0))
    print(mask, hashlib.md5(zlib.decompress(stored)).hexdigest())


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
        show_stored(dataset)
        dataset[15:30] = -5
        show_stored(dataset)
    reread(folder, "closed")


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


WRITER = """
import os, sys
import h5py
import numpy as np
file = h5py.File(sys.argv[1], "w")
d = file.create_dataset("d", (120, 100), "<i4", chunks=(30, 100), compression="gzip")
file.flush()
d[3:50] = np.full((47, 100), 7, "<i4")
"""


def left_open(folder):
    """A part of a chunk is written, and the program ends without closing its file or dataset."""
    program = WRITER + "kept = file['d']; sys.exit()"
    subprocess.run([sys.executable, "-c", program, folder / "f.h5"], check=True)
    reread(folder, "ended")


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
    reread(folder, "closed")


def killed(folder):
    """What was flushed is in the file of a program that is killed."""
    program = WRITER + "file.flush(); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", program, folder / "f.h5"], check=False)
    reread(folder, "flushed")


def forked(folder):
    """A child closes another file, and the dataset, while parts that its parent has written are held."""
    options = {"chunks": (30, 100), "compression": "gzip"}
    make(folder / "other.h5")
    for cache in (1 << 20, 0):
        with h5py.File(folder / "f.h5", "w", rdcc_nbytes=cache) as file:
            one = file.create_dataset("one", (120, 100), "<i4", **options)
            two = file.create_dataset("two", (120, 100), "<i4", **options)
            file.flush()
            one[0:5] = VALUES[0:5]
            ready, told = os.pipe()
            child = os.fork()
            if not child:
                os.read(ready, 1)
                h5py.File(folder / "other.h5").close()
                # Without a cache, the child's libhdf5 would store the parts at once.
                os._exit(0 if not cache or (one[0:5] == VALUES[0:5]).all() else 1)
            two[...] = OTHERS
            file.flush()
            os.write(told, b"1")
            print(os.waitpid(child, 0)[1])
            one[5:] = VALUES[5:]
        with h5py.File(folder / "f.h5") as file:
            show("one", file["one"])
            show("two", file["two"])


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


def whole_over_part(folder):
    """A chunk is written in part, and then as a whole: the part is not stored over it."""
    make(folder / "f.h5")
    with h5py.File(folder / "f.h5", "r+") as file:
        dataset = file["d"]
        dataset[40:50] = np.full((10, 100), 5, "<i4")
        dataset[30:60] = OTHERS[30:60]
    reread(folder, "closed")


def committed_datatype(folder):
    """Parts are stored of a dataset whose datatype is an object of the file: libhdf5 calls back meanwhile."""
    with h5py.File(folder / "f.h5", "w") as file:
        file["type"] = np.dtype("<i4")
        dataset = file.create_dataset("d", (120, 100), file["type"], chunks=(30, 50), compression="gzip")
        for row in range(50):
            dataset[row : row + 1] = VALUES[row : row + 1]
        show("written", dataset)
        dataset[50:55] = VALUES[50:55]
    reread(folder, "closed")


def virtual_over_parts(folder):
    """A virtual dataset shows the parts that were written of another dataset, and is written itself."""
    make(folder / "f.h5")
    layout = h5py.VirtualLayout((120, 100), "<i4")
    layout[...] = h5py.VirtualSource(".", "d", (120, 100))
    with h5py.File(folder / "f.h5", "r+") as file:
        dataset, over = file["d"], file.create_virtual_dataset("over", layout)
        show("before", over)
        dataset[0:5] = VALUES[50:55]
        show("after a write", over)
        dataset[5:10] = VALUES[60:65]
        over[3:7] = VALUES[70:74]
        show("after a write of the virtual dataset", dataset)
    reread(folder, "closed")


def deleted(folder):
    """A dataset is deleted while parts of it are held, and written through the handle that stays."""
    with h5py.File(folder / "f.h5", "w") as file:
        options = {"chunks": (30, 100), "compression": "gzip"}
        dataset = file.create_dataset("d", (120, 100), "<i4", **options)
        dataset[0:5] = VALUES[0:5]
        del file["d"]
        dataset[5:10] = VALUES[5:10]
        show("deleted", dataset)
        show("another", file.create_dataset("e", (120, 100), "<i4", **options))
    with h5py.File(folder / "f.h5") as file:
        show("closed", file["e"])
        print(list(file))


def resized_elsewhere(folder):
    """A dataset is resized through one handle while parts of it that another one wrote are held."""
    make(folder / "f.h5", maxshape=(None, 100), fillvalue=7)
    with h5py.File(folder / "f.h5", "r+") as file:
        one, other = file["d"], h5py.Dataset(h5py.h5d.open(file.id, b"d"))
        one[100:105] = OTHERS[100:105]
        other.resize((102, 100))
        other[50:55] = OTHERS[50:55]
        one.resize((150, 100))
        one[140:145] = OTHERS[0:5]
        show("resized", other)
    reread(folder, "closed")


def grown_edges(folder):
    """A dataset grows over the elements of its last chunks, which were written whole and in part."""
    with h5py.File(folder / "f.h5", "w") as file:
        options = {"maxshape": (None, None), "chunks": (30, 60), "compression": "gzip", "fillvalue": 7}
        for name in "de":
            file.create_dataset(name, (100, 100), "<i4", **options)
        file["d"][...] = VALUES[:100]
        file["e"][10:95, 3:97] = VALUES[10:95, 3:97]
        for name in "de":
            file[name].resize((130, 130))
            show(name, file[name])


def fill_and_allocation(folder):
    """Parts of new datasets, with all times of filling and of allocation, in one and in several chunks."""
    h5d, h5p = h5py.h5d, h5py.h5p
    fills = h5d.FILL_TIME_ALLOC, h5d.FILL_TIME_NEVER, h5d.FILL_TIME_IFSET
    allocations = h5d.ALLOC_TIME_EARLY, h5d.ALLOC_TIME_LATE, h5d.ALLOC_TIME_INCR
    for libver in ("earliest", "latest"):
        with h5py.File(folder / f"{libver}.h5", "w", libver=libver) as file:
            for fill, allocation, rows in itertools.product(fills, allocations, (30, 70)):
                plist = h5p.create(h5p.DATASET_CREATE)
                plist.set_chunk((30, 100))
                plist.set_deflate(1)
                plist.set_alloc_time(allocation)
                plist.set_fill_time(fill)
                plist.set_fill_value(np.array(3, "<i4"))
                space, name = h5py.h5s.create_simple((rows, 100)), f"{allocation}{fill}{rows}".encode()
                dataset = h5py.Dataset(h5d.create(file.id, name, h5py.h5t.STD_I32LE, space, plist))
                dataset[0:1] = VALUES[0:1]
                dataset[2:5] = VALUES[2:5]
        with h5py.File(folder / f"{libver}.h5") as file:
            for name, dataset in file.items():
                written = np.concatenate([dataset[0:1], dataset[2:5]])
                filled = not name.startswith(f"{h5d.FILL_TIME_NEVER}", 1)
                show(name, dataset if filled else written)
                print(dataset.id.get_num_chunks())


SWMR_READER = """
import sys, h5py
with h5py.File(sys.argv[1], swmr=True, libver="latest") as file:
    print(file["d"][:10].sum(axis=1))
"""


def read_elsewhere(path):
    subprocess.run([sys.executable, "-c", SWMR_READER, path], check=True)


def swmr_begun(folder):
    """A writer lets others read meanwhile (SWMR) when it holds parts already, and goes on with parts."""
    with h5py.File(folder / "f.h5", "w", libver="latest") as file:
        options = {"maxshape": (None, 100), "chunks": (30, 100), "compression": "gzip"}
        dataset = file.create_dataset("d", (120, 100), "<i4", **options)
        dataset[0:5] = VALUES[0:5]
        file.swmr_mode = True
        read_elsewhere(folder / "f.h5")
        dataset[5:10] = VALUES[5:10]
        dataset.flush()
        read_elsewhere(folder / "f.h5")


def zeros(folder):
    """Zeros over other values, and in new chunks: chunks of zeros are stored too."""
    make(folder / "f.h5", fillvalue=0)
    with h5py.File(folder / "f.h5", "r+") as file:
        dataset = file["d"]
        dataset[...] = np.zeros((120, 100), "<i4")
        show("whole", dataset)
        dataset[...] = VALUES
        for row in range(30):
            dataset[row : row + 1] = np.zeros((1, 100), "<i4")
        file.flush()
        show("rows", dataset)
        other = file.create_dataset("e", (120, 100), "<i4", chunks=(30, 100), compression="gzip")
        other[...] = np.zeros((120, 100), "<i4")
        file.flush()
        print(dataset.id.get_num_chunks(), other.id.get_num_chunks())


if __name__ == "__main__":
    main(globals())
