//! Hashes by which an index and its column are compared. They find accidents, not attacks.

/// Odd numbers without a pattern: digits of the golden ratio and of roots.
const A: u64 = 0x9e37_79b9_7f4a_7c15;
const B: u64 = 0xbb67_ae85_84ca_a73b;
const C: u64 = 0x3c6e_f372_fe94_f82b;

/// Returns both halves of a product, mixed.
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let (low, high) = (product & u128::from(u64::MAX), product >> 64);
    // Both halves have 64 bits.
    u64::try_from(low ^ high).unwrap_or(0)
}

/// Returns the hash of a key at a place: a row, or a bucket of rows. The sum of these hashes over all rows is
/// that of the values of a column at their places, in any order.
#[inline]
pub(super) fn placed(place: u64, key: &[u64]) -> u64 {
    words(mix(place ^ A, B), key)
}

/// Returns the hash of words.
#[inline]
pub(super) fn words(seed: u64, words: &[u64]) -> u64 {
    mix(words.iter().fold(seed, |hash, &word| mix(hash ^ word ^ A, B).wrapping_add(hash.rotate_left(29))), C)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_place_and_key_counts() {
        let first = placed(5, &[7, 9]);
        for bit in 0..64 {
            for other in
                [placed(5 ^ 1 << bit, &[7, 9]), placed(5, &[7 ^ 1 << bit, 9]), placed(5, &[7, 9 ^ 1 << bit])]
            {
                assert!((first ^ other).count_ones() > 10, "bit {bit}");
            }
        }
        assert_ne!(placed(5, &[7, 9]), placed(5, &[9, 7]));
        assert_ne!(
            placed(5, &[7]).wrapping_add(placed(6, &[8])),
            placed(6, &[7]).wrapping_add(placed(5, &[8]))
        );
    }
}
