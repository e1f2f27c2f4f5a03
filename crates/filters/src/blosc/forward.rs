//! The filters of a block before the codec: shuffles, differences and truncated precision.

use super::blocks::BloscBlock;
use crate::choice::BloscFilter;
use crate::error::{FilterError, Result};
use crate::simd::Kernels;

/// The buffers of these filters.
#[derive(Debug, Default)]
pub(super) struct Forwarding {
    /// The assembled block.
    rows: Vec<u8>,
    /// The block after the filter, which is the codec's input.
    changed: Vec<u8>,
    /// The first block of the chunk, from which differences are taken.
    reference: Vec<u8>,
    transposed: Vec<u8>,
}

impl BloscFilter {
    /// Checks that the filter can be applied to elements of `type_size` bytes.
    pub(super) fn check(self, type_size: usize) -> Result<()> {
        if self == Self::Truncate && !matches!(type_size, 4 | 8) {
            let feature = format!("truncated precision of elements of {type_size} bytes");
            return Err(FilterError::Unsupported { filter: "Blosc2", feature });
        }
        Ok(())
    }

    /// Applies the filter to block `index` of a chunk and returns the codec's input. Blocks must come in
    /// order.
    pub(super) fn apply<'b>(
        self,
        type_size: usize,
        index: usize,
        block: &'b BloscBlock<'b>,
        buffers: &'b mut Forwarding,
    ) -> &'b [u8] {
        /// For pieces shorter than this many bytes, copying before the shuffle is faster than shuffling in
        /// place.
        const SMALL: usize = 256;
        let len = block.len();
        let Forwarding { rows, changed, reference, transposed } = buffers;
        let changed = crate::filter::buffer(changed, len);
        let kernels = Kernels::fastest();
        if self == Self::Shuffle
            && type_size > 1
            && !block.is_scattered(SMALL)
            && len.is_multiple_of(type_size)
        {
            if block.is_padded() {
                changed.fill(0);
            }
            block.pieces(|piece| {
                kernels.shuffle_part(type_size, piece.bytes, piece.at / type_size, changed);
            });
            return changed;
        }
        let rows = match *block {
            BloscBlock::Whole(bytes) => bytes,
            BloscBlock::Runs { .. } => {
                let rows = crate::filter::buffer(rows, len);
                block.copy_into(rows);
                rows
            }
        };
        match self {
            Self::None => return rows,
            Self::Shuffle if type_size == 1 => return rows,
            Self::Shuffle => kernels.shuffle(type_size, rows, changed),
            Self::BitShuffle => kernels.bitshuffle(type_size, rows, changed, transposed),
            Self::Delta if index == 0 => {
                reference.clear();
                reference.extend_from_slice(rows);
                differences_inside(delta_width(type_size), rows, changed);
            }
            Self::Delta => differences_from(reference, delta_width(type_size), rows, changed),
            Self::Truncate => truncate(type_size, rows, changed),
        }
        changed
    }
}

/// Returns the bytes of the units whose differences are taken, for elements of `type_size` bytes.
pub(super) fn delta_width(type_size: usize) -> usize {
    match type_size {
        width @ (1 | 2 | 4 | 8) => width,
        width if width.is_multiple_of(8) => 8,
        _ => 1,
    }
}

/// Writes the difference (XOR) of each element of `width` bytes from the element before it.
fn differences_inside(width: usize, block: &[u8], out: &mut [u8]) {
    let whole = block.len() - block.len() % width;
    let first = width.min(block.len());
    out[..first].copy_from_slice(&block[..first]);
    for at in width..whole {
        out[at] = block[at] ^ block[at - width];
    }
    out[whole..].copy_from_slice(&block[whole..]);
}

/// Writes the difference (XOR) of each whole element of `width` bytes from the same element of the first
/// block, which is at least as long.
fn differences_from(first: &[u8], width: usize, block: &[u8], out: &mut [u8]) {
    let whole = block.len() - block.len() % width;
    for ((out, byte), first) in out.iter_mut().zip(&block[..whole]).zip(first) {
        *out = byte ^ first;
    }
    out[whole..].copy_from_slice(&block[whole..]);
}

/// Clears the mantissa of IEEE numbers of 4 or 8 bytes.
fn truncate(type_size: usize, block: &[u8], out: &mut [u8]) {
    let whole = block.len() - block.len() % type_size;
    if type_size == 4 {
        for (out, number) in out.as_chunks_mut().0.iter_mut().zip(block.as_chunks().0) {
            *out = (u32::from_le_bytes(*number) & !0x007f_ffff).to_le_bytes();
        }
    } else {
        for (out, number) in out.as_chunks_mut().0.iter_mut().zip(block.as_chunks().0) {
            *out = (u64::from_le_bytes(*number) & !0x000f_ffff_ffff_ffff).to_le_bytes();
        }
    }
    out[whole..].copy_from_slice(&block[whole..]);
}
