//! Complex numbers.

use bytemuck::Pod;
use num_complex::Complex;
use num_traits::{Float, FloatConst};

use super::{In, map1, map2};
use crate::tree::{Binary, Math};
use crate::types::Type;

/// The largest whole exponent that is computed by multiplication, as in NumPy.
const WHOLE: f64 = 100.0;

pub(super) fn binary(operator: Binary, kind: Type, a: In<'_>, b: In<'_>, out: &mut [u8]) {
    match kind {
        Type::C64 => binary_of::<f32>(operator, a, b, out),
        _ => binary_of::<f64>(operator, a, b, out),
    }
}

pub(super) fn math(math: Math, kind: Type, a: In<'_>, out: &mut [u8]) {
    match kind {
        Type::C64 => math_of::<f32>(math, a, out),
        _ => math_of::<f64>(math, a, out),
    }
}

pub(super) fn negative(kind: Type, a: In<'_>, out: &mut [u8]) {
    match kind {
        Type::C64 => map1(&a.typed::<Complex<f32>>(), a.is_one, out, |x: Complex<f32>| -x),
        _ => map1(&a.typed::<Complex<f64>>(), a.is_one, out, |x: Complex<f64>| -x),
    }
}

pub(super) fn of_parts(kind: Type, re: In<'_>, im: In<'_>, out: &mut [u8]) {
    let is_one = (re.is_one, im.is_one);
    match kind {
        Type::C64 => map2(&re.typed::<f32>(), &im.typed::<f32>(), is_one, out, Complex::new),
        _ => map2(&re.typed::<f64>(), &im.typed::<f64>(), is_one, out, Complex::new),
    }
}

/// Compares real parts first, and imaginary parts if these are equal, as NumPy does.
fn less<T: Float>(a: Complex<T>, b: Complex<T>, or_equal: bool) -> bool {
    if a.re < b.re {
        return !a.im.is_nan() && !b.im.is_nan();
    }
    a.re == b.re && if or_equal { a.im <= b.im } else { a.im < b.im }
}

fn binary_of<T: Float + Pod>(operator: Binary, a: In<'_>, b: In<'_>, out: &mut [u8])
where
    Complex<T>: Pod,
{
    let is_one = (a.is_one, b.is_one);
    let (a, b) = (&*a.typed::<Complex<T>>(), &*b.typed::<Complex<T>>());
    match operator {
        Binary::Add => map2(a, b, is_one, out, |a, b| a + b),
        Binary::Subtract => map2(a, b, is_one, out, |a, b| a - b),
        Binary::Multiply => map2(a, b, is_one, out, |a, b| a * b),
        Binary::Divide => map2(a, b, is_one, out, divide),
        Binary::Power => map2(a, b, is_one, out, power),
        Binary::Minimum => {
            map2(a, b, is_one, out, |a, b| if is_nan(a) || less(a, b, true) { a } else { b });
        }
        Binary::Maximum => {
            map2(a, b, is_one, out, |a, b| if is_nan(a) || less(b, a, true) { a } else { b });
        }
        Binary::Less => map2(a, b, is_one, out, |a, b| u8::from(less(a, b, false))),
        Binary::LessEqual => map2(a, b, is_one, out, |a, b| u8::from(less(a, b, true))),
        Binary::Greater => map2(a, b, is_one, out, |a, b| u8::from(less(b, a, false))),
        Binary::GreaterEqual => map2(a, b, is_one, out, |a, b| u8::from(less(b, a, true))),
        Binary::Equal => map2(a, b, is_one, out, |a: Complex<T>, b: Complex<T>| u8::from(a == b)),
        _ => map2(a, b, is_one, out, |a: Complex<T>, b: Complex<T>| u8::from(a != b)),
    }
}

/// Rounds to the nearest integer, and halves to the even one.
fn even<T: Float>(a: T) -> T {
    let two = T::one() + T::one();
    let rounded = a.round();
    if (a - a.trunc()).abs() * two == T::one() { (a / two).round() * two } else { rounded.copysign(a) }
}

fn is_nan<T: Float>(a: Complex<T>) -> bool {
    a.re.is_nan() || a.im.is_nan()
}

/// Gives parts the signs of those of another number. So C99 chooses the side of a branch cut.
fn signed<T: Float>(a: Complex<T>, like: Complex<T>) -> Complex<T> {
    Complex::new(a.re.copysign(like.re), a.im.copysign(like.im))
}

/// Divides by Smith's method, which NumPy uses: parts that overflow when squared do not spoil the quotient.
fn divide<T: Float>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    if b.re.abs() >= b.im.abs() {
        if b.re.is_zero() && b.im.is_zero() {
            return Complex::new(a.re / b.re.abs(), a.im / b.re.abs());
        }
        let ratio = b.im / b.re;
        let scale = (b.re + b.im * ratio).recip();
        return Complex::new((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale);
    }
    let ratio = b.re / b.im;
    let scale = (b.im + b.re * ratio).recip();
    Complex::new((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale)
}

fn power<T: Float>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let one = Complex::new(T::one(), T::zero());
    if b.re.is_zero() && b.im.is_zero() {
        return one;
    }
    let whole = b.re.to_f64().filter(|re| b.im.is_zero() && re.fract() == 0.0 && re.abs() < WHOLE);
    if let Some(mut exponent) = whole {
        let is_negative = exponent < 0.0;
        exponent = exponent.abs();
        let (mut base, mut product) = (a, one);
        while exponent > 0.0 {
            if exponent % 2.0 > 0.5 {
                product = product * base;
            }
            base = base * base;
            exponent = (exponent / 2.0).floor();
        }
        return if is_negative { divide(one, product) } else { product };
    }
    if a.re.is_zero() && a.im.is_zero() {
        return if b.re > T::zero() { a } else { Complex::new(T::nan(), T::nan()) };
    }
    a.powc(b)
}

fn math_of<T: Float + FloatConst + Pod>(math: Math, a: In<'_>, out: &mut [u8])
where
    Complex<T>: Pod,
{
    type C<T> = Complex<T>;
    let (is_one, a) = (a.is_one, &*a.typed::<Complex<T>>());
    let one = Complex::new(T::one(), T::zero());
    match math {
        Math::Abs => map1(a, is_one, out, |x: C<T>| x.re.hypot(x.im)),
        Math::Real => map1(a, is_one, out, |x: C<T>| x.re),
        Math::Imag => map1(a, is_one, out, |x: C<T>| x.im),
        Math::Sqrt => map1(a, is_one, out, |x: C<T>| x.sqrt()),
        Math::Sin => map1(a, is_one, out, |x: C<T>| x.sin()),
        Math::Cos => map1(a, is_one, out, |x: C<T>| x.cos()),
        Math::Tan => map1(a, is_one, out, |x: C<T>| x.tan()),
        Math::Arcsin => map1(a, is_one, out, |x: C<T>| signed(x.asin(), x)),
        Math::Arccos => map1(a, is_one, out, |x: C<T>| {
            let angle = x.acos();
            Complex::new(angle.re, angle.im.copysign(-x.im))
        }),
        Math::Arctan => map1(a, is_one, out, |x: C<T>| signed(x.atan(), x)),
        Math::Sinh => map1(a, is_one, out, |x: C<T>| x.sinh()),
        Math::Cosh => map1(a, is_one, out, |x: C<T>| x.cosh()),
        Math::Tanh => map1(a, is_one, out, |x: C<T>| x.tanh()),
        Math::Arcsinh => map1(a, is_one, out, |x: C<T>| signed(x.asinh(), x)),
        Math::Arccosh => map1(a, is_one, out, |x: C<T>| {
            let angle = x.acosh();
            Complex::new(angle.re, angle.im.copysign(x.im))
        }),
        Math::Arctanh => map1(a, is_one, out, |x: C<T>| signed(x.atanh(), x)),
        Math::Log => map1(a, is_one, out, |x: C<T>| x.ln()),
        Math::Log10 => map1(a, is_one, out, |x: C<T>| x.log10()),
        Math::Log2 => map1(a, is_one, out, |x: C<T>| x.log2()),
        Math::Log1p => map1(a, is_one, out, |x: C<T>| (x + one).ln()),
        Math::Exp => map1(a, is_one, out, |x: C<T>| x.exp()),
        Math::Expm1 => map1(a, is_one, out, |x: C<T>| x.exp() - one),
        Math::IsNan => map1(a, is_one, out, |x: C<T>| u8::from(is_nan(x))),
        Math::IsInf => map1(a, is_one, out, |x: C<T>| u8::from(x.re.is_infinite() || x.im.is_infinite())),
        Math::IsFinite => map1(a, is_one, out, |x: C<T>| u8::from(x.re.is_finite() && x.im.is_finite())),
        Math::Sign => map1(a, is_one, out, |x: C<T>| {
            let length = x.re.hypot(x.im);
            if length.is_zero() { x } else { x / length }
        }),
        Math::Rint => map1(a, is_one, out, |x: C<T>| Complex::new(even(x.re), even(x.im))),
        Math::OnesLike => map1(a, is_one, out, |_| one),
        // The conjugate. The functions that only real numbers have are refused before.
        _ => map1(a, is_one, out, |x: C<T>| x.conj()),
    }
}
