//! Fixed Array header, `FAHD` (spec VII.C).
//!
//! Indexes the chunks of a dataset whose extents are all fixed. The layout message names the header, and the
//! header names one data block.

use crate::addr::{Addr, Extent};
use crate::array::element::{Client, ElementFormat};
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// The header of a Fixed Array. Fields in disk order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedArrayHeader {
    /// The kind and the size of the elements.
    pub format: ElementFormat,
    /// log2 of the number of elements in a page. A data block with more elements than one page is paged.
    pub page_bits: u8,
    /// The number of elements: the number of chunks in the largest extent. Elements are in row-major order.
    pub elements: u64,
    /// The address of the `FADB`; undefined until the first chunk is written.
    pub data_block: Addr,
}

/// The location of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixedArraySlot {
    /// In the data block itself, at this position.
    Block(usize),
    /// In a page of the data block.
    Page {
        /// The number of the page, which is also the number of its bit in the data block's bitmap.
        number: u64,
        /// The extent of the page in the file.
        extent: Extent,
        /// The number of elements in the page.
        elements: usize,
        /// The position of the element in the page.
        position: usize,
    },
}

impl FixedArrayHeader {
    /// Returns the number of pages of the data block; 0 if it is not paged.
    pub fn pages(&self) -> u64 {
        if self.elements > self.page_elements() { self.elements.div_ceil(self.page_elements()) } else { 0 }
    }

    /// Returns the number of elements in a full page.
    pub fn page_elements(&self) -> u64 {
        1 << self.page_bits
    }

    /// Returns the location of element `number`. `None` if it does not exist or its address overflows.
    pub fn slot(&self, number: u64, widths: Widths) -> Option<FixedArraySlot> {
        if number >= self.elements {
            return None;
        }
        if self.pages() == 0 {
            return usize::try_from(number).ok().map(FixedArraySlot::Block);
        }
        let page = number >> self.page_bits;
        let elements =
            usize::try_from(self.page_elements().min(self.elements - (page << self.page_bits))).ok()?;
        let full_page =
            u64::from(self.format.size).checked_mul(self.page_elements())?.checked_add(CHECKSUM)?;
        let prefix = u64::try_from(self.prefix_len(widths)).ok()?;
        let addr = self.data_block.checked_add(page.checked_mul(full_page)?.checked_add(prefix)?)?;
        let len = self.format.bytes(elements) as u64 + CHECKSUM;
        let position = usize::try_from(number & (self.page_elements() - 1)).ok()?;
        Some(FixedArraySlot::Page { number: page, extent: Extent::new(addr, len), elements, position })
    }

    /// Returns the size in bytes of the data block, its pages included. `None` on overflow.
    pub fn data_block_len(&self, widths: Widths) -> Option<u64> {
        let elements = u64::from(self.format.size).checked_mul(self.elements)?;
        // Each page has a checksum. `prefix_len` includes the checksum of a paged block itself.
        let checksums = self.pages().max(1).checked_mul(CHECKSUM)?;
        u64::try_from(self.prefix_len(widths)).ok()?.checked_add(elements)?.checked_add(checksums)
    }

    /// Returns the size of the data block before its elements or pages, with bitmap and (if paged) checksum.
    pub(super) fn prefix_len(&self, widths: Widths) -> usize {
        let bitmap = usize::try_from(self.pages().div_ceil(8)).unwrap_or(usize::MAX);
        let checksum = if self.pages() == 0 { 0 } else { 4 };
        (6 + widths.offset.bytes() + checksum).saturating_add(bitmap)
    }
}

impl Structure for FixedArrayHeader {
    const NAME: &'static str = "Fixed Array header";
    const SPEC: &'static str = "VII.C";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(widths: Widths, (): &()) -> usize {
        12 + widths.length.bytes() + widths.offset.bytes()
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.signature(b"FAHD")?;
        r.version(0)?;
        let client = Client::decode(r)?;
        let format = ElementFormat { client, size: r.u8()? }.check(r)?;
        let page_bits = r.u8()?;
        if page_bits > MAX_PAGE_BITS {
            return Err(r.bad_value("Page Bits", page_bits.into(), "at most 32"));
        }
        let header = Self { format, page_bits, elements: r.length()?, data_block: r.addr()? };
        r.checksum()?;
        Ok(header)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.signature(b"FAHD");
        w.u8(0); // version
        w.u8(self.format.client as u8);
        w.u8(self.format.size);
        w.u8(self.page_bits);
        w.length(self.elements);
        w.addr(self.data_block);
        w.checksum();
    }
}

const CHECKSUM: u64 = 4;
/// The largest `page_bits` that the reader accepts. No writer makes pages of nearly 2^32 elements.
const MAX_PAGE_BITS: u8 = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn header(elements: u64) -> FixedArrayHeader {
        FixedArrayHeader {
            format: ElementFormat { client: Client::Chunks, size: 8 },
            page_bits: 10,
            elements,
            data_block: Addr::new(1000),
        }
    }

    #[test]
    fn a_block_of_up_to_a_page_is_not_paged() {
        assert_eq!(header(1024).slot(1023, Widths::EIGHT), Some(FixedArraySlot::Block(1023)));
        assert_eq!(header(1024).slot(1024, Widths::EIGHT), None);
    }

    #[test]
    fn a_data_block_ends_where_its_last_page_does() {
        assert_eq!(header(3).data_block_len(Widths::EIGHT), Some(14 + 3 * 8 + 4));
        for elements in [1025, 4096, 5000] {
            let header = header(elements);
            let Some(FixedArraySlot::Page { extent, .. }) = header.slot(elements - 1, Widths::EIGHT) else {
                panic!("not paged");
            };
            let end = header.data_block.get() + header.data_block_len(Widths::EIGHT).unwrap();
            assert_eq!(extent.end(), Some(Addr::new(end)));
        }
        assert_eq!(header(u64::MAX).data_block_len(Widths::EIGHT), None);
    }

    #[test]
    fn pages_follow_the_bitmap_and_the_last_is_short() {
        let slot = header(1025).slot(1024, Widths::EIGHT).unwrap();
        let prefix = 4 + 1 + 1 + 8 + 1 + 4;
        let extent = Extent::new(Addr::new(1000 + prefix + 1024 * 8 + 4), 12);
        assert_eq!(slot, FixedArraySlot::Page { number: 1, extent, elements: 1, position: 0 });
    }
}
