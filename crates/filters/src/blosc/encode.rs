//! Encodes one chunk: choice of the block size, filters, split streams, runs (`README_CHUNK_FORMAT`).

use super::block::{Buffers, Encoding};
use super::chunk::{
    BIT_SHUFFLED, EXTENDED_HEADER, HEADER, MAX_SPLITS, MEMCPYED, MIN_BUFFER, SHUFFLED, UNSPLIT,
};
use super::codec::Compressor;
use crate::codec::Contexts;
use crate::simd;

/// Bytes of a usual first-level cache: the unit of block sizes.
const CACHE: usize = 32 << 10;

/// How the elements are rearranged before the codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shuffle {
    None,
    Bytes,
    Bits,
}

impl Shuffle {
    /// The number that parameters and Blosc 2's headers use.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Bytes => 1,
            Self::Bits => 2,
        }
    }
}

/// How chunks are encoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encoder {
    /// Whether it is the format of Blosc 2, with its longer header, runs and special values.
    pub(super) extended: bool,
    /// Bytes of an element.
    pub(super) type_size: usize,
    /// 0 (stored) to 9.
    pub(super) level: u8,
    pub(super) shuffle: Shuffle,
    pub(super) compressor: Compressor,
}

impl Encoder {
    /// Whether each byte of the elements gets a stream of its own: it pays for fast codecs and byte planes.
    fn splits(&self, block_size: usize) -> bool {
        let fast = match self.compressor {
            Compressor::BloscLz | Compressor::Lz4 => true,
            Compressor::Zstd => self.level <= 5,
            Compressor::Lz4Hc | Compressor::Zlib => false,
        };
        // Blosc 1 shuffles bytes of one-byte elements in name only.
        let shuffled = self.shuffle == Shuffle::Bytes && (self.extended || self.type_size > 1);
        fast && shuffled && self.type_size <= MAX_SPLITS && block_size / self.type_size >= MIN_BUFFER
    }

    /// The block size for chunks of `len` bytes: what c-blosc2 takes, so that both give the same trade of size and speed.
    pub(super) fn block_size(&self, len: usize) -> usize {
        if len < self.type_size {
            return 1;
        }
        let mut size = len;
        if len >= CACHE {
            let strong = matches!(self.compressor, Compressor::Lz4Hc | Compressor::Zlib | Compressor::Zstd);
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
            size = (plane * self.type_size).clamp(CACHE, 4 << 20);
        }
        self.whole_elements(size.min(len))
    }

    /// The largest block size up to `size` that the format allows.
    pub(super) fn whole_elements(&self, size: usize) -> usize {
        if size > self.type_size { size - size % self.type_size } else { size }
    }

    /// Appends the chunk of `data` in blocks of `block_size`. No more bytes than `data` and a header are appended.
    pub(super) fn chunk(&self, data: &[u8], block_size: usize, out: &mut Vec<u8>, buffers: &mut Buffers) {
        let start = out.len();
        if self.level > 0 && data.len() >= MIN_BUFFER {
            if self.blocks(data, block_size, out, buffers) {
                return;
            }
            out.truncate(start);
        }
        self.header(data.len(), block_size, MEMCPYED, 0, out);
        out.extend_from_slice(data);
        finish(out, start);
    }

    /// Appends a chunk of `len` bytes that are `value` again and again. Blosc 2 only.
    pub(super) fn constant(&self, value: &[u8], len: usize, block_size: usize, out: &mut Vec<u8>) {
        let start = out.len();
        self.header(len, block_size, 0, 3, out);
        out.extend_from_slice(value);
        finish(out, start);
    }

    /// Appends the header, with the chunk's length still to be filled in.
    fn header(&self, len: usize, block_size: usize, flags: u8, special: u8, out: &mut Vec<u8>) {
        let type_size = u8::try_from(self.type_size).unwrap_or(1);
        let rearranged = match (self.extended, self.shuffle) {
            (true, _) => SHUFFLED | BIT_SHUFFLED,
            _ if flags & MEMCPYED != 0 => 0,
            (_, Shuffle::None) => 0,
            (_, Shuffle::Bytes) => SHUFFLED,
            (_, Shuffle::Bits) => BIT_SHUFFLED,
        };
        let version = if self.extended { 5 } else { 2 };
        out.extend_from_slice(&[version, 1, flags | rearranged, type_size]);
        for size in [len, block_size, 0] {
            // Chunks of HDF5 are shorter than 4 GiB, and `Blosc::encode` refuses those of 2 GiB and more.
            out.extend_from_slice(&u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes());
        }
        if self.extended {
            let mut rest = [0; EXTENDED_HEADER - HEADER];
            rest[5] = self.shuffle.number();
            rest[6] = self.compressor.number();
            rest[15] = special << 4;
            out.extend_from_slice(&rest);
        }
    }

    /// Appends the chunk with its blocks encoded; false if that is no shorter than the data, or all data is zero.
    fn blocks(&self, data: &[u8], block_size: usize, out: &mut Vec<u8>, buffers: &mut Buffers) -> bool {
        let start = out.len();
        let split = self.splits(block_size);
        let flags = self.compressor.format() << 5 | if split { 0 } else { UNSPLIT };
        self.header(data.len(), block_size, flags, 0, out);
        let table = out.len();
        let limit = table + data.len();
        let blocks = data.len().div_ceil(block_size);
        out.resize(table + 4 * blocks, 0);
        for (index, block) in data.chunks(block_size).enumerate() {
            let offset = u32::try_from(out.len() - start).unwrap_or(u32::MAX).to_le_bytes();
            out[table + 4 * index..][..4].copy_from_slice(&offset);
            let Encoding { rearranged, transposed, positions, contexts } = buffers.encoding();
            let streams = if split && block.len() == block_size { self.type_size } else { 1 };
            let bytes = self.rearrange(block, rearranged, transposed);
            for stream in bytes.chunks((bytes.len() / streams).max(1)) {
                if !self.stream(stream, limit, out, positions, contexts) {
                    return false;
                }
            }
        }
        finish(out, start);
        true
    }

    /// The block with the shuffle applied.
    fn rearrange<'a>(&self, block: &'a [u8], buffer: &'a mut Vec<u8>, scratch: &mut Vec<u8>) -> &'a [u8] {
        if self.shuffle == Shuffle::None || (self.shuffle == Shuffle::Bytes && self.type_size == 1) {
            return block;
        }
        buffer.resize(buffer.len().max(block.len()), 0);
        let rearranged = &mut buffer[..block.len()];
        if self.shuffle == Shuffle::Bytes {
            simd::shuffle(self.type_size, block, rearranged);
        } else if !self.extended && !(block.len() / self.type_size).is_multiple_of(8) {
            // Format 2 leaves such a block alone.
            return block;
        } else {
            simd::bitshuffle(self.type_size, block, rearranged, scratch);
        }
        rearranged
    }

    /// Appends one stream; false if `out` would be longer than `limit`.
    fn stream(
        &self,
        stream: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
        positions: &mut Vec<u32>,
        contexts: &mut Contexts,
    ) -> bool {
        let at = out.len();
        if self.extended
            && let Some((&byte, rest)) = stream.split_first()
            && rest.iter().all(|&other| other == byte)
        {
            out.extend_from_slice(&(-i32::from(byte)).to_le_bytes());
            if byte != 0 {
                out.push(1);
            }
            return out.len() <= limit;
        }
        let Some(room) = limit.checked_sub(at + 4).filter(|&room| room > 0) else { return false };
        let room = room.min(stream.len().saturating_sub(1));
        out.resize(at + 4 + room, 0);
        let encoded = self.compressor.encode(self.level, stream, &mut out[at + 4..], positions, contexts);
        let len = encoded.unwrap_or(stream.len());
        out.truncate(at + 4 + encoded.unwrap_or(0));
        if encoded.is_none() {
            out.extend_from_slice(stream);
        }
        out[at..at + 4].copy_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
        out.len() <= limit
    }
}

/// Fills in the length of the chunk that starts at `start` and ends with `out`.
fn finish(out: &mut [u8], start: usize) {
    let len = u32::try_from(out.len() - start).unwrap_or(u32::MAX).to_le_bytes();
    out[start + 12..start + 16].copy_from_slice(&len);
}
