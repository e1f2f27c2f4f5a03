//! Elements of any datatype as JSON, as h5grove has them: records are lists, complex numbers pairs,
//! enumerations numbers; NaN and infinities are null.

use std::fmt::Write as _;

use hyperslab::File;
use hyperslab_convert::Conversion;
use hyperslab_format::datatype::{BitRange, ByteOrder, Datatype, Float, IntegerValue, Padding};

use crate::answer::{Answered, Limited, Refusal};
use crate::datatype::is_region;

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
        match datatype {
            Datatype::Integer(t) => integer(stored, t.order, t.bits, t.signed, out),
            Datatype::Bits(t) => integer(stored, t.order, t.bits, false, out),
            Datatype::Time(t) => {
                integer(stored, t.order, BitRange { offset: 0, precision: t.precision }, true, out)
            }
            Datatype::Float(t) => float(t, stored, out),
            Datatype::Text(t) => text(
                match t.padding {
                    Padding::NullTerminated => until_zero(stored),
                    Padding::NullPadded => trimmed(stored, 0),
                    // Some writers end such strings with zeros.
                    Padding::SpacePadded => trimmed(trimmed(stored, 0), b' '),
                },
                out,
            ),
            Datatype::VariableText(_) => {
                let [id] = self.file.vlen_ids(stored)?[..] else { return Err(damaged("a string")) };
                text(until_zero(&self.file.vlen_bytes(id)?), out)
            }
            Datatype::Opaque(_) => out.json(&hex(stored).as_str()),
            Datatype::Compound(t) => {
                if let Some(part) = t.complex_parts() {
                    return self.complex(&Datatype::Float(*part), stored, out);
                }
                let members = t.members.iter().map(|member| {
                    let (start, size) = (member.offset as usize, self.size(&member.datatype)?);
                    let end = start.checked_add(size);
                    let bytes =
                        end.and_then(|end| stored.get(start..end)).ok_or_else(|| damaged("a member"))?;
                    Ok((&member.datatype, bytes))
                });
                list(members, out, |(datatype, bytes), out| self.write(datatype, bytes, out))
            }
            Datatype::Complex(t) => self.complex(&t.base, stored, out),
            Datatype::Reference(t) => {
                let kind = if is_region(t.kind) { "region" } else { "object" };
                let null = if stored.iter().all(|&byte| byte == 0) { " (null)" } else { "" };
                out.json(&format!("<HDF5 {kind} reference{null}>").as_str())
            }
            // Any other value of a boolean has no name.
            Datatype::Enumeration(t) if t.is_bool() && stored == [0] => out.push(b"false"),
            Datatype::Enumeration(t) if t.is_bool() && stored == [1] => out.push(b"true"),
            Datatype::Enumeration(t) => self.write(&t.base, stored, out),
            Datatype::Sequence(base) => {
                let (ids, size) = (self.file.vlen_ids(stored)?, self.size(base)?);
                let found = self.file.vlen_many(&ids, size)?;
                let [bytes] = &found[..] else { return Err(damaged("a sequence")) };
                let items = bytes.chunks_exact(size.max(1)).map(Ok);
                list(items, out, |item, out| self.write(base, item, out))
            }
            Datatype::Array(t) => {
                let dims: Vec<u64> = t.shape.iter().map(|&len| len.into()).collect();
                let (mut nest, size) = (Nest::new(&dims), self.size(&t.base)?);
                for item in stored.chunks_exact(size.max(1)) {
                    nest.next(out)?;
                    self.write(&t.base, item, out)?;
                }
                nest.finish(out)
            }
        }
    }

    fn complex(self, base: &Datatype, stored: &[u8], out: &mut Limited) -> Answered<()> {
        let (re, im) = stored.split_at(stored.len() / 2);
        list([re, im].into_iter().map(Ok), out, |part, out| self.write(base, part, out))
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

fn list<T>(
    items: impl Iterator<Item = Answered<T>>,
    out: &mut Limited,
    mut write: impl FnMut(T, &mut Limited) -> Answered<()>,
) -> Answered<()> {
    out.push(b"[")?;
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(b",")?;
        }
        write(item?, out)?;
    }
    out.push(b"]")
}

fn integer(stored: &[u8], order: ByteOrder, bits: BitRange, signed: bool, out: &mut Limited) -> Answered<()> {
    match IntegerValue::decode(stored, order, bits, signed) {
        Some(value) => out.push(value.to_string().as_bytes()),
        None => out.json(&hex(stored).as_str()),
    }
}

/// Returns bytes as hexadecimal digits after `0x`.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::from("0x"), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn float(t: &Float, stored: &[u8], out: &mut Limited) -> Answered<()> {
    if t.in_order(ByteOrder::Little) == Float::SINGLE
        && let Ok(bytes) = <[u8; 4]>::try_from(stored)
    {
        let number =
            if t.order == ByteOrder::Big { f32::from_be_bytes(bytes) } else { f32::from_le_bytes(bytes) };
        let text = if number.is_finite() { format!("{number:?}") } else { "null".to_owned() };
        return out.push(text.as_bytes());
    }
    let mut double = [0; 8];
    Conversion::between(&Datatype::Float(*t), &Datatype::Float(Float::DOUBLE))?.apply(
        stored,
        &mut double,
        1,
    )?;
    let number = f64::from_le_bytes(double);
    let text = if number.is_finite() { format!("{number:?}") } else { "null".to_owned() };
    out.push(text.as_bytes())
}

/// Writes a string. Bytes that are not UTF-8 are shown as U+FFFD.
fn text(bytes: &[u8], out: &mut Limited) -> Answered<()> {
    out.json(&&*String::from_utf8_lossy(bytes))
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

fn trimmed(bytes: &[u8], filler: u8) -> &[u8] {
    let len = bytes.iter().rposition(|&byte| byte != filler).map_or(0, |last| last + 1);
    &bytes[..len]
}

fn damaged(what: &str) -> Refusal {
    Refusal::argument(format!("{what} is outside its element: the file is damaged"))
}

#[cfg(test)]
mod tests {
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
        use hyperslab_format::datatype::Integer;
        let unsigned = Datatype::Integer(Integer::little(16, false));
        assert_eq!(shown(&unsigned, &(1_u128 << 127).to_le_bytes()), (1_u128 << 127).to_string());
        let wide = Datatype::Integer(Integer::little(32, false));
        assert_eq!(shown(&wide, &[1; 32]), format!("\"0x{}\"", "01".repeat(32)));
    }

    #[test]
    fn a_boolean_that_is_neither_true_nor_false_is_a_number() {
        use hyperslab_format::datatype::{Enumeration, Integer};
        let members = vec![("FALSE".to_owned(), vec![0]), ("TRUE".to_owned(), vec![1])];
        let base = Box::new(Datatype::Integer(Integer::little(1, true)));
        let boolean = Datatype::Enumeration(Enumeration { base, members });
        assert_eq!([0, 1, 2].map(|byte| shown(&boolean, &[byte])), ["false", "true", "2"]);
    }
}
