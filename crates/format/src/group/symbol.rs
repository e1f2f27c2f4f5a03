//! Symbol table node, `SNOD` (spec III.B), and its entry (III.C): the links of an old-style group, sorted by
//! name.
//!
//! The group's version 1 B-tree names the node. The group's local heap holds the names.

use crate::addr::Addr;
use crate::bytes::{Reader, Width, Widths, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// A symbol table node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolTableNode {
    /// The links in ascending order of their names.
    pub entries: Vec<SymbolTableEntry>,
}

/// A link of an old-style group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolTableEntry {
    /// The offset of the name in the local heap.
    pub name_offset: u64,
    /// The address of the object header; undefined for a soft link.
    pub header: Addr,
    /// The cached facts about the object.
    pub cache: EntryCache,
}

/// The facts about an object that its entry caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryCache {
    /// Cache type 0: none.
    None,
    /// Cache type 1: the symbol table message of the group.
    Group {
        /// The address of the group's B-tree.
        btree: Addr,
        /// The address of the group's local heap.
        heap: Addr,
    },
    /// Cache type 2: the entry is a soft link.
    SoftLink {
        /// The offset of the target path in the local heap.
        path_offset: u32,
    },
}

/// The fact that decoding a node needs from the superblock: Group Leaf Node K.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolTableContext {
    /// Half the capacity of a node.
    pub k: u16,
}

impl SymbolTableContext {
    /// Returns the number of links for which a node has room.
    pub fn capacity(self) -> usize {
        2 * usize::from(self.k)
    }

    /// Returns the size of a node in bytes.
    pub fn node_len(self, widths: Widths) -> usize {
        4 + 1 + 1 + 2 + self.capacity() * SymbolTableEntry::len(widths)
    }
}

/// The size in bytes of the cached facts; the same for every cache type.
const SCRATCH_PAD: usize = 16;

impl SymbolTableEntry {
    /// Returns the size of an entry in bytes.
    pub fn len(widths: Widths) -> usize {
        widths.length.bytes() + widths.offset.bytes() + 4 + 4 + SCRATCH_PAD
    }
}

impl Structure for SymbolTableNode {
    const NAME: &'static str = "symbol table node";
    const SPEC: &'static str = "III.B";
    type Context = SymbolTableContext;
    const FIXED: bool = true;

    fn read_len(widths: Widths, context: &SymbolTableContext) -> usize {
        context.node_len(widths)
    }

    fn decode(r: &mut Reader<'_>, context: &SymbolTableContext) -> Result<Self> {
        let mut r = r.sub(context.node_len(r.widths()))?;
        r.signature(b"SNOD")?;
        r.version(1)?;
        r.skip(1)?;
        let count = usize::from(r.u16()?);
        r.at_most(0, "number of symbols", count as u64, context.capacity() as u64)?;
        let entries = (0..count).map(|_| r.structure(&())).collect::<Result<_>>()?;
        Ok(Self { entries })
    }

    fn encode(&self, w: &mut Writer<'_>, context: &SymbolTableContext) {
        debug_assert!(self.entries.len() <= context.capacity(), "the entries fit in the node");
        w.signature(b"SNOD");
        w.u8(1); // version
        w.zeros(1);
        w.u16(u16::try_from(self.entries.len()).unwrap_or(u16::MAX));
        for entry in &self.entries {
            w.structure(entry, &());
        }
        let unused = context.capacity().saturating_sub(self.entries.len());
        w.zeros(unused * SymbolTableEntry::len(w.widths()));
    }
}

impl Structure for SymbolTableEntry {
    const NAME: &'static str = "symbol table entry";
    const SPEC: &'static str = "III.C";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(widths: Widths, (): &()) -> usize {
        Self::len(widths)
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        let name_offset = r.length()?;
        let header = r.addr()?;
        let cache_type = r.u32()?;
        r.skip(4)?;
        let mut pad = r.sub(SCRATCH_PAD)?;
        let cache = match cache_type {
            0 => EntryCache::None,
            // Addresses of 16 bytes do not fit in the scratch-pad. libhdf5 writes them beyond it.
            1 if r.widths().offset == Width::Sixteen => EntryCache::None,
            1 => EntryCache::Group { btree: pad.addr()?, heap: pad.addr()? },
            2 => EntryCache::SoftLink { path_offset: pad.u32()? },
            other => return Err(r.bad_value("cache type", other.into(), "0 to 2")),
        };
        Ok(Self { name_offset, header, cache })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.length(self.name_offset);
        w.addr(self.header);
        let address = w.widths().offset.bytes();
        let unused = match self.cache {
            EntryCache::Group { btree, heap } if address <= SCRATCH_PAD / 2 => {
                w.u32(1);
                w.zeros(4);
                w.addr(btree);
                w.addr(heap);
                SCRATCH_PAD - 2 * address
            }
            EntryCache::None | EntryCache::Group { .. } => {
                w.u32(0);
                w.zeros(4);
                SCRATCH_PAD
            }
            EntryCache::SoftLink { path_offset } => {
                w.u32(2);
                w.zeros(4);
                w.u32(path_offset);
                SCRATCH_PAD - 4
            }
        };
        w.zeros(unused);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::golden::{error, golden};

    const CONTEXT: SymbolTableContext = SymbolTableContext { k: 4 };

    #[test]
    fn a_group_with_a_subgroup_and_a_soft_link_decodes() {
        // h5py, libver earliest: g['x'] = SoftLink('/some/path'); g.create_group('sub')
        let node = golden::<SymbolTableNode>(
            "534e4f440100020020 00*7 7008 00*6 01 00*7 9808 00*6 b80a 00*6 08 00*7 ff*8 02 00*7 10 00*255",
            &CONTEXT,
        );
        let [subgroup, soft] = node.entries[..] else { panic!("{} entries", node.entries.len()) };
        assert_eq!((subgroup.name_offset, subgroup.header), (0x20, Addr::new(0x870)));
        assert_eq!(subgroup.cache, EntryCache::Group { btree: Addr::new(0x898), heap: Addr::new(0xab8) });
        assert_eq!((soft.name_offset, soft.header), (8, Addr::UNDEFINED));
        assert_eq!(soft.cache, EntryCache::SoftLink { path_offset: 16 });
    }

    #[test]
    fn an_unknown_cache_type_is_an_error() {
        let kind = error::<SymbolTableEntry>("00*16 03 00*23", &());
        assert!(matches!(kind, ErrorKind::Value { field: "cache type", value: 3, .. }));
    }
}
