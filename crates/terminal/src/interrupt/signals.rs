//! Signals of Unix, for which a thread waits.

use std::io;
use std::thread::{self, JoinHandle};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{self, Handle};

/// Waits until it is dropped.
pub(super) struct Signals {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Signals {
    /// Calls `end` with the first signal that ends programs. Those that the program ignores from its start
    /// on, as under `nohup`, stay ignored.
    pub(super) fn new(end: impl FnOnce(i32) + Send + 'static) -> io::Result<Self> {
        let ignored = ignored();
        let waited_for =
            [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        let mut signals = iterator::Signals::new(waited_for)?;
        let handle = signals.handle();
        let thread = thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                end(signal);
            }
        });
        Ok(Self { handle, thread: Some(thread) })
    }
}

/// Returns the set of signals that the process ignores, as Linux tells it, and an empty set elsewhere. The
/// bit of a signal is one less than its number.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or_default()
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            // The thread only waits, so it cannot have panicked.
            let _ = thread.join();
        }
    }
}
