//! The ranges of a stored Blosc chunk that a read needs. They lie next to each other in memory until the last
//! one has arrived, because many chunks are in progress at a time, and most need a small part of their bytes.

use std::io;
use std::ops::Range;

use hyperslab_error::{Error, Result};
use smallvec::SmallVec;

use crate::engine::in_flight::{Claim, Share};
use crate::engine::scratch::{WorkerScratch, sized};

/// Ranges of a stored chunk, and their bytes.
pub(super) struct BloscRanges {
    pub(super) list: SmallVec<[BufferedRange; 2]>,
    bytes: Vec<u8>,
    /// Whether every range has its place in a buffer for the whole chunk.
    is_spread: bool,
}

/// A range, and the place of its first byte in the buffer.
pub(super) struct BufferedRange {
    range: Range<usize>,
    at: usize,
}

impl BloscRanges {
    /// Creates the parts of a chunk of `len` bytes, the first of which is its first `front` bytes. If the
    /// chunk is the only one of the read, nothing is gained by moving the parts together.
    pub(super) fn new(front: usize, len: usize, is_alone: bool) -> Self {
        let list = smallvec::smallvec![BufferedRange { range: 0..front, at: 0 }];
        Self { list, bytes: Vec::new(), is_spread: is_alone || front >= len }
    }

    /// Returns what to claim before the first part of `front` bytes is read; the chunk has `len` bytes.
    pub(super) fn due(&self, front: usize, len: u64) -> Claim {
        if self.is_spread { (Share::Rest, len) } else { (Share::First, front as u64) }
    }

    /// Adds ranges. Returns their bytes.
    pub(super) fn add(&mut self, ranges: impl Iterator<Item = Range<usize>>) -> usize {
        let before = self.end();
        let mut end = before;
        for range in ranges {
            let at = if self.is_spread { range.start } else { end };
            end += range.len();
            self.list.push(BufferedRange { range, at });
        }
        end - before
    }

    pub(super) fn range(&self, number: u64) -> Range<usize> {
        self.part(number).map(|part| part.range.clone()).unwrap_or_default()
    }

    fn part(&self, number: u64) -> Option<&BufferedRange> {
        usize::try_from(number).ok().and_then(|number| self.list.get(number))
    }

    /// Returns the end of the last part in the buffer.
    fn end(&self) -> usize {
        self.list.last().map_or(0, |last| last.at + last.range.len())
    }

    /// Returns the memory for part `number` of a chunk of `len` bytes.
    pub(super) fn place(
        &mut self,
        number: u64,
        len: usize,
        scratch: &mut WorkerScratch,
    ) -> io::Result<&mut [u8]> {
        let end = if self.is_spread { len } else { self.end() };
        if self.is_spread && self.bytes.capacity() == 0 {
            self.bytes = scratch.take();
            sized(&mut self.bytes, len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        }
        if self.bytes.len() < end {
            let more = end - self.bytes.len();
            self.bytes.try_reserve_exact(more).map_err(|_| io::ErrorKind::OutOfMemory)?;
            self.bytes.resize(end, 0);
        }
        let place = self.part(number).map(|part| part.at..part.at + part.range.len()).unwrap_or_default();
        Ok(&mut self.bytes[place])
    }

    /// Returns the first `len` bytes of the chunk, which have arrived.
    pub(super) fn front(&self, len: usize) -> Result<&[u8]> {
        self.bytes.get(..len).ok_or_else(|| undelivered(len))
    }

    /// Returns a buffer that begins with the chunk of `len` bytes; what was not read is unspecified.
    pub(super) fn assemble(&mut self, len: usize, scratch: &mut WorkerScratch) -> Result<Vec<u8>> {
        if self.bytes.len() < self.end() {
            return Err(undelivered(len));
        }
        let bytes = std::mem::take(&mut self.bytes);
        if bytes.len() >= len && self.list.iter().all(|part| part.at == part.range.start) {
            return Ok(bytes);
        }
        let mut whole = scratch.take();
        let chunk = sized(&mut whole, len)?;
        for BufferedRange { range, at } in &self.list {
            chunk[range.clone()].copy_from_slice(&bytes[*at..*at + range.len()]);
        }
        Ok(whole)
    }
}

fn undelivered(len: usize) -> Error {
    Error::io("read", 0, len as u64)(io::Error::other("the driver delivered no bytes"))
}
