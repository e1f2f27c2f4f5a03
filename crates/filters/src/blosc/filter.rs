//! Blosc as a filter of HDF5.

use super::Blosc;
use super::block::Buffers;
use super::codec::Compressor;
use super::encode::{Encoder, Shuffle};
use super::frame::Summary;
use super::nd::Grid;
use crate::error::{FilterError, Result};
use crate::filter::{Encoded, Filter, FilterId, Scratch};

/// The largest element that the format knows; larger ones are bytes to it.
const MAX_TYPE_SIZE: usize = 255;
/// Elements that repeat are only looked for up to this size.
const MAX_REPEATED: usize = 255;
/// The longest chunk of the format, with room for its header.
const MAX_CHUNK: usize = i32::MAX as usize - 1024;

impl Filter for Blosc {
    fn id(&self) -> FilterId {
        self.id
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> Result<usize> {
        self.decode_into(src, dst, scratch)
    }

    fn encode(&self, src: &[u8], dst: &mut Vec<u8>, scratch: &mut Scratch) -> Result<Encoded> {
        if src.is_empty() || src.len() > MAX_CHUNK {
            return Ok(Encoded::Skipped);
        }
        let encoder = self.encoder()?;
        if self.id == FilterId::BLOSC2 {
            self.frame(&encoder, src, dst, &mut scratch.blosc);
            return Ok(Encoded::Stored);
        }
        let start = dst.len();
        encoder.chunk(src, encoder.block_size(src.len()), dst, &mut scratch.blosc);
        if dst.len() - start >= src.len() {
            dst.truncate(start);
            return Ok(Encoded::Skipped);
        }
        Ok(Encoded::Stored)
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        // A frame's header and trailer, and padding: no dimension more than doubles in blocks of other writers.
        crate::filter::expansion_bound(decoded)
    }

    fn as_blosc(&self) -> Option<&Blosc> {
        Some(self)
    }
}

impl Blosc {
    /// What the dataset's parameters ask for.
    fn encoder(&self) -> Result<Encoder> {
        let filter = self.name();
        let parameters = &self.parameters;
        let wrong = |parameter, value: u32, expected| FilterError::Parameter {
            filter,
            parameter,
            value: u64::from(value),
            expected,
        };
        Ok(Encoder {
            extended: self.id == FilterId::BLOSC2,
            type_size: if parameters.type_size > MAX_TYPE_SIZE { 1 } else { parameters.type_size },
            level: u8::try_from(parameters.level).ok().filter(|&level| level <= 9).ok_or(wrong(
                "level",
                parameters.level,
                "0 to 9",
            ))?,
            shuffle: match parameters.shuffle {
                0 => Shuffle::None,
                1 => Shuffle::Bytes,
                2 => Shuffle::Bits,
                other => return Err(wrong("shuffle", other, "0, 1 or 2")),
            },
            compressor: Compressor::of(parameters.codec).ok_or(wrong(
                "codec",
                parameters.codec,
                "0, 1, 2, 4 or 5",
            ))?,
        })
    }

    /// Appends a frame with one chunk.
    fn frame(&self, encoder: &Encoder, src: &[u8], dst: &mut Vec<u8>, buffers: &mut Buffers) {
        let parameters = &self.parameters;
        let item_size = parameters.type_size;
        let wanted = match parameters.block_size {
            0 => encoder.block_size(src.len()),
            given => encoder.whole_elements(given.max(encoder.type_size).min(src.len())),
        };
        let items = parameters.shape.iter().try_fold(item_size, |n, &extent| n.checked_mul(extent));
        // c-blosc2 does not read arrays of elements that are larger than it knows.
        let grid = (parameters.shape.len() > 1 && items == Some(src.len()) && item_size <= MAX_TYPE_SIZE)
            .then(|| Grid::choose(&parameters.shape, wanted / item_size))
            .flatten();
        let constant = repeated(src, encoder.type_size.min(MAX_REPEATED));
        let Some(grid) = grid else {
            let summary = Summary { encoder, decoded: src.len(), block_size: wanted, array: None };
            return body(&summary, src, constant, dst, buffers);
        };
        let mut cut = buffers.take_rows();
        grid.cut(src, item_size, &mut cut);
        let block_size = grid.block_items() * item_size;
        let summary = Summary { encoder, decoded: cut.len(), block_size, array: Some((&grid, item_size)) };
        body(&summary, &cut, constant, dst, buffers);
        buffers.give_rows(cut);
    }
}

/// Appends the frame of a chunk of `data`, which may be one element again and again.
fn body(
    summary: &Summary<'_>,
    data: &[u8],
    constant: Option<&[u8]>,
    dst: &mut Vec<u8>,
    buffers: &mut Buffers,
) {
    summary.write(dst, |out| {
        match constant {
            Some(value) if value.iter().all(|&byte| byte == 0) => return false,
            Some(value) => summary.encoder.constant(value, data.len(), summary.block_size, out),
            None => summary.encoder.chunk(data, summary.block_size, out, buffers),
        }
        true
    });
}

/// The first element, if all are the same.
fn repeated(data: &[u8], size: usize) -> Option<&[u8]> {
    let (first, rest) = data.split_at_checked(size)?;
    (!first.is_empty() && data.len().is_multiple_of(size) && *rest == data[..rest.len()]).then_some(first)
}
