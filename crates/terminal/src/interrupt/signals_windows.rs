//! Ctrl-C on Windows, where a thread looks at a flag: nothing there can be waited for.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use signal_hook::SigId;
use signal_hook::consts::SIGINT;
use signal_hook::{flag, low_level};

/// How long the thread sleeps before it looks again.
const PAUSE: Duration = Duration::from_millis(50);

/// Looks until it is dropped.
pub(super) struct Signals {
    registered: SigId,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Signals {
    /// Calls `end` at the first Ctrl-C.
    pub(super) fn new(end: impl FnOnce(i32) + Send + 'static) -> io::Result<Self> {
        let (came, is_over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let registered = flag::register(SIGINT, Arc::clone(&came))?;
        let over = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                if came.load(Ordering::Relaxed) {
                    return end(SIGINT);
                }
                thread::park_timeout(PAUSE);
            }
        });
        Ok(Self { registered, is_over, thread: Some(thread) })
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        low_level::unregister(self.registered);
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The thread only looks, so it cannot have panicked.
            let _ = thread.join();
        }
    }
}
