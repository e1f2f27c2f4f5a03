//! The default shape of chunks.

/// Returns a shape of chunks for a dataset of this shape, with elements of `element_size` bytes. An empty
/// axis has length 0.
///
/// A chunk has at most 1 MiB: a core decodes it in well under a millisecond, and a disk reads it at its full
/// rate. The chunk begins as the whole dataset, and its longest side is halved until the chunk is small
/// enough. So planes across any axis touch about the same number of chunks, and no chunk is much smaller than
/// its neighbours. An empty axis that can grow counts as 1,024 elements.
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
        // The first of several longest sides is halved, because the last axis is contiguous in memory.
        let Some(longest) = (0..lengths.len()).rev().max_by_key(|&axis| side(axis, &pieces)) else { break };
        if side(longest, &pieces) == 1 {
            break;
        }
        pieces[longest] = pieces[longest].saturating_mul(2);
    }
    (0..lengths.len()).map(|axis| side(axis, &pieces)).collect()
}

/// The maximum size of a chunk in bytes.
const CHUNK_BYTES: u64 = 1 << 20;
/// The expected length of an empty axis.
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
            // One cut leaves more than a third, even with rounding.
            prop_assert!(all <= CHUNK_BYTES || bytes * 3 >= CHUNK_BYTES || chunk.contains(&1), "{bytes}");
        }
    }
}
