//! Fixed Array data block, `FADB`, and its pages (spec VII.C).
//!
//! Named by the header. A block of more elements than a page holds has a bitmap of the pages that were written, and
//! the pages follow it, each with a checksum of its own.

use crate::addr::Addr;
use crate::array::element::{Client, Elements, encode_prefix};
use crate::array::fixed::header::FixedArrayHeader;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// A data block, without its pages. Fields in disk order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedArrayBlock {
    /// What the elements describe.
    pub client: Client,
    /// The header that names this block.
    pub header: Addr,
    /// What the block holds.
    pub content: FixedArrayContent,
}

/// The elements of a data block, or which of its pages were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixedArrayContent {
    /// All elements.
    Elements(Elements),
    /// One bit a page, the most significant first: it was written.
    Pages(Vec<u8>),
}

impl FixedArrayBlock {
    /// The data block of the array whose header is at `at`, without any chunk.
    pub fn new(at: Addr, header: &FixedArrayHeader) -> Self {
        let client = header.format.client;
        let size = |count| usize::try_from(count).unwrap_or(usize::MAX);
        let content = match header.pages() {
            0 => FixedArrayContent::Elements(Elements::unwritten(client, size(header.elements))),
            pages => FixedArrayContent::Pages(vec![0; size(pages.div_ceil(8))]),
        };
        Self { client, header: at, content }
    }

    /// Notes that page `number` was written.
    pub fn set_page(&mut self, number: u64) {
        if let FixedArrayContent::Pages(bitmap) = &mut self.content {
            set_bit(bitmap, number);
        }
    }

    /// Whether page `number` was written; a page that was not has no chunks, and no checksum.
    pub fn has_page(&self, number: u64) -> bool {
        match &self.content {
            FixedArrayContent::Elements(_) => false,
            FixedArrayContent::Pages(bitmap) => bit(bitmap, number),
        }
    }

    /// The first page from number `from` on that was written.
    pub fn next_page(&self, from: u64) -> Option<u64> {
        let FixedArrayContent::Pages(bitmap) = &self.content else { return None };
        let start = usize::try_from(from / 8).ok()?;
        let rest = bitmap.get(start..)?;
        // The first byte has pages before `from`, too.
        let first = rest.first()? & (0xff >> (from % 8));
        let (skipped, byte) = match first {
            0 => rest.iter().copied().enumerate().skip(1).find(|(_, byte)| *byte != 0)?,
            _ => (0, first),
        };
        Some((start + skipped) as u64 * 8 + u64::from(byte.leading_zeros()))
    }
}

/// Bit `number` of a bitmap whose bytes begin with the most significant bit.
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
    fn the_next_page_is_the_first_that_has_its_bit() {
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
