//! Operators on scalars of Python, and comparisons turned around.

use crate::tree::Binary;
use crate::value::Value;

/// Returns the comparison with its operands exchanged.
pub(crate) fn mirrored(operator: Binary) -> Binary {
    match operator {
        Binary::Less => Binary::Greater,
        Binary::LessEqual => Binary::GreaterEqual,
        Binary::Greater => Binary::Less,
        Binary::GreaterEqual => Binary::LessEqual,
        operator => operator,
    }
}

/// Computes an operator on two scalars of Python, with Python's result. Returns `None` if Python has none.
pub(crate) fn fold(operator: Binary, one: &Value, other: &Value) -> Option<Value> {
    if let (Value::Int(a), Value::Int(b)) = (one, other) {
        let (a, b) = (*a, *b);
        let floor = |a: i128, b: i128| {
            let (quotient, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
            let is_lower = rest != 0 && (rest < 0) != (b < 0);
            Some(if is_lower { (quotient - 1, rest + b) } else { (quotient, rest) })
        };
        let made = match operator {
            Binary::Add => a.checked_add(b),
            Binary::Subtract => a.checked_sub(b),
            Binary::Multiply => a.checked_mul(b),
            Binary::FloorDivide => floor(a, b).map(|made| made.0),
            Binary::Modulo => floor(a, b).map(|made| made.1),
            Binary::Power if b >= 0 => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
            Binary::And => Some(a & b),
            Binary::Or => Some(a | b),
            Binary::Xor => Some(a ^ b),
            _ => None,
        };
        if let Some(made) = made {
            return Some(Value::Int(made));
        }
    }
    let (a, b) = (one.float()?, other.float()?);
    let made = match operator {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide if b != 0.0 => a / b,
        Binary::Power => a.powf(b),
        _ => return None,
    };
    Some(Value::Float(made))
}
