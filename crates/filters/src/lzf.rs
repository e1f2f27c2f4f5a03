//! LZF, filter 32000: h5py's fast codec. A chunk that LZF does not shorten is stored without LZF.
//!
//! A control byte below 32 precedes literal bytes, one more than its value. Any other control byte is a
//! match. Its upper 3 bits are the length less 2 (for 7, the next byte is added to the length). Its lower 5
//! bits and the following byte are the distance less 1.

use crate::codec::lz::{MAX_LITERALS, Output, common, low};
use crate::error::{FilterError, Result};
use crate::filter::{Encoded, Filter, FilterId, Scratch, expansion_bound};

/// The filter. Its client data (versions and the chunk size) is not needed.
#[derive(Debug)]
pub struct Lzf;

const NAME: &str = "lzf";
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
                    return Err(damaged("literals extend past the end of the chunk"));
                };
                room(dst, at, literals.len())?.copy_from_slice(literals);
                at += literals.len();
                bytes = rest.iter();
            } else {
                let mut next =
                    || bytes.next().map(|&b| usize::from(b)).ok_or_else(|| damaged("a match is cut short"));
                let mut len = (control >> 5) + 2;
                if len == 9 {
                    len += next()?;
                }
                let distance = ((control & 0x1f) << 8 | next()?) + 1;
                let from = at
                    .checked_sub(distance)
                    .ok_or_else(|| damaged("a match refers to bytes before the start"))?;
                room(dst, at, len)?;
                repeat(dst, from, at, len);
                at += len;
            }
        }
        Ok(at)
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<Encoded> {
        let shorter = src.len().saturating_sub(1).min(dst.len());
        Ok(encode(src, &mut dst[..shorter], &mut scratch.positions).into())
    }

    fn encode_bound(&self, len: usize) -> usize {
        len
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        expansion_bound(decoded)
    }
}

/// Encodes `src` into the front of `dst` and returns the encoded length, or `None` if `dst` is too small.
fn encode(src: &[u8], dst: &mut [u8], seen: &mut Vec<u32>) -> Option<usize> {
    // The last position of each hash of three bytes, or 0 if the hash has not occurred. Position 0 is never
    // matched.
    seen.clear();
    seen.resize(1 << HASH_BITS, 0);
    let mut output = Output::new(dst);
    let (mut at, mut literals) = (0, 0);
    while let Some(three) = src.get(at..).and_then(|rest| rest.first_chunk::<3>()) {
        let candidate = std::mem::replace(&mut seen[hash(*three)], u32::try_from(at).ok()?) as usize;
        let near = candidate > 0 && at - candidate <= MAX_DISTANCE;
        if !near || src[candidate..candidate + 3] != *three {
            at += 1;
            continue;
        }
        let most = MAX_MATCH.min(src.len() - at);
        let len = 3 + common(&src[candidate + 3..], &src[at + 3..at + most]);
        output.literals(src, literals, at)?;
        put_match(&mut output, at - candidate, len)?;
        at += len;
        literals = at;
    }
    output.literals(src, literals, src.len())?;
    Some(output.len())
}

fn damaged(what: &'static str) -> FilterError {
    FilterError::damaged(NAME, what)
}

/// Returns `len` bytes of `dst`, starting at `at`.
fn room(dst: &mut [u8], at: usize, len: usize) -> Result<&mut [u8]> {
    let (expected, found) = (dst.len() as u64, (at + len) as u64);
    dst.get_mut(at..at + len).ok_or(FilterError::Length { filter: NAME, expected, found })
}

/// Writes at `at` a copy of the `len` bytes that start at `from`. The two ranges may overlap.
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

/// Writes a match of at least 3 bytes.
fn put_match(output: &mut Output<'_>, distance: usize, len: usize) -> Option<()> {
    let (distance, len) = (distance - 1, len - 2);
    output.push(&[low(len.min(7) << 5 | distance >> 8)])?;
    if len >= 7 {
        output.push(&[low(len - 7)])?;
    }
    output.push(&[low(distance)])
}
