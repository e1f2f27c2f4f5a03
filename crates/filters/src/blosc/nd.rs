//! The b2nd metalayer: an n-dimensional chunk in n-dimensional blocks (`README_B2ND_METALAYER`).

use super::msgpack::Msgpack;
use crate::error::{FilterError, Result};
use crate::gather::{Axis, Gather, MAX_RANK};
use crate::walk::Walk;

/// The most dimensions that an array of the metalayer can have.
const MAX_DIMENSIONS: usize = 15;
/// Rows of at most this many elements are only cut after all other dimensions.
const ROW: usize = 256;
/// Rows of fewer elements are not cut for the sake of old versions of c-blosc2.
const SHORT_ROW: usize = 32;

/// An array of one chunk, and its division into blocks. Blocks at the end of a dimension are padded to full
/// size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    rank: usize,
    shape: [usize; MAX_DIMENSIONS],
    block: [usize; MAX_DIMENSIONS],
    /// The number of blocks along each dimension.
    blocks: [usize; MAX_DIMENSIONS],
}

impl Grid {
    /// Reads the metalayer's content.
    pub(super) fn parse(content: &[u8], filter: &'static str) -> Result<Self> {
        let mut reader = Msgpack::new(content, filter);
        let damaged = |what| FilterError::damaged(filter, what);
        // Caterva, the predecessor of b2nd, has five elements. b2nd added a data type.
        let elements = reader.array()?;
        if elements < 5 {
            return Err(damaged("b2nd metalayer has too few elements"));
        }
        reader.integer()?;
        let rank = reader.integer()?;
        let rank = usize::try_from(rank).ok().filter(|rank| (1..=MAX_DIMENSIONS).contains(rank));
        let rank = rank.ok_or(damaged("invalid rank of a b2nd array"))?;
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

    /// Returns the number of elements along each dimension.
    pub(super) fn shape(&self) -> &[usize] {
        &self.shape[..self.rank]
    }

    /// Returns the number of elements of the array, or `None` if it overflows.
    pub(super) fn elements(&self) -> Option<usize> {
        product(self.shape(), 1)
    }

    /// Returns the bytes of an element if blocks have `block_size` bytes. Headers cannot store the size of
    /// large elements.
    pub(super) fn item_size(&self, block_size: usize) -> Option<usize> {
        let items = product(&self.block[..self.rank], 1)?;
        (block_size >= items && block_size.is_multiple_of(items)).then(|| block_size / items)
    }

    /// Returns the bytes of the chunk with its padding.
    pub(super) fn padded(&self, block_size: usize) -> Option<usize> {
        product(&self.blocks[..self.rank], block_size)
    }

    /// Chooses a grid for one chunk of `shape`, in blocks of at most `items` elements. Blocks divide the
    /// chunk evenly if possible, because padding is encoded and decoded for nothing. Blocks are about equally
    /// long in all dimensions, so that no slice needs all blocks, but their rows stay long, because
    /// neighbours in a row compress best. Returns `None` if the metalayer cannot describe the grid.
    pub(super) fn choose(shape: &[usize], items: usize) -> Option<Self> {
        let rank = shape.len();
        if rank == 0 || rank > MAX_DIMENSIONS || shape.contains(&0) {
            return None;
        }
        let mut whole = Self { rank, shape: [0; 15], block: [1; 15], blocks: [1; 15] };
        whole.shape[..rank].copy_from_slice(shape);
        whole.block[..rank].copy_from_slice(shape);
        product(shape, 1)?;
        let grid = whole.divided(items, Self::longest);
        if !grid.is_disputed() {
            return Some(grid);
        }
        if shape[rank - 1] < SHORT_ROW {
            return Some(whole.divided(items, Self::first));
        }
        whole.divide(rank - 1);
        Some(whole.divided(items, Self::longest))
    }

    /// Returns whether versions of c-blosc2 before 2.21.2 have another order of the blocks. Where blocks fill
    /// the chunk, and have its whole rows, these versions take the blocks for parts that follow each other in
    /// the chunk, also if they do not (its issue 691). They read such an array of another writer wrong, and
    /// others read theirs wrong.
    pub(super) fn is_disputed(&self) -> bool {
        let (shape, block) = (self.shape(), &self.block[..self.rank]);
        let fills = shape.iter().zip(block).all(|(len, block)| len.is_multiple_of(*block));
        let has_rows = shape.last() == block.last();
        // In parts that follow each other, dimensions after the first one with several elements are whole.
        let divided = block.iter().position(|&len| len > 1).map_or(self.rank, |first| first + 1);
        fills && has_rows && shape[divided..] != block[divided..]
    }

    /// Divides blocks until they have at most `items` elements, each time along the dimension that `which`
    /// returns.
    fn divided(mut self, items: usize, which: impl Fn(&Self) -> usize) -> Self {
        while self.block_items() > items.max(1) {
            self.divide(which(&self));
        }
        self
    }

    /// Makes blocks shorter along a dimension.
    fn divide(&mut self, dimension: usize) {
        let extent = self.shape[dimension];
        self.block[dimension] = shorter(extent, self.block[dimension]);
        self.blocks[dimension] = extent.div_ceil(self.block[dimension]);
    }

    /// Returns the longest dimension of blocks. A short row is divided last.
    fn longest(&self) -> usize {
        let row = self.rank - 1;
        let longest = (0..row).rev().max_by_key(|&dimension| self.block[dimension]);
        let len = longest.map_or(0, |dimension| self.block[dimension]);
        match longest {
            Some(dimension) if len > 1 && (self.block[row] <= ROW || len >= self.block[row]) => dimension,
            _ => row,
        }
    }

    /// Returns the first dimension along which blocks have several elements.
    fn first(&self) -> usize {
        self.block[..self.rank].iter().position(|&len| len > 1).unwrap_or(0)
    }

    /// Returns the number of elements in a block.
    pub(super) fn block_items(&self) -> usize {
        self.block[..self.rank].iter().product()
    }

    /// Returns the number of blocks.
    pub(super) fn count(&self) -> usize {
        self.blocks[..self.rank].iter().product()
    }

    /// Returns the axes of the whole array in row-major order.
    pub(super) fn axes(&self, item_size: usize) -> [Axis; MAX_DIMENSIONS] {
        let mut axes = [Axis { start: 0, step: 1, count: 1, stride: 0 }; MAX_DIMENSIONS];
        let mut stride = item_size;
        for (axis, &count) in axes[..self.rank].iter_mut().zip(self.shape()).rev() {
            *axis = Axis { start: 0, step: 1, count, stride: stride.cast_signed() };
            stride *= count;
        }
        axes
    }

    /// Appends the metalayer's content for elements of `item_size` bytes.
    pub(super) fn write(&self, item_size: usize, out: &mut Vec<u8>) {
        // The rank is at most fifteen, and sizes of a chunk are below 4 GiB.
        let rank = u8::try_from(self.rank).unwrap_or(15);
        out.extend_from_slice(&[0x97, 0, rank, 0x90 | rank]);
        for &size in self.shape() {
            out.push(0xd3);
            out.extend_from_slice(&(size as u64).to_be_bytes());
        }
        for sizes in [self.shape(), &self.block[..self.rank]] {
            out.push(0x90 | rank);
            for &size in sizes {
                out.push(0xd2);
                out.extend_from_slice(&u32::try_from(size).unwrap_or(u32::MAX).to_be_bytes());
            }
        }
        let data_type = format!("|V{item_size}");
        out.extend_from_slice(&[0, 0xdb, 0, 0, 0]);
        out.push(u8::try_from(data_type.len()).unwrap_or(u8::MAX));
        out.extend_from_slice(data_type.as_bytes());
    }

    /// Returns an upper bound of the number of blocks that the selection touches.
    pub(super) fn touched(&self, gather: &Gather<'_>) -> usize {
        let along = gather.axes.iter().zip(&self.block).map(|(axis, &len)| match axis.count {
            0 => 0,
            count => (axis.start + (count - 1) * axis.step) / len - axis.start / len + 1,
        });
        along.product()
    }

    /// Calls `visit` with the number of each block that the selection touches, in ascending order, and with
    /// the walk over the selected elements of the block.
    pub(super) fn visit<E>(
        &self,
        gather: &Gather<'_>,
        mut visit: impl FnMut(usize, &Walk) -> Result<(), E>,
    ) -> Result<(), E> {
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
            if let Some(walk) =
                Walk::new((gather.element_size, gather.size()), &self.block[..rank], axes, offset)
            {
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

/// Returns the next shorter block length along a dimension, for a block of more than one element. The new
/// length divides the dimension evenly into up to twice as many blocks, or else pads it by at most a
/// sixteenth.
fn shorter(extent: usize, block: usize) -> usize {
    let fewest = extent.div_ceil(block - 1);
    let most = 2 * extent.div_ceil(block);
    let padding = |parts: usize| extent.div_ceil(parts) * parts - extent;
    let even = (fewest..=most).find(|&parts| extent.is_multiple_of(parts));
    let nearly = || (fewest..extent).find(|&parts| padding(parts) <= extent / 16);
    extent.div_ceil(even.or_else(nearly).unwrap_or(extent))
}

/// Returns the product of `sizes` and `unit`, or `None` if it overflows.
fn product(sizes: &[usize], unit: usize) -> Option<usize> {
    sizes.iter().try_fold(unit, |n, &size| n.checked_mul(size))
}

/// Returns the part of `axis` in the block that starts at `origin`, in the block's coordinates, and the
/// number of selected indices before the block.
fn cut(axis: &Axis, origin: usize, len: usize) -> (Axis, usize) {
    let reach = |limit: usize| match (limit.saturating_sub(axis.start), axis.step) {
        (distance, 1) => distance.min(axis.count),
        (distance, step) => distance.div_ceil(step).min(axis.count),
    };
    let skipped = reach(origin);
    let count = reach(origin + len) - skipped;
    // If the block has no selected index, the start has no meaning.
    let start = (axis.start + skipped * axis.step).saturating_sub(origin);
    (Axis { start, count, ..*axis }, skipped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(shape: &[usize], items: usize) -> Vec<usize> {
        let grid = Grid::choose(shape, items).unwrap();
        grid.block[..grid.rank].to_vec()
    }

    #[test]
    fn blocks_divide_the_chunk_evenly_and_keep_its_rows_long() {
        assert_eq!(block(&[1, 100, 100, 100], 65_536), [1, 25, 50, 50]);
        assert_eq!(block(&[64, 64, 64], 65_536), [32, 64, 32]);
        assert_eq!(block(&[100, 1000, 4], 65_536), [10, 1000, 4]);
        assert_eq!(block(&[1000, 1000], 65_536), [250, 250]);
        assert_eq!(block(&[1, 500, 500], 65_536), [1, 250, 250]);
        assert_eq!(block(&[4, 5], 65_536), [4, 5]);
        assert_eq!(block(&[1, 1, 1_000_000], 65_536), [1, 1, 62_500]);
        assert_eq!(block(&[3, 7], 1), [1, 1]);
        assert_eq!(block(&[3, 7], 0), [1, 1]);
    }

    #[test]
    fn the_order_of_blocks_is_disputed_where_they_fill_the_chunk_and_are_no_parts_that_follow_each_other() {
        let is_disputed = |shape: &[usize], block: &[usize]| {
            let mut grid = Grid::choose(shape, usize::MAX).unwrap();
            grid.block[..block.len()].copy_from_slice(block);
            grid.is_disputed()
        };
        for block in [[2, 3, 4], [1, 3, 4], [2, 1, 4]] {
            assert_eq!(is_disputed(&[4, 6, 4], &block), block != [1, 3, 4], "{block:?}");
        }
        assert!(is_disputed(&[2, 4, 1], &[2, 1, 1]));
        for block in [[2, 6, 4], [1, 6, 4], [1, 1, 2], [2, 3, 2], [3, 3, 4], [4, 6, 4]] {
            assert!(!is_disputed(&[4, 6, 4], &block), "{block:?}");
        }
        assert!(!is_disputed(&[6, 4], &[2, 4]) && !is_disputed(&[6, 4], &[2, 2]));
    }

    #[test]
    fn a_prime_length_is_divided_nearly_evenly() {
        let grid = Grid::choose(&[1009, 1009], 65_536).unwrap();
        let padded = grid.count() * grid.block_items();
        assert!(padded < 1009 * 1009 * 103 / 100, "{:?} pads to {padded}", &grid.block[..2]);
    }

    #[test]
    fn a_shape_that_the_metalayer_cannot_describe_is_refused() {
        assert!(Grid::choose(&[], 8).is_none());
        assert!(Grid::choose(&[3, 0], 8).is_none());
        assert!(Grid::choose(&[1; 16], 8).is_none());
        assert!(Grid::choose(&[usize::MAX, 2], 8).is_none());
    }

    proptest! {
        #[test]
        fn blocks_have_at_most_the_given_size_and_cover_the_chunk_with_little_padding(
            shape in prop::collection::vec(1usize..300, 1..5), items in 1usize..100_000
        ) {
            let grid = Grid::choose(&shape, items).unwrap();
            prop_assert!(grid.block_items() <= items && !grid.is_disputed());
            for (&extent, (&block, &blocks)) in shape.iter().zip(grid.block.iter().zip(&grid.blocks)) {
                let padding = (block * blocks).checked_sub(extent).unwrap();
                prop_assert!(padding < block && padding <= extent / 16);
            }
        }
    }
}
