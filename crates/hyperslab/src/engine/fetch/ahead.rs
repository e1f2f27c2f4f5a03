//! Tells a slow medium what the next tasks will read, before they do: a disk serves many requests at once, and few threads wait for
//! one each.

use std::sync::atomic::{AtomicUsize, Ordering};

use hyperslab_format::Extent;

use super::ranges;
use crate::engine::plan::pieces::{ReadTask, Source};
use crate::engine::plan::place::{User, Users, Wanted, each_place};
use crate::engine::read::task::Run;
use crate::error::Result;

/// The tasks of one read, and how many of them the medium knows of.
pub(in crate::engine) struct Ahead<'a> {
    run: &'a Run<'a>,
    tasks: &'a [ReadTask],
    touches: &'a [usize],
    users: &'a [User<'a>],
    begun: AtomicUsize,
    told: AtomicUsize,
    /// How many tasks the medium is told of before they begin.
    window: usize,
}

impl<'a> Ahead<'a> {
    pub(in crate::engine) fn new(
        run: &'a Run<'a>,
        tasks: &'a [ReadTask],
        touches: &'a [usize],
        users: &'a [User<'a>],
    ) -> Self {
        let mut ahead =
            Self { run, tasks, touches, users, begun: 0.into(), told: 0.into(), window: MOST_TASKS };
        let mut bytes = 0_u64;
        if let Some(first) = tasks.first() {
            ahead.extents(first, &mut |extent| bytes = bytes.saturating_add(extent.len));
        }
        let fit = WINDOW_BYTES.checked_div(bytes).unwrap_or(u64::MAX);
        ahead.window = usize::try_from(fit).unwrap_or(MOST_TASKS).clamp(LEAST_TASKS, MOST_TASKS);
        ahead
    }

    /// The next `count` tasks begin.
    pub(in crate::engine) fn begin(&self, count: usize) {
        let begun = self.begun.fetch_add(count, Ordering::Relaxed) + count;
        let end = begun.saturating_add(self.window).min(self.tasks.len());
        let block = self.window / LEAST_TASKS;
        while self.told.load(Ordering::Relaxed) < end {
            let start = self.told.fetch_add(block, Ordering::Relaxed);
            if let Some(rest) = self.tasks.get(start..) {
                self.tell(&rest[..block.min(rest.len())]);
            }
        }
    }

    /// Tells the medium what these tasks read, unless what some of them read is at hand.
    fn tell(&self, tasks: &[ReadTask]) {
        let store = self.run.reading.store;
        let step = tasks.len().div_ceil(PROBES).max(1);
        let is_at_hand = |task| {
            let mut first = None;
            self.extents(task, &mut |extent| _ = first.get_or_insert(extent.addr));
            first.is_none_or(|first| store.is_at_hand(first))
        };
        if tasks.iter().step_by(step).all(is_at_hand) {
            return;
        }
        let mut joined: Option<Extent> = None;
        let mut add = |extent| {
            joined = Some(match joined {
                None => extent,
                Some(before) => self.join(before, extent).unwrap_or_else(|| {
                    store.prefetch(before);
                    extent
                }),
            });
        };
        for task in tasks {
            self.extents(task, &mut add);
        }
        if let Some(last) = joined {
            store.prefetch(last);
        }
    }

    /// Both in one request, if that is worth while.
    fn join(&self, before: Extent, next: Extent) -> Option<Extent> {
        let hints = self.run.reading.store.hints();
        let gap = next.addr.get().checked_sub(before.end()?.get())?;
        let len = before.len.checked_add(gap)?.checked_add(next.len)?;
        (gap <= hints.prefetch_gap && len <= hints.max_span).then(|| Extent::new(before.addr, len))
    }

    /// Calls `f` with what a task is sure to read.
    fn extents(&self, task: &ReadTask, f: &mut dyn FnMut(Extent)) {
        let run = self.run;
        let users = Users::of(task, self.touches, self.users);
        match task.source {
            _ if task.held.is_some() => {}
            Source::Fill | Source::Compact => {}
            Source::Raw(extent) if run.reads_whole(task, extent, users) => f(extent),
            Source::Raw(extent) => {
                let hints = run.reading.store.hints();
                // Looking at the places cannot fail.
                let _: Result<()> = each_place(users, &task.coord, |axes, _, _| {
                    ranges::extents(extent, &run.emit, axes, hints, &mut *f);
                    Ok(())
                });
            }
            Source::Chunk(record) if run.reading.cache.get(&run.key(record)).is_some() => {}
            Source::Chunk(record) => {
                let Extent { addr, len } = record.extent;
                let is_blosc =
                    run.chunked.is_some_and(|chunked| chunked.pipeline.as_blosc(record.mask).is_some());
                let wanted = users.only().map(|user| Wanted::of(user, &task.coord, &run.emit));
                let len = match wanted {
                    Some(Wanted::Box { elements, .. })
                        if is_blosc && run.emit.is_identity() && len > SMALL_BYTES =>
                    {
                        run.blosc_read_first(len, elements * run.emit.stored_size)
                    }
                    _ => len,
                };
                f(Extent::new(addr, len));
            }
        }
    }
}

/// What a disk is kept busy with.
const WINDOW_BYTES: u64 = 32 << 20;
/// However many bytes a task reads.
const LEAST_TASKS: usize = 4;
/// However few: about as many requests as a disk takes at once.
const MOST_TASKS: usize = 256;
/// A disk has moved as many bytes in the time that it takes for a second request to the same chunk.
const SMALL_BYTES: u64 = 128 << 10;
/// So many of the tasks that the medium is told of together are tried, whether it needs to be told.
const PROBES: usize = 2;
