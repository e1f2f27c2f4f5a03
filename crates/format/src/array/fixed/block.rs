//! Fixed Array data block, `FADB`, and its pages (spec VII.C).
//!
//! The header names the data block. A block with more elements than one page holds has a bitmap of the
//! written pages, and the pages follow it. Each page has its own checksum.

use crate::addr::Addr;
use crate::array::element::{Client, Elements, encode_prefix};
use crate::array::fixed::header::FixedArrayHeader;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// A data block, without its pages. Fields in disk order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedArrayBlock {
    /// The kind of the elements.
    pub client: Client,
    /// The address of the header that names this block.
    pub header: Addr,
    /// The elements, or the bitmap of the pages.
    pub content: FixedArrayContent,
}

/// The content of a data block: its elements, or the bitmap of its written pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixedArrayContent {
    /// All elements.
    Elements(Elements),
    /// One bit for each page, most significant first, set once the page is written.
    Pages(Vec<u8>),
}

impl FixedArrayBlock {
    /// Creates a data block without any chunk. `at` is the address of the array's header.
    pub fn new(at: Addr, header: &FixedArrayHeader) -> Self {
        let client = header.format.client;
        let size = |count| usize::try_from(count).unwrap_or(usize::MAX);
        let content = match header.pages() {
            0 => FixedArrayContent::Elements(Elements::unwritten(client, size(header.elements))),
            pages => FixedArrayContent::Pages(vec![0; size(pages.div_ceil(8))]),
        };
        Self { client, header: at, content }
    }

    /// Marks page `number` as written.
    pub fn set_page(&mut self, number: u64) {
        if let FixedArrayContent::Pages(bitmap) = &mut self.content {
            set_bit(bitmap, number);
        }
    }

    /// Returns whether page `number` was written. An unwritten page has no chunks and no checksum.
    pub fn has_page(&self, number: u64) -> bool {
        match &self.content {
            FixedArrayContent::Elements(_) => false,
            FixedArrayContent::Pages(bitmap) => bit(bitmap, number),
        }
    }

    /// Returns the first written page from page `from` on.
    pub fn next_page(&self, from: u64) -> Option<u64> {
        let FixedArrayContent::Pages(bitmap) = &self.content else { return None };
        let start = usize::try_from(from / 8).ok()?;
        let rest = bitmap.get(start..)?;
        // The first byte also has bits of pages before `from`.
        let first = rest.first()? & (0xff >> (from % 8));
        let (skipped, byte) = match first {
            0 => rest.iter().copied().enumerate().skip(1).find(|(_, byte)| *byte != 0)?,
            _ => (0, first),
        };
        Some((start + skipped) as u64 * 8 + u64::from(byte.leading_zeros()))
    }
}

/// Returns bit `number` of a bitmap in which each byte begins with its most significant bit.
pub(in crate::array) fn bit(bitmap: &[u8], number: u64) -> bool {
    let byte = usize::try_from(number / 8).ok().and_then(|index| bitmap.get(index));
    byte.is_some_and(|byte| byte & (0x80 >> (number % 8)) != 0)
}

/// Sets bit `number` of such a bitmap.
pub(in crate::array) fn set_bit(bitmap: &mut [u8], number: u64) {
    let byte = usize::try_from(number / 8).ok().and_then(|index| bitmap.get_mut(index));
    if let Some(byte) = byte {
        *byte |= 0x80 >> (number % 8);
    }
}

impl Structure for FixedArrayBlock {
    const NAME: &'static str = "Fixed Array data block";
    const SPEC: &'static str = "VII.C";
    type Context = FixedArrayHeader;
    const FIXED: bool = true;

    fn read_len(widths: Widths, header: &FixedArrayHeader) -> usize {
        let prefix = header.prefix_len(widths);
        if header.pages() > 0 {
            return prefix;
        }
        let elements = usize::try_from(header.elements).unwrap_or(usize::MAX);
        prefix.saturating_add(header.format.bytes(elements)).saturating_add(4)
    }

    fn decode(r: &mut Reader<'_>, header: &FixedArrayHeader) -> Result<Self> {
        let owner = header.format.decode_prefix(r, *b"FADB")?;
        let content = if header.pages() > 0 {
            let bitmap = usize::try_from(header.pages().div_ceil(8)).unwrap_or(usize::MAX);
            FixedArrayContent::Pages(r.bytes(bitmap)?.to_vec())
        } else {
            let count = usize::try_from(header.elements).unwrap_or(usize::MAX);
            FixedArrayContent::Elements(Elements::decode(r, count, header.format)?)
        };
        r.checksum()?;
        Ok(Self { client: header.format.client, header: owner, content })
    }

    fn encode(&self, w: &mut Writer<'_>, header: &FixedArrayHeader) {
        encode_prefix(w, *b"FADB", self.client, self.header);
        match &self.content {
            FixedArrayContent::Elements(elements) => elements.encode(w, header.format),
            FixedArrayContent::Pages(bitmap) => w.bytes(bitmap),
        }
        w.checksum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::element::ElementFormat;

    #[test]
    fn next_page_finds_the_first_written_page() {
        let format = ElementFormat { client: Client::Chunks, size: 8 };
        let header = FixedArrayHeader { format, page_bits: 1, elements: 200, data_block: Addr::new(8) };
        for written in [&[][..], &[0], &[7, 8], &[0, 1, 31, 32, 95], &[99], &(0..100).collect::<Vec<_>>()] {
            let mut block = FixedArrayBlock::new(Addr::new(64), &header);
            for &page in written {
                block.set_page(page);
            }
            for from in 0..=110 {
                let expected = written.iter().copied().find(|&page| page >= from);
                assert_eq!(block.next_page(from), expected, "{written:?} from {from}");
            }
        }
    }
}
