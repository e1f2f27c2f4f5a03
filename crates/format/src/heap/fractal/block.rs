//! Fractal heap direct and indirect blocks, `FHDB` and `FHIB` (spec III.G).

use std::ops::Range;

use super::geometry::{HeapChild, HeapGeometry};
use crate::addr::Addr;
use crate::bytes::lookup3::lookup3;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::{ErrorKind, Result};
use crate::structure::Structure;

/// An indirect block: a table of other blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndirectBlock {
    /// The heap offset at which the block's space begins.
    pub offset: u64,
    /// The entries, row by row.
    pub entries: Vec<BlockEntry>,
}

/// An entry of an indirect block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockEntry {
    /// The address of the block; undefined if the block does not exist yet.
    pub addr: Addr,
    /// The stored size in bytes and the filter mask. Present for direct blocks of heaps with filters.
    pub filtered: Option<(u64, u32)>,
}

/// The facts that decoding an indirect block needs from other structures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndirectBlockContext {
    /// The heap's shape.
    pub geometry: HeapGeometry,
    /// The number of rows: from the header for the root block, from [`HeapChild`] for the others.
    pub rows: u16,
}

/// A direct block: objects, with free space between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectBlock {
    /// The heap offset at which the block begins.
    pub offset: u64,
    /// The size of the block's header in bytes. Offsets of objects count from the beginning of the header.
    overhead: usize,
    /// The bytes after the block's header.
    pub data: Vec<u8>,
}

/// The facts that decoding a direct block needs from other structures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectBlockContext {
    /// The heap's shape.
    pub geometry: HeapGeometry,
    /// The size of the block in bytes before filtering.
    pub size: u64,
}

impl IndirectBlockContext {
    fn entries(&self) -> usize {
        usize::from(self.rows) * usize::from(self.geometry.width)
    }

    /// Returns whether entry `entry` has a stored size and a filter mask.
    fn has_filtering(&self, entry: usize) -> bool {
        self.geometry.filtered && matches!(self.geometry.entry(entry).0, HeapChild::Direct { .. })
    }
}

impl Structure for IndirectBlock {
    const NAME: &'static str = "fractal heap indirect block";
    const SPEC: &'static str = "III.G";
    type Context = IndirectBlockContext;
    const FIXED: bool = true;

    fn read_len(widths: Widths, context: &IndirectBlockContext) -> usize {
        context.geometry.indirect_len(context.rows, widths)
    }

    fn decode(r: &mut Reader<'_>, context: &IndirectBlockContext) -> Result<Self> {
        let mut r = r.sub(Self::read_len(r.widths(), context))?;
        r.signature(b"FHIB")?;
        r.version(0)?;
        let offset = decode_owner(&mut r, &context.geometry)?;
        let mut entries = Vec::with_capacity(context.entries());
        for entry in 0..context.entries() {
            let addr = r.addr()?;
            let filtered = if context.has_filtering(entry) { Some((r.length()?, r.u32()?)) } else { None };
            entries.push(BlockEntry { addr, filtered });
        }
        r.checksum()?;
        Ok(Self { offset, entries })
    }

    fn encode(&self, w: &mut Writer<'_>, context: &IndirectBlockContext) {
        w.signature(b"FHIB");
        w.u8(0); // version
        w.addr(context.geometry.heap);
        w.uint(self.offset, context.geometry.offset_width());
        for (index, entry) in self.entries.iter().enumerate() {
            w.addr(entry.addr);
            if context.has_filtering(index) {
                let (size, mask) = entry.filtered.unwrap_or_default();
                w.length(size);
                w.u32(mask);
            }
        }
        w.checksum();
    }
}

impl DirectBlock {
    /// Creates a block that contains `data`, padded with zeros to the block's size.
    pub fn new(offset: u64, mut data: Vec<u8>, context: &DirectBlockContext, widths: Widths) -> Self {
        let overhead = context.geometry.direct_overhead(widths);
        data.resize(context.len().saturating_sub(overhead), 0);
        Self { offset, overhead, data }
    }

    /// Returns the `len` bytes that begin `within` bytes after the beginning of the block (the header
    /// counts). `None` if any of these bytes is outside the block's data.
    pub fn object(&self, within: u64, len: u64) -> Option<&[u8]> {
        self.data.get(self.range(within, len)?)
    }

    /// Returns the same bytes as [`object`](Self::object), mutably.
    pub fn object_mut(&mut self, within: u64, len: u64) -> Option<&mut [u8]> {
        let range = self.range(within, len)?;
        self.data.get_mut(range)
    }

    /// Returns the range of an object in `data`.
    fn range(&self, within: u64, len: u64) -> Option<Range<usize>> {
        let start = usize::try_from(within).ok()?.checked_sub(self.overhead)?;
        Some(start..start.checked_add(usize::try_from(len).ok()?)?)
    }
}

impl DirectBlockContext {
    fn len(&self) -> usize {
        usize::try_from(self.size).unwrap_or(usize::MAX)
    }
}

/// Returns the checksum of the whole block, computed with zeros in the checksum field at `at`.
fn block_checksum(block: &[u8], at: usize) -> u32 {
    let mut copy = block.to_vec();
    if let Some(field) = copy.get_mut(at..at + 4) {
        field.fill(0);
    }
    lookup3(&copy)
}

impl Structure for DirectBlock {
    const NAME: &'static str = "fractal heap direct block";
    const SPEC: &'static str = "III.G";
    type Context = DirectBlockContext;
    const FIXED: bool = true;

    /// Returns the size before filtering. A filtered block's stored size is in its entry or the heap's
    /// header.
    fn read_len(_: Widths, context: &DirectBlockContext) -> usize {
        context.len()
    }

    /// Decodes a block after the heap's filters have been undone.
    fn decode(r: &mut Reader<'_>, context: &DirectBlockContext) -> Result<Self> {
        let mut all = r.clone();
        let mut r = r.sub(context.len())?;
        r.signature(b"FHDB")?;
        r.version(0)?;
        let offset = decode_owner(&mut r, &context.geometry)?;
        if context.geometry.checksummed {
            let overhead = context.geometry.direct_overhead(r.widths());
            let computed = block_checksum(all.bytes(context.len())?, overhead - 4);
            let stored = r.u32()?;
            if stored != computed {
                return Err(r.error_back(4, ErrorKind::Checksum { stored, computed }));
            }
        }
        let overhead = context.geometry.direct_overhead(r.widths());
        Ok(Self { offset, overhead, data: r.rest().to_vec() })
    }

    fn encode(&self, w: &mut Writer<'_>, context: &DirectBlockContext) {
        let mut block = Vec::with_capacity(context.len());
        let mut inner = Writer::new(&mut block, w.widths());
        inner.signature(b"FHDB");
        inner.u8(0); // version
        inner.addr(context.geometry.heap);
        inner.uint(self.offset, context.geometry.offset_width());
        if context.geometry.checksummed {
            inner.u32(0);
        }
        inner.bytes(&self.data);
        if context.geometry.checksummed {
            let at = context.geometry.direct_overhead(w.widths()) - 4;
            let sum = block_checksum(&block, at);
            if let Some(field) = block.get_mut(at..at + 4) {
                field.copy_from_slice(&sum.to_le_bytes());
            }
        }
        w.bytes(&block);
    }
}

/// Reads the address of the heap's header, which must match `geometry.heap`, and returns the block's offset.
fn decode_owner(r: &mut Reader<'_>, geometry: &HeapGeometry) -> Result<u64> {
    let heap = r.addr()?;
    if heap != geometry.heap {
        return Err(r.bad_value("heap header address", heap.get(), "the address of this block's heap"));
    }
    r.uint(geometry.offset_width())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{error, golden};

    /// The geometry that libhdf5 gives every heap of links.
    fn links(heap: u64) -> HeapGeometry {
        HeapGeometry {
            heap: Addr::new(heap),
            width: 4,
            starting_size: 512,
            max_direct_size: 65536,
            max_heap_bits: 32,
            filtered: false,
            checksummed: true,
        }
    }

    #[test]
    fn a_direct_block_of_links_decodes() {
        // h5py, libver v110: the links of a group of 10 members
        let context = DirectBlockContext { geometry: links(0x4_4759), size: 512 };
        let hex = "4648444200594704 00*9 0e08cc2301000866615f736d616c6cb3 00*7 01000866615f7061676564db01 00*6 \
            01000865615f736d616c6c8d03 00*6 01000665615f6d6964e104 00*6 01000665615f62696767ac 00*6 \
            01000862745f736d616c6cc72c01000000000001000662745f626967cbf00100 \
            0000000001000564656e73652f6203000000000001000b64656e73655f6f7264 \
            65729a460400000000000100056174747273996704 00*315";
        let block = golden::<DirectBlock>(hex, &context);
        assert_eq!(block.offset, 0);
        assert_eq!(&block.object(21, 11).unwrap()[3..], b"fa_small");
        assert_eq!(block.object(20, 1), None);
        assert_eq!(block.object(21, 512 - 21).unwrap().len(), 512 - 21);
        assert_eq!(block.object(21, 512 - 20), None);
        assert_eq!(block.object(u64::MAX, u64::MAX), None);
        assert_eq!(DirectBlock::new(0, block.data.clone(), &context, Widths::EIGHT), block);
        let other = DirectBlockContext { geometry: links(0x4_4758), size: 512 };
        assert!(matches!(
            error::<DirectBlock>(hex, &other),
            ErrorKind::Value { field: "heap header address", .. }
        ));
        let flipped = hex.replace("65729a46", "65729a47");
        assert!(matches!(error::<DirectBlock>(&flipped, &context), ErrorKind::Checksum { .. }));
    }

    #[test]
    fn an_indirect_block_of_links_decodes() {
        // h5py, libver v110: the links by name of a group of 40 members
        let context = IndirectBlockContext { geometry: links(0x4_4ed8), rows: 1 };
        let hex = "4648494200d84e04 00*9 36681500000000003666150000000000 ff*16 fda17583";
        let block = golden::<IndirectBlock>(hex, &context);
        let addrs: Vec<_> = block.entries.iter().map(|entry| entry.addr).collect();
        assert_eq!(addrs, [Addr::new(0x15_6836), Addr::new(0x15_6636), Addr::UNDEFINED, Addr::UNDEFINED]);
    }

    #[test]
    fn blocks_of_a_heap_with_filters_decode() {
        // libhdf5 2.0, `H5Pset_deflate` on the creation properties of a group
        let geometry = HeapGeometry { filtered: true, ..links(0x27f) };
        let hex = "46484942007f02 00*10 a2dc 00*6 65 00*11 5cdc 00*6 46 00*11 ff*8 00*12 ff*8 00*12 05612af6";
        let block = golden::<IndirectBlock>(hex, &IndirectBlockContext { geometry, rows: 1 });
        assert_eq!(block.entries[1], BlockEntry { addr: Addr::new(0xdc5c), filtered: Some((70, 0)) });
        assert_eq!(block.entries[2], BlockEntry { addr: Addr::UNDEFINED, filtered: Some((0, 0)) });
        // The second block, inflated.
        let hex = "\
            46484442007f02 00*7 020000bdb3692d010801226120726174686572206c6f6e67206e616d6520666f \
            722061206c696e6b203030313102002f78 00*449";
        let direct = golden::<DirectBlock>(hex, &DirectBlockContext { geometry, size: 512 });
        assert_eq!(direct.offset, 512);
    }

    #[test]
    fn entries_for_indirect_blocks_have_no_stored_size() {
        let geometry = HeapGeometry { filtered: true, ..links(0) };
        let context = IndirectBlockContext { geometry, rows: 10 };
        let entries = (0..40_u64)
            .map(|n| BlockEntry { addr: Addr::new(n), filtered: (n < 36).then_some((n, 1)) })
            .collect();
        let block = IndirectBlock { offset: 0, entries };
        let mut bytes = Vec::new();
        Writer::new(&mut bytes, Widths::EIGHT).structure(&block, &context);
        assert_eq!(bytes.len(), block.encoded_len(Widths::EIGHT, &context));
        let mut r = Reader::new(&bytes, Widths::EIGHT, Addr::new(0));
        assert_eq!(r.structure::<IndirectBlock>(&context).unwrap(), block);
    }
}
