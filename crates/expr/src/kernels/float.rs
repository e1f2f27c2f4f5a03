//! Floats of 32 and 64 bits. Those of 16 bits are computed in 32, as NumPy does.

use bytemuck::Pod;
use half::f16;
use num_traits::Float;

use super::{In, compare, map1, map2};
use crate::tree::{Binary, Math};
use crate::types::Type;

/// What floats lack in `num_traits`.
trait Real: Pod + Float {
    fn next_after(self, other: Self) -> Self;
    fn round_even(self) -> Self;
    fn arc_tangent(self, other: Self) -> Self;
}

impl Real for f32 {
    fn next_after(self, other: Self) -> Self {
        libm::nextafterf(self, other)
    }
    fn round_even(self) -> Self {
        self.round_ties_even()
    }
    fn arc_tangent(self, other: Self) -> Self {
        self.atan2(other)
    }
}

impl Real for f64 {
    fn next_after(self, other: Self) -> Self {
        libm::nextafter(self, other)
    }
    fn round_even(self) -> Self {
        self.round_ties_even()
    }
    fn arc_tangent(self, other: Self) -> Self {
        self.atan2(other)
    }
}

pub(super) fn binary(operator: Binary, kind: Type, a: In<'_>, b: In<'_>, out: &mut [u8]) {
    match kind {
        Type::F32 => binary_of::<f32>(operator, a, b, out),
        _ => binary_of::<f64>(operator, a, b, out),
    }
}

pub(super) fn math(math: Math, kind: Type, a: In<'_>, out: &mut [u8]) {
    match kind {
        Type::F32 => math_of::<f32>(math, a, out),
        _ => math_of::<f64>(math, a, out),
    }
}

pub(super) fn negative(kind: Type, a: In<'_>, out: &mut [u8]) {
    match kind {
        Type::F32 => map1(&a.typed::<f32>(), a.is_one, out, |x: f32| -x),
        _ => map1(&a.typed::<f64>(), a.is_one, out, |x: f64| -x),
    }
}

fn binary_of<T: Real>(operator: Binary, x: In<'_>, y: In<'_>, out: &mut [u8]) {
    let is_one = (x.is_one, y.is_one);
    let (a, b) = (&*x.typed::<T>(), &*y.typed::<T>());
    match operator {
        Binary::Add => map2(a, b, is_one, out, |a, b| a + b),
        Binary::Subtract => map2(a, b, is_one, out, |a, b| a - b),
        Binary::Multiply => map2(a, b, is_one, out, |a, b| a * b),
        Binary::Divide => map2(a, b, is_one, out, |a, b| a / b),
        Binary::FloorDivide => map2(a, b, is_one, out, floor_divide),
        Binary::Modulo => map2(a, b, is_one, out, modulo),
        Binary::Fmod => map2(a, b, is_one, out, |a, b| a % b),
        Binary::Power => power(a, b, is_one, out),
        Binary::Minimum => map2(a, b, is_one, out, |a, b| if a <= b || a.is_nan() { a } else { b }),
        Binary::Maximum => map2(a, b, is_one, out, |a, b| if a >= b || a.is_nan() { a } else { b }),
        Binary::Arctan2 => map2(a, b, is_one, out, T::arc_tangent),
        Binary::Hypot => map2(a, b, is_one, out, T::hypot),
        Binary::Copysign => map2(a, b, is_one, out, T::copysign),
        Binary::Nextafter => map2(a, b, is_one, out, T::next_after),
        operator => compare::<T>(operator, x, y, out),
    }
}

/// Computes powers. Those of constants that a multiplication or a root replaces are what NumPy makes of them.
fn power<T: Real>(a: &[T], b: &[T], is_one: (bool, bool), out: &mut [u8]) {
    let two = T::one() + T::one();
    match b.first() {
        Some(&exponent) if is_one.1 && exponent == two => map1(a, is_one.0, out, |a: T| a * a),
        Some(&exponent) if is_one.1 && exponent == T::one() => map1(a, is_one.0, out, |a: T| a),
        Some(&exponent) if is_one.1 && exponent == two.recip() => map1(a, is_one.0, out, T::sqrt),
        Some(&exponent) if is_one.1 && exponent == -T::one() => map1(a, is_one.0, out, T::recip),
        _ => map2(a, b, is_one, out, T::powf),
    }
}

/// The remainder with the sign of the divisor, as Python has it.
fn modulo<T: Real>(a: T, b: T) -> T {
    let rest = a % b;
    if b.is_zero() {
        return rest;
    }
    if rest.is_zero() {
        return T::zero().copysign(b);
    }
    if (b < T::zero()) == (rest < T::zero()) { rest } else { rest + b }
}

/// The quotient rounded down, computed from the remainder, as Python does.
fn floor_divide<T: Real>(a: T, b: T) -> T {
    if b.is_zero() {
        return a / b;
    }
    let rest = a % b;
    let mut quotient = (a - rest) / b;
    if !rest.is_zero() && (b < T::zero()) != (rest < T::zero()) {
        quotient = quotient - T::one();
    }
    if quotient.is_zero() {
        return T::zero().copysign(a / b);
    }
    let floor = quotient.floor();
    let half = (T::one() + T::one()).recip();
    if quotient - floor > half { floor + T::one() } else { floor }
}

fn math_of<T: Real>(math: Math, a: In<'_>, out: &mut [u8]) {
    let (is_one, a) = (a.is_one, &*a.typed::<T>());
    match math {
        Math::Abs => map1(a, is_one, out, T::abs),
        Math::Sign => map1(a, is_one, out, |x: T| if x.is_zero() || x.is_nan() { x } else { x.signum() }),
        Math::Conj | Math::Real => map1(a, is_one, out, |x: T| x),
        Math::Imag => map1(a, is_one, out, |_| T::zero()),
        Math::Sqrt => map1(a, is_one, out, T::sqrt),
        Math::Sin => map1(a, is_one, out, T::sin),
        Math::Cos => map1(a, is_one, out, T::cos),
        Math::Tan => map1(a, is_one, out, T::tan),
        Math::Arcsin => map1(a, is_one, out, T::asin),
        Math::Arccos => map1(a, is_one, out, T::acos),
        Math::Arctan => map1(a, is_one, out, T::atan),
        Math::Sinh => map1(a, is_one, out, T::sinh),
        Math::Cosh => map1(a, is_one, out, T::cosh),
        Math::Tanh => map1(a, is_one, out, T::tanh),
        Math::Arcsinh => map1(a, is_one, out, T::asinh),
        Math::Arccosh => map1(a, is_one, out, T::acosh),
        Math::Arctanh => map1(a, is_one, out, T::atanh),
        Math::Log => map1(a, is_one, out, T::ln),
        Math::Log10 => map1(a, is_one, out, T::log10),
        Math::Log1p => map1(a, is_one, out, T::ln_1p),
        Math::Log2 => map1(a, is_one, out, T::log2),
        Math::Exp => map1(a, is_one, out, T::exp),
        Math::Expm1 => map1(a, is_one, out, T::exp_m1),
        Math::Floor => map1(a, is_one, out, T::floor),
        Math::Ceil => map1(a, is_one, out, T::ceil),
        Math::Trunc => map1(a, is_one, out, T::trunc),
        Math::Rint => map1(a, is_one, out, T::round_even),
        Math::OnesLike => map1(a, is_one, out, |_| T::one()),
        Math::IsNan => map1(a, is_one, out, |x: T| u8::from(x.is_nan())),
        Math::IsInf => map1(a, is_one, out, |x: T| u8::from(x.is_infinite())),
        Math::IsFinite => map1(a, is_one, out, |x: T| u8::from(x.is_finite())),
        Math::SignBit => map1(a, is_one, out, |x: T| u8::from(x.is_sign_negative())),
    }
}

/// Returns the next float of 16 bits after `a` towards `b`.
pub(super) fn next_half(a: f16, b: f16) -> f16 {
    if a.is_nan() || b.is_nan() {
        return f16::NAN;
    }
    if a == b {
        return b;
    }
    if a == f16::ZERO {
        return f16::from_bits(1).copysign(b);
    }
    let grows = (a < b) == a.is_sign_positive();
    f16::from_bits(if grows { a.to_bits() + 1 } else { a.to_bits() - 1 })
}
