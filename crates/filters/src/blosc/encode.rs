//! Encoding of one chunk: the choice of the block size, split streams, and runs (`README_CHUNK_FORMAT`).

use super::blocks::{Blocks, BloscBlock};
use super::blosclz::Positions;
use super::chunk::{
    BIT_SHUFFLED, EXTENDED_HEADER, HEADER, MAX_SPLITS, MEMCPYED, MIN_BUFFER, SHUFFLED, UNSPLIT,
};
use super::forward::Forwarding;
use crate::choice::{BloscCodec, BloscFilter};
use crate::codec::Contexts;

/// The kind of special chunk that repeats one value.
const REPEATED: u8 = 3;
/// The size of a usual first-level cache in bytes, which is the unit of block sizes.
const CACHE: usize = 32 << 10;
/// The largest block of elements of more than 16 bytes that are split, in bytes.
const MAX_WIDE_BLOCK: usize = 1 << 20;

/// The buffers for encoding that are kept from chunk to chunk.
#[derive(Debug, Default)]
pub(super) struct Encoding {
    forwarding: Forwarding,
    coding: Coding,
}

/// The working memory of the codecs.
#[derive(Debug, Default)]
pub(super) struct Coding {
    /// BloscLZ's table of positions in its input.
    pub(super) positions: Positions,
    pub(super) contexts: Contexts,
}

/// The parameters of encoding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encoder {
    /// Whether chunks have the format of Blosc 2, with its longer header, runs and special values.
    pub(super) extended: bool,
    /// The bytes of an element.
    pub(super) type_size: usize,
    /// The level, from 0 (stored) to 9.
    pub(super) level: u8,
    pub(super) forward: BloscFilter,
    pub(super) compressor: BloscCodec,
}

impl Encoder {
    /// Returns whether each byte of the elements gets its own stream. This pays for fast codecs and byte
    /// planes.
    fn splits(&self, block_size: usize) -> bool {
        let fast = match self.compressor {
            BloscCodec::BloscLz | BloscCodec::Lz4 | BloscCodec::Snappy => true,
            BloscCodec::Zstd => self.level <= 5,
            BloscCodec::Lz4Hc | BloscCodec::Zlib => false,
        };
        // Blosc 1 sets the shuffle flag for one-byte elements, but does not shuffle them.
        let shuffled = self.forward == BloscFilter::Shuffle && (self.extended || self.type_size > 1);
        // Decoders of Blosc 2 take the number of streams from the element size; older ones count up to 16.
        let counted = self.extended || self.type_size <= MAX_SPLITS;
        fast && shuffled && counted && block_size / self.type_size >= MIN_BUFFER
    }

    /// Returns the block size for chunks of `len` bytes. The choice is that of c-blosc2, so that both
    /// encoders make the same trade-off between size and speed. c-blosc2 does not split elements of more than
    /// 16 bytes; for these a block is a compromise between its size and the time to read one row (decision
    /// 0014).
    pub(super) fn block_size(&self, len: usize) -> usize {
        if len < self.type_size {
            return 1;
        }
        let mut size = len;
        if len >= CACHE {
            let strong = matches!(self.compressor, BloscCodec::Lz4Hc | BloscCodec::Zlib | BloscCodec::Zstd);
            let times = match self.level {
                1 => 2,
                2 => 4,
                3 => 8,
                4 | 5 => 16,
                9 if strong => 64,
                6..=9 => 32,
                _ => 1,
            };
            size = CACHE / 4 * times * if strong { 2 } else { 1 };
        }
        if self.level > 0 && self.splits(len) {
            let plane = match self.level {
                1..=3 => CACHE,
                4..=6 => 2 * CACHE,
                7 => 4 * CACHE,
                8 => 8 * CACHE,
                _ => 16 * CACHE,
            };
            size = if self.type_size <= MAX_SPLITS {
                (plane * self.type_size).clamp(CACHE, 4 << 20)
            } else {
                (plane * 3 / 8 * self.type_size).min(MAX_WIDE_BLOCK)
            };
        }
        self.whole_elements(size.min(len))
    }

    /// Returns the largest block size up to `size` that the format allows.
    pub(super) fn whole_elements(&self, size: usize) -> usize {
        if size > self.type_size { size - size % self.type_size } else { size }
    }

    /// Writes the chunk into the front of `out` and returns its length. `out` must have room for the header
    /// and the blocks.
    pub(super) fn chunk(&self, blocks: &Blocks<'_>, out: &mut [u8], buffers: &mut Encoding) -> Option<usize> {
        let len = blocks.len();
        let no_longer = out.get_mut(..self.header_len() + len)?;
        if let Some(stored) = self.shorter(blocks, no_longer, buffers) {
            return Some(stored);
        }
        let (at, block_size) = (self.header_len(), blocks.block_size);
        let stored = out.get_mut(..at + len)?;
        self.header(len, block_size, MEMCPYED, 0, at + len, stored);
        let copied = blocks.each(|index, block| {
            let start = at + index * block_size;
            block.copy_into(stored.get_mut(start..start + block.len()).ok_or(NoRoom)?);
            Ok::<_, NoRoom>(())
        });
        copied.is_ok().then_some(at + len)
    }

    /// Writes a chunk of `len` decoded bytes that repeats `value`. Only Blosc 2 has such chunks.
    pub(super) fn constant(
        &self,
        value: &[u8],
        len: usize,
        block_size: usize,
        out: &mut [u8],
    ) -> Option<usize> {
        let at = self.header_len();
        let stored = at + value.len();
        self.header(len, block_size, 0, REPEATED, stored, out.get_mut(..at)?);
        out.get_mut(at..stored)?.copy_from_slice(value);
        Some(stored)
    }

    /// Returns the length of a chunk's header in bytes.
    pub(super) fn header_len(&self) -> usize {
        if self.extended { EXTENDED_HEADER } else { HEADER }
    }

    /// Writes the header of a chunk of `len` decoded and `stored` stored bytes.
    fn header(&self, len: usize, block_size: usize, flags: u8, special: u8, stored: usize, out: &mut [u8]) {
        let type_size = u8::try_from(self.type_size).unwrap_or(1);
        let rearranged = match (self.extended, self.forward) {
            (true, _) => SHUFFLED | BIT_SHUFFLED,
            _ if flags & MEMCPYED != 0 => 0,
            (_, BloscFilter::Shuffle) => SHUFFLED,
            (_, BloscFilter::BitShuffle) => BIT_SHUFFLED,
            _ => 0,
        };
        let version = if self.extended { 5 } else { 2 };
        out[..4].copy_from_slice(&[version, 1, flags | rearranged, type_size]);
        for (at, size) in [(4, len), (8, block_size), (12, stored)] {
            // Chunks of HDF5 are shorter than 4 GiB, and the filter skips chunks of almost 2 GiB and more.
            out[at..at + 4].copy_from_slice(&low_word(size));
        }
        if self.extended {
            out[HEADER..EXTENDED_HEADER].fill(0);
            out[21] = self.forward as u8;
            out[22] = self.compressor as u8;
            out[31] = special << 4;
        }
    }

    /// Writes the chunk with encoded blocks, or returns `None` if `out` is too small.
    pub(super) fn shorter(
        &self,
        blocks: &Blocks<'_>,
        out: &mut [u8],
        buffers: &mut Encoding,
    ) -> Option<usize> {
        let block_size = blocks.block_size;
        let split = self.splits(block_size);
        let table = self.header_len();
        let mut at = table + 4 * blocks.count();
        if at > out.len() || self.level == 0 || blocks.len() < MIN_BUFFER {
            return None;
        }
        let Encoding { forwarding, coding } = buffers;
        let encoded = blocks.each(|index, block| {
            out[table + 4 * index..][..4].copy_from_slice(&low_word(at));
            let streams = if split && block.len() == block_size { self.type_size } else { 1 };
            let bytes = self.forward(index, block, forwarding);
            for stream in bytes.chunks((bytes.len() / streams).max(1)) {
                at += self.stream(stream, &mut out[at..], coding).ok_or(NoRoom)?;
            }
            Ok::<_, NoRoom>(())
        });
        encoded.ok()?;
        let flags = self.compressor.format() << 5 | if split { 0 } else { UNSPLIT };
        self.header(blocks.len(), block_size, flags, 0, at, out);
        Some(at)
    }

    /// Returns block `index` with the filter applied, which is the codec's input.
    fn forward<'b>(&self, index: usize, block: &'b BloscBlock<'b>, buffers: &'b mut Forwarding) -> &'b [u8] {
        let eighths = (block.len() / self.type_size).is_multiple_of(8);
        let forward = match self.forward {
            // Version 2 of the format does not transpose such a block.
            BloscFilter::BitShuffle if !self.extended && !eighths => BloscFilter::None,
            forward => forward,
        };
        forward.apply(self.type_size, index, block, buffers)
    }

    /// Writes one stream after its length and returns the bytes written, or `None` if `out` is too small.
    fn stream(&self, stream: &[u8], out: &mut [u8], buffers: &mut Coding) -> Option<usize> {
        let (stored_len, room) = out.split_first_chunk_mut()?;
        if self.extended
            && let Some(byte) = run(stream)
        {
            *stored_len = (-i32::from(byte)).to_le_bytes();
            if byte == 0 {
                return Some(4);
            }
            *room.first_mut()? = 1;
            return Some(5);
        }
        let shorter = room.len().min(stream.len().saturating_sub(1));
        let encoded = self.compressor.encode(self.level, stream, &mut room[..shorter], buffers);
        if encoded.is_none() {
            room.get_mut(..stream.len())?.copy_from_slice(stream);
        }
        let len = encoded.unwrap_or(stream.len());
        *stored_len = low_word(len);
        Some(4 + len)
    }
}

/// The error that the encoded bytes do not fit.
struct NoRoom;

/// Returns the byte that a stream repeats, if it repeats one.
fn run(stream: &[u8]) -> Option<u8> {
    let (&first, rest) = stream.split_first()?;
    // The second byte already rules most streams out. The comparison of all bytes with their neighbours is
    // vectorised.
    (rest.first().is_none_or(|&second| second == first) && *rest == stream[..rest.len()]).then_some(first)
}

/// Returns a size as the format stores it. All sizes are below 2 GiB.
fn low_word(size: usize) -> [u8; 4] {
    u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes()
}
