"""Conversions of numbers, against exact arithmetic and against libhdf5 through h5py."""

import itertools
from fractions import Fraction

import h5py
import hyperslab as hs
import numpy as np
import pytest
from hyperslab.low import h5s

FLOATS = {"f2": (5, 10), "f4": (8, 23), "f8": (11, 52)}
INTEGERS = [f"{sign}{size}" for sign in "iu" for size in (1, 2, 4, 8)]
ORDERS = "<>"


def rounded(value, exponent_bits, mantissa_bits):
    """Returns the float nearest to a Fraction, ties to even, as a Fraction, or an infinity as a float."""
    bias = (1 << (exponent_bits - 1)) - 1
    size = abs(value)
    if not size:
        return Fraction(0)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, 1 - bias) - mantissa_bits)
    nearest = round(size / unit) * unit
    if nearest >= Fraction(2) ** (bias + 1):
        return float("-inf" if value < 0 else "inf")
    return -nearest if value < 0 else nearest


def neighbours(source, target):
    """Returns numbers of the type `source` at and beside the midpoints of `target`, and random ones."""
    random = np.random.default_rng(7)
    exponent_bits, mantissa_bits = FLOATS[target]
    bias = (1 << (exponent_bits - 1)) - 1
    exact = [Fraction(0)]
    for _ in range(400):
        exponent = int(random.integers(-bias - mantissa_bits - 2, bias + 2))
        unit = Fraction(2) ** (max(exponent, 1 - bias) - mantissa_bits - 1)
        exact.append((2 * int(random.integers(0, 2 << mantissa_bits)) + 1) * unit)
    largest = (2 - Fraction(2) ** -mantissa_bits) * Fraction(2) ** bias
    middle = (2 - Fraction(2) ** -(mantissa_bits + 1)) * Fraction(2) ** bias
    smallest = Fraction(2) ** (1 - bias - mantissa_bits)
    exact += [largest, middle, (largest + middle) / 2, Fraction(2) ** (bias + 1), smallest, smallest / 2]
    if source[0] in "iu":
        info = np.iinfo(source)
        exact += [Fraction(2**power + step) for power in range(65) for step in (-1, 0, 1)]
        exact += [Fraction(2**power + 2**low) for power in range(65) for low in range(power)]
        whole = {int(value) + step for value in exact for step in (-1, 0, 1)}
        whole |= {-value for value in whole}
        return np.array(sorted(value for value in whole if info.min <= value <= info.max), source)
    limit = Fraction(float(np.finfo(source).max))
    values = np.array([float(value) for value in exact if value <= limit]).astype(source)
    with np.errstate(all="ignore"):
        beside = [np.nextafter(values, np.array(end, source)) for end in (np.inf, 0)]
    values = np.concatenate([values, *beside])
    values = values[np.isfinite(values)]
    return np.concatenate([values, -values])


def exactly(values, target):
    """Returns `values` as the float type `target`, rounded once by exact arithmetic."""
    return np.array([float(rounded(Fraction(value), *FLOATS[target])) for value in values.tolist()], target)


def conversions(f, values, target):
    """Yields what writing to a dataset of the type `target` and reading as it make of `values`."""
    d = f.create_dataset(f"w{len(f)}", values.shape, target, chunks=(min(100, len(values)),))
    d.id.write(h5s.ALL, h5s.ALL, values)
    yield "written", d[:]
    d = f.create_dataset(f"r{len(f)}", data=values, chunks=(min(100, len(values)),))
    yield "read as", d.astype(target)[:]
    out = np.zeros(values.shape, target)
    d.read_direct(out)
    yield "read into", out


@pytest.mark.parametrize("source", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("target", FLOATS)
def test_numbers_become_floats_with_one_rounding(tmp_path, source, target):
    values = neighbours(source, target)
    right = exactly(values, target)
    with hs.File(tmp_path / "f.h5", "w") as f:
        for one, other in itertools.product(ORDERS, ORDERS):
            given = values.astype(one + source)
            for how, got in conversions(f, given, other + target):
                wrong = got != right
                assert not wrong.any(), (one, other, how, given[wrong][:3], got[wrong][:3], right[wrong][:3])


def test_a_number_just_below_the_limit_of_a_float_stays_finite(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        d = f.create_dataset("d", (4,), "f2", fillvalue=65519.99)
        assert d[0] == 65504
        d[1:] = np.array([65519.99, 65520, -65519.99])
        assert d[:].tolist() == [65504, 65504, np.inf, -65504]
        f.attrs.create("a", np.array([65519.99, 65520]), dtype="f2")
        assert f.attrs["a"].tolist() == [65504, np.inf]


SPECIAL = [
    np.nan,
    np.inf,
    -np.inf,
    -0.5,
    -1.5,
    2.9,
    127.9,
    128,
    -129.9,
    256,
    65504,
    -65504,
    70000,
    3e9,
    -3e9,
    1e19,
    3e19,
    -1e30,
]


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", ["f4", "f8"])
def test_what_no_integer_can_hold_becomes_what_libhdf5_gives_in_native_order(tmp_path, source, target):
    values = np.array(SPECIAL, source)
    with h5py.File(tmp_path / "h.h5", "w") as f:
        d = f.create_dataset("d", values.shape, target)
        d.id.write(h5py.h5s.ALL, h5py.h5s.ALL, values)
        right = d[:]
        read = np.zeros(values.shape, target)
        f.create_dataset("r", data=values).read_direct(read)
    assert np.array_equal(read, right)
    with hs.File(tmp_path / "f.h5", "w") as f:
        for one, other in itertools.product(ORDERS, ORDERS):
            for how, got in conversions(f, values.astype(one + source), other + target):
                assert np.array_equal(got, right), (one, other, how, got, right)


@pytest.mark.parametrize("target", INTEGERS)
def test_float16_becomes_the_same_integers_as_float32(tmp_path, target):
    with np.errstate(over="ignore"):
        halves = np.array(SPECIAL, "f2")
    with hs.File(tmp_path / "f.h5", "w") as f:
        for one, other in itertools.product(ORDERS, ORDERS):
            pairs = zip(
                conversions(f, halves.astype(one + "f2"), other + target),
                conversions(f, halves.astype("f4"), target),
                strict=True,
            )
            for (how, got), (_, right) in pairs:
                assert np.array_equal(got, right), (one, other, how, got, right)


def test_the_powers_of_two_above_the_largest_integer_are_clamped(tmp_path):
    with hs.File(tmp_path / "f.h5", "w") as f:
        for power, target in [(31, "i4"), (32, "u4"), (63, "i8"), (64, "u8")]:
            for source in ("f4", "f8"):
                for how, got in conversions(f, np.array([2.0**power, -(2.0**power)], source), target):
                    info = np.iinfo(target)
                    assert got.tolist() == [info.max, info.min], (source, target, how)
