//! Runs one task of a read. Its route is decided here and nowhere else.

use std::sync::{Arc, OnceLock};

use hyperslab_filters::blosc::{Blosc, Spans};
use hyperslab_filters::gather::{Gather, Target};
use hyperslab_format::{Addr, Extent};

use super::Reading;
use super::emit::Emit;
use crate::engine::array::{ChunkedStorage, Storage};
use crate::engine::chunks::cache::ChunkKey;
use crate::engine::chunks::stored::StoredChunk;
use crate::engine::dst::Region;
use crate::engine::fetch::{batch, ranges};
use crate::engine::plan::pieces::{ReadTask, Source};
use crate::engine::plan::place::{Users, Wanted, each_place};
use crate::engine::scratch::{WorkerScratch, sized};
use crate::error::{Error, Result};
use crate::index::ChunkRecord;
use crate::select::{Coord, inside};

/// One read, prepared.
pub(in crate::engine) struct Run<'a> {
    pub(in crate::engine) reading: Reading<'a>,
    pub(in crate::engine) emit: Emit<'a>,
    /// Made when the first chunk is met that was never written.
    pub(in crate::engine) fill: OnceLock<Vec<u8>>,
    /// Decoded bytes of a piece.
    pub(in crate::engine) piece_bytes: usize,
    pub(in crate::engine) chunked: Option<&'a ChunkedStorage>,
}

/// A smaller chunk is read whole: a run of it costs as much.
const THIN_FROM_BYTES: u64 = 4 << 10;

/// A filtered chunk and who wants what of it.
#[derive(Clone, Copy)]
struct FilteredChunk<'a> {
    chunk: StoredChunk<'a>,
    users: Users<'a>,
    /// Its stored bytes, if they were read with those of others.
    stored: Option<&'a [u8]>,
}

impl Run<'_> {
    /// Runs one task; `stored` are the chunk's stored bytes if they were read with those of others.
    pub(in crate::engine) fn task(
        &self,
        task: &ReadTask,
        stored: Option<&[u8]>,
        users: Users<'_>,
        scratch: &mut WorkerScratch,
    ) -> Result<()> {
        if let Some(held) = &task.held {
            return self.scatter(&held.read(), users, &task.coord, scratch);
        }
        match (task.source, self.chunked) {
            (Source::Fill, _) => {
                let fill = self.fill()?;
                each_place(users, &task.coord, |axes, offset, region| {
                    self.emit.fill(fill, axes, offset, region);
                    Ok(())
                })
            }
            (Source::Compact, _) => {
                let Storage::Compact(data) = &self.reading.array.storage else { return Ok(()) };
                self.scatter(data, users, &task.coord, scratch)
            }
            (Source::Raw(extent), _) => match stored {
                Some(bytes) => self.scatter(bytes, users, &task.coord, scratch),
                None => each_place(users, &task.coord, |axes, offset, region| {
                    let WorkerScratch { stored, convert, .. } = &mut *scratch;
                    ranges::read(
                        self.reading.store,
                        extent,
                        &self.emit,
                        axes,
                        offset,
                        region,
                        stored,
                        convert,
                    )
                }),
            },
            (Source::Chunk(record), Some(chunked)) => {
                let chunk = StoredChunk { record, chunked, coord: &task.coord };
                self.chunk(FilteredChunk { chunk, users, stored }, scratch).map_err(|error| match error {
                    ChunkError::Filter(source) => chunk.error(source),
                    ChunkError::Other(error) => error,
                })
            }
            (Source::Chunk(_), None) => Ok(()),
        }
    }

    /// Whether an unfiltered chunk is read whole, with its neighbours: a small one is, unless little of it is wanted, in one run.
    pub(in crate::engine) fn reads_whole(&self, task: &ReadTask, extent: Extent, users: Users<'_>) -> bool {
        if self.chunked.is_none() || !batch::is_small(extent) {
            return false;
        }
        if extent.len < THIN_FROM_BYTES {
            return true;
        }
        let hints = self.reading.store.driver().hints();
        let (mut runs, mut bytes) = (0, 0);
        // Looking at the places cannot fail.
        let _: Result<()> = each_place(users, &task.coord, |axes, _, _| {
            let (count, len) = ranges::runs(&self.emit, axes, hints);
            runs += count;
            bytes += (count * len) as u64;
            Ok(())
        });
        runs != 1 || bytes * 4 > extent.len
    }

    fn scatter(
        &self,
        source: &[u8],
        users: Users<'_>,
        coord: &[u64],
        scratch: &mut WorkerScratch,
    ) -> Result<()> {
        each_place(users, coord, |axes, offset, region| {
            self.emit.scatter(source, &self.emit.piece, axes, offset, region, &mut scratch.convert)
        })
    }

    fn fill(&self) -> Result<&[u8]> {
        if let Some(fill) = self.fill.get() {
            return Ok(fill);
        }
        let fill = self.emit.fill_element(&self.reading.array.fill)?;
        Ok(self.fill.get_or_init(|| fill))
    }

    /// A filtered chunk, by the shortest route.
    fn chunk(&self, filtered: FilteredChunk<'_>, scratch: &mut WorkerScratch) -> Result<(), ChunkError> {
        let FilteredChunk { chunk, users, stored } = filtered;
        let StoredChunk { record, chunked, coord } = chunk;
        if let Some(whole) = self.reading.cache.get(&self.key(record)) {
            return Ok(self.scatter(&whole, users, coord, scratch)?);
        }
        let Some(user) = users.only() else { return Ok(self.decoded(filtered, scratch)?) };
        let wanted = Wanted::of(user, coord, &self.emit);
        let blosc = chunked.pipeline.as_blosc(record.mask).filter(|_| self.emit.is_identity());
        match (wanted, blosc) {
            (Wanted::Dense { offset }, _) if self.emit.is_identity() => {
                let mut region = user.dst.region();
                let dst = region.run(offset, self.piece_bytes);
                let stored = self.stored(chunk, stored, &mut scratch.stored)?;
                let (pipeline, filters) = (&chunked.pipeline, &mut scratch.filters);
                let decoded = if user.dst.is_beyond_caches() {
                    pipeline.decode_past_cache(record.mask, stored, dst, filters)
                } else {
                    pipeline.decode_into(record.mask, stored, dst, filters)
                };
                Ok(decoded?)
            }
            (Wanted::Box { axes, offset, elements }, Some(blosc))
                if !self.keeps(record, elements * self.emit.stored_size) =>
            {
                let gather = self.emit.gather(&axes, offset);
                self.blosc(record, blosc, stored, &gather, &mut user.dst.region(), scratch)
            }
            (Wanted::Box { axes, offset, .. }, None)
                if self.emit.is_identity() && !self.is_kept(users, coord) =>
            {
                let gather = self.emit.gather(&axes, offset);
                let stored = self.stored(chunk, stored, &mut scratch.stored)?;
                let room = sized(&mut scratch.chunk, self.piece_bytes)?;
                let (mut region, filters) = (user.dst.region(), &mut scratch.filters);
                let pipeline = &chunked.pipeline;
                Ok(pipeline.scatter_into(record.mask, stored, room, &gather, &mut region, filters)?)
            }
            _ => Ok(self.decoded(filtered, scratch)?),
        }
    }

    /// Decodes a whole chunk, for several uses or for later.
    fn decoded(&self, filtered: FilteredChunk<'_>, scratch: &mut WorkerScratch) -> Result<()> {
        let FilteredChunk { chunk, users, stored } = filtered;
        let is_kept = self.is_kept(users, chunk.coord);
        // What is kept needs memory of its own, and is decoded straight into it.
        let mut buffer = if is_kept { Vec::new() } else { std::mem::take(&mut scratch.chunk) };
        let whole = sized(&mut buffer, self.piece_bytes)?;
        let bytes = self.stored(chunk, stored, &mut scratch.stored)?;
        chunk.decode(bytes, whole, &mut scratch.filters)?;
        self.scatter(whole, users, chunk.coord, scratch)?;
        if is_kept {
            self.reading.cache.insert(self.key(chunk.record), Arc::new(buffer));
        } else {
            scratch.chunk = buffer;
        }
        Ok(())
    }

    /// Decodes the blocks of a Blosc chunk that a selection touches, reading little more than those.
    fn blosc(
        &self,
        record: ChunkRecord,
        blosc: &Blosc,
        stored: Option<&[u8]>,
        gather: &Gather<'_>,
        region: &mut Region<'_>,
        scratch: &mut WorkerScratch,
    ) -> Result<(), ChunkError> {
        let wanted_bytes = gather.axes.iter().map(|axis| axis.count).product::<usize>() * gather.element_size;
        if let Some(stored) = stored {
            return Ok(blosc.scatter_into(stored, gather, region, &mut scratch.filters)?);
        }
        let len = self.reading.store.check(record.extent, ranges::RAW_DATA)?;
        let bytes = sized(&mut scratch.stored, len)?;
        let first = self.blosc_read_first(record.extent.len, wanted_bytes);
        let mut known = usize::try_from(first).unwrap_or(len);
        self.read_part(record.extent.addr, bytes, 0..known)?;
        scratch.ranges.clear();
        while known < len {
            match blosc.spans(&bytes[..known], len, gather, &mut scratch.ranges)? {
                Spans::More(longer) => {
                    let longer = longer.clamp(known + 1, len);
                    self.read_part(record.extent.addr, bytes, known..longer)?;
                    known = longer;
                }
                Spans::Whole => {
                    self.read_part(record.extent.addr, bytes, known..len)?;
                    known = len;
                }
                Spans::Parts => {
                    self.announce(record.extent.addr, &scratch.ranges);
                    for range in &scratch.ranges {
                        self.read_part(record.extent.addr, bytes, range.start.max(known)..range.end)?;
                    }
                    break;
                }
            }
        }
        Ok(blosc.scatter_into(bytes, gather, region, &mut scratch.filters)?)
    }

    /// How many of the `len` bytes of a stored Blosc chunk are read before it is known where its blocks are.
    pub(in crate::engine) fn blosc_read_first(&self, len: u64, wanted_bytes: usize) -> u64 {
        let wants_most = wanted_bytes * 4 > self.piece_bytes;
        if wants_most { len } else { len.min(BLOSC_PREFIX_BYTES) }
    }

    /// Tells a slow medium of several parts at once, before the first is waited for.
    fn announce(&self, at: Addr, ranges: &[std::ops::Range<usize>]) {
        let store = self.reading.store;
        let extents = ranges
            .iter()
            .map(|range| Extent::new(Addr::new(at.get() + range.start as u64), range.len() as u64));
        // The first may lie beside what was read already.
        let last = extents.clone().next_back();
        if ranges.len() > 1 && last.is_some_and(|extent| !store.is_at_hand(extent.addr)) {
            for extent in extents {
                store.prefetch(extent);
            }
        }
    }

    fn read_part(&self, at: Addr, bytes: &mut [u8], range: std::ops::Range<usize>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let from = Addr::new(at.get() + range.start as u64);
        self.reading.store.read_raw(from, &mut bytes[range])
    }

    /// The stored bytes of a chunk: those read already, or read now.
    fn stored<'b>(
        &self,
        chunk: StoredChunk<'_>,
        stored: Option<&'b [u8]>,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8]> {
        stored.map_or_else(|| chunk.read(self.reading.store, buffer), Ok)
    }

    /// What a decoded chunk is kept under.
    pub(in crate::engine) fn key(&self, record: ChunkRecord) -> ChunkKey {
        ChunkKey { dataset: self.reading.array.header, record }
    }

    /// Whether to decode the whole chunk and keep it, although a part would do: small parts of it are read again and
    /// again.
    fn keeps(&self, record: ChunkRecord, wanted_bytes: usize) -> bool {
        let is_small = wanted_bytes.saturating_mul(SMALL_PARTS) <= self.piece_bytes;
        is_small && self.reading.cache.admits(self.piece_bytes) && self.reading.cache.touch(self.key(record))
    }

    /// Whether a chunk, once decoded, is kept: others may come for the rest of it.
    fn is_kept(&self, users: Users<'_>, coord: &[u64]) -> bool {
        users.only().is_some() && self.reading.cache.admits(self.piece_bytes) && !self.covers(users, coord)
    }

    /// Whether one user takes every element that the array has of the chunk: then nobody comes back for it.
    fn covers(&self, users: Users<'_>, coord: &[u64]) -> bool {
        let piece: Coord = self.emit.piece.iter().map(|&len| len as u64).collect();
        let used = inside(coord, &piece, &self.reading.array.shape);
        users.iter().any(|user| {
            let mut covered = false;
            user.parts(coord, |part| covered |= part.covers(&used));
            covered
        })
    }
}

/// Why a chunk failed: its contents, or something around them.
enum ChunkError {
    Filter(hyperslab_filters::FilterError),
    Other(Error),
}

impl From<hyperslab_filters::FilterError> for ChunkError {
    fn from(error: hyperslab_filters::FilterError) -> Self {
        Self::Filter(error)
    }
}

impl From<Error> for ChunkError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// A read of less than one part in so many of a chunk is small: one that may come again next door.
const SMALL_PARTS: usize = 64;
/// The header of a frame and the offsets of many blocks.
const BLOSC_PREFIX_BYTES: u64 = 4 << 10;
