//! BloscLZ: Blosc's own codec, a byte-oriented LZ77 with distances of up to 73,727 bytes.

use crate::codec::lz::{Output, common, low};
use crate::simd::copy::Window;

/// The first distance that takes two more bytes.
const FAR: usize = 8191;

/// Decodes the first `need` bytes of a stream of `len` decoded bytes into `out`, and clobbers the rest of
/// `out`. Returns `false` if the stream is damaged or decodes to another length (which is only known if
/// `need` is `len`).
pub(super) fn decode(src: &[u8], out: &mut [u8], len: usize, need: usize) -> bool {
    debug_assert!(need <= len);
    let mut window = Window::new(out, need);
    let prefix = need < len;
    let Some(&first) = src.first() else { return len == 0 };
    // The three high bits of the first byte are a mark. They are not the length of a match.
    let mut control = usize::from(first & 31);
    let mut at = 1;
    loop {
        if control < 32 {
            let mut run = control + 1;
            if prefix && run > window.room() {
                run = window.room();
            }
            if !window.literal(src, at, run) {
                return false;
            }
            at += run;
        } else {
            let mut run = (control >> 5) - 1;
            let high = (control & 31) << 8;
            if run == 6 {
                loop {
                    let Some(&more) = src.get(at) else { return false };
                    at += 1;
                    run += usize::from(more);
                    if more != 255 {
                        break;
                    }
                }
            }
            let Some(&low) = src.get(at) else { return false };
            at += 1;
            run += 3;
            let mut distance = high + usize::from(low) + 1;
            if low == 255 && high == 31 << 8 {
                let Some(&[high, low]) = src.get(at..at + 2) else { return false };
                at += 2;
                distance = usize::from(u16::from_be_bytes([high, low])) + FAR + 1;
            }
            if prefix && run > window.room() {
                run = window.room();
            }
            if !window.repeat(distance, run) {
                return false;
            }
        }
        if prefix && window.room() == 0 {
            return true;
        }
        let Some(&next) = src.get(at) else { return window.room() == 0 };
        control = usize::from(next);
        at += 1;
    }
}

/// The last bytes of the input, which are always stored as literals, because the decoder of c-blosc2 drops a
/// match that ends the stream.
const TAIL: usize = 12;
/// The shortest input that is encoded.
const MIN_INPUT: usize = 16;
/// The longest distance.
const MAX_DISTANCE: usize = FAR + 65535;

/// The last position in the input of each hash of four bytes. The table is kept from stream to stream.
/// Positions continue from one stream to the next, so that positions of earlier streams are recognised and
/// the table need not be cleared.
#[derive(Debug, Default)]
pub(super) struct Positions {
    table: Vec<u32>,
    /// One past the position of the last byte of the last stream.
    end: u32,
}

/// The greatest number of bits of a hash.
const MAX_BITS: u32 = 14;

impl Positions {
    /// Starts a new stream of `len` bytes, for which the positions of earlier streams are out of date.
    /// Returns `None` if the stream is too long.
    fn begin(&mut self, len: usize) -> Option<Seen<'_>> {
        let len = u32::try_from(len).ok()?;
        self.table.resize(1 << MAX_BITS, 0);
        let table = self.table.first_chunk_mut()?;
        let end = self.end.max(1).checked_add(len);
        if end.is_none() {
            table.fill(0);
        }
        // Position 0 is never used, because a cleared table holds 0.
        let start = if end.is_some() { self.end.max(1) } else { 1 };
        self.end = start.checked_add(len)?;
        Some(Seen { table, start })
    }
}

/// The positions in one stream.
struct Seen<'a> {
    table: &'a mut [u32; 1 << MAX_BITS],
    /// The position of the stream's first byte.
    start: u32,
}

impl Seen<'_> {
    /// Stores `at` as the position of this hash and returns the previous position, or `at` if the hash is
    /// new.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "streams are shorter than 4 GiB, as `begin` checks")]
    fn replace(&mut self, hash: u32, at: usize) -> usize {
        let slot = &mut self.table[hash as usize % (1 << MAX_BITS)];
        let last = std::mem::replace(slot, self.start + at as u32);
        last.checked_sub(self.start).map_or(at, |last| last as usize)
    }
}

/// Encodes `src` into the front of `out`, or returns `None` if `out` is too small.
pub(super) fn encode(level: u8, src: &[u8], out: &mut [u8], positions: &mut Positions) -> Option<usize> {
    if src.len() < MIN_INPUT {
        return None;
    }
    let mut seen = positions.begin(src.len())?;
    let bits = match level {
        0 | 1 => 12,
        2 => 13,
        _ => MAX_BITS,
    };
    let hash = |word: u32| word.wrapping_mul(2_654_435_761) >> (32 - bits);
    let word = |at: usize| src.get(at..).and_then(|b| b.first_chunk::<4>()).map(|&b| u32::from_le_bytes(b));
    let mut output = Output::new(out);
    let limit = src.len() - TAIL;
    // The first bytes must be literals, because the first control byte has the mark in its high bits.
    let (mut at, mut literals) = (4, 0);
    // The longer the search goes without a match, the larger its steps.
    let mut misses = 0;
    // The fast levels give up a stream if its first part has hardly become shorter.
    let (mut probe, most_eighths) = match level {
        0 | 1 => (src.len() / 8, 5),
        2 => (src.len() / 8, 6),
        3 => (src.len() / 8, 7),
        _ => (usize::MAX, 8),
    };
    let patience = if level >= 9 { 10 } else { 6 };
    while at < limit {
        if at >= probe {
            probe = usize::MAX;
            if output.len() + at - literals > at / 8 * most_eighths {
                return None;
            }
        }
        let here = word(at)?;
        let candidate = seen.replace(hash(here), at);
        let distance = at - candidate;
        let found = distance > 0 && distance <= MAX_DISTANCE && word(candidate) == Some(here);
        let len = if found { 4 + common(&src[candidate + 4..], &src[at + 4..limit.max(at + 4)]) } else { 0 };
        if len < if distance > FAR { 8 } else { 5 } {
            misses += 1;
            at += 1 + (misses >> patience);
            continue;
        }
        misses = 0;
        output.literals(src, literals, at)?;
        repeat(&mut output, distance, len)?;
        at += len;
        literals = at;
        for near in [at - 2, at - 1] {
            seen.replace(hash(word(near)?), near);
        }
    }
    output.literals(src, literals, src.len())?;
    let len = output.len();
    *out.first_mut()? |= 1 << 5;
    Some(len)
}

/// Writes a match of at least 3 bytes.
fn repeat(output: &mut Output<'_>, distance: usize, len: usize) -> Option<()> {
    let len = len - 2;
    let biased = distance - 1;
    let high = if biased < FAR { biased >> 8 } else { 31 };
    if len < 7 {
        output.push(&[low(len << 5 | high)])?;
    } else {
        output.push(&[low(7 << 5 | high)])?;
        let mut rest = len - 7;
        while rest >= 255 {
            output.push(&[255])?;
            rest -= 255;
        }
        output.push(&[low(rest)])?;
    }
    if biased < FAR {
        output.push(&[low(biased & 255)])
    } else {
        let far = biased - FAR;
        output.push(&[255, low(far >> 8), low(far & 255)])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn decoding_returns_the_encoded_bytes_and_any_prefix_of_them(
            words in prop::collection::vec((any::<u8>(), 1usize..400, 1usize..40), 1..30), level in 0u8..10
        ) {
            let mut data = Vec::new();
            for (byte, len, period) in words {
                data.extend((0..len).map(|i| byte.wrapping_add(low(i % period * 7))));
            }
            let mut stream = vec![0; data.len() + data.len() / 16 + 64];
            if let Some(len) = encode(level, &data, &mut stream, &mut Positions::default()) {
                for need in [data.len(), data.len() / 2, 1, 0] {
                    for slack in [0, 64] {
                        let mut out = vec![0xEE; data.len() + slack];
                        prop_assert!(decode(&stream[..len], &mut out, data.len(), need));
                        prop_assert_eq!(&out[..need], &data[..need]);
                    }
                }
                let mut out = vec![0; data.len()];
                prop_assert!(!decode(&stream[..len - 1], &mut out, data.len(), data.len()));
            } else {
                prop_assert!(data.len() < MIN_INPUT || level < 4);
            }
        }
    }

    #[test]
    fn positions_restart_before_they_overflow_and_positions_of_earlier_streams_are_ignored() {
        let first: Vec<u8> = (0..2000usize).map(|i| low((i * i) >> 5)).collect();
        let second: Vec<u8> = (0..2000usize).map(|i| low((i * i * i) >> 9) & 15).collect();
        let alone = |src: &[u8]| {
            let mut out = vec![0; 3000];
            let len = encode(5, src, &mut out, &mut Positions::default()).unwrap();
            out.truncate(len);
            out
        };
        let mut positions = Positions { end: u32::MAX - 5000, ..Positions::default() };
        for _ in 0..3 {
            for stream in [&first, &second] {
                let mut out = vec![0; 3000];
                let len = encode(5, stream, &mut out, &mut positions).unwrap();
                assert!(out[..len] == alone(stream));
            }
        }
        assert!(positions.end < 10_000, "{}", positions.end);
    }

    #[test]
    fn a_far_match_takes_two_more_bytes_for_its_distance() {
        let mut data: Vec<u8> = (0..60_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        data.extend_from_within(..1000);
        data.extend_from_within(..20);
        let mut stream = vec![0; 80_000];
        let len = encode(5, &data, &mut stream, &mut Positions::default()).unwrap();
        assert!(len < 60_000 * 33 / 32 + 1000);
        let mut out = vec![0; data.len()];
        assert!(decode(&stream[..len], &mut out, data.len(), data.len()));
        assert!(out == data);
    }

    #[test]
    fn a_stream_that_ends_early_or_refers_before_its_start_is_refused() {
        let mut out = [0; 64];
        assert!(!decode(&[0x20 | 3, 1, 2], &mut out, 4, 4));
        // One literal byte, then a match at distance 2.
        assert!(!decode(&[0x20, 1, 0x20, 1, 0, 9], &mut out, 5, 5));
        assert!(decode(&[0x20, 1, 0x20, 0, 0, 9], &mut out, 5, 5));
        assert_eq!(out[..5], [1, 1, 1, 1, 9]);
    }
}
