//! LZ4, filter 32004. A chunk starts with its length and a block size, both big-endian; the stored length of
//! each block precedes the block.

use crate::codec::{CodecError, External, lz4};
use crate::error::{FilterError, Result};
use crate::filter::{Encoded, Filter, FilterId, Scratch, expansion_bound, prefix, take, take_block};

/// The filter for one dataset.
#[derive(Debug)]
pub struct Lz4 {
    block_size: usize,
}

impl Lz4 {
    const NAME: &'static str = "lz4";
    /// The largest useful block size, which is also the meaning of 0.
    const DEFAULT_BLOCK: u32 = 1 << 30;
    /// The smallest block size. The lengths of smaller blocks would take more room than `expansion_bound`
    /// allows.
    const SMALLEST_BLOCK: u32 = 8;

    /// Creates the filter from its client data: the block size, which matters only for writing.
    pub fn new(client_data: &[u32]) -> Self {
        let block_size = client_data.first().copied().filter(|&size| size > 0).unwrap_or(Self::DEFAULT_BLOCK);
        Self { block_size: block_size.clamp(Self::SMALLEST_BLOCK, Self::DEFAULT_BLOCK) as usize }
    }
}

impl Filter for Lz4 {
    fn id(&self) -> FilterId {
        FilterId::LZ4
    }

    fn decode_into(&self, mut src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<usize> {
        External::Lz4.check(Self::NAME)?;
        let total = u64::from_be_bytes(*take(Self::NAME, &mut src)?);
        let block_size = u32::from_be_bytes(*take(Self::NAME, &mut src)?) as usize;
        let dst = prefix(Self::NAME, dst, usize::try_from(total).unwrap_or(usize::MAX))?;
        if block_size == 0 && !dst.is_empty() {
            return Err(FilterError::damaged(Self::NAME, "the block size is 0"));
        }
        for block in dst.chunks_mut(block_size.max(1)) {
            let stored = take_block(Self::NAME, &mut src)?;
            if stored.len() == block.len() {
                block.copy_from_slice(stored);
            } else if lz4::decode(stored, block) != Some(block.len()) {
                return Err(CodecError::Damaged.of(Self::NAME, block.len()));
            }
        }
        Ok(dst.len())
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<Encoded> {
        External::Lz4.check(Self::NAME)?;
        let block_size = self.block_size.min(src.len());
        let dst = prefix(Self::NAME, dst, self.encode_bound(src.len()))?;
        dst[..8].copy_from_slice(&(src.len() as u64).to_be_bytes());
        dst[8..12].copy_from_slice(&be_len(block_size));
        let mut at = 12;
        for block in src.chunks(block_size.max(1)) {
            let (stored_len, room) = dst[at..].split_at_mut(4);
            // A block that LZ4 does not shorten is stored unchanged.
            let shorter = &mut room[..block.len() - 1];
            let stored = lz4::encode(block, shorter, 1).unwrap_or_else(|| {
                room[..block.len()].copy_from_slice(block);
                block.len()
            });
            stored_len.copy_from_slice(&be_len(stored));
            at += 4 + stored;
        }
        Ok(Encoded::Stored(at))
    }

    fn encode_bound(&self, len: usize) -> usize {
        12 + len + 4 * len.div_ceil(self.block_size)
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        expansion_bound(decoded)
    }
}

/// Returns a block's length as it is stored. Blocks have at most `DEFAULT_BLOCK` bytes.
#[expect(clippy::cast_possible_truncation, reason = "a block is at most 1 GiB")]
fn be_len(len: usize) -> [u8; 4] {
    (len as u32).to_be_bytes()
}

#[cfg(all(test, feature = "lz4"))]
mod tests {
    use super::*;

    #[test]
    fn a_tiny_block_size_is_raised_so_that_the_chunk_stays_within_its_bound() {
        let raw: Vec<u8> =
            (0..50_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
        let filter = Lz4::new(&[1]);
        let bound = filter.encode_bound(raw.len());
        assert!(bound <= filter.decode_bound(raw.len()), "{bound} bytes");
        let encoded = filter.encode_into(&raw, &mut vec![0; bound], &mut Scratch::default());
        assert_eq!(encoded, Ok(Encoded::Stored(bound)));
    }
}
