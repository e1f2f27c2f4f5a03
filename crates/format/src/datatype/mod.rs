//! The datatype of elements (spec IV.A.2.d): the model. Its bytes are in `codec` and the files beside it.

mod codec;
mod compound;
mod number;
mod other;
mod text;

/// A datatype, as stored in datasets, attributes and committed datatypes.
#[derive(Debug, Clone, PartialEq)]
pub enum Datatype {
    /// Class 0, fixed-point numbers.
    Integer(Integer),
    /// Class 1, floating-point numbers.
    Float(Float),
    /// Class 2, time; never defined beyond its size.
    Time(Time),
    /// Class 3, strings of a fixed length.
    Text(Text),
    /// Class 4, bitfields.
    Bits(Bits),
    /// Class 5, opaque bytes with a tag.
    Opaque(Opaque),
    /// Class 6, compounds.
    Compound(Compound),
    /// Class 7, references.
    Reference(Reference),
    /// Class 8, enumerations.
    Enumeration(Enumeration),
    /// Class 9, sequences of variable length; strings of variable length are [`Datatype::VariableText`].
    Sequence(Box<Datatype>),
    /// Class 9, strings of variable length.
    VariableText(VariableText),
    /// Class 10, arrays.
    Array(Array),
    /// Class 11, complex numbers (HDF5 2.0).
    Complex(Complex),
}

/// The order of the bytes of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
    /// VAX order (floating point alone).
    Vax,
}

/// Where the significant bits of a number lie: `precision` bits, `offset` bits above the lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BitRange {
    /// Bits below the significant ones.
    pub offset: u16,
    /// Significant bits.
    pub precision: u16,
}

/// A fixed-point number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Integer {
    /// Bytes of an element.
    pub size: u32,
    /// Byte order.
    pub order: ByteOrder,
    /// Whether the number is two's complement.
    pub signed: bool,
    /// What the bits below the significant ones hold.
    pub low_pad: bool,
    /// What the bits above the significant ones hold.
    pub high_pad: bool,
    /// The significant bits.
    pub bits: BitRange,
}

/// A floating-point number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Float {
    /// Bytes of an element.
    pub size: u32,
    /// Byte order.
    pub order: ByteOrder,
    /// What the bits below the significant ones hold.
    pub low_pad: bool,
    /// What the bits above the significant ones hold.
    pub high_pad: bool,
    /// What the unused bits inside hold.
    pub internal_pad: bool,
    /// How the mantissa is normalised.
    pub normalization: Normalization,
    /// Bit position of the sign.
    pub sign_location: u8,
    /// The significant bits.
    pub bits: BitRange,
    /// Bit position of the exponent.
    pub exponent_location: u8,
    /// Bits of the exponent.
    pub exponent_size: u8,
    /// Bit position of the mantissa.
    pub mantissa_location: u8,
    /// Bits of the mantissa.
    pub mantissa_size: u8,
    /// Bias of the exponent.
    pub exponent_bias: u32,
}

/// How a mantissa is normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Normalization {
    /// Not at all.
    None,
    /// The most significant bit is always set, and stored.
    MsbSet,
    /// The most significant bit is always set, and not stored: IEEE 754.
    Implied,
}

/// A time value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Time {
    /// Bytes of an element.
    pub size: u32,
    /// Byte order.
    pub order: ByteOrder,
    /// Significant bits.
    pub precision: u16,
}

/// A string of fixed length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text {
    /// Bytes of an element.
    pub size: u32,
    /// How a shorter string is filled up.
    pub padding: Padding,
    /// Its character set.
    pub charset: Charset,
}

/// A string of variable length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VariableText {
    /// How a string ends.
    pub padding: Padding,
    /// Its character set.
    pub charset: Charset,
}

/// How a string that is shorter than its space is filled up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Padding {
    /// A zero byte ends it.
    NullTerminated,
    /// Zero bytes fill it up.
    NullPadded,
    /// Spaces fill it up.
    SpacePadded,
}

/// The character set of a string or a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Charset {
    /// ASCII.
    Ascii,
    /// UTF-8.
    Utf8,
}

/// A bitfield.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bits {
    /// Bytes of an element.
    pub size: u32,
    /// Byte order.
    pub order: ByteOrder,
    /// What the bits below the significant ones hold.
    pub low_pad: bool,
    /// What the bits above the significant ones hold.
    pub high_pad: bool,
    /// The significant bits.
    pub bits: BitRange,
}

/// Opaque bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Opaque {
    /// Bytes of an element.
    pub size: u32,
    /// What they are, by convention of the writer.
    pub tag: String,
}

/// A record of named members.
#[derive(Debug, Clone, PartialEq)]
pub struct Compound {
    /// Bytes of an element.
    pub size: u32,
    /// Its members, in the order of the file.
    pub members: Vec<Member>,
}

/// A member of a compound.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Where in the element it begins, in bytes.
    pub offset: u32,
    /// Its datatype.
    pub datatype: Datatype,
}

/// A reference to an object, a region or an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reference {
    /// Bytes of an element.
    pub size: u32,
    /// What it refers to.
    pub kind: ReferenceKind,
}

/// What a reference refers to, and in which encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReferenceKind {
    /// Type 0: the address of an object header.
    Object1,
    /// Type 1: an id in the global heap, of an address and a selection.
    Region1,
    /// Type 2 (HDF5 1.12): an encoded reference to an object.
    Object2,
    /// Type 3 (HDF5 1.12): an encoded reference to a region.
    Region2,
    /// Type 4 (HDF5 1.12): an encoded reference to an attribute.
    Attribute,
}

/// Named values of an integer type.
#[derive(Debug, Clone, PartialEq)]
pub struct Enumeration {
    /// The type of the values.
    pub base: Box<Datatype>,
    /// Names and values, in the order of the file; a value is `base.size()` bytes.
    pub members: Vec<(String, Vec<u8>)>,
}

/// A fixed number of elements.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The type of each.
    pub base: Box<Datatype>,
    /// How many, in each dimension.
    pub shape: Vec<u32>,
}

/// A complex number: two floating-point numbers, real part first.
#[derive(Debug, Clone, PartialEq)]
pub struct Complex {
    /// The type of each part.
    pub base: Box<Datatype>,
}

impl Datatype {
    /// Bytes of one element, as stored in a dataset, with variable-length parts as global heap ids of
    /// `4 + offset width + 4` bytes.
    pub fn size(&self, widths: crate::Widths) -> u64 {
        match self {
            Self::Integer(t) => t.size.into(),
            Self::Float(t) => t.size.into(),
            Self::Time(t) => t.size.into(),
            Self::Text(t) => t.size.into(),
            Self::Bits(t) => t.size.into(),
            Self::Opaque(t) => t.size.into(),
            Self::Compound(t) => t.size.into(),
            Self::Reference(t) => t.size.into(),
            Self::Enumeration(t) => t.base.size(widths),
            Self::Sequence(_) | Self::VariableText(_) => 8 + widths.offset.bytes() as u64,
            Self::Array(t) => {
                t.shape.iter().fold(t.base.size(widths), |size, &count| size.saturating_mul(count.into()))
            }
            Self::Complex(t) => t.base.size(widths).saturating_mul(2),
        }
    }

    /// Whether an element contains a sequence or a string of variable length, so that its bytes alone do not hold it.
    pub fn has_variable_parts(&self) -> bool {
        self.any(&|t| matches!(t, Self::Sequence(_) | Self::VariableText(_)))
    }

    /// Whether an element contains a reference, so that its bytes mean something in this file alone.
    pub fn has_references(&self) -> bool {
        self.any(&|t| matches!(t, Self::Reference(_)))
    }

    /// Whether `test` holds for this datatype or for one that it is built from.
    pub fn any(&self, test: &impl Fn(&Self) -> bool) -> bool {
        test(self)
            || match self {
                Self::Compound(t) => t.members.iter().any(|member| member.datatype.any(test)),
                Self::Enumeration(t) => t.base.any(test),
                Self::Sequence(base) => base.any(test),
                Self::Array(t) => t.base.any(test),
                Self::Complex(t) => t.base.any(test),
                _ => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{Reader, Writer};
    use crate::{Addr, FormatError, Widths};

    pub(super) fn unhex(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
    }

    pub(super) fn decode_bytes(bytes: &[u8]) -> crate::Result<Datatype> {
        let mut r = Reader::new(bytes, Widths::EIGHT, Addr::new(0));
        let datatype = r.structure::<Datatype>(&())?;
        assert!(r.is_at_end(), "{} bytes left", r.remaining());
        Ok(datatype)
    }

    pub(super) fn decode(hex: &str) -> Datatype {
        decode_bytes(&unhex(hex)).unwrap()
    }

    pub(super) fn decode_error(hex: &str) -> FormatError {
        decode_bytes(&unhex(hex)).unwrap_err()
    }

    pub(super) fn encode(datatype: &Datatype, floor: u8) -> String {
        let mut bytes = Vec::new();
        datatype.encode_from(&mut Writer::new(&mut bytes, Widths::EIGHT), floor);
        bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
    }

    #[test]
    fn variable_parts_are_found_however_deep() {
        let text = VariableText { padding: Padding::NullTerminated, charset: Charset::Utf8 };
        let array = Array { base: Box::new(Datatype::VariableText(text)), shape: vec![3] };
        let members = vec![
            Member::new("number", 0, Datatype::Integer(Integer::little(4, true))),
            Member::new("names", 4, Datatype::Array(array)),
        ];
        let compound = Datatype::Compound(Compound { size: 52, members });
        assert!(compound.has_variable_parts());
        assert!(!compound.has_references());
        assert_eq!(compound.size(Widths::EIGHT), 52);
    }
}
