//! The bytes of a chunk in the order of its blocks, before encoding.

use super::nd::Grid;
use crate::gather::Gather;
use crate::walk::Walk;

/// A chunk in row-major order, and its division into blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blocks<'a> {
    /// All elements, without padding.
    pub(super) bytes: &'a [u8],
    /// The bytes of a block.
    pub(super) block_size: usize,
    /// The grid of n-dimensional blocks, and the bytes of an element.
    pub(super) grid: Option<(&'a Grid, usize)>,
}

/// One block.
pub(super) enum BloscBlock<'a> {
    /// A block whose bytes are contiguous.
    Whole(&'a [u8]),
    /// A block of `len` bytes made of runs of the chunk. Bytes that no run fills are padding.
    Runs { chunk: &'a [u8], walk: &'a Walk, len: usize },
}

/// Contiguous bytes of the chunk that are also contiguous in the block.
pub(super) struct Piece<'a> {
    /// The offset in the block.
    pub(super) at: usize,
    pub(super) bytes: &'a [u8],
}

impl Blocks<'_> {
    /// Returns the bytes of all blocks, with padding.
    pub(super) fn len(&self) -> usize {
        self.grid.map_or(self.bytes.len(), |(grid, _)| grid.count() * self.block_size)
    }

    /// Returns the number of blocks.
    pub(super) fn count(&self) -> usize {
        self.len().div_ceil(self.block_size)
    }

    /// Calls `visit` with each block in order, and stops at the first error.
    pub(super) fn each<E>(
        &self,
        mut visit: impl FnMut(usize, &BloscBlock<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some((grid, item_size)) = self.grid else {
            let mut blocks = self.bytes.chunks(self.block_size).enumerate();
            return blocks.try_for_each(|(index, block)| visit(index, &BloscBlock::Whole(block)));
        };
        let (shape, axes) = (grid.shape(), grid.axes(item_size));
        let gather = Gather::new(item_size, shape, &axes[..shape.len()], 0);
        grid.visit(&gather, |index, walk| {
            let whole = walk.single().filter(|run| run.len == self.block_size);
            let block = match whole {
                Some(run) => BloscBlock::Whole(&self.bytes[run.target..run.target + run.len]),
                None => BloscBlock::Runs { chunk: self.bytes, walk, len: self.block_size },
            };
            visit(index, &block)
        })
    }
}

impl BloscBlock<'_> {
    /// Returns the length in bytes, with padding.
    pub(super) fn len(&self) -> usize {
        match *self {
            Self::Whole(bytes) => bytes.len(),
            Self::Runs { len, .. } => len,
        }
    }

    /// Returns whether the block is made of pieces of at most `most` bytes.
    pub(super) fn is_scattered(&self, most: usize) -> bool {
        match self {
            Self::Whole(_) => false,
            Self::Runs { walk, .. } => walk.runs().before(usize::MAX).is_some_and(|run| run.len <= most),
        }
    }

    /// Returns whether the pieces leave some bytes of the block unfilled.
    pub(super) fn is_padded(&self) -> bool {
        match self {
            Self::Whole(_) => false,
            Self::Runs { walk, len, .. } => walk.len() < *len,
        }
    }

    /// Calls `visit` with each piece in ascending order.
    pub(super) fn pieces(&self, mut visit: impl FnMut(Piece<'_>)) {
        match self {
            Self::Whole(bytes) => visit(Piece { at: 0, bytes }),
            Self::Runs { chunk, walk, .. } => {
                let mut runs = walk.runs();
                while let Some(run) = runs.before(usize::MAX) {
                    visit(Piece { at: run.source, bytes: &chunk[run.target..run.target + run.len] });
                }
            }
        }
    }

    /// Assembles the block in `out`, which has the block's length.
    pub(super) fn copy_into(&self, out: &mut [u8]) {
        if self.is_padded() {
            out.fill(0);
        }
        self.pieces(|piece| out[piece.at..piece.at + piece.bytes.len()].copy_from_slice(piece.bytes));
    }
}
