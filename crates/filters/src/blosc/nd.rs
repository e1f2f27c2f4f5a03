//! The b2nd metalayer: an n-dimensional chunk in n-dimensional blocks (`README_B2ND_METALAYER`).

use super::frame::Msgpack;
use crate::error::{FilterError, Result};
use crate::gather::{Axis, Gather, MAX_RANK, Walk};

/// The most dimensions that the metalayer's arrays can have.
const MAX_DIMENSIONS: usize = 15;

/// An array that is one chunk, and how it is cut into blocks. Blocks at the end of a dimension are padded to full size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    rank: usize,
    shape: [usize; MAX_DIMENSIONS],
    block: [usize; MAX_DIMENSIONS],
    /// Blocks along each dimension.
    blocks: [usize; MAX_DIMENSIONS],
}

impl Grid {
    /// Reads the metalayer's content.
    pub(super) fn parse(content: &[u8], filter: &'static str) -> Result<Self> {
        let mut reader = Msgpack::new(content, filter);
        let damaged = |what| FilterError::Damaged { filter, what };
        // Five elements in Caterva, which this was; then a data type was added.
        let elements = reader.array()?;
        if elements < 5 {
            return Err(damaged("b2nd metalayer has too few elements"));
        }
        reader.integer()?;
        let rank = reader.integer()?;
        let rank = usize::try_from(rank).ok().filter(|rank| (1..=MAX_DIMENSIONS).contains(rank));
        let rank = rank.ok_or(damaged("impossible rank of a b2nd array"))?;
        let mut grid = Self { rank, shape: [0; 15], block: [0; 15], blocks: [0; 15] };
        let mut chunk = [0; MAX_DIMENSIONS];
        for sizes in [&mut grid.shape, &mut chunk, &mut grid.block] {
            if reader.array()? != rank {
                return Err(damaged("shapes of different ranks in a b2nd metalayer"));
            }
            for size in &mut sizes[..rank] {
                *size = usize::try_from(reader.integer()?)
                    .map_err(|_| damaged("negative size in a b2nd shape"))?;
            }
        }
        let sizes = grid.shape.iter().zip(&chunk).zip(&grid.block).zip(&mut grid.blocks).take(rank);
        for (((&shape, &chunk), &block), blocks) in sizes {
            if block == 0 || chunk == 0 {
                return Err(damaged("empty block or chunk in a b2nd metalayer"));
            }
            if shape > chunk {
                return Err(FilterError::Unsupported {
                    filter,
                    feature: "a b2nd array of several chunks".into(),
                });
            }
            *blocks = chunk.div_ceil(block);
        }
        Ok(grid)
    }

    /// Elements along each dimension.
    pub(super) fn shape(&self) -> &[usize] {
        &self.shape[..self.rank]
    }

    /// Elements of the array, or `None` if they cannot be counted.
    pub(super) fn elements(&self) -> Option<usize> {
        self.shape().iter().try_fold(1usize, |n, &size| n.checked_mul(size))
    }

    /// Whether a chunk of `decoded` bytes in blocks of `block_size` is this one.
    pub(super) fn fits(&self, type_size: usize, block_size: usize, decoded: usize) -> bool {
        let block = self.block[..self.rank].iter().try_fold(type_size, |n, &size| n.checked_mul(size));
        let all = self.blocks[..self.rank].iter().try_fold(block_size, |n, &count| n.checked_mul(count));
        block == Some(block_size) && all == Some(decoded)
    }

    /// How many blocks the selection is in at most.
    pub(super) fn touched(&self, gather: &Gather<'_>) -> usize {
        let along = gather.axes.iter().zip(&self.block).map(|(axis, &len)| match axis.count {
            0 => 0,
            count => (axis.start + (count - 1) * axis.step) / len - axis.start / len + 1,
        });
        along.product()
    }

    /// Calls `visit` with the number of each block that the selection touches, in ascending order, and the walk over the
    /// elements of the block.
    pub(super) fn visit(
        &self,
        gather: &Gather<'_>,
        mut visit: impl FnMut(usize, &Walk) -> Result<()>,
    ) -> Result<()> {
        if gather.axes.iter().any(|axis| axis.count == 0) {
            return Ok(());
        }
        let rank = self.rank;
        let mut first = [0; MAX_RANK];
        let mut last = [0; MAX_RANK];
        for (dimension, axis) in gather.axes.iter().enumerate() {
            first[dimension] = axis.start / self.block[dimension];
            last[dimension] = (axis.start + (axis.count - 1) * axis.step) / self.block[dimension];
        }
        let mut at = first;
        loop {
            let mut number = 0;
            let mut offset = gather.offset;
            let mut local = [Axis { start: 0, step: 1, count: 0, stride: 0 }; MAX_DIMENSIONS];
            for (dimension, axis) in gather.axes.iter().enumerate() {
                number = number * self.blocks[dimension] + at[dimension];
                let (part, skipped) = cut(axis, at[dimension] * self.block[dimension], self.block[dimension]);
                offset = offset.wrapping_add_signed(axis.stride.wrapping_mul(skipped.cast_signed()));
                local[dimension] = part;
            }
            let axes = local[..rank].iter().copied();
            if let Some(walk) = Walk::new(gather.element_size, &self.block[..rank], axes, offset) {
                visit(number, &walk)?;
            }
            let mut dimension = rank;
            loop {
                let Some(previous) = dimension.checked_sub(1) else { return Ok(()) };
                dimension = previous;
                if at[dimension] < last[dimension] {
                    at[dimension] += 1;
                    break;
                }
                at[dimension] = first[dimension];
            }
        }
    }
}

/// The part of `axis` in the block from `origin` on, in the block's coordinates, and how many selected indices come before.
fn cut(axis: &Axis, origin: usize, len: usize) -> (Axis, usize) {
    let reach = |limit: usize| match (limit.saturating_sub(axis.start), axis.step) {
        (distance, 1) => distance.min(axis.count),
        (distance, step) => distance.div_ceil(step).min(axis.count),
    };
    let skipped = reach(origin);
    let count = reach(origin + len) - skipped;
    // Without any selected index in the block the start means nothing.
    let start = (axis.start + skipped * axis.step).saturating_sub(origin);
    (Axis { start, count, ..*axis }, skipped)
}
