//! Compounds (class 6; spec IV.A.2.d): members with names and offsets. Version 1 stores dimensions for each
//! member; version 3 packs names and offsets.

use std::collections::HashSet;

use super::head::{HEAD_LEN, Head, head};
use super::{Array, Compound, Datatype, Member};
use crate::bytes::{Reader, Writer, bytes_for};
use crate::error::Result;

/// The number of dimensions that version 1 stores for each member.
const VERSION_1_RANK: usize = 4;

impl Compound {
    pub(super) fn decode(r: &mut Reader<'_>, head: Head, inside: u32) -> Result<Self> {
        let count = head.field(0, 16) as usize;
        if count == 0 {
            return Err(r.bad_value("number of members", 0, "at least 1"));
        }
        // A member takes more bytes than the head of its datatype, which bounds the allocation.
        let mut members = Vec::with_capacity(count.min(r.remaining() / HEAD_LEN));
        for _ in 0..count {
            members.push(Member::decode(r, head, inside)?);
        }
        let compound = Self { size: head.size, members };
        compound.check(r)?;
        Ok(compound)
    }

    /// Checks that the members have distinct names, are inside the element and do not overlap.
    fn check(&self, r: &Reader<'_>) -> Result<()> {
        let mut names = HashSet::with_capacity(self.members.len());
        let mut ranges = Vec::with_capacity(self.members.len());
        for member in &self.members {
            let offset = u64::from(member.offset);
            let end = offset.saturating_add(member.datatype.size(r.widths()));
            if end > self.size.into() {
                return Err(r.bad_value("member offset", offset, "a member inside the element"));
            }
            if !names.insert(member.name.as_str()) {
                return Err(r.bad_value("member name", offset, "a name that no other member has"));
            }
            ranges.push(offset..end);
        }
        ranges.sort_unstable_by_key(|range| range.start);
        match ranges.windows(2).find(|pair| matches!(pair, [a, b] if a.end > b.start)) {
            Some(pair) => {
                let offset = pair.last().map_or(0, |range| range.start);
                Err(r.bad_value("member offset", offset, "members that do not overlap"))
            }
            None => Ok(()),
        }
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>, version: u8, floor: u8) {
        let count = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        debug_assert!(count <= 0xffff, "the format has 16 bits for the number of members");
        head(w, 6, version, count & 0xffff, self.size);
        // When libhdf5 adds a member, it raises the earlier members to the new member's version, but not the
        // new member to theirs.
        let mut floors: Vec<u8> = Vec::with_capacity(self.members.len());
        let mut highest = floor;
        for member in self.members.iter().rev() {
            highest = highest.max(member.datatype.version_from(floor));
            floors.push(highest);
        }
        for (member, &member_floor) in self.members.iter().zip(floors.iter().rev()) {
            member.encode(w, version, self.size, member_floor);
        }
    }
}

impl Member {
    /// Creates a member.
    pub fn new(name: impl Into<String>, offset: u32, datatype: Datatype) -> Self {
        Self { name: name.into(), offset, datatype }
    }

    fn decode(r: &mut Reader<'_>, compound: Head, inside: u32) -> Result<Self> {
        let name = decode_name(r, compound.version, "member name")?;
        let offset = match compound.version {
            1 | 2 => r.u32()?,
            _ => u32::from_le_bytes(widened(r.bytes(bytes_for(compound.size.into()))?)),
        };
        let shape = if compound.version == 1 { decode_shape(r)? } else { Vec::new() };
        let datatype = Datatype::decode_nested(r, inside)?;
        if shape.is_empty() {
            return Ok(Self { name, offset, datatype });
        }
        let array = Array { base: Box::new(datatype), shape };
        Ok(Self { name, offset, datatype: Datatype::Array(array) })
    }

    fn encode(&self, w: &mut Writer<'_>, version: u8, compound_size: u32, floor: u8) {
        encode_name(w, version, &self.name);
        match version {
            1 | 2 => w.u32(self.offset),
            _ => w.uint(self.offset.into(), bytes_for(compound_size.into())),
        }
        if version == 1 {
            // Rank, permutation and dimensions are zero: an array member has its own class from version 2 on.
            w.zeros(4 + 4 + 4 + 4 * VERSION_1_RANK);
        }
        self.datatype.encode_from(w, floor);
    }
}

/// Reads the dimensions of a version 1 member: rank, reserved, permutation (ignored), reserved, four sizes.
fn decode_shape(r: &mut Reader<'_>) -> Result<Vec<u32>> {
    let rank = usize::from(r.u8()?);
    r.skip(3 + 4 + 4)?;
    let mut shape = Vec::with_capacity(VERSION_1_RANK);
    for _ in 0..VERSION_1_RANK {
        shape.push(r.u32()?);
    }
    if rank > VERSION_1_RANK {
        return Err(r.bad_value("member dimensionality", rank as u64, "at most 4"));
    }
    shape.truncate(rank);
    if shape.contains(&0) {
        return Err(r.bad_value("member dimension size", 0, "at least 1"));
    }
    Ok(shape)
}

/// Extends `low`, at most four bytes, with zeros to four bytes.
fn widened(low: &[u8]) -> [u8; 4] {
    let mut wide = [0; 4];
    for (wide, &low) in wide.iter_mut().zip(low) {
        *wide = low;
    }
    wide
}

/// Reads a zero-terminated name. Before version 3, it is padded to a multiple of eight bytes.
pub(super) fn decode_name(r: &mut Reader<'_>, version: u8, field: &'static str) -> Result<String> {
    let name = r.zero_terminated_text(field)?;
    if version < 3 {
        r.skip(padding_after(name.len()))?;
    }
    Ok(name)
}

/// Writes the bytes that [`decode_name`] reads.
pub(super) fn encode_name(w: &mut Writer<'_>, version: u8, name: &str) {
    w.bytes(name.as_bytes());
    w.u8(0);
    if version < 3 {
        w.zeros(padding_after(name.len()));
    }
}

/// Returns the padding in bytes after a zero-terminated name of `len` bytes, to a multiple of eight.
fn padding_after(len: usize) -> usize {
    7 - len % 8
}

#[cfg(test)]
mod tests {
    use super::super::tests::{decode, decode_bytes, decode_error, encode, unhex};
    use super::super::{ByteOrder, Charset, Float, Integer, Padding, Text};
    use super::*;
    use crate::error::ErrorKind;

    fn int() -> Datatype {
        Datatype::Integer(Integer::little(4, true))
    }

    #[test]
    fn version_1_stores_dimensions_for_each_member() {
        // numpy [('a', '<i4'), ('bcdefgh', '<f8')], H5Tencode
        let hex = "160200000c00000061000000000000000000000000000000000000000000000000000000000000000000000000000000\
                   1008000004000000000020006263646566676800040000000000000000000000000000000000000000000000000000\
                   000000000011203f000800000000004000340b0034ff030000";
        let double = Datatype::Float(Float::ieee(8, ByteOrder::Little).unwrap());
        let members = vec![Member::new("a", 0, int()), Member::new("bcdefgh", 4, double)];
        let datatype = Datatype::Compound(Compound { size: 12, members });
        assert_eq!(decode(hex), datatype);
        assert_eq!(encode(&datatype, 1), hex);
        // The same compound with a shape of (2, 3) in the first member, as HDF5 1.2 wrote arrays.
        let mut bytes = unhex(hex);
        bytes[4] = 32;
        bytes[20] = 2;
        bytes[32] = 2;
        bytes[36] = 3;
        bytes[68] = 24;
        let Datatype::Compound(compound) = decode_bytes(&bytes).unwrap() else { panic!("not a compound") };
        assert_eq!(
            compound.members[0].datatype,
            Datatype::Array(Array { base: Box::new(int()), shape: vec![2, 3] })
        );
        assert_eq!(compound.members[1].offset, 24);
    }

    #[test]
    fn a_compound_with_an_array_member_has_version_2() {
        // numpy [('a', '<i4', (2, 3)), ('b', 'S3')], H5Tencode
        let hex = "260200001b0000006100000000000000000000002a0000001800000002000000020000000300000000000000010000\
                   001008000004000000000020006200000000000000180000001301000003000000";
        let array = Datatype::Array(Array { base: Box::new(int()), shape: vec![2, 3] });
        let text = Datatype::Text(Text { size: 3, padding: Padding::NullPadded, charset: Charset::Ascii });
        let members = vec![Member::new("a", 0, array), Member::new("b", 24, text)];
        let datatype = Datatype::Compound(Compound { size: 27, members });
        assert_eq!(decode(hex), datatype);
        assert_eq!(encode(&datatype, 1), hex);
    }

    #[test]
    fn members_outside_the_element_or_overlapping_are_refused() {
        let compound = |size, offsets: [u32; 2]| {
            let members = vec![Member::new("a", offsets[0], int()), Member::new("b", offsets[1], int())];
            encode(&Datatype::Compound(Compound { size, members }), 3)
        };
        decode(&compound(8, [4, 0]));
        for bad in [compound(8, [0, 5]), compound(12, [0, 3]), compound(8, [u32::from(u8::MAX), 0])] {
            let error = decode_error(&bad);
            assert!(matches!(error.kind, ErrorKind::Value { field: "member offset", .. }), "{error}");
        }
    }

    #[test]
    fn two_members_of_one_name_are_an_error() {
        let members = vec![Member::new("a", 0, int()), Member::new("a", 4, int())];
        let error = decode_error(&encode(&Datatype::Compound(Compound { size: 8, members }), 1));
        assert!(matches!(error.kind, ErrorKind::Value { field: "member name", .. }), "{error}");
    }
}
