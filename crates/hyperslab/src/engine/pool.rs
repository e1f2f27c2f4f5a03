//! The one pool of threads, and how work is handed to it. Threads are made here and nowhere else.

use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};

use parking_lot::RwLock;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The pool of the process, shared by all files: as many threads as `HYPERSLAB_THREADS` says, else as the process may
/// use, the caller's included.
static POOL: LazyLock<RwLock<Pool>> = LazyLock::new(|| RwLock::new(Pool::new(default_threads())));

struct Pool {
    threads: usize,
    /// Without the caller's own thread, which works too; absent if that is all.
    helpers: Option<Arc<ThreadPool>>,
}

impl Pool {
    fn new(threads: usize) -> Self {
        let helpers = (threads > 1).then(|| {
            ThreadPoolBuilder::new()
                .num_threads(threads - 1)
                .thread_name(|i| format!("hyperslab-{i}"))
                .build()
                .ok()
                .map(Arc::new)
        });
        Self { threads, helpers: helpers.flatten() }
    }
}

/// How many threads a read uses, the caller's included, unless it says otherwise.
pub fn threads() -> usize {
    POOL.read().threads
}

/// Sets how many threads reads use; reads under way keep what they have.
pub fn set_threads(threads: NonZeroUsize) {
    let mut pool = POOL.write();
    if pool.threads != threads.get() {
        *pool = Pool::new(threads.get());
    }
}

/// Runs `work` on the caller's thread and on up to `workers - 1` others, each with its number; returns when all have.
pub fn run(workers: usize, work: &(dyn Fn() + Sync)) {
    let helpers = if workers > 1 { POOL.read().helpers.clone() } else { None };
    let Some(helpers) = helpers else {
        return work();
    };
    helpers.in_place_scope(|scope| {
        for _ in 1..workers {
            scope.spawn(|_| work());
        }
        work();
    });
}

fn default_threads() -> usize {
    let own = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let Some(asked) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else { return own() };
    let number = asked.to_str().and_then(|text| text.trim().parse().ok()).map(NonZeroUsize::get);
    number.unwrap_or_else(|| {
        let own = own();
        eprintln!("hyperslab: {VARIABLE}={asked:?} is no number of threads from 1 on: {own} are used");
        own
    })
}

const VARIABLE: &str = "HYPERSLAB_THREADS";

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_worker_runs_once_even_when_there_are_more_than_threads() {
        let runs = AtomicUsize::new(0);
        run(9, &|| {
            runs.fetch_add(1, Ordering::Relaxed);
        });
        assert!([1, 9].contains(&runs.load(Ordering::Relaxed)), "1 where there is one thread, else all 9");
    }
}
