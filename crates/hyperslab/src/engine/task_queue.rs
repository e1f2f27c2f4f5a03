//! Distributes the tasks of a read or a write to workers. The first error ends the work.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use hyperslab_error::{Error, Result};
use hyperslab_io::interrupt;
use hyperslab_store::Store;
use parking_lot::Mutex;

use super::pool;
use super::scratch::{self, WorkerScratch};

/// The tasks that workers claim, a few at a time.
pub(super) struct Claims<'t, T> {
    tasks: &'t [T],
    workers: usize,
    /// The most tasks of one claim.
    most: usize,
    /// The tasks that each worker may have in progress, however few are left: a medium that serves many
    /// requests at once gets all of them at once.
    share: usize,
    next: AtomicUsize,
    /// The number of tasks that are claimed or that a medium was told to fetch.
    told: AtomicUsize,
    /// `None` for a single worker.
    has_failed: Option<Arc<AtomicBool>>,
}

impl<'t, T> Claims<'t, T> {
    /// Creates the claims of a single worker.
    pub(super) fn all(tasks: &'t [T]) -> Self {
        Self {
            tasks,
            workers: 1,
            most: tasks.len(),
            share: 0,
            next: 0.into(),
            told: 0.into(),
            has_failed: None,
        }
    }

    /// Returns the next tasks for a worker with `under_way` tasks in progress. The slice is empty if no tasks
    /// are left, or if the worker has its share of the remaining tasks, so that others have work while it
    /// waits.
    pub(super) fn take(&self, under_way: usize) -> &'t [T] {
        let left = self.tasks.len().saturating_sub(self.next.load(Ordering::Relaxed));
        let enough = (left / self.workers).max(self.share);
        let is_enough = self.workers > 1 && under_way > 0 && under_way >= enough;
        let has_failed = self.has_failed.as_ref().is_some_and(|failed| failed.load(Ordering::Relaxed));
        if left == 0 || is_enough || has_failed {
            return &[];
        }
        let start = self.next.fetch_add(self.most, Ordering::Relaxed);
        let rest = self.tasks.get(start..).unwrap_or_default();
        &rest[..self.most.min(rest.len())]
    }

    /// Returns up to `most` tasks that no worker has claimed and no medium was told to fetch. Workers that
    /// call this at the same time may get the same tasks.
    pub(super) fn untold(&self, most: usize) -> &'t [T] {
        let start = self.told.load(Ordering::Relaxed).max(self.next.load(Ordering::Relaxed));
        let rest = self.tasks.get(start..).unwrap_or_default();
        let untold = &rest[..most.min(rest.len())];
        self.told.store(start + untold.len(), Ordering::Relaxed);
        untold
    }
}

/// Says that this thread has worked on `bytes` bytes.
///
/// Errors: its program [ends](interrupt::heed) the work, which is called `op`, or another thread of the same
/// call has failed.
#[inline]
pub fn worked(op: &'static str, bytes: usize) -> Result<()> {
    interrupt::after(1, bytes).map_err(Error::io(op, 0, 0))
}

/// Returns the number of threads for `tasks` tasks of `task_bytes` bytes each in a file.
pub(super) fn workers_on(
    store: &Store,
    tasks: usize,
    task_bytes: u64,
    threads: Option<NonZeroUsize>,
) -> usize {
    if store.hints().concurrent { workers(tasks, task_bytes, threads) } else { 1 }
}

/// Returns the number of threads for `tasks` tasks of `task_bytes` bytes each.
pub(super) fn workers(tasks: usize, task_bytes: u64, threads: Option<NonZeroUsize>) -> usize {
    if (tasks as u64).saturating_mul(task_bytes) < PARALLEL_BYTES {
        return 1;
    }
    threads.map_or_else(pool::threads, NonZeroUsize::get).min(tasks).max(1)
}

/// Runs `work` with the claims of all tasks on `workers` threads; a task has about `task_bytes` bytes, and
/// the medium serves up to `depth` requests at once.
pub(super) fn claim<T: Sync>(
    tasks: &[T],
    workers: usize,
    task_bytes: usize,
    depth: usize,
    work: &(dyn Fn(&Claims<'_, T>, &mut WorkerScratch) -> Result<()> + Sync),
) -> Result<()> {
    let mut claims = Claims::all(tasks);
    if workers == 1 {
        return scratch::with(|scratch| work(&claims, scratch));
    }
    claims.workers = workers;
    claims.share = tasks.len().min(depth) / workers;
    claims.most = (CLAIM_BYTES / task_bytes.max(1)).clamp(1, tasks.len() / (workers * 2) + 1);
    let has_failed = Arc::new(AtomicBool::new(false));
    claims.has_failed = Some(Arc::clone(&has_failed));
    let first_error = Mutex::new(None);
    pool::run(workers, &|| {
        if let Err(error) =
            interrupt::together(&has_failed, || scratch::with(|scratch| work(&claims, scratch)))
        {
            // In this order: the error of a worker that ends because another one failed is not the first.
            first_error.lock().get_or_insert(error);
            has_failed.store(true, Ordering::Release);
        }
    });
    first_error.into_inner().map_or(Ok(()), Err)
}

/// Runs `work` on slices of the tasks, on `workers` threads; a task has about `task_bytes` bytes.
pub(super) fn run<T: Sync>(
    tasks: &[T],
    workers: usize,
    task_bytes: usize,
    work: &(dyn Fn(&[T], &mut WorkerScratch) -> Result<()> + Sync),
) -> Result<()> {
    claim(tasks, workers, task_bytes, 1, &|claims, scratch| {
        loop {
            match claims.take(0) {
                [] => return Ok(()),
                mine => work(mine, scratch)?,
            }
        }
    })
}

/// Calls `work` with every number below `count`, on all threads. The first error ends the calls.
pub fn each_number<E: Send>(count: u64, work: &(dyn Fn(u64) -> Result<(), E> + Sync)) -> Result<(), E> {
    let (next, first_error) = (AtomicU64::new(0), Mutex::new(None));
    let has_failed = Arc::new(AtomicBool::new(false));
    let workers = usize::try_from(count).unwrap_or(usize::MAX).min(pool::threads());
    pool::run(workers, &|| {
        while !has_failed.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            if let Err(error) = interrupt::together(&has_failed, || work(number)) {
                // In this order, as above.
                first_error.lock().get_or_insert(error);
                has_failed.store(true, Ordering::Release);
            }
        }
    });
    first_error.into_inner().map_or(Ok(()), Err)
}

/// Less work uses only the caller's thread, because waking another thread would cost more.
const PARALLEL_BYTES: u64 = 256 << 10;
/// The bytes of the tasks that a worker claims at a time.
pub const CLAIM_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of tasks that a worker takes, one by one, before the first of them is done.
    fn fill(claims: &Claims<'_, u32>) -> usize {
        let mut under_way = 0;
        while !claims.take(under_way).is_empty() {
            under_way += 1;
        }
        under_way
    }

    #[test]
    fn no_task_waits_for_a_worker_if_the_medium_serves_all_at_once() {
        let tasks: Vec<u32> = (0..20).collect();
        let claims = Claims { workers: 2, most: 1, share: 10, ..Claims::all(&tasks) };
        assert_eq!((fill(&claims), fill(&claims)), (10, 10));
    }

    #[test]
    fn a_waiting_worker_leaves_tasks_to_others() {
        let tasks: Vec<u32> = (0..100).collect();
        let claims = Claims { workers: 2, most: 1, ..Claims::all(&tasks) };
        let (first, second) = (fill(&claims), fill(&claims));
        assert!((30..=50).contains(&first), "a driver that takes any number: {first}");
        assert!((20..=50).contains(&second), "{second} for the second worker");
        assert!(first + second < 100, "some tasks are left for the first worker to finish");
        let left = 100 - first - second;
        assert_eq!([5, 100, 100].map(|most| claims.untold(most).len()), [5, left - 5, 0]);
        // A worker with no task in progress gets the rest, one by one.
        assert_eq!(
            (first + second..100).filter(|_| !claims.take(0).is_empty()).count(),
            100 - first - second
        );
        assert!(claims.take(0).is_empty());
    }
}
