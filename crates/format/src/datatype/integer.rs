//! The values of integers: of any size up to 16 bytes, byte order and precision.

use std::fmt;

use super::{BitRange, ByteOrder};

/// An integer of up to 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntegerValue {
    /// In two's complement.
    Signed(i128),
    /// Without a sign.
    Unsigned(u128),
}

impl IntegerValue {
    /// Decodes the integer in `stored`, or returns `None` if it has more than 16 bytes. No number type of
    /// Rust holds those: show their bytes.
    pub fn decode(stored: &[u8], order: ByteOrder, bits: BitRange, signed: bool) -> Option<Self> {
        let word = word(stored, order)?;
        let unused = 128 - u32::from(bits.precision.clamp(1, 128));
        let left = word.checked_shr(bits.offset.into()).unwrap_or(0) << unused;
        Some(if signed { Self::Signed(left.cast_signed() >> unused) } else { Self::Unsigned(left >> unused) })
    }
}

impl fmt::Display for IntegerValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signed(value) => value.fmt(f),
            Self::Unsigned(value) => value.fmt(f),
        }
    }
}

/// Returns the bits of a number of up to 16 bytes, or `None` if it has more.
#[doc(hidden)]
pub fn word(stored: &[u8], order: ByteOrder) -> Option<u128> {
    let mut bytes = [0; 16];
    bytes.get_mut(..stored.len())?.copy_from_slice(stored);
    if order != ByteOrder::Little {
        bytes[..stored.len()].reverse();
    }
    Some(u128::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::ByteOrder::{Big, Little};
    use super::*;

    fn shown(stored: &[u8], order: ByteOrder, bits: (u16, u16), signed: bool) -> Option<String> {
        let (precision, offset) = bits;
        let value = IntegerValue::decode(stored, order, BitRange { offset, precision }, signed);
        value.map(|value| value.to_string())
    }

    #[test]
    fn integers_of_any_size_order_and_precision_are_decoded() {
        let of = |stored: &[u8], order, bits, signed| shown(stored, order, bits, signed).unwrap();
        assert_eq!(of(&[0xff, 0xff], Little, (16, 0), true), "-1");
        assert_eq!(of(&[0xff, 0xfe], Big, (16, 0), false), "65534");
        assert_eq!(of(&u64::MAX.to_le_bytes(), Little, (64, 0), false), "18446744073709551615");
        assert_eq!(of(&i64::MIN.to_be_bytes(), Big, (64, 0), true), "-9223372036854775808");
        // Five bits, starting two bits above the lowest: 0b10110.
        assert_eq!(of(&[0b1101_1011], Little, (5, 2), false), "22");
        assert_eq!(of(&[0b1101_1011], Little, (5, 2), true), "-10");
        assert_eq!(of(&u128::MAX.to_be_bytes(), Big, (128, 0), false), u128::MAX.to_string());
        assert_eq!(of(&i128::MIN.to_le_bytes(), Little, (128, 0), true), i128::MIN.to_string());
    }

    #[test]
    fn an_integer_of_more_than_16_bytes_has_no_value() {
        assert_eq!(shown(&[1; 17], Little, (136, 0), true), None);
    }
}
