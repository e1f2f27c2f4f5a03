//! The values of a column that a comparison leaves: an interval in the column's type, which may be too wide.
//! An index and the bounds of a chunk answer for intervals.

use hyperslab_expr::{Comparison, Type, Value};

/// The values that may satisfy a comparison.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Interval {
    /// Nothing is known.
    Unknown,
    /// No value does.
    Empty,
    /// Only values from the first to the second, both included, if they are given.
    Between(Option<Key>, Option<Key>),
}

/// A bound of an interval.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub(super) enum Key {
    /// Of a column of integers or truth values.
    Int(i128),
    /// Of a column of floats.
    Float(f64),
    /// Of a column of strings, without zeros at the end.
    Bytes(Vec<u8>),
}

impl Interval {
    /// Returns the interval of the values of type `kind` that may compare with `value` as `op` says.
    pub(super) fn of(kind: Type, op: Comparison, value: &Value) -> Self {
        match kind {
            Type::Bool => integers((0, 1), op, value),
            Type::F32 | Type::F64 => floats(kind, op, value),
            Type::Bytes(_) => strings(op, value),
            kind => range(kind).map_or(Self::Unknown, |range| integers(range, op, value)),
        }
    }

    /// Returns the values that are in both intervals.
    pub(super) fn and(self, other: Self) -> Self {
        let (low, high, low_other, high_other) = match (self, other) {
            (Self::Empty, _) | (_, Self::Empty) => return Self::Empty,
            (Self::Unknown, known) | (known, Self::Unknown) => return known,
            (Self::Between(low, high), Self::Between(low_other, high_other)) => {
                (low, high, low_other, high_other)
            }
        };
        let low = match (low, low_other) {
            (Some(one), Some(other)) => Some(if one < other { other } else { one }),
            (one, other) => one.or(other),
        };
        let high = match (high, high_other) {
            (Some(one), Some(other)) => Some(if one < other { one } else { other }),
            (one, other) => one.or(other),
        };
        match (&low, &high) {
            (Some(low), Some(high)) if low > high => Self::Empty,
            _ => Self::Between(low, high),
        }
    }
}

impl Key {
    /// Returns the bound as a value of a column of type `kind`: numbers in little-endian bytes.
    pub(super) fn bytes(&self, kind: Type) -> Vec<u8> {
        match self {
            Self::Int(value) => value.to_le_bytes()[..kind.size()].to_vec(),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "bounds of floats of 32 bits are such floats"
            )]
            Self::Float(value) if kind == Type::F32 => (*value as f32).to_le_bytes().to_vec(),
            Self::Float(value) => value.to_le_bytes().to_vec(),
            Self::Bytes(bytes) => bytes.clone(),
        }
    }
}

fn range(kind: Type) -> Option<(i128, i128)> {
    Some(match kind {
        Type::I8 => (i8::MIN.into(), i8::MAX.into()),
        Type::I16 => (i16::MIN.into(), i16::MAX.into()),
        Type::I32 => (i32::MIN.into(), i32::MAX.into()),
        Type::I64 => (i64::MIN.into(), i64::MAX.into()),
        Type::U8 => (0, u8::MAX.into()),
        Type::U16 => (0, u16::MAX.into()),
        Type::U32 => (0, u32::MAX.into()),
        Type::U64 => (0, u64::MAX.into()),
        _ => return None,
    })
}

/// Returns the interval of a comparison whose value is between `down` and `up`.
fn between(op: Comparison, down: Key, up: Key) -> (Option<Key>, Option<Key>) {
    match op {
        Comparison::Less | Comparison::LessEqual => (None, Some(up)),
        Comparison::Greater | Comparison::GreaterEqual => (Some(down), None),
        Comparison::Equal => (Some(down), Some(up)),
    }
}

fn integers((least, most): (i128, i128), op: Comparison, value: &Value) -> Interval {
    let (down, up) = match value {
        Value::Bool(value) => (i128::from(*value), i128::from(*value)),
        Value::Int(value) => match op {
            Comparison::Less => (*value, value.saturating_sub(1)),
            Comparison::Greater => (value.saturating_add(1), *value),
            _ => (*value, *value),
        },
        Value::Float(value) if value.is_nan() => return Interval::Empty,
        // The column is compared as floats of 64 bits, to which large integers are rounded.
        #[expect(clippy::cast_possible_truncation, reason = "casts saturate")]
        Value::Float(value) => {
            let slack = (value.abs() * f64::EPSILON).ceil();
            ((value - slack).floor() as i128, (value + slack).ceil() as i128)
        }
        _ => return Interval::Unknown,
    };
    let (low, high) = between(op, Key::Int(down.max(least)), Key::Int(up.min(most)));
    let is_empty = match op {
        Comparison::Less | Comparison::LessEqual => up < least,
        Comparison::Greater | Comparison::GreaterEqual => down > most,
        Comparison::Equal => up < least || down > most,
    };
    if is_empty { Interval::Empty } else { Interval::Between(low, high) }
}

fn floats(kind: Type, op: Comparison, value: &Value) -> Interval {
    let value = match value {
        Value::Bool(value) => f64::from(u8::from(*value)),
        #[expect(clippy::cast_precision_loss, reason = "the integer is compared as a float")]
        Value::Int(value) => *value as f64,
        Value::Float(value) => *value,
        _ => return Interval::Unknown,
    };
    if value.is_nan() {
        return Interval::Empty;
    }
    // A scalar of Python is rounded to the type of the column, and one of NumPy is not: the floats on both sides
    // of the value hold in both cases.
    let (down, up) = if kind == Type::F32 {
        #[expect(clippy::cast_possible_truncation, reason = "rounding is what the neighbours are for")]
        let single = value as f32;
        (f64::from(single.next_down()), f64::from(single.next_up()))
    } else {
        (value, value)
    };
    let (low, high) = between(op, Key::Float(down), Key::Float(up));
    Interval::Between(low, high)
}

fn strings(op: Comparison, value: &Value) -> Interval {
    let mut bytes = match value {
        Value::Bytes(bytes) => bytes.clone(),
        Value::Text(text) => text.as_bytes().to_vec(),
        _ => return Interval::Unknown,
    };
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    let (low, high) = between(op, Key::Bytes(bytes.clone()), Key::Bytes(bytes));
    Interval::Between(low, high)
}

#[cfg(test)]
mod tests {
    use Comparison::{Equal, Greater, GreaterEqual, Less, LessEqual};
    use proptest::prelude::*;

    use super::*;

    fn holds(op: Comparison, order: Option<std::cmp::Ordering>) -> bool {
        use std::cmp::Ordering as O;
        order.is_some_and(|order| match op {
            Less => order == O::Less,
            LessEqual => order != O::Greater,
            Greater => order == O::Greater,
            GreaterEqual => order != O::Less,
            Equal => order == O::Equal,
        })
    }

    fn may_hold(interval: &Interval, key: &Key) -> bool {
        match interval {
            Interval::Unknown => true,
            Interval::Empty => false,
            Interval::Between(low, high) => {
                low.as_ref().is_none_or(|low| low <= key) && high.as_ref().is_none_or(|high| key <= high)
            }
        }
    }

    fn op() -> impl Strategy<Value = Comparison> {
        prop_oneof![Just(Less), Just(LessEqual), Just(Greater), Just(GreaterEqual), Just(Equal)]
    }

    fn float() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>(),
            (-300_i32..300).prop_map(|n| f64::from(n) / 2.0),
            any::<i64>().prop_map(|n| n as f64),
            Just(f64::INFINITY),
            Just(f64::NEG_INFINITY),
            Just(f64::NAN),
            Just(-0.0),
        ]
    }

    proptest! {
        #[test]
        fn no_matching_integer_is_outside(op in op(), element in any::<i64>(), near in -2_i64..3, value in float()) {
            for value in [Value::Float(value), Value::Float(element as f64), Value::Int(i128::from(element) + i128::from(near))] {
                let order = match &value {
                    Value::Float(value) => (element as f64).partial_cmp(value),
                    Value::Int(value) => i128::from(element).partial_cmp(value),
                    _ => None,
                };
                if holds(op, order) {
                    prop_assert!(may_hold(&Interval::of(Type::I64, op, &value), &Key::Int(element.into())));
                }
            }
            let small = i8::try_from(element % 128).unwrap_or(0);
            if holds(op, f64::from(small).partial_cmp(&value)) {
                prop_assert!(may_hold(&Interval::of(Type::I8, op, &Value::Float(value)), &Key::Int(small.into())));
            }
        }

        #[test]
        fn no_matching_float_is_outside(op in op(), element in float(), value in float()) {
            for value in [value, element] {
                if holds(op, element.partial_cmp(&value)) {
                    let interval = Interval::of(Type::F64, op, &Value::Float(value));
                    prop_assert!(may_hold(&interval, &Key::Float(element)));
                }
                let single = element as f32;
                let orders = [f64::from(single).partial_cmp(&value), single.partial_cmp(&(value as f32))];
                if orders.into_iter().any(|order| holds(op, order)) {
                    let interval = Interval::of(Type::F32, op, &Value::Float(value));
                    prop_assert!(may_hold(&interval, &Key::Float(single.into())));
                }
            }
        }

        #[test]
        fn what_is_in_both_intervals_is_in_their_intersection(a in -5_i128..5, b in -5_i128..5, one in op(), other in op()) {
            let (left, right) = (Interval::of(Type::I8, one, &Value::Int(a)), Interval::of(Type::I8, other, &Value::Int(b)));
            for element in -9..9 {
                let key = Key::Int(element);
                prop_assert_eq!(
                    may_hold(&left.clone().and(right.clone()), &key),
                    may_hold(&left, &key) && may_hold(&right, &key)
                );
            }
        }
    }
}
