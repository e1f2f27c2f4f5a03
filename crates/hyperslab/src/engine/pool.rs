//! The thread pool of the process, and functions that run work on it. No other module starts threads.

use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};

use hyperslab_io::process::PerProcess;
use hyperslab_io::report::TARGET;
use parking_lot::{Mutex, RwLock};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::help::{Requests, with_help};

/// The pool that all files of the process share. `HYPERSLAB_THREADS` sets its number of threads, the caller's
/// thread included; the default is the number of processors that the process may use. A forked child inherits
/// no threads and makes a pool of its own.
static POOL: LazyLock<PerProcess<RwLock<Pool>>> =
    LazyLock::new(|| PerProcess::new(RwLock::new(Pool::new(default_threads()))));

struct Pool {
    threads: usize,
    /// The threads besides the caller's, which works too. `None` if the caller's thread is the only one.
    helpers: Option<Arc<ThreadPool>>,
    requests: Arc<Requests>,
}

impl Pool {
    fn new(threads: usize) -> Self {
        let helpers = (threads > 1).then(|| {
            ThreadPoolBuilder::new()
                .num_threads((threads - 1).min(MOST_HELPERS))
                .thread_name(|i| format!("hyperslab-{i}"))
                .build()
                .ok()
                .map(Arc::new)
        });
        Self { threads, helpers: helpers.flatten(), requests: Arc::new(Requests::new(MOST_WAITING)) }
    }
}

/// The most threads of the pool. A thread without work looks for work in all others before it sleeps, so the
/// time to start threads grows with the square of their number. More workers than threads take turns.
const MOST_HELPERS: usize = 256;

fn pool() -> &'static RwLock<Pool> {
    POOL.get(|parent| {
        let threads = parent.try_read().map(|pool| pool.threads);
        RwLock::new(Pool::new(threads.unwrap_or_else(default_threads)))
    })
}

/// Returns the default number of threads of a read, the caller's included.
pub fn threads() -> usize {
    pool().read().threads
}

/// Sets the default number of threads of a read. Reads that have started keep their number.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// hyperslab::set_threads(NonZeroUsize::MIN);
/// assert_eq!(hyperslab::threads(), 1);
/// ```
pub fn set_threads(threads: NonZeroUsize) {
    let mut pool = pool().write();
    if pool.threads != threads.get() {
        *pool = Pool::new(threads.get());
    }
}

/// Runs `work` on the caller's thread and on up to `workers - 1` others. Returns when all calls that have
/// begun have returned: threads that are busy until then are not waited for.
pub fn run(workers: usize, work: &(dyn Fn() + Sync)) {
    let (helpers, requests) = {
        let pool = pool().read();
        match &pool.helpers {
            Some(helpers) if workers > 1 => (Arc::clone(helpers), Arc::clone(&pool.requests)),
            _ => {
                drop(pool);
                return work();
            }
        }
    };
    with_help(work, |help| {
        for _ in 1..workers {
            // Requests of calls that are over stay in the queue of the pool while its threads are busy.
            let Some(request) = Requests::ask(&requests, help) else { return };
            helpers.spawn(request);
        }
    });
}

/// The most requests for help that wait. A request takes about a hundred bytes.
const MOST_WAITING: usize = 1 << 14;

/// Returns a message that says why the value of `HYPERSLAB_THREADS` is ignored, if it is. Returns the message
/// only once, so the first caller should show it. If there was no call before the first read, that read
/// logs the message.
pub fn threads_warning() -> Option<String> {
    WARNING.lock().take()
}

static WARNING: LazyLock<Mutex<Option<String>>> = LazyLock::new(|| Mutex::new(asked_threads().err()));

/// Reads the number of threads from the environment.
fn asked_threads() -> Result<Option<NonZeroUsize>, String> {
    let Some(asked) = std::env::var_os(THREADS).filter(|asked| !asked.is_empty()) else { return Ok(None) };
    let number = asked.to_str().and_then(|text| text.trim().parse().ok());
    number.map(Some).ok_or_else(|| {
        format!(
            "{THREADS}={} is not a number of threads and is ignored: use a whole number, at least 1",
            asked.display()
        )
    })
}

fn default_threads() -> usize {
    if let Some(warning) = threads_warning() {
        log::warn!(target: TARGET, "{warning}");
    }
    let asked = asked_threads().ok().flatten();
    asked.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

const THREADS: &str = "HYPERSLAB_THREADS";

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    #[test]
    fn a_call_is_not_kept_waiting_by_the_threads_of_another_one() {
        let is_long_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (say, hear) = std::sync::mpsc::channel();
            let is_over = &is_long_over;
            scope.spawn(move || {
                run(threads(), &|| {
                    let _ = say.send(());
                    while !is_over.load(Ordering::Relaxed) {
                        std::thread::yield_now();
                    }
                });
            });
            (0..threads()).for_each(|_| hear.recv().unwrap());
            // All threads of the pool are busy.
            let runs = AtomicUsize::new(0);
            run(9, &|| {
                runs.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(runs.load(Ordering::Relaxed), 1);
            is_long_over.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn the_pool_has_no_more_threads_than_start_quickly() {
        let pool = Pool::new(100_000);
        assert_eq!(pool.threads, 100_000);
        assert_eq!(pool.helpers.unwrap().current_num_threads(), MOST_HELPERS);
    }
}
