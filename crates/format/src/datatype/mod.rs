//! The types that describe datatypes (spec IV.A.2.d). `codec` and the files beside it decode and encode them.

mod codec;
mod compound;
mod h5py;
mod head;
mod integer;
mod number;
mod other;
mod text;
mod widths;

use crate::name;

pub use integer::{IntegerValue, word};

/// A datatype, as stored in datasets, attributes and committed datatypes.
#[derive(Debug, Clone, PartialEq)]
pub enum Datatype {
    /// Class 0, fixed-point numbers.
    Integer(Integer),
    /// Class 1, floating-point numbers.
    Float(Float),
    /// Class 2, time. The specification defines only its size, byte order and precision.
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

/// The order of the bytes of a number, with libhdf5's numbers (`H5T_order_t`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little = 0,
    /// Most significant byte first.
    Big = 1,
    /// VAX order (only floating-point numbers).
    Vax = 2,
}

/// The significant bits of a number: `precision` bits from bit `offset` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BitRange {
    /// The number of bits below the significant bits.
    pub offset: u16,
    /// The number of significant bits.
    pub precision: u16,
}

/// A fixed-point number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Integer {
    /// The size of an element in bytes.
    pub size: u32,
    /// The byte order.
    pub order: ByteOrder,
    /// Whether the number is signed, in two's complement.
    pub signed: bool,
    /// The value of the bits below the significant bits.
    pub low_pad: bool,
    /// The value of the bits above the significant bits.
    pub high_pad: bool,
    /// The significant bits.
    pub bits: BitRange,
}

/// A floating-point number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Float {
    /// The size of an element in bytes.
    pub size: u32,
    /// The byte order.
    pub order: ByteOrder,
    /// The value of the bits below the significant bits.
    pub low_pad: bool,
    /// The value of the bits above the significant bits.
    pub high_pad: bool,
    /// The value of unused bits between sign, exponent and mantissa.
    pub internal_pad: bool,
    /// How the mantissa is normalised.
    pub normalization: Normalization,
    /// The bit position of the sign.
    pub sign_location: u8,
    /// The significant bits.
    pub bits: BitRange,
    /// The position of the exponent's lowest bit.
    pub exponent_location: u8,
    /// The number of bits of the exponent.
    pub exponent_size: u8,
    /// The position of the mantissa's lowest bit.
    pub mantissa_location: u8,
    /// The number of bits of the mantissa.
    pub mantissa_size: u8,
    /// The bias of the exponent.
    pub exponent_bias: u32,
}

/// How a mantissa is normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Normalization {
    /// Not normalised.
    None,
    /// The most significant bit is always set, and stored.
    MsbSet,
    /// The most significant bit is always set, and not stored: IEEE 754.
    Implied,
}

/// A time value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Time {
    /// The size of an element in bytes.
    pub size: u32,
    /// The byte order.
    pub order: ByteOrder,
    /// The number of significant bits.
    pub precision: u16,
}

/// A string of fixed length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text {
    /// The size of an element in bytes.
    pub size: u32,
    /// The padding of shorter strings.
    pub padding: Padding,
    /// The character set of the string.
    pub charset: Charset,
}

/// A string of variable length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VariableText {
    /// The padding, as stored.
    pub padding: Padding,
    /// The character set of the string.
    pub charset: Charset,
}

/// The padding of a string that is shorter than its space, with the numbers of the file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Padding {
    /// A zero byte ends the string.
    NullTerminated = 0,
    /// Zero bytes fill the space after the string.
    NullPadded = 1,
    /// Spaces fill the space after the string.
    SpacePadded = 2,
}

/// The character set of a string or a name, with the numbers of the file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Charset {
    /// ASCII.
    Ascii = 0,
    /// UTF-8.
    Utf8 = 1,
}

impl Charset {
    /// Returns the character set of a name that a user gives.
    pub fn of_name(name: &str) -> Self {
        // Bytes that are not UTF-8 have no character set; h5py calls them ASCII.
        if name.is_ascii() || !name::is_utf8(name) { Self::Ascii } else { Self::Utf8 }
    }
}

/// A bitfield.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bits {
    /// The size of an element in bytes.
    pub size: u32,
    /// The byte order.
    pub order: ByteOrder,
    /// The value of the bits below the significant bits.
    pub low_pad: bool,
    /// The value of the bits above the significant bits.
    pub high_pad: bool,
    /// The significant bits.
    pub bits: BitRange,
}

/// Opaque bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Opaque {
    /// The size of an element in bytes.
    pub size: u32,
    /// The meaning of the bytes, by convention of the writer.
    pub tag: String,
}

/// A record of named members.
#[derive(Debug, Clone, PartialEq)]
pub struct Compound {
    /// The size of an element in bytes.
    pub size: u32,
    /// The members, in the order of the file.
    pub members: Vec<Member>,
}

/// A member of a compound.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The name of the member.
    pub name: String,
    /// The offset in the element, in bytes.
    pub offset: u32,
    /// The datatype of the member.
    pub datatype: Datatype,
}

/// A reference to an object, a region or an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The size of an element in bytes.
    pub size: u32,
    /// The kind of target, and the encoding.
    pub kind: ReferenceKind,
}

/// The kind of a reference's target, and its encoding, with the numbers of the file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReferenceKind {
    /// Type 0: the address of an object header.
    Object1 = 0,
    /// Type 1: the id of a global heap object with an address and a selection.
    Region1 = 1,
    /// Type 2 (HDF5 1.12): an encoded reference to an object.
    Object2 = 2,
    /// Type 3 (HDF5 1.12): an encoded reference to a region.
    Region2 = 3,
    /// Type 4 (HDF5 1.12): an encoded reference to an attribute.
    Attribute = 4,
}

/// Named values of an integer type. As for `H5Tequal`, the order of the names is no part of it.
#[derive(Debug, Clone)]
pub struct Enumeration {
    /// The type of the values.
    pub base: Box<Datatype>,
    /// Names and values, in the order of the file. A value has `base.size()` bytes.
    pub members: Vec<(String, Vec<u8>)>,
}

impl PartialEq for Enumeration {
    fn eq(&self, other: &Self) -> bool {
        fn sorted(members: &[(String, Vec<u8>)]) -> Vec<&(String, Vec<u8>)> {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable();
            sorted
        }
        self.base == other.base
            && (self.members == other.members || sorted(&self.members) == sorted(&other.members))
    }
}

/// A fixed number of elements.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The datatype of each element.
    pub base: Box<Datatype>,
    /// The number of elements in each dimension.
    pub shape: Vec<u32>,
}

/// A complex number: two floating-point numbers, real part first.
#[derive(Debug, Clone, PartialEq)]
pub struct Complex {
    /// The type of each part.
    pub base: Box<Datatype>,
}

impl Datatype {
    /// Returns the number of the class in the file format.
    pub fn class(&self) -> u8 {
        match self {
            Self::Integer(_) => 0,
            Self::Float(_) => 1,
            Self::Time(_) => 2,
            Self::Text(_) => 3,
            Self::Bits(_) => 4,
            Self::Opaque(_) => 5,
            Self::Compound(_) => 6,
            Self::Reference(_) => 7,
            Self::Enumeration(_) => 8,
            Self::Sequence(_) | Self::VariableText(_) => 9,
            Self::Array(_) => 10,
            Self::Complex(_) => 11,
        }
    }

    /// Returns the size of an element in bytes, as stored in a dataset. Each variable-length part counts as a
    /// global heap id of `4 + offset width + 4` bytes.
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

    /// Returns whether an element contains a sequence or a string of variable length. The global heap holds
    /// the data of such parts.
    pub fn has_variable_parts(&self) -> bool {
        self.any(&|t| matches!(t, Self::Sequence(_) | Self::VariableText(_)))
    }

    /// Returns whether an element contains a reference, whose bytes have a meaning only in this file.
    pub fn has_references(&self) -> bool {
        self.any(&|t| matches!(t, Self::Reference(_)))
    }

    /// Returns whether `test` holds for this datatype or for any datatype inside it.
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
    fn has_variable_parts_finds_nested_variable_parts() {
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
