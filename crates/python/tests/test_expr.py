# ruff: noqa: F841 (expressions use variables of their caller)
"""Expressions: what NumPy and numexpr say of the same expression, and of the same arrays."""

import itertools
import warnings

import numexpr
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from soundness import CHECKS
from support import IS_H5PY, hs

if IS_H5PY:
    pytest.skip("about hyperslab's own expressions", allow_module_level=True)

KINDS = "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()
SIGNS = "+ - * / // % ** << >> & | ^ < <= > >= == !=".split()
PAIRS = "arctan2 fmod hypot minimum maximum copysign nextafter".split()
REDUCTIONS = "sum mean min max prod any all std var argmin argmax".split()
# The complex numbers of these tests are finite: beside infinities NumPy follows C99, and Rust does not.
FUNCTIONS = "abs sign conj real imag sqrt log log10 log2 log1p exp expm1 floor ceil trunc rint".split()
FUNCTIONS += "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh".split()
FUNCTIONS += "isnan isinf isfinite signbit ones_like".split()


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def some(kind, finite=False):
    """Five values of a dtype, with its extremes."""
    dtype = np.dtype(kind)
    if dtype.kind == "b":
        return np.array([0, 1, 1, 0, 1], dtype)
    if dtype.kind in "ui":
        limits = np.iinfo(dtype)
        return np.array([0, limits.min + 1 if limits.min else 2, 3, 100, limits.max], dtype)
    if dtype.kind == "c":
        return np.array([0, -1.5 + 2j, 0.25 - 1j, 2, 3 + 0.5j], dtype)
    return np.array([0, -1.5, 0.25, 2, 3] if finite else [0, -1.5, np.nan, np.inf, 3], dtype)


def outcome(compute):
    """The result, or None if the operation has no meaning."""
    try:
        return compute()
    except (TypeError, ValueError, OverflowError):
        return None


def same(got, wanted, what, tolerance=None):
    assert (got is None) == (wanted is None), (what, got, wanted)
    if got is None:
        return
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, (what, got.dtype, wanted.dtype)
    if tolerance is None and got.dtype.kind in "fc":
        tolerance = 4 * float(np.finfo(got.dtype).eps)
    if tolerance is None or got.dtype.kind not in "fc":
        if got.dtype.kind in "mM":
            # NaT equals nothing.
            got, wanted = got.view("i8"), wanted.view("i8")
        assert np.array_equal(got, wanted), (what, got, wanted)
    else:
        assert np.allclose(got, wanted, rtol=tolerance, atol=0, equal_nan=True), (what, got, wanted)


@pytest.mark.parametrize("operator", SIGNS + PAIRS)
def test_every_operator_has_the_dtype_and_the_values_of_numpy(operator):
    for one, other in itertools.product(KINDS, KINDS):
        a, b = some(one), some(other)[::-1].copy()
        text = f"{operator}(a, b)" if operator in PAIRS else f"a {operator} b"
        wanted = outcome(lambda text=text, a=a, b=b: eval(f"np.{text}" if operator in PAIRS else text))
        # Powers of complex numbers by logarithms lose some digits.
        tolerance = 1e-4 if operator == "**" and "c" in one + other else None
        if operator == "**" and wanted is not None:
            finite = np.isfinite(wanted)
            same(hs.Expr(text).eval()[finite], wanted[finite], (text, one, other), tolerance)
            continue
        same(outcome(lambda text=text, a=a, b=b: hs.Expr(text, a=a, b=b).eval()), wanted, (text, one, other), tolerance)
    CHECKS.said.append(f"expressions: {operator} on {len(KINDS) ** 2} pairs of dtypes as in NumPy")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_has_the_dtype_and_the_values_of_numpy(function):
    for kind in KINDS:
        a = some(kind)
        wanted = outcome(lambda a=a: getattr(np, function)(a))
        tolerance = 2e-3 if kind in ("f2", "?", "i1", "u1") else 1e-5 if kind in ("f4", "c8", "i2", "u2") else 1e-12
        same(outcome(lambda a=a: hs.Expr(f"{function}(a)", a=a).eval()), wanted, (function, kind), tolerance)


@pytest.mark.parametrize("sign", ["-", "+", "~"])
def test_operators_of_one_operand(sign):
    for kind in KINDS:
        a = some(kind)
        wanted = None if kind == "?" and sign == "+" else outcome(lambda a=a: eval(f"{sign}a"))
        same(outcome(lambda a=a: hs.Expr(f"{sign}a", a=a).eval()), wanted, (sign, kind))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1])
def test_reductions_are_those_of_numpy(reduction, axis):
    random = np.random.default_rng(5)
    file = hs.File.in_memory()
    for number, kind in enumerate(KINDS):
        a = (
            (random.normal(size=(7, 30, 11)) * 3).astype(kind)
            if kind[0] != "u"
            else random.integers(0, 9, (7, 30, 11), kind)
        )
        dataset = file.create_dataset(f"a{number}", data=a, chunks=(2, 7, 11))
        wide = a.astype({"f2": "f4", "f4": "f8", "c8": "c16"}.get(kind, kind))
        dtype = np.asarray(getattr(np, reduction)(a, axis=axis)).dtype
        wanted = np.asarray(getattr(np, reduction)(wide, axis=axis)).astype(dtype)
        for operand in (a, dataset):
            got = hs.Expr(f"{reduction}(a, axis={axis})", a=operand).eval()
            tolerance = {"f2": 2e-3, "f4": 1e-6, "c8": 1e-5}.get(kind, 1e-12)
            assert np.asarray(got).dtype == dtype, (reduction, kind)
            assert np.shape(got) == np.shape(wanted)
            floor = tolerance * np.abs(wide).max() if reduction in ("sum", "mean") else 0
            assert np.allclose(got, wanted, rtol=10 * tolerance, atol=30 * floor, equal_nan=True), (reduction, kind)
    CHECKS.said.append(f"expressions: {reduction} along axis {axis} of {len(KINDS)} dtypes as in NumPy")


def some_nested(random, depth=3):
    """A text with reductions inside of reductions, whose values have any shape."""
    if depth == 0 or random.random() < 0.15:
        return random.choice(["a", "b", "2.5"])
    choice = random.random()
    inner = some_nested(random, depth - 1)
    if choice < 0.5:
        axis = random.choice(["", ", axis=0", ", axis=-1"])
        return f"{random.choice(['sum', 'mean', 'max', 'min'])}({inner}{axis})"
    return f"({inner} {random.choice(['+', '-', '*'])} {some_nested(random, depth - 1)})"


def test_reductions_inside_of_reductions_are_those_of_numpy():
    random = np.random.default_rng(11)
    arrays = {"a": random.normal(size=(4, 3)), "b": random.normal(size=(4, 3))}

    def reduction(name):
        def reduced(a, axis=None):
            if axis is not None and np.ndim(a) == 0:
                raise ValueError("NumPy takes the axis 0 of a scalar")
            return getattr(np, name)(a, axis=axis)

        return reduced

    functions = {name: reduction(name) for name in ("sum", "mean", "max", "min")}
    seen = 0
    for _ in range(1500):
        text = some_nested(random, 4)
        try:
            wanted = eval(text, functions | arrays)
        except ValueError:  # an axis that is gone, or shapes that do not fit
            continue
        got = hs.Expr(text, **arrays).eval()
        assert np.shape(got) == np.shape(wanted), text
        assert np.allclose(got, wanted, rtol=1e-9, atol=1e-9), text
        seen += text.count("(") > 3
    assert seen > 300
    CHECKS.said.append(f"expressions: {seen} with nested reductions as in NumPy")


def test_reductions_see_nan_first_occurrences_and_nothing():
    a = np.array([[3, 1, 1], [np.nan, 0, 3]])
    for text in ("min(a)", "max(a)", "argmin(a)", "argmax(a)", "argmin(a, axis=1)", "argmax(a, axis=0)", "sum(a)"):
        assert np.array_equal(hs.Expr(text).eval(), eval(f"np.{text}"), equal_nan=True), text
    empty = np.empty((0, 3), "f4")
    assert hs.Expr("sum(empty)").eval() == 0 and hs.Expr("prod(empty)").eval() == 1
    assert np.array_equal(hs.Expr("sum(empty, axis=0)").eval(), [0, 0, 0])
    assert np.isnan(hs.Expr("mean(empty)").eval())
    assert hs.Expr("max(empty, axis=1)").eval().shape == (0,)
    for text in ("min(empty)", "argmax(empty)", "max(empty, axis=0)"):
        with pytest.raises(ValueError, match="no such element"):
            hs.Expr(text).eval()
    times = np.array(["2024-01-02", "NaT", "2023-01-01"], "M8[D]")
    assert np.isnat(hs.Expr("max(times)").eval()) and hs.Expr("argmin(times)").eval() == 1
    assert hs.Expr("max(d)", d=times[[0, 2]]).eval() == times[0]


def test_a_sum_of_many_floats_is_as_exact_as_a_sum_in_more_digits():
    random = np.random.default_rng(1)
    a = (random.normal(size=300_000) * 10.0 ** random.integers(-8, 8, 300_000)).astype("f8")
    exact = float(np.sum(a.astype(np.longdouble)))
    assert abs(float(hs.Expr("sum(a)").eval()) - exact) <= 4 * np.spacing(abs(exact))
    single = np.full(10_000_000, 0.1, "f4")
    assert hs.Expr("sum(single)").eval() == np.float32(np.sum(single.astype("f8")))


def trees(names):
    """Random texts over names, which mean the same for Python, numexpr and us."""
    leaf = st.one_of(st.sampled_from(names), st.integers(-5, 5).map(lambda n: f"({n})"), st.just("2.5"))
    signs = st.sampled_from(["+", "-", "*"])

    def grown(inner):
        pair = st.tuples(inner, signs, inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
        test = st.tuples(inner, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), inner, inner, inner)
        chosen = test.map(lambda t: f"where({t[0]} {t[1]} {t[2]}, {t[3]}, {t[4]})")
        called = st.tuples(st.sampled_from(["abs", "floor", "ceil"]), inner).map(lambda t: f"{t[0]}({t[1]})")
        return st.one_of(pair, chosen, called)

    return st.recursive(leaf, grown, max_leaves=12)


CASES = {"numpy": 0, "numexpr": 0}


@pytest.mark.soak
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=trees(["a", "b", "c", "d"]), seed=st.integers(0, 2**32 - 1), data=st.data())
def test_random_expressions_are_those_of_numpy(text, seed, data):
    random = np.random.default_rng(seed)
    kinds = data.draw(st.lists(st.sampled_from(KINDS[1:12]), min_size=4, max_size=4))
    shapes = data.draw(st.lists(st.sampled_from([(7, 6), (6,), (1, 6), (7, 1), ()]), min_size=4, max_size=4))
    given = {n: random.integers(0, 9, s).astype(k) for n, k, s in zip("abcd", kinds, shapes, strict=True)}
    scope = {"where": np.where, "abs": np.abs, "floor": np.floor, "ceil": np.ceil, **given}
    wanted = outcome(lambda: eval(text, scope))
    if wanted is None or not isinstance(wanted, np.ndarray | np.generic) or text.count("(-"):
        return
    got = hs.Expr(text, **{name: np.asarray(value) for name, value in given.items()}).eval()
    same(got, wanted, (text, kinds), {"e": 1e-2, "f": 1e-5}.get(np.asarray(wanted).dtype.char, 1e-12))
    CASES["numpy"] += 1


@pytest.mark.soak
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=trees(["a", "b", "c"]), seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["i4", "i8", "f4", "f8"]))
def test_random_expressions_are_those_of_numexpr(text, seed, kind):
    random = np.random.default_rng(seed)
    given = {name: random.integers(-9, 9, 50).astype(kind) for name in "abc"}
    wanted = outcome(lambda: numexpr.evaluate(text, given, {}))
    if wanted is None or wanted.shape != (50,):
        return
    got = hs.Expr(text, **given).eval()
    assert np.allclose(got, wanted, rtol=1e-5), text
    CASES["numexpr"] += 1


def test_the_functions_of_numexpr_have_its_values():
    random = np.random.default_rng(3)
    a, b = random.uniform(0.01, 0.99, 1000), random.uniform(0.01, 0.99, 1000)
    names = "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh log log10 log1p exp expm1 sqrt abs".split()
    for name in [*names, "floor", "ceil", "conj", "real", "imag", "ones_like"]:
        text = f"{name}({'complex(a, b)' if name in ('conj', 'real', 'imag') else 'a'})"
        assert np.allclose(hs.Expr(text).eval(), numexpr.evaluate(text), rtol=1e-13), text
    for text in ("arctan2(a, b)", "fmod(a, b)", "where(a > b, a, b)", "a ** b", "a % b", "(a < b) & ~(a > 0.5)"):
        assert np.allclose(hs.Expr(text).eval(), numexpr.evaluate(text), rtol=1e-13), text
    text = np.array([b"one", b"two", b"three"])
    assert np.array_equal(hs.Expr("contains(text, b'o')").eval(), numexpr.evaluate("contains(text, b'o')"))
    assert hs.Expr("sum(a, 0)").eval() == pytest.approx(numexpr.evaluate("sum(a, 0)"), rel=1e-14)
    CHECKS.said.append(f"expressions: {CASES['numpy']} random ones as in NumPy, {CASES['numexpr']} as in numexpr")


SHAPES = [(5, 64), (64, 5), (17, 13), (100, 100), None]


@pytest.mark.parametrize("one", SHAPES)
@pytest.mark.parametrize("other", SHAPES)
def test_operands_and_results_have_any_chunk_shape(tmp_path, one, other):
    random = np.random.default_rng(0)
    x, y = random.normal(size=(100, 64)), random.integers(-9, 9, (100, 64), "i2")
    with hs.File(tmp_path / "a.h5", "w") as first, hs.File(tmp_path / "b.h5", "w") as second:
        a = first.create_dataset("a", data=x, chunks=one and tuple(map(min, one, x.shape)))
        b = second.create_dataset("b", data=y.astype(">i2"), chunks=other and tuple(map(min, other, x.shape)))
        expr = hs.Expr("3*a - 2*b + 1.1")
        assert np.array_equal(expr.eval(), 3 * x - 2 * y + 1.1)
        for chunks in ((100, 1), (7, 9), None):
            out = first.create_dataset(f"out{chunks}", x.shape, "f4", chunks=chunks)
            assert expr.eval(out=out) is out
            assert np.array_equal(out[()], (3 * x - 2 * y + 1.1).astype("f4"))
        assert np.allclose(hs.Expr("sum(a * b, axis=0) / max(b)").eval(), (x * y).sum(0) / y.max(), rtol=1e-12)


def test_rows_are_computed_written_in_place_and_appended(tmp_path):
    x = np.arange(300.0).reshape(100, 3)
    with hs.File(tmp_path / "r.h5", "w") as file:
        a = file.create_dataset("a", data=x, chunks=(7, 3))
        expr = hs.Expr("a + w", w=[1, 10, 100])
        wanted = x + [1, 10, 100]
        for rows in (slice(10, 50), slice(3, 90, 7), slice(None, None, 2), slice(-5, None), slice(50, 10)):
            given = {"start": rows.start, "stop": rows.stop, "step": rows.step}
            assert np.array_equal(expr.eval(**given), wanted[rows])
            part = file.create_dataset(f"part{rows}", x.shape, "f8", chunks=(8, 2), fillvalue=-1)
            expr.eval(out=part, **given)
            expected = np.full(x.shape, -1.0)
            expected[rows] = wanted[rows]
            assert np.array_equal(part[()], expected)
        grows = file.create_dataset("grows", (0, 3), "f4", chunks=(8, 3), maxshape=(None, 3))
        for stop in (5, 50, 100):
            expr.eval(out=grows, start=len(grows), stop=stop, append=True)
        assert np.array_equal(grows[()], wanted)
        hs.Expr("2*a").eval(out=a)
        assert np.array_equal(a[()], 2 * x)
        with pytest.raises(ValueError, match="append to another dataset"):
            hs.Expr("2*grows").eval(out=grows, start=0, stop=5, append=True)
        assert grows.shape == (100, 3)


def test_columns_of_tables_and_names_of_the_caller(tmp_path):
    with hs.File(tmp_path / "t.h5", "w") as file:
        t = file.create_table("t", [("x", "f4"), ("in", [("n", "i2"), ("ok", "?")])])
        t.append([(1.5, (2, True)), (2.5, (3, False))])
        t.row["x"] = 7
        t.row.append()
        x = t.cols.x
        n = 10
        assert np.array_equal(hs.Expr("x * n").eval(), np.array([15, 25, 70], "f4"))
        assert np.array_equal(hs.Expr("where(k, x, -x)", k=getattr(t.cols, "in").ok).eval()[:2], [1.5, -2.5])
        assert hs.Expr("t.cols.x + 1").eval().dtype == np.float32
        with pytest.raises(ValueError, match="name a field"):
            hs.Expr("t + 1")
        with pytest.raises(NameError, match="unheard"):
            hs.Expr("unheard + n")


def test_out_is_an_array_of_any_layout():
    a = np.arange(12, dtype="i4").reshape(3, 4)
    for out in (np.empty((3, 4)), np.empty((4, 3)).T, np.empty((3, 8), ">f8")[:, ::2]):
        assert hs.Expr("a * 2").eval(out=out) is out
        assert np.array_equal(out, a * 2)
    shifted = np.arange(10)
    hs.Expr("b + 1", b=shifted[:-1]).eval(out=shifted[1:])
    assert np.array_equal(shifted, np.arange(10))
    with pytest.raises(TypeError, match="same_kind"):
        hs.Expr("a / 2").eval(out=np.empty((3, 4), "i4"))
    with pytest.raises(ValueError, match="shape"):
        hs.Expr("a").eval(out=np.empty((4, 3)))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a +", "operand is missing"),
        ("a and b", "instead of `and`"),
        ("sum(a, axis=5)", "out of bounds"),
        ("sum(a, axis=99999999999999999999)", "no such axis"),
        ("unknown(a)", "not known"),
        ("a + wrong", "broadcast"),
    ],
)
def test_errors_say_what_to_do(text, error):
    given = {"a": np.arange(6).reshape(2, 3), "b": 1, "wrong": np.arange(4)}
    with pytest.raises(ValueError, match=error):
        hs.Expr(text, given).eval()


@pytest.mark.parametrize("operator", ["*", "/", "//"])
@pytest.mark.parametrize("kind", KINDS[:9])
def test_durations_are_divided_by_integers_exactly(operator, kind):
    wide = np.array([2**60 + 1, -(2**60 + 1), 7, -7, np.iinfo("i8").min, np.iinfo("i8").max], "m8[ns]")
    by = np.array([3, 2, 2, 0, 1, 1] if np.dtype(kind).kind in "ub" else [3, -2, 2, -2, 0, -1], kind)
    for text, names in ((f"a {operator} b", {"b": by}), (f"a {operator} b", {"b": by[0]}), (f"a {operator} 3", {})):
        wanted = outcome(lambda text=text, names=names: eval(text, {"a": wide, **names}))
        same(outcome(lambda text=text, names=names: hs.Expr(text, a=wide, **names).eval()), wanted, (text, kind))
