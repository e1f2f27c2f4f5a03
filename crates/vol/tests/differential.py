"""Does random work on random datasets with h5py, and writes down every result.

    python differential.py FOLDER OUT FIRST LAST

For each seed from FIRST up to LAST, the program writes a file in FOLDER and appends a line of JSON to OUT:
[seed, file, options, [[work, result], ...]]. Native and through a connector, the lines must be the same. The work
depends on the seed only, never on the values that were read.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401  (registers its filters with h5py)
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z
from randomly import Random

PLUGINS = {
    "blosc": (32001, (0, 0, 0, 0, 5, 1, 0)),
    "blosc2": (32026, (0, 0, 0, 0, 5, 1, 5)),
    "bitshuffle": (32008, (0, 2)),
    "lz4": (32004, (0,)),
    "zstd": (32015, (3,)),
}


class Work(Random):
    """The files and datasets of one seed, and what was done with them."""

    def __init__(self, seed, folder):
        super().__init__(seed)
        self.folder = folder
        self.name = str(seed)
        self.done = []
        self.made = 0

    # What was done.

    def note(self, what, result):
        self.done.append([what, result])

    def attempt(self, what, action):
        """Calls `action`, and notes what it returns or that it fails."""
        try:
            self.note(what, action())
        except (OSError, RuntimeError, ValueError, TypeError, KeyError, MemoryError) as error:
            self.note(what, f"failed: {type(error).__name__}")

    # Datasets.

    def filters(self, plist, dtype, odd):
        """Adds random filters to a property list, and returns their names."""
        names = []
        number = dtype.kind in "iuf" and odd is None and dtype.itemsize in (1, 2, 4, 8)
        # With digits lost, libhdf5 would show values as they were written until they leave its cache.
        if self.chance(8) and number and dtype.kind in "iu":
            plist.set_scaleoffset(h5z.SO_INT, 0)
            names.append("scaleoffset")
        elif self.chance(8) and (odd is not None or number):
            plist.set_filter(h5z.FILTER_NBIT, h5z.FLAG_OPTIONAL)
            names.append("nbit")
        if self.chance(2):
            plist.set_shuffle()
            names.append("shuffle")
        last = self.random.choice(["gzip", "gzip", "gzip", "gzip", "lzf", "szip", "fletcher32", "none", *PLUGINS])
        if last == "gzip":
            plist.set_deflate(self.random.randint(0, 9))
        elif last == "lzf":
            plist.set_filter(h5z.FILTER_LZF, h5z.FLAG_OPTIONAL)
        elif last in PLUGINS and not dtype.hasobject:
            plist.set_filter(PLUGINS[last][0], h5z.FLAG_OPTIONAL, PLUGINS[last][1])
        elif last == "szip" and number and not names:
            plist.set_szip(self.random.choice([h5z.SZIP_EC_OPTION_MASK, h5z.SZIP_NN_OPTION_MASK]), 8)
        if last == "fletcher32" or self.chance(5):
            plist.set_fletcher32()
            names.append("fletcher32")
        return [*names, last]

    def make(self, file):
        """Creates a dataset, and returns its name, type and maximal shape."""
        name = f"d{self.made}"
        self.made += 1
        dtype, odd = self.stored_type()
        tid = odd if odd is not None else h5t.py_create(dtype, logical=True)
        rank = self.random.choice([0, 1, 1, 1, 2, 2, 3, 4])
        shape = self.shape(rank)
        if h5py.check_dtype(vlen=dtype) or dtype.kind == "O" or dtype.itemsize > 40:
            shape = tuple(min(extent, 12) for extent in shape)
        plist = h5p.create(h5p.DATASET_CREATE)
        layout = self.random.choice(["compact", "contiguous", "chunked", "chunked", "chunked", "chunked"])
        limits = shape
        said = []
        if layout == "chunked" and rank:
            limits = tuple(self.random.choice([extent or 4, h5s.UNLIMITED, extent + 7]) for extent in shape)
            chunks = tuple(
                max(1, min(self.random.choice([extent, extent // 2, extent // 3, extent + 2, 4]), 30000))
                for extent in shape
            )
            chunks = tuple(
                chunk if limit == h5s.UNLIMITED else min(chunk, limit) for chunk, limit in zip(chunks, limits)
            )
            plist.set_chunk(chunks)
            said = [chunks, self.filters(plist, dtype, odd) if not self.chance(4) else []]
        elif layout == "compact" and np.prod(shape, dtype=np.int64) * dtype.itemsize < 60000:
            plist.set_layout(h5d.COMPACT)
        elif layout != "chunked" and rank and dtype.kind in "iuf" and self.chance(8) and 0 not in shape:
            plist.set_external(f"{self.name}-{name}.raw".encode(), 16, 1 << 30)
            said = ["external"]
        if self.chance(3) and dtype.kind in "iuf":
            plist.set_fill_value(self.plain(dtype, 1).reshape(()))
            said.append("fill")
        if self.chance(3) and "external" not in said:
            plist.set_alloc_time(self.random.choice([h5d.ALLOC_TIME_EARLY, h5d.ALLOC_TIME_LATE, h5d.ALLOC_TIME_INCR]))
        if self.chance(4) or not said or layout == "contiguous":
            # Elsewhere, what was never written may be what the file had at this place before.
            plist.set_fill_time(h5d.FILL_TIME_ALLOC)
        space = h5s.create_simple(shape, limits) if rank else h5s.create(h5s.SCALAR)

        def create():
            h5d.create(file.id, name.encode(), tid, space, dcpl=plist)
            return "made"

        self.attempt(f"create {name} {dtype} odd={odd is not None} {shape} {layout} {said}", create)
        return name

    def virtual(self, file):
        """Creates a virtual dataset over an earlier one."""
        name = f"d{self.made}"
        self.made += 1
        source = f"d{self.random.randrange(self.made)}"

        def create():
            found = file[source]
            layout = h5py.VirtualLayout((2, *found.shape), found.dtype)
            layout[self.random.randrange(2)] = h5py.VirtualSource(found)
            file.create_virtual_dataset(name, layout, fillvalue=7)
            return "made"

        self.attempt(f"create virtual {name} of {source}", create)
        return name

    # Work.

    def whole_chunks(self, dataset):
        """Returns a selection of whole chunks of a dataset, and its description."""
        space = h5s.create_simple(dataset.shape)
        box = []
        for extent, chunk in zip(dataset.shape, dataset.chunks):
            first = self.random.randrange(-(-extent // chunk)) * chunk
            count = self.random.choice([1, 2, 3, extent]) * chunk
            box.append((first, min(count, extent - first)))
        start, block = zip(*box)
        space.select_hyperslab(start, (1,) * len(start), block=block)
        return space, f"whole chunks {start} {block}"

    def write(self, dataset):
        dtype = dataset.dtype
        if dataset.chunks is not None and 0 not in dataset.shape and self.chance(2):
            space, said = self.whole_chunks(dataset)
        else:
            space, said = self.select(dataset.shape)
        count = space.get_select_npoints()
        shape, memory, how = self.memory(count)
        kind = self.memory_type(dtype)
        values = self.values(kind, shape)
        mtype = h5t.py_create(kind)

        def act():
            dataset.id.write(memory, space, values, mtype)
            return "written"

        self.attempt(f"write {dataset.name} {said} from {how} as {kind}", act)

    def bands(self, dataset):
        """Writes a dataset by bands along one axis, which are parts of its chunks; not always all of them."""
        if dataset.chunks is None or not dataset.shape or 0 in dataset.shape:
            return
        axis = self.random.randrange(len(dataset.shape))
        extent = dataset.shape[axis]
        step = max(1, self.random.choice([dataset.chunks[axis] // 2, dataset.chunks[axis] // 3, extent // 10, 7]))
        places = list(range(0, extent, step))[: self.random.choice([2, 5, 40])]
        if self.chance(4):
            self.random.shuffle(places)
        for place in places:
            start = [0] * len(dataset.shape)
            block = list(dataset.shape)
            start[axis], block[axis] = place, min(step, extent - place)
            values = self.values(dataset.dtype, block)

            def act(start=start, block=block, values=values):
                space = h5s.create_simple(dataset.shape)
                space.select_hyperslab(tuple(start), (1,) * len(start), block=tuple(block))
                dataset.id.write(h5s.create_simple(tuple(block)), space, values, h5t.py_create(dataset.dtype))
                return "written"

            self.attempt(f"write {dataset.name} band {start} {block}", act)
            if self.chance(6):
                self.read(dataset)

    def read(self, dataset):
        dtype = dataset.dtype
        space, said = self.select(dataset.shape)
        count = space.get_select_npoints()
        shape, memory, how = self.memory(count)
        kind = self.memory_type(dtype)
        mtype = h5t.py_create(kind)
        shape = shape + (kind.shape if kind.subdtype else ())
        base = kind.base
        if base.hasobject:
            out = np.empty(shape, base)
        else:
            out = np.frombuffer(bytearray(b"\xa5" * int(np.prod(shape, dtype=np.int64)) * base.itemsize), base).reshape(
                shape
            )

        def act():
            dataset.id.read(memory, space, out, mtype)
            return summary(out)

        self.attempt(f"read {dataset.name} {said} into {how} as {kind}", act)

    def resize(self, dataset):
        if dataset.chunks is None or not dataset.shape:
            return
        new = tuple(
            self.random.randint(0, min(extent + 9, limit if limit is not None else extent + 9))
            for extent, limit in zip(dataset.shape, dataset.maxshape)
        )

        def act():
            dataset.id.set_extent(new)
            return "resized"

        self.attempt(f"resize {dataset.name} to {new}", act)

    def stored(self, dataset):
        """Writes a chunk as it is stored, sometimes with filters skipped; or reads one."""
        if dataset.chunks is None or dataset.dtype.hasobject or not dataset.shape or 0 in dataset.shape:
            return
        offset = tuple(
            self.random.randrange(-(-extent // chunk)) * chunk for extent, chunk in zip(dataset.shape, dataset.chunks)
        )
        plist = dataset.id.get_create_plist()
        count = plist.get_nfilters()
        if self.chance(2):
            values = self.values(dataset.dtype, dataset.chunks)
            mask = (1 << count) - 1

            def act():
                # libhdf5 keeps the mask of a chunk that it replaces by one of the same size.
                dataset.file.flush()
                dataset.id.write_direct_chunk(offset, np.ascontiguousarray(values).tobytes(), filter_mask=mask)
                return "written"

            self.attempt(f"store chunk {dataset.name} {offset} without filters", act)
        elif count == 0:

            def act():
                mask, data = dataset.id.read_direct_chunk(offset)
                return [mask, hashlib.md5(data).hexdigest()]

            self.attempt(f"stored chunk {dataset.name} {offset}", act)

    def look(self, dataset):
        def act():
            if dataset.chunks is None:
                return [list(dataset.shape), dataset.is_virtual]
            found = []
            dataset.id.chunk_iter(lambda info: found.append((info.chunk_offset, info.filter_mask)))
            return [list(dataset.shape), sorted(found)]

        self.attempt(f"look at {dataset.name}", act)


def summary(values):
    """Returns what identifies an array, with small arrays of objects written out."""
    if values.dtype.hasobject:
        return repr(
            [
                np.asarray(value).tolist() if not isinstance(value, h5py.Reference) else bool(value)
                for value in values.ravel().tolist()
            ]
        )[:2000]
    data = values.tobytes()
    return [hashlib.md5(data).hexdigest(), data[:48].hex()]


DRIVERS = [
    {},
    {},
    {},
    {"driver": "core"},
    {"driver": "stdio"},
    {"driver": "family", "memb_size": 20000},
    {"driver": "split"},
]


def options(work):
    found = dict(work.random.choice(DRIVERS)) if work.chance(2) else {}
    if work.chance(3):
        found["rdcc_nbytes"] = work.random.choice([0, 1000, 1 << 20])
    return found


def one(seed, folder):
    """Does the work of a seed, and returns what was done."""
    work = Work(seed, folder)
    opening = options(work)
    driver = opening.get("driver")
    path = folder / (f"{seed}-%d.h5" if driver == "family" else f"{seed}.h5")
    libver = work.random.choice([None, None, "latest", "v108", "v110"])
    more = {}
    if driver is None and work.chance(6):
        more = {"fs_strategy": "page", "fs_page_size": 4096}
    file = h5py.File(path, "w", libver=libver, **more, **opening)
    work.note(f"file {opening} {libver} {more}", "")
    names = [work.make(file) for _ in range(work.random.randint(1, 3))]
    if work.chance(8):
        names.append(work.virtual(file))
    second = None
    for _ in range(work.random.randint(8, 24)):
        action = work.random.choice(
            ["write"] * 6
            + ["read"] * 8
            + ["resize", "flush", "reopen", "again", "stored", "look", "rename", "copy", "new"]
        )
        use = second if second is not None and work.chance(2) else file
        name = work.random.choice(names)
        if name not in use:
            continue
        if action in ("write", "bands", "read", "resize", "stored", "look"):
            try:
                dataset = use[name]
                dataset.dtype  # noqa: B018  (not every type has one of NumPy)
            except (OSError, TypeError, KeyError):
                continue
            getattr(work, action)(dataset)
        elif action == "flush":
            work.attempt("flush", use.flush)
        elif action == "reopen":
            if second is not None:
                second.close()
                second = None
            file.close()
            if driver in (None, "stdio", "core"):
                opening.pop("driver", None)
                driver = None
            file = h5py.File(path, "r+", **opening)
            work.note("reopen", "")
        elif action == "again" and driver is None and second is None:
            second = h5py.File(path, "r+")
            work.note("open again", "")
        elif action == "rename" and driver is None and second is None and work.chance(2):
            other = folder / f"{seed}-renamed-{len(work.done)}.h5"
            path.rename(other)
            path.write_bytes(b"another file")
            work.note("rename", "")
            path = other
        elif action == "copy" and f"c{len(names)}" not in use:
            copied = f"c{len(names)}"
            found = use.get(name)
            # libhdf5 2.0 writes beyond its buffer when it copies a chunk that filters have made larger.
            if found is not None and found.id.get_create_plist().get_nfilters() == 0:
                work.attempt(
                    f"copy {name} to {copied}", lambda use=use, name=name, copied=copied: use.copy(name, copied)
                )
                names.append(copied)
        elif action == "new" and len(names) < 5:
            names.append(work.make(use))
    for name in names:
        if name in file:
            work.attempt(f"all of {name}", lambda name=name: whole(file, name))
    if second is not None:
        second.close()
    file.close()
    if driver in ("core", "stdio"):
        opening.pop("driver")
    read_only(work, path, opening, names)
    opening.pop("rdcc_nbytes", None)
    work.final = (path.name, opening)
    return work


def read_only(work, path, opening, names):
    """Reads a file that no handle can write."""
    with h5py.File(path, "r", **opening) as file:
        work.note("file, read only", "")
        for name in [name for name in names if name in file]:
            work.attempt(f"all of {name}", lambda name=name: whole(file, name))
            try:
                dataset = file[name]
                dataset.dtype  # noqa: B018  (not every type has one of NumPy)
            except (OSError, TypeError, KeyError):
                continue
            for _ in range(4):
                work.read(dataset)


def whole(file, name):
    return summary(np.asarray(file[name][()]))


def main():
    folder, out, first, last = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    os.chdir(folder)
    with out.open("a") as lines:
        for seed in range(first, last):
            work = one(seed, folder)
            lines.write(json.dumps([seed, *work.final, work.done]) + "\n")
            lines.flush()


if __name__ == "__main__":
    main()
