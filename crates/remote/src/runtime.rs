//! The threads that talk to servers: one small runtime for each process.

use std::io;
use std::sync::LazyLock;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use hyperslab_io::interrupt;
use hyperslab_io::process::PerProcess;
use parking_lot::Mutex;
use tokio::runtime::{Builder, Handle, Runtime};

/// The runtime of this process, made at the first use. A forked child has none of the threads of its parent
/// and makes its own. A runtime is never dropped, because that may not happen on a thread of another runtime.
static RUNTIME: LazyLock<PerProcess<Mutex<Option<&'static Runtime>>>> = LazyLock::new(PerProcess::default);

/// Returns the runtime of this process.
///
/// Errors: the system starts no thread.
pub(crate) fn handle() -> io::Result<Handle> {
    let mut place = RUNTIME.get(|_| Mutex::default()).lock();
    if let Some(runtime) = *place {
        return Ok(runtime.handle().clone());
    }
    let made = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .thread_name("hyperslab-net")
        .enable_all()
        .build()?;
    Ok(place.insert(Box::leak(Box::new(made))).handle().clone())
}

/// Runs `work` on the runtime and waits for its result, which an interruption ends.
pub(crate) fn wait_for<T: Send + 'static>(
    work: impl Future<Output = io::Result<T>> + Send + 'static,
) -> io::Result<T> {
    let (to, from) = mpsc::sync_channel(1);
    // The receiver is gone if the wait was interrupted.
    let task = handle()?.spawn(async move { drop(to.send(work.await)) });
    loop {
        match from.recv_timeout(POLLED_EVERY) {
            Ok(done) => return done,
            Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = interrupt::waiting() {
                    task.abort();
                    return Err(error);
                }
            }
        }
    }
}

/// How often a thread that waits looks for an interruption.
pub(crate) const POLLED_EVERY: Duration = Duration::from_millis(50);
/// Two threads decrypt as much as most networks bring; the engine's threads decode.
const THREADS: usize = 2;
