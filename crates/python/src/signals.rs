//! Signals, such as that of Ctrl-C, while a thread reads, writes or waits for a server.

use std::cell::Cell;
use std::ffi::c_int;
use std::io;

use hyperslab::internals::interrupt::{self, Doing};
use hyperslab::internals::process::forks;
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The exception of a handler that ended a read of a server, until the read has raised it.
static RAISED: Mutex<Option<PyErr>> = Mutex::new(None);

thread_local! {
    /// Whether this is the main thread of Python, as was found when the process had this number of forks.
    static IS_MAIN: Cell<Option<(u32, bool)>> = const { Cell::new(None) };
}

/// Lets signals end the reads and writes of this process.
///
/// A thread that waits for a server calls Python's handlers, and an exception of a handler ends the read. A
/// thread that reads or writes calls none: a handler might close the file, whose locks the thread holds. Such
/// a thread ends only if Ctrl-C was pressed and Python's own handler would raise `KeyboardInterrupt`. Other
/// handlers are called after the work, as they are in h5py.
pub(crate) fn watch() {
    interrupt::set_poll(|doing| {
        if !is_main() {
            // Python calls handlers on its main thread only.
            return Ok(());
        }
        let ended = Python::try_attach(|py| match doing {
            Doing::Waiting => match py.check_signals() {
                Ok(()) => false,
                Err(raised) => {
                    *RAISED.lock() = Some(raised);
                    true
                }
            },
            Doing::Working => raises_interrupt(py).unwrap_or(false) && is_interrupted(py),
        });
        if ended == Some(true) { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    });
}

/// Does work without the GIL, which [ends](interrupt::heed) on Ctrl-C.
pub(crate) fn detach<T: Send>(py: Python<'_>, work: impl Send + FnOnce() -> T) -> T {
    py.detach(|| interrupt::heed(work))
}

/// Returns the exception of the signal that ended work, once.
pub(crate) fn take() -> Option<PyErr> {
    RAISED.lock().take().or_else(|| Python::try_attach(|py| py.check_signals().err())?)
}

/// Returns whether this is the main thread of Python.
fn is_main() -> bool {
    let forks = forks();
    if let Some((_, is_main)) = IS_MAIN.get().filter(|(at, _)| *at == forks) {
        return is_main;
    }
    let ask = |py: Python<'_>| -> PyResult<bool> {
        let threading = py.import("threading")?;
        let main = threading.call_method0("main_thread")?.getattr("ident")?;
        threading.call_method0("get_ident")?.eq(main)
    };
    let is_main = Python::try_attach(|py| ask(py).unwrap_or(false)).unwrap_or(false);
    IS_MAIN.set(Some((forks, is_main)));
    is_main
}

/// Returns whether Ctrl-C would raise `KeyboardInterrupt`: whether its handler is Python's own.
fn raises_interrupt(py: Python<'_>) -> PyResult<bool> {
    static FOUND: PyOnceLock<(Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();
    let (handler_of, own) = FOUND.get_or_try_init(py, || {
        let signal = py.import("_signal")?;
        let found = (signal.getattr("getsignal")?.unbind(), signal.getattr("default_int_handler")?.unbind());
        Ok::<_, PyErr>(found)
    })?;
    Ok(handler_of.call1(py, (SIGINT,))?.is(own))
}

/// Returns whether Ctrl-C was pressed and its handler was not called since. It is called later: by `take`, or
/// when the thread returns to Python.
fn is_interrupted(_py: Python<'_>) -> bool {
    // SAFETY: the thread has the GIL, which is all that both functions need. The first takes note of the
    // signal away, and the second puts it back.
    unsafe {
        let is_interrupted = pyo3::ffi::PyOS_InterruptOccurred() != 0;
        if is_interrupted {
            pyo3::ffi::PyErr_SetInterrupt();
        }
        is_interrupted
    }
}

/// The number of the signal of Ctrl-C, in POSIX and in C on Windows.
const SIGINT: c_int = 2;
