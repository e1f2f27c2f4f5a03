"""The formulas of all golden values. `crates/testkit/src/pattern.rs` has the same formulas.

Element k (row-major) of a dataset is `elements(pattern, dtype, k)`. A formula never changes once files were
made with it.
"""

import numpy as np

PATTERNS = ("mix", "ramp", "steps", "small")
GOLDEN_RATIO = 0x9E3779B97F4A7C15
WORD = (1 << 64) - 1


def word(pattern, k):
    """Returns the 64 bits from which element k is derived; `k` is an array of uint64."""
    k = np.asarray(k, dtype=np.uint64)
    if pattern == "ramp":
        return k
    if pattern == "steps":
        return k // np.uint64(16)
    with np.errstate(over="ignore"):
        mixed = (k + np.uint64(1)) * np.uint64(GOLDEN_RATIO)
    mixed ^= mixed >> np.uint64(32)
    if pattern == "mix":
        return mixed
    if pattern == "small":
        return mixed % np.uint64(4)
    raise ValueError(f"no pattern {pattern!r}")


def elements(pattern, dtype, k):
    """Returns the elements of NumPy type `dtype` at the indices `k` (any shape)."""
    dtype = np.dtype(dtype)
    k = np.asarray(k, dtype=np.uint64)
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        count = int(np.prod(shape))
        inner = k[..., None] * np.uint64(count) + np.arange(count, dtype=np.uint64)
        return elements(pattern, base, inner).reshape(k.shape + shape)
    if dtype.names is not None:
        out = np.zeros(k.shape, dtype)
        for position, name in enumerate(dtype.names):
            index = k * np.uint64(len(dtype.names)) + np.uint64(position)
            out[name] = elements(pattern, dtype[name], index)
        return out
    if dtype.kind == "c":
        out = np.empty(k.shape, dtype)
        part = np.dtype(f"{dtype.byteorder}f{dtype.itemsize // 2}")
        out.real = elements(pattern, part, k * np.uint64(2))
        out.imag = elements(pattern, part, k * np.uint64(2) + np.uint64(1))
        return out
    if dtype.kind == "S":
        texts = [text(int(i), dtype.itemsize) for i in k.ravel()]
        return np.array(texts, dtype).reshape(k.shape)
    bits = word(pattern, k)
    if dtype.kind == "f":
        return real(bits, dtype)
    if dtype.kind == "b":
        return (bits & np.uint64(1)).astype(dtype)
    if dtype.kind in "iu":
        return bits.astype(f"u{dtype.itemsize}").view(f"{dtype.kind}{dtype.itemsize}").astype(dtype)
    raise ValueError(f"no pattern for {dtype}")


def real(bits, dtype):
    """Returns floats that are exact in their type: the low bits, centred and divided by a power of two."""
    significant, divisor = {2: (11, 8), 4: (24, 256), 8: (53, 65536), 16: (53, 65536)}[dtype.itemsize]
    low = (bits & np.uint64((1 << significant) - 1)).astype(np.int64) - (1 << (significant - 1))
    return (low / divisor).astype(dtype)


def brain(k):
    """Returns a bfloat16 of pattern `mix` as its 16 bits."""
    low = (word("mix", k) & np.uint64(0xFF)).astype(np.int64) - 128
    return ((low / 8).astype("<f4").view("<u4") >> 16).astype("<u2")


def text(k, size):
    """Returns a fixed-length string: `k % (size + 1)` bytes of the repeated digits of the word."""
    digits = str(int(word("mix", k)))
    length = k % (size + 1)
    return (digits * (length // len(digits) + 1))[:length].encode()


def words(k):
    """Returns a variable-length string: `k % 3` copies of 'é' and the digits of the word.

    Every third is empty.
    """
    return ("é" + str(int(word("mix", k)))) * (k % 3)


def plain_words(k):
    """Returns the same as `words`, in ASCII."""
    return ("e" + str(int(word("mix", k)))) * (k % 3)


def sequence(k, dtype):
    """Returns a variable-length sequence: `k % 4` elements, with the indices 4k, 4k + 1, ..."""
    return elements("mix", dtype, 4 * k + np.arange(k % 4))


def array(pattern, dtype, shape):
    """Returns a whole dataset."""
    count = int(np.prod(shape, dtype=np.int64))
    return elements(pattern, dtype, np.arange(count, dtype=np.uint64).reshape(shape))
