//! The one pool of threads, and how work is handed to it. Threads are made here and nowhere else.

use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};

use parking_lot::{Mutex, RwLock};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::process::PerProcess;

/// The pool of the process, shared by all files: as many threads as `HYPERSLAB_THREADS` says, else as the process may
/// use, the caller's included. A forked child has none of its parent's threads, and makes its own.
static POOL: LazyLock<PerProcess<RwLock<Pool>>> =
    LazyLock::new(|| PerProcess::new(RwLock::new(Pool::new(default_threads()))));

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

fn pool() -> &'static RwLock<Pool> {
    POOL.get(|parent| {
        let threads = parent.try_read().map(|pool| pool.threads);
        RwLock::new(Pool::new(threads.unwrap_or_else(default_threads)))
    })
}

/// How many threads a read uses, the caller's included, unless it says otherwise.
pub fn threads() -> usize {
    pool().read().threads
}

/// Sets how many threads reads use; reads under way keep what they have.
pub fn set_threads(threads: NonZeroUsize) {
    let mut pool = pool().write();
    if pool.threads != threads.get() {
        *pool = Pool::new(threads.get());
    }
}

/// Runs `work` on the caller's thread and on up to `workers - 1` others, each with its number; returns when all have.
pub fn run(workers: usize, work: &(dyn Fn() + Sync)) {
    let helpers = if workers > 1 { pool().read().helpers.clone() } else { None };
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

/// What is wrong with `HYPERSLAB_THREADS`, if anything is. Returns it once: who asks first tells the user. If nobody has
/// asked before the first read, that read writes it to standard error.
pub fn threads_warning() -> Option<String> {
    WARNING.lock().take()
}

static WARNING: LazyLock<Mutex<Option<String>>> = LazyLock::new(|| Mutex::new(asked_threads().err()));

/// As many threads as the environment asks for.
fn asked_threads() -> Result<Option<NonZeroUsize>, String> {
    let Some(asked) = std::env::var_os(THREADS).filter(|asked| !asked.is_empty()) else { return Ok(None) };
    let number = asked.to_str().and_then(|text| text.trim().parse().ok());
    number.map(Some).ok_or_else(|| {
        format!(
            "{THREADS}={} is no number of threads and is ignored: give a whole number from 1 on",
            asked.display()
        )
    })
}

fn default_threads() -> usize {
    if let Some(warning) = threads_warning() {
        eprintln!("hyperslab: {warning}");
    }
    let asked = asked_threads().ok().flatten();
    asked.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

const THREADS: &str = "HYPERSLAB_THREADS";

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
