//! Samples: the formats of revisions 0 to 2.1, and the HDF5 elements that store them.

// Code that runs inside `widest` must be inlined into it.
#![allow(clippy::inline_always)]

use hyperslab_filters::widest;

use crate::field::{ByteOrder, FieldKind};

/// The format of all samples of a file (binary header, bytes 3225-3226).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleFormat {
    /// 1: floating point of IBM System/360: base 16, 24 bits of fraction.
    Ibm32 = 1,
    /// 2: two's complement, 4 bytes.
    I32 = 2,
    /// 3: two's complement, 2 bytes.
    I16 = 3,
    /// 5: IEEE 754, 4 bytes.
    Ieee32 = 5,
    /// 6: IEEE 754, 8 bytes.
    Ieee64 = 6,
    /// 7: two's complement, 3 bytes.
    I24 = 7,
    /// 8: two's complement, 1 byte.
    I8 = 8,
    /// 9: two's complement, 8 bytes.
    I64 = 9,
    /// 10: unsigned, 4 bytes.
    U32 = 10,
    /// 11: unsigned, 2 bytes.
    U16 = 11,
    /// 12: unsigned, 8 bytes.
    U64 = 12,
    /// 15: unsigned, 3 bytes.
    U24 = 15,
    /// 16: unsigned, 1 byte.
    U8 = 16,
}

impl SampleFormat {
    /// Every format, the type of its samples in HDF5 (in native byte order, with every value unchanged), and
    /// its name.
    const ALL: [(Self, FieldKind, &'static str); 13] = [
        (Self::Ibm32, FieldKind::F32, "4-byte IBM float"),
        (Self::I32, FieldKind::I32, "4-byte integer"),
        (Self::I16, FieldKind::I16, "2-byte integer"),
        (Self::Ieee32, FieldKind::F32, "4-byte IEEE float"),
        (Self::Ieee64, FieldKind::F64, "8-byte IEEE float"),
        (Self::I24, FieldKind::I32, "3-byte integer"),
        (Self::I8, FieldKind::I8, "1-byte integer"),
        (Self::I64, FieldKind::I64, "8-byte integer"),
        (Self::U32, FieldKind::U32, "4-byte unsigned integer"),
        (Self::U16, FieldKind::U16, "2-byte unsigned integer"),
        (Self::U64, FieldKind::U64, "8-byte unsigned integer"),
        (Self::U24, FieldKind::U32, "3-byte unsigned integer"),
        (Self::U8, FieldKind::U8, "1-byte unsigned integer"),
    ];

    fn facts(self) -> (Self, FieldKind, &'static str) {
        Self::ALL.into_iter().find(|facts| facts.0 == self).unwrap_or(Self::ALL[0])
    }

    /// Returns the format with this code.
    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().map(|facts| facts.0).find(|&format| format as i64 == code)
    }

    /// Returns the bytes of a sample in the SEG-Y file.
    pub fn size(self) -> usize {
        match self {
            Self::I24 | Self::U24 => 3,
            _ => self.stored().size(),
        }
    }

    /// Returns the type of samples in HDF5.
    pub fn stored(self) -> FieldKind {
        self.facts().1
    }

    /// Returns the name of the format.
    pub fn name(self) -> &'static str {
        self.facts().2
    }

    /// Decodes samples of a SEG-Y file to HDF5 elements. Calls `inexact` with the index and the word of every
    /// IBM float that an IEEE 754 float does not represent bit for bit.
    pub fn decode(self, src: &[u8], order: ByteOrder, dst: &mut [u8], inexact: &mut dyn FnMut(usize, u32)) {
        match self {
            Self::Ibm32 => decode_ibm(src, order, dst, inexact),
            Self::I24 => decode_three(src, order, dst, |word| (word.cast_signed() << 8 >> 8).cast_unsigned()),
            Self::U24 => decode_three(src, order, dst, |word| word),
            _ => swap(src, order, dst, self.size()),
        }
    }

    /// Encodes HDF5 elements as samples of a SEG-Y file. Returns the index of the first sample that the
    /// format cannot hold (a NaN as an IBM float, more than 24 bits) as the error.
    pub fn encode(self, src: &[u8], order: ByteOrder, dst: &mut [u8]) -> Result<(), usize> {
        match self {
            Self::Ibm32 => encode_ibm(src, order, dst),
            Self::I24 => {
                encode_three(src, order, dst, |word| (-(1 << 23)..1 << 23).contains(&word.cast_signed()))
            }
            Self::U24 => encode_three(src, order, dst, |word| word < 1 << 24),
            _ => {
                swap(src, order, dst, self.size());
                Ok(())
            }
        }
    }
}

/// Copies numbers, and reverses their bytes if the file's order is not the native one.
fn swap(src: &[u8], order: ByteOrder, dst: &mut [u8], size: usize) {
    let is_native = (order == ByteOrder::Little) == cfg!(target_endian = "little");
    if is_native {
        return dst.copy_from_slice(src);
    }
    widest(
        #[inline(always)]
        || match size {
            2 => swapped(src, dst, |bytes: [u8; 2]| u16::from_be_bytes(bytes).to_le_bytes()),
            4 => swapped(src, dst, |bytes: [u8; 4]| u32::from_be_bytes(bytes).to_le_bytes()),
            8 => swapped(src, dst, |bytes: [u8; 8]| u64::from_be_bytes(bytes).to_le_bytes()),
            _ => dst.copy_from_slice(src),
        },
    );
}

#[inline(always)]
fn swapped<const N: usize>(src: &[u8], dst: &mut [u8], turn: impl Fn([u8; N]) -> [u8; N]) {
    let (src, _) = src.as_chunks::<N>();
    let (dst, _) = dst.as_chunks_mut::<N>();
    dst.iter_mut().zip(src).for_each(|(d, s)| *d = turn(*s));
}

fn decode_three(src: &[u8], order: ByteOrder, dst: &mut [u8], extend: impl Fn(u32) -> u32) {
    let (src, _) = src.as_chunks::<3>();
    let (dst, _) = dst.as_chunks_mut::<4>();
    for (d, &[a, b, c]) in dst.iter_mut().zip(src) {
        let word = match order {
            ByteOrder::Big => u32::from_be_bytes([0, a, b, c]),
            ByteOrder::Little => u32::from_le_bytes([a, b, c, 0]),
        };
        *d = extend(word).to_ne_bytes();
    }
}

fn encode_three(
    src: &[u8],
    order: ByteOrder,
    dst: &mut [u8],
    fits: impl Fn(u32) -> bool,
) -> Result<(), usize> {
    let (src, _) = src.as_chunks::<4>();
    let (dst, _) = dst.as_chunks_mut::<3>();
    for (i, (d, &s)) in dst.iter_mut().zip(src).enumerate() {
        let word = u32::from_ne_bytes(s);
        if !fits(word) {
            return Err(i);
        }
        let [_, a, b, c] = word.to_be_bytes();
        *d = if order == ByteOrder::Big { [a, b, c] } else { [c, b, a] };
    }
    Ok(())
}

/// Returns whether an IEEE float represents an IBM float exactly. An IBM float is a sign, a power of 16 with
/// a bias of 64, and a fraction of 24 bits (System/360 Principles of Operation, "Floating-Point Data
/// Format"). If the fraction's first hexadecimal digit is not zero and the power is in the range of a 4-byte
/// IEEE float, that float holds the same number, and the word can be restored from it.
const fn is_exact(word: u32) -> bool {
    let power = word >> 24 & 0x7F;
    word << 1 == 0 || (word >> 20 & 0xF != 0 && 34 <= power && power <= 96)
}

/// Returns the bits of the IEEE float for an exact IBM float.
#[expect(clippy::cast_precision_loss, reason = "24 bits fit")]
const fn exact(word: u32) -> u32 {
    let fraction = word & 0xFF_FFFF;
    // The fraction as an integer is number * 2^24 / 16^(power - 64), so only the exponent remains to be
    // adjusted.
    let float = (fraction.cast_signed() as f32).to_bits();
    let scale = (word >> 24 & 0x7F).wrapping_mul(4).wrapping_sub(280) << 23;
    let number = if fraction == 0 { 0 } else { float.wrapping_add(scale) };
    number | word & 0x8000_0000
}

/// Returns the nearest IEEE float of any IBM float; infinite if out of range.
#[expect(clippy::cast_possible_truncation, reason = "rounded to the nearest")]
fn nearest(word: u32) -> f32 {
    let power = (word >> 24 & 0x7F).cast_signed();
    let number = f64::from(word & 0xFF_FFFF) * 2_f64.powi(4 * power - 280);
    if word >> 31 == 0 { number as f32 } else { -number as f32 }
}

/// Returns whether `number` is the float to which an IBM float was decoded.
pub(crate) fn is_near(word: u32, number: f32) -> bool {
    nearest(word).to_bits() == number.to_bits()
}

fn decode_ibm(src: &[u8], order: ByteOrder, dst: &mut [u8], inexact: &mut dyn FnMut(usize, u32)) {
    let (src, _) = src.as_chunks::<4>();
    let (dst, _) = dst.as_chunks_mut::<4>();
    let are_exact = widest(
        #[inline(always)]
        || match order {
            ByteOrder::Big => decode_exact(src, dst, u32::from_be_bytes),
            ByteOrder::Little => decode_exact(src, dst, u32::from_le_bytes),
        },
    );
    if are_exact {
        return;
    }
    for (i, (d, &s)) in dst.iter_mut().zip(src).enumerate() {
        let word = word(s, order);
        if !is_exact(word) {
            *d = nearest(word).to_ne_bytes();
            inexact(i, word);
        }
    }
}

/// Decodes without a branch per number, so that several numbers are converted at once. Returns whether all
/// were exact.
#[inline(always)]
fn decode_exact(src: &[[u8; 4]], dst: &mut [[u8; 4]], word: impl Fn([u8; 4]) -> u32) -> bool {
    let mut are_exact = true;
    for (d, &s) in dst.iter_mut().zip(src) {
        let word = word(s);
        are_exact &= is_exact(word);
        *d = exact(word).to_ne_bytes();
    }
    are_exact
}

fn encode_ibm(src: &[u8], order: ByteOrder, dst: &mut [u8]) -> Result<(), usize> {
    let (src, _) = src.as_chunks::<4>();
    let (dst, _) = dst.as_chunks_mut::<4>();
    for (i, (d, &s)) in dst.iter_mut().zip(src).enumerate() {
        let word = ibm(f32::from_ne_bytes(s)).ok_or(i)?;
        *d = bytes(word, order);
    }
    Ok(())
}

/// Returns the bytes of a word in a file of this byte order.
pub(crate) fn bytes(word: u32, order: ByteOrder) -> [u8; 4] {
    if order == ByteOrder::Big { word.to_be_bytes() } else { word.to_le_bytes() }
}

fn word(bytes: [u8; 4], order: ByteOrder) -> u32 {
    if order == ByteOrder::Big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

/// Returns the nearest IBM float. Every finite IEEE float has one.
fn ibm(number: f32) -> Option<u32> {
    if !number.is_finite() {
        return None;
    }
    let bits = number.to_bits();
    let sign = bits & 0x8000_0000;
    if bits << 1 == 0 {
        return Some(sign);
    }
    // The number is mantissa * 2^(exponent - 23), with 24 bits of mantissa. The mantissa of a subnormal is
    // shifted up to 24 bits.
    let (mantissa, exponent) = match (bits >> 23 & 0xFF).cast_signed() {
        0 => {
            let shift = (bits & 0x7F_FFFF).leading_zeros() - 8;
            ((bits & 0x7F_FFFF) << shift, -126 - shift.cast_signed())
        }
        biased => (bits & 0x7F_FFFF | 0x80_0000, biased - 127),
    };
    let power = (exponent + 260) >> 2;
    let shift = 4 * power - (exponent + 257);
    let rounded = (mantissa + ((1 << shift) >> 1)) >> shift;
    let (fraction, power) = if rounded >> 24 == 0 { (rounded, power) } else { (rounded >> 4, power + 1) };
    Some(sign | power.cast_unsigned() << 24 | fraction)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(format: SampleFormat, bytes: &[u8], order: ByteOrder) -> (Vec<u8>, Vec<(usize, u32)>) {
        let mut dst = vec![0; bytes.len() / format.size() * format.stored().size()];
        let mut inexact = Vec::new();
        format.decode(bytes, order, &mut dst, &mut |i, word| inexact.push((i, word)));
        (dst, inexact)
    }

    #[test]
    fn ibm_floats_of_the_manual_decode_to_its_values() {
        for (word, number) in [
            (0x4276_A000_u32, 118.625_f32),
            (0xC276_A000, -118.625),
            (0x4110_0000, 1.0),
            (0x4010_0000, 0.0625),
            (0, 0.0),
        ] {
            let (bytes, inexact) = decoded(SampleFormat::Ibm32, &word.to_be_bytes(), ByteOrder::Big);
            assert_eq!(bytes, number.to_ne_bytes(), "{word:08x}");
            assert!(inexact.is_empty());
            assert_eq!(ibm(number), Some(word));
        }
    }

    #[test]
    fn ibm_floats_that_ieee_cannot_represent_are_reported_and_rounded() {
        // Not normalised; a zero with an exponent; too large, positive and negative; too small.
        for (word, number) in [
            (0x4201_0000_u32, 1.0_f32),
            (0x4100_0000, 0.0),
            (0x7FFF_FFFF, f32::INFINITY),
            (0xFFFF_FFFF, f32::NEG_INFINITY),
            (0x0010_0000, 0.0),
        ] {
            let (bytes, inexact) = decoded(SampleFormat::Ibm32, &word.to_be_bytes(), ByteOrder::Big);
            assert_eq!(bytes, number.to_ne_bytes(), "{word:08x}");
            assert_eq!(inexact, [(0, word)]);
        }
        assert_eq!(ibm(f32::NAN), None);
        assert_eq!(ibm(f32::INFINITY), None);
    }

    #[test]
    fn the_largest_and_smallest_ieee_floats_have_a_near_ibm_float() {
        for number in [f32::MAX, -f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), f32::from_bits(0x7F_FFFF)] {
            let word = ibm(number).unwrap();
            assert!((nearest(word) / number - 1.0).abs() < 1e-6, "{number:e} {word:08x}");
        }
    }

    #[test]
    fn three_byte_integers_keep_their_sign() {
        let (bytes, _) = decoded(SampleFormat::I24, &[0xFF, 0xFF, 0xFE, 0x7F, 0xFF, 0xFF], ByteOrder::Big);
        assert_eq!(bytes, [(-2_i32).to_ne_bytes(), 0x7F_FFFF_i32.to_ne_bytes()].concat());
        let (bytes, _) = decoded(SampleFormat::U24, &[0xFE, 0xFF, 0xFF], ByteOrder::Little);
        assert_eq!(bytes, 0xFF_FFFE_u32.to_ne_bytes());
        let mut out = [0; 3];
        assert_eq!(SampleFormat::I24.encode(&(1_i32 << 23).to_ne_bytes(), ByteOrder::Big, &mut out), Err(0));
        assert_eq!(SampleFormat::U24.encode(&(1_u32 << 24).to_ne_bytes(), ByteOrder::Big, &mut out), Err(0));
    }

    proptest! {
        #[test]
        fn an_ibm_float_round_trips_bit_for_bit_or_is_reported(word: u32) {
            let (bytes, inexact) = decoded(SampleFormat::Ibm32, &word.to_le_bytes(), ByteOrder::Little);
            let number = f32::from_ne_bytes(bytes.try_into().unwrap());
            // Independent of the conversion: the definition, in 8-byte floats.
            let sign = if word >> 31 == 0 { 1.0 } else { -1.0 };
            let power = f64::from(word >> 24 & 0x7F) - 64.0;
            let value = sign * f64::from(word & 0xFF_FFFF) / 16_777_216.0 * 16_f64.powf(power);
            if inexact.is_empty() {
                prop_assert_eq!(ibm(number), Some(word));
                prop_assert_eq!(f64::from(number).to_bits(), value.to_bits());
            } else {
                let error = (f64::from(number) - value).abs();
                prop_assert!(error <= value.abs() * 1e-7 || number.is_infinite() || value.abs() < 1e-37);
            }
        }

        #[test]
        fn samples_of_every_format_round_trip(seed in proptest::collection::vec(any::<u8>(), 24), big: bool) {
            let order = if big { ByteOrder::Big } else { ByteOrder::Little };
            for (format, ..) in SampleFormat::ALL {
                let (values, inexact) = decoded(format, &seed, order);
                if format == SampleFormat::Ibm32 && !inexact.is_empty() {
                    continue;
                }
                let mut back = vec![0; seed.len()];
                prop_assert_eq!(format.encode(&values, order, &mut back), Ok(()));
                prop_assert_eq!(&back, &seed, "{:?}", format);
            }
        }
    }
}
