//! szip, filter 4: the extended Rice coder of CCSDS 121.0-B, as libaec's interface for szip applies it.
//!
//! A chunk starts with its length (4 bytes, little-endian). A stream of bits follows, the most significant
//! bit first. Samples are coded in blocks, and blocks in intervals of one scanline each. With the
//! preprocessor ("nn"), an interval starts with a reference sample, and the other samples are coded as
//! differences.
//!
//! Elements of 32 and 64 bits are coded as bytes: first the first bytes of all elements, then the second
//! ones.

mod decode;
mod encode;

use crate::bits::{BitReader, BitWriter};
use crate::choice::SzipMethod;
use crate::error::{FilterError, Result};
use crate::facts::{ChunkFacts, Order};
use crate::filter::{Encoded, Filter, FilterId, Scratch, buffer, prefix};
use crate::simd::Kernels;

use decode::Decoder;
use encode::Encoder;

/// The filter for one dataset.
#[derive(Debug)]
pub struct Szip {
    coding: Coding,
    /// The bytes of an element that is coded as separate bytes, or 1.
    interleaved: usize,
    /// The samples of a scanline.
    scanline: usize,
    sample: Sample,
    /// The bytes of an element of the dataset.
    element_size: usize,
}

/// How blocks of samples are coded.
#[derive(Debug, Clone, Copy)]
struct Coding {
    /// The bits of a sample, from 1 to 24.
    bits: u32,
    /// Whether samples are coded as differences.
    has_reference: bool,
    /// The samples of a block.
    block: usize,
    /// The blocks of an interval.
    blocks: usize,
}

impl Coding {
    /// Returns the number of bits that name the code of a block.
    fn id_bits(self) -> u32 {
        match self.bits {
            ..=8 => 3,
            9..=16 => 4,
            _ => 5,
        }
    }

    /// Returns the largest sample.
    fn largest(self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }
}

/// The bytes of a sample in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sample {
    Byte,
    Two { is_big_endian: bool },
    Four { is_big_endian: bool },
}

impl Sample {
    fn size(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Two { .. } => 2,
            Self::Four { .. } => 4,
        }
    }
}

/// The bits of the options mask in the client data.
mod option {
    /// The largest parameter of the split-sample codes is allowed.
    pub(super) const ALLOW_K13: u32 = 1;
    /// Entropy coding only.
    pub(super) const ENTROPY: u32 = 4;
    pub(super) const LITTLE_ENDIAN: u32 = 8;
    pub(super) const BIG_ENDIAN: u32 = 16;
    /// The preprocessor, and then entropy coding.
    pub(super) const NEAREST_NEIGHBOR: u32 = 32;
    /// The stream has no header of its own.
    pub(super) const RAW: u32 = 128;
}

impl Szip {
    const NAME: &'static str = "szip";
    /// The largest number of samples of a block.
    const MAX_BLOCK: u32 = 32;
    /// The largest number of blocks of a scanline.
    const MAX_BLOCKS: u32 = 128;
    /// The largest number of blocks of an interval.
    const MAX_INTERVAL: usize = 4096;
    /// The bytes before the stream.
    const PREFIX: usize = 4;

    /// Creates the filter from its client data: the options, the samples of a block, the bits of an element
    /// and the samples of a scanline.
    pub fn new(client_data: &[u32], element_size: usize) -> Result<Self> {
        let wrong = |parameter, value: u32, expected| {
            Err(FilterError::Parameter { filter: Self::NAME, parameter, value: value.into(), expected })
        };
        let &[mask, block, bits, scanline] = client_data else {
            let number = u32::try_from(client_data.len()).unwrap_or(u32::MAX);
            return wrong("number of values", number, "4");
        };
        if !block.is_multiple_of(2) || block == 0 || block > Self::MAX_BLOCK {
            return wrong("pixels per block", block, "an even number up to 32");
        }
        if scanline == 0 {
            return wrong("pixels per scanline", scanline, "1 or more");
        }
        let is_big_endian = mask & option::BIG_ENDIAN != 0;
        let (bits, interleaved) = match bits {
            32 => (8, 4),
            64 => (8, 8),
            1..=24 => (bits, 1),
            _ => return wrong("bits per pixel", bits, "1 to 24, 32 or 64"),
        };
        let sample = match bits {
            ..=8 => Sample::Byte,
            9..=16 => Sample::Two { is_big_endian },
            _ => Sample::Four { is_big_endian },
        };
        let coding = Coding {
            bits,
            has_reference: mask & option::NEAREST_NEIGHBOR != 0,
            block: block as usize,
            blocks: scanline.div_ceil(block) as usize,
        };
        Ok(Self { coding, interleaved, scanline: scanline as usize, sample, element_size })
    }

    /// Returns the client data for chunks of a dataset.
    pub(crate) fn client_data(method: SzipMethod, block: u32, chunk: &ChunkFacts<'_>) -> Result<Vec<u32>> {
        let wrong = |parameter, value: u64, expected| {
            Err(FilterError::Parameter { filter: Self::NAME, parameter, value, expected })
        };
        let size = chunk.element.size();
        if !(1..=4).contains(&size) && size != 8 {
            return wrong("element size", size as u64, "1 to 4, or 8");
        }
        let order = chunk.element.number().map(|number| (number, number.order));
        let (number, order) = match order {
            Some((number, Order::Little)) => (number, option::LITTLE_ENDIAN),
            Some((number, Order::Big)) => (number, option::BIG_ENDIAN),
            _ => return wrong("element size", size as u64, "that of numbers in one byte order"),
        };
        let all = u32::try_from(size * 8).unwrap_or(u32::MAX);
        let bits = match number.precision {
            precision if precision < all && number.offset != 0 => all,
            precision => precision,
        };
        let bits = match bits {
            25..=32 => 32,
            33.. => 64,
            bits => bits,
        };
        let method = match method {
            SzipMethod::Entropy => option::ENTROPY,
            SzipMethod::NearestNeighbor => option::NEAREST_NEIGHBOR,
        };
        let mask = option::ALLOW_K13 | option::RAW | method | order;
        let data = vec![mask, block, bits, Self::scanline(block, chunk.shape)?];
        // Whether the block is possible.
        Self::new(&data, size)?;
        Ok(data)
    }

    /// Returns the samples of a scanline of chunks of a shape.
    fn scanline(block: u32, shape: &[usize]) -> Result<u32> {
        let wrong = |value| FilterError::Parameter {
            filter: Self::NAME,
            parameter: "pixels per block",
            value: u64::from(block),
            expected: value,
        };
        let most = block.saturating_mul(Self::MAX_BLOCKS);
        let side = shape.last().copied().unwrap_or(1);
        let samples = if side < block as usize {
            let all = shape.iter().fold(1_usize, |all, &side| all.saturating_mul(side));
            if all < block as usize {
                return Err(wrong("at most the elements of a chunk"));
            }
            all
        } else {
            side
        };
        Ok(u32::try_from(samples).unwrap_or(u32::MAX).min(most))
    }

    /// Returns the client data for chunks of another shape, or `None` if they do not fit the element.
    pub fn refitted(client_data: &[u32], element_size: usize, shape: &[usize]) -> Option<Vec<u32>> {
        let filter = Self::new(client_data, element_size).ok()?;
        let pixel = filter.interleaved.max(filter.sample.size());
        let mut data = client_data.to_vec();
        data[3] = Self::scanline(data[1], shape).ok().filter(|_| pixel == element_size)?;
        Some(data)
    }

    /// Decodes the samples of a chunk into `dst`, whose length is that of the samples.
    fn decode_samples(&self, src: &[u8], dst: &mut [u8], scratch: &mut Vec<u32>) -> Result<()> {
        let size = self.sample.size();
        let lines = dst.chunks_mut(self.scanline.saturating_mul(size));
        let mut decoder = Decoder { coding: self.coding, reader: BitReader::new(src) };
        for line in lines {
            let wanted = line.len().div_ceil(size);
            // Scanlines are padded with samples that are not wanted.
            let blocks = if line.len() == self.scanline * size {
                self.coding.blocks
            } else {
                wanted.div_ceil(self.coding.block)
            };
            let samples = blocks * self.coding.block;
            if scratch.len() < samples {
                scratch.resize(samples, 0);
            }
            let samples = &mut scratch[..samples];
            decoder
                .interval(samples)
                .ok_or_else(|| FilterError::damaged(Self::NAME, "the compressed bytes do not decode"))?;
            self.put(samples, line);
        }
        if decoder.reader.is_past_end() {
            return Err(FilterError::damaged(Self::NAME, "data ends early"));
        }
        Ok(())
    }

    /// Undoes the preprocessor, and writes samples to a scanline.
    #[expect(clippy::cast_possible_truncation, reason = "samples fit their sizes")]
    fn put(&self, samples: &[u32], line: &mut [u8]) {
        let coding = self.coding;
        match self.sample {
            Sample::Byte => {
                decode::restore(coding, samples, line, |to, sample| *to = sample as u8);
            }
            Sample::Two { is_big_endian: false } => {
                let slots = line.as_chunks_mut().0;
                decode::restore(coding, samples, slots, |to, sample| *to = (sample as u16).to_le_bytes());
            }
            Sample::Two { is_big_endian: true } => {
                let slots = line.as_chunks_mut().0;
                decode::restore(coding, samples, slots, |to, sample| *to = (sample as u16).to_be_bytes());
            }
            Sample::Four { is_big_endian: false } => {
                let slots = line.as_chunks_mut().0;
                decode::restore(coding, samples, slots, |to, sample| *to = sample.to_le_bytes());
            }
            Sample::Four { is_big_endian: true } => {
                let slots = line.as_chunks_mut().0;
                decode::restore(coding, samples, slots, |to, sample| *to = sample.to_be_bytes());
            }
        }
    }

    /// Reads the samples of a scanline.
    fn get(&self, line: &[u8], samples: &mut Vec<u32>) {
        samples.clear();
        match self.sample {
            Sample::Byte => samples.extend(line.iter().map(|&byte| u32::from(byte))),
            Sample::Two { is_big_endian: false } => {
                samples.extend(line.as_chunks().0.iter().map(|&two| u32::from(u16::from_le_bytes(two))));
            }
            Sample::Two { is_big_endian: true } => {
                samples.extend(line.as_chunks().0.iter().map(|&two| u32::from(u16::from_be_bytes(two))));
            }
            Sample::Four { is_big_endian: false } => {
                samples.extend(line.as_chunks().0.iter().map(|&four| u32::from_le_bytes(four)));
            }
            Sample::Four { is_big_endian: true } => {
                samples.extend(line.as_chunks().0.iter().map(|&four| u32::from_be_bytes(four)));
            }
        }
    }

    /// Encodes samples into `dst`. Returns `None` if they do not fit, or have bits that are not coded.
    fn encode_samples(&self, src: &[u8], dst: &mut [u8], samples: &mut Vec<u32>) -> Option<usize> {
        let mut encoder = Encoder::new(self.coding, BitWriter::new(dst));
        let whole = self.coding.blocks * self.coding.block;
        for line in src.chunks(self.scanline.saturating_mul(self.sample.size())) {
            self.get(line, samples);
            if samples.iter().fold(0, |all, &sample| all | sample) > self.coding.largest() {
                return None;
            }
            // A scanline is padded to whole blocks, and the last one to a whole scanline before that.
            let padding = if self.coding.has_reference { samples.last().copied().unwrap_or(0) } else { 0 };
            samples.resize(whole, padding);
            encoder.interval(samples)?;
        }
        encoder.writer.finish()
    }
}

impl Filter for Szip {
    fn id(&self) -> FilterId {
        FilterId::SZIP
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        let damaged = |what| FilterError::damaged(Self::NAME, what);
        let (len, src) = src.split_first_chunk().ok_or_else(|| damaged("data ends early"))?;
        let len = u32::from_le_bytes(*len) as usize;
        let dst = prefix(Self::NAME, dst, len)?;
        if !len.is_multiple_of(self.interleaved.max(self.sample.size())) {
            return Err(damaged("the length is not a whole number of elements"));
        }
        let stores = scratch.stores;
        if self.interleaved == 1 {
            self.decode_samples(src, dst, &mut scratch.positions)?;
        } else {
            let mut bytes = std::mem::take(&mut scratch.filter[0]);
            let decoded = self.decode_samples(src, buffer(&mut bytes, len), &mut scratch.positions);
            if decoded.is_ok() {
                Kernels::fastest().unshuffle(self.interleaved, &bytes[..len], dst, stores);
            }
            scratch.filter[0] = bytes;
            decoded?;
        }
        Ok(len)
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<Encoded> {
        let pixel = self.interleaved.max(self.sample.size());
        // libaec refuses longer intervals, and would lose bytes of elements of 3 bytes.
        if self.coding.blocks > Self::MAX_INTERVAL
            || !src.len().is_multiple_of(pixel)
            || !self.element_size.is_multiple_of(pixel)
            || src.is_empty()
        {
            return Ok(Encoded::Skipped);
        }
        let Ok(len) = u32::try_from(src.len()) else { return Ok(Encoded::Skipped) };
        let dst = prefix(Self::NAME, dst, self.encode_bound(src.len()))?;
        let (front, dst) = dst.split_at_mut(Self::PREFIX);
        front.copy_from_slice(&len.to_le_bytes());
        let stored = if self.interleaved == 1 {
            self.encode_samples(src, dst, &mut scratch.positions)
        } else {
            let mut bytes = std::mem::take(&mut scratch.filter[0]);
            let shuffled = buffer(&mut bytes, src.len());
            Kernels::fastest().shuffle(self.interleaved, src, shuffled);
            let stored = self.encode_samples(shuffled, dst, &mut scratch.positions);
            scratch.filter[0] = bytes;
            stored
        };
        Ok(stored.map(|len| len + Self::PREFIX).into())
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        decoded.saturating_add(Self::PREFIX)
    }
}
