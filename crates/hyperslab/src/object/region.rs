//! The elements that a region reference selects: from a selection in memory to its stored form, and back.

use std::ops::Range;

use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::selection::{PointList, RegularAxis, StoredSelection};

use super::{Dataset, ReferenceTarget};
use crate::error::{RequestError, Result, misfit};
use crate::select::{Axis, Block, Dim, HyperslabAxis, Points, Selection, Shape, Union};

/// The elements of a dataset that a region reference selects.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Region {
    /// The elements, in the order in which they are read.
    pub selection: Selection,
    /// The shape that h5py gives to the elements; `None` for no element of a scalar.
    pub shape: Option<Shape>,
}

impl Dataset {
    /// Returns the target of a reference to elements of this dataset.
    ///
    /// ```
    /// use hyperslab::Selection;
    ///
    /// let file = hyperslab::File::in_memory()?;
    /// let dataset = file.root().new_dataset::<i32>("d").shape([4]).create_with(&[1, 2, 3, 4])?;
    /// let target = dataset.region_target(&Selection::from(1..3))?;
    /// let region = dataset.region(&target)?;
    /// assert_eq!(dataset.read::<i32>(&region.selection)?, [2, 3]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn region_target(&self, selection: &Selection) -> Result<ReferenceTarget> {
        let is_compact = self.file().stores_compact_selections();
        let stored = selection
            .check(&self.shape())
            .and_then(|()| stored(selection, &self.shape(), is_compact));
        let selection = Some(stored.map_err(|error| crate::Error::from(error).at(self.path()))?);
        Ok(ReferenceTarget { selection, ..ReferenceTarget::object(self.address()) })
    }

    /// Returns the elements of this dataset that the selection of a reference names. A reference without a
    /// selection names all elements.
    ///
    /// Errors: `Format` if the selection has another rank than the dataset. Reading fails if an element is outside
    /// the dataset, which may have shrunk.
    pub fn region(&self, target: &ReferenceTarget) -> Result<Region> {
        let selection = target.selection.as_ref().unwrap_or(&StoredSelection::All);
        region(selection, &self.dataspace()).map_err(|error| error.at(self.path()))
    }
}

/// Returns the elements of a dataspace that `stored` selects.
fn region(stored: &StoredSelection, dataspace: &Dataspace) -> Result<Region> {
    let extent = match dataspace {
        Dataspace::Null => return Ok(Region { selection: Selection::None, shape: None }),
        Dataspace::Scalar => &[][..],
        Dataspace::Simple { shape, .. } => shape,
    };
    let rank = extent.len();
    if let Some(other) = stored.rank().filter(|&other| other != rank) {
        let expected = "the rank of the dataset";
        return Err(misfit::<StoredSelection>(hyperslab_format::Addr::UNDEFINED, "Rank", other as u64, expected));
    }
    Ok(match stored {
        StoredSelection::None => {
            let shape = (rank > 0).then(|| Shape::from_elem(0, rank));
            Region { selection: Selection::None, shape }
        }
        StoredSelection::All => Region { selection: Selection::All, shape: Some(extent.into()) },
        StoredSelection::Points(points) => {
            let shape = Some(Shape::from_slice(&[points.points().len() as u64]));
            Region { selection: Points::new(rank, points.coords.clone())?.into(), shape }
        }
        StoredSelection::Regular(slab) => {
            let axes: Vec<HyperslabAxis> = slab.axes.iter().map(limited).collect::<Result<_>>()?;
            let shape = axes.iter().map(|axis| axis.count.saturating_mul(axis.block)).collect();
            Region { selection: Selection::from_hyperslab(&axes, extent)?, shape: Some(shape) }
        }
        StoredSelection::Blocks(list) => {
            let range = |(first, last): (&u64, &u64)| *first..last.saturating_add(1);
            let blocks: Vec<Block> =
                list.blocks().map(|(first, last)| first.iter().zip(last).map(range).collect()).collect();
            // Checked before the elements are listed: a damaged file may name very many.
            for (axis, &len) in extent.iter().enumerate() {
                if let Some(block) = blocks.iter().find(|block| block[axis].end > len) {
                    let index = i128::from(block[axis].end) - 1;
                    return Err(RequestError::OutOfBounds { axis, index, len }.into());
                }
            }
            let union = Union::new(rank, &blocks)?;
            Region { selection: union.selection()?, shape: Some(union.shape()) }
        }
    })
}

/// Returns the blocks along an axis, which must end.
fn limited(axis: &RegularAxis) -> Result<HyperslabAxis> {
    match (axis.count, axis.block) {
        (Some(count), Some(block)) => {
            Ok(HyperslabAxis { start: axis.start, stride: axis.stride, count, block })
        }
        _ => {
            let expected = "a limit: the elements of a reference end";
            let (at, value) = (hyperslab_format::Addr::UNDEFINED, u64::MAX);
            Err(misfit::<StoredSelection>(at, "Count", value, expected))
        }
    }
}

/// Returns the form in which a selection of a dataspace of this shape is stored.
fn stored(selection: &Selection, extent: &[u64], is_compact: bool) -> Result<StoredSelection, RequestError> {
    if selection.count(extent)? == 0 && !extent.is_empty() {
        return Ok(StoredSelection::None);
    }
    Ok(match selection {
        Selection::All => StoredSelection::All,
        Selection::None => StoredSelection::None,
        Selection::Points(points) => {
            let coords = points.iter().flatten().copied().collect();
            StoredSelection::Points(PointList::new(points.rank(), coords, is_compact))
        }
        Selection::Slab(slab) => {
            StoredSelection::regular(slab.0.iter().copied().map(regular).collect(), is_compact)
        }
        Selection::Grid(axes) => {
            let runs: Vec<Vec<Range<u64>>> = axes.iter().map(runs).collect::<Result<_, _>>()?;
            match runs.iter().map(|runs| blocks(runs)).collect::<Option<Vec<_>>>() {
                Some(axes) => StoredSelection::regular(axes, is_compact),
                None => StoredSelection::blocks(axes.len(), product(&runs)?, is_compact),
            }
        }
    })
}

/// Returns evenly spaced indices as one block, or as blocks of one index.
fn regular(dim: Dim) -> RegularAxis {
    let Dim { start, step, count } = dim;
    if step == 1 || count == 1 {
        RegularAxis { start, stride: 1, count: Some(1), block: Some(count) }
    } else {
        RegularAxis { start, stride: step, count: Some(count), block: Some(1) }
    }
}

/// Returns the indices of an axis as runs of neighbours. The indices must ascend: HDF5 has no other order.
fn runs(axis: &Axis) -> Result<Vec<Range<u64>>, RequestError> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    let mut add = |index: u64| match runs.last_mut() {
        Some(last) if index < last.end => Err(RequestError::Argument {
            what: "list of indices".to_owned(),
            why: "the indices of a region ascend",
        }),
        Some(last) if index == last.end => {
            last.end += 1;
            Ok(())
        }
        _ => {
            runs.push(index..index + 1);
            Ok(())
        }
    };
    match axis {
        Axis::Range(dim) if dim.step == 1 => runs.push(dim.start..dim.start + dim.count),
        Axis::Range(dim) => dim.iter().try_for_each(add)?,
        Axis::List(list) => list.iter().copied().try_for_each(&mut add)?,
    }
    Ok(runs)
}

/// Returns runs of equal length at equal distances as blocks.
fn blocks(runs: &[Range<u64>]) -> Option<RegularAxis> {
    let first = runs.first()?;
    let block = first.end - first.start;
    let stride = runs.get(1).map_or(block, |second| second.start - first.start);
    let mut starts = (0..).map(|number: u64| first.start + number * stride);
    let is_even = runs.iter().all(|run| starts.next() == Some(run.start) && run.end - run.start == block);
    is_even.then_some(RegularAxis {
        start: first.start,
        stride,
        count: Some(runs.len() as u64),
        block: Some(block),
    })
}

/// Returns the corners of all products of runs, in row-major order.
fn product(axes: &[Vec<Range<u64>>]) -> Result<Vec<u64>, RequestError> {
    let count = axes.iter().try_fold(1_u64, |count, runs| count.checked_mul(runs.len() as u64));
    let count = count.filter(|&count| count <= MAX_BLOCKS);
    let count = count.ok_or(RequestError::TooMany { what: "blocks of a region", limit: MAX_BLOCKS })?;
    let mut corners = Vec::new();
    for number in 0..count {
        let (mut rest, mut block) = (number, Vec::with_capacity(axes.len()));
        for runs in axes.iter().rev() {
            let len = runs.len() as u64;
            // The remainder is below the number of runs.
            block.push(runs[usize::try_from(rest % len).unwrap_or(0)].clone());
            rest /= len;
        }
        corners.extend(block.iter().rev().map(|run| run.start));
        corners.extend(block.iter().rev().map(|run| run.end - 1));
    }
    Ok(corners)
}

/// The most blocks of a region that is made of lists of indices.
const MAX_BLOCKS: u64 = 1 << 22;

#[cfg(test)]
mod tests {
    use hyperslab_format::{Addr, Reader, Structure, Widths, Writer};
    use proptest::prelude::*;

    use super::*;
    use crate::select::Slab;

    fn round_trip(selection: &Selection, extent: &[u64], is_compact: bool) -> Region {
        let mut bytes = Vec::new();
        let written = stored(selection, extent, is_compact).unwrap();
        Writer::new(&mut bytes, Widths::EIGHT).structure(&written, &());
        let mut r = Reader::new(&bytes, Widths::EIGHT, Addr::UNDEFINED);
        let read = StoredSelection::decode(&mut r, &()).unwrap();
        let dataspace = Dataspace::Simple { shape: extent.to_vec(), max_shape: None };
        region(&read, &dataspace).unwrap()
    }

    fn axes() -> impl Strategy<Value = Vec<Axis>> {
        let range = (0_u64..5, 1_u64..4, 0_u64..5)
            .prop_map(|(start, step, count)| Axis::Range(Dim { start, step, count }));
        let list = prop::collection::btree_set(0_u64..20, 0..8)
            .prop_map(|indices| Axis::from_indices(indices.into_iter().collect::<Vec<u64>>()));
        prop::collection::vec(prop_oneof![range, list], 1..4)
    }

    fn offsets(selection: &Selection, extent: &[u64]) -> Vec<u64> {
        let runs = selection.runs(extent).unwrap();
        runs.flat_map(|run| run.offset..run.offset + run.len).collect()
    }

    proptest! {
        #[test]
        fn a_stored_selection_reads_the_same_elements(axes in axes(), is_compact: bool) {
            let selection = Selection::from_axes(axes);
            let extent = vec![20; match &selection {
                Selection::Slab(Slab(dims)) => dims.len(),
                Selection::Grid(axes) => axes.len(),
                _ => unreachable!("a product of axes"),
            }];
            let read = round_trip(&selection, &extent, is_compact);
            prop_assert_eq!(offsets(&read.selection, &extent), offsets(&selection, &extent));
            if selection.count(&extent).unwrap() > 0 {
                prop_assert_eq!(read.shape.unwrap(), selection.shape(&extent));
            }
        }
    }

    #[test]
    fn points_are_read_in_their_order() {
        let points = Selection::from(Points::new(2, [3, 1, 0, 0, 3, 1]).unwrap());
        for is_compact in [false, true] {
            let read = round_trip(&points, &[4, 4], is_compact);
            assert_eq!((&read.selection, read.shape.unwrap()[..] == [3]), (&points, true));
        }
    }

    #[test]
    fn a_selection_outside_the_dataset_or_of_another_rank_is_an_error() {
        let dataspace = Dataspace::Simple { shape: vec![4, 4], max_shape: None };
        let outside = StoredSelection::blocks(2, vec![0, 0, 3, 4], false);
        assert!(region(&outside, &dataspace).is_err());
        let other_rank = StoredSelection::blocks(1, vec![0, 3], false);
        assert!(region(&other_rank, &dataspace).unwrap_err().to_string().contains("Rank"));
        let endless = RegularAxis { start: 0, stride: 1, count: Some(1), block: None };
        let endless = StoredSelection::regular(vec![endless; 1], true);
        let line = Dataspace::Simple { shape: vec![4], max_shape: None };
        assert!(region(&endless, &line).unwrap_err().to_string().contains("Count"));
    }
}
