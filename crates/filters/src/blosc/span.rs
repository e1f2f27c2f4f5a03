//! The byte ranges of a stored chunk that a selection needs.

use std::ops::Range;

use super::block::stored_end;
use super::chunk::{Chunk, EXTENDED_HEADER, HEADER};
use super::frame::{FIXED_HEADER, Frame};
use super::nd::Grid;
use super::{Blosc, item_size};
use crate::error::{FilterError, Result};
use crate::filter::FilterId;
use crate::gather::Gather;
use crate::walk::Walk;

/// A selection that needs more blocks than this reads the whole chunk, because finding the end of each block
/// takes a pass over all block offsets.
const MOST_BLOCKS: usize = 16;
/// A chunk of at most this many bytes is read whole.
const SMALL_CHUNK: usize = 16 << 10;

/// The parts of a stored chunk that a selection needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spans {
    /// This many bytes from the start of the chunk must be read before the ranges are known.
    More(usize),
    /// The whole chunk.
    Whole,
    /// The given prefix, and the ranges that were appended to the list. The ranges are ascending and
    /// separate.
    Parts,
}

impl Blosc {
    /// Returns the bytes that [`Blosc::scatter_into`] uses for a selection, in a chunk stored in `stored_len`
    /// bytes that begins with `prefix`. Appends to `ranges` if these are only a part of the chunk.
    pub fn spans(
        &self,
        prefix: &[u8],
        stored_len: usize,
        gather: &Gather<'_>,
        ranges: &mut Vec<Range<usize>>,
    ) -> Result<Spans> {
        if stored_len <= SMALL_CHUNK || prefix.len() >= stored_len {
            return Ok(Spans::Whole);
        }
        let filter = self.name();
        let (at, grid, only) = if self.id == FilterId::BLOSC {
            (0, None, None)
        } else {
            if prefix.len() < FIXED_HEADER {
                return Ok(Spans::More(FIXED_HEADER + 4 * EXTENDED_HEADER));
            }
            let header = Frame::header_len(prefix, filter)?;
            if prefix.len() < header {
                return Ok(Spans::More(header + 4 * EXTENDED_HEADER));
            }
            let frame = Frame::parse(prefix, stored_len, filter)?;
            (header, frame.grid, Some(frame))
        };
        let Some(rest) = prefix.get(at..).filter(|rest| rest.len() >= HEADER) else {
            return Ok(Spans::More(at + 4 * EXTENDED_HEADER));
        };
        if rest.len() < EXTENDED_HEADER {
            return Ok(Spans::More(at + 4 * EXTENDED_HEADER));
        }
        let Ok(mut chunk) = Chunk::header(rest, filter) else { return Ok(Spans::Whole) };
        let extent = chunk.extent()?;
        if only.is_some_and(|frame| !frame.is_only(extent.stored)) || extent.stored > stored_len - at {
            return Ok(Spans::Whole);
        }
        if chunk.special.is_some() || chunk.filters.iter().any(|&(id, _)| id == 3) {
            return Ok(Spans::Whole);
        }
        if rest.len() < extent.prefix {
            return Ok(if extent.prefix > extent.stored / 2 {
                Spans::Whole
            } else {
                Spans::More(at + extent.prefix)
            });
        }
        // `rest` holds everything before the streams. The ends of blocks are derived from the block offsets
        // only.
        chunk.bytes = rest;
        let before = ranges.len();
        let result = self.parts(&chunk, extent.stored, grid.as_ref(), gather, at, ranges);
        if !matches!(result, Ok(true)) {
            ranges.truncate(before);
        }
        Ok(if result? { Spans::Parts } else { Spans::Whole })
    }

    /// Appends the ranges after the block offsets that the selection needs, of the chunk at `at`. Returns
    /// `false` if reading parts does not pay.
    fn parts(
        &self,
        chunk: &Chunk<'_>,
        stored: usize,
        grid: Option<&Grid>,
        gather: &Gather<'_>,
        at: usize,
        ranges: &mut Vec<Range<usize>>,
    ) -> Result<bool> {
        let before = ranges.len();
        let mut add = |range: Range<usize>| ranges.push(at + range.start..at + range.end);
        if let Some(grid) = grid {
            let item_size = item_size(grid, chunk.block_size, chunk.decoded, chunk.filter)?;
            if item_size != gather.element_size
                || grid.shape() != gather.chunk_shape
                || !is_sparse_grid(chunk, grid, gather)
            {
                return Ok(false);
            }
            grid.visit(gather, |index, _| {
                add(stored_block(chunk, stored, index)?);
                Ok(())
            })?;
        } else {
            if chunk.decoded != self.chunk_bytes {
                return Err(self.length(self.chunk_bytes, Some(chunk.decoded)));
            }
            let Some(walk) = Walk::of(gather) else { return Ok(true) };
            if !is_sparse(chunk, &walk) {
                return Ok(false);
            }
            let mut runs = walk.runs();
            while let Some(position) = runs.position() {
                let index = position / chunk.block_size;
                let end = index * chunk.block_size + chunk.block_len(index);
                add(stored_block(chunk, stored, index)?);
                while runs.before(end).is_some() {}
            }
        }
        ranges[before..].sort_unstable_by_key(|range| range.start);
        let mut kept = before;
        for index in before + 1..ranges.len() {
            if ranges[index].start <= ranges[kept].end {
                ranges[kept].end = ranges[kept].end.max(ranges[index].end);
            } else {
                kept += 1;
                ranges[kept] = ranges[index].clone();
            }
        }
        ranges.truncate((kept + 1).min(ranges.len()));
        Ok(true)
    }
}

/// Returns the stored range of block `index` in the chunk. `chunk.bytes` need not extend beyond the block
/// offsets.
fn stored_block(chunk: &Chunk<'_>, stored: usize, index: usize) -> Result<Range<usize>> {
    let damaged = || FilterError::damaged(chunk.filter, "a block is outside the chunk");
    if chunk.is_memcpyed() {
        let start = chunk.header + index * chunk.block_size;
        return Ok(start..start + chunk.block_len(index));
    }
    let start = chunk.block_start(index)?;
    let end = stored_end(chunk, start, stored)?;
    if start < chunk.header || start > end {
        return Err(damaged());
    }
    Ok(start..end)
}

/// Returns whether a selection of a plain chunk needs so few blocks that only these are read.
pub(super) fn is_sparse(chunk: &Chunk<'_>, walk: &Walk) -> bool {
    let first = walk.source_start() / chunk.block_size;
    let touched = (walk.source_end() - 1) / chunk.block_size + 1 - first;
    touched <= MOST_BLOCKS && touched * 2 <= chunk.blocks()
}

/// Returns whether a selection of a chunk of n-dimensional blocks needs so few blocks that only these are
/// read.
pub(super) fn is_sparse_grid(chunk: &Chunk<'_>, grid: &Grid, gather: &Gather<'_>) -> bool {
    let touched = grid.touched(gather);
    touched <= MOST_BLOCKS && touched * 2 <= chunk.blocks()
}
