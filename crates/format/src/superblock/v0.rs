//! Superblock versions 0 and 1 (spec II.A), for old libraries. A symbol table entry leads to the root group.

use super::{SIGNATURE, check_ends, signature, widths};
use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::{ErrorKind, Result};
use crate::group::symbol::{EntryCache, SymbolTableEntry};
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
    /// Half the capacity of a node of a chunk B-tree; only in version 1.
    pub indexed_storage_k: Option<u16>,
    /// The file offset to which addresses are relative.
    pub base_address: u64,
    /// Free-space information: never written.
    pub free_space: Addr,
    /// The file offset after the last byte used.
    pub end_of_file: u64,
    /// The driver information block.
    pub driver_information: Addr,
    /// The symbol table entry of the root group.
    pub root: SymbolTableEntry,
}

impl SuperblockV0 {
    /// Returns the root group's B-tree and local heap, if the symbol table entry repeats them.
    pub fn root_symbol_table(&self) -> Option<SymbolTable> {
        match self.root.cache {
            EntryCache::Group { btree, heap } => Some(SymbolTable { btree, heap }),
            EntryCache::None | EntryCache::SoftLink { .. } => None,
        }
    }
}

impl Structure for SuperblockV0 {
    const NAME: &'static str = "superblock";
    const SPEC: &'static str = "II.A";
    type Context = ();

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
        let indexed_storage_k = r.when(version == 1, |r| k(r, "Indexed Storage Internal Node K"))?;
        r.skip(if version == 1 { 2 } else { 0 })?;
        let base_address = r.addr()?;
        let free_space = r.addr()?;
        let end_of_file = r.addr()?;
        let (base_address, end_of_file) = check_ends(r, base_address, end_of_file)?;
        let driver_information = r.addr()?;
        let root: SymbolTableEntry = r.structure(&())?;
        if root.header.is_undefined() {
            return Err(r.error(ErrorKind::Missing { what: "the root group's object header" }));
        }
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
            driver_information,
            root,
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
        w.bytes(&[self.widths.offset as u8, self.widths.length as u8]);
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
}

/// Reads half the capacity of a node. Zero is an error.
fn k(r: &mut Reader<'_>, field: &'static str) -> Result<u16> {
    match r.u16()? {
        0 => Err(r.error_back(2, ErrorKind::Value { field, value: 0, expected: "at least 1" })),
        k => Ok(k),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;

    /// The first bytes of a file that h5py 3.16 wrote with `userblock_size=1024`.
    #[test]
    fn version_0_with_a_user_block_round_trips_bytes_of_libhdf5() {
        let superblock: SuperblockV0 = golden::golden(
            "89484446 0d0a1a0a 00 00 00 00 00 08 08 00 0400 1000 00000000 0004000000000000 ff*8 337b000000000000 ff*8
             00*8 6000000000000000 01000000 00000000 8800000000000000 a802000000000000",
            &(),
        );
        assert_eq!((superblock.base_address, superblock.end_of_file), (1024, 31539));
        assert_eq!(superblock.root.header, Addr::new(0x60));
        let table = SymbolTable { btree: Addr::new(0x88), heap: Addr::new(0x2a8) };
        assert_eq!(superblock.root_symbol_table(), Some(table));
    }

    /// The first bytes of a file made with `H5Pset_sym_k(8, 2)` and `H5Pset_istore_k(64)`.
    #[test]
    fn version_1_stores_the_capacity_of_chunk_btree_nodes() {
        let superblock: SuperblockV0 = golden::golden(
            "89484446 0d0a1a0a 01 00 00 00 00 08 08 00 0200 0800 00000000 4000 0000 00*8 ff*8 4d6e000000000000 ff*8
             00*8 6400000000000000 01000000 00000000 8c00000000000000 ac01000000000000",
            &(),
        );
        let k = (superblock.group_leaf_k, superblock.group_internal_k, superblock.indexed_storage_k);
        assert_eq!(k, (2, 8, Some(64)));
    }

    #[test]
    fn a_node_without_capacity_is_refused() {
        let error = golden::error::<SuperblockV0>(
            "89484446 0d0a1a0a 00 00 00 00 00 08 08 00 0000 1000 00000000",
            &(),
        );
        assert_eq!(error, ErrorKind::Value { field: "Group Leaf Node K", value: 0, expected: "at least 1" });
    }
}
