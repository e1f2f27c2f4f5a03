//! The callbacks that get elements block by block.

use hyperslab_error::Result;

/// Consecutive elements of one piece. A piece is a chunk, or a run of rows of contiguous data.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Block<'a> {
    /// The index in the dataset of the piece's first element.
    pub piece: &'a [u64],
    /// The number of elements of the piece along each dimension, including those beyond the edge of the
    /// dataset.
    pub piece_shape: &'a [usize],
    /// The row-major number in the piece of the block's first element.
    pub first: usize,
    /// The number of elements.
    pub count: usize,
    /// The elements as stored, or their selected columns. A single one if all elements of the block are
    /// equal, so that a constant chunk of any length costs nothing.
    pub elements: &'a [u8],
    /// The bytes of an element.
    pub(super) size: usize,
}

impl<'a> Block<'a> {
    /// Returns whether `elements` holds a single element that stands for several.
    pub fn is_repeated(&self) -> bool {
        self.count > 1 && self.elements.len() == self.size
    }

    /// Returns the elements one by one.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        let (elements, size) = (self.elements, self.size);
        let step = if self.is_repeated() { 0 } else { size };
        (0..self.count).map(move |number| &elements[number * step..][..size])
    }
}

/// A callback that takes blocks, on the thread that decoded them. An error ends the read.
pub type Sink<'a> = dyn Fn(Block<'_>) -> Result<()> + Sync + 'a;
