//! Numbers of Arrow as native numbers of a column.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use half::f16;
use hyperslab_expr::Type;

use super::{Converted, unfit};
use crate::error::BadValue;

/// Numbers in a type that holds those of all types of Arrow.
enum Numbers {
    Integers(Vec<i128>),
    Floats(Vec<f64>),
}

/// Returns the numbers of an array in the native type `kind`.
pub(super) fn values(array: &ArrayRef, kind: Type) -> Converted {
    if let Some(bytes) = same(array, kind) {
        return Ok(bytes);
    }
    match numbers(array) {
        Some(Numbers::Integers(values)) => integers(kind, &values),
        Some(Numbers::Floats(values)) => floats(kind, &values),
        None => Err(unfit(array.data_type(), "numbers")),
    }
}

/// Returns the bytes of an array that has the type already.
fn same(array: &ArrayRef, kind: Type) -> Option<Vec<u8>> {
    fn bytes<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<Vec<u8>> {
        Some(array.as_primitive_opt::<T>()?.values().inner().as_slice().to_vec())
    }
    match kind {
        Type::I8 => bytes::<Int8Type>(array),
        Type::I16 => bytes::<Int16Type>(array),
        Type::I32 => bytes::<Int32Type>(array),
        Type::I64 => bytes::<Int64Type>(array),
        Type::U8 => bytes::<UInt8Type>(array),
        Type::U16 => bytes::<UInt16Type>(array),
        Type::U32 => bytes::<UInt32Type>(array),
        Type::U64 => bytes::<UInt64Type>(array),
        Type::F16 => bytes::<Float16Type>(array),
        Type::F32 => bytes::<Float32Type>(array),
        Type::F64 => bytes::<Float64Type>(array),
        _ => None,
    }
}

fn numbers(array: &ArrayRef) -> Option<Numbers> {
    fn wide<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &ArrayRef) -> Numbers {
        Numbers::Integers(array.as_primitive::<T>().values().iter().map(|&value| value.into()).collect())
    }
    fn floats<T: ArrowPrimitiveType<Native: Into<f64>>>(array: &ArrayRef) -> Numbers {
        Numbers::Floats(array.as_primitive::<T>().values().iter().map(|&value| value.into()).collect())
    }
    Some(match array.data_type() {
        DataType::Boolean => Numbers::Integers(array.as_boolean().values().iter().map(i128::from).collect()),
        DataType::Int8 => wide::<Int8Type>(array),
        DataType::Int16 => wide::<Int16Type>(array),
        DataType::Int32 => wide::<Int32Type>(array),
        DataType::Int64 => wide::<Int64Type>(array),
        DataType::UInt8 => wide::<UInt8Type>(array),
        DataType::UInt16 => wide::<UInt16Type>(array),
        DataType::UInt32 => wide::<UInt32Type>(array),
        DataType::UInt64 => wide::<UInt64Type>(array),
        DataType::Float16 => floats::<Float16Type>(array),
        DataType::Float32 => floats::<Float32Type>(array),
        DataType::Float64 => floats::<Float64Type>(array),
        _ => return None,
    })
}

/// Joins the bytes that `one` returns for each value.
fn each<T: Copy + std::fmt::Display, const N: usize>(
    values: &[T],
    kind: Type,
    one: impl Fn(T) -> Option<[u8; N]>,
) -> Converted {
    let mut bytes = Vec::with_capacity(values.len() * N);
    for (index, &value) in values.iter().enumerate() {
        let found = one(value);
        let why = || BadValue::new(index, format!("the value must be one of {}, not {value}", name(kind)));
        bytes.extend(found.ok_or_else(why)?);
    }
    Ok(bytes)
}

fn name(kind: Type) -> String {
    format!("the column's type {kind}")
}

/// Returns integers in the native type `kind`.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "the result is compared")]
pub(super) fn integers(kind: Type, values: &[i128]) -> Converted {
    match kind {
        Type::Bool => {
            each(values, kind, |value| u8::try_from(value).ok().filter(|v| *v < 2).map(u8::to_ne_bytes))
        }
        Type::I8 => each(values, kind, |value| i8::try_from(value).ok().map(i8::to_ne_bytes)),
        Type::I16 => each(values, kind, |value| i16::try_from(value).ok().map(i16::to_ne_bytes)),
        Type::I32 => each(values, kind, |value| i32::try_from(value).ok().map(i32::to_ne_bytes)),
        Type::I64 => each(values, kind, |value| i64::try_from(value).ok().map(i64::to_ne_bytes)),
        Type::U8 => each(values, kind, |value| u8::try_from(value).ok().map(u8::to_ne_bytes)),
        Type::U16 => each(values, kind, |value| u16::try_from(value).ok().map(u16::to_ne_bytes)),
        Type::U32 => each(values, kind, |value| u32::try_from(value).ok().map(u32::to_ne_bytes)),
        Type::U64 => each(values, kind, |value| u64::try_from(value).ok().map(u64::to_ne_bytes)),
        // An integer that a float cannot hold exactly is refused.
        Type::F16 => each(values, kind, |value| {
            let float = f16::from_f64(value as f64);
            (float.is_finite() && f64::from(float) as i128 == value).then(|| float.to_ne_bytes())
        }),
        Type::F32 => each(values, kind, |value| {
            let float = value as f32;
            (float as i128 == value).then(|| float.to_ne_bytes())
        }),
        Type::F64 => each(values, kind, |value| {
            let float = value as f64;
            (float as i128 == value).then(|| float.to_ne_bytes())
        }),
        _ => Err(BadValue::new(0, format!("the values must not be integers, but of {}", name(kind)))),
    }
}

/// Returns floats in the native type `kind`.
#[expect(clippy::cast_possible_truncation, reason = "integers are compared, and floats rounded")]
pub(super) fn floats(kind: Type, values: &[f64]) -> Converted {
    match kind {
        Type::F64 => each(values, kind, |value| Some(value.to_ne_bytes())),
        // The nearest float of the column, as in `append` of NumPy's arrays; a large one is no infinity.
        Type::F32 => each(values, kind, |value| {
            let float = value as f32;
            (float.is_infinite() == value.is_infinite()).then(|| float.to_ne_bytes())
        }),
        Type::F16 => each(values, kind, |value| {
            let float = f16::from_f64(value);
            (float.is_infinite() == value.is_infinite()).then(|| float.to_ne_bytes())
        }),
        _ => {
            let mut whole = Vec::with_capacity(values.len());
            for (index, &value) in values.iter().enumerate() {
                let exact = value.is_finite() && value.fract() == 0.0 && value.abs() < 2.0_f64.powi(64);
                let why =
                    || BadValue::new(index, format!("the value must be one of {}, not {value}", name(kind)));
                whole.push(exact.then_some(value as i128).ok_or_else(why)?);
            }
            integers(kind, &whole)
        }
    }
}

/// Returns complex numbers, whose parts have the native type `part`. An array has them as records of `r` and
/// `i`, or as real numbers.
pub(super) fn complex(array: &ArrayRef, part: Type) -> Converted {
    let (real, imaginary) = if let Some(parts) = array.as_struct_opt() {
        let (Some(real), Some(imaginary), 2) =
            (parts.column_by_name("r"), parts.column_by_name("i"), parts.num_columns())
        else {
            return Err(unfit(array.data_type(), "complex numbers (records of r and i)"));
        };
        for part in [real, imaginary] {
            if let Some(index) = (0..part.len()).find(|&index| part.is_null(index)) {
                return Err(BadValue::new(
                    index,
                    "no part of a complex number may be null; fill nulls first",
                ));
            }
        }
        (values(real, part)?, values(imaginary, part)?)
    } else {
        let real = values(array, part)?;
        let zeros = vec![0; real.len()];
        (real, zeros)
    };
    let size = part.size();
    let pairs = real.chunks_exact(size).zip(imaginary.chunks_exact(size));
    Ok(pairs.flat_map(|(real, imaginary)| [real, imaginary].concat()).collect())
}
