//! Fields of headers: their positions, and the numbers that they hold.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::number::Number;

/// The byte order of all numbers of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// Most significant byte first. All revisions allow this order, and revisions 0 and 1 allow only this
    /// one.
    Big,
    /// Least significant byte first (revision 2).
    Little,
}

impl ByteOrder {
    /// Returns the name of the order.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Big => "big",
            Self::Little => "little",
        }
    }

    /// Returns the number in `header` whose first byte is `byte`, counted from 1 as in the standards.
    pub(crate) fn read<T: HeaderNumber>(self, header: &[u8], byte: u16) -> T {
        T::read(&header[usize::from(byte) - 1..], self)
    }
}

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Two's complement, 1 byte.
    I8,
    /// Unsigned, 1 byte.
    U8,
    /// Two's complement, 2 bytes.
    I16,
    /// Unsigned, 2 bytes.
    U16,
    /// Two's complement, 4 bytes.
    I32,
    /// Unsigned, 4 bytes.
    U32,
    /// Two's complement, 8 bytes.
    I64,
    /// Unsigned, 8 bytes.
    U64,
    /// IEEE 754, 4 bytes.
    F32,
    /// IEEE 754, 8 bytes.
    F64,
    /// Eight characters.
    Text8,
}

impl FieldKind {
    /// The kinds of numbers, with the names that users give.
    const NUMBERS: [(&str, Self); 10] = [
        ("i1", Self::I8),
        ("u1", Self::U8),
        ("i2", Self::I16),
        ("u2", Self::U16),
        ("i4", Self::I32),
        ("u4", Self::U32),
        ("i8", Self::I64),
        ("u8", Self::U64),
        ("f4", Self::F32),
        ("f8", Self::F64),
    ];

    /// Returns the bytes of the field.
    pub const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::Text8 => 8,
        }
    }
}

/// A field with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedField {
    /// The name in this crate.
    pub name: &'static str,
    /// The position and type of the field.
    pub at: Field,
}

/// The position of a field in a header, and its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The first byte, counted from 1 as in the standards.
    pub byte: u16,
    /// The type.
    pub kind: FieldKind,
}

impl Field {
    /// Creates a field.
    pub const fn new(byte: u16, kind: FieldKind) -> Self {
        Self { byte, kind }
    }

    /// Returns whether the field holds integers.
    pub(crate) fn is_integer(self) -> bool {
        !matches!(self.kind, FieldKind::F32 | FieldKind::F64 | FieldKind::Text8)
    }

    /// Returns the field in the notation of users: `189:i4`.
    pub fn name(self) -> String {
        let kind = FieldKind::NUMBERS.into_iter().find(|(_, kind)| *kind == self.kind);
        format!("{}:{}", self.byte, kind.map_or("text", |(name, _)| name))
    }

    /// Returns the number in `header`, or the reason why it does not place a trace. No number is rounded.
    #[inline]
    pub(crate) fn number(self, header: &[u8], order: ByteOrder) -> Result<Number, String> {
        self.value(header, order).number().ok_or_else(|| self.refusal(header, order))
    }

    /// Returns the number in `header` as a float: a coordinate. Text is NaN.
    pub(crate) fn real(self, header: &[u8], order: ByteOrder) -> f64 {
        self.value(header, order).real()
    }

    /// Returns what the field holds in `header`.
    #[inline]
    fn value(self, header: &[u8], order: ByteOrder) -> FieldValue {
        match self.kind {
            FieldKind::I8 => FieldValue::Integer(order.read::<i8>(header, self.byte).into()),
            FieldKind::U8 => FieldValue::Integer(order.read::<u8>(header, self.byte).into()),
            FieldKind::I16 => FieldValue::Integer(order.read::<i16>(header, self.byte).into()),
            FieldKind::U16 => FieldValue::Integer(order.read::<u16>(header, self.byte).into()),
            FieldKind::I32 => FieldValue::Integer(order.read::<i32>(header, self.byte).into()),
            FieldKind::U32 => FieldValue::Integer(order.read::<u32>(header, self.byte).into()),
            FieldKind::I64 => FieldValue::Integer(order.read(header, self.byte)),
            FieldKind::U64 => FieldValue::Unsigned(order.read(header, self.byte)),
            FieldKind::F32 => FieldValue::Real(order.read::<f32>(header, self.byte).into()),
            FieldKind::F64 => FieldValue::Real(order.read(header, self.byte)),
            FieldKind::Text8 => FieldValue::Text,
        }
    }

    /// Returns why the number in `header` does not place a trace.
    #[cold]
    fn refusal(self, header: &[u8], order: ByteOrder) -> String {
        match self.value(header, order) {
            FieldValue::Text => "text is not a number".to_owned(),
            FieldValue::Unsigned(number) => format!("{number} is above {}", i64::MAX),
            value => format!("{:?} is not a finite number", value.real()),
        }
    }
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
enum FieldValue {
    Integer(i64),
    Unsigned(u64),
    Real(f64),
    Text,
}

impl FieldValue {
    /// Returns the number, or `None` if it does not place a trace.
    #[inline]
    fn number(self) -> Option<Number> {
        match self {
            Self::Integer(number) => Some(Number::Integer(number)),
            Self::Unsigned(number) => i64::try_from(number).ok().map(Number::Integer),
            Self::Real(number) => Number::real(number),
            Self::Text => None,
        }
    }

    /// Returns the number as a float, and NaN for text.
    #[expect(clippy::cast_precision_loss, reason = "coordinates have fewer digits")]
    fn real(self) -> f64 {
        match self {
            Self::Integer(number) => number as f64,
            Self::Unsigned(number) => number as f64,
            Self::Real(number) => number,
            Self::Text => f64::NAN,
        }
    }
}

/// A type of numbers in headers.
pub(crate) trait HeaderNumber: Copy {
    /// Returns the number at the start of `bytes`.
    fn read(bytes: &[u8], order: ByteOrder) -> Self;
}

macro_rules! stored {
    ($($number:ty)*) => {
        $(impl HeaderNumber for $number {
            fn read(bytes: &[u8], order: ByteOrder) -> Self {
                let mut own = [0; size_of::<$number>()];
                own.copy_from_slice(&bytes[..size_of::<$number>()]);
                match order {
                    ByteOrder::Big => Self::from_be_bytes(own),
                    ByteOrder::Little => Self::from_le_bytes(own),
                }
            }
        })*
    };
}

stored!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64);

/// Parses `189`, a byte with a four-byte integer, or `189:i2`, a byte with another kind: `i1`, `u1`, `i2`,
/// `u2`, `i4`, `u4`, `i8`, `u8`, `f4`, `f8`.
impl FromStr for Field {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = |why: &str| Error::argument(format!("header field {text:?}"), why);
        let (byte, kind) = text.split_once(':').unwrap_or((text, "i4"));
        let kind = FieldKind::NUMBERS
            .into_iter()
            .find_map(|(name, known)| (name == kind).then_some(known))
            .ok_or_else(|| bad("kinds are i1, u1, i2, u2, i4, u4, i8, u8, f4 and f8, as in 189:i4"))?;
        let byte: u16 =
            byte.parse().map_err(|_| bad("a byte is a number of 1 or more, as in 189 or 189:i2"))?;
        if byte == 0 || usize::from(byte) - 1 + kind.size() > crate::TRACE_HEADER_BYTES {
            return Err(bad("a trace header has bytes 1 to 240"));
        }
        Ok(Self { byte, kind })
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bytes {}-{}", self.byte, usize::from(self.byte) + self.kind.size() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_read_in_both_byte_orders() {
        let mut header = [0_u8; 240];
        header[188..192].copy_from_slice(&(-7_i32).to_be_bytes());
        header[114..116].copy_from_slice(&40_000_u16.to_le_bytes());
        header[8..16].copy_from_slice(&1.5_f64.to_be_bytes());
        let number = |byte, kind, order| Field::new(byte, kind).number(&header, order);
        assert_eq!(number(189, FieldKind::I32, ByteOrder::Big), Ok(Number::Integer(-7)));
        assert_eq!(number(115, FieldKind::U16, ByteOrder::Little), Ok(Number::Integer(40_000)));
        assert_eq!(number(9, FieldKind::F64, ByteOrder::Big), Ok(Number::Real(1.5)));
        assert!((Field::new(9, FieldKind::F64).real(&header, ByteOrder::Big) - 1.5).abs() < 1e-12);
    }

    #[test]
    fn a_number_that_places_no_trace_is_an_error_with_the_number() {
        let mut header = [0_u8; 240];
        header[0..8].copy_from_slice(&u64::MAX.to_be_bytes());
        header[8..12].copy_from_slice(&f32::NEG_INFINITY.to_be_bytes());
        header[16..24].copy_from_slice(&f64::NAN.to_be_bytes());
        for (byte, kind, why) in [
            (1, FieldKind::U64, "18446744073709551615 is above"),
            (9, FieldKind::F32, "-inf is not"),
            (17, FieldKind::F64, "NaN is not"),
            (233, FieldKind::Text8, "text is not"),
        ] {
            let said = Field::new(byte, kind).number(&header, ByteOrder::Big).unwrap_err();
            assert!(said.starts_with(why), "{said}");
        }
        let real = Field::new(1, FieldKind::U64).real(&header, ByteOrder::Big);
        assert_eq!(real.to_bits(), 2_f64.powi(64).to_bits());
    }

    #[test]
    fn a_field_is_parsed_from_a_byte_and_a_kind() {
        assert_eq!("189".parse::<Field>().unwrap(), Field::new(189, FieldKind::I32));
        assert_eq!("37:i2".parse::<Field>().unwrap(), Field::new(37, FieldKind::I16));
        for name in ["1:u1", "21:u4", "189:f8"] {
            assert_eq!(name.parse::<Field>().unwrap().name(), name);
        }
        for bad in ["0", "238", "240:i2", "x", "1:i3", "-4", "99999"] {
            assert!(bad.parse::<Field>().is_err(), "{bad}");
        }
    }
}
