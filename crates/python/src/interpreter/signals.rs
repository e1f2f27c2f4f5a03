//! Signals, such as that of Ctrl-C, while a thread reads, writes or waits for a server.

use std::ffi::c_int;
use std::io;
use std::sync::OnceLock;
use std::thread::{self, ThreadId};

use hyperslab_io::interrupt::{self, Doing};
use hyperslab_io::process::forks;
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The exception of a handler that ended a read of a server, until the read has raised it.
static RAISED: Mutex<Option<PyErr>> = Mutex::new(None);

/// What is looked up while Python may run code, because no code of Python may run in a thread that is asked
/// whether to end: it would call handlers, or finalizers that use the file.
struct Known {
    /// The main thread of Python, in the process with this number of forks. `None` if it was not found: then
    /// any thread may be it.
    main: Option<(u32, ThreadId)>,
    /// The function that returns the handler of a signal, and its arguments for Ctrl-C. A tuple made for each
    /// call could begin a garbage collection, and so call finalizers.
    handler_of: Py<PyAny>,
    interrupt: Py<PyTuple>,
    /// Python's own handler of Ctrl-C.
    own: Py<PyAny>,
}

static KNOWN: OnceLock<Known> = OnceLock::new();

/// Lets signals end the reads and writes of this process.
///
/// A thread that waits for a server calls Python's handlers, and an exception of a handler ends the read. A
/// thread that reads or writes calls none: a handler might close the file, whose locks the thread holds. Such
/// a thread ends only if Ctrl-C was pressed and Python's own handler would raise `KeyboardInterrupt`. Other
/// handlers are called after the work, as they are in h5py.
pub(crate) fn watch(py: Python<'_>) -> PyResult<()> {
    let (threading, signal) = (py.import("threading")?, py.import("_signal")?);
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    let is_main = threading.call_method0("get_ident")?.eq(main)?;
    let known = Known {
        main: is_main.then(|| (forks(), thread::current().id())),
        handler_of: signal.getattr("getsignal")?.unbind(),
        interrupt: PyTuple::new(py, [SIGINT])?.unbind(),
        own: signal.getattr("default_int_handler")?.unbind(),
    };
    // Only the first one: another one would be that of another interpreter.
    let _ = KNOWN.set(known);
    interrupt::set_poll(asked);
    Ok(())
}

/// Returns an error if the work of this thread has to end.
fn asked(doing: Doing) -> io::Result<()> {
    let Some(known) = KNOWN.get() else { return Ok(()) };
    if known.main.is_some_and(|(at, main)| at == forks() && main != thread::current().id()) {
        // Python calls handlers on its main thread only.
        return Ok(());
    }
    let has_to_end = Python::try_attach(|py| match doing {
        Doing::Waiting => py.check_signals().map_err(|raised| *RAISED.lock() = Some(raised)).is_err(),
        Doing::Working => known.raises_interrupt(py) && is_interrupted(py),
    });
    if has_to_end == Some(true) { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
}

impl Known {
    /// Returns whether Ctrl-C would raise `KeyboardInterrupt`: whether its handler is Python's own.
    fn raises_interrupt(&self, py: Python<'_>) -> bool {
        let handler = self.handler_of.bind(py).call1(self.interrupt.bind(py));
        handler.is_ok_and(|handler| handler.is(&self.own))
    }
}

/// Does work without the GIL, which [ends](interrupt::heed) on Ctrl-C.
pub(crate) fn detach<T: Send>(py: Python<'_>, work: impl Send + FnOnce() -> T) -> T {
    py.detach(|| interrupt::heed(work))
}

/// Returns the exception of the signal that ended work, once.
pub(crate) fn take() -> Option<PyErr> {
    RAISED.lock().take().or_else(|| Python::try_attach(|py| py.check_signals().err())?)
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
