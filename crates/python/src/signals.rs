//! Signals, such as that of Ctrl-C, while a thread waits for a server.

use std::io;

use parking_lot::Mutex;
use pyo3::prelude::*;

/// The exception of a handler that ended a read, until the read has raised it.
static RAISED: Mutex<Option<PyErr>> = Mutex::new(None);

/// Calls Python's handlers of signals in threads that wait for a server. An exception of a handler ends the
/// read.
pub(crate) fn end_reads_of_servers() {
    hyperslab_remote::set_poll(|| {
        // Python calls handlers on its main thread only.
        let raised = Python::try_attach(|py| py.check_signals().err())??;
        *RAISED.lock() = Some(raised);
        Some(io::ErrorKind::Interrupted.into())
    });
}

/// Returns the exception that ended a read, once.
pub(crate) fn take() -> Option<PyErr> {
    RAISED.lock().take()
}
