//! Selections of array elements: everything, boxes, lists along axes, lists of points. Pure computations
//! without I/O.
//!
//! A [`Selection`] is checked against the shape of an array. It can be divided by chunks ([`Tiling`]), or
//! listed as runs of neighbouring elements ([`Runs`]).

mod axis_cuts;
mod axis_index;
mod boxes;
mod chunk;
mod chunk_part;
mod dim;
mod indices;
mod mapping;
mod mapping_side;
mod memory_batches;
mod parse;
mod points;
mod runs;
mod slab;
mod steps;
mod stored_selection;
#[cfg(test)]
mod testing;
mod tiling;
mod union;
mod whole_chunks;

use std::ops::{Range, RangeFull, RangeInclusive};
use std::sync::Arc;

use smallvec::SmallVec;

pub use axis_index::{AxisIndex, IndexInteger, IndexRange};
pub use boxes::Boxes;
pub use chunk::{first_along, first_element, inside, is_cut};
pub use chunk_part::Part;
pub use dim::Dim;
pub use indices::{Indices, Select, Selected};
pub use mapping::{Mapping, Piece, Place, Target, are_disjoint, end_of, slices};
pub use memory_batches::{axes, batches};
pub use parse::parse;
pub use points::{PointAt, Points};
pub use runs::{Run, Runs};
pub use slab::{HyperslabAxis, Slab};
pub use steps::{Worked, sort};
pub use tiling::{Tiling, Touched};
pub use union::{Block, Union};

use hyperslab_error::RequestError;

/// The shape of an array. Up to four dimensions need no allocation.
pub type Shape = SmallVec<[u64; 4]>;
/// The coordinate of an element or of a chunk.
pub type Coord = SmallVec<[u64; 4]>;

/// A selection of the elements of an array. [`s!`] selects by indices that may count from the end, and drops
/// the axes of integers.
///
/// ```
/// use hyperslab::{Axis, Dim, File, Points, Selection};
///
/// let file = File::in_memory()?;
/// let values: Vec<i32> = (0..24).collect();
/// let dataset = file.root().new_dataset::<i32>("d").shape([4, 6]).create_with(&values)?;
/// assert_eq!(dataset.read::<i32>(Selection::All)?.len(), 24);
/// assert_eq!(dataset.read::<i32>([1..2, 0..3])?, [6, 7, 8]);
/// // Every second row, columns 5 and 0 of the rows.
/// let rows = Dim { start: 0, step: 2, count: 2 };
/// let grid = Selection::from_axes([Axis::Range(rows), Axis::from_indices([0, 5])]);
/// assert_eq!(dataset.read::<i32>(grid)?, [0, 5, 12, 17]);
/// // Single elements, in this order.
/// assert_eq!(dataset.read::<i32>(Points::new(2, [3, 5, 0, 0])?)?, [23, 0]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Selection {
    /// All elements.
    All,
    /// No elements.
    None,
    /// A box of evenly spaced indices.
    Slab(Slab),
    /// The product of indices along every axis, with a list along at least one.
    Grid(Vec<Axis>),
    /// The elements at a list of coordinates.
    Points(Points),
}

/// The indices of a selection along one axis.
///
/// ```
/// use hyperslab::{Axis, Dim, File, Selection};
///
/// let file = File::in_memory()?;
/// let dataset = file.root().new_dataset::<i32>("d").shape([2, 3]).create_with(&[1, 2, 3, 4, 5, 6])?;
/// let ends = Selection::from_axes([Axis::Range(Dim::one(1)), Axis::from_indices([0, 2])]);
/// assert_eq!(dataset.read::<i32>(ends)?, [4, 6]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Evenly spaced.
    Range(Dim),
    /// A list in any order. An index may occur several times and is then selected several times.
    List(Arc<[u64]>),
}

impl Axis {
    /// Returns a range if the indices ascend evenly, otherwise a list.
    pub fn from_indices(indices: impl Into<Arc<[u64]>>) -> Self {
        let indices = indices.into();
        Dim::from_indices(&indices).map_or(Self::List(indices), Self::Range)
    }

    /// Returns the number of indices.
    pub fn len(&self) -> u64 {
        match self {
            Self::Range(dim) => dim.count,
            Self::List(list) => list.len() as u64,
        }
    }

    /// Returns whether there are no indices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn check(&self, axis: usize, len: u64) -> Result<(), RequestError> {
        match self {
            Self::Range(dim) => check_dim(*dim, axis, len),
            Self::List(list) => match list.iter().find(|index| **index >= len) {
                Some(&index) => Err(RequestError::OutOfBounds { axis, index: index.into(), len }),
                None => Ok(()),
            },
        }
    }
}

impl Selection {
    /// Returns the product of `axes`, which is a slab if all axes are ranges.
    pub fn from_axes(axes: impl Into<Vec<Axis>>) -> Self {
        let axes = axes.into();
        let dims = axes.iter().map(|axis| match axis {
            Axis::Range(dim) => Some(*dim),
            Axis::List(_) => None,
        });
        match dims.collect() {
            Some(dims) => Self::Slab(Slab(dims)),
            None => Self::Grid(axes),
        }
    }

    /// Checks that every element is inside an array of the shape `extent`, and that the number of elements
    /// fits a `u64`.
    #[doc(hidden)]
    pub fn check(&self, extent: &[u64]) -> Result<(), RequestError> {
        let same_rank = |given: usize| {
            if given == extent.len() { Ok(()) } else { Err(RequestError::Rank { given, rank: extent.len() }) }
        };
        match self {
            Self::All | Self::None => {}
            Self::Slab(slab) => {
                same_rank(slab.0.len())?;
                for (axis, (dim, &len)) in slab.0.iter().zip(extent).enumerate() {
                    check_dim(*dim, axis, len)?;
                }
            }
            Self::Grid(axes) => {
                same_rank(axes.len())?;
                for (number, (axis, &len)) in axes.iter().zip(extent).enumerate() {
                    axis.check(number, len)?;
                }
            }
            Self::Points(points) => {
                same_rank(points.rank())?;
                for point in points.iter() {
                    for (axis, (&index, &len)) in point.iter().zip(extent).enumerate() {
                        if index >= len {
                            return Err(RequestError::OutOfBounds { axis, index: index.into(), len });
                        }
                    }
                }
            }
        }
        self.count(extent).map(drop)
    }

    /// Returns the shape of the array that a read returns, including axes of length 1.
    #[doc(hidden)]
    pub fn shape(&self, extent: &[u64]) -> Shape {
        match self {
            Self::All => extent.into(),
            Self::None => Shape::from_slice(&[0]),
            Self::Slab(slab) => slab.shape(),
            Self::Grid(axes) => axes.iter().map(Axis::len).collect(),
            Self::Points(points) => Shape::from_slice(&[points.len() as u64]),
        }
    }

    /// Returns the number of selected elements in an array of the shape `extent`.
    pub fn count(&self, extent: &[u64]) -> Result<u64, RequestError> {
        let shape = self.shape(extent);
        if shape.contains(&0) {
            return Ok(0);
        }
        shape
            .iter()
            .try_fold(1u64, |count, &len| count.checked_mul(len))
            .ok_or(RequestError::TooMany { what: "selection", limit: u64::MAX })
    }

    /// Checks the selection and divides it by chunks of the shape `chunk`.
    #[doc(hidden)]
    pub fn tiling(&self, extent: &[u64], chunk: &[u64]) -> Result<Tiling, RequestError> {
        self.tiling_in_steps(extent, chunk, &mut |_| Ok(()))
    }

    /// Does the same as [`tiling`](Self::tiling). Tells `worked` of the work on long lists, which its error
    /// ends.
    #[doc(hidden)]
    pub fn tiling_in_steps<E: From<RequestError>>(
        &self,
        extent: &[u64],
        chunk: &[u64],
        worked: &mut Worked<'_, E>,
    ) -> Result<Tiling, E> {
        Tiling::new(self, extent, chunk, worked)
    }

    /// Returns the chunk's coordinate and the box relative to it, if this is a box inside one chunk of the
    /// shape `chunk`. Makes the same checks as a [`Tiling`] at a much lower cost.
    #[doc(hidden)]
    pub fn in_one_chunk(&self, extent: &[u64], chunk: &[u64]) -> Result<Option<(Coord, Slab)>, RequestError> {
        let found = match self {
            Self::Slab(slab) => slab.in_one_chunk(chunk),
            Self::All => Slab::whole(extent).in_one_chunk(chunk),
            Self::None | Self::Grid(_) | Self::Points(_) => None,
        };
        if found.is_some() {
            self.check(extent)?;
        }
        Ok(found)
    }

    /// Returns the smallest box of chunk coordinates that contains every touched chunk.
    #[doc(hidden)]
    pub fn chunk_box(
        &self,
        extent: &[u64],
        chunk: &[u64],
    ) -> Result<SmallVec<[Range<u64>; 4]>, RequestError> {
        Ok(self.tiling(extent, chunk)?.chunk_box())
    }

    /// Calls `f` with the parts of the selection inside the chunk at `coord`. For several chunks, make one
    /// [`Tiling`].
    #[doc(hidden)]
    pub fn parts(
        &self,
        extent: &[u64],
        chunk: &[u64],
        coord: &[u64],
        f: impl FnMut(Part),
    ) -> Result<(), RequestError> {
        self.tiling(extent, chunk)?.parts(coord, f);
        Ok(())
    }

    /// Returns the selected elements, in the order of the result, as maximal runs of neighbours in a
    /// row-major array of the shape `extent`.
    #[doc(hidden)]
    pub fn runs(&self, extent: &[u64]) -> Result<Runs, RequestError> {
        Runs::new(self, extent)
    }
}

/// A copy of the selection.
impl From<&Selection> for Selection {
    fn from(what: &Selection) -> Self {
        what.clone()
    }
}

impl From<RangeFull> for Selection {
    fn from(_: RangeFull) -> Self {
        Self::All
    }
}

impl From<Range<u64>> for Selection {
    fn from(range: Range<u64>) -> Self {
        [range].into()
    }
}

impl From<RangeInclusive<u64>> for Selection {
    fn from(range: RangeInclusive<u64>) -> Self {
        [range].into()
    }
}

impl<const N: usize> From<[RangeInclusive<u64>; N]> for Selection {
    fn from(ranges: [RangeInclusive<u64>; N]) -> Self {
        // No dataset has an element with the index `u64::MAX`, so a range to it is out of bounds either way.
        ranges.map(|range| *range.start()..range.end().saturating_add(1)).into()
    }
}

impl<const N: usize> From<[Range<u64>; N]> for Selection {
    fn from(ranges: [Range<u64>; N]) -> Self {
        Self::Slab(Slab(ranges.into_iter().map(|range| Dim::range(range.start, range.end)).collect()))
    }
}

impl From<Slab> for Selection {
    fn from(slab: Slab) -> Self {
        Self::Slab(slab)
    }
}

impl From<Points> for Selection {
    fn from(points: Points) -> Self {
        Self::Points(points)
    }
}

fn check_dim(dim: Dim, axis: usize, len: u64) -> Result<(), RequestError> {
    if dim.step == 0 {
        return Err(RequestError::Step { axis, step: 0 });
    }
    match dim.last() {
        _ if dim.count == 0 => Ok(()),
        Some(last) if last < len => Ok(()),
        last => Err(RequestError::OutOfBounds { axis, index: last.map_or(i128::MAX, i128::from), len }),
    }
}

/// Returns the distance, in elements, between neighbours along each axis of a row-major array.
fn row_strides(shape: &[u64]) -> Coord {
    let mut strides = Coord::from_elem(1, shape.len());
    for axis in (1..shape.len()).rev() {
        // An overflow is possible only if another axis is empty, and then no element is ever located.
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::testing::{Case, cases};
    use super::*;

    proptest! {
        #[test]
        fn the_shape_and_the_count_are_those_of_the_elements(case in cases()) {
            let Case { selection, extent, .. } = &case;
            selection.check(extent).unwrap();
            let elements = case.elements();
            prop_assert_eq!(selection.count(extent).unwrap(), elements.len() as u64);
            prop_assert_eq!(selection.shape(extent).iter().product::<u64>(), elements.len() as u64);
        }
    }

    #[test]
    fn the_error_for_an_index_out_of_bounds_names_its_axis() {
        let slab: Selection = [0..3, 2..5].into();
        assert_eq!(slab.check(&[3, 4]), Err(RequestError::OutOfBounds { axis: 1, index: 4, len: 4 }));
        let grid = Selection::Grid(vec![Axis::Range(Dim::range(0, 3)), Axis::List([1, 9, 2].into())]);
        assert_eq!(grid.check(&[3, 9]), Err(RequestError::OutOfBounds { axis: 1, index: 9, len: 9 }));
        let points = Selection::Points(Points::new(2, [0, 0, 3, 0]).unwrap());
        assert_eq!(points.check(&[3, 9]), Err(RequestError::OutOfBounds { axis: 0, index: 3, len: 3 }));
        assert_eq!(slab.check(&[3]), Err(RequestError::Rank { given: 2, rank: 1 }));
    }

    #[test]
    fn ranges_that_overflow_or_have_step_zero_are_refused() {
        let dim =
            |start, step, count| Selection::Slab(Slab([Dim { start, step, count }].into_iter().collect()));
        assert!(matches!(
            dim(1, u64::MAX, u64::MAX).check(&[u64::MAX]),
            Err(RequestError::OutOfBounds { .. })
        ));
        assert_eq!(dim(0, 0, 2).check(&[5]), Err(RequestError::Step { axis: 0, step: 0 }));
        assert_eq!(dim(7, 1, 0).check(&[5]), Ok(()), "an empty range has no element outside");
        let most = 1 << 40;
        assert!(matches!(Selection::All.check(&[most, most]), Err(RequestError::TooMany { .. })));
        assert_eq!(Selection::All.check(&[most, most, 0]), Ok(()));
    }
}
