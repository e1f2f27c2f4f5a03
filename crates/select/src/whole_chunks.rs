//! Whether a selection covers whole chunks: all of their elements inside the array.

use super::axis_cuts::AxisCuts;
use super::tiling::Cuts;
use super::{Dim, Tiling, inside};

impl Tiling {
    /// Returns whether one part covers all elements of the chunk at `coord` that are inside an array of the
    /// shape `extent`.
    pub fn covers(&self, coord: &[u64], extent: &[u64]) -> bool {
        let used = inside(coord, &self.chunk, extent);
        let mut covers = false;
        self.parts(coord, |part| covers |= part.covers(&used));
        covers
    }

    /// Returns whether this [covers](Self::covers) every chunk that it touches. A box is checked without a
    /// loop over chunks.
    pub fn covers_all(&self, extent: &[u64]) -> bool {
        let axis_covers = |(axis, &end): (&AxisCuts, &u64)| match axis {
            AxisCuts::Range { dim, chunk } => Some(dim.covers_chunks(*chunk, end)),
            AxisCuts::List(_) => None,
        };
        let by_axes = match &self.cuts {
            Cuts::Axes(axes) => {
                axes.iter().zip(extent).map(axis_covers).try_fold(true, |all, covers| Some(all && covers?))
            }
            Cuts::Points(_) => None,
        };
        self.is_empty() || by_axes.unwrap_or_else(|| self.touched().all(|coord| self.covers(&coord, extent)))
    }
}

impl Dim {
    /// Returns whether these are the indices `0..len`.
    pub(super) fn covers(self, len: u64) -> bool {
        self.start == 0 && self.count == len && (self.step == 1 || self.count <= 1)
    }

    /// Returns whether the indices cover every chunk that they touch, along an axis of `end` elements.
    fn covers_chunks(self, chunk: u64, end: u64) -> bool {
        let Some(last) = self.last() else { return true };
        let begins = self.start.is_multiple_of(chunk);
        let ends = last + 1 == end || (last + 1).is_multiple_of(chunk);
        // An index that a step leaves out must be a whole chunk.
        let leaves_no_gap = self.step == 1 || self.count == 1 || chunk == 1;
        begins && ends && leaves_no_gap
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::cases;
    use super::*;

    proptest! {
        #[test]
        fn all_chunks_are_covered_if_each_is(case in cases()) {
            let tiling = case.selection.tiling(&case.extent, &case.chunk).unwrap();
            let each = tiling.touched().all(|coord| tiling.covers(&coord, &case.extent));
            prop_assert_eq!(tiling.covers_all(&case.extent), each);
        }

        #[test]
        fn indices_cover_a_chunk_if_they_leave_none_of_its_indices_out(
            start in 0_u64..9, step in 1_u64..4, count in 0_u64..9, chunk in 1_u64..5, more in 0_u64..5
        ) {
            let dim = Dim { start, step, count };
            let end = dim.end() + more;
            let is_left_out = |at: u64| !dim.contains(at) && dim.iter().any(|index| index / chunk == at / chunk);
            prop_assert_eq!(dim.covers_chunks(chunk, end), !(0..end).any(is_left_out));
        }
    }
}
