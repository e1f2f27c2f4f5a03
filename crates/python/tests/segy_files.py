"""Builds SEG-Y files byte by byte from the standards: an oracle that shares no code with the reader."""

import hashlib
import math
import struct

import numpy as np

# The sample format codes of the standard, and the NumPy types for the values. NumPy has no type for IBM
# floats (1) and 3-byte integers (7, 15), which use a wider type here.
STORED = {
    1: "f4",
    2: "i4",
    3: "i2",
    5: "f4",
    6: "f8",
    7: "i4",
    8: "i1",
    9: "i8",
    10: "u4",
    11: "u2",
    12: "u8",
    15: "u4",
    16: "u1",
}
BYTES = {1: 4, 2: 4, 3: 2, 5: 4, 6: 8, 7: 3, 8: 1, 9: 8, 10: 4, 11: 2, 12: 8, 15: 3, 16: 1}
INLINE, CROSSLINE, OFFSET, CDP, X, Y = (189, "i4"), (193, "i4"), (37, "i4"), (21, "i4"), (181, "i4"), (185, "i4")
SCALAR, DELAY, TIME_SCALAR = (71, "i2"), (109, "i2"), (215, "i2")
END_TEXT = "((SEG: EndText))".ljust(3200)


def ibm(value):
    """Returns the word of an IBM float: base 16, a fraction of 24 bits, an exponent with an excess of 64."""
    if value == 0:
        return 0
    fraction, power = math.frexp(abs(value))
    exponent = math.ceil(power / 4)
    bits = fraction * 2 ** (power - 4 * exponent) * 2**24
    assert bits == int(bits), f"{value} has no exact IBM float"
    return (value < 0) << 31 | (exponent + 64) << 24 | int(bits)


def samples_as_bytes(values, code, order):
    """Returns samples as the bytes that a file stores."""
    if code == 1:
        return struct.pack(f"{order}{len(values)}I", *(ibm(float(value)) for value in values))
    if code in (7, 15):
        way = "big" if order == ">" else "little"
        return b"".join(int(value).to_bytes(3, way, signed=code == 7) for value in values)
    return np.asarray(values).astype(order + STORED[code]).tobytes()


def some_values(code, shape, seed=0):
    """Returns random values of a sample format.

    Integer formats include the smallest and the largest value.
    """
    random = np.random.default_rng(seed)
    kind = np.dtype(STORED[code])
    if kind.kind == "f":
        return (random.integers(-(2**15), 2**15, shape) / 16).astype(kind)
    bits = 8 * BYTES[code]
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if kind.kind == "i" else (0, 2**bits - 1)
    values = random.integers(low, high, shape, dtype=kind, endpoint=True)
    values.flat[:2] = low, high
    return values


def segy(
    samples,
    fields,
    *,
    code=5,
    order=">",
    revision=(1, 0),
    interval=4000,
    text="C 1 A SURVEY",
    encoding="cp037",
    extended=(),
    extended_count=None,
    label=False,
    further=0,
    trailer=b"",
    lengths=None,
    gap=0,
    count=None,
    system=1,
    patches=(),
):
    """Returns the bytes of a SEG-Y file.

    samples : an array (traces, samples), or a list of traces.
    fields : {(byte, kind): one value for all traces, or one for each}.
    extended : extended textual headers.
    extended_count : the number of them that the header states; -1 if a stanza ends them.
    further : the number of trace header extensions.
    gap : the number of bytes before the first trace, which the header states in revision 2.
    patches : (offset, bytes) that overwrite parts of the finished file.
    """
    longest = max(len(trace) for trace in samples)
    header = bytearray(400)

    def put(byte, kind, value):
        struct.pack_into(order + kind, header, byte - 1, value)

    put(17, "H", int(interval) if interval < 65536 else 0)
    put(21, "H", longest if longest < 65536 else 0)
    put(25, "h", code)
    put(55, "h", system)
    if revision >= (2, 0):
        put(69, "I", longest)
        put(73, "d", interval)
        put(97, "I", 0x01020304)
        put(313, "Q", len(samples) if count is None else count)
        put(329, "i", len(trailer) // 3200)
        put(307, "i" if revision == (2, 0) else "h", further)
        if gap:
            put(321, "Q", 3600 + 3200 * len(extended) + gap + 128 * label)
    header[300:302] = bytes(revision)
    if revision >= (1, 0):
        put(303, "h", int(len({len(trace) for trace in samples}) == 1))
        put(305, "h", len(extended) if extended_count is None else extended_count)
    parts = [(b"   1SY%d.%dRECORD" % revision).ljust(128) if label else b""]
    parts.append(text.ljust(3200)[:3200].encode(encoding))
    parts.append(bytes(header))
    parts += [one.ljust(3200).encode(encoding) for one in extended]
    parts.append(b"\xaa" * gap)
    for number, trace in enumerate(samples):
        one = bytearray(240)
        struct.pack_into(order + "i", one, 0, number + 1)
        struct.pack_into(order + "H", one, 114, len(trace) if len(trace) < 65536 else 0)
        struct.pack_into(order + "H", one, 116, int(interval) if interval < 65536 else 0)
        for (byte, kind), values in fields.items():
            value = values if np.ndim(values) == 0 else values[number]
            one[byte - 1 : byte - 1 + np.dtype(kind).itemsize] = np.array(value).astype(order + kind).tobytes()
        parts.append(bytes(one))
        parts += [bytes([number % 251, k]) * 120 for k in range(further)]
        parts.append(samples_as_bytes(trace, code, order))
    parts.append(trailer)
    whole = bytearray(b"".join(parts))
    for offset, patch in patches:
        whole[offset : offset + len(patch)] = patch
    return bytes(whole)


def grid(inlines, crosslines, by="inline"):
    """Returns the (inline, crossline) numbers of all traces of a volume, in the order of the file."""
    pairs = [(i, x) for i in inlines for x in crosslines]
    if by == "crossline":
        pairs = [(i, x) for x in crosslines for i in inlines]
    return np.array(pairs)


def laid_out(numbers, samples, fill):
    """Returns a volume with each trace at its position, and the axes, computed from `numbers`."""
    axes = [np.unique(column) for column in np.array(numbers).T]
    volume = np.full((*map(len, axes), len(samples[0])), fill, np.asarray(samples[0]).dtype)
    for place, trace in zip(numbers, samples, strict=True):
        volume[tuple(int(np.flatnonzero(axis == n)[0]) for axis, n in zip(axes, place, strict=True))] = trace
    return volume, axes


def sha256(path):
    """Returns the hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
