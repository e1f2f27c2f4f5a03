//! Turns a selection into tasks, one for each chunk that it touches. Reads no data.

use std::ops::Range;

use hyperslab_error::Result;
use hyperslab_filters::{FilterError, FilterMask};
use hyperslab_format::{Addr, Extent};
use hyperslab_select::{Coord, Tiling, first_element};
use hyperslab_store::Store;
use hyperslab_store::index::ChunkRecord;

use crate::engine::array::{ChunkedStorage, Storage, StoredArray};
use crate::engine::chunks::cache::ChunkCache;
use crate::engine::chunks::dirty::HeldChunk;
use crate::engine::chunks::stored::StoredChunk;
use crate::engine::raw_data::address_in;
use crate::engine::task_queue::worked;

/// The read of one chunk.
#[derive(Debug, Clone)]
pub struct ReadTask {
    /// The chunk's position in the grid of chunks.
    pub coord: Coord,
    /// Where its elements come from.
    pub source: Source,
    /// The selections that touch the chunk, as a range of the plan's `users`.
    pub(in crate::engine) users: Range<usize>,
    /// The chunk itself, if it has changes that are not in the file yet.
    pub(in crate::engine) held: Option<HeldChunk>,
}

impl ReadTask {
    /// Returns the extent of the chunk's stored bytes, if it has any.
    pub(in crate::engine) fn extent(&self) -> Option<Extent> {
        self.source.record().map(|record| record.extent)
    }

    /// Returns the chunk's stored bytes, given the `bytes` of the extent `whole` that contains them.
    pub(in crate::engine) fn stored_in<'b>(&self, whole: Extent, bytes: &'b [u8]) -> &'b [u8] {
        let range = self.extent().and_then(|extent| {
            let start = usize::try_from(extent.addr.get().checked_sub(whole.addr.get())?).ok()?;
            Some(start..start + usize::try_from(extent.len).ok()?)
        });
        range.and_then(|range| bytes.get(range)).unwrap_or_default()
    }
}

/// Where the elements of a chunk come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Nowhere: the chunk was never written.
    Fill,
    /// From the object header.
    Compact,
    /// From unfiltered bytes of the file.
    Raw(Extent),
    /// From a filtered chunk.
    Chunk(ChunkRecord),
}

impl Source {
    /// Returns the record that the index has of the chunk, if it is stored.
    pub(in crate::engine) fn record(self) -> Option<ChunkRecord> {
        match self {
            Self::Fill | Self::Compact => None,
            Self::Raw(extent) => Some(ChunkRecord { extent, mask: FilterMask::NONE_SKIPPED }),
            Self::Chunk(record) => Some(record),
        }
    }
}

/// The division of an array into pieces: the chunks of the file, or runs of rows of contiguous data.
#[derive(Debug)]
pub(in crate::engine) struct Pieces<'a> {
    array: &'a StoredArray,
    /// The number of elements of a piece along each dimension.
    pub(in crate::engine) shape: Coord,
    kind: PieceKind<'a>,
}

#[derive(Debug)]
enum PieceKind<'a> {
    Compact,
    Unwritten,
    Rows(Extent),
    Chunks(&'a ChunkedStorage),
}

impl<'a> Pieces<'a> {
    pub(in crate::engine) fn of(array: &'a StoredArray) -> Self {
        Self::of_size(array, PIECE_BYTES)
    }

    /// Returns the pieces for a read that converts elements. Pieces of contiguous data are small enough to
    /// stay in the cache between the read and the conversion.
    pub(in crate::engine) fn converted(array: &'a StoredArray) -> Self {
        Self::of_size(array, CONVERTED_BYTES)
    }

    fn of_size(array: &'a StoredArray, row_bytes: u64) -> Self {
        let whole = || array.shape.iter().map(|&len| len.max(1)).collect();
        let (shape, kind) = match &array.storage {
            Storage::Compact(_) => (whole(), PieceKind::Compact),
            Storage::Contiguous(None) => (rows(array, row_bytes), PieceKind::Unwritten),
            Storage::Contiguous(Some(extent)) => (rows(array, row_bytes), PieceKind::Rows(*extent)),
            Storage::Elsewhere(_) => {
                (rows(array, row_bytes), PieceKind::Rows(Extent::new(Addr::new(0), array.len_bytes())))
            }
            Storage::Chunked(chunked) => {
                (Coord::from_slice(chunked.codec.shape()), PieceKind::Chunks(chunked))
            }
        };
        Self { array, shape, kind }
    }

    /// Returns the number of elements of one piece. Opening the array checked that the piece's size in bytes
    /// fits a `usize`.
    pub(in crate::engine) fn elements(&self) -> u64 {
        self.shape.iter().fold(1, |total: u64, &len| total.saturating_mul(len))
    }

    /// Returns the task for one piece.
    pub(in crate::engine) fn task(
        &self,
        store: &Store,
        cache: &ChunkCache,
        coord: Coord,
    ) -> Result<ReadTask> {
        let source = self.finder(store).source(&coord)?;
        let held = cache.dirty.get(self.array.header, &coord);
        Ok(ReadTask { coord, source, users: 0..1, held })
    }

    /// Returns the tasks for those chunks that `tiling` touches whose number is in `range`, in file order.
    pub(in crate::engine) fn tasks(
        &self,
        store: &Store,
        cache: &ChunkCache,
        tiling: &Tiling,
        range: Range<u64>,
    ) -> Result<Vec<ReadTask>> {
        let mut tasks = Vec::with_capacity(usize::try_from(range.end - range.start).unwrap_or(0));
        let mut finder = self.finder(store);
        for coord in tiling.touched_in(range) {
            let source = finder.source(&coord)?;
            let held = cache.dirty.get(self.array.header, &coord);
            tasks.push(ReadTask { coord, source, users: 0..1, held });
        }
        sort(&mut tasks);
        Ok(tasks)
    }

    /// Returns whether any of the chunks that `tiling` touches is stored, or kept in memory.
    pub(in crate::engine) fn has_any(
        &self,
        store: &Store,
        cache: &ChunkCache,
        tiling: &Tiling,
    ) -> Result<bool> {
        let mut finder = self.finder(store);
        for coord in tiling.touched() {
            if finder.source(&coord)? != Source::Fill || cache.dirty.get(self.array.header, &coord).is_some()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the tasks for several selections: one task for each chunk that any of them touches.
    pub(in crate::engine) fn shared_tasks(
        &self,
        store: &Store,
        cache: &ChunkCache,
        tilings: &[&Tiling],
    ) -> Result<(Vec<ReadTask>, Vec<usize>)> {
        let mut touches: Vec<(Coord, usize)> = Vec::new();
        for (user, tiling) in tilings.iter().enumerate() {
            touches.extend(tiling.touched().map(|coord| (coord, user)));
        }
        touches.sort_unstable();
        let mut finder = self.finder(store);
        let mut tasks: Vec<ReadTask> = Vec::new();
        for (number, (coord, _)) in touches.iter().enumerate() {
            match tasks.last_mut() {
                Some(task) if task.coord == *coord => task.users.end = number + 1,
                _ => {
                    worked("read", 0)?;
                    let source = finder.source(coord)?;
                    let held = cache.dirty.get(self.array.header, coord);
                    tasks.push(ReadTask { coord: coord.clone(), source, users: number..number + 1, held });
                }
            }
        }
        sort(&mut tasks);
        Ok((tasks, touches.into_iter().map(|(_, user)| user).collect()))
    }

    /// Returns the source of the elements of a stored chunk. The filter mask and the chunk's position at an
    /// edge decide whether the chunk is filtered.
    pub(in crate::engine) fn source(&self, stored: StoredChunk<'_>) -> Result<Source> {
        let StoredChunk { coord, record, chunked } = stored;
        if !chunked.is_raw(coord, record.mask, &self.array.shape) {
            return Ok(Source::Chunk(record));
        }
        // An unfiltered chunk must have exactly the size of a chunk.
        let (expected, found) =
            (self.elements().saturating_mul(self.array.elements.size as u64), record.extent.len);
        if found != expected {
            return Err(stored.error(FilterError::Length { filter: "unfiltered", expected, found }));
        }
        Ok(Source::Raw(record.extent))
    }

    fn finder<'s>(&'s self, store: &'s Store) -> Finder<'s> {
        let cursor = match &self.kind {
            PieceKind::Chunks(chunked) => Some((*chunked, chunked.index.cursor(store))),
            _ => None,
        };
        Finder { pieces: self, cursor }
    }
}

/// Finds the sources of many pieces, and remembers its place in the index from one to the next.
struct Finder<'s> {
    pieces: &'s Pieces<'s>,
    cursor: Option<(&'s ChunkedStorage, hyperslab_store::index::Cursor<'s>)>,
}

impl Finder<'_> {
    fn source(&mut self, coord: &Coord) -> Result<Source> {
        let pieces = self.pieces;
        Ok(match (&pieces.kind, &mut self.cursor) {
            (PieceKind::Compact, _) => Source::Compact,
            (PieceKind::Rows(extent), _) => {
                Source::Raw(row_extent(pieces.array, &pieces.shape, *extent, coord)?)
            }
            (PieceKind::Chunks(_), Some((chunked, cursor))) => match cursor.lookup(coord)? {
                None => Source::Fill,
                Some(record) => pieces.source(StoredChunk { coord, record, chunked })?,
            },
            (PieceKind::Unwritten | PieceKind::Chunks(_), _) => Source::Fill,
        })
    }
}

/// Sorts tasks by file offset so that disks read forward. Tasks without file data come first.
fn sort(tasks: &mut [ReadTask]) {
    let key = |task: &ReadTask| task.extent().map_or(0, |extent| extent.addr.get());
    if !tasks.is_sorted_by_key(key) {
        tasks.sort_by_cached_key(key);
    }
}

/// Returns the shape of a piece of contiguous data: whole rows of the inner dimensions, of about `bytes`
/// bytes, so that a piece is one run of the file.
fn rows(array: &StoredArray, bytes: u64) -> Coord {
    let mut shape: Coord = array.shape.iter().map(|&len| len.max(1)).collect();
    let mut inner = array.elements.size as u64;
    for axis in (0..shape.len()).rev() {
        let fit = (bytes / inner.max(1)).clamp(1, shape[axis]);
        if fit < shape[axis] {
            shape[axis] = fit;
            shape[..axis].fill(1);
            break;
        }
        inner = inner.saturating_mul(shape[axis]);
    }
    shape
}

/// Returns the extent of the piece at `coord` of contiguous data. It is a whole piece long or ends with the
/// data.
fn row_extent(array: &StoredArray, piece: &[u64], whole: Extent, coord: &[u64]) -> Result<Extent> {
    let element = first_element(coord, piece)
        .iter()
        .zip(&array.shape)
        .fold(0_u64, |offset, (&at, &len)| offset * len.max(1) + at);
    let size = array.elements.size as u64;
    let offset = element * size;
    let len = (piece.iter().product::<u64>() * size).min(whole.len.saturating_sub(offset));
    Ok(Extent::new(address_in(whole, offset)?, len))
}

/// Large enough that a call costs nothing compared with the copy; small enough that two threads share the
/// work evenly.
const PIECE_BYTES: u64 = 4 << 20;
/// Small enough that a piece and its converted elements fit a second-level cache.
const CONVERTED_BYTES: u64 = 128 << 10;
