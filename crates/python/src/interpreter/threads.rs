//! The number of threads of reads and writes.

use std::ffi::CString;
use std::num::NonZeroUsize;

use pyo3::exceptions::{PyRuntimeWarning, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A number of threads that the caller gives: at least 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Threads(pub(crate) NonZeroUsize);

impl<'py> FromPyObject<'_, 'py> for Threads {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let Ok(number) = given.call_method0("__index__") else {
            let found = given.get_type().name()?;
            return Err(PyTypeError::new_err(format!("threads must be an integer, not {found}")));
        };
        let count = number.extract::<usize>().ok().and_then(NonZeroUsize::new);
        count
            .map(Self)
            .ok_or_else(|| PyValueError::new_err(format!("threads must be at least 1, not {number}")))
    }
}

/// Sets the number of threads of each read and write, including the caller.
///
/// Reads that have started keep their number. The argument `threads` of a read replaces the number for that
/// read. At first, the number is the value of the environment variable HYPERSLAB_THREADS. Without the
/// variable, the number is the number of processors that the process may use.
///
/// The process starts at most 256 threads besides that of the caller. With a larger number, the parts of the
/// work take turns on them.
///
/// Args:
///     threads: The number of threads, at least 1. 1 leaves all work to the caller.
///
/// Raises:
///     TypeError: `threads` is not an integer.
///     ValueError: `threads` is less than 1.
///
/// Example:
///     >>> hs.set_threads(4)
///     >>> hs.get_threads()
///     4
#[pyfunction]
pub(crate) fn set_threads(threads: Threads) {
    hyperslab::set_threads(threads.0);
}

/// Returns the number of threads of each read and write, including the caller.
///
/// Returns:
///     The number of threads. It is the value of the last `set_threads`, or else the default at the start of
///     the process (see `set_threads`).
///
/// Example:
///     >>> hs.set_threads(2)
///     >>> hs.get_threads()
///     2
#[pyfunction]
pub(crate) fn get_threads() -> usize {
    hyperslab::threads()
}

/// Warns of a value of HYPERSLAB_THREADS that is not a number of threads.
pub(crate) fn warn(py: Python<'_>) -> PyResult<()> {
    let Some(warning) = hyperslab::internals::engine::threads_warning() else { return Ok(()) };
    let warning = CString::new(warning)?;
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &warning, 1)
}
