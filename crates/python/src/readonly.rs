//! What h5py's writing methods raise on a file that is open for reading.

use pyo3::PyTypeInfo;
use pyo3::prelude::*;

use crate::state::FileState;

/// The exception of class `E` for `what` a program tried to do to an object of a file.
pub(crate) fn refuse<E: PyTypeInfo>(state: &FileState, what: &str) -> PyResult<()> {
    state.check()?;
    Err(PyErr::new::<E, _>(format!("Unable to {what}: files are opened for reading alone")))
}
