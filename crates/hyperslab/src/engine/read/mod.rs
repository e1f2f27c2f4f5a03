//! Reads of one dataset: plans a read and distributes its tasks over threads. `decode.rs` finishes a single
//! task.

mod blocks;
mod decode;
mod listed;
mod scatter;
pub(in crate::engine) mod sink;

use std::num::NonZeroUsize;

use hyperslab_convert::Conversion;
use hyperslab_error::Result;
use hyperslab_filters::gather::Target;
use hyperslab_format::datatype::Datatype;
use hyperslab_format::{Addr, Extent};
use hyperslab_select::{Part, Selection, Tiling};

use super::claims::Claims;
use super::destination::{Destination, Shared};
use super::fetch::Finish;
use super::fetch::window::Window;
use super::plan::context::ReadContext;
use super::plan::elements::{Goal, PieceElements, axes};
use super::plan::pieces::{Pieces, ReadTask, Source};
use super::plan::place::{Cut, User};
use super::plan::reading::Reading;
use super::plan::spans::Spans;
use super::plan::step::Purpose;
use super::scratch;
use super::task_queue;
use decode::ReadRun;

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
        let conversion = self.conversion(options)?;
        let pieces = self.pieces(conversion.as_deref());
        let elements = self.elements(&pieces, conversion.as_deref());
        let convert = conversion.as_deref().map(|conversion| conversion as _);
        let _data = self.store.reading_data();
        if let Some((coord, within)) = what.in_one_chunk(&self.array.shape, &pieces.shape)? {
            // A small read: no tiling, no list of tasks, no threads.
            let shape = what.shape(&self.array.shape);
            let (dst, dst_strides) = dst.share(&shape, elements.memory_size)?;
            let part = Part { within: within.0, dst: 0, dst_strides };
            let task = {
                let _reading = self.store.reading();
                pieces.task(self.store, self.cache, coord)?
            };
            let users = [User { cut: Cut::Part(&part), dst }];
            let context = ReadContext::new(*self, elements, &users, &[0], 1)?;
            return ReadRun::new(context, convert, None).one(&task, &part, dst);
        }
        let (tiling, dst) = self.tiling(&pieces, what, dst, elements.memory_size)?;
        let users = [User { cut: Cut::Tiling(&tiling), dst }];
        let context = ReadContext::new(*self, elements, &users, &[0], tiling.len())?;
        ReadRun::new(context, convert, None).all(&pieces, &tiling, options.threads)
    }

    /// Reads several selections, each to its own destination. A chunk that several selections touch is
    /// decoded once.
    pub fn read_many(
        &self,
        reads: &mut [(&Selection, &mut Destination<'_>)],
        options: &ReadOptions,
    ) -> Result<()> {
        let conversion = self.conversion(options)?;
        let pieces = self.pieces(conversion.as_deref());
        let elements = self.elements(&pieces, conversion.as_deref());
        let tilings = reads
            .iter_mut()
            .map(|(what, dst)| self.tiling(&pieces, what, dst, elements.memory_size))
            .collect::<Result<Vec<_>>>()?;
        let users: Vec<User<'_>> =
            tilings.iter().map(|(tiling, dst)| User { cut: Cut::Tiling(tiling), dst: *dst }).collect();
        let _data = self.store.reading_data();
        let (tasks, touches) = {
            let _reading = self.store.reading();
            pieces.shared_tasks(
                self.store,
                self.cache,
                &tilings.iter().map(|(tiling, _)| tiling).collect::<Vec<_>>(),
            )?
        };
        let context = ReadContext::new(*self, elements, &users, &touches, tasks.len() as u64)?;
        let convert = conversion.as_deref().map(|conversion| conversion as _);
        ReadRun::new(context, convert, None).execute(&tasks, options.threads)
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

    /// Returns the conversion, if one is necessary.
    fn conversion(&self, options: &ReadOptions) -> Result<Option<Box<Conversion>>> {
        let Some(wanted) = &options.datatype else { return Ok(None) };
        Ok(Conversion::needed(&self.array.elements.datatype, wanted, self.store.widths())?)
    }

    /// Returns the elements of a piece, for a read to memory.
    fn elements(&self, pieces: &Pieces<'_>, conversion: Option<&Conversion>) -> PieceElements {
        let size = self.array.elements.size;
        match conversion {
            Some(conversion) => PieceElements::of(pieces, size, conversion.dst_size(), Goal::Convert),
            None => PieceElements::of(pieces, size, size, Goal::Copy),
        }
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
}

impl ReadRun<'_> {
    /// Reads everything that a selection touches, in batches of tasks.
    fn all(&self, pieces: &Pieces<'_>, tiling: &Tiling, threads: Option<NonZeroUsize>) -> Result<()> {
        let Reading { store, cache, .. } = self.context.reading;
        let mut next = 0;
        while next < tiling.len() {
            let end = tiling.len().min(next + BATCH_TASKS);
            let tasks = {
                let _reading = store.reading();
                pieces.tasks(store, cache, tiling, next..end)?
            };
            self.execute(&tasks, threads)?;
            next = end;
        }
        Ok(())
    }

    fn execute(&self, tasks: &[ReadTask], threads: Option<NonZeroUsize>) -> Result<()> {
        let ReadContext { reading, piece_bytes, hints, .. } = &self.context;
        let workers = task_queue::workers_on(reading.store, tasks.len(), *piece_bytes as u64, threads);
        task_queue::claim(tasks, workers, *piece_bytes, hints.queue_depth, &|claims, scratch| {
            Window::new(&self.context, self, claims, scratch).drive()
        })
    }

    /// Runs the only task of a small read, which selects one box.
    fn one(&self, task: &ReadTask, part: &Part, dst: Shared<'_>) -> Result<()> {
        let context = &self.context;
        let raw = context.reading.raw();
        if let (Source::Raw(extent), None, Goal::Copy) = (task.source, &task.held, context.elements.goal) {
            let spans = Spans::new(&context.elements, &axes(part), 0, context.hints);
            if spans.count == 1 && spans.is_direct {
                // A single span: only its bytes are read, whatever the size of the piece.
                let (at, _) = spans.at(0);
                let at =
                    Extent::new(Addr::new(extent.addr.get().saturating_add(at as u64)), spans.len as u64);
                raw.check(at)?;
                return raw.read(at.addr, dst.region().run(0, spans.len));
            }
        }
        let step = context.step(task, Purpose::Read);
        scratch::with(|scratch| {
            if step.extent().is_none() {
                return self.finish(task, step, &[], scratch);
            }
            let tasks = std::slice::from_ref(task);
            Window::new(context, self, &Claims::all(tasks), scratch).drive_one(step)
        })
    }
}

/// The number of tasks planned at a time. It bounds the memory of a plan, however large the read.
const BATCH_TASKS: u64 = 65_536;
