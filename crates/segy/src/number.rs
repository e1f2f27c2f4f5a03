//! Numbers of headers that place a trace, and the axes that they make.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::error::{Error, Result};

/// The number of a line, an offset or an ensemble. Its type is that of its header field.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// The number of an integer field.
    Integer(i64),
    /// The number of a float field: finite, and not -0.
    Real(f64),
}

impl Number {
    /// Returns the number of a float field, or `None` if it does not place a trace: NaN, or infinite.
    pub(crate) fn real(value: f64) -> Option<Self> {
        // The sum of -0 and 0 is 0, so traces at -0 and at 0 are at one position.
        value.is_finite().then_some(Self::Real(value + 0.0))
    }

    /// Returns an integer that orders like this number among numbers of the same type, and that
    /// [`Numbers::of_keys`] turns back.
    pub(crate) fn key(self) -> i64 {
        match self {
            Self::Integer(number) => number,
            Self::Real(number) => mirrored(number.to_bits().cast_signed()),
        }
    }

    /// Returns the number as a float. Integers beyond 2^53 are rounded.
    #[expect(clippy::cast_precision_loss, reason = "numbers of lines have fewer digits")]
    pub fn as_real(self) -> f64 {
        match self {
            Self::Integer(number) => number as f64,
            Self::Real(number) => number,
        }
    }

    /// Returns the number as an integer, or `None` if it has a fraction or is beyond `i64`.
    #[expect(clippy::cast_possible_truncation, reason = "a whole number in the range of i64")]
    fn as_integer(self) -> Option<i64> {
        const END: f64 = 9_223_372_036_854_775_808.0;
        match self {
            Self::Integer(number) => Some(number),
            Self::Real(number) if number.fract() == 0.0 && (-END..END).contains(&number) => {
                Some(number as i64)
            }
            Self::Real(_) => None,
        }
    }
}

/// Reverses the order of negative numbers, which floats as bits have the wrong way round. Applied twice, it
/// has no effect.
fn mirrored(bits: i64) -> i64 {
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

/// Parses an integer or a decimal number.
impl FromStr for Number {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Ok(number) = text.parse() {
            return Ok(Self::Integer(number));
        }
        let number = text.parse().ok().and_then(Self::real);
        number
            .ok_or_else(|| Error::argument(format!("{text:?}"), "it must be a number, such as 1200 or 12.5"))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Real(number) => fmt::Debug::fmt(number, f),
        }
    }
}

/// The ascending numbers of an axis, all of one type.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// Those of an integer field.
    Integers(Vec<i64>),
    /// Those of a float field.
    Reals(Vec<f64>),
}

impl Numbers {
    /// Returns the numbers with these [keys](Number::key).
    pub(crate) fn of_keys(keys: Vec<i64>, are_real: bool) -> Self {
        if are_real { Self::Reals(keys.into_iter().map(real_of_key).collect()) } else { Self::Integers(keys) }
    }

    /// Returns how many numbers there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(numbers) => numbers.len(),
            Self::Reals(numbers) => numbers.len(),
        }
    }

    /// Returns whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number at a position.
    pub fn get(&self, index: usize) -> Option<Number> {
        match self {
            Self::Integers(numbers) => numbers.get(index).copied().map(Number::Integer),
            Self::Reals(numbers) => numbers.get(index).copied().map(Number::Real),
        }
    }

    /// Returns the first number.
    pub fn first(&self) -> Option<Number> {
        self.get(0)
    }

    /// Returns the last number.
    pub fn last(&self) -> Option<Number> {
        self.get(self.len().wrapping_sub(1))
    }

    /// Returns the position of a number, or `None` if it is not on the axis.
    ///
    /// A float that is not on the axis stands for the nearest float of single precision: 0.1 finds the number
    /// of a header field of 4 bytes, which holds 0.10000000149011612.
    #[expect(clippy::cast_possible_truncation, reason = "rounded to single precision")]
    pub fn find(&self, number: Number) -> Option<usize> {
        match self {
            Self::Integers(numbers) => numbers.binary_search(&number.as_integer()?).ok(),
            Self::Reals(numbers) => {
                let find = |wanted: f64| numbers.binary_search_by(|known| known.total_cmp(&wanted)).ok();
                // As in `real`, -0 is 0.
                let wanted = number.as_real() + 0.0;
                find(wanted).or_else(|| find((wanted as f32).into()))
            }
        }
    }

    /// Returns the smallest difference between neighbours, or `None` with fewer than two numbers.
    pub fn step(&self) -> Option<Number> {
        match self {
            Self::Integers(numbers) => {
                let steps = numbers.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
                steps.min().map(Number::Integer)
            }
            Self::Reals(numbers) => {
                let steps = numbers.windows(2).map(|pair| pair[1] - pair[0]);
                steps.min_by(f64::total_cmp).map(Number::Real)
            }
        }
    }
}

/// Returns the number of a float field with this [key](Number::key).
fn real_of_key(key: i64) -> f64 {
    f64::from_bits(mirrored(key).cast_unsigned())
}

/// Returns the number with this [key](Number::key).
pub(crate) fn of_key(key: i64, is_real: bool) -> Number {
    if is_real { Number::Real(real_of_key(key)) } else { Number::Integer(key) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_of_floats_order_like_the_floats_and_give_them_back(mut values: Vec<f64>) {
            values.retain(|value| value.is_finite());
            values.extend([0.0, -0.0, 5e-324, -5e-324, f64::MAX, f64::MIN]);
            let mut keys: Vec<i64> = values.iter().map(|&value| Number::real(value).unwrap().key()).collect();
            keys.sort_unstable();
            values.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let Numbers::Reals(back) = Numbers::of_keys(keys, true) else { panic!("floats become integers") };
            prop_assert_eq!(back, values);
        }
    }

    #[test]
    fn a_number_is_found_on_an_axis_of_either_type() {
        let number = |text: &str| text.parse::<Number>().unwrap();
        let whole = Numbers::Integers(vec![-4, 0, i64::MAX]);
        for (text, place) in
            [("-4", Some(0)), ("-4.0", Some(0)), ("-0.0", Some(1)), ("0.5", None), ("1e30", None)]
        {
            assert_eq!(whole.find(number(text)), place, "{text}");
        }
        let real = Numbers::Reals(vec![-0.5, 0.0, f64::from(0.1_f32), 3.0]);
        for (text, place) in
            [("-0.5", Some(0)), ("-0", Some(1)), ("0.1", Some(2)), ("3", Some(3)), ("0.5", None)]
        {
            assert_eq!(real.find(number(text)), place, "{text}");
        }
        for bad in ["nan", "inf", "-inf", "x", ""] {
            assert!(bad.parse::<Number>().is_err(), "{bad}");
        }
    }
}
