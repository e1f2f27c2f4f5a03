//! Reads of one dataset: plans a read and distributes its tasks over threads. `decode.rs` finishes a single task.

mod blocks;
pub(in crate::engine) mod decode;
mod listed;
pub(in crate::engine) mod scatter;
pub(in crate::engine) mod sink;

use std::num::NonZeroUsize;
use std::sync::OnceLock;

use hyperslab_convert::Conversion;
use hyperslab_error::{Error, Result};
use hyperslab_filters::Convert;
use hyperslab_filters::gather::Target;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::{Addr, Extent};
use hyperslab_select::{Part, Selection, Tiling};

use super::array::Storage;
use super::destination::{Destination, Shared};
use super::fetch::window::Window;
use super::plan::pieces::{Pieces, ReadTask, Source};
use super::plan::place::{Cut, User, Users};
use super::plan::reading::Reading;
use super::plan::spans::Spans;
use super::scratch;
use super::task_queue::{self, Claims};
use decode::{Need, Run};
use scatter::Emit;

/// Options of a read.
///
/// ```
/// use std::num::NonZeroUsize;
/// use hyperslab::{Element, ReadOptions};
///
/// let options = ReadOptions::default().threads(NonZeroUsize::MIN).datatype(f64::datatype());
/// assert_eq!(options.threads, Some(NonZeroUsize::MIN));
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The number of threads, the caller's included; by default the process's setting.
    pub threads: Option<NonZeroUsize>,
    /// The datatype of the result; by default the stored datatype.
    pub datatype: Option<Datatype>,
}

impl ReadOptions {
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
}

impl Reading<'_> {
    /// Reads one selection.
    pub fn read(&self, what: &Selection, dst: &mut Destination<'_>, options: &ReadOptions) -> Result<()> {
        let (conversion, memory_size) = self.conversion(options)?;
        let pieces = self.pieces(conversion.as_deref());
        let mut run =
            self.run(&pieces, conversion.as_deref().map(|conversion| conversion as _), memory_size)?;
        let _data = self.store.reading_data();
        if let Some((coord, within)) = what.in_one_chunk(&self.array.shape, &pieces.shape)? {
            // A small read: no tiling, no list of tasks, no threads.
            let (dst, dst_strides) = dst.share(&what.shape(&self.array.shape), memory_size)?;
            let part = Part { within: within.0, dst: 0, dst_strides };
            let task = {
                let _reading = self.store.reading();
                pieces.task(self.store, self.cache, coord)?
            };
            run.is_alone = true;
            return run.one(&task, &part, dst);
        }
        let (tiling, dst) = self.tiling(&pieces, what, dst, memory_size)?;
        let user = User { cut: Cut::Tiling(&tiling), dst };
        run.is_alone = tiling.len() == 1;
        run.all(&pieces, &tiling, user, options.threads)
    }

    /// Reads several selections, each to its own destination. A chunk that several selections touch is
    /// decoded once.
    pub fn read_many(
        &self,
        reads: &mut [(&Selection, &mut Destination<'_>)],
        options: &ReadOptions,
    ) -> Result<()> {
        let (conversion, memory_size) = self.conversion(options)?;
        let pieces = self.pieces(conversion.as_deref());
        let tilings = reads
            .iter_mut()
            .map(|(what, dst)| self.tiling(&pieces, what, dst, memory_size))
            .collect::<Result<Vec<_>>>()?;
        let users: Vec<User<'_>> =
            tilings.iter().map(|(tiling, dst)| User { cut: Cut::Tiling(tiling), dst: *dst }).collect();
        let mut run =
            self.run(&pieces, conversion.as_deref().map(|conversion| conversion as _), memory_size)?;
        let _data = self.store.reading_data();
        let (tasks, touches) = {
            let _reading = self.store.reading();
            pieces.shared_tasks(
                self.store,
                self.cache,
                &tilings.iter().map(|(tiling, _)| tiling).collect::<Vec<_>>(),
            )?
        };
        run.is_alone = tasks.len() == 1;
        run.execute(&tasks, &touches, &users, options.threads)
    }

    /// Returns whether any of the elements of `what` may have been written. The others hold the fill value.
    pub fn finds_elements(&self, what: &Selection) -> Result<bool> {
        let pieces = Pieces::of(self.array);
        let tiling = what.tiling(&self.array.shape, &pieces.shape)?;
        let _reading = self.store.reading();
        pieces.has_any(self.store, self.cache, &tiling)
    }

    fn pieces(&self, conversion: Option<&Conversion>) -> Pieces<'_> {
        if conversion.is_some() { Pieces::converted(self.array) } else { Pieces::of(self.array) }
    }

    /// Returns the conversion, if one is necessary, and the size in bytes of a requested element.
    fn conversion(&self, options: &ReadOptions) -> Result<(Option<Box<Conversion>>, usize)> {
        let needed = |wanted| Conversion::needed(&self.array.elements.datatype, wanted, self.store.widths());
        let conversion = options.datatype.as_ref().map_or(Ok(None), needed)?;
        let size = conversion.as_ref().map_or(self.array.elements.size, |conversion| conversion.dst_size());
        Ok((conversion, size))
    }

    fn tiling<'d>(
        &self,
        pieces: &Pieces<'_>,
        what: &Selection,
        dst: &'d mut Destination<'_>,
        memory_size: usize,
    ) -> Result<(Tiling, Shared<'d>)> {
        let worked = &mut |bytes| task_queue::worked("read", bytes);
        let tiling = what.tiling_in_steps(&self.array.shape, &pieces.shape, worked)?;
        let (dst, strides) = dst.share(&what.shape(&self.array.shape), memory_size)?;
        Ok((tiling.with_strides(strides), dst))
    }

    pub(super) fn run<'r>(
        &'r self,
        pieces: &'r Pieces<'_>,
        convert: Option<&'r dyn Convert>,
        memory_size: usize,
    ) -> Result<Run<'r>> {
        let stored_size = self.array.elements.size;
        let emit = Emit {
            convert,
            sink: None,
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
        let hints = self.raw().hints();
        Ok(Run {
            reading: *self,
            emit,
            filter: None,
            fill: OnceLock::new(),
            piece_bytes,
            chunked,
            hints,
            is_alone: false,
            is_nested: scratch::is_in_use(),
        })
    }
}

impl Run<'_> {
    /// Reads everything that a selection touches, in batches of tasks.
    fn all(
        &self,
        pieces: &Pieces<'_>,
        tiling: &Tiling,
        user: User<'_>,
        threads: Option<NonZeroUsize>,
    ) -> Result<()> {
        let Reading { store, cache, .. } = self.reading;
        let mut next = 0;
        while next < tiling.len() {
            let end = tiling.len().min(next + BATCH_TASKS);
            let tasks = {
                let _reading = store.reading();
                pieces.tasks(store, cache, tiling, next..end)?
            };
            self.execute(&tasks, &[0], &[user], threads)?;
            next = end;
        }
        Ok(())
    }

    fn execute(
        &self,
        tasks: &[ReadTask],
        touches: &[usize],
        users: &[User<'_>],
        threads: Option<NonZeroUsize>,
    ) -> Result<()> {
        let workers =
            task_queue::workers_on(self.reading.store, tasks.len(), self.piece_bytes as u64, threads);
        task_queue::claim(tasks, workers, self.piece_bytes, self.hints.queue_depth, &|claims, scratch| {
            Window::new(self, claims, touches, users, scratch).drive()
        })
    }

    /// Runs the only task of a small read, which selects one box.
    fn one(&self, task: &ReadTask, part: &Part, dst: Shared<'_>) -> Result<()> {
        let raw = self.reading.raw();
        if let (Source::Raw(extent), None, true) = (task.source, &task.held, self.emit.is_identity()) {
            let spans = Spans::new(&self.emit, &Emit::axes(part), 0, self.hints);
            if spans.count == 1 && spans.is_direct {
                // A single span: only its bytes are read, whatever the size of the piece.
                let (at, _) = spans.at(0);
                let at =
                    Extent::new(Addr::new(extent.addr.get().saturating_add(at as u64)), spans.len as u64);
                raw.check(at)?;
                return raw.read(at.addr, dst.region().run(0, spans.len));
            }
        }
        let users = [User { cut: Cut::Part(part), dst }];
        let tasks = std::slice::from_ref(task);
        let need = self.need(task, Users::of(task, &[0], &users));
        scratch::with(|scratch| match need {
            Need::Ready(kept) => self.copy(task, Users::of(task, &[0], &users), kept, scratch),
            need => Window::new(self, &Claims::all(tasks), &[0], &users, scratch).drive_one(need),
        })
    }
}

/// The number of tasks planned at a time. It bounds the memory of a plan, however large the read.
const BATCH_TASKS: u64 = 65_536;
