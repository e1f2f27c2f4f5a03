//! Interrupting a read that waits for a server.

use std::io;
use std::sync::OnceLock;

type Poll = fn() -> Option<io::Error>;

static POLL: OnceLock<Poll> = OnceLock::new();

/// Sets a function that every waiting thread calls, about 20 times in a second. If the function returns an
/// error, of the kind `Interrupted`, the thread's read ends with this error, and other reads of the same file
/// end as interrupted.
///
/// Only the first call has an effect.
pub fn set_poll(poll: fn() -> Option<io::Error>) {
    // A second function would be one of another program in this process.
    let _ = POLL.set(poll);
}

/// Returns the error to end the read of this thread with, if it was interrupted.
pub(crate) fn poll() -> Option<io::Error> {
    POLL.get().and_then(|poll| poll())
}
