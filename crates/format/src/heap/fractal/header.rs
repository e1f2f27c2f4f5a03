//! Fractal heap header, `FRHP` (spec III.G).
//!
//! The link info, attribute info and shared message table messages name the header. The header names the root
//! block, the B-tree of huge objects and the free-space manager.

use super::geometry::HeapGeometry;
use super::id::HeapIdForm;
use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer, bytes_for};
use crate::error::Result;
use crate::message::filters::FilterPipeline;
use crate::structure::{Structure, fields};

/// The header of a fractal heap. Fields in disk order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FractalHeapHeader {
    /// The size of a heap id in bytes.
    pub id_len: u16,
    /// Whether the ids of huge objects have wrapped around (flag bit 0).
    pub huge_ids_wrapped: bool,
    /// Whether direct blocks have a checksum (flag bit 1).
    pub checksummed: bool,
    /// The size in bytes of the largest object that blocks may hold. Larger objects are huge objects.
    pub max_managed_size: u32,
    /// The id of the next huge object.
    pub next_huge_id: u64,
    /// The address of the version 2 B-tree of huge objects.
    pub huge_btree: Addr,
    /// The number of free bytes in managed blocks.
    pub free_space: u64,
    /// The address of the free-space manager.
    pub free_space_manager: Addr,
    /// Counts and sizes of the heap's objects.
    pub statistics: HeapStatistics,
    /// The number of columns of the doubling table.
    pub table_width: u16,
    /// The size in bytes of the blocks in the first two rows.
    pub starting_size: u64,
    /// The size in bytes of the largest direct block.
    pub max_direct_size: u64,
    /// The number of bits of the largest heap offset.
    pub max_heap_bits: u16,
    /// The number of rows of a new root indirect block.
    pub starting_rows: u16,
    /// The address of the root block; undefined in an empty heap.
    pub root: Addr,
    /// The number of rows of the root indirect block; 0 if the root is a direct block.
    pub root_rows: u16,
    /// The filters for blocks and huge objects.
    pub filtering: Option<HeapFiltering>,
}

/// Counts and sizes of a heap's objects. Fields in disk order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeapStatistics {
    /// The number of bytes of managed space.
    pub managed_space: u64,
    /// The number of bytes of managed space for which blocks exist.
    pub allocated_space: u64,
    /// The heap offset at which the next block is allocated.
    pub iterator_offset: u64,
    /// The number of objects in blocks.
    pub managed_objects: u64,
    /// The total size of huge objects in bytes.
    pub huge_size: u64,
    /// The number of huge objects.
    pub huge_objects: u64,
    /// The total size of tiny objects in bytes. Tiny objects are stored in their ids.
    pub tiny_size: u64,
    /// The number of tiny objects.
    pub tiny_objects: u64,
}

/// The filters of a heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeapFiltering {
    /// The stored size in bytes of the root direct block, if the root is a direct block.
    pub root_size: u64,
    /// The mask of the filters that were skipped for the root direct block.
    pub root_mask: u32,
    /// The filter pipeline.
    pub pipeline: FilterPipeline,
}

const HUGE_IDS_WRAPPED: u8 = 1;
const CHECKSUMMED: u8 = 2;

impl FractalHeapHeader {
    /// Returns the geometry of this heap's blocks. `heap` is the address of this header.
    pub fn geometry(&self, heap: Addr) -> HeapGeometry {
        HeapGeometry {
            heap,
            width: self.table_width,
            starting_size: self.starting_size,
            max_direct_size: self.max_direct_size,
            max_heap_bits: self.max_heap_bits,
            filtered: self.filtering.is_some(),
            checksummed: self.checksummed,
        }
    }

    /// Returns the form of the heap's ids.
    pub fn id_form(&self) -> HeapIdForm {
        let largest_block = usize::try_from(self.max_direct_size.max(1).ilog2()).unwrap_or(64).div_ceil(8);
        HeapIdForm {
            len: self.id_len,
            offset_width: self.geometry(Addr::UNDEFINED).offset_width(),
            length_width: largest_block.min(bytes_for(self.max_managed_size.into())),
            filtered: self.filtering.is_some(),
        }
    }
}

impl Structure for FractalHeapHeader {
    const NAME: &'static str = "fractal heap header";
    const SPEC: &'static str = "III.G";
    type Context = ();

    /// Returns the size of a header without filters.
    fn read_len(widths: Widths, (): &()) -> usize {
        let (address, length) = (widths.offset.bytes(), widths.length.bytes());
        4 + 1 + 2 + 2 + 1 + 4 + 12 * length + 3 * address + 2 + 2 + 2 + 2 + 4
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.signature(b"FRHP")?;
        r.version(0)?;
        let id_len = r.u16()?;
        let filters_len = r.u16()?;
        let flags = r.u8()?;
        let mut header = Self {
            id_len,
            huge_ids_wrapped: flags & HUGE_IDS_WRAPPED != 0,
            checksummed: flags & CHECKSUMMED != 0,
            max_managed_size: r.u32()?,
            next_huge_id: r.length()?,
            huge_btree: r.addr()?,
            free_space: r.length()?,
            free_space_manager: r.addr()?,
            statistics: HeapStatistics::decode_fields(r)?,
            table_width: r.u16()?,
            starting_size: r.length()?,
            max_direct_size: r.length()?,
            max_heap_bits: r.u16()?,
            starting_rows: r.u16()?,
            root: r.addr()?,
            root_rows: r.u16()?,
            filtering: None,
        };
        if filters_len > 0 {
            header.filtering = Some(HeapFiltering::decode(r, filters_len)?);
        }
        r.checksum()?;
        header.check(r)?;
        Ok(header)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        let filters_len = self.filtering.as_ref().map_or(0, |f| f.pipeline.encoded_len(w.widths(), &()));
        w.signature(b"FRHP");
        w.u8(0); // version
        w.u16(self.id_len);
        w.u16(u16::try_from(filters_len).unwrap_or(u16::MAX));
        let wrapped = if self.huge_ids_wrapped { HUGE_IDS_WRAPPED } else { 0 };
        w.u8(wrapped | if self.checksummed { CHECKSUMMED } else { 0 });
        w.u32(self.max_managed_size);
        w.length(self.next_huge_id);
        w.addr(self.huge_btree);
        w.length(self.free_space);
        w.addr(self.free_space_manager);
        self.statistics.encode_fields(w);
        w.u16(self.table_width);
        w.length(self.starting_size);
        w.length(self.max_direct_size);
        w.u16(self.max_heap_bits);
        w.u16(self.starting_rows);
        w.addr(self.root);
        w.u16(self.root_rows);
        if let Some(filtering) = &self.filtering {
            w.length(filtering.root_size);
            w.u32(filtering.root_mask);
            w.structure(&filtering.pipeline, &());
        }
        w.checksum();
    }

    fn encoded_len(&self, widths: Widths, (): &()) -> usize {
        let filtering = self
            .filtering
            .as_ref()
            .map_or(0, |filtering| widths.length.bytes() + 4 + filtering.pipeline.encoded_len(widths, &()));
        Self::read_len(widths, &()) + filtering
    }
}

impl FractalHeapHeader {
    fn check(&self, r: &Reader<'_>) -> Result<()> {
        let geometry = self.geometry(Addr::UNDEFINED);
        if !geometry.is_sound() {
            let value = self.starting_size;
            return Err(r.bad_value(
                "starting block size",
                value,
                "sizes and width that are powers of two and go together",
            ));
        }
        let (rows, limit) = (self.root_rows.into(), geometry.max_root_rows().into());
        r.at_most(0, "rows in root indirect block", rows, limit)?;
        let form = self.id_form();
        if usize::from(self.id_len) < 1 + form.offset_width + form.length_width {
            return Err(r.bad_value("heap id length", self.id_len.into(), "room for an offset and a length"));
        }
        Ok(())
    }
}

fields!(HeapStatistics {
    managed_space: length,
    allocated_space: length,
    iterator_offset: length,
    managed_objects: length,
    huge_size: length,
    huge_objects: length,
    tiny_size: length,
    tiny_objects: length,
});

impl HeapFiltering {
    fn decode(r: &mut Reader<'_>, filters_len: u16) -> Result<Self> {
        let (root_size, root_mask) = (r.length()?, r.u32()?);
        let mut message = r.sub(filters_len.into())?;
        let pipeline = message.structure(&())?;
        if !message.is_at_end() {
            return Err(message.bad_value(
                "filter information length",
                filters_len.into(),
                "the encoded length of the filter pipeline message",
            ));
        }
        Ok(Self { root_size, root_mask, pipeline })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::golden::{error, golden};

    /// h5py, libver v110: the links of a group of 10 members.
    const ROOT_IS_DIRECT: &str = "465248500007000000020010 00*10 ff*8 3601 00*6 eb4704 00*6 02 00*7 02 00*14 0a 00*39 \
        04000002 00*8 01000000000020000100366a15 00*7 427f7392";

    /// libhdf5 2.0, `H5Pset_deflate` on the creation properties of a group.
    const FILTERED: &str = "465248500007000c00020010000001 00*7 a105 00*6 b405 00*6 4f03 00*7 08 00*7 04 00*7 04 00*6 \
        0c 00*7 2b4e 00*6 01 00*23 04000002 00*8 0100000000002000010007dd 00*6 01 00*13 \
        02010100010001000600000008f475f8";

    #[test]
    fn a_heap_of_links_decodes() {
        let header = golden::<FractalHeapHeader>(ROOT_IS_DIRECT, &());
        assert_eq!((header.id_len, header.checksummed, header.max_managed_size), (7, true, 4096));
        assert_eq!((header.root, header.root_rows), (Addr::new(0x15_6a36), 0));
        assert_eq!(header.statistics.managed_objects, 10);
        let form = header.id_form();
        assert_eq!((form.offset_width, form.length_width), (4, 2));
        assert!(!form.huge_is_direct(Widths::EIGHT));
    }

    #[test]
    fn a_heap_with_filters_decodes() {
        let header = golden::<FractalHeapHeader>(FILTERED, &());
        let filtering = header.filtering.as_ref().unwrap();
        assert_eq!((filtering.root_size, filtering.pipeline.filters.len()), (0, 1));
        assert_eq!(
            (filtering.pipeline.filters[0].id, &filtering.pipeline.filters[0].client_data[..]),
            (1, &[6][..])
        );
        assert_eq!((header.statistics.huge_objects, header.root_rows), (1, 1));
        assert!(header.geometry(Addr::new(0)).filtered);
    }

    #[test]
    fn an_id_too_short_for_an_offset_is_an_error() {
        let mut header = golden::<FractalHeapHeader>(ROOT_IS_DIRECT, &());
        header.id_len = 6;
        let mut bytes = Vec::new();
        header.encode(&mut Writer::new(&mut bytes, Widths::EIGHT), &());
        let hex: String = bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        let kind = error::<FractalHeapHeader>(&hex, &());
        assert!(matches!(kind, ErrorKind::Value { field: "heap id length", value: 6, .. }), "{kind:?}");
    }
}
