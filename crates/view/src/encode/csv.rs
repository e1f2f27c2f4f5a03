//! Tables of numbers separated by commas.

use crate::answer::{Answered, Limited};
use crate::number::{Kind, Numbers};

/// A table of one or two dimensions, which is written part by part. An array of one dimension is one column.
#[derive(Debug)]
pub(crate) struct Table {
    kind: Kind,
    size: usize,
    columns: u64,
    at: u64,
}

impl Table {
    /// Creates the table for little-endian numbers of this shape.
    pub(crate) fn new(numbers: &Numbers, shape: &[u64]) -> Self {
        let columns = shape.get(1).copied().unwrap_or(1).max(1);
        Self { kind: numbers.kind, size: numbers.size as usize, columns, at: 0 }
    }

    /// Writes the next numbers.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Limited) -> Answered<()> {
        for number in bytes.chunks_exact(self.size.max(1)) {
            out.push(text(self.kind, number).as_bytes())?;
            self.at += 1;
            out.push(if self.at.is_multiple_of(self.columns) { b"\n" } else { b"," })?;
        }
        Ok(())
    }
}

/// Returns a number as text: Python's `float`, `int` and `complex` read it.
fn text(kind: Kind, bytes: &[u8]) -> String {
    match kind {
        Kind::Float => float(bytes),
        Kind::Complex => {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            let (re, im) = (float(re), float(im));
            let plus = if im.starts_with('-') { "" } else { "+" };
            format!("({re}{plus}{im}j)")
        }
        Kind::Signed => {
            let is_negative = bytes.last().is_some_and(|byte| byte >> 7 == 1);
            i64::from_le_bytes(extended(bytes, if is_negative { 0xff } else { 0 })).to_string()
        }
        Kind::Unsigned | Kind::Bool => u64::from_le_bytes(extended(bytes, 0)).to_string(),
    }
}

/// Returns the shortest decimal that identifies a float among those of its size.
fn float(bytes: &[u8]) -> String {
    let text = match *bytes {
        [a, b] => format!("{:?}", hyperslab::half::f16::from_le_bytes([a, b]).to_f32()),
        [a, b, c, d] => format!("{:?}", f32::from_le_bytes([a, b, c, d])),
        _ => format!("{:?}", f64::from_le_bytes(extended(bytes, 0))),
    };
    text.to_lowercase()
}

/// Returns an integer of at most 8 bytes in 8 bytes.
pub(crate) fn extended(bytes: &[u8], fill: u8) -> [u8; 8] {
    let mut extended = [fill; 8];
    extended.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    extended
}
