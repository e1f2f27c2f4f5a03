//! Superblock versions 0 and 1 (spec II.A): of files for old libraries, which find the root group by a symbol table entry.

use super::{SIGNATURE, check_ends, signature, width_bytes, widths};
use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::{ErrorKind, Result};
use crate::message::small::SymbolTable;
use crate::structure::Structure;

/// A superblock of version 0 or 1. Fields in disk order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuperblockV0 {
    /// 0 or 1.
    pub version: u8,
    /// The widths of addresses and lengths.
    pub widths: Widths,
    /// Half the capacity of a symbol table node.
    pub group_leaf_k: u16,
    /// Half the capacity of a node of a group's B-tree.
    pub group_internal_k: u16,
    /// File Consistency Flags: unused in these versions.
    pub consistency_flags: u8,
    /// Half the capacity of a node of a chunk B-tree: version 1 alone.
    pub indexed_storage_k: Option<u16>,
    /// The file offset to which addresses are relative.
    pub base_address: u64,
    /// Free-space information: never written.
    pub free_space: Addr,
    /// The file offset after the last byte used.
    pub end_of_file: u64,
    /// The driver information block.
    pub driver_information: Addr,
    /// The root group.
    pub root: RootEntry,
}

/// The symbol table entry of the root group (spec III.C).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootEntry {
    /// Where its name would be: it has none.
    pub name_offset: u64,
    /// Its object header.
    pub header: Addr,
    /// Its B-tree and local heap, if the entry repeats them (cache type 1).
    pub symbol_table: Option<SymbolTable>,
}

/// Bytes of the scratch pad in which an entry keeps what it repeats.
const SCRATCH: usize = 16;

impl Structure for SuperblockV0 {
    const NAME: &'static str = "superblock";
    const SPEC: &'static str = "II.A";
    type Context = ();

    fn read_len(_: Widths, (): &()) -> usize {
        100
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        signature(r)?;
        let version = r.version_in(0..=1, "0 and 1")?;
        r.version(0)?; // of the file's free space storage
        r.version(0)?; // of the root group symbol table entry
        r.skip(1)?;
        r.version(0)?; // of the shared header message format
        let widths = widths(r)?;
        r.adopt_widths(widths);
        r.skip(1)?;
        let group_leaf_k = k(r, "Group Leaf Node K")?;
        let group_internal_k = k(r, "Group Internal Node K")?;
        let flags = r.u32()?;
        let consistency_flags = u8::try_from(flags)
            .map_err(|_| r.bad_value("File Consistency Flags", flags.into(), "at most 255"))?;
        let indexed_storage_k = if version == 1 {
            let k = k(r, "Indexed Storage Internal Node K")?;
            r.skip(2)?;
            Some(k)
        } else {
            None
        };
        let base_address = r.addr()?;
        let free_space = r.addr()?;
        let end_of_file = r.addr()?;
        let (base_address, end_of_file) = check_ends(r, base_address, end_of_file)?;
        Ok(Self {
            version,
            widths,
            group_leaf_k,
            group_internal_k,
            consistency_flags,
            indexed_storage_k,
            base_address,
            free_space,
            end_of_file,
            driver_information: r.addr()?,
            root: r.structure(&())?,
        })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.adopt_widths(self.widths);
        w.bytes(&SIGNATURE);
        w.u8(self.version);
        w.u8(0); // version of the file's free space storage
        w.u8(0); // version of the root group symbol table entry
        w.zeros(1);
        w.u8(0); // version of the shared header message format
        w.bytes(&width_bytes(self.widths));
        w.zeros(1);
        w.u16(self.group_leaf_k);
        w.u16(self.group_internal_k);
        w.u32(self.consistency_flags.into());
        if self.version == 1 {
            w.u16(self.indexed_storage_k.unwrap_or(super::DEFAULT_INDEXED_STORAGE_K));
            w.zeros(2);
        }
        w.addr(Addr::new(self.base_address));
        w.addr(self.free_space);
        w.addr(Addr::new(self.end_of_file));
        w.addr(self.driver_information);
        w.structure(&self.root, &());
    }

    fn encoded_len(&self, _: Widths, (): &()) -> usize {
        let k = if self.version == 1 { 4 } else { 0 };
        24 + k + 4 * self.widths.offset.bytes() + self.root.encoded_len(self.widths, &())
    }
}

impl Structure for RootEntry {
    const NAME: &'static str = "root group symbol table entry";
    const SPEC: &'static str = "III.C";
    type Context = ();

    fn read_len(widths: Widths, (): &()) -> usize {
        2 * widths.offset.bytes() + 8 + SCRATCH
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        let name_offset = r.uint(r.widths().offset.bytes())?;
        let header = r.addr()?;
        if header.is_undefined() {
            return Err(r.error(ErrorKind::Missing { what: "the root group's object header" }));
        }
        let cache_type = r.u32()?;
        r.skip(4)?;
        let mut scratch = r.sub(SCRATCH)?;
        let symbol_table = match cache_type {
            0 => None,
            1 => Some(scratch.structure(&())?),
            other => return Err(r.bad_value("Cache Type", other.into(), "0 or 1: the root is a group")),
        };
        Ok(Self { name_offset, header, symbol_table })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.uint(self.name_offset, w.widths().offset.bytes());
        w.addr(self.header);
        w.u32(self.symbol_table.is_some().into());
        w.zeros(4);
        let used = self.symbol_table.map_or(0, |table| {
            w.structure(&table, &());
            table.encoded_len(w.widths(), &())
        });
        w.zeros(SCRATCH - used);
    }

    fn encoded_len(&self, widths: Widths, (): &()) -> usize {
        Self::read_len(widths, &())
    }
}

/// Reads half the capacity of a node, which is not zero.
fn k(r: &mut Reader<'_>, field: &'static str) -> Result<u16> {
    match r.u16()? {
        0 => Err(r.error_back(2, ErrorKind::Value { field, value: 0, expected: "at least 1" })),
        k => Ok(k),
    }
}
