"""Random tables, edits, indexes and boolean trees: an index, a scan and NumPy name the same rows.

`HYPERSLAB_SOAK=1` compares a million conditions, which takes minutes. Rounds are numbered by their seeds;
`HYPERSLAB_SOAK_SEED` begins with another one.
"""

import os
import random
from contextlib import closing

import numpy as np
import pytest
import tables
from soundness import CHECKS
from support import hs
from test_queries import OPERATORS

CASES = 1_000_000 if os.environ.get("HYPERSLAB_SOAK") else 3_000
FIRST = int(os.environ.get("HYPERSLAB_SOAK_SEED", "0"))
CONDITIONS = 12
NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
KINDS = [*NUMBERS, "?", "S1", "S3", "S17"]
FLOATS = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -1.5, 2.0, 1e-7, 6.5e4]
TEXTS = [b"", b"a", b"ab", b"abc", b"b", b"\xff", b"\xff\xff\xff\xff", b"a\x01", b"z" * 20]
INDEXES = ["ultralight", "light", "medium", "full"]
#: Sizes of superblocks, blocks, slices and chunks that small tables fill.
SIZES = [None, (512, 256, 128, 32), (128, 64, 32, 8)]


class Round:
    """Two tables with the same rows, one of them with indexes, and the rows in memory."""

    def __init__(self, seed, path):
        self.random = random.Random(seed)
        self.rng = np.random.default_rng(seed)
        kinds = self.random.sample(KINDS, self.random.randint(1, 6))
        fields = [(f"{kind.replace('?', 'b')}_{number}", kind) for number, kind in enumerate(kinds)]
        if self.random.random() < 0.3:
            fields.append(("n", [("x", "f8"), ("s", "S2")]))
        self.is_theirs = self.random.random() < 0.25
        if self.is_theirs:
            # PyTables has neither float16 in its conditions, nor indexes of unsigned 64-bit integers.
            fields += [("day", "i4"), ("time", "f8")]
        self.dtype = np.dtype(fields)
        #: Numbers are below this one. With few rows of a value, queries use indexes.
        self.most = self.random.choice([20, 120, 4000])
        self.model = self.rows(self.random.choice([0, 1, 7, 100, 600, 1500, 3000]))
        self.file = self.made(path)
        self.table, self.plain = self.file["t"], self.file["plain"]
        self.columns = self.table.colpathnames
        self.cases = self.used = 0

    def made(self, path):
        chunk = self.random.choice([8, 32, 100, 400])
        if not self.is_theirs:
            file = hs.File.in_memory()
            for name, choice in (("t", None), ("plain", "gzip"), ("plain", hs.Blosc2("lz4"))):
                if name not in file and (choice != "gzip" or self.random.random() < 0.3):
                    file.create_table(name, self.dtype, chunkshape=chunk, obj=self.model, compression=choice)
            if "plain" not in file:
                file.create_table("plain", self.dtype, chunkshape=chunk, obj=self.model)
            return file
        description = dict(tables.descr_from_dtype(self.dtype)[0]._v_colobjects)
        description |= {"day": tables.Time32Col(pos=90), "time": tables.Time64Col(pos=91)}
        filters = tables.Filters(self.random.choice([0, 1, 5]), "blosc2", shuffle=True)
        with tables.open_file(path, "w") as file:
            for name in ("t", "plain"):
                table = file.create_table("/", name, description, chunkshape=chunk, filters=filters)
                # PyTables converts times in place.
                table.append(self.model.copy())
            for column in self.random.sample(list(self.dtype.names), 2):
                if column != "n" and self.dtype[column] != np.dtype("u8"):
                    table = file.root.t
                    kind = self.random.choice(INDEXES)
                    table.colinstances[column].create_index(self.random.choice([0, 6, 9]), kind)
        return hs.File(path, "r+")

    def pool(self, dtype):
        """Values of a column that occur often, among them the extremes."""
        if dtype.kind == "S":
            return [text[: dtype.itemsize] for text in TEXTS]
        if dtype.kind == "b":
            return [False, True]
        if dtype.kind == "f":
            return FLOATS
        limits = np.iinfo(dtype)
        return [limits.min, limits.min + 1, limits.max - 1, limits.max, limits.max // 2 + 1, 0, 1]

    def values(self, name, dtype, count):
        if dtype.names:
            made = np.zeros(count, dtype)
            for inner in dtype.names:
                made[inner] = self.values(inner, dtype[inner], count)
            return made
        if name == "time":
            return self.rng.integers(-8 * self.most, 8 * self.most, count) / 8
        special = self.rng.choice(np.array(self.pool(dtype), dtype), count)
        if dtype.kind == "S":
            usual = np.char.mod("%d", self.rng.integers(0, self.most, count)).astype(dtype)
        else:
            most = 2 if dtype.kind == "b" else min(self.most, 120) if dtype.itemsize == 1 else self.most
            usual = self.rng.integers(0 if dtype.kind in "ub" else -most, most, count)
            usual = (usual / 2 if dtype.kind == "f" else usual).astype(dtype)
        return np.where(self.rng.random(count) < self.random.choice([0.02, 0.2]), special, usual)

    def rows(self, count):
        made = np.zeros(count, self.dtype)
        with np.errstate(over="ignore"):
            for name in self.dtype.names:
                made[name] = self.values(name, self.dtype[name], count)
        if self.random.random() < 0.5 and count:
            name = self.random.choice(self.dtype.names)
            if self.dtype[name].names is None:
                made[name] = np.sort(made[name])
        return made

    def column(self, path):
        found = self.model
        for name in path.split("/"):
            found = found[name]
        return found

    def leaf(self):
        path = self.random.choice(self.columns)
        name, column = path.replace("/", "."), self.column(path)
        if column.dtype.kind == "b":
            return name, column
        operator = self.random.choice(list(OPERATORS))
        if column.dtype.kind == "S":
            value = self.random.choice([*TEXTS, b"%d" % self.random.randrange(self.most)])
            return f"{name} {operator} {value!r}", OPERATORS[operator](column, np.bytes_(value))
        kind = self.random.random()
        others = [one for one in self.columns if self.column(one).dtype.kind in "iuf"]
        if kind < 0.1:
            other = self.random.choice(others)
            return f"{name} {operator} {other.replace('/', '.')}", OPERATORS[operator](column, self.column(other))
        if kind < 0.2 and column.dtype.kind == "f":
            return f"isnan({name})", np.isnan(column)
        if kind < 0.5:
            low = self.usual()
            high = low + self.random.randint(0, max(self.most // 50, 2))
            return f"({name} >= {low}) & ({name} <= {high})", (column >= low) & (column <= high)
        value = self.number(column.dtype)
        shown = {"inf": "1e999", "-inf": "-1e999"}.get(repr(value), repr(value))
        if self.random.random() < 0.2:
            return f"{shown} {operator} {name}", OPERATORS[operator](value, column)
        return f"{name} {operator} {shown}", OPERATORS[operator](column, value)

    def found(self):
        """A condition that few rows meet: a column equals the value of some row."""
        path = self.random.choice(self.columns)
        column = self.column(path)
        if not len(column) or column.dtype.kind == "b":
            return self.leaf()
        value = self.random.choice(column).item()
        if column.dtype.kind == "f" and not np.isfinite(value):
            return self.leaf()
        return f"{path.replace('/', '.')} == {value!r}", column == value

    def number(self, dtype):
        """A number of Python to compare with a column, in and out of its range."""
        far = [2**63, 2**64 - 1, 2**64, -(2**63) - 1, 1e300, float("inf"), float("-inf"), 0.5, -0.0, 256, -129]
        kind = self.random.random()
        if kind < 0.15:
            return self.random.choice(far)
        if kind < 0.4:
            # NaN has no notation in a condition.
            values = [value for value in self.pool(dtype) if value == value]
            return self.random.choice(values)
        return self.usual() / self.random.choice([1, 1, 2]) if dtype.kind == "f" else self.usual()

    def usual(self):
        return self.random.randint(-self.most, self.most)

    def tree(self, depth=3):
        if depth == 0 or self.random.random() < 0.3:
            return self.leaf()
        if self.random.random() < 0.15:
            text, mask = self.tree(depth - 1)
            return f"~({text})", ~mask
        (one, a), (other, b) = self.tree(depth - 1), self.tree(depth - 1)
        return (f"({one}) & ({other})", a & b) if self.random.random() < 0.6 else (f"({one}) | ({other})", a | b)

    def compare(self, seed):
        for number in range(CONDITIONS):
            with np.errstate(over="ignore", invalid="ignore"):
                text, mask = self.tree()
                if self.random.random() < 0.5:
                    one, a = self.found()
                    text, mask = f"({one}) & ({text})", a & mask
            wanted = np.flatnonzero(mask)
            found = self.table.get_where_list(text)
            assert np.array_equal(found, wanted), (seed, "with indexes", text, self.table.explain(text))
            assert np.array_equal(self.plain.get_where_list(text), wanted), (seed, "a scan", text)
            if number % 4 == 0:
                self.used += bool(self.table.will_query_use_indexing(text))
                start, stop = sorted(self.random.sample(range(len(self.model) + 2), 2))
                assert self.table.count_where(text, start=start, stop=stop) == mask[start:stop].sum(), (seed, text)
                found = self.table.read_where(text, start=start, stop=stop, step=3)
                assert found.tobytes() == self.model[start:stop][::3][mask[start:stop][::3]].tobytes(), (seed, text)
            self.cases += 1

    def edit(self):
        count = len(self.model)
        start = self.random.randint(0, count)
        stop = min(count, start + self.random.choice([1, 5, 60, 400]))
        new = self.rows(stop - start)
        what = self.random.choice(
            ["append", "rows", "modify", "column", "remove", "set", "coordinates", "index", "flush"]
        )
        for table in (self.table, self.plain):
            match what:
                case "append":
                    table.append(new)
                case "rows":
                    for record in new[:3]:
                        for name in self.dtype.names:
                            table.row[name] = record[name]
                        table.row.append()
                case "modify":
                    table.modify_rows(start, stop, rows=new)
                case "column":
                    table.modify_column(start, stop, column=new[self.dtype.names[0]], colname=self.dtype.names[0])
                case "remove":
                    table.remove_rows(start, stop, 1 + len(new) % 3)
                case "set":
                    table[start:stop] = new
                case "coordinates":
                    table.modify_coordinates(np.arange(start, stop)[::-1], new[::-1])
                case "flush":
                    table.flush()
        match what:
            case "append":
                self.model = np.concatenate([self.model, new])
            case "rows":
                self.model = np.concatenate([self.model, new[:3]])
            case "modify" | "set" | "coordinates":
                self.model[start:stop] = new
            case "column":
                self.model[self.dtype.names[0]][start:stop] = new[self.dtype.names[0]]
            case "remove":
                self.model = np.delete(self.model, slice(start, stop, 1 + len(new) % 3))
            case "index":
                self.index()

    def index(self):
        path = self.random.choice(self.columns)
        self.table.remove_index(path)
        if self.random.random() < 0.9:
            kind, level = self.random.choice(INDEXES), self.random.randint(0, 9)
            self.table.create_index(path, level, kind, _blocksizes=self.random.choice(SIZES))
        self.table.autoindex = self.random.random() < 0.9
        if self.random.random() < 0.2:
            self.table.reindex_dirty()


@pytest.mark.soak
def test_an_index_a_scan_and_numpy_name_the_same_rows(tmp_path):
    seed, cases, used, rows = FIRST, 0, 0, 0
    while cases < CASES:
        made = Round(seed, tmp_path / "t.h5")
        with closing(made.file):
            for _ in range(5):
                made.index()
            made.compare(seed)
            for _ in range(6):
                made.edit()
                made.compare(seed)
            assert made.table[:].tobytes() == made.plain[:].tobytes() == made.model.tobytes(), seed
        seed, cases, used, rows = seed + 1, cases + made.cases, used + made.used, rows + len(made.model)
    assert used > cases // 40, "indexes are hardly used"
    CHECKS.said.append(
        f"queries: {cases:,} conditions in {seed - FIRST:,} rounds of edits, of each fourth {used:,} through an index"
    )
