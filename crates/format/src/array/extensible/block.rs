//! Extensible Array secondary block, `EASB`, and data block, `EADB` (spec VII.D).
//!
//! The index block names secondary blocks. A secondary block names data blocks and has the bitmaps of their
//! pages. A data block either contains its elements or is followed by pages that contain them. Each page has
//! its own checksum.

use crate::addr::{Addr, Extent};
use crate::array::element::{Client, Elements, encode_prefix};
use crate::array::extensible::{ExtensibleArrayHeader, Geometry};
use crate::array::fixed::block::{bit, set_bit};
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// A secondary block. Fields in disk order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondaryBlock {
    /// The kind of the elements.
    pub client: Client,
    /// The address of the array's header.
    pub header: Addr,
    /// The number of the block's first element, counted from the end of the index block's elements.
    pub offset: u64,
    /// The page bitmaps of the data blocks: one bit for each page, most significant first, set once the page
    /// is written. Empty if data blocks are not paged.
    pub pages: Vec<u8>,
    /// The addresses of the data blocks; undefined until written.
    pub data_blocks: Vec<Addr>,
}

impl SecondaryBlock {
    /// Creates the secondary block of super block `super_block`. `at` is the address of the array's header.
    pub fn new(at: Addr, offset: u64, (header, super_block): &SecondaryBlockContext) -> Self {
        let geometry = Geometry::new(header.parameters);
        Self {
            client: header.format.client,
            header: at,
            offset,
            pages: vec![0; bitmap_bytes(geometry, *super_block)],
            data_blocks: vec![Addr::UNDEFINED; geometry.data_blocks(*super_block)],
        }
    }

    /// Marks page `page` of data block `data_block` as written. Each data block has `pages` pages.
    pub fn set_page(&mut self, data_block: usize, page: u64, pages: u64) {
        if let Some(first) = (data_block as u64).checked_mul(pages) {
            set_bit(&mut self.pages, first.saturating_add(page));
        }
    }

    /// Returns whether page `page` of data block `data_block` was written. Each data block has `pages` pages.
    pub fn has_page(&self, data_block: usize, page: u64, pages: u64) -> bool {
        // libhdf5 reads the bitmaps of all data blocks as one sequence of bits, without padding between them.
        (data_block as u64).checked_mul(pages).is_some_and(|first| bit(&self.pages, first + page))
    }
}

/// The header of the array, and the number of the super block to which a secondary block belongs.
pub type SecondaryBlockContext = (ExtensibleArrayHeader, u32);

impl Structure for SecondaryBlock {
    const NAME: &'static str = "Extensible Array secondary block";
    const SPEC: &'static str = "VII.D";
    type Context = SecondaryBlockContext;
    const FIXED: bool = true;

    fn read_len(widths: Widths, (header, super_block): &SecondaryBlockContext) -> usize {
        let geometry = Geometry::new(header.parameters);
        let pointers = geometry.data_blocks(*super_block).saturating_mul(widths.offset.bytes());
        let bitmaps = bitmap_bytes(geometry, *super_block);
        (10 + widths.offset.bytes() + geometry.offset_bytes())
            .saturating_add(pointers)
            .saturating_add(bitmaps)
    }

    fn decode(r: &mut Reader<'_>, (header, super_block): &SecondaryBlockContext) -> Result<Self> {
        let geometry = Geometry::new(header.parameters);
        let owner = header.format.decode_prefix(r, *b"EASB")?;
        let offset = r.uint(geometry.offset_bytes())?;
        let pages = r.bytes(bitmap_bytes(geometry, *super_block))?.to_vec();
        let count = geometry.data_blocks(*super_block);
        let mut pointers = r.sub(count.saturating_mul(r.widths().offset.bytes()))?;
        let data_blocks = (0..count).map(|_| pointers.addr()).collect::<Result<_>>()?;
        r.checksum()?;
        Ok(Self { client: header.format.client, header: owner, offset, pages, data_blocks })
    }

    fn encode(&self, w: &mut Writer<'_>, (header, _): &SecondaryBlockContext) {
        encode_prefix(w, *b"EASB", self.client, self.header);
        w.uint(self.offset, Geometry::new(header.parameters).offset_bytes());
        w.bytes(&self.pages);
        self.data_blocks.iter().for_each(|&addr| w.addr(addr));
        w.checksum();
    }
}

/// Returns the size in bytes of a super block's page bitmaps. Each data block's bitmap has whole bytes.
fn bitmap_bytes(geometry: Geometry, super_block: u32) -> usize {
    let pages = geometry.pages(geometry.block_elements(super_block));
    let each = usize::try_from(pages.div_ceil(8)).unwrap_or(usize::MAX);
    geometry.data_blocks(super_block).saturating_mul(each)
}

/// A data block, without its pages. Fields in disk order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataBlock {
    /// The kind of the elements.
    pub client: Client,
    /// The address of the array's header.
    pub header: Addr,
    /// The number of the block's first element, counted from the end of the index block's elements.
    pub offset: u64,
    /// The elements; empty if the block is paged.
    pub elements: Elements,
}

/// The header of the array, and the number of elements in a data block.
pub type DataBlockContext = (ExtensibleArrayHeader, u64);

impl DataBlock {
    /// Creates a data block without any chunk. `at` is the address of the array's header.
    pub fn new(at: Addr, offset: u64, context: &DataBlockContext) -> Self {
        let client = context.0.format.client;
        let elements = Elements::unwritten(client, Self::stored_elements(context));
        Self { client, header: at, offset, elements }
    }

    /// Returns the size in bytes of a data block of `elements` elements, with its pages. `None` on overflow.
    pub fn len_bytes(header: &ExtensibleArrayHeader, elements: u64, widths: Widths) -> Option<u64> {
        let geometry = Geometry::new(header.parameters);
        let checksums = geometry.pages(elements).checked_add(1)?.checked_mul(4)?;
        let prefix = prefix_len(geometry, widths) as u64;
        u64::from(header.format.size).checked_mul(elements)?.checked_add(checksums)?.checked_add(prefix)
    }

    /// Returns the extent of page `number` of the paged data block at `addr`.
    pub fn page_extent(
        addr: Addr,
        number: u64,
        header: &ExtensibleArrayHeader,
        widths: Widths,
    ) -> Option<Extent> {
        let geometry = Geometry::new(header.parameters);
        let page = u64::from(header.format.size).checked_mul(geometry.page_elements())?.checked_add(4)?;
        let prefix = prefix_len(geometry, widths) as u64 + 4;
        let addr = addr.checked_add(number.checked_mul(page)?.checked_add(prefix)?)?;
        Some(Extent::new(addr, page))
    }

    fn stored_elements((header, elements): &DataBlockContext) -> usize {
        let is_paged = Geometry::new(header.parameters).pages(*elements) > 0;
        if is_paged { 0 } else { usize::try_from(*elements).unwrap_or(usize::MAX) }
    }
}

/// Returns the number of bytes of a data block before its elements.
fn prefix_len(geometry: Geometry, widths: Widths) -> usize {
    6 + widths.offset.bytes() + geometry.offset_bytes()
}

impl Structure for DataBlock {
    const NAME: &'static str = "Extensible Array data block";
    const SPEC: &'static str = "VII.D";
    type Context = DataBlockContext;
    const FIXED: bool = true;

    fn read_len(widths: Widths, context: &DataBlockContext) -> usize {
        let elements = context.0.format.bytes(Self::stored_elements(context));
        (prefix_len(Geometry::new(context.0.parameters), widths) + 4).saturating_add(elements)
    }

    fn decode(r: &mut Reader<'_>, context: &DataBlockContext) -> Result<Self> {
        let (header, _) = context;
        let owner = header.format.decode_prefix(r, *b"EADB")?;
        let offset = r.uint(Geometry::new(header.parameters).offset_bytes())?;
        let elements = Elements::decode(r, Self::stored_elements(context), header.format)?;
        r.checksum()?;
        Ok(Self { client: header.format.client, header: owner, offset, elements })
    }

    fn encode(&self, w: &mut Writer<'_>, (header, _): &DataBlockContext) {
        encode_prefix(w, *b"EADB", self.client, self.header);
        w.uint(self.offset, Geometry::new(header.parameters).offset_bytes());
        self.elements.encode(w, header.format);
        w.checksum();
    }
}
