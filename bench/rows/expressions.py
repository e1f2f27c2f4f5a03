"""Computes expressions over arrays on disk."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import data
import numpy as np
import peers
import writers
from common import LIMIT, OUR_NAME, OURS, PEER, Contestant, Group, Target, drop_from_page_cache, scaled

TITLE = "expressions over float32 on disk, with and without compression"
THREADS = (2,)
WRITTEN = "a*b+1"
READ_COLD = "3*a-2*b+1.1"
MEMORY_LIMIT_MIB = 64
BLOSC2 = "blosc2:lz4"


def operands(count: int) -> dict[str, np.ndarray]:
    return {"a": np.linspace(0, 100, count, dtype="f4"), "b": np.linspace(50, -3, count, dtype="f4")}


def on_disk() -> dict[str, np.ndarray]:
    return operands(scaled(100_000_000, 100_000))


@cache
def product() -> np.ndarray:
    """Returns `a*b+1`, computed in place."""
    made = on_disk()
    out = made["a"]
    out *= made["b"]
    out += 1
    return out


def memmap_file(name: str) -> Path:
    return data.made(f"expression_{name}.bin", lambda path: on_disk()[name].tofile(path))


def contiguous() -> Path:
    def make(path: Path) -> None:
        import h5py

        with h5py.File(path, "w") as file:
            for name, values in on_disk().items():
                file.create_dataset(name, data=values)

    return data.made("expression_contiguous.h5", make)


def carrays(library: str | None) -> Path:
    """Returns PyTables' file with the operands, in chunks of its own choice."""

    def make(path: Path) -> None:
        import tables

        filters = tables.Filters(5, library, shuffle=True) if library else None
        with tables.open_file(path, "w") as file:
            for name, values in on_disk().items():
                file.create_carray("/", name, obj=values, filters=filters)

    return data.made(f"expression_pytables_{(library or 'none').replace(':', '_')}.h5", make)


def of_ours() -> Path:
    """Returns our file with the operands in Blosc2."""

    def make(path: Path) -> None:
        hyperslab = peers.ours_module()
        with hyperslab.File(path, "w") as file:
            for name, values in on_disk().items():
                file.create_dataset(name, data=values, compression=hyperslab.Blosc2("lz4"))

    return data.made("expression_hyperslab_blosc2.h5", make)


def b2nd(name: str) -> Path:
    def make(path: Path) -> None:
        import blosc2

        blosc2.asarray(on_disk()[name], cparams=blosc2_parameters(1), urlpath=str(path), mode="w")

    return data.made(f"expression_{name}.b2nd", make)


def blosc2_parameters(threads: int) -> dict:
    import blosc2

    return {"codec": blosc2.Codec.LZ4, "clevel": 5, "filters": [blosc2.Filter.SHUFFLE], "nthreads": threads}


def by_us(source: Path, is_packed: bool = False):
    """Computes into a new file: in the chunks of the operand, or with Blosc2."""

    def make(path: Path) -> None:
        hyperslab = peers.ours_module()
        with hyperslab.File(source) as file, hyperslab.File(path, "w") as target:
            a, b = file["a"], file["b"]
            options = {"compression": hyperslab.Blosc2("lz4")} if is_packed else {}
            r = target.create_dataset("r", a.shape, a.dtype, chunks=a.chunks, **options)
            hyperslab.Expr(WRITTEN, a=a, b=b).eval(out=r)

    return make


def by_numexpr(path: Path) -> None:
    import numexpr

    a, b = (np.memmap(memmap_file(name), "f4", "r") for name in "ab")
    r = np.memmap(path, "f4", "w+", shape=a.shape)
    numexpr.evaluate(WRITTEN, {"a": a, "b": b}, out=r, casting="same_kind")


def by_tables_expr(source: Path, threads: int):
    def make(path: Path) -> None:
        import tables

        limits = {"MAX_BLOSC_THREADS": threads, "MAX_NUMEXPR_THREADS": threads}
        with tables.open_file(source, **limits) as file, tables.open_file(path, "w", **limits) as target:
            a, b = file.root.a, file.root.b
            r = target.create_carray("/", "r", a.atom, a.shape, filters=a.filters)
            expression = tables.Expr(WRITTEN, {"a": a, "b": b})
            expression.set_output(r)
            expression.eval()

    return make


def by_blosc2(threads: int):
    def make(path: Path) -> None:
        import blosc2

        blosc2.set_nthreads(threads)
        opened = {name: blosc2.open(str(b2nd(name)), mode="r") for name in "ab"}
        blosc2.lazyexpr(WRITTEN, opened).compute(urlpath=str(path), mode="w", cparams=blosc2_parameters(threads))

    return make


def result(path: Path | None) -> np.ndarray | None:
    """Returns the values in the file of a contestant."""
    if path is None or not path.exists():
        return None
    if path.suffix == ".bin":
        return np.fromfile(path, "f4")
    if path.suffix == ".b2nd":
        import blosc2

        return blosc2.open(str(path), mode="r")[:]
    return peers.h5py_answer(path, name="r")


def copied(values: np.ndarray) -> Contestant:
    """Writes as many bytes as the result has to a new file."""
    return writers.as_limit(writers.writer("numpy.tofile of the result", "copy.bin", values.tofile, threads="1"))


def warm_groups(threads: int):
    count = product().size
    own, of_pytables = of_ours(), carrays(BLOSC2)
    yield Group(
        f"{WRITTEN}, {count} values, no filter, page cache",
        [
            writers.writer(OUR_NAME, "ours.h5", by_us(contiguous()), OURS),
            writers.writer(f"{OUR_NAME}, chunks of PyTables", "ours_chunked.h5", by_us(carrays(None)), OURS),
            writers.writer("numexpr on memmaps", "numexpr.bin", by_numexpr),
            writers.writer("tables.Expr", "tables.h5", by_tables_expr(carrays(None), threads)),
            copied(product()),
        ],
        [Target("numexpr on memmaps", 1.0), Target("tables.Expr", 2.7)],
        product,
        work_bytes=12 * count,
        files=[contiguous(), carrays(None), memmap_file("a"), memmap_file("b")],
        memory_limit_mib=MEMORY_LIMIT_MIB,
        normal=result,
    )
    yield Group(
        f"{WRITTEN}, {count} values, Blosc2 LZ4, page cache",
        [
            writers.writer(OUR_NAME, "ours.h5", by_us(own, True), OURS),
            writers.writer(f"{OUR_NAME}, chunks of PyTables", "ours_pytables.h5", by_us(of_pytables, True), OURS),
            writers.writer("python-blosc2", "lazy.b2nd", by_blosc2(threads)),
            writers.writer("tables.Expr", "tables.h5", by_tables_expr(of_pytables, threads)),
        ],
        [Target("python-blosc2", 1.5), Target("tables.Expr", 12.0)],
        product,
        work_bytes=12 * count,
        files=[own, of_pytables, b2nd("a"), b2nd("b")],
        memory_limit_mib=MEMORY_LIMIT_MIB,
        normal=result,
    )


def cold(path: Path, out: np.ndarray, name: str, kind: str) -> Contestant:
    """Computes into an array from a file that is not in the page cache."""

    def opened():
        drop_from_page_cache([path])
        return peers.ours_module().File(path)

    def call(file, turn):
        return peers.ours_module().Expr(READ_COLD, a=file["a"], b=file["b"]).eval(out=out)

    return Contestant(name, call, opened, lambda file: file.close(), kind=kind, size=lambda: writers.size_of(path))


def read_cold(path: Path, out: np.ndarray) -> Contestant:
    def opened():
        drop_from_page_cache([path])
        return path

    def call(path, turn):
        with path.open("rb", buffering=0) as file:
            while file.readinto(out):
                pass

    return Contestant("file.readinto", call, opened, kind=LIMIT, threads="1", size=lambda: writers.size_of(path))


def cold_group():
    out = np.zeros(product().size, "f4")
    made = on_disk()
    expected = 3 * made["a"] - 2 * made["b"] + 1.1
    del made
    yield Group(
        f"{READ_COLD}, {out.size} values, cold, into an array",
        [
            cold(of_ours(), out, OUR_NAME, OURS),
            cold(contiguous(), out, "no filter", PEER),
            read_cold(of_ours(), np.empty(4 << 20, np.uint8)),
        ],
        [Target("no filter", 3.0)],
        lambda: expected,
        work_bytes=12 * out.size,
        scratch=[out],
        files=[of_ours(), contiguous()],
        cold=True,
        memory_limit_mib=MEMORY_LIMIT_MIB,
    )


def groups(threads: int):
    yield from warm_groups(threads)
    yield from cold_group()
