//! Runs the tasks of a read. The route of each is decided here and nowhere else.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use hyperslab_filters::blosc::{Blosc, Spans};
use hyperslab_filters::gather::{Axis, Gather, Target};
use hyperslab_format::datatype::Datatype;
use hyperslab_format::{Addr, Extent};
use parking_lot::Mutex;
use smallvec::SmallVec;

use super::array::{ChunkedStorage, Storage, StoredArray};
use super::chunk_cache::ChunkCache;
use super::dst::{Destination, Region};
use super::emit::{Axes, Emit, FillElement};
use super::plan_read::{Pieces, ReadTask, Source};
use super::scratch::{self, WorkerScratch, sized};
use super::{fetch, pool, raw};
use crate::error::{Error, Result};
use crate::index::ChunkRecord;
use crate::select::{Part, Selection, Tiling};
use crate::store::Store;
use crate::types::Conversion;

/// How to read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// How many threads, the caller's included; the process's setting if not said.
    pub threads: Option<NonZeroUsize>,
    /// The datatype wanted; the stored one if not said.
    pub datatype: Option<Datatype>,
}

/// What reads of one dataset need.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// The file.
    pub store: &'a Store,
    /// Decoded chunks of the file.
    pub cache: &'a ChunkCache,
    /// The dataset.
    pub array: &'a StoredArray,
}

impl Reading<'_> {
    /// Reads one selection.
    pub fn read(&self, what: &Selection, dst: &Destination<'_>, options: &ReadOptions) -> Result<()> {
        let (conversion, memory_size) = self.conversion(options)?;
        let pieces = Pieces::of(self.array);
        let tiling = self.tiling(&pieces, what, dst, memory_size)?;
        if tiling.is_empty() {
            return Ok(());
        }
        let run = self.run(&pieces, conversion.as_ref(), memory_size)?;
        let user = User { tiling: &tiling, dst };
        if let (1, Some(coord)) = (tiling.len(), tiling.nth(0)) {
            // The small read: no list of tasks, no threads.
            let task = pieces.task(self.store, coord)?;
            return scratch::with(|scratch| run.task(&task, None, &[0], &[user], scratch));
        }
        let mut next = 0;
        while next < tiling.len() {
            let end = tiling.len().min(next + BATCH_TASKS);
            let tasks = pieces.tasks(self.store, &tiling, next..end)?;
            run.execute(&tasks, &[0], &[user], options.threads)?;
            next = end;
        }
        Ok(())
    }

    /// Reads several selections, each to its own destination; a chunk that several touch is decoded once.
    pub fn read_many(&self, reads: &[(&Selection, &Destination<'_>)], options: &ReadOptions) -> Result<()> {
        let (conversion, memory_size) = self.conversion(options)?;
        let pieces = Pieces::of(self.array);
        let tilings = reads
            .iter()
            .map(|(what, dst)| self.tiling(&pieces, what, dst, memory_size))
            .collect::<Result<Vec<_>>>()?;
        let users: Vec<User<'_>> =
            tilings.iter().zip(reads).map(|(tiling, (_, dst))| User { tiling, dst }).collect();
        let run = self.run(&pieces, conversion.as_ref(), memory_size)?;
        let (tasks, touches) = pieces.shared_tasks(self.store, &tilings.iter().collect::<Vec<_>>())?;
        run.execute(&tasks, &touches, &users, options.threads)
    }

    /// The conversion, if there is one to do, and the bytes of a wanted element.
    fn conversion(&self, options: &ReadOptions) -> Result<(Option<Conversion>, usize)> {
        let Some(wanted) = &options.datatype else {
            return Ok((None, self.array.element_size));
        };
        let conversion = Conversion::with_widths(&self.array.datatype, wanted, self.store.widths())?;
        let size = conversion.dst_size();
        Ok((Some(conversion).filter(|conversion| !conversion.is_identity()), size))
    }

    fn tiling(
        &self,
        pieces: &Pieces<'_>,
        what: &Selection,
        dst: &Destination<'_>,
        memory_size: usize,
    ) -> Result<Tiling> {
        let tiling = what.tiling(&self.array.shape, &pieces.shape)?;
        let strides = dst.strides_for(&what.shape(&self.array.shape), memory_size)?;
        Ok(tiling.with_strides(strides.iter().map(|&stride| stride as u64).collect()))
    }

    fn run<'r>(
        &'r self,
        pieces: &'r Pieces<'_>,
        conversion: Option<&'r Conversion>,
        memory_size: usize,
    ) -> Result<Run<'r>> {
        let stored_size = self.array.element_size;
        let emit = Emit {
            conversion,
            stored_size,
            memory_size,
            piece: pieces.shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect(),
        };
        let piece_bytes = usize::try_from(pieces.elements()).ok().and_then(|n| n.checked_mul(stored_size));
        let Some(piece_bytes) = piece_bytes else {
            return Err(Error::unsupported("a chunk larger than the address space", "IV.A.2.i"));
        };
        let chunked = match &self.array.storage {
            Storage::Chunked(chunked) => Some(&**chunked),
            _ => None,
        };
        Ok(Run { reading: *self, emit, fill: OnceLock::new(), piece_bytes, chunked })
    }
}

/// A selection and where it goes.
#[derive(Clone, Copy)]
struct User<'a> {
    tiling: &'a Tiling,
    dst: &'a Destination<'a>,
}

/// One read, prepared.
struct Run<'a> {
    reading: Reading<'a>,
    emit: Emit<'a>,
    /// Made when the first chunk is met that was never written.
    fill: OnceLock<FillElement>,
    /// Decoded bytes of a piece.
    piece_bytes: usize,
    chunked: Option<&'a ChunkedStorage>,
}

impl Run<'_> {
    fn execute(
        &self,
        tasks: &[ReadTask],
        touches: &[usize],
        users: &[User<'_>],
        threads: Option<NonZeroUsize>,
    ) -> Result<()> {
        let workers = workers(self.reading.store, tasks.len(), self.piece_bytes as u64, threads);
        if workers == 1 {
            return scratch::with(|scratch| self.work(tasks, touches, users, scratch));
        }
        let claim = (CLAIM_BYTES / self.piece_bytes.max(1)).clamp(1, tasks.len() / (workers * 2) + 1);
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let first_error = Mutex::new(None);
        pool::run(workers, &|| {
            scratch::with(|scratch| {
                while !failed.load(Ordering::Relaxed) {
                    let start = next.fetch_add(claim, Ordering::Relaxed);
                    let Some(rest) = tasks.get(start..).filter(|rest| !rest.is_empty()) else { return };
                    let mine = &rest[..claim.min(rest.len())];
                    if let Err(error) = self.work(mine, touches, users, scratch) {
                        failed.store(true, Ordering::Relaxed);
                        first_error.lock().get_or_insert(error);
                    }
                }
            });
        });
        first_error.into_inner().map_or(Ok(()), Err)
    }

    /// Runs consecutive tasks: small chunks that lie near each other are read together.
    fn work(
        &self,
        mut tasks: &[ReadTask],
        touches: &[usize],
        users: &[User<'_>],
        scratch: &mut WorkerScratch,
    ) -> Result<()> {
        while !tasks.is_empty() {
            let count = fetch::group(tasks.iter().map(|task| self.whole_extent(task)));
            let (group, rest) = tasks.split_at(count);
            tasks = rest;
            if let [task] = group {
                self.task(task, None, touches, users, scratch)?;
                continue;
            }
            let extents: SmallVec<[Extent; 16]> =
                group.iter().filter_map(|task| self.whole_extent(task)).collect();
            let mut stored = std::mem::take(&mut scratch.stored);
            let places = fetch::batch(self.reading.store, &extents, &mut stored)?;
            for (task, place) in group.iter().zip(places) {
                self.task(task, Some(&stored[place]), touches, users, scratch)?;
            }
            scratch.stored = stored;
        }
        Ok(())
    }

    /// The bytes to read for a task whose whole chunk will be read.
    fn whole_extent(&self, task: &ReadTask) -> Option<Extent> {
        match task.source {
            Source::Raw(extent) if self.chunked.is_some() => Some(extent),
            Source::Chunk(record) if self.reading.cache.get(record.extent.addr).is_none() => {
                Some(record.extent)
            }
            _ => None,
        }
    }

    fn task(
        &self,
        task: &ReadTask,
        stored: Option<&[u8]>,
        touches: &[usize],
        users: &[User<'_>],
        scratch: &mut WorkerScratch,
    ) -> Result<()> {
        let users: SmallVec<[User<'_>; 4]> =
            touches[task.users.clone()].iter().map(|&user| users[user]).collect();
        match (task.source, self.chunked) {
            (Source::Fill, _) => {
                let fill = self.fill()?;
                each_place(&users, &task.coord, |axes, offset, region| {
                    self.emit.fill(fill, axes, offset, region);
                    Ok(())
                })
            }
            (Source::Compact, _) => {
                let Storage::Compact(data) = &self.reading.array.storage else { return Ok(()) };
                self.scatter(data, &users, task, scratch)
            }
            (Source::Raw(extent), _) => match stored {
                Some(bytes) => self.scatter(bytes, &users, task, scratch),
                None => each_place(&users, &task.coord, |axes, offset, region| {
                    let WorkerScratch { stored, convert, .. } = &mut *scratch;
                    raw::read(self.reading.store, extent, &self.emit, axes, offset, region, stored, convert)
                }),
            },
            (Source::Chunk(record), Some(chunked)) => {
                self.chunk(record, chunked, stored, &users, task, scratch).map_err(|error| match error {
                    ChunkError::Filter(source) => Error::Chunk {
                        source,
                        coord: task
                            .coord
                            .iter()
                            .zip(&chunked.chunk_shape)
                            .map(|(at, len)| at * len)
                            .collect(),
                        addr: record.extent.addr.get(),
                        len: record.extent.len,
                    },
                    ChunkError::Other(error) => error,
                })
            }
            (Source::Chunk(_), None) => Ok(()),
        }
    }

    fn scatter(
        &self,
        source: &[u8],
        users: &[User<'_>],
        task: &ReadTask,
        scratch: &mut WorkerScratch,
    ) -> Result<()> {
        each_place(users, &task.coord, |axes, offset, region| {
            self.emit.scatter(source, &self.emit.piece, axes, offset, region, &mut scratch.convert)
        })
    }

    fn fill(&self) -> Result<&FillElement> {
        if let Some(fill) = self.fill.get() {
            return Ok(fill);
        }
        let fill = self.emit.fill_element(&self.reading.array.fill)?;
        Ok(self.fill.get_or_init(|| fill))
    }

    /// A filtered chunk, by the shortest route.
    fn chunk(
        &self,
        record: ChunkRecord,
        chunked: &ChunkedStorage,
        stored: Option<&[u8]>,
        users: &[User<'_>],
        task: &ReadTask,
        scratch: &mut WorkerScratch,
    ) -> Result<(), ChunkError> {
        if let Some(whole) = self.reading.cache.get(record.extent.addr) {
            return Ok(self.scatter(&whole, users, task, scratch)?);
        }
        let wanted = Wanted::of(users, &task.coord, &self.emit);
        let blosc = chunked.pipeline.as_blosc(record.mask).filter(|_| self.emit.is_identity());
        match (wanted, blosc) {
            (Wanted::Dense { offset }, _) if self.emit.is_identity() => {
                let mut region = users[0].dst.region();
                let dst = region.run(offset, self.piece_bytes);
                let stored = self.stored(record, stored, &mut scratch.stored)?;
                Ok(chunked.pipeline.decode_into(record.mask, stored, dst, &mut scratch.filters)?)
            }
            (Wanted::Box { axes, offset, elements }, Some(blosc))
                if !self.keeps(record, elements * self.emit.stored_size) =>
            {
                let gather = Gather {
                    element_size: self.emit.stored_size,
                    chunk_shape: &self.emit.piece,
                    axes: &axes,
                    offset,
                };
                let mut region = users[0].dst.region();
                self.blosc(record, blosc, stored, &gather, &mut region, scratch)
            }
            _ => self.decoded(record, chunked, stored, users, task, scratch),
        }
    }

    /// Decodes a whole chunk, for several uses or for later.
    fn decoded(
        &self,
        record: ChunkRecord,
        chunked: &ChunkedStorage,
        stored: Option<&[u8]>,
        users: &[User<'_>],
        task: &ReadTask,
        scratch: &mut WorkerScratch,
    ) -> Result<(), ChunkError> {
        let is_kept =
            users.len() == 1 && self.reading.cache.admits(self.piece_bytes) && !self.covers(users, task);
        // What is kept needs memory of its own, and is decoded straight into it.
        let mut buffer = if is_kept { Vec::new() } else { std::mem::take(&mut scratch.chunk) };
        let whole = sized(&mut buffer, self.piece_bytes)?;
        let bytes = self.stored(record, stored, &mut scratch.stored)?;
        chunked.pipeline.decode_into(record.mask, bytes, whole, &mut scratch.filters)?;
        self.scatter(whole, users, task, scratch)?;
        if is_kept {
            self.reading.cache.insert(record.extent.addr, Arc::new(buffer));
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
        let len = self.reading.store.check(record.extent, raw::RAW_DATA)?;
        let bytes = sized(&mut scratch.stored, len)?;
        let wants_most = wanted_bytes * 4 > self.piece_bytes;
        let mut known = if wants_most { len } else { len.min(BLOSC_PREFIX_BYTES) };
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
                    for range in &scratch.ranges {
                        self.read_part(record.extent.addr, bytes, range.start.max(known)..range.end)?;
                    }
                    break;
                }
            }
        }
        Ok(blosc.scatter_into(bytes, gather, region, &mut scratch.filters)?)
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
        record: ChunkRecord,
        stored: Option<&'b [u8]>,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8]> {
        if let Some(stored) = stored {
            return Ok(stored);
        }
        let len = self.reading.store.check(record.extent, raw::RAW_DATA)?;
        let bytes = sized(buffer, len)?;
        self.reading.store.read_raw(record.extent.addr, bytes)?;
        Ok(bytes)
    }

    /// Whether to decode the whole chunk and keep it, although a part would do: small parts of it are read again and
    /// again.
    fn keeps(&self, record: ChunkRecord, wanted_bytes: usize) -> bool {
        let is_small = wanted_bytes.saturating_mul(SMALL_PARTS) <= self.piece_bytes;
        is_small
            && self.reading.cache.admits(self.piece_bytes)
            && self.reading.cache.touch(record.extent.addr)
    }

    /// Whether one user takes every element that the array has of the chunk: then nobody comes back for it.
    fn covers(&self, users: &[User<'_>], task: &ReadTask) -> bool {
        let used: SmallVec<[u64; 4]> = task
            .coord
            .iter()
            .zip(&self.emit.piece)
            .zip(&self.reading.array.shape)
            .map(|((&at, &len), &end)| (len as u64).min(end.saturating_sub(at * len as u64)))
            .collect();
        users.iter().any(|user| {
            let mut covered = false;
            user.tiling.parts(&task.coord, |part| covered |= part.covers(&used));
            covered
        })
    }
}

/// What of a chunk is wanted.
#[derive(Debug)]
pub(super) enum Wanted {
    /// All of it, in one run of the destination.
    Dense { offset: usize },
    /// One box.
    Box { axes: Axes, offset: usize, elements: usize },
    /// Several boxes or points.
    Several,
}

impl Wanted {
    fn of(users: &[User<'_>], coord: &[u64], emit: &Emit<'_>) -> Self {
        let [user] = users else { return Self::Several };
        if user.tiling.points(coord).is_some_and(|points| points.len() > 1) {
            return Self::Several;
        }
        let mut wanted = None;
        user.tiling.parts(coord, |part| {
            wanted = Some(if wanted.is_some() { Self::Several } else { Self::part(&part, emit) });
        });
        wanted.unwrap_or(Self::Several)
    }

    pub(super) fn part(part: &Part, emit: &Emit<'_>) -> Self {
        let axes = Emit::axes(part);
        let offset = destination_offset(part);
        let mut run = emit.memory_size;
        let dense = axes.iter().zip(&emit.piece).rev().all(|(axis, &len)| {
            let whole = axis.count == len && (len == 1 || axis.stride.unsigned_abs() == run);
            run = run.saturating_mul(len);
            whole
        });
        if dense {
            return Self::Dense { offset };
        }
        Self::Box { offset, elements: axes.iter().map(|axis| axis.count).product(), axes }
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

/// How many threads work on so many pieces.
pub(super) fn workers(store: &Store, tasks: usize, piece_bytes: u64, threads: Option<NonZeroUsize>) -> usize {
    if (tasks as u64).saturating_mul(piece_bytes) < PARALLEL_BYTES || !store.driver().hints().concurrent {
        return 1;
    }
    threads.map_or_else(pool::threads, NonZeroUsize::get).min(tasks).max(1)
}

/// Calls `f` with every box of the chunk at `coord` that a user wants, and where it goes.
fn each_place(
    users: &[User<'_>],
    coord: &[u64],
    mut f: impl FnMut(&[Axis], usize, &mut Region<'_>) -> Result<()>,
) -> Result<()> {
    let mut result = Ok(());
    for user in users {
        let mut region = user.dst.region();
        user.tiling.parts(coord, |part| {
            if result.is_ok() {
                result = f(&Emit::axes(&part), destination_offset(&part), &mut region);
            }
        });
    }
    result
}

fn destination_offset(part: &Part) -> usize {
    // Inside the destination, which is in memory; `Region::run` checks it again.
    usize::try_from(part.dst).unwrap_or(usize::MAX)
}

/// Tasks planned at a time: a plan never holds more, however long the read.
const BATCH_TASKS: u64 = 65_536;
/// Less is read on the caller's thread: waking another costs more.
const PARALLEL_BYTES: u64 = 256 << 10;
/// What a worker takes at a time.
const CLAIM_BYTES: usize = 1 << 20;
/// A read of less than one part in so many of a chunk is small: one that may come again next door.
const SMALL_PARTS: usize = 64;
/// The header of a frame and the offsets of many blocks.
const BLOSC_PREFIX_BYTES: usize = 4 << 10;
