//! The elements that a region reference selects: from a selection in memory to its stored form, and back.

use hyperslab_error::{RequestError, Result};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::selection::StoredSelection;
use hyperslab_select::{Axis, Dim, Selection, Shape, Union};

use super::{Dataset, ReferenceTarget};

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
        let (shape, listed) = (self.shape(), self.file().version().listed_blocks());
        let stored = selection.check(&shape).and_then(|()| stored(selection, &shape, listed));
        let selection = Some(stored.map_err(|error| crate::Error::from(error).at(self.path()))?);
        Ok(ReferenceTarget { selection, ..ReferenceTarget::object(self.address()) })
    }

    /// Returns the elements of this dataset that the selection of a reference names. A reference without a
    /// selection names all elements.
    ///
    /// Errors: `Request` if the selection has another rank than the dataset, or leaves the dataset, which may
    /// have shrunk.
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
    if let StoredSelection::Blocks(blocks) = stored {
        let union = Union::of(blocks, extent)?;
        return Ok(Region { selection: union.selection()?, shape: Some(union.shape()) });
    }
    let selection = Selection::from_stored(stored, extent)?;
    let shape = match &selection {
        Selection::None => (rank > 0).then(|| Shape::from_elem(0, rank)),
        selection => Some(selection.shape(extent)),
    };
    Ok(Region { selection, shape })
}

/// Returns the form in which a selection of a dataspace of this shape is stored. As in h5py, a region does
/// not grow with its dataset: all elements are those of now.
fn stored(
    selection: &Selection,
    extent: &[u64],
    listed: Option<u64>,
) -> Result<StoredSelection, RequestError> {
    if extent.is_empty() {
        return selection.to_stored(listed);
    }
    if selection.count(extent)? == 0 {
        return Ok(StoredSelection::None);
    }
    match selection {
        Selection::All => {
            let axis = |&len: &u64| Axis::Range(Dim::range(0, len));
            Selection::from_axes(extent.iter().map(axis).collect::<Vec<_>>()).to_stored(listed)
        }
        selection => selection.to_stored(listed),
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_format::{Addr, Reader, Structure as _, Widths, Writer};
    use proptest::prelude::*;

    use super::*;
    use hyperslab_select::{Points, Slab};

    fn round_trip(selection: &Selection, extent: &[u64], is_compact: bool) -> Region {
        let listed = (!is_compact).then_some(u64::MAX);
        let mut bytes = Vec::new();
        let written = stored(selection, extent, listed).unwrap();
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
        assert!(region(&other_rank, &dataspace).is_err());
    }
}
