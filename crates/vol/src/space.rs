//! Selections of libhdf5 as those of the engine.

use hyperslab::{HyperslabAxis, Selection};

use crate::ffi::library::Library;
use crate::ffi::spaces::{self, Regular};
use crate::ffi::types::Hid;
use crate::rules::{Reason, Ruled};

/// Stands for all elements (`H5S_ALL`).
pub(crate) const ALL: Hid = 0;
/// Stands for memory without gaps (`H5S_BLOCK`).
pub(crate) const BLOCK: Hid = 1;
/// Stands for a selection in the property list of a transfer (`H5S_PLIST`).
pub(crate) const IN_LIST: Hid = 2;

/// `H5S_SIMPLE` and `H5S_SCALAR`: the kinds of extents that have elements.
const WITH_ELEMENTS: [i32; 2] = [0, 1];

// `H5S_sel_type`
const HYPERSLABS: i32 = 2;
const EVERYTHING: i32 = 3;

/// A selection in an extent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Space {
    /// The number of elements along each dimension.
    pub(crate) extent: Vec<u64>,
    /// The selected elements; `None` for all.
    pub(crate) axes: Option<Vec<HyperslabAxis>>,
}

impl Space {
    /// Returns all elements of an extent.
    pub(crate) fn whole(extent: &[u64]) -> Self {
        Self { extent: extent.to_vec(), axes: None }
    }

    /// Returns the selection of a dataspace.
    ///
    /// Errors: it is not everything and no regular hyperslab, or it is moved by an offset.
    pub(crate) fn of(library: &Library, space: Hid) -> Ruled<Self> {
        let extent = spaces::extent(library, space).ok_or(Reason::Selection)?;
        if !WITH_ELEMENTS.contains(&spaces::kind(library, space)) {
            return Err(Reason::Small);
        }
        match spaces::selection(library, space) {
            EVERYTHING => Ok(Self { extent, axes: None }),
            HYPERSLABS => {
                let regular = spaces::regular(library, space).ok_or(Reason::Selection)?;
                let axes = hyperslab(&regular, &extent)?;
                Ok(Self { extent, axes: Some(axes) })
            }
            _ => Err(Reason::Selection),
        }
    }

    /// Returns the selection for the engine.
    pub(crate) fn selection(&self) -> Ruled<Selection> {
        match &self.axes {
            None => Ok(Selection::All),
            Some(axes) => Selection::from_hyperslab(axes, &self.extent).map_err(|_| Reason::Selection),
        }
    }

    /// Returns the number of selected elements, or `None` if it is too large.
    pub(crate) fn elements(&self) -> Option<u64> {
        self.shape().iter().try_fold(1_u64, |product, &len| product.checked_mul(len))
    }

    /// Returns the number of elements along each dimension of the selection.
    pub(crate) fn shape(&self) -> Vec<u64> {
        match &self.axes {
            None => self.extent.clone(),
            Some(axes) => axes.iter().map(|axis| axis.count.saturating_mul(axis.block)).collect(),
        }
    }
}

/// Returns the regular hyperslab of a dataspace.
///
/// Errors: an offset moves it (`H5Soffset_simple`), which the hyperslab does not have, but its bounds do; or
/// it leaves the extent.
fn hyperslab(regular: &Regular, extent: &[u64]) -> Ruled<Vec<HyperslabAxis>> {
    let Regular { start, stride, count, block, first, last } = regular;
    (0..extent.len())
        .map(|axis| {
            let (start, stride, count, block) = (start[axis], stride[axis], count[axis], block[axis]);
            let end = (count.checked_sub(1))
                .and_then(|steps| steps.checked_mul(stride))
                .and_then(|steps| steps.checked_add(start)?.checked_add(block.checked_sub(1)?));
            // A selection may leave its extent until it is used.
            let is_in_place = first[axis] == start && end == Some(last[axis]) && last[axis] < extent[axis];
            is_in_place.then_some(HyperslabAxis { start, stride, count, block }).ok_or(Reason::Selection)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_a_hyperslab_counts_the_elements_of_its_blocks() {
        let axes = vec![HyperslabAxis { start: 1, stride: 4, count: 3, block: 2 }];
        assert_eq!(Space { extent: vec![20], axes: Some(axes) }.shape(), [6]);
        assert_eq!(Space::whole(&[2, 3]).shape(), [2, 3]);
    }
}
