//! The shape of chunks where nobody says it.

/// A shape of chunks for a dataset of `shape` (0 where it is still empty) with elements of so many bytes.
///
/// The rule: a chunk has at most 1 MiB, which a core decodes in well under a millisecond and a disk reads at its full rate.
/// From the whole dataset on, the longest side is cut in two until that holds: so planes across any axis meet about as many
/// chunks, and no chunk is much smaller than its neighbours. An axis that is empty and can grow counts as 1,024 elements.
pub fn auto_chunks(shape: &[u64], max_shape: Option<&[Option<u64>]>, element_size: u64) -> Vec<u64> {
    let limits = max_shape.unwrap_or_default().iter().copied().map(Some).chain(std::iter::repeat(None));
    let lengths: Vec<u64> = shape
        .iter()
        .zip(limits)
        .map(|(&len, limit)| match (len, limit) {
            (0, Some(None)) => EMPTY_AXIS,
            (0, Some(Some(limit))) => limit.clamp(1, EMPTY_AXIS),
            (len, _) => len.max(1),
        })
        .collect();
    let mut pieces = vec![1_u64; lengths.len()];
    let side = |axis: usize, pieces: &[u64]| lengths[axis].div_ceil(pieces[axis]);
    let bytes = |pieces: &[u64]| {
        (0..lengths.len()).fold(element_size.max(1), |all, axis| all.saturating_mul(side(axis, pieces)))
    };
    while bytes(&pieces) > CHUNK_BYTES {
        // The first of the longest: in memory the last axis is dense.
        let Some(longest) = (0..lengths.len()).rev().max_by_key(|&axis| side(axis, &pieces)) else { break };
        if side(longest, &pieces) == 1 {
            break;
        }
        pieces[longest] = pieces[longest].saturating_mul(2);
    }
    (0..lengths.len()).map(|axis| side(axis, &pieces)).collect()
}

/// The most bytes of a chunk.
const CHUNK_BYTES: u64 = 1 << 20;
/// What is expected of an axis that is empty.
const EMPTY_AXIS: u64 = 1024;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn chunks_are_a_mebibyte_and_as_wide_as_long() {
        assert_eq!(auto_chunks(&[8760, 721, 1440], None, 4), [69, 46, 45].map(|side| side));
        assert_eq!(auto_chunks(&[100], None, 8), [100]);
        assert_eq!(auto_chunks(&[0], Some(&[None]), 8), [1024]);
        assert_eq!(auto_chunks(&[0, 1000], Some(&[None, Some(1000)]), 8), [256, 500]);
    }

    proptest! {
        #[test]
        fn a_chunk_fits_the_dataset_and_the_rule(shape in proptest::collection::vec(0_u64..100_000, 1..6), size in 1_u64..5000) {
            let chunk = auto_chunks(&shape, None, size);
            let bytes = chunk.iter().product::<u64>() * size;
            prop_assert!(bytes <= CHUNK_BYTES, "{chunk:?}");
            for (side, len) in chunk.iter().zip(&shape) {
                prop_assert!((1..=(*len).max(1)).contains(side));
            }
            let all = shape.iter().map(|&len| len.max(1)).fold(size, u64::saturating_mul);
            // Cutting once leaves more than a third, whatever is rounded.
            prop_assert!(all <= CHUNK_BYTES || bytes * 3 >= CHUNK_BYTES || chunk.contains(&1), "{bytes}");
        }
    }
}
