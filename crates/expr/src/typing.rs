//! The types of results, by NumPy's rules (NEP 50): operands with a type are promoted, and scalars of Python
//! give way.

use crate::types::{Class, Type, Unit};
use crate::value::Value;

/// Returns the type to which elements of two types are promoted.
pub(crate) fn promote(one: Type, other: Type) -> Option<Type> {
    use Class::{Bool, Bytes, Complex, Datetime, Float, Signed, Text, Timedelta, Unsigned};
    let (low, high) = if one.class() <= other.class() { (one, other) } else { (other, one) };
    if low == high {
        return Some(low);
    }
    match (low.class(), high.class()) {
        (Bool, Bool | Signed | Unsigned | Float | Complex) => Some(high),
        (Signed, Signed) | (Unsigned, Unsigned) | (Float, Float) | (Complex, Complex) => {
            Some(if low.size() > high.size() { low } else { high })
        }
        (Signed, Unsigned) => Some(if low.size() > high.size() { low } else { signed(high.size() * 2) }),
        (Signed | Unsigned, Float) => promote(float_of(low), high),
        (Signed | Unsigned | Float, Complex) => {
            let part = promote(low, part_of(high))?;
            Some(if part == Type::F64 { Type::C128 } else { Type::C64 })
        }
        (Bytes, Bytes) | (Text, Text) => Some(if low.size() > high.size() { low } else { high }),
        (Datetime, Datetime) | (Timedelta, Timedelta) => {
            let (Type::Datetime(a) | Type::Timedelta(a), Type::Datetime(b) | Type::Timedelta(b)) =
                (low, high)
            else {
                return None;
            };
            let unit = finer(a, b)?;
            Some(if low.class() == Datetime { Type::Datetime(unit) } else { Type::Timedelta(unit) })
        }
        _ => None,
    }
}

/// Returns the signed integer of a size, or the float that NumPy takes if there is none.
fn signed(size: usize) -> Type {
    match size {
        1 => Type::I8,
        2 => Type::I16,
        4 => Type::I32,
        8 => Type::I64,
        _ => Type::F64,
    }
}

/// Returns the smallest float that has all values of an integer or truth value, as the functions of floats
/// take them.
pub(crate) fn float_of(kind: Type) -> Type {
    match (kind.class(), kind.size()) {
        (Class::Float | Class::Complex, _) => kind,
        (_, 1) => Type::F16,
        (_, 2) => Type::F32,
        _ => Type::F64,
    }
}

/// Returns the type of the parts of a complex number. Other types have no parts.
pub(crate) fn part_of(kind: Type) -> Type {
    match kind {
        Type::C64 => Type::F32,
        Type::C128 => Type::F64,
        kind => kind,
    }
}

/// Returns the unit in which times of both units are whole numbers.
fn finer(one: Unit, other: Unit) -> Option<Unit> {
    if one == Unit::Generic || other == Unit::Generic {
        return Some(if one == Unit::Generic { other } else { one });
    }
    let fine = one.max(other);
    let coarse = one.min(other);
    coarse.in_units_of(fine).map(|_| fine)
}

/// Returns the type of a scalar of Python beside elements of a type, or alone.
pub(crate) fn weak(value: &Value, beside: Option<Type>) -> Option<Type> {
    let beside = beside.filter(|kind| kind.is_number());
    let kind = match (value, beside) {
        (Value::Bool(_), _) => Type::Bool,
        (Value::Int(_), Some(kind)) if kind != Type::Bool => kind,
        (Value::Int(value), _) => {
            if i64::try_from(*value).is_ok() {
                Type::I64
            } else if u64::try_from(*value).is_ok() {
                Type::U64
            } else {
                return None;
            }
        }
        (Value::Float(_), Some(kind)) if kind.class() >= Class::Float => kind,
        (Value::Float(_), _) => Type::F64,
        (Value::Complex(..), Some(Type::F16 | Type::F32 | Type::C64)) => Type::C64,
        (Value::Complex(..), _) => Type::C128,
        (Value::Bytes(bytes), _) => Type::Bytes(bytes.len()),
        (Value::Text(text), _) => Type::Text(text.chars().count()),
    };
    Some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_is_that_of_numpy() {
        use Type::{Bool, C64, C128, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        let table = [
            (Bool, I8, I8),
            (I8, U8, I16),
            (I8, U16, I32),
            (I16, U8, I16),
            (I32, U32, I64),
            (I64, U64, F64),
            (I64, U32, I64),
            (I8, F16, F16),
            (U16, F16, F32),
            (I32, F16, F64),
            (I32, F32, F64),
            (I16, F32, F32),
            (F32, C64, C64),
            (F64, C64, C128),
            (I32, C64, C128),
            (I16, C64, C64),
            (F16, F64, F64),
            (C64, C128, C128),
        ];
        for (one, other, expected) in table {
            assert_eq!(promote(one, other), Some(expected), "{one} {other}");
            assert_eq!(promote(other, one), Some(expected), "{other} {one}");
        }
        assert_eq!(promote(Type::Bytes(3), Type::Bytes(5)), Some(Type::Bytes(5)));
        assert_eq!(promote(Type::Bytes(3), I8), None);
        let (day, second) = (Type::Datetime(Unit::Days), Type::Datetime(Unit::Seconds));
        assert_eq!(promote(day, second), Some(second));
        assert_eq!(promote(Type::Datetime(Unit::Months), second), None);
    }
}
