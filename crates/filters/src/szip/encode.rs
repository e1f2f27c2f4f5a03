//! Encoding of blocks (CCSDS 121.0-B, section 4). Among codes of equal length, the choice is libaec's.

use super::Coding;
use crate::bits::BitWriter;

/// Encodes the samples of one chunk.
pub(super) struct Encoder<'a> {
    coding: Coding,
    pub(super) writer: BitWriter<'a>,
    /// The number of low bits that the last split block stored as they are. The search for the best number
    /// starts there.
    split: u32,
    /// The differences of an interval.
    mapped: Vec<u32>,
}

/// The blocks after which a run of zero blocks ends.
const SEGMENT: usize = 64;

/// A run of zero blocks.
struct Zeros {
    blocks: u64,
    reference: Option<u32>,
}

impl<'a> Encoder<'a> {
    pub(super) fn new(coding: Coding, writer: BitWriter<'a>) -> Self {
        Self { coding, writer, split: 0, mapped: Vec::new() }
    }

    /// Encodes an interval. Returns `None` if the output is full.
    pub(super) fn interval(&mut self, samples: &[u32]) -> Option<()> {
        let mut mapped = std::mem::take(&mut self.mapped);
        mapped.clear();
        let coded = if self.coding.has_reference {
            map(samples, self.coding.largest(), &mut mapped);
            &*mapped
        } else {
            samples
        };
        let mut zeros = Zeros { blocks: 0, reference: None };
        let count = coded.len() / self.coding.block;
        for (number, block) in coded.chunks_exact(self.coding.block).enumerate() {
            let reference = (number == 0 && self.coding.has_reference).then(|| samples[0]);
            let all = block.iter().fold(0, |all, &sample| all | sample);
            if all == 0 {
                if zeros.blocks == 0 {
                    zeros.reference = reference;
                }
                zeros.blocks += 1;
                if number + 1 == count || (number + 1).is_multiple_of(SEGMENT) {
                    self.zeros(&mut zeros, true);
                }
            } else {
                if zeros.blocks > 0 {
                    self.zeros(&mut zeros, false);
                }
                self.block(block, all, reference);
            }
            if self.writer.is_full() {
                return None;
            }
        }
        self.mapped = mapped;
        Some(())
    }

    /// Encodes a run of zero blocks. `to_end` says that it ends with its segment.
    fn zeros(&mut self, zeros: &mut Zeros, to_end: bool) {
        self.writer.write(0, self.coding.id_bits() + 1);
        self.reference(zeros.reference);
        let number = match zeros.blocks {
            blocks @ ..5 => blocks - 1,
            _ if to_end => 4,
            blocks => blocks,
        };
        self.writer.write_unary(number);
        *zeros = Zeros { blocks: 0, reference: None };
    }

    fn reference(&mut self, reference: Option<u32>) {
        if let Some(sample) = reference {
            self.writer.write(sample.into(), self.coding.bits);
        }
    }

    /// Encodes a block with the shortest code. `all` has the bits of all samples.
    fn block(&mut self, block: &[u32], all: u32, reference: Option<u32>) {
        let id_bits = self.coding.id_bits();
        let samples = block.len() as u64 - u64::from(reference.is_some());
        let uncoded = samples * u64::from(self.coding.bits);
        let split = self.best_split(block, samples);
        let pairs = second_extension_len(block, all, uncoded);
        if split < uncoded && pairs.is_none_or(|pairs| split < pairs) {
            self.writer.write(u64::from(self.split) + 1, id_bits);
            self.reference(reference);
            self.split_block(&block[usize::from(reference.is_some())..]);
        } else if pairs.is_none_or(|pairs| split >= uncoded && uncoded <= pairs) {
            self.writer.write((1 << id_bits) - 1, id_bits);
            self.reference(reference);
            self.low_bits(&block[usize::from(reference.is_some())..], self.coding.bits);
        } else {
            self.writer.write(1, id_bits + 1);
            self.reference(reference);
            for pair in block.as_chunks::<2>().0 {
                let sum = u64::from(pair[0]) + u64::from(pair[1]);
                self.writer.write_unary(sum * (sum + 1) / 2 + u64::from(pair[1]));
            }
        }
    }

    fn split_block(&mut self, samples: &[u32]) {
        let k = self.split;
        // Short unary numbers are written together.
        let (mut code, mut bits) = (0, 0);
        for &sample in samples {
            let zeros = sample >> k;
            if zeros >= BitWriter::MOST - bits {
                self.writer.write(code, bits);
                (code, bits) = (0, 0);
                if zeros >= BitWriter::MOST {
                    self.writer.write_unary(zeros.into());
                    continue;
                }
            }
            code = code << (zeros + 1) | 1;
            bits += zeros + 1;
        }
        self.writer.write(code, bits);
        self.low_bits(samples, k);
    }

    /// Writes the low `k` bits of samples.
    fn low_bits(&mut self, samples: &[u32], k: u32) {
        if k == 0 {
            return;
        }
        let mask = (1_u64 << k) - 1;
        for group in samples.chunks((BitWriter::MOST / k) as usize) {
            let code = group.iter().fold(0, |code, &sample| code << k | u64::from(sample) & mask);
            #[expect(clippy::cast_possible_truncation, reason = "at most 56 bits")]
            self.writer.write(code, k * group.len() as u32);
        }
    }

    /// Finds the number of low bits with which the split code is shortest, and returns the length of the
    /// code.
    ///
    /// The length has one minimum. The search starts with the last number and goes up, then down. It ends
    /// where one bit more or less cannot pay, since a sample's unary part has fewer ones than it would lose.
    fn best_split(&mut self, block: &[u32], samples: u64) -> u64 {
        let largest = (1 << self.coding.id_bits()) - 3;
        let start = self.split;
        // At most 32 samples of 24 bits.
        let unary = |k: u32| u64::from(block.iter().map(|&sample| sample >> k).sum::<u32>());
        let len = |k: u32, unary: u64| unary + samples * u64::from(k + 1);
        let first = unary(start);
        let (mut best, mut best_k) = (len(start, first), start);
        let (mut k, mut rest) = (start, first);
        while rest >= samples && k < largest {
            k += 1;
            rest = unary(k);
            if len(k, rest) >= best {
                break;
            }
            (best, best_k) = (len(k, rest), k);
        }
        if best_k == start {
            let (mut k, mut rest) = (start, 0);
            while k > 0 && rest < samples {
                k -= 1;
                rest = unary(k);
                if len(k, rest) >= best {
                    break;
                }
                (best, best_k) = (len(k, rest), k);
            }
        }
        self.split = best_k;
        best
    }
}

/// Returns the length of a block under the second extension, or `None` if it is more than `most`. `all` has
/// the bits of all samples.
fn second_extension_len(block: &[u32], all: u32, most: u64) -> Option<u64> {
    // The pair of a sample from 64 on is longer than any block that is not coded: 32 samples of 24 bits.
    if all >= 64 {
        return None;
    }
    let len = |&[one, other]: &[u32; 2]| {
        let sum = one + other;
        sum * (sum + 1) / 2 + other + 1
    };
    let len = 1 + u64::from(block.as_chunks().0.iter().map(len).sum::<u32>());
    Some(len).filter(|&len| len <= most)
}

/// Appends the differences of neighbours, as numbers that are small if the differences are (CCSDS 121.0-B,
/// section 5.2). The first one is 0.
fn map(samples: &[u32], largest: u32, mapped: &mut Vec<u32>) {
    mapped.push(0);
    let next = samples.get(1..).unwrap_or_default();
    mapped.extend(samples.iter().zip(next).map(|(&last, &sample)| {
        let nearer = last.min(largest - last);
        let distance = last.abs_diff(sample);
        if distance > nearer {
            // All differences of this sign are so far.
            distance + nearer
        } else {
            2 * distance - u32::from(sample < last)
        }
    }));
}
