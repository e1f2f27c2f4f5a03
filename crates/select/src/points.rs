//! Lists of coordinates, and the same lists sorted by chunk.

use std::sync::Arc;

use hyperslab_error::RequestError;

use super::steps::{Worked, each, sort};
use super::{Coord, Selection};

/// A list of coordinates. Reading it returns a one-dimensional array in the order of the list.
///
/// ```
/// use hyperslab::{File, Points};
///
/// let file = File::in_memory()?;
/// let dataset = file.root().new_dataset::<i32>("d").shape([2, 3]).create_with(&[1, 2, 3, 4, 5, 6])?;
/// let corners = Points::new(2, [1, 2, 0, 0])?;
/// assert_eq!(dataset.read::<i32>(corners)?, [6, 1]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Points {
    rank: usize,
    len: usize,
    coords: Arc<[u64]>,
}

impl Points {
    /// Returns the points with these coordinates, `rank` consecutive numbers for each point.
    pub fn new(rank: usize, coords: impl Into<Arc<[u64]>>) -> Result<Self, RequestError> {
        let coords = coords.into();
        let len = coords.len().checked_div(rank).unwrap_or(0);
        if len * rank != coords.len() {
            let expected = ((len + 1) * rank) as u64;
            return Err(RequestError::Length {
                what: "list of coordinates",
                given: coords.len() as u64,
                expected,
            });
        }
        Ok(Self { rank, len, coords })
    }

    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the coordinates of each point.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        self.coords.chunks_exact(self.rank.max(1))
    }
}

impl Selection {
    /// Returns the elements of an array of the shape `shape` for which `mask`, in row-major order, is true.
    pub fn from_mask(mask: &[bool], shape: &[u64]) -> Result<Self, RequestError> {
        let expected = shape.iter().try_fold(1u64, |count, &len| count.checked_mul(len)).unwrap_or(u64::MAX);
        if mask.len() as u64 != expected {
            return Err(RequestError::Length { what: "mask", given: mask.len() as u64, expected });
        }
        let chosen = mask.iter().zip(0u64..).filter_map(|(&chosen, offset)| chosen.then_some(offset));
        match shape {
            [] => Ok(if mask == [true] { Self::All } else { Self::None }),
            [_] => Ok(Self::from_axes(vec![super::Axis::from_indices(chosen.collect::<Vec<_>>())])),
            _ => {
                let mut coords = Vec::new();
                for offset in chosen {
                    let at = coords.len();
                    coords.resize(at + shape.len(), 0);
                    let mut rest = offset;
                    for (coord, &len) in coords[at..].iter_mut().zip(shape).rev() {
                        *coord = rest % len;
                        rest /= len;
                    }
                }
                Points::new(shape.len(), coords).map(Self::Points)
            }
        }
    }
}

/// A point inside a chunk and its position in the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PointAt {
    /// The row-major offset in the chunk.
    pub offset: u64,
    /// The position in the result.
    pub position: u64,
}

/// Points sorted by chunk, and within a chunk by offset.
#[derive(Debug, Clone)]
pub(super) struct PointsByChunk {
    points: Vec<PointAt>,
    /// The row-major number of each touched chunk in the grid of chunks, and the index of its first point.
    groups: Vec<(u64, usize)>,
    grid: Coord,
}

impl PointsByChunk {
    /// Returns an empty list, for an array of any rank.
    pub(super) fn none() -> Self {
        Self { points: Vec::new(), groups: Vec::new(), grid: Coord::new() }
    }

    /// Sorts `points`, which are inside `extent`, by chunks of the shape `chunk`.
    pub(super) fn new<E: From<RequestError>>(
        points: &Points,
        extent: &[u64],
        chunk: &[u64],
        worked: &mut Worked<'_, E>,
    ) -> Result<Self, E> {
        let grid: Coord = extent.iter().zip(chunk).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
        for (what, sizes) in [("chunks of the array", &grid[..]), ("elements of a chunk", chunk)] {
            if sizes.iter().try_fold(1u64, |count, &len| count.checked_mul(len)).is_none() {
                return Err(RequestError::TooMany { what, limit: u64::MAX }.into());
            }
        }
        let mut placed: Vec<(u64, PointAt)> = Vec::with_capacity(points.len());
        each(points.iter().zip(0u64..), worked, |(coords, position)| {
            let (mut number, mut offset) = (0, 0);
            for ((&coord, &chunk), &grid) in coords.iter().zip(chunk).zip(&grid) {
                number = number * grid + coord / chunk;
                offset = offset * chunk + coord % chunk;
            }
            placed.push((number, PointAt { offset, position }));
        })?;
        sort(&mut placed, |placed| *placed, worked)?;
        let mut groups: Vec<(u64, usize)> = Vec::new();
        each(placed.iter().enumerate(), worked, |(index, (number, _))| {
            if groups.last().is_none_or(|(last, _)| last != number) {
                groups.push((*number, index));
            }
        })?;
        Ok(Self { points: placed.into_iter().map(|(_, point)| point).collect(), groups, grid })
    }

    /// Returns the number of touched chunks.
    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns the coordinate of the touched chunk number `index`.
    pub(super) fn chunk(&self, index: usize) -> Option<Coord> {
        let (mut number, _) = *self.groups.get(index)?;
        let mut coord: Coord = self.grid.clone();
        for part in coord.iter_mut().rev() {
            let len = *part;
            *part = number % len;
            number /= len;
        }
        Some(coord)
    }

    /// Returns the points inside the chunk at `coord`.
    pub(super) fn inside(&self, coord: &[u64]) -> &[PointAt] {
        if coord.len() != self.grid.len() || coord.iter().zip(&self.grid).any(|(at, len)| at >= len) {
            return &[];
        }
        let number = coord.iter().zip(&self.grid).fold(0, |number, (at, len)| number * len + at);
        let Ok(index) = self.groups.binary_search_by_key(&number, |(number, _)| *number) else { return &[] };
        let end = self.groups.get(index + 1).map_or(self.points.len(), |(_, begin)| *begin);
        &self.points[self.groups[index].1..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_that_do_not_divide_by_the_rank_are_refused() {
        assert!(matches!(Points::new(2, [1, 2, 3]), Err(RequestError::Length { given: 3, expected: 4, .. })));
        assert!(Points::new(0, [1]).is_err());
        assert_eq!(Points::new(2, [1, 2, 3, 4]).unwrap().len(), 2);
    }

    #[test]
    fn a_mask_selects_the_elements_where_it_is_true() {
        let mask = [false, true, true, false, false, true];
        let expected = Points::new(2, [0, 1, 0, 2, 1, 2]).unwrap();
        assert_eq!(Selection::from_mask(&mask, &[2, 3]), Ok(Selection::Points(expected)));
        assert!(Selection::from_mask(&mask, &[2, 2]).is_err());
        assert!(Selection::from_mask(&[], &[u64::MAX, u64::MAX]).is_err());
    }

    #[test]
    fn points_are_found_by_chunk_in_the_order_of_their_offsets() {
        let points = Points::new(2, [3, 3, 0, 1, 2, 2, 0, 1]).unwrap();
        let worked = &mut |_| Ok::<_, RequestError>(());
        let sorted = PointsByChunk::new(&points, &[4, 4], &[2, 2], worked).unwrap();
        assert_eq!(sorted.len(), 2);
        assert_eq!(sorted.chunk(1).unwrap()[..], [1, 1]);
        let at = |offset, position| PointAt { offset, position };
        assert_eq!(sorted.inside(&[0, 0]), [at(1, 1), at(1, 3)]);
        assert_eq!(sorted.inside(&[1, 1]), [at(0, 2), at(3, 0)]);
        assert_eq!(sorted.inside(&[1, 0]), []);
        assert_eq!(sorted.inside(&[9, 9]), []);
    }
}
