//! Messages of a few bytes (spec IV.A.2.n to t, w, y): comment, modification times, shared message table,
//! continuation, symbol table, B-tree K values, reference count, metadata cache image. NIL needs no
//! structure: readers ignore its bytes.

use crate::addr::{Addr, Extent};
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::shared_messages::table::MAX_INDEXES;
use crate::structure::{Structure, fields};

/// Object comment, type 13: a text for human readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The text.
    pub text: String,
}

/// Object modification time, old, type 14: a date in UTC as decimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OldModificationTime {
    /// `YYYYMMDDhhmmss` in ASCII.
    pub digits: [u8; 14],
}

/// Object header continuation, type 16: the place of further messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Continuation {
    /// The next chunk of the object header.
    pub extent: Extent,
}

/// Symbol table message, type 17: the links of an old-style group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolTable {
    /// The version 1 B-tree that indexes the links.
    pub btree: Addr,
    /// The local heap that holds the names of the links.
    pub heap: Addr,
}

/// Object modification time, type 18.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModificationTime {
    /// Seconds since 1970 in UTC.
    pub seconds: u32,
}

/// B-tree K values, type 19, in a superblock extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BTreeK {
    /// Half the capacity of a node of a chunk B-tree.
    pub indexed_storage_k: u16,
    /// Half the capacity of a node of a group's B-tree.
    pub group_internal_k: u16,
    /// Half the capacity of a symbol table node.
    pub group_leaf_k: u16,
}

/// Object reference count, type 22: the number of hard links, stored if it is not 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferenceCount {
    /// The number of hard links to the object.
    pub count: u32,
}

/// Shared message table message, type 15, in a superblock extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedMessages {
    /// The address of the table.
    pub table: Addr,
    /// The number of indexes in the table.
    pub indexes: u8,
}

/// Metadata cache image message, type 24, in a superblock extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheImageMessage {
    /// The extent of the image.
    pub extent: Extent,
}

fields!(SymbolTable { btree: addr, heap: addr });
fields!(SharedMessages { table: addr, indexes: u8 });
fields!(BTreeK { indexed_storage_k: u16, group_internal_k: u16, group_leaf_k: u16 });

impl OldModificationTime {
    /// Returns the seconds since 1970 in UTC, or `None` if the digits are not a date.
    pub fn seconds(&self) -> Option<i64> {
        let number = |digits: &[u8]| {
            digits.iter().try_fold(0_i64, |sum, &digit| {
                digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0'))
            })
        };
        let [y1, y2, y3, y4, rest @ ..] = &self.digits;
        let year = number(&[*y1, *y2, *y3, *y4])?;
        let mut pairs = rest.chunks_exact(2).map(number);
        let mut pair =
            |range: std::ops::RangeInclusive<i64>| pairs.next().flatten().filter(|n| range.contains(n));
        let (month, day) = (pair(1..=12)?, pair(1..=31)?);
        let (hour, minute, second) = (pair(0..=23)?, pair(0..=59)?, pair(0..=60)?);
        // Days since 1970-01-01 in the Gregorian calendar. Years begin in March here, so that a leap day is
        // the last day of its year.
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        let days = days + (153 * month + 2) / 5 + day - 1 - 719_468;
        Some(((days * 24 + hour) * 60 + minute) * 60 + second)
    }
}

impl Structure for Comment {
    const NAME: &'static str = "object comment message";
    const SPEC: &'static str = "IV.A.2.n";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        Ok(Self { text: r.zero_terminated_text("Comment")? })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.bytes(self.text.as_bytes());
        w.zeros(1);
    }
}

impl Structure for OldModificationTime {
    const NAME: &'static str = "old object modification time message";
    const SPEC: &'static str = "IV.A.2.o";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(_: Widths, (): &()) -> usize {
        16
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        let digits = r.array()?;
        r.skip(2)?;
        Ok(Self { digits })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.bytes(&self.digits);
        w.zeros(2);
    }
}

impl Structure for Continuation {
    const NAME: &'static str = "object header continuation message";
    const SPEC: &'static str = "IV.A.2.q";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(widths: Widths, (): &()) -> usize {
        widths.offset.bytes() + widths.length.bytes()
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        let extent = Extent::new(r.addr()?, r.length()?);
        if extent.end().is_none() {
            return Err(r.bad_value("Offset", extent.addr.get(), "an address"));
        }
        Ok(Self { extent })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.addr(self.extent.addr);
        w.length(self.extent.len);
    }
}

impl Structure for SymbolTable {
    const NAME: &'static str = "symbol table message";
    const SPEC: &'static str = "IV.A.2.r";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(widths: Widths, (): &()) -> usize {
        2 * widths.offset.bytes()
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        Self::decode_fields(r)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        self.encode_fields(w);
    }
}

impl Structure for ModificationTime {
    const NAME: &'static str = "object modification time message";
    const SPEC: &'static str = "IV.A.2.s";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(_: Widths, (): &()) -> usize {
        8
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.version(1)?;
        r.skip(3)?;
        Ok(Self { seconds: r.u32()? })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.u8(1); // version
        w.zeros(3);
        w.u32(self.seconds);
    }
}

impl Structure for BTreeK {
    const NAME: &'static str = "B-tree K values message";
    const SPEC: &'static str = "IV.A.2.t";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(_: Widths, (): &()) -> usize {
        7
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.version(0)?;
        Self::decode_fields(r)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.u8(0); // version
        self.encode_fields(w);
    }
}

impl Structure for ReferenceCount {
    const NAME: &'static str = "object reference count message";
    const SPEC: &'static str = "IV.A.2.w";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(_: Widths, (): &()) -> usize {
        5
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.version(0)?;
        Ok(Self { count: r.u32()? })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.u8(0); // version
        w.u32(self.count);
    }
}

impl Structure for SharedMessages {
    const NAME: &'static str = "shared message table message";
    const SPEC: &'static str = "IV.A.2.p";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(widths: Widths, (): &()) -> usize {
        1 + widths.offset.bytes() + 1
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.version(0)?;
        let message = Self::decode_fields(r)?;
        if !(1..=MAX_INDEXES).contains(&message.indexes) {
            return Err(r.bad_value("Number of Indices", message.indexes.into(), "1 to 8"));
        }
        Ok(message)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.u8(0); // version
        self.encode_fields(w);
    }
}

impl Structure for CacheImageMessage {
    const NAME: &'static str = "metadata cache image message";
    const SPEC: &'static str = "IV.A.2.y";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(widths: Widths, (): &()) -> usize {
        1 + widths.offset.bytes() + widths.length.bytes()
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.version(0)?;
        Ok(Self { extent: Extent::new(r.addr()?, r.length()?) })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.u8(0); // version
        w.addr(self.extent.addr);
        w.length(self.extent.len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values come from `date -u -d '...' +%s`.
    #[test]
    fn an_old_modification_time_is_a_date_in_utc() {
        let seconds = |digits: &[u8; 14]| OldModificationTime { digits: *digits }.seconds();
        assert_eq!(seconds(b"19700101000000"), Some(0));
        assert_eq!(seconds(b"20000229235959"), Some(951_868_799));
        assert_eq!(seconds(b"19980415083000"), Some(892_629_000));
        assert_eq!(seconds(b"2000022923595x"), None);
        assert_eq!(seconds(b"20001329235959"), None);
    }
}
