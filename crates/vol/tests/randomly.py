"""Random types, values and selections, which depend on a seed only."""

import random

import h5py
import numpy as np
from h5py import h5s, h5t

INTEGERS = ["i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "u1", "<u2", ">u2", "<u4", ">u4", "<u8", ">u8"]
FLOATS = ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]


class Random:
    """What is random in the work of one seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)

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
