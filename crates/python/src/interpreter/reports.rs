//! Reports of the library in Python's `logging`, under the logger "hyperslab".
//!
//! A report may come from any thread, with the GIL or without it, while locks of the engine are held, and
//! while Python ends: a file may be dropped then. So no code of Python runs where a report is made, and
//! nothing waits for the GIL. The report is queued. Python calls [`deliver`] on its main thread, before that
//! thread goes on (`Py_AddPendingCall`), and once more when it ends. Later reports go to the standard error.

use std::ffi::{c_int, c_void};
use std::time::Duration;

use hyperslab_io::report::{LEVEL, StandardError, TARGET};
use log::{Level, Log, Metadata, Record};
use parking_lot::Mutex;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

/// The reports that Python has not logged yet. `None` when Python has begun to end.
static WAITING: Mutex<Option<Vec<(Level, String)>>> = Mutex::new(Some(Vec::new()));

/// How long a thread waits for the queue: in a forked child, a thread of the parent may hold it for ever.
const PATIENCE: Duration = Duration::from_millis(200);

/// The logger of this library.
struct ToPython;

impl Log for ToPython {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        StandardError.enabled(metadata)
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let Some(mut waiting) = WAITING.try_lock_for(PATIENCE) else { return StandardError.log(record) };
        let Some(queue) = &mut *waiting else { return StandardError.log(record) };
        queue.push((record.level(), record.args().to_string()));
        // SAFETY: any thread may call it until Python ends, which waits for the queue in `end`. If Python has
        // no room for the call, a later report or the end of Python delivers this one.
        unsafe { pyo3::ffi::Py_AddPendingCall(Some(deliver), std::ptr::null_mut()) };
    }

    fn flush(&self) {}
}

/// Passes the reports of the library to Python's `logging` from now on.
pub(crate) fn watch(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    // Python calls what was registered last first: `logging` ends after this module.
    py.import("logging")?;
    py.import("atexit")?.call_method1("register", (wrap_pyfunction!(end, module)?,))?;
    if log::set_logger(&ToPython).is_ok() {
        log::set_max_level(LEVEL);
    }
    Ok(())
}

/// Logs what waits. Python calls it with the GIL, and raises the exception if the result is -1.
extern "C" fn deliver(_: *mut c_void) -> c_int {
    let waiting = WAITING.try_lock_for(PATIENCE).and_then(|mut waiting| waiting.as_mut().map(std::mem::take));
    let Some(waiting) = waiting.filter(|waiting| !waiting.is_empty()) else { return 0 };
    Python::attach(|py| match log_all(py, waiting) {
        Ok(()) => 0,
        Err(raised) => {
            raised.restore(py);
            -1
        }
    })
}

/// Logs what waits, when Python begins to end.
#[pyfunction]
fn end(py: Python<'_>) -> PyResult<()> {
    let waiting = WAITING.try_lock_for(PATIENCE).and_then(|mut waiting| waiting.take());
    log_all(py, waiting.unwrap_or_default())
}

/// Logs reports. What a handler raises is shown, except for `KeyboardInterrupt` and its like.
fn log_all(py: Python<'_>, reports: Vec<(Level, String)>) -> PyResult<()> {
    for (level, text) in reports {
        let method = if level == Level::Error { "error" } else { "warning" };
        // The text is an argument, since it may have `%`.
        let logged = py
            .import("logging")
            .and_then(|logging| logging.call_method1("getLogger", (TARGET,)))
            .and_then(|logger| logger.call_method1(method, ("%s", text)));
        match logged {
            Err(raised) if raised.is_instance_of::<PyException>(py) => raised.write_unraisable(py, None),
            logged => drop(logged?),
        }
    }
    Ok(())
}
