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
    /// Calls `end` with the first signal that ends programs.
    pub(super) fn new(end: impl FnOnce(i32) + Send + 'static) -> io::Result<Self> {
        let mut signals = iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let thread = thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                end(signal);
            }
        });
        Ok(Self { handle, thread: Some(thread) })
    }
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
