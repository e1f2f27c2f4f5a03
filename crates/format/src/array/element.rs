//! An element of a Fixed or Extensible Array (spec VII.C, VII.D, "Data Block Element"): locates a chunk.

use crate::addr::Addr;
use crate::bytes::{Reader, Width, Widths, Writer};
use crate::error::Result;

/// The kind of the elements of an array ("Client ID").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Chunks without filters: each element is an address.
    Chunks,
    /// Filtered chunks: each element is an address, a stored size and a filter mask.
    FilteredChunks,
}

impl Client {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self> {
        match r.u8()? {
            0 => Ok(Self::Chunks),
            1 => Ok(Self::FilteredChunks),
            other => Err(r.bad_value("Client ID", other.into(), "0 or 1")),
        }
    }
}

/// Writes the first fields of a block of an array.
pub(super) fn encode_prefix(w: &mut Writer<'_>, signature: [u8; 4], client: Client, header: Addr) {
    w.bytes(&signature);
    w.bytes(&[0, client as u8]); // version
    w.addr(header);
}

/// The encoding of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementFormat {
    /// The kind of the elements.
    pub client: Client,
    /// The size of an element in bytes ("Entry Size", "Element Size").
    pub size: u8,
}

/// The location of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkElement {
    /// The address; undefined if the chunk was never written.
    pub addr: Addr,
    /// The stored size in bytes. 0 if chunks are not filtered: then all have the same size.
    pub len: u64,
    /// The filter mask: bit `i` is set if filter `i` was skipped. 0 if chunks are not filtered.
    pub mask: u32,
}

impl ChunkElement {
    /// The element of a chunk that was never written.
    pub const UNDEFINED: Self = Self { addr: Addr::UNDEFINED, len: 0, mask: 0 };
}

impl ElementFormat {
    /// Returns the format that libhdf5 gives elements. Layout versions 4 and 5 determine the width of a
    /// filtered chunk's size field.
    pub fn new(client: Client, widths: Widths, chunk_bytes: u64, layout_version: u8) -> Self {
        let addr = widths.offset.bytes();
        let size = match client {
            Client::Chunks => addr,
            Client::FilteredChunks => {
                addr + chunk_size_width(widths, chunk_bytes, layout_version) + MASK_BYTES
            }
        };
        Self { client, size: u8::try_from(size).unwrap_or(u8::MAX) }
    }

    /// Returns the largest stored size of a chunk that an element can hold. `None` if elements hold no size.
    pub fn max_chunk_len(self, widths: Widths) -> Option<u64> {
        match self.client {
            Client::Chunks => None,
            Client::FilteredChunks => {
                let bits = 8 * u32::try_from(self.length_width(widths)).unwrap_or(8);
                Some(u64::MAX.checked_shr(64_u32.saturating_sub(bits)).unwrap_or(0))
            }
        }
    }

    /// Checks that the element size is possible for the client.
    pub(super) fn check(self, r: &Reader<'_>) -> Result<Self> {
        let addr = r.widths().offset.bytes();
        let size = usize::from(self.size);
        let is_right = match self.client {
            Client::Chunks => size == addr,
            Client::FilteredChunks => (addr + 1 + MASK_BYTES..=addr + 8 + MASK_BYTES).contains(&size),
        };
        if is_right { Ok(self) } else { Err(r.bad_value("Element Size", size as u64, "its fields' size")) }
    }

    /// Reads the first fields of a block of an array, and returns the address of the array's header.
    pub(super) fn decode_prefix(self, r: &mut Reader<'_>, signature: [u8; 4]) -> Result<Addr> {
        r.signature(&signature)?;
        r.version(0)?;
        match Client::decode(r)? {
            client if client == self.client => r.addr(),
            client => Err(r.bad_value("Client ID", client as u64, "the Client ID of the array header")),
        }
    }

    /// Returns the size in bytes of `count` elements.
    pub(super) fn bytes(self, count: usize) -> usize {
        usize::from(self.size).saturating_mul(count)
    }

    fn length_width(self, widths: Widths) -> usize {
        usize::from(self.size).saturating_sub(widths.offset.bytes() + MASK_BYTES)
    }

    fn decode(self, r: &mut Reader<'_>) -> Result<ChunkElement> {
        let addr = r.addr()?;
        match self.client {
            Client::Chunks => Ok(ChunkElement { addr, len: 0, mask: 0 }),
            Client::FilteredChunks => {
                let len = r.uint(self.length_width(r.widths()))?;
                Ok(ChunkElement { addr, len, mask: r.u32()? })
            }
        }
    }

    fn encode(self, element: ChunkElement, w: &mut Writer<'_>) {
        w.addr(element.addr);
        if self.client == Client::FilteredChunks {
            w.uint(element.len, self.length_width(w.widths()));
            w.u32(element.mask);
        }
    }
}

/// Returns the width of the field for the stored size of a filtered chunk. In version 4 of the layout message
/// the field is one byte wider than the size before filtering needs; in version 5 it is as wide as lengths.
pub fn chunk_size_width(widths: Widths, chunk_bytes: u64, layout_version: u8) -> usize {
    if layout_version > 4 {
        return widths.length.bytes();
    }
    let log2 = chunk_bytes.checked_ilog2().unwrap_or(0) as usize;
    (1 + (log2 + 8) / 8).min(8)
}

/// Consecutive decoded elements of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elements {
    /// Elements of chunks without filters.
    Chunks(Vec<Addr>),
    /// Elements of filtered chunks.
    FilteredChunks(Vec<ChunkElement>),
}

impl Elements {
    /// Reads `count` elements.
    pub(super) fn decode(r: &mut Reader<'_>, count: usize, format: ElementFormat) -> Result<Self> {
        // `sub` checks that the bytes exist before any memory is allocated for the elements.
        let mut bytes = r.sub(format.bytes(count))?;
        match format.client {
            // The common width decodes at the speed of a copy, because one random read decodes a whole index
            // page. All bits set is the undefined address both in the file and in memory.
            Client::Chunks if bytes.widths().offset == Width::Eight => {
                let addrs = bytes.bytes(format.bytes(count))?.as_chunks::<8>().0;
                Ok(Self::Chunks(addrs.iter().map(|&addr| Addr::new(u64::from_le_bytes(addr))).collect()))
            }
            Client::Chunks => (0..count).map(|_| bytes.addr()).collect::<Result<_>>().map(Self::Chunks),
            Client::FilteredChunks => {
                (0..count).map(|_| format.decode(&mut bytes)).collect::<Result<_>>().map(Self::FilteredChunks)
            }
        }
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>, format: ElementFormat) {
        (0..self.len()).filter_map(|i| self.get(i)).for_each(|element| format.encode(element, w));
    }

    /// Creates `count` elements of chunks that were never written.
    pub fn unwritten(client: Client, count: usize) -> Self {
        match client {
            Client::Chunks => Self::Chunks(vec![Addr::UNDEFINED; count]),
            Client::FilteredChunks => Self::FilteredChunks(vec![ChunkElement::UNDEFINED; count]),
        }
    }

    /// Replaces the element at `position` and returns the old one, or `None` if there is no such element.
    pub fn set(&mut self, position: usize, element: ChunkElement) -> Option<ChunkElement> {
        let old = self.get(position);
        match self {
            Self::Chunks(elements) => *elements.get_mut(position)? = element.addr,
            Self::FilteredChunks(elements) => *elements.get_mut(position)? = element,
        }
        old
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Chunks(elements) => elements.len(),
            Self::FilteredChunks(elements) => elements.len(),
        }
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the element at `position`.
    pub fn get(&self, position: usize) -> Option<ChunkElement> {
        match self {
            Self::Chunks(elements) => {
                elements.get(position).map(|&addr| ChunkElement { addr, len: 0, mask: 0 })
            }
            Self::FilteredChunks(elements) => elements.get(position).copied(),
        }
    }
}

const MASK_BYTES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_replaces_one_element() {
        let element = ChunkElement { addr: Addr::new(8), len: 5, mask: 1 };
        let mut filtered = Elements::unwritten(Client::FilteredChunks, 2);
        assert_eq!(filtered.set(1, element), Some(ChunkElement::UNDEFINED));
        assert_eq!((filtered.get(0), filtered.get(1)), (Some(ChunkElement::UNDEFINED), Some(element)));
        assert_eq!(filtered.set(2, element), None);
        let mut plain = Elements::unwritten(Client::Chunks, 1);
        plain.set(0, element);
        assert_eq!(plain.get(0), Some(ChunkElement { addr: Addr::new(8), len: 0, mask: 0 }));
    }

    #[test]
    fn the_largest_stored_size_depends_on_the_element_size() {
        let format = |client, size| ElementFormat { client, size };
        assert_eq!(format(Client::Chunks, 8).max_chunk_len(Widths::EIGHT), None);
        assert_eq!(format(Client::FilteredChunks, 14).max_chunk_len(Widths::EIGHT), Some(0xffff));
        assert_eq!(format(Client::FilteredChunks, 20).max_chunk_len(Widths::EIGHT), Some(u64::MAX));
    }

    #[test]
    fn the_size_field_is_one_byte_wider_than_the_chunk_needs() {
        assert_eq!(chunk_size_width(Widths::EIGHT, 100, 4), 2);
        assert_eq!(chunk_size_width(Widths::EIGHT, 255, 4), 2);
        assert_eq!(chunk_size_width(Widths::EIGHT, 256, 4), 3);
        assert_eq!(chunk_size_width(Widths::EIGHT, u64::MAX, 4), 8);
        assert_eq!(chunk_size_width(Widths::EIGHT, 100, 5), 8);
    }
}
