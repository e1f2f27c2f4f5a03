//! Fletcher32, filter 3: a checksum of 4 bytes, little-endian, at the end of the chunk.

use crate::error::{FilterError, Result};
use crate::filter::{Encoded, Filter, FilterId, Scratch, prefix};

/// The filter, which has no parameters.
#[derive(Debug)]
pub struct Fletcher32;

impl Fletcher32 {
    const NAME: &'static str = "fletcher32";
    const LEN: usize = 4;

    /// Verifies the checksum and returns the bytes before it.
    fn verified(src: &[u8]) -> Result<&[u8]> {
        let Some((bytes, stored)) = src.split_last_chunk::<{ Self::LEN }>() else {
            return Err(FilterError::damaged(Self::NAME, "shorter than its checksum"));
        };
        let (stored, computed) = (u32::from_le_bytes(*stored), checksum(bytes));
        // HDF5 before 1.6.3 swapped the bytes of both halves on little-endian machines.
        let swapped = ((computed & 0x00ff_00ff) << 8) | ((computed >> 8) & 0x00ff_00ff);
        if stored == computed || stored == swapped {
            Ok(bytes)
        } else {
            Err(FilterError::Checksum { filter: Self::NAME, stored, computed })
        }
    }
}

impl Filter for Fletcher32 {
    fn id(&self) -> FilterId {
        FilterId::FLETCHER32
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<usize> {
        let bytes = Self::verified(src)?;
        prefix(Self::NAME, dst, bytes.len())?.copy_from_slice(bytes);
        Ok(bytes.len())
    }

    fn kept(&self, src: &[u8]) -> Option<Result<usize>> {
        Some(Self::verified(src).map(<[u8]>::len))
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<Encoded> {
        let (bytes, stored) = prefix(Self::NAME, dst, src.len() + Self::LEN)?.split_at_mut(src.len());
        bytes.copy_from_slice(src);
        stored.copy_from_slice(&checksum(src).to_le_bytes());
        Ok(Encoded::Stored(src.len() + Self::LEN))
    }

    fn appended(&self, src: &[u8]) -> Option<[u8; 4]> {
        Some(checksum(src).to_le_bytes())
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        decoded.saturating_add(Self::LEN)
    }
}

/// Returns the Fletcher-32 checksum as HDF5 defines it. Both sums start at 0 and run over big-endian 16-bit
/// words; a zero byte pads the last word if needed. Modulo 65535, a byte swap is a multiplication by 256, so
/// the code adds little-endian words and swaps the sums at the end.
fn checksum(bytes: &[u8]) -> u32 {
    /// The number of independent sums, which the compiler can add in parallel.
    const LANES: usize = 16;
    /// The number of words of a lane before its second sum could overflow 32 bits.
    const ROWS: usize = 256;

    let (mut first, mut second) = (0, 0);
    let blocks = bytes.chunks_exact(2 * LANES * ROWS);
    let rest = blocks.remainder();
    for block in blocks {
        let (mut a, mut b) = ([0u32; LANES], [0u32; LANES]);
        for row in block.chunks_exact(2 * LANES) {
            for lane in 0..LANES {
                a[lane] += u32::from(u16::from_le_bytes([row[2 * lane], row[2 * lane + 1]]));
                b[lane] += a[lane];
            }
        }
        // Word `LANES * row + lane` counts `LANES * (ROWS - row) - lane` times. `b` holds each word `ROWS -
        // row` times.
        second += (LANES * ROWS) as u64 * first;
        for lane in 0..LANES {
            second += LANES as u64 * u64::from(b[lane]) - lane as u64 * u64::from(a[lane]);
            first += u64::from(a[lane]);
        }
        (first, second) = (fold(first).into(), fold(second).into());
    }
    for word in rest.chunks(2) {
        first += u64::from(word[0]) | word.get(1).map_or(0, |&high| u64::from(high) << 8);
        second += first;
    }
    // The remainder is shorter than a block, so neither sum has overflowed 64 bits here.
    u32::from(fold(second).swap_bytes()) << 16 | u32::from(fold(first).swap_bytes())
}

/// Folds a sum to 16 bits with end-around carry. The result is the sum modulo 65535, except that only 0
/// becomes 0.
fn fold(mut sum: u64) -> u16 {
    loop {
        match u16::try_from(sum) {
            Ok(folded) => return folded,
            Err(_) => sum = (sum & 0xffff) + (sum >> 16),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition of the checksum, one word at a time.
    fn model(bytes: &[u8]) -> u32 {
        let (mut first, mut second) = (0u64, 0u64);
        for word in bytes.chunks(2) {
            first =
                u64::from(fold(first + u64::from(u16::from_be_bytes([word[0], *word.get(1).unwrap_or(&0)]))));
            second = u64::from(fold(second + first));
        }
        u32::try_from(second << 16 | first).unwrap()
    }

    #[test]
    fn the_checksum_follows_its_definition_at_every_length() {
        let bytes: Vec<u8> =
            (0..40_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24).to_le_bytes()[0]).collect();
        for len in [0, 1, 2, 3, 719, 720, 721, 8191, 8192, 8193, 16_384, 16_387, 40_000] {
            assert_eq!(checksum(&bytes[..len]), model(&bytes[..len]), "{len} bytes");
        }
        for byte in [0, 0xff] {
            assert_eq!(checksum(&vec![byte; 20_001]), model(&vec![byte; 20_001]));
        }
    }

    #[test]
    fn the_byte_swapped_checksum_of_old_files_is_accepted_and_a_wrong_one_is_not() {
        let mut stored = b"some bytes of a chunk".to_vec();
        let sum = checksum(&stored).to_le_bytes();
        stored.extend([sum[1], sum[0], sum[3], sum[2]]);
        let mut dst = [0; 21];
        assert_eq!(Fletcher32.decode_into(&stored, &mut dst, &mut Scratch::default()), Ok(21));
        stored[3] ^= 1;
        let error = Fletcher32.decode_into(&stored, &mut dst, &mut Scratch::default()).unwrap_err();
        assert!(matches!(error, FilterError::Checksum { .. }), "{error}");
    }
}
