//! Floating-point numbers of any layout.

use std::fmt;

use hyperslab_format::datatype::{ByteOrder, Float, Normalization, word};

/// A floating-point number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloatValue {
    double: f64,
    digits: Digits,
}

/// What the digits of a number depend on.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Digits {
    /// The other doubles.
    Double,
    /// The other singles.
    Single,
    /// The neighbours in a smaller type: the distance to the next larger number.
    Small { step: f64, is_power_of_two: bool },
}

impl FloatValue {
    /// Decodes the number in `stored`. `None` if it has more than 16 bytes, or a double does not have its
    /// range: show its bytes.
    #[expect(clippy::cast_possible_truncation, reason = "the sizes say that the bits fit")]
    pub fn decode(t: &Float, stored: &[u8]) -> Option<Self> {
        let bits = bits(t, stored)?;
        if t.has_values_of(&Float::DOUBLE) {
            return Some(Self { double: f64::from_bits(bits as u64), digits: Digits::Double });
        }
        if t.has_values_of(&Float::SINGLE) {
            return Some(Self { double: f32::from_bits(bits as u32).into(), digits: Digits::Single });
        }
        number(t, bits)
    }

    /// The nearest double, which is the number itself unless its mantissa has more than 53 bits.
    pub fn double(self) -> f64 {
        self.double
    }

    /// The double in hexadecimal, as Python's `float.hex` writes it; `nan`, `inf` or `-inf`.
    pub fn hexadecimal(self) -> String {
        if !self.double.is_finite() {
            return self.to_string();
        }
        let bits = self.double.to_bits();
        let (sign, exponent, mantissa) =
            (if bits >> 63 == 1 { "-" } else { "" }, bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
        match (exponent, mantissa) {
            (0, 0) => format!("{sign}0x0.0p+0"),
            (0, _) => format!("{sign}0x0.{mantissa:013x}p-1022"),
            _ => format!("{sign}0x1.{mantissa:013x}p{:+}", exponent.cast_signed() - 1023),
        }
    }
}

/// The shortest decimal that identifies the number among those of its type; `nan`, `inf` or `-inf`.
impl fmt::Display for FloatValue {
    #[expect(clippy::cast_possible_truncation, reason = "the number is a single")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.double, self.digits) {
            (double, _) if double.is_nan() => f.write_str("nan"),
            (double, _) if double.is_infinite() => f.write_str(if double > 0.0 { "inf" } else { "-inf" }),
            (double, Digits::Double) => write!(f, "{double:?}"),
            (double, Digits::Single) => write!(f, "{:?}", double as f32),
            (double, Digits::Small { step, is_power_of_two }) => {
                write!(f, "{:?}", rounded(double, step, is_power_of_two))
            }
        }
    }
}

/// Returns the bits of a number, or `None` if it has more than 16 bytes.
fn bits(t: &Float, stored: &[u8]) -> Option<u128> {
    match t.order {
        // VAX order is 16-bit words, most significant first, each with its bytes swapped.
        ByteOrder::Vax => {
            let swapped: Vec<u8> = stored.chunks(2).flat_map(|pair| pair.iter().rev().copied()).collect();
            word(&swapped, ByteOrder::Big)
        }
        order => word(stored, order),
    }
}

/// Returns the number with these bits, or `None` if a double does not have its range.
fn number(t: &Float, bits: u128) -> Option<FloatValue> {
    let field = |at: u8, size: u8| bits.checked_shr(at.into()).map(|bits| bits & ones(size));
    let is_negative = field(t.sign_location, 1)? == 1;
    let exponent = field(t.exponent_location, t.exponent_size)?;
    let mantissa = field(t.mantissa_location, t.mantissa_size)?;
    // With an explicit leading bit, that bit is not part of the fraction.
    let explicit = t.normalization != Normalization::Implied;
    let fraction_bits = t.mantissa_size - u8::from(explicit && t.mantissa_size > 0);
    let fraction = mantissa & ones(fraction_bits);
    // VAX numbers have neither infinities nor NaN.
    if exponent == ones(t.exponent_size) && t.order != ByteOrder::Vax {
        let sign = if is_negative { -1.0 } else { 1.0 };
        let double = if fraction == 0 { f64::INFINITY * sign } else { f64::NAN };
        return Some(FloatValue { double, digits: Digits::Double });
    }
    let implied = t.normalization == Normalization::Implied && exponent > 0;
    let significand = mantissa | if implied { 1_u128.checked_shl(t.mantissa_size.into())? } else { 0 };
    let power = i64::try_from(exponent.max(1)).ok()? - i64::from(t.exponent_bias) - i64::from(fraction_bits);
    let power = i32::try_from(power).ok()?;
    let magnitude = scaled(significand, power)?;
    let double = if is_negative { -magnitude } else { magnitude };
    let small = Digits::Small { step: scaled(1, power).unwrap_or(0.0), is_power_of_two: fraction == 0 };
    Some(FloatValue { double, digits: if t.mantissa_size < 23 { small } else { Digits::Double } })
}

/// Returns `significand` times two to the `power`, or `None` if an `f64` cannot hold it.
fn scaled(significand: u128, power: i32) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a decimal of 17 digits is shown")]
    let significand = significand as f64;
    // In two steps, because each of them is in range.
    let half = power / 2;
    let number = significand * f64::powi(2.0, half) * f64::powi(2.0, power - half);
    (number.is_finite() && (number != 0.0) == (significand != 0.0)).then_some(number)
}

/// Returns the decimal with the fewest digits that is nearer to the number than to its neighbours. The lower
/// neighbour of a power of two is only half as far away.
fn rounded(number: f64, step: f64, is_power_of_two: bool) -> f64 {
    let most = step / if is_power_of_two { 4.0 } else { 2.0 };
    let candidates = (0..9).filter_map(|digits| format!("{number:.digits$e}").parse::<f64>().ok());
    candidates.into_iter().find(|candidate| (candidate - number).abs() < most).unwrap_or(number)
}

fn ones(count: u8) -> u128 {
    1_u128.checked_shl(count.into()).map_or(u128::MAX, |bit| bit - 1)
}

#[cfg(test)]
mod tests {
    use hyperslab_format::datatype::BitRange;

    use super::*;

    fn float(size: u32, order: ByteOrder, exponent: u8, mantissa: u8, bias: u32, explicit: bool) -> Float {
        Float {
            size,
            order,
            low_pad: false,
            high_pad: false,
            internal_pad: false,
            normalization: if explicit { Normalization::MsbSet } else { Normalization::Implied },
            sign_location: exponent + mantissa,
            bits: BitRange { offset: 0, precision: u16::from(exponent + mantissa) + 1 },
            exponent_location: mantissa,
            exponent_size: exponent,
            mantissa_location: 0,
            mantissa_size: mantissa,
            exponent_bias: bias,
        }
    }

    fn text(t: &Float, stored: &[u8]) -> String {
        FloatValue::decode(t, stored).unwrap().to_string()
    }

    /// The texts are `repr(float(...))` for doubles and `str(numpy.float16(...))` for halves.
    #[test]
    fn a_number_has_the_digits_that_its_type_needs() {
        use ByteOrder::{Big, Little};
        let double = float(8, Little, 11, 52, 1023, false);
        assert_eq!(text(&double, &0.1_f64.to_le_bytes()), "0.1");
        assert_eq!(text(&double, &f64::NEG_INFINITY.to_le_bytes()), "-inf");
        let single = float(4, Big, 8, 23, 127, false);
        assert_eq!(text(&single, &0.1_f32.to_be_bytes()), "0.1");
        let half = float(2, Little, 5, 10, 15, false);
        assert_eq!(text(&half, &0x2e66_u16.to_le_bytes()), "0.1");
        assert_eq!(text(&half, &0x3555_u16.to_le_bytes()), "0.3333");
        assert_eq!(text(&half, &0xfbff_u16.to_le_bytes()), "-65500.0");
        assert_eq!(text(&half, &0x0001_u16.to_le_bytes()), "6e-8");
        assert_eq!(text(&half, &0x7e00_u16.to_le_bytes()), "nan");
        assert_eq!(text(&half, &0x8000_u16.to_le_bytes()), "-0.0");
    }

    #[test]
    fn the_leading_bit_of_an_extended_double_is_stored() {
        let extended = float(10, ByteOrder::Little, 15, 64, 16383, true);
        let stored = |top: u16, mantissa: u64| [&mantissa.to_le_bytes()[..], &top.to_le_bytes()].concat();
        assert_eq!(text(&extended, &stored(16383, 0xc000_0000_0000_0000)), "1.5");
        assert_eq!(text(&extended, &stored(0x7fff, 1 << 63)), "inf");
        assert_eq!(text(&extended, &stored(0, 0)), "0.0");
        assert_eq!(FloatValue::decode(&extended, &stored(0x7ffe, 1 << 63)), None, "2**16383");
    }

    /// libhdf5 describes the extended doubles of x86 processors without a normalisation.
    #[test]
    fn without_a_normalisation_the_leading_bit_is_stored_too() {
        let mut extended = float(10, ByteOrder::Little, 15, 64, 16383, true);
        extended.normalization = Normalization::None;
        let stored = [&0x8000_0000_0000_0000_u64.to_le_bytes()[..], &16384_u16.to_le_bytes()].concat();
        assert_eq!(text(&extended, &stored), "2.0");
    }

    /// The texts are those of `float.hex`.
    #[test]
    fn exact_numbers_are_hexadecimal() {
        let double = float(8, ByteOrder::Little, 11, 52, 1023, false);
        let text = |number: f64| FloatValue::decode(&double, &number.to_le_bytes()).unwrap().hexadecimal();
        assert_eq!(text(-0.1), "-0x1.999999999999ap-4");
        assert_eq!(text(1024.0), "0x1.0000000000000p+10");
        assert_eq!(text(5e-324), "0x0.0000000000001p-1022");
        assert_eq!([text(0.0), text(-0.0)], ["0x0.0p+0", "-0x0.0p+0"]);
        assert_eq!(text(f64::NAN), "nan");
    }

    /// The number 1.0 of the VAX in 32 bits is 80 40 00 00, which has the exponent 129. HDF5 counts all of it
    /// as bias.
    #[test]
    fn vax_order_swaps_the_bytes_of_words() {
        let vax = float(4, ByteOrder::Vax, 8, 23, 129, false);
        assert_eq!(text(&vax, &[0x80, 0x40, 0, 0]), "1.0");
    }
}
