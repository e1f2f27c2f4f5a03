//! Elements of any datatype as JSON, as h5grove has them: records are lists, complex numbers pairs,
//! enumerations numbers; NaN and infinities are null.

use hyperslab::File;
use hyperslab_format::datatype::{Datatype, Reference, ReferenceKind};
use hyperslab_present::{Decoded, ElementBytes, TimeValue, elements, hex, until_zero};

use crate::answer::{Answered, Limited, Refusal};

/// Writes elements of one file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Values<'f> {
    file: &'f File,
}

impl<'f> Values<'f> {
    /// Creates a writer for elements whose data of variable length are in `file`.
    pub(crate) fn new(file: &'f File) -> Self {
        Self { file }
    }

    /// Returns the bytes of one element.
    pub(crate) fn size(self, datatype: &Datatype) -> Answered<usize> {
        let size = datatype.size(self.file.store().widths());
        usize::try_from(size).map_err(|_| Refusal::argument("an element larger than the address space"))
    }

    /// Writes the element in `stored`.
    pub(crate) fn write(self, datatype: &Datatype, stored: &[u8], out: &mut Limited) -> Answered<()> {
        self.element(ElementBytes { datatype, bytes: stored, widths: self.file.store().widths() }, out)
    }

    fn element(self, element: ElementBytes<'_>, out: &mut Limited) -> Answered<()> {
        let stored = element.bytes;
        match element.decoded().map_err(|error| Refusal::argument(error.to_string()))? {
            Decoded::Integer(number) => out.push(number.to_string().as_bytes()),
            Decoded::Float(number) if number.double().is_finite() => out.push(number.to_string().as_bytes()),
            Decoded::Float(_) => out.push(b"null"),
            Decoded::Bool(value) => out.push(value.to_string().as_bytes()),
            Decoded::Name { value, .. } => self.element(value, out),
            Decoded::Time(TimeValue::Duration(units)) => out.push(units.to_string().as_bytes()),
            Decoded::Time(date) => out.json(&date.to_string().as_str()),
            Decoded::Text(bytes) => text(bytes, out),
            Decoded::Bytes(bytes) => out.json(&prefixed(bytes).as_str()),
            Decoded::Complex(parts) => self.list(parts.into_iter(), out),
            Decoded::Record(members) => self.list(members.into_iter().map(|(_, member)| member), out),
            Decoded::Array { shape, base } => {
                let dims: Vec<u64> = shape.iter().map(|&len| len.into()).collect();
                let mut nest = Nest::new(&dims);
                for item in elements(base, stored, element.widths) {
                    nest.next(out)?;
                    self.element(item, out)?;
                }
                nest.finish(out)
            }
            Decoded::Reference(t) => out.json(&self.reference(t, stored).as_str()),
            Decoded::VariableText => {
                let [id] = self.file.vlen_ids(stored)?[..] else { return Err(damaged("a string")) };
                text(until_zero(&self.file.vlen_bytes(id)?), out)
            }
            Decoded::Sequence(base) => {
                let found = self.file.vlen_many(&self.file.vlen_ids(stored)?, self.size(base)?)?;
                let [bytes] = &found[..] else { return Err(damaged("a sequence")) };
                self.list(elements(base, bytes, element.widths), out)
            }
        }
    }

    fn list<'e>(self, items: impl Iterator<Item = ElementBytes<'e>>, out: &mut Limited) -> Answered<()> {
        out.push(b"[")?;
        for (at, item) in items.enumerate() {
            if at > 0 {
                out.push(b",")?;
            }
            self.element(item, out)?;
        }
        out.push(b"]")
    }

    /// Names a reference as h5py does. Its target would take a walk through the file.
    fn reference(self, t: Reference, stored: &[u8]) -> String {
        let kind = match t.kind {
            ReferenceKind::Object1 | ReferenceKind::Object2 => "object",
            ReferenceKind::Region1 | ReferenceKind::Region2 => "region",
            ReferenceKind::Attribute => "attribute",
        };
        let null = if matches!(self.file.reference_target(&t, stored), Ok(None)) { " (null)" } else { "" };
        format!("<HDF5 {kind} reference{null}>")
    }
}

/// The brackets and commas of an array in row-major order.
#[derive(Debug)]
pub(crate) struct Nest<'d> {
    dims: &'d [u64],
    at: u64,
}

impl<'d> Nest<'d> {
    /// Creates the nest of an array of this shape. An array of no dimensions is one element without brackets.
    pub(crate) fn new(dims: &'d [u64]) -> Self {
        Self { dims, at: 0 }
    }

    /// Writes what comes before the next element.
    pub(crate) fn next(&mut self, out: &mut Limited) -> Answered<()> {
        let opened = self.ends();
        if self.at > 0 {
            (0..opened).try_for_each(|_| out.push(b"]"))?;
            out.push(b",")?;
        }
        self.at += 1;
        (0..opened).try_for_each(|_| out.push(b"["))
    }

    /// Returns the number of lists that begin with the next element.
    fn ends(&self) -> usize {
        let mut product = 1_u64;
        let is_start = |len: &&u64| {
            product = product.saturating_mul(**len);
            product > 0 && self.at.is_multiple_of(product)
        };
        self.dims.iter().rev().take_while(is_start).count()
    }

    /// Writes what comes after the last element.
    pub(crate) fn finish(self, out: &mut Limited) -> Answered<()> {
        if self.at > 0 {
            return self.dims.iter().try_for_each(|_| out.push(b"]"));
        }
        empty(self.dims, out)
    }
}

/// Writes an array without elements.
fn empty(dims: &[u64], out: &mut Limited) -> Answered<()> {
    let Some((&len, inner)) = dims.split_first() else { return Ok(()) };
    out.push(b"[")?;
    for at in 0..len {
        if at > 0 {
            out.push(b",")?;
        }
        empty(inner, out)?;
    }
    out.push(b"]")
}

/// Returns bytes as hexadecimal digits after `0x`.
pub(crate) fn prefixed(bytes: &[u8]) -> String {
    format!("0x{}", hex(bytes))
}

/// Writes a string. Bytes that are not UTF-8 are shown as U+FFFD.
fn text(bytes: &[u8], out: &mut Limited) -> Answered<()> {
    out.json(&&*String::from_utf8_lossy(bytes))
}

fn damaged(what: &str) -> Refusal {
    Refusal::argument(format!("{what} is outside its element: the file is damaged"))
}

#[cfg(test)]
mod tests {
    use hyperslab_format::datatype::{Float, Integer, Opaque};

    use super::*;

    fn nested(dims: &[u64]) -> String {
        let mut out = Limited::new(1000);
        let mut nest = Nest::new(dims);
        for k in 0..dims.iter().product::<u64>() {
            nest.next(&mut out).unwrap();
            out.push(k.to_string().as_bytes()).unwrap();
        }
        nest.finish(&mut out).unwrap();
        String::from_utf8(out.into_bytes()).unwrap()
    }

    #[test]
    fn arrays_are_nested_as_their_shape() {
        assert_eq!(nested(&[]), "0");
        assert_eq!(nested(&[3]), "[0,1,2]");
        assert_eq!(nested(&[2, 1, 2]), "[[[0,1]],[[2,3]]]");
        assert_eq!(nested(&[2, 0]), "[[],[]]");
        assert_eq!(nested(&[0, 2]), "[]");
    }

    fn shown(datatype: &Datatype, stored: &[u8]) -> String {
        let mut out = Limited::new(1000);
        Values::new(&File::in_memory().unwrap()).write(datatype, stored, &mut out).unwrap();
        String::from_utf8(out.into_bytes()).unwrap()
    }

    #[test]
    fn wide_integers_are_whole_or_their_bytes() {
        let unsigned = Datatype::Integer(Integer::little(16, false));
        assert_eq!(shown(&unsigned, &(1_u128 << 127).to_le_bytes()), (1_u128 << 127).to_string());
        let wide = Datatype::Integer(Integer::little(32, false));
        assert_eq!(shown(&wide, &[1; 32]), format!("\"0x{}\"", "01".repeat(32)));
    }

    #[test]
    fn a_half_has_the_digits_that_identify_it() {
        let half = Datatype::Float(Float::HALF);
        assert_eq!(shown(&half, &0x2e66_u16.to_le_bytes()), "0.1");
    }

    #[test]
    fn a_number_without_a_double_is_its_bytes() {
        let extended = Datatype::Float(Float::EXTENDED);
        let mut large = [0; 16];
        large[7..10].copy_from_slice(&[0x80, 0xfe, 0x7f]);
        assert_eq!(shown(&extended, &large), format!("\"0x{}\"", hex(&large)), "null is for infinities");
        large[8] = 0xff;
        assert_eq!(shown(&extended, &large), "null");
    }

    #[test]
    fn dates_of_numpy_are_dates() {
        let opaque = |tag: &str| Datatype::Opaque(Opaque { size: 8, tag: tag.to_owned() });
        let number = 86_400_i64.to_le_bytes();
        assert_eq!(shown(&opaque("NUMPY:<M8[s]"), &number), r#""1970-01-02T00:00:00""#);
        assert_eq!(shown(&opaque("NUMPY:<m8[s]"), &number), "86400");
        assert_eq!(shown(&opaque("other"), &number), r#""0x8051010000000000""#);
    }

    #[test]
    fn a_reference_to_no_object_is_null_whatever_its_bytes() {
        let reference = Datatype::Reference(Reference { size: 8, kind: ReferenceKind::Object1 });
        for null in [[0; 8], [0xff; 8]] {
            assert_eq!(shown(&reference, &null), r#""<HDF5 object reference (null)>""#);
        }
        assert_eq!(shown(&reference, &[1; 8]), r#""<HDF5 object reference>""#);
    }
}
