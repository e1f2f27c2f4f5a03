//! Decoding of blocks (CCSDS 121.0-B, section 4).

use std::hint::select_unpredictable;

use super::Coding;
use crate::bits::BitReader;

/// Decodes the samples of one chunk.
pub(super) struct Decoder<'a> {
    pub(super) coding: Coding,
    pub(super) reader: BitReader<'a>,
}

/// The blocks after which a run of zero blocks ends.
const SEGMENT: usize = 64;

/// The pairs of samples that the second extension codes as one number, up to the largest one that libaec
/// decodes: the pairs of sum 0, then those of sum 1, and so on.
const PAIRS: [(u8, u8); 91] = pairs();

const fn pairs() -> [(u8, u8); 91] {
    let mut pairs = [(0, 0); 91];
    let (mut at, mut sum) = (0, 0);
    while sum < 13 {
        let mut second = 0;
        while second <= sum {
            pairs[at] = (sum - second, second);
            at += 1;
            second += 1;
        }
        sum += 1;
    }
    pairs
}

impl Decoder<'_> {
    /// Decodes the blocks of an interval, or its first blocks. Returns `None` if the bits are no code.
    pub(super) fn interval(&mut self, samples: &mut [u32]) -> Option<()> {
        let Coding { bits, has_reference, block, blocks } = self.coding;
        let id_bits = self.coding.id_bits();
        let uncoded = (1 << id_bits) - 1;
        let mut at = 0;
        while at < samples.len() {
            // The reference sample is stored before the other samples of the first block.
            let start = usize::from(at == 0 && has_reference);
            let reader = &mut self.reader;
            let id = reader.read(id_bits);
            if id == 0 {
                let is_pairs = reader.read(1) == 1;
                if start == 1 {
                    samples[at] = sample(reader, bits);
                }
                if is_pairs {
                    self.second_extension(&mut samples[at..at + block], start)?;
                    at += block;
                    continue;
                }
                let number = reader.read_unary()? as usize;
                let count = match number {
                    ..4 => number + 1,
                    // Up to the end of the segment, or of the interval.
                    4 => (blocks - at / block).min(SEGMENT - at / block % SEGMENT),
                    _ => number,
                };
                if count > blocks - at / block {
                    return None;
                }
                let end = (at + count * block).min(samples.len());
                samples[at + start..end].fill(0);
                at = end;
                continue;
            }
            let end = at + block;
            if id == uncoded {
                samples[at..end].fill(0);
                append(reader, &mut samples[at..end], bits);
            } else {
                if start == 1 {
                    samples[at] = sample(reader, bits);
                }
                #[expect(clippy::cast_possible_truncation, reason = "at most 5 bits")]
                split(reader, &mut samples[at + start..end], id as u32 - 1)?;
            }
            at = end;
        }
        Some(())
    }

    /// Decodes pairs of samples. The first sample is not coded if `start` is 1.
    fn second_extension(&mut self, samples: &mut [u32], start: usize) -> Option<()> {
        let mut first = start == 1;
        for pair in samples.as_chunks_mut::<2>().0 {
            let &(one, other) = PAIRS.get(self.reader.read_unary()? as usize)?;
            if !first {
                pair[0] = one.into();
            }
            pair[1] = other.into();
            first = false;
        }
        Some(())
    }
}

/// Reads a sample of at most 24 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "at most 24 bits")]
fn sample(reader: &mut BitReader<'_>, bits: u32) -> u32 {
    reader.read(bits) as u32
}

/// Decodes samples whose low `k` bits are stored after the unary numbers of all high bits.
#[inline]
fn split(reader: &mut BitReader<'_>, samples: &mut [u32], k: u32) -> Option<()> {
    // A copy, which stays in registers.
    let mut bits = reader.clone();
    bits.read_unaries(samples)?;
    if k > 0 {
        append(&mut bits, samples, k);
    }
    *reader = bits;
    Some(())
}

/// Appends `k` bits to each sample.
#[inline]
fn append(reader: &mut BitReader<'_>, samples: &mut [u32], k: u32) {
    let mask = (1 << k) - 1;
    for group in samples.chunks_mut((BitReader::MOST / k) as usize) {
        #[expect(clippy::cast_possible_truncation, reason = "at most 56 bits")]
        let mut rest = k * group.len() as u32;
        let bits = reader.read(rest);
        for to in group {
            rest -= k;
            #[expect(clippy::cast_possible_truncation, reason = "fewer than 32 bits")]
            let low = (bits >> rest & mask) as u32;
            *to = *to << k | low;
        }
    }
}

/// Undoes the preprocessor (CCSDS 121.0-B, section 5.2) and calls `put` with each sample.
#[inline]
pub(super) fn restore<T>(coding: Coding, samples: &[u32], slots: &mut [T], put: impl Fn(&mut T, u32)) {
    if !coding.has_reference {
        return slots.iter_mut().zip(samples).for_each(|(to, &sample)| put(to, sample));
    }
    let (Some((to, slots)), Some((&first, samples))) = (slots.split_first_mut(), samples.split_first())
    else {
        return;
    };
    put(to, first);
    let largest = coding.largest();
    let mut last = first;
    for (slots, samples) in slots.chunks_mut(GROUP).zip(samples.chunks(GROUP)) {
        let all = samples.iter().fold(0, |all, &mapped| all | mapped);
        if all == 0 {
            for to in slots {
                put(to, last);
            }
            continue;
        }
        // Small differences rarely reach the ends of the range. Then a sample waits only for the sum before
        // it.
        if all <= largest / 16 {
            let (mut sum, mut is_far) = (last, false);
            for (to, &mapped) in slots.iter_mut().zip(samples) {
                let distance = mapped.div_ceil(2);
                is_far |= sum.wrapping_sub(distance) > largest - 2 * distance;
                sum = sum.wrapping_add(step(mapped));
                put(to, sum);
            }
            if !is_far {
                last = sum;
                continue;
            }
        }
        for (to, &mapped) in slots.iter_mut().zip(samples) {
            // As much as possible is computed without the sample before this one.
            let distance = mapped.div_ceil(2);
            let never = distance > largest / 2;
            let lowest = if never { largest + 1 } else { distance };
            let spread = if never { 0 } else { largest.wrapping_sub(2 * distance) };
            let far = select_unpredictable(last > largest / 2, mapped ^ largest, mapped);
            let near = last.wrapping_add(step(mapped));
            last = select_unpredictable(last.wrapping_sub(lowest) <= spread, near, far);
            put(to, last);
        }
    }
}

/// Returns the difference that a mapped number stands for, if neither end of the range is too near.
#[inline]
fn step(mapped: u32) -> u32 {
    (mapped >> 1) ^ (mapped & 1).wrapping_neg()
}

/// The samples of a group, all of which are restored in one way.
const GROUP: usize = 16;
