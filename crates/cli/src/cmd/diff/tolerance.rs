//! Equality of values, with tolerances.

use crate::show::value::Value;

/// The tolerances: numbers are equal if `|a - b| <= absolute + relative * |b|`, as in NumPy's `isclose`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tolerance {
    pub(super) relative: f64,
    pub(super) absolute: f64,
}

impl Tolerance {
    fn is_none(self) -> bool {
        self.relative == 0.0 && self.absolute == 0.0
    }

    /// Returns whether two numbers are equal. NaN equals NaN.
    #[expect(clippy::float_cmp, reason = "without a tolerance numbers are compared exactly")]
    pub(super) fn same(self, a: f64, b: f64) -> bool {
        let is_close = || (a - b).abs() <= self.absolute + self.relative * b.abs();
        a == b || (a.is_nan() && b.is_nan()) || (a.is_finite() && b.is_finite() && is_close())
    }

    /// Returns whether two integers are equal. Without a tolerance, the comparison is exact.
    #[expect(clippy::cast_precision_loss, reason = "a tolerance need not be exact")]
    pub(super) fn same_integers(self, a: i128, b: i128) -> bool {
        a == b || (!self.is_none() && self.same(a as f64, b as f64))
    }

    /// Returns whether two values of any datatype are equal, comparing them part by part.
    pub(super) fn same_values(self, a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Number(a), Value::Number(b)) => {
                a == b
                    || match (a.parse::<i128>(), b.parse::<i128>()) {
                        (Ok(a), Ok(b)) => self.same_integers(a, b),
                        _ => matches!((a.parse(), b.parse()), (Ok(a), Ok(b)) if self.same(a, b)),
                    }
            }
            (Value::Complex(a), Value::Complex(b)) => a.iter().zip(&**b).all(|(a, b)| self.same_values(a, b)),
            (Value::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.same_values(a, b))
            }
            (Value::Record(a), Value::Record(b)) => {
                let same = |((a_name, a), (b_name, b)): (&(String, Value), &(String, Value))| {
                    a_name == b_name && self.same_values(a, b)
                };
                a.len() == b.len() && a.iter().zip(b).all(same)
            }
            _ => a == b,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: Tolerance = Tolerance { relative: 0.0, absolute: 0.0 };

    #[test]
    fn nan_equals_nan_and_infinities_are_close_to_nothing_else() {
        let wide = Tolerance { relative: 1.0, absolute: 1e300 };
        for tolerance in [EXACT, wide] {
            assert!(tolerance.same(f64::NAN, f64::NAN) && tolerance.same(f64::INFINITY, f64::INFINITY));
            assert!(!tolerance.same(f64::NAN, 1.0) && !tolerance.same(f64::INFINITY, 1e308));
            assert!(!tolerance.same(f64::INFINITY, f64::NEG_INFINITY) && tolerance.same(-0.0, 0.0));
        }
    }

    #[test]
    fn tolerances_are_relative_to_the_second_number_and_add_up() {
        let tolerance = Tolerance { relative: 0.1, absolute: 1.0 };
        assert!(tolerance.same(112.0, 101.0) && tolerance.same(-10.5, -9.0) && !tolerance.same(113.0, 101.0));
        assert!(tolerance.same_integers(12, 10) && !tolerance.same_integers(13, 10));
        assert!(!EXACT.same_integers(1 << 60, (1 << 60) + 1), "these integers are equal as floats");
    }

    #[test]
    fn values_are_compared_part_by_part() {
        let number = |text: &str| Value::Number(text.to_owned());
        let record = |x: &str| Value::Record(vec![("x".to_owned(), Value::List(vec![number(x)]))]);
        let tolerance = Tolerance { relative: 0.0, absolute: 0.5 };
        assert!(tolerance.same_values(&record("1.5"), &record("2")));
        assert!(!tolerance.same_values(&record("1.5"), &record("2.25")));
        assert!(!EXACT.same_values(&record("1.5"), &number("1.5")));
        assert!(EXACT.same_values(&number("1.50"), &number("1.5")));
    }
}
