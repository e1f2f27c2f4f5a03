//! An element of a Fixed or Extensible Array: where a chunk is stored (spec VII.C and VII.D, "Data Block Element").

use crate::addr::Addr;
use crate::bytes::{Reader, Width, Widths, Writer};
use crate::error::Result;

/// What the elements of an array describe ("Client ID").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Chunks without filters: an address each.
    Chunks,
    /// Filtered chunks: an address, a stored size and a filter mask each.
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

/// Writes what the blocks of an array begin with.
pub(super) fn encode_prefix(w: &mut Writer<'_>, signature: [u8; 4], client: Client, header: Addr) {
    w.bytes(&signature);
    w.bytes(&[0, client as u8]); // version
    w.addr(header);
}

/// How an element is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementFormat {
    /// What it describes.
    pub client: Client,
    /// Its bytes ("Entry Size", "Element Size").
    pub size: u8,
}

/// Where a chunk is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkElement {
    /// Its address; undefined if it was never written.
    pub addr: Addr,
    /// Its stored bytes; 0 where chunks are not filtered: then all have the same size.
    pub len: u64,
    /// Bit i: the i-th filter was left out. 0 where chunks are not filtered.
    pub mask: u32,
}

impl ChunkElement {
    /// A chunk that was never written.
    pub const UNDEFINED: Self = Self { addr: Addr::UNDEFINED, len: 0, mask: 0 };
}

impl ElementFormat {
    /// The format that libhdf5 gives elements: the size field of a filtered chunk is as wide as layout versions 4 and 5
    /// make it.
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

    /// The largest stored size of a chunk that an element can state; none where elements state none.
    pub fn max_chunk_len(self, widths: Widths) -> Option<u64> {
        match self.client {
            Client::Chunks => None,
            Client::FilteredChunks => {
                let bits = 8 * u32::try_from(self.length_width(widths)).unwrap_or(8);
                Some(u64::MAX.checked_shr(64_u32.saturating_sub(bits)).unwrap_or(0))
            }
        }
    }

    /// Checks that the size is one that the client can have.
    pub(super) fn check(self, r: &Reader<'_>) -> Result<Self> {
        let addr = r.widths().offset.bytes();
        let size = usize::from(self.size);
        let is_right = match self.client {
            Client::Chunks => size == addr,
            Client::FilteredChunks => (addr + 1 + MASK_BYTES..=addr + 8 + MASK_BYTES).contains(&size),
        };
        if is_right { Ok(self) } else { Err(r.bad_value("Element Size", size as u64, "that of its fields")) }
    }

    /// Reads what the blocks of an array with such elements begin with; returns the address of the header.
    pub(super) fn decode_prefix(self, r: &mut Reader<'_>, signature: [u8; 4]) -> Result<Addr> {
        r.signature(&signature)?;
        r.version(0)?;
        match Client::decode(r)? {
            client if client == self.client => r.addr(),
            client => Err(r.bad_value("Client ID", client as u64, "that of the header")),
        }
    }

    /// Bytes of `count` elements.
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

/// The width of the field that holds a filtered chunk's stored size: version 4 of the layout message makes it one byte
/// wider than the decoded size needs; version 5 as wide as lengths are.
pub fn chunk_size_width(widths: Widths, chunk_bytes: u64, layout_version: u8) -> usize {
    if layout_version > 4 {
        return widths.length.bytes();
    }
    let log2 = chunk_bytes.checked_ilog2().unwrap_or(0) as usize;
    (1 + (log2 + 8) / 8).min(8)
}

/// Consecutive elements of an array, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elements {
    /// Of chunks without filters.
    Chunks(Vec<Addr>),
    /// Of filtered chunks.
    FilteredChunks(Vec<ChunkElement>),
}

impl Elements {
    /// Reads `count` elements.
    pub(super) fn decode(r: &mut Reader<'_>, count: usize, format: ElementFormat) -> Result<Self> {
        // The bytes are there before anything is allocated for them.
        let mut bytes = r.sub(format.bytes(count))?;
        match format.client {
            // The common width at the speed of a copy: an index page is decoded for one random read. All bits set is
            // the undefined address, in the file and in memory.
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

    /// So many elements, of chunks that were never written.
    pub fn unwritten(client: Client, count: usize) -> Self {
        match client {
            Client::Chunks => Self::Chunks(vec![Addr::UNDEFINED; count]),
            Client::FilteredChunks => Self::FilteredChunks(vec![ChunkElement::UNDEFINED; count]),
        }
    }

    /// Changes the element at `position`; returns what it was, or none if there is no such element.
    pub fn set(&mut self, position: usize, element: ChunkElement) -> Option<ChunkElement> {
        let old = self.get(position);
        match self {
            Self::Chunks(elements) => *elements.get_mut(position)? = element.addr,
            Self::FilteredChunks(elements) => *elements.get_mut(position)? = element,
        }
        old
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Chunks(elements) => elements.len(),
            Self::FilteredChunks(elements) => elements.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at `position`.
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
    fn an_element_is_what_it_was_set_to() {
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
    fn an_element_states_sizes_of_its_width_alone() {
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
