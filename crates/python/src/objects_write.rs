//! Arrays of Python objects on their way into a file: references, and records of them.

use hyperslab::File;
use numpy::PyUntypedArray;
use numpy::prelude::*;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;

use crate::dtype::Translation;

/// The elements of `array`, of the dtype of `translation`, as the engine takes them.
pub(crate) fn elements(
    _file: &File,
    translation: &Translation,
    array: &Bound<'_, PyUntypedArray>,
) -> PyResult<Vec<u8>> {
    let _ = (translation, array.len());
    Err(PyNotImplementedError::new_err("writing elements of variable length is not supported yet"))
}
