//! Boxes of evenly spaced indices, and HDF5's hyperslabs of start, stride, count and block.

use hyperslab_error::RequestError;
use smallvec::SmallVec;

use super::{Axis, Coord, Dim, Selection, Shape};

/// The product of evenly spaced indices along every axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slab(#[doc(hidden)] pub SmallVec<[Dim; 4]>);

/// One axis of an HDF5 hyperslab: `count` blocks of `block` indices, `stride` apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HyperslabAxis {
    /// The first index of the first block.
    pub start: u64,
    /// The distance from one block to the next.
    pub stride: u64,
    /// The number of blocks.
    pub count: u64,
    /// The number of indices of a block.
    pub block: u64,
}

/// The maximum number of indices in the list that represents the blocks of one axis.
const LIST_LIMIT: u64 = 1 << 28;

impl Slab {
    /// Returns the slab of all elements of an array of the shape `extent`.
    pub fn whole(extent: &[u64]) -> Self {
        Self(extent.iter().map(|&len| Dim::range(0, len)).collect())
    }

    /// Returns the number of indices along each axis.
    #[doc(hidden)]
    pub fn shape(&self) -> Shape {
        let mut shape = Shape::from_elem(0, self.0.len());
        shape.iter_mut().zip(&self.0).for_each(|(len, dim)| *len = dim.count);
        shape
    }

    /// Returns the chunk's coordinate and the box relative to it, if the slab is inside one chunk of the
    /// shape `chunk`.
    pub(super) fn in_one_chunk(&self, chunk: &[u64]) -> Option<(Coord, Self)> {
        if self.0.len() != chunk.len() {
            return None;
        }
        let mut coord = Coord::new();
        let mut within = SmallVec::new();
        for (dim, &len) in self.0.iter().zip(chunk) {
            let at = dim.start.checked_div(len)?;
            let start = dim.start - at * len;
            let last = dim.count.checked_sub(1)?.checked_mul(dim.step)?.checked_add(start)?;
            if last >= len {
                return None;
            }
            coord.push(at);
            within.push(Dim { start, ..*dim });
        }
        Some((coord, Self(within)))
    }

    /// Returns the slab as an HDF5 hyperslab.
    pub fn hyperslab(&self) -> Vec<HyperslabAxis> {
        self.0
            .iter()
            .map(|dim| HyperslabAxis {
                start: dim.start,
                stride: dim.step.max(1),
                count: dim.count,
                block: 1,
            })
            .collect()
    }
}

impl Selection {
    /// Returns the selection for an HDF5 hyperslab (start, stride, count and block) of an array of the shape
    /// `extent`.
    pub fn from_hyperslab(axes: &[HyperslabAxis], extent: &[u64]) -> Result<Self, RequestError> {
        if axes.len() != extent.len() {
            return Err(RequestError::Rank { given: axes.len(), rank: extent.len() });
        }
        let axes = axes
            .iter()
            .zip(extent)
            .enumerate()
            .map(|(number, (axis, &len))| axis.indices(number, len))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self::from_axes(axes))
    }
}

impl HyperslabAxis {
    fn indices(self, axis: usize, len: u64) -> Result<Axis, RequestError> {
        let Self { start, stride, count, block } = self;
        if count == 0 || block == 0 {
            return Ok(Axis::Range(Dim::range(0, 0)));
        }
        if count > 1 && stride < block {
            // HDF5 forbids overlapping blocks, and therefore a stride of zero.
            return Err(RequestError::Step { axis, step: stride.into() });
        }
        let last = u128::from(start) + u128::from(count - 1) * u128::from(stride) + u128::from(block - 1);
        if last >= u128::from(len) {
            return Err(RequestError::OutOfBounds {
                axis,
                index: i128::try_from(last).unwrap_or(i128::MAX),
                len,
            });
        }
        Ok(if block == 1 {
            Axis::Range(Dim { start, step: stride.max(1), count })
        } else if count == 1 || stride == block {
            Axis::Range(Dim { start, step: 1, count: count * block })
        } else if count * block > LIST_LIMIT {
            return Err(RequestError::TooMany { what: "blocks of a hyperslab", limit: LIST_LIMIT });
        } else {
            let blocks = Dim { start, step: stride, count };
            Axis::List(blocks.iter().flat_map(|first| first..first + block).collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_hyperslab_selects_the_blocks_that_hdf5_defines(
            start in 0u64..20, block in 0u64..5, gap in 0u64..4, count in 0u64..6, len in 0u64..60
        ) {
            let stride = (block + gap).max(1);
            let axis = HyperslabAxis { start, stride, count, block };
            let expected: Vec<u64> =
                (0..count).flat_map(|i| (0..block).map(move |j| start + i * stride + j)).collect();
            let fits = expected.last().is_none_or(|&last| last < len);
            match Selection::from_hyperslab(&[axis], &[len]) {
                Ok(selection) => {
                    prop_assert!(fits);
                    let found: Vec<u64> =
                        selection.runs(&[len]).unwrap().flat_map(|run| run.offset..run.offset + run.len).collect();
                    prop_assert_eq!(found, expected);
                }
                Err(error) => prop_assert!(!fits, "{}", error),
            }
        }
    }

    #[test]
    fn a_slab_survives_the_conversion_to_a_hyperslab_and_back() {
        let slab = Slab([Dim { start: 2, step: 3, count: 4 }, Dim::range(1, 9)].into_iter().collect());
        let back = Selection::from_hyperslab(&slab.hyperslab(), &[20, 20]).unwrap();
        assert_eq!(back, Selection::Slab(slab));
    }

    #[test]
    fn overlapping_blocks_are_refused() {
        let axis = HyperslabAxis { start: 0, stride: 2, count: 2, block: 3 };
        assert_eq!(Selection::from_hyperslab(&[axis], &[9]), Err(RequestError::Step { axis: 0, step: 2 }));
    }

    #[test]
    fn sizes_from_a_hostile_file_neither_overflow_nor_allocate() {
        let axis = HyperslabAxis { start: u64::MAX, stride: u64::MAX, count: u64::MAX, block: u64::MAX };
        assert!(matches!(
            Selection::from_hyperslab(&[axis], &[9]),
            Err(RequestError::OutOfBounds { axis: 0, len: 9, .. })
        ));
        let axis = HyperslabAxis { start: 0, stride: 3, count: 1 << 40, block: 2 };
        assert!(matches!(Selection::from_hyperslab(&[axis], &[u64::MAX]), Err(RequestError::TooMany { .. })));
    }
}
