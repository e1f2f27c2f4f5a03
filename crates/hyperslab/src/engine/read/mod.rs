//! Reads of one dataset: plans them, and spreads their tasks over threads. (What one task does is in `task.rs`.)

pub(in crate::engine) mod emit;
pub(in crate::engine) mod task;

use std::num::NonZeroUsize;
use std::sync::OnceLock;

use hyperslab_format::Extent;
use hyperslab_format::datatype::Datatype;

use super::array::{Storage, StoredArray};
use super::chunks::cache::ChunkCache;
use super::dst::Destination;
use super::fetch::ahead::Ahead;
use super::fetch::batch;
use super::plan::pieces::{Pieces, ReadTask, Source};
use super::plan::place::{Cut, User, Users};
use super::scratch::{self, WorkerScratch};
use super::{pool, share};
use crate::error::{Error, Result};
use crate::select::{Part, Selection, Tiling};
use crate::store::Store;
use crate::types::Conversion;
use emit::Emit;
use task::Run;

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
        let run = self.run(&pieces, conversion.as_ref(), memory_size)?;
        let _data = self.store.reading_data();
        if let Some((coord, within)) = what.in_one_chunk(&self.array.shape, &pieces.shape)? {
            // The small read: no tiling, no list of tasks, no threads.
            let dst_strides = dst.strides_for(&what.shape(&self.array.shape), memory_size)?;
            let part = Part { within: within.0, dst: 0, dst_strides };
            let user = User { cut: Cut::Part(&part), dst };
            let task = {
                let _reading = self.store.reading();
                pieces.task(self.store, self.cache, coord)?
            };
            let users = Users::of(&task, &[0], std::slice::from_ref(&user));
            return scratch::with(|scratch| run.task(&task, None, users, scratch));
        }
        let tiling = self.tiling(&pieces, what, dst, memory_size)?;
        let user = User { cut: Cut::Tiling(&tiling), dst };
        let mut next = 0;
        while next < tiling.len() {
            let end = tiling.len().min(next + BATCH_TASKS);
            let tasks = {
                let _reading = self.store.reading();
                pieces.tasks(self.store, self.cache, &tiling, next..end)?
            };
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
        let users: Vec<User<'_>> = tilings
            .iter()
            .zip(reads)
            .map(|(tiling, (_, dst))| User { cut: Cut::Tiling(tiling), dst })
            .collect();
        let run = self.run(&pieces, conversion.as_ref(), memory_size)?;
        let _data = self.store.reading_data();
        let (tasks, touches) = {
            let _reading = self.store.reading();
            pieces.shared_tasks(self.store, self.cache, &tilings.iter().collect::<Vec<_>>())?
        };
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
        Ok(tiling.with_strides(strides))
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

impl Run<'_> {
    fn execute(
        &self,
        tasks: &[ReadTask],
        touches: &[usize],
        users: &[User<'_>],
        threads: Option<NonZeroUsize>,
    ) -> Result<()> {
        let ahead = Ahead::new(self, tasks, touches, users);
        let workers = workers(self.reading.store, tasks.len(), self.piece_bytes as u64, threads);
        share::run(tasks, workers, self.piece_bytes, &|mine, scratch| {
            self.work(mine, touches, users, &ahead, scratch)
        })
    }

    /// Runs consecutive tasks: small chunks that lie near each other are read together.
    fn work(
        &self,
        mut tasks: &[ReadTask],
        touches: &[usize],
        users: &[User<'_>],
        ahead: &Ahead<'_>,
        scratch: &mut WorkerScratch,
    ) -> Result<()> {
        while !tasks.is_empty() {
            let extents = batch::group(
                tasks.iter().map(|task| self.whole_extent(task, Users::of(task, touches, users))),
            );
            let (group, rest) = tasks.split_at(extents.len().max(1));
            tasks = rest;
            ahead.begin(group.len());
            if let [task] = group {
                self.task(task, None, Users::of(task, touches, users), scratch)?;
                continue;
            }
            let mut stored = std::mem::take(&mut scratch.stored);
            let places = batch::batch(self.reading.store, &extents, &mut stored)?;
            for (task, place) in group.iter().zip(places) {
                self.task(task, Some(&stored[place]), Users::of(task, touches, users), scratch)?;
            }
            scratch.stored = stored;
        }
        Ok(())
    }

    /// The bytes to read for a task whose whole chunk will be read.
    fn whole_extent(&self, task: &ReadTask, users: Users<'_>) -> Option<Extent> {
        match task.source {
            _ if task.held.is_some() => None,
            Source::Raw(extent) => self.reads_whole(task, extent, users).then_some(extent),
            Source::Chunk(record) if self.reading.cache.get(&self.key(record)).is_none() => {
                Some(record.extent)
            }
            _ => None,
        }
    }
}

/// How many threads work on so many pieces.
pub(super) fn workers(store: &Store, tasks: usize, piece_bytes: u64, threads: Option<NonZeroUsize>) -> usize {
    if (tasks as u64).saturating_mul(piece_bytes) < PARALLEL_BYTES || !store.hints().concurrent {
        return 1;
    }
    threads.map_or_else(pool::threads, NonZeroUsize::get).min(tasks).max(1)
}

/// Tasks planned at a time: a plan never holds more, however long the read.
const BATCH_TASKS: u64 = 65_536;
/// Less is read on the caller's thread: waking another costs more.
const PARALLEL_BYTES: u64 = 256 << 10;
