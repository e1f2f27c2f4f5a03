//! Writes to one dataset: plans them, and spreads their tasks over threads.
//!
//! A chunk that is written whole is encoded and written at once, into new space: nothing that was committed is touched. A
//! chunk that is written in part is held decoded until it is [flushed](Write::flush). Data without filters are written in
//! place, as in every HDF5 library.

pub(in crate::engine) mod input;
pub(in crate::engine) mod reshape;

use std::num::NonZeroUsize;

use hyperslab_filters::{FilterMask, repeated};
use hyperslab_format::Extent;
use hyperslab_format::datatype::Datatype;
use parking_lot::Mutex;
use smallvec::SmallVec;

use super::array::{ChunkedStorage, Storage, StoredArray};
use super::chunks::cache::{ChunkCache, ChunkKey};
use super::chunks::dirty::HeldChunk;
use super::chunks::stored::load;
use super::fill::{Fill, fill_outside};
use super::plan::pieces::{Pieces, ReadTask, Source};
use super::read::workers;
use super::scratch::{self, WorkerScratch, sized};
use super::share;
use crate::error::{Error, RequestError, Result};
use crate::index::ChunkRecord;
use crate::select::{Coord, Part, Selection, Slab, Tiling, first_element, inside, is_cut};
use crate::store::{SpaceKind, Store};
use crate::types::Conversion;
use input::{Input, pitches};

/// How to write.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// How many threads, the caller's included; the process's setting if not said.
    pub threads: Option<NonZeroUsize>,
    /// The datatype of the elements given; the stored one if not said.
    pub datatype: Option<Datatype>,
    /// The elements are given chunk after chunk, as the grid has them row by row, and those of each chunk row by row: chunks need not
    /// be put together. For boxes of neighbouring elements alone.
    pub by_chunks: bool,
}

/// What writes to one dataset need.
#[derive(Debug, Clone, Copy)]
pub struct Write<'a> {
    /// The file.
    pub store: &'a Store,
    /// Chunks of the file in memory.
    pub cache: &'a ChunkCache,
    /// The dataset.
    pub array: &'a StoredArray,
    /// Whether chunks that hold nothing but the fill value are left out; where they [may](StoredArray::may_skip_fill) be.
    pub skips_fill: bool,
}

/// A chunk that was written to a new place, or has none any more, which the index does not know yet.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The chunk, counted in chunks along each dimension.
    pub coord: Coord,
    /// Where it is; `None` if it holds nothing but the fill value and is not stored.
    pub record: Option<ChunkRecord>,
}

/// One write, prepared.
struct Run<'a> {
    write: Write<'a>,
    input: Input<'a>,
    tiling: &'a Tiling,
    pieces: &'a Pieces<'a>,
    /// Decoded bytes of a piece.
    piece_bytes: usize,
    placed: Mutex<Vec<Placed>>,
}

impl Write<'_> {
    /// Writes `bytes`, the elements of `what` row by row, and returns the chunks that the index must be told of. If it fails,
    /// elements may be old or new, each.
    pub fn run(&self, what: &Selection, bytes: &[u8], options: &WriteOptions) -> Result<Vec<Placed>> {
        let conversion = self.conversion(options)?;
        let memory_size = conversion.as_ref().map_or(self.array.element_size, Conversion::src_size);
        let conversion = conversion.filter(|conversion| !conversion.is_identity());
        let pieces = Pieces::of(self.array);
        let tiling = self.tiling(&pieces, what, bytes, memory_size, options.by_chunks)?;
        let input = self.input(&pieces, bytes, conversion.as_ref(), memory_size);
        let run = Run {
            write: *self,
            input,
            tiling: &tiling,
            pieces: &pieces,
            piece_bytes: self.piece_bytes(&pieces)?,
            placed: Mutex::default(),
        };
        let mut next = 0;
        while next < tiling.len() {
            let end = tiling.len().min(next + BATCH_TASKS);
            let tasks = {
                let _reading = self.store.reading();
                pieces.tasks(self.store, self.cache, &tiling, next..end)?
            };
            let done = run.execute(&tasks, options.threads);
            if let Err(error) = done {
                self.abandon(run.placed.into_inner());
                return Err(error);
            }
            next = end;
        }
        Ok(run.placed.into_inner())
    }

    /// Whether every chunk that `what` touches is written whole: then nothing is read before, and writers need not wait for
    /// each other.
    pub fn is_whole(&self, what: &Selection) -> Result<bool> {
        let Storage::Chunked(chunked) = &self.array.storage else { return Ok(false) };
        if self.skips_fill && !self.gives_new_space() {
            // One would write in place while another takes the chunk out.
            return Ok(false);
        }
        let tiling = what.tiling(&self.array.shape, &chunked.chunk_shape)?;
        Ok(tiling.touched().all(|coord| covers(&tiling, &coord, &self.used(&coord, &chunked.chunk_shape))))
    }

    /// Whether chunks that are written whole get new space, whatever they had.
    pub fn gives_new_space(&self) -> bool {
        matches!(&self.array.storage, Storage::Chunked(chunked) if !chunked.pipeline.is_empty() && !chunked.unfiltered_edges)
    }

    /// Encodes the chunks that are held, and writes them; they stay held until [`forget`](Self::forget).
    pub fn flush(&self, threads: Option<NonZeroUsize>) -> Result<Vec<Placed>> {
        let held = self.cache.dirty.of(self.array.header);
        let Storage::Chunked(chunked) = &self.array.storage else { return Ok(Vec::new()) };
        let pieces = Pieces::of(self.array);
        let piece_bytes = self.piece_bytes(&pieces)?;
        let records = {
            let _reading = self.store.reading();
            let mut cursor = chunked.index.cursor(self.store);
            held.iter().map(|(coord, _)| cursor.lookup(coord)).collect::<Result<Vec<_>>>()?
        };
        let placed = Mutex::new(Vec::new());
        let tasks: Vec<(&(Coord, HeldChunk), Option<ChunkRecord>)> = held.iter().zip(records).collect();
        let workers = workers(self.store, tasks.len(), piece_bytes as u64, threads);
        let done = share::run(&tasks, workers, 1, &|tasks, scratch| {
            tasks.iter().try_for_each(|((coord, held), record)| {
                let chunk = held.read();
                placed.lock().extend(self.store_chunk(chunked, coord, &chunk, *record, scratch)?);
                Ok(())
            })
        });
        if let Err(error) = done {
            self.abandon(placed.into_inner());
            return Err(error);
        }
        Ok(placed.into_inner())
    }

    /// Copies `bytes`, the elements of `what`, to their places in `data`, all elements of the array.
    pub fn place_in(
        &self,
        what: &Selection,
        bytes: &[u8],
        options: &WriteOptions,
        data: &mut [u8],
    ) -> Result<()> {
        let conversion = self.conversion(options)?;
        let memory_size = conversion.as_ref().map_or(self.array.element_size, Conversion::src_size);
        let conversion = conversion.filter(|conversion| !conversion.is_identity());
        let pieces = Pieces::of(self.array);
        let tiling = self.tiling(&pieces, what, bytes, memory_size, options.by_chunks)?;
        let input = self.input(&pieces, bytes, conversion.as_ref(), memory_size);
        let mut result = Ok(());
        scratch::with(|scratch| {
            for coord in tiling.touched() {
                tiling.parts(&coord, |part| {
                    if result.is_ok() {
                        result = input.place(&part, data, &mut scratch.convert);
                    }
                });
            }
        });
        result
    }

    /// Writes to a part of one chunk that is held already, if that is what `what` is: the next row, say, of many that are
    /// appended one by one. It needs no plan and no look into the index.
    pub fn patch(&self, what: &Selection, bytes: &[u8], options: &WriteOptions) -> Result<bool> {
        // A part of one chunk is the same in both orders.
        let Some((coord, within)) = self.held_part(what)? else { return Ok(false) };
        let Some(held) = self.cache.dirty.get(self.array.header, &coord) else { return Ok(false) };
        let conversion = self.conversion(options)?;
        let memory_size = conversion.as_ref().map_or(self.array.element_size, Conversion::src_size);
        let conversion = conversion.filter(|conversion| !conversion.is_identity());
        let shape = what.shape(&self.array.shape);
        let mut pitch = memory_size as u64;
        let mut strides = Coord::from_elem(0, shape.len());
        for (stride, &count) in strides.iter_mut().zip(&shape).rev() {
            *stride = pitch;
            pitch = pitch.saturating_mul(count);
        }
        if pitch != bytes.len() as u64 {
            return Err(RequestError::SourceSize { expected: pitch, found: bytes.len() as u64 }.into());
        }
        let input = self.input(&Pieces::of(self.array), bytes, conversion.as_ref(), memory_size);
        let part = Part { within: within.0, dst: 0, dst_strides: strides };
        scratch::with(|scratch| input.place(&part, &mut held.write(), &mut scratch.convert))?;
        Ok(true)
    }

    /// The chunk that is held and the part of it, if `what` is a part of one.
    pub fn held_part(&self, what: &Selection) -> Result<Option<(Coord, Slab)>> {
        let Storage::Chunked(chunked) = &self.array.storage else { return Ok(None) };
        if self.cache.dirty.bytes() == 0 {
            return Ok(None);
        }
        let Some((coord, within)) = what.in_one_chunk(&self.array.shape, &chunked.chunk_shape)? else {
            return Ok(None);
        };
        let used = self.used(&coord, &chunked.chunk_shape);
        // A chunk that is written whole goes into the file.
        let is_whole = within.0.iter().zip(&used).all(|(dim, &len)| dim.count == len);
        let is_held = !is_whole && self.cache.dirty.get(self.array.header, &coord).is_some();
        Ok(is_held.then_some((coord, within)))
    }

    /// Stores a chunk that is filtered already.
    pub fn place_stored(&self, coord: &Coord, mask: FilterMask, bytes: &[u8]) -> Result<Placed> {
        let extent = self.store.allocate(SpaceKind::Raw, bytes.len() as u64)?;
        let record = ChunkRecord { extent, mask };
        self.cache.forget(&ChunkKey { dataset: self.array.header, record });
        match self.store.write_data(extent.addr, bytes) {
            Ok(()) => Ok(Placed { coord: coord.clone(), record: Some(record) }),
            Err(error) => {
                self.store.release(extent);
                Err(error)
            }
        }
    }

    /// The chunks that are held.
    pub fn held(&self) -> Vec<Coord> {
        self.cache.dirty.of(self.array.header).into_iter().map(|(coord, _)| coord).collect()
    }

    fn input<'i>(
        &self,
        pieces: &Pieces<'_>,
        bytes: &'i [u8],
        conversion: Option<&'i Conversion>,
        memory_size: usize,
    ) -> Input<'i> {
        let piece = pieces.shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
        Input { bytes, conversion, stored_size: self.array.element_size, memory_size, piece }
    }

    /// Forgets what is held of chunks that are in the file now.
    pub fn forget(&self, coords: impl IntoIterator<Item = Coord>) {
        coords.into_iter().for_each(|coord| self.cache.dirty.forget(self.array.header, &coord));
    }

    /// Gives back the space of chunks that no index will know.
    pub fn abandon(&self, placed: Vec<Placed>) {
        for record in placed.into_iter().filter_map(|placed| placed.record) {
            self.store.release(record.extent);
        }
    }

    fn conversion(&self, options: &WriteOptions) -> Result<Option<Conversion>> {
        let Some(given) = &options.datatype else { return Ok(None) };
        Ok(Some(Conversion::with_widths(given, &self.array.datatype, self.store.widths())?))
    }

    fn tiling(
        &self,
        pieces: &Pieces<'_>,
        what: &Selection,
        bytes: &[u8],
        memory_size: usize,
        by_chunks: bool,
    ) -> Result<Tiling> {
        let tiling = what.tiling(&self.array.shape, &pieces.shape)?;
        let expected = what.count(&self.array.shape)?.saturating_mul(memory_size as u64);
        if expected != bytes.len() as u64 {
            return Err(RequestError::SourceSize { expected, found: bytes.len() as u64 }.into());
        }
        if by_chunks {
            let why = "elements in the order of chunks are a box of neighbours in chunked data";
            let is_chunked = matches!(self.array.storage, Storage::Chunked(_));
            let tiling = if is_chunked { tiling.by_chunks(memory_size as u64) } else { None };
            return Ok(tiling.ok_or_else(|| RequestError::Argument { what: "selection".to_owned(), why })?);
        }
        let strides = tiling.strides().iter().map(|stride| stride * memory_size as u64).collect();
        Ok(tiling.with_strides(strides))
    }

    pub(super) fn piece_bytes(&self, pieces: &Pieces<'_>) -> Result<usize> {
        let bytes = usize::try_from(pieces.elements()).ok();
        let bytes = bytes.and_then(|elements| elements.checked_mul(self.array.element_size));
        bytes.ok_or_else(|| Error::unsupported("a chunk larger than the address space", "IV.A.2.i"))
    }

    /// What of a chunk lies inside the array.
    fn used(&self, coord: &[u64], chunk_shape: &[u64]) -> Coord {
        inside(coord, chunk_shape, &self.array.shape)
    }

    /// Encodes a chunk and writes it to new space, or in place where it has no filters and its place is known. One that is left
    /// out is not written, and the index has to forget it where its place is known.
    pub(super) fn store_chunk(
        &self,
        chunked: &ChunkedStorage,
        coord: &Coord,
        chunk: &[u8],
        known: Option<ChunkRecord>,
        scratch: &mut WorkerScratch,
    ) -> Result<Option<Placed>> {
        // What lies beyond the shape counts as well: it comes to light when the dataset grows.
        if self.skips_fill && holds(chunk, &self.array.fill) {
            return Ok(known.map(|_| Placed { coord: coord.clone(), record: None }));
        }
        let is_raw = chunked.pipeline.is_empty()
            || (chunked.unfiltered_edges && is_cut(coord, &chunked.chunk_shape, &self.array.shape));
        let (stored, mask) = if is_raw {
            (chunk, FilterMask::NONE_SKIPPED)
        } else {
            let encoded = chunked.pipeline.encode(chunk, &mut scratch.filters);
            encoded.map_err(|source| Error::Encode {
                source,
                coord: first_element(coord, &chunked.chunk_shape).into_vec(),
            })?
        };
        if let Some(record) = known.filter(|record| is_raw && record.extent.len == stored.len() as u64) {
            self.store.write_data(record.extent.addr, stored)?;
            return Ok(None);
        }
        let extent = self.store.allocate(SpaceKind::Raw, stored.len() as u64)?;
        let record = ChunkRecord { extent, mask };
        // What was known of a chunk that had this place before.
        self.cache.forget(&ChunkKey { dataset: self.array.header, record });
        match self.store.reserve(extent).and_then(|()| self.store.write_data(extent.addr, stored)) {
            Ok(()) => Ok(Some(Placed { coord: coord.clone(), record: Some(record) })),
            Err(error) => {
                self.store.release(extent);
                Err(error)
            }
        }
    }

    /// The chunk of a task to be changed, as a reader would find it; it is held from then on.
    pub(super) fn hold(
        &self,
        task: &ReadTask,
        piece_bytes: usize,
        scratch: &mut WorkerScratch,
    ) -> Result<HeldChunk> {
        self.cache.dirty.get_or_load(self.array.header, &task.coord, || {
            let mut chunk = vec![0; piece_bytes];
            load(self.store, self.array, &task.coord, task.source, &mut chunk, scratch)?;
            Ok(chunk)
        })
    }
}

impl Run<'_> {
    fn execute(&self, tasks: &[ReadTask], threads: Option<NonZeroUsize>) -> Result<()> {
        // File systems let one write at a time into a file, so several threads that do nothing else wait for each other.
        let workers = if tasks.first().is_some_and(|task| self.is_moved(task)) {
            1
        } else {
            workers(self.write.store, tasks.len(), self.piece_bytes as u64, threads)
        };
        share::run(tasks, workers, self.piece_bytes, &|tasks, scratch| {
            tasks.iter().try_for_each(|task| self.task(task, scratch))
        })
    }

    /// Whether the bytes of a piece go into the file as the caller has them.
    fn is_moved(&self, task: &ReadTask) -> bool {
        if let Storage::Chunked(chunked) = &self.write.array.storage
            && !chunked.pipeline.is_empty()
        {
            return false;
        }
        let mut is_moved = false;
        self.tiling.parts(&task.coord, |part| is_moved = self.input.whole(&part).is_some());
        is_moved
    }

    fn task(&self, task: &ReadTask, scratch: &mut WorkerScratch) -> Result<()> {
        match &self.write.array.storage {
            Storage::Chunked(chunked) => self.chunk(chunked, task, scratch),
            Storage::Contiguous(_) => match task.source {
                Source::Raw(extent) => self.in_place(task, extent, scratch),
                _ => Err(Error::unsupported("writing to data without a place", "IV.A.2.i")),
            },
            Storage::Compact(_) => Err(Error::unsupported("writing to a header", "IV.A.2.i")),
        }
    }

    fn chunk(&self, chunked: &ChunkedStorage, task: &ReadTask, scratch: &mut WorkerScratch) -> Result<()> {
        let used = self.write.used(&task.coord, &chunked.chunk_shape);
        if !covers(self.tiling, &task.coord, &used) {
            let held = self.write.hold(task, self.piece_bytes, scratch)?;
            return self.place(&task.coord, &mut held.write(), scratch);
        }
        let known = match task.source {
            Source::Raw(extent) => Some(ChunkRecord { extent, mask: FilterMask::NONE_SKIPPED }),
            Source::Chunk(record) => Some(record),
            Source::Fill | Source::Compact => None,
        };
        let mut part = None;
        self.tiling.parts(&task.coord, |found| part = Some(found));
        let dense = part.as_ref().and_then(|part| self.input.whole(part));
        let placed = if let Some(bytes) = dense {
            self.write.store_chunk(chunked, &task.coord, bytes, known, scratch)?
        } else {
            let mut buffer = std::mem::take(&mut scratch.chunk);
            let placed = self.gathered(chunked, task, &used, known, &mut buffer, scratch);
            scratch.chunk = buffer;
            placed?
        };
        self.write.cache.dirty.forget(self.write.array.header, &task.coord);
        self.placed.lock().extend(placed);
        Ok(())
    }

    /// Puts a whole chunk together, what lies outside the array included, and stores it.
    fn gathered(
        &self,
        chunked: &ChunkedStorage,
        task: &ReadTask,
        used: &Coord,
        known: Option<ChunkRecord>,
        buffer: &mut Vec<u8>,
        scratch: &mut WorkerScratch,
    ) -> Result<Option<Placed>> {
        let chunk = sized(buffer, self.piece_bytes)?;
        fill_outside(chunk, &chunked.chunk_shape, used, &self.write.array.fill);
        self.place(&task.coord, chunk, scratch)?;
        self.write.store_chunk(chunked, &task.coord, chunk, known, scratch)
    }

    /// Copies the caller's elements of one piece to their places in it.
    fn place(&self, coord: &Coord, piece: &mut [u8], scratch: &mut WorkerScratch) -> Result<()> {
        let mut result = Ok(());
        self.tiling.parts(coord, |part| {
            if result.is_ok() {
                result = self.input.place(&part, piece, &mut scratch.convert);
            }
        });
        result
    }

    /// Writes to contiguous data: a piece at once where it is written whole or nearly so, else run by run.
    fn in_place(&self, task: &ReadTask, extent: Extent, scratch: &mut WorkerScratch) -> Result<()> {
        let size = self.write.array.element_size;
        let used = self.write.used(&task.coord, &self.pieces.shape);
        let mut parts: SmallVec<[Part; 1]> = SmallVec::new();
        self.tiling.parts(&task.coord, |part| parts.push(part));
        if let [part] = parts.as_slice()
            && let Some(bytes) = self.input.whole(part)
        {
            return self.write.store.write_data(extent.addr, bytes);
        }
        let len = usize::try_from(extent.len).unwrap_or(usize::MAX).min(self.piece_bytes);
        let mut buffer = std::mem::take(&mut scratch.chunk);
        let piece = sized(&mut buffer, self.piece_bytes)?;
        let result = if covers(self.tiling, &task.coord, &used) {
            self.place(&task.coord, piece, scratch)
                .and_then(|()| self.write.store.write_data(extent.addr, &piece[..len]))
        } else {
            self.place(&task.coord, piece, scratch).and_then(|()| {
                let pitches = pitches(&self.input.piece, size);
                parts.iter().try_for_each(|part| {
                    runs(part, &self.input.piece, &pitches, size, &mut |at, run| {
                        let from = extent.addr.checked_add(at as u64).unwrap_or(extent.addr);
                        self.write.store.write_data(from, &piece[at..at + run])
                    })
                })
            })
        };
        scratch.chunk = buffer;
        result
    }
}

/// Calls `f` with the first byte and the length of every run of a part of a dense piece.
fn runs(
    part: &Part,
    piece: &[usize],
    pitches: &[usize],
    size: usize,
    f: &mut dyn FnMut(usize, usize) -> Result<()>,
) -> Result<()> {
    let (mut run, mut outer) = (size, part.within.len());
    while outer > 0 {
        let dim = part.within[outer - 1];
        let count = usize::try_from(dim.count).unwrap_or(usize::MAX);
        if count != 1 && (dim.step != 1 || run != pitches[outer - 1]) {
            break;
        }
        if count != 1 {
            run *= count;
        } else if piece[outer - 1] != 1 {
            // One of several: nothing before it joins on.
            outer -= 1;
            break;
        }
        outer -= 1;
    }
    let start: usize = part
        .within
        .iter()
        .zip(pitches)
        .map(|(dim, pitch)| usize::try_from(dim.start).unwrap_or(usize::MAX) * pitch)
        .sum();
    each_run(&part.within[..outer], pitches, start, &mut |at| f(at, run))
}

fn each_run(
    dims: &[crate::select::Dim],
    pitches: &[usize],
    at: usize,
    f: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<()> {
    let (Some((dim, inner)), Some((&pitch, pitches))) = (dims.split_first(), pitches.split_first()) else {
        return f(at);
    };
    (0..dim.count).try_for_each(|i| {
        let step = usize::try_from(i * dim.step).unwrap_or(usize::MAX);
        each_run(inner, pitches, at + step * pitch, f)
    })
}

/// Whether one part of the chunk at `coord` is all of what the array has of it.
fn covers(tiling: &Tiling, coord: &Coord, used: &[u64]) -> bool {
    let mut covered = false;
    tiling.parts(coord, |part| covered |= part.covers(used));
    covered
}

/// Whether all elements of a piece are what those are that were never written, bit by bit.
fn holds(piece: &[u8], fill: &Fill) -> bool {
    let value: &[u8] = match fill {
        Fill::Zeros => &[0],
        Fill::Value(value) => value,
    };
    piece.starts_with(value) && repeated(piece, value.len()).is_some()
}

/// Tasks planned at a time: a plan never holds more, however long the write.
const BATCH_TASKS: u64 = 65_536;
