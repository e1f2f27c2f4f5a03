//! Writes to one dataset: divides a write by pieces and distributes the pieces over threads.
//!
//! A write is divided once ([`WritePlan`]). A chunk that is written whole takes three steps, which any
//! executor can drive: [`encode`](Write::encode) needs no file, [`allocate`](Write::allocate) is short and
//! finds places for all chunks, [`write`](Write::write) does the output. [`Write::run`] takes the steps for a
//! few chunks at a time, on each thread independently, so that few encoded chunks wait in memory. Chunks go
//! to newly allocated space, so committed data are not touched.
//!
//! A chunk that is written in part is held decoded until [`flush`](Write::flush). Data without filters are
//! written in place, as in every HDF5 library. In a transaction and in a table whose rows change, chunks get
//! new space instead: no commit is seen halfway, and a transaction can be undone.

mod collective;
mod encode;
mod in_memory;
mod in_place;
mod input;
mod place;
mod plan;
mod reshape;

use std::num::NonZeroUsize;

use hyperslab_error::{Error, Result};
use hyperslab_format::datatype::Datatype;
use hyperslab_format::layout::ChunkIndexInfo;
use hyperslab_select::Coord;
use hyperslab_store::Store;
use hyperslab_store::commit::Durability;
use hyperslab_store::index::ChunkRecord;
use parking_lot::Mutex;

use super::array::{ChunkedStorage, Storage, StoredArray};
use super::chunks::cache::ChunkCache;
use super::chunks::dirty::HeldChunk;
use super::chunks::stored::load;
use super::plan::pieces::{Pieces, ReadTask, Source};
use super::scratch::{self, WorkerScratch, sized};
use super::task_queue;
use super::task_queue::workers_on;
pub use encode::{Encoded, Form};
use place::Batch;
pub(crate) use place::unplaced;
pub use place::{Placed, Places, abandon};
use plan::Cut;
pub use plan::WritePlan;

/// Options of a write.
///
/// ```
/// use hyperslab::{Element, WriteOptions};
///
/// let options = WriteOptions::default().datatype(f64::datatype());
/// assert_eq!(options.datatype, Some(f64::datatype()));
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The number of threads, the caller's included; by default the process's setting.
    pub threads: Option<NonZeroUsize>,
    /// The datatype of the caller's elements; by default the stored datatype.
    pub datatype: Option<Datatype>,
    /// Whether the elements are given chunk by chunk: the chunks in row-major order, and the elements of each
    /// chunk in row-major order. Then chunks need not be assembled. Only for boxes of neighbouring elements.
    pub by_chunks: bool,
    /// Which ranks make the call, in a file that [several](crate::OpenOptions::ranks) change.
    pub transfer: Transfer,
}

/// Which ranks of a file that [several processes](crate::OpenOptions::ranks) change make a write, and with
/// what. In other files it makes no difference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transfer {
    /// All ranks make the same call with the same elements, which are written once.
    #[default]
    Alike,
    /// Any rank may make the call, for data that have their place in the file: contiguous and external ones.
    Independent,
    /// All ranks make the call, each with its own selection and elements. Where several write the same
    /// element, it has the value of one of them.
    Collective,
}

impl WriteOptions {
    /// Sets the number of threads, the caller's included. `None` stands for the setting of the process.
    #[must_use]
    pub fn threads(mut self, threads: impl Into<Option<NonZeroUsize>>) -> Self {
        self.threads = threads.into();
        self
    }

    /// Sets the datatype of the caller's elements. `None` stands for the stored datatype.
    #[must_use]
    pub fn datatype(mut self, datatype: impl Into<Option<Datatype>>) -> Self {
        self.datatype = datatype.into();
        self
    }

    /// Sets whether the elements are given chunk by chunk.
    #[must_use]
    pub fn by_chunks(mut self, by_chunks: bool) -> Self {
        self.by_chunks = by_chunks;
        self
    }

    /// Sets which ranks make the call.
    #[must_use]
    pub fn transfer(mut self, transfer: Transfer) -> Self {
        self.transfer = transfer;
        self
    }
}

/// The objects that a write to a dataset needs.
#[derive(Debug, Clone, Copy)]
pub struct Write<'a> {
    /// The file.
    pub store: &'a Store,
    /// The file's chunks in memory.
    pub cache: &'a ChunkCache,
    /// The dataset.
    pub array: &'a StoredArray,
    /// Whether to leave out chunks that hold only the fill value, if the dataset
    /// [allows](StoredArray::may_skip_fill) it.
    pub skips_fill: bool,
    /// Whether chunks without filters get new space, too, so that their changes can be undone.
    pub moves: bool,
}

/// A write in progress.
struct WriteRun<'a> {
    write: Write<'a>,
    plan: &'a WritePlan<'a>,
    /// The decoded size of a piece in bytes.
    piece_bytes: usize,
}

impl Write<'_> {
    /// Runs a write that was planned for this array. Returns the chunks to record in the index. After a
    /// failure, each element has either its old or its new value.
    pub fn run(&self, plan: &WritePlan<'_>, threads: Option<NonZeroUsize>) -> Result<Vec<Placed>> {
        // A part of a held chunk needs no index lookup. Example: rows that are appended one by one.
        if !plan.is_whole()
            && let Some((coord, part)) = plan.only()
            && let Some(held) = self.cache.dirty.get(self.array.header, coord)
        {
            let place =
                |scratch: &mut WorkerScratch| plan.input.place(part, &mut held.write(), &mut scratch.convert);
            return scratch::with(place).map(|()| Vec::new());
        }
        let pieces = Pieces::of(self.array);
        let run = WriteRun { write: *self, plan, piece_bytes: self.piece_bytes(&pieces)? };
        let mut placed = Vec::new();
        let mut next = 0;
        while next < plan.len() {
            let end = plan.len().min(next + BATCH_TASKS);
            match plan.tasks(self, &pieces, next..end).and_then(|tasks| run.execute(&tasks, threads)) {
                Ok(more) => placed.extend(more),
                Err(error) => {
                    abandon(self.store, &placed);
                    return Err(error);
                }
            }
            next = end;
        }
        Ok(placed)
    }

    /// Returns whether other writers may write at the same time. They may if every chunk is written whole,
    /// and no chunk is written in place that another writer may remove. Contiguous data that have a place are
    /// written element by element, so writers of other elements do not disturb each other.
    pub fn is_side_by_side(&self, plan: &WritePlan<'_>) -> bool {
        match self.array.storage {
            Storage::Chunked(_) => plan.is_whole() && (self.gives_new_space() || !self.skips_fill),
            Storage::Contiguous(Some(_)) => true,
            Storage::Contiguous(None) | Storage::Compact(_) | Storage::Elsewhere(_) => false,
        }
    }

    /// Returns whether chunks that are written whole always get new space.
    pub fn gives_new_space(&self) -> bool {
        matches!(&self.array.storage, Storage::Chunked(chunked) if !chunked.codec.pipeline().is_empty() && !chunked.unfiltered_edges)
    }

    /// Returns whether chunks without filters get new space: those of an implicit index cannot.
    fn moves_chunks(&self, chunked: &ChunkedStorage) -> bool {
        self.moves && !matches!(chunked.index.info(), ChunkIndexInfo::Implicit { .. })
    }

    /// Encodes and writes the held chunks. They stay held until [`forget`](Self::forget).
    pub fn flush(&self, threads: Option<NonZeroUsize>) -> Result<Vec<Placed>> {
        let held = self.cache.dirty.of(self.array.header);
        let Storage::Chunked(chunked) = &self.array.storage else { return Ok(Vec::new()) };
        let piece_bytes = self.piece_bytes(&Pieces::of(self.array))?;
        let records = {
            let _reading = self.store.reading();
            let mut cursor = chunked.index.cursor(self.store);
            held.iter().map(|(coord, _)| cursor.lookup(coord)).collect::<Result<Vec<_>>>()?
        };
        let tasks: Vec<(&(Coord, HeldChunk), Option<ChunkRecord>)> = held.iter().zip(records).collect();
        let is_alike = self.store.collective().is_some();
        let workers =
            if is_alike { 1 } else { workers_on(self.store, tasks.len(), piece_bytes as u64, threads) };
        self.store_each(&tasks, workers, piece_bytes, &|((coord, held), record), scratch, store| {
            self.encode(chunked, coord, &held.read(), *record, &mut scratch.filters)?.map_or(Ok(()), store)
        })
    }

    /// Makes elements in other files durable if commits survive a loss of power: a commit makes only its file
    /// durable.
    pub fn settle(&self) -> Result<()> {
        match &self.array.storage {
            Storage::Elsewhere(medium) if self.store.durability() == Some(Durability::Power) => {
                medium.flush(false).map_err(Error::io("flush", 0, 0))
            }
            _ => Ok(()),
        }
    }

    /// Returns the positions of the held chunks.
    pub fn held(&self) -> Vec<Coord> {
        self.cache.dirty.of(self.array.header).into_iter().map(|(coord, _)| coord).collect()
    }

    /// Drops the decoded copies of chunks that are in the file now.
    pub fn forget(&self, coords: impl IntoIterator<Item = Coord>) {
        coords.into_iter().for_each(|coord| self.cache.dirty.forget(self.array.header, &coord));
    }

    /// Drops the decoded copies of chunks that a write replaced entirely.
    pub fn forget_replaced(&self, plan: &WritePlan<'_>) {
        match plan.only() {
            Some((coord, _)) if plan.is_whole() => self.cache.dirty.forget(self.array.header, coord),
            None if self.cache.dirty.bytes() > 0 => {
                self.forget(self.held().into_iter().filter(|coord| plan.cut(coord).is_whole));
            }
            _ => {}
        }
    }

    pub(in crate::engine) fn piece_bytes(&self, pieces: &Pieces<'_>) -> Result<usize> {
        let bytes = usize::try_from(pieces.elements()).ok();
        let bytes = bytes.and_then(|elements| elements.checked_mul(self.array.elements.size));
        bytes.ok_or_else(|| Error::unsupported("a chunk larger than the address space", "IV.A.2.i"))
    }

    /// Returns the chunk of a task to be changed, as a reader would see it. It is held from now on.
    fn hold(&self, task: &ReadTask, piece_bytes: usize, scratch: &mut WorkerScratch) -> Result<HeldChunk> {
        self.cache.dirty.get_or_load(self.array.header, &task.coord, || {
            let mut chunk = Vec::new();
            sized(&mut chunk, piece_bytes)?;
            load(self.store, self.array, &task.coord, task.source, &mut chunk, scratch)?;
            Ok(chunk)
        })
    }

    /// Calls `encode` for each task on `workers` threads, and stores the chunks that it passes on, a few at a
    /// time. Returns the changes for the index. On failure, frees the new space.
    pub(in crate::engine) fn store_each<T: Sync>(
        &self,
        tasks: &[T],
        workers: usize,
        task_bytes: usize,
        encode: &(dyn Fn(&T, &mut WorkerScratch, &mut HandOn<'_>) -> Result<()> + Sync),
    ) -> Result<Vec<Placed>> {
        let placed = Mutex::default();
        let done = task_queue::run(tasks, workers, task_bytes, &|tasks, scratch| {
            let mut batch = Batch::new(*self, &placed);
            for (number, task) in (1..).zip(tasks) {
                encode(task, scratch, &mut |encoded| batch.push(encoded, number == tasks.len()))?;
            }
            batch.finish()
        });
        let placed = placed.into_inner();
        match done {
            Ok(()) => Ok(placed),
            Err(error) => {
                abandon(self.store, &placed);
                Err(error)
            }
        }
    }
}

/// The function that `encode` passes an encoded chunk to.
pub(in crate::engine) type HandOn<'h> = dyn FnMut(Encoded<'_>) -> Result<()> + 'h;

impl WriteRun<'_> {
    fn execute(&self, tasks: &[ReadTask], threads: Option<NonZeroUsize>) -> Result<Vec<Placed>> {
        // File systems serialize writes to one file, so several threads that only write would wait for each
        // other.
        // Ranks that write the same allocate in the same order.
        let is_alike = self.write.store.collective().is_some();
        let workers = if is_alike || tasks.first().is_some_and(|task| self.is_moved(task)) {
            1
        } else {
            workers_on(self.write.store, tasks.len(), self.piece_bytes as u64, threads)
        };
        let task = |task: &ReadTask, scratch: &mut WorkerScratch, store: &mut HandOn<'_>| {
            self.task(task, scratch, store)
        };
        self.write.store_each(tasks, workers, self.piece_bytes, &task)
    }

    /// Returns whether the caller's bytes of a piece are written to the file unchanged.
    fn is_moved(&self, task: &ReadTask) -> bool {
        let is_filtered = matches!(&self.write.array.storage, Storage::Chunked(chunked) if !chunked.codec.pipeline().is_empty());
        !is_filtered
            && self.plan.cut(&task.coord).part.is_some_and(|part| self.plan.input.whole(&part).is_some())
    }

    fn task(&self, task: &ReadTask, scratch: &mut WorkerScratch, store: &mut HandOn<'_>) -> Result<()> {
        task_queue::worked("write", self.piece_bytes)?;
        let cut = self.plan.cut(&task.coord);
        match (&self.write.array.storage, task.source) {
            (Storage::Chunked(chunked), _) if cut.is_whole => {
                self.encode(chunked, task, &cut, scratch)?.map_or(Ok(()), store)
            }
            // A part of a chunk: the chunk is held until it is flushed.
            (Storage::Chunked(_), _) => {
                let held = self.write.hold(task, self.piece_bytes, scratch)?;
                self.plan.place(&task.coord, &mut held.write(), &mut scratch.convert)
            }
            (Storage::Contiguous(_) | Storage::Elsewhere(_), Source::Raw(extent)) => {
                self.in_place(task, &cut, extent, scratch)
            }
            (Storage::Contiguous(_) | Storage::Elsewhere(_), _) => {
                Err(Error::unsupported("writing to unallocated contiguous data", "IV.A.2.i"))
            }
            (Storage::Compact(_), _) => Err(Error::unsupported("writing to a header", "IV.A.2.i")),
        }
    }

    /// Encodes a whole chunk.
    fn encode<'s>(
        &'s self,
        chunked: &ChunkedStorage,
        task: &ReadTask,
        cut: &Cut<'_>,
        scratch: &'s mut WorkerScratch,
    ) -> Result<Option<Encoded<'s>>> {
        let WorkerScratch { chunk, convert, filters, .. } = scratch;
        let elements = self.plan.whole(&chunked.codec, &task.coord, cut, chunk, convert)?;
        self.write.encode(chunked, &task.coord, elements, task.source.record(), filters)
    }
}

/// The number of tasks planned at a time. It bounds the memory of a plan, however large the write.
const BATCH_TASKS: u64 = 65_536;
