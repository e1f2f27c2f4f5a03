//! Bitshuffle, filter 32008. Within a block, bit b of byte k of every element is stored together, either
//! plain or inside LZ4 or Zstandard.
//!
//! A block is a multiple of 8 elements. The last block is cut down to such a multiple, and up to 7 remaining
//! elements are stored unchanged. With a codec, a chunk starts with its length (8 bytes) and the block size
//! (4 bytes), both in bytes and big-endian; the stored length of each block (4 bytes) precedes the block.

use crate::choice::BitshuffleCodec as Codec;
use crate::codec::{CodecError, External, lz4, lz4_bound, zstd};
use crate::error::{FilterError, Result};
use crate::filter::{Encoded, Filter, FilterId, Scratch, expansion_bound, prefix, take, take_block};
use crate::simd::Kernels;

/// The filter for one dataset.
#[derive(Debug)]
pub struct Bitshuffle {
    element_size: usize,
    /// Elements in a block, a multiple of 8.
    block: usize,
    codec: Codec,
}

const NAME: &str = "bitshuffle";

impl Bitshuffle {
    /// Creates the filter from its client data: two version numbers, the element size, the elements of a
    /// block (0: chosen by the filter), the codec (0 none, 2 LZ4, 3 Zstandard), and the level of Zstandard.
    pub fn new(client_data: &[u32], element_size: usize) -> Result<Self> {
        let data = |k: usize| client_data.get(k).copied();
        let parameter = |parameter, value: usize, expected| FilterError::Parameter {
            filter: NAME,
            parameter,
            value: value as u64,
            expected,
        };
        let element_size = data(2).map_or(element_size, |size| size as usize);
        if element_size == 0 {
            return Err(parameter("element size", 0, "1 or more"));
        }
        let block = match data(3).unwrap_or(0) as usize {
            0 => default_block(element_size),
            block if block % 8 == 0 => block,
            block => return Err(parameter("block size", block, "a multiple of 8")),
        };
        if block.checked_mul(element_size).is_none() {
            return Err(parameter("block size", block, "less than the address space in bytes"));
        }
        let codec = match data(4).unwrap_or(0) {
            0 => Codec::None,
            2 => Codec::Lz4,
            3 => Codec::Zstd { level: data(5).map_or(3, u32::cast_signed) },
            other => return Err(parameter("codec", other as usize, "0, 2 or 3")),
        };
        match codec {
            Codec::None => {}
            Codec::Lz4 => External::Lz4.check(NAME)?,
            Codec::Zstd { .. } => External::Zstd.check(NAME)?,
        }
        Ok(Self { element_size, block, codec })
    }

    /// Returns how many of `len` bytes are in blocks. The rest is stored unchanged.
    fn blocked_len(&self, len: usize) -> Result<usize> {
        if !len.is_multiple_of(self.element_size) {
            return Err(FilterError::damaged(NAME, "the length is not a multiple of the element size"));
        }
        Ok(len / self.element_size / 8 * 8 * self.element_size)
    }

    fn decode_blocks(&self, mut src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        let total = u64::from_be_bytes(*take(NAME, &mut src)?);
        let block = u32::from_be_bytes(*take(NAME, &mut src)?) as usize;
        let dst = prefix(NAME, dst, usize::try_from(total).unwrap_or(usize::MAX))?;
        // Older writers store 0 for the default block size.
        let block = if block == 0 { self.block * self.element_size } else { block };
        if block % (8 * self.element_size) != 0 {
            return Err(FilterError::damaged(NAME, "the block size is not a multiple of 8 elements"));
        }
        let (blocks, tail) = dst.split_at_mut(self.blocked_len(dst.len())?);
        let Scratch { filter: [shuffled, transposed], codecs, .. } = scratch;
        for block in blocks.chunks_mut(block) {
            let stored = take_block(NAME, &mut src)?;
            let shuffled = crate::filter::buffer(shuffled, block.len());
            let decoded = match self.codec {
                Codec::Zstd { .. } => zstd::decompress(stored, shuffled, &mut codecs.zstd),
                _ => lz4::decode(stored, shuffled).ok_or(CodecError::Damaged),
            };
            if decoded.map_err(|error| error.of(NAME, block.len()))? != block.len() {
                return Err(FilterError::damaged(NAME, "a block decodes to fewer bytes than its size"));
            }
            Kernels::fastest().bitunshuffle(self.element_size, shuffled, block, transposed);
        }
        let Some(stored) = src.get(..tail.len()) else {
            return Err(FilterError::damaged(NAME, "the last elements are missing"));
        };
        tail.copy_from_slice(stored);
        Ok(dst.len())
    }

    /// Encodes one shuffled block after its length and returns the bytes written, or `None` if `dst` is too
    /// small.
    fn encode_block(&self, shuffled: &[u8], dst: &mut [u8], context: &mut zstd::Context) -> Option<usize> {
        let (stored_len, room) = dst.split_first_chunk_mut()?;
        let stored = match self.codec {
            Codec::Zstd { level } => zstd::compress(shuffled, room, level, context),
            _ => lz4::encode(shuffled, room, 1),
        }?;
        *stored_len = u32::try_from(stored).ok()?.to_be_bytes();
        Some(4 + stored)
    }

    /// Encodes the chunk in blocks and returns the bytes written, or `None` if the codec cannot encode a
    /// block.
    fn encode_blocks(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Option<usize> {
        let (blocks, tail) = src.split_at(self.blocked_len(src.len()).ok()?);
        let block = self.block * self.element_size;
        dst.get_mut(..8)?.copy_from_slice(&(src.len() as u64).to_be_bytes());
        dst.get_mut(8..12)?.copy_from_slice(&u32::try_from(block).ok()?.to_be_bytes());
        let mut at = 12;
        let Scratch { filter: [shuffled, transposed], codecs, .. } = scratch;
        for block in blocks.chunks(block) {
            let shuffled = crate::filter::buffer(shuffled, block.len());
            Kernels::fastest().bitshuffle(self.element_size, block, shuffled, transposed);
            at += self.encode_block(shuffled, dst.get_mut(at..)?, &mut codecs.zstd)?;
        }
        dst.get_mut(at..at + tail.len())?.copy_from_slice(tail);
        Some(at + tail.len())
    }
}

impl Filter for Bitshuffle {
    fn id(&self) -> FilterId {
        FilterId::BITSHUFFLE
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        if self.codec != Codec::None {
            return self.decode_blocks(src, dst, scratch);
        }
        let dst = prefix(NAME, dst, src.len())?;
        let blocked = self.blocked_len(src.len())?;
        let block = self.block * self.element_size;
        for (src, dst) in src[..blocked].chunks(block).zip(dst.chunks_mut(block)) {
            Kernels::fastest().bitunshuffle(
                self.element_size,
                src,
                &mut dst[..src.len()],
                &mut scratch.filter[1],
            );
        }
        dst[blocked..].copy_from_slice(&src[blocked..]);
        Ok(src.len())
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<Encoded> {
        let Ok(blocked) = self.blocked_len(src.len()) else { return Ok(Encoded::Skipped) };
        if self.codec != Codec::None {
            return Ok(self.encode_blocks(src, dst, scratch).into());
        }
        let dst = prefix(NAME, dst, src.len())?;
        let block = self.block * self.element_size;
        for (src, dst) in src[..blocked].chunks(block).zip(dst.chunks_mut(block)) {
            Kernels::fastest().bitshuffle(
                self.element_size,
                src,
                &mut dst[..src.len()],
                &mut scratch.filter[1],
            );
        }
        dst[blocked..].copy_from_slice(&src[blocked..]);
        Ok(Encoded::Stored(src.len()))
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        if self.codec == Codec::None { decoded } else { expansion_bound(decoded) }
    }

    fn encode_bound(&self, len: usize) -> usize {
        let block = (self.block * self.element_size).min(len.max(1));
        let stored = match self.codec {
            Codec::None => return len,
            Codec::Lz4 => lz4_bound(block),
            Codec::Zstd { .. } => zstd::compress_bound(block),
        };
        12 + len.div_ceil(block) * (4 + stored)
    }
}

/// Returns the block size that the reference filter chooses: 8 KiB, but at least 128 elements.
fn default_block(element_size: usize) -> usize {
    (8192 / element_size / 8 * 8).max(128)
}
