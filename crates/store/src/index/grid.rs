//! The grid of chunks of a dataset, and the numbers of chunks in an index.

use smallvec::SmallVec;

use hyperslab_select::Coord;

/// The number of chunks along each dimension, now and at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// The number of chunks along each dimension of the current extent.
    pub current: SmallVec<[u64; 4]>,
    /// The number of chunks along each dimension of the maximum extent; `None` for an unlimited dimension.
    pub largest: SmallVec<[Option<u64>; 4]>,
}

impl Grid {
    /// Returns the grid of chunks of `chunk_shape` (no zeros) over `shape`.
    pub fn new(shape: &[u64], max_shape: Option<&[Option<u64>]>, chunk_shape: &[u64]) -> Self {
        let current = shape.iter().zip(chunk_shape).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
        let largest = match max_shape {
            Some(max) => {
                max.iter().zip(chunk_shape).map(|(max, chunk)| max.map(|max| max.div_ceil(*chunk))).collect()
            }
            None => shape.iter().zip(chunk_shape).map(|(len, chunk)| Some(len.div_ceil(*chunk))).collect(),
        };
        Self { current, largest }
    }

    /// Returns the number of chunks in the current extent.
    pub fn len(&self) -> u64 {
        self.current.iter().fold(1, |total: u64, &count| total.saturating_mul(count))
    }

    /// Returns the number of chunks in the maximum extent; `None` if it is unlimited or exceeds 64 bits.
    pub fn most_chunks(&self) -> Option<u64> {
        self.largest.iter().try_fold(1_u64, |product, count| product.checked_mul((*count)?))
    }

    /// Returns whether the current extent has no chunks.
    pub fn is_empty(&self) -> bool {
        self.current.contains(&0)
    }

    /// Returns the number of a chunk in a Fixed Array or an implicit index, which count the chunks row by row
    /// over the maximum extent (spec VII.B, C).
    pub fn number(&self, coord: &[u64]) -> Option<u64> {
        number(coord.iter().zip(&self.largest).map(|(&at, &count)| (at, count)))
    }

    /// Returns the number of a chunk in an Extensible Array, where the unlimited dimension comes first (spec
    /// VII.D).
    pub fn number_unlimited_first(&self, coord: &[u64]) -> Option<u64> {
        let unlimited = self.largest.iter().position(Option::is_none)?;
        let pairs = || coord.iter().zip(&self.largest).map(|(&at, &count)| (at, count)).enumerate();
        let first = pairs().filter(|(axis, _)| *axis == unlimited);
        let others = pairs().filter(|(axis, _)| *axis != unlimited);
        number(first.chain(others).map(|(_, pair)| pair))
    }

    /// Writes the coordinate of the chunk with this [`number`](Grid::number) to `coord`.
    pub fn coord(&self, number: u64, coord: &mut [u64]) {
        let axes = 0..self.largest.len();
        self.split(number, axes.rev(), coord);
    }

    /// Writes the coordinate of the chunk with this [number](Grid::number_unlimited_first) to `coord`.
    pub fn coord_unlimited_first(&self, number: u64, coord: &mut [u64]) {
        let unlimited = self.largest.iter().position(Option::is_none).unwrap_or(0);
        let axes = 0..self.largest.len();
        let others = axes.rev().filter(|&axis| axis != unlimited);
        self.split(number, others.chain([unlimited]), coord);
    }

    /// Splits a number into coordinates, innermost axis first. The last axis gets the remaining quotient.
    fn split(&self, mut number: u64, axes: impl Iterator<Item = usize>, coord: &mut [u64]) {
        let mut axes = axes.peekable();
        while let Some(axis) = axes.next() {
            let count = self.largest[axis].filter(|_| axes.peek().is_some());
            match count {
                Some(count) => {
                    coord[axis] = number % count.max(1);
                    number /= count.max(1);
                }
                None => coord[axis] = number,
            }
        }
    }

    /// Returns the coordinate of chunk number `place`, counted row by row over the current extent.
    pub fn nth(&self, mut place: u64) -> Option<Coord> {
        if place >= self.len() {
            return None;
        }
        let mut coord = Coord::from_elem(0, self.current.len());
        for (at, &count) in coord.iter_mut().zip(&self.current).rev() {
            *at = place % count;
            place /= count;
        }
        Some(coord)
    }
}

/// Returns the row-by-row number of a coordinate. The count of the first dimension is not used.
fn number(pairs: impl Iterator<Item = (u64, Option<u64>)>) -> Option<u64> {
    let mut number = 0_u64;
    for (axis, (at, count)) in pairs.enumerate() {
        if axis > 0 {
            number = number.checked_mul(count?)?;
        }
        number = number.checked_add(at)?;
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_run_over_the_largest_extent() {
        let grid = Grid::new(&[10, 10], Some(&[Some(20), Some(30)]), &[5, 5]);
        assert_eq!(grid.current.as_slice(), [2, 2]);
        assert_eq!(grid.number(&[1, 1]), Some(7));
        let mut coord = [0; 2];
        grid.coord(7, &mut coord);
        assert_eq!(coord, [1, 1]);
        assert_eq!(grid.nth(3).unwrap().as_slice(), [1, 1]);
        assert_eq!(grid.nth(4), None);
    }

    #[test]
    fn an_unlimited_dimension_is_numbered_as_the_first() {
        let grid = Grid::new(&[10, 10], Some(&[Some(20), None]), &[5, 5]);
        assert_eq!(grid.number_unlimited_first(&[1, 2]), Some(9));
        let mut coord = [0; 2];
        grid.coord_unlimited_first(9, &mut coord);
        assert_eq!(coord, [1, 2]);
        let grid = Grid::new(&[10, 10], Some(&[None, Some(20)]), &[5, 5]);
        assert_eq!(grid.number_unlimited_first(&[2, 1]), Some(9));
    }

    #[test]
    fn a_number_beyond_64_bits_is_none() {
        let grid = Grid::new(&[1, 1], Some(&[Some(u64::MAX), Some(u64::MAX)]), &[1, 1]);
        assert_eq!(grid.number(&[u64::MAX - 1, 5]), None);
    }
}
