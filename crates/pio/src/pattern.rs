//! The bytes that are written: known for every place, and about half compressible.

/// The bytes of all datasets, as pieces of one table. They are made before the clock runs.
pub(crate) struct Pattern(Vec<u8>);

impl Pattern {
    /// Makes the bytes for transfers of up to `most` bytes.
    pub(crate) fn new(most: usize) -> Self {
        let period: Vec<u8> = (0..PERIOD).map(byte).collect();
        Self(period.iter().cycle().take(period.len() + most).copied().collect())
    }

    /// Returns `len` bytes of a dataset, from `offset` on.
    pub(crate) fn at(&self, dataset: u64, offset: u64, len: usize) -> &[u8] {
        // The remainder is less than the period, so it and the length are inside the table.
        let start = usize::try_from((offset % PERIOD + dataset % PERIOD * SHIFT) % PERIOD).unwrap_or(0);
        &self.0[start..start + len]
    }
}

/// Returns one of 16 values that look random.
fn byte(place: u64) -> u8 {
    let mixed = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 60).to_le_bytes()[0]
}

/// The bytes repeat after this prime number, which is more than chunks and windows of codecs have, so that no
/// filter finds the repetition.
const PERIOD: u64 = 4_194_301;
/// How far a dataset is ahead of the one before.
const SHIFT: u64 = 1013;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_has_the_bytes_of_its_place() {
        let pattern = Pattern::new(100);
        for (dataset, offset) in [(0, 0), (3, PERIOD - 50), (7, 10 * PERIOD + 5), (u64::MAX, u64::MAX)] {
            let expected = |i: u64| {
                let place = u128::from(offset) + u128::from(dataset) * u128::from(SHIFT) + u128::from(i);
                byte(u64::try_from(place % u128::from(PERIOD)).unwrap())
            };
            assert_eq!(pattern.at(dataset, offset, 100), (0..100).map(expected).collect::<Vec<_>>());
        }
        assert_ne!(pattern.at(0, 0, 100), pattern.at(1, 0, 100));
    }

    #[test]
    fn every_value_is_as_frequent_as_the_others() {
        let mut counts = [0_u32; 16];
        Pattern::new(0).0.iter().for_each(|&value| counts[usize::from(value)] += 1);
        assert!(counts.iter().all(|count| (250_000..275_000).contains(count)), "{counts:?}");
    }
}
