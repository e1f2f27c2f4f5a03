//! BloscLZ: Blosc's own codec, a byte-oriented LZ77 with distances of up to 73,727 bytes.

use crate::simd::copy::Window;

/// The first distance that needs two bytes more.
const FAR: usize = 8191;

/// Decodes the first `need` bytes of a stream of `len` into `out`, whose bytes after them are clobbered. False if the
/// stream is damaged, or decodes to another length (which is only known if all of it is needed).
pub(super) fn decode(src: &[u8], out: &mut [u8], len: usize, need: usize) -> bool {
    debug_assert!(need <= len);
    let mut window = Window::new(out, need);
    let prefix = need < len;
    let Some(&first) = src.first() else { return len == 0 };
    // The three high bits of the first byte are a mark, not a match.
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

/// The longest run of literals.
const MAX_LITERALS: usize = 32;
/// The last bytes of the input are literals: the decoder of c-blosc2 drops a match that ends the stream.
const TAIL: usize = 12;
/// The shortest input that is encoded.
const MIN_INPUT: usize = 16;
/// The longest distance.
const MAX_DISTANCE: usize = FAR + 65535;

/// Encodes `src` into the front of `out`; `None` if it does not fit. `table` is scratch.
pub(super) fn encode(level: u8, src: &[u8], out: &mut [u8], table: &mut Vec<u32>) -> Option<usize> {
    if src.len() < MIN_INPUT {
        return None;
    }
    let bits = match level {
        0 | 1 => 12,
        2 => 13,
        _ => 14,
    };
    table.clear();
    table.resize(1 << bits, 0);
    let hash = |word: u32| (word.wrapping_mul(2_654_435_761) >> (32 - bits)) as usize;
    let word = |at: usize| src.get(at..).and_then(|b| b.first_chunk::<4>()).map(|&b| u32::from_le_bytes(b));
    let mut output = Output { out, len: 0 };
    let limit = src.len() - TAIL;
    // The first bytes have to be literals, because the stream begins with a mark instead of a control byte's high bits.
    let (mut at, mut literals) = (4, 0);
    // The further the search for a match has got without one, the bigger its steps.
    let mut misses = 0;
    while at < limit {
        let Some(here) = word(at) else { break };
        let slot = &mut table[hash(here)];
        let candidate = *slot as usize;
        // Blocks are shorter than 4 GiB.
        *slot = u32::try_from(at).ok()?;
        let distance = at - candidate;
        let far = distance > FAR;
        let found = distance > 0 && distance <= MAX_DISTANCE && word(candidate) == Some(here);
        let len = if found { 4 + common(&src[candidate + 4..], &src[at + 4..limit.max(at + 4)]) } else { 0 };
        if len < if far { 8 } else { 5 } {
            misses += 1;
            at += 1 + (misses >> if level >= 9 { 10 } else { 6 });
            continue;
        }
        misses = 0;
        output.literals(&src[literals..at])?;
        output.repeat(distance, len)?;
        at += len;
        literals = at;
        for near in [at - 2, at - 1] {
            if let Some(word) = word(near) {
                table[hash(word)] = u32::try_from(near).ok()?;
            }
        }
    }
    output.literals(&src[literals..])?;
    let len = output.len;
    *out.first_mut()? |= 1 << 5;
    Some(len)
}

/// How many bytes two slices have in common at their fronts.
fn common(a: &[u8], b: &[u8]) -> usize {
    let (a_words, _) = a.as_chunks::<8>();
    let (b_words, _) = b.as_chunks::<8>();
    let mut len = 0;
    for (a, b) in a_words.iter().zip(b_words) {
        let difference = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if difference != 0 {
            return len + difference.trailing_zeros() as usize / 8;
        }
        len += 8;
    }
    len + a[len..].iter().zip(&b[len..]).take_while(|(a, b)| a == b).count()
}

/// Encoded bytes, as far as there is room.
struct Output<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl Output<'_> {
    fn push(&mut self, bytes: &[u8]) -> Option<()> {
        self.out.get_mut(self.len..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
        self.len += bytes.len();
        Some(())
    }

    fn literals(&mut self, bytes: &[u8]) -> Option<()> {
        for run in bytes.chunks(MAX_LITERALS) {
            self.push(&[low(run.len() - 1)])?;
            self.push(run)?;
        }
        Some(())
    }

    /// A match of at least 3 bytes.
    fn repeat(&mut self, distance: usize, len: usize) -> Option<()> {
        let len = len - 2;
        let biased = distance - 1;
        let high = if biased < FAR { biased >> 8 } else { 31 };
        if len < 7 {
            self.push(&[low(len << 5 | high)])?;
        } else {
            self.push(&[low(7 << 5 | high)])?;
            let mut rest = len - 7;
            while rest >= 255 {
                self.push(&[255])?;
                rest -= 255;
            }
            self.push(&[low(rest)])?;
        }
        if biased < FAR {
            self.push(&[low(biased & 255)])
        } else {
            let far = biased - FAR;
            self.push(&[255, low(far >> 8), low(far & 255)])
        }
    }
}

/// The low byte.
fn low(value: usize) -> u8 {
    value.to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn decode_undoes_encode_and_any_prefix_of_it(
            words in prop::collection::vec((any::<u8>(), 1usize..400, 1usize..40), 1..30), level in 0u8..10
        ) {
            let mut data = Vec::new();
            for (byte, len, period) in words {
                data.extend((0..len).map(|i| byte.wrapping_add(low(i % period * 7))));
            }
            let mut stream = vec![0; data.len() + data.len() / 16 + 64];
            if let Some(len) = encode(level, &data, &mut stream, &mut Vec::new()) {
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
                prop_assert!(data.len() < MIN_INPUT);
            }
        }
    }

    #[test]
    fn a_far_match_has_two_more_bytes_of_distance() {
        let mut data: Vec<u8> = (0..60_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        data.extend_from_within(..1000);
        data.extend_from_within(..20);
        let mut stream = vec![0; 80_000];
        let len = encode(5, &data, &mut stream, &mut Vec::new()).unwrap();
        assert!(len < 60_000 * 33 / 32 + 1000);
        let mut out = vec![0; data.len()];
        assert!(decode(&stream[..len], &mut out, data.len(), data.len()));
        assert!(out == data);
    }

    #[test]
    fn a_stream_that_ends_early_or_reaches_before_its_start_is_refused() {
        let mut out = [0; 64];
        assert!(!decode(&[0x20 | 3, 1, 2], &mut out, 4, 4));
        // A literal of one byte, then a match from two bytes back.
        assert!(!decode(&[0x20, 1, 0x20, 1, 0, 9], &mut out, 5, 5));
        assert!(decode(&[0x20, 1, 0x20, 0, 0, 9], &mut out, 5, 5));
        assert_eq!(out[..5], [1, 1, 1, 1, 9]);
    }
}
