//! Blosc as an HDF5 filter.

use super::blocks::Blocks;
use super::chunk::{NAN32, NAN64, Special};
use super::encode::{Encoder, Encoding};
use super::frame::{FRAME_EXTRA, FrameStorage, Summary};
use super::nd::Grid;
use super::note::MAX_NOTE;
use super::{Blosc, Parameters};
use crate::choice::{BloscCodec, BloscFilter};
use crate::error::{FilterError, Result};
use crate::filter::{Encoded, Filter, FilterId, Scratch};
use crate::repeated::repeated;

/// The largest element that the format can describe, in bytes. Larger elements are treated as bytes.
const MAX_TYPE_SIZE: usize = 255;
/// The largest element for which repetition is detected, in bytes.
const MAX_REPEATED: usize = 255;
/// The longest chunk that the format allows, less room for the header, in bytes.
const MAX_CHUNK: usize = i32::MAX as usize - 1024;

impl Filter for Blosc {
    fn id(&self) -> FilterId {
        self.id
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        self.decode_into(src, dst, scratch)
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<Encoded> {
        // A note is for one chunk, whatever becomes of the chunk.
        let note = scratch.note.take();
        if src.is_empty() || src.len() > MAX_CHUNK {
            return Ok(Encoded::Skipped);
        }
        let encoder = self.encoder()?;
        let buffers = &mut scratch.blosc.encoding;
        if self.id == FilterId::BLOSC2 {
            // With less precision, the chunk no longer is what the note describes.
            let is_exact = encoder.forward != BloscFilter::Truncate;
            let note = note.as_deref().filter(|note| is_exact && note.len() <= MAX_NOTE);
            return Ok(self.frame(&encoder, src, note, dst, buffers).into());
        }
        let blocks = Blocks { bytes: src, block_size: encoder.block_size(src.len()), grid: None };
        let shorter = (src.len() - 1).min(dst.len());
        Ok(encoder.shorter(&blocks, &mut dst[..shorter], buffers).into())
    }

    fn encode_bound(&self, len: usize) -> usize {
        // The bound includes a frame's header and trailer, and padding.
        let padded = self.encoder().ok().and_then(|encoder| self.grid(&encoder, len)).map_or(len, |grid| {
            grid.count().saturating_mul(grid.block_items()).saturating_mul(self.parameters.type_size)
        });
        padded.saturating_add(FRAME_EXTRA)
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        // The bound includes a frame's header and trailer, and padding. Blocks of other writers at most
        // double a dimension.
        crate::filter::expansion_bound(decoded)
    }

    fn as_blosc(&self) -> Option<&Blosc> {
        Some(self)
    }
}

impl Blosc {
    /// Returns the encoder that the dataset's parameters describe, or an error if they are not valid.
    fn encoder(&self) -> Result<Encoder> {
        let filter = self.name();
        let parameters = &self.parameters;
        let wrong = |parameter, value: u32, expected| FilterError::Parameter {
            filter,
            parameter,
            value: u64::from(value),
            expected,
        };
        let extended = self.id == FilterId::BLOSC2;
        let type_size = if parameters.type_size > MAX_TYPE_SIZE { 1 } else { parameters.type_size };
        let (most, expected) = if extended { (4, "0 to 4") } else { (2, "0, 1 or 2") };
        let forward = BloscFilter::of(parameters.shuffle).filter(|_| parameters.shuffle <= most);
        let forward = forward.ok_or(wrong("shuffle", parameters.shuffle, expected))?;
        forward.check(type_size)?;
        let level = u8::try_from(parameters.level).ok().filter(|&level| level <= 9);
        let level = level.ok_or(wrong("level", parameters.level, "0 to 9"))?;
        let compressor = BloscCodec::of(parameters.codec);
        let compressor = compressor.ok_or(wrong("codec", parameters.codec, "0, 1, 2, 4 or 5"))?;
        if level > 0 {
            compressor.check(filter)?;
        }
        Ok(Encoder { extended, type_size, level, forward, compressor })
    }

    /// Returns the block size for a chunk of `len` bytes without n-dimensional blocks.
    fn block_size(&self, encoder: &Encoder, len: usize) -> usize {
        match self.parameters.block_size {
            0 => encoder.block_size(len),
            given => encoder.whole_elements(given.max(encoder.type_size).min(len)),
        }
    }

    /// Returns the n-dimensional blocks of a chunk of `len` bytes, if its length matches the shape in the
    /// parameters.
    fn grid(&self, encoder: &Encoder, len: usize) -> Option<Grid> {
        let Parameters { type_size: item_size, ref shape, .. } = self.parameters;
        let items = shape.iter().try_fold(item_size, |n, &extent| n.checked_mul(extent));
        // c-blosc2 does not read arrays whose elements are larger than the format can describe.
        (shape.len() > 1 && items == Some(len) && item_size <= MAX_TYPE_SIZE)
            .then(|| Grid::choose(shape, self.block_size(encoder, len) / item_size))
            .flatten()
            // With padding, the chunk must stay within the length that the format allows.
            .filter(|grid| grid.count().saturating_mul(grid.block_items() * item_size) <= MAX_CHUNK)
    }

    /// Writes a frame with one chunk.
    fn frame(
        &self,
        encoder: &Encoder,
        src: &[u8],
        note: Option<&[u8]>,
        dst: &mut [u8],
        buffers: &mut Encoding,
    ) -> Option<usize> {
        let grid = self.grid(encoder, src.len());
        let item_size = self.parameters.type_size;
        let blocks = match &grid {
            None => Blocks { bytes: src, block_size: self.block_size(encoder, src.len()), grid: None },
            Some(grid) => {
                let block_size = grid.block_items() * item_size;
                Blocks { bytes: src, block_size, grid: Some((grid, item_size)) }
            }
        };
        let (decoded, block_size) = (blocks.len(), blocks.block_size);
        let summary = Summary { encoder, decoded, block_size, array: blocks.grid, note };
        summary.write(dst, |out| match repeated(src, encoder.type_size.min(MAX_REPEATED)) {
            Some(value) if value.iter().all(|&byte| byte == 0) => Some(FrameStorage::Special(Special::Zero)),
            Some(value) if *value == NAN32 || *value == NAN64 => Some(FrameStorage::Special(Special::NaN)),
            Some(value) => encoder.constant(value, decoded, block_size, out).map(FrameStorage::Chunk),
            None => encoder.chunk(&blocks, out, buffers).map(FrameStorage::Chunk),
        })
    }
}
