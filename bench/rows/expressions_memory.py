"""Computes an expression over arrays in memory, compressed and not."""

from __future__ import annotations

from functools import cache

import limits
import numpy as np
import peers
from common import OUR_NAME, OURS, Contestant, Group, Target, scaled

from rows import expressions

TITLE = "an expression over float32 in memory, with and without compression"
THREADS = (2,)
EXPRESSION = "3*a-2*b+1.1"


def operands_in_memory(arrays: dict[str, np.ndarray], is_packed: bool):
    """Returns a function that opens a file in memory with the operands, the same one at each call."""
    hyperslab = peers.ours_module()

    @cache
    def opened():
        file = hyperslab.File.in_memory()
        for name, values in arrays.items():
            file.create_dataset(name, data=values, **(packed() if is_packed else {}))
        return file

    return opened


def packed() -> dict:
    return {"compression": peers.ours_module().Blosc2("lz4")}


def into_new_dataset(**options):
    """Returns a function that computes into a new file in memory."""

    def call(file, turn):
        hyperslab = peers.ours_module()
        target = hyperslab.File.in_memory()
        r = target.create_dataset("r", file["a"].shape, "f4", **options)
        hyperslab.Expr(EXPRESSION, a=file["a"], b=file["b"]).eval(out=r)
        return r

    return call


def groups(threads: int):
    arrays = expressions.operands(scaled(10_000_000, 100_000))
    out = np.zeros_like(arrays["a"])
    compressed, plain = (operands_in_memory(arrays, is_packed) for is_packed in (True, False))

    def expected():
        return 3 * arrays["a"] - 2 * arrays["b"] + 1.1

    def into_array(file, turn):
        return peers.ours_module().Expr(EXPRESSION, a=file["a"], b=file["b"]).eval(out=out)

    def with_arrays(state, turn):
        return peers.ours_module().Expr(EXPRESSION, arrays).eval(out=out)

    def with_numpy(state, turn):
        return expected()

    def with_numexpr(state, turn):
        import numexpr

        return numexpr.evaluate("3*a-2*b+c", {**arrays, "c": np.float32(1.1)}, out=out)

    @cache
    def blosc2_arrays():
        import blosc2

        blosc2.set_nthreads(threads)
        return {
            name: blosc2.asarray(values, cparams=expressions.blosc2_parameters(threads))
            for name, values in arrays.items()
        }

    def with_blosc2(arrays, turn):
        import blosc2

        return blosc2.lazyexpr("3*a-2*b+c", {**arrays, "c": np.float32(1.1)}).compute(
            cparams=expressions.blosc2_parameters(threads)
        )

    yield Group(
        f"{EXPRESSION}, {out.size} values in memory, into an array",
        [
            Contestant(OUR_NAME, into_array, compressed, kind=OURS),
            Contestant("plain datasets", into_array, plain),
            Contestant("plain arrays", with_arrays),
            Contestant("NumPy", with_numpy, threads="1"),
            Contestant("numexpr", with_numexpr),
            limits.memcpy(lambda: arrays["a"], out.copy(), threads),
        ],
        [Target("plain", 1.0), Target("NumPy", 3.0)],
        expected,
        work_bytes=12 * out.size,
        scratch=[out],
        memory=False,
    )
    yield Group(
        f"{EXPRESSION}, {out.size} values in memory, into a new dataset",
        [
            Contestant(OUR_NAME, into_new_dataset(**packed()), compressed, kind=OURS),
            Contestant("plain datasets", into_new_dataset(), plain),
            Contestant("python-blosc2", with_blosc2, blosc2_arrays),
        ],
        [Target("python-blosc2", 1.5)],
        expected,
        work_bytes=12 * out.size,
        memory=False,
        normal=lambda answer: answer[...],
    )
