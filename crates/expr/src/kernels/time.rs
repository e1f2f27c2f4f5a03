//! Times and durations in whole units. The smallest integer is `NaT`, which is no time.

use super::{In, TimeMath, compares, map1, map2};
use crate::tree::Binary;

const NAT: i64 = i64::MIN;

pub(super) fn scale(factor: i64, a: In<'_>, out: &mut [u8]) {
    map1(&a.typed::<i64>(), a.is_one, out, |x: i64| if x == NAT { NAT } else { x.wrapping_mul(factor) });
}

pub(super) fn binary(operator: Binary, x: In<'_>, y: In<'_>, out: &mut [u8]) {
    let is_one = (x.is_one, y.is_one);
    let (a, b) = (&*x.typed::<i64>(), &*y.typed::<i64>());
    let known =
        |f: fn(i64, i64) -> i64| move |a: i64, b: i64| if a == NAT || b == NAT { NAT } else { f(a, b) };
    match operator {
        Binary::Add => map2(a, b, is_one, out, known(i64::wrapping_add)),
        Binary::Subtract => map2(a, b, is_one, out, known(i64::wrapping_sub)),
        Binary::Multiply => map2(a, b, is_one, out, known(i64::wrapping_mul)),
        Binary::Minimum => map2(a, b, is_one, out, known(i64::min)),
        Binary::Maximum => map2(a, b, is_one, out, known(i64::max)),
        Binary::Modulo => map2(a, b, is_one, out, known(|a, b| if b == 0 { NAT } else { floor(a, b).1 })),
        Binary::FloorDivide => {
            map2(a, b, is_one, out, |a, b| if a == NAT || b == NAT || b == 0 { 0 } else { floor(a, b).0 });
        }
        Binary::Divide => {
            map2(a, b, is_one, out, |a, b| if a == NAT || b == NAT { f64::NAN } else { float(a) / float(b) });
        }
        operator => map2(a, b, is_one, out, |a, b| {
            let is_known = a != NAT && b != NAT;
            u8::from(if is_known { compares(operator, &a, &b) } else { operator == Binary::NotEqual })
        }),
    }
}

/// Returns the quotient rounded down, and the remainder. The divisor is not 0.
fn floor(a: i64, b: i64) -> (i64, i64) {
    let (quotient, rest) = (a.wrapping_div(b), a.wrapping_rem(b));
    if rest != 0 && (rest < 0) != (b < 0) { (quotient - 1, rest + b) } else { (quotient, rest) }
}

#[expect(clippy::cast_precision_loss, reason = "NumPy divides durations as floats")]
fn float(a: i64) -> f64 {
    a as f64
}

/// Multiplies durations by integers, or divides them. As in NumPy, both divisions round towards zero.
pub(super) fn by_integer(operator: Binary, a: In<'_>, b: In<'_>, out: &mut [u8]) {
    map2(&a.typed::<i64>(), &b.typed::<i64>(), (a.is_one, b.is_one), out, |a: i64, b: i64| match operator {
        _ if a == NAT => NAT,
        Binary::Multiply => a.wrapping_mul(b),
        _ => a.checked_div(b).unwrap_or(NAT),
    });
}

#[expect(clippy::cast_possible_truncation, reason = "NumPy truncates a product to whole units")]
pub(super) fn by_float(operator: Binary, a: In<'_>, b: In<'_>, out: &mut [u8]) {
    map2(&a.typed::<i64>(), &b.typed::<f64>(), (a.is_one, b.is_one), out, |a: i64, b: f64| {
        let made = if operator == Binary::Multiply { float(a) * b } else { float(a) / b };
        if a == NAT || !made.is_finite() { NAT } else { made as i64 }
    });
}

pub(super) fn math(math: TimeMath, a: In<'_>, out: &mut [u8]) {
    let (is_one, a) = (a.is_one, &*a.typed::<i64>());
    match math {
        TimeMath::Negative => map1(a, is_one, out, i64::wrapping_neg),
        TimeMath::Abs => map1(a, is_one, out, |x: i64| if x == NAT { NAT } else { x.wrapping_abs() }),
        TimeMath::IsNat => map1(a, is_one, out, |x: i64| u8::from(x == NAT)),
    }
}
