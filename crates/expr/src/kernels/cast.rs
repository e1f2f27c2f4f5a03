//! Numbers as numbers of another type. A program casts to types that have all values, or round as NumPy does.

use bytemuck::Pod;
use half::f16;
use num_complex::Complex;
use num_traits::AsPrimitive;

use super::{In, map1};
use crate::types::Type;

pub(super) fn run(from: Type, to: Type, a: In<'_>, out: &mut [u8]) {
    match from {
        Type::Bool | Type::U8 => real::<u8>(to, a, out),
        Type::I8 => real::<i8>(to, a, out),
        Type::I16 => real::<i16>(to, a, out),
        Type::I32 => real::<i32>(to, a, out),
        Type::I64 | Type::Datetime(_) | Type::Timedelta(_) => real::<i64>(to, a, out),
        Type::U16 => real::<u16>(to, a, out),
        Type::U32 => real::<u32>(to, a, out),
        Type::U64 => real::<u64>(to, a, out),
        Type::F16 => real::<f16>(to, a, out),
        Type::F32 => real::<f32>(to, a, out),
        Type::C64 => complex::<f32>(to, a, out),
        Type::C128 => complex::<f64>(to, a, out),
        _ => real::<f64>(to, a, out),
    }
}

fn complex<T>(to: Type, a: In<'_>, out: &mut [u8])
where
    T: Pod + PartialEq + AsPrimitive<f32> + AsPrimitive<f64>,
    Complex<T>: Pod,
{
    let (is_one, a) = (a.is_one, &*a.typed::<Complex<T>>());
    let zero = T::zeroed();
    match to {
        Type::Bool => map1(a, is_one, out, |x: Complex<T>| u8::from(x.re != zero || x.im != zero)),
        Type::C64 => {
            map1(a, is_one, out, |x: Complex<T>| -> Complex<f32> { Complex::new(x.re.as_(), x.im.as_()) });
        }
        _ => map1(a, is_one, out, |x: Complex<T>| -> Complex<f64> { Complex::new(x.re.as_(), x.im.as_()) }),
    }
}

fn real<T>(to: Type, a: In<'_>, out: &mut [u8])
where
    T: Pod
        + PartialEq
        + AsPrimitive<i8>
        + AsPrimitive<i16>
        + AsPrimitive<i32>
        + AsPrimitive<i64>
        + AsPrimitive<u8>
        + AsPrimitive<u16>
        + AsPrimitive<u32>
        + AsPrimitive<u64>
        + AsPrimitive<f16>
        + AsPrimitive<f32>
        + AsPrimitive<f64>,
{
    let (is_one, a) = (a.is_one, &*a.typed::<T>());
    match to {
        Type::Bool => map1(a, is_one, out, |x: T| u8::from(x != T::zeroed())),
        Type::I8 => map1(a, is_one, out, |x: T| -> i8 { x.as_() }),
        Type::I16 => map1(a, is_one, out, |x: T| -> i16 { x.as_() }),
        Type::I32 => map1(a, is_one, out, |x: T| -> i32 { x.as_() }),
        Type::I64 | Type::Datetime(_) | Type::Timedelta(_) => map1(a, is_one, out, |x: T| -> i64 { x.as_() }),
        Type::U8 => map1(a, is_one, out, |x: T| -> u8 { x.as_() }),
        Type::U16 => map1(a, is_one, out, |x: T| -> u16 { x.as_() }),
        Type::U32 => map1(a, is_one, out, |x: T| -> u32 { x.as_() }),
        Type::U64 => map1(a, is_one, out, |x: T| -> u64 { x.as_() }),
        Type::F16 => map1(a, is_one, out, |x: T| -> f16 { x.as_() }),
        Type::F32 => map1(a, is_one, out, |x: T| -> f32 { x.as_() }),
        Type::C64 => map1(a, is_one, out, |x: T| -> Complex<f32> { Complex::new(x.as_(), 0.0) }),
        Type::C128 => map1(a, is_one, out, |x: T| -> Complex<f64> { Complex::new(x.as_(), 0.0) }),
        _ => map1(a, is_one, out, |x: T| -> f64 { x.as_() }),
    }
}
