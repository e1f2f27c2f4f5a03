//! The values of a column that a comparison leaves: an interval in the column's type, which may be too wide.
//! An index and the bounds of a chunk answer for intervals.

use std::ops::Bound::{self, Excluded, Included, Unbounded};

use hyperslab_expr::{Comparison, Type, Value};

/// The values that may satisfy a comparison.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Interval {
    /// Nothing is known.
    Unknown,
    /// No value does.
    Empty,
    /// Only values from the first to the second.
    Between {
        low: Bound<Key>,
        high: Bound<Key>,
        /// Whether all values of the interval satisfy the comparison.
        is_exact: bool,
    },
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
            kind => kind.range().map_or(Self::Unknown, |range| integers(range, op, value)),
        }
    }

    /// Returns whether all values of the interval satisfy its comparison.
    pub(super) fn is_exact(&self) -> bool {
        match self {
            Self::Unknown => false,
            Self::Empty => true,
            Self::Between { is_exact, .. } => *is_exact,
        }
    }

    /// Returns whether a value from `low` to `high`, both included, may be in the interval.
    pub(super) fn meets(&self, low: &Key, high: &Key) -> bool {
        match self {
            Self::Unknown => true,
            Self::Empty => false,
            Self::Between { low: least, high: most, .. } => {
                let is_below = match least {
                    Included(least) => high < least,
                    Excluded(least) => high <= least,
                    Unbounded => false,
                };
                let is_above = match most {
                    Included(most) => low > most,
                    Excluded(most) => low >= most,
                    Unbounded => false,
                };
                !is_below && !is_above
            }
        }
    }

    /// Returns the values that are in both intervals.
    pub(super) fn and(self, other: Self) -> Self {
        let is_exact = self.is_exact() && other.is_exact();
        let (low, high, low_other, high_other) = match (self, other) {
            (Self::Empty, _) | (_, Self::Empty) => return Self::Empty,
            (Self::Unknown, Self::Between { low, high, .. })
            | (Self::Between { low, high, .. }, Self::Unknown) => {
                return Self::Between { low, high, is_exact };
            }
            (Self::Unknown, Self::Unknown) => return Self::Unknown,
            (Self::Between { low, high, .. }, Self::Between { low: low_other, high: high_other, .. }) => {
                (low, high, low_other, high_other)
            }
        };
        let low = narrower(low, low_other, |one, other| one > other);
        let high = narrower(high, high_other, |one, other| one < other);
        let is_empty = match (&low, &high) {
            (Included(low), Included(high)) => low > high,
            (Included(low) | Excluded(low), Included(high) | Excluded(high)) => low >= high,
            _ => false,
        };
        if is_empty { Self::Empty } else { Self::Between { low, high, is_exact } }
    }
}

/// Returns the bound that excludes more values. `is_inside` returns whether its first key excludes the
/// second.
fn narrower(one: Bound<Key>, other: Bound<Key>, is_inside: impl Fn(&Key, &Key) -> bool) -> Bound<Key> {
    match (&one, &other) {
        (Unbounded, _) => other,
        (_, Unbounded) => one,
        (Included(key) | Excluded(key), Included(key_other) | Excluded(key_other)) => {
            let is_one = is_inside(key, key_other) || (key == key_other && matches!(one, Excluded(_)));
            if is_one { one } else { other }
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

/// Returns the interval of a comparison whose value is between `down` and `up`, or is both of them if that is
/// known exactly.
fn between(op: Comparison, down: Key, up: Key, is_exact: bool) -> Interval {
    let (low, high) = match op {
        Comparison::Less if is_exact => (Unbounded, Excluded(up)),
        Comparison::Greater if is_exact => (Excluded(down), Unbounded),
        Comparison::Less | Comparison::LessEqual => (Unbounded, Included(up)),
        Comparison::Greater | Comparison::GreaterEqual => (Included(down), Unbounded),
        Comparison::Equal => (Included(down), Included(up)),
    };
    Interval::Between { low, high, is_exact }
}

fn integers((least, most): (i128, i128), op: Comparison, value: &Value) -> Interval {
    let (down, up) = match value {
        Value::Bool(value) => (i128::from(*value), i128::from(*value)),
        Value::Int(value) => (*value, *value),
        Value::Float(value) if value.is_nan() => return Interval::Empty,
        // The column is compared as floats of 64 bits, to which large integers are rounded.
        #[expect(clippy::cast_possible_truncation, reason = "casts saturate")]
        Value::Float(value) => {
            let slack = (value.abs() * f64::EPSILON).ceil();
            ((value - slack).floor() as i128, (value + slack).ceil() as i128)
        }
        _ => return Interval::Unknown,
    };
    let is_exact = down == up;
    let (is_none, is_all) = match op {
        Comparison::Less if is_exact => (up <= least, down > most),
        Comparison::Less | Comparison::LessEqual => (up < least, down >= most),
        Comparison::Greater if is_exact => (down >= most, up < least),
        Comparison::Greater | Comparison::GreaterEqual => (down > most, up <= least),
        Comparison::Equal => (up < least || down > most, false),
    };
    match (is_none, is_all) {
        (true, _) => Interval::Empty,
        (_, true) => Interval::Between { low: Unbounded, high: Unbounded, is_exact: true },
        // The neighbour is included instead: an interval between two neighbours is then seen to be empty.
        _ if is_exact && op == Comparison::Less => {
            Interval::Between { low: Unbounded, high: Included(Key::Int(up - 1)), is_exact }
        }
        _ if is_exact && op == Comparison::Greater => {
            Interval::Between { low: Included(Key::Int(down + 1)), high: Unbounded, is_exact }
        }
        // A key of the column has the column's bytes.
        _ => between(op, Key::Int(down.clamp(least, most)), Key::Int(up.clamp(least, most)), is_exact),
    }
}

fn floats(kind: Type, op: Comparison, value: &Value) -> Interval {
    let (value, is_rounded) = match value {
        Value::Bool(value) => (f64::from(u8::from(*value)), false),
        #[expect(clippy::cast_precision_loss, reason = "the integer is compared as a float")]
        Value::Int(value) => (*value as f64, value.unsigned_abs() > 1 << f64::MANTISSA_DIGITS),
        Value::Float(value) => (*value, false),
        _ => return Interval::Unknown,
    };
    if value.is_nan() {
        return Interval::Empty;
    }
    // A scalar of Python is rounded to the type of the column, and one of NumPy is not: the floats on both
    // sides of the value hold in both cases.
    #[expect(clippy::cast_possible_truncation, reason = "rounding is what the neighbours are for")]
    let single = value as f32;
    let is_single = f64::from(single).total_cmp(&value).is_eq();
    let (down, up) = match kind {
        Type::F32 if !is_single => (single.next_down().into(), single.next_up().into()),
        _ if is_rounded => (value.next_down(), value.next_up()),
        _ => (value, value),
    };
    between(op, Key::Float(down), Key::Float(up), down.total_cmp(&up).is_eq())
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
    between(op, Key::Bytes(bytes.clone()), Key::Bytes(bytes), true)
}

#[cfg(test)]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "elements are rounded as they are compared"
)]
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
            Interval::Between { low, high, .. } => {
                use std::ops::RangeBounds;
                // NaN is in no interval, also in one without bounds.
                (low.as_ref(), high.as_ref()).contains(&key) && key.partial_cmp(key).is_some()
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
        fn no_matching_integer_is_outside(
            op in op(),
            element in any::<i64>(),
            near in -2_i64..3,
            value in float(),
        ) {
            let near = Value::Int(i128::from(element) + i128::from(near));
            for value in [Value::Float(value), Value::Float(element as f64), near] {
                let order = match &value {
                    Value::Float(value) => (element as f64).partial_cmp(value),
                    Value::Int(value) => i128::from(element).partial_cmp(value),
                    _ => None,
                };
                let interval = Interval::of(Type::I64, op, &value);
                let may_hold = may_hold(&interval, &Key::Int(element.into()));
                prop_assert!(may_hold || !holds(op, order));
                prop_assert!(!may_hold || holds(op, order) || !interval.is_exact());
            }
            let small = i8::try_from(element % 128).unwrap_or(0);
            if holds(op, f64::from(small).partial_cmp(&value)) {
                let interval = Interval::of(Type::I8, op, &Value::Float(value));
                prop_assert!(may_hold(&interval, &Key::Int(small.into())));
            }
            let whole = i128::from(element % 300);
            let interval = Interval::of(Type::I8, op, &Value::Int(whole));
            let does_hold = holds(op, i128::from(small).partial_cmp(&whole));
            prop_assert_eq!(may_hold(&interval, &Key::Int(small.into())), does_hold);
            prop_assert!(interval.is_exact());
        }

        #[test]
        fn no_matching_float_is_outside(op in op(), element in float(), value in float()) {
            for value in [value, element] {
                let interval = Interval::of(Type::F64, op, &Value::Float(value));
                let does_hold = holds(op, element.partial_cmp(&value));
                prop_assert_eq!(may_hold(&interval, &Key::Float(element)), does_hold);
                prop_assert!(interval.is_exact());

                let single = element as f32;
                let orders = [f64::from(single).partial_cmp(&value), single.partial_cmp(&(value as f32))];
                let hold = orders.map(|order| holds(op, order));
                let interval = Interval::of(Type::F32, op, &Value::Float(value));
                let may_hold = may_hold(&interval, &Key::Float(single.into()));
                prop_assert!(may_hold || hold == [false, false]);
                prop_assert!(!may_hold || !interval.is_exact() || hold == [true, true]);
            }
        }

        #[test]
        fn an_interval_meets_all_ranges_with_one_of_its_values(
            low in -9_i128..9,
            len in 0_i128..5,
            value in -9_i128..9,
            one in op(),
            other in op(),
        ) {
            let interval = Interval::of(Type::I8, one, &Value::Int(value));
            let interval = interval.and(Interval::of(Type::I8, other, &Value::Int(value + len)));
            let (first, last) = (Key::Int(low), Key::Int(low + len));
            let has_one = (low..=low + len).any(|element| may_hold(&interval, &Key::Int(element)));
            prop_assert_eq!(interval.meets(&first, &last), has_one);
        }

        #[test]
        fn what_is_in_both_intervals_is_in_their_intersection(
            a in -5_i128..5,
            b in -5_i128..5,
            one in op(),
            other in op(),
        ) {
            let left = Interval::of(Type::I8, one, &Value::Int(a));
            let right = Interval::of(Type::I8, other, &Value::Int(b));
            let both = left.clone().and(right.clone());
            for element in -9..9 {
                let key = Key::Int(element);
                prop_assert_eq!(may_hold(&both, &key), may_hold(&left, &key) && may_hold(&right, &key));
            }
        }
    }
}
