"""Does random work on random datasets with h5py, and writes down every result.

    python differential.py FOLDER OUT FIRST LAST

For each seed from FIRST up to LAST, the program writes a file FOLDER/SEED.h5 and appends a line of JSON to OUT:
[seed, [[what was done, what came of it], ...]]. Native and through a connector, the lines must be the same. The
work depends on the seed only, never on what was read.
"""

import hashlib
import json
import os
import random
import sys
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401  (registers its filters with h5py)
import numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t, h5z

INTEGERS = ["i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "u1", "<u2", ">u2", "<u4", ">u4", "<u8", ">u8"]
PLUGINS = {
    "blosc": (32001, (0, 0, 0, 0, 5, 1, 0)),
    "blosc2": (32026, (0, 0, 0, 0, 5, 1, 5)),
    "bitshuffle": (32008, (0, 2)),
    "lz4": (32004, (0,)),
    "zstd": (32015, (3,)),
}
FLOATS = ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]


class Work:
    """The files and datasets of one seed, and what was done with them."""

    def __init__(self, seed, folder):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
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

    def chance(self, one_in):
        return self.random.randrange(one_in) == 0

    # Types, shapes, values.

    def number(self):
        return np.dtype(self.random.choice(INTEGERS + FLOATS))

    def base(self, depth=0):
        """Returns a random NumPy type of fixed length, except strings of variable length."""
        kind = self.random.choice(
            ["number"] * 8 + ["bool", "enum", "complex", "string", "void", "array", "compound", "compound"]
        )
        if kind == "number" or depth > 1:
            return self.number()
        if kind == "bool":
            return np.dtype(bool)
        if kind == "enum":
            return h5py.enum_dtype({"A": 0, "B": 1, "C": 42}, basetype=self.random.choice(["i1", "<i4", ">i2"]))
        if kind == "complex":
            return np.dtype(self.random.choice(["<c8", ">c8", "<c16", ">c16"]))
        if kind == "string":
            return np.dtype(f"S{self.random.randint(1, 20)}")
        if kind == "void":
            return np.dtype(f"V{self.random.randint(1, 9)}")
        if kind == "array":
            return np.dtype((self.number(), (self.random.randint(1, 3), self.random.randint(1, 3))))
        members = self.random.randint(1, 4)
        return np.dtype(
            [(f"m{index}", self.base(depth + 1)) for index in range(members)], align=bool(self.random.randrange(2))
        )

    def stored_type(self):
        """Returns the type of a dataset as a NumPy type, and as a type of libhdf5."""
        base = self.base()
        kind = self.random.randrange(24)
        if kind == 0:
            return h5py.string_dtype(self.random.choice(["ascii", "utf-8"])), None
        if kind == 1:
            return h5py.vlen_dtype(self.number()), None
        if kind == 2:
            return h5py.ref_dtype, None
        if kind == 3 and base.kind in "iu" and base.itemsize > 1:
            odd = h5t.py_create(base).copy()
            odd.set_precision(8 * base.itemsize - self.random.randint(1, 7))
            odd.set_offset(0)
            return base, odd
        return base, None

    def values(self, dtype, shape):
        """Returns random values, sometimes extreme ones."""
        count = int(np.prod(shape, dtype=np.int64))
        if h5py.check_string_dtype(dtype) is not None and dtype.kind == "O":
            texts = ["", "a", "some text", "x" * 40]
            return np.array([self.random.choice(texts) for _ in range(count)], dtype=dtype).reshape(shape)
        if h5py.check_vlen_dtype(dtype) is not None:
            base = h5py.check_vlen_dtype(dtype)
            out = np.empty(count, dtype=dtype)
            for index in range(count):
                out[index] = self.numbers.integers(0, 100, self.random.randrange(4)).astype(base)
            return out.reshape(shape)
        if dtype.kind == "O":
            return np.full(count, h5py.Reference(), dtype=dtype).reshape(shape)
        return self.plain(dtype, count).reshape(tuple(shape) + (dtype.shape if dtype.subdtype else ()))

    def plain(self, dtype, count):
        if dtype.subdtype:
            base, inner = dtype.subdtype
            return self.plain(base, count * int(np.prod(inner))).reshape((count, *inner))
        if dtype.names:
            out = np.zeros(count, dtype)
            for name in dtype.names:
                out[name] = self.plain(dtype[name], count)
            return out
        if dtype.kind == "b":
            return self.numbers.integers(0, 2, count).astype(dtype)
        if h5py.check_enum_dtype(dtype):
            return self.numbers.choice([0, 1, 42], count).astype(dtype)
        if dtype.kind == "c":
            return (self.numbers.normal(size=count) + 1j * self.numbers.normal(size=count)).astype(dtype)
        if dtype.kind in "SV":
            raw = self.numbers.integers(65, 91, count * dtype.itemsize).astype("u1").tobytes()
            return np.frombuffer(raw, dtype=dtype).copy()
        if dtype.kind == "f":
            values = self.numbers.normal(size=count) * 10.0 ** self.numbers.integers(-3, 9)
            extreme = self.random.random() < 0.2
            if extreme and count:
                values[self.numbers.integers(0, count, 3)] = [np.inf, -np.inf, -0.0]
            with np.errstate(over="ignore"):
                return values.astype(dtype)
        info = np.iinfo(dtype)
        if self.random.random() < 0.3:
            return self.numbers.integers(
                info.min, info.max, count, dtype=dtype.newbyteorder("="), endpoint=True
            ).astype(dtype)
        return self.numbers.integers(0, 50, count).astype(dtype)

    def shape(self, rank):
        if self.chance(8):
            return tuple(self.random.choice([0, 1, 2, 3, 5]) for _ in range(rank))
        if self.chance(3):
            return tuple(self.random.randint(1, 20) for _ in range(rank))
        most = {0: 0, 1: 300000, 2: 600, 3: 70, 4: 22}[rank]
        return tuple(self.random.randint(max(1, most // 6), most) for _ in range(rank))

    # Datasets.

    def filters(self, plist, dtype, odd):
        """Adds random filters to a property list, and returns their names."""
        names = []
        number = dtype.kind in "iuf" and odd is None and dtype.itemsize in (1, 2, 4, 8)
        if self.chance(8) and number and dtype.kind in "iu":
            plist.set_scaleoffset(h5z.SO_INT, self.random.choice([0, 0, 5]))
            names.append("scaleoffset")
        elif self.chance(8) and number and dtype.kind == "f" and dtype.itemsize > 2:
            plist.set_scaleoffset(h5z.SO_FLOAT_DSCALE, 3)
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

    # Selections.

    def select(self, shape):
        """Returns a random selection of a shape as a dataspace, and its description."""
        space = h5s.create_simple(shape) if shape else h5s.create(h5s.SCALAR)
        if not shape or self.chance(3):
            return space, "all"
        if 0 in shape or self.chance(25):
            space.select_none()
            return space, "none"
        if self.chance(5):
            count = self.random.randint(1, 12)
            points = [tuple(self.random.randrange(extent) for extent in shape) for _ in range(count)]
            if self.chance(2):
                points = sorted(set(points))
            space.select_elements(points)
            return space, f"points {points}"
        said = []
        for turn in range(self.random.choice([1, 1, 1, 2, 3])):
            most = 200 if len(shape) == 1 else 60 if len(shape) == 2 else 9
            start, stride, count, block = zip(*(self.progression(extent, most) for extent in shape))
            operation = (
                h5s.SELECT_SET if turn == 0 else self.random.choice([h5s.SELECT_OR, h5s.SELECT_XOR, h5s.SELECT_NOTB])
            )
            space.select_hyperslab(start, count, stride, block, op=operation)
            said.append((operation, start, count, stride, block))
        return space, f"slabs {said}"

    def progression(self, extent, most_blocks):
        kind = self.random.randrange(4)
        if kind == 0:
            return 0, 1, 1, extent
        start = self.random.randrange(extent)
        if kind == 1:
            return start, 1, 1, self.random.randint(1, extent - start)
        block = self.random.choice([1, 1, 2]) if extent - start > 1 else 1
        stride = self.random.randint(block, block + 3)
        most = (extent - start - block) // stride + 1
        return start, stride, self.random.randint(1, max(1, min(most, most_blocks))), block

    def memory(self, count):
        """Returns a shape in memory and a selection of `count` elements in it, with its description."""
        kind = self.random.choice(["packed", "packed", "packed", "offset", "strided", "rows", "points"])
        if count == 0 or kind == "packed" or count > 100000:
            return (count,), h5s.create_simple((count,)), "packed"
        if kind == "offset":
            space = h5s.create_simple((count + 9,))
            space.select_hyperslab((4,), (1,), block=(count,))
            return (count + 9,), space, "offset 4"
        if kind == "strided":
            stride = self.random.randint(2, 3)
            space = h5s.create_simple((count * stride + 1,))
            space.select_hyperslab((1,), (count,), stride=(stride,))
            return (count * stride + 1,), space, f"stride {stride}"
        if kind == "points":
            if count > 300:
                return (count,), h5s.create_simple((count,)), "packed"
            places = self.random.sample(range(2 * count), count)
            space = h5s.create_simple((2 * count,))
            space.select_elements([(place,) for place in places])
            return (2 * count,), space, "points"
        width = next((width for width in (7, 5, 3, 2) if count % width == 0), 1)
        space = h5s.create_simple((count // width, width + 3))
        space.select_hyperslab((0, 2), (1, 1), block=(count // width, width))
        return (count // width, width + 3), space, f"rows of {width}"

    def memory_type(self, dtype):
        """Returns a type for elements in memory that `dtype` converts to."""
        if dtype.kind in "iuf" and not h5py.check_enum_dtype(dtype) and self.chance(2):
            return self.number()
        if dtype.kind == "S" and self.chance(3):
            return np.dtype(f"S{self.random.randint(1, 25)}")
        if dtype.kind == "c" and self.chance(3):
            return np.dtype(self.random.choice(["<c8", "<c16", ">c16"]))
        if dtype.names and self.chance(2):
            names = self.random.sample(list(dtype.names), self.random.randint(1, len(dtype.names)))
            return np.dtype([(name, self.memory_type(dtype[name])) for name in names])
        return dtype

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
                work.attempt(f"copy {name} to {copied}", lambda: use.copy(name, copied))
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
    """Reads a file that nobody writes."""
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
