//! Numbers (spec IV.A.2.d): fixed-point (class 0), floating-point (1), bitfields (4), complex numbers (11).

use super::head::{Head, head};
use super::{BitRange, Bits, ByteOrder, Complex, Datatype, Float, Integer, Normalization};
use crate::bytes::{Reader, Writer};
use crate::error::{ErrorKind, Result};

impl Integer {
    /// Creates a little-endian integer that uses all bits of `size` bytes.
    pub fn little(size: u32, signed: bool) -> Self {
        Self::whole(size, signed, ByteOrder::Little)
    }

    /// Creates a big-endian integer that uses all bits of `size` bytes.
    pub fn big(size: u32, signed: bool) -> Self {
        Self::whole(size, signed, ByteOrder::Big)
    }

    /// Creates an integer that uses all bits of `size` bytes.
    pub fn whole(size: u32, signed: bool, order: ByteOrder) -> Self {
        Self { size, order, signed, low_pad: false, high_pad: false, bits: BitRange::whole(size) }
    }

    /// Returns whether all bits are significant, so that the bytes equal those of a machine integer.
    pub fn is_whole(&self) -> bool {
        self.bits == BitRange::whole(self.size)
    }

    pub(super) fn decode(r: &mut Reader<'_>, head: Head) -> Result<Self> {
        Ok(Self {
            size: head.size,
            order: ByteOrder::of(head),
            low_pad: head.bit(1),
            high_pad: head.bit(2),
            signed: head.bit(3),
            bits: BitRange::decode(r, head.size)?,
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        let pads = u32::from(self.low_pad) << 1 | u32::from(self.high_pad) << 2;
        head(w, 0, 1, self.order.bit() | pads | u32::from(self.signed) << 3, self.size);
        self.bits.encode(w);
    }
}

impl Float {
    /// IEEE 754 binary16; little-endian, like all these constants.
    pub const HALF: Self = Self::with_exponent(2, 5);
    /// IEEE 754 binary32.
    pub const SINGLE: Self = Self::with_exponent(4, 8);
    /// IEEE 754 binary64.
    pub const DOUBLE: Self = Self::with_exponent(8, 11);
    /// IEEE 754 binary128.
    pub const QUADRUPLE: Self = Self::with_exponent(16, 15);
    /// Google's bfloat16, the upper half of an IEEE single.
    pub const BFLOAT16: Self = Self::with_exponent(2, 8);
    /// FP8 E4M3 of OCP.
    pub const E4M3: Self = Self::with_exponent(1, 4);
    /// FP8 E5M2 of OCP.
    pub const E5M2: Self = Self::with_exponent(1, 5);
    /// The x87 extended precision in the sixteen bytes of a `long double`. The leading bit is stored; libhdf5
    /// calls this "not normalized".
    pub const EXTENDED: Self = Self {
        normalization: Normalization::None,
        sign_location: 79,
        bits: BitRange { offset: 0, precision: 80 },
        exponent_location: 64,
        mantissa_size: 64,
        ..Self::QUADRUPLE
    };

    /// Returns the IEEE 754 binary interchange format of `size` bytes: 2, 4, 8 or 16.
    pub fn ieee(size: u32, order: ByteOrder) -> Option<Self> {
        let little = match size {
            2 => Self::HALF,
            4 => Self::SINGLE,
            8 => Self::DOUBLE,
            16 => Self::QUADRUPLE,
            _ => return None,
        };
        Some(little.in_order(order))
    }

    /// Returns the same number format in byte order `order`.
    #[must_use]
    pub const fn in_order(self, order: ByteOrder) -> Self {
        Self { order, ..self }
    }

    /// Creates a format of `size` bytes (1 to 16) without unused bits: sign, exponent and mantissa from the
    /// top bit down.
    const fn with_exponent(size: u8, exponent_size: u8) -> Self {
        // The top bit, `8 * size - 1`.
        let sign_location = 7 * size + (size - 1);
        let mantissa_size = sign_location - exponent_size;
        Self {
            size: size as u32,
            order: ByteOrder::Little,
            low_pad: false,
            high_pad: false,
            internal_pad: false,
            normalization: Normalization::Implied,
            sign_location,
            bits: BitRange { offset: 0, precision: 8 * size as u16 },
            exponent_location: mantissa_size,
            exponent_size,
            mantissa_location: 0,
            mantissa_size,
            exponent_bias: (1 << (exponent_size - 1)) - 1,
        }
    }

    /// Returns whether this is IEEE 754 binary16, binary32, binary64 or binary128, little- or big-endian.
    pub fn is_ieee(&self) -> bool {
        Self::ieee(self.size, self.order).is_some_and(|ieee| self.has_values_of(&ieee))
    }

    /// Returns whether the bits of the value are placed as in `other`, in little-endian or big-endian order.
    /// The padding bits may differ, because `other` has no unused bits.
    pub fn has_values_of(&self, other: &Self) -> bool {
        let Self { order, low_pad, high_pad, internal_pad, .. } = *self;
        order != ByteOrder::Vax && Self { order, low_pad, high_pad, internal_pad, ..*other } == *self
    }

    pub(super) fn version(&self) -> u8 {
        if self.order == ByteOrder::Vax { 3 } else { 1 }
    }

    pub(super) fn decode(r: &mut Reader<'_>, head: Head) -> Result<Self> {
        let order = match (head.version >= 3 && head.bit(6), head.bit(0)) {
            (false, _) => ByteOrder::of(head),
            (true, true) => ByteOrder::Vax,
            (true, false) => return Err(r.bad_value("byte order", 2, "little-endian, big-endian or VAX")),
        };
        let normalization = match head.field(4, 2) {
            0 => Normalization::None,
            1 => Normalization::MsbSet,
            2 => Normalization::Implied,
            other => return Err(r.bad_value("mantissa normalization", other.into(), "0 to 2")),
        };
        let [_, sign_location, _, _] = head.flags.to_le_bytes();
        let float = Self {
            size: head.size,
            order,
            low_pad: head.bit(1),
            high_pad: head.bit(2),
            internal_pad: head.bit(3),
            normalization,
            sign_location,
            bits: BitRange::decode(r, head.size)?,
            exponent_location: r.u8()?,
            exponent_size: r.u8()?,
            mantissa_location: r.u8()?,
            mantissa_size: r.u8()?,
            exponent_bias: r.u32()?,
        };
        float.check(r)?;
        Ok(float)
    }

    /// Checks that sign, exponent and mantissa are inside the element and do not overlap.
    fn check(&self, r: &Reader<'_>) -> Result<()> {
        let bits = u64::from(self.size) * 8;
        let field = |location: u8, size: u8| u64::from(location)..u64::from(location) + u64::from(size);
        let sign = field(self.sign_location, 1);
        let exponent = field(self.exponent_location, self.exponent_size);
        let mantissa = field(self.mantissa_location, self.mantissa_size);
        for (name, range) in
            [("sign location", &sign), ("exponent location", &exponent), ("mantissa location", &mantissa)]
        {
            if range.is_empty() || range.end > bits {
                return Err(r.bad_value(name, range.start, "bits inside the element"));
            }
        }
        let apart = |a: &std::ops::Range<u64>, b: &std::ops::Range<u64>| a.end <= b.start || b.end <= a.start;
        if apart(&sign, &exponent) && apart(&sign, &mantissa) && apart(&exponent, &mantissa) {
            return Ok(());
        }
        Err(r.bad_value(
            "exponent location",
            exponent.start,
            "sign, exponent and mantissa that do not overlap",
        ))
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        let pads =
            u32::from(self.low_pad) << 1 | u32::from(self.high_pad) << 2 | u32::from(self.internal_pad) << 3;
        let order = if self.order == ByteOrder::Vax { 0x41 } else { self.order.bit() };
        let flags = order | pads | (self.normalization as u32) << 4 | u32::from(self.sign_location) << 8;
        head(w, 1, self.version(), flags, self.size);
        self.bits.encode(w);
        w.u8(self.exponent_location);
        w.u8(self.exponent_size);
        w.u8(self.mantissa_location);
        w.u8(self.mantissa_size);
        w.u32(self.exponent_bias);
    }
}

impl Bits {
    /// Creates a little-endian bitfield that uses all bits of `size` bytes.
    pub fn little(size: u32) -> Self {
        let bits = BitRange::whole(size);
        Self { size, order: ByteOrder::Little, low_pad: false, high_pad: false, bits }
    }

    pub(super) fn decode(r: &mut Reader<'_>, head: Head) -> Result<Self> {
        Ok(Self {
            size: head.size,
            order: ByteOrder::of(head),
            low_pad: head.bit(1),
            high_pad: head.bit(2),
            bits: BitRange::decode(r, head.size)?,
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        let pads = u32::from(self.low_pad) << 1 | u32::from(self.high_pad) << 2;
        head(w, 4, 1, self.order.bit() | pads, self.size);
        self.bits.encode(w);
    }
}

impl Complex {
    /// Creates a complex number with two parts of type `base`.
    pub fn of(base: Float) -> Self {
        Self { base: Box::new(Datatype::Float(base)) }
    }

    /// Decodes a rectangular, homogeneous complex number, the only form that HDF5 2.0 defines.
    pub(super) fn decode(r: &mut Reader<'_>, head: Head, inside: u32) -> Result<Self> {
        if !head.bit(0) {
            return Err(r.error(ErrorKind::Unsupported { feature: "heterogeneous complex number" }));
        }
        if head.field(1, 2) != 0 {
            return Err(r.error(ErrorKind::Unsupported { feature: "complex number not in rectangular form" }));
        }
        let base = Datatype::decode_nested(r, inside)?;
        if !matches!(base, Datatype::Float(_)) {
            return Err(r.error(ErrorKind::Unsupported {
                feature: "complex number with parts that are not floating-point",
            }));
        }
        head.expect_size(r, base.size(r.widths()).saturating_mul(2), "twice the size of the base type")?;
        Ok(Self { base: Box::new(base) })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>, floor: u8) {
        const HOMOGENEOUS: u32 = 1;
        let size = self.base.stored_size(w.widths()).saturating_mul(2);
        head(w, 11, 5, HOMOGENEOUS, size);
        self.base.encode_from(w, floor);
    }
}

impl Datatype {
    /// Returns the stored size. Every decoded or storable datatype has a size of at most 32 bits.
    pub(super) fn stored_size(&self, widths: crate::Widths) -> u32 {
        u32::try_from(self.size(widths)).unwrap_or(u32::MAX)
    }
}

impl ByteOrder {
    /// Returns bit 0 of the class bits of a number.
    pub(super) fn bit(self) -> u32 {
        u32::from(self == Self::Big)
    }

    /// Returns the byte order that bit 0 of the class bits stores.
    pub(super) fn of(head: Head) -> Self {
        if head.bit(0) { Self::Big } else { Self::Little }
    }
}

impl BitRange {
    /// Creates the range of all bits of `size` bytes.
    pub fn whole(size: u32) -> Self {
        let precision = u16::try_from(size.saturating_mul(8)).unwrap_or(u16::MAX);
        Self { offset: 0, precision }
    }

    fn decode(r: &mut Reader<'_>, size: u32) -> Result<Self> {
        let range = Self { offset: r.u16()?, precision: r.u16()? };
        let end = u64::from(range.offset) + u64::from(range.precision);
        if range.precision == 0 || end > u64::from(size) * 8 {
            return Err(r.bad_value("bit precision", range.precision.into(), "bits inside the element"));
        }
        Ok(range)
    }

    fn encode(self, w: &mut Writer<'_>) {
        w.u16(self.offset);
        w.u16(self.precision);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{decode, decode_error, encode};
    use super::*;

    #[test]
    fn numbers_of_h5py_encode_to_the_bytes_of_libhdf5() {
        for (datatype, hex) in [
            (Datatype::Integer(Integer::little(4, true)), "100800000400000000002000"),
            (Datatype::Integer(Integer::big(8, false)), "100100000800000000004000"),
            (
                Datatype::Float(Float::ieee(8, ByteOrder::Little).unwrap()),
                "11203f000800000000004000340b0034ff030000",
            ),
            (
                Datatype::Float(Float::ieee(4, ByteOrder::Big).unwrap()),
                "11211f000400000000002000170800177f000000",
            ),
            (
                Datatype::Float(Float::ieee(2, ByteOrder::Little).unwrap()),
                "11200f0002000000000010000a05000a0f000000",
            ),
            (Datatype::Bits(Bits { order: ByteOrder::Big, ..Bits::little(2) }), "140100000200000000001000"),
        ] {
            assert_eq!(decode(hex), datatype);
            assert_eq!(encode(&datatype, 1), hex);
            assert_eq!(encode(&datatype, 3), hex);
        }
    }

    #[test]
    fn a_complex_number_encodes_as_two_floats_in_version_5() {
        // h5py: h5t.COMPLEX_IEEE_F32LE.encode()
        let hex = "5b010000080000001120 1f000400000000002000170800177f000000".replace(' ', "");
        let datatype = Datatype::Complex(Complex::of(Float::ieee(4, ByteOrder::Little).unwrap()));
        assert_eq!(decode(&hex), datatype);
        assert_eq!(encode(&datatype, 1), hex);
    }

    #[test]
    fn is_ieee_holds_only_for_ieee_floats() {
        let double = Float::ieee(8, ByteOrder::Big).unwrap();
        assert!(double.is_ieee());
        assert!(!Float { exponent_bias: 1024, ..double }.is_ieee());
        assert!(!Float { order: ByteOrder::Vax, ..double }.is_ieee());
        assert!(!Float::BFLOAT16.is_ieee() && !Float::EXTENDED.is_ieee());
        assert_eq!(Float::BFLOAT16.exponent_bias, 127);
        assert_eq!((Float::E4M3.exponent_bias, Float::E4M3.mantissa_size), (7, 3));
    }

    #[test]
    fn bits_outside_the_element_or_overlapping_are_refused() {
        let error = decode_error("100800000400000001002000");
        assert!(matches!(error.kind, ErrorKind::Value { field: "bit precision", .. }), "{error}");
        let overlapping = decode_error("11203f000800000000004000330b0034ff030000");
        assert!(
            matches!(overlapping.kind, ErrorKind::Value { field: "exponent location", .. }),
            "{overlapping}"
        );
    }
}
