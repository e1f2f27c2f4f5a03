//! LZF, filter 32000: h5py's fast codec. A chunk that it does not shorten is stored without it.
//!
//! A control byte below 32 announces that many literal bytes and one more. Any other is a match: its upper 3 bits are the
//! length less 2 (7: the next byte is added), its lower 5 bits and the byte that follows are the distance less 1.

use crate::error::{FilterError, Result};
use crate::filter::{Encoded, Filter, FilterId, Scratch, expansion_bound};

/// The filter, whose client data (versions, chunk size) say nothing that is needed.
#[derive(Debug)]
pub struct Lzf;

const NAME: &str = "lzf";
const MAX_LITERALS: usize = 32;
const MAX_DISTANCE: usize = 1 << 13;
const MAX_MATCH: usize = 2 + 7 + 255;
const HASH_BITS: u32 = 14;

impl Filter for Lzf {
    fn id(&self) -> FilterId {
        FilterId::LZF
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<usize> {
        let mut bytes = src.iter();
        let mut at = 0;
        while let Some(&control) = bytes.next() {
            let control = usize::from(control);
            if control < MAX_LITERALS {
                let Some((literals, rest)) = bytes.as_slice().split_at_checked(control + 1) else {
                    return Err(damaged("literals that end after the chunk"));
                };
                room(dst, at, literals.len())?.copy_from_slice(literals);
                at += literals.len();
                bytes = rest.iter();
            } else {
                let mut next =
                    || bytes.next().map(|&b| usize::from(b)).ok_or_else(|| damaged("a match cut short"));
                let mut len = (control >> 5) + 2;
                if len == 9 {
                    len += next()?;
                }
                let distance = ((control & 0x1f) << 8 | next()?) + 1;
                let from = at.checked_sub(distance).ok_or_else(|| damaged("a match before the start"))?;
                room(dst, at, len)?;
                repeat(dst, from, at, len);
                at += len;
            }
        }
        Ok(at)
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<Encoded> {
        let start = dst.len();
        let most = start + src.len();
        // The last position at which each hash of three bytes was seen, and 0 for none: position 0 is never matched.
        let seen = &mut scratch.positions;
        seen.clear();
        seen.resize(1 << HASH_BITS, 0);
        let (mut at, mut literals) = (0, 0);
        while let Some(three) = src.get(at..).and_then(|rest| rest.first_chunk::<3>()) {
            let slot = &mut seen[hash(*three)];
            let candidate = std::mem::replace(slot, at);
            let near = candidate > 0 && at - candidate <= MAX_DISTANCE;
            if !near || src[candidate..candidate + 3] != *three {
                at += 1;
                continue;
            }
            let most_len = MAX_MATCH.min(src.len() - at);
            let same = src[candidate..].iter().zip(&src[at..at + most_len]).take_while(|(a, b)| a == b);
            let len = same.count();
            put_literals(dst, &src[literals..at]);
            put_match(dst, at - candidate, len);
            if dst.len() >= most {
                break;
            }
            at += len;
            literals = at;
        }
        put_literals(dst, &src[literals..]);
        if dst.len() < most {
            return Ok(Encoded::Stored);
        }
        dst.truncate(start);
        Ok(Encoded::Skipped)
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        expansion_bound(decoded)
    }
}

fn damaged(what: &'static str) -> FilterError {
    FilterError::Damaged { filter: NAME, what }
}

/// `len` bytes of `dst` from `at` on.
fn room(dst: &mut [u8], at: usize, len: usize) -> Result<&mut [u8]> {
    let (expected, found) = (dst.len() as u64, (at + len) as u64);
    dst.get_mut(at..at + len).ok_or(FilterError::Length { filter: NAME, expected, found })
}

/// Writes `len` bytes at `at` that repeat those from `from` on; the two may overlap.
fn repeat(dst: &mut [u8], from: usize, at: usize, len: usize) {
    let distance = at - from;
    if distance >= len {
        dst.copy_within(from..from + len, at);
    } else if distance == 1 {
        let byte = dst[from];
        dst[at..at + len].fill(byte);
    } else {
        for k in 0..len {
            dst[at + k] = dst[from + k];
        }
    }
}

fn hash([a, b, c]: [u8; 3]) -> usize {
    let word = u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9e37_79b1);
    (word >> (32 - HASH_BITS)) as usize
}

#[expect(clippy::cast_possible_truncation, reason = "chunks of at most 32")]
fn put_literals(dst: &mut Vec<u8>, literals: &[u8]) {
    for run in literals.chunks(MAX_LITERALS) {
        dst.push(run.len() as u8 - 1);
        dst.extend_from_slice(run);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "distances have 13 bits, lengths at most 264")]
fn put_match(dst: &mut Vec<u8>, distance: usize, len: usize) {
    let (distance, len) = (distance - 1, len - 2);
    dst.push((len.min(7) << 5 | distance >> 8) as u8);
    if len >= 7 {
        dst.push((len - 7) as u8);
    }
    dst.push(distance as u8);
}
