//! Distributes the tasks of a read or a write to workers. The first error ends the work.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab_error::{Error, Result};
use hyperslab_io::interrupt;
use hyperslab_store::Store;

use super::claims::Claims;
use super::first_error::FirstError;
use super::pool;
use super::scratch::{self, WorkerScratch};

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
    if workers == 1 {
        return scratch::with(|scratch| work(&Claims::all(tasks), scratch));
    }
    let first_error = FirstError::default();
    let share = tasks.len().min(depth) / workers;
    let most = (CLAIM_BYTES / task_bytes.max(1)).clamp(1, tasks.len() / (workers * 2) + 1);
    let claims = Claims::shared(tasks, workers, share, most, first_error.has_failed());
    pool::run(workers, &|| {
        first_error.note(interrupt::together(first_error.has_failed(), || {
            scratch::with(|scratch| work(&claims, scratch))
        }));
    });
    first_error.into_result()
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
    let (next, first_error) = (AtomicU64::new(0), FirstError::default());
    let workers = usize::try_from(count).unwrap_or(usize::MAX).min(pool::threads());
    pool::run(workers, &|| {
        while !first_error.has_failed().load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            first_error.note(interrupt::together(first_error.has_failed(), || work(number)));
        }
    });
    first_error.into_result()
}

/// Less work uses only the caller's thread, because waking another thread would cost more.
const PARALLEL_BYTES: u64 = 256 << 10;
/// The bytes of the tasks that a worker claims at a time.
pub const CLAIM_BYTES: usize = 1 << 20;
