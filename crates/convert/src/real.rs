//! Exact numbers, and conversions for layouts that the processor has no type for. Slow, and correct for every
//! layout.

use hyperslab_format::datatype::{BitRange, ByteOrder, Float, Normalization};

use super::kernels::for_nan;

/// A number without rounding errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Real {
    /// `mantissa * 2^exponent`.
    Finite {
        negative: bool,
        mantissa: u128,
        exponent: i64,
    },
    Infinite {
        negative: bool,
    },
    NotANumber,
}

/// The layout of an integer of at most eight bytes.
#[allow(clippy::struct_excessive_bools)] // the flags of the specification's message
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IntegerLayout {
    pub(super) size: usize,
    pub(super) order: ByteOrder,
    pub(super) signed: bool,
    pub(super) bits: BitRange,
    pub(super) low_pad: bool,
    pub(super) high_pad: bool,
    /// Whether the number is a bitfield. Conversions between bitfields drop the bits that do not fit.
    pub(super) bitfield: bool,
}

/// The layout of the source or the destination of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RealLayout {
    Integer(IntegerLayout),
    Float(Float),
}

impl RealLayout {
    /// Returns the size of an element in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Integer(layout) => layout.size,
            Self::Float(float) => float.size as usize,
        }
    }

    /// Returns an error with the reason if numbers of this layout cannot be converted.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let (size, order, bits) = match self {
            Self::Integer(layout) if layout.size > 8 => {
                return Err("integers of more than 8 bytes cannot be converted");
            }
            Self::Integer(layout) => (layout.size, layout.order, layout.bits),
            Self::Float(float) => (float.size as usize, float.order, float.bits),
        };
        let within =
            |location: u32, size: u32| u64::from(location) + u64::from(size) <= 8 * self.size() as u64;
        if size == 0 || size > 16 {
            return Err("numbers of 0 or more than 16 bytes cannot be converted");
        }
        if order == ByteOrder::Vax && size % 2 == 1 {
            return Err("VAX order needs an even number of bytes");
        }
        if bits.precision == 0 || !within(bits.offset.into(), bits.precision.into()) {
            return Err("the significant bits are not inside the element");
        }
        if let Self::Float(float) = self {
            let inside = within(float.sign_location.into(), 1)
                && within(float.exponent_location.into(), float.exponent_size.into())
                && within(float.mantissa_location.into(), float.mantissa_size.into());
            if !inside
                || !(1..=31).contains(&float.exponent_size)
                || !(1..=112).contains(&float.mantissa_size)
            {
                return Err("the sign, exponent and mantissa are not inside the element or are too wide");
            }
        }
        Ok(())
    }

    /// Reads the number in `bytes`, which are one element.
    pub(super) fn read(&self, bytes: &[u8]) -> Real {
        match self {
            Self::Integer(layout) => {
                let value = layout.read(bytes);
                Real::Finite { negative: value < 0, mantissa: value.unsigned_abs(), exponent: 0 }
            }
            Self::Float(float) => read_float(float, bytes),
        }
    }

    /// Writes `value` to `bytes`, which are one element.
    pub(super) fn write(&self, value: Real, bytes: &mut [u8]) {
        match self {
            Self::Integer(layout) => {
                layout.write(value.truncated().unwrap_or_else(|| layout.for_nan()), bytes);
            }
            Self::Float(float) => write_float(float, value, bytes),
        }
    }
}

impl IntegerLayout {
    pub(super) fn read(&self, bytes: &[u8]) -> i128 {
        let bits = load(bytes, self.order) >> self.bits.offset & mask(self.bits.precision.into());
        if self.signed && bits >> (self.bits.precision - 1) & 1 == 1 {
            bits.cast_signed() - (1i128 << self.bits.precision)
        } else {
            bits.cast_signed()
        }
    }

    /// Returns what NaN becomes. Numbers with padding bits have 0, as in libhdf5.
    fn for_nan(&self) -> i128 {
        let whole = usize::from(self.bits.precision) == 8 * self.size;
        if whole { for_nan(self.size, self.signed) } else { 0 }
    }

    /// Writes the nearest number that fits. A bitfield drops the high bits instead.
    pub(super) fn write(&self, value: i128, bytes: &mut [u8]) {
        let BitRange { offset, precision } = self.bits;
        let (low, high) = if self.signed {
            (-(1i128 << (precision - 1)), (1i128 << (precision - 1)) - 1)
        } else {
            (0, (1i128 << precision) - 1)
        };
        let value = if self.bitfield { value } else { value.clamp(low, high) }.cast_unsigned()
            & mask(precision.into());
        store(padded(value << offset, self.bits, self.low_pad, self.high_pad), bytes, self.order);
    }
}

impl Real {
    /// Returns the number rounded towards zero and clamped to `i128`. `None` for NaN.
    fn truncated(self) -> Option<i128> {
        Some(match self {
            Self::NotANumber => return None,
            Self::Infinite { negative: true } => i128::MIN,
            Self::Infinite { negative: false } => i128::MAX,
            Self::Finite { mantissa: 0, .. } => 0,
            Self::Finite { negative, mantissa, exponent } => {
                let size = if exponent < 0 {
                    u32::try_from(-exponent).ok().and_then(|down| mantissa.checked_shr(down)).unwrap_or(0)
                } else {
                    let fits = u32::try_from(exponent).ok().filter(|up| *up <= mantissa.leading_zeros());
                    fits.and_then(|up| mantissa.checked_shl(up)).unwrap_or(u128::MAX)
                };
                let size = i128::try_from(size).unwrap_or(i128::MAX);
                if negative { -size } else { size }
            }
        })
    }
}

/// Reads a float. Without an implied leading bit, the leading bit is stored: libhdf5 describes x87 numbers as
/// "not normalized" and reads them in this way.
fn read_float(float: &Float, bytes: &[u8]) -> Real {
    let bits = load(bytes, float.order);
    let negative = bits >> float.sign_location & 1 == 1;
    let exponent = bits >> float.exponent_location & mask(float.exponent_size.into());
    let mantissa = bits >> float.mantissa_location & mask(float.mantissa_size.into());
    let implied = float.normalization == Normalization::Implied;
    let fraction_bits = i64::from(float.mantissa_size) - i64::from(!implied);
    if exponent == mask(float.exponent_size.into()) {
        return if mantissa & mask(fraction_bits.cast_unsigned()) == 0 {
            Real::Infinite { negative }
        } else {
            Real::NotANumber
        };
    }
    let leading = u128::from(implied && exponent != 0) << float.mantissa_size;
    let exponent = i64::try_from(exponent.max(1)).unwrap_or(i64::MAX);
    Real::Finite {
        negative,
        mantissa: mantissa | leading,
        exponent: exponent - i64::from(float.exponent_bias) - fraction_bits,
    }
}

fn write_float(float: &Float, value: Real, bytes: &mut [u8]) {
    let implied = float.normalization == Normalization::Implied;
    let fraction_bits = u32::from(float.mantissa_size) - u32::from(!implied);
    let top = mask(float.exponent_size.into());
    let leading = 1u128 << fraction_bits;
    let infinite = |negative| (negative, top, leading);
    let (negative, exponent, mantissa) = match value {
        Real::NotANumber => (false, top, leading | leading >> 1),
        Real::Infinite { negative } => infinite(negative),
        Real::Finite { negative, mantissa: 0, .. } => (negative, 0, 0),
        Real::Finite { negative, mantissa, exponent } => {
            let highest = exponent + i64::from(mantissa.ilog2());
            let biased = (highest + i64::from(float.exponent_bias)).max(1);
            let lowest = biased - i64::from(float.exponent_bias) - i64::from(fraction_bits);
            let rounded = rounded_shift(mantissa, lowest - exponent);
            // Rounding up may carry into one more bit.
            let (rounded, biased) =
                if rounded == leading << 1 { (leading, biased + 1) } else { (rounded, biased) };
            // A number without its leading bit is subnormal and has the exponent zero.
            let exponent = if rounded < leading { 0 } else { biased.cast_unsigned().into() };
            if exponent >= top { infinite(negative) } else { (negative, exponent, rounded) }
        }
    };
    let mantissa = mantissa & mask(float.mantissa_size.into());
    let bits = u128::from(negative) << float.sign_location
        | exponent << float.exponent_location
        | mantissa << float.mantissa_location;
    store(padded(bits, float.bits, float.low_pad, float.high_pad), bytes, float.order);
}

/// Returns `mantissa / 2^down`, rounded to nearest, ties to even. A negative `down` must not shift bits out
/// at the top.
fn rounded_shift(mantissa: u128, down: i64) -> u128 {
    let Ok(down) = u32::try_from(down) else {
        return u32::try_from(-down).ok().and_then(|up| mantissa.checked_shl(up)).unwrap_or(0);
    };
    match down {
        0 => mantissa,
        1..=127 => {
            let (kept, lost, half) = (mantissa >> down, mantissa & mask(down.into()), 1u128 << (down - 1));
            kept + u128::from(lost > half || (lost == half && kept & 1 == 1))
        }
        128 => u128::from(mantissa > 1 << 127),
        _ => 0,
    }
}

/// Returns `bits` with the padding bits around the significant ones set where the layout asks for ones.
fn padded(bits: u128, range: BitRange, low_pad: bool, high_pad: bool) -> u128 {
    let low = if low_pad { mask(range.offset.into()) } else { 0 };
    let high = if high_pad { !mask(u64::from(range.offset) + u64::from(range.precision)) } else { 0 };
    bits | low | high
}

/// Returns a mask of the lowest `count` bits.
fn mask(count: u64) -> u128 {
    if count >= 128 { u128::MAX } else { (1 << count) - 1 }
}

fn load(bytes: &[u8], order: ByteOrder) -> u128 {
    let mut buffer = [0; 16];
    let low = &mut buffer[..bytes.len()];
    low.copy_from_slice(bytes);
    reorder(low, order);
    u128::from_le_bytes(buffer)
}

fn store(bits: u128, bytes: &mut [u8], order: ByteOrder) {
    bytes.copy_from_slice(&bits.to_le_bytes()[..bytes.len()]);
    reorder(bytes, order);
}

/// Converts between `order` and little-endian, in either direction.
fn reorder(bytes: &mut [u8], order: ByteOrder) {
    match order {
        ByteOrder::Little => {}
        ByteOrder::Big => bytes.reverse(),
        ByteOrder::Vax => {
            // Each pair of bytes is little-endian; the pairs are in big-endian order.
            bytes.reverse();
            bytes.chunks_exact_mut(2).for_each(<[u8]>::reverse);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::scalar::NATIVE;
    use super::*;

    const DOUBLE: RealLayout = RealLayout::Float(Float::DOUBLE.in_order(NATIVE));
    const SINGLE: RealLayout = RealLayout::Float(Float::SINGLE.in_order(NATIVE));

    proptest! {
        #[test]
        fn doubles_survive_a_round_trip_and_narrow_like_a_cast(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            let mut back = [0; 8];
            let mut narrow = [0; 4];
            let real = DOUBLE.read(&value.to_ne_bytes());
            DOUBLE.write(real, &mut back);
            SINGLE.write(real, &mut narrow);
            if value.is_nan() {
                prop_assert!(f64::from_ne_bytes(back).is_nan() && f32::from_ne_bytes(narrow).is_nan());
            } else {
                prop_assert_eq!(u64::from_ne_bytes(back), bits);
                #[allow(clippy::cast_possible_truncation)]
                let expected = value as f32;
                prop_assert_eq!(u32::from_ne_bytes(narrow), expected.to_bits());
                #[allow(clippy::cast_possible_truncation)]
                let whole = value as i128;
                prop_assert_eq!(real.truncated(), Some(whole.max(-i128::MAX)));
            }
        }

        #[test]
        fn doubles_in_the_range_of_singles_round_like_a_cast(bits in 0x3690_0000_0000_0000u64..0x47f0_0000_0000_0000) {
            let value = f64::from_bits(bits);
            let mut narrow = [0; 4];
            SINGLE.write(DOUBLE.read(&value.to_ne_bytes()), &mut narrow);
            #[allow(clippy::cast_possible_truncation)]
            let expected = value as f32;
            prop_assert_eq!(u32::from_ne_bytes(narrow), expected.to_bits());
        }

        #[test]
        fn integers_survive_a_round_trip_at_any_precision(
            value in any::<i64>(), size in 1usize..=8, cut in 0u16..64, signed in any::<bool>(), pads in any::<(bool, bool)>()
        ) {
            let whole = 8 * u16::try_from(size).unwrap();
            let precision = 1 + cut % whole;
            let bits = BitRange { offset: (whole - precision) / 2, precision };
            for order in [ByteOrder::Little, ByteOrder::Big] {
                let layout = IntegerLayout { size, order, signed, bits, low_pad: pads.0, high_pad: pads.1, bitfield: false };
                let mut bytes = vec![0; size];
                let (low, high) = if signed { (-(1i128 << (precision - 1)), 1i128 << (precision - 1)) } else { (0, 1i128 << precision) };
                layout.write(value.into(), &mut bytes);
                prop_assert_eq!(layout.read(&bytes), i128::from(value).clamp(low, high - 1));
                let above = load(&bytes, order) >> (bits.offset + precision);
                prop_assert_eq!(above, if pads.1 { mask((whole - bits.offset - precision).into()) } else { 0 });
            }
        }
    }

    /// 1.0, -2.5 and pi as x87 extended numbers, from `numpy.longdouble`.
    #[test]
    fn extended_numbers_with_a_stored_leading_bit_are_read_and_written() {
        let extended = RealLayout::Float(Float::EXTENDED);
        for (value, bytes) in [
            (1.0, [0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f]),
            (-2.5, [0, 0, 0, 0, 0, 0, 0, 0xa0, 0x00, 0xc0]),
            (std::f64::consts::PI, [0x00, 0xc0, 0x68, 0x21, 0xa2, 0xda, 0x0f, 0xc9, 0x00, 0x40]),
            (f64::INFINITY, [0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x7f]),
        ] {
            let mut stored = [0; 16];
            stored[..10].copy_from_slice(&bytes);
            let mut found = [0; 8];
            DOUBLE.write(extended.read(&stored), &mut found);
            assert_eq!(f64::from_ne_bytes(found).to_bits(), value.to_bits());
            let mut back = [0xee; 16];
            extended.write(DOUBLE.read(&value.to_ne_bytes()), &mut back);
            assert_eq!(back, stored);
        }
    }

    #[test]
    fn vax_order_reverses_the_pairs_of_bytes() {
        let mut bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        reorder(&mut bytes, ByteOrder::Vax);
        assert_eq!(bytes, [7, 8, 5, 6, 3, 4, 1, 2]);
        reorder(&mut bytes, ByteOrder::Vax);
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
