//! Where a chunk of an array begins, and how much of it is inside the array.
//!
//! A coordinate from a damaged file may be any number. Products saturate, so a chunk at such a coordinate is
//! outside every array.

use super::Coord;

/// Returns the first index, along one dimension, of chunk number `at`; chunks have `len` elements.
#[inline]
pub const fn first_along(at: u64, len: u64) -> u64 {
    at.saturating_mul(len)
}

/// Returns the index of the first element of the chunk at `coord` in the grid of chunks of the shape `chunk`.
#[inline]
pub fn first_element(coord: &[u64], chunk: &[u64]) -> Coord {
    coord.iter().zip(chunk).map(|(&at, &len)| first_along(at, len)).collect()
}

/// Returns how many elements of the chunk at `coord` are inside an array of this shape, along each dimension.
pub fn inside(coord: &[u64], chunk: &[u64], shape: &[u64]) -> Coord {
    let axes = coord.iter().zip(chunk).zip(shape);
    axes.map(|((&at, &len), end)| len.min(end.saturating_sub(first_along(at, len)))).collect()
}

/// Returns whether the chunk at `coord` crosses the edge of an array of this shape.
pub fn is_cut(coord: &[u64], chunk: &[u64], shape: &[u64]) -> bool {
    inside(coord, chunk, shape).as_slice() != chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_inside_the_array_at_its_edge_or_outside() {
        let (chunk, shape) = ([4, 5], [10, 10]);
        assert_eq!(first_element(&[2, 1], &chunk).as_slice(), [8, 5]);
        assert_eq!(inside(&[1, 1], &chunk, &shape).as_slice(), [4, 5]);
        assert!(!is_cut(&[1, 1], &chunk, &shape));
        assert_eq!(inside(&[2, 1], &chunk, &shape).as_slice(), [2, 5]);
        assert!(is_cut(&[2, 1], &chunk, &shape));
        assert_eq!(inside(&[3, 0], &chunk, &shape).as_slice(), [0, 5]);
    }

    #[test]
    fn a_coordinate_beyond_any_array_is_outside() {
        let far = [u64::MAX, u64::MAX / 2];
        assert_eq!(first_element(&far, &[3, 4]).as_slice(), [u64::MAX; 2]);
        assert_eq!(inside(&far, &[3, 4], &[u64::MAX; 2]).as_slice(), [0, 0]);
        assert!(is_cut(&far, &[3, 4], &[u64::MAX; 2]));
    }
}
