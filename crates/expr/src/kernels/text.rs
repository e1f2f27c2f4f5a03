//! Strings of fixed length. Zeros at the end are padding, as in NumPy.

use super::{In, compares};
use crate::tree::Binary;
use crate::types::Type;

/// Compares strings, by bytes or by characters.
pub(super) fn compare(operator: Binary, one: (Type, In<'_>), other: (Type, In<'_>), out: &mut [u8]) {
    for (at, out) in out.iter_mut().enumerate() {
        let (a, b) = (element(one, at), element(other, at));
        *out = u8::from(match one.0 {
            Type::Text(_) => compares(operator, &characters(a), &characters(b)),
            _ => compares(operator, &a, &b),
        });
    }
}

/// Looks for one string in another.
pub(super) fn contains(one: (Type, In<'_>), other: (Type, In<'_>), out: &mut [u8]) {
    for (at, out) in out.iter_mut().enumerate() {
        let (a, b) = (element(one, at), element(other, at));
        *out = u8::from(match one.0 {
            Type::Text(_) => holds(&characters(a), &characters(b)),
            _ => holds(a, b),
        });
    }
}

fn holds<T: PartialEq>(text: &[T], part: &[T]) -> bool {
    part.is_empty() || text.windows(part.len()).any(|window| window == part)
}

/// Returns an element without its padding.
fn element((kind, input): (Type, In<'_>), at: usize) -> &[u8] {
    let (size, unit) = (kind.size(), if matches!(kind, Type::Text(_)) { 4 } else { 1 });
    let at = if input.is_one { 0 } else { at };
    let element = input.bytes.get(at * size..(at + 1) * size).unwrap_or(&[]);
    let used = element.chunks_exact(unit).rposition(|unit| unit.iter().any(|byte| *byte != 0));
    &element[..used.map_or(0, |last| (last + 1) * unit)]
}

fn characters(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|unit| u32::from_ne_bytes(*unit)).collect()
}
