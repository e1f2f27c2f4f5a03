//! Selections as files store them (spec VIII.A), and as requests name them.

use std::collections::BTreeSet;
use std::sync::Arc;

use hyperslab_error::RequestError;
use hyperslab_format::selection::{BlockList, PointList, RegularAxis, StoredSelection};

use super::{Axis, Dim, HyperslabAxis, Points, Selection, Union};

/// The most elements of a list that a selection of blocks becomes, and the most blocks of a stored selection.
const LIST_LIMIT: u64 = 1 << 22;

impl Selection {
    /// Returns the elements of a stored selection in an array of the shape `extent`. Blocks without end go up
    /// to the edge of the array. Irregular blocks become a grid if they are the product of ranges, and
    /// otherwise a list of points in row-major order.
    ///
    /// Errors: `Request` if the selection leaves the array, or has too many irregular blocks.
    #[doc(hidden)]
    pub fn from_stored(stored: &StoredSelection, extent: &[u64]) -> Result<Self, RequestError> {
        if let Some(given) = stored.rank().filter(|&given| given != extent.len()) {
            return Err(RequestError::Rank { given, rank: extent.len() });
        }
        let selection = match stored {
            StoredSelection::All => Self::All,
            StoredSelection::None => Self::None,
            StoredSelection::Points(points) => Points::new(points.rank, points.coords.clone())?.into(),
            StoredSelection::Regular(slab) => {
                let axes: Vec<_> =
                    slab.axes.iter().zip(extent).map(|(axis, &len)| until(axis, len)).collect();
                let cut = |((axis, stored), &len): ((&HyperslabAxis, &RegularAxis), &u64)| {
                    // The last of the blocks without end may be cut by the edge.
                    stored.is_unlimited() && axis.last().is_some_and(|last| last >= len)
                };
                if axes.iter().zip(&slab.axes).zip(extent).any(cut) {
                    let indices = axes.iter().zip(extent).map(|(axis, &len)| axis.below(len));
                    Self::from_axes(indices.collect::<Result<Vec<_>, _>>()?)
                } else {
                    Self::from_hyperslab(&axes, extent)?
                }
            }
            StoredSelection::Blocks(blocks) => Union::of(blocks, extent)?.selection()?,
        };
        selection.check(extent)?;
        Ok(selection)
    }

    /// Returns the form in which a file stores the selection. Up to `listed` regular blocks are listed;
    /// `None` takes the forms of HDF5 1.12.
    ///
    /// Errors: `Request` if the selection consists of too many blocks, or names an index twice.
    #[doc(hidden)]
    pub fn to_stored(&self, listed: Option<u64>) -> Result<StoredSelection, RequestError> {
        match self {
            Self::All => Ok(StoredSelection::All),
            Self::None => Ok(StoredSelection::None),
            // A scalar has one element and no axes.
            Self::Slab(slab) if slab.0.is_empty() => Ok(StoredSelection::All),
            Self::Grid(axes) if axes.is_empty() => Ok(StoredSelection::All),
            Self::Slab(slab) if slab.0.iter().any(|dim| dim.count == 0) => Ok(StoredSelection::None),
            Self::Slab(slab) => {
                Ok(StoredSelection::regular_within(slab.0.iter().map(|dim| regular(*dim)).collect(), listed))
            }
            Self::Grid(axes) if axes.iter().any(Axis::is_empty) => Ok(StoredSelection::None),
            Self::Grid(axes) => product(axes, listed.is_none()),
            Self::Points(points) => {
                let coords = points.iter().flatten().copied().collect();
                Ok(StoredSelection::Points(PointList::new(points.rank(), coords, listed.is_none())))
            }
        }
    }
}

/// Returns evenly spaced indices as libhdf5 stores them: neighbours are one block.
fn regular(dim: Dim) -> RegularAxis {
    let Dim { start, step, count } = dim;
    if step == 1 || count == 1 {
        return RegularAxis { start, stride: 1, count: Some(1), block: Some(count) };
    }
    RegularAxis { start, stride: step, count: Some(count), block: Some(1) }
}

/// Returns the blocks along an axis of `len` indices. The last block may exceed the axis if the blocks have
/// no end.
fn until(axis: &RegularAxis, len: u64) -> HyperslabAxis {
    let RegularAxis { start, stride, .. } = *axis;
    let left = len.saturating_sub(start);
    let block = axis.block.unwrap_or(left);
    let count = axis.count.unwrap_or_else(|| left.div_ceil(stride.max(1)));
    HyperslabAxis { start, stride, count, block }
}

impl HyperslabAxis {
    fn last(self) -> Option<u64> {
        let before = self.count.checked_sub(1)?.checked_mul(self.stride)?;
        self.start.checked_add(before)?.checked_add(self.block.checked_sub(1)?)
    }

    /// Returns the indices below `len`.
    fn below(self, len: u64) -> Result<Axis, RequestError> {
        if self.count == 0 || self.block == 0 {
            return Ok(Axis::from_indices(Vec::new()));
        }
        if self.count.saturating_mul(self.block) > LIST_LIMIT {
            return Err(too_many());
        }
        let blocks = Dim { start: self.start, step: self.stride.max(1), count: self.count };
        let indices = blocks.iter().flat_map(|first| first..first.saturating_add(self.block).min(len));
        Ok(Axis::from_indices(indices.collect::<Vec<_>>()))
    }
}

fn too_many() -> RequestError {
    RequestError::TooMany { what: "irregular blocks", limit: LIST_LIMIT }
}

/// Returns the intervals along each axis, if the blocks are all of their combinations.
pub(super) fn factors(blocks: &BlockList) -> Option<Vec<Vec<(u64, u64)>>> {
    let mut axes = vec![BTreeSet::new(); blocks.rank];
    for (first, last) in blocks.blocks() {
        for ((axis, &first), &last) in axes.iter_mut().zip(first).zip(last) {
            axis.insert((first, last));
        }
    }
    let mut count = 1_usize;
    for axis in &axes {
        count = count.checked_mul(axis.len())?;
        let mut intervals = axis.iter().zip(axis.iter().skip(1));
        if intervals.any(|((_, end), (start, _))| start <= end) {
            return None;
        }
    }
    // As the intervals of an axis are disjoint, so are the blocks, unless one occurs twice.
    let different: BTreeSet<_> = blocks.blocks().map(|(first, _)| first).collect();
    let is_product = count == different.len() && count == blocks.blocks().len();
    is_product.then(|| axes.into_iter().map(|axis| axis.into_iter().collect()).collect())
}

/// Returns the product of indices as blocks.
fn product(axes: &[Axis], is_compact: bool) -> Result<StoredSelection, RequestError> {
    let intervals = axes.iter().map(intervals).collect::<Result<Vec<_>, _>>()?;
    let count = intervals.iter().try_fold(1_u64, |count, axis| count.checked_mul(axis.len() as u64));
    if count.is_none_or(|count| count > LIST_LIMIT) {
        return Err(too_many());
    }
    let mut corners = Vec::new();
    let mut at = vec![0; axes.len()];
    if count == Some(0) {
        return Ok(StoredSelection::None);
    }
    'blocks: loop {
        corners.extend(intervals.iter().zip(&at).map(|(axis, &number)| axis[number].0));
        corners.extend(intervals.iter().zip(&at).map(|(axis, &number)| axis[number].1));
        for axis in (0..at.len()).rev() {
            at[axis] += 1;
            if at[axis] < intervals[axis].len() {
                continue 'blocks;
            }
            at[axis] = 0;
        }
        return Ok(StoredSelection::blocks(axes.len(), corners, is_compact));
    }
}

/// Returns the runs of neighbouring indices, each with its first and its last index.
fn intervals(axis: &Axis) -> Result<Vec<(u64, u64)>, RequestError> {
    let list: Arc<[u64]> = match axis {
        Axis::Range(Dim { start, step, count }) if *step == 1 && *count > 0 => {
            return Ok(vec![(*start, start.saturating_add(count - 1))]);
        }
        Axis::Range(dim) if dim.count > LIST_LIMIT => return Err(too_many()),
        Axis::Range(dim) => dim.iter().collect(),
        Axis::List(list) => Arc::clone(list),
    };
    let mut found: Vec<(u64, u64)> = Vec::new();
    for &index in &*list {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == index => *last = index,
            Some((_, last)) if *last >= index => {
                let what = format!("index {index}");
                return Err(RequestError::Argument { what, why: "stored selections need ascending indices" });
            }
            _ => found.push((index, index)),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::cases;
    use super::*;

    proptest! {
        #[test]
        fn a_selection_survives_the_file(case in cases(), is_compact: bool) {
            let flat = |at: &Vec<u64>| at.iter().zip(&case.extent).fold(0, |offset, (at, len)| offset * len + at);
            let mut elements: Vec<u64> = case.elements().iter().map(flat).collect();
            if let Ok(stored) = case.selection.to_stored((!is_compact).then_some(3)) {
                let found = Selection::from_stored(&stored, &case.extent).unwrap();
                let runs = found.runs(&case.extent).unwrap();
                let found: Vec<u64> = runs.flat_map(|run| run.offset..run.offset + run.len).collect();
                prop_assert_eq!(found, elements);
            } else {
                // Only lists that are not in order are refused.
                let before = elements.clone();
                elements.sort_unstable();
                elements.dedup();
                prop_assert_ne!(before, elements);
            }
        }
    }

    fn axis(start: u64, stride: u64, count: Option<u64>, block: Option<u64>) -> RegularAxis {
        RegularAxis { start, stride, count, block }
    }

    #[test]
    fn blocks_without_end_go_to_the_edge() {
        let found = |axis, len| {
            let selection =
                Selection::from_stored(&StoredSelection::regular(vec![axis], true), &[len]).unwrap();
            selection
                .runs(&[len])
                .unwrap()
                .flat_map(|run| run.offset..run.offset + run.len)
                .collect::<Vec<_>>()
        };
        assert_eq!(found(axis(1, 1, None, Some(1)), 4), [1, 2, 3]);
        assert_eq!(found(axis(1, 3, None, Some(2)), 9), [1, 2, 4, 5, 7, 8]);
        assert_eq!(found(axis(1, 3, None, Some(2)), 8), [1, 2, 4, 5, 7], "the last block is cut");
        assert_eq!(found(axis(2, 1, Some(1), None), 5), [2, 3, 4]);
        assert_eq!(found(axis(7, 1, None, Some(1)), 5), [0; 0]);
    }

    #[test]
    fn irregular_blocks_are_a_grid_or_points_in_row_major_order() {
        let stored = StoredSelection::blocks(2, vec![0, 0, 1, 1, 0, 3, 1, 4], false);
        let columns = Axis::List([0, 1, 3, 4].into());
        let expected = Selection::Grid(vec![Axis::Range(Dim::range(0, 2)), columns]);
        assert_eq!(Selection::from_stored(&stored, &[9, 9]), Ok(expected));
        let stored = StoredSelection::blocks(2, vec![1, 1, 2, 2, 0, 2, 1, 2], false);
        let expected = Points::new(2, [0, 2, 1, 1, 1, 2, 2, 1, 2, 2]).unwrap();
        assert_eq!(Selection::from_stored(&stored, &[9, 9]), Ok(Selection::Points(expected)));
    }

    #[test]
    fn selections_outside_of_the_array_or_of_too_many_elements_are_refused() {
        let one = StoredSelection::blocks(1, vec![3, 5], false);
        assert!(matches!(Selection::from_stored(&one, &[5]), Err(RequestError::OutOfBounds { .. })));
        assert!(matches!(Selection::from_stored(&one, &[5, 5]), Err(RequestError::Rank { .. })));
        let huge = StoredSelection::blocks(2, vec![0, 0, 1 << 20, 1 << 20, 3, 3, 1 << 21, 4], false);
        let extent = [1 << 40, 1 << 21];
        assert!(matches!(Selection::from_stored(&huge, &extent), Err(RequestError::TooMany { .. })));
    }
}
