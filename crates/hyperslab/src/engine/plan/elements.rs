//! The elements of the pieces of one read, and a selection of them in the form that the filters use.

use hyperslab_filters::gather::Axis;
use hyperslab_select::Part;
use smallvec::SmallVec;

use super::pieces::Pieces;

/// The elements of a piece, and what a read makes of them.
#[derive(Debug)]
pub(in crate::engine) struct PieceElements {
    /// The number of elements along each dimension.
    pub(in crate::engine) shape: SmallVec<[usize; 4]>,
    /// The size in bytes of a stored element.
    pub(in crate::engine) stored_size: usize,
    /// The size in bytes of a requested element.
    pub(in crate::engine) memory_size: usize,
    /// What a read does with the elements.
    pub(in crate::engine) goal: Goal,
}

/// What a read does with elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Goal {
    /// They go to memory as they are stored.
    Copy,
    /// They go to memory, in another datatype.
    Convert,
    /// They go to a callback.
    PassOn,
}

/// The axes of a part, in the form that the filters use.
pub(in crate::engine) type Axes = SmallVec<[Axis; 4]>;

impl PieceElements {
    /// Returns the elements of `pieces`, of `stored_size` bytes each, for a read of elements of `memory_size`
    /// bytes.
    pub(in crate::engine) fn of(
        pieces: &Pieces<'_>,
        stored_size: usize,
        memory_size: usize,
        goal: Goal,
    ) -> Self {
        let shape = pieces.shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
        Self { shape, stored_size, memory_size, goal }
    }
}

/// Returns the axes of `part` of a piece. Their strides are bytes of the destination.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a part is inside a piece, its strides are inside a destination, and both are in memory"
)]
pub(in crate::engine) fn axes(part: &Part) -> Axes {
    part.within
        .iter()
        .zip(&part.dst_strides)
        .map(|(dim, &stride)| Axis {
            start: dim.start as usize,
            step: dim.step as usize,
            count: dim.count as usize,
            stride: stride as isize,
        })
        .collect()
}
