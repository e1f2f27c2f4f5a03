//! Boxes of neighbouring elements, and the chunks that they touch.

/// A box of elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Box {
    /// The first element along each dimension.
    pub(crate) start: Vec<u64>,
    /// The number of elements along each dimension.
    pub(crate) count: Vec<u64>,
}

impl Box {
    /// Returns the box of a chunk, whose position is in the grid of chunks.
    pub(crate) fn of_chunk(coord: &[u64], chunk: &[u64]) -> Self {
        let start = coord.iter().zip(chunk).map(|(at, len)| at * len).collect();
        Self { start, count: chunk.to_vec() }
    }

    /// Returns the part that is within an extent. The box begins within it.
    pub(crate) fn within(mut self, extent: &[u64]) -> Self {
        for ((count, start), len) in self.count.iter_mut().zip(&self.start).zip(extent) {
            *count = (*count).min(len.saturating_sub(*start));
        }
        self
    }

    /// Returns the elements that both boxes have.
    pub(crate) fn meet(&self, other: &Self) -> Option<Self> {
        let mut both = self.clone();
        for axis in 0..self.start.len() {
            let start = self.start[axis].max(other.start[axis]);
            let end = (self.start[axis] + self.count[axis]).min(other.start[axis] + other.count[axis]);
            both.start[axis] = start;
            both.count[axis] = end.checked_sub(start).filter(|count| *count > 0)?;
        }
        Some(both)
    }

    /// Returns the same box, counted from another element.
    pub(crate) fn relative_to(&self, first: &[u64]) -> Self {
        let start = self.start.iter().zip(first).map(|(start, first)| start - first).collect();
        Self { start, count: self.count.clone() }
    }

    /// Returns the number of elements.
    pub(crate) fn elements(&self) -> u64 {
        self.count.iter().product()
    }

    /// Returns the number of chunks that the box touches, or `None` if it is too large.
    pub(crate) fn chunks_touched(&self, chunk: &[u64]) -> Option<u64> {
        let axes = self.start.iter().zip(&self.count).zip(chunk);
        axes.into_iter().try_fold(1_u64, |all, ((start, count), len)| {
            all.checked_mul(start.checked_add(*count)?.div_ceil(*len) - start / len)
        })
    }

    /// Returns the positions of the chunks that the box touches, in row-major order.
    pub(crate) fn chunks(&self, chunk: &[u64]) -> impl Iterator<Item = Vec<u64>> + use<> {
        let first: Vec<u64> = self.start.iter().zip(chunk).map(|(start, len)| start / len).collect();
        let counts = self.start.iter().zip(&self.count).zip(chunk).zip(&first);
        let counts: Vec<u64> =
            counts.map(|(((start, count), len), first)| (start + count).div_ceil(*len) - first).collect();
        grid(counts).map(move |coord| coord.iter().zip(&first).map(|(at, first)| at + first).collect())
    }
}

/// Returns the positions in a grid of this shape, in row-major order.
pub(crate) fn grid(counts: Vec<u64>) -> impl Iterator<Item = Vec<u64>> {
    (0..counts.iter().product::<u64>()).map(move |number| {
        let mut left = number;
        let mut coord: Vec<u64> = counts
            .iter()
            .rev()
            .map(|count| {
                let at = left % count;
                left /= count;
                at
            })
            .collect();
        coord.reverse();
        coord
    })
}

/// Copies a box from one row-major array to another. Each side is the array's bytes, the box in it, and
/// its shape; both boxes have the same counts.
///
/// # Panics
///
/// If a box leaves its array.
pub(crate) fn copy(
    (source, source_box, source_shape): (&[u8], &Box, &[u64]),
    (target, target_box, target_shape): (&mut [u8], &Box, &[u64]),
    element_size: u64,
) {
    let Some((&run, outer)) = source_box.count.split_last() else { return };
    let at = |place: &Box, shape: &[u64], step: &[u64]| {
        let within = step.iter().chain(std::iter::once(&0));
        let axes = shape.iter().zip(&place.start).zip(within);
        let offset = axes.fold(0, |offset, ((len, start), within)| offset * len + start + within);
        usize::try_from(offset * element_size).unwrap_or(usize::MAX)
    };
    let len = usize::try_from(run * element_size).unwrap_or(usize::MAX);
    for step in grid(outer.to_vec()) {
        let (from, to) = (at(source_box, source_shape, &step), at(target_box, target_shape, &step));
        target[to..to + len].copy_from_slice(&source[from..from + len]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(start: &[u64], count: &[u64]) -> Box {
        Box { start: start.to_vec(), count: count.to_vec() }
    }

    #[test]
    fn a_box_touches_the_chunks_between_its_ends() {
        let found: Vec<_> = boxed(&[1, 4], &[3, 2]).chunks(&[2, 5]).collect();
        assert_eq!(found, [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(boxed(&[1, 4], &[3, 2]).chunks_touched(&[2, 5]), Some(4));
        assert_eq!(boxed(&[2, 5], &[2, 5]).chunks(&[2, 5]).collect::<Vec<_>>(), [[1, 1]]);
    }

    #[test]
    fn boxes_meet_in_the_elements_of_both() {
        assert_eq!(boxed(&[0, 0], &[3, 3]).meet(&boxed(&[1, 2], &[5, 5])), Some(boxed(&[1, 2], &[2, 1])));
        assert_eq!(boxed(&[0], &[3]).meet(&boxed(&[3], &[3])), None);
    }

    #[test]
    fn a_box_is_copied_row_by_row() {
        let from: Vec<u8> = (0..12).collect();
        let mut into = [99; 6];
        copy((&from, &boxed(&[1, 1], &[2, 2]), &[3, 4]), (&mut into, &boxed(&[0, 1], &[2, 2]), &[2, 3]), 1);
        assert_eq!(into, [99, 5, 6, 99, 9, 10]);
    }

    #[test]
    fn the_grid_is_in_row_major_order() {
        let found: Vec<_> = grid(vec![2, 3]).collect();
        assert_eq!(found, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
    }
}
