//! Integers, with NumPy's results: they wrap, division rounds down, and a division by zero is 0.

use bytemuck::Pod;

use super::{In, compare, map1, map2};
use crate::error::{Result, no_meaning};
use crate::tree::{Binary, Math};
use crate::types::Type;

/// The integers.
trait Integer: Pod + Ord {
    const ZERO: Self;
    const ONE: Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// The quotient, rounded down.
    fn over(self, other: Self) -> Self;
    /// The remainder, with the sign of the divisor.
    fn modulo(self, other: Self) -> Self;
    /// The remainder, with the sign of the dividend.
    fn remainder(self, other: Self) -> Self;
    fn power(self, exponent: Self) -> Self;
    fn left(self, bits: Self) -> Self;
    fn right(self, bits: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn inverted(self) -> Self;
    fn absolute(self) -> Self;
    fn sign(self) -> Self;
}

macro_rules! integers {
    ($($kind:ident $bits:literal [$($signed:tt)?];)*) => {$(
        #[allow(clippy::cast_lossless, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        #[allow(clippy::unnecessary_cast, reason = "one text for all types")]
        impl Integer for $kind {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn over(self, other: Self) -> Self {
                if other == 0 { return 0; }
                let (quotient, rest) = (self.wrapping_div(other), self.wrapping_rem(other));
                if rest != 0 && (rest < 0 as $kind) != (other < 0 as $kind) { quotient.wrapping_sub(1) } else { quotient }
            }
            fn modulo(self, other: Self) -> Self {
                if other == 0 { return 0; }
                let rest = self.wrapping_rem(other);
                if rest != 0 && (rest < 0 as $kind) != (other < 0 as $kind) { rest.wrapping_add(other) } else { rest }
            }
            fn remainder(self, other: Self) -> Self { if other == 0 { 0 } else { self.wrapping_rem(other) } }
            fn power(self, exponent: Self) -> Self {
                let (mut base, mut exponent, mut power) = (self, exponent, 1 as $kind);
                while exponent > 0 {
                    if exponent & 1 == 1 { power = power.wrapping_mul(base); }
                    base = base.wrapping_mul(base);
                    exponent >>= 1;
                }
                power
            }
            fn left(self, bits: Self) -> Self {
                if (0..$bits).contains(&(bits as i128)) { self << bits } else { 0 }
            }
            fn right(self, bits: Self) -> Self {
                if (0..$bits).contains(&(bits as i128)) { self >> bits } else if self < 0 as $kind { !0 } else { 0 }
            }
            fn and(self, other: Self) -> Self { self & other }
            fn or(self, other: Self) -> Self { self | other }
            fn xor(self, other: Self) -> Self { self ^ other }
            fn inverted(self) -> Self { !self }
            fn absolute(self) -> Self { integers!(@abs self $($signed)?) }
            fn sign(self) -> Self { integers!(@sign self $($signed)?) }
        }
    )*};
    (@abs $value:ident signed) => { $value.wrapping_abs() };
    (@abs $value:ident) => { $value };
    (@sign $value:ident signed) => { $value.signum() };
    (@sign $value:ident) => { $value.min(1) };
}

integers! {
    i8 8 [signed]; i16 16 [signed]; i32 32 [signed]; i64 64 [signed];
    u8 8 []; u16 16 []; u32 32 []; u64 64 [];
}

/// Calls a function for the Rust type of a type.
macro_rules! dispatch {
    ($kind:expr, $f:ident($($argument:expr),*)) => {
        match $kind {
            Type::I8 => $f::<i8>($($argument),*),
            Type::I16 => $f::<i16>($($argument),*),
            Type::I32 => $f::<i32>($($argument),*),
            Type::I64 => $f::<i64>($($argument),*),
            Type::U16 => $f::<u16>($($argument),*),
            Type::U32 => $f::<u32>($($argument),*),
            Type::U64 => $f::<u64>($($argument),*),
            _ => $f::<u8>($($argument),*),
        }
    };
}

pub(super) fn binary(operator: Binary, kind: Type, a: In<'_>, b: In<'_>, out: &mut [u8]) -> Result<()> {
    dispatch!(kind, binary_of(operator, a, b, out))
}

pub(super) fn math(math: Math, kind: Type, a: In<'_>, out: &mut [u8]) {
    dispatch!(kind, math_of(math, a, out));
}

pub(super) fn negative(kind: Type, a: In<'_>, out: &mut [u8]) {
    dispatch!(kind, negative_of(a, out));
}

pub(super) fn invert(kind: Type, a: In<'_>, out: &mut [u8]) {
    dispatch!(kind, invert_of(a, out));
}

fn negative_of<T: Integer>(a: In<'_>, out: &mut [u8]) {
    map1(&a.typed::<T>(), a.is_one, out, |x: T| T::ZERO.minus(x));
}

fn invert_of<T: Integer>(a: In<'_>, out: &mut [u8]) {
    map1(&a.typed::<T>(), a.is_one, out, T::inverted);
}

fn binary_of<T: Integer>(operator: Binary, x: In<'_>, y: In<'_>, out: &mut [u8]) -> Result<()> {
    let is_one = (x.is_one, y.is_one);
    let (a, b) = (&*x.typed::<T>(), &*y.typed::<T>());
    match operator {
        Binary::Add => map2(a, b, is_one, out, T::plus),
        Binary::Subtract => map2(a, b, is_one, out, T::minus),
        Binary::Multiply => map2(a, b, is_one, out, T::times),
        Binary::FloorDivide => map2(a, b, is_one, out, T::over),
        Binary::Modulo => map2(a, b, is_one, out, T::modulo),
        Binary::Fmod => map2(a, b, is_one, out, T::remainder),
        Binary::Power => {
            if b.iter().any(|exponent| *exponent < T::ZERO) {
                return no_meaning("an integer to a negative power", "make the base a float, as in 1.0*a");
            }
            map2(a, b, is_one, out, T::power);
        }
        Binary::ShiftLeft => map2(a, b, is_one, out, T::left),
        Binary::ShiftRight => map2(a, b, is_one, out, T::right),
        Binary::And => map2(a, b, is_one, out, T::and),
        Binary::Or => map2(a, b, is_one, out, T::or),
        Binary::Xor => map2(a, b, is_one, out, T::xor),
        Binary::Minimum => map2(a, b, is_one, out, T::min),
        Binary::Maximum => map2(a, b, is_one, out, T::max),
        operator => compare::<T>(operator, x, y, out),
    }
    Ok(())
}

fn math_of<T: Integer>(math: Math, a: In<'_>, out: &mut [u8]) {
    let (is_one, a) = (a.is_one, &*a.typed::<T>());
    match math {
        Math::Abs => map1(a, is_one, out, T::absolute),
        Math::Sign => map1(a, is_one, out, T::sign),
        Math::Imag => map1(a, is_one, out, |_| T::ZERO),
        Math::OnesLike => map1(a, is_one, out, |_| T::ONE),
        Math::IsNan | Math::IsInf => map1(a, is_one, out, |_| 0_u8),
        Math::IsFinite => map1(a, is_one, out, |_| 1_u8),
        Math::SignBit => map1(a, is_one, out, |x: T| u8::from(x < T::ZERO)),
        // The conjugate, the real part, and what rounds to an integer.
        _ => map1(a, is_one, out, |x| x),
    }
}
