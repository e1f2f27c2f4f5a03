//! Parts of arrays that are read, computed and written at a time.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use hyperslab::internals::engine::each_number;
use hyperslab::{Dim, Selection};
use hyperslab_select::Boxes;

use super::buffers::Buffers;
use crate::error::Result;

/// A part of an array: indices along each axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part(pub(super) Vec<Dim>);

impl Part {
    /// Returns the part that is a whole array.
    pub(super) fn whole(shape: &[u64]) -> Self {
        Self(shape.iter().map(|len| Dim::range(0, *len)).collect())
    }

    /// Returns the number that an element of the part has in an array of this shape.
    pub(super) fn number_in(&self, mut element: usize, shape: &[u64]) -> usize {
        let (mut number, mut pitch) = (0, 1);
        for (dim, len) in self.0.iter().zip(shape).rev() {
            let (count, len) = (as_len(dim.count).max(1), as_len(*len));
            number += (as_len(dim.start) + element % count * as_len(dim.step)) * pitch;
            element /= count;
            pitch *= len;
        }
        number
    }

    /// Returns the part without an axis, or without all of them.
    pub(super) fn without(&self, axis: Option<usize>) -> Self {
        let mut dims = if axis.is_some() { self.0.clone() } else { Vec::new() };
        axis.map(|axis| dims.remove(axis));
        Self(dims)
    }

    pub(super) fn rank(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of elements. Parts are made so small that it fits.
    pub(super) fn len(&self) -> usize {
        self.counts().iter().product()
    }

    pub(super) fn counts(&self) -> Vec<usize> {
        self.0.iter().map(|dim| as_len(dim.count)).collect()
    }

    /// Returns the lengths along the axes, with axes of length one in front so that there are `rank`.
    pub(super) fn counts_in(&self, rank: usize) -> Vec<usize> {
        let mut counts = vec![1; rank.saturating_sub(self.rank())];
        counts.extend(self.counts());
        counts
    }

    /// Returns the part of an array of this shape that is broadcast to the part.
    pub(super) fn of_broadcast(&self, shape: &[u64]) -> Self {
        let dims = &self.0[self.rank() - shape.len()..];
        Self(dims.iter().zip(shape).map(|(dim, len)| if *len == 1 { Dim::one(0) } else { *dim }).collect())
    }

    /// Returns the part in the array of which only some rows were used.
    pub(super) fn with_rows(&self, rows: Option<Dim>) -> Self {
        let mut dims = self.0.clone();
        if let (Some(rows), Some(dim)) = (rows, dims.first_mut()) {
            let start = rows.start + dim.start * rows.step;
            *dim = Dim { start, step: rows.step * dim.step, count: dim.count };
        }
        Self(dims)
    }

    /// Returns the number of the first element in an array of this shape, if all elements lie side by side.
    pub(super) fn run_in(&self, shape: &[u64]) -> Option<usize> {
        let mut is_whole = true;
        for (dim, len) in self.0.iter().zip(shape).rev() {
            if (!is_whole && dim.count != 1) || (dim.step != 1 && dim.count > 1) {
                return None;
            }
            is_whole = is_whole && dim.count == *len;
        }
        self.first_in(shape)
    }

    /// Returns the number of the first element in an array of this shape.
    pub(super) fn first_in(&self, shape: &[u64]) -> Option<usize> {
        let number = self.0.iter().zip(shape).try_fold(0_u64, |number, (dim, len)| {
            number.checked_mul(*len).and_then(|number| number.checked_add(dim.start))
        });
        number.and_then(|number| usize::try_from(number).ok())
    }
}

/// Returns a length of an array in memory, or of a part of an array, as the type of such lengths.
fn as_len(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

/// The bytes of a part of the widest array.
const PART_BYTES: u64 = 1 << 20;

/// The parts of an array, in row-major order.
pub(super) struct Parts {
    boxes: Boxes,
    /// The rows of the first boxes that are before the array.
    before: u64,
}

impl Parts {
    /// Divides an array whose widest elements have `size` bytes. Parts are whole chunks of the shape
    /// `chunk`, and of the shape `other` too if that is possible. The first chunk starts
    /// `before` rows before the array.
    pub(super) fn new(
        shape: &[u64],
        chunk: Option<&[u64]>,
        other: Option<&[u64]>,
        before: u64,
        size: usize,
    ) -> Self {
        let mut padded = shape.to_vec();
        if let Some(len) = padded.first_mut() {
            *len += if *len == 0 { 0 } else { before };
        }
        let ones = vec![1; shape.len()];
        let fits = |chunk: &&[u64]| chunk.len() == shape.len();
        let chunk = chunk.filter(fits).unwrap_or(&ones);
        let boxes = Boxes::new(&padded, chunk, other.filter(fits), PART_BYTES / size.max(1) as u64);
        Self { boxes, before }
    }

    pub(super) fn len(&self) -> u64 {
        self.boxes.len()
    }

    pub(super) fn nth(&self, number: u64) -> Part {
        let Selection::Slab(slab) = self.boxes.nth(number) else { return Part(Vec::new()) };
        let mut dims = slab.0.to_vec();
        if let Some(rows) = dims.first_mut() {
            let (start, end) = (rows.start.max(self.before), rows.end());
            *rows = Dim::range(start - self.before, end - self.before);
        }
        Part(dims)
    }

    /// Calls `work` with every part and its number, on all threads.
    pub(super) fn each(&self, work: &(dyn Fn(u64, &Part, &mut Buffers) -> Result<()> + Sync)) -> Result<()> {
        let pool: Mutex<Vec<Buffers>> = Mutex::default();
        let lock = || pool.lock().unwrap_or_else(PoisonError::into_inner);
        each_number(self.len(), &|number| {
            let mut buffers = lock().pop().unwrap_or_default();
            let done = work(number, &self.nth(number), &mut buffers);
            lock().push(buffers);
            done
        })
    }
}

/// Things that threads finish in any order, and that are taken in the order of their numbers.
pub(super) struct InOrder<T> {
    next: u64,
    waiting: BTreeMap<u64, T>,
}

impl<T> InOrder<T> {
    pub(super) fn new() -> Self {
        Self { next: 0, waiting: BTreeMap::new() }
    }

    /// Calls `take` with everything whose turn it is.
    pub(super) fn put(&mut self, number: u64, thing: T, take: &mut dyn FnMut(T)) {
        self.waiting.insert(number, thing);
        while let Some(thing) = self.waiting.remove(&self.next) {
            take(thing);
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(dims: &[(u64, u64, u64)]) -> Part {
        Part(dims.iter().map(|&(start, step, count)| Dim { start, step, count }).collect())
    }

    #[test]
    fn parts_that_lie_side_by_side_are_known() {
        assert_eq!(part(&[(1, 1, 2), (0, 1, 5)]).run_in(&[4, 5]), Some(5));
        assert_eq!(part(&[(1, 1, 2), (0, 1, 4)]).run_in(&[4, 5]), None);
        assert_eq!(part(&[(3, 1, 1), (1, 1, 4)]).run_in(&[4, 5]), Some(16));
        assert_eq!(part(&[(0, 2, 2), (0, 1, 5)]).run_in(&[4, 5]), None);
        assert_eq!(part(&[(2, 2, 1), (3, 9, 1)]).run_in(&[4, 5]), Some(13));
        assert_eq!(part(&[]).run_in(&[]), Some(0));
    }

    #[test]
    fn parts_are_cut_where_the_chunks_of_the_output_begin() {
        let parts = Parts::new(&[10, 3], Some(&[4, 3]), None, 3, 1 << 18);
        let rows: Vec<_> =
            (0..parts.len()).map(|number| (parts.nth(number).0[0].start, parts.nth(number).len())).collect();
        assert_eq!(rows, [(0, 3), (1, 12), (5, 12), (9, 3)]);
        assert_eq!(Parts::new(&[0, 3], Some(&[4, 3]), None, 3, 8).len(), 0);
        assert_eq!(Parts::new(&[], None, None, 0, 8).len(), 1);
    }

    #[test]
    fn elements_of_a_part_know_their_number_in_the_array() {
        let chosen = part(&[(1, 1, 2), (0, 2, 2)]);
        let numbers: Vec<_> = (0..4).map(|element| chosen.number_in(element, &[3, 4])).collect();
        assert_eq!(numbers, [4, 6, 8, 10]);
    }
}
