//! The destinations of the elements of a selection of one chunk.

use crate::convert::{Convert, Converting};
pub use crate::simd::Stores;
pub use crate::simd::comb::Comb;

/// The selection along one dimension of a chunk, and the distance of selected elements in the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    /// The first selected index.
    pub start: usize,
    /// The distance from one selected index to the next; at least 1.
    pub step: usize,
    /// The number of selected indices.
    pub count: usize,
    /// The distance in bytes from one selected index to the next in the destination.
    pub stride: isize,
}

/// A selection of one chunk and its place in a destination.
///
/// The code that creates a `Gather` guarantees that every selected index is inside `chunk_shape`, that there
/// is one axis for each dimension, and that every destination offset is inside the target.
#[derive(Debug, Clone, Copy)]
pub struct Gather<'a> {
    /// The bytes of one element.
    pub element_size: usize,
    /// The number of elements of the chunk along each dimension.
    pub chunk_shape: &'a [usize],
    /// The selection along each dimension.
    pub axes: &'a [Axis],
    /// The destination byte of the first selected element.
    pub offset: usize,
    /// The conversion of the elements on their way; `None` to copy them unchanged.
    pub convert: Option<&'a dyn Convert>,
    /// How shuffled elements are written.
    pub stores: Stores,
}

impl<'a> Gather<'a> {
    /// Creates a gather that copies the elements at `axes` unchanged.
    pub fn new(element_size: usize, chunk_shape: &'a [usize], axes: &'a [Axis], offset: usize) -> Self {
        Self { element_size, chunk_shape, axes, offset, convert: None, stores: Stores::Cached }
    }

    /// Returns the bytes of an element in the destination.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.convert.map_or(self.element_size, Convert::size)
    }

    /// Returns how shuffled elements are written. Elements that a conversion computes with are written to the
    /// cache.
    #[inline]
    pub(crate) fn stores(&self) -> Stores {
        let is_moved = self.convert.is_none_or(|convert| convert.bytes().is_some());
        if is_moved { self.stores } else { Stores::Cached }
    }

    #[inline]
    pub(crate) fn converting(&self) -> Option<Converting<'a>> {
        self.convert.map(|convert| Converting { convert, element_size: self.element_size })
    }
}

/// Memory to which decoded elements are written.
pub trait Target {
    /// Returns the `len` bytes at `offset`.
    fn run(&mut self, offset: usize, len: usize) -> &mut [u8];

    /// Returns `count` runs of `len` bytes. The first run is at `offset`, and each next run starts `stride`
    /// bytes after the start of the one before.
    fn comb(&mut self, offset: usize, stride: isize, count: usize, len: usize) -> Comb<'_>;
}

impl Target for [u8] {
    #[inline]
    fn run(&mut self, offset: usize, len: usize) -> &mut [u8] {
        &mut self[offset..offset + len]
    }

    #[inline]
    fn comb(&mut self, offset: usize, stride: isize, count: usize, len: usize) -> Comb<'_> {
        Comb::of(self, offset, stride, count, len)
    }
}

/// The highest rank of an HDF5 dataspace.
pub(crate) const MAX_RANK: usize = 32;
