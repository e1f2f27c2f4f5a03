//! Strategies for proptest: shapes, chunk shapes that fit in them, and strided ranges.

use proptest::prelude::*;

/// Returns shapes with 1 to `max_rank` axes of 1 to `max_len` elements.
pub fn shapes(max_rank: usize, max_len: u64) -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(1..=max_len, 1..=max_rank)
}

/// Returns shapes with a chunk shape each. Edge chunks may be partial, but no chunk is longer than its axis.
pub fn chunked_shapes(max_rank: usize, max_len: u64) -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
    shapes(max_rank, max_len).prop_flat_map(|shape| {
        let chunks: Vec<_> = shape.iter().map(|&len| 1..=len).collect();
        (Just(shape), chunks)
    })
}

/// Returns the `(start, step, count)` of ranges within an axis of `len` elements. The count may be 0.
pub fn ranges(len: u64) -> impl Strategy<Value = (u64, u64, u64)> {
    (0..len, 1..=len).prop_flat_map(move |(start, step)| {
        let most = (len - start).div_ceil(step);
        (Just(start), Just(step), 0..=most)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest! {
        #[test]
        fn a_range_stays_within_its_axis((len, (start, step, count)) in (1u64..50).prop_flat_map(|len| (Just(len), ranges(len)))) {
            prop_assert!(count == 0 || start + (count - 1) * step < len);
        }
    }
}
