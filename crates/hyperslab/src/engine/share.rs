//! Shares the tasks of a read or a write among workers; the first error ends it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::pool;
use super::scratch::{self, WorkerScratch};
use crate::error::Result;

/// Runs `work` on consecutive tasks, on so many threads; `task_bytes` says how large a task is.
pub(super) fn run<T: Sync>(
    tasks: &[T],
    workers: usize,
    task_bytes: usize,
    work: &(dyn Fn(&[T], &mut WorkerScratch) -> Result<()> + Sync),
) -> Result<()> {
    if workers == 1 {
        return scratch::with(|scratch| work(tasks, scratch));
    }
    let claim = (CLAIM_BYTES / task_bytes.max(1)).clamp(1, tasks.len() / (workers * 2) + 1);
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let first_error = Mutex::new(None);
    pool::run(workers, &|| {
        scratch::with(|scratch| {
            while !failed.load(Ordering::Relaxed) {
                let start = next.fetch_add(claim, Ordering::Relaxed);
                let Some(rest) = tasks.get(start..).filter(|rest| !rest.is_empty()) else { return };
                if let Err(error) = work(&rest[..claim.min(rest.len())], scratch) {
                    failed.store(true, Ordering::Relaxed);
                    first_error.lock().get_or_insert(error);
                }
            }
        });
    });
    first_error.into_inner().map_or(Ok(()), Err)
}

/// What a worker takes at a time.
const CLAIM_BYTES: usize = 1 << 20;
