//! The loops that compute. Each takes a pass of elements that fits the cache.

mod cast;
mod complex;
mod float;
mod integer;
mod text;
mod time;

use std::borrow::Cow;

use bytemuck::Pod;
use half::f16;

use crate::error::Result;
use crate::tree::{Binary, Math};
use crate::types::{Class, Type};

/// What a step of a program computes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Op {
    /// Numbers of the first type as numbers of the second, which has all their values.
    Cast(Type, Type),
    /// An operator on two operands of this type.
    Binary(Binary, Type),
    /// A comparison of signed with unsigned integers of 64 bits.
    CompareMixed(Binary),
    /// The next float of 16 bits towards the second operand.
    NextHalf,
    /// A function of numbers of this type.
    Math(Math, Type),
    Negative(Type),
    Invert(Type),
    /// The second operand where the first is true, else the third. The number is the size of an element.
    Where(usize),
    /// A comparison of strings of these types.
    CompareStrings(Binary, Type, Type),
    /// Whether the first string contains the second.
    Contains(Type, Type),
    /// A complex number of this type from its parts.
    Complex(Type),
    /// Times in a unit that is finer by a factor.
    ScaleTime(i64),
    /// An operator on times or durations of one unit.
    Time(Binary),
    /// A duration times or divided by an integer.
    TimeByInteger(Binary),
    /// A duration times or divided by a float.
    TimeByFloat(Binary),
    /// The negative or absolute value of a duration, or whether a time is `NaT`.
    TimeMath(TimeMath),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeMath {
    Negative,
    Abs,
    IsNat,
}

/// An operand of a step: an element for each result, or one for all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct In<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) is_one: bool,
}

impl<'a> In<'a> {
    /// Returns the elements. Those that are not aligned are copied.
    pub(crate) fn typed<T: Pod>(self) -> Cow<'a, [T]> {
        match bytemuck::try_cast_slice(self.bytes) {
            Ok(elements) => Cow::Borrowed(elements),
            Err(_) => Cow::Owned(
                self.bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect(),
            ),
        }
    }
}

/// Casts elements to another type. `out` is aligned for every type of element.
pub(crate) fn cast(from: Type, to: Type, elements: In<'_>, out: &mut [u8]) {
    cast::run(from, to, elements, out);
}

/// Computes one step. `out` is aligned for every type of element.
pub(crate) fn run(op: Op, inputs: &[In<'_>], out: &mut [u8]) -> Result<()> {
    let input = |at: usize| inputs.get(at).copied().unwrap_or(In { bytes: &[], is_one: true });
    let (a, b, c) = (input(0), input(1), input(2));
    match op {
        Op::Cast(from, to) => cast::run(from, to, a, out),
        Op::Binary(operator, kind) => match kind.class() {
            Class::Bool => booleans(operator, a, b, out),
            Class::Signed | Class::Unsigned => return integer::binary(operator, kind, a, b, out),
            Class::Complex => complex::binary(operator, kind, a, b, out),
            _ => float::binary(operator, kind, a, b, out),
        },
        Op::CompareMixed(operator) => {
            map2(&a.typed::<i64>(), &b.typed::<u64>(), (a.is_one, b.is_one), out, |x, y| {
                u8::from(compares(operator, &i128::from(x), &i128::from(y)))
            });
        }
        Op::NextHalf => {
            map2(&a.typed::<f16>(), &b.typed::<f16>(), (a.is_one, b.is_one), out, float::next_half);
        }
        Op::Math(math, kind) => match kind.class() {
            Class::Bool | Class::Signed | Class::Unsigned => integer::math(math, kind, a, out),
            Class::Complex => complex::math(math, kind, a, out),
            _ => float::math(math, kind, a, out),
        },
        Op::Negative(kind) => match kind.class() {
            Class::Signed | Class::Unsigned => integer::negative(kind, a, out),
            Class::Complex => complex::negative(kind, a, out),
            _ => float::negative(kind, a, out),
        },
        Op::Invert(Type::Bool) => map1(&a.typed::<u8>(), a.is_one, out, |x: u8| x ^ 1),
        Op::Invert(kind) => integer::invert(kind, a, out),
        Op::Where(size) => select(size, a, b, c, out),
        Op::CompareStrings(operator, one, other) => text::compare(operator, (one, a), (other, b), out),
        Op::Contains(one, other) => text::contains((one, a), (other, b), out),
        Op::Complex(kind) => complex::of_parts(kind, a, b, out),
        Op::ScaleTime(factor) => time::scale(factor, a, out),
        Op::Time(operator) => time::binary(operator, a, b, out),
        Op::TimeByInteger(operator) => time::by_integer(operator, a, b, out),
        Op::TimeByFloat(operator) => time::by_float(operator, a, b, out),
        Op::TimeMath(math) => time::math(math, a, out),
    }
    Ok(())
}

/// Computes `f` of every element.
fn map1<T: Copy, U: Pod>(a: &[T], is_one: bool, out: &mut [u8], f: impl Fn(T) -> U) {
    let out: &mut [U] = bytemuck::cast_slice_mut(out);
    match (is_one, a.first()) {
        (true, Some(&a)) => out.fill(f(a)),
        _ => vectorised(|| out.iter_mut().zip(a).for_each(|(out, &a)| *out = f(a))),
    }
}

/// Computes `f` of every pair of elements.
fn map2<A: Copy, B: Copy, U: Pod>(
    a: &[A],
    b: &[B],
    is_one: (bool, bool),
    out: &mut [u8],
    f: impl Fn(A, B) -> U,
) {
    let out: &mut [U] = bytemuck::cast_slice_mut(out);
    vectorised(|| match (is_one, a.first(), b.first()) {
        ((true, true), Some(&a), Some(&b)) => out.fill(f(a, b)),
        ((true, false), Some(&a), _) => out.iter_mut().zip(b).for_each(|(out, &b)| *out = f(a, b)),
        ((false, true), _, Some(&b)) => out.iter_mut().zip(a).for_each(|(out, &a)| *out = f(a, b)),
        _ => out.iter_mut().zip(a).zip(b).for_each(|((out, &a), &b)| *out = f(a, b)),
    });
}

/// Runs loops that were compiled for the vectors of this processor. Results do not depend on the processor.
#[inline]
fn vectorised(loops: impl FnOnce()) {
    pulp::Arch::new().dispatch(loops);
}

/// Returns whether a comparison holds.
#[inline]
fn compares<T: PartialOrd>(operator: Binary, a: &T, b: &T) -> bool {
    match operator {
        Binary::Less => a < b,
        Binary::LessEqual => a <= b,
        Binary::Greater => a > b,
        Binary::GreaterEqual => a >= b,
        Binary::Equal => a == b,
        _ => a != b,
    }
}

/// Compares elements. One loop for each operator, so that each is vectorised.
fn compare<T: Pod + PartialOrd>(operator: Binary, a: In<'_>, b: In<'_>, out: &mut [u8]) {
    let is_one = (a.is_one, b.is_one);
    let (a, b) = (&*a.typed::<T>(), &*b.typed::<T>());
    match operator {
        Binary::Less => map2(a, b, is_one, out, |a, b| u8::from(a < b)),
        Binary::LessEqual => map2(a, b, is_one, out, |a, b| u8::from(a <= b)),
        Binary::Greater => map2(a, b, is_one, out, |a, b| u8::from(a > b)),
        Binary::GreaterEqual => map2(a, b, is_one, out, |a, b| u8::from(a >= b)),
        Binary::Equal => map2(a, b, is_one, out, |a, b| u8::from(a == b)),
        _ => map2(a, b, is_one, out, |a, b| u8::from(a != b)),
    }
}

/// Truth values are 0 or 1.
fn booleans(operator: Binary, a: In<'_>, b: In<'_>, out: &mut [u8]) {
    let is_one = (a.is_one, b.is_one);
    match operator {
        Binary::And | Binary::Multiply | Binary::Minimum => map2(a.bytes, b.bytes, is_one, out, |a, b| a & b),
        Binary::Or | Binary::Add | Binary::Maximum => map2(a.bytes, b.bytes, is_one, out, |a, b| a | b),
        Binary::Xor => map2(a.bytes, b.bytes, is_one, out, |a, b| a ^ b),
        operator => compare::<u8>(operator, a, b, out),
    }
}

fn select(size: usize, condition: In<'_>, a: In<'_>, b: In<'_>, out: &mut [u8]) {
    let element = |input: In<'_>, at: usize| -> std::ops::Range<usize> {
        let at = if input.is_one { 0 } else { at };
        at * size..(at + 1) * size
    };
    for (at, out) in out.chunks_exact_mut(size.max(1)).enumerate() {
        let is_true = condition.bytes[if condition.is_one { 0 } else { at }] != 0;
        let chosen = if is_true { a } else { b };
        out.copy_from_slice(&chosen.bytes[element(chosen, at)]);
    }
}
