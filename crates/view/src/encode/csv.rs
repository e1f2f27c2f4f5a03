//! Tables of numbers separated by commas.

use hyperslab_format::Widths;
use hyperslab_format::datatype::Datatype;
use hyperslab_present::{Decoded, ElementBytes, elements};

use crate::answer::{Answered, Limited};
use crate::number::Numbers;

/// A table of one or two dimensions, which is written part by part. An array of one dimension is one column.
#[derive(Debug)]
pub(crate) struct Table<'n> {
    datatype: &'n Datatype,
    columns: u64,
    at: u64,
}

impl<'n> Table<'n> {
    /// Creates the table for numbers of this shape.
    pub(crate) fn new(numbers: &'n Numbers, shape: &[u64]) -> Self {
        let columns = shape.get(1).copied().unwrap_or(1).max(1);
        Self { datatype: numbers.each(), columns, at: 0 }
    }

    /// Writes the next numbers.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Limited) -> Answered<()> {
        for number in elements(self.datatype, bytes, Widths::EIGHT) {
            out.push(text(number).as_bytes())?;
            self.at += 1;
            out.push(if self.at.is_multiple_of(self.columns) { b"\n" } else { b"," })?;
        }
        Ok(())
    }
}

/// Returns a number as text: Python's `float`, `int` and `complex` read it. Others are empty.
fn text(number: ElementBytes<'_>) -> String {
    match number.decoded() {
        Ok(Decoded::Integer(number)) => number.to_string(),
        Ok(Decoded::Float(number)) => number.to_string(),
        Ok(Decoded::Complex(parts)) => {
            let [re, im] = parts.map(text);
            let plus = if im.starts_with('-') { "" } else { "+" };
            format!("({re}{plus}{im}j)")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_format::datatype::{Array, Complex, Float, Integer};

    use super::*;
    use crate::number::Form;

    fn table(datatype: &Datatype, shape: &[u64], bytes: &[u8]) -> String {
        let mut out = Limited::new(1000);
        let numbers = Numbers::of(datatype, Form::Little).unwrap();
        Table::new(&numbers, shape).push(bytes, &mut out).unwrap();
        String::from_utf8(out.into_bytes()).unwrap()
    }

    #[test]
    fn a_number_has_the_digits_that_identify_it() {
        let halves = [0x2e66_u16, 0x7c00, 0xfe00].map(u16::to_le_bytes).concat();
        assert_eq!(table(&Datatype::Float(Float::HALF), &[3], &halves), "0.1\ninf\nnan\n");
        let complex = Datatype::Complex(Complex { base: Box::new(Datatype::Float(Float::SINGLE)) });
        let parts = [0.1_f32, -2.0].map(f32::to_le_bytes).concat();
        assert_eq!(table(&complex, &[1], &parts), "(0.1-2.0j)\n");
    }

    #[test]
    fn the_numbers_inside_elements_are_columns() {
        let base = Box::new(Datatype::Integer(Integer::little(1, true)));
        let pairs = Datatype::Array(Array { base, shape: vec![2] });
        assert_eq!(table(&pairs, &[2, 2], &[1, 0xff, 3, 4]), "1,-1\n3,4\n");
    }
}
