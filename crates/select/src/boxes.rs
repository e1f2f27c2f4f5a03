//! Divides an array into boxes for reading or writing it piece by piece, with few chunks touched by more than
//! one box.

use super::{Coord, Dim, Selection, Slab};

/// The boxes of an array, in row-major order.
#[derive(Debug, Clone)]
pub struct Boxes {
    shape: Vec<u64>,
    side: Vec<u64>,
    counts: Vec<u64>,
}

impl Boxes {
    /// Divides an array into boxes of whole chunks with at most `most` elements, or of one chunk if a chunk
    /// has more. If possible the boxes also consist of whole chunks of the shape `other`. They are as long as
    /// possible along the last axes.
    pub fn new(shape: &[u64], chunk: &[u64], other: Option<&[u64]>, most: u64) -> Self {
        let side = side(shape, chunk, other, most);
        let counts = shape.iter().zip(&side).map(|(len, side)| len.div_ceil(*side)).collect();
        Self { shape: shape.to_vec(), side, counts }
    }

    /// Returns the number of boxes.
    pub fn len(&self) -> u64 {
        self.counts.iter().fold(1, |all: u64, &count| all.saturating_mul(count))
    }

    /// Returns whether there are no boxes, because the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the shape of a box. Boxes at the edge of the array are smaller.
    pub fn side(&self) -> &[u64] {
        &self.side
    }

    /// Returns the box with this number in row-major order.
    pub fn nth(&self, mut number: u64) -> Selection {
        let mut coord = Coord::from_elem(0, self.counts.len());
        for (at, count) in coord.iter_mut().zip(&self.counts).rev() {
            *at = number % count.max(&1);
            number /= count.max(&1);
        }
        self.at(&coord)
    }

    /// Returns the box at a position in the grid of boxes.
    pub fn at(&self, coord: &[u64]) -> Selection {
        let axes = coord.iter().zip(&self.side).zip(&self.shape);
        let dims = axes.map(|((at, side), end)| {
            let start = at.saturating_mul(*side).min(*end);
            Dim { start, step: 1, count: (*side).min(end - start) }
        });
        Selection::Slab(Slab(dims.collect()))
    }
}

/// Returns the shape of a box.
fn side(shape: &[u64], chunk: &[u64], other: Option<&[u64]>, most: u64) -> Vec<u64> {
    let mut side = chunk.to_vec();
    let fits = |side: &[u64]| {
        side.iter()
            .zip(shape)
            .try_fold(1_u64, |all, (len, end)| all.checked_mul((*len).min(*end)))
            .is_some_and(|all| all <= most)
    };
    if let Some(other) = other {
        for axis in (0..side.len()).rev() {
            let kept = side[axis];
            side[axis] = common_multiple(kept, other[axis]).unwrap_or(kept);
            if !fits(&side) {
                side[axis] = kept;
            }
        }
    }
    for axis in (0..side.len()).rev() {
        let (unit, mut low) = (side[axis], 1);
        let mut high = shape[axis].div_ceil(unit).max(1);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            side[axis] = unit.saturating_mul(middle);
            if fits(&side) { low = middle } else { high = middle - 1 }
        }
        side[axis] = unit.saturating_mul(low);
    }
    side
}

fn common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).checked_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_has_whole_chunks_of_both_shapes_if_they_fit() {
        assert_eq!(side(&[1000, 1000], &[10, 100], Some(&[15, 30]), 40_000), [30, 1200]);
        assert_eq!(side(&[1000, 1000], &[10, 100], Some(&[15, 30]), 9_000), [30, 300]);
        assert_eq!(side(&[1000, 1000], &[10, 100], None, 1), [10, 100]);
        assert_eq!(side(&[7], &[10], None, 100), [10]);
        assert_eq!(side(&[1000, 1000], &[10, 100], None, u64::MAX), [1000, 1000]);
    }

    #[test]
    fn boxes_are_cut_at_the_edge_and_counted_row_by_row() {
        let boxes = Boxes::new(&[5, 7], &[2, 4], None, 1);
        assert_eq!((boxes.len(), boxes.side()), (6, &[2, 4][..]));
        let all = (0..6).map(|number| boxes.nth(number).count(&[5, 7]).unwrap());
        assert_eq!(all.collect::<Vec<_>>(), [8, 6, 8, 6, 4, 3]);
        assert!(Boxes::new(&[5, 0], &[2, 4], None, 1).is_empty());
    }
}
