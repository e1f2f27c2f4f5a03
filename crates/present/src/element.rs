//! What the bytes of an element hold.

use std::fmt;

use hyperslab_format::Widths;
use hyperslab_format::datatype::{BitRange, ByteOrder, Datatype, IntegerValue, Reference};

use crate::float::FloatValue;
use crate::text::unpadded;
use crate::time::{TimeTag, TimeValue};

/// An element as it is stored.
#[derive(Debug, Clone, Copy)]
pub struct ElementBytes<'e> {
    /// What the bytes are.
    pub datatype: &'e Datatype,
    /// The bytes, as many as an element has.
    pub bytes: &'e [u8],
    /// The widths of addresses and lengths in the file.
    pub widths: Widths,
}

/// What an element holds.
#[derive(Debug, Clone)]
pub enum Decoded<'e> {
    /// An integer, a bitfield, or a time of HDF5.
    Integer(IntegerValue),
    /// A floating-point number.
    Float(FloatValue),
    /// h5py's boolean.
    Bool(bool),
    /// A member of an enumeration.
    Name {
        /// The first name of the value.
        name: &'e str,
        /// The value, as an element of the base type.
        value: ElementBytes<'e>,
    },
    /// A date or a duration of NumPy.
    Time(TimeValue),
    /// A string of fixed length, without its padding. Nothing ensures that it is UTF-8.
    Text(&'e [u8]),
    /// Opaque bytes, or a number that no type of Rust holds.
    Bytes(&'e [u8]),
    /// The real and the imaginary part.
    Complex([ElementBytes<'e>; 2]),
    /// The members of a compound, with their names.
    Record(Vec<(&'e str, ElementBytes<'e>)>),
    /// An array, whose items [`elements`] lists in row-major order.
    Array {
        /// The shape.
        shape: &'e [u32],
        /// The datatype of an item.
        base: &'e Datatype,
    },
    /// A reference, whose target the file knows.
    Reference(Reference),
    /// A string in the heap of the file.
    VariableText,
    /// A sequence in the heap of the file, whose items [`elements`] lists.
    Sequence(&'e Datatype),
}

/// A part of an element is outside of it, so the datatype is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutsideElement;

impl fmt::Display for OutsideElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member is outside its compound: the datatype is damaged")
    }
}

impl std::error::Error for OutsideElement {}

impl<'e> ElementBytes<'e> {
    /// Interprets the bytes, down to the elements that are parts of this one.
    ///
    /// Errors: `OutsideElement` if a member of a compound is not within the bytes.
    pub fn decoded(self) -> Result<Decoded<'e>, OutsideElement> {
        let bytes = self.bytes;
        Ok(match self.datatype {
            Datatype::Integer(t) => self.integer(t.order, t.bits, t.signed),
            Datatype::Bits(t) => self.integer(t.order, t.bits, false),
            Datatype::Time(t) => self.integer(t.order, BitRange { offset: 0, precision: t.precision }, true),
            Datatype::Float(t) => FloatValue::decode(t, bytes).map_or(Decoded::Bytes(bytes), Decoded::Float),
            Datatype::Text(t) => Decoded::Text(unpadded(t.padding, bytes)),
            Datatype::Opaque(t) => {
                let time = TimeTag::of(&t.tag).and_then(|tag| tag.value(bytes));
                time.map_or(Decoded::Bytes(bytes), Decoded::Time)
            }
            Datatype::Compound(t) => {
                let member = |member: &'e hyperslab_format::datatype::Member| {
                    Ok((&*member.name, self.part(&member.datatype, member.offset)?))
                };
                let members = t.members.iter().map(member).collect::<Result<Vec<_>, _>>()?;
                match members[..] {
                    [(_, re), (_, im)] if t.complex_parts().is_some() => Decoded::Complex([re, im]),
                    _ => Decoded::Record(members),
                }
            }
            Datatype::Complex(t) => {
                let (re, im) = bytes.split_at(bytes.len() / 2);
                Decoded::Complex([re, im].map(|bytes| Self { datatype: &t.base, bytes, ..self }))
            }
            Datatype::Enumeration(t) => match t.members.iter().find(|(_, value)| value[..] == *bytes) {
                Some((name, _)) if t.is_bool() => Decoded::Bool(name == "TRUE"),
                Some((name, _)) => Decoded::Name { name, value: Self { datatype: &t.base, ..self } },
                None => return Self { datatype: &t.base, ..self }.decoded(),
            },
            Datatype::Array(t) => Decoded::Array { shape: &t.shape, base: &t.base },
            Datatype::Reference(t) => Decoded::Reference(*t),
            Datatype::VariableText(_) => Decoded::VariableText,
            Datatype::Sequence(base) => Decoded::Sequence(base),
        })
    }

    fn integer(self, order: ByteOrder, bits: BitRange, signed: bool) -> Decoded<'e> {
        let value = IntegerValue::decode(self.bytes, order, bits, signed);
        value.map_or(Decoded::Bytes(self.bytes), Decoded::Integer)
    }

    fn part(self, datatype: &'e Datatype, offset: u32) -> Result<Self, OutsideElement> {
        let size = usize::try_from(datatype.size(self.widths)).map_err(|_| OutsideElement)?;
        let start = offset as usize;
        let bytes = start.checked_add(size).and_then(|end| self.bytes.get(start..end));
        Ok(Self { datatype, bytes: bytes.ok_or(OutsideElement)?, ..self })
    }
}

/// Returns the integer in an element. `None` if its datatype is not an integer, or no type of Rust holds it.
pub fn integer_in(datatype: &Datatype, bytes: &[u8]) -> Option<IntegerValue> {
    let Datatype::Integer(t) = datatype else { return None };
    IntegerValue::decode(bytes, t.order, t.bits, t.signed)
}

/// Lists the elements in `bytes`, which are stored one after another.
pub fn elements<'e>(
    datatype: &'e Datatype,
    bytes: &'e [u8],
    widths: Widths,
) -> impl ExactSizeIterator<Item = ElementBytes<'e>> {
    let size = usize::try_from(datatype.size(widths)).unwrap_or(usize::MAX).max(1);
    bytes.chunks_exact(size).map(move |bytes| ElementBytes { datatype, bytes, widths })
}

#[cfg(test)]
mod tests {
    use hyperslab_format::datatype::{Compound, Enumeration, Float, Integer, Member, Opaque};

    use super::*;

    fn decoded<'e>(datatype: &'e Datatype, bytes: &'e [u8]) -> Decoded<'e> {
        ElementBytes { datatype, bytes, widths: Widths::EIGHT }.decoded().unwrap()
    }

    fn enumeration(members: &[(&str, u8)]) -> Datatype {
        let members = members.iter().map(|(name, value)| ((*name).to_owned(), vec![*value])).collect();
        let base = Box::new(Datatype::Integer(Integer::little(1, true)));
        Datatype::Enumeration(Enumeration { base, members })
    }

    #[test]
    fn a_number_that_no_type_holds_is_its_bytes() {
        let wide = Datatype::Integer(Integer::little(17, true));
        assert!(matches!(decoded(&wide, &[1; 17]), Decoded::Bytes(bytes) if bytes == [1; 17]));
        let opaque = Datatype::Opaque(Opaque { size: 2, tag: "JPEG".to_owned() });
        assert!(matches!(decoded(&opaque, b"ab"), Decoded::Bytes(b"ab")));
    }

    #[test]
    fn a_value_of_an_enumeration_without_a_name_is_a_number() {
        let colours = enumeration(&[("RED", 1), ("ALSO_RED", 1)]);
        assert!(matches!(decoded(&colours, &[1]), Decoded::Name { name: "RED", .. }));
        assert!(matches!(decoded(&colours, &[2]), Decoded::Integer(IntegerValue::Signed(2))));
        let boolean = enumeration(&[("FALSE", 0), ("TRUE", 1)]);
        assert!(matches!(decoded(&boolean, &[1]), Decoded::Bool(true)));
        assert!(matches!(decoded(&boolean, &[2]), Decoded::Integer(IntegerValue::Signed(2))));
    }

    #[test]
    fn a_member_outside_its_compound_is_an_error() {
        let float = || Datatype::Float(Float::SINGLE);
        let compound = |names: [&str; 2], at| {
            let members = vec![Member::new(names[0], 0, float()), Member::new(names[1], at, float())];
            Datatype::Compound(Compound { size: 8, members })
        };
        let bytes = [0; 8];
        assert!(matches!(decoded(&compound(["r", "i"], 4), &bytes), Decoded::Complex(_)));
        assert!(matches!(decoded(&compound(["x", "y"], 4), &bytes), Decoded::Record(_)));
        let damaged = compound(["x", "y"], 5);
        let element = ElementBytes { datatype: &damaged, bytes: &bytes, widths: Widths::EIGHT };
        assert_eq!(element.decoded().unwrap_err(), OutsideElement);
    }
}
