//! The other classes: time (2), opaque (5), references (7), enumerations (8), variable length (9) and arrays
//! (10) (spec IV.A.2.d).

use super::compound::{decode_name, encode_name};
use super::head::{Head, head};
use super::{Array, ByteOrder, Datatype, Enumeration, Opaque, Reference, ReferenceKind, Time, text};
use crate::bytes::{Reader, Writer};
use crate::error::{ErrorKind, Result};

/// The largest number of dimensions of a dataspace or an array.
const MAX_RANK: u8 = 32;

impl Time {
    pub(super) fn decode(r: &mut Reader<'_>, head: Head) -> Result<Self> {
        Ok(Self { size: head.size, order: ByteOrder::of(head), precision: r.u16()? })
    }

    pub(super) fn encode(self, w: &mut Writer<'_>) {
        head(w, 2, 1, self.order.bit(), self.size);
        w.u16(self.precision);
    }
}

impl Opaque {
    /// Decodes the tag. Its stored length is a multiple of eight, and zeros pad the tag.
    pub(super) fn decode(r: &mut Reader<'_>, head: Head) -> Result<Self> {
        let len = head.field(0, 8) as usize;
        if !len.is_multiple_of(8) {
            return Err(r.bad_value("tag length", len as u64, "a multiple of 8"));
        }
        let padded = r.bytes(len)?;
        let tag = padded.split(|&byte| byte == 0).next().unwrap_or_default();
        match std::str::from_utf8(tag) {
            Ok(tag) => Ok(Self { size: head.size, tag: tag.to_owned() }),
            Err(_) => Err(r.error_back(len, ErrorKind::Text { field: "tag" })),
        }
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        // The length has eight bits and is a multiple of eight, so a longer tag is cut, as in libhdf5.
        let len = self.tag.len().next_multiple_of(8).min(248);
        let tag = self.tag.as_bytes();
        let kept = tag.get(..len).unwrap_or(tag);
        head(w, 5, 1, u32::try_from(len).unwrap_or(0), self.size);
        w.bytes(kept);
        w.zeros(len - kept.len());
    }
}

impl Reference {
    /// The version of the HDF5 1.12 reference encoding, stored in types 2 to 4.
    const ENCODING: u32 = 1;

    pub(super) fn version(self) -> u8 {
        match self.kind {
            ReferenceKind::Object1 | ReferenceKind::Region1 => 1,
            ReferenceKind::Object2 | ReferenceKind::Region2 | ReferenceKind::Attribute => 4,
        }
    }

    pub(super) fn decode(r: &mut Reader<'_>, head: Head) -> Result<Self> {
        let kind = match head.field(0, 4) {
            0 => ReferenceKind::Object1,
            1 => ReferenceKind::Region1,
            2 => ReferenceKind::Object2,
            3 => ReferenceKind::Region2,
            4 => ReferenceKind::Attribute,
            other => return Err(r.bad_value("reference type", other.into(), "0 to 4")),
        };
        let reference = Self { size: head.size, kind };
        if reference.version() == 4 && head.field(4, 4) != Self::ENCODING {
            return Err(r.bad_value("reference version", head.field(4, 4).into(), "1"));
        }
        // Early libraries stored more bytes than an address has if addresses are narrow.
        let address = r.widths().offset.bytes() as u64;
        let least = match kind {
            ReferenceKind::Object1 => address,
            ReferenceKind::Region1 => address + 4,
            ReferenceKind::Object2 | ReferenceKind::Region2 | ReferenceKind::Attribute => 1,
        };
        if u64::from(head.size) < least {
            return Err(r.bad_value("datatype size", head.size.into(), "room for an address or a heap id"));
        }
        Ok(reference)
    }

    pub(super) fn encode(self, w: &mut Writer<'_>) {
        let encoding = if self.version() == 4 { Self::ENCODING } else { 0 };
        head(w, 7, self.version(), self.kind as u32 | encoding << 4, self.size);
    }
}

impl Enumeration {
    /// Decodes the base type, then all names, then all values.
    pub(super) fn decode(r: &mut Reader<'_>, head: Head, inside: u32) -> Result<Self> {
        let count = head.field(0, 16) as usize;
        let base = Datatype::decode_nested(r, inside)?;
        if !matches!(base, Datatype::Integer(_)) {
            return Err(r.error(ErrorKind::Unsupported { feature: "enumeration of non-integer values" }));
        }
        head.expect_size(r, base.size(r.widths()), "the size of the base type")?;
        let mut names = Vec::with_capacity(count.min(r.remaining()));
        for _ in 0..count {
            names.push(decode_name(r, head.version, "enumeration name")?);
        }
        let mut members = Vec::with_capacity(count);
        for name in names {
            members.push((name, r.bytes(head.size as usize)?.to_vec()));
        }
        Ok(Self { base: Box::new(base), members })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>, version: u8, floor: u8) {
        let count = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        debug_assert!(count <= 0xffff, "the format has 16 bits for the number of members");
        let size = self.base.stored_size(w.widths());
        head(w, 8, version, count & 0xffff, size);
        self.base.encode_from(w, floor);
        for (name, _) in &self.members {
            encode_name(w, version, name);
        }
        for (_, value) in &self.members {
            debug_assert_eq!(value.len(), size as usize, "a value has the size of the base type");
            w.bytes(value);
        }
    }
}

/// Decodes class 9: sequences (type 0) and strings (type 1) of variable length.
pub(super) fn decode_variable(r: &mut Reader<'_>, head: Head, inside: u32) -> Result<Datatype> {
    let kind = head.field(0, 4);
    let text = match kind {
        0 => None,
        1 => Some(text::decode_variable(r, head)?),
        other => return Err(r.bad_value("variable-length type", other.into(), "0 or 1")),
    };
    let heap_id = 4 + r.widths().offset.bytes() as u64 + 4;
    head.expect_size(r, heap_id, "a length, an address and an index")?;
    // The base type of a string is a single byte. Its class has no effect.
    let base = Datatype::decode_nested(r, inside)?;
    Ok(text.map_or_else(|| Datatype::Sequence(Box::new(base)), Datatype::VariableText))
}

/// Encodes a sequence of `base`.
pub(super) fn encode_sequence(base: &Datatype, w: &mut Writer<'_>, version: u8, floor: u8) {
    let heap_id = 4 + w.widths().offset.bytes() + 4;
    head(w, 9, version, 0, u32::try_from(heap_id).unwrap_or(0));
    base.encode_from(w, floor);
}

impl Array {
    /// Decodes versions 1 to 5. The class came with version 2, but early libraries wrote version 1 before the
    /// same bytes; `encode` writes such an array as version 2.
    pub(super) fn decode(r: &mut Reader<'_>, head: Head, inside: u32) -> Result<Self> {
        let rank = r.u8()?;
        if rank > MAX_RANK {
            return Err(r.bad_value("dimensionality", rank.into(), "at most 32"));
        }
        let padded = head.version < 3;
        if padded {
            r.skip(3)?;
        }
        let mut shape = Vec::with_capacity(rank.into());
        for _ in 0..rank {
            shape.push(r.u32()?);
        }
        if padded {
            r.skip(4 * usize::from(rank))?; // permutation of dimensions, never used
        }
        let array = Self { base: Box::new(Datatype::decode_nested(r, inside)?), shape };
        let size =
            array.shape.iter().try_fold(array.base.size(r.widths()), |size, &n| size.checked_mul(n.into()));
        head.expect_size(r, size.unwrap_or(u64::MAX), "the total size of its elements")?;
        Ok(array)
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>, version: u8, floor: u8) {
        let base_size = self.base.size(w.widths());
        let size = self.shape.iter().fold(base_size, |size, &n| size.saturating_mul(n.into()));
        head(w, 10, version, 0, u32::try_from(size).unwrap_or(u32::MAX));
        w.u8(u8::try_from(self.shape.len()).unwrap_or(u8::MAX));
        if version == 2 {
            w.zeros(3);
        }
        for &count in &self.shape {
            w.u32(count);
        }
        if version == 2 {
            for (dimension, _) in (0_u32..).zip(&self.shape) {
                w.u32(dimension);
            }
        }
        self.base.encode_from(w, floor);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{decode, decode_error, encode};
    use super::super::{Float, Integer};
    use super::*;

    #[test]
    fn other_classes_of_h5py_encode_to_the_bytes_of_libhdf5() {
        let enumeration = Enumeration {
            base: Box::new(Datatype::Integer(Integer::little(2, true))),
            members: [("BLUE__12", 42_i16), ("GREEN", 1), ("RED", 0)]
                .map(|(name, value)| (name.to_owned(), value.to_le_bytes().to_vec()))
                .into(),
        };
        let reference = |size, kind| Datatype::Reference(Reference { size, kind });
        for (datatype, hex) in [
            (
                Datatype::Enumeration(enumeration),
                "1803000002000000100800000200000000001000424c55455f5f31320000000000000000475245454e000000524544\
                 00000000002a0001000000",
            ),
            (
                Datatype::Sequence(Box::new(Datatype::Integer(Integer::little(4, true)))),
                "1900000010000000100800000400000000002000",
            ),
            (Datatype::Opaque(Opaque { size: 7, tag: String::new() }), "1500000007000000"),
            (
                Datatype::Opaque(Opaque { size: 8, tag: "NUMPY:datetime64[s]".to_owned() }),
                "15180000080000004e554d50593a6461746574696d6536345b735d0000000000",
            ),
            (reference(8, ReferenceKind::Object1), "1700000008000000"),
            (reference(12, ReferenceKind::Region1), "170100000c000000"),
            (reference(64, ReferenceKind::Object2), "4712000040000000"),
            (
                Datatype::Time(Time { size: 4, order: ByteOrder::Little, precision: 32 }),
                "12000000040000002000",
            ),
        ] {
            assert_eq!(decode(hex), datatype);
            assert_eq!(encode(&datatype, 1), hex);
        }
    }

    #[test]
    fn an_array_size_other_than_that_of_its_elements_is_an_error() {
        // numpy dtype ('<i4', (2,)) at version 2 and 3
        let array = Array { base: Box::new(Datatype::Integer(Integer::little(4, true))), shape: vec![2] };
        let hex = encode(&Datatype::Array(array.clone()), 3);
        assert_eq!(hex, "3a000000080000000102000000100800000400000000002000");
        assert_eq!(decode(&hex), Datatype::Array(array));
        let error = decode_error(&hex.replacen("08000000", "09000000", 1));
        assert!(matches!(error.kind, ErrorKind::Value { field: "datatype size", value: 9, .. }), "{error}");
    }

    #[test]
    fn an_array_of_version_1_decodes_and_encodes_as_version_2() {
        // PyTables, tables/tests/ex-noattr.h5
        let hex = "1a00000050000000010000000a0000000000000011203f000800000000004000340b0034ff030000";
        let double = Datatype::Float(Float::ieee(8, ByteOrder::Little).unwrap());
        let array = Datatype::Array(Array { base: Box::new(double), shape: vec![10] });
        assert_eq!(decode(hex), array);
        assert_eq!(encode(&array, 1), hex.replacen("1a", "2a", 1));
    }

    #[test]
    fn nesting_beyond_the_depth_limit_is_an_error() {
        let error = decode_error(&"1900000010000000".repeat(1000));
        assert_eq!(error.kind, ErrorKind::Depth { limit: 32 });
    }
}
