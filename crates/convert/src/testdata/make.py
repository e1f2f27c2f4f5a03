"""Writes h5py_conversions.txt: elements, and the elements that libhdf5 (through h5py) converts them to.

Each line has a datatype, the bytes of some elements, a second datatype, and the bytes of the converted
elements. Left out are:
- conversions to an integer that are undefined in C: infinity, NaN, the power of two after the largest
  integer, negative float16 to unsigned;
- numbers between the largest finite number of a float type and the number from which rounding gives infinity:
  libhdf5 gives infinity or the largest number, depending on the byte order.

The bytes beyond the 80 bits of an x87 number are zeroed here, because libhdf5 leaves them unchanged.
"""

import os
import sys
import tempfile

import h5py
import numpy as np
from h5py import h5d, h5s, h5t

HERE = os.path.dirname(os.path.abspath(__file__))


def integer(size, order="<", sign="s", offset=0, precision=None):
    precision = precision or 8 * size - offset
    base = {1: h5t.STD_I8LE, 2: h5t.STD_I16LE, 4: h5t.STD_I32LE, 8: h5t.STD_I64LE}
    tid = base[1 if size < 2 else 2 if size < 4 else 4 if size < 8 else 8].copy()
    tid.set_size(size)
    tid.set_order(h5t.ORDER_LE if order == "<" else h5t.ORDER_BE)
    tid.set_sign(h5t.SGN_2 if sign == "s" else h5t.SGN_NONE)
    tid.set_precision(precision)
    tid.set_offset(offset)
    return f"i {size} {order} {sign} {offset} {precision}", tid


def floating(size, exponent, mantissa, order="<", norm="implied", precision=None):
    precision = precision or 8 * size
    tid = h5t.IEEE_F64LE.copy()
    tid.set_size(16)
    tid.set_precision(128)
    tid.set_fields(exponent + mantissa, mantissa, exponent, 0, mantissa)
    tid.set_precision(precision)
    tid.set_size(size)
    tid.set_ebias((1 << (exponent - 1)) - 1)
    tid.set_norm({"implied": h5t.NORM_IMPLIED, "none": h5t.NORM_NONE}[norm])
    tid.set_order(h5t.ORDER_LE if order == "<" else h5t.ORDER_BE)
    return f"f {size} {order} {exponent} {mantissa} {norm} {precision}", tid


def convert(file, src, data, dst):
    """Returns the bytes `data` of type `src`, as read with the memory type `dst`."""
    count = len(data) // src.get_size()
    name = f"d{len(file)}".encode()
    dataset = h5d.create(file.id, name, src, h5s.create_simple((count,)))
    dataset.write(h5s.ALL, h5s.ALL, np.frombuffer(data, f"V{src.get_size()}"), src)
    out = np.zeros(count, f"V{dst.get_size()}")
    dataset.read(h5s.ALL, h5s.ALL, out, dst)
    return out.tobytes()


def integers(dtype):
    info = np.iinfo(dtype)
    values = [
        info.min,
        info.max,
        0,
        1,
        -1,
        127,
        128,
        255,
        256,
        -129,
        2049,
        65503,
        65504,
        65519,
        65520,
        2**24 + 1,
        2**31,
        2**32,
        2**53 + 1,
        2**62 + 1,
        info.max - 1,
    ]
    return np.array([v for v in values if info.min <= v <= info.max], dtype)


def floats(dtype, whole):
    values = [
        0.0,
        -0.0,
        1.5,
        -1.5,
        2.9,
        -2.9,
        127.9,
        128.0,
        -128.9,
        255.5,
        256.0,
        65504.0,
        65519.0,
        -70000.0,
        3e9,
        5e9,
        2.0**62,
        -(2.0**63),
        1e30,
        -1e30,
        3.4028235677973366e38,
        1e39,
        -1e300,
        1e-8,
        5e-324,
        1 + 2**-11 + 2**-30,
        1 + 2**-12 + 2**-24 + 2**-50,
        6e-8,
        1e-42,
    ]
    if whole:
        return np.array([value for value in values if np.isfinite(np.array(value, dtype))], dtype)
    return np.array([*values, np.inf, -np.inf, np.nan], dtype)


def main():
    with np.errstate(all="ignore"), tempfile.TemporaryDirectory() as folder:
        file = h5py.File(os.path.join(folder, "conversions.h5"), "w")
        lines = []

        def line(src, data, dst):
            found = convert(file, src[1], data, dst[1])
            if dst[0].endswith(" none 80"):
                found = b"".join(found[at : at + 10] + bytes(6) for at in range(0, len(found), 16))
            lines.append(f"{src[0]} | {data.hex()} | {dst[0]} | {found.hex()}")

        codes = {
            f"{sign}{size}": integer(size, "<", "s" if sign == "i" else "u") for sign in "iu" for size in (1, 2, 4, 8)
        }
        codes |= {"f2": floating(2, 5, 10), "f4": floating(4, 8, 23), "f8": floating(8, 11, 52)}
        for code, src in codes.items():
            for other, dst in codes.items():
                if code != other:
                    data = integers(code) if code[0] in "iu" else floats(code, other[0] in "iu")
                    if code == "f2" and other[0] == "u":
                        data = data[data >= 0]
                    if other == "f2":
                        data = data[data != 65519]
                    line(src, data.tobytes(), dst)
        odd = [
            integer(4, "<", "s", 4, 20),
            integer(3, ">", "u", 1, 17),
            integer(8, ">", "s", 10, 33),
            integer(2, "<", "s", 3, 9),
        ]
        for dst in odd:
            line(codes["i8"], integers("i8").tobytes(), dst)
            line(codes["f8"], floats("f8", True).tobytes(), dst)
        for src in odd:
            data = convert(file, codes["i8"][1], integers("i8").tobytes(), src[1])
            for dst in [*odd, codes["u1"], codes["i4"], codes["u8"], codes["f4"]]:
                if src is not dst:
                    line(src, data, dst)
        bf16, e5m2, extended = floating(2, 8, 7), floating(1, 5, 2), floating(16, 15, 64, norm="none", precision=80)
        for dst in [bf16, e5m2, extended]:
            data = floats("f8", False)
            if dst is bf16:
                data = data[data != 3.4028235677973366e38]
            elif dst is e5m2:
                data = data[(data < 61440) | (data >= 65536)]
            line(codes["f8"], data.tobytes(), dst)
            line(codes["i8"], integers("i8").tobytes(), dst)
        for src in [bf16, e5m2, extended]:
            for dst in [codes["f4"], codes["f8"], codes["i2"]]:
                line(src, convert(file, codes["f8"][1], floats("f8", dst[0][0] == "i").tobytes(), src[1]), dst)
        bits = "b 4 < u 0 32", h5t.STD_B32LE
        for dst in [("b 2 < u 0 16", h5t.STD_B16LE), ("b 8 > u 0 64", h5t.STD_B64BE)]:
            line(bits, np.array([0, 1, 0xFFFF, 0x10000, 0xFFFFFFFF], "<u4").tobytes(), dst)
    header = (
        f"# Made by make.py with h5py {h5py.__version__}, HDF5 {h5py.version.hdf5_version}, on {sys.byteorder}-endian\n"
    )
    with open(os.path.join(HERE, "h5py_conversions.txt"), "w") as out:
        out.write(header + "\n".join(lines) + "\n")


main()
